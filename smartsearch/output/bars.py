"""Bars of block characters, or of ASCII where a terminal may lack them. Pure: numbers in, strings out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LEFT = " ▏▎▍▌▋▊▉█"
"""A cell filled from the left by eighths."""
LOWER = " ▁▂▃▄▅▆▇█"
"""A cell filled from below by eighths."""


@dataclass(frozen=True)
class Scale:
    """The range of a column of numbers."""

    low: float
    high: float

    def share(self, value: float) -> float:
        """Where `value` lies, from 0 (lowest) to 1; 1 where all values are the same."""
        if self.high <= self.low:
            return 1.0
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)


def scale(values: Iterable[float | None]) -> Scale:
    """The range of those values that are numbers."""
    numbers = [value for value in values if value is not None and math.isfinite(value)]
    return Scale(min(numbers), max(numbers)) if numbers else Scale(0.0, 0.0)


def bar(share: float, width: int, *, ascii_only: bool = False) -> str:
    """A bar of `width` cells, `share` of them filled: an eighth at least, padded with spaces."""
    if ascii_only:
        return ("#" * max(round(share * width), 1)).ljust(width)[:width]
    eighths = max(round(share * width * 8), 1)
    whole, part = divmod(eighths, 8)
    return ("█" * whole + (LEFT[part] if part else "")).ljust(width)[:width]


def parts(values: Sequence[float], width: int) -> list[int]:
    """`width` cells parted as `values` are, to the cell; largest remainders first, none below 0."""
    total = sum(values)
    if total <= 0:
        return [0 for _ in values]
    exact = [max(value, 0.0) / total * width for value in values]
    cells = [int(one) for one in exact]
    by_remainder = sorted(range(len(values)), key=lambda n: cells[n] - exact[n])
    for n in by_remainder[: width - sum(cells)]:
        cells[n] += 1
    return cells


ABOVE, BELOW = 3, 2
"""Rows of `columns` over and under its line."""


def heights(values: Sequence[float | None], line: float) -> list[int]:
    """Eighths of a row that each value reaches in a plot of ABOVE + BELOW rows with a line between them.

    The scale is logarithmic, from the line to the highest value. A value on or over the line stands over
    it by an eighth at least, one under it never does; None and 0 or less have the least height.
    """
    numbers = [value for value in values if value is not None and value > 0]
    span = math.log(max(numbers) / line) if numbers and max(numbers) > line > 0 else 1.0
    return [_height(value, line, span) for value in values]


def _height(value: float | None, line: float, span: float) -> int:
    if value is None or value <= 0 or line <= 0:
        return 1
    reach = math.log(value / line) / span * ABOVE * 8
    if value >= line:
        return BELOW * 8 + max(1, min(round(reach), ABOVE * 8))
    return max(1, min(BELOW * 8 + math.floor(reach), BELOW * 8))


def columns(tall: Sequence[int], *, ascii_only: bool = False) -> list[str]:
    """The rows of the plot from the top, ABOVE + BELOW of them."""
    rows = []
    for row in reversed(range(ABOVE + BELOW)):
        filled = [min(max(height - row * 8, 0), 8) for height in tall]
        rows.append(
            "".join(
                ("#" if one >= 4 else "." if one else " ") if ascii_only else LOWER[one] for one in filled
            )
        )
    return rows
