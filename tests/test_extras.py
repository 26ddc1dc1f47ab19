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
    assert (caught.value.kind, caught.value.hint) == ("package", "pip install 'smartsearch[batch]'")
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
