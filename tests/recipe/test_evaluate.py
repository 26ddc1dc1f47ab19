"""Validation measures and the n-gram check, by hand-worked examples."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from smartsearch.training.__main__ import main
from smartsearch.training.chats import Group
from smartsearch.training.data import write_groups
from smartsearch.training.evaluate import compare, fused, rank_of_first, summary
from smartsearch.training.export import spearman
from smartsearch.training.ngrams import ngrams, spoken_part


def test_ties_count_against_the_right_turn() -> None:
    assert rank_of_first([1.0, 1.0, 0.5]) == 2


def test_summary_of_ranks() -> None:
    assert summary([1, 4, 20]) == {"n": 3, "R@1": 0.3333, "R@5": 0.6667, "R@10": 0.6667, "MRR": 0.4333}


def test_fusion_weighs_the_cross_encoder_more() -> None:
    scores = fused([3.0, 2.0], [2.0, 3.0])
    assert scores == [0.7 / 61 + 0.3 / 62, 0.7 / 62 + 0.3 / 61]


def test_compare_reports_all_and_each_source() -> None:
    trials = [Group("a", "k", "c", "q", "right", ["longer wrong", "no"])]
    found = compare(trials, lambda q, t: [float(len(x)) for x in t], lambda q, t: [1.0, 0.0, 0.0])
    assert found["a"]["crossencoder"]["R@1"] == 0.0
    assert found["all"]["colbert"]["R@1"] == 1.0


@pytest.mark.parametrize(("other", "expected"), [([1.0, 2.0, 3.0], 1.0), ([3.0, 2.0, 1.0], -1.0)])
def test_spearman(other: list[float], expected: float) -> None:
    assert spearman([10.0, 20.0, 30.0], other) == expected


def test_ngrams_compare_only_what_was_said() -> None:
    assert spoken_part("[5 May 2024] Ann: the cat sat | Ben: why?") == "the cat sat"
    assert ngrams("The cat sat down", 3) == {("the", "cat", "sat"), ("cat", "sat", "down")}


def test_overlap_counts_shared_texts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_groups(
        tmp_path / "groups.jsonl", [Group("a", "k", "c", "who", "Ann: one two three four", ["five six"])]
    )
    (tmp_path / "eval").mkdir()
    (tmp_path / "eval" / "e.json").write_text(json.dumps([{"t": "Zero one two three!"}]))
    assert main(["overlap", str(tmp_path), str(tmp_path / "eval"), "--size", "3"]) == 0
    assert json.loads(capsys.readouterr().out)["by_source"] == {"a": 1}


def test_an_unknown_command_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nonsense"]) == 2
    assert "usage" in capsys.readouterr().err
