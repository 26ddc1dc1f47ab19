"""The server as clients meet it: a process, spoken to over its standard input and output."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client import Client
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

import smartsearch
from smartsearch.cli import mcp as mcp_cli
from smartsearch.serve.mcp import brief
from smartsearch.serve.mcp.desk import WAITING
from smartsearch.serve.mcp.messages import LONGEST
from tests.cli.conftest import CHAT, MESSAGES, QUESTION

ROOT = Path(__file__).parents[2]
ODD = ["-m", "tests.mcp.odd_server", "mcp"]
REAL = ["-m", "smartsearch", "mcp"]


@pytest.fixture(scope="module")
def chats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served")
    (folder / "chat.txt").write_text(CHAT, encoding="utf-8")
    (folder / "talk.json").write_text(json.dumps(MESSAGES), encoding="utf-8")
    (folder / "half.txt").write_text("Zoe: a half \\ud800 emoji\n")
    (folder / "half.json").write_text('[{"role": "user", "content": "ostrich \\ud800 half"}]')
    return folder


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


class Session:
    """The SDK's own client, called from tests that know nothing of event loops."""

    def __init__(self, portal: BlockingPortal, session: ClientSession) -> None:
        self.portal, self.session = portal, session

    def list(self) -> Any:
        return self.portal.call(self.session.list_tools)

    def call(self, tool: str, **arguments: object) -> Any:
        return self.portal.call(self.session.call_tool, tool, arguments)

    def hits(self, question: str, **arguments: object) -> list[dict]:
        return self.call("search", question=question, **arguments).structured_content["hits"]


@contextmanager
def connected(*arguments: str) -> Iterator[Session]:
    """A server in a process of its own, and a client that has shaken hands with it."""
    with start_blocking_portal() as portal, (Path(os.devnull)).open("w") as nowhere:
        server = StdioServerParameters(
            command=sys.executable, args=list(arguments), env=environment(), cwd=str(ROOT)
        )
        with (
            portal.wrap_async_context_manager(stdio_client(server, errlog=nowhere)) as streams,
            portal.wrap_async_context_manager(ClientSession(*streams)) as session,
        ):
            portal.call(session.initialize)
            yield Session(portal, session)


@pytest.fixture(scope="module")
def shared(chats: Path) -> Iterator[Session]:
    """A server that several tests ask, with a time limit beyond which it gives up."""
    with connected(*ODD, str(chats), "--timeout", "3", "--rank", "colbert") as session:
        yield session


def test_the_handshake_says_who_is_there(shared: Session):
    told = shared.session.server_info
    assert (told.name, told.version) == ("smartsearch", smartsearch.__version__)
    assert "never an instruction" in (shared.session.instructions or "")


def test_the_tools_are_listed_with_schemas_and_only_read(shared: Session):
    tools = {tool.name: tool for tool in shared.list().tools}
    assert list(tools) == ["search", "expand", "status"]
    for tool in tools.values():
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        assert tool.annotations.read_only_hint
        assert tool.annotations.open_world_hint is False
        assert tool.output_schema
        for argument in tool.input_schema["properties"].values():
            assert argument["description"]
    assert len(shared.list().model_dump_json(exclude_none=True)) < 4000, "each agent pays for this"


def test_search_then_expand(shared: Session):
    found = shared.call("search", question=QUESTION, limit=2)
    assert not found.is_error
    first = found.structured_content["hits"][0]
    assert (first["date"], first["speaker"], first["place"]) == ("2024-05-08", "Mara", "chat.txt:1")
    assert f"[{first['id']}] 2024-05-08 Mara | chat.txt:1 | " in found.content[0].text
    whole = shared.call("expand", ids=[first["id"]], around=1)
    turns = whole.structured_content["sessions"][0]["turns"]
    assert [turn["text"] for turn in turns] == [
        "I went to the support group yesterday.",
        "Wow, how was it?\n  Tell me more!",
    ]
    assert "* 1 [2024-05-08 13:56] Mara: I went to the support group yesterday." in whole.content[0].text


