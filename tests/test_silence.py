"""Nothing leaves the machine and nothing is left in the home folder but what is ours."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import smartsearch

ROOT = Path(__file__).parents[1]
SAMPLES = str(ROOT / "docs" / "samples")
QUESTION = "When did Maya adopt the dog?"
REPORTS = 12.0
"""Seconds until onnxruntime, left alone, looks up where it reports to: ten, and some."""
HELLO = {**{"protocolVersion": "2025-06-18", "capabilities": {}}, "clientInfo": {"name": "t", "version": "0"}}
ASKING = [
    {"id": 1, "method": "initialize", "params": HELLO},
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/call", "params": {"name": "search", "arguments": {"question": QUESTION}}},
]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder of a user who never ran anything, and wants to be reported on."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def environment(home: Path) -> dict[str, str]:
    theirs = {"ORT_DISABLE_TELEMETRY": "0", "RAY_USAGE_STATS_ENABLED": "1"}
    kept = {name: value for name, value in os.environ.items() if name not in ("CI", "XDG_CACHE_HOME")}
    runtime = home.parent.parent / "run"  # a socket's path must be short
    runtime.mkdir(mode=0o700, exist_ok=True)
    kept |= {"PYTHONPATH": str(ROOT), "HOME": str(home), "XDG_RUNTIME_DIR": str(runtime)}
    return kept | {"SMARTSEARCH_DAEMON": "never"} | theirs


def python(home: Path, *arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=environment(home), capture_output=True, text=True, **options)


def left_in(home: Path) -> set[str]:
    """What lies in the home folder that is not smartsearch's."""
    files = (str(path.relative_to(home)) for path in home.rglob("*") if not path.is_dir())
    return {name for name in files if not re.match(r"\.(cache|config|local/share)/smartsearch/", name)}


@pytest.mark.quick
def test_whoever_imports_us_reports_nothing(home: Path):
    tell = f"import os; print(*(os.environ[name] for name in {list(smartsearch.SILENCE)}))"
    program = f"import smartsearch, subprocess, sys; {tell}; subprocess.run([sys.executable, '-c', {tell!r}])"
    ran = python(home, "-c", program, check=True)
    assert ran.stdout.splitlines() == [" ".join(smartsearch.SILENCE.values())] * 2


SAVING = """
import socket
asked = []
def lookup(*arguments, **options):
    asked.append(arguments[0])
    raise OSError("no network")
socket.getaddrinfo = lookup
import smartsearch.training
from pathlib import Path
from tests.rank import tiny
tiny.colbert(Path("colbert"))
tiny.cross_encoder(Path("ce"))
print(asked)
"""


@pytest.mark.torch
def test_a_model_that_is_trained_is_looked_up_nowhere(home: Path, tmp_path: Path):
    ran = python(home, "-c", SAVING, cwd=tmp_path, check=True)
    assert ran.stdout == "[]\n"


@pytest.mark.models
@pytest.mark.parametrize("command", ["query", "batch", "bench"])
def test_only_our_files_are_left_in_a_home(home: Path, tmp_path: Path, command: str):
    asked = tmp_path / "questions.jsonl"
    asked.write_text(json.dumps({"id": 1, "question": QUESTION}) + "\n", encoding="utf-8")
    (tmp_path / "chat.txt").write_text("Maya: Yesterday I adopted a dog.\nTarik: I bake.\n")
    arguments = {
        "query": [QUESTION, str(tmp_path)],
        "batch": [str(asked), SAMPLES, "--out", f"{tmp_path}/run/", "--workers", "1", "--offline"],
        "bench": ["docs/questions.jsonl", "--live", "0", "--out", str(tmp_path / "results")],
    }
    ran = python(home, "-m", "smartsearch", command, *arguments[command], cwd=ROOT)
    assert (ran.returncode, left_in(home)) == (0, set()), ran.stderr


def can_trace() -> bool:
    strace = shutil.which("strace")
    traced = [strace, "-qq", "-o", os.devnull, "true"]
    return bool(strace) and subprocess.run(traced, check=False).returncode == 0


@pytest.mark.models
@pytest.mark.skipif(not can_trace(), reason="needs strace, and the right to trace")
def test_processes_that_stay_open_no_socket_but_ours(home: Path, tmp_path: Path):
    """All at once, for what is waited for is the same: the ten seconds until a report would go out."""
    arguments = {"serve": ["--offline"], "mcp": [SAMPLES]}
    running = {}
    for name, options in arguments.items():
        command = [sys.executable, "-m", "smartsearch", name, *options]
        traced = ["strace", "-f", "-qq", "-e", "trace=%network", "-o", str(tmp_path / name), *command]
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        own = {"cwd": tmp_path, "env": environment(home), "start_new_session": True}
        running[name] = subprocess.Popen(traced, **pipes, **own)
    try:
        for message in ASKING:
            running["mcp"].stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            running["mcp"].stdin.flush()
        said = running["mcp"].stdout.readline(), running["mcp"].stdout.readline()
        assert b"ready" in running["serve"].stderr.readline()
        assert b"harbour-street.md" in said[1]
        time.sleep(REPORTS)
    finally:
        for process in running.values():
            os.killpg(process.pid, signal.SIGKILL)  # strace alone would let go of what it traces
            process.communicate()
    for name in arguments:
        traced = (tmp_path / name).read_text(encoding="utf-8", errors="replace")
        assert not re.findall(r".*\bAF_INET.*", traced)
    assert left_in(home) == set()
