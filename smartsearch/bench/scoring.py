"""What a row needs of a question: candidates by retrieval and two scores a turn, computed once and kept.

Scores are looked up in the store first; only what is missing is computed, and it is put there question by
question. Retrieval is the pipeline's own `gather`, the texts are the rankers' own.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from pkgutil import iter_modules

import numpy as np
from numpy.typing import NDArray

from smartsearch import retrieve, types
from smartsearch.bench import controls
from smartsearch.bench.grid import Ranker, Retrieval
from smartsearch.bench.store import Store, corpus_digest, digest
from smartsearch.bench.types import BenchQuestion, Indices
from smartsearch.config import Config, names
from smartsearch.errors import ModelError
from smartsearch.models.tools import Tools
from smartsearch.rank.head import among, head
from smartsearch.rank.text import scored_texts
from smartsearch.rank.windows import all_windows, best_windows, scored_windows
from smartsearch.retrieve.grep import Haystack
from smartsearch.retrieve.hops import Evidence, gather
from smartsearch.retrieve.likely import likeliest
from smartsearch.systems import baselines
from smartsearch.systems.smartsearch import pipeline
from smartsearch.systems.smartsearch.pipeline import dense_search
from smartsearch.text import dates, parse, times
from smartsearch.transcripts import filters
from smartsearch.types import Corpus

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Scored:
    """A question with its candidates by retrieval, best match weight first, and the scores of its turns.

    `ce` (sigmoid) and `colbert` have shape (turns,) with NaN where the scorer did not read the turn, and
    are None where no row asks for the scorer. `alone` is `ce` where no ColBERT chooses the window of a long
    turn; None stands for the same. `previous` (`Corpus.previous`) and the weights `fusion` are what the
    learned fusion needs; without weights there is none. `likely` has what a cascade reads
    of the candidates of a retrieval (retrieve/likely.py).
    """

    question: BenchQuestion
    found: Mapping[str, Indices]
    ce: Floats | None
    colbert: Floats | None
    alone: Floats | None = None
    previous: tuple[int, ...] = ()
    fusion: Mapping[str, float] = field(default_factory=dict)
    likely: Mapping[str, Indices] = field(default_factory=dict)

    def pool(self, ranker: Ranker, retrieval: str) -> Indices:
        """The candidates that ColBERT reads under `ranker`, as `rank.cascade` has it."""
        found = self.found[retrieval]
        return self.likely.get(retrieval, found) if ranker.kind == "cascade" else found

    def ce_of(self, ranker: Ranker) -> Floats | None:
        """The cross-encoder's scores of what it reads under `ranker`."""
        return self.ce if self.alone is None or ranker.reads_colbert else self.alone


@dataclass(frozen=True)
class Haystacked:
    """A corpus ready to search, and the key of its text. `context`: scorers see the turn before too."""

    corpus: Corpus
    context: bool = True

    @cached_property
    def haystack(self) -> Haystack:
        """The corpus made ready for grep."""
        return Haystack(self.corpus)

    @cached_property
    def key(self) -> str:
        """The digest of all that matching and scoring read."""
        return corpus_digest(self.corpus, context=self.context)

    @cached_property
    def long(self) -> bool:
        """Whether a turn has several windows."""
        texts = all_windows(self.corpus, range(len(self.corpus.turns)), context=self.context)
        return any(len(some) > 1 for some in texts)

    def texts(self, indices: Sequence[int]) -> list[str]:
        """These turns whole, as texts for an embedding."""
        return scored_texts(self.corpus, indices, context=self.context)

    def windows(self, question: str, indices: Sequence[int]) -> list[list[str]]:
        """What a scorer reads of these turns for a question."""
        return scored_windows(question, self.corpus, indices, context=self.context)


