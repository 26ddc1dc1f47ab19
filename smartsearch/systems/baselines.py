"""Plain searches to compare with: each gives every turn a score, and the best are cut to the budget.

As systems they answer questions; `bench --rival` ranks whole collections by their scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from smartsearch.config import Config
from smartsearch.errors import SmartsearchError
from smartsearch.models.tools import Tools
from smartsearch.rank.fusion import order, rrf
from smartsearch.rank.text import spoken_date
from smartsearch.retrieve.grep import Haystack
from smartsearch.runtime import extras
from smartsearch.systems.base import Card, Clock, Memory, Progress, Ranked
from smartsearch.systems.pieces import words
from smartsearch.text.parse import stop_words
from smartsearch.types import Corpus, Hit, Scores, Trace

if TYPE_CHECKING:
    from smartsearch.systems.base import System

Scorer = Callable[[str], NDArray[np.float64]]
"""From a question to one score a turn, shape (turns,), higher better."""

CACHED_TEXTS = 100_000
"""Texts whose embeddings an Embedder keeps: 150 MB at 384 dimensions."""


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


@lru_cache(maxsize=200_000)
def lemma(word: str) -> str:
    """The lemma of a case-folded word (`painted` -> `paint`), the word itself where it is unknown.

    Raises SmartsearchError (kind "package") where `simplemma` is missing.
    """
    try:
        import simplemma
    except ImportError as error:
        raise SmartsearchError(
            "lemmas need the package simplemma", hint=extras.command("bench"), kind="package"
        ) from error
    return str(simplemma.lemmatize(word, lang="en"))


def content_lemmas(text: str) -> list[str]:
    """The lemmas of the words that are no stop words: what BM25 counts."""
    return [lemma(word) for word in words(text) if word not in stop_words()]


def spoken(corpus: Corpus) -> list[str]:
    """What the rivals read of each turn, `speaker: text caption`: the field our own grep reads."""
    return [turn.spoken for turn in corpus.turns]


def dated(corpus: Corpus) -> list[str]:
    """`8 May 2023 speaker: text caption` of each turn."""
    return [f"{spoken_date(turn.time)} {turn.spoken}" for turn in corpus.turns]


def bm25(texts: Sequence[str], *, k1: float = 1.5, b: float = 0.75) -> Scorer:
    """BM25 of `bm25s` (Lucene's variant) over the content lemmas of `texts`; zero where none is shared.

    Stop words out and inflection removed is how `bm25s` advises to use it, and a rival at its best: on
    LoCoMo-10 bare lower-cased words find 60.3% of the gold in the top 62, content lemmas 67.9%.
    """
    import bm25s

    index = bm25s.BM25(k1=k1, b=b)
    tokens = [content_lemmas(text) for text in texts]
    known = frozenset(token for text in tokens for token in text)
    if known:
        index.index(tokens, show_progress=False)

    def score(question: str) -> NDArray[np.float64]:
        asked = [token for token in content_lemmas(question) if token in known]
        if not asked:
            return np.zeros(len(texts))
        return np.asarray(index.get_scores(asked), dtype=np.float64)

    return score


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


class Embedder:
    """Texts to unit vectors, each text once in a process; the memo is emptied when it grows too large."""

    def __init__(self, embed: Callable[[list[str]], NDArray[np.float32]] | None = None) -> None:
        """`embed` maps texts to normalised rows; without it all-MiniLM-L6-v2 on the CPU does."""
        self._embed = embed or _minilm
        self._known: dict[str, NDArray[np.float32]] = {}

    def forget(self) -> None:
        """Empty the memo."""
        self._known.clear()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Normalised embeddings of `texts`, shape (n, 384). Raises SmartsearchError without the packages."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if len(self._known) + len(new) > CACHED_TEXTS:
            self._known.clear()
            new = list(dict.fromkeys(texts))
        if new:
            self._known.update(zip(new, self._embed(new)))
        return np.stack([self._known[text] for text in texts]) if texts else np.zeros((0, 384), np.float32)


@lru_cache(maxsize=1)
def embedder() -> Embedder:
    """The process's one Embedder, which all rivals and MMR share."""
    return Embedder()


@lru_cache(maxsize=1)
def _model() -> Any:
    extras.require("hub", "all-MiniLM")
    from sentence_transformers import SentenceTransformer

    from smartsearch.models.store import minilm_folder

    return SentenceTransformer(str(minilm_folder()), device="cpu")


def _minilm(texts: list[str]) -> NDArray[np.float32]:
    vectors = _model().encode(texts, batch_size=64, normalize_embeddings=True, show_progress_bar=False)
    return np.asarray(vectors, dtype=np.float32)


def cosine(texts: Sequence[str]) -> Scorer:
    """Cosine of a question's embedding with that of each text: a bi-encoder's dense search."""
    vectors = embedder().encode(texts)
    return lambda question: np.asarray(vectors @ embedder().encode([question])[0], dtype=np.float64)


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
