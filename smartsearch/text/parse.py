"""Question to weighted terms, and turns to entities and nouns: all that asks the parser (paper 3.3)."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smartsearch.config import Config
from smartsearch.errors import ModelError
from smartsearch.runtime.extras import pipeline, require
from smartsearch.runtime.lean import module, standing_in
from smartsearch.text.literals import COMPOUND, LONG, NUMBER, PHRASE, Literal, literals
from smartsearch.text.tagging.pipeline import TABLES, Doc, Pipeline, Span, Token
from smartsearch.types import Query, Term, fold

if TYPE_CHECKING:
    from spacy.language import Language

SHIPPED = Path(__file__).parents[1] / "models" / "en_smartsearch"
HOP_LABELS = frozenset({"PERSON", "PER", "ORG", "GPE", "LOC", "FAC", "EVENT"})
"""Entity labels that become terms of the next hop (paper 3.4: person, organisation, location, event)."""

CACHED_CHARACTERS = 1 << 20
"""So many characters of analysed texts are kept, about 30 bytes of memory each: a long-lived process sees
many."""
TURNS = 64
"""Turns that are read at once."""
LONGEST = 20_000
"""Characters of a question that the parser reads: spaCy refuses a million."""
LONGEST_TURN = 100_000
"""The same of a turn; spaCy takes some 10 KB of memory a character, the shipped parser less."""
NAME = 4
"""Words that a name may have."""
FIRST_PERSON = frozenset(("i", "we", "my", "our", "me", "us"))
STATED = 3
"""Words that a statement has at least."""
SENTENCE_END = re.compile(r"(?:(?<=[.!?…。！？])|(?<=[.!?…。！？][\"'”’)\]*]))\s|\n")
"""The space behind a sentence, or the end of a line."""
ARTICLES = frozenset(("a", "an", "the", "this", "that", "my", "our", "your", "his", "her", "their"))


@contextmanager
def without_commands() -> Iterator[None]:
    """Keep spaCy from importing its command line, with two HTTP clients: a third of what its import takes.

    Whoever asks for `spacy.cli` or `spacy.info` afterwards gets them.
    """

    def info(*arguments: Any, **options: Any) -> Any:
        return import_module("spacy.cli.info").info(*arguments, **options)

    names = () if "spacy" in sys.modules else ("spacy.cli", "spacy.cli.info")
    with standing_in({name: module(name, info=info) for name in names}):
        yield


def load(name_or_path: str) -> Pipeline | Language:
    """The pipeline of that name or folder: spaCy's, but the shipped one, which runs without spaCy.

    Raises ModelError when it is missing, broken or lacks a part, SmartsearchError "package" without spaCy.
    """
    if Path(name_or_path) == SHIPPED:
        try:
            return Pipeline(SHIPPED)
        except (OSError, ValueError, KeyError) as error:
            raise ModelError(
                f"the shipped parser is damaged: {error}",
                hint="install smartsearch-cli again",
                kind="model_damaged",
            ) from error
    require("spacy", f"the parser {name_or_path}")
    try:
        with without_commands():
            import spacy
        nlp = spacy.load(name_or_path)
    except (OSError, ValueError, ImportError) as error:
        named = name_or_path.isidentifier()
        get = f"{pipeline(name_or_path)}, or give a folder" if named else "give the folder of a whole one"
        raise ModelError(
            f"the spaCy pipeline {name_or_path!r} cannot be loaded: {str(error).splitlines()[0]}",
            hint=f"{get}, or use --profile embedded",
            kind="model_missing",
        ) from error
    needed = {"ner", "entity_ruler"} & set(nlp.pipe_names)
    if not needed or not {"tagger", "morphologizer"} & set(nlp.pipe_names):
        raise ModelError(
            f"the spaCy pipeline {name_or_path!r} has no tagger or no named-entity recogniser",
            hint="a pipeline such as en_core_web_sm, or --profile embedded",
            kind="model_unfit",
        )
    return nlp


@lru_cache(maxsize=1)
def stop_words() -> frozenset[str]:
    """spaCy's English stop words."""
    return frozenset(json.loads((SHIPPED / TABLES).read_text(encoding="utf-8"))["stops"])


def words(text: str) -> list[str]:
    """The lower-cased words of a text: runs of letters, digits and underscores."""
    return re.findall(r"\w+", fold(text))


