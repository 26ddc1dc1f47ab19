"""SmartSearch: grep, hops, two rankers and a cut; no memory but the transcripts themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from smartsearch.config import RANKERS
from smartsearch.systems.base import Card, Empty, Memory, Progress, Ranked

if TYPE_CHECKING:
    from smartsearch.config import Config
    from smartsearch.models.tools import Tools
    from smartsearch.retrieve.grep import Haystack
    from smartsearch.types import Result

CARD = Card(
    "smartsearch",
    "Substring grep, entity and feedback hops, a cross-encoder and a ColBERT fused, a score-adaptive cut.",
    paper="SmartSearch: How Ranking Beats Structure for Conversational Memory Retrieval",
    fidelity="approximate",
    whole=False,
)
CARDS = {CARD.name: CARD}
EXPLAINED = 10
"""Hits of which is told what stands in them for words of the question."""


class SmartSearch:
    """The method of the paper with the models `tools`."""

    card = CARD
    fingerprint = ""

    def __init__(self, tools: Tools, notice: str = "") -> None:
        self.tools, self.notice = tools, notice

    def prepare(self, corpus: Haystack, folder: Path | None, progress: Progress) -> Memory:
        """Nothing: every question reads the transcripts themselves."""
        return Empty()

    def search(self, question: str, corpus: Haystack, memory: Memory, config: Config) -> Ranked:
        """The turns that answer `question`, best first (paper 3)."""
        from smartsearch.systems.smartsearch.pipeline import search

        return search(question, corpus, config, self.tools)

    def explained(self, answer: Result) -> Result:
        """`answer` with what stands in its first hits for words of the question, by static vectors."""
        if self.tools.static is None:
            return answer
        first, rest = answer.hits[:EXPLAINED], answer.hits[EXPLAINED:]
        met = self.tools.static.met(answer.query, [hit.turn.said for hit in first])
        told = (replace(hit, met=words) for hit, words in zip(first, met, strict=True))
        return replace(answer, hits=(*told, *rest))


def load(config: Config, tools: Callable[[Config], Tools]) -> SmartSearch:
    """SmartSearch with the models of the config's profile. Raises ModelError."""
    loaded = tools(config)
    firsts = [(loaded.scorers[name], first) for name in config.rank if (first := RANKERS[name].first)]
    return SmartSearch(loaded, "; ".join(scorer.notice(getattr(config, first)) for scorer, first in firsts))
