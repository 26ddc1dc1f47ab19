"""Which ranker sees which candidates, side by side where both see all, and the fused order.

Both rankers over every candidate is the paper's way (`candidates` 0) and runs them in parallel
threads. The default spends less: ColBERT scores all, the cross-encoder the best of them (head.py), one after
the other because the second needs the first, and of a large corpus only for as long as it finds better ones
(docs/decisions/0002). A third scorer joins those that read all or those that read the best of them
(`RANKERS` in config.py); then RRF fuses. A listwise one reads the first few of the others' order at last.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from smartsearch.config import RANKERS, Config
from smartsearch.rank.crossencoder import uncalibrated
from smartsearch.rank.fuse import order, rrf
from smartsearch.rank.fusion import Fusion
from smartsearch.rank.head import among, head
from smartsearch.rank.learned import FAR
from smartsearch.rank.text import shown
from smartsearch.rank.windows import turn_scores
from smartsearch.retrieve.likely import FIRST, PART, by_likelihood, likeliest, worth_more
from smartsearch.retrieve.semantic import Scorer
from smartsearch.types import Candidate, Corpus, Scores

_LEARNED = ("ce", "colbert")
"""The scorers that the learned fusion weighs; each has a field of its own in `Scores`."""
LIST = "list"
"""What the list added to a turn's fused score, among its scores (rank/set_encoder.py)."""
_STAGE = {"ce": "crossencoder"}
"""What the time of a scorer is called, where not by its name."""
FOLLOWED = 20
"""The turns after so many of the best by ColBERT are ranked too: a reply may share no word with it."""


@dataclass(frozen=True)
class Ranking:
    """Candidates in final order with their scores, milliseconds a scorer, and what was left out.

    `pinned` are the indices of turns that no score cuts off.
    """

    candidates: tuple[Candidate, ...]
    scores: tuple[Scores, ...]
    timing_ms: Mapping[str, float]
    degraded: tuple[str, ...] = ()
    pinned: frozenset[int] = frozenset()

    def reordered(self, order: Sequence[int], pinned: Iterable[int] = ()) -> Ranking:
        """With the candidates that stand at `order`, in that order, and those at `pinned` pinned."""
        return replace(
            self,
            candidates=tuple(self.candidates[n] for n in order),
            scores=tuple(self.scores[n] for n in order),
            pinned=self.pinned | {self.candidates[n].index for n in pinned},
        )


@dataclass(frozen=True)
class _Scored:
    by_index: dict[int, float]
    milliseconds: float

    def uncalibrated(self, scorer: Scorer) -> _Scored:
        values = uncalibrated(np.array(list(self.by_index.values())), scorer)
        return _Scored(dict(zip(self.by_index, values.tolist(), strict=True)), self.milliseconds)

    def beside(self, other: _Scored) -> _Scored:
        """Both as one."""
        return _Scored(self.by_index | other.by_index, self.milliseconds + other.milliseconds)


def rank(
    question: str,
    candidates: Sequence[Candidate],
    corpus: Corpus,
    scorers: Mapping[str, Scorer],
    config: Config,
    fusion: Fusion | None = None,
    counts: Mapping[str, int] | None = None,
    unread: int = 0,
    following: Callable[[int], int] | None = None,
) -> Ranking:
    """Score `candidates` (given by match weight, which settles ties) and fuse; all of them come back.

    `counts` says how many turns contain a term, `unread` how many were found beside the candidates. With
    `following`, which gives the turn after one or -1, the turns after the best become candidates too.

    A turn's score is that of `turn_scores`. `fusion` is the
    learned one of these two, if there is one.
    """
    last = [name for name in config.rank if name in scorers and RANKERS[name].first]
    names = [name for name in config.rank if name in scorers and name not in last]
    wide = [name for name in RANKERS if name in names and not RANKERS[name].head]
    deep = [name for name in names if name not in wide]
    degraded: list[str] = []
    size = _pool_size(config, wide, deep)
    read = candidates if size is None else likeliest(candidates, corpus, counts or {}, size)
    pool = [c.index for c in read]

    def score(name: str, over: Sequence[int]) -> _Scored:
        start = time.perf_counter()
        values = turn_scores(question, corpus, over, scorers[name], shown(config))
        spent = (time.perf_counter() - start) * 1000.0
        return _Scored(dict(zip(over, values.tolist(), strict=True)), spent)

    scored: dict[str, _Scored] = {}
    if wide and deep:
        found, ranked = len(candidates) + unread, len(pool)
        share = _cross_encoder_share(config, len(pool))
        if share == len(pool):
            with ThreadPoolExecutor(len(names)) as threads:
                jobs = {name: threads.submit(score, name, pool) for name in names}
                scored = {name: job.result() for name, job in jobs.items()}
        else:
            guide = wide[0]
            if size is not None and len(corpus.turns) > config.semantic_max_turns:
                likely = [c.index for c in by_likelihood(read, corpus, counts or {})]
                scored[guide] = _while_worth(likely, partial(score, guide))
                pool = [i for i in pool if i in scored[guide].by_index]
            scored |= {name: score(name, pool) for name in wide if name not in scored}
            ranked = len(pool)
            beside = _after_best(scored[guide].by_index, following) if following else []
            if beside:
                scored = {name: some.beside(score(name, beside)) for name, some in scored.items()}
                candidates = (*candidates, *(Candidate(i, (), 0.0, 0) for i in beside))
                pool += beside
            late = np.array([scored[guide].by_index[i] for i in pool])
            best = [pool[n] for n in head(among(corpus.previous, pool), late, share)] if pool else []
            scored |= {name: score(name, best) for name in deep}
        if ranked < found:
            degraded.append(
                f"{found} turns were found; the {ranked} likeliest were ranked "
                "(--candidates all ranks every one and takes longer)"
            )
    else:
        scored = {name: score(name, pool) for name in names}
    learned = _learned(question, scored, corpus, fusion) if fusion and config.fuse == "learned" else {}
    if "ce" in scored and not config.calibrate:
        scored["ce"] = scored["ce"].uncalibrated(scorers["ce"])
    for name in last:
        ours = _fused(candidates, scored, config, (), learned).candidates
        first = [candidate.index for candidate in ours[: getattr(config, RANKERS[name].first)]]
        scored[name], learned = score(name, first), {}
    return _fused(candidates, scored, config, tuple(degraded), learned)


