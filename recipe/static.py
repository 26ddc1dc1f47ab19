"""Train the static token embeddings: a vector a word piece, so that a first stage encodes nothing.

A vector starts as the shipped ColBERT's for the piece alone. Learned are the vectors, what a piece weighs in
a question and adds in a turn, a small layer over the question's pieces, and shares of the turns beside. Every
step sees whole conversations: each right turn of a question against all wrong ones.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from recipe.data import held_out
from recipe.pieces import OtherRun, Pieces
from recipe.rankers import UNFINISHED
from recipe.sources_real import asked as asked_chats
from recipe.validate import held_out_chats, renamed
from smartsearch.models import manifest
from smartsearch.rank import static as reader
from smartsearch.rank.onnx import OnnxModel
from smartsearch.rank.static import BESIDE, unit
from smartsearch.training.chats import Chat
from smartsearch.training.sources_written import written_chats
from smartsearch.training.start import Clock, OnePiece

HIDDEN = 128
"""Width of the layer over a question's pieces."""
LAYER = ("layer", "bias", "weigh", "back", "turned")
RATES = {"vectors": 1e-3, "told": 1e-3, "loud": 0.1, **dict.fromkeys(LAYER, 1.5e-3)}
RATE = 1e-2
"""Full learning rates of Adam, and that of every other weight."""
TALKS, QUESTIONS = 2, 32
"""Conversations a step, and questions of each."""
CUTS = (5, 10, 62, 128, 256, 384)
STATE = "state.pt"

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Talk:
    """A chat as word pieces: those of all turns in a row, where each turn begins, its session.

    A turn has each piece once: of two that are equal torch's segment_reduce (2.13) gives both the whole
    gradient. A question has its pieces, the right turns, and those that are neither right nor wrong.
    """

    source: str
    flat: Ints
    starts: Ints
    sessions: Ints
    questions: list[tuple[Ints, list[int], list[int]]]

    @property
    def said(self) -> reader.Pieces:
        """As rank/static.py takes it."""
        return reader.Pieces(self.flat, self.starts, self.sessions)


def talk_of(chat: Chat, colbert: OnnxModel) -> Talk:
    """Each turn is read as its speaker and what it says, without a date; an empty one as [MASK]."""
    markers = (colbert.config["query_prefix_id"], colbert.config["document_prefix_id"])

    def ids(texts: Iterable[str]) -> list[list[int]]:
        rows = ([i for i in row if i not in markers] for row in colbert.tokens(list(texts)))
        return [row or [colbert.config["mask_token_id"]] for row in rows]

    rows = [list(dict.fromkeys(row)) for row in ids(map(reader.said, chat.turns))]
    asked = [one for one in chat.questions if one.gold]
    numbers = {session: n for n, session in enumerate(dict.fromkeys(turn.session for turn in chat.turns))}
    return Talk(
        chat.source,
        np.concatenate([np.array(row, dtype=np.int64) for row in rows]),
        np.cumsum([0, *map(len, rows[:-1])]),
        np.array([numbers[turn.session] for turn in chat.turns]),
        [
            (np.array(row), list(one.gold), sorted(one.related.difference(one.gold)))
            for row, one in zip(ids(one.question for one in asked), asked, strict=True)
        ],
    )


def talks_of(chats: Iterable[Chat], colbert: OnnxModel) -> list[Talk]:
    """Those of the chats that have questions."""
    return [talk_of(chat, colbert) for chat in chats if any(one.gold for one in chat.questions)]


def taught(train: Path, seed: int) -> Iterator[Chat]:
    """The written conversations and real people's below `train`: as they are, and again with other names."""
    rng = random.Random(seed)
    for chat in (*written_chats(), *asked_chats(train)):
        if not held_out(chat):
            yield chat
            if chat.rename:
                yield renamed(chat, rng)


def start_vectors(colbert: OnnxModel, pieces: Iterable[int]) -> NDArray[np.float32]:
    """The ColBERT's unit vector of each word piece alone, (pieces, dimensions)."""
    marker = colbert.config["document_prefix_id"]
    rows = [[colbert.cls, marker, piece, colbert.sep] for piece in pieces]
    found = colbert.run([{"input_ids": row, "attention_mask": [1] * 4} for row in rows])
    return unit(np.stack([vectors[2] for vectors in found]))


def shifted(rows: torch.Tensor, same: torch.Tensor, by: int) -> torch.Tensor:
    """At i what `rows` has at i + `by`, nought where `same`, which compares sessions, is false or none is."""
    none, same = torch.zeros_like(rows[: abs(by)]), same[:, None]
    return torch.cat((none, rows[:by] * same) if by < 0 else (rows[by:] * same, none))[: len(rows)]


