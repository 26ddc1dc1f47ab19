"""A language model as the reader that Stage II asks: how unsure it is of the answer it would draft."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from smartsearch.llm import Asker, LLMError
from smartsearch.systems.xmemory import prompts
from smartsearch.systems.xmemory.ingest import XMemory
from smartsearch.systems.xmemory.select import Choice, Gated, gate
from smartsearch.systems.xmemory.settings import OURS, Constants
from smartsearch.types import Turn


@dataclass
class Reader:
    """Reads the memory of `turns` for one question, `most` words of it at most.

    Afterwards `by` names what its uncertainty was taken from.
    """

    question: str
    memory: XMemory
    turns: Sequence[Turn]
    asker: Asker
    most: int
    constants: Constants = OURS
    by: str = ""
    fault: str = ""

    def gated(
        self, themes: Sequence[int], semantics: Sequence[int], choices: Sequence[Choice[int]]
    ) -> Gated | None:
        """The episodes that make it surer than these themes and facts alone do.

        None where there is nothing to ask, or the model gives no uncertainty; then `fault` says why. Raises
        LLMError where no request would be answered.
        """
        if not choices:
            return None
        known, offered = self.memory.coarse(themes, semantics), list(map(self._offered, choices))
        try:
            return gate(known, offered, self, constants=self.constants, fits=self._fits)
        except LLMError as error:
            if error.general:
                raise
            self.by, self.fault = "", error.message
            return None

    def __call__(self, read: Sequence[str]) -> float:
        """How unsure it is when it has read these. Raises LLMError."""
        doubt = self.asker.uncertainty(prompts.draft(self.question, read))
        if self.by not in ("", doubt.by):
            raise LLMError("the model gave log-probabilities for some drafts only", kind="llm_reply")
        self.by = doubt.by
        return doubt.value

    def _fits(self, read: Sequence[str]) -> bool:
        return sum(len(text.split()) for text in read) <= self.most

    def _offered(self, choice: Choice[int]) -> Choice[str]:
        """The episode as it is read: its record, its messages."""
        messages = (self.turns[turn].rendered for turn in choice.messages)
        return Choice(choice.episode, (self.memory.episodes[choice.episode].record,), tuple(messages))
