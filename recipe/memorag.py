"""Memory tokens of a decoder for memorag=kv, trained on chats (stage 1), then to write clues (stage 2).

The model is frozen; what is measured is held out: the last tenth of the chats, or each tenth sample. Rates,
lengths and steps are ours, its paper (section 2.3) has none.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

import torch
from pydantic import BaseModel, ConfigDict, ValidationError
from torch import Tensor

from smartsearch import transcripts
from smartsearch.config import anchored, build
from smartsearch.errors import InputError
from smartsearch.output import stream
from smartsearch.runtime import outputs
from smartsearch.systems.memorag import kv, remembered
from smartsearch.systems.memorag.clues import MOST, Clues, Kind
from smartsearch.systems.memorag.kv import KV, Compressor, Trained
from smartsearch.systems.memorag.remembered import Decoder, enough_memory, prompt, target

CLIP = 1.0
"""The largest norm of a gradient."""
MEASURED = 32
"""Held-out pieces that are measured, at most."""


@dataclass(frozen=True)
class Plan:
    """Steps of one piece of `length` tokens each, AdamW's rate, and the order's seed."""

    steps: int
    length: int
    rate: float = 1e-4
    seed: int = 13


@dataclass(frozen=True)
class Measured:
    """Mean nats a token over held-out pieces: of the model without what came before, with memory tokens as
    they were, and as they are."""

    none: float
    before: float
    after: float
    pieces: int


class Sample(BaseModel):
    """A question about a piece of chats, with the clues that a memory of it should write."""

    model_config = ConfigDict(extra="ignore")

    question: str
    context: str
    kind: Kind = "answers"
    items: list[str]
    draft: str = ""
    source: Literal["rule", "llm"] = "rule"

    @property
    def clues(self) -> Clues:
        """What is to be written."""
        return Clues(self.kind, tuple(self.items[: MOST - 1]), self.draft, self.source)


def samples(path: Path) -> list[Sample]:
    """The samples of a file, a JSON object a line. Raises InputError, with the line."""
    hint = "a file that `python -m recipe clues` wrote"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}", hint=hint) from error
    return [_sample(line, f"{path}:{number}") for number, line in enumerate(lines, start=1) if line.strip()]


def _sample(line: str, where: str) -> Sample:
    try:
        return Sample.model_validate_json(line)
    except ValidationError as error:
        hint = "a line that `python -m recipe clues` wrote"
        raise InputError(f"{where} is no sample: {str(error).splitlines()[1]}", hint=hint) from error


def pretrain(decoder: Decoder, texts: Sequence[str], plan: Plan, step: Callable[[], None]) -> Measured:
    """Stage 1 on sessions in their order. Raises InputError where there is too little to train on."""
    compressor = decoder.compressor
    ids = [token for text in texts for token in decoder.ids(text)]
    split = len(ids) - max(len(ids) // 10, plan.length)
    if split < plan.length or plan.length <= compressor.window:
        said = f"the chats are {len(ids):,} tokens, and pieces of {plan.length:,} need {2 * plan.length:,}"
        raise InputError(said, hint=f"more chats, or a --length from {compressor.window + 1} up")
    draw = random.Random(plan.seed)

    def pieces() -> Iterator[list[int]]:
        while True:
            at = draw.randrange(split - plan.length + 1)
            yield ids[at : at + plan.length]

    ends = range(split, len(ids) - plan.length + 1, plan.length)
    held = [ids[at : at + plan.length] for at in ends][:MEASURED]
    return _trained(
        compressor, pieces(), held, lambda one, memory: _next_words(compressor, one, memory), plan, step
    )


def clue_train(decoder: Decoder, found: Sequence[Sample], plan: Plan, step: Callable[[], None]) -> Measured:
    """Stage 2 on samples. Raises InputError where there are too few."""
    if len(found) < 2:
        raise InputError("there are too few samples to train on", hint="`python -m recipe clues`")
    pairs = [_ids(decoder, one, plan.length) for one in found]
    held, kept = pairs[::10][:MEASURED], [pair for n, pair in enumerate(pairs) if n % 10]
    draw = random.Random(plan.seed)

    def pieces() -> Iterator[tuple[list[int], list[int], int]]:
        while True:
            yield draw.choice(kept)

    compressor = decoder.compressor
    return _trained(
        compressor, pieces(), held, lambda one, memory: _next_clue(compressor, one, memory), plan, step
    )


def _trained(
    compressor: Compressor,
    pieces: Iterator[Any],
    held: Sequence[Any],
    loss: Callable[[Any, bool], Tensor],
    plan: Plan,
    step: Callable[[], None],
) -> Measured:
    def nats(*, memory: bool) -> float:
        with torch.no_grad():
            return fmean(float(loss(one, memory)) for one in held)

    with enough_memory(compressor.name):
        none, before = nats(memory=False), nats(memory=True)
        optimizer = torch.optim.AdamW(compressor.parameters(), plan.rate, weight_decay=0.0)
        for _, piece in zip(range(plan.steps), pieces, strict=False):
            optimizer.zero_grad()
            loss(piece, True).backward()
            torch.nn.utils.clip_grad_norm_(compressor.parameters(), CLIP)
            optimizer.step()
            step()
        return Measured(none, before, nats(memory=True), len(held))


def _next_words(compressor: Compressor, ids: list[int], memory: bool) -> Tensor:
    """Mean nats of all windows but the first; without memory each window stands alone."""
    tokens = torch.tensor([ids], device=compressor.token.device)
    if memory:
        return compressor.loss(tokens)
    windows = tokens.split(compressor.window, dim=1)[1:]
    told = [compressor.likelihood(compressor.read(one, KV(), kept=0)[0], one) for one in windows]
    return sum((nats for nats, _ in told), torch.zeros(())) / max(sum(count for _, count in told), 1)


def _ids(decoder: Decoder, one: Sample, length: int) -> tuple[list[int], list[int], int]:
    """The tokens of the context, of question and clues, and where the clues begin."""
    asked = decoder.ids(prompt(one.question))
    written = [*decoder.ids(target(one.clues)), decoder.ends[0]]
    return decoder.ids(one.context)[:length], asked + written, len(asked)


def _next_clue(compressor: Compressor, one: tuple[list[int], list[int], int], memory: bool) -> Tensor:
    """Mean nats of the clues after the question, given the memory of the context."""
    context, reply, at = one
    device = compressor.token.device
    kv = KV()
    if memory:
        for window in torch.tensor([context], device=device).split(compressor.window, dim=1):
            kv = compressor.read(window, kv, kept=compressor.kept(window.shape[1]))[1]
    ids = torch.tensor([reply], device=device)
    nats, count = compressor.likelihood(compressor.read(ids, kv, kept=0)[0], ids, at - 1)
    return nats / count


def main(argv: Sequence[str]) -> int:
    """`python -m recipe memorag PATH ... --out FOLDER`: stage 1 of a model, or with --clues stage 2.

    Nats a token on held-out pieces are printed: without memory, and with memory tokens before and after.
    """
    parser = argparse.ArgumentParser(prog="recipe memorag", description=__doc__)
    parser.add_argument("paths", nargs="+", help="chats; with --clues files of `recipe clues`")
    parser.add_argument("--out", required=True, type=Path, help="the folder that is made")
    begin = parser.add_mutually_exclusive_group(required=True)
    begin.add_argument("--model", default="", help="a causal model: ./FOLDER, or hub id")
    begin.add_argument("--from", dest="begin", default="", help="go on from this folder's memory tokens")
    parser.add_argument("--clues", action="store_true", help="stage 2, with --from")
    parser.add_argument("--window", type=int, default=512, help="tokens of a window")
    parser.add_argument("--ratio", type=int, default=8, help="tokens for each that is kept, 2 to 16")
    parser.add_argument("--length", type=int, default=2048, help="tokens of a piece")
    parser.add_argument("--steps", type=int, default=500, help="pieces to train on")
    parser.add_argument("--rate", type=float, default=1e-4, help="AdamW's rate")
    parser.add_argument("--seed", type=int, default=13, help="of the order")
    parser.add_argument("--threads", type=int, default=0, help="0 for all cores")
    parser.add_argument("--overwrite", action="store_true", help="replace memory tokens that are there")
    options = parser.parse_args(argv)
    if options.clues and options.model:
        parser.error("--clues goes with --from")
    started = [options.begin or options.model]
    place = outputs.Place(
        options.out, overwrite=options.overwrite, ours=kv.is_ours, inputs=[*options.paths, *started]
    )
    threads = build({"threads": options.threads or None}).cores
    decoder = (
        remembered.decoder(options.begin, threads)
        if options.begin
        else _untrained(options.model, options.window, options.ratio, threads)
    )
    plan = Plan(options.steps, options.length, options.rate, options.seed)
    with stream.progress(options.steps, wanted=True, title="memory tokens") as step:
        if options.clues:
            found = [one for path in options.paths for one in samples(Path(path))]
            measured = clue_train(decoder, found, plan, step)
        else:
            measured = pretrain(decoder, list(_sessions(options.paths)), plan, step)
    told, stage = decoder.trained, "clues" if options.clues else "pretrain"
    data = "; ".join(filter(None, (told.data, f"{stage}: {', '.join(options.paths)}, {options.steps} steps")))
    decoder.compressor.save(place, replace(told, stages=(*told.stages, stage), data=data))
    print(json.dumps({"stage": stage, **asdict(measured)}))
    return 0


def _untrained(model: str, window: int, ratio: int, threads: int) -> Decoder:
    name = anchored(model)
    tokenizer, network = remembered.opened(name, threads)
    compressor = Compressor(network, window, ratio, name)
    compressor.token.data = compressor.token.data.to(network.device)
    return Decoder(compressor, tokenizer, Trained(name, compressor.digest, window, ratio))


def _sessions(paths: Sequence[str]) -> Iterator[str]:
    """The text of each session of the chats, as the memory reads it."""
    corpus = transcripts.read(list(paths))
    for skipped in corpus.skipped:
        stream.warn(f"left out: {skipped.path}: {skipped.reason}")
    runs = remembered.sessions(corpus.turns)
    yield from (remembered.written(corpus.turns, run) for run in runs)
