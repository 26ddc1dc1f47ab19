"""Oracle traces of a record of `smartsearch bench`: the shortest way to all the gold of a question.

    python benchmarks/oracle.py RECORD.json

(Paper 3.2, table 1.) The traces are put into the record, where results_page.py finds them.
A state is what gold is covered and which terms may be used; an edge is a tool with some of those terms.
Dijkstra over the lexicographic cost (edges, tool rank grep < AND < semantic, terms). The gold says which
state is the goal and which edges help, never which terms there are: those come from the question or
from turns that an earlier edge of the same path found.
"""

from __future__ import annotations

import heapq
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import records
from numpy.typing import NDArray

from smartsearch.bench.datasets import open_dataset
from smartsearch.bench.tables import NONE, Json, Table, number, percent
from smartsearch.bench.types import Dataset
from smartsearch.config import Config
from smartsearch.models import loading
from smartsearch.models.tools import Tools
from smartsearch.output import stream
from smartsearch.rank.text import shown
from smartsearch.rank.windows import turn_scores
from smartsearch.retrieve.grep import Haystack
from smartsearch.types import Corpus, Term, fold

GREP, AND, SEMANTIC = "grep", "and", "semantic"
TOOLS = (GREP, AND, SEMANTIC)
"""Grep for any term, grep for every term, search by meaning: from the cheapest to the dearest."""

SOLVED, NO_GOLD, NO_PATH, CAPPED = "", "no gold", "no path", "capped"
REASONS = (NO_GOLD, NO_PATH, CAPPED)
"""Reasons for no trace: no gold, no path to it, or too many expansions."""

Entities = Callable[[Sequence[int]], list[str]]
"""The names found in some turns, given by their places."""
Semantic = Callable[[Sequence[str]], list[int]]
"""The places of the turns nearest to some terms, best first; no terms stand for the whole question."""


@dataclass(frozen=True)
class OracleOptions:
    """Limits of the search and of an edge.

    `results` cuts what a grep edge finds to so many turns in corpus order, as `grep -m` does; 0 leaves
    it whole. `sources` are the turns of an edge, best match weight first, whose names become terms; 0 is
    all of them. Terms that came from a turn weigh `weight_hop`.
    """

    hops: int = 3
    expansions: int = 20_000
    results: int = 0
    semantic_top: int = 10
    semantic_terms: int = 1  # most terms of a semantic edge that is not the whole question
    sources: int = 10
    subset: int = 4  # most terms of a grep edge that does not use them all
    weight_hop: float = 2.5


@dataclass(frozen=True)
class Step:
    """An edge: a tool and its folded terms. A semantic edge without terms searches for the whole question."""

    tool: str
    keys: tuple[str, ...]


@dataclass(frozen=True)
class OracleTrace:
    """The shortest path to a question's gold, or the reason there is none (`REASONS`).

    `semantic_needed`: no path of so few edges does without a semantic edge. `semantic_ties`: this one
    does, another of as many edges has one. `expansions` counts the edges tried.
    """

    reason: str = SOLVED
    path: tuple[Step, ...] = ()
    semantic_needed: bool = False
    semantic_ties: bool = False
    expansions: int = 0


class Postings:
    """Grep's answers in one haystack, cached for all its questions: one scan per term."""

    def __init__(self, haystack: Haystack, *, word_boundary: bool = False) -> None:
        self.haystack = haystack
        self._word_boundary = word_boundary
        self.places = cache(self._places)
        """The places of the turns with a folded term, ascending, shape (n,)."""
        self.bits = cache(lambda key: _to_bits(self.places(key).tolist()))
        """The same turns as a number: bit n is the turn at place n."""

    def _places(self, key: str) -> NDArray[np.int64]:
        return np.array(self.haystack.turns_with(key, word_boundary=self._word_boundary), dtype=np.int64)


def trace(
    question_terms: Sequence[Term],
    gold: frozenset[int],
    postings: Postings,
    *,
    entities: Entities,
    semantic: Semantic | None = None,
    options: OracleOptions | None = None,
) -> OracleTrace:
    """The shortest path from the terms of a question to all of its gold (places in the corpus).

    `entities` and `semantic` run the models and are asked for the same thing more than once: the caller
    remembers. Without `semantic` only grep is used.

    Without a cap on results no AND edge is ever on a path: the OR of the same terms finds all that it
    finds, puts that first, and is cheaper.
    """
    options = options or OracleOptions()
    if not gold:
        return OracleTrace(NO_GOLD)
    asked = _Asked(question_terms, gold, postings, entities, semantic, options)
    way = _shortest(asked, options.hops, asked.ranks)
    if way.path is None:
        reason = CAPPED if way.capped else NO_PATH
        return OracleTrace(reason, expansions=way.expansions)
    needed = _uses(way.path, SEMANTIC)
    tries, ties = way.expansions, False
    if semantic is not None and not needed:
        other = _shortest(asked, len(way.path), _MEANING_FIRST)
        tries += other.expansions
        ties = other.path is not None and _uses(other.path, SEMANTIC)
    return OracleTrace(SOLVED, way.path, needed, ties, tries)


