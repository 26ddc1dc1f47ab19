"""Prints the known formats and the formats of files, as text while files are read or as JSON."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smartsearch.output import record, stream
from smartsearch.output.opened import days, people
from smartsearch.output.plain import aligned, counted, one_line, shown_path
from smartsearch.transcripts.outline import Span

if TYPE_CHECKING:
    from smartsearch.output.record import Json
    from smartsearch.transcripts.explained import Explained
    from smartsearch.transcripts.format import Format
    from smartsearch.types import Skipped

WIDEST = 100
"""The widest line of running text, in columns."""
GOES_WITH_OTHERS = "goes with others"


@dataclass(frozen=True)
class Detected:
    """A file's format and what reading it gave; `known` is None if no format recognises the file."""

    path: str
    known: Format | None = None
    conversations: int = 0
    span: Span = Span(0, (), "", "")  # noqa: RUF009 - a frozen record
    skipped: tuple[Skipped, ...] = ()
    warnings: tuple[str, ...] = ()
    explained: Explained | None = None

    @property
    def failed(self) -> bool:
        """Whether nothing of the file could be read."""
        return bool(self.skipped) and not self.span.turns

    @property
    def kind(self) -> str:
        """The format's name, or `not read` or `empty`."""
        return self.known.name if self.known else "not read" if self.failed else "empty"


def show_formats(formats: Sequence[Format], *, as_json: bool) -> None:
    """Every format: name, suffixes, what it is and how to get it; wrapped on a terminal, else in columns."""
    if as_json:
        stream.write_json(record.table("formats", [_format(one) for one in formats]))
    elif sys.stdout.isatty():
        stream.write(_wrapped(formats))
    else:
        rows = [(f.name, ", ".join(f.extensions), _described(f), f.how) for f in formats]
        stream.write(aligned([("name", "extensions", "description", "how"), *rows]))


def _format(one: Format) -> Json:
    return {
        "name": one.name,
        "extensions": list(one.extensions),
        "description": one.description,
        "how": one.how,
        "goes_with_others": one.silent,
    }


def _described(one: Format) -> str:
    return f"{one.description} ({GOES_WITH_OTHERS})" if one.silent else one.description


def _wrapped(formats: Sequence[Format]) -> Iterator[str]:
    width = min(max(shutil.get_terminal_size().columns, 20), WIDEST)
    for one in formats:
        yield f"{one.name}  {', '.join(one.extensions)}"
        for said in (_described(one), f"To get it: {one.how}" if one.how else ""):
            yield from textwrap.wrap(said, width, initial_indent="    ", subsequent_indent="    ")


def show(files: Iterable[Detected], *, as_json: bool) -> None:
    """Each file as soon as it was read, then the sum; JSON is one record at the end."""
    if as_json:
        every = list(files)
        rows = [_row(one) for one in every]
        stream.write_json({**record.table("files", rows), "total": _sum(every)})
        return
    read = []
    for one in files:
        stream.write(_lines(one))
        read.append(one)
    total = _sum(read)
    parts = (counted(total[f"{noun}s"], noun) for noun in ("file", "conversation", "turn"))
    failed = f"; {total['failed']:,} could not be read" if total["failed"] else ""
    stream.write([", ".join(parts) + failed])


def _lines(one: Detected) -> Iterator[str]:
    parts = [one.kind]
    if one.known and one.known.silent:
        parts.append(GOES_WITH_OTHERS)
    if one.span.turns:
        parts += [counted(one.conversations, "conversation"), counted(one.span.turns, "turn")]
        parts += [part for part in (people(one.span), days(one.span)) if part]
        parts += [_explained(one)] if one.explained and one.explained.looked else []
        parts += [one.explained.told] if one.explained and one.explained.told else []
    yield f"{shown_path(one.path)}: {', '.join(parts)}"
    yield from (f"  left out: {one_line(skipped.reason)}" for skipped in one.skipped)
    yield from (f"  note: {one_line(said.removeprefix(f'{one.path}: '))}" for said in one.warnings)


def _explained(one: Detected) -> str:
    rest = f" (the rest: {one.known.rest})" if one.known and one.known.rest else ""
    return f"{one.explained.share:.0%} explained{rest}" if one.explained else ""


def _sum(files: Sequence[Detected]) -> Json:
    return {
        "files": len(files),
        "failed": sum(one.failed for one in files),
        "conversations": sum(one.conversations for one in files),
        "turns": sum(one.span.turns for one in files),
    }


def _row(one: Detected) -> Json:
    return {
        "path": one.path,
        "format": one.known.name if one.known else "",
        "goes_with_others": bool(one.known and one.known.silent),
        "conversations": one.conversations,
        "turns": one.span.turns,
        "speakers": list(one.span.speakers),
        "first": one.span.first,
        "last": one.span.last,
        "explained": round(one.explained.share, 3) if one.explained and one.explained.looked else None,
        "unexplained": f"{one.explained.place}: {one.explained.begins}"
        if one.explained and one.explained.place
        else "",
        "head": one.explained.told.removeprefix("head ").rpartition(", ")[0] if one.explained else "",
        "skipped": list(map(vars, one.skipped)),
        "warnings": list(one.warnings),
    }
