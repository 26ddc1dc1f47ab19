"""Turns from an index, against the same files parsed: no difference, whatever became of the files since."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import string
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from smartsearch import transcripts
from smartsearch.ask.door import Door
from smartsearch.ask.library import Library
from smartsearch.ask.scope import Request, Scope
from smartsearch.config import Config
from smartsearch.errors import CacheError, InputError
from smartsearch.output import record as record_of
from smartsearch.retrieve.grep import Haystack
from smartsearch.retrieve.large import LargeHaystack
from smartsearch.runtime.private import alone
from smartsearch.systems.smartsearch import SmartSearch
from smartsearch.transcripts.files import Selection
from smartsearch.transcripts.filters import Filters
from smartsearch.transcripts.large import index_store, indexing
from smartsearch.transcripts.large.index_store import (
    DAMAGED,
    MANY,
    NAME,
    folder_of,
    record,
    rows_with,
    sealed,
    turn_of,
)
from smartsearch.transcripts.large.indexed import IndexedTurns
from smartsearch.transcripts.large.indexing import build, held, remove
from smartsearch.types import Corpus, Skipped, Turn, fold
from tests.cli.fakes import fake_tools
from tests.conftest import FUZZ
from tests.transcripts.build import put

WORDS = ("dog", "flute", "rain", "New York", "York", "garden", "Ilya", "Été", "straße", "x", "水", "tv")
SEARCHED = ("dog", "new york", "ork", "ÉTÉ", "strasse", "tv", "x", "水", "a", "nowhere", "ilya: ", "n y", ":")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(indexing, "SETTLED", 0.02)
    return tmp_path / "cache"


def talk(rng, turns=30):
    names = rng.sample(["Mara", "Ilya", "Ünal"], 2)
    return [(names[n % 2], " ".join(rng.choices(WORDS, k=rng.randint(1, 6)))) for n in range(turns)]


def as_messages(said):
    rows = ({"role": "user", "name": name, "content": text} for name, text in said)
    return "".join(json.dumps(row) + "\n" for row in rows)


def as_chat(said):
    return "--- 2023-05-08 ---\n" + "".join(f"{name}: {text}\n" for name, text in said)


def as_locomo(said):
    conversation = {"speaker_a": said[0][0], "speaker_b": said[-1][0]}
    for n in range(0, len(said), 8):
        conversation[f"session_{n // 8 + 1}_date_time"] = "1:56 pm on 8 May, 2023"
        conversation[f"session_{n // 8 + 1}"] = [
            {"speaker": name, "dia_id": f"D{n // 8 + 1}:{m}", "text": text}
            for m, (name, text) in enumerate(said[n : n + 8], 1)
        ]
    return json.dumps([{"sample_id": "one", "conversation": conversation}])


KINDS = {"jsonl": as_messages, "txt": as_chat, "json": as_locomo}


def collection(place):
    """Three files of each format, one of nothing, one that is broken and one with a broken line."""
    rng = random.Random(7)
    for n in range(9):
        kind = list(KINDS)[n % 3]
        put(place, f"{n // 4}/{n}.{kind}", KINDS[kind](talk(rng)))
    put(place, "0/broken.json", "{nothing")
    put(place, "1/empty.txt", "")
    put(place, "2/half.jsonl", as_messages(talk(rng, 20)) + '{"role": "us\n' + as_messages(talk(rng, 2)))
    return place


@pytest.fixture
def folder(tmp_path):
    return collection(tmp_path / "chats")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder and the cache with its index, for those who change neither."""
    place = tmp_path_factory.mktemp("built")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(place / "cache"))
        patch.setattr(indexing, "SETTLED", 0.02)
        build(str(collection(place / "chats")))
    return place


@pytest.fixture
def indexed(built, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(built / "cache"))
    return built / "chats"


def read(*paths, **how):
    return transcripts.read_large([str(path) for path in paths], **how)


