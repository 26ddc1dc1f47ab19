"""The LoCoMo scorer against numbers worked out by hand."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "benchmarks" / "locomo.py"


@pytest.fixture(scope="module")
def locomo():
    import sys

    spec = importlib.util.spec_from_file_location("benchmarks_locomo", PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def sample(evidence, category=1):
    return {
        "sample_id": "conv-1",
        "conversation": {
            "session_1": [{"dia_id": "D1:1"}, {"dia_id": "D1:2"}],
            "session_1_date_time": "",
            "session_2": [{"dia_id": "D2:5"}],
        },
        "qa": [{"question": "q", "evidence": evidence, "category": category}],
    }


@pytest.mark.parametrize(
    ("evidence", "gold"),
    [
        (["D1:1"], {"D1:1"}),
        (["D1:1; D2:5"], {"D1:1", "D2:5"}),
        (["D:2:5"], {"D2:5"}),
        (["D1:02", "D1:2"], {"D1:2"}),
        (["D1:1 D9:9"], {"D1:1"}),
        (["D"], set()),
        ([], set()),
    ],
)
def test_evidence_is_cleaned(locomo, evidence, gold):
    dropped = locomo.Dropped()
    question = next(locomo.questions([sample(evidence)], dropped))
    assert question.gold == gold
    assert dropped.malformed == (["D"] if evidence == ["D"] else [])
    assert dropped.absent == (["D9:9"] if "D9:9" in str(evidence) else [])


def test_adversarial_questions_are_left_out(locomo):
    assert not list(locomo.questions([sample(["D1:1"], category=5)], locomo.Dropped()))


def hit(rank, turn, ce):
    scores = {"match": 1, "ce": ce, "colbert": 1, "rrf": 1 / rank}
    return {"rank": rank, "text": "w " * 9, "speaker": "A", "time": "", "turn": turn, "scores": scores}


def test_measures_by_hand(locomo):
    gold = frozenset({"t2", "t70", "lost"})
    question = locomo.Question("c/0", "q", "c", 1, gold)
    record = {"candidates": 80, "hits": [hit(n, f"t{n}", 0.5 if n < 4 else 0.001) for n in range(1, 81)]}
    tally = locomo.Tally()
    locomo.score(question, record, [tally])
    report = tally.report()
    recall = {name: values["micro"] for name, values in report["recall"].items()}
    assert recall["retrieved"] == pytest.approx(2 / 3, abs=1e-4)
    assert recall["top 1"] == 0
    assert recall["top 3"] == recall["top 62"] == pytest.approx(1 / 3, abs=1e-4)
    assert recall["2000 words"] == pytest.approx(2 / 3, abs=1e-4)
    assert recall["alpha .03, K 60, 4000 words"] == pytest.approx(1 / 3, abs=1e-4)
    assert report["words"]["alpha .03, K 60, 4000 words"] == 30  # tau .015 keeps three turns of ten words
    assert report["words"]["alpha 0, K 60, 4000 words"] == 600
    assert (report["first_gold_rank_mean"], report["candidates"]) == (2, 80)
    assert report["recall"]["retrieved"]["all"] == 0
    assert report["recall"]["retrieved"]["any"] == 1
