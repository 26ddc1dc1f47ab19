"""Opens a dataset for the benchmark: its format, a first pass that counts, and a hash of its files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from smartsearch.bench import data_beam, data_documents, data_folder, data_locomo, data_longmemeval
from smartsearch.bench.data_format import DataFormat, Log, data_error, head
from smartsearch.bench.types import BenchQuestion, Dataset, Group
from smartsearch.errors import UsageError
from smartsearch.output.plain import counted

# The first format that claims a path reads it, so the most specific ones come first.
FORMATS: tuple[DataFormat, ...] = (
    data_locomo.FORMAT,
    data_longmemeval.FORMAT,
    data_beam.FORMAT,
    data_documents.FORMAT,
    data_folder.FORMAT,
)


def open_dataset(path: str, *, format: str = "auto", every: int = 1) -> Dataset:
    """The dataset at `path`, `format` being auto or the name of one in `FORMATS`.

    Reads through the data once to count questions and drops (all of the data's, whatever is taken), and
    again at each call of `Dataset.groups`. `every` takes the first of each `every` questions in dataset
    order and drops groups left without any; `Dataset.categories` are those of the questions taken.

    Raises InputError of kind `dataset` for a path that is missing, not JSON, of no known dataset, or in
    which no question can be read; UsageError for an unknown format or an `every` below 1.
    """
    if every < 1:
        raise UsageError(f"every {every}th question cannot be taken", hint="a whole number from 1")
    place = Path(path)
    chosen = _chosen(place, format)
    log = Log()
    asked = [question for group in chosen.read(place, log) for question in group.questions]
    if not asked:
        raise _no_question(path, chosen, log)
    taken = asked[::every]
    return Dataset(
        name=place.resolve().stem if place.is_file() else place.resolve().name,
        format=chosen.name,
        path=path,
        sha256=_sha256(place, chosen.files(place)),
        questions=len(taken),
        with_gold=sum(bool(one.gold or one.gold_sessions) for one in taken),
        groups=lambda: _taken(chosen.read(place, Log()), every),
        dropped=log.dropped,
        notes=tuple(_notes(chosen, log, asked, every)),
        categories=tuple(sorted({one.category for one in taken})),
    )


def _chosen(place: Path, name: str) -> DataFormat:
    by_name = {known.name: known for known in FORMATS}
    if name != "auto" and name not in by_name:
        raise UsageError(f"unknown dataset format {name!r}", hint=f"use one of: auto, {', '.join(by_name)}")
    if not place.exists():
        raise data_error(f"no such file or folder: {place}", "the path of a dataset; none is downloaded")
    if name != "auto":
        return by_name[name]
    record = None if place.is_dir() else head(place)
    for known in FORMATS:
        if known.detect(place, record if isinstance(record, dict) else {}):
            return known
    known_formats = "\n  ".join(f"{known.name}: {known.description}" for known in FORMATS)
    what = _outline(place, record)
    raise data_error(f"{place} is no dataset known here: {what}", f"known are\n  {known_formats}")


def _outline(place: Path, record: object) -> str:
    """A short description of what is at the path."""
    if place.is_dir():
        names = sorted(entry.name for entry in place.iterdir())
        more = ", ..." if len(names) > 6 else ""
        return f"a folder with {', '.join(names[:6])}{more}" if names else "an empty folder"
    if isinstance(record, dict) and record:
        return f"JSON whose first record has {', '.join(str(key)[:40] for key in list(record)[:6])}"
    return "an empty list" if record is None else f"JSON whose first record is a {type(record).__name__}"


def _no_question(path: str, chosen: DataFormat, log: Log) -> Exception:
    reasons = [f"{reason}: {what}" for reason, listed in log.dropped.items() for what in listed[:3]]
    message = "\n  ".join([f"{path}: no question could be read as {chosen.name}", *reasons])
    return data_error(message, f"{chosen.name} is {chosen.description}")


def _taken(groups: Iterator[Group], every: int) -> Iterator[Group]:
    """Every Nth question over all groups, groups without one left out."""
    passed = 0
    for group in groups:
        kept = tuple(q for n, q in enumerate(group.questions, passed) if n % every == 0)
        passed += len(group.questions)
        if kept:
            yield replace(group, questions=kept)


def _notes(chosen: DataFormat, log: Log, asked: Sequence[BenchQuestion], every: int) -> Iterator[str]:
    taken = asked[::every]
    if every > 1:
        yield f"every {every}th question: {len(taken):,} of {len(asked):,}"
    for kind, number in log.left_out.items():
        yield f"{counted(number, 'question')} left out: {kind}"
    if abstaining := sum(one.abstention for one in taken):
        yield f"{counted(abstaining, 'abstention question')}: {chosen.abstention}"
    if goldless := sum(not (one.gold or one.abstention) for one in taken):
        yield f"{counted(goldless, 'question')} without a gold turn"


def _sha256(place: Path, files: list[Path]) -> str:
    """The hash of a file, or of the sorted (path below the dataset's, hash) lines of several."""
    if files == [place]:
        return _hash(place)
    base = place if place.is_dir() else place.parent
    lines = sorted(f"{Path(os.path.relpath(file, base)).as_posix()}\0{_hash(file)}\n" for file in files)
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def _hash(file: Path) -> str:
    hashed = hashlib.sha256()
    try:
        with file.open("rb") as opened:
            while block := opened.read(1 << 20):
                hashed.update(block)
    except OSError as error:
        raise data_error(f"{file} cannot be read: {error.strerror}") from error
    return hashed.hexdigest()
