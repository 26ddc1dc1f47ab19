"""Tells listeners the progress of reading turns that no model has read before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Listener = Callable[[int, int], None]
"""Takes how many turns are read, and of how many."""

_listeners: list[Listener] = []


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Tell `listener` while the block runs."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def tell(done: int, of: int) -> None:
    """Tell the listeners that `done` turns of these are read."""
    for listener in _listeners:
        listener(done, of)