class Scoring:
    """Scores questions with the models of `tools`, keeping everything in `store`.

    `fingerprints` say what the models are, by `parser`, `ce` and `colbert`: part of every key.
    """

    def __init__(self, tools: Tools, store: Store, config: Config, fingerprints: Mapping[str, str]) -> None:
        self.tools, self.store, self.config = tools, store, config
        self._fingerprints = fingerprints
        self.pairs = 0  # question-turn pairs the cross-encoder read in this run
        self._code = _code_digest()
        settings = repr([(name, getattr(config, name)) for name in names("find", "rank")])
        self.identity = digest(self._code, settings, *sorted(fingerprints.values()))
        """Of all that decides which turns a system finds and ranks: code, settings, models."""

    def score(
        self,
        question: BenchQuestion,
        ready: Haystacked,
        wanted: Sequence[tuple[Retrieval, Sequence[Ranker]]],
    ) -> Scored:
        """Everything the retrievals and rankers of `wanted` need of this question."""
        ways = [way for way, _ in wanted if way.name]
        both = {way.name: self._found(question, ready, way) for way in ways}
        found, likely = ({name: pair[n] for name, pair in both.items()} for n in (0, 1))
        pairs = [
            (ranker, (likely if ranker.kind == "cascade" else found)[way.name])
            for way, some in wanted
            if way.name
            for ranker in some
        ]
        pools = [candidates for ranker, candidates in pairs if ranker.reads_colbert]
        colbert = self._read("colbert", question.text, ready, pools)
        apart = [some for ranker, some in pairs if ready.long and ranker.kind == "ce"]
        heads = [
            reading(ranker, some, colbert, ready.corpus.previous)
            for ranker, some in pairs
            if ranker.reads_ce and not (ready.long and ranker.kind == "ce")
        ]
        alone = self._read("alone", question.text, ready, apart)
        ce = self._read("ce", question.text, ready, heads)
        fusion = self.tools.fusion if self.config.fuse == "learned" else {}
        chosen = alone if ce is None else ce
        previous = tuple(ready.corpus.previous)
        return Scored(question, found, chosen, colbert, alone, previous, fusion, likely)

    def _read(self, name: str, question: str, ready: Haystacked, parts: Sequence[Indices]) -> Floats | None:
        """A scorer's values for the turns of `parts`, NaN elsewhere; None where there are no parts.

        `name` is `colbert`, `ce` (over the windows that ColBERT found best) or `alone` (`ce` without it).
        """
        if not parts:
            return None
        over = np.unique(np.concatenate(parts))
        values = np.full(len(ready.corpus.turns), np.nan)
        values[over] = self._scores(name, question, ready, over)[over]
        return values

    def colbert(self, text: str, ready: Haystacked) -> Floats:
        """ColBERT's score of every turn for a question or some words, shape (turns,)."""
        return self._scores("colbert", text, ready, np.arange(len(ready.corpus.turns)))

    def nearest(self, text: str, ready: Haystacked, top: int) -> tuple[int, ...]:
        """The places of the `top` turns that ColBERT puts nearest to a text, best first; kept too."""
        key = digest(self._model("colbert"), str(top), text, ready.key)
        held = self.store.get("nearest", key)
        if held is None:
            windows = ready.windows(text, range(len(ready.corpus.turns)))
            scores, _ = best_windows(text, windows, self.tools.scorers["colbert"])
            held = np.argsort(-scores, kind="stable")[:top]
            self.store.put("nearest", key, held)
        return tuple(held.astype(np.int64).tolist())

    def _scores(self, name: str, question: str, ready: Haystacked, over: Indices) -> Floats:
        """One scorer's value a turn, at least those of `over`; what is missing is computed and kept."""
        key = self._key(name, question, ready)
        held = self.store.get(name, key)
        values = np.full(len(ready.corpus.turns), np.nan) if held is None else held.astype(np.float64)
        missing = over[np.isnan(values[over])]
        if len(missing):
            values[missing] = self._fresh(name, question, ready, missing)
            self.store.put(name, key, values)
            self.pairs += len(missing) if name != "colbert" else 0
        return values

    def _fresh(self, name: str, question: str, ready: Haystacked, turns: Indices) -> Floats:
        """A scorer's values of some turns, as `rank.cascade` has them; ColBERT's best windows are kept."""
        windows = ready.windows(question, turns.tolist())
        if name == "colbert":
            values, places = best_windows(question, windows, self.tools.scorers["colbert"])
            if ready.long:
                best = self._chosen(question, ready)
                best[turns] = places
                self.store.put("window", self._key("colbert", question, ready), best)
            return values
        chosen = self._chosen(question, ready)[turns] if name == "ce" and ready.long else np.zeros_like(turns)
        read = [[some[place]] for some, place in zip(windows, chosen, strict=True)]
        return best_windows(question, read, self.tools.scorers["ce"])[0]

    def _chosen(self, question: str, ready: Haystacked) -> Indices:
        """The place of the window that ColBERT found best, shape (turns,); 0 where it read none."""
        held = self.store.get("window", self._key("colbert", question, ready))
        return np.zeros(len(ready.corpus.turns), np.int64) if held is None else held.astype(np.int64)

    def _key(self, name: str, question: str, ready: Haystacked) -> str:
        """The key of a scorer's values: of long turns the cross-encoder reads what ColBERT chose."""
        if name == "ce" and ready.long:
            return digest(self._model("ce"), self._model("colbert"), question, ready.key)
        return digest(self._model("colbert" if name == "colbert" else "ce"), question, ready.key)

    def _found(self, question: BenchQuestion, ready: Haystacked, way: Retrieval) -> tuple[Indices, Indices]:
        """The candidates, and those of them that a cascade reads."""
        config = replace(way.config(self.config), now=question.date[:10] or _NO_DAY)
        dense = self._fingerprints.get("colbert", "") if config.semantic != "off" else ""
        uses = self._model("parser") + dense
        fields = (*_RETRIEVAL_FIELDS, "rank", "colbert_turns")
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
        kept = {"colbert": _Whole(self, ready)} if "colbert" in self.tools.scorers else {}
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

    def __call__(self, question: str, texts: Sequence[str]) -> Floats:
        turns = range(len(self._ready.corpus.turns))
        sizes = [len(some) for some in scored_windows(question, self._ready.corpus, turns)]
        if len(texts) != sum(sizes):
            raise ValueError(f"{len(texts)} texts, {sum(sizes)} windows")
        return np.repeat(self._scoring.colbert(question, self._ready), sizes)


def reading(ranker: Ranker, pool: Indices, colbert: Floats | None, previous: Sequence[int]) -> Indices:
    """Which turns of its pool the cross-encoder reads under `ranker`, as `rank.cascade` has it."""
    if ranker.kind != "cascade" or colbert is None or not len(pool):
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
    inside = [
        import_module(f"{retrieve.__name__}.{found.name}")
        for found in sorted(iter_modules(retrieve.__path__), key=lambda found: found.name)
    ]
    return digest(*(inspect.getsource(module) for module in (*_FINDERS, *inside)))