def searched(found):
    parts = [Haystack(part) if isinstance(part, Corpus) else part for part in found.parts]
    return LargeHaystack(parts, found.skipped, found.warnings)


def served(found):
    """How many turns came from an index."""
    if isinstance(found, Corpus):
        return 0
    return sum(len(part) for part in found.parts if isinstance(part, IndexedTurns))


def check(*paths, **how):
    """That reading with the index gives what parsing gives; how many turns came from the index."""
    found, parsed = read(*paths, **how), transcripts.read([str(path) for path in paths], **how)
    if isinstance(found, Corpus):
        assert found == parsed
        return 0
    large, plain = searched(found), Haystack(parsed)
    turns = [turn for turn in large.corpus.turns if turn.path]
    assert turns == list(parsed.turns)
    for text in SEARCHED:
        expected = [parsed.turns[at] for at in plain.turns_with(text)]
        assert [large.corpus.turns[at] for at in large.turns_with(text)] == expected, text
    if served(found) == len(turns):
        assert large.speakers == plain.speakers
        assert list(large.corpus.previous) == list(parsed.previous)
        assert found.skipped == parsed.skipped
        assert [said for said in found.warnings if "smartsearch index" not in said] == list(parsed.warnings)
    return served(found)


ALPHABET = 'abAB Nnmeé́ßſKİﬁΣς😀👩‍💻"\\*:^(){}+-,/\t\n\x00\x1c\x851_水\ufffe\uffff\ufffd\ud83d'
TEXTS = st.text(st.sampled_from(ALPHABET) | st.characters(), max_size=14)


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=8), TEXTS | st.sampled_from(ALPHABET))
@example([("a\x00b", ""), ("b", "a")], "a\x00b")
@example([('say "x" * y', "")], '"x" *')
@example([("the end", "")], "d")
@example([("Maße", "")], "SS")
@example([("e\u0301te\u0301", "")], "\u00e9t")
def test_no_turn_that_contains_a_text_is_missed(said, wanted):
    turns = [Turn(text, speaker) for text, speaker in said]
    plain = Haystack(Corpus(tuple(turns)))
    database = sqlite3.connect(":memory:", isolation_level=None)
    database.executescript(index_store.TABLES)
    texts = enumerate(map(index_store.indexed_text, turns))
    database.executemany("INSERT INTO words (rowid, spoken) VALUES (?, ?)", texts)
    needles = [wanted, *(text[at : at + 4] for text, _ in said for at in range(0, len(text), 3))]
    for needle in needles:
        found = rows_with(database, needle)
        if found is not None:
            assert set(plain.turns_with(needle)) <= set(found.tolist())
            assert sorted(found.tolist()) == found.tolist()
    database.close()


def test_a_letter_of_many_trigrams_may_be_anywhere():
    database = sqlite3.connect(":memory:", isolation_level=None)
    database.executescript(index_store.TABLES)
    ends = string.ascii_lowercase
    texts = [f"a{one}{other}{index_store.PAD}" for one in ends for other in ends]
    database.executemany("INSERT INTO words (rowid, spoken) VALUES (?, ?)", enumerate(texts))
    assert rows_with(database, "a") is None
    assert len(texts) > MANY
    assert rows_with(database, "ab").tolist() == [n for n, text in enumerate(texts) if "ab" in text]


@given(st.builds(Turn, TEXTS, TEXTS, TEXTS, TEXTS, TEXTS, st.just("p"), st.integers(0, 2**40), TEXTS))
def test_a_record_is_the_turn(turn):
    stored = sealed(record(turn), 3, 4)
    assert turn_of(stored, 3, 4, "p") == turn
    for spoilt, file, row in ((stored[:-1] + bytes([stored[-1] ^ 1]), 3, 4), (stored, 4, 4), (stored, 3, 5)):
        with pytest.raises(ValueError, match="checksum"):
            turn_of(spoilt, file, row, "p")


