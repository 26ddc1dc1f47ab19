"""What `smartsearch live` draws: a list of hits, the chat around one, a line of state. Pure: fragments out.

A fragment is `(style, text)`, as prompt_toolkit takes it. The keys and the searching are in cli/live.py.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from smartsearch.output.marking import found
from smartsearch.output.plain import clipped, one_line, seen, where
from smartsearch.types import Hit, Turn

Fragments = list[tuple[str, str]]
Line = list[tuple[str, str]]

STYLES = {
    "date": "ansicyan",
    "speaker": "ansigreen bold",
    "match": "ansiyellow bold",
    "chosen": "reverse",
    "dim": "ansibrightblack",
    "asked": "ansiyellow bold",
}
HELP = ("Esc leave", "Enter open", "Ctrl-O editor", "/since 7d", "/speaker NAME", "/clear")
IN_CHAT = ("Esc back", "PgUp PgDn scroll", "Ctrl-O editor")
"""What may be typed, the most needed first: a narrow screen shows those that fit."""
_LEADING = 24
"""Characters of a turn that are kept before its first match where it does not fit on its line."""


@dataclass
class State:
    """What is on the screen. `stage` says how far the hits are: words matched, or ranked.

    `opened` holds the turns of a chat that is open, `asked` the place among them of the hit, `top` the first
    line that is shown.
    """

    hits: Sequence[Hit] = ()
    chosen: int = 0
    stage: str = ""
    message: str = ""
    filters: Mapping[str, Sequence[str]] = field(default_factory=dict)
    opened: Sequence[Turn] = ()
    asked: int = 0
    top: int | None = None

    @property
    def hit(self) -> Hit | None:
        """The chosen hit, or None."""
        return self.hits[self.chosen] if self.hits else None

    def found(self, hits: Sequence[Hit], stage: str, message: str = "") -> None:
        """Show other hits and what is to be said of them; a chosen turn among them stays chosen."""
        before = self.hit.index if self.hit and self.chosen else -1
        self.hits, self.stage, self.message = hits, stage, message
        self.chosen = next((n for n, hit in enumerate(hits) if hit.index == before), 0)

    def move(self, by: int) -> None:
        """Choose another hit, or scroll the chat that is open."""
        if self.opened:
            self.top = max(0, (self.top or 0) + by)
        elif self.hits:
            self.chosen = min(max(self.chosen + by, 0), len(self.hits) - 1)

    def close(self) -> bool:
        """Close the open chat; False if none was open."""
        was = bool(self.opened)
        self.opened, self.top = (), None
        return was


def body(state: State, width: int, height: int) -> Fragments:
    """The part of the screen between the question and the last line."""
    if state.opened:
        return _joined(_chat(state, width, height))
    shown = list(_list(state, width, max(height // 2, 1)))
    if state.hit:
        shown.append([("class:dim", "─" * width)])
        shown += list(_turn(state.hit.turn, state.hit, width))[: height - len(shown)]
    return _joined(shown)


def foot(state: State, width: int) -> Fragments:
    """The last line: what was found, what is filtered, what may be typed."""
    filters = " ".join(f"/{name} {' '.join(given)}" for name, given in state.filters.items())
    count = f"{len(state.hits)} {state.stage}" if state.stage else ""
    said = " · ".join(part for part in (state.message or count, filters) if part)
    keys = ""
    for key in IN_CHAT if state.opened else HELP:
        keys += (" · " if keys else "  " if said else "") + key
        if len(said) + len(keys) > width:
            keys = keys[: -len(key)].rstrip(" ·")
            break
    return [("", one_line(said)[:width]), ("class:dim", keys)]


def _joined(lines: Sequence[Line]) -> Fragments:
    drawn: Fragments = []
    for line in lines:
        drawn += [*line, ("", "\n")]
    return drawn[:-1]


def _list(state: State, width: int, height: int) -> Iterator[Line]:
    """A line per hit, scrolled so that the chosen one is visible."""
    first = max(0, state.chosen - height + 1)
    for n, hit in enumerate(state.hits[first : first + height], start=first):
        turn = hit.turn
        head = [("class:date", f"{one_line(turn.date)} "), ("class:speaker", f"{one_line(turn.speaker)}: ")]
        room = width - sum(len(text) for _, text in head)
        text = _around_match(one_line(turn.text), hit, room)
        line = [*head, *_marked(text, hit)]
        yield [(f"{style} class:chosen", part) for style, part in line] if n == state.chosen else line


def _around_match(text: str, hit: Hit, room: int) -> str:
    """The part of a long text around its first match that fits the room."""
    places = found(text, hit.terms)
    if len(text) > room and places and places[0][0][1] > room:
        text = "…" + text[max(places[0][0][0] - _LEADING, 0) :]
    return clipped(text, max(room, 1))


def _marked(text: str, hit: Hit) -> Line:
    line: Line = []
    at = 0
    for (first, last), _ in found(text, hit.terms):
        line += [("", text[at:first]), ("class:match", text[first:last])]
        at = last
    return [*line, ("", text[at:])]


def _turn(turn: Turn, hit: Hit | None, width: int) -> Iterator[Line]:
    """A turn in full: who, when and where on a line, what was said below."""
    style = "class:asked" if hit else "class:speaker"
    stamp = one_line(turn.time.replace("T", " "))
    yield [(style, one_line(turn.speaker)), ("class:date", f"  {stamp}"), ("class:dim", f"  {where(turn)}")]
    said = seen(turn.captioned)
    for paragraph in said.split("\n"):
        for text in textwrap.wrap(paragraph, max(width - 2, 1), drop_whitespace=False) or [""]:
            yield [("", "  "), *(_marked(text, hit) if hit else [("", text)])]


def _chat(state: State, width: int, height: int) -> list[Line]:
    """The visible lines of the open chat; at first those around the hit."""
    lines: list[Line] = []
    begins = 0
    for n, turn in enumerate(state.opened):
        if n == state.asked:
            begins = len(lines)
        lines += [*_turn(turn, state.hit if n == state.asked else None, width), []]
    top = max(begins - height // 3, 0) if state.top is None else state.top
    state.top = min(top, max(len(lines) - height, 0))
    return lines[state.top : state.top + height]
