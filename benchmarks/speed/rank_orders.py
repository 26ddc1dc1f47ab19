"""Which cheap order of many candidates loses least gold at the cut before the rankers.

    python benchmarks/speed/rank_orders.py --data ../shared/data/eval --every 16

All conversations of a dataset become one corpus; the pipeline's own retrieval finds the candidates of each
question; each order puts the best first; the table says how much of the gold that was found stands in
the first 128, 256, ... of it. ColBERT over all candidates is the upper bound. With --ranked also what is left
in the first 62 when both rankers have read what each size of the cascade lets them.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from smartsearch.bench.datasets import open_dataset
from smartsearch.bench.types import BenchQuestion
from smartsearch.config import Config, build
from smartsearch.models import profiles
from smartsearch.models.tools import Tools
from smartsearch.rank.cascade import rank
from smartsearch.rank.windows import best_windows, scored_windows
from smartsearch.retrieve.grep import Haystack
from smartsearch.retrieve.hops import Evidence, gather
from smartsearch.retrieve.likely import AFTER, BEFORE, rarity
from smartsearch.retrieve.semantic import Scorer
from smartsearch.systems.smartsearch.pipeline import dense_search
from smartsearch.types import Candidate, Corpus, Turn, fold

CUTS = (128, 256, 512, 1024, 2048)
TOP = 62
"""Turns in 2,000 words, as in docs/results.md."""
SIZES = ((256, 112), (512, 112), (1024, 112), (2048, 112), (1024, 64), (1024, 80), (1024, 128), (0, 112))
"""Turns that ColBERT and the cross-encoder read; 0 is all."""

Floats = NDArray[np.float64]
Order = Callable[[Sequence[Candidate], Haystack], list[int]]
"""Candidates, given by match weight, as turn indices with the best first."""


def by_weight(candidates: Sequence[Candidate], _: Haystack) -> list[int]:
    """As now: by match weight, ties in corpus order."""
    return _best(candidates, [c.weight for c in candidates])


def by_rarity(candidates: Sequence[Candidate], haystack: Haystack) -> list[int]:
    """Each term's weight times how rare it is: log of turns over turns with the term."""
    return _best(candidates, rare_weights(candidates, haystack))


def by_rarity_alone(candidates: Sequence[Candidate], haystack: Haystack) -> list[int]:
    """The summed rarity of the terms, whatever their weights."""
    rarity = rarities(candidates, haystack)
    return _best(candidates, [sum(rarity[fold(t.text)] for t in c.terms) for c in candidates])


def by_neighbours(candidates: Sequence[Candidate], haystack: Haystack) -> list[int]:
    """Match weight, with half that of the turn before and .3 of that of the turn after."""
    return _best(candidates, with_neighbours(candidates, [c.weight for c in candidates], haystack))


def by_rarity_and_neighbours(candidates: Sequence[Candidate], haystack: Haystack) -> list[int]:
    """Weight times rarity, with the neighbours' share."""
    return _best(candidates, with_neighbours(candidates, rare_weights(candidates, haystack), haystack))


ORDERS: dict[str, Order] = {
    "match weight (now)": by_weight,
    "weight x rarity": by_rarity,
    "rarity alone": by_rarity_alone,
    "weight + neighbours": by_neighbours,
    "both (retrieve/likely.py)": by_rarity_and_neighbours,
}


def by_colbert(question: str, scorer: Scorer) -> Order:
    """ColBERT's order for one question: what a cheap order is to come near to."""

    def order(candidates: Sequence[Candidate], haystack: Haystack) -> list[int]:
        windows = scored_windows(question, haystack.corpus, [c.index for c in candidates])
        return _best(candidates, best_windows(question, windows, scorer)[0].tolist())

    return order


