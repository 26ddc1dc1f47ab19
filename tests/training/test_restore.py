"""Exported files back to folders that training starts from: the same weights, as far as int8 keeps them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import smartsearch.models
from smartsearch.errors import ModelError
from smartsearch.training.export import export_colbert, export_crossencoder, spearman
from smartsearch.training.quantise import quantise
from smartsearch.training.restore import read, restore
from smartsearch.training.sample import SAMPLE
from smartsearch.training.shipped import load_config
from tests.rank import tiny

MODELS = Path(smartsearch.models.__file__).parent


@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("kind", ["crossencoder", "colbert"])
def test_each_weight_comes_back_to_half_a_step_of_its_channel(
    tmp_path: Path, kind: str, smooth: bool
) -> None:
    from transformers import AutoModel, AutoModelForSequenceClassification

    if kind == "crossencoder":
        trained = tiny.cross_encoder(tmp_path / "trained")
        export_crossencoder(trained, tmp_path)
        before, prefix = AutoModelForSequenceClassification.from_pretrained(trained), "inner."
    else:
        trained = tiny.colbert(tmp_path / "trained")
        export_colbert(trained, tmp_path)
        before, prefix = AutoModel.from_pretrained(trained), "encoder."
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if kind == "crossencoder" else [])]
    feed = {name: np.ones((1, 6), dtype=np.int64) for name in names}
    quantise(tmp_path / "fp32.onnx", tmp_path / "model.onnx", [feed] if smooth else [])
    stored = read(tmp_path / "model.onnx")
    assert stored.head_size == 8  # 16 wide, two heads
    wanted = {n: p.detach().numpy() for n, p in before.named_parameters()}
    for name in wanted.keys() - {"pooler.dense.weight", "pooler.dense.bias"}:
        found = stored.weights[prefix + name]
        exact = wanted[name][: len(found)]  # positions beyond 160 are not exported
        step = np.abs(exact).max(axis=-1, keepdims=True) / 127
        if smooth:  # columns are scaled before they are rounded: a small one is rounded by more
            assert np.linalg.norm(found - exact) <= 0.04 * np.linalg.norm(exact), name
        else:
            assert (np.abs(found - exact) <= 0.51 * step + 1e-6).all(), name


def test_another_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no encoder"):
        read(tiny.onnx_folder(tmp_path / "hand-made", "colbert") / "model.onnx")


@pytest.mark.models
def test_the_shipped_cross_encoder_scores_the_sample_as_before_int8(tmp_path: Path) -> None:
    import torch
    from sentence_transformers import CrossEncoder

    restore("crossencoder", MODELS / "crossencoder", tmp_path / "ce")
    model = CrossEncoder(str(tmp_path / "ce"), num_labels=1, max_length=128, device="cpu")
    pairs = [(asked, text) for asked, right, wrong in SAMPLE for text in (right, *wrong)]
    scores = model.predict(pairs, activation_fn=torch.nn.Identity()).tolist()
    _near(scores, MODELS / "crossencoder", most=0.5)


@pytest.mark.models
def test_the_shipped_colbert_scores_the_sample_as_before_int8(tmp_path: Path) -> None:
    from pylate import models

    from smartsearch.training.colbert import torch_scorer

    restore("colbert", MODELS / "colbert", tmp_path / "colbert")
    score = torch_scorer(models.ColBERT(str(tmp_path / "colbert"), device="cpu").eval())
    scores = [score(asked, [right, *wrong]) for asked, right, wrong in SAMPLE]
    _near([value for row in scores for value in row], MODELS / "colbert", most=0.8)


def _near(scores: list[float], folder: Path, most: float) -> None:
    """The scores of the float model that was exported: in the same order, none far off."""
    exact = [value for row in load_config(folder)["fp32_sample"] for value in row]
    assert spearman(exact, scores) > 0.99
    assert max(abs(a - b) for a, b in zip(exact, scores, strict=True)) < most
