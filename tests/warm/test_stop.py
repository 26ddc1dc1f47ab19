"""`serve --stop` ends the warm processes of its own installation, and others only when they are meant too."""

import os
import tempfile
from pathlib import Path

import pytest

import smartsearch
from smartsearch.cli import app, serve
from smartsearch.serve.warm import place

OWN, OTHER, OLD = 2**22 + 1, 2**22 + 2, 2**22 + 3
"""Numbers that no process has."""


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Who was ended of three that hold their locks: ours, another installation's, one that does not say."""
    with tempfile.TemporaryDirectory(prefix="ss") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        home = place.folder(make=True)
        about = {OWN: {"install": place.install()}, OTHER: {"install": "/opt/other"}, OLD: {}}
        locks = {
            pid: place.hold(home / f"{pid}.lock", {"pid": pid, "version": "0.1.0", **said})
            for pid, said in about.items()
        }
        gone: list[int] = []

        def kill(pid: int, _signal: int) -> None:
            gone.append(pid)
            os.close(locks.pop(pid) or -1)

        monkeypatch.setattr(serve.os, "kill", kill)
        yield gone
        for lock in locks.values():
            os.close(lock or -1)


def test_stop_ends_those_of_this_installation(ended: list[int], capsys):
    assert app.run(["serve", "--stop"]) == 0
    assert ended == [OWN]
    said = capsys.readouterr().err
    assert f"ended pid {OWN}\n" in said
    assert "2 of another installation: `smartsearch serve --stop --all` ends all of yours" in said
    assert app.run(["serve", "--stop"]) == 1
    assert "no warm process runs of this installation" in capsys.readouterr().err
    assert ended == [OWN]


def test_all_are_listed_before_the_first_is_ended(ended: list[int], capsys):
    assert app.run(["serve", "--stop", "--all"]) == 0
    assert sorted(ended) == [OWN, OTHER, OLD]
    said = capsys.readouterr().err.splitlines()
    assert all("ended pid" not in line for line in said[:3])
    assert all("ended pid" in line for line in said[3:])
    assert any(f"pid {OTHER}" in line and "/opt/other" in line for line in said[:3])
    assert app.run(["serve", "--stop", "--all"]) == 1


def test_all_is_nothing_without_stop(ended: list[int], capsys):
    assert app.run(["serve", "--all"]) == 2
    assert "--all goes with --stop" in capsys.readouterr().err


def test_an_installation_is_a_package_in_an_environment(monkeypatch: pytest.MonkeyPatch):
    assert str(Path(smartsearch.__file__).parent) in place.install()
    here = place.install()
    monkeypatch.setattr(place.sys, "prefix", "/elsewhere")
    assert place.install() != here