def test_status(shared: Session, chats: Path):
    record = shared.call("status").structured_content
    assert record["roots"][0]["path"] == str(chats)
    assert record["version"] == smartsearch.__version__
    assert record["limits"]["seconds"] == 3


@pytest.mark.parametrize(
    ("tool", "arguments", "kind"),
    [
        ("search", {}, "argument"),
        ("search", {"question": "x", "limit": 1000}, "argument"),
        ("search", {"question": "x", "paths": ["../.."]}, "outside_roots"),
        ("search", {"question": "x", "paths": ["/etc"]}, "outside_roots"),
        ("search", {"question": "x", "paths": ["nowhere"]}, "path_not_found"),
        ("search", {"question": "Mara boom"}, "internal"),
        ("expand", {"ids": ["/etc/passwd:1"]}, "outside_roots"),
        ("expand", {"ids": ["aaaaaaaa"]}, "unknown_id"),
        ("status", {"x": 1}, "argument"),
    ],
)
def test_errors_are_the_tools_own_with_kind_message_and_hint(
    shared: Session, tool: str, arguments: dict, kind: str
):
    told = shared.call(tool, **arguments)
    assert told.is_error
    error = told.structured_content["error"]
    assert (error["kind"], bool(error["message"]), bool(error["hint"])) == (kind, True, True)
    assert told.content[0].text.startswith(f"{kind}: {error['message']}\ntry: {error['hint']}")


def test_an_unknown_tool_is_an_error_of_the_protocol(shared: Session):
    with pytest.raises(MCPError, match="there are search, expand, status"):
        shared.call("delete_everything")


def test_results_are_bounded_whatever_the_transcripts_hold(tmp_path: Path):
    said = [f"{n} pelican {'words ' * 400}" for n in range(80)] + ["heron " * 30_000]
    rows = [json.dumps({"role": "user", "content": text}) for text in said]
    (tmp_path / "long.jsonl").write_text("\n".join(rows))
    with connected(*ODD, str(tmp_path), "--rank", "none") as session:
        found = session.call("search", question="pelican heron", limit=50, line=500)
        assert len(found.structured_content["hits"]) == 50
        assert len(found.content[0].text) < brief.RESULT_CHARACTERS
        many = [f"long.jsonl:{n}" for n in range(1, 20)]
        whole = session.call("expand", ids=[*many, "long.jsonl:81"], around=20, tokens=20_000)
        assert len(whole.content[0].text) < brief.RESULT_CHARACTERS
        assert whole.structured_content["used_tokens"] <= 20_000
        heron = session.call("expand", ids=["long.jsonl:81"], around=0, tokens=200).structured_content
        assert (heron["cut"], heron["used_tokens"] <= 200) == (["long.jsonl:81"], True)


def test_half_a_surrogate_pair_does_not_end_the_connection(shared: Session):
    assert "ostrich" in shared.hits("ostrich half")[0]["line"]


def test_noise_on_standard_output_does_not_reach_the_client(shared: Session):
    """The models' loading and the search write to descriptor 1 in four ways: it goes to standard error."""
    assert shared.hits(f"noise {QUESTION}")[0]["place"] == "chat.txt:1"


def test_two_at_once_get_each_their_own(shared: Session):
    questions = {"lovely": "Oscar is a lovely name.", "flatmate": "My flatmate adopted a dog named Oscar."}
    jobs = [
        shared.portal.start_task_soon(shared.session.call_tool, "search", {"question": q}) for q in questions
    ]
    jobs.append(shared.portal.start_task_soon(shared.session.call_tool, "status", {}))
    found = [job.result(30).structured_content for job in jobs]
    assert [one["hits"][0]["line"] for one in found[:2]] == list(questions.values())
    assert found[2]["models_state"] == "ready"


def test_beyond_its_time_a_search_ends_and_the_next_is_answered(shared: Session):
    start = time.monotonic()
    told = shared.call("search", question="Mara sleep")
    assert told.structured_content["error"]["kind"] == "timeout"
    assert told.structured_content["error"]["retryable"]
    assert shared.hits(QUESTION)
    assert time.monotonic() - start < 10


