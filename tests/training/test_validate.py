"""Validation over whole chats, and the miner: the same orders as search's own arithmetic."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from smartsearch.rank.fuse import order, rrf
from smartsearch.training import calibrate, fusion
from smartsearch.training.calibrate import fit, samples, write_samples
from smartsearch.training.chats import Chat, Labelled
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


def test_calibrating_writes_the_config_of_the_model_the_scores_are_of(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.onnx").write_bytes(name.encode())
        (tmp_path / name / "config.json").write_text('{"kind": "crossencoder"}')
    write_samples(tmp_path / "s.npz", [asked(), asked((0, 5))], tmp_path / "one")
    with pytest.raises(SystemExit, match="another model"):
        calibrate.main([str(tmp_path / "s.npz"), str(tmp_path / "two")])
    assert calibrate.main([str(tmp_path / "s.npz"), str(tmp_path / "one")]) == 0
    scale, shift = json.loads((tmp_path / "one" / "config.json").read_text())["calibration"]
    # three logits of two questions, half of them right: 2.0 and -1.0 once each way, 0.5 once each way
    assert (scale, shift) == pytest.approx((0.0, 0.0), abs=1e-6)
    with pytest.raises(SystemExit, match="already"):
        calibrate.main([str(tmp_path / "s.npz"), str(tmp_path / "one")])


@pytest.mark.torch
def test_fusion_finds_the_feature_that_tells_right_from_wrong() -> None:
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(2000, 6)) * [1, 10, 1, 1, 1, 1]
    starts = np.arange(0, 2000, 20)
    right = np.zeros(2000)
    for start in starts:
        part = rows[start : start + 20]
        right[start + np.argmax(part[:, 1] / 10 - part[:, 3])] = 1
    weights = fusion.fit(rows, right, starts)
    assert weights[1] > 0 > weights[3]
    assert weights[1] * 10 / -weights[3] == pytest.approx(1, abs=0.25)
    assert np.abs(weights[[0, 2, 4, 5]]).max() < 0.25 * -weights[3]


@pytest.mark.torch
def test_fusion_is_written_for_the_calibrated_model(tmp_path: Path) -> None:
    for name in ("raw", "calibrated"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.onnx").write_bytes(b"one")
    (tmp_path / "raw" / "config.json").write_text("{}")
    (tmp_path / "calibrated" / "config.json").write_text('{"calibration": [0.5, -3.0]}')
    write_samples(tmp_path / "s.npz", [asked(), asked((0,)), asked((5,))], tmp_path / "raw")
    found = {}
    for name in ("raw", "calibrated"):
        out = tmp_path / f"{name}.json"
        fusion.main([str(tmp_path / "s.npz"), str(tmp_path / name), "--out", str(out)])
        found[name] = json.loads(out.read_text())["weights"]
    assert found["calibrated"]["ce"] == pytest.approx(2 * found["raw"]["ce"], rel=0.02, abs=1e-4)
    assert found["calibrated"]["colbert"] == pytest.approx(found["raw"]["colbert"], rel=0.02, abs=1e-4)
