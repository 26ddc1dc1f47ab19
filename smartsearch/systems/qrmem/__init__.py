"""QRMeM (arXiv 2406.13167): segments, and for each question a graph of their entities that is walked."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from smartsearch.systems.base import SEEN, Card, asker

if TYPE_CHECKING:
    from smartsearch.config import Config
    from smartsearch.models.tools import Tools
    from smartsearch.systems.base import System

CARD = Card(
    "qrmem",
    "Segments and a graph of entities made for the question, walked by what the last step lacked; by rule, "
    f"or with its language model (--llm). {SEEN}",
    paper="QRMeM: Unleash the Length Limitation through Question then Reflection Memory Mechanism",
    fidelity="rule",
    llm=True,
)
CARDS = {CARD.name: CARD}


def load(config: Config, tools: Callable[[Config], Tools]) -> System:
    """QRMeM with the models of the config's profile, and what it asks. Raises ModelError and LLMError."""
    from smartsearch.systems.qrmem.search import System
    from smartsearch.systems.qrmem.settings import set_in

    model = asker(config)
    return System(CARD.asking if model else CARD, tools(config), set_in(config).qrmem, model)
