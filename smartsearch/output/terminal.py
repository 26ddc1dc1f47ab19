"""The hits for a person at a terminal: dated, folded to a few lines, matched words highlighted."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Literal

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from smartsearch.output import links, stream
from smartsearch.output.blocks import Block, folded, short
from smartsearch.output.marking import found
from smartsearch.output.plain import clipped, counted, one_line, seen, unsaid, weakness, where
from smartsearch.types import Hit, Result, Term, Turn

MATCH = "bold yellow"
FIRST, LINES, OTHERS, BEFORE, AFTER = 6, 4, 2, 1, 2
"""Lines of the best hit, of other blocks' best, of their further hits, of turns before and after."""
MARKED = 5
"""Only a block's best hit is marked beyond this rank; other hits of lower rank are context."""
TITLE, PLACE = 30, 60
"""Characters of a chat's name, and of where a turn stands."""
FRAME = 4
"""Lines of a screen that the footer, what is said above, and the prompt before and after take."""
WIDEST = 120
"""The widest text, in columns: longer lines are hard to read."""
NARROWEST = 20
"""The narrowest text, in columns."""


class Screen(Console):
    """Standard output as rich sees it. Without colour no style is left but links, where those are wanted."""

    plain = False

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of something to print."""
        for segment in super().render(renderable, options):
            if self.plain and segment.style:
                link = segment.style.link
                yield Segment(segment.text, Style(link=link) if link else None, segment.control)
            else:
                yield segment

    def on_broken_pipe(self) -> None:
        """Raise, so that our own handling of a closed pipe applies; rich would exit with an error."""
        raise stream.PipeClosed


def console(*, colour: bool, linked: bool = False) -> Screen:
    """A console on standard output with or without colour and links."""
    known = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    drawn: Literal["auto", "standard"] | None = "standard" if colour or linked else None
    screen = Screen(
        file=sys.stdout,
        force_terminal=colour or linked or None,
        no_color=not colour,
        color_system="auto" if colour and known else drawn,
        highlight=False,
        emoji=False,
        markup=False,
        soft_wrap=False,
        width=max(shutil.get_terminal_size().columns, NARROWEST),
    )
    screen.plain = not colour
    return screen


def shown(
    found: Sequence[Block], screen: Console, template: str | None = None, room: int = 0
) -> Iterator[list[Text]]:
    """The lines of each block under its number: when, in which chat and where, then who said what.

    `template` makes places links (links.py); None leaves them text. With `room` it ends with the last block
    that fits into that many lines; the first is always shown.
    """
    digits, left = len(str(len(found))), room or sys.maxsize
    for number, block in enumerate(found, 1):
        lines = list(_block(block, f"{number:>{digits}}", screen, template, FIRST if number == 1 else LINES))
        left -= len(lines)
        if number > 1 and left < 0:
            return
        yield lines


def _block(block: Block, number: str, screen: Console, template: str | None, most: int) -> Iterator[Text]:
    width, indent = min(screen.width, WIDEST), len(number) + 2
    yield _head(block, number, width, template)
    for index, turn in block.turns.items():
        hit = block.hits.get(index)
        other = OTHERS if hit else BEFORE if index < min(block.hits) else AFTER
        lines = _said(turn, hit, width - indent, most if index == block.at else other)
        marked = hit is not None and (index == block.at or hit.rank <= MARKED)
        for n, line in enumerate(lines):
            if not marked:
                line.stylize("dim")
            yield Text.assemble((f"{'>' if marked and not n else '':>{indent - 1}} ", MATCH), line)
    yield Text()


def _head(block: Block, number: str, width: int, template: str | None) -> Text:
    """`1  2024-05-08 13:56  Family  chats/family.txt:12`: in one line, the place cut first, at its left."""
    turn = block.turns[block.at]
    title = turn.title or turn.conversation
    head = Text.assemble((number, "bold"))
    for part, style in (
        (f"{turn.date} {turn.time[11:16]}".strip(), "cyan"),
        (f"x{block.times}" if block.times > 1 else "", "bold"),
        (clipped(title, TITLE) if title != PurePath(turn.path).stem else "", ""),
    ):
        head.append(f"  {one_line(part)}" if part else "", style=style)
    stands = linked(short(where(turn), min(max(width - head.cell_len - 2, NARROWEST), PLACE)), turn, template)
    stands.stylize("dim")
    return Text.assemble(head, "  ", stands)


def _said(turn: Turn, hit: Hit | None, width: int, most: int) -> list[Text]:
    """Who said what, in at most `most` lines: of a hit the part around its terms, these in colour."""
    terms = hit.terms if hit else ()
    who = Text(f"{clipped(one_line(turn.speaker), width // 2)}: " if turn.speaker else "", "bold green")
    whole = seen(turn.captioned)
    text = "\n".join(line for line in whole.split("\n") if line.strip())
    lines = _wrapped(who, text, terms, width) if len(text) <= most * width else []
    room = most * width
    while not 0 < len(lines) <= most and room > 0:
        room -= width // 4  # words do not fill lines to the end, and some letters take two columns
        lines = _wrapped(who, folded(text, terms, room), terms, width)
    return lines[:most]


def _wrapped(who: Text, text: str, terms: Sequence[Term], width: int) -> list[Text]:
    lines = Text.assemble(who, highlighted(text, terms)).wrap(Console(width=width), width)
    for line in lines:
        line.rstrip()
    return list(lines)


def place(turn: Turn, template: str | None) -> Text:
    """Where a turn stands, as a link where a template of links is given."""
    return linked(where(turn), turn, template)


def linked(text: str, turn: Turn, template: str | None) -> Text:
    """`text` as a link to a turn's line of its file, where a template of links is given."""
    shown = Text(text)
    target = "" if template is None else links.url(turn.path, turn.line, template)
    if target:
        shown.stylize(Style(link=target))
    return shown


def highlighted(text: str, terms: Sequence[Term]) -> Text:
    """`text` with the terms that found a hit in colour."""
    drawn = Text(text)
    for (begin, end), _ in found(text, terms):
        drawn.stylize(MATCH, begin, end)
    return drawn


def line(hit: Hit, template: str | None = None) -> Text:
    """A pipe's line for a hit, coloured or linked: `--color always` without a terminal."""
    stands = place(hit.turn, template)
    stands.stylize("magenta")
    return Text.assemble(stands, ":", highlighted(one_line(hit.shown.rendered), hit.terms))


def weak(answer: Result) -> Text:
    """The line above a weak answer."""
    return Text(weakness(answer), style=MATCH)


def footer(answer: Result, shown: int, of: int) -> Text:
    """One dim line: how many more there are, how to see them, and how long it took."""
    more = of - shown
    parts = [
        f"{more} more: -n 0 shows all" if more else counted(of, "place"),
        f"smartsearch show {min(2, of)} opens one in its chat",
        f"{answer.trace.timing_ms.get('total', 0.0) / 1000.0:.1f} s",
    ]
    if not answer.weak and (lacking := unsaid(answer)):
        parts.insert(0, lacking)
    return Text(" · ".join(parts), style="dim")
