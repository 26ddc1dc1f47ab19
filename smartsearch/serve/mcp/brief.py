"""Answers in few tokens: a hit as one short line, the turns around it under a ceiling. Pure: records out.

Every text is bounded here, whatever a transcript holds: a speaker's name or a path may be as long as a book.
"""

from __future__ import annotations

import base64
import hashlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from smartsearch.output.plain import safe
from smartsearch.types import Hit, Skipped, Term, Turn

if TYPE_CHECKING:
    from smartsearch.rank.truncate import Tokenizer

RESULT_CHARACTERS = 60_000
"""Characters of a result at most: some 15,000 tokens. Claude Code warns above 10,000 and refuses 25,000."""
TURN_CHARACTERS = 100
"""Characters of a result that a turn's place, time and keys take."""
HEADING_CHARACTERS = 500
"""Characters that a session's file and ids take."""
NAME_CHARACTERS = 80
"""Characters of a speaker, a date, a heading."""
PLACE_CHARACTERS = 300
"""Characters of a session's file."""
SHORT_PLACE, PLACE_END = 32, 14
"""Characters of a hit's place; of a longer one the end is shown, and `expand` of its id gives the whole."""
NOTE_CHARACTERS = 300
NOTES = 6
ID_CHARACTERS = 8

Json = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """What a tool answers, as a record and as text: clients show a model one of them. `ids`: those in it."""

    record: Json
    text: str
    ids: tuple[str, ...] = ()


def identity(turn: Turn) -> str:
    """A short id of a turn: the same as long as its file, its place there and its text are."""
    told = "\0".join((turn.path, str(turn.line), turn.pointer, turn.turn, turn.speaker, turn.text))
    digest = hashlib.sha256(told.encode("utf-8", "surrogatepass")).digest()
    return base64.b32encode(digest).decode().lower()[:ID_CHARACTERS]


def clipped(text: str, most: int) -> str:
    """`text` on one line and at most so long, the end cut."""
    short = safe(" ".join(text[: 4 * most].split()))
    return short if len(short) <= most and len(text) <= 4 * most else f"{short[: most - 1].rstrip()}…"


def excerpt(turn: Turn, terms: Sequence[Term], most: int) -> str:
    """What a turn says in one line of at most `most` characters: its beginning, or where its best term is."""
    said = safe(" ".join(turn.said.split()))
    if len(said) <= most:
        return said
    lower = said.lower()
    weights = {lower.find(term.text.lower()): term.weight for term in reversed(terms)}
    best = max(weights, key=lambda at: (at >= 0, weights[at], -at), default=-1)
    if best < most * 2 // 3:
        return f"{said[: most - 1].rstrip()}…"
    start = best - most // 3
    start = said.find(" ", start, best) + 1 or start
    rest = said[start : start + most - 1]
    return f"…{rest}" if start + most - 1 >= len(said) else f"…{rest[:-1].rstrip()}…"


def hit(found: Hit, name: str, place: str, most: int) -> str:
    """A hit as a line: id, day, who, where, what in `most` characters, and what answers a turn that asks."""
    turn = found.turn
    day = clipped(turn.date, NAME_CHARACTERS) if turn.time else ""
    who = " ".join(filter(None, [day, clipped(turn.speaker, NAME_CHARACTERS)]))
    where = clipped(place, PLACE_CHARACTERS)
    where = where if len(where) <= SHORT_PLACE else f"…{where[-PLACE_END:]}"
    reply = f" → {_reply(found.reply.shown, most)}" if found.reply else ""
    said = excerpt(found.shown, found.terms, most)
    return f"[{name}] {who + ' | ' if who else ''}{where} | {said}{reply}"


def _reply(turn: Turn, most: int) -> str:
    """What answers a hit that asks, and who says so, in a line."""
    who = f"{clipped(turn.speaker, NAME_CHARACTERS)}: " if turn.speaker else ""
    return who + excerpt(turn, (), most)


def text(found: Json) -> str:
    """What `search` has found, as text: how good it is, the hits, and what there is to say."""
    good = [
        "nothing found" if not found["hits"] else "weak" if found["weak"] else "",
        f"confidence {found['confidence']:.2f}" if "confidence" in found else "",
        f"nobody says {', '.join(found['absent'])}" if "absent" in found else "",
        f"{found['more']:,} more with a higher `limit`" if "more" in found else "",
    ]
    notes = [f"note: {said}" for said in found.get("notes", ())]
    tried = [f"try: {found['next']}"] if "next" in found else []
    return "\n".join(["; ".join(filter(None, good)), *found["hits"], *notes, *tried])


def notes(said: Sequence[str], skipped: Sequence[Skipped]) -> list[str]:
    """What there was to say, a few of them, short; files that could not be read are counted."""
    every = list(dict.fromkeys(said))
    if skipped:
        first = f"{skipped[0].path}: {skipped[0].reason}"
        every.append(f"{len(skipped):,} left out, such as {first}")
    more = [f"and {len(every) - NOTES + 1:,} more notes"] if len(every) > NOTES else []
    return [clipped(text, NOTE_CHARACTERS) for text in every[: NOTES - len(more)]] + more


@dataclass(frozen=True)
class Wanted:
    """A turn that was asked for, by the name it was asked by, or one near it.

    `at` is its place in its file's turns; `distance` is 0 for a turn that was asked for, else how many turns
    lie between.
    """

    turn: Turn
    at: int
    place: str
    distance: int = 0
    name: str = ""


