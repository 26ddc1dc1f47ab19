"""Computes and keeps what rows need of a question: candidates by retrieval and two scores per turn.

Scores are looked up in the store first; only what is missing is computed, and it is put there question by
question. Retrieval is the pipeline's own `gather`, a cascade its own `ranked`.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence, Set
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
from smartsearch.models import minilm
from smartsearch.models.profiles import SCORERS
from smartsearch.models.tools import Tools
from smartsearch.rank import bm25, meaning
from smartsearch.rank.crossencoder import uncalibrated
from smartsearch.rank.meaning import dense_search
from smartsearch.rank.scorer import Scorer
from smartsearch.rank.text import PLAIN, SHOWN, Shown, scored_texts
from smartsearch.rank.windows import turn_scores
from smartsearch.retrieve.grep import Haystack
from smartsearch.retrieve.hops import Evidence, gather
from smartsearch.systems.smartsearch.pipeline import ranked
from smartsearch.text import dates, parse, times
from smartsearch.transcripts import filters
from smartsearch.types import Corpus, Query

Floats = NDArray[np.float64]


NO_SCORER = Scorer(lambda _question, texts: np.zeros(len(texts)))

Sight = tuple[str, bool]
"""A scorer by its name in a row, and whether it sees turns as the paper's do."""


@dataclass(frozen=True)
class Searched:
    """All that a search ranks, best first, shape (n,), and the turns that no score cuts off.

    `scores`, by scorer, have shape (turns,), NaN where the search did not have the turn read.
    """

    order: Indices
    scores: Mapping[str, Floats]
    pinned: frozenset[int]


@dataclass(frozen=True)
class Scored:
    """A question's candidates by retrieval, best match weight first, and the scores of its turns.

    `scores` have shape (turns,), NaN where the scorer did not read the turn. `searched` has what a search
    makes of it, for each cascade by retrieval and name.
    """

    found: Mapping[str, Indices]
    scores: Mapping[Sight, Floats]
    searched: Mapping[tuple[str, str], Searched] = field(default_factory=dict)

    def read(self, ranker: Ranker, retrieval: str, name: str) -> Floats:
        """The scores of one of the ranker's scorers, NaN for what its cascade leaves out.

        Raises ValueError where the scorer was not asked.
        """
        if ranker.kind == "cascade":
            return self.searched[retrieval, ranker.name].scores[name]
        if (name, ranker.plain) not in self.scores:
            raise ValueError(f"{name} was not asked")
        return self.scores[name, ranker.plain]

    def pinned(self, ranker: Ranker, retrieval: str) -> frozenset[int]:
        """The turns that no score cuts off."""
        found = self.searched.get((retrieval, ranker.name))
        return found.pinned if found else frozenset()


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


