"""`--explain` on a terminal: hops as a tree, scores with bars, the cut with tau drawn, time, models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text
from rich.tree import Tree

from smartsearch.config import Config
from smartsearch.output import bars
from smartsearch.output.bars import Scale, scale
from smartsearch.output.cut import (
    FELL,
    HIDDEN,
    SHOWN,
    Ranked,
    ceiling,
    decided,
    duration,
    ranked,
    rule,
    stages,
)
from smartsearch.output.plain import one_line, seen, where
from smartsearch.types import HopTrace, Result, Scores, Term

FATES = {SHOWN: "green", HIDDEN: "green", "tau": "red", "budget": "yellow", "top_k": "bright_black"}
LETTERS = {SHOWN: " ", HIDDEN: " ", "tau": "t", "budget": "b", "top_k": "k"}
HOPS = ("bright_black", "yellow", "cyan", "magenta", "blue", "green")
"""Colours by hop; 0 is what only the dense search found."""
STAGES = ("blue", "bright_black", "cyan", "yellow", "magenta", "red", "green", "white")
MARKS = "=~:*%#+o"
"""What stands for a stage where there is no colour."""
LISTED = 3
"""Turns shown of those that one rule dropped; JSON lists them all."""
NUMBER = 7
LABEL = 12
"""Cells before the plot."""
NARROW = 60
"""Cells under which the table does without the match weight."""
TERM = 24
"""Widest a term's name is shown, in cells."""


@dataclass(frozen=True)
class Canvas:
    """How wide the picture may be, and whether it keeps to ASCII."""

    width: int
    ascii_only: bool = False

    @property
    def line(self) -> str:
        """What horizontal lines are made of."""
        return "-" if self.ascii_only else "─"

    @property
    def gap(self) -> str:
        """What stands between facts on a line."""
        return ", " if self.ascii_only else " · "


def drawn(answer: Result, config: Config, canvas: Canvas) -> Iterator[Text | Hops]:
    """The picture from top to bottom; no line is wider than the canvas but those of facts, which may wrap."""
    rows = ranked(answer)
    yield _title("how it was found")
    yield Hops(answer, canvas)
    yield _title("scores")
    yield from _scores(answer, config, rows, canvas)
    yield _title("the cut")
    yield from _cut(answer, config, rows, canvas)
    yield _title("time")
    yield from _time(answer, canvas)
    yield _title("models")
    yield from _models(answer)


def _title(name: str) -> Text:
    return Text(f"\n{name}", style="bold")


