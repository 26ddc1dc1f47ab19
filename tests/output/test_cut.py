from __future__ import annotations

from dataclasses import replace

import pytest

from smartsearch.output.cut import decided, duration, ranked
from tests.output.samples import FULL, answer, hit


def test_every_ranked_turn_has_its_fate():
    rows = ranked(FULL)
    assert [row.rank for row in rows] == [1, 2, 3, 4, 5, 6, 7]
    assert " ".join(row.fate for row in rows) == "shown tau shown hidden budget top_k top_k"
    assert [row.rank for row in rows if row.stayed] == [1, 3, 4]
    assert rows[1].scores.ce == 0.2


def test_rrf_is_the_order_where_nothing_was_fused():
    assert decided(ranked(FULL)) == "fused"
    bare = hit(1, 0.8)
    assert decided(ranked(answer(replace(bare, scores=replace(bare.scores, fused=None))))) == "rrf"


@pytest.mark.parametrize(
    ("milliseconds", "said"), [(0.04, "0.0 ms"), (9.94, "9.9 ms"), (999.4, "999 ms"), (1000, "1.00 s")]
)
def test_duration(milliseconds: float, said: str):
    assert duration(milliseconds) == said
