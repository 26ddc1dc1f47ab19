"""Prints one answer in the chosen format, and warnings and skipped files on standard error."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from smartsearch.output import masking, plain, record, stream

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from smartsearch.config import Config
    from smartsearch.types import Hit, Nearby, Result, Skipped


FEW, FEWEST = 5, 3
"""Blocks that a terminal shows without -n; of a weak answer."""
SCREEN = 40
"""The most lines of these blocks, on a screen of any height."""
PIPED = {"text": 10, "md": 10, "json": 20, "jsonl": 20}
"""Hits printed to a pipe without -n, by format; the other formats fill a budget."""
NOTES = 3
"""The most lines of warnings on a terminal."""


@dataclass(frozen=True)
class View:
    """How an answer is to be shown: the format, turns of context before and after, and the switches.

    A terminal shows the best `few` where that is set, and of the context only what makes a hit readable,
    unless it was `asked` for.
    """

    format: str = "text"
    before: int = 0
    after: int = 0
    explain: bool = False
    files: bool = False
    color: str = "auto"
    hyperlinks: str = "auto"
    quiet: bool = False
    named: tuple[str, ...] = ()
    """Paths as typed: a fault of one of these is reported by itself."""
    asked: bool = True
    few: bool = False
    none: bool = False
    """Whether no hit is shown, whatever was found."""

    @property
    def traced(self) -> bool:
        """Whether turns that the cut left out are shown too."""
        return self.explain or self.format == "html"

    @property
    def screen(self) -> bool:
        """Whether hits are shown as blocks, not lines."""
        return self.format == "text" and not self.files and sys.stdout.isatty()

    @property
    def wanted(self) -> int:
        """How many hits a screen shows at most, where it shows what fits; 0 elsewhere."""
        return PIPED["json"] if self.few and self.screen and not self.explain else 0

    def most(self, limit: int) -> int:
        """The most hits of an answer, 0 for all: `limit`, or without it the format's own."""
        return limit if self.screen or self.files or not self.few else PIPED.get(self.format, 0)


def show(answer: Result, around: Sequence[Nearby], config: Config, view: View) -> list[Hit]:
    """Print `answer`; `around` has one entry per hit where context is wanted, else none.

    Returns the hits that a screen has numbered, by number; none in a pipe.
    """
    numbered: list[Hit] = []
    if view.none:
        pass
    elif view.screen:
        numbered = _screen(answer, around, view)
    else:
        FORMATS[view.format](answer, around, config, view)
    if view.explain and view.format not in WHOLE:
        _explain(answer, config, view)
    if not view.quiet:
        if view.screen and not answer.hits:
            stream.talk(f"nothing found for {answer.query!r}")
        if view.few and answer.budget.hidden and view.format != "json" and sys.stderr.isatty():
            stream.talk(f"{len(answer.budget.hidden):,} more: -n 0 shows all")
        elsewhere = not view.screen and view.format not in ("json", "html")
        complain(answer, view.named, weakly=elsewhere)
    return numbered


def _jsonl(answer: Result, around: Sequence[Nearby], _config: Config, _view: View) -> None:
    rows = (record.hit(hit, around[n] if around else None) for n, hit in enumerate(answer.hits))
    stream.write((record.dumps(masking.shown(row)) for row in rows), masked=True)


def block(answer: Result, around: Sequence[Nearby], config: Config) -> Iterator[str]:
    """The lines of the block for a prompt, without unlikely turns."""
    from smartsearch.rank.confidence import worth_reading
    from smartsearch.types import Nearby

    read = [answer.hits[n] for n in worth_reading(answer)]
    near = [around[n] for n in worth_reading(answer)] if around else [Nearby(hit.index) for hit in read]
    said = plain.weakness(answer) if answer.weak and read else ""
    return plain.context(read, near, config.compress, said)


def _html(answer: Result, around: Sequence[Nearby], config: Config, _view: View) -> None:
    from smartsearch.output import html

    stream.write([html.page(answer, around, config).removesuffix("\n")], masked=True)
    if sys.stdout.isatty():
        stream.talk("this is a page for a browser: > answer.html keeps it")


def complain(
    answer: Result,
    named: Sequence[str] = (),
    said: set[str] | None = None,
    *,
    weakly: bool = False,
    of: tuple[str, Sequence[str]] = ("", ()),
) -> None:
    """Warnings, what was left undone and files that could not be read, on standard error; once each.

    A terminal gets the first few. With `weakly` a weak answer is told first. `of` has the prefix for warnings
    of one question among many, and the warnings that are of the files.
    """
    said = set() if said is None else said
    before, general = of
    told = plain.told(answer if weakly else replace(answer, weak=False))
    own = [text if text in general else f"{before}{text}" for text in told]
    every = (*own, *left_out(answer.skipped, named))
    new = [text for text in dict.fromkeys(every) if text not in said]
    said.update(new)
    stream.warn_of(new, NOTES)


