"""Masks secrets in all that is printed, if masking is on.

Standard output and standard error are replaced while a command runs, so that no command, error or library can
forget it. What programs read is masked value by value, before it is written as JSON.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

if TYPE_CHECKING:
    from smartsearch.text.redact import Together

Shown = TypeVar("Shown")

_masks: Callable[..., Together] | None = None


class Masked:
    """A stream that masks each text that is written to it; `bare` is the stream itself."""

    def __init__(self, bare: TextIO) -> None:
        self.bare = bare

    def write(self, text: str) -> int:
        """Write `text` masked; return its length."""
        self.bare.write(shown(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.bare, name)


def bare(stream: TextIO) -> TextIO:
    """The unwrapped stream, for output whose values are masked already."""
    return stream.bare if isinstance(stream, Masked) else stream


def shown(value: Shown) -> Shown:
    """A text, record or rows, masked if masking is on."""
    return value if _masks is None else _masks(value).of(value)


def wanted() -> bool:
    """Whether masking is on."""
    return _masks is not None


@contextmanager
def during(on: bool, typed: Sequence[str] = ()) -> Iterator[None]:
    """Mask all that is printed while the block runs, if `on`.

    What was `typed` is known: a secret of an option or of the question is masked in what else is said.
    """
    global _masks
    if not on:
        yield
        return
    from smartsearch.text.redact import Together

    known = Together(tuple(typed), " ".join(typed)).secrets
    masked: Any = Masked  # it has all that a stream has
    before, _masks = _masks, lambda value: Together(value, known=known)
    try:
        with redirect_stdout(masked(sys.stdout)), redirect_stderr(masked(sys.stderr)):
            yield
    finally:
        _masks = before
