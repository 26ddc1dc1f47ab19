"""QRMeM (arXiv 2406.13167): segments, and for each question a graph of their entities that is walked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from smartsearch.systems.base import SEEN, Card, Memory, Plan, Progress, Ranked, asker
from smartsearch.systems.qrmem.settings import set_in

if TYPE_CHECKING:
    from smartsearch.config import Config
    from smartsearch.llm import Asker
    from smartsearch.models.tools import Tools
    from smartsearch.retrieve.grep import Haystack

CARD = Card(
    "qrmem",
    "Segments and a graph of entities made for the question, walked by what the last step lacked; by rule, "
    f"or with its language model (--llm). {SEEN}",
    paper="QRMeM: Unleash the Length Limitation through Question then Reflection Memory Mechanism",
    fidelity="rule",
    graph=True,
    llm=True,
)


class QRMeM:
    """The method of the paper, walked in one `way`; `asker` asks its language model, else rules stand in."""

    def __init__(self, tools: Tools, way: str, asker: Asker | None = None) -> None:
        self.tools, self.way, self.asker = tools, way, asker
        self.card = CARD.asking if asker else CARD

    @property
    def fingerprint(self) -> str:
        """Its way, as a run may hold several, and what it asks."""
        if not self.asker:
            return self.way
        from smartsearch.systems.pieces import digest
        from smartsearch.systems.qrmem.prompts import ROLES
        from smartsearch.systems.roles import identity

        return f"{self.way}-{digest(repr(identity(self.asker, ROLES)), 8)}"

    def plan(self, corpus: Haystack, folder: Path | None, config: Config) -> tuple[Plan, Plan]:
        """Nothing before the first question; then what one sends at most."""
        from smartsearch.systems.pieces import segmented
        from smartsearch.systems.qrmem.plan import plan

        memory = segmented(corpus.corpus.turns)
        own = set_in(config)
        return Plan(), plan(corpus, memory, own.qrmem_scope, self.way, own.qrmem_trials)

    def prepare(self, corpus: Haystack, folder: Path | None, progress: Progress) -> Memory:
        """The segments of all turns; the graph is the question's."""
        from smartsearch.systems.pieces import segmented

        return segmented(corpus.corpus.turns)

    def search(self, question: str, corpus: Haystack, memory: Memory, config: Config) -> Ranked:
        """The turns of the segments that the walk over the question's graph reached."""
        from smartsearch.systems.pieces import Segments
        from smartsearch.systems.qrmem.search import search

        assert isinstance(memory, Segments)
        return search(question, corpus, memory, config, self.tools, self.way, self.asker)


def card(name: str) -> Card:
    """What it is."""
    return CARD


def load(config: Config, tools: Callable[[Config], Tools]) -> QRMeM:
    """QRMeM with the models of the config's profile, and what it asks. Raises ModelError and LLMError."""
    return QRMeM(tools(config), set_in(config).qrmem, asker(config))