@dataclass(frozen=True)
class Hops:
    """The question, its hops and their terms as a tree."""

    answer: Result
    canvas: Canvas

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The tree, its guides of ASCII where the canvas asks for that."""
        limits = replace(options, encoding="ascii") if self.canvas.ascii_only else options
        yield from console.render(self._tree(), limits)

    def _tree(self) -> Tree:
        trace = self.answer.trace
        root = Tree(Text(_flat(self.answer.query), style="italic"), guide_style="bright_black")
        held = Counter(_key(term) for hit in self.answer.hits for term in hit.terms)
        weights = Scale(0.0, max((term.weight for term in trace.terms), default=1.0))
        widest = max((min(cell_len(_flat(term.text)), TERM) for term in trace.terms), default=0)
        for step in trace.hops:
            branch = root.add(self._step(step))
            for term in step.terms:
                branch.add(self._term(term, weights, widest, held[_key(term)]))
        if trace.fallback:
            root.add(Text(_flat(trace.fallback), style="yellow"))
        return root

    def _step(self, step: HopTrace) -> Text:
        said = Text.assemble(
            (f"hop {step.hop}  {step.kind:<8} ", _hop(step.hop)), (f" +{_turns(step.found)}", "bold")
        )
        return said.append(f"{self.canvas.gap}{step.total:,} in all", style="dim")

    def _term(self, term: Term, weights: Scale, widest: int, held: int) -> Text:
        ascii_only = self.canvas.ascii_only
        name = set_cell_size(_clipped(_flat(term.text), TERM, ascii_only), widest)
        source = f"  for {_flat(term.source)}" if term.source else ""
        said = Text.assemble((name, _hop(term.hop)), (f"  {term.kind:<5} ", "dim"), f"{term.weight:5.2f} ")
        said.append(bars.bar(weights.share(term.weight), 6, ascii_only=ascii_only), style=_hop(term.hop))
        seen_in = f"  in {held} hit{'' if held == 1 else 's'}" if held else ""
        return said.append(f"{seen_in}{source}", style="dim")


def _scores(answer: Result, config: Config, rows: Sequence[Ranked], canvas: Canvas) -> Iterator[Text]:
    """The turns that are shown, then under a line for each rule the first it dropped."""
    if not rows:
        yield Text("nothing was found", style="dim")
        return
    table = _Table(rows, canvas)
    yield table.head()
    for row in rows:
        if row.fate == SHOWN:
            yield table.row(row)
    for fate in (HIDDEN, *FELL):
        members = [row for row in rows if row.fate == fate]
        if members:
            yield _ruled(f"{rule(fate, answer, config)}: {_turns(len(members))}", FATES[fate], canvas)
            for row in members[:LISTED]:
                yield table.row(row)
            if len(members) > LISTED:
                yield Text(f"{'':>5}and {len(members) - LISTED:,} more", style="dim")


class _Table:
    """Rows of numbers with bars, their columns as wide as the canvas lets them be."""

    def __init__(self, rows: Sequence[Ranked], canvas: Canvas) -> None:
        self._canvas = canvas
        columns = ("ce", "colbert", decided(rows), "match")
        self._names = columns if canvas.width >= NARROW else columns[:3]
        self._scales = [scale(_value(row.scores, name) for row in rows) for name in self._names]
        rank = max(len(str(rows[-1].rank)), 4)
        self._rank = rank
        spare = canvas.width - rank - len(self._names) * (NUMBER + 2) - 18
        self._bar = min(max(spare // len(self._names) - 1, 0), 10)
        bar = self._bar + 1 if self._bar else 0
        self._place = max(canvas.width - rank - len(self._names) * (NUMBER + bar + 1) - 1, 8)

    def head(self) -> Text:
        """The names of the columns."""
        wide = self._bar + 1 if self._bar else 0
        cells = [f" {name:>{NUMBER}}{'':{wide}}" for name in self._names]
        return Text(f"{'rank':>{self._rank}}{''.join(cells)} place", style="dim")

    def row(self, row: Ranked) -> Text:
        """One turn: a number and a bar for each score, and where it stands."""
        said = Text.assemble((f"{row.rank:>{self._rank}}", "bold" if row.stayed else "dim"))
        colour = FATES[row.fate]
        for name, over in zip(self._names, self._scales, strict=True):
            value = _value(row.scores, name)
            said.append(f" {_number(name, value):>{NUMBER}}", style="" if row.stayed else "dim")
            if self._bar:
                share = 0.0 if value is None else over.share(value)
                filled = bars.bar(share, self._bar, ascii_only=self._canvas.ascii_only)
                said.append(" ")
                said.append(" " * self._bar if value is None else filled, style=colour)
        place = _ending(_place(row), self._place, self._canvas.ascii_only)
        return said.append(f" {place}", style="magenta" if row.stayed else "dim")


def _cut(answer: Result, config: Config, rows: Sequence[Ranked], canvas: Canvas) -> Iterator[Text]:
    """The rules and, where there is a tau, the cross-encoder's scores by rank with its line."""
    cut = answer.budget
    stayed = sum(row.stayed for row in rows)
    limits = [f"top_k {cut.top_k}", f"alpha {cut.alpha:g}"] if cut.top_k else []
    facts = [cut.truncate, *limits, ceiling(answer, config), f"fill {config.fill}"]
    yield Text(f"{stayed:,} of {_turns(len(rows))} stay{canvas.gap}{canvas.gap.join(facts)}")
    used = f"{cut.used_words:,} words, {cut.used_tokens:,} tokens ({_flat(cut.tokenizer)})"
    yield Text(f"used: {used}", style="dim")
    if cut.tau > 0 and rows:
        yield from _plot(cut.tau, rows, canvas)


def _plot(tau: float, rows: Sequence[Ranked], canvas: Canvas) -> Iterator[Text]:
    """A column a rank, as high as its ce; what does not cross the line fell by tau."""
    shown = rows[: max(canvas.width - LABEL - 1, 10)]
    tall = bars.heights([row.scores.ce for row in shown], tau)
    styles = [FATES[row.fate] for row in shown]
    best = max((row.scores.ce for row in shown if row.scores.ce is not None), default=0.0)
    side = "|" if canvas.ascii_only else "│"
    lines = bars.columns(tall, ascii_only=canvas.ascii_only)
    below = bars.BELOW if any(height <= bars.BELOW * 8 for height in tall) else 0
    for number, line in enumerate(lines[: bars.ABOVE + below]):
        label = f"ce {best:.2g}" if number == 0 else ""
        yield _plotted(f"{label:>{LABEL}}{side}", line, styles)
        if number == bars.ABOVE - 1:
            over = [height > bars.BELOW * 8 for height in tall]
            full = "#" if canvas.ascii_only else "█"
            crossed = "".join(full if one else canvas.line for one in over)
            lined = [style if one else "red" for one, style in zip(over, styles, strict=True)]
            yield _plotted(f"{f'tau {tau:.2g}':>{LABEL}}{side}", crossed, lined)
    letters = "".join(LETTERS[row.fate] for row in shown)
    ranks = "".join(f"{n:<10}" for n in (1, *range(11, len(shown) + 1, 10)))[: max(len(shown), 10)]
    yield Text(f"{'rank':>{LABEL}} {ranks}", style="dim")
    if letters.strip():
        keys = {"t": "tau", "b": "budget", "k": "top_k"}
        told = ", ".join(f"{key} {name}" for key, name in keys.items() if key in letters)
        yield _plotted(f"{'fell':>{LABEL}} ", letters.rstrip(), styles)
        yield Text(f"{'by':>{LABEL}} {told}", style="dim")
    if len(rows) > len(shown):
        yield Text(f"{'':>{LABEL}} ranks up to {shown[-1].rank} of {rows[-1].rank}", style="dim")


