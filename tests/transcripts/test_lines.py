"""JSONL files searched unparsed, against the same files parsed."""

from __future__ import annotations

import json
import unicodedata

import numpy as np
import pytest
import stringzilla
from hypothesis import given
from hypothesis import strategies as st

from smartsearch import transcripts
from smartsearch.retrieve.grep import Haystack
from smartsearch.transcripts.faults import NotByLine
from smartsearch.transcripts.filters import facts
from smartsearch.transcripts.large import lines as lines_module
from smartsearch.transcripts.large.lines import LineFile, MessageLines, blocks, folded
from smartsearch.types import fold


def written(path, messages, **how):
    path.write_bytes("\n".join(json.dumps(m, **how) for m in messages).encode("utf-8", "surrogatepass"))
    return path


def message(text, name="Mara", **more):
    return {"role": "user", "name": name, "content": text, **more}


def both(path):
    """The file's lines unparsed, and its turns parsed."""
    return MessageLines([LineFile(str(path), path.read_bytes())]), transcripts.read([str(path)])


# What case folding, composition and JSON do to text: sharp s, long s, Kelvin, dotted I, ligature, combining
# acute, composed e, Greek final sigma, an emoji beyond the BMP, quotes, a backslash, a slash and a tab.
ALPHABET = 'abAB Nnmeé́ßſKİﬁΣς😀"\\/\t\n1_-'
TEXTS = st.text(st.sampled_from(ALPHABET) | st.characters(codec="utf-8"), max_size=12)


@given(st.lists(TEXTS, min_size=1, max_size=8), TEXTS, st.booleans())
def test_no_turn_that_contains_a_text_is_missed(tmp_path_factory, texts, wanted, ascii_only):
    path = tmp_path_factory.mktemp("lines") / "chat.jsonl"
    messages = [message(text, name="name" if n % 2 else "Ünal") for n, text in enumerate([*texts, "x"])]
    written(path, messages, ensure_ascii=ascii_only)
    if not fold(wanted).replace("\x00", " ").strip():
        return
    lines, corpus = both(path)
    parsed = Haystack(corpus)
    by_number = {turn.line: n for n, turn in enumerate(corpus.turns)}
    found = {by_number.get(int(n) + 1) for n in lines.with_word(wanted)}
    assert set(parsed.turns_with(wanted)) <= found


def test_every_character_folds_as_text_does():
    every = (chr(code) for code in (*range(32, 0xD800), *range(0xE000, 0x20000)) if chr(code) != "\\")
    composed = "\n".join(one for one in every if unicodedata.is_normalized("NFC", one))
    found = folded(composed.encode())
    assert found == newest(fold(composed))
    assert found.count(b"\n") == composed.count("\n")
    assert found != composed.encode()


def newest(text):
    """Folded once more by a library that may know more characters than this Python does."""
    return bytes(stringzilla.utf8_uncased_fold(text))


@given(st.binary(max_size=60), st.sampled_from([b"a", b"ab", b"\n", b"aa"]), st.sampled_from([1, 7, 1 << 20]))
def test_places_are_those_of_find(data, needle, block):
    """And where a block ends, one more may be found that overlaps another."""
    expected, at = [], data.find(needle)
    while at >= 0:
        expected.append(at)
        at = data.find(needle, at + len(needle))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines_module, "BLOCK", block)
        found = [at for some in blocks(data, needle) for at in some.tolist()]
    assert all(data.startswith(needle, at) for at in found)
    if needle != b"aa" or block > len(data):
        assert found == expected
    assert len(found) >= len(expected)
    assert found == sorted(found)


def test_blank_lines_without_end_are_no_trouble(tmp_path):
    path = tmp_path / "c.jsonl"
    row = json.dumps(message("hello")).encode()
    path.write_bytes(b"\n".join([row] * 20) + b"\n" * (3 * lines_module.BLOCK) + row)
    lines = MessageLines([LineFile(str(path), path.read_bytes())])
    assert lines.with_word("hello").tolist() == list(range(21))


HELLO = [message("hello")] * 20
DEEP = f"{'[' * 300}{']' * 300}"


