"""What a row needs of a question: candidates by retrieval and two scores a turn, computed once and kept.

Scores are looked up in the store first; only what is missing is computed, and it is put there question by
question. Retrieval is the pipeline's own `gather`, the texts are the rankers' own.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from smartsearch import rank as ranking
from smartsearch import retrieve, types
from smartsearch.bench import controls
from smartsearch.bench.grid import Ranker, Retrieval
from smartsearch.bench.models import is_colbert
from smartsearch.bench.store import Store, corpus_digest, digest
from smartsearch.bench.types import BenchQuestion, Indices
from smartsearch.config import Config, names
from smartsearch.errors import ModelError
from smartsearch.models.tools import Tools
from smartsearch.rank.crossencoder import uncalibrated
from smartsearch.rank.fusion import Fusion
from smartsearch.rank.head import among, head
from smartsearch.rank.once import Once
from smartsearch.rank.text import PLAIN, SHOWN, Shown, scored_texts, seen_by, shown
from smartsearch.rank.windows import best_windows, scored_windows
from smartsearch.retrieve.grep import Haystack
from smartsearch.retrieve.hops import Evidence, gather
from smartsearch.retrieve.likely import likeliest
from smartsearch.retrieve.semantic import Scorer
from smartsearch.systems import baselines
from smartsearch.systems.smartsearch import pipeline
from smartsearch.systems.smartsearch.pipeline import dense_search
from smartsearch.text import dates, parse, times
from smartsearch.transcripts import filters
from smartsearch.types import Corpus, Turn

Floats = NDArray[np.float64]


Sight = tuple[str, bool]
"""A scorer by its name in a row, and whether it sees turns as the paper's do."""


@dataclass(frozen=True)
class Scored:
    """A question with its candidates by retrieval, best match weight first, and the scores of its turns.

    `scores` have shape (turns,), NaN where the scorer did not read the turn. `turns`, `previous`
    (`Corpus.previous`) and `fusion` are what the learned fusion needs. `likely` has
    what a cascade reads of the candidates of a retrieval (retrieve/likely.py).
    """

    question: BenchQuestion
    found: Mapping[str, Indices]
    scores: Mapping[Sight, Floats]
    previous: tuple[int, ...] = ()
    fusion: Fusion | None = None
    likely: Mapping[str, Indices] = field(default_factory=dict)
    turns: Sequence[Turn] = ()

    def read(self, ranker: Ranker, retrieval: str, name: str) -> Floats:
        """The scores of one of the ranker's scorers, NaN for what its cascade leaves out.

        Raises ValueError where the scorer was not asked.
        """
        if (name, ranker.plain) not in self.scores:
            raise ValueError(f"{name} was not asked")
        scores = self.scores[name, ranker.plain]
        if ranker.kind != "cascade":
            return scores
        over = self.likely.get(retrieval, self.found[retrieval])
        if not is_colbert(name):
            over = reading(ranker, over, self.read(ranker, retrieval, "colbert"), self.previous)
        kept = np.full(len(scores), np.nan)
        kept[over] = scores[over]
        return kept


@dataclass(frozen=True)
class Haystacked:
    """A corpus ready to search, what scorers see of its turns, and the key of its text."""

    corpus: Corpus
    show: Shown = SHOWN

    @cached_property
    def haystack(self) -> Haystack:
        """The corpus made ready for grep."""
        return Haystack(self.corpus)

    @cached_property
    def plain(self) -> Haystacked:
        """Its turns as the paper's scorers see them."""
        return Haystacked(self.corpus, PLAIN)

    @cached_property
    def key(self) -> str:
        """The digest of all that matching and scoring read."""
        return corpus_digest(self.corpus, self.show)

    def texts(self, indices: Sequence[int]) -> list[str]:
        """These turns whole, as texts for an embedding."""
        return scored_texts(self.corpus, indices, self.show)

    def windows(self, question: str, indices: Sequence[int], scorer: object = None) -> list[list[str]]:
        """What `scorer` reads of these turns for a question."""
        return scored_windows(question, self.corpus, indices, seen_by(scorer, self.show))


