"""An OpenAI-compatible chat-completions client: where it is, retries, and replies kept in a file.

Only `answer` and `bench` use it: search itself needs no language model. Protocol and fault handling
follow seeds section 6.3; what to ask is for others to say (`bench/prompts.py`).
"""

from __future__ import annotations

import hashlib
import importlib.util
import ipaddress
import json
import os
import re
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from smartsearch.errors import InputError, SmartsearchError

OPENAI = "https://api.openai.com/v1"
"""The base URL where none is set."""
TIMEOUT = 120.0
"""Seconds a server may stay silent: a long context on a local model takes a minute to read."""
RETRIES = 4
"""Tries after the first (seeds 6.3), 1, 2, 4 and 8 seconds apart where the server names no wait."""
LARGEST = 64 << 20
"""Bytes of a reply, which take a model of the longest thoughts some 250,000 tokens; more are not read."""
LARGEST_TEXT = 1_000_000
"""Characters of a reply in pieces, more than a model says to any `max_tokens`."""
LARGEST_REFUSAL = 1 << 20
"""Bytes of what a server says when it refuses a request."""
LARGEST_COUNT = 10**12
"""Tokens; a server that counts more does not count."""
LONGEST_WAIT = 120.0
"""Seconds; a server that asks for more (`Retry-After`) has a quota used up, not a busy moment."""

Message = Mapping[str, str]
"""`role` (system, user or assistant) and `content`."""

Wait = Callable[[threading.Event, float], bool]
"""Sleeps some seconds or until the event is set; says whether it was set."""


class LLMError(SmartsearchError):
    """A language model that is not set up, not there, or gives no usable reply.

    `kind`: llm_missing (a setting), llm_unreachable, llm_busy (429), llm_refused (key, quota),
    llm_not_found (address or model), llm_request (this request only), llm_reply (not the protocol),
    llm_broken (a reply that ended in the middle), llm_stopped (the caller's `stop` was set). `after`: seconds
    the server asked to wait; `silent`: it said nothing for as long as it may.
    """

    kind = "llm_unreachable"

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        kind: str = "",
        retryable: bool = False,
        after: float | None = None,
        silent: bool = False,
    ) -> None:
        super().__init__(message, hint=hint, kind=kind, retryable=retryable)
        self.after = after
        self.silent = silent


@dataclass(frozen=True)
class Endpoint:
    """Where a model is. `prefix` begins the names of the variables it came from, for error messages."""

    base_url: str
    model: str
    key: str = field(default="", repr=False)
    prefix: str = "SMARTSEARCH_LLM"

    @property
    def url(self) -> str:
        """The base URL as it may be shown: without user, password and query."""
        parts = urlsplit(self.base_url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))

    @property
    def host(self) -> str:
        """The name or number of the machine it is on, in lower case."""
        return _host(self.base_url)

    @property
    def place(self) -> str:
        """Where that machine is, "this machine" or "your network", or empty: anywhere."""
        return _place(self.host)

    def redacted(self, text: str) -> str:
        """`text` without the key."""
        return text.replace(self.key, "***") if self.key else text


def reader_endpoint(env: Mapping[str, str] | None = None, model: str = "") -> Endpoint:
    """The model that answers: SMARTSEARCH_LLM_BASE_URL, _MODEL and _KEY; `model` goes before _MODEL.

    The URL falls back to OPENAI_BASE_URL, then OpenAI's own. OPENAI_API_KEY is used where that is
    the address, so that it is sent nowhere else. Raises LLMError "llm_missing", naming every variable.
    """
    env = os.environ if env is None else env
    openai_url = env.get("OPENAI_BASE_URL", "").strip() or OPENAI
    url = env.get("SMARTSEARCH_LLM_BASE_URL", "").strip() or openai_url
    key = env.get("SMARTSEARCH_LLM_KEY", "").strip()
    if not key and url.rstrip("/") in (openai_url.rstrip("/"), OPENAI):
        key = env.get("OPENAI_API_KEY", "").strip()
    model = model or env.get("SMARTSEARCH_LLM_MODEL", "").strip()
    return _checked(Endpoint(url, model, key), "SMARTSEARCH_LLM_KEY (or OPENAI_API_KEY)")