class Static(nn.Module):  # type: ignore[misc]
    """The weights by the names that rank/static.py reads; what it computes, over all questions of a talk."""

    def __init__(self, vectors: torch.Tensor) -> None:
        super().__init__()
        pieces, size = vectors.shape
        self.vectors = nn.Parameter(vectors.clone())
        self.asked, self.told = nn.Parameter(torch.full((pieces,), 1.5)), nn.Parameter(torch.zeros(pieces))
        self.layer = nn.Parameter(torch.randn(4 * size, HIDDEN) * size**-0.5)
        self.bias, self.weigh = nn.Parameter(torch.zeros(HIDDEN)), nn.Parameter(torch.zeros(HIDDEN))
        self.back, self.turned = nn.Parameter(torch.zeros(HIDDEN, size)), nn.Parameter(torch.eye(size))
        self.near = nn.Parameter(torch.full((2,), 0.3))
        self.beside = nn.Parameter(torch.tensor([0, 0, 0, 0.3, 0.2, 0, 0, 0]))
        self.rarity, self.length = nn.Parameter(torch.tensor(1.0)), nn.Parameter(torch.tensor(0.0))
        self.loud = nn.Parameter(torch.tensor(10.0))

    def forward(self, talk: Talk, chosen: Sequence[int]) -> torch.Tensor:
        """Scores (turns, questions) of the questions chosen."""
        rows = [talk.questions[i][0] for i in chosen]
        device, count = self.vectors.device, len(talk.starts)

        def sent(values: object) -> torch.Tensor:
            return torch.as_tensor(np.asarray(values), device=device)

        ids, size = np.concatenate(rows), sent([len(row) for row in rows])
        owner = torch.repeat_interleave(torch.arange(len(rows), device=device), size)
        unique = np.unique(np.concatenate((ids, talk.flat)))
        vectors = functional.normalize(self.vectors[sent(unique)], dim=1)
        own = vectors[sent(np.searchsorted(unique, ids))]
        same = (owner[1:] == owner[:-1]).float()
        mean = own.new_zeros(len(rows), own.shape[1]).index_add(0, owner, own) / size[:, None]
        seen = torch.cat((own, shifted(own, same, -1), shifted(own, same, 1), mean[owner]), 1)
        hidden = torch.relu(seen @ self.layer + self.bias)
        asked = functional.normalize(own @ self.turned + hidden @ self.back, dim=1)
        similar = vectors @ asked.T + self.told[sent(unique)][:, None]
        length = np.diff(np.append(talk.starts, len(talk.flat)))
        place = sent(np.searchsorted(unique, talk.flat))
        best = torch.segment_reduce(similar.index_select(0, place), "max", lengths=sent(length), axis=0)
        having = np.bincount(talk.flat, minlength=len(self.vectors))
        rare = sent(np.log1p(count / np.maximum(having[ids], 0.5)).astype(np.float32))
        weight = torch.sigmoid(self.asked[sent(ids)] + hidden @ self.weigh) * rare**self.rarity
        total = weight.new_zeros(len(rows)).index_add(0, owner, weight)
        share = functional.one_hot(owner, len(rows)) * (weight / total[owner])[:, None]
        sessions = {
            k: sent(talk.sessions[k:] == talk.sessions[:-k]).float() for k in range(1, max(BESIDE) + 1)
        }
        near = [shifted(best, sessions[1], by) * part for by, part in zip((-1, 1), self.near)]
        best = torch.maximum(best, torch.maximum(*near))
        scores = self.loud * best @ share - self.length * torch.log(sent(length))[:, None]
        added = [part * shifted(scores, sessions[abs(by)], by) for by, part in zip(BESIDE, self.beside)]
        return scores + torch.stack(added).sum(0)


def loss_of(scores: torch.Tensor, talk: Talk, chosen: Sequence[int]) -> torch.Tensor:
    """Softplus of the log-sum-exp of the wrong minus the right: mean over right turns, then questions."""
    asked = [talk.questions[i] for i in chosen]
    place = [(turn, n) for n, (_, gold, _) in enumerate(asked) for turn in gold]
    left_out = [*place, *((turn, n) for n, (_, _, related) in enumerate(asked) for turn in related)]
    hidden = torch.zeros_like(scores, dtype=torch.bool)
    hidden[tuple(zip(*left_out, strict=True))] = True
    wrong = torch.logsumexp(scores.masked_fill(hidden, -1e9), 0)
    turns, owners = zip(*place, strict=True)
    counts = scores.new_tensor([len(gold) for _, gold, _ in asked])[list(owners)]
    each = functional.softplus(wrong[list(owners)] - scores[turns, owners])
    return (each / counts).sum() / len(asked)


def batches(talks: Sequence[Talk], rng: random.Random) -> Iterator[list[tuple[Talk, list[int]]]]:
    """Endless batches of TALKS talks with at most QUESTIONS of their questions."""
    while True:
        parts: list[tuple[Talk, list[int]]] = []
        for talk in talks:
            order = rng.sample(range(len(talk.questions)), len(talk.questions))
            parts += [(talk, order[at : at + QUESTIONS]) for at in range(0, len(order), QUESTIONS)]
        rng.shuffle(parts)
        yield from (parts[at : at + TALKS] for at in range(0, len(parts), TALKS))


