"""What the tests of the benchmark share: fake models that know words, and a small dataset of our own."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from smartsearch.bench.scoring import Scoring
from smartsearch.bench.store import Store
from smartsearch.bench.types import BenchQuestion, Group
from smartsearch.config import Config
from smartsearch.models.tools import Tools
from smartsearch.rank.scorer import Scorer
from smartsearch.types import Corpus, ModelInfo, Turn
from tests.cli.fakes import fake_tools
from tests.transcripts.build import lines, put

CHAT = """\
[2024-05-08 13:56] Mara: I went to the support group yesterday.
[2024-05-08 13:57] Ilya: Wow, how was it?
[2024-05-09 10:00] Ilya: My flatmate adopted a dog named Oscar.
[2024-05-10 09:00] Mara: Oscar is a lovely name for a dog.
[2024-05-11 18:30] Ilya: We took Oscar to the harbour and he chased the gulls.
[2024-05-12 08:15] Mara: The support group meets on Mondays at the library.
"""
QUESTIONS = [
    {"id": f"q{n}", "question": question, "gold": gold, "category": category}
    for n, question, gold, category in (
        (1, "When did Mara join the support group?", ["chat.txt:1"], "when"),
        (2, "Where does the support group meet?", ["chat.txt:6"], "where"),
        (3, "What did Oscar chase?", ["chat.txt:5", "chat.txt:3"], "what"),
        (4, "Who plays the trombone?", ["chat.txt:2"], "what"),
    )
]


class Counting:
    """A scorer that counts the texts it reads."""

    def __init__(self, scorer: Callable[[str, Sequence[str]], np.ndarray]) -> None:
        self.scorer, self.read = scorer, 0

    def __call__(self, question: str, texts: Sequence[str]) -> np.ndarray:
        self.read += len(texts)
        return self.scorer(question, texts)


def tools_with_parser(config: Config) -> Tools:
    tools = fake_tools(config)
    parser = ModelInfo("parser", "fake-parser", "789", "fp32")
    scorers = {name: Scorer(Counting(scorer)) for name, scorer in tools.scorers.items()}
    return replace(tools, scorers=scorers, models={"parser": parser, **tools.models})


def fingerprints(tools: Tools) -> dict[str, str]:
    return {name: f"{model.role} {model.id} {model.revision}" for name, model in tools.models.items()}


def scoring_of(tools: Tools, store: Store, config: Config) -> Scoring:
    return Scoring(tools, store, config, fingerprints(tools))


@pytest.fixture
def tools() -> Tools:
    return tools_with_parser(Config())


@pytest.fixture
def chats(tmp_path: Path) -> Path:
    """A folder with one chat and four questions about it; the last one's gold shares no word with it."""
    folder = tmp_path / "chats"
    put(folder, "chat.txt", CHAT)
    put(folder, "questions.jsonl", "".join(lines(q) for q in QUESTIONS))
    return folder


def group(*said: str, gold: Sequence[int] = (), question: str = "What about Oscar?") -> Group:
    turns = tuple(Turn(text, "Mara", "2024-05-08", session="s1", turn=str(n)) for n, text in enumerate(said))
    return Group("c", Corpus(turns), (BenchQuestion("q", question, "one", frozenset(gold)),))
