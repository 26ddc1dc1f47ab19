"""The graph of one question: what sentences name, disambiguated, and what they say of two entities.

By rule sentences, names and terms stand for what a language model does in the paper: it picks key entities,
describes relations and makes questions that bring more of both.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from smartsearch.rank.text import Shown, heading
from smartsearch.retrieve.hops import stem
from smartsearch.text.parse import SENTENCE_END, Parser, words
from smartsearch.types import Query, Turn, fold

ALIKE = 0.6
"""ROUGE-L with a question accepted before, from which a new one brings nothing, as in the paper."""
MENTIONS = 12
"""Most entities of a sentence: a list of fifty names relates none of them."""
ENTITIES = ("PROPN", "NOUN", "ENT", "TOKEN", "PHRASE", "CODE", "NUMBER", "COMPOUND")
"""The kinds of the question's terms that name something; verbs do not."""


@dataclass(frozen=True)
class Sentence:
    """A sentence, the turn it stands in by index, its names, who speaks first, and its nouns. `head` is what
    rankers see before it: the date and who speaks."""

    head: str
    said: str
    turn: int
    names: tuple[str, ...]
    nouns: tuple[str, ...]

    @property
    def text(self) -> str:
        """The sentence as rankers read it."""
        return self.head + self.said


def sentences(index: int, turn: Turn, parser: Parser, show: Shown, most: int) -> tuple[Sentence, ...]:
    """The sentences of a turn, of its first `most` characters (0 for all); `index` is its place."""
    text = turn.said[: most or None]
    speaker = (turn.speaker,) if turn.speaker else ()
    names = parser.entities([text])
    nouns = [noun for noun, _ in parser.nouns([text])]
    head = heading(turn, show)
    return tuple(
        Sentence(head, part, index, (*speaker, *_within(part, names)), tuple(_within(part, nouns)))
        for part in filter(None, map(str.strip, SENTENCE_END.split(text)))
    )


def _within(text: str, found: Iterable[str]) -> list[str]:
    held = fold(text)
    return [one for one in found if begins(fold(one), held)]


def begins(needle: str, text: str) -> bool:
    """Whether a word of `text`, both folded, begins as `needle`: `group` stands in `groups`."""
    at = text.find(needle)
    while at > 0 and text[at - 1].isalnum():
        at = text.find(needle, at + 1)
    return at >= 0


def cloze(sentence: Sentence) -> list[str]:
    """The question that a sentence answers, as words: the sentence without the first name in it."""
    said = fold(sentence.said)
    name = next((fold(one) for one in sentence.names if fold(one) in said), "")
    return words(said.replace(name, "what", 1) if name else said)


def accepted(questions: Iterable[Sequence[str]]) -> set[int]:
    """The places of the questions, as words, that are unlike all that were accepted before them.

    The normalised Indel distance is 1 less ROUGE-L's F measure, twice the longest common subsequence over
    both lengths.
    """
    from rapidfuzz.distance import Indel
    from rapidfuzz.process import extractOne

    pool: list[str] = []
    places = set()
    letters: dict[str, str] = {}  # a letter a word: rapidfuzz compares texts many times faster than lists
    for place, said in enumerate(questions):
        question = "".join([letters.setdefault(word, chr(0xE000 + len(letters))) for word in said])
        alike = extractOne(question, pool, scorer=Indel.normalized_distance, score_cutoff=1 - ALIKE)
        if question and not alike:
            pool.append(question)
            places.add(place)
    return places


def mentions(
    sentence: Sentence, query: Query, *, asked: bool = True, updated: bool = False
) -> tuple[str, ...]:
    """What a sentence names: `asked` for in the question, names, and if its question was accepted nouns."""
    held = fold(sentence.said)
    terms = [term.text for term in query.terms if term.kind in ENTITIES] if asked else []
    found = [term for term in terms if begins(fold(term), held)]
    every = (*found, *sentence.names, *(sentence.nouns if updated else ()))
    return tuple(dict.fromkeys(every))[:MENTIONS]


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
    Parallel relations are one edge. `known` leads from the key of a mention (`key`) to the name it means."""

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
    `same` leads from a name that is given by rule to the one that it means too."""
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
