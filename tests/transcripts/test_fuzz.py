"""Every reader over broken copies of its samples and made-up files: no traceback, the good records stay.

`SMARTSEARCH_FUZZ=2000 pytest tests/transcripts/test_fuzz.py` tries so many copies of each sample.
"""

from __future__ import annotations

import copy
import io
import json
import random
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartsearch.errors import InputError
from smartsearch.transcripts import FORMATS, FormatError, Source, read
from smartsearch.transcripts.corpus import read_one
from smartsearch.types import Corpus, Turn
from tests.conftest import FUZZ

HERE = Path(__file__).parent / "samples"
DOCS = Path(__file__).parents[2] / "docs" / "samples"
CASES = Path(__file__).parent / "cases"
SAMPLES = sorted(path for top in (HERE, DOCS) for path in top.rglob("*") if path.is_file())
TRIES = FUZZ if FUZZ >= 100 else max(FUZZ // 3, 1)
JUNK: tuple[Any, ...] = (None, 5, -1.5, True, "x", "", [], {}, [[]], {"text": 3}, "\ud83d", 10**30)
WRITTEN = """¶|¶¶|\r|\u200e|\u202f|\ufeff|<|>|[|]|{|}|null,|: | - | -- |\t|\x00|x|"|```|---|**Jo:** |\xa0
Maya: |## User|[18:40] |8 May 2023|5/8/23, 1:56 PM - |[99.99.99, 99:99:99] |٣١/١٢/٢٠٢٣|0/0/0, 0:0
<attached: |(file attached)|13:56 <|--- Day changed |**** BEGIN LOGGING AT |*|\x0312,99|May 31, 0000
Session Start: |From a 1:00¶X: |--cut¶|Content-Type: multipart/mixed; boundary=|=?utf-8?Q?|=?
&#xfffffff;|filename*0*=x''%|Date: Mon, 31 Feb 99999 25:61 +9999¶|References: <a@b> <a@b>¶|Subject: Re: Re:¶
WEBVTT|<v |<v a>|00:00:00.000 --> 99:99:99.999¶|¶-->¶|Tapbacks:¶|Edited a later: |> |(- |(( 1 ))|](./media/
*** <a> sent file|On 1 wrote:¶|<@U1"""
PIECES = [piece.replace("¶", "\n") for line in WRITTEN.split("\n") for piece in line.split("|")]
"""Of what the formats are made, and what is none of it."""


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
        lambda: data[:at] + "".join(chance.choices(PIECES, k=3)).encode() + data[at:],
        lambda: data[:at] + chance.choice(SAMPLES).read_bytes()[first:last] + data[at:],
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


# Whatever stands anywhere, what comes of it are turns and named errors.


def survives(known: Any, source: Source) -> None:
    try:
        known.detect(source)
        for record in known.read(source):
            assert isinstance(record, Turn | FormatError)
            if isinstance(record, Turn):
                assert record.text.strip() or record.caption
                assert all(isinstance(value, str) for key, value in vars(record).items() if key != "line")
    except FormatError:
        return


def places(value: Any) -> list[tuple[Any, Any]]:
    """The first place of each path of keys, as holder and key; all elements of a list are one."""
    found: dict[tuple[Any, ...], tuple[Any, Any]] = {}
    stack: list[tuple[Any, tuple[Any, ...]]] = [(value, ())]
    while stack:
        holder, path = stack.pop()
        inside = list(holder.items()) if isinstance(holder, dict) else list(enumerate(holder))
        for key, held in inside:
            own = (*path, "*" if isinstance(holder, list) else key)
            found.setdefault(own, (holder, key))
            if isinstance(held, dict | list):
                stack.append((held, own))
    return list(found.values())


OTHERS = (None, True, 5, -1.5, "x", [], ["x"], [[]], {}, {"id": []})
"""Of which each key takes one of ten in `make test`, and all in `make test-all`."""


@pytest.mark.parametrize("sample", [s for s in SAMPLES if s.suffix in (".json", ".jsonl")], ids=name_of)
def test_every_key_is_survived_with_every_type_of_value(sample: Path) -> None:
    text = sample.read_text(encoding="utf-8")
    whole = is_one_document(sample)
    value = json.loads(text) if whole else [json.loads(line) for line in text.split("\n") if line]
    change_every_key(read_one(str(sample))[1], str(sample), value, whole)


@pytest.mark.parametrize("known", [known for known in FORMATS if known.among], ids=lambda known: known.name)
def test_every_key_of_a_declared_format_may_hold_anything(known: Any) -> None:
    for line in (CASES / f"{known.name}.jsonl").read_text(encoding="utf-8").rstrip("\n").split("\n")[:2]:
        case = json.loads(line)
        value = case.get("json", case.get("lines"))
        if isinstance(value, dict | list) and not (
            "lines" in case and any(isinstance(v, str) for v in value)
        ):
            change_every_key(known, case["file"], value, "json" in case)


def change_every_key(known: Any, path: str, value: Any, whole: bool) -> None:
    chance = random.Random(path)
    for holder, key in places(value):
        kept = holder[key]
        for other in chance.sample(OTHERS, min(max(FUZZ // 10, 1), len(OTHERS))):
            holder[key] = other
            changed = json.dumps(value) if whole else "\n".join(map(json.dumps, value))
            survives(known, Source(path, changed, lambda _, lists=changed: lists))
        holder[key] = kept


def read_bytes(data: bytes, name: str = "auto") -> Corpus:
    try:
        return read(["-"], stdin=io.BytesIO(data), input_format=name)
    except InputError:
        return Corpus()


@given(st.binary(max_size=300))
def test_any_bytes_are_survived(data: bytes) -> None:
    read_bytes(data)


@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join), st.sampled_from(FORMATS))
def test_any_heap_of_pieces_is_survived(text: str, known: Any) -> None:
    read_bytes(text.encode())
    read_bytes(text.encode(), known.name)


WORDS = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=9)
SAID = st.tuples(
    st.sampled_from(["Maya", "Jonas", "Dr. Reis", "田中"]),
    st.lists(WORDS, min_size=1, max_size=6).map(" ".join),
)


@given(st.lists(SAID, min_size=5, max_size=12))
def test_a_chat_of_names_and_texts_comes_back(turns: list[tuple[str, str]]) -> None:
    found = read_bytes("".join(f"{name}: {text}\n" for name, text in turns).encode())
    assert [(turn.speaker, turn.text) for turn in found.turns] == turns


TIME = re.compile(r"(?:\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:[+-]\d\d:\d\d)?)?)?", re.ASCII)
ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
CHANGES = {
    "arabic": (r"\d", lambda found: found[0].translate(ARABIC)),
    "some arabic": (r"(?<=[\d:+-])\d(?!\d)", lambda found: found[0].translate(ARABIC)),
    "no date": (r"\d(?=[-/.]\d\d[-/.])|(?<=\d[-/])\d\d|\d(?=:\d\d)", "99"),
}


@each_sample
def test_every_time_that_any_reader_gives_is_one(tmp_path: Path, sample: Path) -> None:
    written = sample.read_text(encoding="utf-8", errors="replace")
    for change, how in CHANGES.items():
        turns = read_if_any(put(tmp_path, sample, re.sub(*how, written).encode())).turns
        assert [turn.time for turn in turns if not TIME.fullmatch(turn.time)] == [], change
