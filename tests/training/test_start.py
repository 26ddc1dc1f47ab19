"""A run in pieces is the run in one, and everything a step reads is on the device of the model."""

import os
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recipe import rankers
from recipe.data import write_groups
from recipe.pieces import OtherRun, Pieces
from smartsearch.training.chats import Group
from smartsearch.training.colbert import ColbertLearner
from smartsearch.training.crossencoder import CrossEncoderLearner
from smartsearch.training.start import Learner, Plan, fit
from tests.rank import tiny

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

PLAN = Plan(60.0, steps=7, groups=2, wrong=2)
TOLD = ["rain", "garden", "flute", "dog", "mara", "ilya", "adopted"]
GROUPS = [
    Group("s", "list", "c", f"when did {word}", f"the {word}", ["a dog ?", f"{word} rain", "the garden !"])
    for word in TOLD
]
KINDS = ("crossencoder", "colbert")


def learner_of(kind: str, start: Path) -> Learner:
    if kind == "crossencoder":
        return CrossEncoderLearner(start, 1)
    return ColbertLearner(start, 1, lambda question, texts: [float(len(text)) for text in texts])


@pytest.fixture(scope="module", params=KINDS)
def started(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    folder = tmp_path_factory.mktemp("start") / request.param
    make = tiny.cross_encoder if request.param == "crossencoder" else tiny.colbert
    return request.param, make(folder)


def weights(learner: Learner) -> dict[str, Any]:
    return dict(learner.model.state_dict())


def pieces_of(path: Path, minutes: float, **about: object) -> Pieces:
    return Pieces(path / "run" / "state.pt", about, minutes)


def test_a_run_in_pieces_ends_with_the_weights_of_the_run_in_one(started: tuple[str, Path], tmp_path) -> None:
    losses: list[list[float]] = [[], []]
    whole = learner_of(*started)
    assert fit(whole, GROUPS, PLAN, random.Random(3), lambda clock, loss: losses[0].append(loss))
    ends = []
    for _ in range(PLAN.steps):  # a piece of no minutes has one step
        part = learner_of(*started)
        watch = lambda clock, loss: losses[1].append(loss)  # noqa: E731
        ends.append(fit(part, GROUPS, PLAN, random.Random(3), watch, pieces_of(tmp_path, 0.0)))
    assert ends == [False] * (PLAN.steps - 1) + [True]
    assert losses[1] == pytest.approx(losses[0], abs=1e-6)
    assert losses[0][0] != losses[0][-1]
    for name, values in weights(whole).items():
        assert torch.allclose(values, weights(part)[name], rtol=0, atol=1e-7), name


def test_a_run_is_kept_now_and_then_and_goes_on_after_being_killed(started, tmp_path) -> None:
    def kill(clock: Any, loss: float) -> None:
        if clock.done == 4:
            raise KeyboardInterrupt

    first, second = pieces_of(tmp_path, 60.0), pieces_of(tmp_path, 60.0)
    first.every = 0.0
    with pytest.raises(KeyboardInterrupt):
        fit(learner_of(*started), GROUPS, PLAN, random.Random(3), kill, first)
    seen: list[int] = []
    assert fit(learner_of(*started), GROUPS, PLAN, random.Random(3), lambda c, _: seen.append(c.done), second)
    assert seen == [4, 5, 6, 7]  # three were kept
    assert [path.name for path in second.path.parent.iterdir()] == ["state.pt"]


def test_time_that_earlier_pieces_took_counts(started: tuple[str, Path], tmp_path: Path) -> None:
    pieces = pieces_of(tmp_path, 0.0)
    clocks: list[Any] = []
    timed = replace(PLAN, steps=0)
    note = lambda clock, _: clocks.append(clock)  # noqa: E731
    assert not fit(learner_of(*started), GROUPS, timed, random.Random(3), note, pieces)
    state = torch.load(pieces.path, weights_only=True)
    torch.save(state | {"seconds": 59.99 * 60}, pieces.path)
    again = pieces_of(tmp_path, 60.0)
    assert fit(learner_of(*started), GROUPS, timed, random.Random(3), lambda c, _: clocks.append(c), again)
    assert clocks[-1].seconds >= 60 * 60


def test_a_run_with_other_settings_is_not_gone_on_with(started: tuple[str, Path], tmp_path: Path) -> None:
    def run(seed: int) -> bool:
        pieces = pieces_of(tmp_path, 0.0, seed=seed)
        return fit(learner_of(*started), GROUPS, PLAN, random.Random(3), lambda *_: None, pieces)

    assert not run(1)
    with pytest.raises(OtherRun, match=r"other settings: \{'seed': 1\}"):
        run(2)
    assert not run(1)


def test_all_that_a_step_reads_is_on_the_device_of_the_model(started: tuple[str, Path]) -> None:
    learner = learner_of(*started)
    learner.model.to("meta")  # computes shapes alone, and refuses what is on the processor
    loss = learner.loss(GROUPS[:4])
    loss.backward()
    assert loss.device.type == "meta"
    trained = [p for p in learner.model.parameters() if p.grad is not None]
    assert len(trained) > 20


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    for name in ("groups", "trials"):
        write_groups(tmp_path / "data" / f"{name}.jsonl", GROUPS)
    return tmp_path / "data"


def test_the_command_ends_a_piece_and_goes_on_and_leaves_the_model_alone(data, tmp_path, capsys) -> None:
    start, out = tiny.cross_encoder(tmp_path / "ce"), tmp_path / "out"
    line = ["crossencoder", str(data), str(out), "--start", str(start), "--steps", "2", "--groups", "2"]
    line += ["--wrong", "2"]
    assert rankers.main([*line, "--piece", "0"]) == rankers.UNFINISHED == getattr(os, "EX_TEMPFAIL", 75)
    assert "not finished" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        rankers.main([*line, "--seed", "5"])
    assert "other settings" in capsys.readouterr().err
    assert rankers.main(line) == 0
    assert "state.pt" not in [path.name for path in out.iterdir()]
    assert (out / "model.safetensors").is_file()


def test_a_device_that_is_not_there_is_said_before_anything_is_read(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SystemExit) as stopped:
        rankers.main(["crossencoder", str(tmp_path / "no"), str(tmp_path / "out"), "--device", "cuda"])
    assert stopped.value.code == 2
    assert "no CUDA device" in capsys.readouterr().err