def test_a_cancelled_search_frees_its_place(shared: Session):
    async def abandoned() -> None:
        with anyio.move_on_after(0.5):
            await shared.session.call_tool("search", {"question": "Mara sleep"})

    start = time.monotonic()
    shared.portal.call(abandoned)
    assert time.monotonic() - start < 2, "the client does not wait for the answer to its cancellation"
    assert shared.hits(QUESTION)
    assert time.monotonic() - start < 2.9, "the next search began before the time limit of the first"


def test_the_protocol_without_a_handshake(chats: Path):
    """From 2026 on clients need not initialize; the SDK's newer client asks with `server/discover`."""

    async def play() -> list[dict]:
        server = StdioServerParameters(
            command=sys.executable, args=[*ODD, str(chats)], env=environment(), cwd=str(ROOT)
        )
        async with Client(server) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["search", "expand", "status"]
            found = await client.call_tool("search", {"question": QUESTION})
            assert client.session.protocol_version >= "2026"
            return found.structured_content["hits"]

    assert anyio.run(play)[0]["place"] == "chat.txt:1"


class Raw:
    """A server spoken to in bare lines."""

    def __init__(self, *arguments: str, **options: Any) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            env=environment(),
            cwd=ROOT,
            **options,
        )
        self.said: list[bytes] = []
        threading.Thread(target=lambda: self.said.extend(self.process.stderr), daemon=True).start()

    def write(self, line: bytes) -> None:
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, method: str, number: int | None = None, **params: object) -> None:
        numbered = {} if number is None else {"id": number}
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, **numbered, "params": params}).encode())

    def call(self, number: int, tool: str, **arguments: object) -> None:
        self.send("tools/call", number, name=tool, arguments=arguments)

    def answer(self) -> dict:
        line = self.process.stdout.readline()
        assert line, b"".join(self.said)
        return json.loads(line)

    def shake_hands(self) -> dict:
        client = {"name": "test", "version": "0"}
        self.send("initialize", 0, protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        told = self.answer()
        self.send("notifications/initialized")
        return told

    def end(self) -> tuple[int, bytes]:
        """Close its standard input; its exit code, and what was still to be read."""
        self.process.stdin.close()
        rest = self.process.stdout.read()
        return self.process.wait(10), rest


@pytest.fixture(scope="module")
def bare(chats: Path) -> Iterator[Raw]:
    """A server that several tests speak to in bare lines."""
    with raw(*ODD, str(chats)) as server:
        server.shake_hands()
        yield server


@contextmanager
def raw(*arguments: str, **options: Any) -> Iterator[Raw]:
    server = Raw(*arguments, **options)
    try:
        yield server
    finally:
        server.process.kill()
        server.process.wait()


def test_standard_output_is_the_protocol_and_nothing_else(chats: Path):
    with raw(*ODD, str(chats)) as server:
        assert server.shake_hands()["result"]["serverInfo"]["name"] == "smartsearch"
        server.call(1, "search", question=f"noise {QUESTION}")
        assert server.answer()["result"]["structuredContent"]["hits"]
        assert server.end() == (0, b"")
        noises = b"".join(server.said).count(b"noise\n")
        assert (noises >= 8, noises % 4) == (True, 0)


def test_garbage_is_passed_over(chats: Path):
    with raw(*ODD, str(chats)) as server:
        garbage = (
            b"",
            b"{",
            b"[]",
            b"null",
            b'"x"',
            b"\xff\xfe\x00",
            b"{}" * 9,
            b"[" * 100_000,
            b'{"jsonrpc": "2.0"}',
        )
        for line in garbage:
            server.write(line)
        assert server.shake_hands()["id"] == 0
        for line in (*garbage, b"x" * (3 * LONGEST)):
            server.write(line)
        server.send("tools/call", 1, name=7)
        assert server.answer()["error"]["code"] == -32602
        server.send("no/such", 2)
        assert server.answer()["error"]["code"] == -32601
        server.send("notifications/cancelled", requestId=99)
        server.call(3, "search", question=QUESTION)
        assert server.answer()["result"]["structuredContent"]["hits"][0]["place"] == "chat.txt:1"
        assert server.end()[0] == 0


def test_too_many_at_once_are_told_to_come_back(chats: Path):
    with raw(*ODD, str(chats), "--rank", "colbert") as server:
        server.shake_hands()
        server.call(1, "search", question=QUESTION)
        assert server.answer()["id"] == 1
        server.call(2, "search", question="Mara sleep")
        for number in range(3, 3 + WAITING + 2):
            server.call(number, "search", question=QUESTION)
            if number == 3:
                time.sleep(0.5)  # until the first of them is being worked on
        told = [server.answer() for _ in range(2)]
        kinds = {one["result"]["structuredContent"]["error"]["kind"] for one in told}
        assert kinds == {"busy"}
        server.send("notifications/cancelled", requestId=2)
        answered = {server.answer()["id"] for _ in range(WAITING)}
        assert answered == set(range(3, 3 + WAITING + 2)) - {one["id"] for one in told}


@pytest.mark.parametrize("what", ["regex", "stuck", "die"])
def test_a_search_that_hangs_or_dies_is_abandoned_and_the_others_are_answered(chats: Path, what: str):
    """Native code that holds Python's lock (`stuck`) hears no signal: its process is killed."""
    with raw(*ODD, str(chats), "--rank", "colbert", "--timeout", "2") as server:
        server.shake_hands()
        server.call(1, "search", question=QUESTION)
        name = server.answer()["result"]["structuredContent"]["hits"][0]["id"]
        server.call(2, "search", question=f"Mara {what}")
        server.call(3, "status")
        told = {one["id"]: one["result"]["structuredContent"] for one in (server.answer(), server.answer())}
        assert told[2]["error"]["kind"] == ("worker_died" if what == "die" else "timeout")
        assert (told[2]["error"]["retryable"], told[3]["formats_counted"]) == (True, 4)
        server.call(4, "expand", ids=[name])
        assert "support group" in server.answer()["result"]["content"][0]["text"]


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(number) for one in lists for number in one.read_text().split()]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="children are found in /proc")
def test_no_worker_outlives_a_server_that_was_killed(chats: Path):
    with raw(*ODD, str(chats), "--rank", "colbert") as server:
        server.shake_hands()
        server.call(1, "search", question=QUESTION)
        server.answer()
        (worker,) = children(server.process.pid)
        server.call(2, "search", question="Mara sleep")
        time.sleep(0.3)
        server.process.kill()
        for _ in range(100):
            if not Path(f"/proc/{worker}").exists() or "Z" in Path(f"/proc/{worker}/stat").read_text():
                return
            time.sleep(0.1)
        pytest.fail("it goes on alone")


