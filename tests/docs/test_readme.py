"""The README's commands run as they stand, and its first two are those that set everything up."""

from __future__ import annotations

import re
import shutil

import pytest

from tests.docs.shell import ROOT, Shell, commands

README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [command.line for command in commands(README)]


def test_it_opens_with_the_two_commands():
    made = re.findall(r"^    (make \w+)", README, re.MULTILINE)
    assert made[:2] == ["make demo", "make test"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(f"\n{command.split()[1]}:" in makefile for command in made)


@pytest.mark.models
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_readme_runs(command, tmp_path):
    if "jq" in command and not shutil.which("jq"):
        command = command.split(" | jq")[0]
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    (tmp_path / "bin").mkdir()
    run = Shell(tmp_path, tmp_path / "bin").run(command)
    assert run.returncode == 0, run.stderr
    answered = run.stdout.strip()
    if "answers.jsonl" in command:
        answered = (tmp_path / "answers.jsonl").is_file()
    assert answered
