"""Opened turns, and what transcripts hold: as text, a block for a prompt, and JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from smartsearch.output import plain, record
from smartsearch.output.plain import counted, header, one_line, shown_path, turn_line, where
from smartsearch.output.record import Json

if TYPE_CHECKING:
    from smartsearch.transcripts.outline import Conversation, Session, Span
    from smartsearch.transcripts.places import Excerpt
    from smartsearch.types import Skipped, Turn

SPEAKERS = 4
"""The most names listed; the rest are counted."""


@dataclass(frozen=True)
class Missing:
    """A place that has no turn: as asked for, the reason, and the nearest turn."""

    place: str
    reason: str
    nearest: Turn | None = None


@dataclass
class Opened:
    """What `show` found: excerpts for each place asked for, what files hold, and what went wrong."""

    places: list[tuple[str, tuple[Excerpt, ...]]] = field(default_factory=list)
    conversations: list[Conversation] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def excerpts(self) -> list[Excerpt]:
        """Every excerpt in the order the places were asked for."""
        return [excerpt for _, found in self.places for excerpt in found]


def lines(opened: Opened) -> Iterator[str]:
    """One line per turn; context has `-` for `:`, and `--` stands between excerpts, as in grep."""
    for n, excerpt in enumerate(opened.excerpts):
        if n:
            yield "--"
        for turn, asked in zip(excerpt.turns, excerpt.asked, strict=True):
            yield turn_line(turn, ":" if asked else "-")
    for conversation in opened.conversations:
        for session in conversation.sessions:
            yield f"{where(session.start)}:{told(conversation, session)}"


def told(conversation: Conversation, session: Session) -> str:
    """`conversation c, session s: 12 turns, Ann, Ben, 2024-05-01 to 2024-05-03`."""
    names = {"conversation": conversation.title or conversation.name, "session": session.name}
    named = ", ".join(f"{kind} {one_line(name)}" for kind, name in names.items() if name)
    return ": ".join(part for part in (named, spanned(session.span)) if part)


def spanned(span: Span) -> str:
    """`12 turns, Ann, Ben, 2024-05-01 to 2024-05-03`."""
    return ", ".join(part for part in (counted(span.turns, "turn"), people(span), days(span)) if part)


def people(span: Span) -> str:
    """`Ann, Ben`, or the first few and how many more."""
    names = [one_line(name) for name in span.speakers]
    more = len(names) - SPEAKERS
    return ", ".join(names if more <= 1 else [*names[:SPEAKERS], f"{more:,} more"])


def days(span: Span) -> str:
    """`2024-05-01 to 2024-05-03`, or the one day; empty where no turn has a time."""
    first, last = one_line(span.first[:10]), one_line(span.last[:10])
    return first if first == last else f"{first} to {last}"


def context(opened: Opened) -> Iterator[str]:
    """The block for a prompt as in `query`: nearby turns are marked."""
    for n, excerpt in enumerate(opened.excerpts):
        if n:
            yield ""
        yield f"## {header(excerpt.turns[0])}"
        for turn, asked in zip(excerpt.turns, excerpt.asked, strict=True):
            said = plain.in_block(turn.rendered, stamped=bool(turn.time))
            yield said if asked else f"(nearby) {said}"
    for path, conversations in groupby(opened.conversations, key=lambda c: c.path):
        yield f"## {shown_path(path)}"
        for conversation in conversations:
            yield from (told(conversation, session) for session in conversation.sessions)


def result(opened: Opened) -> Json:
    """The record of schema version 1."""
    return {
        **record.HEAD,
        "places": [
            {"place": place, "excerpts": [{"turns": _turns(excerpt)} for excerpt in found]}
            for place, found in opened.places
        ],
        "conversations": [_conversation(conversation) for conversation in opened.conversations],
        "missing": [
            {**vars(lost), "nearest": lost.nearest and record.place(lost.nearest)} for lost in opened.missing
        ],
        "skipped": list(map(vars, opened.skipped)),
        "warnings": opened.warnings,
    }


def _turns(excerpt: Excerpt) -> list[Json]:
    marked = zip(excerpt.turns, excerpt.asked, strict=True)
    return [{"asked": asked, **record.whole(turn)} for turn, asked in marked]


def _conversation(one: Conversation) -> Json:
    return {
        "path": one.path,
        "conversation": one.name,
        **({"title": one.title} if one.title else {}),
        **_span(one.span),
        "sessions": [
            {
                "session": session.name,
                "line": session.start.line,
                "pointer": session.start.pointer,
                **_span(session.span),
            }
            for session in one.sessions
        ],
    }


def _span(span: Span) -> Json:
    return {"turns": span.turns, "speakers": list(span.speakers), "first": span.first, "last": span.last}
