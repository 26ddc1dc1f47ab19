"""What scores texts for a question: the shape of both rankers, and of the dense search (paper 3.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Scorer = Callable[[str, Sequence[str]], NDArray[np.float64]]
"""A question and n texts in, n scores out, higher is better."""
