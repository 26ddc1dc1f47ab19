"""Validation over whole chats, and the miner: the same orders as search's own arithmetic."""

from __future__ import annotations

import numpy as np

from smartsearch.rank.colbert import maxsim
from smartsearch.rank.fuse import order, rrf
from smartsearch.training.calibrate import fit, samples
from smartsearch.training.chats import Chat, Labelled
from smartsearch.training.mine import ranked
from smartsearch.training.start import WARMUP, Clock
from smartsearch.training.validate import Asked, by_colbert, by_cross_encoder, by_rrf, held_out_chats, report
from smartsearch.types import Turn


def asked(gold: tuple[int, ...] = (4,)) -> Asked:
    turns = tuple(Turn(f"turn {n}", "Ines") for n in range(6))
    return Asked(
        Chat("written", "a3_x", turns),
        Labelled("Which?", gold, "single"),
        gold,
        np.array([5, 0, 2, 4]),
        np.ones(4),
        np.array([3.0, np.nan, 2.0, np.nan, 1.0, 4.0]),
        np.array([0.5, np.nan, np.nan, np.nan, 2.0, -1.0]),
    )


def test_orders_are_those_of_search() -> None:
    one = asked()
    assert by_colbert(one).tolist() == [5, 0, 2, 4]
    assert by_cross_encoder(one).tolist() == [4, 0, 5, 2]
    fused = rrf([(0.7, order({0: 0.5, 4: 2.0, 5: -1.0})), (0.3, [5, 0, 2, 4])], 60)
    assert by_rrf(one).tolist() == order(fused)


def test_the_report_counts_right_turns_that_were_never_found() -> None:
    rows = {row["part"]: row for row in report([asked((4, 1))])}
    assert rows["all"]["retrieved"] == 0.5
    assert rows["written single"]["colbert"] == [0.5, 0.5, 0.5, 0.5]


def test_held_out_chats_are_not_trained_on() -> None:
    chats = list(held_out_chats(None, 13))
    assert chats
    assert all(chat.id.partition("_")[0].endswith("3") for chat in chats)


def test_mining_orders_as_late_interaction_does() -> None:
    rng = np.random.default_rng(3)
    question = rng.normal(size=(4, 8)).astype(np.float32)
    turns = [rng.normal(size=(n, 8)).astype(np.float16) for n in (3, 1, 7, 2)]
    assert ranked(question, turns) == np.argsort(-maxsim(question, turns)).tolist()


def test_a_clock_of_steps_rises_and_falls_the_same_every_time() -> None:
    clock = Clock(0.0, steps=100)
    rates = []
    while clock.progress < 1.0:
        rates.append(clock.rate())
        clock.step()
    assert len(rates) == 100
    assert rates.index(max(rates)) in (int(100 * WARMUP) - 1, int(100 * WARMUP))
    assert rates[-1] < 0.02


def test_calibration_recovers_the_scale_and_shift_that_made_the_labels() -> None:
    rng = np.random.default_rng(5)
    logits = rng.normal(size=40_000) * 3
    right = (rng.random(40_000) < 1 / (1 + np.exp(-(0.7 * logits - 2.5)))).astype(float)
    scale, shift = fit(logits, right, np.ones(40_000))
    assert abs(scale - 0.7) < 0.03
    assert abs(shift + 2.5) < 0.06


def test_calibration_sees_every_read_turn_once_and_questions_alike() -> None:
    logits, right, weights = samples([asked(), asked((0, 5))])
    assert logits.tolist() == [-1.0, 0.5, 2.0] * 2
    assert right.tolist() == [0, 0, 1, 1, 1, 0]
    assert weights.tolist() == [1 / 3] * 6