def rarities(candidates: Sequence[Candidate], haystack: Haystack) -> dict[str, float]:
    """The rarity of each folded term, above 0. How many turns have it is counted among the candidates.

    That needs no further scan: every turn with a term is one, less those where a longer phrase counts.
    """
    counts = Counter(fold(term.text) for c in candidates for term in c.terms)
    return {key: rarity(len(haystack), count) for key, count in counts.items()}


def rare_weights(candidates: Sequence[Candidate], haystack: Haystack) -> list[float]:
    """The sum of weight times rarity over each candidate's terms."""
    rarity = rarities(candidates, haystack)
    return [sum(t.weight * rarity[fold(t.text)] for t in c.terms) for c in candidates]


def with_neighbours(
    candidates: Sequence[Candidate], weights: Sequence[float], haystack: Haystack
) -> list[float]:
    """Each weight with its share of the neighbours' in the same session; turns not found weigh nothing."""
    previous = haystack.corpus.previous
    known = {c.index: weight for c, weight in zip(candidates, weights, strict=True)}
    found = []
    for c, weight in zip(candidates, weights, strict=True):
        before, after = previous[c.index], c.index + 1
        near = known.get(before, 0.0) * BEFORE if before >= 0 else 0.0
        if after < len(previous) and previous[after] == c.index:
            near += known.get(after, 0.0) * AFTER
        found.append(weight + near)
    return found


def _best(candidates: Sequence[Candidate], scores: Sequence[float]) -> list[int]:
    """Turn indices by descending score, ties in corpus order."""
    ranked = sorted(zip(scores, (c.index for c in candidates)), key=lambda pair: (-pair[0], pair[1]))
    return [index for _, index in ranked]


class Remembered:
    """A scorer that reads each text once a question."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer
        self._question, self._known = "", dict[str, float]()

    def __call__(self, question: str, texts: Sequence[str]) -> Floats:
        """As the scorer."""
        if question != self._question:
            self._question, self._known = question, {}
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known |= zip(new, self._scorer(question, new).tolist(), strict=True)
        return np.array([self._known[text] for text in texts])


def ranked(
    question: str, evidence: Evidence, haystack: Haystack, tools: Tools, config: Config
) -> Iterator[tuple[str, list[int]]]:
    """For each of SIZES its name and the first TOP turns."""
    for turns, pairs in SIZES:
        own = replace(config, colbert_turns=turns or len(haystack), cascade=pairs)
        some = rank(
            question, evidence.candidates, haystack.corpus, tools.scorers, own, tools.fusion, evidence.counts
        )
        name = f"ColBERT {f'{turns:,}' if turns else 'all'}, cross-encoder {pairs}"
        yield name, [c.index for c in some.candidates[:TOP]]


@dataclass
class Tally:
    """Gold within each cut, summed over questions, and milliseconds an order took."""

    within: Counter[int] = field(default_factory=Counter)
    spent: list[float] = field(default_factory=list)

    def add(self, order: Sequence[int], gold: frozenset[int], milliseconds: float) -> None:
        """Count one question's gold."""
        at = {index: place for place, index in enumerate(order)}
        for cut in CUTS:
            self.within[cut] += sum(at.get(index, cut) < cut for index in gold)
        self.spent.append(milliseconds)


def joined(path: Path, every: int) -> tuple[Corpus, list[BenchQuestion]]:
    """All conversations of a dataset as one corpus; every Nth question with gold, its gold moved along."""
    turns: list[Turn] = []
    questions: list[BenchQuestion] = []
    for group in open_dataset(str(path)).groups():
        first = len(turns)
        turns += group.corpus.turns
        questions += [
            replace(q, gold=frozenset(first + place for place in q.gold)) for q in group.questions if q.gold
        ]
    return Corpus(tuple(turns)), questions[::every]


