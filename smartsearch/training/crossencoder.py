"""Fine-tune the cross-encoder: a listwise softmax over one right and several wrong texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from smartsearch.models.store import minilm_folder
from smartsearch.training.bert import first_token_logits
from smartsearch.training.chats import Group
from smartsearch.training.start import DECAY, NO_DROPOUT, freeze_words, half_precision, in_parts

MAX_LENGTH = 128
"""Tokens of question and text together; longer texts lose their end (the context comes last)."""
ENCODER_RATE, HEAD_RATE = 6e-5, 1e-3
BINARY = 0.5
"""Weight of the binary cross-entropy, which makes the sigmoid mean something (the first seven rounds: .2)."""


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


def group_loss(logits: Any) -> Any:
    """A listwise softmax plus a little binary cross-entropy.

    `logits` [groups, texts] has a row per group, the right text first.
    """
    import torch
    from torch.nn import functional

    right, wrong = logits[:, 0], logits[:, 1:]
    listwise = functional.softplus(torch.logsumexp(wrong, 1) - right).mean()
    binary = functional.softplus(-right).mean() + functional.softplus(wrong).mean()
    return listwise + BINARY * binary


class CrossEncoderLearner:
    """A cross-encoder in training, a `start.Learner`."""

    def __init__(self, start: Path | None, seed: int, device: str = "cpu") -> None:
        """Load the folder `start`, or MiniLM with a fresh head, to a device as torch names it."""
        import torch
        from sentence_transformers import CrossEncoder

        torch.manual_seed(seed)
        self._cross = CrossEncoder(
            str(start or minilm_folder()),
            num_labels=1,
            max_length=MAX_LENGTH,
            device=device,
            config_kwargs=NO_DROPOUT,
        )
        self.model: Any = self._cross.model
        if start is not None:
            freeze_words(self.model.bert)

    def parameters(self) -> list[dict[str, Any]]:
        """The encoder slow, the fresh pooler and classifier fast; no decay on biases and norms."""

        def of(head: bool, decay: bool) -> list[Any]:
            return [
                p
                for name, p in self.model.named_parameters()
                if ("classifier" in name or "pooler" in name) == head and (p.ndim > 1) == decay
            ]

        return [
            {"params": of(head, decay), "full": rate, "weight_decay": DECAY if decay else 0.0}
            for head, rate in ((False, ENCODER_RATE), (True, HEAD_RATE))
            for decay in (True, False)
        ]

    def loss(self, batch: Sequence[Group]) -> Any:
        """See `group_loss`."""
        pairs = [(drawn.question, text) for drawn in batch for text in drawn.texts]
        return group_loss(self._logits(pairs, 4).view(len(batch), -1))

    def score(self, question: str, texts: list[str]) -> list[float]:
        """Logits of texts for a question, about 64 at a time."""
        import torch

        with torch.inference_mode():
            return list(self._logits([(question, text) for text in texts], -(-len(texts) // 64)).tolist())

    def _logits(self, pairs: Sequence[tuple[str, str]], parts: int) -> Any:
        device = self.model.device

        def run(some: Sequence[tuple[str, str]]) -> Any:
            return first_token_logits(self.model, **encode(self._cross.tokenizer, some).to(device))

        with half_precision(device):
            return in_parts(pairs, lambda pair: len(pair[0]) + len(pair[1]), parts, run).float()

    def save(self, folder: Path) -> None:
        """Write a CrossEncoder folder."""
        self._cross.save(str(folder))
