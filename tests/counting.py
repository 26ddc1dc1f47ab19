"""Counts work, so that no test passes or fails by a clock.

`steps` counts the lines of Python that a call runs in its own thread, those of libraries included, and each
turn of a comprehension; what C functions do inside does not count. The number is the same each time, but
another in another version of Python: compare counts of one run, at n and at 4n (`assert_linear`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

Given = TypeVar("Given")

FEW = 2_000
"""Steps that a growth may have beside what grows: imports, caches, the first call of something."""


def steps(call: Callable[..., object], *given: object) -> int:
    """The lines of Python that `call(*given)` runs."""
    count = 0

    def trace(_frame: object, event: str, _about: object) -> Callable:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call(*given)
    finally:
        sys.settrace(before)
    return count


def assert_linear(
    make: Callable[[int], Given],
    call: Callable[[Given], object],
    n: int,
    *,
    count: Callable[[Callable[[Given], object], Given], int] = steps,
    slack: float = 0.25,
) -> None:
    """Four times as much takes four times the work, and not more than a quarter above.

    `make(n)` gives what `call` takes, and is not counted. `count(call, given)` is the work of a call. Give an
    `n` at which what happens once is little beside what happens n times.
    """
    call(make(max(1, n // 8)))
    few, many = count(call, make(n)), count(call, make(4 * n))
    assert many <= 4 * few * (1 + slack) + FEW, f"n={n}: {few:,} steps, 4n: {many:,}, {many / few:.1f} times"
