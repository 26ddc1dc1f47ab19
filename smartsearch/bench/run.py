"""A benchmark run: every question of a dataset through every row of a grid, into one table a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field
from functools import cached_property, lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from smartsearch.bench import blocks, cutting, grid, measures, presets
from smartsearch.bench.chunks import chunk_numbers
from smartsearch.bench.grid import Row
from smartsearch.bench.measures import LEVELS, Gold
from smartsearch.bench.ranking import ordered
from smartsearch.bench.rivals import Ingest, Rival, Running
from smartsearch.bench.scoring import Floats, Haystacked, Scored, Scoring
from smartsearch.bench.store import digest
from smartsearch.bench.types import BenchQuestion, Dataset, Group, Indices
from smartsearch.llm import Spent
from smartsearch.rank.bm25 import content_lemmas
from smartsearch.rank.static import WHOLE
from smartsearch.rank.text import shown
from smartsearch.rank.truncate import Tokenizer
from smartsearch.systems.base import Asking, Card, System
from smartsearch.types import Turn

BUDGETS = (125, 250, 500, 750, 1000, 1500, 2000, 2500, 3000, 4000, 5000, 6000)
"""Words at which the recall curve of every ranking is taken."""
EQUAL = 2000
"""Words at which systems are compared, the paper's default."""


@dataclass(frozen=True)
class Spec:
    """The parts of a run. Rows are compared with `reference`.

    The lists of the reference and of the rows `answered` are kept for a reader.
    """

    rows: tuple[Row, ...]
    reference: str
    rivals: tuple[Rival, ...] = ()
    answered: tuple[str, ...] = ()

    @cached_property
    def compared(self) -> tuple[Row, ...]:
        """With rivals those rows, and the reference's and what `query` does, that are cut to EQUAL words.

        Where no cut is, to the nearest to it. A rival without such a row has its first.
        """
        rivals = [row for row in self.rows if row.ranker.kind == "rival"]
        whole = [row.cut for row in rivals if row.cut.kind == "fixed" and not row.cut.compress]
        cut = min(whole, key=lambda cut: abs(cut.words - EQUAL), default=None)
        ours = {presets.ranking(name) for name in (self.reference, *presets.REFERENCES.values())}
        wanted = [row for row in self.rows if row.cut == cut]
        have = {row.ranker for row in wanted}
        wanted += {row.ranker: row for row in reversed(rivals) if cut and row.ranker not in have}.values()
        return tuple(row for row in wanted if row in rivals or presets.ranking(row.name) in ours)


@dataclass(frozen=True)
class Made:
    """One memory of a system: its cost, bytes on disk, and its own statistics."""

    card: Card
    ingest: Ingest | None
    bytes: int
    statistics: Mapping[str, float]


@dataclass
class Outcome:
    """The results, question by question in the order of `ids`.

    `columns` holds measures by key: ("question",) what no row changes (gold by level, the scorers'
    agreement), ("ranking", retrieval, ranker), ("curve", retrieval, ranker) and ("row", name). `turns` counts
    those searched, `without_dense` the questions whose haystack is too large for the dense fallback.
    `gold` and `ranked` (by ranking) hold turns by question, the best 100. `kept` has the ranked list of the
    reference row by question and what became of it, `read` which of it the cross-encoder has scored;
    `answered` the turns, best first, that rows leave to a reader, by row and question, `told` what the memory
    of a row's system tells before them.
    `systems` has the fingerprints of each rival with its memory, one per haystack, and `ingests` its memories
    and their costs. `spent` has their use of a language model, for memories (`ingest`) and for
    questions (`query`), in whichever run it was; `asked` has the same for the record, with the model.
    """

    spec: Spec
    ids: list[str] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    abstention: list[bool] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)
    without_dense: int = 0
    gold: dict[str, list[int]] = field(default_factory=dict)
    ranked: dict[tuple[str, str], dict[str, list[int]]] = field(default_factory=dict)
    kept: dict[str, tuple[Indices, cutting.Kept]] = field(default_factory=dict)
    read: dict[str, NDArray[np.bool_]] = field(default_factory=dict)
    answered: dict[tuple[str, str], Sequence[Turn]] = field(default_factory=dict)
    told: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    systems: dict[str, list[str]] = field(default_factory=dict)
    ingests: dict[str, list[Made]] = field(default_factory=dict)
    spent: dict[str, dict[str, Spent]] = field(default_factory=dict)
    asked: dict[str, dict[str, Any]] = field(default_factory=dict)
    columns: dict[tuple[str, ...], dict[str, list[float]]] = field(default_factory=dict)

    def add(self, key: tuple[str, ...], values: dict[str, float]) -> None:
        """One question's values under `key`."""
        table = self.columns.setdefault(key, {})
        for name, value in values.items():
            table.setdefault(name, []).append(value)

    def table(self, *key: str) -> dict[str, Floats]:
        """The columns under a key, each of shape (questions,)."""
        return {name: np.array(values) for name, values in self.columns[key].items()}


