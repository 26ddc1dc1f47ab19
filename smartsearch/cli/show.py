"""`smartsearch show`: a turn in its conversation, from the place that other output prints."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from smartsearch.ask.library import UNPARSED_ABOVE
from smartsearch.ask.scope import input_format
from smartsearch.cli.options import (
    OUTPUT,
    color_option,
    fields_option,
    head_option,
    hyperlinks_option,
    input_format_option,
    option,
    setting,
)
from smartsearch.config import build
from smartsearch.errors import ExitCode, InputError, SmartsearchError, UsageError, listed
from smartsearch.output import stream
from smartsearch.output.opened import Missing, Opened
from smartsearch.output.show import View
from smartsearch.transcripts.named import resolved
from smartsearch.transcripts.places import Place, excerpts, find, readings

if TYPE_CHECKING:
    from smartsearch.transcripts.large.lines import MessageLines
    from smartsearch.types import Corpus, Turn

FORMATS = ("text", "json", "context")
AROUND = 5
"""Turns shown on each side where nothing is said: about a screen of a chat."""
REACH = 2000
"""Lines of a large file that are read on each side of a place: other sessions may stand between its own."""
PIPED_BYTES = 1 << 28
"""Of hits on standard input: some hundred thousand."""

EXAMPLES = """Examples:

smartsearch show 2

smartsearch show chats/harbour.txt:120

smartsearch show export.zip/chat.txt:12 --session

smartsearch query "who adopted a dog?" chats/ -n 1 | smartsearch show -

