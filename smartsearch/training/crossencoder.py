"""Fine-tune the cross-encoder: a listwise softmax over one right and several wrong texts."""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from smartsearch.training.bert import first_token_logits, plain_attention
from smartsearch.training.chats import Group
from smartsearch.training.data import read_groups
from smartsearch.training.evaluate import summary, trial_ranks
from smartsearch.training.start import Clock, minilm_folder, seed_everything

MAX_LENGTH = 128
"""Tokens of question and text together; longer texts lose their end (the context comes last)."""
ENCODER_RATE, HEAD_RATE, DECAY = 6e-5, 1e-3, 0.01
NO_DROPOUT = {"attention_probs_dropout_prob": 0.0, "hidden_dropout_prob": 0.0}
"""On a CPU dropout costs 28% of a step (it rules out the fused attention), and no group is seen often."""
BINARY = 0.2
"""Weight of the binary cross-entropy, which makes the sigmoid mean something (design.md: `ce` in 0..1)."""


@dataclass(frozen=True)
class Drawn:
    """A group as one batch has it."""

    question: str
    right: list[str]
    wrong: list[str]

    @property
    def texts(self) -> list[str]:
        """The right ones first."""
        return [*self.right, *self.wrong]


def batches(
    groups: Sequence[Group], size: int, wrong: int, rng: random.Random, right: int = 1
) -> Iterator[list[Drawn]]:
    """Endless batches of `size` groups, groups of like length together.

    At most `right` right texts and `wrong` wrong ones of each are drawn anew in every epoch; all are equal.
    """
    while True:
        order = rng.sample(range(len(groups)), len(groups))
        for start in range(0, len(order), size * 32):
            part = sorted(order[start : start + size * 32], key=lambda i: sum(map(len, groups[i].wrong)))
            chunks = [part[i : i + size] for i in range(0, len(part), size)]
            for chunk in rng.sample(chunks, len(chunks)):
                if len(chunk) == size:
                    yield [
                        Drawn(
                            groups[i].question,
                            _some([groups[i].right, *groups[i].also], right, rng),
                            _some(groups[i].wrong, wrong, rng),
                        )
                        for i in chunk
                    ]


def _some(texts: Sequence[str], most: int, rng: random.Random) -> list[str]:
    return rng.sample(texts, min(most, len(texts)))


