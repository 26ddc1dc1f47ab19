"""The list of doubtful labels: its shape, and that it takes gold away from a second column only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from smartsearch.bench import audit, results
from smartsearch.bench.datasets import open_dataset
from smartsearch.bench.run import run
from smartsearch.bench.session import Request, plan
from smartsearch.bench.store import Store
from smartsearch.bench.tables import sound
from smartsearch.config import Config
from smartsearch.errors import UsageError
from tests.bench.conftest import scoring_of

SAID = ["hello there", "Oscar chased the gulls at the harbour", "how nice", "I paint boats"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """One sample in LoCoMo's layout, named as one of the list; D12:14 of question 48 is on the list."""
    turns = [{"speaker": "Mara", "dia_id": f"D12:{n}", "text": text} for n, text in enumerate(SAID, 12)]
    asked = [{"question": f"filler {n}", "category": 5, "evidence": []} for n in range(48)]
    asked.append({"question": "What did Oscar chase?", "category": 4, "evidence": ["D12:13", "D12:14"]})
    conversation = {"speaker_a": "Mara", "speaker_b": "Ilya", "session_12": turns}
    sample = {"sample_id": "conv-26", "conversation": conversation, "qa": asked}
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([sample]), encoding="utf-8")
    return path


def test_the_list_has_ids_kinds_and_short_reasons_and_no_label_twice():
    labels = audit.labels()
    assert len(labels) >= 60
    assert len({(label.question, label.turn) for label in labels}) == len(labels)
    for label in labels:
        sample, _, number = label.question.partition("/")
        assert sample.startswith("conv-")
        assert number.isdigit()
        assert label.turn.startswith("D")
        assert label.kind in audit.KINDS
        assert label.read in ("lost", "found")
        assert 0 < len(label.reason.split()) <= 14
    assert {label.read for label in labels} == {"lost", "found"}


def test_what_the_module_says_of_the_list_is_so():
    lost = sum(label.read == "lost" for label in audit.labels())
    assert f"(466 gold turns, {lost} doubtful)" in str(audit.__doc__)
    assert f"(232, {len(audit.labels()) - lost} doubtful)" in str(audit.__doc__)


def test_doubtful_gold_is_left_out_of_the_second_column_alone(data: Path, tools, tmp_path: Path):
    planned = plan(
        Request(str(data), retrievals=("IF0",), rankers=("weight",), cuts=("B0",), audit=True), Config()
    )
    (group,) = planned.dataset.groups()
    assert audit.doubtful(group) == {"conv-26/48": frozenset({2})}
    with Store(tmp_path / "scores.db") as store:
        outcome = run(planned.dataset, planned.spec, scoring_of(tools, store, Config()), tools.tokenizer)
    (row,) = results.summary(outcome)["rows"]
    assert (row["gold"], row["recall"]["kept"]["micro"]) == (2, 0.5)
    assert (row["sound"]["gold"], row["sound"]["recall"]["kept"]["micro"]) == (1, 1.0)
    table = sound({"rows": [row]})
    assert table is not None
    assert table.rows == (("IF0 weight B0", *(".500", "1.000") * 4),)
    assert "leaving out 1 of 2 gold turns" in table.caption


def test_without_an_audit_there_is_no_second_column(data: Path, tools, tmp_path: Path):
    planned = plan(Request(str(data), retrievals=("IF0",), rankers=("weight",), cuts=("B0",)), Config())
    with Store(tmp_path / "scores.db") as store:
        outcome = run(planned.dataset, planned.spec, scoring_of(tools, store, Config()), tools.tokenizer)
    record = results.summary(outcome)
    assert "sound" not in record["rows"][0]
    assert sound(record) is None


def test_a_label_that_is_no_gold_of_the_question_is_left_out(data: Path):
    sample = json.loads(data.read_text())
    sample[0]["qa"][48]["evidence"] = ["D12:13"]
    data.write_text(json.dumps(sample))
    (group,) = open_dataset(str(data)).groups()
    assert audit.doubtful(group) == {}


def test_other_data_has_no_list(chats: Path):
    with pytest.raises(UsageError, match="no list of doubtful labels for folder"):
        plan(Request(str(chats), audit=True), Config())
