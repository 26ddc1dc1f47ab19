"""`--llm` through the commands: what is told, who has to agree, what it took; a server on this machine."""

import json
from contextlib import nullcontext
from pathlib import Path

import pytest

from smartsearch.output import stream
from tests import scribe
from tests.cli.conftest import AWAY, Ran, Run
from tests.llm_server import LLMServer, said, says, status

ASKS = ("--system", "scribe", "--llm")
QUESTION = "What is the flatmate's dog called?"


@pytest.fixture(autouse=True)
def server(running: LLMServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> LLMServer:
    scribe.register(monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return running.named(monkeypatch, scribe.replies)


def ask(run: Run, *options: str) -> Ran:
    return run("query", QUESTION, "chat.txt", *ASKS, "--json", *options)


def test_what_will_be_sent_is_told_and_what_was_taken_is_told_apart(run: Run, server: LLMServer):
    ran = ask(run)
    to = f"this machine: {server.url} (model tiny)"
    sends = "sends about 4 calls, 100 tokens (4 turns), then 1 call, 55 tokens a question, of 1 file"
    assert ran.err.splitlines()[0] == f"smartsearch: {sends} to {to}"
    record = ran.record
    assert record["system"] == "scribe"
    assert "Oscar" in record["hits"][0]["text"]
    assert record["ingest_cost"] == {"model_calls": 4, "tokens_in": 40, "tokens_out": 8}
    assert record["cost"] == {"model_calls": 1, "tokens_in": 10, "tokens_out": 2}
    again = ask(run)
    assert again.err.splitlines()[0] == f"smartsearch: sends about 1 call, 55 tokens, of 1 file to {to}"
    assert again.record["ingest_cost"]["model_calls"] == 0
    assert len(server.requests) == 5  # the question's reply is kept
    assert again.record["cost"] == record["cost"]
    explained = run("query", QUESTION, "chat.txt", *ASKS, "--explain").out
    assert "#   question  calls 1  tokens in 10  out 2" in explained


def test_dollars_are_told_of_the_memory_and_of_a_question_apart(run: Run, server: LLMServer, monkeypatch):
    monkeypatch.setenv("SMARTSEARCH_LLM_PRICE", "1000/10000")
    told = "sends about 4 calls, 100 tokens (4 turns), $0.28, then 1 call, 55 tokens, $0.10 a question"
    assert told in ask(run).err
    monkeypatch.setenv("SMARTSEARCH_LLM_PRICE", "cheap")
    ran = ask(run)
    assert (ran.code, len(server.requests)) == (2, 5)
    assert "SMARTSEARCH_LLM_PRICE is 'cheap'" in ran.record["error"]["message"]


def test_what_is_left_of_it_is_told_meanwhile(run: Run, server: LLMServer, monkeypatch: pytest.MonkeyPatch):
    told = []
    monkeypatch.setattr(stream, "counted", lambda title: nullcontext(lambda *said: told.append(said)))
    assert run("memory", "build", "chat.txt", *ASKS).code == 0
    assert [said[:2] for said in told] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    left = [said[2].partition(" s left, ")[2] for said in told]
    assert (left[0], left[-1]) == ("about 3 calls, 88 tokens", "about 0 calls, 52 tokens")


def test_a_memory_is_built_ahead_and_its_calls_are_in_its_status(run: Run, server: LLMServer, chats: Path):
    built = run("memory", "build", "chat.txt", *ASKS)
    assert "sends about 4 calls, 100 tokens (4 turns), of 1 file" in built.err
    (chats / "chat.txt").write_text((chats / "chat.txt").read_text() + "[2024-05-11 09:00] Mara: Bye.\n")
    assert run("memory", "build", "chat.txt", *ASKS).code == 0
    [row] = run("memory", "status", "--json").record["memories"]
    assert (row["notes"], row["model"], row["model_calls"]) == (5, "tiny", 5)
    assert (row["tokens_in"], row["tokens_out"]) == (50, 10)
    assert "sends" not in run("memory", "build", "chat.txt", *ASKS).err
    assert len(server.requests) == 5
    words = [row["word"] for row in run("memory", "show", "chat.txt", *ASKS, "--json").record["memory"]]
    assert words == ["yesterday.", "more!", "flatmate", "lovely", "Bye."]
    gone = run("memory", "remove", "chat.txt", "--system", "scribe", "--json")
    assert gone.record["memories"][0]["notes"] == 5
    assert "replies stay in" in gone.err


@pytest.mark.parametrize(
    "command",
    [
        ("query", QUESTION, "chat.txt"),
        ("answer", QUESTION, "chat.txt"),
        ("batch", "q.txt", "chat.txt"),
        ("batch", "q.txt", "chat.txt", "--out", "run/"),
        ("memory", "build", "chat.txt"),
        ("memory", "show", "chat.txt"),
        ("mcp", "chat.txt"),
    ],
)
def test_nothing_leaves_this_machine_that_nobody_agreed_to(run: Run, away: LLMServer, chats: Path, command):
    (chats / "q.txt").write_text(QUESTION)
    ran = run(*command, *ASKS)
    assert (ran.code, away.requests) == (2, [])
    for told in ("api.example.com", "not on this machine", "SMARTSEARCH_TRUSTED_HOSTS=api.example.com"):
        assert told in ran.err + ran.out


@pytest.mark.parametrize("said", [False, True])
def test_a_person_is_asked_once_it_is_known_how_much(run: Run, away: LLMServer, monkeypatch, said: bool):
    asked = []
    monkeypatch.setattr(stream, "can_ask", lambda: True)
    monkeypatch.setattr(stream, "confirm", lambda question: bool(asked.append(len(away.requests))) or said)
    ran = ask(run)
    assert asked == [0]
    assert "sends about 4 calls, 100 tokens" in ran.err
    assert (ran.code, len(away.requests)) == ((0, 5) if said else (2, 0))


def test_a_model_of_the_memory_s_own_is_asked_at_its_server_and_each_server_has_to_be_agreed_to(
    run: Run, away: LLMServer, monkeypatch: pytest.MonkeyPatch
):
    """The server stands in for two others: `model` says which was meant."""
    away.reply = lambda body: says("Oscar [1]") if body["model"] == "tiny" else scribe.replies(body)
    monkeypatch.setenv("SMARTSEARCH_MEMORY_BASE_URL", "http://memory.example.com/v1")
    monkeypatch.setenv("SMARTSEARCH_MEMORY_KEY", "sk-light")
    asked = ("answer", QUESTION, "chat.txt", *ASKS, "--memory-llm", "light")
    for trusted, refused in (
        ("api.example.com", "http://memory.example.com/v1 is not"),
        ("memory.example.com", "http://api.example.com/v1 is not"),
        ("", "http://memory.example.com/v1 and http://api.example.com/v1 are not"),
    ):
        monkeypatch.setenv("SMARTSEARCH_TRUSTED_HOSTS", trusted)
        ran = run(*asked)
        assert (ran.code, away.requests) == (2, [])
        assert f"{refused} on this machine" in ran.err
    assert "SMARTSEARCH_TRUSTED_HOSTS=memory.example.com,api.example.com" in ran.err
    ran = run(*asked, "--yes")
    assert ran.code == 0, ran.err
    assert "of 1 file to http://memory.example.com/v1 (model light)" in ran.err
    assert "of 1 file to http://api.example.com/v1 (model tiny)" in ran.err
    sent = [(body["model"], key) for body, key in zip(away.requests, away.keys, strict=True)]
    assert sent == [("light", "Bearer sk-light")] * 5 + [("tiny", f"Bearer {AWAY['SMARTSEARCH_LLM_KEY']}")]


@pytest.mark.parametrize("command", ["batch", "run", "memory"])
def test_yes_and_a_trusted_host_agree(run: Run, away: LLMServer, chats: Path, monkeypatch, command: str):
    (chats / "q.txt").write_text(QUESTION)
    asked = {
        "batch": ("batch", "q.txt", "chat.txt", *ASKS),
        "run": ("query", QUESTION, "chat.txt", *ASKS),
        "memory": ("memory", "build", "chat.txt", *ASKS),
    }[command]
    assert run(*asked, "--yes").code == 0
    sent = len(away.requests)
    assert sent >= 4
    assert set(away.keys) == {f"Bearer {AWAY['SMARTSEARCH_LLM_KEY']}"}
    monkeypatch.setenv("SMARTSEARCH_TRUSTED_HOSTS", "api.example.com")
    assert run(*asked).code == 0
    assert len(away.requests) == sent


def test_secrets_are_told_of_and_masked_before_they_are_sent(run: Run, away: LLMServer, chats: Path):
    with (chats / "chat.txt").open("a") as file:
        file.write("[2024-05-11 09:00] Mara: my password is hunter2-Kolibri\n")
    assert "seem to be secrets among it (password): --redact" in ask(run, "--yes").err
    assert any("hunter2" in said(body) for body in away.requests)
    away.reset()
    ran = ask(run, "--yes", "--redact")
    assert "secrets" not in ran.err
    assert not any("hunter2" in said(body) for body in away.requests)


def test_a_system_without_a_language_model_takes_none(run: Run, server: LLMServer, monkeypatch):
    ran = run("query", QUESTION, "chat.txt", "--llm", "--system", "bm25")
    assert (ran.code, "bm25 asks no language model" in ran.err) == (2, True)
    assert "--system" in ran.err
    assert "scribe" in ran.err
    monkeypatch.delenv("SMARTSEARCH_LLM_MODEL")
    monkeypatch.delenv("SMARTSEARCH_LLM_BASE_URL")
    missing = ask(run)
    assert (missing.code, missing.record["error"]["kind"]) == (2, "llm_missing")
    assert "SMARTSEARCH_LLM_MODEL" in missing.err + missing.out


def test_the_warm_process_asks_none(run: Run, server: LLMServer, monkeypatch):
    ran = ask(run, "--daemon", "always")
    assert (ran.code, ran.record["degraded"], ran.record["system"]) == (0, [], "scribe")
    monkeypatch.setenv("SMARTSEARCH_LLM", "1")
    refused = run("serve")
    assert (refused.code, "asks no language model" in refused.err) == (2, True)


def test_what_would_be_sent_is_not_shown_where_finding_it_sends(run: Run, server: LLMServer):
    ran = run("answer", QUESTION, "chat.txt", *ASKS, "--show-prompt")
    assert (ran.code, server.requests) == (2, [])
    assert "--show-prompt sends nothing, and --llm does" in ran.err


def test_a_project_file_may_not_turn_it_on(run: Run, server: LLMServer, chats: Path):
    (chats / ".smartsearch.toml").write_text("llm = true")
    ran = run("query", QUESTION, "chat.txt")
    assert (ran.code, server.requests, "may not set 'llm'" in ran.err) == (0, [], True)


def test_a_batch_tells_once_and_offline_it_is_replayed(run: Run, server: LLMServer, chats: Path, monkeypatch):
    (chats / "q.txt").write_text(f"{QUESTION}\nWho went yesterday?\n")
    first = run("batch", "q.txt", "chat.txt", *ASKS)
    assert first.err.count("sends about") == 1
    assert "then 1 call, 55 tokens a question" in first.err
    assert len(server.requests) == 6
    server.reset()
    assert run("memory", "remove", "chat.txt", "--system", "scribe").code == 0
    monkeypatch.setenv("SMARTSEARCH_LLM_OFFLINE", "1")
    again = run("batch", "q.txt", "chat.txt", *ASKS)
    assert server.requests == []
    hits = [[json.loads(line)["hits"] for line in ran.out.splitlines()] for ran in (first, again)]
    assert hits[0] == hits[1]
    unknown = run("query", "What else?", "chat.txt", *ASKS, "--json")
    assert unknown.record["error"]["kind"] == "llm_offline"


def test_bad_replies_are_survived_told_and_counted_and_a_key_that_is_refused_ends_it(
    run: Run, server: LLMServer
):
    def rule(body):
        if "lovely" in said(body) and "Note it" in said(body):
            return "no JSON here"
        return scribe.replies(body)

    server.reply = rule
    ran = ask(run)
    assert ran.record["ingest_cost"]["model_calls"] == 3 + 5
    assert ran.code == 0
    server.reply = lambda body: status(401)
    ran = ask(run, "--no-cache")
    assert (ran.code, ran.record["error"]["kind"]) == (2, "llm_refused")


def findings(run: Run, *options: str) -> list[tuple[str, str]]:
    record = run("doctor", "--no-search", "--json", *options).record
    return [(f["state"], f["said"]) for f in record["findings"] if f["area"] == "llm"]


def test_doctor_asks_what_the_server_can(run: Run, server: LLMServer):
    server.models = [{"id": "tiny", "max_model_len": 8192}]
    server.reply = lambda body: says('{"colour": "red"}', shares=[[0.9]])
    assert findings(run) == [
        ("ok", f"{server.url} answers as tiny-2024, reads 8,192 tokens"),
        ("ok", "it gives JSON by schema"),
        ("ok", "it gives log-probabilities"),
    ]
    assert not any("support group" in said(body) for body in server.requests)


def test_doctor_tells_what_a_server_cannot(run: Run, server: LLMServer):
    server.models = [{"id": "other", "meta": {"n_ctx_train": 4096}}]
    server.reply = lambda body: status(400, "response_format?") if "response_format" in body else "Red."
    [answers, listed, schema, logprobs] = findings(run)
    assert answers == ("ok", f"{server.url} answers as tiny-2024, reads 4,096 tokens")
    assert listed == ("note", "tiny is not among its models: other")
    assert schema == ("note", "no JSON by schema: JSON is asked for in words, and repaired")
    assert logprobs[0] == "note"
    server.reset().reply = lambda body: says("<think>hm", finish="length")
    assert [state for state, _ in findings(run)] == ["ok", "warning"]
    server.reset().reply = lambda body: status(401)
    [(state, told)] = findings(run)
    assert (state, "refused the key" in told) == ("failure", True)


def test_doctor_leaves_other_machines_alone_unless_told(run: Run, away: LLMServer, monkeypatch):
    [(state, told)] = findings(run)
    assert (state, "was not tried" in told, away.requests) == ("note", True, [])
    monkeypatch.setenv("SMARTSEARCH_MEMORY_LLM", "light")
    monkeypatch.setenv("SMARTSEARCH_MEMORY_BASE_URL", "http://gpu-box/v1")
    servers = [told.split()[0] for _, told in findings(run)]
    assert servers == ["http://api.example.com/v1", "http://gpu-box/v1"]
    monkeypatch.delenv("SMARTSEARCH_MEMORY_BASE_URL")
    assert findings(run, "--yes")[0][0] == "ok"
    assert away.requests
