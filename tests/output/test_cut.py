from __future__ import annotations

from dataclasses import replace

import pytest

from smartsearch.config import Config
from smartsearch.output.cut import decided, duration, ranked, rule, stages
from tests.output.samples import FULL, TIMES, answer, hit


def test_every_ranked_turn_has_its_fate():
    rows = ranked(FULL)
    assert [row.rank for row in rows] == [1, 2, 3, 4, 5, 6, 7]
    assert " ".join(row.fate for row in rows) == "shown tau shown hidden budget top_k top_k"
    assert [row.rank for row in rows if row.stayed] == [1, 3, 4]
    assert rows[1].scores.ce == 0.2


@pytest.mark.parametrize(
    ("fate", "said"),
    [
        ("tau", "ce below tau 0.4000 = 0.5 of the best ce, 0.8000"),
        ("top_k", "behind the first 5 (top_k)"),
        ("budget", "no room: 4000 words, 90 tokens, fill stop"),
        ("hidden", "stayed and not shown: -n 2"),
    ],
)
def test_a_rule_in_words(fate: str, said: str):
    assert rule(fate, FULL, Config(limit=2, tokens=90)) == said


def test_rrf_is_the_order_where_nothing_was_fused():
    assert decided(ranked(FULL)) == "fused"
    bare = hit(1, 0.8)
    assert decided(ranked(answer(replace(bare, scores=replace(bare.scores, fused=None))))) == "rrf"


def test_stages_are_counted_once():
    spent = dict(stages(TIMES))
    assert list(spent) == ["read", "load", "parse", "retrieve", "colbert", "crossencoder", "fuse", "truncate"]
    assert spent["fuse"] == 5.0  # 35 in all, less 10 and 20
    assert sum(spent.values()) == TIMES["total"]


def test_rankers_side_by_side_are_one_stage():
    spent = dict(stages(TIMES | {"rank": 21.0}))
    assert spent["rank"] == 21.0
    assert not spent.keys() & {"colbert", "crossencoder", "fuse"}


@pytest.mark.parametrize(
    ("milliseconds", "said"), [(0.04, "0.0 ms"), (9.94, "9.9 ms"), (999.4, "999 ms"), (1000, "1.00 s")]
)
def test_duration(milliseconds: float, said: str):
    assert duration(milliseconds) == said