@pytest.mark.parametrize(
    ("before", "line", "after", "text"),
    [
        ("İ" * 300, message("the secret plan"), "ẞ" * 300, "secret"),
        ("x", f'{{"role": "user", "content": "the \\u00e9tude", "deep": {DEEP}}}', "x", "étude"),
        ("x", '{"role": "user", "content": "the \\u00e9tude", "n": 123456789012345678901}', "x", "étude"),
        ("x", '{"role": "user", "content": "the s\\x65cret"}', "x", "secret"),
        ("x", message([{"type": "file", "file": {"filename": "secret.pdf"}}]), "x", "file secret"),
        ("x", message("a\x00secret"), "x", "a secret"),
        ("x", '{"role": "user", "content": "a\\x00secret"}', "x", "a secret"),
        ("x", message('\u00e9 "name": name'), "x", "name"),
        ("x", {"from": "gpt", "value": "the secret"}, "x", "assistant"),
        (
            "x",
            message([{"type": "tool_call", "value": '{"name": "the", "arguments": "a\\nsecret"}'}]),
            "x",
            "a secret",
        ),
    ],
)
def test_nothing_around_or_within_a_line_hides_it(tmp_path, before, line, after, text):
    rows = [json.dumps(row, ensure_ascii=False) for row in (*HELLO, message(before))]
    path = tmp_path / "c.jsonl"
    line = line if isinstance(line, str) else json.dumps(line)
    path.write_text("\n".join([*rows, line, json.dumps(message(after), ensure_ascii=False)]))
    lines, corpus = both(path)
    assert Haystack(corpus).turns_with(text) == [21]
    assert lines.with_word(text).tolist() == [21]


def test_what_later_lines_are_decides_about_those_that_are_not_read(tmp_path):
    """A format that looks at twenty records is not overruled by the first ten."""
    log = {"type": "user", "sessionId": "s", "uuid": "u", "message": message("hidden")}
    path = written(tmp_path / "c.jsonl", [*[message("a")] * 12, log, *[message("a")] * 9])
    assert {turn.conversation for turn in transcripts.read([str(path)]).turns} != {"c"}
    with pytest.raises(NotByLine):
        LineFile(str(path), path.read_bytes())


@pytest.mark.parametrize("tool", ["SmartSearch", "smart\u017fearch", "smartsearch_query"])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_calls_of_smartsearch_are_known_however_they_are_written(tmp_path, tool, ascii_only):
    call = {"id": "a", "function": {"name": tool, "arguments": "{}"}}
    rows = [*HELLO, {"role": "assistant", "content": "wait", "tool_calls": [call]}]
    rows.append({"role": "tool", "tool_call_id": "a", "content": "found"})
    path = written(tmp_path / "a.jsonl", rows, ensure_ascii=ascii_only)
    assert len(transcripts.read([str(path)]).turns) == 21
    with pytest.raises(NotByLine):
        MessageLines([LineFile(str(path), path.read_bytes())]).with_word("found")


def test_a_line_beyond_the_limit_is_refused_unparsed_too(tmp_path):
    written(tmp_path / "a.jsonl", [*HELLO, message("x" * 2000)])
    written(tmp_path / "b.jsonl", HELLO)
    read = transcripts.read_large([str(tmp_path)], limits=transcripts.Limits(line=1000))
    assert [entry.kind for entry in read.skipped] == ["too_large"]


def test_a_word_that_is_also_a_key_is_found_in_what_was_said_alone(tmp_path):
    said = ["my name is Mara", "hello", 'the "name": field', "content"]
    lines, _ = both(written(tmp_path / "c.jsonl", [message(text) for text in said]))
    assert lines.with_word("name").tolist() == [0, 2]
    assert lines.with_word("content").tolist() == [3]


