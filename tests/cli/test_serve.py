"""The warm process: the same answers as without it, and what happens when it is not well."""

import io
import json
import os
import pickle
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from smartsearch.ask.scope import Scope
from smartsearch.config import Config
from smartsearch.models import loading
from smartsearch.runtime import frames
from smartsearch.serve.warm import client, place, wire
from smartsearch.types import STAGES
from tests.cli.conftest import QUESTION, Ran, Run
from tests.cli.test_process import FAKES, HEAVY
from tests.waiting import HANG, until

ODD = (sys.executable, "-m", "tests.odd_server")
ROOT = Path(__file__).parents[2]
COLD = "answered without the warm process: "


def launch(*options: str, program: tuple[str, ...] = ODD) -> subprocess.Popen[bytes]:
    """A server that has said that it is ready."""
    env = {"TEST_SLEEP": "1.5", **os.environ}
    process = subprocess.Popen([*program, "serve", *options], cwd=ROOT, stderr=subprocess.PIPE, env=env)
    assert process.stderr is not None
    said = process.stderr.readline()
    assert b"ready: profile embedded" in said, said + process.stderr.read()
    return process


def finish(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    if process.stderr:
        process.stderr.close()


@pytest.fixture(scope="module")
def shared() -> Iterator[str]:
    """The runtime folder of a server that several tests ask; its path is short, as sockets want it."""
    folder = tempfile.mkdtemp(prefix="ss")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_RUNTIME_DIR", folder)
        process = launch()
    yield folder
    finish(process)
    shutil.rmtree(folder)


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A runtime folder of the test's own."""
    folder = tempfile.mkdtemp(prefix="ss")
    monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
    yield Path(folder)
    shutil.rmtree(folder)


@pytest.fixture
def server(runtime: Path) -> Iterator[subprocess.Popen[bytes]]:
    process = launch()
    yield process
    finish(process)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that a busy machine does not exceed by itself; tests of silence set their own."""
    monkeypatch.setattr(client, "HANDSHAKE", HANG)
    monkeypatch.setattr(client, "SILENCE", HANG)


@pytest.fixture
def only_warm(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process has no models: what it answers, the server answered."""

    def none(config: Config) -> None:
        raise AssertionError("answered in process")

    monkeypatch.setattr(loading, "load_tools", none)


def bare(ran: Ran) -> Ran:
    """Without the times."""
    out = re.sub(r'"timing_ms":\s*\{[^}]*\}', "", ran.out)
    out = re.sub(r"<span>[\d.]+ m?s</span>", "", out.partition('id="run"')[0])
    out = re.sub(rf"\b({'|'.join(STAGES)}) [\d.]+", r"\1", out)
    return Ran(ran.code, re.sub(r"# ms: .*", "", out), ran.err)


def spot() -> place.Spot:
    return place.place(Config())


def working() -> bool:
    return bool((client.status(spot().socket) or {}).get("working"))


def ask(question: str, **changes: object) -> list[str]:
    told = client.ask(wire.Request(question, Scope(("chat.txt",)), replace(Config(), **changes)), None)
    return [hit.turn.text for hit in told.result.hits]


SAME = [
    [QUESTION, "--json"],
    [QUESTION, "--json", "--explain", "-C1", "--alpha", ".5"],
    [QUESTION, "--format", "jsonl", "-A1"],
    [QUESTION, "--format", "md", "-B1"],
    [QUESTION, "--format", "context", "-n2", "-C1"],
    [QUESTION, "--explain", "--color", "always"],
    [QUESTION, "--format", "html", "-n2", "--alpha", ".5"],
    [QUESTION, "-C1"],
    [QUESTION, "-l"],
    [QUESTION, "./chat.txt", "../work/talk.json", "."],
    [QUESTION, "..", "--exclude", "no-*"],
    [QUESTION, "broken.json", "chat.txt", "odd\udcff.txt", "--json"],
    [QUESTION, "--session", "", "--rank", "ce", "--order", "time", "--as=paper-locomo", "--profile=embedded"],
    [QUESTION, "--since", "last week", "--until", "today", "--now", "2024-05-16", "--json", "-C1"],
    [QUESTION, "--only-speaker", "ilya", "--role", "user", "--speaker", "mara", "--json"],
    ["Who adopted a dog yesterday?", "--now", "2024-05-10", "--speaker", "MARA", "--explain"],
    [QUESTION, "--only-speaker", "Marta", "--json"],
    ["Wher did Ilja go?", "--json"],
    ["the \udcff dog"],
    ["zebra", "--semantic", "off", "--json"],
    [QUESTION, "nowhere.txt"],
    [QUESTION, "broken.json"],
    [QUESTION, "--input-format", "fax", "nowhere"],
    [QUESTION, "talk.json", "--fields", "speaker=content,text=role", "--json"],
    [QUESTION, "talk.json", "--fields", "speaker=who"],
    [QUESTION, "chat.txt", "-", "--json"],
]


@pytest.mark.parametrize("arguments", SAME, ids=" ".join)
def test_the_answer_is_the_same_bytes(arguments: list[str], shared: str, chats: Path, run: Run, monkeypatch):
    (chats / "broken.json").write_text("[{", encoding="utf-8")
    Path("odd\udcff.txt").write_text("Zoe: the support group\nMax: thanks\n", encoding="utf-8")

    def ran(*more: str) -> Ran:
        piped = io.BytesIO(b"Zoe: the support group is on Friday\nMax: thanks\n")
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(piped))
        return bare(run("query", *arguments, *more))

    cold = ran("--daemon", "never")
    monkeypatch.setenv("XDG_RUNTIME_DIR", shared)
    with monkeypatch.context() as patched:
        patched.setattr(loading, "load_tools", None)
        warm = ran()
    assert warm == cold


