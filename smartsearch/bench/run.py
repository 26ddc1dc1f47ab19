"""A benchmark run: every question of a dataset through every row of a grid, into one table a row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from smartsearch.bench import cutting, grid, ir, measures, render
from smartsearch.bench.grid import Row
from smartsearch.bench.measures import LEVELS, Gold
from smartsearch.bench.ranking import ordered
from smartsearch.bench.rivals import Rival
from smartsearch.bench.scoring import Floats, Haystacked, Scored, Scoring, reading
from smartsearch.bench.store import digest
from smartsearch.bench.types import BenchQuestion, Dataset, Group, Indices
from smartsearch.bench.units import chunk_numbers, regroup
from smartsearch.rank.truncate import CountTokens
from smartsearch.types import Corpus

CHUNK_TOKENS = 258
"""The chunk of the QRRanker paper's table 2: whole utterances of about so many tokens."""

BUDGETS = (125, 250, 500, 750, 1000, 1500, 2000, 2500, 3000, 4000, 5000, 6000)
"""Words at which the recall curve of every ranking is taken."""
SCATTERED = 4000
"""Gold turns at most whose ranks by both scorers are kept for the plot."""


@dataclass(frozen=True)
class Spec:
    """What is run: the rows, and the passage (`unit`, `context`).

    `reference` names the row that the others are compared with and whose lists are kept.
    """

    rows: tuple[Row, ...]
    reference: str
    rivals: tuple[Rival, ...] = ()
    unit: str = "turn"
    context: bool = True


@dataclass
class Outcome:
    """What came out, question by question in the order of `ids`.

    `columns` holds measures by key: ("question",) what no row changes (gold by level, the scorers'
    agreement), ("ranking", retrieval, ranker), ("curve", retrieval, ranker), ("row", name). `turns`
    counts the passages searched, `without_dense` the questions whose haystack is too large for the dense
    fallback. `scorer_ranks`: for gold turns that both scorers read, the rank by the cross-encoder and by
    ColBERT. `gold` and `ranked` (by ranking) hold passages by question, the best 100, for `ir`. `kept` has
    the ranked list of the reference row by question and what became of it, `read` which of it the
    cross-encoder has scored.
    """

    spec: Spec
    ids: list[str] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    abstention: list[bool] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)
    without_dense: int = 0
    scorer_ranks: list[tuple[int, int]] = field(default_factory=list)
    gold: dict[str, list[int]] = field(default_factory=dict)
    ranked: dict[tuple[str, str], dict[str, list[int]]] = field(default_factory=dict)
    kept: dict[str, tuple[Indices, cutting.Kept]] = field(default_factory=dict)
    read: dict[str, NDArray[np.bool_]] = field(default_factory=dict)
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
    """A group as the rows see it: passages, what they cost, and which turns they hold."""

    group: Group
    passages: Corpus
    members: tuple[tuple[int, ...], ...]
    sessions: Indices
    chunks: Indices
    haystack: Haystacked

    def gold(self, question: BenchQuestion) -> Gold:
        """The question's gold in passages, chunks and sessions."""
        places = sorted(question.gold)
        inside = [[p for p, turns in enumerate(self.members) if turn in turns] for turn in places]
        if len(self.members) == len(self.group.corpus.turns):
            inside = [[turn] for turn in places]
        chunks = frozenset(int(self.chunks[found[0]]) for found in inside if found)
        turns = tuple(np.array(found, dtype=np.int64) for found in inside)
        return Gold(turns, chunks, question.gold_sessions)


def ready(group: Group, spec: Spec, count: CountTokens) -> Ready:
    """The group cut into passages of the spec's unit."""
    if spec.unit == "turn":
        members: tuple[tuple[int, ...], ...] = tuple((i,) for i in range(len(group.corpus.turns)))
        passages, sessions = group.corpus, group.sessions
    else:
        grouped = regroup(group, spec.unit, count)
        passages, members = grouped.corpus, grouped.members
        sessions = np.array([group.sessions[turns[0]] for turns in members], dtype=np.int64)
    chunks = chunk_numbers(passages, CHUNK_TOKENS, count)
    return Ready(group, passages, members, sessions, chunks, Haystacked(passages, spec.context))


def run(
    dataset: Dataset,
    spec: Spec,
    scoring: Scoring,
    count: CountTokens,
    step: Callable[[], None] = lambda: None,
) -> Outcome:
    """Every row over every question; scores and candidates come from the store where it has them."""
    outcome = Outcome(spec)
    for group in dataset.groups():
        counted = lru_cache(maxsize=None)(count)
        prepared = ready(group, spec, counted)
        costs = _costs(prepared, spec, counted)
        ranked = _Rankings(prepared, spec, scoring)
        for question in group.questions:
            _one(question, prepared, costs, ranked, outcome)
            step()
    return outcome