class Scoring:
    """Scores questions with the models of `tools`, keeping everything in `store`.

    `fingerprints` say what the models are, by `parser`, `ce`, `colbert` and the names of `others`, scorers
    that are none of the profile's: part of every key.
    """

    def __init__(
        self,
        tools: Tools,
        store: Store,
        config: Config,
        fingerprints: Mapping[str, str],
        others: Mapping[str, Scorer] | None = None,
    ) -> None:
        self.tools, self.store, self.config = tools, store, config
        once = {"ce": Once(tools.scorers["ce"])} if "ce" in tools.scorers else {}
        self.shared = replace(tools, scorers={**tools.scorers, **once})
        """The tools for all that answers the same question: the cross-encoder reads no text twice."""
        self._scorers = {**self.shared.scorers, **(others or {})}
        self._fingerprints = fingerprints
        self.pairs = 0  # question-turn pairs that cross-encoders read in this run
        self._code = _code_digest()
        settings = repr([(name, getattr(config, name)) for name in names("find", "rank")])
        self.identity = digest(self._code, _sources(ranking), settings, *sorted(fingerprints.values()))
        """Of all that decides which turns a system finds and ranks: code, settings, models."""

    def score(
        self,
        question: BenchQuestion,
        ready: Haystacked,
        wanted: Sequence[tuple[Retrieval, Sequence[Ranker]]],
    ) -> Scored:
        """Everything the retrievals and rankers of `wanted` need of this question."""
        both = {way.name: self._found(question, ready, way) for way, _ in wanted if way.name}
        found, likely = ({name: pair[n] for name, pair in both.items()} for n in (0, 1))
        fusion = self.tools.fusion if self.config.fuse == "learned" else None
        corpus = ready.corpus
        scored = Scored(question, found, {}, tuple(corpus.previous), fusion, likely, corpus.turns)
        pairs = [(way.name, ranker) for way, some in wanted if way.name for ranker in some]
        for deep in (False, True):  # what a cascade's cross-encoder reads, ColBERT's scores decide
            parts: dict[Sight, list[Indices]] = {}
            for way_name, ranker in pairs:
                cascades = ranker.kind == "cascade"
                over = (likely if cascades else found)[way_name]
                if cascades and deep:
                    over = reading(ranker, over, scored.read(ranker, way_name, "colbert"), scored.previous)
                for name, _ in ranker.scorers:
                    if is_colbert(name) != deep:
                        parts.setdefault((name, ranker.plain), []).append(over)
            read = {sight: self._read(sight, question.text, ready, some) for sight, some in parts.items()}
            scored = replace(scored, scores={**scored.scores, **read})
        return scored

    def _read(self, sight: Sight, question: str, ready: Haystacked, parts: Sequence[Indices]) -> Floats:
        """A scorer's values for the turns of `parts`, NaN elsewhere."""
        name, plain = sight
        over = np.unique(np.concatenate(parts))
        values = np.full(len(ready.corpus.turns), np.nan)
        values[over] = self._scores(name, question, ready.plain if plain else ready, over)[over]
        return values

    def colbert(self, text: str, ready: Haystacked) -> Floats:
        """ColBERT's score of every turn for a question or some words, shape (turns,)."""
        return self._scores("colbert", text, ready, np.arange(len(ready.corpus.turns)))

    def nearest(self, text: str, ready: Haystacked, top: int) -> tuple[int, ...]:
        """The places of the `top` turns that ColBERT puts nearest to a text, best first; kept too."""
        key = digest(self._model("colbert"), str(top), text, ready.key)
        held = self.store.get("nearest", key)
        if held is None:
            windows = ready.windows(text, range(len(ready.corpus.turns)), self._scorers["colbert"])
            scores = best_windows(text, windows, self._scorers["colbert"])
            held = np.argsort(-scores, kind="stable")[:top]
            self.store.put("nearest", key, held)
        return tuple(held.astype(np.int64).tolist())

    def uncalibrated(self, name: str, scores: Floats) -> Floats:
        """A cross-encoder's scores as the sigmoid of its own output."""
        return uncalibrated(scores, self._scorers[name])

    def _scores(self, name: str, question: str, ready: Haystacked, over: Indices) -> Floats:
        """One scorer's value a turn, at least those of `over`; what is missing is computed and kept."""
        kind = "colbert" if is_colbert(name) else "ce"
        key = digest(self._model(name), question, ready.key)
        held = self.store.get(kind, key)
        values = np.full(len(ready.corpus.turns), np.nan) if held is None else held.astype(np.float64)
        missing = over[np.isnan(values[over])]
        if len(missing):
            windows = ready.windows(question, missing.tolist(), self._scorers[name])
            values[missing] = best_windows(question, windows, self._scorers[name])
            self.store.put(kind, key, values)
            self.pairs += len(missing) if kind == "ce" else 0
        return values

    def _found(self, question: BenchQuestion, ready: Haystacked, way: Retrieval) -> tuple[Indices, Indices]:
        """The candidates, and those of them that a cascade reads."""
        config = replace(way.config(self.config), now=question.date[:10] or _NO_DAY)
        dense = self._fingerprints.get("colbert", "") if config.semantic != "off" else ""
        uses = self._model("parser") + dense
        fields = (*_RETRIEVAL_FIELDS, "rank", "colbert_turns", "beside", "windows")
        settings = repr([(name, getattr(config, name)) for name in fields])
        key = digest(self._code, uses, settings, way.name, question.text, ready.key)
        held = self.store.get("found", key)
        if held is None:
            evidence = self._gather(question, ready, way, config)
            read = likeliest(evidence.candidates, ready.corpus, evidence.counts, config.colbert_turns)
            chosen = {c.index for c in read}
            turns = [c.index for c in evidence.candidates]
            held = np.array([turn if turn in chosen else ~turn for turn in turns], dtype=np.int32)
            self.store.put("found", key, held)
        kept = held.astype(np.int64)
        return np.where(kept < 0, ~kept, kept), kept[kept >= 0]

    def _gather(self, question: BenchQuestion, ready: Haystacked, way: Retrieval, config: Config) -> Evidence:
        query = self.tools.parser.parse(question.text, config)
        if way.lemmas:
            query = controls.with_lemmas(query, ready.haystack)
        seen = ready if shown(config) == ready.show else ready.plain
        kept = {"colbert": _Whole(self, seen)} if "colbert" in self.tools.scorers else {}
        known = replace(self.tools, scorers=kept)
        dense = dense_search(query, ready.haystack, config, known, [])
        return gather(query, ready.haystack, self.tools.parser, config, dense, self.tools.known)

    def _model(self, name: str) -> str:
        """The fingerprint of a model. Raises ModelError where there is none."""
        if name not in self._fingerprints:
            raise ModelError(
                f"profile {self.config.profile} has no {name}", hint="another --profile, or rows without it"
            )
        return self._fingerprints[name]


