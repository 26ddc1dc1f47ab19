"""QRRanker's scorer: how much the chosen heads of a language model look from the question at each text.

"Query-focused and Memory-aware Reranker for Long Context Processing" (arXiv 2602.12192). One run over all
texts; nothing is generated.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from smartsearch.errors import ModelError
from smartsearch.rank.hub import attention
from smartsearch.rank.hub.folder import described
from smartsearch.rank.hub.heads import Heads
from smartsearch.rank.hub.listwise import CONTENT_FREE, PAPER, Context, Note, context
from smartsearch.rank.hub.network import enough, loaded

TEXT_TOKENS = 60
"""About how many tokens a turn has in the context, for the estimate."""
enough_memory = partial(
    enough, hint="fewer texts (--set qr_candidates), a smaller model, or SMARTSEARCH_QR_DTYPE=bfloat16"
)
SLOW = 5.0
"""Seconds a question from which they are told before."""


class Reader:
    """A causal language model whose attention can be read.

    `layers` and `width` are its layers and heads a layer, `longest` the most tokens it reads at once,
    `prompt` what stands around the texts (`listwise.PROMPTS`).
    """

    def __init__(
        self, folder: Path, name: str, threads: int, dtype: str = "auto", prompt: str = PAPER
    ) -> None:
        torch.set_num_threads(threads)
        model, self.prompt = described(folder, name), prompt
        self.precision = precision() if dtype == "auto" else dtype
        with enough_memory(name):
            kind = getattr(torch, self.precision)
            self.tokenizer, self.network = loaded(model, "AutoModel", kind)
            self.network.to("cuda" if torch.cuda.is_available() else "cpu")
        if not self.tokenizer.is_fast:
            said = "has a tokenizer that does not tell where its tokens stand"
            raise model.unfit(said, "one with tokenizer.json")
        self.name = name
        self.layers, self.width = attention.check(self.network, name)
        self.longest = int(getattr(self.network.config, "max_position_embeddings", 0)) or 10**9

    def context(self, question: str, texts: Sequence[str], notes: Sequence[Note] = ()) -> Context:
        """What it reads. Raises ModelError where that is longer than it can."""
        read = context(self.tokenizer, question, texts, notes, self.prompt)
        if len(read.ids) > self.longest:
            most = max(1, self.fitting(question, texts, notes) - 1)
            raise ModelError(
                f"{len(texts)} texts and the question are {len(read.ids):,} tokens, and {self.name} reads "
                f"{self.longest:,} at most",
                hint=f"--set qr_candidates={most}, or another model",
                kind="model_length",
            )
        return read

    def fitting(self, question: str, texts: Sequence[str], notes: Sequence[Note] = ()) -> int:
        """How many of the texts, from the first, it reads at once."""
        most = len(texts)
        while most:
            read = context(self.tokenizer, question, texts[:most], notes, self.prompt)
            if len(read.ids) <= self.longest:
                break
            most = min(most - 1, most * self.longest // len(read.ids))
        return most

    def masses(self, read: Context, wanted: dict[int, tuple[int, ...]], cache: Any = None) -> Any:
        """What each wanted head sends from the question to each text: (heads, texts), layer after layer.

        With gradients where torch has them on. Raises SmartsearchError (memory).
        """
        with enough_memory(self.name):
            keep = partial(attention.mass, spans=read.texts)
            found = attention.rows(self.network, read.ids, range(*read.question), wanted, keep, cache)
            return torch.cat([found[layer] for layer in sorted(wanted)])

    def begun(self, reads: Sequence[Context], last: int) -> Any:
        """What is kept of the tokens with which all of `reads` begin, in the layers up to `last`, if they can
        be kept: each of them then costs the tokens of its question."""
        alike = zip(*(read.ids for read in reads))
        same = next((n for n, tokens in enumerate(alike) if len(set(tokens)) > 1), 0)
        same = min(same, *(read.question[0] for read in reads))
        with enough_memory(self.name):
            return attention.begun(self.network, reads[0].ids[:same], last) if same else None


def precision() -> str:
    """The numbers that this device is best with: halves on a GPU, whole ones on a CPU."""
    if not torch.cuda.is_available():
        return "float32"
    return "bfloat16" if torch.cuda.is_bf16_supported() else "float16"


class QRRanker:
    """The scorer of a model with its heads: all texts in one context, in the order given."""

    before = 0
    """The texts stand beside each other: none shows the turns before."""

    def __init__(self, reader: Reader, heads: Heads) -> None:
        self.reader, self.heads = reader, heads

    def __call__(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """Scores between 0 and 1, as `scores` without notes."""
        return self.scores(question, texts)

    def scores(self, question: str, texts: Sequence[str], notes: Sequence[Note] = ()) -> NDArray[np.float64]:
        """The score of each text: the best is 1, the worst 0, and 0 all where they do not differ."""
        if not texts:
            return np.zeros(0)
        found = self.raw(question, texts, notes)
        low, high = found.min(), found.max()
        return (found - low) / (high - low) if high > low else np.zeros(len(texts))

    def raw(self, question: str, texts: Sequence[str], notes: Sequence[Note] = ()) -> NDArray[np.float64]:
        """The sum over the heads of what each sends from the question to each text (its paper, section 3).

        Heads that were not trained find something in any list: what they give a question without content is
        taken off. The texts are read once for both.
        """
        asked = (question,) if self.heads.trained else (question, CONTENT_FREE)
        wanted = self.heads.by_layer()
        with torch.inference_mode():
            reads = [self.reader.context(one, texts, notes) for one in asked]
            cache = self.reader.begun(reads, max(wanted)) if len(reads) > 1 else None
            sums = [self.reader.masses(read, wanted, cache).sum(0).double().cpu().numpy() for read in reads]
        total: NDArray[np.float64] = sums[0] - sum(sums[1:])
        return total

    def seconds(self, texts: int) -> float:
        """About how long a question takes on this CPU, from the operations of the layers run; 0 on a GPU."""
        network, last = self.reader.network, max(self.heads.by_layer())
        if next(network.parameters()).is_cuda:
            return 0.0
        tokens, width = (texts + 1) * TEXT_TOKENS, network.config.hidden_size
        per_layer = (_weights(network) - _weights(network.get_input_embeddings())) / self.reader.layers
        operations = (last + 1) * (2 * per_layer * tokens + 2 * width * tokens**2)
        return float(operations / _speed(next(network.parameters()).dtype))

    def notice(self, texts: int) -> str:
        """What to tell before so many texts are read: how long a question takes, where that is long."""
        if (seconds := self.seconds(texts)) <= SLOW:
            return ""
        return (
            f"qrranker: about {seconds / 60:.1f} minutes a question on this CPU, {texts} turns through "
            f"{max(self.heads.by_layer()) + 1} of {self.heads.layers} layers of {self.reader.name}; "
            "--set qr_candidates=N takes fewer"
        )


def _weights(module: Any) -> int:
    return sum(int(weights.numel()) for weights in module.parameters())


def _speed(dtype: Any, size: int = 512) -> float:
    """Operations a second of this machine, from products of two matrices."""
    one = torch.rand(size, size).to(dtype)
    begin = time.perf_counter()
    for _ in range(8):
        one @ one
    return 8 * 2 * size**3 / (time.perf_counter() - begin)