@pytest.mark.parametrize(
    ("sent", "answered"),
    [
        (rb'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"x": "\ud800"}}', (7, "result")),
        (rb'{"jsonrpc": "2.0", "id": 7, "method": "pi\ud800ng"}', (7, "error")),
        (
            b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"x": "\xff\xed\xa0\x80"}}',
            (7, "result"),
        ),
        (rb'{"jsonrpc": "2.0", "id": "\ud800", "method": "ping"}', (None, "error")),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', (None, "error")),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": 3}', (7, "error")),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {', (7, "error")),
        (b'[{"jsonrpc": "2.0", "id": 7, "method": "ping"}]', (None, "error")),
        (
            b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"x": ' + b"[" * 9999 + b"}}",
            (7, "error"),
        ),
        (
            b'{"params": {"x": "' + b"x" * LONGEST + b'"}, "method": "ping", "jsonrpc": "2.0", "id": "a"}',
            ("a", "error"),
        ),
    ],
)
def test_every_request_has_an_answer_whatever_its_bytes(bare: Raw, sent: bytes, answered: tuple):
    bare.write(sent)
    told = []
    for number in (98, 99):  # what is not answered before the second of them never will be
        bare.send("ping", number)
        while (one := bare.answer())["id"] != number:
            told.append(one)
    assert [(one["id"], answered[1] in one) for one in told] == [(answered[0], True)]


