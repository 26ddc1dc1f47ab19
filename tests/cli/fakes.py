"""Stand-ins for the models: a parser that knows words by their case, scorers that count shared words."""

import re
import sys
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from smartsearch.cli import app as cli
from smartsearch.config import Config
from smartsearch.models import loading
from smartsearch.models.tools import Tools
from smartsearch.rank.scorer import Scorer
from smartsearch.rank.truncate import Tokenizer
from smartsearch.serve.warm import client
from smartsearch.types import ModelInfo, Query, Term

STOP = {"when", "what", "who", "which", "did", "does", "the", "and", "for", "with", "was", "where", "how"}
LETTERS = Tokenizer("letters/4", lambda text: -(-len(text) // 4))


def words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]{3,}", text)


class FakeParser:
    def parse(self, question: str, config: Config) -> Query:
        kept = dict.fromkeys(w for w in words(question) if w.lower() not in STOP)
        terms = [Term(w, "PROPN", 4.0) if w[0].isupper() else Term(w, "NOUN", 2.0) for w in kept]
        return Query(question, tuple(terms), "" if terms else "no term in the question")

    def entities(self, texts: Iterable[str]) -> list[str]:
        return [w for text in texts for w in words(text)[1:] if w[0].isupper()]

    def nouns(self, texts: Sequence[str]) -> list[tuple[str, int]]:
        return []


def shared(question: str, texts: Sequence[str]) -> NDArray[np.float64]:
    asked = {w.lower() for w in words(question)}
    return np.array([len(asked & {w.lower() for w in words(text)}) for text in texts], dtype=np.float64)


def fake_tools(config: Config, *, cache: bool = True) -> Tools:
    return Tools(
        FakeParser(),  # type: ignore[arg-type]
        {
            "ce": Scorer(lambda q, t: 1 / (1 + np.exp(3 - 2 * shared(q, t)))),
            "colbert": Scorer(lambda q, t: shared(q, t) / 3),
        },
        LETTERS,
        {
            "ce": ModelInfo("crossencoder", "fake-ce", "abc123", "int8"),
            "colbert": ModelInfo("colbert", "fake-colbert", "def456", "int8"),
        },
    )


if __name__ == "__main__":
    loading.load_tools = fake_tools
    loading.tokenizer = lambda: LETTERS
    client.PROGRAM = (sys.executable, __file__)
    sys.argv[0] = "smartsearch"
    cli.main()
