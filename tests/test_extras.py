"""Extras: what is missing is told with the one command that brings it, wherever smartsearch is installed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from smartsearch.config import tomllib
from smartsearch.errors import SmartsearchError
from smartsearch.runtime import extras

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def test_every_extra_of_the_project_is_known():
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    assert set(extras.EXTRAS) == set(project["optional-dependencies"]) - {"all", "test", "dev"}


def test_what_is_missing_is_named_with_the_command(monkeypatch):
    monkeypatch.setitem(extras.EXTRAS, "batch", ("json", "no_such_package"))
    with pytest.raises(SmartsearchError) as caught:
        extras.require("batch", "--out s3://bucket/run")
    said = "--out s3://bucket/run needs packages that are not installed: no_such_package"
    assert caught.value.message == said
    assert (caught.value.kind, caught.value.hint) == ("package", extras.command("batch"))
    monkeypatch.setitem(extras.EXTRAS, "batch", ("json",))
    extras.require("batch", "--out s3://bucket/run")


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        ("uv-receipt.toml", "uv pip install --python {prefix} 'smartsearch[hub]'"),
        ("pipx_metadata.json", "pipx runpip smartsearch install 'smartsearch[hub]'"),
    ],
)
def test_a_tool_s_own_environment_is_installed_to_by_that_tool(tmp_path, monkeypatch, mark, said):
    prefix = tmp_path / "smartsearch"
    prefix.mkdir()
    (prefix / mark).touch()
    monkeypatch.setattr(sys, "prefix", str(prefix))
    assert extras.command("hub") == said.format(prefix=prefix)


@pytest.mark.parametrize(
    ("first", "said"),
    [
        ("env", "pip install 'smartsearch[hub]'"),
        ("other", "'{env}/python' -m pip install 'smartsearch[hub]'"),
        ("", "'{env}/python' -m pip install 'smartsearch[hub]'"),
    ],
)
def test_the_environment_that_runs_is_installed_to_and_no_other(tmp_path, monkeypatch, first, said):
    folder = tmp_path / "my environments"
    for name in ("env", "other"):
        (folder / name).mkdir(parents=True)
        pip = folder / name / "pip"
        pip.touch()
        pip.chmod(0o755)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(folder / "env" / "python"))
    monkeypatch.setattr(extras, "_is_there", lambda name: True)
    monkeypatch.setenv("PATH", str(folder / first) if first else "")
    assert extras.command("hub") == said.format(env=folder / "env")


def test_an_environment_without_pip_is_installed_to_by_uv(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "executable", "/opt/env/bin/python")
    monkeypatch.setattr(extras, "_is_there", lambda name: False)
    assert extras.command("hub") == "uv pip install --python /opt/env/bin/python 'smartsearch[hub]'"
