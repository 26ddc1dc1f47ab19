"""Validation as search is used: questions over whole held-out chats, by the code of search itself.

`evaluate` asks which of some sixty turns is right; here every turn of a chat is there, the candidates are
those that grep and the hops find, and the measure is the paper's: right turns among the first K.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from recipe.data import COMPLETE, held_out
from recipe.samples import Asked, write_samples
from recipe.sources_chat import read_chats
from recipe.sources_real import asked as asked_chats
from smartsearch.config import Config
from smartsearch.models import loading, manifest
from smartsearch.models.store import ModelRef
from smartsearch.models.tools import Tools
from smartsearch.rank.cascade import head
from smartsearch.rank.features import among
from smartsearch.rank.features import logit as unsigmoid
from smartsearch.rank.fusion import order, rrf
from smartsearch.rank.meaning import dense_search
from smartsearch.rank.scorer import Scorer
from smartsearch.rank.windows import turn_scores
from smartsearch.retrieve.grep import Haystack
from smartsearch.retrieve.hops import gather
from smartsearch.training.chats import Chat
from smartsearch.training.evaluate import RRF_K, WEIGHTS
from smartsearch.training.names import pick_names, replace_names
from smartsearch.training.sources_written import written_chats
from smartsearch.types import Corpus

CUTS = (5, 10, 20, 62)
RANKERS = ("colbert", "crossencoder", "rrf")
MOST = {
    **{"written": 30, "friendsqa": 3, "realmem": 40, "lifebench": 40, "qmsum": 3, "asked": 30},
    **{"asked realmem": 30, "asked irc": 30, "asked topical_chat": 30},
}
"""Questions of a chat that are asked, by source; FriendsQA and QMSum have many chats."""
UNSEEN, RENAMED = 14, 0.75
"""Questions of a stretch that rankers have not seen, and the share of stretches with other names."""
CHATS = {"friendsqa": 20, "qmsum": 10}
"""Chats of a source, where not all are taken."""


def held_out_chats(train: Path | None, seed: int, real: bool = False) -> Iterator[Chat]:
    """The chats that no ranker learns from, with the questions that are asked of them.

    Without a `train` folder only the written ones; `real`: only those of real people.
    """
    rng = random.Random(seed)
    if real and train:
        chats = list(asked_chats(train))
    else:
        chats = [*(read_chats(train, rng) if train else ()), *written_chats()]
    unseen = [chat for chat in chats if held_out(chat) and chat.source in MOST]
    for source, most in MOST.items():
        own = [chat for chat in unseen if chat.source == source]
        for chat in rng.sample(own, min(len(own), CHATS.get(source, len(own)))):
            questions = [one for one in chat.questions if one.kind not in ("fact", "exchange", "statement")]
            chosen = rng.sample(questions, min(most, len(questions)))
            yield Chat(chat.source, chat.id, chat.turns, tuple(chosen), chat.names)


def unseen_chats(train: Path, seed: int, first: int) -> Iterator[Chat]:
    """Stretches that questions were written over, from the `first` on, which a cross-encoder never saw.

    Of each UNSEEN questions are asked; in three quarters of them people have first names.
    """
    rng = random.Random(seed)
    chats = [chat for chat in asked_chats(train, first) if not held_out(chat)]
    for chat in rng.sample(chats, len(chats)):
        chosen = rng.sample(chat.questions, min(UNSEEN, len(chat.questions)))
        some = dataclasses.replace(chat, questions=tuple(chosen))
        yield renamed(some, rng) if chat.rename and rng.random() < RENAMED else some


def renamed(chat: Chat, rng: random.Random) -> Chat:
    """The chat with other first names, throughout."""
    names = pick_names(chat.names, rng, " ".join(turn.text for turn in chat.turns))
    turns = (
        dataclasses.replace(t, text=replace_names(t.text, names), speaker=names.get(t.speaker, t.speaker))
        for t in chat.turns
    )
    asked = (dataclasses.replace(q, question=replace_names(q.question, names)) for q in chat.questions)
    return dataclasses.replace(chat, turns=tuple(turns), questions=tuple(asked))


def ask(chat: Chat, tools: Tools, config: Config) -> Iterator[Asked]:
    """Every question of a chat: ColBERT over all candidates, the cross-encoder over the best of them."""
    corpus = Corpus(chat.turns)
    haystack = Haystack(corpus)
    colbert, cross = tools.scorers["colbert"], tools.scorers["ce"]
    for labelled in chat.questions:
        query = tools.parser.parse(labelled.question, config)
        dense = dense_search(query, haystack, config, tools.scorers, tools.static)
        found = gather(query, haystack, tools.parser, config, dense, tools.known).candidates
        indices = np.array([c.index for c in found], dtype=np.int64)
        late, logit = np.full(len(chat.turns), np.nan), np.full(len(chat.turns), np.nan)
        values = turn_scores(labelled.question, corpus, indices.tolist(), colbert)
        late[indices] = values
        read = head(among(corpus.previous, indices.tolist()), values, config.cascade)
        logit[indices[read]] = unsigmoid(
            turn_scores(labelled.question, corpus, indices[read].tolist(), cross)
        )
        yield Asked(chat, labelled, indices, late, logit)


def orders(asked: Asked) -> dict[str, list[int]]:
    """The candidates by ColBERT, by the cross-encoder (the unread last), and by both fused."""
    late = order({i: float(asked.colbert[i]) for i in asked.candidates.tolist()})
    cross = order({i: float(asked.logit[i]) for i in late if not np.isnan(asked.logit[i])})
    both = order(rrf(zip(WEIGHTS, (cross, late), strict=True), RRF_K))
    return {"colbert": late, "crossencoder": list(dict.fromkeys((*cross, *late))), "rrf": both}


def report(questions: Sequence[Asked]) -> Iterator[dict[str, object]]:
    """One record a part (all, a source, a kind of written question): counts, and right turns within K."""
    parts: dict[str, list[Asked]] = {}
    for asked in questions:
        source = asked.chat.source
        kinds = [f"{source} {asked.labelled.kind}"] if source in COMPLETE else []
        for part in ("all", source, *kinds):
            parts.setdefault(part, []).append(asked)
    for part, some in parts.items():
        total = sum(len(asked.labelled.gold) for asked in some)
        ranked = [(set(asked.labelled.gold), orders(asked)) for asked in some]

        def share(ranker: str, cut: int | None, ranked: Any = ranked, total: int = total) -> float:
            return round(sum(len(gold.intersection(by[ranker][:cut])) for gold, by in ranked) / total, 4)

        counts = {"questions": len(some), "gold": total, "retrieved": share("colbert", None)}
        within = {ranker: [share(ranker, cut) for cut in CUTS] for ranker in RANKERS}
        yield {"part": part, **counts, "within": CUTS, **within}


def tools_of(crossencoder: Path | None, colbert: Path | None, threads: int) -> Tools:
    """The shipped tools, with other rankers where given."""
    tools = loading.load_tools(Config(threads=threads), cache=False)
    scorers = dict(tools.scorers)

    def given(name: str, folder: Path) -> Scorer:
        return loading.Ranker(name, ModelRef(str(folder.resolve()), given=True), threads, 0).scorer

    if crossencoder:
        scorers["ce"] = given("ce", crossencoder)
    if colbert:
        scorers["colbert"] = given("colbert", colbert)
    return dataclasses.replace(tools, scorers=scorers)


def main(argv: Sequence[str]) -> int:
    """`python -m recipe validate [DATA/train] --crossencoder FOLDER --colbert FOLDER`."""
    parser = argparse.ArgumentParser(prog="recipe validate", description=__doc__)
    parser.add_argument(
        "train", nargs="?", type=Path, help="training sources; without, only the written chats"
    )
    parser.add_argument("--real", action="store_true", help="only questions over real people's chats")
    parser.add_argument(
        "--unseen", type=int, help="training stretches from this record of asked.jsonl on, for `set_encoder`"
    )
    parser.add_argument("--part", default="1/1", help="2/4: of every four chats the second")
    parser.add_argument("--crossencoder", type=Path, help="exported; default: the shipped one")
    parser.add_argument("--colbert", type=Path, help="exported; default: the shipped one")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--out", type=Path, help="keep the scores (.npz), for `calibrate` and `fusion`")
    options = parser.parse_args(argv)
    tools = tools_of(options.crossencoder, options.colbert, options.threads)
    config = Config(threads=options.threads)
    if options.unseen is None:
        chats = held_out_chats(options.train, options.seed, options.real)
    elif options.train is None:
        parser.error("--unseen needs the training sources")
    else:
        chats = unseen_chats(options.train, options.seed, options.unseen)
    part, parts = map(int, options.part.split("/"))
    questions = [one for chat in islice(chats, part - 1, None, parts) for one in ask(chat, tools, config)]
    if options.out:
        write_samples(options.out, questions, options.crossencoder or manifest.SHIPPED / "crossencoder")
    for record in report(questions):
        print(json.dumps(record))
    return 0