def _one(
    question: BenchQuestion,
    prepared: Ready,
    costs: dict[str, tuple[cutting.Costs, cutting.Costs]],
    ranked: _Rankings,
    outcome: Outcome,
) -> None:
    gold = prepared.gold(question)
    outcome.ids.append(question.id)
    outcome.categories.append(question.category)
    outcome.abstention.append(question.abstention)
    outcome.turns.append(len(prepared.passages.turns))
    outcome.without_dense += len(prepared.passages.turns) > ranked.config.semantic_max_turns
    scored = ranked.begin(question)
    totals = {level: float(gold.total(level)) for level in LEVELS}
    outcome.add(("question",), totals | _agreement(scored, gold, outcome.scorer_ranks))
    if gold.turns:
        outcome.gold[question.id] = sorted(set(np.concatenate(gold.turns).tolist()))
    for key, rows in ranked.by_ranking.items():
        order = ranked.order(question, scored, rows[0])
        where = measures.placed(order, gold, len(prepared.sessions))
        found = measures.of_ranking(order, where, gold, prepared.chunks, prepared.sessions)
        outcome.add(("ranking", *key), found)
        if gold.turns:
            outcome.ranked.setdefault(key, {})[question.id] = order[: ir.DEPTH].tolist()
        spent = cutting.running(order, costs[""][0], prepared.sessions)
        outcome.add(("curve", *key), measures.curve(where, spent, BUDGETS))
        for row in rows:
            words, tokens = costs[row.cut.rendering]
            ce = _read_by(scored, row) if row.ranker.reads_ce else None
            kept = cutting.cut(order, ce, row.cut, words, tokens, prepared.sessions)
            outcome.add(("row", row.name), measures.of_cut(order, where, kept, gold, prepared.sessions))
            if row.name == outcome.spec.reference:
                outcome.kept[question.id] = (order, kept)
                if ce is not None:
                    outcome.read[question.id] = ~np.isnan(ce[order])


def _read_by(scored: Scored, row: Row) -> Floats | None:
    """The cross-encoder's scores as this ranker has them: NaN for what its cascade leaves out."""
    if row.ranker.kind != "cascade" or scored.ce is None:
        return scored.ce_of(row.ranker)
    pool = scored.pool(row.ranker, row.retrieval.name)
    seen = reading(row.ranker, pool, scored.colbert, scored.previous)
    masked = np.full(len(scored.ce), np.nan)
    masked[seen] = scored.ce[seen]
    return masked


def _agreement(scored: Scored, gold: Gold, ranks: list[tuple[int, int]]) -> dict[str, float]:
    """How far the two scorers agree over the turns both read, and the gold in the top 62 of either.

    The ranks of gold turns by both are added to `ranks`.
    """
    union = f"union@{measures.TOP}"
    nothing = {"spearman": float("nan"), union: float("nan")}
    if scored.ce is None or scored.colbert is None:
        return nothing
    read = np.flatnonzero(~np.isnan(scored.ce) & ~np.isnan(scored.colbert))
    places = np.full((2, len(scored.ce)), np.inf)
    for row, scores in enumerate((scored.ce, scored.colbert)):
        places[row, read[np.argsort(-scores[read], kind="stable")]] = np.arange(1, len(read) + 1)
    both = [places[:, inside].min(axis=1) for inside in gold.turns]
    ranks += [(int(a), int(b)) for a, b in both if np.isfinite(a + b)][: max(0, SCATTERED - len(ranks))]
    hit = sum(bool(pair.min() <= measures.TOP) for pair in both)
    return {"spearman": measures.spearman(scored.ce, scored.colbert), union: float(hit)}


class _Rankings:
    """The rows of a spec by ranking, and the order of each for one group's questions."""

    def __init__(self, prepared: Ready, spec: Spec, scoring: Scoring) -> None:
        self.config = scoring.config
        self._prepared, self._scoring = prepared, scoring
        self._wanted = [need for need in grid.needs(spec.rows) if need[0].name]
        self._rivals = {rival.name: rival for rival in spec.rivals}
        self._built: dict[str, Callable[[str], Floats]] = {}
        self._vectors: NDArray[np.float32] | None = None
        self.by_ranking: dict[tuple[str, str], list[Row]] = {}
        for row in spec.rows:
            self.by_ranking.setdefault((row.retrieval.name, row.ranker.name), []).append(row)

    def begin(self, question: BenchQuestion) -> Scored:
        return self._scoring.score(question, self._prepared.haystack, self._wanted)

    def order(self, question: BenchQuestion, scored: Scored, row: Row) -> Indices:
        if row.ranker.kind == "rival":
            scores = self._rival_scores(self._rivals[row.ranker.name], question.text)
            return np.argsort(-scores, kind="stable")
        return ordered(scored, row.retrieval.name, row.ranker, self._embedded)

    def _rival_scores(self, rival: Rival, question: str) -> Floats:
        haystack, store = self._prepared.haystack, self._scoring.store
        key = digest(rival.name, rival.version, question, haystack.key)
        held = store.get("rival", key)
        if held is None:
            if rival.name not in self._built:
                self._built[rival.name] = rival.build(haystack.corpus)
            held = self._built[rival.name](question)
            store.put("rival", key, held)
        return held.astype(np.float64)

    def _embedded(self) -> NDArray[np.float32]:
        """Embeddings of the passages for MMR, kept in the store."""
        if self._vectors is None:
            from smartsearch.bench.rivals import embedder

            haystack, store = self._prepared.haystack, self._scoring.store
            key = digest("minilm", haystack.key)
            held = store.get("vectors", key)
            if held is None:
                held = embedder().encode(haystack.texts(range(len(haystack.corpus.turns))))
                store.put("vectors", key, held)
            self._vectors = held.astype(np.float32)
        return self._vectors


def _costs(prepared: Ready, spec: Spec, count: CountTokens) -> dict[str, tuple[cutting.Costs, cutting.Costs]]:
    """Words and tokens of the passages under each rendering of the rows."""
    costs = {}
    for name in dict.fromkeys(["", *(row.cut.rendering for row in spec.rows)]):
        c = render.rendering(name).costs(prepared.passages, count)
        costs[name] = (
            cutting.Costs(c.words, c.header_words, c.legend_words),
            cutting.Costs(c.tokens, c.header_tokens, c.legend_tokens),
        )
    return costs
