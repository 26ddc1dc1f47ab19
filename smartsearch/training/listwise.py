"""QRRanker's heads, found by what they send to the right turns; `recipe qrranker` trains them.

"Query-focused and Memory-aware Reranker for Long Context Processing" (arXiv 2602.12192), section 3.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import torch

from smartsearch.config import Config
from smartsearch.errors import InputError
from smartsearch.rank.hub.listwise import Note
from smartsearch.rank.qrranker import QRRanker, Reader
from smartsearch.retrieve.grep import Haystack
from smartsearch.systems.qrranker.search import Episodes, first_turns, notes, texts
from smartsearch.systems.qrranker.settings import set_in
from smartsearch.training.sources_written import held_out, written_chats
from smartsearch.types import Corpus

if TYPE_CHECKING:
    from smartsearch.models.tools import Tools

DEPTHS = (3, 5, 10)
"""Where recall is measured, as in the paper."""


@dataclass(frozen=True)
class Asked:
    """A conversation with its questions, each with the places of the turns that answer it."""

    corpus: Corpus
    questions: tuple[tuple[str, frozenset[int]], ...]
    held_out: bool


@dataclass(frozen=True)
class Sample:
    """A question, the texts that our search finds first, and which of them answer it.

    `wanted` are all that do, found or not; `notes` what the model reads before the texts.
    """

    question: str
    texts: tuple[str, ...]
    gold: frozenset[int]
    wanted: int
    notes: tuple[Note, ...] = ()


def written() -> Iterator[Asked]:
    """The conversations written for smartsearch."""
    for chat in written_chats():
        questions = tuple((one.question, frozenset(one.gold)) for one in chat.questions)
        yield Asked(Corpus(chat.turns), questions, held_out(chat))


def apart(groups: Sequence[tuple[Corpus, Sequence[tuple[str, Collection[int]]]]]) -> Iterator[Asked]:
    """Conversations with a fifth held out: the last of them, or of one alone the last questions."""
    last = len(groups) - max(1, len(groups) // 5)
    for number, (corpus, questions) in enumerate(groups):
        known = tuple((text, frozenset(gold)) for text, gold in questions if gold)
        if len(groups) == 1:
            most = len(known) - max(1, len(known) // 5)
            yield Asked(corpus, known[:most], held_out=False)
            yield Asked(corpus, known[most:], held_out=True)
        else:
            yield Asked(corpus, known, number >= last)


def samples(
    asked: Iterable[Asked],
    config: Config,
    tools: Tools,
    reader: Reader,
    most: int,
    seed: int,
    step: Callable[[], None],
) -> tuple[list[Sample], list[Sample]]:
    """Up to `most` questions to learn from and as many held out, each with what our own search finds first.

    They are drawn at random. A question whose right turns are not found is not learned from. A list is cut to
    what the model reads. With the setting `qr_memory` each has notes of the episodes. Raises InputError where
    a side has none.
    """
    rng = random.Random(seed)
    found: list[list[Sample]] = []
    memory = set_in(config).qr_memory
    chats = [(Haystack(one.corpus), Episodes(one.corpus.turns) if memory else None, one) for one in asked]
    for out in (False, True):
        every = [
            (hay, held, *pair) for hay, held, one in chats if one.held_out is out for pair in one.questions
        ]
        rng.shuffle(every)
        drawn = (_sample(*one, config, tools, reader) for one in every)
        side = []
        for one in islice((one for one in drawn if one.texts and (one.gold or out)), most):
            side.append(one)
            step()
        if not side:
            raise InputError(
                f"the data has no question to {'measure' if out else 'learn'} on whose turns are found",
                hint="data with gold turns, in two conversations or more",
            )
        found.append(side)
    return found[0], found[1]


def _sample(
    haystack: Haystack,
    memory: Episodes | None,
    question: str,
    gold: frozenset[int],
    config: Config,
    tools: Tools,
    reader: Reader,
) -> Sample:
    _, hits, _ = first_turns(question, haystack, config, tools)
    read = texts(question, hits, haystack, config)
    before = notes(memory, hits) if memory else []
    read = read[: reader.fitting(question, read, before)]
    right = frozenset(place for place in range(len(read)) if hits[place].index in gold)
    return Sample(question, tuple(read), right, len(gold), tuple(before))


def recall(samples: Sequence[Sample], order: Callable[[Sample], Sequence[int]]) -> dict[str, float]:
    """R@3, 5 and 10: a question's right turns among the first 3, 5 and 10, mean over questions."""
    shares = dict.fromkeys(DEPTHS, 0.0)
    for one in samples:
        places = order(one)
        for depth in DEPTHS:
            shares[depth] += len(one.gold & set(places[:depth])) / one.wanted / len(samples)
    return {f"R@{depth}": round(share, 4) for depth, share in shares.items()}


def by_heads(ranker: QRRanker) -> Callable[[Sample], list[int]]:
    """The order that a ranker gives a sample's texts."""

    def order(one: Sample) -> list[int]:
        values = ranker.scores(one.question, one.texts, one.notes)
        return sorted(range(len(one.texts)), key=lambda place: -values[place])

    return order


def as_found(one: Sample) -> list[int]:
    """The order of our own search."""
    return list(range(len(one.texts)))


def detect(
    reader: Reader, samples: Sequence[Sample], most: int, step: Callable[[], None]
) -> dict[tuple[int, int], float]:
    """The `most` heads (layer, head) that send most to the right texts, best first, each with its QR score:
    the sum over the right texts, mean over the samples (its paper, section 3)."""
    wanted = {layer: tuple(range(reader.width)) for layer in range(reader.layers)}
    total = torch.zeros(reader.layers * reader.width, dtype=torch.float64)
    with torch.inference_mode():
        for one in samples:
            masses = reader.masses(reader.context(one.question, one.texts, one.notes), wanted)
            total += masses[:, sorted(one.gold)].sum(1).double().cpu()
            step()
    values = (total / len(samples)).tolist()
    best = sorted(range(len(values)), key=lambda place: -values[place])[:most]
    return {divmod(place, reader.width): values[place] for place in best}
