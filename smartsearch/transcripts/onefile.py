"""One file to its turns, and the boundary around it: whatever is wrong with a file costs only that file."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from itertools import compress
from pathlib import PurePath
from typing import BinaryIO

from smartsearch.errors import SmartsearchError
from smartsearch.transcripts.decode import STORE, decode
from smartsearch.transcripts.explained import GLANCED, Explained, explained, swallowed
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.files import Limits, lines_suffix, load, neighbour
from smartsearch.transcripts.format import Format
from smartsearch.transcripts.large.density import check_values
from smartsearch.transcripts.registry import detect
from smartsearch.transcripts.source import Source
from smartsearch.types import Skipped, Turn

# Bad records of one file that are listed singly: a file of nothing else must not flood the output.
_REPORTED_RECORDS = 20
_KEPT = 8  # texts of neighbours kept for the files that follow: the lists of one Slack export are six
_GROWTH = 8  # characters of turns for one of the file: names stand for ids, and few are much longer
_FREE = 1 << 24  # characters of turns that any file may come to
_ID = 8  # bytes of a turn's id
_COUNTED = re.compile(r"([\d,]+) (turn|bad byte|NUL character)s?(.*)", re.DOTALL)
_OVERGROWN = "its turns come to many times its size, as long names are repeated; the last ones were left out"


def id_of(turn: Turn) -> bytes:
    """What tells a turn from any other of its folder, zeros where it has no id."""
    return blake2b(turn.turn.encode(), digest_size=_ID).digest() if turn.turn else bytes(_ID)


@dataclass
class Gathered:
    """What was read so far."""

    turns: list[Turn] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    said: list[tuple[str, str]] = field(default_factory=list)
    formats: dict[str, Format] = field(default_factory=dict)
    neighbours: dict[str, str | None] = field(default_factory=dict)
    shown: dict[str, set[bytes]] = field(default_factory=dict)
    """The ids of the turns so far, by folder: for formats that say `once`."""
    shares: dict[str, Explained] | None = None
    """How much of each file its turns explain, where somebody asks for that."""

    def warn(self, path: str, said: str) -> None:
        """Add a warning about a file."""
        self.said.append((path, said))

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings, those that say the same of several files as one, with what they count added up."""
        files: dict[str, dict[str, None]] = {}
        counts = Counter[str]()
        for path, said in self.said:
            counted = _COUNTED.match(said)
            key = f"{counted[2]}|{counted[3]}" if counted else said
            counts[key] += int(counted[1].replace(",", "")) if counted else 0
            files.setdefault(key, {})[path] = None
        return tuple(_of_files(list(paths), said, counts[said]) for said, paths in files.items())

    def firsts(self, path: str, ids: bytes) -> list[bool] | None:
        """Of the turns of a file, by their ids, whether no other file of its folder had them; None: all."""
        pieces = [ids[at : at + _ID] for at in range(0, len(ids), _ID)]
        seen = self.shown.setdefault(os.path.dirname(path), set())  # noqa: PTH120 - a path as it is
        found = None if seen.isdisjoint(pieces) else [one not in seen for one in pieces]
        seen.update(pieces)
        seen.discard(bytes(_ID))
        return found

    def skip(self, path: str, kind: str, reason: str) -> None:
        """Add what could not be read of a file, and why."""
        self.skipped.append(Skipped(path, kind, reason))


def _of_files(paths: Sequence[str], said: str, count: int) -> str:
    if count:
        noun, _, rest = said.partition("|")
        said = f"{count:,} {noun}{'s' if count > 1 else ''}{rest}"
    more = f" and {len(paths) - 1:,} more" if len(paths) > 1 else ""
    return f"{paths[0]}{more}: {said}"


def read_file(
    path: str, stdin: BinaryIO | None, forced: Format | None, limits: Limits, into: Gathered
) -> None:
    """Add the turns of a file, or of standard input for `-`, and what there is to say of it.

    Raises nothing but our own errors, such as that of a deadline: they end the search, and no file may.
    """
    before = len(into.turns)
    try:
        _read(path, stdin, forced, limits, into)
    except SmartsearchError:
        raise
    except OSError as error:
        into.skip(path, "unreadable", error.strerror or str(error))
    except FormatError as error:
        into.skip(path, error.kind, str(error))
    except (MemoryError, RecursionError) as error:
        del into.turns[before:]
        into.skip(path, "too_large", f"does not fit in memory ({type(error).__name__})")
    except Exception as error:
        into.skip(path, "reader_failed", _failed(error, into.formats.get(path), len(into.turns) - before))


def _failed(error: Exception, known: Format | None, turns: int) -> str:
    """What to say of an error that no reader foresaw."""
    said = " ".join(str(error).split())[:200]
    where = f"the reader of {known.name} failed" if known else "it could not be read"
    after = f" after {turns:,} turn{'s' if turns > 1 else ''}" if turns else ""
    return f"{where}{after} ({type(error).__name__}{f': {said}' if said else ''}); please report it"


