"""The ranked list for a person at a terminal: wrapped, dated, matched words highlighted."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from smartsearch.nearby import Nearby
from smartsearch.output.plain import one_line, seen, where
from smartsearch.types import Hit, Result, Turn

MATCH = "bold yellow"


def console(*, colour: bool) -> Console:
    """Standard output as rich sees it, with or without colour whatever it is connected to."""
    return Console(
        file=sys.stdout,
        force_terminal=colour or None,
        no_color=not colour,
        color_system="auto" if colour and sys.stdout.isatty() else ("standard" if colour else None),
        highlight=False,
        emoji=False,
        markup=False,
        soft_wrap=False,
    )


def shown(hits: Sequence[Hit], nearby: Sequence[Nearby] | None = None) -> list[RenderableType]:
    """One block a hit: rank, date, speaker, score; the text; where it stands."""
    width = len(str(max((hit.rank for hit in hits), default=1)))
    return [_block(hit, nearby[n] if nearby else Nearby(0), width) for n, hit in enumerate(hits)]


def _block(hit: Hit, around: Nearby, width: int) -> RenderableType:
    turn = hit.turn
    head = Text.assemble((f"{hit.rank:>{width}}  ", "bold"))
    if turn.time:
        head.append(f"{turn.date}  ", style="cyan")
    head.append(seen(turn.speaker), style="bold green")
    head.append(f"  {_score(hit)}", style="dim")
    said = highlighted(_said(turn), hit)
    foot = Text(
        "  ".join(part for part in (where(turn), seen(turn.turn), _session(turn)) if part), style="dim"
    )
    body: list[RenderableType] = [
        *(_neighbour(other) for other in around.before),
        said,
        *(_neighbour(other) for other in around.after),
        foot,
    ]
    return Group(head, Padding(Group(*body), (0, 0, 1, width + 2)))


def highlighted(text: str, hit: Hit) -> Text:
    """`text` with the terms that found the hit in colour."""
    drawn = Text(text)
    words = sorted({term.text for term in hit.terms if term.text}, key=len, reverse=True)
    if words:
        drawn.highlight_regex(re.compile("|".join(map(re.escape, words)), re.IGNORECASE), MATCH)
    return drawn


def line(hit: Hit) -> Text:
    """A pipe's line for a hit, coloured: `--color always` without a terminal."""
    place = Text(where(hit.turn), style="magenta")
    return Text.assemble(place, ":", highlighted(one_line(hit.turn.rendered), hit))


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
    speaker = f"{seen(turn.speaker)}: " if turn.speaker else ""
    return Text(f"│ {speaker}{_said(turn)}", style="dim")


def _said(turn: Turn) -> str:
    return seen(f"{turn.text} ({turn.caption})" if turn.caption else turn.text)


def _session(turn: Turn) -> str:
    return seen("/".join(part for part in (turn.title or turn.conversation, turn.session) if part))


def _score(hit: Hit) -> str:
    return f"{hit.scores.ce:.2f}" if hit.scores.ce is not None else f"match {hit.scores.match:g}"