def train(net: Static, talks: Sequence[Talk], clock: Clock, seed: int, pieces: OnePiece) -> bool:
    """Train for the steps of the clock, going on from where `pieces` ended; False where this piece ended."""
    named = [{"params": [weight], "full": RATES.get(name, RATE)} for name, weight in net.named_parameters()]
    optimizer = torch.optim.Adam(named, lr=0.0, betas=(0.9, 0.99))
    pieces.go_on(net, optimizer, clock)
    stream, total = islice(batches(talks, random.Random(seed)), clock.done, None), 0.0
    while clock.progress < 1.0:
        for part in optimizer.param_groups:
            part["lr"] = part["full"] * clock.rate()
        batch = next(stream)
        loss = torch.stack([loss_of(net(talk, chosen), talk, chosen) for talk, chosen in batch]).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        clock.done += 1
        total += loss.item()
        if clock.done % 100 == 0:
            print(f"step {clock.done} loss {total / 100:.3f}, {clock.seconds:.0f} s", flush=True)
            total = 0.0
        if pieces.ended(net, optimizer, clock):
            break
    return clock.progress >= 1.0


def write(net: Static, file: Path) -> None:
    """As rank/static.py reads them: unit vectors in int8 with a scale a row, the rest in float16."""
    kept = {name: weight.detach().cpu() for name, weight in net.named_parameters()}
    vectors = functional.normalize(kept.pop("vectors"), dim=1).numpy()
    scale = np.abs(vectors).max(axis=1) / 127
    whole = np.rint(vectors / scale[:, None]).astype(np.int8)
    rest = {name: weight.numpy().astype(np.float16) for name, weight in kept.items()}
    np.savez(file, vectors=whole, scale=scale.astype(np.float32), **rest)


def report(scorer: reader.Static, talks: Sequence[Talk]) -> Iterator[dict[str, object]]:
    """One record a part (all, a source): right turns among the first K of all turns, of all right turns."""
    found: dict[str, list[list[int]]] = {"all": []}
    for talk in talks:
        for ids, gold, _ in talk.questions:
            scores = scorer.scores(ids, talk.said, talk.flat, len(talk.starts))
            order = np.argsort(-scores, kind="stable")
            ranks = np.flatnonzero(np.isin(order, gold)).tolist()
            for part in ("all", talk.source):
                found.setdefault(part, []).append(ranks)
    for part, questions in found.items():
        places = np.array([rank for one in questions for rank in one])
        within = [round(float((places < cut).mean()), 4) for cut in CUTS]
        yield {
            "part": part,
            "questions": len(questions),
            "gold": len(places),
            "first": CUTS,
            "within": within,
        }


def main(argv: Sequence[str]) -> int:
    """`python -m recipe static DATA/train OUT --device cuda --minutes 9`: writes OUT/static.npz."""
    parser = argparse.ArgumentParser(prog="recipe static", description=__doc__)
    parser.add_argument("train", type=Path, help="folder with the training sources (data/train)")
    parser.add_argument("out", type=Path, help="folder for static.npz")
    parser.add_argument("--colbert", type=Path, default=manifest.SHIPPED / "colbert", help="it starts from")
    parser.add_argument("--steps", type=int, default=2500)
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--device", default="cpu", help="as torch names it, such as cuda")
    parser.add_argument(
        "--minutes", type=float, default=math.inf, help="after which it ends, to go on when run again"
    )
    options = parser.parse_args(argv)
    colbert = OnnxModel(options.colbert, torch.get_num_threads())
    talks = talks_of(taught(options.train, options.seed), colbert)
    torch.manual_seed(options.seed)
    pieces = range(colbert.config["query_prefix_id"])  # the markers are the last
    net = Static(torch.from_numpy(start_vectors(colbert, pieces))).to(options.device)
    about = {"steps": options.steps, "seed": options.seed, "talks": len(talks), "device": options.device}
    kept = Pieces(options.out / STATE, about, options.minutes)
    try:
        whole = train(net, talks, Clock(0, options.steps), options.seed, kept)
    except OtherRun as error:
        parser.error(f"{error}; remove it, or take another folder")
    options.out.mkdir(parents=True, exist_ok=True)
    write(net, options.out / "static.npz")
    if not whole:
        print(f"not finished: the same command goes on from {kept.path}", flush=True)
        return int(UNFINISHED)
    kept.path.unlink(missing_ok=True)
    scorer = reader.Static(options.out / "static.npz", colbert.tokens)
    for real in (False, True):
        unseen = talks_of(held_out_chats(options.train, options.seed, real), colbert)
        for record in report(scorer, unseen):
            print(json.dumps(record))
    return 0