smartsearch show chats/
"""


@dataclass(frozen=True)
class ShowOptions:
    """How much is opened and how it is shown."""

    around: int = option(
        OUTPUT, "Turns on both sides.", "--context", "-C", default=AROUND, min=0, metavar="N"
    )
    after: int | None = option(
        OUTPUT, "Turns after.", "--after-context", "-A", min=0, metavar="N", show_default="as -C"
    )
    before: int | None = option(
        OUTPUT, "Turns before.", "--before-context", "-B", min=0, metavar="N", show_default="as -C"
    )
    session: bool = option(OUTPUT, "The whole session of each place.", "--session", default=False)
    conversation: bool = option(
        OUTPUT,
        "The whole conversation of each place, as far as the file holds it.",
        "--conversation",
        default=False,
    )
    all: bool = option(
        OUTPUT,
        "Where PLACE is a file or a folder: all its turns, not a list of them.",
        "--all",
        default=False,
    )
    format: str | None = option(OUTPUT, "What is printed.", choices=FORMATS, show_default="text")
    json: bool = option(OUTPUT, "The same as --format json.", "--json", default=False)
    quiet: bool = option(OUTPUT, "Errors alone on standard error, no notes.", "--quiet", "-q", default=False)
    color: str = color_option()
    hyperlinks: str = hyperlinks_option()
    redact: bool | None = setting("redact")
    input_format: str = input_format_option()
    fields: str | None = fields_option()
    head: str | None = head_option()

    @property
    def whole(self) -> str:
        """What is shown whole around a place, if anything. Raises UsageError where two options disagree."""
        if self.session and self.conversation:
            raise UsageError("--session and --conversation disagree", hint="give one of them")
        return "session" if self.session else "conversation" if self.conversation else ""

    def view(self) -> View:
        """How it is shown. Raises UsageError where two options disagree."""
        if self.json and self.format not in (None, "json"):
            raise UsageError(f"--json and --format {self.format} disagree", hint="give one of them")
        return View(
            "json" if self.json else self.format or "text",
            self.around if self.before is None else self.before,
            self.around if self.after is None else self.after,
            color=self.color,
            hyperlinks=self.hyperlinks,
            quiet=self.quiet,
        )


def show(
    places: Annotated[
        list[str],
        typer.Argument(
            metavar="PLACE...",
            help="The number of a hit that query has just shown on a terminal; path:LINE, path:LINE-LINE, "
            "path#POINTER, path@ID of a turn, session or conversation; "
            "a path or @NAME alone lists what it holds; - reads hits or places from standard input.",
            show_default=False,
        ),
    ],
    *,
    options: ShowOptions,
) -> int:
    """Open turns in their conversation, by the places that query prints.

    A line within a turn finds that turn. What was asked for is marked.
    """
    whole, view = options.whole, replace(options.view(), named=tuple(places))
    files = _Files(input_format(options.input_format, options.fields, options.head))
    found = Opened()

    def tried(text: str) -> SmartsearchError | None:
        try:
            for said, place in _meant(text, options, found):
                if not place.whole:
                    _open(said, place, files, found, view, whole)
                elif whole and text != "-":
                    hint = f"smartsearch show {place.path} lists what it holds; then {place.path}@ID"
                    raise UsageError(f"--{whole} needs a place in {place.path}", hint=hint)
                else:
                    _list(place.path, files, found, all=options.all)
        except SmartsearchError as error:
            found.missing.append(Missing(text, error.message))
            return error
        return None

    faults = [fault for fault in map(tried, places) if fault]
    for corpus in files.read.values():
        found.skipped += corpus.skipped
        found.warnings += corpus.warnings
    if faults and not (found.places or found.conversations):
        raise faults[0]
    if build({"redact": options.redact}).redact:
        from smartsearch.text.redact import Together

        found = Together(found, said=files.said).of(found)
    if not (found.places or found.conversations or found.missing) and found.skipped:
        reasons = [f"{one.path}: {one.reason}" for one in found.skipped[:5]]
        raise InputError(listed("nothing could be read", *reasons), kind="nothing_read")
    from smartsearch.output import reading

    reading.show(found, view)
    return ExitCode.FOUND if found.places or found.conversations else ExitCode.NOTHING


def _meant(text: str, options: ShowOptions, found: Opened) -> Iterator[tuple[str, Place]]:
    """The places that an argument means, and what each is called. Raises InputError, UsageError."""
    if text == "-":
        yield from ((str(place), place) for place in _piped(found))
        return
    for one in resolved([text]):
        numbered = one.isdecimal() and len(one) < 6 and not os.path.lexists(one)
        yield one, _numbered(int(one), options) if numbered else _placed(one)


def _numbered(number: int, options: ShowOptions) -> Place:
    """The hit of that number in the last search on a terminal; tells which search that was."""
    from smartsearch.cli.hits import last

    query, place = last(number)
    if not options.quiet:
        stream.talk(f"hit {number} of {query!r}")
    if place.path == "-":
        raise InputError(
            "it was read from a pipe, which is gone", hint="save the chat to a file and search that"
        )
    return place


class _Files:
    """Reads each file once, however many places are in it, and keeps its warnings."""

    def __init__(self, input_format: str) -> None:
        self._input_format = input_format
        self.read: dict[str, Corpus] = {}
        self._lines: dict[str, MessageLines | None] = {}
        self.said: list[Sequence[Turn]] = []

    def turns(self, path: str) -> Sequence[Turn]:
        """The turns of a file."""
        if path not in self.read:
            from smartsearch.transcripts.corpus import read_one

            self.read[path] = read_one(path, input_format=self._input_format)[0]
            self.said.append(self.read[path].turns)
        return self.read[path].turns

    def near(self, place: Place) -> Sequence[Turn]:
        """The turns around a line of a large JSONL file, without parsing it; empty for other files."""
        path = place.path
        if path not in self._lines:
            self._lines[path] = self._unparsed(path)
        lines = None if path in self.read else self._lines[path]
        near = lines.on_lines(place.first - REACH, place.last + REACH) if lines else []
        self.said.append(near)
        return near

    def _unparsed(self, path: str) -> MessageLines | None:
        from smartsearch.transcripts.corpus import by_line
        from smartsearch.transcripts.files import lines_suffix, size

        large = self._input_format == "auto" and lines_suffix(path) and size(path) > UNPARSED_ABOVE
        return by_line(path) if large else None


def _placed(text: str) -> Place:
    """The place that is meant: the longest path that is there. Raises InputError where none is."""
    from smartsearch.transcripts.archive import is_within
    from smartsearch.transcripts.files import find as find_files

    ways = list(readings(text))
    for place in ways:
        if os.path.lexists(place.path):
            return place
    inside = [place for place in ways if is_within(place.path)]
    for place in inside:
        try:
            list(find_files([place.path]))
        except InputError:
            continue
        return place
    likely = next((place for place in ways if not place.whole), ways[0])
    list(find_files([likely.path]))
    return likely


def _list(path: str, files: _Files, into: Opened, *, all: bool) -> None:
    """What a file, or each file of a folder or archive, holds; with `all`, the turns themselves."""
    from smartsearch.transcripts.files import find as find_files
    from smartsearch.transcripts.outline import outline

    files_found = list(find_files([path]))
    if not files_found:
        into.warnings.append(f"no transcripts found in {path}")
    for file in files_found:
        if not isinstance(file, str):
            into.skipped.append(file)
            continue
        turns = files.turns(file)
        if all and turns:
            found = excerpts(turns, range(len(turns)), 0, 0)
            into.places.append((file, tuple(found)))
        else:
            into.conversations += outline(turns)


def _open(text: str, place: Place, files: _Files, into: Opened, view: View, whole: str) -> None:
    """The turns at one place, or a note that it has no turn."""
    if os.path.isdir(place.path):  # noqa: PTH112 - as it was typed
        raise InputError(f"{place.path} is a folder", hint="a place is in a file", kind="input")
    turns = files.near(place) if place.first and not whole else []
    found = find(turns, place)
    if not (found.indices and found.exact) or found.note:
        turns = files.turns(place.path)
        found = find(turns, place)
    if not found.indices:
        if turns:
            nearest = turns[found.nearest] if found.nearest >= 0 else None
            said = f"there is no such turn ({found.note})" if found.note else "there is no such turn"
            into.missing.append(Missing(text, said, nearest))
        return
    if not found.exact:
        into.warnings.append(f"{text}: no turn is there; this is the one before it")
    if found.note:
        into.warnings.append(f"{text}: {found.note}")
    into.places.append((text, tuple(excerpts(turns, found.indices, view.before, view.after, whole))))


def _piped(into: Opened) -> Iterator[Place]:
    """The places that standard input brings. Raises InputError for a line without a place."""
    if sys.stdin.isatty():
        stream.talk("reading hits from standard input; end it with Ctrl-D")
    from smartsearch.cli.hits import read_hits

    def lost(place: str) -> None:
        into.missing.append(Missing(place, "no such file"))

    for place in read_hits(_text(sys.stdin.buffer), _placed, lost):
        if place.path == "-":
            hint = "save the chat to a file and search that"
            into.missing.append(Missing(str(place), f"it was read from a pipe, which is gone; {hint}"))
        else:
            yield place


def _text(stdin: BinaryIO) -> str:
    data = stdin.read(PIPED_BYTES + 1)
    if len(data) > PIPED_BYTES:
        raise InputError("standard input is longer than 256 MiB", hint="fewer hits", kind="too_large")
    return data.decode("utf-8-sig", "replace")
