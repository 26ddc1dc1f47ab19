"""Fine-tune the ColBERT: in-batch negatives and distillation from the cross-encoder."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from smartsearch.training.crossencoder import DECAY, NO_DROPOUT, batches
from smartsearch.training.data import read_groups
from smartsearch.training.evaluate import Scorer, summary, trial_ranks
from smartsearch.training.shipped import cross_scorer
from smartsearch.training.start import Clock, minilm_folder, seed_everything

DIMENSION, QUERY_LENGTH, DOCUMENT_LENGTH = 96, 32, 128
"""Of a token vector, and tokens of a question (padded with [MASK]) and of a text."""
ENCODER_RATE, HEAD_RATE = 5e-5, 1e-3
DISTIL = 1.0
"""Weight of the KL divergence to the cross-encoder's softmax over a group, unless given."""


def new_model(start: Path | None, seed: int) -> Any:
    """A PyLate ColBERT on the starting weights; the projection starts orthogonal, so distances survive it."""
    import torch
    from pylate import models

    seed_everything(seed)
    model = models.ColBERT(
        str(start or minilm_folder()),
        embedding_size=DIMENSION,
        query_length=QUERY_LENGTH,
        document_length=DOCUMENT_LENGTH,
        device="cpu",
        config_kwargs=NO_DROPOUT,
    )
    if start is None:
        torch.nn.init.orthogonal_(model[1].linear.weight)
    return model


def token_vectors(model: Any, texts: Sequence[str], is_query: bool) -> tuple[Any, Any]:
    """Unit vectors [n, tokens, 96] and the mask of tokens that count: all of a question, words of a text."""
    import torch

    features = model.tokenize(list(texts), is_query=is_query)
    ids, mask = features["input_ids"], features["attention_mask"].bool()
    with torch.autocast("cpu", torch.bfloat16):
        vectors = model(features)["token_embeddings"]
    counted = torch.ones_like(mask) if is_query else mask & ~torch.isin(ids, torch.tensor(model.skiplist))
    return torch.nn.functional.normalize(vectors.float(), dim=-1), counted


def max_sim(questions: Any, texts: Any, mask: Any) -> Any:
    """[questions, texts]: for each question token its best text token, summed (ColBERT, section 3.2)."""
    similar = questions.flatten(0, 1) @ texts.flatten(0, 1).T
    similar = similar.view(*questions.shape[:2], *texts.shape[:2])
    return similar.masked_fill(~mask[None, None], -1e4).amax(dim=3).sum(dim=1)


def batch_scores(model: Any, questions: Sequence[str], texts: Sequence[str], parts: int = 6) -> Any:
    """[questions, texts] MaxSim, the texts run in `parts` of like length to save padding."""
    import torch

    asked, _ = token_vectors(model, questions, True)
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    size = -(-len(order) // parts)
    found = [
        max_sim(asked, *token_vectors(model, [texts[i] for i in order[start : start + size]], False))
        for start in range(0, len(order), size)
    ]
    return torch.cat(found, dim=1)[:, torch.tensor(order).argsort()]


def loss_of(scores: Any, taught: Any, distil: float = DISTIL) -> Any:
    """Contrastive loss over the whole batch plus KL to the teacher over each group.

    `scores` is [groups, groups * size], group g's own texts at columns g*size.., the right one first.
    """
    import torch
    from torch.nn import functional

    count, size = taught.shape
    right = torch.arange(count) * size
    own = scores.view(count, count, size)[torch.arange(count), torch.arange(count)]
    contrast = functional.cross_entropy(scores, right)
    taught_loss = functional.kl_div(
        functional.log_softmax(own, 1), functional.softmax(taught, 1), reduction="batchmean"
    )
    return contrast + distil * taught_loss


def torch_scorer(model: Any) -> Scorer:
    """MaxSim scores of texts for a question, by the model in training."""
    import torch

    def score(question: str, texts: list[str]) -> list[float]:
        with torch.inference_mode():
            return list(batch_scores(model, [question], texts)[0].tolist())

    return score


def train(options: argparse.Namespace) -> None:
    """Train for `options.steps`, or `options.minutes`, and save a PyLate folder to `options.out`."""
    import torch

    rng = seed_everything(options.seed)
    model = new_model(options.start, options.seed)
    teacher = cross_scorer(options.teacher, threads=torch.get_num_threads())
    groups = [g for g in read_groups(options.data / "groups.jsonl") if len(g.wrong) >= options.wrong]
    trials = read_groups(options.data / "trials.jsonl")
    trials = rng.sample(trials, min(50, len(trials)))
    optimizer = torch.optim.AdamW(
        [
            {"params": list(model[0].parameters()), "full": ENCODER_RATE},
            {"params": list(model[1].parameters()), "full": HEAD_RATE},
        ],
        lr=0.0,
        weight_decay=DECAY,
        betas=(0.9, 0.98),
    )
    stream = batches(groups, options.groups, options.wrong, rng)
    model.train()
    clock, running, saved = Clock(options.minutes, options.steps), 0.0, 0.0
    while clock.progress < 1.0:
        batch = next(stream)
        taught = torch.tensor([teacher(drawn.question, drawn.texts) for drawn in batch])
        for part in optimizer.param_groups:
            part["lr"] = options.scale * part["full"] * clock.rate()
        questions, texts = (
            [drawn.question for drawn in batch],
            [text for drawn in batch for text in drawn.texts],
        )
        loss = loss_of(batch_scores(model, questions, texts), taught, options.distil)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        step, running = clock.step(), 0.98 * running + 0.02 * loss.item()
        if step % 25 == 0:
            print(f"step {step} ({clock.progress:.2f}) loss {running / (1 - 0.98**step):.3f}", flush=True)
        if clock.progress - saved > 0.2:
            saved = clock.progress
            model.save(str(options.out))
            model.eval()
            print("trial", summary(trial_ranks(trials, torch_scorer(model), most=24)), flush=True)
            model.train()
    model.save(str(options.out))
    spent = (time.monotonic() - clock.begin) / 60
    print(f"done: {clock.done} steps of {options.groups} groups, {spent:.0f} minutes", flush=True)


def main(argv: Sequence[str]) -> int:
    """`python -m smartsearch.training colbert DATA_FOLDER OUT_FOLDER --teacher MODEL_FOLDER --minutes 28`."""
    parser = argparse.ArgumentParser(prog="smartsearch.training colbert", description=__doc__)
    parser.add_argument("data", type=Path, help="folder with groups.jsonl and trials.jsonl")
    parser.add_argument("out", type=Path, help="folder for the ColBERT, in PyLate's format")
    parser.add_argument("--teacher", type=Path, required=True, help="folder of the exported cross-encoder")
    parser.add_argument("--start", type=Path, help="a ColBERT to go on from (default: the MiniLM package)")
    parser.add_argument("--minutes", type=float, default=28.0, help="0 saves the untrained start")
    parser.add_argument("--steps", type=int, default=0, help="instead of minutes: a run that repeats")
    parser.add_argument("--groups", type=int, default=16, help="groups a batch")
    parser.add_argument("--wrong", type=int, default=3, help="wrong texts a group")
    parser.add_argument(
        "--distil", type=float, default=DISTIL, help="weight of the teacher's part of the loss"
    )
    parser.add_argument("--scale", type=float, default=1.0, help="of both learning rates, for a later round")
    parser.add_argument("--seed", type=int, default=13)
    options = parser.parse_args(argv)
    if options.minutes <= 0:
        new_model(options.start, options.seed).save(str(options.out))
        return 0
    train(options)
    return 0
