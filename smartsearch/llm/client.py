"""The client of one model: requests through the openai package, tried again where that may help.

The protocol is OpenAI's chat completions, which Ollama, llama.cpp, vLLM and the clouds speak too.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from smartsearch.llm import limits
from smartsearch.llm.endpoint import Endpoint
from smartsearch.llm.entropy import token_entropy
from smartsearch.llm.faults import LLMError
from smartsearch.llm.pieces import Heard, encodable, without_thinking
from smartsearch.llm.refusals import Refusals
from smartsearch.llm.replies import Message, Reply, ReplyCache, rough_tokens
from smartsearch.runtime import extras

TIMEOUT = 120.0
"""Seconds a server may stay silent: a long context on a local model takes a minute to read."""
CONNECT = 20.0
"""Seconds in which a server has to take up the connection."""
RETRIES = 4
"""Tries after the first, 1, 2, 4 and 8 seconds apart where the server names no wait."""
LONGEST_WAIT = 120.0
"""Seconds; a server that asks for more (`Retry-After`) has a quota used up, not a busy moment."""
_OPTIONAL = ("max_tokens", "temperature", "seed", "stream_options")
"""What a model may refuse: newer OpenAI models want `max_completion_tokens` and their own temperature."""
_REFUSED = {
    "response_format": re.compile(r"response.?format|json.?schema|grammar|structured|guided", re.I),
    "logprobs": re.compile(r"log.?prob", re.I),
}
"""Words of servers that refuse a rare parameter. They are asked again without it."""

T = TypeVar("T")
Wait = Callable[[threading.Event, float], bool]
"""Sleeps some seconds or until the event is set; says whether it was set."""


def require() -> None:
    """See that the packages of the extra are there, without loading them. Raises LLMError "llm_missing"."""
    if missing := extras.lacking("llm"):
        what = f"packages that are not installed: {', '.join(missing)}"
        raise LLMError(f"a language model needs {what}", hint=extras.command("llm"), kind="llm_missing")


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
        from openai import DefaultHttpxClient, OpenAI, Timeout

        self.endpoint, self.cache = endpoint, cache
        self._timeout, self._retries, self._wait, self._count = timeout, retries, wait, count
        self._unsupported: frozenset[str] = frozenset()
        self._refusals = Refusals(endpoint, kept=cache is not None)
        # What is sent goes to the endpoint and nowhere else: no redirection, for this machine no proxy.
        http = DefaultHttpxClient(
            follow_redirects=False,
            trust_env=endpoint.place != "this machine",
            headers={"Accept-Encoding": "identity"},
            event_hooks={"response": [limits.bound]},
        )
        # Its own retries are off: they pass over half a reply's JSON and cannot be stopped.
        self._openai = OpenAI(
            base_url=endpoint.base_url,
            api_key=endpoint.key or "none",
            timeout=Timeout(timeout, connect=min(timeout, CONNECT)),
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
        stop: threading.Event | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> Reply:
        """The model's reply to `messages`: from the cache, else from the server, with retries.

        A kept reply is found again for the same address, model, messages and parameters. An empty
        one is asked for again, but offline. `stop`, once set, lets a request on its way finish and starts
        none. `more`: further parameters; a server that refuses `response_format` or
        `logprobs` is asked without. Raises LLMError, whose text never holds the key.
        """
        stop = threading.Event() if stop is None else stop
        request = self._request(messages, max_tokens, temperature) | dict(more or {})
        key = _digest(self.endpoint.url, request)
        kept = self.cache.get(key) if self.cache else None
        if kept is not None and (kept.text.strip() or self.endpoint.offline):
            return kept
        reply = self._patiently(lambda: self._once(request), stop)
        if self.cache:
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
        """The model's reply to `messages`, told to `say` piece by piece; the pieces together are its text.

        Retries as `complete` until the first piece, but for a server that stays silent: it may be one that
        reads slowly. A reply that breaks off later is an LLMError "llm_broken", which says how far it came.
        Nothing is kept. What `say` raises ends the request. Thinking that does not begin with `<think>`
        is noticed too late: it is told, but is no part of the reply.
        """
        request = self._request(messages, max_tokens, temperature)
        request |= {"stream": True, "stream_options": {"include_usage": True}}
        return self._patiently(lambda: self._streamed(request, say), threading.Event(), silent=False)

    def models(self) -> dict[str, dict[str, Any]]:
        """The models that the server lists, by name, with what it tells of each. Raises LLMError."""

        def listed() -> dict[str, dict[str, Any]]:
            raw = self._sent(self._openai.models.with_raw_response.list, {})
            try:
                return {
                    str(model["id"]): dict(model) for model in json.loads(raw.http_response.content)["data"]
                }
            except (ValueError, LookupError, TypeError):
                raise self._refusals.error("lists no models", kind="llm_reply", retryable=False) from None

        return self._patiently(listed, threading.Event())

    def close(self) -> None:
        """Close the connections; the cache stays open."""
        self._openai.close()

    def _request(self, messages: Sequence[Message], max_tokens: int, temperature: float) -> dict[str, Any]:
        return {
            "model": self.endpoint.model,
            "messages": [{name: encodable(value) for name, value in m.items()} for m in messages],
            "max_tokens": max_tokens,
            "temperature": temperature,
        }

    def _patiently(self, send: Callable[[], T], stop: threading.Event, *, silent: bool = True) -> T:
        """One request, sent again after what may pass: lost connections, 429, 5xx, broken JSON; `silent`: and
        after a server's silence."""
        if self.endpoint.offline:
            hint = "without SMARTSEARCH_LLM_OFFLINE it is asked for"
            raise LLMError("no reply to this request is kept", hint=hint, kind="llm_offline")
        for tried in range(1, self._retries + 2):
            if stop.is_set():
                raise LLMError("stopped before the request was sent", kind="llm_stopped", retryable=True)
            try:
                return send()
            except LLMError as error:
                if not error.retryable or error.kind == "llm_broken" or (error.silent and not silent):
                    raise
                delay = 2.0 ** (tried - 1) if error.after is None else error.after
                if tried > self._retries or delay > LONGEST_WAIT or self._wait(stop, delay):
                    if tried > 1:
                        error.message += f" ({tried} tries)"
                        error.args = (error.message,)
                    raise
        raise AssertionError("the last try returns or raises")

    def _once(self, request: dict[str, Any]) -> Reply:
        raw = self._sent(self._openai.chat.completions.with_raw_response.create, request)
        return self._reply(raw.http_response.content, request)

    def _streamed(self, request: dict[str, Any], say: Callable[[str], None]) -> Reply:
        heard = Heard()
        with self._sent(self._openai.chat.completions.create, request) as stream:
            if "json" in stream.response.headers.get("content-type", ""):  # a server that does not stream
                body = b"".join(self._guarded(stream.response.iter_bytes(), heard))
                reply = self._reply(body, request)
            else:
                for chunk in self._guarded(stream, heard):
                    heard.add(chunk)
                    if fresh := heard.fresh():
                        say(fresh)
                    if len(heard.text) > limits.LARGEST_TEXT:
                        raise self._broken(f"failed: more than {limits.LARGEST_TEXT:,} characters", heard)
                if not heard.ended:
                    raise self._broken("broke off", heard)
                reply = self._counted(heard.text, heard.usage, heard.model, heard.finish, request)
        if rest := reply.text.removeprefix(heard.told):
            say(rest)
        return reply

    def _guarded(self, parts: Iterator[Any], heard: Heard) -> Iterator[Any]:
        """The parts of a reply as they arrive; an early end is raised as an LLMError."""
        import openai

        # Some versions of the library let the errors of its HTTP client through as they are.
        try:
            yield from parts
        except limits.Endless as error:
            raise self._broken(str(error), heard, retryable=False) from None
        except openai.APIConnectionError as error:
            if isinstance(error, openai.APITimeoutError):
                raise self._silence(heard) from None
            raise self._broken(f"broke off ({error.__cause__ or error})", heard) from None
        except openai.APIError as error:  # sent by the server within its reply
            raise self._broken(f"failed{self._refusals.said(error.body)}", heard) from None
        except Exception as error:
            if "Timeout" in type(error).__name__:
                raise self._silence(heard) from None
            raise self._broken(f"broke off ({error})", heard) from None

    def _silence(self, heard: Heard) -> LLMError:
        return self._broken(f"said nothing for {self._timeout:g} seconds", heard, silent=True)

    def _broken(self, what: str, heard: Heard, **more: Any) -> LLMError:
        """The error of a reply that ended early; it says how far the reply came."""
        if not heard.told:
            return self._refusals.error(what, **more)
        words = len(heard.told.split())
        what = f"{what} after {words:,} word{'s' * (words != 1)} of the reply"
        return self._refusals.error(
            what, hint="the same command asks again from the start", kind="llm_broken"
        )

    def _sent(self, create: Callable[..., Any], request: Mapping[str, Any]) -> Any:
        """What `create` gives for `request`, whose parameters the model may turn down. Raises LLMError."""
        import openai

        # `from None` below: the library's errors hold the request, and with it the key.
        while True:
            sent = _without(request, self._unsupported)
            try:
                return create(**sent)
            except openai.APITimeoutError as error:
                if type(error.__cause__).__name__ == "ConnectTimeout":
                    raise self._refusals.error("does not take up connections", absent=True) from None
                what = f"gave no answer in {self._timeout:g} seconds"
                raise self._refusals.error(what, silent=True) from None
            except (openai.APIConnectionError, limits.Endless) as error:
                cause = error.__cause__ or error  # some versions of the library wrap what they do not know
                if isinstance(cause, limits.Endless):
                    raise self._refusals.error(str(cause), retryable=False) from None
                absent = type(cause).__name__ == "ConnectError"
                what = f"cannot be reached or broke off: {cause}"
                raise self._refusals.error(what, absent=absent) from None
            except openai.APIStatusError as error:
                fresh = self._turned_down(error)
                if fresh not in sent:
                    raise self._refusals.refusal(error) from None
                self._unsupported |= {fresh}

    def _turned_down(self, error: Any) -> str:
        """The parameter that a status error is about, or nothing."""
        if error.status_code == 400 and error.param in _OPTIONAL:
            return str(error.param)
        if error.status_code not in (400, 422, 500, 501):
            return ""
        said = f"{error.param} {self._refusals.said(error.body)}"
        return next((name for name, pattern in _REFUSED.items() if pattern.search(said)), "")

    def _reply(self, body: bytes, request: Mapping[str, Any]) -> Reply:
        """The chat-completions body as a Reply. Raises LLMError "llm_reply" where it is something else."""
        try:
            values = json.loads(body)
            choice = values["choices"][0]
            text = choice["message"].get("content") or ""
            finish = str(choice.get("finish_reason") or "stop")
            entropy = token_entropy(choice.get("logprobs")) if request.get("logprobs") else None
            if not isinstance(text, str):
                raise TypeError("content is no text")
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            what = f"sent no chat completion: {self.endpoint.short(body.decode('utf-8', 'replace'))!r}"
            hint = f"is {self.endpoint.prefix}_BASE_URL the address of a chat-completions server?"
            raise self._refusals.error(what, hint=hint, kind="llm_reply") from None
        if request.get("logprobs") and entropy is None:  # the server ignores the parameter
            self._unsupported |= {"logprobs"}
        reply = self._counted(text, values.get("usage"), values.get("model"), finish, request)
        return replace(reply, entropy=entropy)

    def _counted(self, text: str, usage: Any, named: Any, finish: str, request: Mapping[str, Any]) -> Reply:
        """The Reply of a whole text, its tokens as the server counted them, else as we do."""
        text = encodable(text)
        model = encodable(str(named or self.endpoint.model))
        counts: dict[str, Any] = usage if isinstance(usage, dict) else getattr(usage, "__dict__", {})
        prompt: Any = counts.get("prompt_tokens")
        completion: Any = counts.get("completion_tokens")
        estimated = not (_is_count(prompt) and _is_count(completion))
        if estimated:
            prompt = sum(self._count(message["content"]) for message in request["messages"])
            completion = self._count(text)
        return Reply(without_thinking(text), prompt, completion, model, finish, estimated)


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < limits.LARGEST_COUNT


def _without(request: Mapping[str, Any], unsupported: frozenset[str]) -> dict[str, Any]:
    sent = {name: value for name, value in request.items() if name not in unsupported}
    if "logprobs" in unsupported:
        sent.pop("top_logprobs", None)
    if "max_tokens" in unsupported:
        sent["max_completion_tokens"] = request["max_tokens"]
    return sent


def _digest(url: str, request: Mapping[str, Any]) -> str:
    canonical = json.dumps([url, request], sort_keys=True)
    return hashlib.blake2b(canonical.encode(), digest_size=16).hexdigest()