def test_all_formats_come_from_the_index(folder, cache):
    assert served(read(folder)) == 0
    assert not cache.exists()
    built = build(str(folder))
    assert (built.new, built.files, built.unchanged, built.removed) == (12, 12, 0, 0)
    assert [entry.kind for entry in built.skipped] == ["invalid_json"] * 2
    assert check(folder) == built.turns == len(transcripts.read([str(folder)]).turns)
    again = build(str(folder))
    assert (again.new, again.changed, again.unchanged) == (0, 0, 12)


def test_what_was_not_asked_for_is_not_there(indexed, monkeypatch):
    assert check(indexed, selection=Selection(["*.txt"])) == 90
    assert check(indexed, selection=Selection(excludes=["*.txt"])) > 90
    assert check(indexed / "1", indexed / "0") > 90
    assert check(indexed / "2" / "8.json") == 30
    monkeypatch.chdir(indexed)
    assert check("1", "0/0.jsonl") > 90
    monkeypatch.chdir(indexed / "1")
    assert check(".") > 90
    assert check("../0") == 120
    assert served(read(indexed, indexed=False)) == 0
    assert read(indexed, above=1 << 30) == transcripts.read([str(indexed)])


def test_a_name_that_is_not_the_files_own_is_read(folder, tmp_path):
    """Readers take ids from names."""
    build(str(folder))
    (tmp_path / "link.jsonl").symlink_to(folder / "0" / "0.jsonl")
    (tmp_path / "other").symlink_to(folder / "0")
    assert check(tmp_path / "link.jsonl") == 0
    assert check(tmp_path / "other") == 0
    (folder / "0" / "z.jsonl").symlink_to(folder / "1" / "6.jsonl")
    assert build(str(folder)).files == 11
    check(folder)


def test_the_innermost_index_serves_and_an_outer_one_the_rest(folder):
    build(str(folder))
    put(folder, "1/4.txt", as_chat(talk(random.Random(1), 7)))
    build(str(folder / "1"))
    total = len(transcripts.read([str(folder)]).turns)
    assert check(folder) == total - 7
    assert check(folder / "0", folder / "1", folder / "2") == total


def change(rng, folder, n):
    """One thing that happens to transcripts."""
    files = sorted(path for path in folder.rglob("*.*") if path.is_file())
    path, kind = rng.choice(files), rng.choice(list(KINDS))
    what = rng.choice(["append", "edit", "delete", "rename", "touch", "truncate", "new", "swap", "same size"])
    if what == "append":
        with path.open("a") as file:
            file.write(as_messages(talk(rng, 3)) if path.suffix == ".jsonl" else as_chat(talk(rng, 3)))
    elif what == "edit":
        put(path.parent, path.name, KINDS[path.suffix[1:]](talk(rng, 12)))
    elif what == "delete" and len(files) > 4:
        path.unlink()
    elif what == "rename":
        path.rename(path.with_name(f"{n}{path.suffix}"))
    elif what == "touch":
        path.touch()
    elif what == "truncate":
        path.write_bytes(path.read_bytes()[: rng.randrange(200)])
    elif what == "swap":
        other = rng.choice(files)
        one, two = path.read_bytes(), other.read_bytes()
        path.write_bytes(two)
        other.write_bytes(one)
    elif what == "same size":
        old = path.stat()
        path.write_bytes(path.read_bytes().replace(b"dog", b"cat"))
        os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))
    else:
        put(folder, f"new/{n}.{kind}", KINDS[kind](talk(rng, 10)))


@pytest.mark.parametrize("seed", range(2 if FUZZ < 100 else 8))
def test_whatever_happens_to_the_files_the_turns_are_theirs(folder, seed):
    rng = random.Random(seed)
    build(str(folder))
    for n in range(9 if FUZZ < 100 else 14):
        for _ in range(rng.randint(1, 3)):
            change(rng, folder, n)
        check(folder)
        if rng.random() < 0.4:
            built = build(str(folder))
            assert check(folder) == built.turns
            sound(folder)
    build(str(folder))
    sound(folder)


