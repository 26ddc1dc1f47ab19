"""The grid's rankings are the pipeline's own, over arrays."""

from dataclasses import replace

import numpy as np
import pytest

from smartsearch.bench import grid
from smartsearch.bench.ranking import ordered
from smartsearch.bench.scoring import Scored
from smartsearch.config import Config
from smartsearch.rank.cascade import Task, rank
from smartsearch.rank.scorer import Scorer
from smartsearch.types import Candidate, Corpus, Turn

TURNS = 60
SAID = tuple(Turn(text=f"turn {i}", turn=str(i)) for i in range(TURNS))


def drawn(seed: int):
    """A question's candidates and scores, with ties."""
    random = np.random.default_rng(seed)
    indices = random.permutation(TURNS)[:45]
    ce = np.round(random.random(TURNS), 1) * 0.9 + 0.05
    colbert = np.round(random.random(TURNS) * 20)
    scores = {("ce", False): ce, ("colbert", False): colbert}
    return Scored({"I3": indices}, scores)


def by_pipeline(scored: Scored, config: Config) -> list[int]:
    corpus = Corpus(SAID)
    candidates = [Candidate(int(i), (), 1.0, 1) for i in scored.found["I3"]]

    def scorer(values):
        return Scorer(lambda _, texts: np.array([values[int(t.split("|")[0].split()[-1])] for t in texts]))

    scorers = {name: scorer(scored.scores[name, False]) for name in ("ce", "colbert")}
    return [c.index for c in rank(Task("a question", candidates, corpus, scorers, config)).candidates]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("rrf", {"candidates": 0}),
        ("rrf:0.5", {"candidates": 0, "weight_ce": 0.5, "weight_colbert": 0.5}),
        ("ce", {"rank": ("ce",)}),
        ("colbert", {"rank": ("colbert",)}),
        ("weight", {"rank": ()}),
    ],
)
def test_orders_are_those_of_the_pipeline(seed, name, changes):
    config, scored = replace(Config(), **changes), drawn(seed)
    order = ordered(scored, "I3", grid.ranker(name, config), lambda: np.zeros((0, 0)))
    assert order.tolist() == by_pipeline(scored, config)


def simple(ce, colbert):
    found = {"I3": np.arange(3)}
    scores = {("ce", False): np.array(ce), ("colbert", False): np.array(colbert)}
    return Scored(found, scores)


def test_score_fusion_can_disagree_with_rank_fusion():
    """Turn 2 is third by the cross-encoder but far ahead by ColBERT: scores see how far, ranks do not."""
    scored = simple([0.52, 0.51, 0.50], [1.0, 2.0, 30.0])
    config = Config()

    def first(name):
        return ordered(scored, "I3", grid.ranker(name, config), lambda: np.zeros((0, 0)))[0]

    assert first("rrf:0.9") == 0
    assert first("zscore:0.4") == 2
    assert first("product") == 1  # the best product of min-max scores: the others have a zero


def test_three_lists_are_fused_by_rank_by_standard_score_and_by_product():
    """Reciprocal ranks, sums of z-scores and products of min-max scores, by hand."""
    found = {"I0": np.arange(3)}
    one, two, three = (name for name, _ in grid.ranker("R4b", Config()).scorers)
    values = {one: 1 / (1 + np.exp([-4.0, -3.0, 0.0])), two: 1 / (1 + np.exp([0.0, -4.0, -1.0]))}
    values[three] = np.array([3.0, 2.0, 0.0])
    scored = Scored(found, {(name, True): some for name, some in values.items()})

    def order(name):
        return ordered(scored, "I0", grid.ranker(name, Config()), lambda: np.zeros((0, 0))).tolist()

    ranks = ((1, 2, 3), (3, 1, 2), (1, 2, 3))
    sums = [sum(1 / (60 + rank[n]) for rank in ranks) for n in range(3)]
    assert order("R4b") == sorted(range(3), key=lambda n: -sums[n]) == [0, 1, 2]
    assert order("R4c") == [1, 0, 2]  # .981 - .981 + 1.069 = 1.069; .392 + 1.373 + .267 = 2.032; -3.101
    assert order("R4c-product") == [1, 0, 2]  # 1 * 0 * 1; .75 * 1 * .667; 0 * .25 * 0
    with pytest.raises(ValueError, match="ce was not asked"):
        order("rrf")


def test_equal_scores_leave_the_order_of_match_weight():
    scored = simple([0.5, 0.5, 0.5], [3.0, 3.0, 3.0])
    for name in ("zscore", "product", "rrf", "ce"):
        order = ordered(scored, "I3", grid.ranker(name, Config()), lambda: np.zeros((0, 0)))
        assert order.tolist() == [0, 1, 2]
