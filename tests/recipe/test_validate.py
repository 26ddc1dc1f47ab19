"""Validation over whole held-out chats, and what is fitted on it."""

import json
from pathlib import Path

import numpy as np
import pytest

from recipe import calibrate, fusion, validate
from recipe.samples import Asked, write_samples
from recipe.validate import main, orders
from smartsearch.training.chats import Chat, Labelled
from smartsearch.types import Turn
from tests.recipe.conftest import needs_scipy


def asked(gold: tuple[int, ...] = (4,)) -> Asked:
    turns = tuple(Turn(f"turn {n}", "Ines") for n in range(6))
    return Asked(
        Chat("written", "a3_x", turns),
        Labelled("Which?", gold, "single"),
        np.array([5, 0, 2, 4]),
        np.array([3.0, np.nan, 2.0, np.nan, 1.0, 4.0]),
        np.array([0.5, np.nan, np.nan, np.nan, 2.0, -1.0]),
    )


def test_candidates_are_ordered_by_each_ranker_and_by_both() -> None:
    assert orders(asked()) == {"colbert": [5, 0, 2, 4], "crossencoder": [4, 0, 5, 2], "rrf": [4, 0, 5, 2]}


def test_parts_are_together_the_whole(tmp_path: Path, monkeypatch, capsys) -> None:
    chats = [Chat("written", f"a3_{n}", asked().chat.turns) for n in range(5)]
    seen: list[str] = []

    def ask(chat: Chat, *tools: object) -> list[Asked]:
        seen.append(chat.id)
        return [asked()]

    monkeypatch.setattr(validate, "unseen_chats", lambda *place: iter(chats))
    monkeypatch.setattr(validate, "tools_of", lambda *folders: None)
    monkeypatch.setattr(validate, "ask", ask)
    found = []
    for part in ("1/2", "2/2"):
        assert main([str(tmp_path), "--unseen", "0", "--part", part]) == 0
        found.append(json.loads(capsys.readouterr().out.splitlines()[0])["questions"])
    assert found == [3, 2]
    assert sorted(seen) == [chat.id for chat in chats]


@needs_scipy
def test_calibration_recovers_the_scale_and_shift_that_made_the_labels() -> None:
    rng = np.random.default_rng(5)
    logits = rng.normal(size=40_000) * 3
    right = (rng.random(40_000) < 1 / (1 + np.exp(-(0.7 * logits - 2.5)))).astype(float)
    scale, shift = calibrate.fit(logits, right, np.ones(40_000))
    assert (scale, shift) == pytest.approx((0.7, -2.5), abs=0.06)


@needs_scipy
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
    found = {}
    for name, config in (("raw", "{}"), ("calibrated", '{"calibration": [0.5, -3.0]}')):
        folder, out = tmp_path / name, tmp_path / f"{name}.json"
        folder.mkdir()
        (folder / "model.onnx").write_bytes(b"one")
        (folder / "config.json").write_text(config)
        write_samples(tmp_path / "s.npz", [asked(), asked((0,)), asked((5,))], folder)
        assert fusion.main([str(tmp_path / "s.npz"), str(folder), "--out", str(out)]) == 0
        found[name] = json.loads(out.read_text())["weights"]
    assert found["calibrated"]["ce"] == pytest.approx(2 * found["raw"]["ce"], rel=0.02, abs=1e-4)
    assert found["calibrated"]["colbert"] == pytest.approx(found["raw"]["colbert"], rel=0.02, abs=1e-4)
