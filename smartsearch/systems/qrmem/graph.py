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


@dataclass(frozen=True)
class Entity:
    """A node: its canonical name, the mentions that mean it, and the segments it stands in."""

    name: str
    mentions: frozenset[str]
    segments: frozenset[int]


@dataclass(frozen=True)
class Edge:
    """Two entities by name, and the facts that mention both: parallel relations are one edge."""

    ends: tuple[str, str]
    facts: tuple[int, ...]


@dataclass(frozen=True)
class EntityGraph:
    """Entities by name, edges by their ends, and the facts that both are made of.

    `known` leads from the key of a mention (`key`) to the name it means.
    """

    facts: tuple[Fact, ...]
    entities: Mapping[str, Entity]
    edges: tuple[Edge, ...]
    known: Mapping[str, str]

    @cached_property
    def _at(self) -> dict[str, list[Edge]]:
        at = defaultdict(list)
        for edge in self.edges:
            for end in edge.ends:
                at[end].append(edge)
        return dict(at)

    def beside(self, names: Collection[str]) -> Iterator[tuple[str, Edge]]:
        """The entities that an edge joins to one of `names`, those in `names` left out."""
        for name in names:
            for edge in self._at.get(name, ()):
                other = edge.ends[edge.ends[0] == name]
                if other not in names:
                    yield other, edge

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
    written, segments, joint = defaultdict(set), defaultdict(set), defaultdict(list)
    for place, fact in enumerate(facts):
        here = dict.fromkeys(names[mention] for mention in fact.mentions)
        for mention in fact.mentions:
            written[names[mention]].add(mention)
        for name in here:
            segments[name].add(fact.segment)
        for ends in combinations(sorted(here), 2) if fact.relates else ():
            joint[ends].append(place)
    entities = {name: Entity(name, frozenset(written[name]), frozenset(segments[name])) for name in written}
    edges = tuple(Edge(ends, tuple(places)) for ends, places in joint.items())
    return EntityGraph(tuple(facts), entities, edges, {key(mention): name for mention, name in names.items()})
