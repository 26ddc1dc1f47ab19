"""The README's commands run as they stand, and its first two are those that set everything up."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [
    line.removeprefix("$ ")
    for block in re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("$ ")
]


def test_it_opens_with_the_two_commands():
    commands = re.findall(r"^    (make \w+)", README, re.MULTILINE)
    assert commands[:2] == ["make demo", "make test"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(f"\n{command.split()[1]}:" in makefile for command in commands)


def test_its_links_lead_somewhere():
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in link]
    assert not [link for link in links if not (ROOT / link).exists()]


@pytest.mark.models
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_readme_runs(command, tmp_path):
    if "jq" in command and not shutil.which("jq"):
        command = command.split(" | jq")[0]
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    tool = tmp_path / "bin" / "smartsearch"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m smartsearch "$@"\n')
    tool.chmod(0o755)
    environment = os.environ | {"PATH": f"{tool.parent}{os.pathsep}{os.environ['PATH']}"}
    run = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    answered = run.stdout.strip()
    if "answers.jsonl" in command:
        answered = (tmp_path / "answers.jsonl").is_file()
    assert answered
