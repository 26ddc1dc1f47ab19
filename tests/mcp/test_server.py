"""The server as clients meet it: a process, spoken to over its standard input and output."""

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

import anyio
import jsonschema
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, KNOWN_PROTOCOL_VERSIONS

import smartsearch
from smartsearch.cli import app as cli
from smartsearch.models.loading import tokenizer
from smartsearch.runtime import extras
from smartsearch.serve.mcp.messages import LONGEST
from tests.cli.conftest import CHAT, MESSAGES, QUESTION
from tests.mcp import read
from tests.waiting import HANG, until

ROOT = Path(__file__).parents[2]
ODD = ["-m", "tests.odd_server", "mcp"]
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


class Raw:
    """A server in a process of its own, spoken to in bare lines."""

    def __init__(self, *arguments: str) -> None:
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        command = [sys.executable, *arguments]
        self.process = subprocess.Popen(command, **pipes, env=environment(), cwd=ROOT)
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

    def told(self, tool: str, **arguments: object) -> tuple[dict, str]:
        """What a tool answers, as a record and as text."""
        self.call(1, tool, **arguments)
        result = self.answer()["result"]
        record = result["structuredContent"]
        assert result.get("isError", False) == ("error" in record)
        return read(record) if "hits" in record else record, result["content"][0]["text"]

    def shake_hands(self, version: str = "2025-06-18") -> dict:
        client = {"name": "test", "version": "0"}
        self.send("initialize", 0, protocolVersion=version, capabilities={}, clientInfo=client)
        told = self.answer()
        self.send("notifications/initialized")
        return told

    def end(self) -> tuple[int, bytes]:
        """Close its standard input; its exit code, and what was still to be read."""
        self.process.stdin.close()
        rest = self.process.stdout.read()
        return self.process.wait(HANG), rest


@contextmanager
def raw(*arguments: str, greeted: bool = True) -> Iterator[Raw]:
    server = Raw(*arguments)
    try:
        if greeted:
            server.shake_hands()
        yield server
    finally:
        server.process.kill()
        server.process.wait()


@pytest.fixture(scope="module")
def shared(chats: Path) -> Iterator[Raw]:
    """A server that several tests ask, with a time limit beyond which it gives up."""
    with raw(*ODD, str(chats), "--timeout", "3", "--rank", "colbert") as server:
        yield server


def test_the_tools_are_listed_with_schemas_and_only_read(shared: Raw):
    shared.send("tools/list", 1)
    listed = shared.answer()["result"]["tools"]
    assert [tool["name"] for tool in listed] == ["search", "expand", "status"]
    for tool in listed:
        jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
        assert tool["annotations"]["readOnlyHint"]
        assert tool["annotations"]["openWorldHint"] is False
        assert tool["outputSchema"]
        for argument in tool["inputSchema"]["properties"].values():
            assert argument["description"]
    assert len(json.dumps(listed, separators=(",", ":"))) < 4500, "each agent pays for this"
    shared.call(1, "delete_everything")
    assert "there are search, expand, status" in shared.answer()["error"]["message"]


def test_search_then_expand_then_status(shared: Raw, chats: Path):
    found, text = shared.told("search", question=QUESTION, limit=2)
    first = found["hits"][0]
    assert (first["date"], first["speaker"], first["place"]) == ("2024-05-08", "Mara", "chat.txt:1")
    assert f"[{first['id']}] 2024-05-08 Mara | chat.txt:1 | " in text
    whole, text = shared.told("expand", ids=[first["id"]], around=1)
    turns = whole["sessions"][0]["turns"]
    assert [turn["text"] for turn in turns] == [
        "I went to the support group yesterday.",
        "Wow, how was it?\n  Tell me more!",
    ]
    assert "* 1 [2024-05-08 13:56] Mara: I went to the support group yesterday." in text
    record, _ = shared.told("status")
    assert (record["roots"][0]["path"], record["limits"]["seconds"]) == (str(chats), 3)


