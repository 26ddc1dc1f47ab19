"""Hard negatives: how a ColBERT ranks the turns of a chat for each of its questions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from smartsearch.rank.cache.vectors import maxsim
from smartsearch.rank.colbert import OnnxColbert
from smartsearch.rank.text import scored_text
from smartsearch.training.chats import Chat


def plain_texts(chat: Chat) -> list[str]:
    """Every turn as search shows it: dated, with the turn before it in its session."""
    texts = []
    for i, turn in enumerate(chat.turns):
        before = chat.turns[i - 1] if i and chat.turns[i - 1].session == turn.session else None
        texts.append(scored_text(turn, before))
    return texts


class Miner:
    """Ranks a chat's turns for its questions with an exported ColBERT; each turn is encoded once."""

    def __init__(self, folder: Path, threads: int = 1) -> None:
        self._model = OnnxColbert(folder, threads)

    def rankings(self, chat: Chat, questions: Sequence[str]) -> list[list[int]]:
        """The turns of `chat` for each question, best first."""
        vectors = self._model.turn_vectors(plain_texts(chat)) if questions else []
        scores = (maxsim(self._model.question_vectors(question), vectors) for question in questions)
        return [np.argsort(-values, kind="stable").tolist() for values in scores]
