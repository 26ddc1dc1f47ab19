"""Every reader over broken copies of its samples: no traceback, and the good records stay.

`SMARTSEARCH_FUZZ=2000 pytest tests/transcripts/test_fuzz.py` tries so many copies of each sample.
"""

from __future__ import annotations

import copy
import json
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from smartsearch.errors import InputError
from smartsearch.transcripts import read
from smartsearch.types import Corpus
from tests.conftest import FUZZ

HERE = Path(__file__).parent / "samples"
DOCS = Path(__file__).parents[2] / "docs" / "samples"
SAMPLES = sorted(path for top in (HERE, DOCS) for path in top.rglob("*") if path.is_file())
TRIES = FUZZ
JUNK: tuple[Any, ...] = (None, 5, -1.5, True, "x", "", [], {}, [[]], {"text": 3}, "\ud83d", 10**30)


def name_of(path: Path) -> str:
    return "/".join(path.parts[-2:])


def is_one_document(path: Path) -> bool:
    try:
        json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return False
    return path.suffix == ".json"


each_sample = pytest.mark.parametrize("sample", SAMPLES, ids=name_of)


def broken(data: bytes, chance: random.Random) -> bytes:
    """A copy with one kind of damage."""
    at = chance.randrange(len(data) + 1)
    other = chance.randrange(len(data) + 1)
    first, last = min(at, other), max(at, other)
    kinds: list[Callable[[], bytes]] = [
        lambda: data[:at],
        lambda: data[at:],
        lambda: data[:first] + data[last:],
        lambda: data[:last] + data[first:],
        lambda: data[:at] + bytes(chance.randrange(256) for _ in range(8)) + data[at:],
        lambda: bytes(b ^ (1 << chance.randrange(8)) if chance.random() < 0.01 else b for b in data),
        lambda: data.decode("utf-8", "replace").encode("utf-16"),
        lambda: data.decode("utf-8", "replace").encode("utf-16-le"),
        lambda: data.decode("utf-8", "replace").encode("latin-1", "replace"),
        lambda: data.replace(b"\n", b"\r"),
        lambda: data.replace(b"\n", b"\r\n").replace(b" ", b"\xc2\xa0"),
        lambda: data.replace(b'"', b"'", chance.randrange(1, 9)),
        lambda: data.replace(b":", b"", chance.randrange(1, 9)),
        lambda: b"\xef\xbb\xbf" + data + b"\x00" * 3,
        lambda: data * 3,
    ]
    return chance.choice(kinds)()


def put(folder: Path, sample: Path, data: bytes) -> Path:
    """The damaged file among the files it goes with, in a folder of the same name."""
    if not (folder / sample.parent.name).exists():
        shutil.copytree(sample.parent, folder / sample.parent.name)
    path = folder / sample.parent.name / sample.name
    path.write_bytes(data)
    return path


def read_if_any(path: Path) -> Corpus:
    try:
        return read([str(path)])
    except InputError:
        return Corpus()


@each_sample
def test_damage_of_any_kind_raises_nothing(sample: Path, tmp_path: Path) -> None:
    chance = random.Random(name_of(sample))
    data = sample.read_bytes()
    for _ in range(TRIES):
        damaged = broken(data, chance)
        for turn in read_if_any(put(tmp_path, sample, damaged)).turns:
            assert turn.text.strip() or turn.caption


def records(value: Any) -> Iterator[list[Any]]:
    """Every list of three or more objects in a JSON value: where records stand."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from records(inner)
    elif isinstance(value, list):
        if len(value) >= 3 and all(isinstance(item, dict) for item in value):
            yield value
        for inner in value:
            yield from records(inner)


def strings(value: Any) -> str:
    """All text in a JSON value."""
    if isinstance(value, dict):
        return " ".join(map(strings, value.values()))
    if isinstance(value, list):
        return " ".join(map(strings, value))
    return str(value)


def comes_from(text: str, record: str) -> bool:
    """Whether a turn's words stand in a record, marked up or not."""
    parts = text.split()
    return sum(part.strip(".,!?*#") in record for part in parts) >= 0.6 * len(parts)


def words(turns: Any) -> Counter[str]:
    return Counter(turn.text for turn in turns)


@pytest.mark.parametrize("sample", [s for s in SAMPLES if is_one_document(s)], ids=name_of)
def test_a_record_that_is_none_loses_only_itself(sample: Path, tmp_path: Path) -> None:
    whole = json.loads(sample.read_text(encoding="utf-8"))
    before = words(read_if_any(put(tmp_path, sample, sample.read_bytes())).turns)
    chance = random.Random(name_of(sample))
    count = sum(1 for _ in records(whole))
    for _ in range(min(TRIES, 40) if count and before else 0):
        value = copy.deepcopy(whole)
        some = list(records(value))[chance.randrange(count)]
        at = chance.randrange(len(some))
        gone, some[at] = strings(some[at]), chance.choice(JUNK)
        after = words(read_if_any(put(tmp_path, sample, json.dumps(value).encode())).turns)
        changed = " ".join(after - before)
        lost = [text for text in before - after if not comes_from(text, f"{gone} {changed}")]
        assert not lost, (at, some[at])


LINES = [s for s in SAMPLES if not is_one_document(s)]


@pytest.mark.parametrize("sample", LINES, ids=name_of)
def test_a_line_that_is_none_loses_no_more_than_its_turn(sample: Path, tmp_path: Path) -> None:
    lines = sample.read_bytes().split(b"\n")
    before = words(read_if_any(put(tmp_path, sample, sample.read_bytes())).turns)
    chance = random.Random(name_of(sample))
    for _ in range(min(TRIES, 40)):
        at = chance.randrange(len(lines))
        mutated = [*lines[:at], b"\xff\x00{{[ nothing", *lines[at + 1 :]]
        after = words(read_if_any(put(tmp_path, sample, b"\n".join(mutated))).turns)
        changed = " ".join(after - before)
        assert sum(not comes_from(text, changed) for text in before - after) <= 2, lines[at]
