"""The cross-encoder: question and turn read together, one score out (paper 3.5).

Two ways to run one: a shipped int8 ONNX file through onnxruntime, without torch, or any
sentence-transformers model of the hub by torch. Both take a question and n texts and give n sigmoid scores in
(0, 1), so that the cut by alpha means something.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartsearch.rank.features import logit
from smartsearch.rank.hub.folder import check, described
from smartsearch.rank.onnx import FILES, OnnxModel, Trained

QUESTION_SHARE = 0.5
"""A question takes at most this share of the pair's tokens, so that a turn is always seen."""


def sigmoid(logits: NDArray[Any]) -> NDArray[np.float64]:
    """Logistic function in float64, stable at both ends."""
    x = np.asarray(logits, dtype=np.float64)
    return np.exp(-np.logaddexp(0.0, -x))


def uncalibrated(scores: NDArray[np.float64], calibration: tuple[float, float]) -> NDArray[np.float64]:
    """Undo a `calibration` (scale, shift): give sigmoids of the model's own output. NaN stays NaN."""
    scale, shift = calibration
    if (scale, shift) == (1.0, 0.0):
        return scores
    raw = scores.copy()
    known = ~np.isnan(scores)
    raw[known] = sigmoid((logit(scores[known]) - shift) / scale)
    return raw


class OnnxCrossEncoder:
    """A cross-encoder from a folder with `model.onnx`, `tokenizer.json` and `config.json`."""

    def __init__(self, folder: Path, threads: int, file: str = FILES[0]) -> None:
        self._model = OnnxModel(folder, threads, file)
        self._max_length = int(self._model.config["max_length"])
        self.calibration = Trained.of(self._model.config).calibration

    def __call__(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """Scores of `texts` in their order, shape (n,). Long turns are read up to the pair's limit.

        With a calibration in `config.json` it is the chance that a turn answers (recipe/calibrate.py).
        """
        scale, shift = self.calibration
        return sigmoid(scale * self.logits(question, texts) + shift)

    def logits(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """The model's own output, before calibration and sigmoid: what training teaches with."""
        outputs = self._model.run(self.inputs(question, texts))
        return np.array([output.reshape(()) for output in outputs], dtype=np.float64)

    def inputs(self, question: str, texts: Sequence[str]) -> list[dict[str, list[int]]]:
        """What the model is given for each text: segment 0 is the question, segment 1 the text."""
        model = self._model
        head = [model.cls, *model.tokens([question])[0][: int(self._max_length * QUESTION_SHARE)], model.sep]
        room = self._max_length - len(head) - 1
        rows = [[*head, *ids[:room], model.sep] for ids in model.tokens(texts)]
        segments = [[0] * len(head) + [1] * (len(row) - len(head)) for row in rows]
        return [
            {"input_ids": row, "attention_mask": [1] * len(row), "token_type_ids": segment}
            for row, segment in zip(rows, segments)
        ]


class HubCrossEncoder:
    """Any cross-encoder with one output in the hub's formats, from its folder; `name` is for errors."""

    def __init__(self, folder: Path, threads: int, name: str = "") -> None:
        model = described(folder, name)
        check("crossencoder", model)
        from smartsearch.rank.hub.network import PairNetwork

        self.logits = PairNetwork(model, threads).logits

    def __call__(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """Scores of `texts` in their order, shape (n,)."""
        return sigmoid(self.logits(question, texts))
