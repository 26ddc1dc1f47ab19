"""The exported rankers as plain scorers, for teaching and checking; search has its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from smartsearch.training.evaluate import Scorer


def session(model: Path, threads: int) -> Any:
    """An onnxruntime session on the CPU."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def load_config(folder: Path) -> dict[str, Any]:
    """The `config.json` that `export` wrote."""
    return dict(json.loads((folder / "config.json").read_text(encoding="utf-8")))


def _tokenizer(folder: Path) -> Any:
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(folder / "tokenizer.json"))


def pair_encoder(folder: Path) -> Callable[[list[tuple[str, str]]], dict[str, Any]]:
    """(question, text) pairs to the cross-encoder's input arrays."""
    import numpy as np

    tokenizer = _tokenizer(folder)
    tokenizer.enable_truncation(load_config(folder)["max_length"], strategy="only_second")
    tokenizer.enable_padding()

    def encode(pairs: list[tuple[str, str]]) -> dict[str, Any]:
        found = tokenizer.encode_batch(pairs)
        return {
            "input_ids": np.array([e.ids for e in found], dtype=np.int64),
            "attention_mask": np.array([e.attention_mask for e in found], dtype=np.int64),
            "token_type_ids": np.array([e.type_ids for e in found], dtype=np.int64),
        }

    return encode


def cross_scorer(folder: Path, threads: int = 2, model: str = "model.onnx", size: int = 32) -> Scorer:
    """Logits of texts for a question by the exported cross-encoder, in batches of like length."""
    run, encode = session(folder / model, threads), pair_encoder(folder)

    def score(question: str, texts: list[str]) -> list[float]:
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        scores = [0.0] * len(texts)
        for start in range(0, len(order), size):
            part = order[start : start + size]
            found = run.run(["logits"], encode([(question, texts[i]) for i in part]))[0]
            for i, value in zip(part, found.reshape(-1).tolist(), strict=True):
                scores[i] = value
        return scores

    return score


def question_encoder(folder: Path) -> Callable[[str], dict[str, Any]]:
    """A question as ColBERT reads it: the prefix token after [CLS], padded with unattended [MASK]."""
    import numpy as np

    config, tokenizer = load_config(folder), _tokenizer(folder)
    tokenizer.enable_truncation(config["query_length"] - 1)
    tokenizer.no_padding()

    def encode(question: str) -> dict[str, Any]:
        ids = tokenizer.encode(question).ids
        ids = [ids[0], config["query_prefix_id"], *ids[1:]]
        spare = config["query_length"] - len(ids)
        attended = 1 if config["attend_to_expansion_tokens"] else 0
        return {
            "input_ids": np.array([ids + [config["mask_token_id"]] * spare], dtype=np.int64),
            "attention_mask": np.array([[1] * len(ids) + [attended] * spare], dtype=np.int64),
        }

    return encode


def text_encoder(folder: Path) -> Callable[[list[str]], tuple[dict[str, Any], Any]]:
    """Texts as ColBERT reads them, and the mask of token vectors that count (no padding, no punctuation)."""
    import numpy as np

    config, tokenizer = load_config(folder), _tokenizer(folder)
    tokenizer.enable_truncation(config["document_length"] - 1)
    tokenizer.enable_padding()
    skipped = np.array(config["skiplist_ids"])

    def encode(texts: list[str]) -> tuple[dict[str, Any], Any]:
        found = tokenizer.encode_batch(texts)
        ids = np.array([[e.ids[0], config["document_prefix_id"], *e.ids[1:]] for e in found], dtype=np.int64)
        mask = np.array([[1, *e.attention_mask] for e in found], dtype=np.int64)
        return {"input_ids": ids, "attention_mask": mask}, (mask == 1) & ~np.isin(ids, skipped)

    return encode


def colbert_scorer(folder: Path, threads: int = 2, model: str = "model.onnx", size: int = 32) -> Scorer:
    """MaxSim scores of texts for a question by the exported ColBERT."""
    run, ask, read = session(folder / model, threads), question_encoder(folder), text_encoder(folder)

    def score(question: str, texts: list[str]) -> list[float]:
        asked = run.run(["vectors"], ask(question))[0][0]
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        scores = [0.0] * len(texts)
        for start in range(0, len(order), size):
            part = order[start : start + size]
            feeds, counted = read([texts[i] for i in part])
            similar = run.run(["vectors"], feeds)[0] @ asked.T
            similar[~counted] = -1e4
            for i, value in zip(part, similar.max(axis=1).sum(axis=1).tolist(), strict=True):
                scores[i] = value
        return scores

    return score