def test_the_command_imports_no_model(shared: str, chats: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", shared)
    command = [sys.executable, "-X", "importtime", "-m", "smartsearch", "query", QUESTION, "--json"]
    ran = subprocess.run(command, cwd=chats, capture_output=True, text=True, timeout=HANG, check=True)
    record = json.loads(ran.stdout)
    assert [model["id"] for model in record["models"]] == ["fake-ce", "fake-colbert"]
    assert record["degraded"] == []
    imported = {line.rpartition("|")[2].strip() for line in ran.stderr.splitlines()}
    assert "smartsearch.serve.warm.client" in imported
    assert imported & set(HEAVY) == {"orjson"}


def test_several_at_once_get_each_their_own(shared: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", shared)
    questions = {"lovely": "Oscar is a lovely name.", "flatmate": "My flatmate adopted a dog named Oscar."}
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(ask, [*questions] * 10))
    assert [texts[0] for texts in found] == [*questions.values()] * 10


def test_changed_files_change_the_answer(only_warm: None, shared: str, chats: Path, run: Run, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", shared)
    os.utime(chats / "chat.txt", (1, 1))
    assert "Zebra" not in run("query", "Zebra Oscar", "-n1").out
    with (chats / "chat.txt").open("a") as file:
        file.write("[2024-05-11 09:00] Ilya: A Zebra met Oscar.\n")
    assert run("query", "Zebra Oscar", "-n1").out.startswith("chat.txt:6:")
    (chats / "chat.txt").unlink()
    assert run("query", "Zebra Oscar", "chat.txt").code == 2


def test_a_request_for_other_models_or_of_no_sense_is_refused(shared: str, chats: Path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", shared)
    where = spot()
    monkeypatch.setattr(place, "place", lambda config, make=False: where)
    for config in ({"colbert": "/tmp"}, {"profile": "paper"}, {"threads": 77}, {"top_k": 0}):
        with pytest.raises(client.NotWarm, match="refused"):
            ask(QUESTION, **config)
    for head in (b"", b'{"do": "ask"}', b"[" * 100_000, pickle.dumps([1])):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(where.socket))
            frames.send(connection.send, head)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(where.socket))
        frames.receive(connection.recv, 1000)
        connection.sendall(b"\xff" * 8)  # a frame of 2**64 - 1 bytes
        assert connection.recv(1) == b""
    assert ask(QUESTION)


def test_the_command_finds_nothing_and_says_nothing_where_no_server_is(run: Run, runtime: Path):
    assert run("query", QUESTION).err == ""
    assert list(runtime.iterdir()) == []


def test_a_server_that_was_killed(server: subprocess.Popen[bytes], run: Run):
    finish(server)
    ran = run("query", QUESTION, "--json")
    assert (ran.code, len(ran.record["degraded"])) == (0, 1)
    assert ran.record["degraded"][0].startswith(COLD + "it ended without tidying up")
    assert spot().socket.exists()
    again = launch()
    assert run("query", QUESTION, "--json").record["degraded"] == []
    finish(again)


def test_a_server_that_hangs(server: subprocess.Popen[bytes], run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(client, "HANDSHAKE", 0.3)
    server.send_signal(signal.SIGSTOP)
    ran = run("query", QUESTION)
    assert (ran.code, "does not react" in ran.err) == (0, True)
    assert json.loads(run("serve", "--status", "--json").out)["servers"][0]["state"] == "silent"
    monkeypatch.setattr("smartsearch.cli.serve.ENDING", 0.2)
    assert run("serve", "--stop").err == f"smartsearch: killed pid {server.pid}\n"
    assert server.wait(HANG) == -signal.SIGKILL


def test_a_server_that_falls_silent_at_work(server, chats: Path, run: Run, monkeypatch):
    monkeypatch.setattr(client, "SILENCE", 1.5)

    def fall_silent() -> None:
        until(working, "the question is worked on")
        server.send_signal(signal.SIGSTOP)

    threading.Thread(target=fall_silent).start()
    ran = run("query", "Mara sleep", "--json")
    assert ran.record["degraded"][0].startswith(COLD + "it does not react")
    assert ran.record["hits"]


def test_a_server_stuck_in_native_code_ends_itself_and_the_next_is_another(runtime, run, monkeypatch):
    """It holds Python's lock: neither its time limit nor a client that leaves reaches it."""
    monkeypatch.setenv("TEST_HUNG", "1.5")
    process = launch()
    try:
        assert ask("support group")
        assert run("query", "Mara stuck", "--json").record["hits"], "it has an answer of its own"
        assert process.wait(HANG) == 1
        assert place.holder(spot().lock) is None
    finally:
        finish(process)


def test_a_sign_of_life_is_enough(runtime: Path, chats: Path, run: Run, only_warm: None, monkeypatch):
    monkeypatch.setattr(client, "SILENCE", 3.0)
    monkeypatch.setenv("TEST_SLEEP", "4")  # longer than anybody waits in silence
    monkeypatch.setenv("TEST_ALIVE", "0.05")
    process = launch()
    assert run("query", "Mara sleep", "--json").record["degraded"] == []
    finish(process)


@pytest.mark.parametrize(
    ("question", "why"), [("Mara die", "it broke off"), ("Mara boom", "it failed: ZeroDivisionError: oh")]
)
def test_a_server_that_fails_at_work(server, run: Run, question: str, why: str):
    ran = run("query", question, "--json")
    assert (ran.code, ran.record["degraded"][0].startswith(COLD + why)) == (0, True)


def test_a_busy_server(server: subprocess.Popen[bytes], run: Run):
    waiting = [socket.socket(socket.AF_UNIX) for _ in range(8)]
    for connection in waiting:
        connection.connect(str(spot().socket))
    assert run("query", QUESTION, "--json").record["degraded"] == [COLD + "it is busy with 8 other questions"]
    for connection in waiting:
        connection.close()
    until(lambda: not run("query", QUESTION, "--json").record["degraded"], "it is free again")


def test_the_time_limit_holds_and_frees_the_server(server, run: Run, only_warm: None):
    ran = run("query", "Mara sleep", "--timeout", ".5", "--json")
    assert (ran.code, ran.record["error"]["kind"]) == (2, "timeout")
    assert ran.record["error"]["message"] == "no answer within 0.5 s"
    assert run("query", QUESTION).code == 0


def test_ctrl_c_ends_the_question_not_the_server(server, chats: Path, run: Run, only_warm: None):
    command = [sys.executable, "-m", "smartsearch", "query", "Mara sleep", "--daemon", "always"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=chats, stdout=pipe, stderr=pipe) as process:
        until(working, "the question is worked on")
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=HANG) == (b"", b"")
    assert process.returncode == 130
    assert run("query", QUESTION).code == 0


@pytest.mark.parametrize("options", [("--idle", ".3"), ()])
def test_a_server_ends_when_idle_or_told_to_and_leaves_no_socket(runtime: Path, options: tuple[str, ...]):
    process = launch(*options)
    if not options:
        process.terminate()
    assert process.wait(HANG) == 0
    assert [path.suffix for path in (runtime / "smartsearch").iterdir()] == [".lock"]
    finish(process)


def test_a_second_server_says_that_there_is_one_and_it_is_private(
    server: subprocess.Popen[bytes], runtime, run
):
    paths = [runtime / "smartsearch", spot().socket, spot().lock]
    assert [oct(path.stat().st_mode & 0o777) for path in paths] == ["0o700", "0o600", "0o600"]
    ran = run("serve")
    assert (ran.code, f"runs already, pid {server.pid}" in ran.err) == (2, True)
    row = json.loads(run("serve", "--status", "--json").out)["servers"][0]
    assert (row["pid"], row["state"], row["served"], row["rss_bytes"] > 1e6) == (server.pid, "ready", 0, True)
    assert run("serve", "--stop") == Ran(0, "", f"smartsearch: ended pid {server.pid}\n")
    assert run("serve", "--stop") == Ran(1, "", "smartsearch: no warm process runs\n")
    assert run("serve", "--status").code == 1


def fake_server(path: Path, *sent: bytes) -> threading.Thread:
    """What listens at `path` and answers one client with these frames."""
    listener = socket.socket(socket.AF_UNIX)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    listener.bind(str(path))
    listener.listen()

    def serve() -> None:
        connection, _ = listener.accept()
        with listener, connection:
            for number, frame in enumerate(sent):
                if number == 1:
                    wire.hear(connection, 1 << 20)
                connection.sendall((b"" if frame[:3] == b"raw" else len(frame).to_bytes(8, "big")) + frame)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    return thread


VERSION = {"protocol": client.wire.PROTOCOL, "version": client.smartsearch.__version__}
HELLO, YES = (json.dumps({"state": state, **VERSION}).encode() for state in ("ready", "accepted"))


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        ([b'{"state": "ready", "protocol": 2, "version": "0.0.9"}'], "it is of version '0.0.9'"),
        ([b"no json"], "what it said makes no sense"),
        ([b"raw but no frame"], "it broke off: "),
        ([HELLO], "it broke off: "),
        ([HELLO, HELLO], "it said nothing of use"),
        ([HELLO, YES], "it broke off: "),
        ([HELLO, YES, pickle.dumps("an answer")], "what it said makes no sense"),
        ([HELLO, YES, b'{"state": "answer"}'], "it said nothing of use"),
        ([HELLO, YES, b"[" * 100_000], "what it said makes no sense"),
    ],
)
def test_a_server_that_makes_no_sense(runtime: Path, run: Run, sent: list[bytes], why: str):
    fake_server(spot().socket, *sent)
    ran = run("query", QUESTION, "--json")
    assert (ran.code, ran.record["degraded"][0][: len(COLD + why)]) == (0, COLD + why)


