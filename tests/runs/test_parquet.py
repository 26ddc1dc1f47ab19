"""The records of a run as Parquet: the columns, and nothing lost."""

import io

import orjson
import pytest

from smartsearch.ask.runs import parquet
from smartsearch.config import Config
from smartsearch.errors import InputError
from smartsearch.output import record as records
from smartsearch.types import Answered, Budget, Hit, Result, Scores, Trace, Turn

pq = pytest.importorskip("pyarrow.parquet")


def line(done: Answered) -> bytes:
    return records.dumps(records.outcome(done, Config())).encode()


def answer(identity: str | int, *hits: Hit) -> bytes:
    budget = Budget("score", 800, 0, 0.1, 0.05, used_words=12, used_tokens=17)
    trace = Trace(candidates=3, timing_ms={"total": 41.26})
    return line(Answered(identity, 1, result=Result("where is the key?", "en-shipped", hits, budget, trace)))


PLACE = {"path": "chats/a.txt", "line": 7, "conversation": "c", "turn": "t7"}
POT = Turn("Under the “blue” pot.", "Mara", "2024-05-01", **PLACE)
KEY = Hit(1, POT, Scores(2.5, ce=0.75, rrf=0.016))
LOST = line(Answered(None, 4, error=InputError("no question", hint="add one")))


def written(*lines: bytes) -> bytes:
    out = io.BytesIO()
    parquet.write(lines, out)
    return out.getvalue()  # the stream is still open


def table(*lines: bytes) -> list[dict]:
    return pq.read_table(io.BytesIO(written(*lines))).to_pylist()


def test_an_answer_is_a_row_and_its_line_as_it_was():
    (row,) = table(answer("q1", KEY))
    assert row.pop("record").encode() == answer("q1", KEY)
    assert row.pop("hits") == [
        {
            **{"rank": 1, "path": "chats/a.txt", "line": 7, "pointer": "", "conversation": "c"},
            **{"session": "", "turn": "t7", "speaker": "Mara", "time": "2024-05-01"},
            "text": "Under the “blue” pot.",
            **{"match": 2.5, "ce": 0.75, "colbert": None, "rrf": 0.016, "fused": None},
        }
    ]
    assert row == {
        **{"id": "q1", "line": None, "query": "where is the key?", "profile": "en-shipped"},
        **{"candidates": 3, "used_words": 12, "used_tokens": 17, "total_ms": 41.3, "error": None},
    }


def test_a_failure_is_a_row_without_hits_and_an_answer_has_a_list_of_them_with_every_score():
    failed, found = table(LOST, answer(17))
    told = {"kind": "input", "message": "no question", "hint": "add one", "retryable": False}
    assert failed["error"] == told
    assert (failed["id"], failed["line"], failed["hits"], failed["query"]) == (None, 4, None, None)
    assert (found["id"], orjson.loads(found["record"])["id"], found["hits"]) == ("17", 17, [])
    given = records.hit(KEY)
    flat = {*given["scores"], *given} - {"why", "scores"}
    assert flat == {field.name for field in parquet.schema().field("hits").type.value_type}


def test_long_records_close_a_group_early_and_no_more_is_taken(monkeypatch):
    monkeypatch.setattr(parquet, "BYTES", 2 * len(answer("q1", KEY)))
    taken = iter([answer(f"q{n}", KEY) for n in range(5)])
    groups = parquet._groups(taken)
    assert [len(next(groups)), len(list(taken))] == [2, 3]


@pytest.mark.parametrize("raw", [b"[1]", b"{", b""])
def test_what_is_no_record_is_refused(raw):
    with pytest.raises(ValueError, match=r"."):
        written(raw)
