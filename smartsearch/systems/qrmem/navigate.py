"""From the question's entities to the segments that answer: the paper's three walks over the graph.

Where its algorithm 1 is silent or stops at nothing: the frontier is that of all entities so far; a walk ends
where no entity leads on, or after so many trials.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from smartsearch.systems.qrmem.graph import EntityGraph

WINDOW = 4096
"""Tokens of the segments that a reader is given at most, as in the paper."""
IMPORTANT = 0.5
"""Of it, what the question's own entities may fill, so that room is left to walk on; ours."""
TRIALS = 5
"""Entities that a walk adds at most by default; the paper's figure 4 gains nothing after."""
HIGH = 0.9
"""Graph expansion follows an edge whose similarity is at least this share of the highest edge's; ours."""

Stopped = Literal["answerable", "exhausted", "window", "trials"]


@dataclass(frozen=True)
class Verdict:
    """Whether segments answer the question, and if not, what they lack. `fell_back`: a model was asked, and a
    rule had to answer. `answer` is the model's, if it gave one."""

    answerable: bool
    reason: str = ""
    fell_back: bool = False
    answer: str = ""


@dataclass(frozen=True)
class Ground:
    """What a walk needs of one question.

    `order` has the segments, the nearest to the question first, `tokens` their sizes. `similarity` compares a
    text with every fact of the graph, `judge` reads segments. `elaborate` widens the question by entities and
    the facts that led to them.
    """

    question: str
    graph: EntityGraph
    order: Sequence[int]
    tokens: Mapping[int, int]
    similarity: Callable[[str], NDArray[np.float64]]
    judge: Callable[[Sequence[int]], Verdict]
    window: int = WINDOW
    elaborate: Callable[[str, Sequence[str], Sequence[int]], str] = lambda q, names, _: " ".join((q, *names))

    def fitting(self, segments: Iterable[int], room: float) -> list[int]:
        """The first segments that fit into so many tokens; the first of all whatever its size."""
        kept: list[int] = []
        for segment in segments:
            room -= self.tokens[segment]
            if room < 0 and kept:
                break
            kept.append(segment)
        return kept


@dataclass(frozen=True)
class Step:
    """An entity that joins, by the fact that is most like what is asked, and how near that is.

    Once it joined, `reason` says what had been lacking, and `segments` are those that came with it.
    `fell_back`: a rule had to stand in for a model on the way to it.
    """

    entity: str
    fact: int
    score: float
    reason: str = ""
    segments: tuple[int, ...] = ()
    fell_back: bool = False


@dataclass(frozen=True)
class Route:
    """Where a walk ended: the segments of the question's entities, those added with their scores, each step.

    `stopped` says why it ended, `answerable` whether the last segments were judged to answer,
    and `answer` what the judge then said: the paper's own answer.
    """

    important: tuple[int, ...]
    added: Mapping[int, float] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    answerable: bool = False
    stopped: Stopped = "exhausted"
    answer: str = ""

    @property
    def segments(self) -> tuple[int, ...]:
        """All of them, those of the question's entities first."""
        return (*self.important, *self.added)


@dataclass(frozen=True)
class Stand:
    """Where a walk is: the entities that are known, the segments read, what these lack, and how near every
    fact is to what is asked."""

    graph: EntityGraph
    entities: Sequence[str]
    read: Sequence[int]
    reason: str
    scores: NDArray[np.float64]

    def new(self, entity: str) -> frozenset[int]:
        """The segments that an entity would bring."""
        return self.graph.entities[entity] - set(self.read)


Propose = Callable[[Stand], Iterable[Step]]
"""The entities that could join those that are known."""


def along_edges(stand: Stand) -> Iterable[Step]:
    """Those that an edge joins to one that is known (KN)."""
    return (_lead(name, facts, stand.scores) for name, facts in stand.graph.beside(stand.entities))


def in_segments(stand: Stand, *, anywhere: bool = False) -> Iterable[Step]:
    """Those that the segments read so far, or any, mention, whatever they are related to (TE)."""
    named: dict[str, list[int]] = {}
    for place, fact in enumerate(stand.graph.facts):
        for name in stand.graph.meant(fact.mentions) if anywhere or fact.segment in stand.read else ():
            named.setdefault(name, []).append(place)
    return (_lead(name, places, stand.scores) for name, places in named.items() if name not in stand.entities)


def best(leads: Iterable[Step]) -> list[Step]:
    """The nearest, if there is one."""
    return sorted(leads, key=lambda lead: -lead.score)[:1]


def _lead(entity: str, facts: Sequence[int], scores: NDArray[np.float64]) -> Step:
    best = max(facts, key=lambda fact: scores[fact])
    return Step(entity, best, float(scores[best]))


