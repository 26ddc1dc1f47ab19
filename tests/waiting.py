"""Waits for what another thread or process does. The one place of the tests where a clock ends anything."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

HANG = 120.0
"""Seconds after which what a test waits for counts as a hang; nothing passes or fails by less."""


def until(holds: Callable[[], Found], what: str) -> Found:
    """What `holds` gives as soon as it is true."""
    ended = time.monotonic() + HANG
    while not (found := holds()):
        assert time.monotonic() < ended, f"a hang: {what}, not within {HANG:g} s"
        time.sleep(0.01)
    return found
