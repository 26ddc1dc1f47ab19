"""`smartsearch doctor`: finds what is wrong, says what to do, and changes nothing."""

import os
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import smartsearch
from smartsearch.cli import checks as doctor
from smartsearch.errors import ModelError
from smartsearch.models import loading, profiles
from smartsearch.runtime import extras
from smartsearch.transcripts.large import indexing
from tests.cli.conftest import Run
from tests.cli.fakes import fake_tools


@pytest.fixture(autouse=True)
def fakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "load_tools", fake_tools)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    runtime = tmp_path.parent / "run"  # a socket's path must be short
    runtime.mkdir(mode=0o700, exist_ok=True)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))


def found(run: Run, *more: str, code: int = 0) -> list[tuple[str, str, str]]:
    ran = run("doctor", "--json", *more)
    assert ran.code == code
    return [(f["area"], f["state"], f["said"]) for f in ran.record["findings"]]


def troubles(run: Run, *more: str, code: int = 0) -> list[tuple[str, str, str]]:
    return [one for one in found(run, *more, code=code) if one[1] in ("warning", "failure")]


def test_every_area_of_a_healthy_machine_is_in_order_and_nothing_is_made(run: Run, tmp_path: Path):
    areas = [area for area, _, _ in found(run)]
    order = ["install", "settings", "machine", "models", "search", "cache", "index", "server", "terminal"]
    assert list(dict.fromkeys(areas)) == order
    assert "search" not in [area for area, _, _ in found(run, "--no-search")]
    assert troubles(run) == []
    assert not (tmp_path / "cache").exists()
    ran = run("doctor")
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "all in order")


def test_a_model_that_is_damaged_fails_with_what_to_do(run: Run, monkeypatch):
    real = profiles.status("embedded")
    bad = [row if row.role != "colbert" else type(row)(**{**vars(row), "state": "damaged"}) for row in real]
    monkeypatch.setattr(profiles, "status", lambda _, deep: bad)
    ran = run("doctor")
    assert ran.code == 2
    lines = ran.out.splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("FAIL"))
    assert "colbert" in lines[at]
    assert lines[at + 1].strip() == "try: install smartsearch-cli again"
    assert lines[-1] == "1 failure"


def test_models_that_do_not_load_and_wrong_answers_fail(run: Run, monkeypatch):
    def missing(*_, **__):
        raise ModelError("the crossencoder is missing", hint="get it")

    monkeypatch.setattr(loading, "load_tools", missing)
    assert ("search", "failure", "the crossencoder is missing") in troubles(run, code=2)
    monkeypatch.setattr(loading, "load_tools", fake_tools)
    monkeypatch.setattr(doctor, "_SAID", (("Maya", "The cake."), ("Jonas", "The spare key is here.")))
    assert [t[:2] for t in troubles(run, code=2)] == [("search", "failure")]


def test_settings_that_cannot_be_read_fail_and_what_is_wrong_beside_them_is_a_warning(
    run, chats, monkeypatch
):
    monkeypatch.setenv("SMARTSEARCH_ALPHA", "3")
    assert [t[:2] for t in troubles(run, code=2)] == [("settings", "failure")]
    monkeypatch.delenv("SMARTSEARCH_ALPHA")
    monkeypatch.setenv("SMARTSEARCH_HOPSS", "2")
    assert troubles(run) == [("settings", "warning", "SMARTSEARCH_HOPSS sets nothing")]
    monkeypatch.delenv("SMARTSEARCH_HOPSS")
    (chats / ".smartsearch.toml").write_text("alpha = 3\n")
    ((area, state, said),) = troubles(run)
    assert (area, state, ".smartsearch.toml:1: alpha is 3" in said) == ("settings", "warning", True)


def test_a_cache_of_somebody_else_or_that_cannot_be_written_is_a_warning(run: Run, tmp_path, monkeypatch):
    (tmp_path / "cache").mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path / "cache")
    assert [(a, s) for a, s, _ in troubles(run)] == [("cache", "warning")]
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("U", (), {"free": 1000})())
    monkeypatch.setattr(os, "access", lambda *_: True)
    assert "are free below" in troubles(run)[0][2]


def test_an_index_whose_transcripts_are_gone_is_a_warning(run: Run, chats: Path, monkeypatch):
    monkeypatch.setattr(indexing, "SETTLED", 0.0)
    indexing.build(str(chats))
    assert troubles(run) == []
    for path in chats.iterdir():
        path.unlink()
    chats.rename(chats.with_name("moved"))
    os.chdir(chats.with_name("moved"))
    assert [(a, s, "are gone" in said) for a, s, said in troubles(run)] == [("index", "warning", True)]


def test_a_package_that_is_missing_or_too_old_is_told(run: Run, monkeypatch):
    wanted = [Requirement("no-such-package>=1"), Requirement("numpy<1")]
    monkeypatch.setattr(doctor, "_requirements", lambda: iter(wanted))
    (missing, old) = troubles(run, code=2)
    assert missing == ("install", "failure", "the package no-such-package is missing")
    assert (old[1], old[2].startswith("numpy ")) == ("warning", True)
    assert extras.installing("no-such-package>=1") in run("doctor").out


def test_the_extras_are_told(run: Run, monkeypatch):
    monkeypatch.setattr(extras, "EXTRAS", {"hub": ("no_such",), "batch": ("nor_this",), "mcp": ("json",)})
    said = [said for area, _, said in found(run) if area == "install"]
    assert said[0].endswith(str(Path(smartsearch.__file__).parent))
    missing = f"hub, batch ({extras.command('hub', 'batch')} brings them)"
    assert said[-1] == f"with the extras mcp; not installed: {missing}"


@pytest.mark.models
def test_the_shipped_models_answer(run: Run, monkeypatch):
    monkeypatch.undo()
    states = {area: state for area, state, _ in found(run) if area == "search"}
    assert states == {"search": "ok"}
