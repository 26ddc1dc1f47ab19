"""SmartSearch's models in a process that stays: loaded once, when a question first needs them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from smartsearch.types import Corpus, Turn

if TYPE_CHECKING:
    from smartsearch.config import Config
    from smartsearch.models.tools import Tools


class Models:
    """SmartSearch's models, loaded when a system first asks for them, and tried on a question.

    So what loads late has loaded too. A failed try is told, and made again by the next that asks.
    """

    def __init__(self, config: Config, load: Callable[[Config], Tools]) -> None:
        self._config, self._load = config, load
        self._tools: Tools | None = None
        self.state = "not loaded"

    def __call__(self, _config: Config | None = None) -> Tools:
        """The models. Raises ModelError."""
        if self._tools is None:
            self.state = "loading"
            try:
                tools = self._load(self._config)
                self._try(tools)
            except BaseException as error:
                self.state = f"failed: {error}"
                raise
            self._tools, self.state = tools, "ready"
        return self._tools

    @property
    def ran(self) -> list[dict[str, Any]]:
        """What is loaded."""
        return [asdict(model) for model in self._tools.models.values()] if self._tools else []

    def _try(self, tools: Tools) -> None:
        import smartsearch.transcripts.corpus  # noqa: F401 - the readers, too
        from smartsearch import systems
        from smartsearch.retrieve.grep import Haystack
        from smartsearch.systems.base import Empty
        from smartsearch.systems.smartsearch import SmartSearch

        lines = ("I adopted a dog in Lisbon.", "What is it called?", "Pickle, after my grandmother's recipe.")
        chat = Haystack(Corpus(tuple(Turn(line, "Mara") for line in lines)))
        config = replace(self._config, timeout=0)
        systems.answer(SmartSearch(tools), "When did Mara adpot the dog?", chat, Empty(), config)
