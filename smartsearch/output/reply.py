"""Prints a model's reply as it streams, the turns it cites, and the prompt."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smartsearch.llm import rough_tokens
from smartsearch.output import masking, record, stream
from smartsearch.output.plain import clipped, one_line, safe, where

if TYPE_CHECKING:
    from smartsearch.config import Config
    from smartsearch.llm import Endpoint, Message, Reply
    from smartsearch.types import Nearby, Result, Turn

SHOWN = 160
"""Characters of a cited turn that are shown; JSON has all of it."""


@dataclass(frozen=True)
class Prompt:
    """The messages that are sent, and their turns, numbered from 1."""

    messages: tuple[Message, ...]
    turns: tuple[Turn, ...]

    @property
    def words(self) -> int:
        """Words of the turns, as the budget counts them."""
        return sum(turn.words for turn in self.turns)

    @property
    def tokens(self) -> int:
        """An estimate of its tokens: one per four characters."""
        return sum(rough_tokens(message["content"]) for message in self.messages)

    @property
    def files(self) -> int:
        """The number of files of the turns."""
        return len({turn.path for turn in self.turns})


@dataclass(frozen=True)
class Cited:
    """The numbers a reply cites, in order of first appearance: those of turns sent, then others."""

    known: tuple[int, ...]
    unknown: tuple[int, ...]


@dataclass(frozen=True)
class Searched:
    """The question, as `query` shows it."""

    answer: Result
    around: Sequence[Nearby]
    config: Config


@contextmanager
def live(waiting: str, *, wanted: bool, silent: bool = False) -> Iterator[Callable[[str], None]]:
    """Yields what prints a piece of the reply at once. A spinner until the first; a line end behind the last.

    However the block is left, what is printed next begins a line. With `silent` only the spinner is seen.
    Raises PipeClosed when the reader has gone.
    """
    begun, held = False, ""
    with ExitStack() as spinner:
        spinner.enter_context(stream.status(waiting, wanted=wanted))

        def say(piece: str) -> None:
            nonlocal begun, held
            if silent:
                return
            spinner.close()
            begun = True
            if masking.wanted():  # a secret may be split between pieces
                lines, end, held = (held + piece).rpartition("\n")
                piece = lines + end
            _put(_shown(piece))

        try:
            yield say
        except stream.PipeClosed:
            raise
        except BaseException:
            if begun:
                _put(f"{_shown(held)}\n")
            raise
        if begun:
            _put(f"{_shown(held)}\n")


def _put(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError as error:
        raise stream.PipeClosed from error


def _shown(piece: str) -> str:
    """A piece made safe for a terminal: a transcript may make a model print control characters."""
    return safe(piece.replace("\r", ""))


def answered(
    prompt: Prompt, reply: Reply, endpoint: Endpoint, found: Cited, of: Searched, *, as_json: bool
) -> None:
    """What follows a reply: a blank line and `[3] path:line:[date] speaker: text` for each turn it cites.

    As JSON, the whole record. Warns of numbers that name no turn, and of a reply that cites nothing.
    """
    if as_json:
        stream.write_json(_record(prompt, reply, endpoint, found, of))
    elif found.known:
        cited = ((n, prompt.turns[n - 1]) for n in found.known)
        lines = (f"[{n}] {where(turn)}:{clipped(one_line(turn.rendered), SHOWN)}" for n, turn in cited)
        stream.write(["", *lines])
    if found.unknown:
        numbers = ", ".join(f"[{n}]" for n in found.unknown)
        stream.warn(f"the reply cites {numbers}: no turn that was sent has that number")
    elif not found.known:
        stream.warn("the reply cites no turn")


def show_prompt(prompt: Prompt, *, as_json: bool) -> None:
    """The messages as they would be sent, each under its role; as JSON with the places of the turns."""
    if not as_json:
        stream.write(f"=== {m['role']} ===\n{safe(m['content'])}\n" for m in prompt.messages)
        return
    stream.write_json(
        {
            **record.HEAD,
            "messages": [dict(message) for message in prompt.messages],
            "turns": [{"n": n, **record.place(turn)} for n, turn in enumerate(prompt.turns, start=1)],
        }
    )


def unanswered(of: Searched) -> record.Json:
    """The record when no turns were found, so that no model was asked."""
    return {
        **record.HEAD,
        **{"answer": "", "finish": "", "citations": [], "unknown_citations": [], "model": "", "endpoint": ""},
        "usage": None,
        "sent": {"turns": 0, "words": 0, "files": 0, "tokens": 0},
        "result": record.result(of.answer, of.config, of.around or None),
    }


def _record(prompt: Prompt, reply: Reply, endpoint: Endpoint, cited: Cited, of: Searched) -> record.Json:
    """The record of an answer: `sent.tokens` is our estimate, `usage` the server's count."""
    turns, usage = prompt.turns, ("prompt_tokens", "completion_tokens", "estimated")
    return {
        **unanswered(of),
        "answer": reply.text,
        "finish": reply.finish,
        "citations": [{"n": n, **record.whole(turns[n - 1])} for n in cited.known],
        "unknown_citations": list(cited.unknown),
        "model": reply.model,
        "endpoint": endpoint.url,
        "usage": {name: getattr(reply, name) for name in usage},
        "sent": {"turns": len(turns), "words": prompt.words, "files": prompt.files, "tokens": prompt.tokens},
    }