def judge_endpoint(reader: Endpoint, env: Mapping[str, str] | None = None, model: str = "") -> Endpoint:
    """The model that judges: SMARTSEARCH_JUDGE_BASE_URL, _MODEL and _KEY, each the reader's where unset.

    The reader's key is not sent to another address. Raises LLMError "llm_missing".
    """
    env = os.environ if env is None else env
    prefix = "SMARTSEARCH_JUDGE"
    url = env.get(f"{prefix}_BASE_URL", "").strip() or reader.base_url
    key = env.get(f"{prefix}_KEY", "").strip()
    if not key and url.rstrip("/") == reader.base_url.rstrip("/"):
        key = reader.key
    model = model or env.get(f"{prefix}_MODEL", "").strip() or reader.model
    return _checked(Endpoint(url, model, key, prefix), f"{prefix}_KEY")


def _checked(endpoint: Endpoint, key_name: str) -> Endpoint:
    host = _host(endpoint.base_url)
    if not host:
        raise LLMError(
            f"{endpoint.prefix}_BASE_URL is no http or https address: {endpoint.url}",
            hint="such as http://localhost:8000/v1",
            kind="llm_missing",
        )
    missing = [] if endpoint.model else [f"{endpoint.prefix}_MODEL"]
    if not endpoint.key and not endpoint.place:
        missing.append(key_name)
    if missing:
        raise LLMError(
            f"no language model at {endpoint.url}: {' and '.join(missing)} not set",
            hint=f"set {' and '.join(missing)}; a server on this machine or your network needs no key, "
            f"only {endpoint.prefix}_BASE_URL",
            kind="llm_missing",
        )
    if not all(" " < character <= "~" for character in endpoint.key):
        raise LLMError(
            f"{key_name} holds a blank or a character that no key has",
            hint="copy the key again, without quotes and line ends",
            kind="llm_missing",
        )
    return endpoint


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises where it is no number
    except ValueError:
        return ""
    return (parts.hostname or "") if parts.scheme in ("http", "https") else ""


def _place(host: str) -> str:
    """Judged by the address as written: no name is looked up; one that merely points here is anywhere."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        if host == "localhost":
            return "this machine"
        # A name without a dot is this network's; one that begins with a digit is an address in disguise.
        inside = re.fullmatch(
            r"[a-z][a-z0-9-]*(?:(?:\.[a-z0-9-]+)*\.(?:local|lan|internal|home\.arpa))?", host
        )
        return "your network" if inside else ""
    address = getattr(address, "ipv4_mapped", None) or address
    if address.is_loopback or address.is_unspecified:
        return "this machine"
    return "" if address.is_global or address.is_multicast else "your network"


@dataclass(frozen=True)
class Reply:
    """What a model said, without its thinking. Tokens are the server's count, or ours where `estimated`.

    `model` is the name the server gives, with its version. `finish` is "stop" for a whole reply and
    "length" for one cut at `max_tokens`. `cached`: it came from the file and cost nothing now.
    """

    text: str
    prompt_tokens: int
    completion_tokens: int
    model: str
    finish: str = "stop"
    estimated: bool = False
    cached: bool = False


def rough_tokens(text: str) -> int:
    """About how many tokens an English text has: one for four characters, OpenAI's rule of thumb."""
    return -(-len(text) // 4)


_SCHEMA = """create table if not exists replies
(key text primary key, text text not null, prompt_tokens integer not null, completion_tokens integer not null,
 model text not null, finish text not null, estimated integer not null) without rowid"""


class ReplyCache:
    """Replies by request in an SQLite file (it may be a bench store's): what was paid for stays paid for.

    Holds texts and token counts; of the request only a digest, of the key nothing. Safe to use from
    several threads.
    """

    def __init__(self, path: Path) -> None:
        """Open or make the file. Raises InputError where that cannot be."""
        self.path = path
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, isolation_level=None, timeout=60.0, check_same_thread=False)
            self._db.execute("pragma journal_mode = wal")
            self._db.execute("pragma synchronous = normal")
            self._db.execute(_SCHEMA)
        except (sqlite3.Error, OSError) as error:
            raise self._unusable(error) from error

    def get(self, key: str) -> Reply | None:
        """The reply kept under `key`, marked `cached`, or None."""
        columns = "text, prompt_tokens, completion_tokens, model, finish, estimated"
        row = self._run(f"select {columns} from replies where key = ?", (key,))
        if row is None:
            return None
        text, prompt, completion, model, finish, estimated = row
        return Reply(text, prompt, completion, model, finish, bool(estimated), cached=True)

    def put(self, key: str, reply: Reply) -> None:
        """Keep `reply`; it is in the file when this returns."""
        values = (reply.text, reply.prompt_tokens, reply.completion_tokens, reply.model, reply.finish)
        row = (key, *values, int(reply.estimated))
        self._run("insert or replace into replies values (?, ?, ?, ?, ?, ?, ?)", row)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def _run(self, sql: str, values: tuple[Any, ...]) -> tuple[Any, ...] | None:
        try:
            with self._lock:
                row: tuple[Any, ...] | None = self._db.execute(sql, values).fetchone()
        except sqlite3.Error as error:
            raise self._unusable(error) from error
        return row

    def _unusable(self, error: Exception) -> InputError:
        return InputError(
            f"{self.path} cannot be used to keep replies: {error}",
            hint="another file, or remove this one",
            kind="store",
        )


