"""Which ranker reads which candidates.

Both rankers over every candidate is the paper's way (`candidates` 0) and runs them in parallel
threads. The default spends less (docs/decisions/0002): words and static vectors, which encode nothing, say
what ColBERT reads, and ColBERT what of this the cross-encoder reads. A third scorer joins those that read all
or those that read the best of them (`RANKERS` in config.py). A listwise one reads the first few of their
order at last.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from smartsearch.config import RANKERS, Config
from smartsearch.rank.asked import askers, fair_scores, may_show
from smartsearch.rank.crossencoder import uncalibrated
from smartsearch.rank.features import SCORERS, Floats, after, among
from smartsearch.rank.fusion import Fusion, Ranking, fused, order
from smartsearch.rank.scorer import Scorer
from smartsearch.rank.static import STATIC, Static
from smartsearch.rank.text import shown
from smartsearch.retrieve.grep import Haystack
from smartsearch.retrieve.hops import Evidence
from smartsearch.retrieve.likely import likelihood
from smartsearch.types import GUESS, Candidate, Corpus, Query

_STAGE = {"ce": "crossencoder"}
"""What the time of a scorer is called in traces, if not by its name."""
FOLLOWED = 20
"""The turns after so many of ColBERT's best are ranked too: a reply may share no word with the question."""
FEW = 20
"""Where at most so many hits are wanted, fewer turns are read."""
FEW_TURNS, FEW_READ = 128, 48
"""What ColBERT and the cross-encoder then read; the latter's score of other turns is guessed
(docs/decisions/0002)."""
WORDS = 2.5
"""What the turn that holds most of the question's own words gains on its static score; others their share of
it (docs/decisions/0002)."""
FEEDBACK = ("HOP", "PRF")
"""Kinds of terms that are not the question's own."""
SHARE = 0.1
"""The share of the scores of the turns before and after that is added to a turn's (docs/decisions/0002)."""


@dataclass(frozen=True)
class Task:
    """A question, the candidates by match weight, which settles ties, and the scorers that may rank them.

    `fusion` is the learned one of these scorers, if there is one. `counts` says how many turns contain a
    term, `unread` how many turns were found beside the candidates. With `following`, which gives the turn
    after one or -1, the turns after the best become candidates too. With `fair`, turns that only ask the
    question count least. `near` gives the static score of turns
    (rank/static.py), shape (turns,), of indices that ascend.
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
    fair: bool = False
    near: Callable[[Sequence[int]], NDArray[np.float32]] | None = None

    @classmethod
    def of(
        cls,
        query: Query,
        evidence: Evidence,
        haystack: Haystack,
        config: Config,
        scorers: Mapping[str, Scorer],
        fusion: Fusion | None = None,
        static: Static | None = None,
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
            follows and not query.literal,
            partial(static, query.text, haystack) if static else None,
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
    """The candidates, the scores that each scorer gave, by index, and milliseconds per scorer.

    `near` are the static scores, `guess` the cross-encoder's of turns that it was spared. The turns at
    `asked` only ask the question.
    """

    candidates: Sequence[Candidate]
    by_name: Mapping[str, dict[int, float]] = field(default_factory=dict)
    spent: Mapping[str, float] = field(default_factory=dict)
    told: tuple[str, ...] = ()
    near: Mapping[int, float] = field(default_factory=dict)
    guess: Mapping[int, float] = field(default_factory=dict)
    asked: frozenset[int] = frozenset()

    @classmethod
    def begun(cls, task: Task, pool: Sequence[Candidate]) -> Scored:
        """Without a score; `pool` is what scorers are to read."""
        turns = may_show(task.corpus, [c.index for c in pool]) if task.fair else ()
        return cls(task.candidates, told=_told(task), asked=askers(task.question, task.corpus, turns))

    def read(self, task: Task, over: Sequence[int], *names: str) -> Scored:
        """With the scores of the turns `over` by these scorers too, several of them side by side."""

        def score(name: str) -> tuple[dict[int, float], float]:
            start = time.perf_counter()
            scorer, show = task.scorers[name], shown(task.config)
            values = fair_scores(task.question, task.corpus, over, scorer, show, self.asked, name == "ce")
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
    ordered, near = first(task)
    pool = _pool(task, ordered)
    if not task.names:
        return by_the_first_stage(task, ordered, near)
    share = _share(task.config, len(pool)) if task.wide and task.deep else len(pool)
    scored = everyone_reads(task, pool) if share == len(pool) else the_best_go_deeper(task, pool, share)
    return the_first_are_read_as_a_list(task, replace(scored, near=_near(task, scored, near)))


def by_the_first_stage(task: Task, ordered: Sequence[Candidate], near: Mapping[int, float]) -> Scored:
    """No scorer reads: the candidates as `ordered`, but those that only ask the question come last."""
    scored = Scored.begun(task, ordered)
    return replace(scored, candidates=sorted(ordered, key=lambda c: c.index in scored.asked), near=near)


def everyone_reads(task: Task, pool: Sequence[Candidate]) -> Scored:
    """Every scorer reads all of `pool`, side by side."""
    return Scored.begun(task, pool).read(task, [c.index for c in pool], *task.names)


def the_best_go_deeper(task: Task, pool: Sequence[Candidate], share: int) -> Scored:
    """The first scorer reads `pool` and what follows its best, the deep ones the best `share` of these."""
    guide = task.wide[0]
    corpus, read = task.corpus, [c.index for c in pool]
    scored = Scored.begun(task, pool)
    for name in task.wide:
        scored = scored.read(task, read, name)
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
    spared = best[FEW_READ:] if _few(task) else []
    for name in task.deep:
        scored = scored.read(task, best[: len(best) - len(spared)], name)
    if spared and task.fusion:
        scored = replace(scored, guess=task.fusion.guesses(scored.by_name[guide], spared))
    return scored


def the_first_are_read_as_a_list(task: Task, scored: Scored) -> Scored:
    """A listwise scorer reads the first few of the others' order, as many as its setting says."""
    for name in task.config.rank:
        count = RANKERS[name].first if name in task.scorers else ""
        if count:
            ours = fuse(task, scored).candidates[: getattr(task.config, count)]
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
    known = scores | {"ce": {**scores["ce"], **scored.guess}} if scored.guess else scores
    near = dict.fromkeys(scored.asked, min(scored.near.values(), default=0.0))
    learned = wanted.over(task.question, known, task.corpus, {**scored.near, **near}) if wanted else {}
    if "ce" in scores and not config.calibrate:
        ce = scores["ce"]
        own = uncalibrated(np.array(list(ce.values())), task.scorers["ce"].calibration)
        scores["ce"] = dict(zip(ce, own.tolist(), strict=True))
    spent = {_STAGE.get(name, name): milliseconds for name, milliseconds in scored.spent.items()}
    told = {STATIC: scored.near, GUESS: scored.guess}
    ranking = fused(scored.candidates, scores, learned, config, told)
    return replace(ranking, timing_ms=spent, degraded=scored.told, asked=scored.asked)