class Parser:
    """A pipeline with what it already read: the same top turns come back hop after hop.

    `known` says whether a word, in lower case, is one of the language.
    """

    def __init__(self, nlp: Pipeline | Language, known: Callable[[str], bool] = bool) -> None:
        self._nlp, self._known = nlp, known
        self._seen: dict[str, Doc] = {}
        self._characters = 0

    def _docs(self, texts: Iterable[str]) -> Iterator[Doc]:
        """The texts as read, in order; those that are new several at once."""
        rest = (text[:LONGEST_TURN] for text in texts)
        while some := list(islice(rest, TURNS)):
            known = {text: doc for text in some if (doc := self._seen.get(text)) is not None}
            new = [text for text in dict.fromkeys(some) if text not in known]
            known.update(zip(new, self._nlp.pipe(new)))
            self._characters += sum(map(len, new))
            if self._characters > CACHED_CHARACTERS:
                self._seen.clear()
                self._characters = sum(map(len, known))
            self._seen.update(known)
            yield from (known[text] for text in some)

    def parse(self, question: str, config: Config) -> Query:
        """Terms of the question in order of appearance, each once with its highest weight (paper 3.3).

        With `config.typed` what is written as a code, a number or a quoted phrase is a term too, and whole.
        """
        doc = self._nlp(question[:LONGEST])
        typed = literals(question[:LONGEST]) if config.typed else []
        placed = [*_literal_terms(doc, typed, config), *_terms(doc, typed, config, self._known)]
        terms = [term for _, term in sorted(placed, key=lambda one: one[0])]
        if terms:
            return Query(question, _distinct(terms), literal=config.typed and _is_literal(doc, typed))
        words = [t.text for t in doc if not t.is_stop and not t.is_punct and not t.is_space]
        said = "every word that is not a stop word was searched"
        if not words and config.typed:  # spaCy's stop words have nouns among them: call, name, part
            words = [t.text for t in doc if t.pos_ == "NOUN" and len(t.text) >= config.min_length]
            said = "its nouns were searched, which are stop words"
        if words:
            terms = [Term(word, "TOKEN", 1.0) for word in words]
            return Query(question, _distinct(terms), said, config.typed and _is_literal(doc, typed))
        return Query(question, (), "there was no word to search for")

    def entities(self, texts: Iterable[str]) -> list[str]:
        """Names of people, organisations, places and events in the turns, in order, each once."""
        spans = (
            _trimmed(span) for doc in self._docs(texts) for span in doc.ents if span.label_ in HOP_LABELS
        )
        return _unique(text for text in spans if text)

    def statements(self, text: str) -> list[str]:
        """The sentences of a turn with a verb and a name, a number or a first person; no questions."""
        (doc,) = self._docs([text])
        stated = []
        ends = [0, *(found.end() for found in SENTENCE_END.finditer(doc.text)), len(doc.text)]
        for start, end in pairwise(ends):
            sentence = doc.text[start:end].strip()
            if "?" in sentence[-3:] or len(sentence.split()) < STATED:
                continue
            start += doc.text[start:end].index(sentence)
            span = doc.char_span(start, start + len(sentence), alignment_mode="expand")
            verb = any(token.pos_ in ("VERB", "AUX") for token in span)
            if verb and any(token.ent_type_ or token.lower_ in FIRST_PERSON for token in span):
                stated.append(sentence)
        return stated

    def nouns(self, texts: Sequence[str]) -> list[tuple[str, int]]:
        """Surface nouns and proper nouns with the number of turns each stands in, most frequent first."""
        counts: dict[str, int] = {}
        surface: dict[str, str] = {}
        for doc in self._docs(texts):
            words = {fold(t.text): t.text for t in doc if _is_noun(t)}
            for key, word in words.items():
                counts[key] = counts.get(key, 0) + 1
                surface.setdefault(key, word)
        ranked = sorted(counts, key=lambda key: -counts[key])
        return [(surface[key], counts[key]) for key in ranked]