def summary(traces: Iterable[OracleTrace]) -> dict[str, Any]:
    """The figures of table 1 over the traces of a dataset.

    `hops` counts solved questions by the number of their edges, `tools` by the dearest tool that their trace
    needs. Shares are 0 to 1; those by hop and tool are of the solved.
    """
    every = list(traces)
    solved = [t for t in every if t.reason == SOLVED]
    unsolved = Counter(t.reason for t in every)
    with_gold = len(every) - unsolved[NO_GOLD]
    hops = dict(sorted(Counter(str(len(t.path)) for t in solved).items()))
    dearest = Counter(max((step.tool for step in t.path), key=TOOLS.index) for t in solved)
    needed, ties = sum(t.semantic_needed for t in solved), sum(t.semantic_ties for t in solved)
    return {
        "questions": len(every),
        "with_gold": with_gold,
        "solved": len(solved),
        "solved_share": _share(len(solved), with_gold),
        "hops": hops,
        "hop_shares": {hop: _share(n, len(solved)) for hop, n in hops.items()},
        "tools": {tool: dearest[tool] for tool in TOOLS},
        "tool_shares": {tool: _share(dearest[tool], len(solved)) for tool in TOOLS},
        "semantic_needed": needed,
        "semantic_needed_share": _share(needed, len(solved)),
        "semantic_ties": ties,
        "semantic_ties_share": _share(ties, len(solved)),
        "unsolved": {reason: unsolved[reason] for reason in REASONS},
        "expansions": sum(t.expansions for t in every),
    }


_Path = tuple[Step, ...]
_Cost = tuple[int, int, int]
"""Edges, the sum of the tools' ranks, terms: compared in this order."""

_MEANING_FIRST = {SEMANTIC: 0, GREP: 1, AND: 1}
"""Ranks under which the shortest path has a semantic edge if any path of so few edges has one."""


@dataclass(frozen=True)
class _Node:
    covered: int
    usable: frozenset[str]
    path: _Path = ()


@dataclass(frozen=True)
class _Way:
    path: _Path | None
    expansions: int
    capped: bool = False


class _Asked:
    """One question: its goal, the terms met so far, and what the tools answer. Sets of turns are bits."""

    def __init__(
        self,
        question_terms: Sequence[Term],
        gold: frozenset[int],
        postings: Postings,
        entities: Entities,
        semantic: Semantic | None,
        options: OracleOptions,
    ) -> None:
        self.goal = _to_bits(gold)
        self.options = options
        self.postings = postings
        self.terms: dict[str, Term] = {}
        for term in question_terms:
            key = _key(term.text)
            if key and (key not in self.terms or term.weight > self.terms[key].weight):
                self.terms[key] = term
        self.start = _Node(0, frozenset(self.terms))
        # one semantic edge is dearer than AND edges all the way
        self.ranks = {GREP: 0, AND: 1, SEMANTIC: options.hops + 1}
        self._entities, self._semantic = entities, semantic
        self._nearest = cache(self._ask_for_nearest)
        self.found = cache(self._find)
        """The turns that a step finds."""
        self.names = cache(self._name)
        """The folded names in the best turns of a step, without those of speakers."""

    def _find(self, step: Step) -> int:
        if step.tool == SEMANTIC:
            return _to_bits(self._nearest(step.keys))
        inside = [self.postings.bits(key) for key in step.keys]
        bits = inside[0] if inside else 0
        for other in inside[1:]:
            bits = bits | other if step.tool == GREP else bits & other
        return _to_bits(_places(bits, self.options.results)) if self.options.results else bits

    def _ask_for_nearest(self, keys: tuple[str, ...]) -> list[int]:
        answer = self._semantic([self.terms[key].text for key in keys]) if self._semantic else []
        return answer[: self.options.semantic_top]

    def _name(self, step: Step) -> frozenset[str]:
        named = {_key(name): name for name in self._entities(self._best(step))}
        fresh = {k: n for k, n in named.items() if k and k not in self.postings.haystack.speakers}
        for key, name in fresh.items():
            self.terms.setdefault(key, Term(name, "HOP", self.options.weight_hop, 2))
        return frozenset(fresh)

    def _best(self, step: Step) -> list[int]:
        """The turns whose names a step gives: by the weights of its terms in them, ties in corpus order."""
        count = self.options.sources
        if step.tool == SEMANTIC:
            near = self._nearest(step.keys)
            return near[:count] if count else near
        bits = self.found(step)
        if step.tool == AND or len(step.keys) == 1 or not count:
            return _places(bits, count)
        weights = np.zeros(len(self.postings.haystack))
        for key in step.keys:
            weights[self.postings.places(key)] += self.terms[key].weight
        return sorted(_places(bits), key=lambda place: -weights[place])[:count]

    def steps(self, node: _Node, ranks: Mapping[str, int], *, last: bool) -> Iterator[Step]:
        """The edges out of a node, the cheaper tool and the fewer terms first.

        An uncapped grep for all usable terms finds what any of them finds, so it comes first, with the
        fewest terms that do where it reaches the goal; other grep edges then serve for their names only.
        """
        usable = sorted(node.usable, key=lambda key: (-self.terms[key].weight, key))
        for tool in sorted(TOOLS, key=ranks.__getitem__):
            if tool == SEMANTIC:
                yield from self._by_meaning(usable)
            elif self.options.results:
                yield from self._capped(tool, usable)
            elif tool == GREP:
                yield from self._uncapped(node, usable, last=last)

    def _by_meaning(self, usable: Sequence[str]) -> Iterator[Step]:
        if self._semantic is not None:
            for size in range(self.options.semantic_terms + 1):
                yield from (Step(SEMANTIC, keys) for keys in combinations(usable, size))

    def _uncapped(self, node: _Node, usable: Sequence[str], *, last: bool) -> Iterator[Step]:
        if not usable:
            return
        missing = self.goal & ~node.covered
        cover = smallest_cover({key: self.postings.bits(key) & missing for key in usable}, missing)
        yield Step(GREP, cover or tuple(usable))
        if not last:
            for size in range(1, min(self.options.subset, len(usable) - 1) + 1):
                yield from (Step(GREP, keys) for keys in combinations(usable, size))

    def _capped(self, tool: str, usable: Sequence[str]) -> Iterator[Step]:
        fewest = 2 if tool == AND else 1
        for size in range(fewest, min(self.options.subset, len(usable)) + 1):
            yield from (Step(tool, keys) for keys in combinations(usable, size))
        if tool == GREP and len(usable) > self.options.subset:
            yield Step(GREP, tuple(usable))


