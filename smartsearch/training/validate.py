"""Validation as search is used: questions over whole held-out chats, by the code of search itself.

`evaluate` asks which of some sixty turns is right; here every turn of a chat is there, the candidates are
those that grep and the hops find, and the measure is the paper's: right turns among the first K.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from smartsearch.config import Config
from smartsearch.models import manifest, profiles
from smartsearch.models.tools import Tools
from smartsearch.rank.colbert import OnnxColbert
from smartsearch.rank.crossencoder import OnnxCrossEncoder
from smartsearch.rank.head import among, head
from smartsearch.rank.windows import best_windows, scored_windows
from smartsearch.retrieve.grep import Haystack
from smartsearch.retrieve.hops import gather
from smartsearch.systems.smartsearch.pipeline import dense_search
from smartsearch.training.chats import Chat, Labelled
from smartsearch.training.data import COMPLETE, Mix, held_out
from smartsearch.training.sources_chat import read_chats
from smartsearch.training.sources_real import asked as asked_chats
from smartsearch.training.sources_written import written_chats
from smartsearch.types import Corpus

Floats = NDArray[np.float64]
CUTS = (5, 10, 20, 62)
MOST = {"written": 30, "friendsqa": 3, "realmem": 40, "lifebench": 40, "qmsum": 3, "asked": 30}
"""Questions of a chat that are asked, by source; FriendsQA and QMSum have many chats."""
CHATS = {"friendsqa": 20, "qmsum": 10}
"""Chats of a source, where not all are taken."""


@dataclass(frozen=True)
class Asked:
    """A question over a chat with the scores of both rankers.

    `gold` and `candidates` hold indices into the chat's turns, `match` the candidates' match weights;
    `colbert` and `logit` have a value a turn, NaN where it was not read.
    """

    chat: Chat
    labelled: Labelled
    gold: tuple[int, ...]
    candidates: NDArray[np.int64]
    match: Floats
    colbert: Floats
    logit: Floats


def held_out_chats(train: Path | None, seed: int, real: bool = False) -> Iterator[Chat]:
    """The chats that no ranker learns from, with the questions that are asked of them.

    Without a `train` folder only the written ones; `real`: only those of real people.
    """
    rng, share = random.Random(seed), Mix().held_out
    if real and train:
        chats = list(asked_chats(train / "chitchat"))
    else:
        chats = [*(read_chats(train, rng) if train else ()), *written_chats()]
    unseen = [chat for chat in chats if held_out(chat, share) and chat.source in MOST]
    for source, most in MOST.items():
        own = [chat for chat in unseen if chat.source == source]
        for chat in rng.sample(own, min(len(own), CHATS.get(source, len(own)))):
            questions = [one for one in chat.questions if one.kind not in ("fact", "exchange", "statement")]
            chosen = rng.sample(questions, min(most, len(questions)))
            yield Chat(chat.source, chat.id, chat.turns, tuple(chosen), chat.names)


def ask(chat: Chat, tools: Tools, config: Config) -> Iterator[Asked]:
    """Every question of a chat: ColBERT over all candidates, the cross-encoder over the best of them."""
    corpus = Corpus(chat.turns)
    haystack = Haystack(corpus)
    colbert, cross = tools.scorers["colbert"], tools.scorers["ce"]
    for labelled in chat.questions:
        query = tools.parser.parse(labelled.question, config)
        dense = dense_search(query, haystack, config, tools, [])
        found = gather(query, haystack, tools.parser, config, dense).candidates
        indices = np.array([c.index for c in found], dtype=np.int64)
        late, logit = np.full(len(chat.turns), np.nan), np.full(len(chat.turns), np.nan)
        windows = scored_windows(labelled.question, corpus, indices.tolist())
        values, places = best_windows(labelled.question, windows, colbert)
        late[indices] = values
        read = head(among(corpus.previous, indices.tolist()), values, config.cascade)
        scores = cross(labelled.question, [windows[n][places[n]] for n in read])
        logit[indices[read]] = np.log(scores) - np.log1p(-scores)
        match = np.array([c.weight for c in found])
        yield Asked(chat, labelled, labelled.gold, indices, match, late, logit)


def by_colbert(asked: Asked) -> NDArray[np.int64]:
    """Candidates in ColBERT's order."""
    return asked.candidates[np.argsort(-asked.colbert[asked.candidates], kind="stable")]


