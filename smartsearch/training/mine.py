"""Hard negatives: how a ColBERT ranks the turns of a chat for each of its questions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from smartsearch.rank.colbert import OnnxColbert, Vectors
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
        return [ranked(self._model.question_vectors(question), vectors) for question in questions]


def ranked(question: NDArray[np.float32], turns: Sequence[Vectors]) -> list[int]:
    """Turns by late interaction with `question` (tokens, d), best first; one product for all of them."""
    starts = np.cumsum([0, *(len(turn) for turn in turns[:-1])])
    similar = np.concatenate([turn.astype(np.float32) for turn in turns]) @ np.asarray(question).T
    sums = np.maximum.reduceat(similar, starts, axis=0).sum(axis=1)
    return [int(i) for i in np.argsort(-sums, kind="stable")]