@dataclass(frozen=True)
class Ready:
    """A group ready to search, with the chunk, words and tokens of each turn."""

    group: Group
    chunks: Indices
    words: Indices
    tokens: Indices
    haystack: Haystacked

    @cached_property
    def said(self) -> list[frozenset[str]]:
        """The content words of each turn as a reader gets it."""
        return [frozenset(content_lemmas(turn.rendered)) for turn in self.group.corpus.turns]

    @cached_property
    def lexicon(self) -> frozenset[str]:
        """The content words of all turns."""
        return frozenset().union(*self.said)

    def gold(self, question: BenchQuestion) -> Gold:
        """The question's gold in turns, chunks and sessions."""
        turns = np.array(sorted(question.gold), dtype=np.int64)
        return Gold(turns, frozenset(self.chunks[turns].tolist()), question.gold_sessions)


def run(
    dataset: Dataset,
    spec: Spec,
    scoring: Scoring,
    tokenizer: Tokenizer,
    step: Callable[[], None] = lambda: None,
) -> Outcome:
    """Every row over every question; scores and candidates come from the store where it has them."""
    outcome = Outcome(spec)
    opened = {rival.name: rival.open(scoring.config, scoring.shared) for rival in spec.rivals}
    outcome.spent = {rival.name: {"ingest": Spent(), "query": Spent()} for rival in spec.rivals if rival.asks}
    for group in dataset.groups():
        counted = lru_cache(maxsize=None)(tokenizer.count)
        haystack = Haystacked(group.corpus, shown(scoring.config))
        words = np.array([turn.words for turn in group.corpus.turns], dtype=np.int64)
        tokens = np.array([counted(turn.rendered) for turn in group.corpus.turns], dtype=np.int64)
        prepared = Ready(group, chunk_numbers(group.corpus, counted), words, tokens, haystack)
        ranked = _Rankings(haystack, spec, scoring, opened)
        for name, rival in ranked.rivals.items():
            outcome.systems.setdefault(name, []).append(rival.fingerprint)
            sizes = getattr(rival.memory, "statistics", {})
            made = Made(rival.system.card, rival.ingest, rival.bytes, sizes)
            outcome.ingests.setdefault(name, []).append(made)
            if name in outcome.spent and rival.ingest:
                outcome.spent[name]["ingest"] += rival.ingest.spent
        for question in group.questions:
            _one(question, prepared, ranked, outcome, Tokenizer(tokenizer.name, counted))
            step()
    for name, parts in outcome.spent.items():
        took = {part: asdict(spent) for part, spent in parts.items()}
        outcome.asked[name] = {"model": cast("Asking", opened[name]).asker.endpoint.model, **took}
    return outcome


def _one(
    question: BenchQuestion, prepared: Ready, ranked: _Rankings, outcome: Outcome, tokenizer: Tokenizer
) -> None:
    gold = prepared.gold(question)
    outcome.ids.append(question.id)
    outcome.categories.append(question.category)
    outcome.abstention.append(question.abstention)
    turns, sessions = len(prepared.group.corpus.turns), prepared.group.sessions
    outcome.turns.append(turns)
    outcome.without_dense += turns > WHOLE
    scored = ranked.begin(question)
    totals = {level: float(gold.total(level)) for level in LEVELS}
    outcome.add(("question",), totals | _agreement(scored, gold))
    if len(gold.turns):
        outcome.gold[question.id] = gold.turns.tolist()
    for key, rows in ranked.by_ranking.items():
        order = ranked.order(question, scored, rows[0])
        if rows[0].ranker.name in outcome.spent:
            outcome.spent[rows[0].ranker.name]["query"] += ranked.spent(question, rows[0])
        ranks = measures.ranks_of(order, gold, turns)
        outcome.add(("ranking", *key), measures.of_ranking(order, ranks, gold, prepared.chunks, sessions))
        if len(gold.turns):
            outcome.ranked.setdefault(key, {})[question.id] = order[: measures.DEPTH].tolist()
        spent = np.cumsum(prepared.words[order])
        outcome.add(("curve", *key), measures.curve(ranks, spent, BUDGETS))
        for row in rows:
            ce, pinned = ranked.crossencoder(scored, row), scored.pinned(row.ranker, row.retrieval.name)
            if row.cut.compress or row.cut.parts:
                corpus = prepared.group.corpus
                kept = cutting.compressed(order, ce, row.cut, corpus, tokenizer, pinned, question.text)
            else:
                kept = cutting.cut(order, ce, row.cut, prepared.words, prepared.tokens, pinned)
            outcome.add(("row", row.name), measures.of_cut(order, ranks, kept, gold, sessions))
            if row in outcome.spec.compared:
                wanted = prepared.lexicon.intersection(content_lemmas(question.answer))
                stayed = order[kept.fate == cutting.KEPT]
                parts = (prepared.chunks, prepared.tokens, prepared.said, wanted)
                outcome.add(("blocks", row.name), blocks.of_kept(stayed, gold.turns, *parts))
            if row.name == outcome.spec.reference:
                outcome.kept[question.id] = (order, kept)
                if ce is not None:
                    outcome.read[question.id] = ~np.isnan(ce[order])
            if row.name in outcome.spec.answered:
                stayed = [prepared.group.corpus.turns[i] for i in order[kept.fate == cutting.KEPT].tolist()]
                outcome.answered[row.name, question.id] = kept.shown or stayed
                outcome.told[row.name, question.id] = ranked.told(question, row)


