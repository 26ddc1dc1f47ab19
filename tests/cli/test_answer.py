"""`smartsearch answer` and `--redact` in process and as a process, against a real server on this machine."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from smartsearch.runtime import extras
from tests.cli.conftest import AWAY, QUESTION, Ran, Run, check_golden
from tests.cli.test_process import FAKES, environment, needs_terminal, read
from tests.llm_server import ENDED, LLMServer, events, hangs, piece, says, status, streams, tells
from tests.waiting import HANG

KEY = "sk-very-secret-93"
REPLY = "Mara went there on 2024-05-07 [1]."
SAID = "chat.txt:1:[2024-05-08] Mara: I went to the support group yesterday."


@pytest.fixture
def server(running: LLMServer, monkeypatch: pytest.MonkeyPatch) -> LLMServer:
    return running.named(monkeypatch, lambda body: REPLY)


def ask(run: Run, *options: str) -> Ran:
    return run("answer", QUESTION, "chat.txt", "-n2", *options)


def test_the_reply_and_the_places_it_cites(run: Run, server: LLMServer):
    ran = ask(run)
    assert (ran.code, ran.out) == (0, f"{REPLY}\n\n[1] {SAID}\n")
    sends, warning = ran.err.splitlines()
    # Two turns of nine words each, as the budget counts them.
    told = f"sends 2 turns (18 words) of 1 file to this machine: {server.url} (model tiny)"
    assert sends == f"smartsearch: {told}"
    assert "the server counted 10 tokens where about" in warning


def test_what_is_sent_is_what_the_prompt_shows(run: Run, server: LLMServer):
    shown = ask(run, "--show-prompt", "--now", "2024-06-01")
    assert server.requests == []
    check_golden("answer-prompt.txt", shown.out)
    ask(run, "--now", "2024-06-01")
    [request] = server.requests
    for message in request["messages"]:
        assert f"=== {message['role']} ===\n{message['content']}\n" in shown.out
    assert (request["model"], request["max_tokens"], request["temperature"]) == ("tiny", 2048, 0.0)


def test_the_prompt_needs_no_server_and_no_package(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    ran = ask(run, "--show-prompt", "--json")
    assert [message["role"] for message in ran.record["messages"]] == ["system", "user"]
    places = [(turn["n"], turn["path"], turn["line"]) for turn in ran.record["turns"]]
    assert places == [(1, "chat.txt", 1), (2, "chat.txt", 2)]


def test_json(run: Run, server: LLMServer):
    ran = ask(run, "--json")
    record = ran.record
    result = run("query", QUESTION, "chat.txt", "-n2", "--json").record
    for one in (record["result"], result):
        one.pop("timing_ms")
    assert record.pop("result") == result
    assert record.pop("tool_version")
    cited = {
        **{"n": 1, "path": "chat.txt", "line": 1, "pointer": "", "conversation": "chat", "session": ""},
        **{"turn": "", "speaker": "Mara", "time": "2024-05-08T13:56:00"},
        "text": "I went to the support group yesterday.",
    }
    assert record == {
        **{"schema_version": 1, "answer": REPLY, "finish": "stop", "citations": [cited]},
        **{"unknown_citations": [], "model": "tiny-2024", "endpoint": server.url},
        "usage": {"prompt_tokens": 10, "completion_tokens": 2, "estimated": False},
        "sent": {"turns": 2, "words": 18, "files": 1, "tokens": record["sent"]["tokens"]},
    }
    record = ask(run, "-n1", "-C1", "--json").record  # turns around hits are sent too
    assert (record["sent"]["turns"], len(record["result"]["hits"][0]["context"]["after"])) == (2, 1)
    assert "Tell me more!" in server.requests[-1]["messages"][1]["content"]


@pytest.mark.parametrize(
    ("reply", "said", "unknown"),
    [
        ("It is [7] or [1]", "the reply cites [7]: no turn that was sent has that number", [7]),
        ("I do not know.", "the reply cites no turn", []),
    ],
)
def test_citations_of_nothing_are_told(run: Run, server: LLMServer, reply, said, unknown: list[int]):
    server.script = [says(reply), says(reply)]
    ran = ask(run)
    assert ran.code == 0
    assert f"warning: {said}" in ran.err
    assert ran.out.startswith(f"{reply}\n")
    assert ask(run, "--json").record["unknown_citations"] == unknown


def test_nothing_found_asks_no_model(run: Run, server: LLMServer):
    ran = run("answer", "zebra", "--semantic", "off")
    assert (ran.code, ran.out) == (1, "")
    assert "no model was asked" in ran.err
    assert server.requests == []
    record = run("answer", "zebra", "--semantic", "off", "--json").record
    assert (record["answer"], record["sent"]["turns"], record["result"]["hits"]) == ("", 0, [])
    assert run("answer", "zebra", "--semantic", "off", "--show-prompt").code == 1


def test_a_reply_cannot_drive_the_terminal(run: Run, server: LLMServer):
    server.script = [tells("so \x1b[2J", "\u202egone [1]\r\n")]
    assert ask(run).out.startswith("so \\x1b[2Jgone [1]\n\n[1] chat.txt:1:")


@pytest.mark.parametrize(
    ("fault", "kind", "said"),
    [
        (status(401, f"wrong key {KEY}"), "llm_refused", "refused the key (401)"),
        (status(404), "llm_not_found", "no such address or model 'tiny'"),
        (status(429, Retry_After="3600"), "llm_busy", "asks to wait 3600 seconds"),
        (status(400, "too long"), "llm_request", "too long"),
        (streams(*events(piece(), ENDED)), "llm_reply", "empty reply"),
        (hangs, "llm_unreachable", "no answer in 0.3 seconds"),
    ],
)
def test_what_the_server_refuses(run: Run, server: LLMServer, fault, kind: str, said: str):
    server.script = [fault, fault]
    ran = ask(run, "--wait", "0.3")
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert KEY not in ran.err
    failed = ask(run, "--wait", "0.3", "--json")
    assert (failed.code, failed.record["error"]["kind"]) == (2, kind)
    assert len(server.requests) == 2


def test_a_stream_that_breaks_in_the_middle_and_a_reply_that_was_cut_say_so(run: Run, server: LLMServer):
    server.script = [streams(*events(piece("Mara "), piece("went")), whole=False)]
    ran = ask(run)
    assert (ran.code, ran.out) == (2, "Mara went\n")
    assert "after 2 words of the reply" in ran.err
    server.script = [streams(*events(piece("Mara went [1]"), piece(finish_reason="length")))]
    ran = ask(run, "--max-tokens", "5")
    assert ran.code == 0
    assert "cut at 5 tokens: a larger --max-tokens" in ran.err


def test_without_an_endpoint_or_the_package_it_says_how_to_have_one(run: Run, running, monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    ran = ask(run)
    assert (ran.code, ran.out) == (2, "")
    for told in ("SMARTSEARCH_LLM_MODEL", "_KEY", "Ollama", "llama.cpp", "vLLM", "cloud", "--show-prompt"):
        assert told in ran.err
    assert ask(run, "--json").record["error"]["kind"] == "llm_missing"
    running.named(monkeypatch, lambda body: REPLY)
    monkeypatch.setitem(sys.modules, "openai", None)
    ran = ask(run, "--json")
    assert (ran.code, ran.record["error"]["kind"]) == (2, "llm_missing")
    assert ran.record["error"]["hint"].startswith(extras.command("llm"))


@pytest.mark.parametrize(
    ("options", "said"),
    [(["--now", "someday"], "--now"), (["--max-tokens", "0"], "--max-tokens"), (["--wait", "0"], "--wait")],
)
def test_options_that_make_no_sense(run: Run, server: LLMServer, options: list[str], said: str):
    ran = ask(run, *options)
    assert (ran.code, server.requests) == (2, [])
    assert said in ran.err


def test_nothing_leaves_this_machine_unasked(run: Run, away: LLMServer):
    ran = ask(run)
    assert (ran.code, ran.out, away.requests) == (2, "", [])
    for told in ("not on this machine", "--yes", "SMARTSEARCH_TRUSTED_HOSTS=api.example.com"):
        assert told in ran.err
    assert ask(run, "--json").record["error"]["kind"] == "not_sent"


def test_yes_and_a_trusted_host_agree_to_it(run: Run, away: LLMServer, monkeypatch, tmp_path: Path):
    ran = ask(run, "--yes")
    assert (ran.code, len(away.requests), away.keys) == (0, 1, [f"Bearer {KEY}"])
    assert "sends 2 turns (18 words) of 1 file to http://api.example.com/v1 (model tiny)" in ran.err
    monkeypatch.setenv("SMARTSEARCH_TRUSTED_HOSTS", "gpu-box,API.example.com")
    assert ask(run).code == 0
    monkeypatch.setenv("SMARTSEARCH_TRUSTED_HOSTS", "example.com")
    assert ask(run).code == 2
    monkeypatch.delenv("SMARTSEARCH_TRUSTED_HOSTS")
    user = tmp_path / "no-config" / "smartsearch" / "config.toml"
    user.parent.mkdir(parents=True)
    user.write_text('trusted_hosts = ["api.example.com"]', encoding="utf-8")
    assert ask(run).code == 0
    assert len(away.requests) == 3


@pytest.mark.parametrize(
    "line", ['trusted_hosts = ["api.example.com"]', 'llm_base_url = "http://api.example.com/v1"']
)
def test_a_project_file_decides_nothing_of_it(run: Run, away: LLMServer, chats: Path, line: str):
    (chats / ".smartsearch.toml").write_text(line, encoding="utf-8")
    ran = ask(run)
    assert (ran.code, away.requests) == (2, [])
    assert "nothing was sent" in ran.err


SECRETS = """\
[2024-05-08 13:56] Mara: The wifi password is Blaubeere42 for the support group.
[2024-05-08 13:57] Ilya: support card 4111 1111 1111 1111
[2024-05-08 13:58] Mara: Blaubeere42 Zimmer
password: Sommer
"""
MASKED = ("Blaubeere42 for", "4111", "Sommer")


@pytest.fixture
def secrets(chats: Path) -> Path:
    (chats / "chat.txt").write_text(SECRETS, encoding="utf-8")
    return chats


def test_secrets_are_told_of_before_they_are_sent(run: Run, away: LLMServer, secrets: Path):
    assert "seem to be secrets among it (password, card number): --redact" in ask(run, "--yes").err
    ran = ask(run, "--yes", "--redact")
    assert "seem to be secrets" not in ran.err
    sent = json.dumps(away.requests[1])
    assert "4111" in json.dumps(away.requests[0])
    assert not [secret for secret in MASKED if secret in sent]
    assert "The wifi password is [redacted: password] for" in sent
    found = run("query", "Sommer", "chat.txt", "--redact", "-n1").out  # the search sees what is masked
    assert found.endswith("password: [redacted: password]\n")


def process(server: LLMServer, folder: Path, *options: str, **streams: int) -> subprocess.Popen[bytes]:
    reached = {"SMARTSEARCH_LLM_BASE_URL": server.url, "SMARTSEARCH_LLM_MODEL": "tiny"}
    if "away" in options:
        reached = {**AWAY, "http_proxy": server.url.removesuffix("/v1"), "no_proxy": ""}
    env = environment(**reached, XDG_CONFIG_HOME=str(folder), XDG_RUNTIME_DIR=str(folder), TERM="xterm")
    given = [option for option in options if option != "away"]
    command = [sys.executable, str(FAKES), "answer", QUESTION, "chat.txt", "-n2", *given]
    return subprocess.Popen(command, cwd=folder, env=env, **streams)


@pytest.mark.process
def test_ctrl_c_in_the_middle_of_a_reply(server: LLMServer, chats: Path):
    server.script = [streams(*events(piece("Mara went")), after=lambda sent: server.released.wait(HANG))]
    pipe = subprocess.PIPE
    ran = process(server, chats, stdout=pipe, stderr=pipe)
    assert ran.stdout is not None
    assert ran.stdout.read(9) == b"Mara went"
    ran.send_signal(signal.SIGINT)
    out, err = ran.communicate(timeout=HANG)
    assert (ran.returncode, out) == (130, b"\n")
    assert b"Traceback" not in err


@pytest.mark.process
def test_a_reader_that_goes_away_ends_it_quietly(server: LLMServer, chats: Path):
    """The reply has no end: who read it whole would never end."""
    server.script = [streams(*events(piece("word ")), again=True, after=lambda sent: time.sleep(0.02))]
    reader, writer = os.pipe()
    ran = process(server, chats, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert os.read(reader, 4) == b"word"
    os.close(reader)
    _, err = ran.communicate(timeout=HANG)
    assert ran.returncode == 0
    assert err.count(b"\n") == 1


@pytest.mark.process
@needs_terminal
@pytest.mark.parametrize(("typed", "code", "sent"), [(b"y\n", 0, 1), (b"\n", 2, 0), (b"\x04", 2, 0)])
def test_a_person_is_asked_before_anything_leaves(server: LLMServer, chats: Path, typed: bytes, code, sent):
    main, side = os.openpty()
    ran = process(server, chats, "away", stdin=side, stdout=side, stderr=side)
    os.close(side)
    shown = b""
    while b"send it? [y/N]" not in shown:
        shown += os.read(main, 4096)
    said = b" ".join(shown.split())  # a terminal's lines end between words
    assert b"sends 2 turns (18 words) of 1 file to http://api.example.com/v1 (model tiny)" in said
    assert server.requests == []
    os.write(main, typed)
    shown += b"".join(iter(lambda: read(main), b""))
    assert (ran.wait(timeout=HANG), len(server.requests)) == (code, sent)
    assert (REPLY.encode() in shown) is bool(sent)
    assert (b"nothing was sent" in shown) is not bool(sent)
    os.close(main)


def test_redact_can_be_set_for_good_but_not_by_a_folder(run: Run, secrets: Path, monkeypatch):
    monkeypatch.setenv("SMARTSEARCH_REDACT", "yes")
    assert "Blaubeere42" not in run("show", "chat.txt:1").out
    assert "Blaubeere42" not in run("query", "wifi", "chat.txt").out
    assert "Blaubeere42" in run("show", "chat.txt:1", "--no-redact").out
    (secrets / ".smartsearch.toml").write_text("redact = false\n", encoding="utf-8")
    assert "may not set 'redact'" in run("query", "wifi", "chat.txt").err
