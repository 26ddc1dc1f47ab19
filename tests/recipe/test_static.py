"""Training of the static embeddings: what it learns, in pieces too, and that numpy computes the same."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recipe.pieces import Pieces
from smartsearch.models import manifest
from smartsearch.rank.onnx import OnnxModel
from smartsearch.rank.static import Static, shifted
from smartsearch.training.chats import Chat, Labelled
from smartsearch.training.start import Clock, OnePiece
from smartsearch.types import Turn

torch, static = pytest.importorskip("torch"), pytest.importorskip("recipe.static")
pytestmark = pytest.mark.torch
WORDS = 40


def talks(many: int, seed: int) -> list:
    """Talks of 12 turns of four pieces. Each of five pieces is asked for, and answered by piece + 5 alone."""
    made, random = [], np.random.default_rng(seed)
    for _ in range(many):
        asked, gold = np.arange(5), random.permutation(12)[:5]
        turns = np.stack([random.permutation(np.arange(10, WORDS))[:4] for _ in range(12)])
        turns[gold, 0] = asked + 5
        questions = [(np.array([a]), [int(g)], []) for a, g in zip(asked, gold, strict=True)]
        made.append(static.Talk("made", turns.ravel(), np.arange(0, 48, 4), np.arange(12) // 4, questions))
    return made


def net_of(seed: int = 5):
    torch.manual_seed(seed)
    return static.Static(torch.nn.functional.normalize(torch.randn(WORDS, 16), dim=1))


def test_it_learns_what_answers_and_numpy_computes_the_same(tmp_path: Path) -> None:
    net, unseen = net_of(), talks(20, 2)
    assert static.train(net, talks(20, 1), Clock(0, 100), 3, OnePiece())
    static.write(net, tmp_path / "static.npz")
    scorer = Static(tmp_path / "static.npz", list)
    whole, made = static.report(scorer, unseen)
    assert whole["questions"] == 100
    assert made == {**whole, "part": "made"}
    assert whole["within"][0] > 0.8  # in the first five of twelve; .42 by chance
    with torch.no_grad():
        exact = net(unseen[0], range(5)).numpy()
    talk = unseen[0]
    found = [scorer.scores(q[0], talk.said, talk.flat, len(talk.starts)) for q in talk.questions]
    assert np.abs(np.stack(found, 1) - exact).max() < 0.05 * exact.std()  # int8 and half precision


def test_a_run_in_pieces_ends_with_the_weights_of_the_run_in_one(tmp_path: Path) -> None:
    whole, some = net_of(), talks(5, 1)
    assert static.train(whole, some, Clock(0, 6), 3, OnePiece())
    ends = []
    for _ in range(6):
        parts = net_of()
        ends.append(static.train(parts, some, Clock(0, 6), 3, Pieces(tmp_path / "s.pt", {}, minutes=0)))
    assert ends == [False] * 5 + [True]
    for one, other in zip(whole.parameters(), parts.parameters(), strict=True):
        assert np.allclose(one.detach(), other.detach(), atol=1e-6)


def test_what_only_touches_the_matter_is_no_wrong_turn() -> None:
    (talk,) = talks(1, 4)
    ids, gold, _ = talk.questions[0]
    near = (gold[0] + 1) % 12
    scores = torch.zeros(12, 1)
    scores[near] = 9.0
    losses = [
        static.loss_of(scores, replace(talk, questions=[(ids, gold, related)]), [0])
        for related in ([], [near])
    ]
    assert losses[0].item() == pytest.approx(np.log(np.exp(9) + 11), abs=0.02)
    assert losses[1].item() == pytest.approx(np.log(11), abs=0.1)


def test_a_turn_takes_no_share_from_another_session() -> None:
    rows, sessions = np.array([1.0, 2.0, 4.0, 8.0], dtype=np.float32), np.array([0, 0, 1, 1])
    assert shifted(rows, sessions, -1).tolist() == [0, 1, 0, 4]
    assert shifted(rows, sessions, 1).tolist() == [2, 0, 8, 0]
    assert shifted(rows, sessions, 3).tolist() == [0, 0, 0, 0]
    assert shifted(rows, sessions, -4).tolist() == [0, 0, 0, 0]


def test_a_chat_is_read_as_pieces_and_starts_from_the_vectors_of_the_colbert() -> None:
    colbert = OnnxModel(manifest.SHIPPED / "colbert", 1)
    turns = (Turn("Hi! Ann: hi!", "Ann", session="a"), Turn("", "", session="b"))
    asked = (Labelled("Who says hi?", (0,), related=frozenset((0, 1))), Labelled("Nothing?", ()))
    (talk,) = static.talks_of([Chat("made", "1", turns, asked), Chat("made", "2", turns)], colbert)
    assert talk.starts.tolist() == [0, 4]
    assert talk.sessions.tolist() == [0, 1]
    assert talk.flat.tolist() == [*colbert.tokens(["Ann: Hi!"])[0], colbert.config["mask_token_id"]]
    (one,) = talk.questions
    assert one[0].tolist() == colbert.tokens(["Who says hi?"])[0]
    assert one[1:] == ([0], [1])
    vectors = static.start_vectors(colbert, range(2000, 2003))
    assert vectors.shape == (3, 96)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
