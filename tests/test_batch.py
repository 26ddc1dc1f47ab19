import io
import json
from pathlib import Path

import pytest

from smartsearch.ask import batch
from smartsearch.config import Config
from smartsearch.errors import ModelError, SearchTimeout
from smartsearch.output import record
from smartsearch.types import Answered, Budget, Result, Trace


def echo(question: batch.Question) -> Result:
    return Result(question.text, "fake", (), Budget("none", 0, 0, 0.0, 0.0, 0), Trace())


def outcomes(*lines: object, ask=echo) -> list[Answered]:
    raw = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    return list(batch.run(raw, ask))


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
        found = list(batch.run(lines, echo))
    assert {o.id: o.result and o.result.query for o in found} == asked
    assert (text, total) == (b"{" not in content and b"[1]" not in content, len(found))


def test_of_standard_input_the_first_line_that_is_not_blank_tells():
    for content, asked in (
        (b"\nwho?\n", [(2, "who?")]),
        (b'\n{"id": 7, "question": "x"}\nwho?', [(7, "x"), (None, None)]),
    ):
        with batch.lines("-", io.BytesIO(content)) as (lines, _, _text):
            found = list(batch.run(lines, echo))
        assert [(o.id, o.result and o.result.query) for o in found] == asked


@pytest.mark.parametrize("identity", ["a", 'q"\\', "\u00e9\u2028\n", 7, -1, None])
def test_what_it_wrote_is_known_from_anything_else(tmp_path: Path, identity: object):
    path = tmp_path / "answers.jsonl"
    for line in ({"id": identity, "question": "x"}, {"id": identity}):
        (one,) = outcomes(line)
        path.write_text(record.dumps(record.outcome(one, Config())) + "\n")
        assert batch.has_answers(path)
        ours = path.read_bytes()
        for end, held in ((ours[:4], True), (ours[:-9], True), (b"my notes\n", False), (b"my notes", False)):
            path.write_bytes(ours + end)
            assert batch.has_answers(path) is held
    others = (
        b"hello",
        b'{"id":"a","text":"x"}',
        b'{"id":1}',
        b'{"id": 1, "question": "x"}',
        b"[" * 9000,
        b"",
    )
    for other in others:
        path.write_bytes(other)
        assert not batch.has_answers(path)
    assert not batch.has_answers(tmp_path / "nothing")