def measured(
    corpus: Corpus,
    questions: Sequence[BenchQuestion],
    tools: Tools,
    config: Config,
    *,
    colbert: bool,
    both: bool = False,
) -> dict[str, object]:
    """Retrieval once a question, every order over its candidates; with `both` the rankers' too."""
    haystack = Haystack(corpus)
    last: Counter[str] = Counter()
    tools = replace(tools, scorers={name: Remembered(scorer) for name, scorer in tools.scorers.items()})
    tallies = {name: Tally() for name in (*ORDERS, *(["ColBERT over all"] if colbert else []))}
    counts, gold, found = [], 0, 0
    for number, question in enumerate(questions, 1):
        query = tools.parser.parse(question.text, config)
        dense = dense_search(query, haystack, config, tools, [])
        evidence = gather(query, haystack, tools.parser, config, dense)
        candidates = evidence.candidates
        inside = question.gold.intersection(c.index for c in candidates)
        counts.append(len(candidates))
        gold, found = gold + len(question.gold), found + len(inside)
        for name, tally in tallies.items():
            order = ORDERS.get(name) or by_colbert(question.text, tools.scorers["colbert"])
            start = time.perf_counter()
            best = order(candidates, haystack)
            tally.add(best, frozenset(inside), (time.perf_counter() - start) * 1000.0)
        for name, order in ranked(question.text, evidence, haystack, tools, config) if both else ():
            last[name] += len(question.gold.intersection(order))
        if sys.stderr.isatty():
            print(f"\r{number} of {len(questions)}", end="", file=sys.stderr)
    return {
        "turns": len(corpus.turns),
        "questions": len(questions),
        "gold": gold,
        "found": found,
        "candidates": {"median": float(np.median(counts)), "most": max(counts)},
        "more_than": {cut: sum(count > cut for count in counts) for cut in CUTS},
        "orders": {
            name: {"within": dict(tally.within), "ms": round(float(np.median(tally.spent)), 2)}
            for name, tally in tallies.items()
        },
        "ranked": dict(last),
    }


def table(name: str, result: dict[str, object]) -> Iterator[str]:
    """The result in lines for a terminal: recall of the gold that retrieval found."""
    found, candidates, more = result["found"], result["candidates"], result["more_than"]
    assert isinstance(candidates, dict)
    assert isinstance(more, dict)
    assert isinstance(found, int)
    yield (
        f"{name}: {result['turns']:,} turns, {result['questions']} questions, gold {result['gold']}, "
        f"found {found}; candidates: median {candidates['median']:,.0f}, most {candidates['most']:,}"
    )
    yield f"{'order':<32}" + "".join(f"{cut:>9,}" for cut in CUTS) + f"{'ms':>10}"
    orders = result["orders"]
    assert isinstance(orders, dict)
    for order, figures in orders.items():
        shares = (figures["within"].get(cut, 0) / found if found else math.nan for cut in CUTS)
        yield f"{order:<32}" + "".join(f"{share:>9.1%}" for share in shares) + f"{figures['ms']:>10,.1f}"
    yield f"{'questions with more candidates':<32}" + "".join(f"{more[cut]:>9,}" for cut in CUTS)
    last = result.get("ranked", {})
    assert isinstance(last, dict)
    for name, kept in last.items():
        yield f"{name:<40}{kept / result['gold']:>9.1%} of the gold in the first {TOP}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[3] / "shared/data/eval")
    parser.add_argument("--sets", default="locomo10.json,beam/100K", help="below --data, comma-separated")
    parser.add_argument("--every", type=int, default=16, help="every Nth question with gold")
    parser.add_argument("--no-colbert", action="store_true", help="leave out the upper bound: minutes less")
    parser.add_argument("--ranked", action="store_true", help="rank too: seconds a question")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    given = parser.parse_args(arguments)
    config = build({})
    tools = profiles.load(config)
    results = {}
    for name in given.sets.split(","):
        if not (given.data / name).exists():
            print(f"left out: no {name}")
            continue
        corpus, questions = joined(given.data / name, given.every)
        results[name] = measured(
            corpus, questions, tools, config, colbert=not given.no_colbert, both=given.ranked
        )
        print(*table(name, results[name]), "", sep="\n", flush=True)
    if given.json:
        given.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