def test_standard_input_is_whole_though_the_server_fails(runtime: Path, run: Run, monkeypatch):
    fake_server(spot().socket, HELLO, YES)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"Zoe: the support group\nMax: thanks\n")))
    assert run("query", QUESTION, "-").out.startswith("-:1:Zoe: the support")


def test_longer_standard_input_stays_here(server, run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(wire, "PIPED_BYTES", 10)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"Zoe: the support group\nMax: thanks\n")))
    ran = run("query", QUESTION, "-")
    assert (ran.out.startswith("-:1:Zoe: the support"), "nothing says 'Mara'" in ran.err) == (True, True)


def test_always_starts_one_and_asks_it(runtime: Path, run: Run, only_warm: None, monkeypatch):
    monkeypatch.setattr(client, "PROGRAM", (sys.executable, str(FAKES)))
    monkeypatch.setenv("SMARTSEARCH_DAEMON", "always")
    assert [run("query", QUESTION).code, run("query", QUESTION).code] == [0, 0]
    row = json.loads(run("serve", "--status", "--json").out)["servers"][0]
    assert row["served"] == 2
    assert "ready" in spot().log.read_text(encoding="utf-8")
    assert run("serve", "--stop").code == 0


def test_two_that_start_one_at_once_share_it(runtime: Path, chats: Path):
    command = [sys.executable, str(FAKES), "query", QUESTION, "--json", "--daemon", "always"]
    both = [subprocess.Popen(command, cwd=chats, stdout=subprocess.PIPE) for _ in range(2)]
    records = [json.loads(process.communicate(timeout=HANG)[0]) for process in both]
    assert [record["degraded"] for record in records] == [[], []]
    about = place.holder(spot().lock)
    assert (client.status(spot().socket) or {})["served"] == 2
    os.kill(about["pid"], signal.SIGKILL)


