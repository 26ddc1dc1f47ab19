from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from smartsearch.ask import batch
from smartsearch.config import Config
from smartsearch.errors import InputError, ModelError, SearchTimeout, UsageError
from smartsearch.output import record
from smartsearch.types import Answered, Budget, Result, Trace


def echo(question: batch.Question) -> Result:
    return Result(question.text, "fake", (), Budget("none", 0, 0, 0.0, 0.0, 0), Trace())


def outcomes(*lines: object, ask=echo, done: batch.Done | None = None) -> list[Answered]:
    raw = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    return list(batch.run(raw, ask, done or batch.Done()))


def test_results_come_in_input_order_with_their_ids():
    found = outcomes({"id": "b", "question": "one"}, {"id": 7, "question": "two"})
    assert [(o.id, o.line, o.result and o.result.query) for o in found] == [("b", 1, "one"), (7, 2, "two")]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{oops", "not a line of JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[1]", "not a JSON object"),
        (b'{"question": "x"}', "no id"),
        (b'{"id": true, "question": "x"}', "no id"),
        (b'{"id": 1}', "no question"),
        (b'{"id": ' + b"9" * 5000 + b', "question": "x"}', "not a line of JSON"),
        (b'{"id": 1, "question": "x", "y": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "not a line of JSON"),
        (b'{"id": "\\ud800", "question": "x"}', "half a character"),
        (b'{"id": 1, "question": " "}', "no question"),
        (b'{"id": 1, "question": "x", "paths": 3}', "paths is not"),
        (b'{"id": 1, "question": "x", "conversation": ["a", 1]}', "conversation is not"),
    ],
)
def test_a_bad_line_is_an_error_with_its_number_and_the_run_goes_on(line: bytes, said: str):
    bad, good = outcomes(b"", line, {"id": "next", "question": "x"})
    assert bad.line == 2
    assert bad.error is not None
    assert said in bad.error.message
    assert good.result is not None


def test_an_id_may_stand_once():
    _, second = outcomes({"id": 1, "question": "x"}, {"id": 1, "question": "y"})
    assert second.error is not None
    assert "line 1" in second.error.message


def test_paths_and_conversation_may_be_one_or_many():
    seen: list[batch.Question] = []
    line = {"id": 1, "question": "x", "paths": "a.txt", "conversation": ["c", "d"]}
    outcomes(line, ask=lambda q: seen.append(q) or echo(q))
    assert (seen[0].paths, seen[0].filters) == (("a.txt",), {"conversation": ("c", "d")})


@pytest.mark.parametrize(
    ("error", "kind"), [(SearchTimeout("slow"), "timeout"), (ZeroDivisionError("x"), "internal")]
)
def test_a_question_that_fails_does_not_end_the_run(error: Exception, kind: str):
    def ask(question: batch.Question) -> Result:
        if question.text == "bad":
            raise error
        return echo(question)

    first, second = outcomes({"id": 1, "question": "bad"}, {"id": 2, "question": "x"}, ask=ask)
    assert first.error is not None
    assert first.error.kind == kind
    assert second.result is not None


def test_a_missing_model_ends_the_run():
    def ask(question: batch.Question) -> Result:
        raise ModelError("no model")

    with pytest.raises(ModelError):
        outcomes({"id": 1, "question": "x"}, ask=ask)


def test_what_is_done_is_skipped_by_id_or_by_line():
    lines = [{"id": "a", "question": "x"}, b"junk", {"id": "c", "question": "x"}, b"junk"]
    whole = outcomes(*lines)
    done = batch.Done(ids={"a": whole[0].asked}, lines={2: whole[1].asked})
    assert [(o.id, o.line) for o in outcomes(*lines, done=done)] == [("c", 3), (None, 4)]
    lines[1] = b"other junk"
    assert [(o.id, o.line) for o in outcomes(*lines, done=done)] == [(None, 2), ("c", 3), (None, 4)]


@pytest.mark.parametrize("more", [{"question": "y"}, {"paths": ["b"]}, {"since": "2024"}])
def test_an_id_that_was_done_stands_for_the_question_it_was(more: dict):
    line = {"id": "a", "question": "x", "paths": "a"}
    done = batch.Done(ids={"a": outcomes(line)[0].asked})
    assert outcomes(dict(reversed(line.items())), done=done) == []
    with pytest.raises(UsageError, match="under the id 'a' answers another question"):
        outcomes(line | more, done=done)
    twice = [line, line | more]
    assert [o.line for o in outcomes(*twice, done=done)] == [2], (
        "an id that comes again is a fault of its line"
    )
    done = batch.done_in(_written(*outcomes(*twice)))
    assert outcomes(*twice, done=done) == []


