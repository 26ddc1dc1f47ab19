"""The process that a question at a terminal leaves behind: where one is left, how many, and what is said."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from smartsearch.ask.scope import Scope
from smartsearch.config import Config
from smartsearch.runtime import private
from smartsearch.serve.warm import client, place, spare, wire
from tests.cli.test_process import FAKES, environment, needs_terminal, read
from tests.waiting import HANG, until

ASKED = wire.Request("Who has a dog?", Scope(("chat.txt",)), Config())
ME = os.geteuid()


@pytest.fixture
def terminals(monkeypatch: pytest.MonkeyPatch) -> dict[str, bool]:
    """Which streams are terminals: all, unless the test says otherwise."""
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), True)
    made = {name: SimpleNamespace(isatty=lambda name=name: streams[name]) for name in streams}
    monkeypatch.setattr(spare, "sys", SimpleNamespace(**made))
    return streams


@pytest.mark.parametrize(
    "changes",
    [
        *({"stdin": False}, {"stdout": False}, {"env": {"CI": "true"}}, {"env": {"SUDO_UID": "1000"}}),
        *({"env": {"DOAS_USER": "mara"}}, {"owner": ME + 1}, {"uid": ME + 1}, {"supported": False}),
        *({"scope": Scope(("-",))}, {"config": Config(daemon="never")}),
        *({"config": Config(daemon="always")}, {"config": Config(cache=False)}),
        *({"config": Config(rank=())}, {"config": Config(system="grep")}),
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_only_a_person_at_a_terminal_leaves_one(changes: dict, terminals, tmp_path, monkeypatch):
    def wanted(**changes: object) -> bool:
        asked = replace(ASKED, **{k: v for k, v in changes.items() if k in ("scope", "config")})
        terminals.update((k, v) for k, v in changes.items() if k in terminals)
        owner = SimpleNamespace(stat=lambda: SimpleNamespace(st_uid=changes.get("owner", ME)))
        monkeypatch.setattr(spare.xdg, "user_home", lambda: owner)
        monkeypatch.setattr(os, "getuid", lambda: changes.get("uid", ME))
        monkeypatch.setattr(place, "supported", lambda: changes.get("supported", True))
        return spare.wanted(asked, changes.get("env", {}))

    assert wanted()
    assert not wanted(**changes)


@pytest.fixture
def started(terminals: dict[str, bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list]:
    """What each launch started in place of a server: a process that lives on, or None."""
    folder = tempfile.mkdtemp(prefix="ss")
    monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    launch, started = client.launch, []
    program = f"import time; time.sleep({HANG})"
    monkeypatch.setattr(client, "PROGRAM", (sys.executable, "-S", "-c", program))
    monkeypatch.setattr(client, "launch", lambda *given: started.append(launch(*given)) or started[-1])
    yield started
    for process in filter(None, started):
        process.kill()
        process.wait()
    shutil.rmtree(folder)


def test_many_that_leave_one_at_once_leave_one_and_say_so_once(started: list):
    said: list[str] = []
    dead = place.place(Config(), make=True).socket
    dead.touch()
    with ThreadPoolExecutor(20) as pool:
        list(pool.map(lambda _: spare.leave(ASKED, said.append), range(20)))
    spare.leave(ASKED, said.append)
    spare.leave(replace(ASKED, config=Config(profile="paper")), said.append)  # one an installation
    assert (len([*filter(None, started)]), said) == (1, [spare.TOLD])
    assert not dead.exists()


def test_what_was_said_is_not_said_again_and_who_hears_nothing_is_left_nothing(started: list, terminals):
    said: list[str] = []
    spare.leave(ASKED, None)
    terminals["stderr"] = False
    spare.leave(ASKED, said.append)
    assert (started, said) == ([], [])
    private.make(private.home("warm") / "told")
    (private.home("warm") / "told" / "once").touch()
    spare.leave(ASKED, None)
    assert len([*filter(None, started)]) == 1


def test_where_it_cannot_be_started_nothing_is_said(started: list, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object) -> None:
        raise OSError("no space left on device")

    said: list[str] = []
    with monkeypatch.context() as patched:
        patched.setattr(place, "describe", full)
        spare.leave(ASKED, said.append)
    assert (started, said) == ([], [])
    spare.leave(ASKED, said.append)
    assert (len(started), said) == (1, [spare.TOLD])


class Shells:
    """Terminals in a folder with a chat, where `smartsearch` has fake models, and what runs for them."""

    def __init__(self, folder: Path, runtime: str) -> None:
        self.folder = folder
        (folder / "chat.txt").write_text("Mara: a dog in the café\n" * 40, encoding="utf-8")
        os.utime(folder / "chat.txt", (1, 1))
        self.env = environment(XDG_RUNTIME_DIR=runtime, XDG_CACHE_HOME=str(folder / "cache"), TERM="xterm")
        self.env.pop("CI")
        self.log = lambda: "".join(p.read_text() for p in Path(runtime).glob("smartsearch/*.log"))

    def ask(self, *options: str, **more: object) -> str:
        """What a terminal shows of a question that finds something."""
        main, side = os.openpty()
        command = [sys.executable, str(FAKES), "query", "dog", "chat.txt", *options]
        env = self.env | more.pop("env", {})
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), side)
        with subprocess.Popen(command, cwd=self.folder, env=env, **streams, **more) as process:
            os.close(side)
            shown = b"".join(iter(lambda: read(main), b""))
            os.close(main)
            assert process.wait(timeout=HANG) == 0
        assert "dog" in shown.decode()
        return shown.decode()

    def piped(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(FAKES), *arguments]
        given = {"cwd": self.folder, "env": self.env, "capture_output": True, "text": True}
        return subprocess.run(command, timeout=HANG, check=False, **given)

    def running(self) -> list[dict]:
        return json.loads(self.piped("serve", "--status", "--json").stdout)["servers"]

    def ready(self) -> dict:
        (one,) = until(lambda: [row for row in self.running() if row["state"] == "ready"], "it is ready")
        return one


@pytest.fixture
def shells(tmp_path: Path) -> Iterator[Shells]:
    runtime = tempfile.mkdtemp(prefix="ss")
    made = Shells(tmp_path, runtime)
    yield made
    made.piped("serve", "--stop")
    assert made.running() == []
    shutil.rmtree(runtime)


@pytest.mark.process
@needs_terminal
def test_twenty_terminals_leave_one_process_and_a_pipe_uses_it(shells: Shells):
    def served() -> list[int]:
        return [row["served"] for row in shells.running()]

    assert shells.piped("query", "dog", "chat.txt").returncode == 0
    assert shells.running() == []
    with ThreadPoolExecutor(20) as pool:
        shown = list(pool.map(lambda _: shells.ask(), range(20)))
    shells.ready()
    assert shells.log().count("\n") == 1  # a second one would say that there is one
    assert sum("a process stays behind" in text for text in shown) == 1
    before = served()
    warm = shells.piped("query", "dog", "chat.txt")
    assert (len(before), served()) == (1, [before[0] + 1])
    cold = shells.piped("query", "dog", "chat.txt", "--daemon", "never")
    assert (warm.returncode, warm.stdout) == (cold.returncode, cold.stdout)
    assert shells.piped("serve", "--stop").stderr.startswith("smartsearch: ended pid ")
    assert shells.running() == []


@pytest.mark.process
@needs_terminal
def test_a_process_that_was_killed_and_a_cache_that_was_deleted_cost_no_answer(shells: Shells):
    assert "a process stays behind" in shells.ask()
    first = shells.ready()["pid"]
    os.kill(first, signal.SIGKILL)
    until(lambda: not shells.running(), "it has gone")
    assert "ended without tidying up" in " ".join(shells.ask().split())
    assert shells.ready()["pid"] != first
    shutil.rmtree(shells.folder / "cache")
    assert "process" not in shells.ask()
    assert shells.ready()["served"] == 1


@pytest.mark.process
@needs_terminal
@pytest.mark.parametrize("how", ["CI", "never", "option", "full"])
def test_a_terminal_that_leaves_none(shells: Shells, how: str):
    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    env = {"CI": {"CI": "1"}, "never": {"SMARTSEARCH_DAEMON": "never"}}.get(how, {})
    options = ["--daemon", "never"] if how == "option" else []
    shown = shells.ask(*options, env=env, **({"preexec_fn": full} if how == "full" else {}))
    assert "process" not in shown
    assert shells.running() == []
