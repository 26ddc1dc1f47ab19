"""QRRanker's heads: found by what they send to the right turns, and trained with the paper's loss.

"Query-focused and Memory-aware Reranker for Long Context Processing" (arXiv 2602.12192), section 3.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import torch

from smartsearch.config import Config
from smartsearch.errors import InputError, ModelError, SmartsearchError
from smartsearch.rank.hub import heads as head_files
from smartsearch.rank.hub.heads import Heads
from smartsearch.rank.qrranker import QRRanker, Reader, enough_memory
from smartsearch.retrieve.grep import Haystack
from smartsearch.runtime import extras
from smartsearch.runtime.outputs import Place
from smartsearch.systems.qrranker.causal import revision
from smartsearch.systems.qrranker.search import first_turns, texts
from smartsearch.training.sources_written import held_out, written_chats
from smartsearch.types import Corpus

if TYPE_CHECKING:
    from smartsearch.models.tools import Tools

SCALE = 8.0
"""What the scores of a list are spread over before the loss (paper)."""
DEPTHS = (3, 5, 10)
"""Where recall is measured, as in the paper."""
LORA_RANK = 16
_PROJECTIONS = ("q_proj", "k_proj", "query", "key")


@dataclass(frozen=True)
class Asked:
    """A conversation with its questions, each with the places of the turns that answer it."""

    corpus: Corpus
    questions: tuple[tuple[str, frozenset[int]], ...]
    held_out: bool


@dataclass(frozen=True)
class Sample:
    """A question, the texts that our search finds first, and which of them answer it.

    `wanted` are all that do, found or not.
    """

    question: str
    texts: tuple[str, ...]
    gold: frozenset[int]
    wanted: int


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

    They are drawn at random. One none of whose turns is found teaches nothing and is not learned from. A list
    longer than the model reads ends sooner. Raises InputError where a side has none.
    """
    rng = random.Random(seed)
    found: list[list[Sample]] = []
    chats = [(Haystack(one.corpus), one) for one in asked]
    for out in (False, True):
        every = [
            (hay, text, gold) for hay, one in chats if one.held_out is out for text, gold in one.questions
        ]
        rng.shuffle(every)
        drawn = (_sample(hay, text, gold, config, tools, reader) for hay, text, gold in every)
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
    haystack: Haystack, question: str, gold: frozenset[int], config: Config, tools: Tools, reader: Reader
) -> Sample:
    _, hits, _ = first_turns(question, haystack, config, tools)
    read = texts(question, hits, haystack, config)
    read = read[: reader.fitting(question, read)]
    right = frozenset(place for place in range(len(read)) if hits[place].index in gold)
    return Sample(question, tuple(read), right, len(gold))


def recall(samples: Sequence[Sample], order: Callable[[Sample], Sequence[int]]) -> dict[str, float]:
    """R@3, 5 and 10: of a question's right turns those among the first so many, mean over questions."""
    shares = dict.fromkeys(DEPTHS, 0.0)
    for one in samples:
        places = order(one)
        for depth in DEPTHS:
            shares[depth] += len(one.gold & set(places[:depth])) / one.wanted / len(samples)
    return {f"R@{depth}": round(share, 4) for depth, share in shares.items()}


def by_heads(ranker: QRRanker) -> Callable[[Sample], list[int]]:
    """The order that a ranker gives a sample's texts."""

    def order(one: Sample) -> list[int]:
        values = ranker(one.question, one.texts)
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
            masses = reader.masses(reader.context(one.question, one.texts), wanted)
            total += masses[:, sorted(one.gold)].sum(1).double().cpu()
            step()
    values = (total / len(samples)).tolist()
    best = sorted(range(len(values)), key=lambda place: -values[place])[:most]
    return {divmod(place, reader.width): values[place] for place in best}