def require() -> None:
    """See that the package openai is there, without loading it. Raises LLMError "llm_missing"."""
    try:
        there = importlib.util.find_spec("openai") is not None
    except ValueError:  # a module that another put in its place, or None
        there = sys.modules.get("openai") is not None
    if not there:
        raise LLMError(
            "the package openai is not installed", hint="pip install 'smartsearch[llm]'", kind="llm_missing"
        )


class Client:
    """One model at one endpoint. Safe to use from several threads.

    `count` counts the tokens of replies that come without `usage`; `wait` is how it sleeps.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        cache: ReplyCache | None = None,
        *,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
        wait: Wait = threading.Event.wait,
        count: Callable[[str], int] = rough_tokens,
    ) -> None:
        """Sends nothing yet. Raises LLMError "llm_missing" without the openai package."""
        require()
        from openai import DefaultHttpxClient, OpenAI

        self.endpoint, self.cache = endpoint, cache
        self._timeout, self._retries, self._wait, self._count = timeout, retries, wait, count
        self._unsupported: frozenset[str] = frozenset()
        # What is sent goes to the endpoint and nowhere else: no redirection, for this machine no proxy.
        http = DefaultHttpxClient(
            follow_redirects=False,
            trust_env=endpoint.place != "this machine",
            headers={"Accept-Encoding": "identity"},
            event_hooks={"response": [_bound]},
        )
        # Its own retries are off: they pass over half a reply's JSON and cannot be stopped.
        self._openai = OpenAI(
            base_url=endpoint.base_url,
            api_key=endpoint.key or "none",
            timeout=timeout,
            max_retries=0,
            http_client=http,
        )

    @property
    def unsupported(self) -> tuple[str, ...]:
        """Request parameters the model turned down and that were left out (reasoning models: temperature)."""
        return tuple(sorted(self._unsupported))

    def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        seed: int | None = None,
        stop: threading.Event | None = None,
    ) -> Reply:
        """The model's reply to `messages`: from the cache, else from the server, with retries.

        A kept reply is found again for the same address, model, messages and parameters. An empty
        reply is given back but not kept. `stop`, once set, lets a request on its way finish and
        starts none. Raises LLMError, whose text never holds the key.
        """
        stop = threading.Event() if stop is None else stop
        request = self._request(messages, max_tokens, temperature, seed)
        key = _digest(self.endpoint.url, request)
        kept = self.cache.get(key) if self.cache else None
        if kept is not None:
            return kept
        reply = self._patiently(lambda: self._once(request), stop)
        if self.cache and reply.text.strip():
            self.cache.put(key, reply)
        return reply

    def stream(
        self,
        messages: Sequence[Message],
        say: Callable[[str], None],
        *,
        max_tokens: int,
        temperature: float = 0.0,
    ) -> Reply:
        """The model's reply to `messages`, told to `say` piece by piece as it comes; the pieces are its text.

        Retries as `complete` until the first piece, but for a server that stays silent: it may be one that
        reads slowly. A reply that breaks off later is an LLMError "llm_broken", which says how far it came.
        Nothing is kept. What `say` raises ends the request. Thinking without a `<think>` at its beginning
        is known as such too late: it is told, and no part of the reply.
        """
        request = self._request(messages, max_tokens, temperature, None)
        request |= {"stream": True, "stream_options": {"include_usage": True}}
        return self._patiently(
            lambda: self._streamed(request, say), threading.Event(), lambda e: e.retryable and not e.silent
        )

    def close(self) -> None:
        """Close the connections; the cache stays open."""
        self._openai.close()

    def _request(
        self, messages: Sequence[Message], max_tokens: int, temperature: float, seed: int | None
    ) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self.endpoint.model,
            "messages": [{name: _encodable(value) for name, value in m.items()} for m in messages],
            "max_tokens": max_tokens,
            "temperature": temperature,
        }
        return request if seed is None else {**request, "seed": seed}

    def _patiently(
        self,
        send: Callable[[], Reply],
        stop: threading.Event,
        passes: Callable[[LLMError], bool] = lambda error: error.retryable,
    ) -> Reply:
        """One request, sent again after what may pass: timeouts, lost connections, 429, 5xx, broken JSON."""
        for tried in range(1, self._retries + 2):
            if stop.is_set():
                raise LLMError("stopped before the request was sent", kind="llm_stopped", retryable=True)
            try:
                return send()
            except LLMError as error:
                if not passes(error) or error.kind == "llm_broken":
                    raise
                delay = 2.0 ** (tried - 1) if error.after is None else error.after
                if tried > self._retries or delay > LONGEST_WAIT or self._wait(stop, delay):
                    raise _after_tries(error, tried) from None
        raise AssertionError("the last try returns or raises")

    def _once(self, request: dict[str, Any]) -> Reply:
        raw = self._sent(self._openai.chat.completions.with_raw_response.create, request)
        return self._reply(raw.http_response.content, request)

    def _streamed(self, request: dict[str, Any], say: Callable[[str], None]) -> Reply:
        create = self._openai.chat.completions.with_streaming_response.create
        with ExitStack() as stack:
            response = self._sent(lambda **sent: stack.enter_context(create(**sent)), request)
            heard = _Heard()
            for data in _events(self._chunks(response.iter_bytes(), heard)):
                heard.add(data)
                if heard.error:
                    raise self._broken(f"failed: {self._short(heard.error)}", heard)
                if heard.fresh:
                    say(heard.take())
            if not heard.pieces and heard.unlike:  # a server that does not stream, or no such server
                reply = self._reply(bytes(heard.unlike), request)
            elif heard.ended:
                reply = self._counted(heard.text, heard.usage, heard.model, heard.finish, request)
            else:
                raise self._broken("broke off", heard)
            if rest := reply.text.removeprefix(heard.told):
                say(rest)
            return reply

    def _chunks(self, chunks: Iterator[bytes], heard: _Heard) -> Iterator[bytes]:
        """The bytes of a reply on its way; what ends it before its time is an LLMError."""
        import openai

        while True:
            try:
                chunk = next(chunks, None)
            # Older versions of the library let the errors of its HTTP client through as they are.
            except Exception as error:
                if isinstance(error, openai.APITimeoutError) or "Timeout" in type(error).__name__:
                    what = f"said nothing for {self._timeout:g} seconds"
                    raise self._broken(what, heard, silent=True) from None
                raise self._broken(f"broke off ({error.__cause__ or error})", heard) from None
            if chunk is None:
                return
            yield chunk

    def _broken(self, what: str, heard: _Heard, *, silent: bool = False) -> LLMError:
        """A reply that ended before its time: how far it came, if it had begun."""
        if not heard.told:
            return self._error(what, silent=silent)
        words = len(heard.told.split())
        hint = "the same command asks again from the start"
        return self._error(
            f"{what} after {words:,} word{'s' * (words != 1)} of the reply", hint=hint, kind="llm_broken"
        )

    def _sent(self, create: Callable[..., Any], request: Mapping[str, Any]) -> Any:
        """What `create` gives for `request`, whose parameters the model may turn down. Raises LLMError."""
        import openai

        # `from None` below: the library's errors hold the request, and with it the key.
        while True:
            sent = _without(request, self._unsupported)
            try:
                return create(**sent)
            except openai.APITimeoutError:
                raise self._error(f"gave no answer in {self._timeout:g} seconds", silent=True) from None
            except openai.APIConnectionError as error:
                raise self._error(f"cannot be reached or broke off: {error.__cause__ or error}") from None
            except openai.BadRequestError as error:
                fresh = str(error.param) if error.param in _OPTIONAL else ""
                if not fresh or fresh not in sent:
                    raise self._refusal(error) from None
                self._unsupported |= {fresh}
                continue
            except openai.APIStatusError as error:
                raise self._refusal(error) from None

    def _error(self, what: str, *, hint: str = "", retryable: bool = True, **more: Any) -> LLMError:
        prefix = self.endpoint.prefix
        kept = " What was answered is kept: the same command goes on from there" if self.cache else ""
        hint = hint or f"is the server up, and is {prefix}_BASE_URL its address?{kept}"
        message = self.endpoint.redacted(f"{self.endpoint.url} {what}")
        return LLMError(message, hint=hint, retryable=retryable, **more)

    def _refusal(self, error: Any) -> LLMError:
        """An HTTP status other than 200 (openai.APIStatusError) in the user's words."""
        status, prefix = error.status_code, self.endpoint.prefix
        said = self._said(error.body)
        if status == 401:  # the server's own words may show a part of the key
            hint = f"check {prefix}_KEY"
            return self._error("refused the key (401)", hint=hint, retryable=False, kind="llm_refused")
        if status in (402, 403) or error.code == "insufficient_quota":
            hint = f"check the account behind {prefix}_KEY, its quota and which models it may use"
            return self._error(
                f"refused the request ({status}{said})", hint=hint, retryable=False, kind="llm_refused"
            )
        if status < 400:
            to = error.response.headers.get("location", "elsewhere")
            what = f"points to {self._short(to)} ({status}), and nothing was sent there"
            hint = f"if that is where the server is, set {prefix}_BASE_URL to it"
            return self._error(what, hint=hint, retryable=False, kind="llm_not_found")
        if status == 404:
            hint = f"check {prefix}_BASE_URL (it often ends in /v1) and {prefix}_MODEL"
            what = f"has no such address or model {self.endpoint.model!r} (404{said})"
            return self._error(what, hint=hint, retryable=False, kind="llm_not_found")
        if status == 429:
            after = _retry_after(error.response.headers)
            asked = f", asks to wait {after:g} seconds" if after is not None else ""
            return self._error(
                f"has too many requests (429{asked}{said})",
                hint="fewer --jobs, or later; what was answered is kept" if self.cache else "later",
                kind="llm_busy",
                after=after,
            )
        if status >= 500 or status in (408, 409, 425):
            after = _retry_after(error.response.headers)
            return self._error(f"failed ({status}{said})", after=after)
        hint = "a shorter context, or another model"
        return self._error(
            f"cannot serve this request ({status}{said})", hint=hint, retryable=False, kind="llm_request"
        )

    def _said(self, body: object) -> str:
        """`: ` and the server's own message, short, or nothing."""
        message = body.get("message") if isinstance(body, dict) else body
        return f": {self._short(message)}" if isinstance(message, str) and message.strip() else ""

    def _short(self, text: str) -> str:
        """The start of `text` on one line. The key goes first: cut in two it would not be found."""
        return " ".join(self.endpoint.redacted(text).split())[:200]

    def _reply(self, body: bytes, request: Mapping[str, Any]) -> Reply:
        """The chat-completions body as a Reply. Raises LLMError "llm_reply" where it is something else."""
        try:
            values = json.loads(body)
            choice = values["choices"][0]
            text = choice["message"].get("content") or ""
            finish = str(choice.get("finish_reason") or "stop")
            if not isinstance(text, str):
                raise TypeError("content is no text")
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            start = self._short(body.decode("utf-8", "replace"))
            hint = f"is {self.endpoint.prefix}_BASE_URL the address of a chat-completions server?"
            raise self._error(f"sent no chat completion: {start!r}", hint=hint, kind="llm_reply") from None
        return self._counted(text, values.get("usage"), values.get("model"), finish, request)

    def _counted(self, text: str, usage: Any, named: Any, finish: str, request: Mapping[str, Any]) -> Reply:
        """The Reply of a whole text, its tokens as the server counted them, else as we do."""
        text = _encodable(text)
        model = _encodable(str(named or self.endpoint.model))
        usage = usage if isinstance(usage, dict) else {}
        tokens = (usage.get("prompt_tokens"), usage.get("completion_tokens"))
        if all(type(count) is int and 0 <= count < LARGEST_COUNT for count in tokens):
            return Reply(_without_thinking(text), tokens[0], tokens[1], model, finish)
        prompt = sum(self._count(message["content"]) for message in request["messages"])
        completion = self._count(text)
        return Reply(_without_thinking(text), prompt, completion, model, finish, estimated=True)