def _terms(
    doc: Doc, typed: Sequence[Literal], config: Config, known: Callable[[str], bool]
) -> Iterator[tuple[int, Term]]:
    """The paper's terms, but those within a literal, each with the place where it begins.

    With `config.typed` what is tagged as another part of speech is a noun where the tagger cannot have known
    it: a word that is not `known`, or a pronoun that is neither stop word nor `somebody`; names in lower case
    are.
    """
    weights = {"PROPN": config.weight_propn, "NOUN": config.weight_noun, "VERB": config.weight_verb}
    phrases = {span.start: span for span in doc.ents}
    for token in doc:
        if token.i in phrases and not _within(phrases[token.i].start_char, phrases[token.i].end_char, typed):
            for term in _phrase(phrases[token.i], weights, config):
                yield token.idx, term
        kind = token.pos_
        if config.typed and token.is_alpha and not token.is_stop and kind not in weights:
            pronoun = kind == "PRON" and not token.lower_.endswith("body")
            kind = "NOUN" if pronoun or not known(fold(token.text)) else kind
        base = weights.get(kind, 0.0)
        weight = base + (config.weight_entity if token.ent_type_ else 0.0)
        inside = _within(token.idx, token.idx + len(token.text), typed)
        if weight and not inside and _keeps(token, config):
            yield token.idx, Term(token.text, kind if base else "ENT", weight)


def _within(start: int, end: int, typed: Sequence[Literal]) -> bool:
    """Whether what stands there is part of a literal. The words of a compound are terms beside it."""
    inside = (one for one in typed if one.start <= start and end <= one.end and one.kind != COMPOUND)
    return any(one.kind == PHRASE or (start, end) != (one.start, one.end) for one in inside)


def _literal_terms(doc: Doc, typed: Sequence[Literal], config: Config) -> Iterator[tuple[int, Term]]:
    """The literals as terms: a phrase weighs as a name in an entity, a code as a name, others as a noun."""
    name, noun = config.weight_propn, config.weight_noun
    weights = {PHRASE: name + config.weight_entity, NUMBER: noun, COMPOUND: noun}
    dates = [(span.start_char, span.end_char) for span in doc.ents if span.label_ == "DATE" and len(span) > 1]
    for one in typed:
        plain = len(one.text) < LONG and any(start <= one.start < end for start, end in dates)
        words = [token for token in doc if one.start <= token.idx < one.end]
        stop = one.kind == COMPOUND and not any(token.is_alpha and not token.is_stop for token in words)
        if not (stop or (plain and one.kind == NUMBER)):  # a year in a date weighs as the paper has it
            yield one.start, Term(one.text, one.kind, weights.get(one.kind, name))


def _is_literal(doc: Doc, typed: Sequence[Literal]) -> bool:
    """Whether the question is nothing but one word, a name, codes or quoted phrases."""
    words = [token for token in doc if any(c.isalnum() for c in token.text)]
    rest = [t for t in words if not any(one.start <= t.idx < one.end for one in typed)]
    if not rest or len(words) == 1:
        return True
    return len(rest) <= NAME and all(t.pos_ == "PROPN" and not t.is_stop for t in rest)


def _phrase(span: Span, weights: dict[str, float], config: Config) -> Iterator[Term]:
    """A multi-word entity as one term, as heavy as its heaviest token."""
    text = _trimmed(span)
    if len(text.split()) > 1:
        base = max(weights.get(token.pos_, 0.0) for token in span)
        yield Term(text, "ENT", base + config.weight_entity)


def _keeps(token: Token, config: Config) -> bool:
    """Whether it is long enough and no stop word; a name that looks like one ("Will") stays."""
    named = token.pos_ == "PROPN"
    if token.is_stop and not (named and token.ent_type_):
        return False
    if token.is_punct or token.is_space or not any(c.isalnum() for c in token.text):
        return False
    shortest = config.min_length_propn if named else config.min_length
    return len(token.text) >= shortest or not token.text.isascii()


def _is_noun(token: Token) -> bool:
    noun = token.pos_ in ("NOUN", "PROPN") and not token.is_stop
    return noun and len(token.text) >= 3 and token.text.isalpha()


def _trimmed(span: Span) -> str:
    """The span without leading articles or a trailing possessive; "Will" and "US" are no stop words here."""
    tokens = list(span)
    while tokens and (tokens[0].lower_ in ARTICLES or tokens[0].is_punct or tokens[0].is_space):
        tokens.pop(0)
    while tokens and (tokens[-1].text.lower() in ("'s", "’s") or tokens[-1].is_punct or tokens[-1].is_space):
        tokens.pop()
    return str(span.doc[tokens[0].i : tokens[-1].i + 1].text) if tokens else ""


def _distinct(terms: Iterable[Term]) -> tuple[Term, ...]:
    best: dict[str, Term] = {}
    for term in terms:
        key = fold(term.text)
        if key not in best or term.weight > best[key].weight:
            best[key] = term
    return tuple(best.values())


def _unique(texts: Iterable[str]) -> list[str]:
    seen: dict[str, str] = {}
    for text in texts:
        seen.setdefault(fold(text), text)
    return list(seen.values())