def sound(folder):
    """That the database holds the turns of the runs and nothing else, and the words those of the turns."""
    database = sqlite3.connect(folder_of(os.path.realpath(folder)) / NAME, isolation_level=None)
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    stored = dict(database.execute("SELECT id, record FROM turns").fetchall())
    runs = database.execute("SELECT file, first, count FROM runs").fetchall()
    files = {row: file for file, first, count in runs for row in range(first, first + count)}
    assert files.keys() == stored.keys()
    rows = {row: turn_of(data, files[row], row, "") for row, data in stored.items()}
    for word in ("dog", "york", "garden"):
        expected = [row for row in sorted(rows) if word in fold(rows[row].spoken)]
        assert rows_with(database, word).tolist() == expected
    database.close()


def test_what_is_rewritten_through_a_memory_map_is_read(folder, mapped):
    """Same size, in a page that was changed before the build: without a flush no time would tell."""
    path = folder / "0" / "0.jsonl"
    store = mapped(path)
    at = path.read_bytes().index(b'"name": "') + len(b'"name": "')
    store(at, b"X")
    time.sleep(0.03)  # as long as the build wants a file left alone, lest it wait and read later
    assert build(str(folder)).files == 12
    before = check(folder)
    store(at, b"Y")
    assert check(folder) == before - 30


def test_an_append_leaves_the_rows_before_it(folder):
    build(str(folder))
    path = folder / "0" / "0.jsonl"
    with path.open("a") as file:
        file.write(as_messages([("Mara", "one more flugelhorn")]))
    database = sqlite3.connect(folder_of(os.path.realpath(folder)) / NAME)
    before = {row for (row,) in database.execute("SELECT id FROM turns")}
    assert build(str(folder)).changed == 1
    after = {row for (row,) in database.execute("SELECT id FROM turns")}
    database.close()
    assert before < after
    assert len(after) == len(before) + 1
    assert check(folder) == len(after)
    assert searched(read(folder)).has("flugelhorn")


def test_an_index_that_many_files_have_left_behind_is_said(folder):
    build(str(folder))
    path = folder / "0" / "0.jsonl"
    path.write_text(as_messages([("Mara", "another one")]))
    (warned,) = [said for said in read(folder).warnings if "smartsearch index" in said]
    assert warned.startswith("1 of 12 files are not as the index of")
    assert read(folder / "1").warnings == transcripts.read([str(folder / "1")]).warnings


QUESTIONS = ("where is the dog in New York ?", "did Ilya rain ?", "a garden", "TV Été")


def told(system, library, asked):
    return record_of.result(Door(lambda: system, library).find(asked).result, asked.config)


FILTERS = (
    {"session": ("session_2",)},
    {"conversation": ("ONE",), "until": "2023-05-08T23:59:59+00:00"},
    {"only_speaker": ("ünal",)},
    {"since": "2023-05-08T13:00:00+00:00"},
    {"role": ("user",), "only_speaker": ("Mara", "ilya")},
    {"role": ("system",)},
)


def both():
    """A library that asks the index, and one that parses."""
    return Library(unparsed_above=0), Library(unparsed_above=1 << 40)


def answers(folder, question, libraries=(), **how):
    config = Config(pool=0, semantic="off", truncate="none")
    scope = Scope((str(folder),), filters=Filters(**how))
    system = SmartSearch(fake_tools(Config()))
    asked = Request(question, scope, config)
    found = [Door(lambda: system, library).find(asked).result for library in libraries or both()]
    return [
        replace(
            answer,
            trace=replace(answer.trace, timing_ms={}),
            hits=tuple(replace(hit, index=-1) for hit in answer.hits),  # unparsed lines without a turn count
        )
        for answer in found
    ]


