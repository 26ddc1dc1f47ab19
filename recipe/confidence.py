"""Fit the weights of confidence (rank/confidence.py): questions over their own chat and over another.

A logistic regression of "asked of its own chat" on the signals of a search, both kinds weighing the same. The
other chat is of the same source, where there is one: what tells is the answer, not the matter.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from recipe.samples import Floats
from recipe.validate import held_out_chats
from smartsearch.config import Config
from smartsearch.models import loading, manifest
from smartsearch.models.tools import Tools
from smartsearch.rank.confidence import WEAK, signals
from smartsearch.rank.crossencoder import sigmoid
from smartsearch.retrieve.grep import Haystack
from smartsearch.systems.smartsearch.pipeline import search
from smartsearch.training.chats import Chat
from smartsearch.types import Corpus

WEIGHED = ("bias", "ce", "colbert", "typed")
"""The signals that confidence is a sum over."""
DECAY = 1e-3
"""L2 on the weights of the standardised signals."""


def asked(
    chats: Sequence[Chat], tools: Tools, config: Config, every: int, seed: int
) -> Iterator[tuple[dict[str, float], bool]]:
    """The signals of each `every`-th question over its own chat (True) and over another (False)."""
    rng = random.Random(seed)
    questions = [(chat, one.question) for chat in chats for one in chat.questions][::every]
    for chat, question in questions:
        others = [c for c in chats if c is not chat]
        alike = [c for c in others if c.source == chat.source]
        for over in (chat, rng.choice(alike or others)):
            yield seen(question, Haystack(Corpus(over.turns)), tools, config), over is chat


def seen(question: str, haystack: Haystack, tools: Tools, config: Config) -> dict[str, float]:
    """The signals of one search."""
    ranked = search(question, haystack, config, tools)
    scores = [hit.scores for hit in ranked.hits]
    return signals(tools.parser.parse(question, config), ranked.trace.absent, scores)


def fit(rows: Floats, right: Floats) -> Floats:
    """Weights of the columns of `rows`, of which the first is 1 everywhere."""
    from scipy.optimize import minimize

    middle, spread = rows[:, 1:].mean(axis=0), rows[:, 1:].std(axis=0) + 1e-9
    inputs = np.column_stack([rows[:, 0], (rows[:, 1:] - middle) / spread])
    share = np.where(right > 0, 0.5 / max(1, (right > 0).sum()), 0.5 / max(1, (right == 0).sum()))

    def loss(found: Floats) -> tuple[float, Floats]:
        value = inputs @ found
        slope = inputs.T @ (share * (sigmoid(value) - right)) + 2 * DECAY * np.append(0.0, found[1:])
        penalty = DECAY * float((found[1:] ** 2).sum())
        return float(share @ (np.logaddexp(0.0, value) - right * value)) + penalty, slope

    found = minimize(loss, np.zeros(inputs.shape[1]), jac=True, method="BFGS").x
    weights = found[1:] / spread
    return np.append(found[0] - weights @ middle, weights)


def area(values: Floats, right: Floats) -> float:
    """The area under the curve: how often an answerable question has the higher value."""
    own, other = values[right > 0], values[right == 0]
    return float(((own[:, None] > other) + 0.5 * (own[:, None] == other)).mean())


def main(argv: Sequence[str]) -> int:
    """`python -m recipe confidence DATA/train [--every N]`: writes the weights beside the fusion's."""
    parser = argparse.ArgumentParser(prog="recipe confidence", description=__doc__)
    parser.add_argument(
        "train", nargs="?", type=Path, help="training sources; without, only the written chats"
    )
    parser.add_argument("--every", type=int, default=1, help="of so many questions one is asked")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--out", type=Path, default=manifest.FUSION)
    options = parser.parse_args(argv)
    config = Config(threads=options.threads)
    tools = loading.load_tools(config)
    chats = list(held_out_chats(options.train, options.seed))
    pairs = list(asked(chats, tools, config, options.every, options.seed))
    rows = np.array([[found[name] for name in WEIGHED] for found, _ in pairs])
    right = np.array([float(own) for _, own in pairs])
    weights = fit(rows, right)
    sure = sigmoid(rows @ weights)
    table = {name: round(float(weight), 5) for name, weight in zip(WEIGHED, weights, strict=True)}
    fitted = json.loads(options.out.read_text(encoding="utf-8")) if options.out.is_file() else {}
    options.out.write_text(json.dumps(fitted | {"confidence": table}) + "\n", encoding="utf-8")
    weak = {
        name: round(float((sure[right == own] < WEAK).mean()), 4) for name, own in (("own", 1), ("other", 0))
    }
    print(json.dumps({**table, "questions": len(right), "area": round(area(sure, right), 4), "weak": weak}))
    return 0
