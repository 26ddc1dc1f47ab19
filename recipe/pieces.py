"""A run of training in pieces: kept now and then, and gone on with later, on a machine lent for a while."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from smartsearch.training.start import Clock, OnePiece


class OtherRun(ValueError):
    """A run with other settings was kept."""


@dataclass
class Pieces(OnePiece):
    """A run in pieces: it is kept at `path` now and then, and goes on from there.

    A piece ends after `minutes`. `about` tells this run from others.
    """

    path: Path
    about: Mapping[str, Any]
    minutes: float = math.inf
    every: float = 120.0
    """Seconds between two times that it is kept."""
    _begin: float = field(default_factory=time.monotonic)
    _kept: float = field(default_factory=time.monotonic)

    def ended(self, model: Any, optimizer: Any, clock: Clock) -> bool:
        """Keep the run if it is time; whether this piece is over."""
        now = time.monotonic()
        over = now - self._begin > 60 * self.minutes
        if over or now - self._kept > self.every:
            self._keep(model, optimizer, clock)
        return over

    def _keep(self, model: Any, optimizer: Any, clock: Clock) -> None:
        """Write the run, whole or not at all."""
        import torch

        part = self.path.with_name(f"{self.path.name}.part")
        part.parent.mkdir(parents=True, exist_ok=True)
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
        torch.save({**state, "about": dict(self.about), "done": clock.done, "seconds": clock.seconds}, part)
        part.replace(self.path)
        self._kept = time.monotonic()

    def go_on(self, model: Any, optimizer: Any, clock: Clock) -> None:
        """Set all three to where the run was kept, if it was. Raises OtherRun."""
        import torch

        if not self.path.is_file():
            return
        state = torch.load(self.path, map_location="cpu", weights_only=True)
        if state["about"] != dict(self.about):
            raise OtherRun(f"{self.path} keeps a run with other settings: {state['about']}")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        clock.done, clock.begin = state["done"], clock.begin - state["seconds"]