def _bound(response: Any) -> None:
    """Have no more than so many bytes of an HTTP response read, which is as if the server had ended there.

    What is compressed may be of any size, and was not asked for: it is taken as it stands.
    """
    whole = response.stream
    kind: Any = type(whole).__mro__[-2]  # the stream of the HTTP client that this version of openai has

    class Bounded(kind):  # type: ignore[misc]
        def __iter__(self) -> Iterator[bytes]:
            left = LARGEST if response.is_success else LARGEST_REFUSAL
            for part in whole:
                yield part[:left]
                left -= len(part)
                if left <= 0:
                    return

        def close(self) -> None:
            whole.close()

    response.headers.pop("Content-Encoding", None)
    response.stream = Bounded()


class _Heard:
    """A reply in pieces: what has come of it, and how much of it is to be told."""

    def __init__(self) -> None:
        self.text = ""
        """All of it, thinking too."""
        self.told = ""
        self._gap = ""
        self.fresh = ""
        """What may be told and was not; blanks at either end wait for what follows them."""
        self.pieces = 0
        self.ended = False
        self.error = ""
        self.finish, self.model = "stop", ""
        self.usage: Any = None
        self.unlike = bytearray()
        """Lines that are no events: a whole reply of a server that does not stream, or a page."""

    def add(self, data: bytes) -> None:
        """Take in one event, or a line that is none. What it holds that nobody foresaw is passed over."""
        if not data.startswith(b"data:"):
            self.unlike += data
            return
        body = data[5:].strip()
        self.pieces += 1
        if body == b"[DONE]":
            self.ended = True
            return
        try:
            values = json.loads(body)
        except (ValueError, RecursionError):
            return
        if isinstance(values, dict):
            self._read(values)

    def _read(self, values: dict[str, Any]) -> None:
        if failed := values.get("error"):
            message = failed.get("message") if isinstance(failed, dict) else failed
            self.error = str(message or "no reason given")
        self.model = values.get("model") or self.model
        self.usage = values.get("usage") or self.usage
        choices = values.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return
        delta = choice.get("delta")
        piece = delta.get("content") if isinstance(delta, dict) else None
        if isinstance(piece, str):
            self.text += piece
            self._settle()
            if len(self.text) > LARGEST_TEXT:
                self.error = f"more than {LARGEST_TEXT:,} characters"
        if finish := choice.get("finish_reason"):
            self.finish, self.ended = str(finish), True

    def _settle(self) -> None:
        """What of the text may be told now: none of it while it thinks, or may be about to."""
        if "<think>".startswith(self.text.strip()):
            return
        said = _encodable(_without_thinking(self.text))
        if not said.startswith(self.told):  # what was told turns out to have been thinking
            self.told, self._gap = "", "\n\n"
        self.fresh = said[len(self.told) :]

    def take(self) -> str:
        """What is to be told now."""
        fresh, self.told = self._gap + self.fresh, self.told + self.fresh
        self.fresh = self._gap = ""
        return fresh