def left_out(skipped: Sequence[Skipped], named: Sequence[str]) -> Iterator[str]:
    """Files that could not be read: a line per path that the user named, one line for the rest."""
    found = [one for one in skipped if one.path not in named]
    for one in skipped if len(found) < 2 else [one for one in skipped if one.path in named]:
        yield f"left out: {one.path}: {one.reason}"
    if len(found) < 2:
        return
    whole = {one.path for one in found if one.kind != "bad_record"}
    partly = {one.path for one in found} - whole
    parts = [plain.counted(len(whole), "file")] if whole else []
    parts += [f"parts of {plain.counted(len(partly), 'file')}"] if partly else []
    yield f"{' and '.join(parts)} left out: `smartsearch formats detect PATH` shows them"


def _explain(answer: Result, config: Config, view: View) -> None:
    """The facts, a line each; below text in a pipe and other formats they begin with `# `."""
    from smartsearch.output import explain

    mark = "" if sys.stdout.isatty() and view.format == "text" else "# "
    stream.write(f"{mark}{line}" for line in explain.lines(answer, config))


def _files(answer: Result, view: View) -> None:
    from smartsearch.output import links

    template = link_template(view.hyperlinks)
    shown = {plain.shown_path(hit.turn.path): hit.turn.path for hit in answer.hits}
    url = {path: "" if template is None else links.url(shown[path], 0, template) for path in shown}
    stream.write(links.link(path, url[path]) for path in plain.files(answer.hits))


def _text(answer: Result, around: Sequence[Nearby], _config: Config, view: View) -> None:
    if view.files:
        _files(answer, view)
        return
    colour, template = stream.coloured(view.color), link_template(view.hyperlinks)
    if around or (not colour and template is None):
        stream.write(plain.lines(answer.hits, around))
        return
    from smartsearch.output import terminal

    screen = terminal.console(colour=colour, linked=template is not None)
    draw(screen, (terminal.line(hit, template) for hit in answer.hits), soft_wrap=True)


def _screen(answer: Result, around: Sequence[Nearby], view: View) -> list[Hit]:
    """Draw the best blocks: as many as -n says, else as many as fit on the screen."""
    from smartsearch.output import terminal
    from smartsearch.output.blocks import blocks

    template = link_template(view.hyperlinks)
    screen = terminal.console(colour=stream.coloured(view.color), linked=template is not None)
    every = blocks(answer.hits, around, whole=view.asked)
    if not every:
        return []
    few = (FEWEST if answer.weak else FEW) if view.few else len(every)
    room = min(screen.height, SCREEN) - terminal.FRAME if view.few else 0
    if answer.weak:
        draw(screen, [terminal.weak(answer)])
    drawn = list(terminal.shown(every[:few], screen, template, room))
    draw(screen, (line for lines in drawn for line in lines))
    draw(screen, [terminal.footer(answer, len(drawn), len(every))])
    return [block.best for block in every]


FORMATS: dict[str, Callable[[Result, Sequence[Nearby], Config, View], None]] = {
    "text": _text,
    "json": lambda answer, around, config, view: stream.write_json(
        record.result(answer, config, around, explain=view.explain)
    ),
    "jsonl": _jsonl,
    "md": lambda answer, around, _config, _view: stream.write(plain.markdown(answer, around)),
    "context": lambda answer, around, config, _view: stream.write(block(answer, around, config)),
    "html": _html,
}
"""The printer of each format of `--format`. A new format is a line here."""
WHOLE = ("json", "jsonl", "html")
"""Formats that programs read: no line of `--explain` follows."""


def link_template(choice: str) -> str | None:
    """The template of links to places, empty for `file://`; None for no links."""
    if not stream.linked(choice):
        return None
    from smartsearch.output.links import TEMPLATE

    return os.environ.get(TEMPLATE, "")


def draw(screen: Console, blocks: Iterable[RenderableType], *, soft_wrap: bool = False) -> None:
    """Print blocks on a screen. Raises PipeClosed when the reader has gone."""
    try:
        for block in blocks:
            screen.print(block, soft_wrap=soft_wrap)
        stream.write([])
    except BrokenPipeError as error:
        raise stream.PipeClosed from error


def table(name: str, rows: Sequence[Any], *, as_json: bool) -> None:
    """Print equal rows, records too, as JSON or in columns; rows wrap on a narrow terminal."""
    told = record.table(name, rows)
    if as_json:
        stream.write_json(told)
    elif rows := masking.shown(told[name]):
        cells = [list(rows[0]), *([_cell(value) for value in row.values()] for row in rows)]
        lines = plain.aligned(cells)
        width = shutil.get_terminal_size().columns
        if sys.stdout.isatty() and max(map(plain.cells, lines)) > width:
            lines = [line for row in cells[1:] for line in plain.wrapped(row, width)]
        stream.write(lines)


def _cell(value: object) -> str:
    return plain.one_line(", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value))