def important(ground: Ground, entities: Sequence[str]) -> list[int]:
    """The segments of the question's entities up to IMPORTANT of the window, the rarest entity's first.
    Without any entity the nearest segments stand in for them."""
    known = sorted((ground.graph.entities[name] for name in entities), key=len)
    named = [segment for own in known for segment in ground.order if segment in own]
    return ground.fitting(dict.fromkeys(named or ground.order), ground.window * IMPORTANT)


def navigate(
    ground: Ground,
    entities: Sequence[str],
    propose: Propose = along_edges,
    *,
    trials: int = TRIALS,
    reflect: bool = True,
    drops: bool = True,
    together: bool = False,
) -> Route:
    """Segments are added entity by entity until they answer the question (algorithm 1).

    What is asked is the question, what the segments lack, and the entities so far; without `reflect` the
    question alone. The nearest of the proposed entities joins, or all of them `together`. Over
    the window the lowest of the added segments are dropped; without `drops` the walk ends there.
    """
    start, entities = important(ground, entities), list(entities)
    added: dict[int, float] = {}
    steps: list[Step] = []

    def route(answerable: bool, stopped: Stopped) -> Route:
        return Route(tuple(start), added, tuple(steps), answerable, stopped)

    for trial in range(trials + 1):
        read = [*start, *added]
        verdict = ground.judge(read)
        if verdict.answerable:
            return replace(route(True, "answerable"), answer=verdict.answer)
        if trial == trials:
            break
        asked = " ".join([ground.question, verdict.reason, *entities]) if reflect else ground.question
        stand = Stand(ground.graph, tuple(entities), read, verdict.reason, ground.similarity(asked))
        leads = [lead for lead in propose(stand) if stand.new(lead.entity)]
        if not leads:
            return route(False, "exhausted")
        wanted = dict(added)
        for lead in leads if together else best(leads):
            more = [s for s in ground.order if s in stand.new(lead.entity)]
            wanted |= {segment: max(wanted.get(segment, -np.inf), lead.score) for segment in more}
            entities.append(lead.entity)
            fell_back = verdict.fell_back or lead.fell_back
            steps.append(replace(lead, reason=verdict.reason, segments=tuple(more), fell_back=fell_back))
        added = _filtered(ground, start, wanted, drops=drops)
        if len(added) < len(wanted) and not (drops and added):
            return route(False, "window")
    return route(False, "trials")


def _filtered(
    ground: Ground, start: Sequence[int], added: Mapping[int, float], *, drops: bool
) -> dict[int, float]:
    """Of the added segments those that fit beside the first ones, which stay: the highest, or the oldest."""
    room = ground.window - sum(ground.tokens[segment] for segment in start)
    order = sorted(added, key=lambda segment: -added[segment]) if drops else list(added)
    kept = ground.fitting(order, room) if order and ground.tokens[order[0]] <= room else []
    return {segment: added[segment] for segment in kept}


def expand(ground: Ground, entities: Sequence[str], steps: int = TRIALS) -> Route:
    """Graph expansion search: edges like the question are followed, what they lead to widens the question,
    and that fetches segments; they are judged once (GES)."""
    start, known = important(ground, entities), list(entities)
    scores = ground.similarity(ground.question)
    relating = [score for fact, score in zip(ground.graph.facts, scores, strict=True) if fact.relates]
    high = HIGH * max(relating, default=0.0)
    followed: list[Step] = []
    stopped: Stopped = "trials"
    while len(followed) < steps:
        leads = best(along_edges(Stand(ground.graph, known, (), "", scores)))
        if not leads or leads[0].score < high:
            stopped = "exhausted"
            break
        known.append(leads[0].entity)
        followed += leads
    found = _fetched(ground, ground.elaborate(ground.question, known, [step.fact for step in followed]))
    verdict = ground.judge(list(found))
    kept = tuple(segment for segment in start if segment in found)
    added = {segment: score for segment, score in found.items() if segment not in kept}
    stopped = "answerable" if verdict.answerable else stopped
    said = verdict.answer if verdict.answerable else ""
    return Route(kept, added, tuple(followed), verdict.answerable, stopped, said)


def _fetched(ground: Ground, asked: str) -> dict[int, float]:
    """The segments that fit into the window, by their sentence that is most like what is asked."""
    scores = ground.similarity(asked)
    nearest: dict[int, float] = dict.fromkeys(ground.order, -np.inf)
    for fact, score in zip(ground.graph.facts, scores.tolist(), strict=True):
        nearest[fact.segment] = max(nearest[fact.segment], score)
    order = sorted(nearest, key=lambda segment: -nearest[segment])
    return {segment: nearest[segment] for segment in ground.fitting(order, ground.window)}