def test_an_answer_is_the_same_with_and_without(folder):
    build(str(folder))
    libraries = both()
    for question in QUESTIONS:
        one, other = answers(folder, question, libraries)
        assert one.hits
        assert one == other
    for filters in FILTERS:
        one, other = answers(folder, "dog", libraries, **filters)
        assert (one.hits, one.filters) == (other.hits, other.filters)
    assert served(read(folder)) > 0
    put(folder, "0/0.jsonl", as_messages(talk(random.Random(3))))
    (folder / "1" / "4.txt").unlink()
    for question in QUESTIONS:
        one, other = answers(folder, question, libraries)
        assert one.hits == other.hits
        assert one.trace.candidates == other.trace.candidates


ASKED = (
    *(*QUESTIONS, "the York garden", 'is "n y" there ?', "C++ and dog", "user", "did it rain ?", "1,200"),
    *("straße", "Mara", "content role", "x", "garden ; unicorn"),
)
WAYS = (
    {"mode": "and"},
    {"word_boundary": True},
    {"truncate": "fixed", "budget": 60, "fill": "stop"},
    {"hops": 1, "prf": False},
)


def test_whole_records_of_plain_reading_scan_and_index_differ_in_what_they_call_estimates_alone(indexed):
    """Sixteen turns are read of some hundred; of counts the marked ones may be larger, never smaller.

    Broken lines that nobody asked for stay unseen by the scan.
    """
    system, marked = SmartSearch(fake_tools(Config())), 0
    libraries = [(1 << 40, False), (0, False), (0, True)]
    kept = [
        (Library(unparsed_above=above), Scope((str(indexed),), indexed=scanned))
        for above, scanned in libraries
    ]
    for n, question in enumerate(ASKED):
        for way in ({}, WAYS[n % len(WAYS)]):
            config = Config(
                pool=0,
                semantic="off",
                first="match",
                rank=(),
                fuzzy=False,
                lift=False,
                likely_turns=16,
                top_k=9,
                **way,
            )
            plain, *others = (
                told(system, library, Request(question, scope, config)) for library, scope in kept
            )
            for other in others:
                about = other.pop("estimates", [])
                marked += bool(about)
                assert other["candidates"] >= plain["candidates"]
                differ = {key for key in plain if plain[key] != other[key]} - {"timing_ms", "skipped"}
                assert differ <= set(about), (question, way, differ)
    assert marked > 10


def spoiled(folder):
    """The database's file."""
    return folder_of(os.path.realpath(folder)) / NAME


def warned(folder):
    found = read(folder)
    assert served(found) == 0
    return [said for said in found.warnings if not said.endswith("no turns")]


@pytest.mark.parametrize("damage", ["garbage", "empty", "cut", "marked", "other version", "foreign"])
def test_an_index_that_cannot_be_used_is_left_aside_and_made_anew(folder, damage):
    total = build(str(folder)).turns
    path = spoiled(folder)
    if damage == "garbage":
        path.write_bytes(random.Random(1).randbytes(path.stat().st_size))
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[:20_000])
    elif damage == "marked":
        (path.parent / DAMAGED).touch()
    elif damage == "other version":
        with sqlite3.connect(path) as database:
            database.execute("UPDATE about SET value = '0' WHERE key = 'stamp'")
    else:
        path.unlink()
        with sqlite3.connect(path) as database:
            database.execute("CREATE TABLE notes (text)")
    answer, plain = answers(folder, QUESTIONS[0])
    assert answer.hits == plain.hits
    assert any("the index of" in said for said in answer.warnings)
    assert held()[0].state in ("damaged", "of another version")
    assert build(str(folder)).new == 12
    assert check(folder) == total
    assert held()[0].state == "ready"