@pytest.mark.parametrize(
    ("tool", "arguments", "kind"),
    [
        ("search", {}, "argument"),
        ("search", {"question": "x", "paths": ["../.."]}, "outside_roots"),
        ("search", {"question": "x", "paths": ["nowhere"]}, "path_not_found"),
        ("search", {"question": "Mara boom"}, "internal"),
        ("expand", {"ids": ["/etc/passwd:1"]}, "outside_roots"),
        ("expand", {"ids": ["aaaaaaaa"]}, "unknown_id"),
    ],
)
def test_errors_are_the_tools_own_with_kind_message_and_hint(shared: Raw, tool, arguments: dict, kind):
    record, text = shared.told(tool, **arguments)
    error = record["error"]
    assert (error["kind"], bool(error["message"]), bool(error["hint"])) == (kind, True, True)
    assert text.startswith(f"{kind}: {error['message']}\ntry: {error['hint']}")


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_sdks_own_client(chats: Path, mode: str):
    """From 2026 on clients need not initialize; the SDK's newer client asks with `server/discover`."""

    async def play() -> None:
        server = StdioServerParameters(
            command=sys.executable, args=[*ODD, str(chats)], env=environment(), cwd=str(ROOT)
        )
        async with Client(server, mode=mode) as client:
            newest = HANDSHAKE_PROTOCOL_VERSIONS if mode == "legacy" else KNOWN_PROTOCOL_VERSIONS
            assert client.session.protocol_version == newest[-1]
            assert [tool.name for tool in (await client.list_tools()).tools] == ["search", "expand", "status"]
            found = await client.call_tool("search", {"question": QUESTION})
            assert read(found.structured_content)["hits"][0]["place"] == "chat.txt:1"
            (template,) = (await client.list_resource_templates()).resource_templates
            assert (await client.list_resources()).resources == []
            opened = await client.read_resource(template.uri_template.replace("{+place}", "chat.txt:1"))
            assert "* 1 [2024-05-08 13:56] Mara: I went to the support group" in opened.contents[0].text
            with pytest.raises(MCPError, match="outside_roots"):
                await client.read_resource("smartsearch:///%2Fetc/passwd:1")

    anyio.run(play)


@pytest.mark.parametrize("version", HANDSHAKE_PROTOCOL_VERSIONS[-2:])
def test_an_older_version_is_spoken_where_it_is_asked_for(chats: Path, version: str):
    with raw(*ODD, str(chats), greeted=False) as server:
        assert server.shake_hands(version)["result"]["protocolVersion"] == version
        assert server.told("search", question=QUESTION)[0]["hits"][0]["place"] == "chat.txt:1"


def test_standard_output_is_the_protocol_and_nothing_else(chats: Path):
    with raw(*ODD, str(chats), greeted=False) as server:
        told = server.shake_hands()["result"]
        about = {"name": "smartsearch", "version": smartsearch.__version__}
        assert told["serverInfo"] | about == told["serverInfo"]
        assert "never an instruction" in told["instructions"]
        assert server.told("search", question=f"noise {QUESTION}")[0]["hits"]
        assert server.end() == (0, b"")
        noises = b"".join(server.said).count(b"noise\n")
        assert (noises >= 8, noises % 4) == (True, 0)


def test_what_is_not_json_is_told_and_other_garbage_passed_over(chats: Path):
    garbage = (b"", b" ", b"[]", b"null", b'"x"', b'{"jsonrpc": "2.0"}')
    with raw(*ODD, str(chats), greeted=False) as server:
        for line in (b"{", b"\xff\xfe\x00", b"{}" * 9, b"[" * 100_000):
            server.write(line)
            told = server.answer()
            assert (told["id"], told["error"]["code"]) == (None, -32700)
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
        assert server.told("search", question=QUESTION)[0]["hits"][0]["place"] == "chat.txt:1"
        assert server.end()[0] == 0


@pytest.mark.parametrize(("what", "seconds"), [("regex", "2"), ("stuck", "2"), ("die", "100")])
def test_a_search_that_hangs_or_dies_is_abandoned_and_the_others_are_answered(chats: Path, what, seconds):
    """Native code that holds Python's lock (`stuck`) hears no signal: its process is killed.

    A slow machine may need longer than the limit for a first answer, so that is asked for until it comes.
    """
    with raw(*ODD, str(chats), "--rank", "colbert", "--timeout", seconds) as server:
        hits = until(lambda: server.told("search", question=QUESTION)[0].get("hits"), "no answer")
        server.call(2, "search", question=f"Mara {what}")
        server.call(3, "status")
        told = {one["id"]: one["result"]["structuredContent"] for one in (server.answer(), server.answer())}
        assert told[2]["error"]["kind"] == ("worker_died" if what == "die" else "timeout")
        assert (told[2]["error"]["retryable"], told[3]["models_state"]) == (True, "ready")
        until(lambda: "support group" in server.told("expand", ids=[hits[0]["id"]])[1], "nothing expanded")


def alive(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and "Z" not in stat.read_text()


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(number) for one in lists for number in one.read_text().split()]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="children are found in /proc")
def test_no_worker_outlives_a_server_that_was_killed(chats: Path):
    with raw(*ODD, str(chats), "--rank", "colbert") as server:
        server.told("search", question=QUESTION)
        (worker,) = children(server.process.pid)
        server.call(2, "search", question="Mara sleep")
        server.told("status")
        server.process.kill()
        until(lambda: not alive(worker), "the worker goes on alone")


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
def test_every_request_has_an_answer_whatever_its_bytes(shared: Raw, sent: bytes, answered: tuple):
    shared.write(sent)
    told = []
    for number in (98, 99):  # what is not answered before the second of them never will be
        shared.send("ping", number)
        while (one := shared.answer())["id"] != number:
            told.append(one)
    assert [(one["id"], answered[1] in one) for one in told] == [(answered[0], True)]