def by_cross_encoder(asked: Asked) -> NDArray[np.int64]:
    """Candidates in the cross-encoder's order, those it did not read last."""
    first = by_colbert(asked)
    return first[np.argsort(-np.nan_to_num(asked.logit[first], nan=-np.inf), kind="stable")]


def by_rrf(asked: Asked, weights: tuple[float, float] = (0.7, 0.3), k: int = 60) -> NDArray[np.int64]:
    """Candidates fused as the paper does, the cross-encoder's weight first."""
    order = by_colbert(asked)
    total = weights[1] / (k + np.arange(1, len(order) + 1))
    read = np.flatnonzero(~np.isnan(asked.logit[order]))
    ranks = np.empty(len(read))
    ranks[np.argsort(-asked.logit[order[read]], kind="stable")] = np.arange(1, len(read) + 1)
    total[read] += weights[0] / (k + ranks)
    return order[np.argsort(-total, kind="stable")]


RANKERS = {"colbert": by_colbert, "crossencoder": by_cross_encoder, "rrf": by_rrf}


def recalls(
    questions: Sequence[Asked], orders: Mapping[str, Sequence[NDArray[np.int64]]]
) -> dict[str, list[float]]:
    """The share of all right turns within each of `CUTS`, by name of the order."""
    total = sum(len(asked.gold) for asked in questions) or 1
    return {
        name: [
            round(
                sum(
                    len(set(asked.gold) & set(order[:k].tolist()))
                    for asked, order in zip(questions, some, strict=True)
                )
                / total,
                4,
            )
            for k in CUTS
        ]
        for name, some in orders.items()
    }


def report(questions: Sequence[Asked]) -> Iterator[dict[str, object]]:
    """One record a part (all, a source, a kind of written question): counts, and right turns within K."""
    parts: dict[str, list[Asked]] = {}
    for asked in questions:
        complete = asked.chat.source in COMPLETE
        kind = f"{asked.chat.source} {asked.labelled.kind}" if complete else ""
        for part in ("all", asked.chat.source, *([kind] if kind else [])):
            parts.setdefault(part, []).append(asked)
    for part, some in parts.items():
        gold = sum(len(asked.gold) for asked in some)
        found = sum(len(set(asked.gold) & set(asked.candidates.tolist())) for asked in some)
        orders = {name: [ranker(asked) for asked in some] for name, ranker in RANKERS.items()}
        yield {
            "part": part,
            "questions": len(some),
            "gold": gold,
            "retrieved": round(found / max(1, gold), 4),
            "within": CUTS,
            **recalls(some, orders),
        }


def tools_of(crossencoder: Path | None, colbert: Path | None, threads: int) -> Tools:
    """The shipped tools, with other rankers where given."""
    tools = profiles.load(Config(threads=threads))
    scorers = dict(tools.scorers)
    if crossencoder:
        scorers["ce"] = OnnxCrossEncoder(crossencoder, threads)
    if colbert:
        scorers["colbert"] = OnnxColbert(colbert, threads)
    return Tools(tools.parser, scorers, tools.tokenizer, tools.models)


def main(argv: Sequence[str]) -> int:
    """`python -m smartsearch.training validate [DATA/train] --crossencoder FOLDER --colbert FOLDER`."""
    parser = argparse.ArgumentParser(prog="smartsearch.training validate", description=__doc__)
    parser.add_argument(
        "train", nargs="?", type=Path, help="training sources; without, only the written chats"
    )
    parser.add_argument("--real", action="store_true", help="only questions over real people's chats")
    parser.add_argument("--crossencoder", type=Path, help="exported; default: the shipped one")
    parser.add_argument("--colbert", type=Path, help="exported; default: the shipped one")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--out", type=Path, help="keep the scores (.npz), for `calibrate` and `fusion`")
    options = parser.parse_args(argv)
    tools = tools_of(options.crossencoder, options.colbert, options.threads)
    config = Config(threads=options.threads)
    questions = [
        one
        for chat in held_out_chats(options.train, options.seed, options.real)
        for one in ask(chat, tools, config)
    ]
    if options.out:
        from smartsearch.training.calibrate import write_samples

        write_samples(options.out, questions, options.crossencoder or manifest.SHIPPED / "crossencoder")
    for record in report(questions):
        print(json.dumps(record))
    return 0