def encode(tokenizer: Any, pairs: Sequence[tuple[str, str]], length: int = MAX_LENGTH) -> Any:
    """Padded tensors of (question, text) pairs; the text is cut, and a question beyond half of `length`."""
    return tokenizer(
        [_short(tokenizer, a, length // 2) for a, _ in pairs],
        [b for _, b in pairs],
        padding=True,
        truncation="only_second",
        max_length=length,
        return_tensors="pt",
    )


def _short(tokenizer: Any, question: str, tokens: int) -> str:
    """The question's first `tokens` tokens; nearly always all of it."""
    if len(question) <= tokens:
        return question
    ends = tokenizer(question, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    return question if len(ends) <= tokens else question[: ends[tokens - 1][1]]


def group_loss(logits: Any, sizes: Sequence[tuple[int, int]]) -> Any:
    """The mean over groups of a listwise softmax plus a little binary cross-entropy.

    `logits` [texts] holds group after group, of `sizes` (right, wrong) texts, the right ones first. Each
    right text is against all wrong ones of its group, and never against another right one.
    """
    import torch
    from torch.nn import functional

    total = logits.new_zeros(())
    for part, (right, _) in zip(logits.split([sum(size) for size in sizes]), sizes, strict=True):
        good, bad = part[:right], part[right:]
        listwise = functional.softplus(torch.logsumexp(bad, 0) - good).mean()
        binary = functional.softplus(-good).mean() + functional.softplus(bad).mean()
        total = total + listwise + BINARY * binary
    return total / len(sizes)


def parameter_groups(model: Any) -> list[dict[str, Any]]:
    """The encoder slow, the fresh pooler and classifier fast; no decay on biases and norms."""

    def of(head: bool, decay: bool) -> list[Any]:
        return [
            p
            for name, p in model.named_parameters()
            if ("classifier" in name or "pooler" in name) == head and (p.ndim > 1) == decay
        ]

    return [
        {"params": of(head, decay), "lr": rate, "full": rate, "weight_decay": DECAY if decay else 0.0}
        for head, rate in ((False, ENCODER_RATE), (True, HEAD_RATE))
        for decay in (True, False)
    ]


def by_length(model: Any, tokenizer: Any, pairs: Sequence[tuple[str, str]], parts: int = 4) -> Any:
    """Logits of pairs, run in `parts` of like length: padding a batch to its longest text costs a third."""
    import torch

    order = sorted(range(len(pairs)), key=lambda i: len(pairs[i][0]) + len(pairs[i][1]))
    size = -(-len(order) // parts)
    with torch.autocast("cpu", torch.bfloat16):
        found = [
            first_token_logits(
                model,
                **encode(tokenizer, [pairs[i] for i in order[start : start + size]]),
                attend=plain_attention,
            )
            for start in range(0, len(order), size)
        ]
    return torch.cat(found).float()[torch.tensor(order).argsort()]


def score_pairs(model: Any, tokenizer: Any, pairs: Sequence[tuple[str, str]], size: int = 64) -> list[float]:
    """Logits of pairs by the model in training, about `size` pairs at a time."""
    import torch

    was_training = model.training
    model.eval()
    with torch.inference_mode():
        scores = by_length(model, tokenizer, pairs, parts=-(-len(pairs) // size)).tolist()
    model.train(was_training)
    return list(scores)


def train(options: argparse.Namespace) -> None:
    """Train for `options.steps`, or `options.minutes`; save a CrossEncoder folder to `options.out`."""
    import torch
    from sentence_transformers import CrossEncoder

    rng = seed_everything(options.seed)
    start = str(options.start or minilm_folder())
    cross = CrossEncoder(start, num_labels=1, max_length=MAX_LENGTH, device="cpu", config_kwargs=NO_DROPOUT)
    model, tokenizer = cross.model, cross.tokenizer
    groups = read_groups(options.data / "groups.jsonl")
    trials = read_groups(options.data / "trials.jsonl")
    trials = rng.sample(trials, min(50, len(trials)))
    optimizer = torch.optim.AdamW(parameter_groups(model), betas=(0.9, 0.98))
    stream = batches(
        [g for g in groups if len(g.wrong) >= options.wrong],
        options.groups,
        options.wrong,
        rng,
        options.right,
    )
    model.train()
    clock, running, saved = Clock(options.minutes, options.steps), 0.0, 0.0
    while clock.progress < 1.0:
        batch = next(stream)
        pairs = [(drawn.question, text) for drawn in batch for text in drawn.texts]
        for part in optimizer.param_groups:
            part["lr"] = options.scale * part["full"] * clock.rate()
        sizes = [(len(drawn.right), len(drawn.wrong)) for drawn in batch]
        loss = group_loss(by_length(model, tokenizer, pairs), sizes)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        step, running = clock.step(), 0.98 * running + 0.02 * loss.item()
        if step % 25 == 0:
            print(f"step {step} ({clock.progress:.2f}) loss {running / (1 - 0.98**step):.3f}", flush=True)
        if clock.progress - saved > 0.12:
            saved = clock.progress
            cross.save(str(options.out))
            ranks = trial_ranks(
                trials, lambda q, t: score_pairs(model, tokenizer, [(q, x) for x in t]), most=24
            )
            print("trial", summary(ranks), flush=True)
    cross.save(str(options.out))
    spent = (time.monotonic() - clock.begin) / 60
    print(f"done: {clock.done} steps of {options.groups} groups, {spent:.0f} minutes", flush=True)


def main(argv: Sequence[str]) -> int:
    """`python -m smartsearch.training crossencoder DATA_FOLDER OUT_FOLDER --minutes 40`."""
    parser = argparse.ArgumentParser(prog="smartsearch.training crossencoder", description=__doc__)
    parser.add_argument("data", type=Path, help="folder with groups.jsonl and trials.jsonl")
    parser.add_argument("out", type=Path, help="folder for the CrossEncoder")
    parser.add_argument("--start", type=Path, help="weights to start from (default: the MiniLM package)")
    parser.add_argument("--minutes", type=float, default=40.0)
    parser.add_argument("--steps", type=int, default=0, help="instead of minutes: a run that repeats")
    parser.add_argument("--groups", type=int, default=16, help="groups a batch")
    parser.add_argument("--wrong", type=int, default=4, help="wrong texts a group")
    parser.add_argument("--right", type=int, default=1, help="right texts a group, at most")
    parser.add_argument("--scale", type=float, default=1.0, help="of both learning rates, for a second round")
    parser.add_argument("--seed", type=int, default=13)
    train(parser.parse_args(argv))
    return 0
