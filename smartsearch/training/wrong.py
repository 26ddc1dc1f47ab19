"""Which turns of a chat stand beside the right one as wrong: the near, the similar, the random."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from smartsearch.rank.cache.vectors import maxsim
from smartsearch.rank.colbert import OnnxColbert
from smartsearch.rank.text import SHOWN, asks, scored_texts
from smartsearch.training.chats import Chat, Labelled
from smartsearch.training.overlap import Overlap, words
from smartsearch.types import Corpus

MINED = 60
"""The depth of a model's ranking from which wrong turns are taken."""
ABOVE = 6
"""A related turn that asks, at most this many turns above a right one, is the question, not an answer."""


def rankings(miner: OnnxColbert, chat: Chat, questions: Sequence[str]) -> dict[str, list[int]]:
    """The turns of `chat` for each question, best first by a ColBERT that reads them as search does."""
    texts = scored_texts(Corpus(chat.turns), range(len(chat.turns)), replace(SHOWN, before=miner.before))
    vectors = miner.turn_vectors(texts) if questions else []
    scores = {asked: maxsim(miner.question_vectors(asked), vectors) for asked in questions}
    return {asked: np.argsort(-values, kind="stable").tolist() for asked, values in scores.items()}


def wrong_turns(
    chat: Chat,
    asked: Labelled,
    right: int,
    overlap: Overlap,
    count: int,
    rng: random.Random,
    ranked: Sequence[int] = (),
) -> list[int]:
    """Wrong turns of the same chat: the one that asks, near, ranked high by a model, much overlap, random.

    `ranked` is a model's order of the chat's turns for the question, best first; empty where the labels are
    not complete, because what a model ranks first there is often right.
    """
    query = words(asked.question)
    limit = overlap.score(query | words(asked.answer), right) if chat.repeats else float("inf")
    used = {chat.turns[i].text.lower() for i in asked.gold}
    asking = [i for i in sorted(asked.related) if asks(chat.turns[i]) and _above(i, asked.gold)]
    closed = set(asked.gold) | asked.related.difference(asking)

    def usable(i: int) -> bool:
        fresh = i not in closed and len(chat.turns[i].text) > 2 and chat.turns[i].text.lower() not in used
        return fresh and overlap.score(query, i) < limit

    def shuffled(places: Sequence[int], most: int) -> list[int]:
        return rng.sample(places, min(len(places), most))

    everywhere = range(len(chat.turns))
    near = [i for i in (right - 1, right + 1, right - 2, right + 2) if i in everywhere]
    own = [i for i in shuffled(everywhere, 40) if chat.turns[i].speaker == chat.turns[right].speaker]
    similar = overlap.top(query, 16)
    hard = [i for i in ranked[:MINED] if i not in closed]
    pools = [
        (shuffled(asking, 1), 1),
        (near, 2),
        (shuffled(hard, MINED), count // 2 if hard else 0),
        (shuffled(similar, 16), max(1, count // 4) if hard else max(2, count // 2)),
        (own, 1),
        (shuffled(everywhere, 40), count),
    ]
    chosen: list[int] = []
    for pool, most in pools:
        taken = 0
        for i in pool:
            if taken == most or len(chosen) == count:
                break
            if i not in chosen and usable(i):
                chosen.append(i)
                used.add(chat.turns[i].text.lower())
                taken += 1
    return chosen


def _above(index: int, gold: Sequence[int]) -> bool:
    return any(0 < right - index <= ABOVE for right in gold)
