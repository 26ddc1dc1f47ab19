"""A reply that arrives in pieces: what has arrived, and how much of it may be shown."""

from __future__ import annotations

from contextlib import suppress
from typing import Any


class Heard:
    """The pieces of one reply so far. `ended`: the server said that it is whole."""

    def __init__(self) -> None:
        self.text = ""
        """All of it, thinking too."""
        self.told = ""
        """What `fresh` has given out, without what turned out to be thinking."""
        self.finish, self.model = "stop", ""
        self.usage: Any = None
        self.ended = False
        self._gap = ""

    def add(self, chunk: Any) -> None:
        """Take in one openai ChatCompletionChunk. The library checks no types: misfits are ignored."""
        with suppress(AttributeError, TypeError, LookupError):
            self.model = chunk.model or self.model
            self.usage = chunk.usage or self.usage
            choice = chunk.choices[0]
            if finish := choice.finish_reason:
                self.finish, self.ended = str(finish), True
            if isinstance(choice.delta.content, str):
                self.text += choice.delta.content

    def fresh(self) -> str:
        """The new text that may be shown now; blanks at either end wait for what follows them.

        Empty while the model thinks, or may be about to.
        """
        if "<think>".startswith(self.text.strip()):
            return ""
        said = encodable(without_thinking(self.text))
        if not said.startswith(self.told):  # what was told turns out to have been thinking
            self.told, self._gap = "", "\n\n"
        more = said[len(self.told) :]
        if not more:
            return ""
        gap, self._gap, self.told = self._gap, "", said
        return gap + more


def without_thinking(text: str) -> str:
    """`text` without the reasoning that some local models write between think tags."""
    if text.lstrip().startswith("<think>") and "</think>" not in text:
        return ""
    return text.rpartition("</think>")[2].strip()


def encodable(text: str) -> str:
    """`text` without lone surrogates: half an emoji, from a transcript or a reply cut at its limit."""
    return text.encode("utf-8", "replace").decode()