def _read(path: str, stdin: BinaryIO | None, forced: Format | None, limits: Limits, into: Gathered) -> None:
    data = load(path, stdin, limits)
    check_values(data)
    if lines_suffix(path) and len(data) > limits.line and b"\n" in data.strip():
        check_lines(data, limits)  # before their JSON is read: a file of one line is one document
    if data.startswith(STORE):
        from smartsearch.transcripts import stores

        data = stores.merged(data, neighbour(path, f"{PurePath(path).name}{stores.LOG}", limits))
    decoded = decode(data)
    for warning in decoded.warnings:
        into.warn(path, warning)
    source = Source(path, decoded.text, partial(_beside, path, limits, into.neighbours))
    as_text = forced is not None and not forced.is_json
    if not decoded.text.strip() or (not as_text and source.json.is_empty_list):
        into.warn(path, "empty, no turns")
        return
    if len(data) > limits.line and (as_text or not source.json.whole):
        check_lines(data, limits)
    chosen = forced or detect(source)
    into.formats[path] = chosen
    if chosen.notice and not forced:
        into.warn(path, chosen.notice)
    _take(source, chosen, limits, into)


def check_lines(data: bytes, limits: Limits) -> None:
    """Raise FormatError `too_large` for a line beyond the limit."""
    start = 0
    while len(data) - start > limits.line:
        window = start, start + limits.line + 1
        last = max(data.rfind(b"\n", *window), data.rfind(b"\r", *window))
        if last < 0:
            length = len(data[start:].split(b"\n", 1)[0].split(b"\r", 1)[0])
            reason = f"{length:,} bytes in one line, the limit is {limits.line:,}"
            number = (data.count(b"\n", 0, start) or data.count(b"\r", 0, start)) + 1
            raise FormatError(reason, line=number, kind="too_large")
        start = last + 1


def _take(source: Source, chosen: Format, limits: Limits, into: Gathered) -> None:
    """Add a file's turns, and report the records that are none: bad ones singly, empty ones by number."""
    bad = list(source.json.broken) if chosen.is_json else []
    before, empty = len(into.turns), 0
    left = min(_FREE + _GROWTH * len(source.text), 4 * limits.file)
    try:
        for record in chosen.read(source):
            if isinstance(record, Turn):
                into.turns.append(record)
                left -= len(record.text) + len(record.caption) + len(record.speaker)
                if left < 0:
                    raise FormatError(_OVERGROWN, kind="too_large")
            elif record.kind == "no_text":
                empty += 1
            elif record.kind == "notice":
                into.warn(source.path, str(record))
            else:
                bad.append(record)
    finally:
        _report(source.path, bad, into)
    if empty:
        into.warn(source.path, f"{empty:,} turn{'s' if empty > 1 else ''} without text left out")
    if len(into.turns) == before and not bad and not (chosen.silent or chosen.sparse):
        into.warn(source.path, f"read as {chosen.name}, no turns")
    _explain(source, chosen, into.turns[before:], into)
    if chosen.once and (shown := into.firsts(source.path, b"".join(map(id_of, into.turns[before:])))):
        into.turns[before:] = compress(into.turns[before:], shown)


def _explain(source: Source, chosen: Format, turns: Sequence[Turn], into: Gathered) -> None:
    """Warn of a file that its turns hardly explain: it was misread, or there is more to it than was read."""
    found = explained(source, turns) if into.shares is not None else None
    if found and into.shares is not None:
        into.shares[source.path] = replace(found, told=chosen.told(source))
    if not turns or chosen.rest or chosen.notice or chosen.silent:
        return
    if odd := swallowed(source, turns):
        into.warn(source.path, odd)
    found = found or explained(source, turns, GLANCED)
    if found.is_low and (sure := explained(source, turns)).is_low:
        left = f"{1 - sure.share:.0%} of its {'texts' if source.json.items else 'lines'} unexplained"
        into.warn(
            source.path, f"read as {chosen.name}, which leaves {left}, first {sure.place}: {sure.begins}"
        )


def _report(path: str, bad: Sequence[FormatError], into: Gathered) -> None:
    listed: Iterable[FormatError] = bad[:_REPORTED_RECORDS]
    into.skipped.extend(Skipped(path, error.kind, str(error)) for error in listed)
    if len(bad) > _REPORTED_RECORDS:
        into.skip(path, "bad_record", f"{len(bad) - _REPORTED_RECORDS:,} more bad records")


def _beside(path: str, limits: Limits, kept: dict[str, str | None], name: str) -> str | None:
    """The text of the file `name` beside `path`, None where there is none that can be read.

    The last few are kept: the thousands of files of a Slack export all ask for the same lists.
    """
    if path == "-":
        return None
    key = os.path.normpath(os.path.join(os.path.dirname(path), name))  # noqa: PTH118, PTH120 - as it is
    if key in kept:
        kept[key] = kept.pop(key)  # the one that was asked for last goes last
    else:
        if len(kept) >= _KEPT:
            del kept[next(iter(kept))]
        kept[key] = None
        try:
            data = neighbour(path, name, limits)
            kept[key] = None if data is None else decode(data).text
        except SmartsearchError:
            raise
        except Exception:  # whatever is wrong with it, the file beside it can be read
            return None
    return kept[key]
