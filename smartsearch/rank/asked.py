"""Turns that only ask what the question asks: somebody asked before, and that is no answer.

Such a turn shares more words with the question than its answer does, and scorers, which see the turns before
a turn, give its words to what stands below it. So it gets the lowest score of all that were read, and a turn
below it the mean of its scores with it and without it (docs/decisions/0004).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence, Set
from functools import lru_cache

import numpy as np

from smartsearch.rank.crossencoder import sigmoid
from smartsearch.rank.features import Floats, logit
from smartsearch.rank.scorer import Scorer
from smartsearch.rank.text import BEFORE, IS, OF_ASKING, Shown, places_before
from smartsearch.rank.windows import turn_scores
from smartsearch.text.parse import stop_words
from smartsearch.types import Corpus, Turn, fold

SAID = 0.6
"""A turn that asks the same holds at least this share of the question's words."""
NEW, NEW_TOLD = 4, 2
"""The most words that it has besides; the second where it only reports that somebody asked."""
PUTS = frozenset(
    (
        *("hey", "hi", "hello", "guys", "all", "btw", "anyone", "anybody", "someone", "somebody", "tell"),
        *("told", "ask", "asks", "asked", "asking", "remember", "remind", "know", "knows", "question"),
        *("quick", "sorry", "curious", "wonder", "wondering", "wondered", "random", "thought", "find"),
    )
)
"""Words that put a question, and say nothing of what is asked."""

_WORD = re.compile(r"[^\W_]+")
_OF_ASKING = re.compile(rf"\b{OF_ASKING}(?=['’]?s?\b)")
_ASKS = re.compile(
    rf"{IS}\b"
    r"|(?:give|tell|show|list|name|describe|explain|summari[sz]e)\b"
)
_TELLS = re.compile(r"\b(?:ask(?:s|ed|ing)?|wonder(?:s|ed|ing)?|anyone|anybody|remember|remind)\b")
_ALIKE = {"what": "which", "whom": "who", "whose": "who"}


def askers(question: str, corpus: Corpus, turns: Collection[int]) -> frozenset[int]:
    """Those of `turns` that only ask the `question`; none where it has no word of its own."""
    stems = stems_of(question)
    if not stems or not turns:
        return frozenset()
    typed = " ".join(_WORD.findall(fold(question)))
    return frozenset(i for i in turns if _asks(corpus.turns[i], stems, typed))


def stems_of(question: str) -> set[str]:
    """The beginnings of its words that say something, which other forms of them share."""
    return {word[: max(4, len(word) - 2)] for word in _words(question)}


def may_show(corpus: Corpus, turns: Iterable[int]) -> set[int]:
    """`turns`, and those that scorers may see before them."""
    show = Shown(before=BEFORE)
    return {place for i in turns for place in (i, *places_before(corpus, i, show))}


def fair_scores(
    question: str,
    corpus: Corpus,
    over: Sequence[int],
    scorer: Scorer,
    show: Shown,
    asked: Set[int],
    chances: bool = False,
) -> Floats:
    """As `turn_scores`, shape (over,), of which the turns at `asked` only ask the question.

    The mean of `chances` is that of their logits.
    """
    values = turn_scores(question, corpus, over, scorer, show)
    seen = scorer.seeing(show)
    below = [n for n, i in enumerate(over) if not asked.isdisjoint(places_before(corpus, i, seen))]
    if below:
        alone = turn_scores(question, corpus, [over[n] for n in below], scorer, show, asked)
        both = np.stack([values[below], alone])
        values[below] = sigmoid(logit(both).mean(axis=0)) if chances else both.mean(axis=0)
    own = [n for n, i in enumerate(over) if i in asked]
    if 0 < len(own) < len(over):
        values[own] = np.delete(values, own).min()
    return values


def _asks(turn: Turn, stems: set[str], typed: str) -> bool:
    """Whether a turn says most of the words that begin with `stems`, next to nothing else, and asks."""
    text = fold(turn.text)
    if sum(stem in text for stem in stems) < SAID * len(stems):
        return False
    words = _words(turn.text)
    said = {stem for stem in stems if any(word.startswith(stem) for word in words)}
    new = [word for word in words if not word.startswith(tuple(stems))]
    if len(said) < SAID * len(stems) or any(word.isdigit() for word in new):
        return False
    behind = _words(text.rpartition("?")[2]) if "?" in text else frozenset()
    if any(not word.startswith(tuple(stems)) for word in behind):
        return False  # an answer
    verbatim = _ASKS.match(typed) and typed in " ".join(_WORD.findall(text))
    if "?" in text or _kinds(typed) & _kinds(_begins(text)) or verbatim:
        return len(new) <= NEW
    return len(new) <= NEW_TOLD and _TELLS.search(text) is not None


@lru_cache(maxsize=1024)
def _words(text: str) -> frozenset[str]:
    """The words of a text that say something, in small letters."""
    return frozenset(w for w in _WORD.findall(fold(text)) if len(w) > 1 or w.isdigit()) - stop_words() - PUTS


def _begins(text: str) -> str:
    """The first word of a text in small letters that says or asks something."""
    no_news = (stop_words() | PUTS) - set(_OF_ASKING.findall(text))
    return next((word for word in _WORD.findall(text) if word not in no_news), "")


def _kinds(text: str) -> set[str]:
    """What a text in small letters asks for, by its words of asking."""
    return {_ALIKE.get(word, word) for word in _OF_ASKING.findall(text)}
