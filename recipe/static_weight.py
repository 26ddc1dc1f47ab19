"""Fit how much of the static score the learned fusion adds (rank/fusion.py), over chats that neither saw.

The lists that the other weights are fitted on are of stretches that the static vectors were trained on, whose
scores there are too good; so this one weight is fitted alone, on held-out chats, and last.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from recipe.samples import Floats
from recipe.validate import held_out_chats
from smartsearch.config import Config
from smartsearch.models import loading, manifest
from smartsearch.rank.static import STATIC
from smartsearch.retrieve.grep import Haystack
from smartsearch.systems.smartsearch.pipeline import search
from smartsearch.training.chats import Chat
from smartsearch.types import Corpus

Read = tuple[Floats, Floats, Floats]
"""Of the turns that both rankers read for a question: the fused score without STATIC, that, what is right."""


def lists(train: Path | None, seed: int, config: Config) -> Iterator[Read]:
    """Every held-out question, where a right and a wrong turn were read."""
    tools = loading.load_tools(config)
    had = tools.fusion.weights.get(STATIC, 0.0) if tools.fusion else 0.0
    real = held_out_chats(train, seed, real=True) if train else ()
    chats: Iterator[Chat] = chain(held_out_chats(train, seed), real)
    for chat in chats:
        haystack = Haystack(Corpus(chat.turns))
        for asked in chat.questions:
            hits = search(asked.question, haystack, config, tools).hits
            read = [hit for hit in hits if hit.scores.fused is not None]
            near = np.array([hit.scores.more[STATIC] for hit in read])
            right = np.array([hit.index in asked.gold for hit in read])
            if right.any() and not right.all():
                yield np.array([hit.scores.fused for hit in read]) - had * near, near, right


def loss(shares: Floats, questions: Sequence[Read]) -> float:
    """As `recipe fusion`: softplus of the log-sum-exp of the wrong minus the right, of both parts' shares."""
    total = 0.0
    for fused, near, right in questions:
        scores = shares[0] * fused + shares[1] * near
        most = np.logaddexp.reduce(scores[right == 0])
        total += float(np.logaddexp(0.0, most - scores[right > 0]).mean())
    return total / len(questions)


def main(argv: Sequence[str]) -> int:
    """`python -m recipe static_weight DATA/train`: writes the weight beside the fusion's."""
    from scipy.optimize import minimize

    parser = argparse.ArgumentParser(prog="recipe static_weight", description=__doc__)
    parser.add_argument("train", nargs="?", type=Path, help="training sources; without, the written chats")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--out", type=Path, default=manifest.FUSION)
    options = parser.parse_args(argv)
    questions = list(lists(options.train, options.seed, Config(threads=options.threads)))
    found = minimize(loss, np.array([1.0, 0.0]), args=(questions,), method="Nelder-Mead")
    best = round(float(found.x[1] / found.x[0]), 3)
    fitted = json.loads(options.out.read_text(encoding="utf-8"))
    fitted["weights"][STATIC] = best
    options.out.write_text(json.dumps(fitted) + "\n", encoding="utf-8")
    print(json.dumps({STATIC: best, "questions": len(questions), "loss": round(float(found.fun), 4)}))
    return 0