def _plotted(label: str, line: str, styles: Sequence[str]) -> Text:
    """A row of the plot: the label, and each rank's cell in its own style."""
    said = Text.assemble((label, "dim"))
    for style, cells in groupby(zip(line, styles, strict=False), key=lambda cell: cell[1]):
        said.append("".join(character for character, _ in cells), style=style)
    return said


def _time(answer: Result, canvas: Canvas) -> Iterator[Text]:
    """One bar parted by stage, and the stages by name."""
    timing = answer.trace.timing_ms
    spent = stages(timing)
    total = duration(timing.get("total", 0.0))
    marks = MARKS if canvas.ascii_only else "█" * len(MARKS)
    line = Text()
    width = max(canvas.width - len(total) - 2, 10)
    for n, cells in enumerate(bars.parts([ms for _, ms in spent], width)):
        line.append(marks[n] * cells, style=STAGES[n])
    yield line.append(f" {total}", style="bold")
    names = [
        Text.assemble((f"{marks[n]} ", STAGES[n]), f"{name} {duration(ms)}")
        for n, (name, ms) in enumerate(spent)
    ]
    yield from _filled([*names, Text(f"threads {answer.threads}", style="dim")], canvas.width)


def _filled(parts: Sequence[Text], width: int) -> Iterator[Text]:
    """Parts side by side, none of them broken, as many a line as there is room for."""
    line = Text()
    for part in parts:
        if line and line.cell_len + 3 + part.cell_len > width:
            yield line
            line = Text()
        line = Text.assemble(line, "   ", part) if line else part
    yield line


def _models(answer: Result) -> Iterator[Text]:
    """The profile, each model that ran, and what had to be left out."""
    yield Text(f"profile {_flat(answer.profile)}")
    wide = max((len(model.role) for model in answer.trace.models), default=0)
    for model in answer.trace.models:
        facts = f"  {_flat(model.revision)}  {_flat(model.precision)}"
        yield Text.assemble((f"{model.role:<{wide}}  ", "dim"), _flat(model.id), (facts, "dim"))
    for said in answer.trace.degraded:
        yield Text(_flat(said), style="yellow")


def _ruled(said: str, style: str, canvas: Canvas) -> Text:
    """A line across the canvas with words in it."""
    start = f"{canvas.line * 2} {said} "
    return Text(start + canvas.line * max(canvas.width - cell_len(start), 2), style=style)


def _value(scores: Scores, name: str) -> float | None:
    values = {
        "ce": scores.ce,
        "colbert": scores.colbert,
        "fused": scores.fused,
        "rrf": scores.rrf,
        "match": scores.match,
    }
    return values[name]


def _number(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    digits = {"ce": 4, "rrf": 5, "match": 2}.get(name, 3)
    return f"{value:.{digits}f}"


def _place(row: Ranked) -> str:
    identity = f" {one_line(row.turn.turn)}" if row.turn.turn else ""
    return seen(f"{where(row.turn)}{identity}")


def _flat(text: str) -> str:
    return seen(one_line(text))


def _turns(count: int) -> str:
    return f"{count:,} turn{'' if count == 1 else 's'}"


def _clipped(text: str, width: int, ascii_only: bool) -> str:
    """`text` in `width` cells, its beginning."""
    if cell_len(text) <= width:
        return text
    mark = "..." if ascii_only else "…"
    return set_cell_size(text, width - len(mark)).rstrip() + mark


def _ending(text: str, width: int, ascii_only: bool) -> str:
    """`text` in `width` cells, its end: what tells two places apart stands there."""
    if cell_len(text) <= width:
        return text
    mark = "..." if ascii_only else "…"
    while text and cell_len(text) > width - len(mark):
        text = text[1:]
    return mark + text


def _key(term: Term) -> tuple[str, str]:
    return (term.kind, term.text)


def _hop(hop: int) -> str:
    return HOPS[min(hop, len(HOPS) - 1)]
