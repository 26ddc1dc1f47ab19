"""The one-command recipe names steps that exist, in an order in which each finds its input."""

from __future__ import annotations

from pathlib import Path

from recipe.__main__ import COMMANDS
from recipe.rounds import steps


def test_every_step_exists_and_finds_what_an_earlier_one_wrote() -> None:
    written: set[str] = set()
    for command, arguments in steps(Path("source"), Path("work")):
        assert command in (*COMMANDS, "manifest")
        paths = [a for a in arguments if a.startswith("work/")]
        place = {"export": 2, "validate": -1}.get(command, 1)
        made = [] if command in ("calibrate", "set_encoder", "manifest") else [arguments[place]]
        assert set(paths) - set(made) <= written, (command, arguments)
        written |= set(made)
    exported = {a[0]: a[2] for c, a in steps(Path("source"), Path("work")) if c == "export"}
    assert all("smartsearch/models" in last for last in exported.values())
