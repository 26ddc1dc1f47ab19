"""The records of a run as Parquet: the columns, and nothing lost."""

from __future__ import annotations

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


KEY = Hit(
    1,
    Turn(
        "Under the “blue” pot.", "Mara", "2024-05-01", path="chats/a.txt", line=7, conversation="c", turn="t7"
    ),
    Scores(2.5, ce=0.75, rrf=0.016),
)
LOST = line(Answered(None, 4, error=InputError("no question", hint="add one")))


def written(*lines: bytes) -> bytes:
    out = io.BytesIO()
    assert parquet.write(lines, out) == len(lines)
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


def test_a_failure_is_a_row_without_hits():
    (row,) = table(LOST)
    assert row["error"] == {
        "kind": "input",
        "message": "no question",
        "hint": "add one",
        "retryable": False,
    }
    assert (row["id"], row["line"], row["hits"], row["query"]) == (None, 4, None, None)


def test_no_hits_and_no_answer_are_told_apart():
    assert [row["hits"] for row in table(answer("q1"), LOST)] == [[], None]


def test_an_id_that_is_a_number_is_one_in_the_record():
    (row,) = table(answer(17))
    assert row["id"] == "17"
    assert orjson.loads(row["record"])["id"] == 17


def test_the_schema_is_the_same_whatever_the_records():
    kinds = [pq.read_schema(io.BytesIO(written(*lines))) for lines in ((), (LOST,), (answer("q", KEY),))]
    assert kinds[0] == kinds[1] == kinds[2] == parquet.schema()


def test_every_score_is_a_column():
    given = records.hit(KEY)
    flat = {
        **{name: value for name, value in given.items() if name not in ("why", "scores")},
        **given["scores"],
    }
    assert set(flat) == {field.name for field in parquet.schema().field("hits").type.value_type}


def test_the_same_records_give_the_same_bytes():
    lines = [answer(n, KEY) for n in range(50)]
    assert written(*lines) == written(*lines)


def test_a_long_run_is_written_in_groups_in_its_order():
    lines = [answer(n, KEY) for n in range(2_500)]
    file = pq.ParquetFile(io.BytesIO(written(*lines)))
    assert [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)] == [1000, 1000, 500]
    assert [name.as_py() for name in file.read(["id"])["id"]] == [str(n) for n in range(2_500)]
    assert file.metadata.row_group(0).column(0).compression == "ZSTD"


def test_long_records_close_a_group_early(monkeypatch):
    monkeypatch.setattr(parquet, "BYTES", 2 * len(answer("q1", KEY)))
    file = pq.ParquetFile(io.BytesIO(written(*[answer(f"q{n}", KEY) for n in range(5)])))
    assert [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)] == [2, 2, 1]


def test_records_come_one_group_at_a_time():
    taken = 0

    def lines():
        nonlocal taken
        for n in range(3_000):
            taken += 1
            yield answer(n)

    groups = parquet._groups(lines())
    assert len(next(groups)) == 1000
    assert taken == 1000


@pytest.mark.parametrize("raw", [b"[1]", b"{", b""])
def test_what_is_no_record_is_refused(raw):
    with pytest.raises(ValueError, match=r"."):
        written(raw)
