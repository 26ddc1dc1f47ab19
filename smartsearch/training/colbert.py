"""Fine-tune the ColBERT: in-batch negatives and distillation from the cross-encoder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from smartsearch.models.store import minilm_folder
from smartsearch.training.chats import Group
from smartsearch.training.shipped import Scorer
from smartsearch.training.start import NO_DROPOUT, freeze_words, half_precision, in_parts

DIMENSION, QUERY_LENGTH, DOCUMENT_LENGTH = 96, 32, 128
"""Of a token vector, and tokens of a question (padded with [MASK]) and of a text."""
ENCODER_RATE, HEAD_RATE = 5e-5, 1e-3
DISTIL = 1.0
"""Weight of the KL divergence to the cross-encoder's softmax over a group, unless given."""


def token_vectors(model: Any, texts: Sequence[str], is_query: bool) -> tuple[Any, Any]:
    """Unit vectors [n, tokens, 96] and the mask of tokens that count: all of a question, words of a text."""
    import torch
    from sentence_transformers.util import batch_to_device

    features = batch_to_device(model.tokenize(list(texts), is_query=is_query), model.device)
    ids, mask = features["input_ids"], features["attention_mask"].bool()
    with half_precision(model.device):
        vectors = model(features)["token_embeddings"]
    counted = torch.ones_like(mask) if is_query else mask & ~torch.isin(ids, ids.new_tensor(model.skiplist))
    return torch.nn.functional.normalize(vectors.float(), dim=-1), counted


def max_sim(questions: Any, texts: Any, mask: Any) -> Any:
    """[questions, texts]: for each question token its best text token, summed (ColBERT, section 3.2)."""
    similar = questions.flatten(0, 1) @ texts.flatten(0, 1).T
    similar = similar.view(*questions.shape[:2], *texts.shape[:2])
    return similar.masked_fill(~mask[None, None], -1e4).amax(dim=3).sum(dim=1)


def loss_of(scores: Any, taught: Any, distil: float = DISTIL) -> Any:
    """Contrastive loss over the whole batch plus KL to the teacher over each group.

    `scores` is [groups, groups * size], group g's own texts at columns g*size.., the right one first.
    """
    import torch
    from torch.nn import functional

    count, size = taught.shape
    groups = torch.arange(count, device=scores.device)
    right, own = groups * size, scores.view(count, count, size)[groups, groups]
    contrast = functional.cross_entropy(scores, right)
    taught_loss = functional.kl_div(
        functional.log_softmax(own, 1), functional.softmax(taught, 1), reduction="batchmean"
    )
    return contrast + distil * taught_loss


class ColbertLearner:
    """A PyLate ColBERT in training, a `start.Learner`."""

    def __init__(
        self, start: Path | None, seed: int, teacher: Scorer, distil: float = DISTIL, device: str = "cpu"
    ) -> None:
        """Load the folder `start`, or MiniLM; the projection starts orthogonal, so distances survive it."""
        import torch
        from pylate import models

        torch.manual_seed(seed)
        self._teacher, self._distil = teacher, distil
        self.model: Any = models.ColBERT(
            str(start or minilm_folder()),
            embedding_size=DIMENSION,
            query_length=QUERY_LENGTH,
            document_length=DOCUMENT_LENGTH,
            device=device,
            config_kwargs=NO_DROPOUT,
            model_kwargs={"attn_implementation": "eager"},
        )
        if start is None:
            torch.nn.init.orthogonal_(self.model[1].linear.weight)
        else:
            freeze_words(self.model[0].auto_model)

    def parameters(self) -> list[dict[str, Any]]:
        """The encoder slow, the projection fast."""
        return [
            {"params": list(self.model[0].parameters()), "full": ENCODER_RATE},
            {"params": list(self.model[1].parameters()), "full": HEAD_RATE},
        ]

    def loss(self, batch: Sequence[Group]) -> Any:
        """See `loss_of`."""
        import torch

        taught = torch.tensor([self._teacher(drawn.question, drawn.texts) for drawn in batch])
        texts = [text for drawn in batch for text in drawn.texts]
        scores = self._scores([drawn.question for drawn in batch], texts)
        return loss_of(scores, taught.to(scores.device), self._distil)

    def score(self, question: str, texts: list[str]) -> list[float]:
        """MaxSim of texts for a question."""
        import torch

        with torch.inference_mode():
            return list(self._scores([question], texts)[0].tolist())

    def _scores(self, questions: Sequence[str], texts: Sequence[str]) -> Any:
        """[questions, texts] MaxSim."""
        asked, _ = token_vectors(self.model, questions, True)
        return in_parts(texts, len, 6, lambda some: max_sim(asked, *token_vectors(self.model, some, False)))

    def save(self, folder: Path) -> None:
        """Write a PyLate folder."""
        self.model.save(str(folder))