def _agreement(scored: Scored, gold: Gold) -> dict[str, float]:
    """How far the two scorers agree over the turns both read, and the gold in the top 62 of either."""
    union = f"union@{measures.TOP}"
    nothing = {"spearman": float("nan"), union: float("nan")}
    plain = not {("ce", False), ("colbert", False)} <= scored.scores.keys()
    ce, colbert = scored.scores.get(("ce", plain)), scored.scores.get(("colbert", plain))
    if ce is None or colbert is None:
        return nothing
    read = np.flatnonzero(~np.isnan(ce) & ~np.isnan(colbert))
    places = np.full((2, len(ce)), np.inf)
    for row, scores in enumerate((ce, colbert)):
        places[row, read[np.argsort(-scores[read], kind="stable")]] = np.arange(1, len(read) + 1)
    both = places[:, gold.turns]
    hit = (both <= measures.TOP).any(axis=0).sum()
    return {"spearman": measures.spearman(ce, colbert), union: float(hit)}


class _Rankings:
    """The rows of a spec by ranking, and the order of each for one group's questions."""

    def __init__(
        self, haystack: Haystacked, spec: Spec, scoring: Scoring, opened: Mapping[str, System]
    ) -> None:
        self.config, self._store = scoring.config, scoring.store
        self._haystack, self._scoring = haystack, scoring
        self._wanted = [need for need in grid.needs(spec.rows) if need[0].name]
        folder = scoring.store.path.parent
        self.rivals = {
            name: Running(system, haystack.haystack, scoring.config, folder)
            for name, system in opened.items()
        }
        self.by_ranking: dict[tuple[str, str], list[Row]] = {}
        for row in spec.rows:
            self.by_ranking.setdefault((row.retrieval.name, row.ranker.name), []).append(row)

    def begin(self, question: BenchQuestion) -> Scored:
        return self._scoring.score(question, self._haystack, self._wanted)

    def order(self, question: BenchQuestion, scored: Scored, row: Row) -> Indices:
        if row.ranker.kind != "rival":
            return ordered(scored, row.retrieval.name, row.ranker, lambda: self._embedded)
        rival, key = self.rivals[row.ranker.name], self._key(question, row)

        def ask() -> NDArray[np.float64]:
            before, scores = rival.spent, rival(question)
            if rival.spent != before:
                self._store.put("spent", key, np.array(astuple(rival.spent - before)))
            if rival.told:
                self._store.put("told", key, np.array(rival.told))
            return scores

        scores = self._kept("rival", key, ask).astype(np.float64)
        found = np.flatnonzero(~np.isnan(scores))
        return found[np.argsort(-scores[found], kind="stable")]

    def spent(self, question: BenchQuestion, row: Row) -> Spent:
        """The tokens and calls a rival spent on a question when it was first asked."""
        held = self._store.get("spent", self._key(question, row))
        return Spent() if held is None else Spent(*held.tolist())

    def told(self, question: BenchQuestion, row: Row) -> list[str]:
        """What a rival's memory told a reader of a question when it was first asked."""
        kept = row.ranker.kind == "rival" and self._store.get("told", self._key(question, row))
        return [] if kept is None or kept is False else [str(text) for text in kept]

    def _key(self, question: BenchQuestion, row: Row) -> str:
        rival = self.rivals[row.ranker.name]
        asked = (question.text, question.day)
        return digest(rival.fingerprint, self._scoring.identity, *asked, self._haystack.key)

    def crossencoder(self, scored: Scored, row: Row) -> Floats | None:
        """The scores that the row's cut reads, if any: NaN for turns that its cascade does not read.

        They are calibrated where a search with the row's ranking has them so; the paper's controls are not.
        """
        name = row.ranker.crossencoder
        if not name:
            return None
        scores = scored.read(row.ranker, row.retrieval.name, name)
        own = row.ranker.plain or row.cut.kind in grid.CONTROLS or not self.config.calibrate
        return self._scoring.uncalibrated(name, scores) if own else scores

    @cached_property
    def _embedded(self) -> NDArray[np.float32]:
        """Embeddings of the turns for MMR, kept in the store."""
        from smartsearch.models.minilm import embedder

        def embed() -> NDArray[np.float32]:
            return embedder().encode(self._haystack.texts(range(len(self._haystack.corpus.turns))))

        return self._kept("vectors", digest("minilm", self._haystack.key), embed).astype(np.float32)

    def _kept(self, kind: str, key: str, make: Callable[[], NDArray[Any]]) -> NDArray[Any]:
        """An array of the store, made where it is not there."""
        held = self._store.get(kind, key)
        if held is None:
            held = make()
            self._store.put(kind, key, held)
        return held
