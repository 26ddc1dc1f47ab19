"""Idf-weighted word overlap inside one conversation: what makes a wrong turn look right."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

WORD = re.compile(r"[a-z0-9]+")
SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
COMMON = frozenset(
    WORD.findall(
        """
        a about an and are as at be been but by did do does for from had has have he her him his how i
        if in is it its just like me my of on or our she so that the their them they this to was we were
        what when where which who why will with would you your
        """
    )
)


def words(text: str) -> set[str]:
    """The lower-cased content words of a text."""
    return set(WORD.findall(text.lower())) - COMMON


class Overlap:
    """Scores turns of one conversation against a question by the idf of shared words."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.sets = [words(text) for text in texts]
        seen = Counter(word for found in self.sets for word in found)
        total = len(texts) or 1
        self.idf = {word: math.log(1 + total / count) for word, count in seen.items()}
        self.mean = sum(map(len, self.sets)) / total or 1.0

    def score(self, query: set[str], index: int) -> float:
        """Idf of the shared words, damped for long turns as BM25 does with b = 0.5."""
        found = self.sets[index]
        shared = math.fsum(self.idf[word] for word in query & found)  # the same in any order
        return shared / (0.5 + 0.5 * len(found) / self.mean)

    def top(self, query: set[str], limit: int) -> list[int]:
        """The `limit` turns that share most with the question, best first, none without a shared word."""
        scored = [(self.score(query, i), i) for i in range(len(self.sets))]
        return [i for score, i in sorted(scored, key=lambda pair: (-pair[0], pair[1]))[:limit] if score > 0]


def crop(text: str, query: set[str], limit: int) -> str:
    """The run of sentences of at most about `limit` words that shares most with `query`."""
    if len(text.split()) <= limit:
        return text
    sentences = [part for part in SENTENCE.split(text) if part.strip()]
    best, chosen = -1, text
    for start in range(len(sentences)):
        run: list[str] = []
        for sentence in sentences[start:]:
            if run and len(" ".join([*run, sentence]).split()) > limit:
                break
            run.append(sentence)
        piece = " ".join(run)
        shared = len(query & words(piece))
        if shared > best:
            best, chosen = shared, piece
    return " ".join(chosen.split()[: 2 * limit])
