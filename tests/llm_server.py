"""A chat-completions server on this machine whose replies and faults a test writes down."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import cycle
from typing import Any, ClassVar

import pytest

from smartsearch.llm import Client
from tests.waiting import HANG

Body = dict[str, Any]


class LLMServer(ThreadingHTTPServer):
    """Does what `script` says, one action a request, then answers with `reply(request body)`: a text, or an
    action, so that a rule may fail one request and not another.

    `requests` are the bodies it got, `keys` their Authorization headers.
    """

    daemon_threads = True
    addresses: ClassVar[set[Any]] = set()
    """Those that a test had: replies are kept by address, and no test may find another's."""

    def __init__(self, reply: Callable[[Body], str | Action]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        while self.server_address in self.addresses:
            self.server_close()
            super().__init__(("127.0.0.1", 0), _Handler)
        self.addresses.add(self.server_address)
        self.reply = reply
        self.script: list[Action] = []
        self.requests: list[Body] = []
        self.keys: list[str] = []
        self.models: list[Body] | None = None
        self.released = threading.Event()
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def reset(self) -> LLMServer:
        """As new, for the next test: no script and nothing seen. A new server and client cost 30 ms."""
        self.script, self.requests, self.keys, self.models = [], [], [], None
        return self

    def named(self, patch: pytest.MonkeyPatch, reply: Callable[[Body], str | Action]) -> LLMServer:
        """As new, answering so, and the one that the environment names."""
        patch.setenv("SMARTSEARCH_LLM_BASE_URL", self.url)
        patch.setenv("SMARTSEARCH_LLM_MODEL", "tiny")
        for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
            patch.delenv(name, raising=False)
        self.reply = reply
        return self.reset()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is what some tests are about: no traceback."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body are two writes: 40 ms a request
    server: LLMServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.requests.append(body)
            self.server.keys.append(self.headers.get("Authorization", ""))
            action = self.server.script.pop(0) if self.server.script else says()
        action(self, body)

    def do_GET(self) -> None:
        """What it lists, `models` of the server: a body, or 404 where there is none."""
        listed = self.server.models
        self.send(404 if listed is None else 200, json.dumps({"data": listed}).encode())

    def send(self, status: int, content: bytes, length: int = 0, **headers: str) -> None:
        """`length`: the Content-Length told, where it is not that of `content`."""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(length or len(content)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Silent."""


Action = Callable[[_Handler, Body], None]
Shares = list[list[float]]


def shape(body: Body) -> str:
    """The name of the class that a request wants its reply to be, or nothing."""
    return body.get("response_format", {}).get("json_schema", {}).get("name", "")


def said(body: Body) -> str:
    """All that a request says to the model."""
    return "\n".join(message["content"] for message in body["messages"])


def completion(
    text: str | None, *, usage: bool = True, finish: str = "stop", shares: Shares | None = None
) -> Body:
    """A chat completion. Its usage: 10 tokens read and 2 written, whatever the text.

    `shares`: for each token of the reply the probabilities of the likeliest, as log-probabilities.
    """
    choice: Body = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}
    if shares is not None:
        tops = [[{"token": f"t{n}", "logprob": math.log(p)} for n, p in enumerate(ps)] for ps in shares]
        choice["logprobs"] = {"content": [{**top[0], "top_logprobs": top} for top in tops]}
    body: Body = {"id": "c1", "object": "chat.completion", "model": "tiny-2024", "choices": [choice]}
    if usage:
        body["usage"] = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    return body


def says(
    text: str | None = "", *, usage: bool = True, finish: str = "stop", shares: Shares | None = None
) -> Action:
    """A good reply of `text`, or of what the server's `reply` makes of the request."""

    def action(handler: _Handler, body: Body) -> None:
        said = handler.server.reply(body) if text == "" else text
        if callable(said):
            said(handler, body)
            return
        if body.get("stream") and said is not None:
            tells(*said.splitlines(keepends=True))(handler, body)
            return
        whole = completion(said, usage=usage, finish=finish, shares=shares if body.get("logprobs") else None)
        handler.send(200, json.dumps(whole).encode())

    return action


def piece(text: str | None = None, **more: Any) -> Body:
    """One event of a reply in pieces."""
    choice = {"index": 0, "delta": {} if text is None else {"content": text}, **more}
    return {"id": "c1", "object": "chat.completion.chunk", "model": "tiny-2024", "choices": [choice]}


ENDED = piece(finish_reason="stop")
USAGE = {**piece(), "choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}}


def events(*bodies: Body | str) -> list[bytes]:
    """The lines of an event stream: bodies as JSON, texts as they are."""
    written = [body if isinstance(body, str) else json.dumps(body) for body in bodies]
    return [f"data: {line}\n\n".encode() for line in written]


def streams(
    *chunks: bytes, whole: bool = True, again: bool = False, after: Callable[[int], None] = lambda sent: None
) -> Action:
    """Sends `chunks`, then ends the stream, or just hangs up, or sends them `again` until nobody listens.

    `after` each it is told its number.
    """

    def action(handler: _Handler, body: Body) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for number, chunk in enumerate(cycle(chunks) if again else chunks, start=1):
            handler.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
            handler.wfile.flush()
            after(number)
        if whole:
            handler.wfile.write(b"0\r\n\r\n")
        handler.close_connection = not whole

    return action


def tells(*pieces: str) -> Action:
    """A good reply in pieces, with its usage at the end."""
    return streams(*events(*map(piece, pieces), ENDED, USAGE, "[DONE]"))


def hangs(handler: _Handler, body: Body) -> None:
    """Says nothing for as long as the test runs."""
    handler.server.released.wait(HANG)
    handler.close_connection = True


def status(code: int, message: str = "no", *, error: Body | None = None, **headers: str) -> Action:
    """An error as OpenAI writes it; `error` adds to its fields."""

    def action(handler: _Handler, body: Body) -> None:
        content = json.dumps({"error": {"message": message, **(error or {})}}).encode()
        handler.send(code, content, **headers)

    return action


def half(handler: _Handler, body: Body) -> None:
    """The first half of a good reply, then the line goes dead."""
    content = json.dumps(completion("never whole")).encode()
    handler.send(200, content[: len(content) // 2], length=len(content))
    handler.close_connection = True


def raw(content: str) -> Action:
    """Any body under status 200."""

    def action(handler: _Handler, body: Body) -> None:
        handler.send(200, content.encode())

    return action


@contextmanager
def llm_server(reply: Callable[[Body], str | Action] = lambda body: "fine") -> Iterator[LLMServer]:
    """A running server, stopped afterwards. While it runs nobody sleeps before another try."""
    server = LLMServer(reply)
    patched = pytest.MonkeyPatch()
    patched.setitem(Client.__init__.__kwdefaults__, "wait", lambda stop, seconds: stop.is_set())
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        patched.undo()
        server.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