@pytest.mark.parametrize(
    ("word", "rotted", "given"), [("York", "Cork", {}), ("Mara", "Mira", {"only_speaker": ("Mara",)})]
)
def test_a_record_that_rotted_is_never_shown(folder, word, rotted, given):
    build(str(folder))
    with sqlite3.connect(spoiled(folder)) as database:
        database.execute(
            f"UPDATE turns SET record = CAST(replace(CAST(record AS TEXT), '{word}', '{rotted}') AS BLOB)"
        )
    answer, plain = answers(folder, QUESTIONS[0], **given)
    assert answer.hits == plain.hits
    assert "is damaged" in answer.warnings[0]
    (said,) = warned(folder)
    assert f"smartsearch index {folder}" in said


def test_pages_that_rotted_never_show_what_is_not_there(folder):
    """They may hide something: SQLite has no checksums, ours are the records'."""
    build(str(folder))
    whole = spoiled(folder).read_bytes()
    plain = {hit.turn for hit in answers(folder, QUESTIONS[0])[1].hits}
    rng = random.Random(4)
    for _ in range(15 if FUZZ < 100 else 50):
        data = bytearray(whole)
        at = rng.randrange(8192, len(data) - 8192)
        data[at : at + 8192] = rng.randbytes(8192)
        spoiled(folder).write_bytes(data)
        (answer,) = answers(folder, QUESTIONS[0], both()[:1])
        assert {hit.turn for hit in answer.hits} <= plain
        (spoiled(folder).parent / DAMAGED).unlink(missing_ok=True)


def test_a_file_is_read_only_once_it_settled(folder, monkeypatch):
    """What is changed twice within a tick of the clock looks as it did after the first time."""
    slept: list[float] = []
    put(folder, "0/0.jsonl", as_messages([("Mara", "fresh")]))
    monkeypatch.setattr(indexing, "age", lambda _: sum(slept))
    monkeypatch.setattr(indexing.time, "sleep", slept.append)
    built = build(str(folder))
    assert (built.new, slept) == (12, [indexing.SETTLED])
    slept.clear()
    monkeypatch.setattr(indexing.time, "sleep", lambda _: (folder / "0" / "3.jsonl").touch())
    (folder / "0" / "3.jsonl").touch()
    built = build(str(folder))
    assert [entry.kind for entry in built.skipped] == ["unsettled"]
    check(folder)


def test_a_file_that_cannot_be_read_is_tried_by_every_question(folder, monkeypatch):
    real = indexing.read_one

    def failing(path):
        if path.endswith("0.jsonl"):
            return Corpus(skipped=(Skipped(path, "unreadable", "no"),)), None
        return real(path)

    monkeypatch.setattr(indexing, "read_one", failing)
    built = build(str(folder))
    assert (built.files, built.skipped[0].reason) == (11, "no")
    assert 0 < check(folder) < len(transcripts.read([str(folder)]).turns)


KILLED = """
import os, sys
from smartsearch.transcripts.large import indexing
indexing.SETTLED = indexing.COMMIT_SECONDS = 0.0
real, done = indexing.read_one, []
def read_one(path):
    done.append(path)
    if len(done) == 7:
        os.kill(os.getpid(), 9)
    return real(path)
indexing.read_one = read_one
indexing.build(sys.argv[1])
"""


def test_a_build_that_is_killed_can_be_gone_on_with(folder):
    ran = subprocess.run([sys.executable, "-c", KILLED, str(folder)], check=False)
    assert ran.returncode == -9
    assert check(folder) > 0
    sound(folder)
    built = build(str(folder))
    assert (built.new, built.unchanged) == (6, 6)
    assert check(folder) == built.turns


def test_a_second_build_waits_for_the_first(folder):
    build(str(folder))
    said = threading.Event()
    with alone(spoiled(folder).parent, wait=True):
        second = threading.Thread(target=build, args=(str(folder), lambda *_: None, said.set))
        second.start()
        assert said.wait(120)  # a hang
        assert second.is_alive()
    second.join(120)
    assert not second.is_alive()


