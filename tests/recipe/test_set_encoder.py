"""Training of the set encoder: what it learns, and that search runs what was trained."""

from pathlib import Path

import numpy as np
import pytest

from recipe.samples import Sample
from smartsearch.rank.set_encoder import Listed, SetEncoder

pytestmark = pytest.mark.torch


def lists(many: int, seed: int) -> list[Sample]:
    """Lists of 12 turns with equal scores but one, the best: the turn right after it is the right one."""
    made, random = list[Sample](), np.random.default_rng(seed)
    for _ in range(many):
        best = int(random.integers(0, 11))
        rows = np.zeros((12, 8))
        rows[best, 0] = 8.0
        right = np.arange(12) == best + 1
        place = np.arange(12)
        seen = Listed(np.zeros((12, 3)), place, np.zeros(12, dtype=int), np.zeros(12, dtype=int))
        made.append(Sample(seen, rows, right, np.ones(12, dtype=bool)))
    return made


def test_it_learns_from_the_list_and_search_computes_the_same(tmp_path: Path) -> None:
    import torch

    from recipe import set_encoder as training

    net = training.train(lists(320, 1), np.zeros(8), epochs=12, seed=3)
    training.write(net, tmp_path / "e.npz")
    encoder, unseen = SetEncoder(tmp_path / "e.npz"), lists(40, 2)
    found = [encoder(one.listed, one.rows) for one in unseen]
    first = np.mean([one.right[scores.argmax()] for one, scores in zip(unseen, found, strict=True)])
    assert first > 0.6  # by itself no turn can be told from the eleven others
    batch = training.together(unseen)
    with torch.no_grad():
        exact = net(batch["facts"], batch["step"], batch["same"], batch["there"]).numpy()
    assert np.abs(np.stack(found) - training.SHARE * exact).max() < 0.02  # half precision
    shorter = training.together([unseen[0], cut(unseen[1])])
    with torch.no_grad():
        padded = net(shorter["facts"], shorter["step"], shorter["same"], shorter["there"]).numpy()
    assert np.abs(padded[0] - exact[0]).max() < 1e-4


def cut(one: Sample) -> Sample:
    seen = one.listed
    shorter = Listed(seen.told[:5], seen.place[:5], seen.session[:5], seen.speaker[:5])
    return Sample(shorter, one.rows[:5], one.right[:5], one.counts[:5])
