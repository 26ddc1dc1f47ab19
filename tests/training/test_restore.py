"""Exported files back to folders that training starts from: the same weights, as far as int8 keeps them."""

from pathlib import Path

import numpy as np
import pytest

import smartsearch.models
from smartsearch.training.colbert import ColbertLearner
from smartsearch.training.crossencoder import CrossEncoderLearner
from smartsearch.training.export import export_colbert, export_crossencoder, sample_scores
from smartsearch.training.quantise import quantise
from smartsearch.training.restore import read, restore
from smartsearch.training.shipped import load_config
from tests.rank import tiny

MODELS = Path(smartsearch.models.__file__).parent


@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("kind", ["crossencoder", "colbert"])
def test_each_weight_comes_back_to_half_a_step_of_its_channel(tmp_path, kind: str, smooth: bool) -> None:
    from transformers import AutoModel, AutoModelForSequenceClassification

    if kind == "crossencoder":
        trained = tiny.cross_encoder(tmp_path / "trained")
        facts = export_crossencoder(trained, tmp_path)
        before, prefix = AutoModelForSequenceClassification.from_pretrained(trained), "inner."
    else:
        trained = tiny.colbert(tmp_path / "trained")
        facts = export_colbert(trained, tmp_path)
        before, prefix = AutoModel.from_pretrained(trained), "encoder."
    assert facts["heads"] == 2
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if kind == "crossencoder" else [])]
    feed = {name: np.ones((1, 6), dtype=np.int64) for name in names}
    quantise(tmp_path / "fp32.onnx", tmp_path / "model.onnx", [feed] if smooth else [])
    weights = read(tmp_path / "model.onnx")
    wanted = {n: p.detach().numpy() for n, p in before.named_parameters()}
    for name in wanted.keys() - {"pooler.dense.weight", "pooler.dense.bias"}:
        found = weights[prefix + name]
        exact = wanted[name][: len(found)]  # positions beyond 160 are not exported
        step = np.abs(exact).max(axis=-1, keepdims=True) / 127
        if smooth:  # columns are scaled before they are rounded: a small one is rounded by more
            assert np.linalg.norm(found - exact) <= 0.04 * np.linalg.norm(exact), name
        else:
            assert (np.abs(found - exact) <= 0.51 * step + 1e-6).all(), name


@pytest.mark.models
@pytest.mark.parametrize(("kind", "most"), [("crossencoder", 0.5), ("colbert", 0.8)])
def test_the_shipped_rankers_score_the_sample_as_before_int8(tmp_path: Path, kind: str, most: float) -> None:
    restore(kind, MODELS / kind, tmp_path / kind)
    if kind == "crossencoder":
        learner = CrossEncoderLearner(tmp_path / kind, 1)
    else:
        learner = ColbertLearner(tmp_path / kind, 1, lambda question, texts: [0.0] * len(texts))
    found = np.concatenate(sample_scores(learner.score))
    exact = np.concatenate(load_config(MODELS / kind)["fp32_sample"])
    assert np.corrcoef(found.argsort().argsort(), exact.argsort().argsort())[0, 1] > 0.99
    assert np.abs(found - exact).max() < most
