"""How far the reading of turns that no model has read before is, for whoever shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Listener = Callable[[int, int], None]
"""Called with how many turns are read and how many there are to read."""

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
    """So many turns of these are read."""
    for listener in _listeners:
        listener(done, of)