def loss(totals: Any, gold: Collection[int], scale: float = SCALE) -> Any:
    """The paper's group loss of one list: `totals` (texts,) are the sums over heads, `gold` the right places.

    Scores are spread over 0 to `scale`; each right text stands against all wrong ones, other right ones
    left out. The sum that is printed without a minus sign is meant with one. None where nothing can be
    learned: all texts right, none right, or all scores the same.
    """
    low, high = totals.min(), totals.max()
    right = sorted(gold)
    wrong = [place for place in range(len(totals)) if place not in gold]
    if not (right and wrong) or not high > low:
        return None
    scores = scale * (totals - low) / (high - low)
    against = scores[wrong].logsumexp(0)
    return (torch.logaddexp(scores[right], against) - scores[right]).mean()


@dataclass(frozen=True)
class Plan:
    """What is trained and how; the defaults are the paper's, but for `way` and `epochs`.

    `way` is `qk`, query and key projections of the layers with heads, `full`, all weights, or `lora`,
    adapters on those projections.
    """

    way: str = "qk"
    epochs: int = 1
    rate: float = 1e-5
    accumulate: int = 4
    seed: int = 13


def train(
    reader: Reader, heads: Heads, samples: Sequence[Sample], plan: Plan, step: Callable[[float], None]
) -> None:
    """Train the reader's network in place; `step` is told the loss of each sample.

    Raises ModelError where the projections have other names, SmartsearchError (package without peft, memory).
    """
    weights = _trainable(reader, heads, plan.way)
    optimizer = torch.optim.AdamW(weights, lr=plan.rate)
    rng, wanted = random.Random(plan.seed), heads.by_layer()
    for _ in range(plan.epochs):
        order = rng.sample(range(len(samples)), len(samples))
        for done, place in enumerate(order, start=1):
            one = samples[place]
            totals = reader.masses(reader.context(one.question, one.texts), wanted).sum(0)
            value = loss(totals, one.gold)
            with enough_memory(reader.name):
                if value is not None:
                    (value / plan.accumulate).backward()
                    step(value.item())
                if done % plan.accumulate == 0 or done == len(order):
                    torch.nn.utils.clip_grad_norm_(weights, 1.0)
                    optimizer.step()
                    optimizer.zero_grad(set_to_none=True)
    if plan.way == "lora":
        reader.network = reader.network.merge_and_unload()


def _trainable(reader: Reader, heads: Heads, way: str) -> list[Any]:
    """The weights that are trained; the others are frozen."""
    layers = heads.by_layer()
    named = dict(reader.network.named_parameters())
    chosen = [name for name in named if name.split(".")[-2] in _PROJECTIONS and _layer(name) in layers]
    if way != "full" and not chosen:
        raise ModelError(
            f"{reader.name} has no query and key projections of its own in a layer",
            hint="--train full",
            kind="model_unfit",
        )
    if way == "lora":
        modules = sorted({name.rpartition(".")[0] for name in chosen})
        reader.network = _adapted(reader.network, modules)
        return [weights for weights in reader.network.parameters() if weights.requires_grad]
    for name, weights in named.items():
        weights.requires_grad_(way == "full" or name in chosen)
    return [weights for weights in named.values() if weights.requires_grad]


def _layer(name: str) -> int:
    """The layer of a weight, the first number in its name; -1 for none."""
    return next((int(part) for part in name.split(".") if part.isdecimal()), -1)


def _adapted(network: Any, modules: list[str]) -> Any:
    try:
        import peft
    except ImportError as error:
        hint = extras.installing("peft")
        raise SmartsearchError("adapters (lora) need the package peft", hint=hint, kind="package") from error
    adapters = peft.LoraConfig(r=LORA_RANK, lora_alpha=2 * LORA_RANK, target_modules=modules)
    return peft.get_peft_model(network, adapters)


def save(reader: Reader, heads: Heads, place: Place) -> None:
    """Write model, tokenizer and heads, which are then those of this model, to a new folder, whole or not at
    all. Raises UsageError where it cannot be written."""
    with place.making() as part:
        reader.network.save_pretrained(part)
        reader.tokenizer.save_pretrained(part)
        (part / head_files.FILE).write_bytes(head_files.written(replace(heads, revision=revision(part))))
