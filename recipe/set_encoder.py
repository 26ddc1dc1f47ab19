"""Train the set encoder (rank/set_encoder.py) on whole lists of questions that the cross-encoder never saw.

Every right turn against all wrong ones of its question, as `fusion` does, whose weights are fitted with it.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from recipe import fusion
from recipe.samples import Floats, Sample, read_lists
from smartsearch.models import manifest
from smartsearch.rank.set_encoder import APART, FACTS, facts_of, relations

WIDTH, LAYERS, HEADS = 64, 2, 4
BATCH, RATE, DECAY, DROPOUT, WARM = 16, 1e-3, 0.05, 0.1, 50
"""Lists a batch, learning rate of AdamW and its weight decay, dropout, steps of warming up."""
SHARE = 0.5
"""How much of what it learned to add is added: it is too sure of lists like those it was trained on."""


class Layer(nn.Module):  # type: ignore[misc]
    """A pre-norm layer of attention with a bias for the step between two turns and for one speaker."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.mixed = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)
        self.steps = nn.Embedding(APART + 1, HEADS)
        nn.init.zeros_(self.steps.weight)
        self.same = nn.Parameter(torch.zeros(HEADS))
        self.drop = nn.Dropout(DROPOUT)

    def forward(
        self, x: torch.Tensor, step: torch.Tensor, same: torch.Tensor, there: torch.Tensor
    ) -> torch.Tensor:
        """`x` (lists, n, WIDTH), `step` and `same` (lists, n, n), `there` (lists, n): no padding."""
        lists, n, _ = x.shape
        parts = self.qkv(self.norm1(x)).view(lists, n, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        bias = self.steps(step).permute(0, 3, 1, 2) + self.same[None, :, None, None] * same[:, None]
        scores = parts[0] @ parts[1].transpose(-1, -2) / parts.shape[-1] ** 0.5 + bias
        share = scores.masked_fill(~there[:, None, None, :], -1e9).softmax(-1)
        mixed = (self.drop(share) @ parts[2]).transpose(1, 2).reshape(lists, n, WIDTH)
        x = x + self.drop(self.mixed(mixed))
        inner = functional.gelu(self.up(self.norm2(x)), approximate="tanh")
        return x + self.drop(self.down(inner))


class Encoder(nn.Module):  # type: ignore[misc]
    """What SetEncoder runs, with the names of its weights; it begins with adding nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.facts = nn.Linear(FACTS, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm, self.out = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 1)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(
        self, facts: torch.Tensor, step: torch.Tensor, same: torch.Tensor, there: torch.Tensor
    ) -> torch.Tensor:
        """What is added to each turn's score, (lists, n)."""
        x = self.facts(facts)
        for layer in self.layers:
            x = layer(x, step, same, there)
        found: torch.Tensor = self.out(self.norm(x))[..., 0]
        return found


def together(samples: Sequence[Sample]) -> dict[str, torch.Tensor]:
    """A batch, its lists padded to the longest."""
    most = max(len(one.right) for one in samples)

    def padded(values: Any, fill: float = 0.0, square: bool = False) -> torch.Tensor:
        room = most - len(values)
        wide = [(0, room), (0, room if square else 0)][: values.ndim]
        return torch.from_numpy(np.pad(values, wide, constant_values=fill))

    pairs = [relations(one.listed) for one in samples]
    return {
        "facts": torch.stack([padded(facts_of(one.listed, one.rows)) for one in samples]),
        "rows": torch.stack([padded(one.rows.astype(np.float32)) for one in samples]),
        "right": torch.stack([padded(one.right) for one in samples]),
        "there": torch.stack([padded(np.ones(len(one.right), dtype=bool)) for one in samples]),
        "counts": torch.stack([padded(one.counts) for one in samples]),
        "step": torch.stack([padded(step, APART, square=True) for step, _ in pairs]),
        "same": torch.stack([padded(same, square=True) for _, same in pairs]),
    }


def loss_of(scores: torch.Tensor, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """Softplus of the log-sum-exp of the wrong minus the right, over the right turns, then over the lists."""
    right, wrong = batch["right"], batch["counts"] & ~batch["right"]
    most = torch.logsumexp(scores.masked_fill(~wrong, -1e9), 1)
    each = functional.softplus(most[:, None] - scores) * right
    return (each.sum(1) / right.sum(1)).mean()


def train(samples: Sequence[Sample], weights: Floats, epochs: int, seed: int) -> Encoder:
    """The encoder of lists that have a right and a wrong turn, on top of the fusion's `weights`."""
    torch.manual_seed(seed)
    rng, net = random.Random(seed), Encoder()
    base = torch.tensor(weights, dtype=torch.float32)
    optimizer = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=DECAY)
    steps = epochs * (len(samples) // BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda k: min(1.0, (k + 1) / WARM) * max(0.0, 1 - k / max(1, steps))
    )
    for epoch in range(epochs):
        order, total = rng.sample(list(samples), len(samples)), 0.0
        for start in range(0, len(order) - BATCH + 1, BATCH):
            batch = together(order[start : start + BATCH])
            scores = batch["rows"] @ base + net(batch["facts"], batch["step"], batch["same"], batch["there"])
            loss = loss_of(scores, batch)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total += loss.item()
        print(f"epoch {epoch + 1} loss {total / max(1, len(order) // BATCH):.4f}", flush=True)
    net.eval()
    return net


def write(net: Encoder, path: Path) -> None:
    """The weights in half precision, the last layer's by SHARE."""
    shares = {name: SHARE if name.startswith("out.") else 1.0 for name in net.state_dict()}
    state = net.state_dict().items()
    np.savez(path, **{name: (tensor * shares[name]).numpy().astype(np.float16) for name, tensor in state})


def main(argv: Sequence[str]) -> int:
    """`python -m recipe set_encoder SAMPLES.npz...`: writes set_encoder.npz and the fusion's weights."""
    parser = argparse.ArgumentParser(prog="recipe set_encoder", description=__doc__)
    parser.add_argument("samples", type=Path, nargs="+", help="what `validate --out` kept")
    parser.add_argument("crossencoder", type=Path, help="its exported folder")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--out", type=Path, default=manifest.SET_ENCODER)
    parser.add_argument("--fusion", type=Path, default=manifest.FUSION, help="file of the fusion's weights")
    options = parser.parse_args(argv)
    lists = [one for path in options.samples for one in read_lists(path, options.crossencoder)]
    samples = [one for one in lists if one.teaches]
    weights = fusion.fitted(samples)
    write(train(samples, weights, options.epochs, options.seed), options.out)
    fusion.write(weights, fusion.guess(samples), len(samples), options.fusion)
    return 0
