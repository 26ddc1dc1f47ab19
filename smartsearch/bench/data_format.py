"""What a dataset format is: the record that a `data_*.py` module fills, and what those modules share."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from smartsearch.bench.types import Group
from smartsearch.errors import InputError
from smartsearch.transcripts import read
from smartsearch.transcripts.files import Selection
from smartsearch.types import Corpus, Turn

# Enough of a file for its first record: a LongMemEval-M question is about 5 MB.
_HEAD_BYTES = (1 << 20, 1 << 24, 1 << 27)


@dataclass
class Log:
    """What a reader left out: `dropped` by reason (`Dataset.dropped`), `left_out` kinds of question."""

    dropped: dict[str, list[str]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)

    def drop(self, reason: str, what: str) -> None:
        """List `what` under `reason`: malformed, absent, ambiguous, unreadable, skipped and the like."""
        self.dropped.setdefault(reason, []).append(what)


@dataclass(frozen=True)
class DataFormat:
    """One way a dataset is published: how to recognise it, read it and name its files.

    `detect` says whether a path is in the format; of a file it is given the first record, if an object.
    `read` yields one group at a time and logs what it leaves out. `files` are those the data is made of, for
    its hash. `abstention` says how its abstention questions are handled, if it has any.
    """

    name: str
    description: str
    detect: Callable[[Path, Mapping[str, Any]], bool]
    read: Callable[[Path, Log], Iterator[Group]]
    files: Callable[[Path], list[Path]] = lambda path: [path]
    abstention: str = ""


def data_error(message: str, hint: str = "") -> InputError:
    """An InputError of kind `dataset`."""
    return InputError(message, hint=hint, kind="dataset")


def head(path: Path) -> object:
    """The first record of a JSON or JSONL file: the first of a list at the top, else the first document.

    Reads no more than it needs. None for an empty list. Raises InputError `dataset` for anything but JSON.
    """
    for size in _HEAD_BYTES:
        data = load(path, size)
        text = data.decode("utf-8-sig", "ignore").lstrip()
        start = text[1:].lstrip() if text.startswith("[") else text
        if start.startswith("]"):
            return None
        try:
            value: object = json.JSONDecoder().raw_decode(start)[0]
        except (ValueError, RecursionError) as error:
            if len(data) < size:
                raise data_error(
                    f"{path} is not JSON: {error}", "a dataset is a JSON file or a folder"
                ) from None
        else:
            return value
    raise data_error(f"{path}: no JSON record in its first {_HEAD_BYTES[-1]:,} bytes")


def load(path: Path, size: int = -1) -> bytes:
    """The first `size` bytes of a file, all by default. Raises InputError `dataset` if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(size)
    except OSError as error:
        hint = "this dataset is one file, not a folder" if path.is_dir() else "the path of the dataset"
        raise data_error(f"{path} cannot be read: {error.strerror}", hint) from error


def transcripts(
    paths: Sequence[Path], input_format: str, log: Log, *, excludes: Sequence[str] = ()
) -> tuple[Turn, ...]:
    """The turns of transcripts as search reads them; what is skipped is logged.

    Raises InputError `dataset` when nothing can be read.
    """
    try:
        corpus = read(
            [str(path) for path in paths], selection=Selection(excludes=excludes), input_format=input_format
        )
    except InputError as error:
        raise data_error(error.message, error.hint) from error
    for skipped in corpus.skipped:
        log.drop("skipped", f"{skipped.path}: {skipped.reason}")
    for warning in corpus.warnings:
        log.drop("read with a warning", warning)
    return tuple(corpus.turns)


def turn_ids(corpus: Corpus) -> dict[str, list[int]]:
    """The places in `corpus` of each turn id."""
    ids: dict[str, list[int]] = {}
    for place, turn in enumerate(corpus.turns):
        ids.setdefault(turn.turn, []).append(place)
    return ids


def only(places: Sequence[int], named: str, log: Log) -> list[int]:
    """`places` where it is one place; else nothing, with `named` (question and name) logged."""
    if len(places) == 1:
        return list(places)
    log.drop("ambiguous" if places else "absent", named)
    return []


def question_text(record: object) -> str:
    """The `question` of a record, or "" where it has none."""
    text = record.get("question") if isinstance(record, dict) else None
    return text if isinstance(text, str) and text.strip() else ""


def plain(value: Any) -> str:
    """An answer or a name as text: null is "", a number its digits, anything nested JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, default=str)