def _events(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The lines of an event stream that hold data, and those that are no part of one."""
    for line in _lines(chunks):
        if line.strip() and not line.startswith(_CONTROL_LINES):
            yield line


def _lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """What stands between line ends; a line may come in many chunks."""
    parts: list[bytes] = []
    for chunk in chunks:
        first, *more = chunk.split(b"\n")
        parts.append(first)
        if more:
            yield b"".join(parts)
            yield from more[:-1]
            parts = more[-1:]
    yield b"".join(parts)


_CONTROL_LINES = (b":", b"event:", b"id:", b"retry:")

_OPTIONAL = ("max_tokens", "temperature", "seed", "stream_options")
"""What a model may turn down: newer OpenAI models want `max_completion_tokens` and their own temperature."""


def _after_tries(error: LLMError, tried: int) -> LLMError:
    message = f"{error.message} ({tried} tries)" if tried > 1 else error.message
    return LLMError(message, hint=error.hint, kind=error.kind, retryable=True, after=error.after)


def _without(request: Mapping[str, Any], unsupported: frozenset[str]) -> dict[str, Any]:
    sent = {name: value for name, value in request.items() if name not in unsupported}
    if "max_tokens" in unsupported:
        sent["max_completion_tokens"] = request["max_tokens"]
    return sent


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds from a `Retry-After` header, which holds seconds or an HTTP date."""
    value = headers.get("retry-after", "").strip()
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
    return max(0.0, (moment - datetime.now(timezone.utc)).total_seconds())


def _encodable(text: str) -> str:
    """`text` without lone surrogates: half an emoji, from a transcript or a reply cut at its limit."""
    return text.encode("utf-8", "replace").decode()


def _digest(url: str, request: Mapping[str, Any]) -> str:
    canonical = json.dumps([url, request], sort_keys=True)
    return hashlib.blake2b(canonical.encode(), digest_size=16).hexdigest()


def _without_thinking(text: str) -> str:
    """`text` without the reasoning that some local models write between think tags."""
    if text.lstrip().startswith("<think>") and "</think>" not in text:
        return ""
    return text.rpartition("</think>")[2].strip()