def test_who_reads_sees_one_state_of_the_index(folder):
    build(str(folder))
    before = transcripts.read([str(folder)])
    large = searched(read(folder))
    for path in folder.rglob("*.txt"):
        path.unlink()
    for path in folder.rglob("?.json"):
        path.write_text(as_locomo(talk(random.Random(8), 40)))
    build(str(folder))
    assert list(large.corpus.turns) == list(before.turns)
    assert large.turns_with("dog") == Haystack(before).turns_with("dog")
    check(folder)


def test_a_resumed_session_shows_each_turn_once_from_an_index_too(tmp_path):
    def typed(uuid, text):
        return {"type": "user", "uuid": uuid, "sessionId": "s", "message": {"role": "user", "content": text}}

    rows = [typed(f"u{n}", f"the dog says {n}") for n in range(6)]
    folder = tmp_path / "one"
    for name, inside in (("a", rows[:3]), ("b", [rows[1], rows[4], rows[2], rows[5]]), ("c", rows)):
        put(folder, f"{name}.jsonl", "".join(json.dumps(row) + "\n" for row in inside))
    build(str(folder))
    assert check(folder) == 6
    with (folder / "b.jsonl").open("a") as file:
        file.write(json.dumps(typed("u9", "a flute")) + "\n")
    assert check(folder) == 3 + 1
    assert check(folder / "c.jsonl") == 6


def test_two_threads_read_at_once(indexed):
    large, plain = searched(read(indexed)), Haystack(transcripts.read([str(indexed)]))
    expected = {text: plain.turns_with(text) for text in SEARCHED}
    wrong = []

    def ask_all():
        wrong.extend(text for text in SEARCHED * 3 if large.turns_with(text) != expected[text])

    threads = [threading.Thread(target=ask_all) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_it_is_this_users_alone_and_another_users_is_left_aside(folder, cache, monkeypatch):
    build(str(folder))
    modes = {(path.is_dir(), path.stat().st_mode & 0o777) for path in cache.rglob("*")}
    assert modes == {(True, 0o700), (False, 0o600)}
    monkeypatch.setattr(os, "geteuid", lambda: cache.stat().st_uid + 1)
    assert "belongs to another user" in warned(folder)[0]
    for attempt in (lambda: build(str(folder)), lambda: remove(str(folder)), held):
        with pytest.raises(CacheError):
            attempt()


def test_a_link_in_the_place_of_the_database_is_not_followed(folder, tmp_path):
    build(str(folder))
    path = spoiled(folder)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    (said,) = warned(folder)
    assert "is not a file of yours" in said


def test_without_a_home_there_is_none_and_a_place_that_cannot_be_written_is_named(
    folder, tmp_path, monkeypatch
):
    build(str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", "")

    def nowhere():
        raise RuntimeError

    monkeypatch.setattr(Path, "home", nowhere)
    assert check(folder) == 0
    with pytest.raises(CacheError):
        build(str(folder))
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(CacheError, match="cannot be written"):
        build(str(folder))
    with pytest.raises(InputError):
        build(str(folder / "nowhere"))


def test_a_sqlite_without_trigrams_is_named_and_leaves_nothing(folder, monkeypatch):
    monkeypatch.setattr(
        index_store, "TABLES", "CREATE VIRTUAL TABLE words USING fts5(x, tokenize='none such')"
    )
    with pytest.raises(CacheError, match="cannot index"):
        build(str(folder))
    assert check(folder) == 0
    assert warned(folder) == []


def test_an_index_is_removed_though_its_folder_is_gone(folder, tmp_path):
    total = build(str(folder)).turns
    assert [(one.path, one.turns, one.state) for one in held()] == [(str(folder), total, "ready")]
    folder.rename(tmp_path / "moved")
    assert remove(str(folder)).turns == total
    assert remove(str(folder)) is None
    assert held() == held([str(folder)]) == []