def _shortest(asked: _Asked, hops: int, ranks: Mapping[str, int]) -> _Way:
    """Dijkstra from the question's terms to the goal, at most `hops` edges long.

    A state is left out when one as cheap has covered as much and may use as much. When the expansions
    are spent, a path already seen is taken: it has the fewest edges, though perhaps not the fewest terms.
    """
    best: tuple[_Cost, _Path] | None = None
    queue: list[tuple[_Cost, int, _Node]] = [((0, 0, 0), 0, asked.start)]
    settled: list[_Node] = []
    tries = 0
    while queue:
        (edges, rank, size), _, node = heapq.heappop(queue)
        if best and (edges + 1, rank, size) >= best[0]:
            break
        if any(_dominates(other, node) for other in settled):
            continue
        settled.append(node)
        last = edges + 1 == hops
        for step in asked.steps(node, ranks, last=last):
            tries += 1
            if tries > asked.options.expansions:
                return _Way(best[1] if best else None, tries - 1, capped=True)
            cost = (edges + 1, rank + ranks[step.tool], size + len(step.keys))
            covered = node.covered | (asked.found(step) & asked.goal)
            if covered == asked.goal:
                if best is None or cost < best[0]:
                    best = cost, (*node.path, step)
                break
            if last:
                continue
            after = _Node(covered, node.usable | asked.names(step), (*node.path, step))
            if not _dominates(node, after):
                heapq.heappush(queue, (cost, tries, after))
    return _Way(best[1] if best else None, tries)


def _dominates(one: _Node, other: _Node) -> bool:
    return other.covered & ~one.covered == 0 and other.usable <= one.usable


def smallest_cover(covers: Mapping[str, int], needed: int) -> tuple[str, ...] | None:
    """The fewest keys whose bits together make `needed`, earlier keys preferred; None if all do not.

    Every cover has a key with the lowest bit that is missing, so only those are tried at each step.
    """
    reached: dict[int, tuple[str, ...]] = {0: ()}
    while reached:
        if needed in reached:
            return reached[needed]
        grown: dict[int, tuple[str, ...]] = {}
        for bits, keys in reached.items():
            missing = needed & ~bits
            lowest = missing & -missing
            for key, covered in covers.items():
                if covered & lowest:
                    grown.setdefault((bits | covered) & needed, (*keys, key))
        reached = grown
    return None


def _uses(path: _Path, tool: str) -> bool:
    return any(step.tool == tool for step in path)


def _key(text: str) -> str:
    return fold(text).strip()


def _to_bits(places: Iterable[int]) -> int:
    bits = 0
    for place in places:
        bits |= 1 << place
    return bits


