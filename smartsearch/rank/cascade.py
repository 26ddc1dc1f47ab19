"""Which ranker reads which candidates.

Both rankers over every candidate is the paper's way (`candidates` 0) and runs them in parallel
threads. The default spends less: ColBERT scores all, the cross-encoder the best of them, one after
the other because the second needs the first, and of a large corpus only for as long as it finds better ones
(docs/decisions/0002). A third scorer joins those that read all or those that read the best of them
(`RANKERS` in config.py). A listwise one reads the first few of the others' order at last.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from smartsearch.config import RANKERS, Config
from smartsearch.rank.crossencoder import uncalibrated
from smartsearch.rank.features import Floats, after, among
from smartsearch.rank.fusion import Fusion, Ranking, fused, order
from smartsearch.rank.scorer import Scorer
from smartsearch.rank.text import shown
from smartsearch.rank.windows import turn_scores
from smartsearch.retrieve.grep import Haystack
from smartsearch.retrieve.hops import Evidence
from smartsearch.retrieve.likely import FIRST, PART, by_likelihood, likeliest, worth_more
from smartsearch.types import Candidate, Corpus, Query

_STAGE = {"ce": "crossencoder"}
"""What the time of a scorer is called in traces, if not by its name."""
FOLLOWED = 20
"""The turns after so many of the best by ColBERT are ranked too: a reply may share no word with it."""
SHARE = 0.1
"""Of the score of the turn before, and of the turn after, that a turn's own gains (docs/decisions/0002)."""


@dataclass(frozen=True)
class Task:
    """A question, the candidates by match weight, which settles ties, and the scorers that may rank them.

    `fusion` is the learned one of these scorers, if there is one. `counts` says how many turns contain a
    term, `unread` how many turns were found beside the candidates. With `following`, which gives the turn
    after one or -1, the turns after the best become candidates too.
    """

    question: str
    candidates: Sequence[Candidate]
    corpus: Corpus
    scorers: Mapping[str, Scorer]
    config: Config
    fusion: Fusion | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    unread: int = 0
    following: Callable[[int], int] | None = None

    @classmethod
    def of(
        cls,
        query: Query,
        evidence: Evidence,
        haystack: Haystack,
        config: Config,
        scorers: Mapping[str, Scorer],
        fusion: Fusion | None = None,
    ) -> Task:
        """What retrieval gathered, to be ranked as a search does."""
        follows = config.typed and config.lift and config.mode == "or"
        return cls(
            query.text,
            evidence.candidates,
            haystack.corpus,
            scorers,
            config,
            fusion,
            evidence.counts,
            evidence.unread,
            haystack.following if follows else None,
        )

    @property
    def names(self) -> list[str]:
        """The scorers that run, without those that read the others' order."""
        return [name for name in self.config.rank if name in self.scorers and not RANKERS[name].first]

    @property
    def wide(self) -> list[str]:
        """The scorers that may read all; the order of the first says what the deep ones read."""
        return [name for name in RANKERS if name in self.names and not RANKERS[name].head]

    @property
    def deep(self) -> list[str]:
        """The scorers that read only the best where others read all."""
        return [name for name in self.names if name not in self.wide]


@dataclass(frozen=True)
class Scored:
    """The candidates, the scores that each scorer gave, by index, and milliseconds per scorer."""

    candidates: Sequence[Candidate]
    by_name: Mapping[str, dict[int, float]] = field(default_factory=dict)
    spent: Mapping[str, float] = field(default_factory=dict)
    told: tuple[str, ...] = ()

    def read(self, task: Task, over: Sequence[int], *names: str) -> Scored:
        """With the scores of the turns `over` by these scorers too, several of them side by side."""

        def score(name: str) -> tuple[dict[int, float], float]:
            start = time.perf_counter()
            values = turn_scores(task.question, task.corpus, over, task.scorers[name], shown(task.config))
            spent = (time.perf_counter() - start) * 1000.0
            return dict(zip(over, values.tolist(), strict=True)), spent

        if len(names) > 1:
            with ThreadPoolExecutor(len(names)) as threads:
                found = list(threads.map(score, names))
        else:
            found = list(map(score, names))
        by_name, spent = dict(self.by_name), dict(self.spent)
        for name, (values, took) in zip(names, found, strict=True):
            by_name[name] = by_name.get(name, {}) | values
            spent[name] = spent.get(name, 0.0) + took
        return replace(self, by_name=by_name, spent=spent)


def rank(task: Task) -> Ranking:
    """Score the candidates and fuse; all of them come back."""
    return fuse(task, score(task))


def score(task: Task) -> Scored:
    """Each scorer's scores of the candidates that it is to read."""
    pool = _pool(task)
    share = _share(task.config, len(pool)) if task.wide and task.deep else len(pool)
    scored = everyone_reads(task, pool) if share == len(pool) else the_best_go_deeper(task, pool, share)
    return the_first_are_read_as_a_list(task, scored)


def everyone_reads(task: Task, pool: Sequence[Candidate]) -> Scored:
    """Every scorer reads all of `pool`, side by side."""
    scored = Scored(task.candidates, told=_told(task, len(pool)))
    return scored.read(task, [c.index for c in pool], *task.names)