@pytest.mark.parametrize(
    ("content", "asked"),
    [
        (b"who?\n\n  when did she [2024] go? \n", {1: "who?", 3: "when did she [2024] go?"}),
        (b"\xef\xbb\xbfwho?\r\n\xff\xfe\nh\0i\0\n\n", {1: "who?", None: None}),
        (b'who?\n{"id": 7, "question": "x"}\n', {None: None, 7: "x"}),
        (b"[1]\nwho?\n", {None: None}),
    ],
)
def test_lines_of_text_are_questions_unless_one_is_json(tmp_path: Path, content: bytes, asked: dict):
    path = tmp_path / "questions.txt"
    path.write_bytes(content)
    with batch.lines(str(path), None) as (lines, total, text):
        found = list(batch.run(lines, echo, batch.Done()))
    assert {o.id: o.result and o.result.query for o in found} == asked
    assert (text, total) == (b"{" not in content and b"[1]" not in content, len(found))


def test_of_standard_input_the_first_line_that_is_not_blank_tells():
    for content, asked in (
        (b"\nwho?\n", [(2, "who?")]),
        (b'\n{"id": 7, "question": "x"}\nwho?', [(7, "x"), (None, None)]),
    ):
        with batch.lines("-", io.BytesIO(content)) as (lines, _, _text):
            found = list(batch.run(lines, echo, batch.Done()))
        assert [(o.id, o.result and o.result.query) for o in found] == asked


def _written(*found: Answered) -> list[bytes]:
    """The records of what was answered."""
    return [record.dumps(record.outcome(one, Config(), {"limit": 3})).encode() + b"\n" for one in found]


def test_what_is_done_is_read_from_records():
    found = outcomes({"id": "a", "question": "x"}, b"junk", {"id": 2, "question": "x"}, {"id": 3})
    done = batch.done_in(_written(*found))
    assert done.ids == {one.id: one.asked for one in found if one.id is not None}
    assert done.lines == {2: found[1].asked}
    assert (done.failed, len(done), done.settings) == (2, 4, {'{"limit": 3}': 1})
    assert len(batch.done_in([])) == 0


OTHERS = [b"hello", b'{"no": "id"}', b"[1]", b"3", b'{"id": []}', b'{"id":1}', b"[" * 100_000, b"", b"\0"]


@pytest.mark.parametrize("other", OTHERS)
def test_lines_of_something_else_are_no_records(other: bytes):
    (ours,) = _written(*outcomes({"id": "a", "question": "x"}))
    with pytest.raises(InputError, match="line 2 is not one"):
        batch.done_in([ours, other + b"\n"])
    assert not other or not batch.is_ours(other)


@pytest.mark.parametrize("identity", ["a", 'q"\\', "\u00e9\u2028\n", 7, -1, None])
def test_a_record_cut_off_anywhere_is_known_as_ours(identity: object):
    lines = [{"id": identity, "question": "x"}, {"id": identity}]
    for whole in _written(*outcomes(*lines)):
        assert all(batch.is_ours(whole[:end]) for end in range(len(whole)))
        assert not any(batch.is_ours(whole[:end] + b"?") for end in range(6))
    for foreign in (b'{"id":"a","text":', b'{"id":1}', b'{"id": 1', b'{"id":x', b"{'id':", b" {"):
        assert not batch.is_ours(foreign)


def test_other_settings_are_told_by_name():
    asked = batch.asked_with(Config(), ("chats",), {"since": "", "input_format": "auto", "glob": ()})
    assert batch.changes(asked) == {"paths": ["chats"]}
    done = batch.Done(settings={'{"paths": ["chats"]}': 1})
    batch.check_settings(done, asked, "out.jsonl")
    other = batch.asked_with(Config(limit=3, threads=1), (".",), {"since": "7d", "input_format": "auto"})
    with pytest.raises(UsageError) as caught:
        batch.check_settings(done, other, "out.jsonl")
    said = caught.value.message.split("\n  ")
    assert said[0] == "out.jsonl:1 was asked with other settings:"
    assert set(said[1:]) == {'paths was ["chats"], is ["."]', "limit was 0, is 3", 'since was null, is "7d"'}
