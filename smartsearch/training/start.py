"""What training both rankers shares: starting weights, batches, the learning rate over time, the steps."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from smartsearch.training.chats import Group

WARMUP = 0.06
"""Share of the training time in which the learning rate rises."""
DECAY, BETAS = 0.01, (0.9, 0.98)
"""Of AdamW."""
NO_DROPOUT = {"attention_probs_dropout_prob": 0.0, "hidden_dropout_prob": 0.0}
"""On a CPU dropout costs 28% of a step (it rules out the fused attention), and no group is seen often."""


def half_precision(device: Any) -> Any:
    """A context in which torch computes in bfloat16 on a GPU or a processor with AVX-512, else nothing.

    On a processor without, a step in bfloat16 takes fifteen times as long as one in float32.
    """
    import torch

    kind = torch.device(device).type
    fast = kind == "cpu" and torch.backends.cpu.get_cpu_capability().startswith("AVX512")
    return torch.autocast(kind, torch.bfloat16) if fast or kind == "cuda" else nullcontext()


def freeze_words(bert: Any) -> None:
    """Keep the word vectors of a model that was trained before: they are half of its weights.

    Their gradient is filled anew in each part of a batch, and AdamW reads all of them: a fifth of a step.
    """
    bert.embeddings.word_embeddings.weight.requires_grad_(False)


@dataclass(frozen=True)
class Plan:
    """How long a ranker is trained, on batches of `groups` groups of one right and `wrong` wrong texts.

    `steps` make a run that repeats; without them it ends after `minutes`, on any machine. `scale` is of the
    full learning rates.
    """

    minutes: float
    steps: int = 0
    groups: int = 16
    wrong: int = 4
    scale: float = 1.0


class Clock:
    """Progress of a run: 0 at the start, 1 after `steps` steps, or after `minutes` if `steps` is 0."""

    def __init__(self, minutes: float, steps: int = 0) -> None:
        self.whole = minutes * 60
        self.steps, self.done = steps, 0
        self.begin = time.monotonic()

    @property
    def seconds(self) -> float:
        """How long the run has lasted."""
        return time.monotonic() - self.begin

    @property
    def progress(self) -> float:
        """The share of the run that is over."""
        return min(1.0, self.done / self.steps if self.steps else self.seconds / self.whole)

    def rate(self) -> float:
        """The share of the full learning rate now: a linear rise, then a linear fall to zero."""
        done = min(1.0, (self.done + 0.5) / self.steps) if self.steps else self.progress
        return done / WARMUP if done < WARMUP else (1.0 - done) / (1.0 - WARMUP)


class OnePiece:
    """A run that is neither kept nor parted; `recipe/pieces.py` keeps one and goes on with it later."""

    def go_on(self, model: Any, optimizer: Any, clock: Clock) -> None:
        """Set all three to where the run was kept, if it was."""

    def ended(self, model: Any, optimizer: Any, clock: Clock) -> bool:  # noqa: ARG002
        """Whether the run ends here; called after each step."""
        return False


def batches(groups: Sequence[Group], size: int, wrong: int, rng: random.Random) -> Iterator[list[Group]]:
    """Endless batches of `size` groups, groups of like length together.

    `wrong` wrong texts of each are drawn anew in every epoch; a group that has fewer is left out. Raises
    ValueError where too few are left for a batch.
    """
    groups = [group for group in groups if len(group.wrong) >= wrong]
    if len(groups) < size:
        raise ValueError(f"{len(groups)} groups with {wrong} wrong texts do not make a batch of {size}")
    while True:
        order = rng.sample(range(len(groups)), len(groups))
        for start in range(0, len(order), size * 32):
            part = sorted(order[start : start + size * 32], key=lambda i: sum(map(len, groups[i].wrong)))
            chunks = [part[i : i + size] for i in range(0, len(part), size)]
            for chunk in rng.sample(chunks, len(chunks)):
                if len(chunk) == size:
                    yield [replace(groups[i], wrong=rng.sample(groups[i].wrong, wrong)) for i in chunk]


def in_parts(
    items: Sequence[Any], length: Callable[[Any], int], parts: int, run: Callable[[Any], Any]
) -> Any:
    """What `run` makes of `items`, called for `parts` of like length: padding all to the longest costs more.

    `run` gives a tensor whose last axis has one place per item; the result is in the order of `items`.
    """
    import torch

    order = sorted(range(len(items)), key=lambda i: length(items[i]))
    size = -(-len(order) // parts)
    found = [run([items[i] for i in order[at : at + size]]) for at in range(0, len(order), size)]
    return torch.cat(found, dim=-1)[..., torch.tensor(order).argsort()]


class Learner(Protocol):
    """A ranker in training."""

    model: Any

    def parameters(self) -> list[dict[str, Any]]:
        """The optimizer's parameter groups, each with its full learning rate as `full`."""

    def loss(self, batch: Sequence[Group]) -> Any:
        """The loss of a batch, a tensor of one value."""

    def score(self, question: str, texts: list[str]) -> list[float]:
        """Scores as `shipped.Scorer` gives them."""

    def save(self, folder: Path) -> None:
        """Write the model as `export` reads it and training goes on from."""


def fit(
    learner: Learner,
    groups: Sequence[Group],
    plan: Plan,
    rng: random.Random,
    watch: Callable[[Clock, float], None],
    pieces: OnePiece | None = None,
) -> bool:
    """Train for the time of the plan; `watch` is told the clock and the loss after each step.

    With `pieces` it goes on from where an earlier call ended, with the batches that would have come next.
    False where the piece ended before the plan.
    """
    pieces = pieces or OnePiece()
    import torch

    optimizer = torch.optim.AdamW(learner.parameters(), lr=0.0, weight_decay=DECAY, betas=BETAS)
    clock = Clock(plan.minutes, plan.steps)
    pieces.go_on(learner.model, optimizer, clock)
    stream = islice(batches(groups, plan.groups, plan.wrong, rng), clock.done, None)
    learner.model.train()
    while clock.progress < 1.0:
        for part in optimizer.param_groups:
            part["lr"] = plan.scale * part["full"] * clock.rate()
        loss = learner.loss(next(stream))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learner.model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        clock.done += 1
        watch(clock, loss.item())
        if pieces.ended(learner.model, optimizer, clock):
            break
    return clock.progress >= 1.0