class Scoring:
    """Scores questions with the models of `tools`, keeping everything in `store`.

    `fingerprints` identify the models, by `parser`, `ce`, `colbert` and the names of `others`, scorers
    outside the profile; they are part of every key.
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
        once = {"ce": tools.scorers["ce"].once()} if "ce" in tools.scorers else {}
        self.shared = replace(tools, scorers={**tools.scorers, **once})
        """The tools for all that ask the same question: the cross-encoder reads no text twice."""
        self._scorers = {**self.shared.scorers, **(others or {})}
        self._fingerprints = fingerprints
        self.pairs = 0  # question-turn pairs that cross-encoders read in this run
        self._code = _code_digest()
        settings = repr([(name, getattr(config, name)) for name in names("find", "rank")])
        self.identity = digest(self._code, _sources(ranking), settings, *sorted(fingerprints.values()))
        """A key of all that decides which turns a system finds and ranks: code, settings, models."""

    def score(
        self, question: BenchQuestion, ready: Haystacked, wanted: Sequence[tuple[Retrieval, Sequence[Ranker]]]
    ) -> Scored:
        """Everything the retrievals and rankers of `wanted` need of this question."""
        found: dict[str, Indices] = {}
        searched: dict[tuple[str, str], Searched] = {}
        parts: dict[Sight, list[Indices]] = {}
        for way, rankers in wanted:
            cascades = [ranker for ranker in rankers if ranker.kind == "cascade"]
            if cascades:
                query, evidence = self._gather(question, ready, way)
                found[way.name] = np.array([c.index for c in evidence.candidates], dtype=np.int64)
            else:
                found[way.name] = self._found(question, ready, way)
            for ranker in cascades:
                one = self._search(query, evidence, ready, way, ranker)
                searched[way.name, ranker.name] = one
                for name, some in one.scores.items():
                    parts.setdefault((name, ranker.plain), []).append(np.flatnonzero(~np.isnan(some)))
            for ranker in rankers:
                for name, _ in () if ranker in cascades else ranker.scorers:
                    parts.setdefault((name, ranker.plain), []).append(found[way.name])
        read = {sight: self._read(sight, question.text, ready, some) for sight, some in parts.items()}
        return Scored(found, read, searched)

    def _search(
        self, query: Query, evidence: Evidence, ready: Haystacked, way: Retrieval, ranker: Ranker
    ) -> Searched:
        """What a search makes of `evidence`; scores are calibrated, and the row's cut may undo that."""
        config = replace(
            way.config(self.config),
            rank=tuple(SCORERS),
            candidates=-1,
            cascade=ranker.head,
            calibrate=True,
            beside=() if ranker.plain else self.config.beside,  # the ranker's own, not the retrieval's
            windows=self.config.windows and not ranker.plain,
        )
        kept = {name: self._kept(name, ready) for name in SCORERS}
        ranking = ranked(query, evidence, ready.haystack, config, replace(self.tools, scorers=kept))
        order = np.array([c.index for c in ranking.candidates], dtype=np.int64)
        scores = {name: np.full(len(ready.corpus.turns), np.nan) for name in SCORERS}
        for name, values in scores.items():
            values[order] = [getattr(one, name) for one in ranking.scores]
        return Searched(order, scores, ranking.pinned)

    def _read(self, sight: Sight, question: str, ready: Haystacked, parts: Sequence[Indices]) -> Floats:
        """A scorer's values for the turns of `parts`, NaN elsewhere."""
        name, plain = sight
        over = np.unique(np.concatenate(parts))
        values = np.full(len(ready.corpus.turns), np.nan)
        values[over] = self.scores(name, question, ready.plain if plain else ready, over)
        return values

    def uncalibrated(self, name: str, scores: Floats) -> Floats:
        """A cross-encoder's scores as the sigmoid of its own output."""
        return uncalibrated(scores, self._scorers[name].calibration)

    def scores(
        self, name: str, question: str, ready: Haystacked, over: Indices, without: Set[int] = frozenset()
    ) -> Floats:
        """One scorer's value of each turn of `over`, shape (n,); what is missing is computed and kept.

        The turns at `without` are not shown before others.
        """
        kind = "colbert" if is_colbert(name) else "ce"
        key = digest(self._model(name), question, ready.key, *map(str, sorted(without)))
        held = self.store.get(kind, key)
        values = np.full(len(ready.corpus.turns), np.nan) if held is None else held.astype(np.float64)
        missing = over[np.isnan(values[over])]
        if len(missing):
            turns = missing.tolist()
            scorer = self._scorers[name]
            values[missing] = turn_scores(question, ready.corpus, turns, scorer, ready.show, without)
            self.store.put(kind, key, values)
            self.pairs += len(missing) if kind == "ce" else 0
        return values[over]

    def _found(self, question: BenchQuestion, ready: Haystacked, way: Retrieval) -> Indices:
        """The candidates of a retrieval, kept."""
        config = replace(way.config(self.config), now=question.day)
        dense = self._fingerprints.get("colbert", "") if config.semantic != "off" else ""
        uses = self._model("parser") + dense + self._fingerprints.get("static", "")
        fields = (*_RETRIEVAL_FIELDS, "rank", "likely_turns", "beside", "windows")
        settings = repr([(name, getattr(config, name)) for name in fields])
        key = digest(self._code, uses, settings, way.name, question.text, ready.key)
        held = self.store.get("found", key)
        if held is None:
            _, evidence = self._gather(question, ready, way)
            held = np.array([c.index for c in evidence.candidates], dtype=np.int32)
            self.store.put("found", key, held)
        return held.astype(np.int64)

    def _gather(self, question: BenchQuestion, ready: Haystacked, way: Retrieval) -> tuple[Query, Evidence]:
        config = replace(way.config(self.config), now=question.day)
        query = self.tools.parser.parse(question.text, config)
        if way.lemmas:
            query = controls.with_lemmas(query, ready.haystack)
        kept = {"colbert": self._kept("colbert", ready)} if "colbert" in self.tools.scorers else {}
        dense = dense_search(query, ready.haystack, config, kept, self.tools.static)
        return query, gather(query, ready.haystack, self.tools.parser, config, dense, self.tools.known)

    def _kept(self, name: str, ready: Haystacked) -> Scorer:
        """The scorer with its scores of turns kept; one that is missing raises ModelError when asked."""

        def of_turns(question: str, indices: Sequence[int], show: Shown, without: Set[int]) -> Floats:
            seen = ready if show == ready.show else ready.plain
            return self.scores(name, question, seen, np.array(indices, dtype=np.int64), without)

        return replace(self.tools.scorers.get(name, NO_SCORER), of_turns=of_turns)

    def _model(self, name: str) -> str:
        """The fingerprint of a model. Raises ModelError for a missing one."""
        if name not in self._fingerprints:
            raise ModelError(
                f"profile {self.config.profile} has no {name}", hint="another --profile, or rows without it"
            )
        return self._fingerprints[name]


_RETRIEVAL_FIELDS = tuple(name for name in names("find") if name != "system")


_FINDERS = (parse, dates, times, filters, types, meaning, controls, bm25, minilm)
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
