"""Paths in, a `Corpus` out: finds, decodes, detects and reads every file, and survives broken ones."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, BinaryIO, Protocol

from smartsearch.errors import CacheError, InputError, listed
from smartsearch.runtime.private import home
from smartsearch.transcripts.explained import Explained
from smartsearch.transcripts.files import ANY, Limits, Reals, Selection, find, lines_suffix, size
from smartsearch.transcripts.format import Format
from smartsearch.transcripts.onefile import Gathered, read_file
from smartsearch.transcripts.registry import by_name
from smartsearch.types import Corpus, Skipped, Turn

if TYPE_CHECKING:
    from smartsearch.transcripts.filters import Facts
    from smartsearch.transcripts.large.indexed import IndexedFile, Opened
    from smartsearch.transcripts.large.lines import LineFile, MessageLines, Places

_SCANNED_TOGETHER = 1 << 28  # bytes of unparsed files that are one text to scan: a call a word, not a file
_SLOW = 1 << 26  # bytes whose parsing takes so long that an index is worth a word: 10 s and more
KEYLESS = ("unrecognised_json", "unrecognised_table", "unknown_field")
"""Kinds of files that named keys may make readable."""
_STALE = 0.05  # share of an index's files that may have to be read all the same before that is said


class Watch(Protocol):
    """Whoever follows the reading of many files: a file that ends the process is known by its name."""

    def begin(self, path: str) -> Skipped | None:
        """Said before a file is read; what is returned is reported in place of reading it."""

    def end(self) -> None:
        """Said after the last."""


def _watched(found: Iterable[str | Skipped], watch: Watch | None) -> Iterator[str | Skipped]:
    for entry in found:
        yield entry if watch is None or isinstance(entry, Skipped) else watch.begin(entry) or entry
    if watch is not None:
        watch.end()


def read(
    paths: Sequence[str],
    selection: Selection = ANY,
    *,
    stdin: BinaryIO | None = None,
    input_format: str = "auto",
    limits: Limits | None = None,
    watch: Watch | None = None,
) -> Corpus:
    """Every turn of the files and folders named, in a stable order, with what was skipped and why.

    `-` reads `stdin` (bytes; standard input if None). `input_format` is a name in `FORMATS`, or `auto` to
    detect each file's, or `fields:` and what --fields takes. `selection` says what is taken from folders.
    Broken files and records go to `Corpus.skipped` and reading goes on; an empty file is only warned of.

    Raises InputError: `path_not_found`, `unknown_format`, or `nothing_read` when something was skipped and
    no turn is left.
    """
    found = list(find(paths, selection, lenient=True))
    return _parsed(found, paths, stdin, by_name(input_format), limits or Limits(), watch)


def _parsed(
    found: Sequence[str | Skipped],
    paths: Sequence[str],
    stdin: BinaryIO | None,
    forced: Format | None,
    limits: Limits,
    watch: Watch | None,
) -> Corpus:
    gathered = Gathered()
    for entry in _watched(found, watch):
        if isinstance(entry, Skipped):
            gathered.skipped.append(entry)
        else:
            read_file(entry, stdin, forced, limits, gathered)
    if gathered.skipped and not gathered.turns:
        raise _nothing_read(gathered.skipped)
    none = [] if found else [f"no transcripts found in {', '.join(paths)}"]
    if gathered.formats and not gathered.turns and not gathered.said:
        path, known = next(iter(gathered.formats.items()))
        none.append(f"{path}: read as {known.name}, no turns: {known.description}")
    return Corpus(tuple(gathered.turns), tuple(gathered.skipped), (*gathered.warnings, *none))


class Lines(Protocol):
    """Turns that are read when they are asked for, by position, and a way to find them."""

    speakers: set[str]

    def __len__(self) -> int: ...

    def turn(self, position: int) -> Turn | None:
        """The turn at a position, None where there is none. Raises what `Library.reading` mends."""

    def facts(self, positions: Places) -> Iterator[Facts | None]:
        """What filters ask of the turns at these positions, None where none is. Raises as `turn` does."""

    def with_word(self, text: str) -> Places:
        """Positions whose turn can contain `text` (case-folded), ascending: every one that does."""


@dataclass(frozen=True)
class Parts:
    """A large collection in corpus order: turns that had to be parsed, and files that need not be."""

    parts: tuple[Corpus | Lines, ...]
    skipped: tuple[Skipped, ...] = ()
    warnings: tuple[str, ...] = ()


def read_large(
    paths: Sequence[str],
    selection: Selection = ANY,
    *,
    limits: Limits | None = None,
    above: int = 0,
    indexed: bool = True,
    watch: Watch | None = None,
) -> Corpus | Parts:
    """As `read` with detection, but JSONL files of messages stay unparsed (lines.py).

    With `indexed`, files that are as an index knows them are not even read (indexed.py). A corpus, all
    parsed, where the files have fewer than `above` bytes, or none is named as JSONL or indexed.

    Raises IndexFault where an index turns out to be damaged.
    """
    found = list(find(paths, selection, lenient=True))
    named = [entry for entry in found if isinstance(entry, str)]
    sizes = {path: size(path) for path in named}
    if sum(sizes.values()) < above:
        return _parsed(found, paths, None, None, limits or Limits(), watch)
    index = _opened(paths) if indexed and limits is None else None
    reals = Reals()
    real = {path: reals.of(path) for path in named} if index and index.indexes else {}
    known = {path: file for path in real if (file := index.file(path, real[path]))} if index else {}
    apart = {path for path in real if index and any(one.apart(real[path]) for one in index.indexes)}
    as_it_is = known.keys() | apart
    left = sum(sizes[path] for path in named if path not in as_it_is and not lines_suffix(path))
    command = f"smartsearch index {' '.join(map(shlex.quote, paths))}"
    slow = f"{left / 1e6:,.0f} MB had to be parsed; `{command}` spares the next question that"
    hint = (slow,) if left > _SLOW and indexed else ()
    if known or any(map(lines_suffix, named)):
        read: Corpus | Parts = _in_parts(found, limits or Limits(), known, watch)
    else:
        read = _parsed(found, paths, None, None, limits or Limits(), watch)
    said = _said(index, real, known) if index else ()
    return replace(read, warnings=(*read.warnings, *hint, *said)) if hint or said else read


def _opened(paths: Sequence[str]) -> Opened | None:
    """The indexes that hold some of the paths, None where this user has none at all."""
    try:
        if not home("index").is_dir():
            return None
    except (CacheError, OSError):
        return None
    from smartsearch.transcripts.large.indexed import opened

    return opened(paths)


def _said(index: Opened, real: Mapping[str, str], known: Mapping[str, IndexedFile]) -> list[str]:
    """What to say of indexes that cannot be used, or that many files (by real path) have left behind."""
    said = list(index.warnings)
    for one in index.indexes:
        inside = [path for path in real if one.holds(real[path]) and not one.apart(real[path])]
        read = [path for path in inside if path not in known]
        if len(read) > _STALE * len(inside):
            said.append(
                f"{len(read):,} of {len(inside):,} files are not as the index of {one.root} knows them and "
                f"were read; `{one.command}` brings it up to date"
            )
    return said


def _in_parts(
    found: Sequence[str | Skipped], limits: Limits, known: Mapping[str, IndexedFile], watch: Watch | None
) -> Parts:
    """Each file as an index has it (`known`), else by line if that can be, else parsed."""
    from smartsearch.transcripts.large.lines import LineFile, MessageLines

    gathered, held = Gathered(), 0
    parts: list[Corpus | Lines] = []
    files: list[LineFile] = []
    ready: list[IndexedFile] = []

    def close() -> None:
        """What came since the last part becomes one: parsed turns, unparsed files, or indexed ones."""
        if gathered.turns:
            parts.append(Corpus(tuple(gathered.turns)))
            gathered.turns.clear()
        if files:
            parts.append(MessageLines(files))
            files.clear()
        if ready:
            from smartsearch.transcripts.large.indexed import IndexedTurns

            parts.append(IndexedTurns(ready))
            ready.clear()

    for entry in _watched(found, watch):
        if isinstance(entry, Skipped):
            gathered.skipped.append(entry)
        elif (indexed := known.get(entry)) is not None:
            if gathered.turns or files or (ready and ready[0].index is not indexed.index):
                close()
            gathered.skipped.extend(indexed.skipped)
            gathered.said.extend((entry, said) for said in indexed.said)
            if indexed.ids and (shown := gathered.firsts(entry, indexed.ids)):
                indexed = indexed.without(shown)
            if indexed.runs:
                ready.append(indexed)
        elif (file := LineFile.at(entry, limits)) is not None:
            if gathered.turns or ready or held > _SCANNED_TOGETHER:
                close()
            held = held + len(file.data) if files else len(file.data)
            files.append(file)
            if said := file.said:
                gathered.warn(entry, said)
        else:
            if files or ready:
                close()
            read_file(entry, None, None, limits, gathered)
    close()
    if gathered.skipped and not parts:
        raise _nothing_read(gathered.skipped)
    return Parts(tuple(parts), tuple(gathered.skipped), gathered.warnings)


def read_one(
    path: str,
    stdin: BinaryIO | None = None,
    input_format: str = "auto",
    shares: dict[str, Explained] | None = None,
) -> tuple[Corpus, Format | None]:
    """What a single file holds, with what was skipped, and what it was taken for; nothing is an error.

    `shares` gets how much of it its turns explain. Raises InputError `unknown_format` for an `input_format`
    that is none.
    """
    gathered = Gathered(shares=shares)
    read_file(path, stdin, by_name(input_format), Limits(), gathered)
    read = Corpus(tuple(gathered.turns), tuple(gathered.skipped), gathered.warnings)
    return read, gathered.formats.get(path)


def read_explained(
    path: str, stdin: BinaryIO | None = None
) -> tuple[Corpus, Format | None, Explained | None]:
    """As `read_one`, and how much of the file its turns explain; None for a file that could not be read."""
    shares: dict[str, Explained] = {}
    return *read_one(path, stdin, shares=shares), shares.get(path)


def by_line(path: str) -> MessageLines | None:
    """A JSONL file of messages, unparsed; None for any other file."""
    from smartsearch.transcripts.large.lines import LineFile, MessageLines

    file = LineFile.at(path, Limits())
    return None if file is None else MessageLines([file])


def _nothing_read(skipped: Sequence[Skipped]) -> InputError:
    reasons = [f"{s.path}: {s.reason}" for s in skipped[:5]]
    reasons += [f"and {len(skipped) - 5:,} more"] if len(skipped) > 5 else []
    hint = "`smartsearch formats` lists what can be read; --input-format overrules the detection"
    if any(s.kind in KEYLESS for s in skipped):
        from smartsearch.transcripts.formats.keys import known

        hint = (
            f"--fields speaker=KEY,text=KEY,time=KEY; known without it are, {known()}; {hint.split(';')[0]}"
        )
    if all(s.kind == "unreadable" for s in skipped):
        hint = "name files that you may read"
    return InputError(listed("nothing could be read", *reasons), hint=hint, kind="nothing_read")
