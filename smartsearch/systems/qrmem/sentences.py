"""What a segment is about, by rule: its sentences, the entities each names, and the questions they answer.

A language model does this in the paper: it picks key entities, describes relations and makes questions that
bring more of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from smartsearch.rank.text import Shown, heading
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
    """A sentence, the turn it stands in by index, its names, who speaks first, and its nouns.

    `head` is what rankers see before it: the date and who speaks.
    """

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