def _while_worth(likely: Sequence[int], score: Callable[[Sequence[int]], _Scored]) -> _Scored:
    """The scores of the likeliest turns, and of further ones for as long as these are among the best."""
    scored = score(likely[:FIRST])
    for start in range(FIRST, len(likely), PART):
        part = likely[start : start + PART]
        scored = scored.beside(score(part))
        if not worth_more(scored.by_index, part):
            break
    return scored


def _after_best(scores: Mapping[int, float], following: Callable[[int], int]) -> list[int]:
    """The turns after the best ones that are not among them."""
    after = [following(index) for index in order(scores)[:FOLLOWED]]
    return [index for index in after if index >= 0 and index not in scores]


def _learned(
    question: str, scored: Mapping[str, _Scored], corpus: Corpus, fusion: Fusion
) -> dict[int, tuple[float, float]]:
    """The learned fusion's score of each turn that both rankers read, and the list's part of it.

    There is none beside a third ranker.
    """
    if set(scored) != set(_LEARNED):
        return {}
    both = scored["ce"].by_index.keys() & scored["colbert"].by_index.keys()
    turns = _with_neighbours(both, corpus)
    previous = among(corpus.previous, turns)
    values = {
        name: np.array([result.by_index.get(index, np.nan) for index in turns])
        for name, result in scored.items()
    }
    read = np.flatnonzero(~np.isnan(values["ce"]) & ~np.isnan(values["colbert"]))
    said = [corpus.turns[index] for index in turns]
    fused = fusion(question, said, previous, values["ce"], values["colbert"], read)
    both_parts = zip(fused.scores.tolist(), fused.added.tolist(), strict=True)
    return {turns[n]: parts for n, parts in zip(read.tolist(), both_parts, strict=True)}


def _with_neighbours(turns: Iterable[int], corpus: Corpus) -> list[int]:
    """`turns` and the FAR turns of the session on either side of each, in order."""
    found = set(turns)
    for start in turns:
        before = after = start
        for _ in range(FAR):
            before = corpus.previous[before] if before >= 0 else -1
            after = corpus.following(after) if after >= 0 else -1
            found.update((before, after))
    return sorted(found - {-1})


def _pool_size(config: Config, wide: Sequence[str], deep: Sequence[str]) -> int | None:
    """How many candidates any ranker sees, None for all; where some see the best, the `wide` see most."""
    if wide and deep:
        return None if config.candidates == 0 else config.colbert_turns
    if not (wide or deep):
        return 0
    return config.candidates if config.candidates > 0 else None


def _cross_encoder_share(config: Config, pool: int) -> int:
    """How many of `pool` candidates the cross-encoder sees: all (0), the default (-1) or as given."""
    if config.candidates == 0:
        return pool
    return min(pool, config.cascade if config.candidates < 0 else config.candidates)


def _fused(
    candidates: Sequence[Candidate],
    scored: Mapping[str, _Scored],
    config: Config,
    degraded: tuple[str, ...],
    learned: Mapping[int, tuple[float, float]],
) -> Ranking:
    """One order out of the rankers' orders. What no ranker saw comes last, by match weight.

    The turns with a `learned` score come first, by it; RRF orders the others.
    """
    position = {c.index: n for n, c in enumerate(candidates)}
    rankings = []
    for name, result in scored.items():
        stable = {i: result.by_index[i] for i in sorted(result.by_index, key=position.__getitem__)}
        rankings.append((config.weight_of(name), order(stable)))
    fused = rrf(rankings, config.rrf_k)
    ranked = sorted(
        candidates,
        key=lambda c: (-learned.get(c.index, (-math.inf,))[0], -fused.get(c.index, 0.0), position[c.index]),
    )
    of: dict[str, Mapping[int, float]] = {name: result.by_index for name, result in scored.items()}
    ce, colbert = (of.pop(name, {}) for name in _LEARNED)
    if any(added for _, added in learned.values()):
        of[LIST] = {index: added for index, (_, added) in learned.items()}
    scores = tuple(
        Scores(
            c.weight,
            ce.get(c.index),
            colbert.get(c.index),
            fused.get(c.index, 0.0),
            learned[c.index][0] if c.index in learned else None,
            {name: values[c.index] for name, values in of.items() if c.index in values},
        )
        for c in ranked
    )
    spent = {_STAGE.get(name, name): result.milliseconds for name, result in scored.items()}
    return Ranking(tuple(ranked), scores, spent, degraded)
