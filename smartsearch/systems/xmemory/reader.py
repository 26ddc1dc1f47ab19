"""A language model as the reader that Stage II asks: how unsure it is of the answer it would draft."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from smartsearch.llm import Asker, LLMError
from smartsearch.systems.xmemory import prompts
from smartsearch.systems.xmemory.ingest import XMemory
from smartsearch.systems.xmemory.select import Choice, Gated, gate
from smartsearch.types import Cost, Turn

Fits = Callable[[Sequence[int]], bool]
"""Whether turns, by their indices, are not too much together."""


@dataclass(frozen=True)
class Piece:
    """What the reader reads: a fact, an episode's record or a message; and the turns that it stands for."""

    text: str
    turns: tuple[int, ...]


@dataclass
class Reader:
    """One question over a memory of `turns`.

    Once asked, `by` says what its uncertainty was taken from, `cost` what that took.
    """

    question: str
    memory: XMemory
    turns: Sequence[Turn]
    asker: Asker
    by: str = ""
    fault: str = ""
    cost: Cost = field(default_factory=Cost)

    def gated(self, semantics: Sequence[int], choices: Sequence[Choice[int]], fits: Fits) -> Gated | None:
        """The episodes that make it surer than these facts alone do.

        None where there is nothing to ask, or the model gives no uncertainty; then `fault` says why. Raises
        LLMError where no request would be answered.
        """
        if not choices:
            return None
        known = [self.memory.semantics[one] for one in semantics]
        facts = [Piece(place.fact.text, place.turns) for place in known]
        before = self.asker.spent
        try:
            return gate(facts, list(map(self._offered, choices)), self, fits=lambda read: fits(_turns(read)))
        except LLMError as error:
            if error.general:
                raise
            self.by, self.fault = "", error.message
            return None
        finally:
            self.cost = (self.asker.spent - before).cost

    def __call__(self, read: Sequence[Piece]) -> float:
        """How unsure it is when it has read these. Raises LLMError."""
        doubt = self.asker.uncertainty(prompts.draft(self.question, [piece.text for piece in read]))
        if self.by not in ("", doubt.by):
            raise LLMError("the model gave log-probabilities for some drafts only", kind="llm_reply")
        self.by = doubt.by
        return doubt.value

    def _offered(self, choice: Choice[int]) -> Choice[Piece]:
        episode = self.memory.episodes[choice.episode]
        told = " ".join(
            filter(None, (f"[{episode.time}]" if episode.time else "", episode.title, episode.told))
        )
        messages = (Piece(self.turns[turn].rendered, (turn,)) for turn in choice.messages)
        return Choice(choice.episode, (Piece(told, choice.record),), tuple(messages))


def _turns(read: Sequence[Piece]) -> list[int]:
    return list(dict.fromkeys(turn for piece in read for turn in piece.turns))
