"""Fit the weights of confidence (rank/confidence.py): questions that held-out chats answer, and others.

A logistic regression of "one of the first three hits answers" on the signals of a search. What it prints is
of two halves, each told by the weights of the other, and last how many are called weak by the weights that
the search had.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from pathlib import Path

import numpy as np

from recipe.samples import Floats
from recipe.validate import held_out_chats
from smartsearch.config import Config
from smartsearch.models import loading, manifest
from smartsearch.models.tools import Tools
from smartsearch.rank.confidence import signals
from smartsearch.rank.crossencoder import sigmoid
from smartsearch.retrieve.grep import Haystack
from smartsearch.systems.smartsearch.pipeline import search
from smartsearch.training.chats import Chat
from smartsearch.types import Corpus

WEIGHED = ("bias", "ce", "typed", "absent", "held", "ahead", "outdone")
"""The signals that confidence is a sum over."""
DECAY = 1e-3
"""L2 on the weights of the standardised signals."""
FOUND = 3
"""Hits of which one is to answer."""
SILENCE = Path(__file__).with_name("silence.jsonl")
"""Questions of our own over held-out chats: a literal that is nowhere, a topic that nobody talked about, a
fact beside what was said (`literal`, `topic`, `near`), and `answerable` ones like these."""


def questions(train: Path | None, seed: int) -> Iterator[tuple[Chat, str, str, tuple[int, ...]]]:
    """A chat, a kind of question (`asked`, or one of SILENCE), the question, and the turns that answer it."""
    real = held_out_chats(train, seed, real=True) if train else ()
    silent = [json.loads(line) for line in SILENCE.read_text(encoding="utf-8").splitlines()]
    for chat in chain(held_out_chats(train, seed), real):
        yield from ((chat, "asked", one.question, one.gold) for one in chat.questions if one.gold)
        for one in silent:
            if (one["source"], one["chat"]) == (chat.source, chat.id):
                yield chat, one["kind"], one["question"], tuple(one.get("gold", ()))


def seen(
    question: str, gold: Sequence[int], haystack: Haystack, tools: Tools, config: Config
) -> tuple[dict[str, float], bool, bool]:
    """The signals of one search, whether one of the first FOUND hits answers, whether it is called weak."""
    ranked = search(question, haystack, config, tools)
    said = [hit.turn.spoken for hit in ranked.hits]
    query = tools.parser.parse(question, config)
    found = signals(query, ranked.trace.absent, [hit.scores for hit in ranked.hits], said)
    return found, any(hit.index in gold for hit in ranked.hits[:FOUND]), ranked.weak


def fit(rows: Floats, right: Floats) -> Floats:
    """Weights of the columns of `rows`, of which the first is 1 everywhere."""
    from scipy.optimize import minimize

    middle, spread = rows[:, 1:].mean(axis=0), rows[:, 1:].std(axis=0) + 1e-9
    inputs = np.column_stack([rows[:, 0], (rows[:, 1:] - middle) / spread])

    def loss(found: Floats) -> tuple[float, Floats]:
        value = inputs @ found
        slope = inputs.T @ (sigmoid(value) - right) / len(right) + 2 * DECAY * np.append(0.0, found[1:])
        penalty = DECAY * float((found[1:] ** 2).sum())
        return float((np.logaddexp(0.0, value) - right * value).mean()) + penalty, slope

    found = minimize(loss, np.zeros(inputs.shape[1]), jac=True, method="BFGS").x
    weights = found[1:] / spread
    return np.append(found[0] - weights @ middle, weights)


def area(values: Floats, right: Floats) -> float:
    """The area under the curve: how often an answerable question has the higher value."""
    own, other = values[right > 0], values[right == 0]
    return float(((own[:, None] > other) + 0.5 * (own[:, None] == other)).mean())


def main(argv: Sequence[str]) -> int:
    """`python -m recipe confidence DATA/train`: writes the weights beside the fusion's."""
    parser = argparse.ArgumentParser(prog="recipe confidence", description=__doc__)
    parser.add_argument(
        "train", nargs="?", type=Path, help="training sources; without, only the written chats"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--out", type=Path, default=manifest.FUSION)
    options = parser.parse_args(argv)
    config = Config(threads=options.threads, limit=10)
    tools = loading.load_tools(config)
    chats: list[int] = []
    kinds: list[str] = []
    searched = []
    asked = groupby(questions(options.train, options.seed), key=lambda one: one[0])
    for number, (chat, of_chat) in enumerate(asked):
        haystack = Haystack(Corpus(chat.turns))
        for _, kind, question, gold in of_chat:
            searched.append(seen(question, gold, haystack, tools, config))
            kinds.append(kind)
            chats.append(number)
    rows = np.array([[found[name] for name in WEIGHED] for found, _, _ in searched])
    right = np.array([float(answers) for _, answers, _ in searched])
    weights = fit(rows, right)
    table = {name: round(float(weight), 5) for name, weight in zip(WEIGHED, weights, strict=True)}
    fitted = json.loads(options.out.read_text(encoding="utf-8")) if options.out.is_file() else {}
    options.out.write_text(json.dumps(fitted | {"confidence": table}) + "\n", encoding="utf-8")
    half = np.array(chats) % 2
    sure = np.zeros(len(right))
    for part in (0, 1):
        sure[half == part] = sigmoid(rows[half == part] @ fit(rows[half != part], right[half != part]))
    print(json.dumps({**table, "questions": len(right), "area": round(area(sure, right), 4)}))
    for low in np.arange(0.0, 1.0, 0.1):
        inside = (sure >= low) & (sure < low + 0.1)
        if inside.any():
            told = {"from": round(float(low), 1), "questions": int(inside.sum())}
            print(json.dumps(told | {"right": round(float(right[inside].mean()), 3)}))
    weak = np.array([called for _, _, called in searched])
    for kind in sorted(set(kinds)):
        own = np.array([one == kind for one in kinds])
        print(
            json.dumps({"kind": kind, "questions": int(own.sum()), "weak": round(float(weak[own].mean()), 4)})
        )
    return 0
