"""The shipped rankers on the hand-written sample: int8 ranks like fp32, the right text comes first."""

from pathlib import Path

import numpy as np
import pytest

import smartsearch.models
from smartsearch.training.evaluate import rank_of_first
from smartsearch.training.export import sample_scores
from smartsearch.training.shipped import SAMPLE, SCORERS, Scorer, load_config

MODELS = Path(smartsearch.models.__file__).parent
KNOWN_MISSES: dict[str, set[str]] = {"crossencoder": set(), "colbert": {"Why did Hugo quit his job?"}}
"""What the first version gets wrong: the ColBERT ranks "handed in my notice" fifth. Shrink, never grow."""
pytestmark = pytest.mark.models


@pytest.fixture(params=sorted(SCORERS), scope="module")
def shipped(request: pytest.FixtureRequest) -> tuple[Path, Scorer]:
    folder = MODELS / request.param
    return folder, SCORERS[request.param](folder, 2)


def test_int8_ranks_the_sample_like_fp32(shipped: tuple[Path, Scorer]) -> None:
    folder, scorer = shipped
    exact, small = np.concatenate(load_config(folder)["fp32_sample"]), np.concatenate(sample_scores(scorer))
    assert np.corrcoef(exact.argsort().argsort(), small.argsort().argsort())[0, 1] > 0.97


def test_the_right_text_of_the_sample_comes_first(shipped: tuple[Path, Scorer]) -> None:
    folder, scorer = shipped
    missed = {asked for asked, right, wrong in SAMPLE if rank_of_first(scorer(asked, [right, *wrong])) > 1}
    assert missed <= KNOWN_MISSES[folder.name]
