"""The ranked list for a person at a terminal: wrapped, dated, matched words highlighted."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import Literal

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.padding import Padding
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from smartsearch.output import links, stream
from smartsearch.output.plain import one_line, seen, where
from smartsearch.types import Hit, Nearby, Result, Turn

MATCH = "bold yellow"
NARROWEST = 20
"""Columns that are drawn on at least."""


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
        """Nobody reads any more: rich would end the process with an error."""
        raise stream.PipeClosed


def console(*, colour: bool, linked: bool = False) -> Screen:
    """Standard output with or without colour and links, whatever it is connected to."""
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
    hits: Sequence[Hit], nearby: Sequence[Nearby] | None = None, template: str | None = None
) -> list[RenderableType]:
    """One block a hit: rank, date, speaker, score; the text; where it stands.

    `template` makes that a link (links.py); None leaves it text.
    """
    width = len(str(max((hit.rank for hit in hits), default=1)))
    return [_block(hit, nearby[n] if nearby else Nearby(0), width, template) for n, hit in enumerate(hits)]


def _block(hit: Hit, around: Nearby, width: int, template: str | None) -> RenderableType:
    turn = hit.turn
    head = Text.assemble((f"{hit.rank:>{width}}  ", "bold"))
    if turn.time:
        head.append(f"{one_line(turn.date)}  ", style="cyan")
    head.append(one_line(turn.speaker), style="bold green")
    head.append(f"  {_score(hit)}", style="dim")
    said = highlighted(_said(turn), hit)
    foot = place(turn, template)
    for part in (one_line(turn.turn), _session(turn)):
        foot.append(f"  {part}" if part else "")
    foot.stylize("dim")
    body: list[RenderableType] = [
        *(_neighbour(other) for other in around.before),
        said,
        *(_neighbour(other) for other in around.after),
        foot,
    ]
    return Group(head, Padding(Group(*body), (0, 0, 1, width + 2)))


def place(turn: Turn, template: str | None) -> Text:
    """Where a turn stands, as a link where a template of links is given."""
    return linked(where(turn), turn.path, turn.line, template)


def linked(text: str, path: str, line: int, template: str | None) -> Text:
    """`text` as a link to a line of a file, where a template of links is given."""
    shown = Text(text)
    target = "" if template is None else links.url(path, line, template)
    if target:
        shown.stylize(Style(link=target))
    return shown


def highlighted(text: str, hit: Hit) -> Text:
    """`text` with the terms that found the hit in colour."""
    drawn = Text(text)
    words = sorted({term.text for term in hit.terms if term.text}, key=len, reverse=True)
    if words:
        drawn.highlight_regex(re.compile("|".join(map(re.escape, words)), re.IGNORECASE), MATCH)
    return drawn


def line(hit: Hit, template: str | None = None) -> Text:
    """A pipe's line for a hit, coloured or linked: `--color always` without a terminal."""
    stands = place(hit.turn, template)
    stands.stylize("magenta")
    return Text.assemble(stands, ":", highlighted(one_line(hit.turn.rendered), hit))


def footer(answer: Result) -> Text:
    """One dim line: how much was found, out of what, and how long it took."""
    shown_turns, cut = len(answer.hits), answer.budget
    parts = [
        f"{shown_turns} turn{'' if shown_turns == 1 else 's'} of {answer.trace.candidates} candidates",
        f"{cut.used_words:,} words, {cut.used_tokens:,} tokens",
        f"{answer.trace.timing_ms.get('total', 0.0) / 1000.0:.2f} s",
    ]
    return Text(" · ".join(parts), style="dim")


def _neighbour(turn: Turn) -> Text:
    speaker = f"{one_line(turn.speaker)}: " if turn.speaker else ""
    return Text(f"│ {speaker}{_said(turn)}", style="dim")


def _said(turn: Turn) -> str:
    return seen(f"{turn.text} ({turn.caption})" if turn.caption else turn.text)


def _session(turn: Turn) -> str:
    return one_line("/".join(part for part in (turn.title or turn.conversation, turn.session) if part))


def _score(hit: Hit) -> str:
    return f"{hit.scores.ce:.2f}" if hit.scores.ce is not None else f"match {hit.scores.match:g}"
