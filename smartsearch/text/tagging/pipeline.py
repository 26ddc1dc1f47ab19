"""The shipped parser: words, tags and entities of a text, as spaCy gives them.

It runs what spaCy trained, from spaCy's own files and the tables that `recipe/parser_export.py` wrote beside
them. A `Doc` has of spaCy's what `text/parse.py` asks, under the same names, so either may stand behind it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from threading import Lock
from typing import Literal

from smartsearch.text.tagging.network import Network
from smartsearch.text.tagging.rules import Entity, Rules
from smartsearch.text.tagging.words import KEPT, Tokenizer, Word

TABLES = "exported.json"
TOGETHER = 16_384
"""Characters of texts that are read at once."""


class Token:
    """A word at its place in a text."""

    __slots__ = ("ent_type_", "i", "idx", "pos_", "word")

    def __init__(self, word: Word, i: int, idx: int, pos: str) -> None:
        self.word, self.i, self.idx, self.pos_ = word, i, idx, pos
        self.ent_type_ = ""

    text = property(attrgetter("word.text"), doc="As it is written.")
    lower_ = property(attrgetter("word.lower"), doc="In lower case.")
    is_stop = property(attrgetter("word.is_stop"), doc="Whether it is a stop word.")
    is_punct = property(attrgetter("word.is_punct"), doc="Whether it is punctuation throughout.")
    is_space = property(attrgetter("word.is_space"), doc="Whether it is white space throughout.")
    is_alpha = property(attrgetter("word.is_alpha"), doc="Whether it is letters throughout.")


@dataclass(frozen=True)
class Span:
    """The tokens from `start` until before `end`."""

    doc: Doc
    start: int
    end: int
    label_: str = ""

    def __iter__(self) -> Iterator[Token]:
        return iter(self.doc.tokens[self.start : self.end])

    def __len__(self) -> int:
        return self.end - self.start

    @property
    def start_char(self) -> int:
        """Where the first begins."""
        return self.doc.tokens[self.start].idx

    @property
    def end_char(self) -> int:
        """Where the last ends."""
        last = self.doc.tokens[self.end - 1]
        return last.idx + len(last.text)

    @property
    def text(self) -> str:
        """As it is written."""
        return self.doc.text[self.start_char : self.end_char]


class Doc:
    """A text with its tokens and entities."""

    def __init__(self, text: str, tokens: list[Token], entities: Sequence[Entity]) -> None:
        self.text, self.tokens = text, tokens
        self.ents = tuple(Span(self, *entity) for entity in entities)
        for span in self.ents:
            for token in span:
                token.ent_type_ = span.label_

    def __iter__(self) -> Iterator[Token]:
        return iter(self.tokens)

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, part: slice) -> Span:
        start, end, _ = part.indices(len(self.tokens))
        return Span(self, start, end)

    def char_span(self, start: int, end: int, *, alignment_mode: Literal["expand"]) -> Span:  # noqa: ARG002
        """The tokens that have a character from `start` until before `end`."""
        inside = [t.i for t in self.tokens if t.idx < end and t.idx + len(t.text) > start]
        return Span(self, inside[0], inside[-1] + 1) if inside else Span(self, 0, 0)


class Pipeline:
    """Reads texts, for one thread at a time.

    Raises OSError, ValueError or KeyError where its files are not whole.
    """

    def __init__(self, folder: Path) -> None:
        tables = json.loads((folder / TABLES).read_text(encoding="utf-8"))
        self._tokenizer = Tokenizer(tables)
        self._network = Network(folder, tables)
        self._tags: list[str] = tables["tags"]
        key = self._tokenizer.key
        self._lock = Lock()
        self._before, self._behind = (
            Rules(folder / name / "patterns.jsonl", key) for name in tables["rules"]
        )

    def __call__(self, text: str) -> Doc:
        """One text."""
        return self._read([text])[0]

    def pipe(self, texts: Iterable[str]) -> Iterator[Doc]:
        """Texts in order, several at once: faster than one by one."""
        characters = 0

        def share(text: str) -> int:
            nonlocal characters
            characters += len(text)
            return (characters - len(text)) // TOGETHER

        for _, some in groupby(texts, share):
            yield from self._read(list(some))

    def _read(self, texts: Sequence[str]) -> list[Doc]:
        with self._lock:
            return list(self._docs(texts))

    def _docs(self, texts: Sequence[str]) -> Iterator[Doc]:
        if len(self._tokenizer.words) > KEPT:
            self._tokenizer.forget()
            self._network.forget()
        parted = [self._tokenizer(text) for text in texts]
        vectors, tags = self._network.read([words for words, _ in parted], self._tokenizer.words)
        start = 0
        for text, (words, spaced) in zip(texts, parted):
            end = start + len(words)
            named = [self._tags[number] for number in tags[start:end].tolist()]
            entities = self._before(words, named, [])
            if words:
                entities = self._network.entities(vectors[start:end], words, entities)
            entities = self._behind(words, named, entities)
            yield Doc(text, _placed(words, spaced, named), entities)
            start = end


def _placed(words: Sequence[Word], spaced: Sequence[bool], tags: Sequence[str]) -> list[Token]:
    tokens = []
    at = 0
    for i, (word, space, tag) in enumerate(zip(words, spaced, tags)):
        tokens.append(Token(word, i, at, tag))
        at += len(word.text) + space
    return tokens
