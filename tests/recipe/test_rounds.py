"""The one-command recipe: each step finds its input, and a run that is broken off goes on where it was."""

import json
from pathlib import Path

import pytest

from recipe import rounds
from recipe.__main__ import COMMANDS
from recipe.rankers import UNFINISHED
from recipe.rounds import main, steps


def test_every_step_exists_and_finds_what_an_earlier_one_wrote() -> None:
    written: set[str] = set()
    for command, arguments in steps(Path("source"), Path("work")):
        assert command in (*COMMANDS, "manifest")
        paths = [a for a in arguments if a.startswith("work/")]
        place = {"export": 2, "validate": -1}.get(command, 1)
        nothing = ("calibrate", "set_encoder", "static_weight", "confidence", "manifest")
        made = [] if command in nothing else [arguments[place]]
        assert set(paths) - set(made) <= written, (command, arguments)
        written |= set(made)
    exported = {a[0]: a[2] for c, a in steps(Path("source"), Path("work")) if c == "export"}
    assert all("smartsearch/models" in last for last in exported.values())


class Machine:
    """Runs commands in no time but for what each is said to take, in minutes, or to fail with."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.ran = 0.0, list[str]()
        self.minutes: dict[str, float] = {}
        self.codes: dict[str, int] = {}
        self.more: list[list[str]] = []
        every = [(name, [f"of-{name}"]) for name in ("data", "crossencoder", "export", "manifest")]
        monkeypatch.setattr(rounds, "steps", lambda *places: every)
        monkeypatch.setattr(rounds, "run", self.run)
        monkeypatch.setattr(rounds.time, "monotonic", lambda: self.now)

    def run(self, command: str, arguments: list[str]) -> int:
        self.now += 60 * self.minutes.get(command, 0)
        self.ran.append(command)
        self.more.append(arguments[1:])
        return self.codes.get(command, 0)

    def all(self, work: Path, *options: str) -> tuple[int, list[str]]:
        self.ran.clear()
        self.more.clear()
        return main(["source", "--work", str(work), *options]), list(self.ran)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(monkeypatch)


def test_a_call_ends_after_its_minutes_and_the_next_goes_on(machine: Machine, tmp_path: Path, capsys) -> None:
    machine.minutes = {"data": 6, "crossencoder": 5, "export": 11}
    assert machine.all(tmp_path, "--minutes", "9") == (UNFINISHED, ["data", "crossencoder"])
    assert machine.more[1] == ["--device", "cpu", "--piece", "3.0"]  # what is left of the nine
    assert "2 of 4 steps are done" in capsys.readouterr().out
    assert machine.all(tmp_path, "--minutes", "9") == (UNFINISHED, ["export"])
    assert machine.all(tmp_path, "--minutes", "9") == (0, ["manifest"])
    assert machine.all(tmp_path) == (0, [])
    assert f"4 of 4 steps were done before, says {tmp_path / 'done.jsonl'}" in capsys.readouterr().out


def test_a_step_that_did_not_end_well_is_run_again(machine: Machine, tmp_path: Path) -> None:
    machine.codes = {"crossencoder": UNFINISHED}
    assert machine.all(tmp_path) == (UNFINISHED, ["data", "crossencoder"])
    machine.codes = {"export": 1}
    assert machine.all(tmp_path, "--device", "cuda") == (1, ["crossencoder", "export"])
    assert machine.more[0] == ["--device", "cuda", "--piece", "inf"]
    machine.codes = {}
    assert machine.all(tmp_path) == (0, ["export", "manifest"])


def test_steps_after_one_that_has_changed_are_run_again(machine: Machine, tmp_path: Path) -> None:
    assert machine.all(tmp_path)[0] == 0
    log = tmp_path / "done.jsonl"
    lines = log.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)[0] for line in lines] == ["data", "crossencoder", "export", "manifest"]
    log.write_text("\n".join([lines[0], '["crossencoder", ["of another recipe"]]', *lines[2:]]))
    assert machine.all(tmp_path) == (0, ["crossencoder", "export", "manifest"])
    assert log.read_text(encoding="utf-8").splitlines() == lines


def test_what_is_done_is_told_without_the_folders_of_one_machine(tmp_path: Path) -> None:
    named = [argument for _, arguments in steps(Path("a"), Path("b"), Path("c")) for argument in arguments]
    assert not any(Path(argument).is_absolute() for argument in named)
