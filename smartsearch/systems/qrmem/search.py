"""QRMeM on one page: scope, graph, navigation, and the turns of the segments that were reached."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from smartsearch.config import Config
from smartsearch.models.tools import Tools
from smartsearch.rank.cascade import Task, rank
from smartsearch.rank.fusion import Ranking
from smartsearch.rank.lift import promoted
from smartsearch.rank.scorer import Scorer
from smartsearch.retrieve.grep import Found, Haystack, by_match_weight, grep, merge
from smartsearch.systems.base import Card, Clock, Memory, Plan, Progress, Ranked, asker
from smartsearch.systems.pieces import Segments, digest, segmented
from smartsearch.systems.qrmem import CARD, rules
from smartsearch.systems.qrmem.navigate import Ground, Route, expand, in_segments, navigate
from smartsearch.systems.qrmem.rules import Asked
from smartsearch.systems.qrmem.settings import set_in
from smartsearch.types import Hit, HopTrace, Term, Turn

if TYPE_CHECKING:
    from smartsearch.llm import Asker
    from smartsearch.systems.qrmem.roles import Roles

ENTITY = "ENTITY"


@dataclass(frozen=True)
class System:
    """The method of the paper, walked in one `way`, a value of `--set qrmem`.

    `asker` asks its language model, which makes the graph and says what is lacking; else rules stand in.
    """

    card: Card
    tools: Tools
    way: str
    fingerprint: str
    asker: Asker | None = None

    def plan(self, corpus: Haystack, folder: Path | None, config: Config) -> tuple[Plan, Plan]:
        """Nothing before the first question; then what one sends at most."""
        from smartsearch.systems.qrmem.roles import plan

        own = set_in(config)
        memory = segmented(corpus.corpus.turns)
        return Plan(), plan(corpus, memory, own.qrmem_scope, self.way, own.qrmem_trials)

    def prepare(self, corpus: Haystack, folder: Path | None, progress: Progress) -> Memory:
        """The segments of all turns; the graph is the question's."""
        return segmented(corpus.corpus.turns)

    def search(self, question: str, corpus: Haystack, memory: Memory, config: Config) -> Ranked:
        """The turns of the segments that the walk over the question's graph reached, best first."""
        assert isinstance(memory, Segments)
        clock, tools, own = Clock(), self.tools, set_in(config)
        with clock("retrieve"):
            near = rules.nearest(question, corpus, config, tools)
            query = tools.parser.parse(question, config)
            scope = rules.scope([hit.index for hit in near.hits], corpus, memory, own.qrmem_scope)
            asked = Asked(query, corpus, memory, scope, config, tools, self.way)
            scorers = {name: tools.scorers[name].once() for name in config.rank if name in tools.scorers}
            roles = None
            if self.asker:
                from smartsearch.systems.qrmem.roles import Roles

                roles = Roles(self.asker, asked)
            made = roles.related() if roles else rules.related(asked)
            entities = made.meant(term.text for term in query.terms)
            route = Route(())
            if scope:
                ground = rules.ground(asked, made, scorers.get("ce"))
                route = walked(ground, entities, self.way, roles, own.qrmem_trials)
        by_rule = ["qrmem by rule: no language model read the segments"] if not roles or roles.failed else []
        card = CARD if by_rule else CARD.asking
        with clock("rank"):
            ranking = ranked(asked, route, scorers)
            hops, first = _steps(asked, route, entities)
            hits = _hits(asked, ranking, route, first, card.shown)
        trace = replace(
            near.trace,
            terms=query.terms,
            hops=hops,
            candidates=len(hits),
            timing_ms=clock.spent | dict(ranking.timing_ms),
            models=tuple(tools.models[name] for name in ("parser", *config.rank) if name in tools.models),
            degraded=(*near.trace.degraded, *by_rule),
            own={
                "fidelity": card.fidelity,
                "mode": asked.way,
                "segments": len(memory.turns),
                "scope": len(scope),
                "entities": len(made.entities),
                "edges": len(made.edges),
                "read": len(route.segments),
                "answerable": route.answerable,
                "stopped": route.stopped,
                **(roles.own if roles else {}),
            },
        )
        told = (Turn(f"Answer of the one who read these segments: {route.answer}"),) if route.answer else ()
        return Ranked(
            hits,
            trace,
            config.profile,
            frozenset(made.facts[step.fact].sentence.turn for step in route.steps),
            warnings=(*near.warnings, *(roles.warnings if roles else ())),
            name=card.shown,
            told=told,
        )


