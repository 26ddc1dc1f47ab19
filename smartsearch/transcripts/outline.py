"""What transcripts hold, without their text: conversations, sessions, who speaks, how much, when. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from smartsearch.types import Turn


@dataclass(frozen=True)
class Span:
    """Some turns: how many, who speaks (most first), and the first and last ISO time, empty where none is."""

    turns: int
    speakers: tuple[str, ...]
    first: str
    last: str


@dataclass(frozen=True)
class Session:
    """One session of a conversation, from its first turn `start`."""

    name: str
    start: Turn
    span: Span


@dataclass(frozen=True)
class Conversation:
    """One conversation of a file; a source without sessions has one, without a name."""

    path: str
    name: str
    title: str
    span: Span
    sessions: tuple[Session, ...]


def span(turns: Iterable[Turn]) -> Span:
    """How many turns these are, who speaks in them and when."""
    count, speakers, times = 0, Counter[str](), set()
    for turn in turns:
        count += 1
        speakers[turn.speaker] += 1
        times.add(turn.time)
    speakers.pop("", None)
    times.discard("")
    names = tuple(name for name, _ in speakers.most_common())
    return Span(count, names, min(times, default=""), max(times, default=""))


def outline(turns: Sequence[Turn]) -> list[Conversation]:
    """The conversations of some files in the order they begin, each with its sessions in theirs."""
    found: dict[tuple[str, str], dict[str, list[Turn]]] = {}
    for turn in turns:
        sessions = found.setdefault((turn.path, turn.conversation), {})
        sessions.setdefault(turn.session, []).append(turn)
    return [
        Conversation(
            path,
            name,
            next((turn.title for said in sessions.values() for turn in said if turn.title), ""),
            span(turn for said in sessions.values() for turn in said),
            tuple(Session(session, said[0], span(said)) for session, said in sessions.items()),
        )
        for (path, name), sessions in found.items()
    ]