def first(task: Task) -> tuple[Sequence[Candidate], dict[int, float]]:
    """The candidates in the order of the first stage, and their static scores by index.

    It is the static score and what the question's own words weigh, each times its rarity, beside the most
    that they weigh in a turn; without static vectors the weight of all words.
    """
    if task.config.first != "static":
        return task.candidates, {}
    if task.near is None:
        likely = likelihood(task.candidates, task.corpus, task.counts)
        return sorted(task.candidates, key=lambda c: -likely[c.index]), {}
    own = [replace(c, terms=tuple(t for t in c.terms if t.kind not in FEEDBACK)) for c in task.candidates]
    likely = likelihood(own, task.corpus, task.counts)
    turns = sorted(likely)
    near = dict(zip(turns, task.near(turns).tolist(), strict=True))
    share = WORDS / max(max(likely.values(), default=0.0), 1e-9)
    return sorted(task.candidates, key=lambda c: -near[c.index] - share * likely[c.index]), near


def _near(task: Task, scored: Scored, near: Mapping[int, float]) -> Mapping[int, float]:
    """The static scores of all candidates, those too that came to them since the first stage."""
    new = sorted({c.index for c in scored.candidates} - near.keys())
    return {**near, **dict(zip(new, task.near(new).tolist(), strict=True))} if near and task.near else near


def _pool(task: Task, ordered: Sequence[Candidate]) -> Sequence[Candidate]:
    """The candidates that a scorer reads, as given: the first by `ordered`, where there are more."""
    config = task.config
    if task.wide and task.deep:
        turns = min(FEW_TURNS, config.colbert_turns) if _few(task) else config.colbert_turns
        most = None if config.candidates == 0 else turns
    else:
        most = (config.candidates if config.candidates > 0 else None) if task.names else 0
    chosen = {c.index for c in ordered[:most]}
    return [c for c in task.candidates if c.index in chosen]


def _share(config: Config, pool: int) -> int:
    """How many of `pool` candidates the cross-encoder sees: all (0), the default (-1) or as given."""
    if config.candidates == 0:
        return pool
    return min(pool, config.cascade if config.candidates < 0 else config.candidates)


def _few(task: Task) -> bool:
    """Whether so few hits are wanted that the scorers need not read all that they might."""
    config, guesses = task.config, task.fusion is not None and bool(task.fusion.line)
    both = set(task.names) == set(SCORERS) and config.fuse == "learned"
    return guesses and both and 0 < (config.wanted or config.limit) <= FEW and config.candidates < 0


def _after_best(scores: Mapping[int, float], following: Callable[[int], int]) -> list[int]:
    """The turns after the best ones that are not among them."""
    behind = [following(index) for index in order(scores)[:FOLLOWED]]
    return [index for index in behind if index >= 0 and index not in scores]


def _told(task: Task) -> tuple[str, ...]:
    """That not all turns that were found could be looked at."""
    if not task.unread or not task.names:
        return ()
    found = len(task.candidates)
    return (f"{found + task.unread} turns were found; the {found} likeliest by their words were ranked",)