@pytest.mark.parametrize("end", ["", "9" * 6000 + ', "method": "ping"}', ".5, ", "e9}"])
def test_the_beginning_of_a_number_is_no_id(bare: Raw, end: str):
    """Another request may wait for an answer to it."""
    bare.write(f'{{"jsonrpc": "2.0", "id": 12{end}'.encode())
    bare.send("ping", 98)
    assert bare.answer()["id"] == 98


def test_a_question_with_half_a_surrogate_pair_is_searched(bare: Raw):
    said = rb'{"name": "search", "arguments": {"question": "ostrich \ud800 half \ud83d\ude00"}}'
    bare.write(b'{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": ' + said + b"}")
    assert "ostrich" in bare.answer()["result"]["structuredContent"]["hits"][0]["line"]


@pytest.mark.parametrize(
    "how", ["closed", "terminated", "interrupted", "sleep", "regex", "stuck", "unread", "full"]
)
def test_it_ends_with_its_client(chats: Path, how: str):
    with raw(*ODD, str(chats), "--rank", "colbert") as server:
        server.shake_hands()
        if how in ("sleep", "regex", "stuck"):
            server.call(1, "search", question=f"Mara {how}")
            time.sleep(1)
        if how == "full":  # nobody reads what it says
            for number in range(100):
                server.send("tools/list", number)
            time.sleep(0.5)
        start = time.monotonic()
        if how == "terminated":
            server.process.send_signal(signal.SIGTERM)
        elif how == "interrupted":
            server.process.send_signal(signal.SIGINT)
        elif how == "unread":
            server.process.stdout.close()
            server.send("tools/list", 1)
        else:
            server.process.stdin.close()
        assert server.process.wait(10) == (130 if how == "interrupted" else 0)
        assert time.monotonic() - start < 5
        assert b"Traceback" not in b"".join(server.said)


def test_wrong_settings_end_it_before_it_begins(chats: Path):
    for arguments in ([str(chats / "nowhere")], [str(chats), "--rank", "luck"], [str(chats), "--alpha", "7"]):
        with raw(*ODD, *arguments) as server:
            assert server.process.wait(30) == 2
            assert server.process.stdout.read() == b""


def test_a_whole_disk_is_served_only_when_it_is_named(monkeypatch: pytest.MonkeyPatch, capfd):
    """Some clients start their servers in the root folder."""
    from smartsearch.cli import app as cli

    monkeypatch.chdir("/")
    assert cli.run(["mcp"]) == 2
    assert "name a PATH to serve" in capfd.readouterr().err


def test_without_the_sdk_the_error_names_what_to_install(monkeypatch: pytest.MonkeyPatch, capfd):
    from smartsearch.cli import app as cli

    monkeypatch.setattr(mcp_cli, "find_spec", lambda _name: None)
    assert cli.run(["mcp"]) == 2
    assert "pip install 'smartsearch[mcp]'" in capfd.readouterr().err


@pytest.mark.models
def test_the_shipped_models_over_the_samples_give_what_the_document_shows():
    document = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
    with connected(*REAL, str(ROOT / "docs" / "samples")) as session:
        found = session.call("search", question="When did Maya adopt the dog?", limit=3)
        first = found.structured_content["hits"][0]
        assert (first["date"], first["place"]) == ("2025-03-02", "harbour-street.md:8")
        hits = r"^\[\w{8}\] (.*)$"  # ids are of the full path, which is another elsewhere
        told = re.findall(hits, found.content[0].text, re.MULTILINE)
        assert told == re.findall(hits, document, re.MULTILINE)
        assert len(told) == 3
        whole = session.call("expand", ids=[first["id"]])
        assert whole.content[0].text in document
        roles = [model["role"] for model in session.call("status").structured_content["models"]]
        assert roles == ["parser", "crossencoder", "colbert"]
