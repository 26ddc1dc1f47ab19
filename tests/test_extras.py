"""Extras: what is missing is told with the one command that brings it, wherever smartsearch is installed."""

import re
import sys
from pathlib import Path

import pytest

from smartsearch.config import build, tomllib
from smartsearch.errors import SmartsearchError
from smartsearch.models import store
from smartsearch.models.loading import load_tools
from smartsearch.runtime import extras

ROOT = Path(__file__).parents[1]
PROJECT = ROOT / "pyproject.toml"


STRANGER = re.compile(
    r"(?<![\w/-])smartsearch\[[a-z,]+\]|(?:install|uvx|--from|--with)\s+(?:-\S+\s+)*['\"]?smartsearch(?![-\w/.])"
)
"""What installs the registry's `smartsearch`, which is somebody else's."""


@pytest.mark.parametrize("name", ["smartsearch", "smartsearch-cli"])
@pytest.mark.parametrize(
    "text", ["pip install -U {}", "pip install '{}[hub]'", "needs {}[mcp]", "uvx --from {} smartsearch"]
)
def test_the_lint_knows_what_installs_a_stranger(name, text):
    assert bool(STRANGER.search(text.format(name))) == (name == "smartsearch")


def test_no_text_installs_the_stranger_of_the_same_name():
    places = [ROOT / name for name in ("README.md", "CHANGELOG.md", "Makefile", "pyproject.toml", ".ci/run")]
    for folder in ("smartsearch", "docs", "recipe", "benchmarks", "tests"):
        suffixes = (".py", ".md", ".1", ".yaml", ".sh", ".j2")
        places += [path for path in (ROOT / folder).rglob("*") if path.suffix in suffixes]
    files = (place for place in places if place.is_file())
    texts = {file: file.read_text(encoding="utf-8").replace("\\", "") for file in files}
    assert len(texts) > 400
    found = ((place, m[0]) for place, text in texts.items() for m in STRANGER.finditer(text))
    said = [f"{place.relative_to(ROOT)}: {told}" for place, told in found]
    assert said == []


def test_the_distribution_is_named_once():
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    assert project["name"] == extras.DISTRIBUTION
    assert list(project["scripts"]) == ["smartsearch", extras.DISTRIBUTION], "uvx runs the second"


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
        ("uv-receipt.toml", "uv pip install --python {prefix} 'smartsearch-cli[hub]'"),
        ("pipx_metadata.json", "pipx runpip smartsearch install 'smartsearch-cli[hub]'"),
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
        ("env", "pip install 'smartsearch-cli[hub]'"),
        ("other", "'{env}/python' -m pip install 'smartsearch-cli[hub]'"),
        ("", "'{env}/python' -m pip install 'smartsearch-cli[hub]'"),
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
    assert extras.command("hub") == "uv pip install --python /opt/env/bin/python 'smartsearch-cli[hub]'"
    with pytest.raises(SmartsearchError, match="the parser en_core_web_sm needs packages"):
        store.fetch("parser", store.ModelRef("en_core_web_sm"), print)
    monkeypatch.setitem(extras.EXTRAS, "spacy", ())
    monkeypatch.setattr("importlib.metadata.version", lambda name: "3.8.18")
    monkeypatch.setitem(sys.modules, "spacy.cli.download", None)  # nothing is asked for
    with pytest.raises(SmartsearchError) as caught:
        store.fetch("parser", store.ModelRef("en_core_web_sm"), print)
    assert "needs pip" in caught.value.message
    wheel = "en_core_web_sm-3.8.0/en_core_web_sm-3.8.0-py3-none-any.whl"
    there = f"https://github.com/explosion/spacy-models/releases/download/{wheel}"
    assert caught.value.hint == f"uv pip install --python /opt/env/bin/python 'en_core_web_sm @ {there}'"


def test_a_parser_in_a_folder_without_spacy_is_told_by_its_extra(tmp_path, monkeypatch):
    (tmp_path / "config.cfg").write_text("[nlp]\n")
    monkeypatch.setattr(extras, "_is_there", lambda name: name != "spacy")
    monkeypatch.setitem(sys.modules, "confection", None)  # which spaCy brings
    with pytest.raises(SmartsearchError) as caught:
        load_tools(build({"parser": str(tmp_path)}))
    assert (caught.value.kind, caught.value.hint) == ("package", extras.command("spacy"))