def test_a_line_becomes_the_turn_that_reading_the_file_makes(tmp_path):
    path = tmp_path / "c.jsonl"
    rows = [json.dumps(message(f"turn {n}", time=f"2024-05-0{n + 1}T10:00:00")) for n in range(4)]
    path.write_text(
        f"{rows[0]}\n\n{rows[1]}\n   \n{{broken\n{rows[2]}\r\n{json.dumps(message(''))}\n{rows[3]}\n"
    )
    lines, corpus = both(path)
    turns = [lines.turn(n) for n in range(len(lines))]
    assert [turn for turn in turns if turn] == list(corpus.turns)
    assert [turn.line for turn in corpus.turns] == [1, 3, 6, 8]
    assert turns[2] is None  # broken
    assert turns[4] is None  # without text


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n",
        b"[1, 2]\n",
        b'{"a": 1}\n{"a": 2}',
        b'\xef\xbb\xbf{"role": "user", "content": "a"}',
        b'{"role": "user", "content": "a\xff"}',
        b'{"role": "user", "content": "a\x00"}',
        '{"role": "user", "content": "a"}'.encode("utf-16"),
        b'[{"role": "user", "content": "a"}]',
        b'{"messages": [{"role": "user", "content": "a"}]}\n{"messages": []}',
        b'{"role": "user", "content": "a", "date": "3/4/2024"}',
    ],
)
def test_other_files_have_to_be_read_whole(data):
    with pytest.raises(NotByLine):
        LineFile("c.jsonl", data)


ODD = (
    {"role": "user", "content": "plain", "time": "2023-05-08T10:00:00", "id": 3},
    {"name": "Ann", "text": "own keys", "date": "8 May 2023", "conversation_id": 7, "session": "s"},
    {"role": "user", "content": [{"type": "text", "text": "in parts"}], "created_at": 1683540000},
    {"role": "assistant", "content": [{"type": "image_url"}], "time": "2023-02-30T10:00:00"},
    {"role": "tool", "name": "smartsearch_query", "content": "found"},
    {"role": "user", "content": "  ", "time": "2023-05-08"},
    {"role": "user", "content": None},
    {"role": "user", "content": 5},
    {"author": "Zoë", "content": "x", "timestamp": "2023-05-08T10:00:00+02:00", "session_id": 0},
    {"role": True, "speaker": "", "content": "nobody", "time": ["odd"]},
    {"role": "user", "content": "camel", "createdAt": {"$date": {"$numberLong": "1683554160000"}}},
    {"role": "user", "content": [{"type": "text", "value": "valued"}], "ts": "1683554160.5"},
    {"role": "user", "content": [{"type": "text", "text": {"value": "valued"}}], "thread_id": "t"},
    {"from": "human", "value": "spoken", "created_date": "2023-05-08"},
    {"from": "Mara", "value": "named", "id": 4},
    {"role": "human", "value": "by role"},
    {"from": "gpt", "value": 5},
    {"sender": {"name": "Orla"}, "body": "by other keys", "Sent At": 1683554160000, "channel": "kilns"},
    {"role": "potter", "user": "Tove", "message": "of a guild", "date": "2023-05-08", "time": "10:00"},
    {"from": "Tove", "user": 7, "role": "user", "text": "", "message": "after an empty text"},
    5,
    "text",
)


def test_what_filters_ask_of_a_line_is_that_of_its_turn_which_is_that_of_reading_it(tmp_path):
    rows = [json.dumps(row) for row in (*ODD[:1] * 10, *ODD)]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join([*rows, "{broken", "", json.dumps(ODD[0])]))
    lines = MessageLines([LineFile(str(path), path.read_bytes())])
    turns = [lines.turn(at) for at in range(len(lines))]
    assert [turn for turn in turns if turn] == list(transcripts.read([str(path)]).turns)
    expected = [turn and facts(turn) for turn in turns]
    assert list(lines.facts(np.arange(len(lines)))) == expected
    assert list(lines.facts(np.array([3, 11, 17]))) == [expected[at] for at in (3, 11, 17)]
    assert expected.count(None) >= 5


def test_the_day_in_a_files_name_is_that_of_its_lines(tmp_path):
    path = written(tmp_path / "2024-05-09.jsonl", [message("a"), message("b", time="2024-05-10T10:00:00")])
    lines, corpus = both(path)
    assert [lines.turn(n) for n in range(2)] == list(corpus.turns)
    assert [found.time for found in lines.facts(np.arange(2))] == ["2024-05-09", "2024-05-10T10:00:00"]


@pytest.mark.parametrize(
    "row", [{"messages": [ODD[0]]}, {"role": "user", "content": "x", "time": "8/5/2023"}]
)
def test_a_line_that_alone_does_not_tell_is_said_to_filters_too(tmp_path, row):
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps(each) for each in (*ODD[:1] * 30, row)))
    lines = MessageLines([LineFile(str(path), path.read_bytes())])
    with pytest.raises(NotByLine):
        list(lines.facts(np.arange(len(lines))))