def _places(bits: int, count: int = 0) -> list[int]:
    """The places of the lowest `count` bits that are set, ascending; 0 is all of them."""
    places: list[int] = []
    while bits and (not count or len(places) < count):
        lowest = bits & -bits
        places.append(lowest.bit_length() - 1)
        bits ^= lowest
    return places


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


# Of a record.


def traces(
    dataset: Dataset, tools: Tools, config: Config, ways: Sequence[OracleOptions]
) -> list[dict[str, Any]]:
    """One summary per set of options, with the parser, the names of turns and ColBERT behind it."""
    found: list[list[OracleTrace]] = [[] for _ in ways]
    with stream.progress(dataset.questions, wanted=True, title="oracle traces") as step:
        for group in dataset.groups():
            postings = Postings(Haystack(group.corpus))
            entities, nearest = _names(group.corpus, tools, config), _nearest(group.corpus, tools, config)
            for question in group.questions:
                terms = tools.parser.parse(question.text, config).terms
                semantic = nearest and _asking(nearest, question.text)
                for some, way in zip(found, ways, strict=True):
                    one = trace(
                        terms, question.gold, postings, entities=entities, semantic=semantic, options=way
                    )
                    some.append(one)
                step()
    return [summary(some) for some in found]


def _names(corpus: Corpus, tools: Tools, config: Config) -> Entities:
    """The names in some turns, in order, each once."""

    @cache
    def inside(place: int) -> tuple[str, ...]:
        return tuple(tools.parser.entities([corpus.turns[place].said[: config.hop_characters or None]]))

    return lambda places: list(dict.fromkeys(name for place in places for name in inside(place)))


def _nearest(corpus: Corpus, tools: Tools, config: Config) -> Callable[[str], list[int]] | None:
    """The turns nearest to a text by ColBERT, best first; None where the profile has none."""
    if "colbert" not in tools.scorers:
        return None
    every = range(len(corpus.turns))

    @cache
    def nearest(text: str) -> list[int]:
        scores = turn_scores(text, corpus, every, tools.scorers["colbert"], shown(config))
        found: list[int] = np.argsort(-scores, kind="stable")[: OracleOptions().semantic_top].tolist()
        return found

    return nearest


def _asking(nearest: Callable[[str], list[int]], question: str) -> Semantic:
    """The dense search for a question, or for some of its terms."""
    return lambda terms: nearest(" ".join(terms) or question)


def table(result: Json) -> Table | None:
    """Oracle traces by hops and tools, without and with a limit on an edge; None where none were made."""
    found = result.get("oracle")
    if not found:
        return None
    limited = result.get("oracle_limited")
    lines: list[tuple[str, ...]] = [
        (label, number(count), percent(part)) for label, count, part in _traced(found)
    ]
    head: tuple[str, ...] = ("figure", "count", "share")
    if limited:
        head += (f"at most {limited['results']} turns an edge", "share")
        others = {label: (number(count), percent(part)) for label, count, part in _traced(limited)}
        lines = [(*line, *others.get(line[0], (NONE, NONE))) for line in lines]
    caption = (
        "The shortest way to all gold of a question. Shares below the second line are of the solved traces."
    )
    return Table("Oracle traces", head, tuple(lines), caption)


def _traced(found: Json) -> Iterator[tuple[str, int, float | None]]:
    """Label, count and share of each figure of an oracle summary."""
    yield "questions with gold", found["with_gold"], None
    yield "solved", found["solved"], found["solved_share"]
    for n in ("1", "2", "3"):
        yield f"hops: {n}", found["hops"].get(n, 0), found["hop_shares"].get(n, 0.0)
    for tool, count in found["tools"].items():
        yield f"dearest tool: {tool}", count, found["tool_shares"][tool]
    yield "semantic is needed", found["semantic_needed"], found["semantic_needed_share"]
    yield "semantic would do as well", found["semantic_ties"], found["semantic_ties_share"]
    for reason, count in found["unsolved"].items():
        yield f"unsolved: {reason}", count, None


def main(argv: Sequence[str]) -> int:
    """Trace the questions of the record named, without a limit on the turns of an edge and with one."""
    if len(argv) != 1 or argv[0].startswith("-"):
        print(__doc__)
        return 0 if argv in (["-h"], ["--help"]) else 2
    path = Path(argv[0])
    record = records.read(path, "smartsearch bench")
    data, config = record["dataset"], Config()
    dataset = open_dataset(data["path"], format=data["format"], every=data["every"])
    ways = (OracleOptions(), OracleOptions(results=100))  # without a limit AND is never needed
    free, limited = traces(dataset, loading.load_tools(config), config, ways)
    record |= {"oracle": free, "oracle_limited": {"results": ways[1].results, **limited}}
    records.write(path, record)
    found = table(record)
    assert found is not None
    for line in (found.head, *found.rows):
        print("\t".join(line))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