class _Whole:
    """ColBERT over a whole haystack, its scores kept: what the dense search asks for, when it runs.

    It is asked with every window of every turn, and gives each the score of its turn.
    """

    def __init__(self, scoring: Scoring, ready: Haystacked) -> None:
        self._scoring, self._ready = scoring, ready
        self.before = getattr(scoring.tools.scorers["colbert"], "before", 1)

    def __call__(self, question: str, texts: Sequence[str]) -> Floats:
        turns = range(len(self._ready.corpus.turns))
        sizes = [len(some) for some in self._ready.windows(question, turns, self)]
        if len(texts) != sum(sizes):
            raise ValueError(f"{len(texts)} texts, {sum(sizes)} windows")
        return np.repeat(self._scoring.colbert(question, self._ready), sizes)


def reading(ranker: Ranker, pool: Indices, colbert: Floats, previous: Sequence[int]) -> Indices:
    """Which turns of its pool a cascade's cross-encoder reads, as `rank.cascade` has it."""
    if not len(pool):
        return pool
    return pool[head(among(previous, pool.tolist()), colbert[pool], ranker.head)]


_NO_DAY = "1970-01-01"
"""What relative dates count from where a question has no day: a benchmark says the same tomorrow."""

_RETRIEVAL_FIELDS = tuple(name for name in names("find") if name != "system")


_FINDERS = (parse, dates, times, filters, types, pipeline, controls, baselines)
"""The modules outside retrieval that decide which turns are candidates."""


def _code_digest() -> str:
    """A key of the code that finds candidates: cached candidates must not outlive it.

    Raises OSError where the source of a module cannot be read.
    """
    return digest(*(inspect.getsource(module) for module in _FINDERS), _sources(retrieve))


def _sources(package: ModuleType) -> str:
    """A key of the modules of a package, those of the folders in it left out."""
    files = sorted(Path(package.__path__[0]).glob("*.py"))
    return digest(*(file.read_text(encoding="utf-8") for file in files))