def test_one_that_cannot_be_started_is_told_with_its_reason(runtime: Path, run: Run, monkeypatch):
    program = "import sys; sys.exit('no room on the disk')"
    monkeypatch.setattr(client, "PROGRAM", (sys.executable, "-c", program))
    ran = run("query", QUESTION, "--daemon", "always", "--json")
    assert ran.record["degraded"] == [COLD + "it did not start: no room on the disk"]


def test_a_full_disk(runtime: Path, chats: Path):
    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    command = [sys.executable, str(FAKES), "query", QUESTION, "--json", "--daemon", "always"]
    ran = subprocess.run(command, cwd=chats, capture_output=True, timeout=HANG, check=True, preexec_fn=full)
    record = json.loads(ran.stdout)
    assert record["hits"]
    assert record["degraded"][0].startswith(COLD + "it did not start")


def test_a_place_where_it_cannot_be_is_told_to_those_who_want_it(runtime: Path, run: Run, monkeypatch):
    (runtime / "smartsearch").symlink_to("/tmp")
    assert "only you can use" in run("query", QUESTION, "--json").record["degraded"][0]
    assert run("serve").code == 2
    deep = runtime / ("x" * 100)
    deep.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    assert run("query", QUESTION).err == ""
    assert "the limit is 103" in run("query", QUESTION, "--daemon", "always").err
    assert "the limit is 103" in run("serve").err
    monkeypatch.setattr(place, "supported", lambda: False)
    assert run("query", QUESTION).err == ""
    assert "no Unix sockets" in run("query", QUESTION, "--daemon", "always").err
    assert (run("serve").code, run("serve", "--status").code) == (2, 2)


