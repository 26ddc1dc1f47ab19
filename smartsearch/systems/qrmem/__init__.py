"""QRMeM (arXiv 2406.13167): segments, and for each question a graph of their entities that is walked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from smartsearch.systems.base import Card, Memory, Progress

if TYPE_CHECKING:
    from smartsearch.config import Config
    from smartsearch.models.tools import Tools
    from smartsearch.retrieve.grep import Haystack
    from smartsearch.types import Result

CARD = Card(
    "qrmem",
    "Segments and a graph of entities made for the question, walked by what the last step lacked; by rule, "
    "without its language model.",
    paper="QRMeM: Unleash the Length Limitation through Question then Reflection Memory Mechanism",
    fidelity="rule",
    graph=True,
)


class QRMeM:
    """The method of the paper, walked in one `way`, with the models `tools` for its language model."""

    card = CARD

    def __init__(self, tools: Tools, way: str) -> None:
        self.tools, self.way = tools, way

    @property
    def fingerprint(self) -> str:
        """Its way: a run may hold several."""
        return self.way

    def prepare(self, corpus: Haystack, folder: Path | None, progress: Progress) -> Memory:
        """The segments of all turns; the graph is the question's."""
        from smartsearch.systems.qrmem.segments import segmented

        return segmented(corpus.corpus.turns)

    def search(self, question: str, corpus: Haystack, memory: Memory, config: Config) -> Result:
        """The turns of the segments that the walk over the question's graph reached."""
        from smartsearch.systems.qrmem.search import search
        from smartsearch.systems.qrmem.segments import Segments

        assert isinstance(memory, Segments)
        return search(question, corpus, memory, replace(config, qrmem=self.way), self.tools)


def card(name: str) -> Card:
    """What it is."""
    return CARD


def load(config: Config, tools: Callable[[Config], Tools]) -> QRMeM:
    """QRMeM with the models of the config's profile. Raises ModelError."""
    return QRMeM(tools(config), config.qrmem)