@dataclass(frozen=True)
class Filled:
    """The turns that fit, in the order they were said, what they take, and the names of those left out."""

    turns: tuple[Wanted, ...]
    used: int
    left_out: tuple[str, ...]
    cut: tuple[str, ...]
    crowded_out: int


def filled(wanted: Sequence[Wanted], tokens: int, tokenizer: Tokenizer) -> Filled:
    """Those of `wanted` that fit into `tokens`: first what was asked for, in that order, then the nearest.

    A turn that was asked for and does not fit is cut, if there is room for some of it.
    """
    kept: dict[tuple[str, int], Wanted] = {}
    left = tokens
    characters = RESULT_CHARACTERS - HEADING_CHARACTERS * sum(1 for one in wanted if one.name)
    left_out: list[str] = []
    cut: list[str] = []
    crowded = 0
    for one in sorted(wanted, key=lambda w: w.distance):
        key = (one.turn.path, one.at)
        if key in kept:
            continue
        fits, cost = _cost(one.turn, left, characters, tokenizer)
        if not fits and one.name:
            shorter = _shortened(one.turn, left, characters, tokenizer)
            if shorter is None:
                left_out.append(one.name)
                continue
            one = replace(one, turn=shorter)
            cut.append(one.name)
            cost = tokenizer.count(shorter.rendered)
        elif not fits:
            crowded += 1
            continue
        kept[key] = one
        left -= cost
        characters -= len(safe(one.turn.rendered)) + TURN_CHARACTERS
    order = {path: n for n, path in enumerate(dict.fromkeys(w.turn.path for w in wanted))}
    turns = sorted(kept.values(), key=lambda w: (order[w.turn.path], w.at))
    return Filled(tuple(turns), tokens - left, tuple(left_out), tuple(cut), crowded)


def _cost(turn: Turn, tokens: int, characters: int, tokenizer: Tokenizer) -> tuple[bool, int]:
    """Whether a turn fits and how many tokens it takes; what is far too long is not even counted."""
    room = characters - TURN_CHARACTERS
    if len(turn.rendered) > room or len(safe(turn.rendered)) > room:
        return False, 0
    cost = tokenizer.count(turn.rendered)
    return cost <= tokens, cost


LEAST_TOKENS = 30
"""Tokens of a turn that is cut, at least: fewer tell nothing."""


def _shortened(turn: Turn, tokens: int, characters: int, tokenizer: Tokenizer) -> Turn | None:
    """The beginning of a turn that fits, marked as cut; None where there is hardly any room."""
    room = characters - 2 * TURN_CHARACTERS - 2 * NAME_CHARACTERS
    if tokens < LEAST_TOKENS or room <= 0:
        return None
    bare = replace(turn, caption="", speaker=turn.speaker[:NAME_CHARACTERS], time=turn.time[:NAME_CHARACTERS])
    text = safe(turn.text[:room])[:room]

    def cut(at: int) -> Turn:
        return replace(bare, text=f"{text[:at]}…")

    fits = bisect_right(range(1, len(text) + 1), tokens, key=lambda at: tokenizer.count(cut(at).rendered))
    return cut(fits) if fits else None


def sessions(found: Sequence[Wanted], shown: dict[str, str]) -> list[Json]:
    """Turns in order as sessions: the file, its ids, and each turn with its place there.

    `hit` marks a turn that was asked for, `after_gap` one before which turns are left out.
    """
    records: list[Json] = []
    last: Wanted | None = None
    for one in found:
        turn = one.turn
        new = last is None or turn.place != last.turn.place
        if new:
            named = {"conversation": turn.title or turn.conversation, "session": turn.session}
            records.append(
                {
                    "path": clipped(shown[turn.path], PLACE_CHARACTERS),
                    **{key: clipped(value, NAME_CHARACTERS) for key, value in named.items() if value},
                    "turns": [],
                }
            )
        apart = not new and last is not None and one.at != last.at + 1
        last = one
        said = f"{turn.text} ({turn.caption})" if turn.caption else turn.text
        records[-1]["turns"].append(
            {
                "at": one.place,
                **({"time": clipped(turn.time, NAME_CHARACTERS)} if turn.time else {}),
                **({"speaker": clipped(turn.speaker, NAME_CHARACTERS)} if turn.speaker else {}),
                "text": safe(said),
                **({"hit": True} if one.name else {}),
                **({"after_gap": True} if apart else {}),
            }
        )
    return records


def session_lines(record: Json) -> Iterator[str]:
    """A session as text: a turn that was asked for begins with `*`, further lines of a turn are indented."""
    heading = [
        record["path"],
        *(f"{key} {record[key]}" for key in ("conversation", "session") if key in record),
    ]
    yield f"## {', '.join(heading)}"
    for turn in record["turns"]:
        if "after_gap" in turn:
            yield "  ..."
        stamp = f" [{turn['time'][:16].replace('T', ' ')}]" if "time" in turn else ""
        name = f" {turn['speaker']}:" if "speaker" in turn else ""
        said = turn["text"].replace("\n", "\n    ").replace("\n    \n", "\n\n")
        yield f"{'*' if turn.get('hit') else ' '} {turn['at']}{stamp}{name} {said}"
