"""Tagged chat lines and questions from phrases of our own writing (`parser_phrases.txt`)."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from pathlib import Path

from recipe.parser_corpus import Sentence, casual, lowered, spacing, unpunctuated

PHRASES = Path(__file__).with_name("parser_phrases.txt")
SLOTS = {  # slot: (section, tag, entity label)
    "name": ("names", "PROPN", "PERSON"),
    "surname": ("surnames", "PROPN", "PERSON"),
    "place": ("places", "PROPN", "LOC"),
    "org": ("orgs", "PROPN", "ORG"),
    "noun": ("nouns", "NOUN", ""),
    "plural": ("plurals", "NOUN", ""),
    "adj": ("adjectives", "ADJ", ""),
    "rel": ("relation", "NOUN", ""),
    "verb1": ("verb1", "VERB", ""),
    "pp": ("pp", "VERB", ""),
    "pv": ("pv", "VERB", ""),
    "iv": ("iv", "VERB", ""),
}
COINED = 0.35
"""Share of coined first names."""
LISTS = {section for section, _, _ in SLOTS.values()} | {"org_heads"}
FORMS = {"do": 0, "did": 1, "doing": 2}
CODES = {
    "N": "NOUN", "V": "VERB", "A": "ADJ", "R": "ADV", "P": "PROPN", "I": "INTJ", "T": "PART", "X": "AUX",
    "D": "DET", "O": "PRON", "E": "ADP", "C": "CCONJ", "S": "SCONJ", "M": "NUM", "U": "PUNCT",
}  # fmt: skip
Token = tuple[str, str, str]


def sections(path: Path = PHRASES) -> dict[str, list[str]]:
    """The phrase file by section: lists split into words (`_` read as a space), the rest a phrase a line."""
    found: dict[str, list[str]] = {}
    current: list[str] = []
    name = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if head := re.fullmatch(r"\[(\w+)\]", line):
            name = head[1]
            current = found.setdefault(name, [])
        elif line.strip() and not line.startswith("#"):
            current += [w.replace("_", " ") for w in line.split()] if name in LISTS else [line]
    return found


def closed_class(lines: Sequence[str]) -> dict[str, str]:
    """Word to tag from the `[closed]` section; the first line that has a word decides."""
    tags: dict[str, str] = {}
    for line in lines:
        tag, *words = line.split()
        for word in words:
            tags.setdefault(word.rstrip("_"), tag)
    return tags


class Phrasebook:
    """Draws lines from the phrase file; holds its sections and the random source."""

    def __init__(self, rng: random.Random, path: Path = PHRASES) -> None:
        self.rng = rng
        self.sections = sections(path)
        self.closed = closed_class(self.sections["closed"])

    def one_of(self, section: str) -> str:
        """A word of a list section."""
        return self.rng.choice(self.sections[section])

    def coined(self, section: str) -> str:
        """A word that is in no list: the front of one and the back of another."""
        first, second = self.one_of(section).split()[0], self.one_of(section).split()[0]
        return (first[: (len(first) + 1) // 2] + second[len(second) // 2 :]).capitalize()

    def first_name(self) -> str:
        """A first name; one in three is coined, so that unknown ones are known by their place."""
        return self.coined("names") if self.rng.random() < COINED else self.one_of("names").capitalize()

    def place(self) -> str:
        """A place; one in six is coined."""
        return self.coined("places") if self.rng.random() < COINED / 2 else self.one_of("places")

    def organisation(self) -> str:
        """An organisation: known, coined, or a place, surname or noun with a word such as Hospital."""
        style = self.rng.random()
        if style < 0.5:
            return self.one_of("orgs")
        if style < 0.65:
            return self.coined("surnames")
        front = self.one_of(self.rng.choice(("places", "surnames", "nouns", "adjectives")))
        return f"{front.title()} {self.one_of('org_heads')}"

    def line(self, section: str) -> Sentence:
        """One filled line of a section, cased as in careful writing."""
        tokens = self.fill(self.rng.choice(self.sections[section]))
        words = [w.capitalize() if i == 0 or w == "i" else w for i, (w, _, _) in enumerate(tokens)]
        for i in range(1, len(words)):
            if tokens[i - 1][0] in {".", "!", "?"}:
                words[i] = words[i].capitalize() if words[i].islower() else words[i]
        return Sentence(
            tuple(words), spacing(words), tuple(t for _, t, _ in tokens), tuple(e for _, _, e in tokens)
        )

    def fill(self, phrase: str) -> list[Token]:
        """A phrase as (word, tag, IOB entity) tokens, its slots filled at random."""
        tokens: list[Token] = []
        for piece in phrase.split():
            tokens += self.slot(piece[1:-1], tokens) if piece.startswith("{") else [self.token(piece)]
        return tokens

    def token(self, piece: str) -> Token:
        """A `word/TAG` or a closed-class word. Raises KeyError for an untagged open-class word."""
        word, slash, code = piece.rpartition("/")
        return (word, CODES[code], "O") if slash else (piece, self.closed[piece], "O")

    def slot(self, name: str, before: Sequence[Token]) -> list[Token]:
        """The tokens for one slot; a surname after a first name continues that entity."""
        if name in FORMS:
            verb, *rest = self.rng.choice(self.sections["actions"]).split(maxsplit=1)
            return [(verb.split("|")[FORMS[name]], "VERB", "O"), *self.fill("".join(rest))]
        if name not in SLOTS:
            return self.fill(self.rng.choice(self.sections[name]))
        section, tag, label = SLOTS[name]
        draw = {"name": self.first_name, "place": self.place, "org": self.organisation}.get(name)
        words = (draw() if draw else self.one_of(section)).split()
        inside = name == "surname" and bool(before) and before[-1][2] == "B-PERSON"
        marks = ["I" if i or inside else "B" for i in range(len(words))]
        tags = ["ADP" if w in {"of", "for", "de", "Without"} else tag for w in words]
        return [(w, t, f"{m}-{label}" if label else "O") for w, t, m in zip(words, tags, marks, strict=True)]


def typed(sentence: Sentence, rng: random.Random) -> Sentence:
    """As people type it: half careful, half lower-cased, many without the final mark."""
    style = rng.random()
    if style < 0.4:
        return sentence
    if style < 0.5:
        return unpunctuated(sentence)
    return casual(sentence, rng) if style < 0.75 else unpunctuated(lowered(sentence))


def templates(book: Phrasebook, questions: int, turns: int) -> list[Sentence]:
    """So many questions and chat turns (a third of these without a name at the front), in mixed styles."""
    kinds = ["questions"] * questions + ["turns"] * (turns * 2 // 3) + ["plain"] * (turns // 3)
    return [typed(book.line(k), book.rng) for k in kinds]
