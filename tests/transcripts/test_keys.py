"""Records whose keys are not the usual ones, which `--fields` names; what a large file says of its keys."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import pytest

from smartsearch.errors import InputError, UsageError
from smartsearch.transcripts import Parts, read, read_large
from smartsearch.transcripts.corpus import by_line
from smartsearch.transcripts.formats.keys import Named
from smartsearch.types import Corpus
from tests.transcripts.build import lines, put

ODD = [
    {
        "by": [{"nick": "Orla"}],
        "line": "The shelf cracked",
        "a/b": {"~": 1707210600},
        "text": "not this",
        "name": "kiln",
    },
    {"by": [{"nick": "Tove"}], "line": 42, "a/b": {"~": 1707210660}, "text": "nor this", "name": "kiln"},
]
FIELDS = "fields:speaker=/by/0/nick,text=line,time=/a~1b/~0"
READ = [
    ("Orla", "The shelf cracked", "2024-02-06T09:10:00+00:00"),
    ("Tove", "42", "2024-02-06T09:11:00+00:00"),
]


def told(found: Corpus) -> list[tuple[str, str, str]]:
    return [(turn.speaker, turn.text, turn.time) for turn in found.turns]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", lines(*ODD)),
        ("a.jsonl.gz", gzip.compress(lines(*ODD).encode())),
        ("a.json", ODD),
        ("a.json", {"kilns": 2, "rows": ODD}),
        ("a.json", {"messages": ODD}),
        ("a.txt", lines(*ODD)),
    ],
)
def test_named_keys_are_read_in_every_shape(tmp_path: Path, name: str, content: Any) -> None:
    found = read([str(put(tmp_path, name, content))], input_format=FIELDS)
    assert (told(found), found.warnings, found.skipped) == (READ, (), ())
    assert told(read(["-"], stdin=io.BytesIO(lines(*ODD).encode()), input_format=FIELDS)) == READ


def test_lists_of_records_are_conversations(tmp_path: Path) -> None:
    path = put(tmp_path, "a.jsonl", lines({"id": "k", "log": ODD[:1]}, {"log": ODD[1:]}))
    found = read([str(path)], input_format=FIELDS)
    assert told(found) == READ
    assert [(turn.conversation, turn.line, turn.pointer) for turn in found.turns] == [
        ("k", 1, "/log/0"),
        ("a#2", 2, "/log/0"),
    ]


@pytest.mark.parametrize(("name", "mark"), [("a.csv", ","), ("a.csv", ";"), ("a.tsv", "\t"), ("a.txt", ",")])
def test_columns_are_named_by_the_first_row(tmp_path: Path, name: str, mark: str) -> None:
    rows = (("day", "who spoke", "line", "id"), ("2024-02-06", "Orla", "It cracked", "k1"))
    path = put(tmp_path, name, "".join(mark.join(row) + "\n" for row in rows))
    found = read([str(path)], input_format="fields:speaker=who spoke,text=line,time=day")
    assert told(found) == [("Orla", "It cracked", "2024-02-06")]
    assert (found.turns[0].line, found.turns[0].turn) == (2, "k1")


def test_a_table_in_a_folder_is_read_or_told(tmp_path: Path) -> None:
    put(tmp_path, "trip.csv", "date,sender,text\n2024-02-06,Orla,It cracked\n")
    put(tmp_path, "goods.tsv", "article\tprice\nkiln\t90\n")
    found = read([str(tmp_path)])
    assert told(found) == [("Orla", "It cracked", "2024-02-06")]
    assert [Path(entry.path).name for entry in found.skipped] == ["goods.tsv"]


def test_what_is_not_named_goes_by_the_usual_keys(tmp_path: Path) -> None:
    path = put(
        tmp_path, "a.jsonl", lines({"who": "Orla", "text": "a", "ts": 1707210600, "room": "kilns", "part": 2})
    )
    (turn,) = read([str(path)], input_format="fields:speaker=who,session=part").turns
    assert (turn.speaker, turn.text, turn.time[:10]) == ("Orla", "a", "2024-02-06")
    assert (turn.conversation, turn.session) == ("kilns", "2")


def test_rows_that_lack_a_named_key_are_counted(tmp_path: Path) -> None:
    rows = [{"who": "Orla", "line": "a"}, {"line": "b"}, {"who": "Tove"}, 5]
    path = put(tmp_path, "a.jsonl", lines(*rows))
    found = read([str(path)], input_format="fields:speaker=who,text=line")
    assert told(found) == [("Orla", "a", ""), ("", "b", "")]
    said = ("1 turn without a speaker, the first on line 2", "1 turn without text left out")
    assert found.warnings == tuple(f"{path}: {one}" for one in said)
    assert [entry.reason for entry in found.skipped] == ["line 4: a number in the place of a message"]


@pytest.mark.parametrize(
    ("name", "content", "keys"),
    [
        ("a.jsonl", lines(*ODD), "by, line, a/b, text, name"),
        ("a.csv", "day,line\nmonday,a\n", "day, line"),
    ],
)
def test_a_key_that_no_record_has_is_told_with_those_there_are(
    tmp_path: Path, name: str, content: str, keys: str
) -> None:
    paths = [
        put(tmp_path, name, content),
        put(tmp_path, "b.jsonl", lines({"who": {"x": "Orla"}, "text": "a"})),
    ]
    found = read(list(map(str, paths)), input_format="fields:speaker=/who/x")
    reason = f"--fields: no record has '/who/x'; the first has {keys}"
    assert [(entry.kind, entry.reason) for entry in found.skipped] == [("unknown_field", reason)]
    assert [turn.speaker for turn in found.turns] == ["Orla"]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("", "'' is not NAME=KEY"),
        ("speaker", "'speaker' is not NAME=KEY"),
        ("speaker=", "'speaker=' is not NAME=KEY"),
        ("who=sender", "'who' is no field"),
        ("text=a,text=b", "'text' is named twice"),
        ("text=/a~2b", "'/a~2b' is no JSON pointer"),
    ],
)
def test_what_names_nothing_is_an_error_that_lists_the_fields(written: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        Named.of(written)
    assert said in caught.value.message
    assert "speaker, text, time, conversation, session, turn, role" in caught.value.hint


@pytest.mark.parametrize("content", ['{"who": "Orla", "words": "a"}\n', "who,words\nOrla,a\n"])
def test_other_keys_are_named_beside_the_known_ones(tmp_path: Path, content: str) -> None:
    path = put(tmp_path, "a.csv" if content[0] == "w" else "a.jsonl", content)
    with pytest.raises(InputError) as caught:
        read([str(path)])
    assert "who, words" in caught.value.message
    for known in ("sender", "user", "message", "timestamp", "--fields speaker=KEY,text=KEY,time=KEY"):
        assert known in caught.value.hint
    with pytest.raises(InputError, match="no key is known as a text: who, words"):
        read([str(path)], input_format="messages")


ORDINARY = [
    {"ts": 1707210600 + n, "user": {"name": f"Potter {n % 3}"}, "message": f"shelf {n}", "glaze": "ash"}
    for n in range(30)
]


def test_a_large_file_by_line_is_the_file_read_whole_and_says_the_same(tmp_path: Path) -> None:
    path = str(put(tmp_path, "a.jsonl", lines(*ORDINARY)))
    whole, unparsed, parts = read([path]), by_line(path), read_large([path])
    assert isinstance(parts, Parts)
    assert unparsed is not None
    assert [unparsed.turn(n) for n in range(30)] == list(whole.turns)
    assert unparsed.with_word("potter 2").tolist() == list(range(2, 30, 3))
    assert parts.warnings == whole.warnings
    assert whole.warnings[0].endswith("speaker=user, text=message, time=ts; not read: glaze")


@pytest.mark.parametrize(
    "row",
    [
        {"sender": "Orla", "text": "a", "replies": [{"sender": "Tove", "text": "b"}]},
        {"sender": "Orla", "text": "a", "ts": "2/3/24"},
    ],
)
def test_a_line_with_replies_or_a_doubtful_date_is_read_whole(tmp_path: Path, row: dict[str, Any]) -> None:
    assert by_line(str(put(tmp_path, "a.jsonl", lines(row)))) is None
