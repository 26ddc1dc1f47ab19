"""What the paper asks a language model, by rule: what segments say and whether they answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from smartsearch.config import Config
from smartsearch.models.tools import Tools
from smartsearch.rank.scorer import Scorer
from smartsearch.rank.text import shown
from smartsearch.rank.windows import turn_scores
from smartsearch.retrieve.grep import Haystack
from smartsearch.systems.base import Ranked
from smartsearch.systems.pieces import Segments
from smartsearch.systems.qrmem import graph
from smartsearch.systems.qrmem.graph import ENTITIES, EntityGraph, Fact, Sentence
from smartsearch.systems.qrmem.navigate import Ground, Verdict
from smartsearch.systems.smartsearch import pipeline
from smartsearch.types import Query, fold

ANSWERS = 0.5
"""The cross-encoder's score from which a turn counts as an answer: more likely than not."""


@dataclass(frozen=True)
class Asked:
    """A question with what is searched for it: `scope` has its segments, the nearest first, by their turns
    that may be found; `way` is the walk, a value of the setting `qrmem`."""

    query: Query
    haystack: Haystack
    memory: Segments
    scope: Mapping[int, tuple[int, ...]]
    config: Config
    tools: Tools
    way: str = "kn"

    def place(self, index: int) -> tuple[str, str]:
        """The file and the conversation of a turn."""
        turn = self.haystack.corpus.turns[index]
        return turn.path, turn.conversation


def nearest(question: str, haystack: Haystack, config: Config, tools: Tools) -> Ranked:
    """What our own search finds; the cross-encoder is kept for what the walk reaches."""
    rankers = tuple(name for name in config.rank if name != "ce") or config.rank
    most = config.likely_turns if config.candidates else 0
    return pipeline.search(question, haystack, replace(config, rank=rankers, candidates=most), tools)


def scope(
    found: Sequence[int], haystack: Haystack, memory: Segments, most: int
) -> dict[int, tuple[int, ...]]:
    """The `most` segments whose turns were found first, 0 for every segment, with those turns of each that
    may be found."""
    order = dict.fromkeys(memory.of_turn[index] for index in found)
    if most == 0:
        order |= dict.fromkeys(memory.of_turn[index] for index in haystack.indices)
    indices = haystack.indices
    there = indices if isinstance(indices, range) else frozenset(indices)
    chosen = list(order)[: most or None]
    return {segment: tuple(i for i in memory.turns[segment] if i in there) for segment in chosen}


def related(asked: Asked) -> EntityGraph:
    """The question's graph: entities of its segments, and of their sentences whose questions are new. Without
    an update no question is asked; without open entities the question's own terms are none."""
    query = asked.query
    placed = [(s, one) for s, turns in asked.scope.items() for i in turns for one in sentences_of(asked, i)]
    open_ones = asked.way != "no-open-entities"
    new = graph.accepted(graph.cloze(one) for _, one in placed) if asked.way != "no-update" else set()
    return graph.graph(
        [
            Fact(segment, one, graph.mentions(one, query, asked=open_ones, updated=place in new))
            for place, (segment, one) in enumerate(placed)
        ]
    )


def sentences_of(asked: Asked, index: int) -> tuple[Sentence, ...]:
    """The sentences of a turn."""
    config, turn = asked.config, asked.haystack.corpus.turns[index]
    return graph.sentences(index, turn, asked.tools.parser, shown(config), config.hop_characters)


def ground(asked: Asked, made: EntityGraph, crossencoder: Scorer | None) -> Ground:
    """What a walk over the graph needs: ColBERT says what is alike, the cross-encoder what answers."""
    scorers = asked.tools.scorers
    compare = scorers["colbert"] if "colbert" in scorers else next(iter(scorers.values()))
    texts = [fact.sentence.text for fact in made.facts]
    tokens = {s: sum(asked.memory.tokens[i] for i in turns) for s, turns in asked.scope.items()}

    def similarity(text: str) -> NDArray[np.float64]:
        return compare(text, texts) if texts else np.zeros(0)

    def judge(segments: Sequence[int]) -> Verdict:
        return judged(asked, [i for segment in segments for i in asked.scope[segment]], crossencoder)

    return Ground(asked.query.text, made, list(asked.scope), tokens, similarity, judge)


def judged(asked: Asked, turns: Sequence[int], crossencoder: Scorer | None) -> Verdict:
    """Answerable where the turns hold every name and noun asked for and one likely answers, by the
    cross-encoder; without one, where one turn holds all. Else what they lack, or their best turn does."""
    corpus, terms = asked.haystack.corpus, asked.query.terms
    wanted = {graph.key(term.text): term.text for term in terms if term.kind in ENTITIES}
    texts = [fold(corpus.turns[index].spoken) for index in turns]
    if crossencoder is None:
        scores = np.array([sum(term in text for term in wanted) / max(len(wanted), 1) for text in texts])
    else:
        scores = turn_scores(asked.query.text, corpus, turns, crossencoder, shown(asked.config))
    best = texts[int(scores.argmax())]
    lacking = [said for term, said in wanted.items() if not any(term in text for text in texts)]
    unsaid = [said for term, said in wanted.items() if term not in best]
    answers = scores.max() >= (1.0 if crossencoder is None else ANSWERS)
    return Verdict(bool(answers and not lacking), " ".join(lacking or unsaid))
