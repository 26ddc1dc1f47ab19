"""One answer in the format asked for, to standard output; warnings and skipped files to standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smartsearch.output import pager, plain, record, stream

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from smartsearch.config import Config
    from smartsearch.types import Nearby, Result, Skipped


@dataclass(frozen=True)
class View:
    """How an answer is to be shown: the format, turns of context before and after, and the switches."""

    format: str = "text"
    before: int = 0
    after: int = 0
    explain: bool = False
    files: bool = False
    color: str = "auto"
    hyperlinks: str = "auto"
    pager: bool = True
    quiet: bool = False
    named: tuple[str, ...] = ()
    """Paths as they were typed: what is wrong with one of these is told by itself."""

    @property
    def traced(self) -> bool:
        """Whether what the cut left out is shown too."""
        return self.explain or self.format == "html"


def show(answer: Result, around: Sequence[Nearby], config: Config, view: View) -> None:
    """Print `answer`; `around` has one entry a hit where turns of context are wanted, else none."""
    with pager.paged(view.pager and view.format != "html"):
        _print(answer, around, config, view)
    if view.quiet:
        return
    if not answer.hits and view.format == "text" and not view.files and sys.stdout.isatty():
        stream.talk(f"nothing found for {answer.query!r}")
    complain(answer, view.named)


def _print(answer: Result, around: Sequence[Nearby], config: Config, view: View) -> None:
    FORMATS[view.format](answer, around, config, view)
    if view.explain and view.format not in WHOLE:
        _explain(answer, config, view)


def _json(answer: Result, around: Sequence[Nearby], config: Config, view: View) -> None:
    stream.write_json(record.result(answer, config, around, explain=view.explain))


def _jsonl(answer: Result, around: Sequence[Nearby], _config: Config, _view: View) -> None:
    stream.write(
        record.dumps(record.hit(hit, around[n] if around else None)) for n, hit in enumerate(answer.hits)
    )


def _markdown(answer: Result, around: Sequence[Nearby], _config: Config, _view: View) -> None:
    stream.write(plain.markdown(answer, around))


def _context(answer: Result, around: Sequence[Nearby], config: Config, _view: View) -> None:
    from smartsearch.types import Nearby

    stream.write(
        plain.context(answer.hits, around or [Nearby(hit.index) for hit in answer.hits], config.compress)
    )


def _html(answer: Result, around: Sequence[Nearby], config: Config, _view: View) -> None:
    from smartsearch.output import html

    stream.write([html.page(answer, around, config).removesuffix("\n")])
    if sys.stdout.isatty():
        stream.talk("this is a page for a browser: > answer.html keeps it")


def complain(answer: Result, named: Sequence[str] = (), said: set[str] | None = None) -> None:
    """Warnings, what was left undone and files that could not be read, on standard error; once each."""
    said = set() if said is None else said
    for text in (*answer.warnings, *answer.trace.degraded, *left_out(answer.skipped, named)):
        if text not in said:
            said.add(text)
            stream.warn(text)


def left_out(skipped: Sequence[Skipped], named: Sequence[str]) -> Iterator[str]:
    """What could not be read: a line each of what the user named, one line for what lay in folders."""
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
    """Tables where a person reads the list, else lines that begin with `# `."""
    from smartsearch.output import explain

    if not (sys.stdout.isatty() and view.format == "text"):
        stream.write(f"# {line}" for line in explain.lines(answer, config))
        return
    from smartsearch.output import terminal

    screen = terminal.console(colour=stream.coloured(view.color))
    _draw(screen, explain.drawn(answer, config))


def _files(answer: Result, view: View) -> None:
    template = link_template(view.hyperlinks)
    shown = {plain.shown_path(hit.turn.path): hit.turn.path for hit in answer.hits}
    stream.write(linked(path, shown[path], template) for path in plain.files(answer.hits))


def _text(answer: Result, around: Sequence[Nearby], _config: Config, view: View) -> None:
    if view.files:
        _files(answer, view)
        return
    colour, template = stream.coloured(view.color), link_template(view.hyperlinks)
    if not sys.stdout.isatty():
        if (colour or template is not None) and not around:
            _drawn_lines(answer, colour, template)
        else:
            stream.write(plain.lines(answer.hits, around))
        return
    from smartsearch.output import terminal

    screen = terminal.console(colour=colour, linked=template is not None)
    _draw(screen, terminal.shown(answer.hits, around, template))
    if answer.hits:
        _draw(screen, [terminal.footer(answer)])


FORMATS = {
    "text": _text,
    "json": _json,
    "jsonl": _jsonl,
    "md": _markdown,
    "context": _context,
    "html": _html,
}
"""What writes an answer in each format of `--format`. A new format is a line here."""
WHOLE = ("json", "jsonl", "html")
"""Formats that programs read: no line of `--explain` follows."""


def link_template(choice: str) -> str | None:
    """The template of the links that places are to be, empty for `file://`; None for no links."""
    if not stream.linked(choice):
        return None
    from smartsearch.output.links import TEMPLATE

    return os.environ.get(TEMPLATE, "")


def linked(text: str, path: str, template: str | None, line: int = 0) -> str:
    """`text` as a link to a file, where there is a template of links."""
    if template is None:
        return text
    from smartsearch.output import links

    return links.link(text, links.url(path, line, template))


def _drawn_lines(answer: Result, colour: bool, template: str | None) -> None:
    from smartsearch.output import terminal

    screen = terminal.console(colour=colour, linked=template is not None)
    _draw(screen, (terminal.line(hit, template) for hit in answer.hits), soft_wrap=True)


def _draw(screen: Console, blocks: Iterable[RenderableType], *, soft_wrap: bool = False) -> None:
    try:
        for block in blocks:
            screen.print(block, soft_wrap=soft_wrap)
        stream.write([])
    except BrokenPipeError as error:
        raise stream.PipeClosed from error


def table(name: str, rows: Sequence[dict[str, object]], *, as_json: bool) -> None:
    """Rows of one shape (`models`, `formats`): aligned columns, or JSON."""
    if as_json:
        stream.write_json(record.table(name, rows))
    elif rows:
        stream.write(
            plain.aligned([list(rows[0]), *([_cell(value) for value in row.values()] for row in rows)])
        )


def _cell(value: object) -> str:
    return plain.one_line(", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value))