def load(config: Config, tools: Callable[[Config], Tools]) -> System:
    """QRMeM with the models of the config's profile, and what it asks. Raises ModelError and LLMError."""
    model, way = asker(config), set_in(config).qrmem
    if model is None:
        return System(CARD, tools(config), way, way)  # a run may hold several ways
    from smartsearch.systems.qrmem.prompts import ROLES
    from smartsearch.systems.roles import identity

    return System(CARD.asking, tools(config), way, f"{way}-{digest(repr(identity(model, ROLES)), 8)}", model)


def walked(ground: Ground, entities: Sequence[str], way: str, roles: Roles | None, trials: int) -> Route:
    """The walk that `--set qrmem` names, of so many trials."""
    ground = roles.ground(ground) if roles else ground
    if way == "te":
        propose = roles.proposed if roles else in_segments
        return navigate(ground, entities, propose, trials=trials, drops=False, together=bool(roles))
    if way == "ges":
        return expand(ground, entities, trials)
    trials = 0 if way == "no-navigation" else trials
    return navigate(ground, entities, trials=trials, reflect=way != "no-reflection")


def ranked(asked: Asked, route: Route, scorers: Mapping[str, Scorer]) -> Ranking:
    """The turns of the segments in our rankers' order."""
    config, corpus, fusion = asked.config, asked.haystack.corpus, asked.tools.fusion
    turns = {index for segment in route.segments for index in asked.scope[segment]}
    words = grep(asked.haystack, asked.query.terms, mode=config.mode, word_boundary=config.word_boundary)
    counts = Counter(term for inside in words.values() for term in inside)
    found: Found = {} if config.mode == "and" else {index: {} for index in sorted(turns)}
    merge(found, {index: inside for index, inside in words.items() if index in turns})
    candidates = by_match_weight(found, config.typed)
    ranking = rank(Task(asked.query.text, candidates, corpus, scorers, config, fusion, counts))
    return promoted(ranking, corpus.turns, config.speaker, config.speaker_rank)


def _steps(
    asked: Asked, route: Route, entities: Sequence[str]
) -> tuple[tuple[HopTrace, ...], dict[int, int]]:
    """The walk step by step with the turns that each brought, and the step that brought a segment first.

    First come those of the question's entities, then those of every entity that joined, with what had been
    lacking as its source, in the end those fetched (GES).
    """
    parts = [("entities", [Term(name, ENTITY, 1.0) for name in entities], route.important)]
    for number, step in enumerate(route.steps, start=2):
        term = Term(step.entity, ENTITY, step.score, number, step.reason)
        parts.append(("walk-rule" if step.fell_back else "walk", [term], step.segments))
    brought = {segment for _, _, segments in parts for segment in segments}
    if fetched := tuple(segment for segment in route.added if segment not in brought):
        parts.append(("fetch", [], fetched))
    first: dict[int, int] = {}
    hops, total = [], 0
    for number, (kind, terms, segments) in enumerate(parts, start=1):
        new = [segment for segment in segments if segment not in first]
        first |= dict.fromkeys(new, number)
        turns = sum(len(asked.scope[segment]) for segment in new)
        total += turns
        hops.append(HopTrace(number, kind, tuple(terms), turns, total))
    return tuple(hops), first


def _hits(asked: Asked, ranking: Ranking, route: Route, first: Mapping[int, int], name: str) -> list[Hit]:
    """The ranked turns, each with the step that brought its segment and this one's score there, by `name`."""
    hits = []
    pairs = zip(ranking.candidates, ranking.scores, strict=True)
    for place, (candidate, scores) in enumerate(pairs, start=1):
        segment, turn = asked.memory.of_turn[candidate.index], asked.haystack.corpus.turns[candidate.index]
        if segment in route.added:
            scores = replace(scores, more={**scores.more, name: route.added[segment]})
        hits.append(Hit(place, turn, scores, candidate.terms, first[segment], candidate.index))
    return hits
