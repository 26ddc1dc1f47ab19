"""Plain searches to compare with: each gives every turn a score, and the best are cut to the budget.

As systems they answer questions; `bench --rival` ranks whole collections by their scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from smartsearch.config import Config
from smartsearch.models import minilm
from smartsearch.models.tools import Tools
from smartsearch.rank.bm25 import Scorer, bm25
from smartsearch.rank.fusion import order, rrf
from smartsearch.rank.text import spoken_date
from smartsearch.retrieve.grep import Haystack
from smartsearch.systems.base import Card, Clock, Memory, Progress, Ranked
from smartsearch.text.parse import stop_words, words
from smartsearch.types import Corpus, Hit, Scores, Trace

if TYPE_CHECKING:
    from smartsearch.systems.base import System


def grep(corpus: Corpus) -> Scorer:
    """What a person with plain `grep -i` gets: turns by how many of the question's words stand in them."""
    haystack = Haystack(corpus)

    def score(question: str) -> NDArray[np.float64]:
        counts = np.zeros(len(corpus.turns))
        for word in set(words(question)) - stop_words():
            if len(word) >= 3:
                counts[haystack.turns_with(word)] += 1.0
        return counts

    return score


def bm25_minilm_rrf(corpus: Corpus) -> Scorer:
    """BM25 and the bi-encoder fused by rank: the usual hybrid search."""
    texts = spoken(corpus)
    lexical, dense = bm25(texts), cosine(texts)

    def score(question: str) -> NDArray[np.float64]:
        sharing_a_word = {turn: value for turn, value in enumerate(lexical(question)) if value > 0}
        near = dict(enumerate(dense(question)))
        fused = rrf([(0.5, order(sharing_a_word)), (0.5, order(near))])
        return np.array([fused[turn] for turn in range(len(texts))])

    return score


@dataclass(frozen=True)
class Scored:
    """The memory of a plain search: a scorer over all turns."""

    score: Scorer
    fingerprint: str = ""


@dataclass(frozen=True)
class Plain:
    """A plain search as a system; `build` makes the scorer of a corpus."""

    card: Card
    build: Callable[[Corpus], Scorer]
    fingerprint: str = ""

    def prepare(self, corpus: Haystack, folder: Path | None, progress: Progress) -> Memory:
        """Its scorer over all turns."""
        return Scored(self.build(corpus.corpus))

    def search(self, question: str, corpus: Haystack, memory: Memory, config: Config) -> Ranked:
        """The turns with a score above zero, best first, ties in corpus order."""
        assert isinstance(memory, Scored)
        clock = Clock()
        with clock("retrieve"):
            scores = memory.score(question)
            found = [index for index in corpus.indices if scores[index] > 0]
            found.sort(key=lambda index: -scores[index])
        hits = [
            Hit(rank, corpus.corpus.turns[i], Scores(more={self.card.name: float(scores[i])}), index=i)
            for rank, i in enumerate(found, start=1)
        ]
        return Ranked(hits, Trace(candidates=len(found), timing_ms=clock.spent))


def spoken(corpus: Corpus) -> list[str]:
    """What the rivals read of each turn, `speaker: text caption`: the field our own grep reads."""
    return [turn.spoken for turn in corpus.turns]


def dated(corpus: Corpus) -> list[str]:
    """`8 May 2023 speaker: text caption` of each turn."""
    return [f"{spoken_date(turn.time)} {turn.spoken}" for turn in corpus.turns]


def with_neighbours(
    scores: NDArray[np.float64], corpus: Corpus, *, previous: float = 0.5, following: float = 0.3
) -> NDArray[np.float64]:
    """Scores, shape (turns,), plus shares of those of the turns before and after in the same session."""
    before = np.array(corpus.previous, dtype=np.int64)
    turns = np.flatnonzero(before >= 0)
    mixed = scores.copy()
    mixed[turns] += previous * scores[before[turns]]
    mixed[before[turns]] += following * scores[turns]
    return mixed


def cosine(texts: Sequence[str]) -> Scorer:
    """Cosine of a question's embedding with that of each text: a bi-encoder's dense search."""
    vectors = minilm.embedder().encode(texts)
    return lambda question: np.asarray(vectors @ minilm.embedder().encode([question])[0], dtype=np.float64)


def _of(
    search: Callable[[Sequence[str]], Scorer],
    read: Callable[[Corpus], Sequence[str]] = spoken,
    previous: float = 0.0,
    following: float = 0.0,
) -> Callable[[Corpus], Scorer]:
    """A search over what is `read` of each turn, which shares the score of its neighbours so far."""

    def build(corpus: Corpus) -> Scorer:
        alone = search(read(corpus))
        return lambda question: with_neighbours(
            alone(question), corpus, previous=previous, following=following
        )

    return build


bm25_turns, bm25_date = _of(bm25), _of(bm25, dated, 0.5, 0.3)
"""Without and with what most helps it: neighbours, as a reply rarely repeats what was asked, and dates."""


def _plain(name: str, summary: str, build: Callable[[Corpus], Scorer], *extras: str) -> Plain:
    return Plain(Card(name, summary, needs="torch" if "hub" in extras else "none", extras=extras), build)


BASELINES = (
    _plain(
        "bm25",
        "BM25 (bm25s, k1 1.5, b 0.75) over the lemmas of `speaker: text caption`, no stop words",
        bm25_turns,
        "bench",
    ),
    _plain("bm25_date", "BM25 with neighbours over `8 May 2023 speaker: text caption`", bm25_date, "bench"),
    _plain(
        "bm25_minilm_rrf",
        "reciprocal rank fusion, k 60 and equal weights, of bm25 and minilm",
        bm25_minilm_rrf,
        *("bench", "hub"),
    ),
    _plain(
        "bm25_neighbours",
        "BM25 plus 0.5 of the previous turn's score and 0.3 of the next one's, within the session",
        _of(bm25, spoken, 0.5, 0.3),
        "bench",
    ),
    _plain(
        "full_context",
        "every turn in corpus order, whatever the question",
        _of(lambda texts: lambda _question: np.arange(len(texts), 0, -1, dtype=np.float64)),
    ),
    _plain(
        "grep",
        "number of distinct question words (3 letters or more, no stop words) in `speaker: text caption`",
        grep,
    ),
    _plain(
        "minilm",
        "all-MiniLM-L6-v2, cosine of mean-pooled embeddings of the question and `speaker: text caption`",
        _of(cosine),
        "hub",
    ),
    _plain(  # on LoCoMo-10 66.6% of the gold in the first 62, 61.9% with BM25's shares
        "minilm_date",
        "minilm over `8 May 2023 speaker: text caption`, plus 0.25 of the previous turn's score and 0.15 of "
        "the next one's",
        _of(cosine, dated, 0.25, 0.15),
        "hub",
    ),
)
CARDS = {plain.card.name: plain.card for plain in BASELINES}


def load(config: Config, tools: Callable[[Config], Tools]) -> System:
    """The plain search that the config names; it needs none of SmartSearch's models."""
    return next(plain for plain in BASELINES if plain.card.name == config.system)
