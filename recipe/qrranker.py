"""QRRanker's heads trained with the paper's loss, over the lists that our own search makes.

"Query-focused and Memory-aware Reranker for Long Context Processing" (arXiv 2602.12192), section 3.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from smartsearch.cli.qrranker import task
from smartsearch.config import build
from smartsearch.errors import ModelError, SmartsearchError
from smartsearch.output import stream
from smartsearch.rank.hub import heads as head_files
from smartsearch.rank.hub.heads import Heads
from smartsearch.rank.qrranker import QRRanker, Reader, enough_memory
from smartsearch.runtime import extras
from smartsearch.runtime.outputs import Place
from smartsearch.systems.qrranker import causal
from smartsearch.training import listwise
from smartsearch.training.listwise import Sample

SCALE = 8.0
"""What the scores of a list are spread over before the loss (paper)."""
LORA_RANK = 16
_PROJECTIONS = ("q_proj", "k_proj", "query", "key")


def loss(totals: Any, gold: Collection[int], scale: float = SCALE) -> Any:
    """The paper's group loss of one list: `totals` (texts,) are the sums over heads, `gold` the right places.

    Scores are spread over 0 to `scale`; each right text stands against all wrong ones, other right ones
    left out. The sum that is printed without a minus sign is meant with one. None where nothing can be
    learned: all texts right, none right, or all scores the same.
    """
    low, high = totals.min(), totals.max()
    right = sorted(gold)
    wrong = [place for place in range(len(totals)) if place not in gold]
    if not (right and wrong) or not high > low:
        return None
    scores = scale * (totals - low) / (high - low)
    against = scores[wrong].logsumexp(0)
    return (torch.logaddexp(scores[right], against) - scores[right]).mean()


@dataclass(frozen=True)
class Plan:
    """What is trained and how; the defaults are the paper's, but for `way` and `epochs`.

    `way` is `qk`, query and key projections of the layers with heads, `full`, all weights, or `lora`,
    adapters on those projections.
    """

    way: str = "qk"
    epochs: int = 1
    rate: float = 1e-5
    accumulate: int = 4
    seed: int = 13


def train(
    reader: Reader, heads: Heads, samples: Sequence[Sample], plan: Plan, step: Callable[[float], None]
) -> None:
    """Train the reader's network in place; `step` is told the loss of each sample.

    Raises ModelError where the projections have other names, SmartsearchError (package without peft, memory).
    """
    weights = _trainable(reader, heads, plan.way)
    optimizer = torch.optim.AdamW(weights, lr=plan.rate)
    rng, wanted = random.Random(plan.seed), heads.by_layer()
    for _ in range(plan.epochs):
        order = rng.sample(range(len(samples)), len(samples))
        for done, place in enumerate(order, start=1):
            one = samples[place]
            totals = reader.masses(reader.context(one.question, one.texts, one.notes), wanted).sum(0)
            value = loss(totals, one.gold)
            with enough_memory(reader.name):
                if value is not None:
                    (value / plan.accumulate).backward()
                    step(value.item())
                if done % plan.accumulate == 0 or done == len(order):
                    torch.nn.utils.clip_grad_norm_(weights, 1.0)
                    optimizer.step()
                    optimizer.zero_grad(set_to_none=True)
    if plan.way == "lora":
        reader.network = reader.network.merge_and_unload()


def _trainable(reader: Reader, heads: Heads, way: str) -> list[Any]:
    """The weights that are trained; the others are frozen."""
    layers = heads.by_layer()
    named = dict(reader.network.named_parameters())
    chosen = [name for name in named if name.split(".")[-2] in _PROJECTIONS and _layer(name) in layers]
    if way != "full" and not chosen:
        raise ModelError(
            f"{reader.name} has no query and key projections of its own in a layer",
            hint="--train full",
            kind="model_unfit",
        )
    if way == "lora":
        modules = sorted({name.rpartition(".")[0] for name in chosen})
        reader.network = _adapted(reader.network, modules)
        return [weights for weights in reader.network.parameters() if weights.requires_grad]
    for name, weights in named.items():
        weights.requires_grad_(way == "full" or name in chosen)
    return [weights for weights in named.values() if weights.requires_grad]


def _layer(name: str) -> int:
    """The layer of a weight, the first number in its name; -1 for none."""
    return next((int(part) for part in name.split(".") if part.isdecimal()), -1)


def _adapted(network: Any, modules: list[str]) -> Any:
    try:
        import peft
    except ImportError as error:
        hint = extras.installing("peft")
        raise SmartsearchError("adapters (lora) need the package peft", hint=hint, kind="package") from error
    adapters = peft.LoraConfig(r=LORA_RANK, lora_alpha=2 * LORA_RANK, target_modules=modules)
    return peft.get_peft_model(network, adapters)


def save(reader: Reader, heads: Heads, place: Place) -> None:
    """Write model, tokenizer and heads, which are then those of this model, to a new folder, whole or not at
    all. Raises UsageError where it cannot be written."""
    with place.making() as part:
        reader.network.save_pretrained(part)
        reader.tokenizer.save_pretrained(part)
        (part / head_files.FILE).write_bytes(
            head_files.written(replace(heads, revision=causal.revision(part)))
        )


def main(argv: Sequence[str]) -> int:
    """`python -m recipe qrranker [DATA] --model MODEL --out FOLDER`: a new model with its own heads.json.

    Printed is what its heads find of questions held out, before and after, and what our own search finds.
    """
    parser = argparse.ArgumentParser(prog="recipe qrranker", description=__doc__)
    parser.add_argument("data", nargs="?", help="questions with gold turns, as `bench` takes them")
    parser.add_argument("--model", required=True, help="a folder as ./PATH, or a hub id")
    parser.add_argument("--heads", default="", help="its heads; default: heads.json beside it")
    parser.add_argument("--out", required=True, type=Path, help="the new model's folder")
    parser.add_argument("--train", choices=("qk", "full", "lora"), default="qk", help="see Plan")
    parser.add_argument("--epochs", type=int, default=1, help="how often each question is seen")
    parser.add_argument("--rate", type=float, default=1e-5, help="the learning rate; the paper's")
    parser.add_argument(
        "--limit", type=int, default=300, help="most questions to learn from, and to measure on"
    )
    parser.add_argument("--candidates", type=int, default=50, help="how many of our first turns a list has")
    parser.add_argument(
        "--memory", action="store_true", help="with what the episodes are about before the texts"
    )
    parser.add_argument("--seed", type=int, default=13, help="of the questions that are drawn")
    parser.add_argument("--threads", type=int, default=0, help="0 for all cores")
    parser.add_argument("--overwrite", action="store_true", help="replace a model with heads that is there")
    options = parser.parse_args(argv)
    extras.require("qr", "recipe qrranker")
    inputs = [options.model, options.data or options.model]
    place = Place(options.out, overwrite=options.overwrite, ours=head_files.are_in, inputs=inputs)
    said = {"qr_model": options.model, "qr_heads": options.heads, "qr_candidates": options.candidates}
    said |= {"qr_memory": options.memory}
    config = build({**said, "threads": options.threads or None})
    before, _ = causal.ranker(config, "`recipe qrranker`")
    asked = task(options.data, config, before.reader, options.limit, options.seed)
    rows = [
        asked.recall("smartsearch", listwise.as_found),
        asked.recall("heads as they were", listwise.by_heads(before)),
    ]
    plan = Plan(options.train, options.epochs, options.rate, seed=options.seed)
    with stream.progress(options.epochs * len(asked.learned), wanted=True) as step:
        train(before.reader, before.heads, asked.learned, plan, lambda _loss: step())
    data = f"{before.heads.data}; trained on {asked.data}"
    after = replace(before.heads, model=options.out.name, data=data, trained=True)
    save(before.reader, after, place)
    rows.append(asked.recall("heads trained", listwise.by_heads(QRRanker(before.reader, after))))
    for row in rows:
        print(json.dumps(row))
    return 0
