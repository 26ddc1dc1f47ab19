"""The boundary around one file: whatever its reader raises, the other files are read."""

from __future__ import annotations

import builtins
from pathlib import Path

import pytest

from smartsearch.errors import SearchTimeout
from smartsearch.transcripts import read, read_large
from smartsearch.transcripts.faults import NotByLine
from smartsearch.transcripts.large.indexing import build
from smartsearch.transcripts.large.lines import LineFile, MessageLines
from smartsearch.transcripts.onefile import Gathered
from tests.transcripts.build import lines, put, said
from tests.transcripts.odd import fail_with

CHAT = "Maya: hi\nJonas: hello\n"
TWO = [("Maya", "hi"), ("Jonas", "hello")]
MESSAGES = lines(*[{"role": "user", "content": "hello"}] * 12)
MAIL = "From a@b.c Mon May  8 10:00:00 2023\nFrom: a@b.c\nContent-Type: text/html\n\n"
ARGUMENTS = {
    "UnicodeDecodeError": ("utf-8", b"", 0, 1, "odd"),
    "UnicodeEncodeError": ("utf-8", "", 0, 1, "odd"),
    "UnicodeTranslateError": ("", 0, 1, "odd"),
    "ExceptionGroup": ("odd", [ValueError("odd")]),
}
ERRORS = [
    kind(*ARGUMENTS.get(name, ("odd",)))
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, Exception)
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_whatever_a_reader_raises_costs_its_own_file_alone(tmp_path, monkeypatch, error):
    fail_with(error, monkeypatch)
    odd = put(tmp_path, "a.txt", "ODD")
    put(tmp_path, "b.txt", CHAT)
    read_back = read([str(tmp_path)])
    assert said(read_back)[-2:] == TWO
    (entry,) = read_back.skipped
    memory = isinstance(error, MemoryError | RecursionError)
    kind = "unreadable" if isinstance(error, OSError) else "too_large" if memory else "reader_failed"
    assert (entry.path, entry.kind) == (str(odd), kind)
    assert (len(read_back.turns) == 2) is memory, "what was read stays but where memory is short"


@pytest.mark.parametrize("end", [KeyboardInterrupt(), SystemExit(), SearchTimeout("no answer within 1 s")])
def test_what_ends_a_search_passes(tmp_path, monkeypatch, end):
    fail_with(end, monkeypatch)
    with pytest.raises(type(end)):
        read([str(put(tmp_path, "a.txt", "ODD"))])


def test_an_index_is_made_of_the_others_and_what_failed_and_why_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("smartsearch.transcripts.large.indexing.SETTLED", 0.0)
    fail_with(LookupError("no\nsuch thing"), monkeypatch)
    put(tmp_path, "a.txt", "ODD")
    put(tmp_path, "b.txt", CHAT)
    built = build(str(tmp_path))
    said_of_it = "the reader of odd failed after 1 turn (LookupError: no such thing); please report it"
    told = [(entry.kind, Path(entry.path).name, entry.reason) for entry in built.skipped]
    assert told == [("reader_failed", "a.txt", said_of_it)]
    assert built.turns == 3


def test_an_error_in_a_file_by_line_has_it_read_whole(tmp_path, monkeypatch):
    path = put(tmp_path, "a.jsonl", MESSAGES)
    unparsed = MessageLines([LineFile(str(path), path.read_bytes())])

    def fails(*_):
        raise OverflowError("odd")

    monkeypatch.setattr("smartsearch.transcripts.formats.messages._turn", fails)
    with pytest.raises(NotByLine):
        unparsed.turn(3)
    monkeypatch.setattr("smartsearch.transcripts.formats.messages._needs_more", fails)
    with pytest.raises(NotByLine):
        list(unparsed.facts(unparsed.with_word("hello")))
    put(tmp_path, "b.txt", CHAT)
    assert [entry.kind for entry in read_large([str(tmp_path)]).skipped] == ["reader_failed"]


def test_an_error_in_an_archive_costs_the_archive(tmp_path, monkeypatch):
    def fails(*_):
        raise LookupError("odd")

    put(tmp_path, "a.zip", b"PK")
    put(tmp_path, "b.txt", CHAT)
    monkeypatch.setattr("zipfile.ZipFile.__init__", fails)
    read_back = read([str(tmp_path)])
    assert ([entry.kind for entry in read_back.skipped], said(read_back)) == (["damaged_archive"], TWO)


@pytest.mark.parametrize("number", ["1" * 5000, "x" + "f" * 5000, "0" * 200, "x" * 9])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\nhi &#{}; there\n"),
        ("a.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\n<v &#{};>hi there\n"),
        ("a.mbox", MAIL + "<p>hi &#{}; there</p>\n"),
    ],
)
def test_a_number_without_end_is_no_character(tmp_path, name, content, number):
    read_back = read([str(put(tmp_path, name, content.format(number)))])
    assert read_back.skipped == ()
    assert "hi" in read_back.turns[0].text


def test_what_is_said_of_several_files_is_said_once():
    gathered = Gathered()
    for path, told in (("a", "1 turn without text left out"), ("b", "empty"), ("c", "empty")):
        gathered.warn(path, told)
    gathered.warn("b", "1,200 turns without text left out")
    assert gathered.warnings == ("a and 1 more: 1,201 turns without text left out", "b and 1 more: empty")
