"""The exported rankers as training and validation call them: search's own code, scores as plain lists."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from smartsearch.rank.colbert import OnnxColbert
from smartsearch.rank.crossencoder import OnnxCrossEncoder

Scorer = Callable[[str, list[str]], list[float]]
"""Scores texts for a question: one score per text, in their order."""


def load_config(folder: Path) -> dict[str, Any]:
    """The `config.json` that `export` wrote."""
    return dict(json.loads((folder / "config.json").read_text(encoding="utf-8")))


def cross_scorer(folder: Path, threads: int = 2, model: str = "model.onnx") -> Scorer:
    """Logits of texts for a question by the exported cross-encoder."""
    scorer = OnnxCrossEncoder(folder, threads, model)
    return lambda question, texts: scorer.logits(question, texts).tolist()


def colbert_scorer(folder: Path, threads: int = 2, model: str = "model.onnx") -> Scorer:
    """MaxSim scores of texts for a question by the exported ColBERT."""
    scorer = OnnxColbert(folder, threads, model)
    return lambda question, texts: scorer(question, texts).tolist()


SCORERS: dict[str, Callable[..., Scorer]] = {"crossencoder": cross_scorer, "colbert": colbert_scorer}
"""By the kind of ranker."""

SAMPLE: tuple[tuple[str, str, tuple[str, ...]], ...] = tuple(
    (row["question"], row["right"], tuple(row["wrong"]))
    for row in json.loads(Path(__file__).with_name("sample.json").read_text(encoding="utf-8"))
)
"""A fixed sample written by hand: questions, the text that answers each, texts that do not.

`export` keeps its fp32 scores in the config, so that a test can compare the int8 file with them.
"""