@pytest.mark.parametrize("end", ["", "9" * 6000 + ', "method": "ping"}', ".5, ", "e9}"])
def test_the_beginning_of_a_number_is_no_id(shared: Raw, end: str):
    """Another request may wait for an answer to it."""
    shared.write(f'{{"jsonrpc": "2.0", "id": 12{end}'.encode())
    shared.send("ping", 98)
    ids = [shared.answer()["id"]]
    while ids[-1] != 98:
        ids.append(shared.answer()["id"])
    assert set(ids) <= {None, 98}


def test_a_question_with_half_a_surrogate_pair_is_searched(shared: Raw):
    said = rb'{"name": "search", "arguments": {"question": "ostrich \ud800 half \ud83d\ude00"}}'
    shared.write(b'{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": ' + said + b"}")
    assert "ostrich" in shared.answer()["result"]["structuredContent"]["hits"][0]


@pytest.mark.parametrize(
    "how", ["closed", "terminated", "interrupted", "sleep", "regex", "stuck", "unread", "full"]
)
def test_it_ends_with_its_client(chats: Path, how: str):
    with raw(*ODD, str(chats), "--rank", "colbert") as server:
        if how in ("sleep", "regex", "stuck"):
            server.call(1, "search", question=f"Mara {how}")
            server.told("status")  # said while it searches
        if how == "full":  # nobody reads what it says
            for number in range(100):
                server.send("tools/list", number)
            time.sleep(0.5)
        if how == "terminated":
            server.process.send_signal(signal.SIGTERM)
        elif how == "interrupted":
            server.process.send_signal(signal.SIGINT)
        elif how == "unread":
            server.process.stdout.close()
            server.send("tools/list", 1)
        else:
            server.process.stdin.close()
        assert server.process.wait(HANG) == (130 if how == "interrupted" else 0)
        assert b"Traceback" not in b"".join(server.said)


def test_wrong_settings_end_it_before_it_begins(chats: Path):
    for arguments in ([str(chats / "nowhere")], [str(chats), "--rank", "luck"], [str(chats), "--alpha", "7"]):
        with raw(*ODD, *arguments, greeted=False) as server:
            assert server.process.wait(HANG) == 2
            assert server.process.stdout.read() == b""


def test_a_whole_disk_is_served_only_when_it_is_named_and_nothing_without_the_sdk(
    monkeypatch: pytest.MonkeyPatch, capfd
):
    """Some clients start their servers in the root folder."""
    monkeypatch.chdir("/")
    assert cli.run(["mcp"]) == 2
    assert "name a PATH to serve" in capfd.readouterr().err
    monkeypatch.setattr("smartsearch.runtime.extras.find_spec", lambda _name: None)
    assert cli.run(["mcp"]) == 2
    assert extras.command("mcp") in capfd.readouterr().err


def test_each_process_imports_only_what_it_uses():
    """The first answer waits for both: the protocol's ranks nothing, and the worker speaks no protocol."""
    for name, unused in {
        "server": {"numpy", "smartsearch.text", "smartsearch.rank"},
        "tools": {"pydantic", "mcp", "smartsearch.text.redact", "smartsearch.serve.mcp.arguments"},
    }.items():
        program = f"import sys, smartsearch.serve.mcp.{name}; print(*sys.modules)"
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert unused.isdisjoint(ran.stdout.split())


@pytest.mark.models
def test_the_shipped_models_over_the_samples_give_what_the_document_shows():
    document = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
    with raw(*REAL, str(ROOT / "docs" / "samples")) as server:
        found, text = server.told("search", question="Why does Pickle limp?", limit=3)
        first = found["hits"][0]
        assert (first["date"], first["place"]) == ("2025-05-10", "harbour-street.md:68")
        hits = r"^\[\w{8}\] (.*)$"  # ids are of the full path, which is another elsewhere
        told = re.findall(hits, text, re.MULTILINE)
        shown = re.findall(hits, document, re.MULTILINE)
        assert shown == told[: len(shown)]
        assert shown
        assert len(told) == 3
        opened = server.told("expand", ids=[first["id"]])[1]
        shown = re.findall(r"^\* 68 .*$", document, re.MULTILINE)
        assert [line for line in opened.splitlines() if line.startswith("* 68 ")] == shown
        for question in ("Why does Pickle limp?", "What is the job of Petra's brother?"):
            server.call(1, "search", question=question)
            result = server.answer()["result"]
            record = json.dumps(result["structuredContent"], ensure_ascii=False, separators=(",", ":"))
            assert len(result["structuredContent"]["hits"]) == 8
            assert all(tokenizer().count(one) <= 400 for one in (result["content"][0]["text"], record))
        roles = [model["role"] for model in server.told("status")[0]["models"]]
        assert roles == ["parser", "crossencoder", "colbert", "static"]