def the_best_go_deeper(task: Task, pool: Sequence[Candidate], share: int) -> Scored:
    """The first scorer reads `pool` and what follows its best, the deep ones the best `share` of these."""
    guide, *others = task.wide
    corpus, read = task.corpus, [c.index for c in pool]
    if len(corpus.turns) > task.config.semantic_max_turns:
        likely = [c.index for c in by_likelihood(pool, corpus, task.counts)]
        scored = _while_worth(task, likely, guide)
        read = [index for index in read if index in scored.by_name[guide]]
    else:
        scored = Scored(task.candidates).read(task, read, guide)
    for name in others:
        scored = scored.read(task, read, name)
    scored = replace(scored, told=_told(task, len(read)))
    beside = _after_best(scored.by_name[guide], task.following) if task.following else []
    if beside:
        for name in task.wide:
            scored = scored.read(task, beside, name)
        found = {c.index for c in task.candidates}
        more = (Candidate(index, (), 0.0, 0) for index in beside if index not in found)
        scored = replace(scored, candidates=(*task.candidates, *more))
        read += beside
    late = np.array([scored.by_name[guide][index] for index in read])
    best = [read[n] for n in head(among(corpus.previous, read), late, share)] if read else []
    for name in task.deep:
        scored = scored.read(task, best, name)
    return scored


def the_first_are_read_as_a_list(task: Task, scored: Scored) -> Scored:
    """A listwise scorer reads the first few of the others' order, as many as its setting says."""
    for name in task.config.rank:
        first = RANKERS[name].first if name in task.scorers else None
        if first:
            ours = fuse(task, scored).candidates[: first(task.config)]
            scored = scored.read(task, [candidate.index for candidate in ours], name)
    return scored


def head(previous: Sequence[int], colbert: Floats, most: int) -> NDArray[np.int64]:
    """Places of the `most` turns that are likeliest by ColBERT, best first, of equal ones the first.

    `colbert` has the score of each, shape (turns,), `previous` the place of the turn before it (`among`). A
    neighbour that is not among them counts as the lowest of them. All of them come in ColBERT's own order.
    """
    scores = colbert
    if most < len(colbert):
        known = np.append(colbert, colbert.min())
        near = known[np.asarray(previous, dtype=np.int64)] + known[after(previous)]
        scores = np.asarray(colbert + SHARE * near)
    return np.argsort(-scores, kind="stable")[:most]


def fuse(task: Task, scored: Scored) -> Ranking:
    """The candidates in one order: by the learned fusion where there is one, else by RRF."""
    scores, config = dict(scored.by_name), task.config
    wanted = task.fusion if config.fuse == "learned" else None
    learned = wanted.over(task.question, scores, task.corpus) if wanted else {}
    if "ce" in scores and not config.calibrate:
        ce = scores["ce"]
        own = uncalibrated(np.array(list(ce.values())), task.scorers["ce"].calibration)
        scores["ce"] = dict(zip(ce, own.tolist(), strict=True))
    spent = {_STAGE.get(name, name): milliseconds for name, milliseconds in scored.spent.items()}
    return replace(fused(scored.candidates, scores, learned, config), timing_ms=spent, degraded=scored.told)


def _pool(task: Task) -> Sequence[Candidate]:
    """The candidates that a scorer reads: the likeliest by their words, where there are more than it can."""
    config = task.config
    if task.wide and task.deep:
        most = None if config.candidates == 0 else config.colbert_turns
    else:
        most = (config.candidates if config.candidates > 0 else None) if task.names else 0
    return task.candidates if most is None else likeliest(task.candidates, task.corpus, task.counts, most)


def _share(config: Config, pool: int) -> int:
    """How many of `pool` candidates the cross-encoder sees: all (0), the default (-1) or as given."""
    if config.candidates == 0:
        return pool
    return min(pool, config.cascade if config.candidates < 0 else config.candidates)


def _while_worth(task: Task, likely: Sequence[int], name: str) -> Scored:
    """The scores of the likeliest turns, and of further ones for as long as these are among the best."""
    scored = Scored(task.candidates).read(task, likely[:FIRST], name)
    for start in range(FIRST, len(likely), PART):
        part = likely[start : start + PART]
        scored = scored.read(task, part, name)
        if not worth_more(scored.by_name[name], part):
            break
    return scored


def _after_best(scores: Mapping[int, float], following: Callable[[int], int]) -> list[int]:
    """The turns after the best ones that are not among them."""
    behind = [following(index) for index in order(scores)[:FOLLOWED]]
    return [index for index in behind if index >= 0 and index not in scores]


def _told(task: Task, ranked: int) -> tuple[str, ...]:
    """That not all candidates were ranked, where both kinds of scorers run."""
    found = len(task.candidates) + task.unread
    if ranked >= found or not (task.wide and task.deep):
        return ()
    return (
        f"{found} turns were found; the {ranked} likeliest were ranked "
        "(--candidates all ranks every one and takes longer)",
    )
