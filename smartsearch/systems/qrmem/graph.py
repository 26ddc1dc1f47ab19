"""The graph of one question: entities, disambiguated, and what sentences say of two of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from smartsearch.retrieve.hops import stem
from smartsearch.systems.qrmem.sentences import Sentence
from smartsearch.types import fold


@dataclass(frozen=True)
class Fact:
    """A sentence of a segment, and the entities that it mentions, as written.

    `relates`: entities in it are joined by an edge. `written`: it is no sentence of the segment but a model's
    description of how two entities are related there.
    """

    segment: int
    sentence: Sentence
    mentions: tuple[str, ...]
    relates: bool = True
    written: bool = False


Ends = tuple[str, str]
"""Two entities by name."""


@dataclass(frozen=True)
class EntityGraph:
    """The segments that each entity stands in, by its name, and the facts that mention both ends of an edge.

    Parallel relations are one edge.
    `known` leads from the key of a mention (`key`) to the name it means.
    """

    facts: tuple[Fact, ...]
    entities: Mapping[str, frozenset[int]]
    edges: Mapping[Ends, Sequence[int]]
    known: Mapping[str, str]

    def beside(self, names: Collection[str]) -> Iterator[tuple[str, Sequence[int]]]:
        """The entities that an edge joins to one of `names`, those in `names` left out, with its facts."""
        for name in names:
            for other, facts in self._at.get(name, ()):
                if other not in names:
                    yield other, facts

    @cached_property
    def _at(self) -> Mapping[str, Sequence[tuple[str, Sequence[int]]]]:
        at = defaultdict(list)
        for (one, other), facts in self.edges.items():
            at[one].append((other, facts))
            at[other].append((one, facts))
        return at

    def meant(self, mentions: Iterable[str]) -> list[str]:
        """The names of the entities that these mentions mean, in their order, each once."""
        named = (self.known.get(key(mention), "") for mention in mentions)
        return list(dict.fromkeys(filter(None, named)))


def key(mention: str) -> str:
    """What mentions of one entity share: letters of any case, and of a common noun its inflection."""
    return stem(mention) if mention.islower() and " " not in mention else fold(mention)


def disambiguated(mentions: Counter[str]) -> dict[str, str]:
    """From each mention, counted, to the name of its entity.

    Mentions of one key are one; a name that is a word of exactly one longer name means that (Gina, Gina Ray).
    An entity is called by its mention of most words, of these the one most used.
    """
    groups = defaultdict(list)
    for mention in mentions:
        groups[key(mention)].append(mention)
    longer = defaultdict(list)
    for whole in groups:
        words = whole.split()
        for word in words if len(words) > 1 else ():
            longer[word].append(whole)
    for short, wholes in longer.items():
        if len(wholes) == 1 and short in groups and not groups[short][0].islower():
            groups[wholes[0]] += groups.pop(short)
    return {
        mention: max(group, key=lambda one: (len(one.split()), mentions[one]))
        for group in groups.values()
        for mention in group
    }


def graph(facts: Sequence[Fact], same: Mapping[str, str] | None = None) -> EntityGraph:
    """The graph of `facts`: nodes with their mentions and segments united, an edge for two in a sentence.

    `same` leads from a name that is given by rule to the one that it means too.
    """
    names = disambiguated(Counter(mention for fact in facts for mention in fact.mentions))
    names = {mention: (same or {}).get(name, name) for mention, name in names.items()}
    segments, joint = defaultdict(set), defaultdict(list)
    for place, fact in enumerate(facts):
        here = dict.fromkeys(names[mention] for mention in fact.mentions)
        for name in here:
            segments[name].add(fact.segment)
        for ends in combinations(sorted(here), 2) if fact.relates else ():
            joint[ends].append(place)
    known = {key(mention): name for mention, name in names.items()}
    return EntityGraph(tuple(facts), {name: frozenset(some) for name, some in segments.items()}, joint, known)
