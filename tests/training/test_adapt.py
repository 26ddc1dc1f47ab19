"""Adaptation from chats to profile with tiny models: what is written, refused, and left behind."""

import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from smartsearch.config import Config
from smartsearch.errors import UsageError
from smartsearch.models import manifest, profiles
from smartsearch.training import adapt
from smartsearch.training import export as exporting
from smartsearch.training.adapt import Measured, Wish, refusal
from smartsearch.training.chats import Chat
from smartsearch.training.sources_own import read_own
from tests.rank import tiny
from tests.training.test_sources_own import chats

WISH = Wish("mine", minutes=0.01)


def measured(own: list[int], general: list[int]) -> Measured:
    return Measured({"fused": own}, {"fused": general})


@pytest.mark.parametrize(
    ("present", "shipped", "adapted", "told"),
    [
        ([1, 2], [1, 2], [1, 1], ""),
        ([1, 2], [1, 2], [2, 1], "0.7500, not above the 0.7500"),
        ([1, 2], [1, 2], [1, 3], "0.6667, not above"),
        ([1, 2], [4, 4], [2, 2], "not above the 0.7500"),  # of an earlier profile
        ([4, 4], [1, 2], [2, 2], "not above the 0.7500"),  # which may be worse than the shipped rankers
        ([4, 4], [1, 2], [1, 1], ""),
    ],
)
def test_only_what_is_above_all_there_was_is_kept(present, shipped, adapted, told) -> None:
    reason = refusal(*(measured(ranks, [1]) for ranks in (present, shipped, adapted)))
    assert told in reason
    assert bool(told) == bool(reason)


def test_a_gain_that_costs_other_peoples_questions_is_refused() -> None:
    shipped = measured([2, 2], [1] * 20)
    assert refusal(shipped, shipped, measured([1, 1], [1] * 19 + [2])) != ""  # falls by .025
    assert refusal(shipped, shipped, measured([1, 1], [1] * 39 + [2])) == ""  # by .0125


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tiny int8 rankers in the place of the shipped ones."""
    from pylate.models import ColBERT

    folder = tmp_path_factory.mktemp("shipped")
    cross = tiny.cross_encoder(folder / "trained-ce")
    late = folder / "trained-colbert"
    sizes = {"embedding_size": 96, "query_length": 16, "document_length": 48}
    ColBERT(str(tiny.bert(folder / "base")), device="cpu", **sizes).save(str(late))
    exporting.export("crossencoder", cross, folder / "crossencoder", {})
    exporting.export("colbert", late, folder / "colbert", {})
    path = folder / "crossencoder" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"calibration": [0.5, -2.0]}))
    return folder


@pytest.fixture
def place(shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the profile goes; other people's conversations are left out."""
    monkeypatch.setattr(manifest, "SHIPPED", shipped)
    monkeypatch.setattr(adapt, "written_chats", lambda: [])
    monkeypatch.setattr(adapt, "MOST_TRIALS", 8)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path / "smartsearch" / "profiles" / "mine"


@contextmanager
def silent(title: str, total: int) -> Iterator[object]:
    yield lambda: None


def test_chats_become_a_profile_that_search_can_load(place: Path, shipped: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(adapt, "refusal", lambda *measured: "")
    own = read_own(chats(60))
    outcome = adapt.adapt(own, WISH, silent)
    assert (outcome.written, outcome.usable, outcome.folder) == (True, True, place)
    about = json.loads((place / "profile.json").read_text())
    assert about["questions"] == {"trained": own.questions[0], "held_out": own.questions[1]}
    assert set(about["metrics"]) == {"shipped", "adapted"}
    assert about["metrics"]["adapted"]["held_out"]["fused"]["n"] == 8
    assert [path.name for path in place.parent.iterdir()] == ["mine"]
    assert (place / "colbert" / "model.onnx").read_bytes() != (shipped / "colbert/model.onnx").read_bytes()
    assert {s.role: s.state for s in profiles.status("mine", deep=True)}["crossencoder"] == "ok"
    assert json.loads((place / "crossencoder" / "config.json").read_text())["calibration"] == [0.5, -2.0]
    assert "calibration" not in json.loads((place / "colbert" / "config.json").read_text())
    profile = profiles.profile_of(Config(profile="mine"))
    assert profile["crossencoder"].name == str(place / "crossencoder")
    assert capsys.readouterr().out == ""


def _copies_the_shipped(shipped: Path):
    def train(own, work, wish, stage):
        for kind in ("crossencoder", "colbert"):
            shutil.copytree(shipped / kind, work / "new" / kind)
        return {}, {}

    return train


def test_what_is_no_better_is_not_written_and_held_out_questions_do_not_depend_on_the_seed(
    place: Path, shipped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapt, "_train", _copies_the_shipped(shipped))
    own = read_own(chats(60))
    outcomes = [adapt.adapt(own, Wish("mine", seed=seed), silent) for seed in (1, 2)]
    assert [(outcome.written, outcome.usable) for outcome in outcomes] == [(False, False)] * 2
    assert len({outcome.about["held_out_sha256"] for outcome in outcomes}) == 1
    assert list(place.parent.iterdir()) == []


def test_an_earlier_profile_is_measured_too_and_stays(place: Path, shipped: Path, monkeypatch) -> None:
    for kind in ("crossencoder", "colbert"):
        shutil.copytree(shipped / kind, place / kind)
    (place / "profile.json").write_text('{"earlier": true}')
    monkeypatch.setattr(adapt, "_train", _copies_the_shipped(shipped))
    own = read_own(chats(60))
    with pytest.raises(UsageError, match="the profile 'mine' is there already"):
        adapt.adapt(own, WISH, silent)
    outcome = adapt.adapt(own, replace(WISH, overwrite=True), silent)
    assert (outcome.written, outcome.usable) == (False, True)
    assert set(outcome.about["metrics"]) == {"shipped", "present", "adapted"}
    assert (place / "profile.json").read_text() == '{"earlier": true}'


def test_an_interrupt_leaves_nothing_behind(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(own, work, wish, stage):
        (work / "new" / "crossencoder").mkdir(parents=True)
        raise KeyboardInterrupt

    monkeypatch.setattr(adapt, "_train", interrupted)
    with pytest.raises(KeyboardInterrupt):
        adapt.adapt(read_own(chats(60)), WISH, silent)
    assert list(place.parent.iterdir()) == []


def test_half_of_what_is_trained_on_is_other_peoples(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = read_own(chats(60))
    other = [Chat("written", "a1_x", own.held_out[0].turns, own.held_out[0].questions)]
    mine, rehearsed = adapt._groups(own, other, WISH, lambda: None)
    assert len(mine) > len(rehearsed) > 0
    assert {group.source for group in mine} == {"own"}
    assert {group.source for group in rehearsed} == {"written"}
    shown = " ".join(text for group in mine for text in group.texts)
    assert not any(turn.text in shown for turn in own.held_out[0].turns)


def test_what_a_killed_run_left_a_day_ago_is_removed(tmp_path: Path) -> None:
    old, new, profile = tmp_path / ".train-old", tmp_path / ".train-new", tmp_path / "mine"
    for folder in (old, new, profile):
        (folder / "colbert").mkdir(parents=True)
    for folder in (old, profile):
        os.utime(folder, (time.time() - 90_000,) * 2)
    adapt.remove_leftovers(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".train-new", "mine"]
    adapt.remove_leftovers(tmp_path / "absent")