@pytest.mark.models
def test_the_shipped_models_answer_the_same_through_it(runtime: Path, tmp_path: Path):
    command = [sys.executable, "-m", "smartsearch"]
    process = launch(program=tuple(command))
    options = ["query", "Where is Giacomo's workshop?", str(ROOT / "docs" / "samples"), "--json", "--explain"]

    def answer(daemon: str) -> str:
        asked = [*command, *options, "--daemon", daemon]
        ran = subprocess.run(asked, cwd=tmp_path, capture_output=True, timeout=HANG, check=True)
        return bare(Ran(0, ran.stdout.decode(), ran.stderr.decode()))

    assert answer("auto") == answer("never")
    assert (client.status(spot().socket) or {})["served"] == 1
    finish(process)


def test_a_server_whose_folder_went_while_it_started_ends(chats: Path, tmp_path: Path):
    """Else it would listen in the folder of last resort, with a test's models, and answer real questions."""
    env = os.environ | {place.WANTED: "/nowhere/0123456789ab.sock", "TMPDIR": str(tmp_path)}
    command = [sys.executable, str(FAKES), "serve", "--idle", "5"]
    ran = subprocess.run(command, cwd=chats, env=env, capture_output=True, text=True, timeout=HANG)
    assert ran.returncode == 2
    assert "/nowhere/0123456789ab.sock cannot be made any more" in ran.stderr
