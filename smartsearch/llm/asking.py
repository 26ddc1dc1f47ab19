"""Asks a language model for a system: text, JSON of a given shape, or its uncertainty; counts the cost."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from smartsearch.errors import UsageError
from smartsearch.llm.client import Client
from smartsearch.llm.entropy import answer_entropy
from smartsearch.llm.faults import LLMError
from smartsearch.llm.replies import Message, Reply
from smartsearch.types import Cost

if TYPE_CHECKING:
    from pydantic import BaseModel

T = TypeVar("T")
M = TypeVar("M", bound="BaseModel")

TEMPERATURES = (0.0, 0.2, 0.4, 0.6, 0.8)
"""Of the tries at JSON: QRMeM asks again at most 4 times, each time warmer."""
TOP_LOGPROBS = 20
"""Tokens whose log-probabilities are asked for at each place: the most that servers give."""
LOST = 8
"""A server counts as missing once this many requests in a row have failed, each after its retries."""
SAMPLES, SAMPLE_TEMPERATURE = 5, 0.7
"""Drafts whose agreement is measured where a server gives no log-probabilities."""


@dataclass(frozen=True)
class Spent:
    """Replies so far, with those from the cache, and the tokens of all, counted as if none had been cached.

    `estimated` counts the replies whose tokens the server did not tell.
    """

    calls: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def __sub__(self, other: Spent) -> Spent:
        """What was spent since `other`, an earlier moment."""
        return Spent(*(getattr(self, f.name) - getattr(other, f.name) for f in fields(self)))

    @property
    def cost(self) -> Cost:
        """The same as a result's trace has it."""
        return Cost(self.calls, self.prompt_tokens, self.completion_tokens)


@dataclass(frozen=True)
class Uncertainty:
    """How unsure a model is of its draft, `by` which means, and the tokens that it wrote.

    "logprobs": mean token entropy of a greedy draft, nats. "samples": entropy of which drafts agree, of its
    largest value, 0 to 1. The two are not comparable.
    """

    value: float
    by: Literal["logprobs", "samples"]
    tokens: int


def no_objection(_value: object) -> str:
    """The check of a reply whose shape is all that matters."""
    return ""


class Asker:
    """One endpoint, asked at most `at_once` times at the same time. Safe to use from several threads.

    `mask` is what becomes of texts before they are sent. It sends to this machine alone until `allowed`.
    """

    def __init__(self, client: Client, *, at_once: int = 4, mask: Callable[[str], str] = str) -> None:
        self.client = client
        self.endpoint = client.endpoint
        self.allowed = client.endpoint.agreed(())
        self._mask = mask
        self._at_once = at_once
        self._places = threading.BoundedSemaphore(at_once)
        self._lock = threading.Lock()
        self._spent = Spent()
        self._failed = 0
        self._job = threading.local()
        """`stop` of the `each` that a thread works for."""

    @property
    def spent(self) -> Spent:
        """All that was spent so far; the difference of two such values is what was spent in between."""
        return self._spent

    def parsed(
        self,
        messages: Sequence[Message],
        model: type[M],
        *,
        max_tokens: int,
        check: Callable[[M], str] = no_objection,
    ) -> M:
        """The reply as a `model`, a class of pydantic, whose schema goes with the request and in the prompt.

        A reply that is not such JSON, even repaired, that is cut, refused or empty, or in which `check` finds
        a fault, is asked for again, at most 4 times, with the fault named. Raises LLMError,
        "llm_json" for a model that never gives one.
        """
        schema = model.model_json_schema()
        shape = {"type": "json_schema", "json_schema": {"name": model.__name__, "schema": schema}}
        messages = asked = _with_schema(messages, schema)
        wrong = ""
        for temperature in TEMPERATURES:
            reply = self.reply(asked, max_tokens, temperature, {"response_format": shape})
            value, wrong = _value(reply, model, max_tokens)
            if value is not None and not (wrong := check(value)):
                return value
            again = (
                f"Your reply cannot be used: {wrong}. Give a whole new one: the JSON object, nothing else."
            )
            asked = [*messages, *_said(reply), {"role": "user", "content": again}]
        raise LLMError(
            f"{self._where} gave no usable {model.__name__} in {len(TEMPERATURES)} tries: {wrong}",
            hint="a larger model, or one whose thinking is turned off",
            kind="llm_json",
        )

    def uncertainty(self, messages: Sequence[Message], *, max_tokens: int = 16) -> Uncertainty:
        """How unsure the model is of the first `max_tokens` of its reply.

        Raises LLMError; "llm_reply" for a model that says nothing within them, such as one that thinks first.
        """
        if "logprobs" not in self.client.unsupported:
            more = {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
            try:
                reply = self._draft(messages, max_tokens, 0.0, more)
                if reply.entropy is not None:
                    return Uncertainty(reply.entropy, "logprobs", reply.completion_tokens)
            except LLMError as error:
                if error.kind != "llm_offline":  # the kept replies may be of the other kind
                    raise
        drafts = [
            self._draft(messages, max_tokens, SAMPLE_TEMPERATURE, {"seed": seed}) for seed in range(SAMPLES)
        ]
        tokens = sum(draft.completion_tokens for draft in drafts)
        return Uncertainty(answer_entropy([draft.text for draft in drafts]), "samples", tokens)

    def each(self, jobs: Sequence[Callable[[], T]]) -> list[T | LLMError]:
        """What each job gives, in their order, or the LLMError that it ended with.

        An error that every job would meet (a refused key, a missing server) is raised, and jobs that have not
        begun send nothing.
        """
        stop = threading.Event()

        def run(job: Callable[[], T]) -> T | LLMError:
            self._job.stop = stop
            try:
                return job()
            except LLMError as error:
                if error.general:
                    stop.set()
                return error

        pool = ThreadPoolExecutor(max(1, min(self._at_once, len(jobs))))
        try:
            done = list(pool.map(run, jobs))
        except BaseException:  # Ctrl-C or a time limit: replies on their way are not awaited
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        pool.shutdown()
        general = [one for one in done if isinstance(one, LLMError) and one.general]
        if general:
            raise next((one for one in general if one.kind != "llm_stopped"), general[0])
        return done

    @property
    def _where(self) -> str:
        return f"{self.endpoint.url} (model {self.endpoint.model})"

    def _draft(
        self, messages: Sequence[Message], max_tokens: int, temperature: float, more: Mapping[str, Any]
    ) -> Reply:
        reply = self.reply(messages, max_tokens, temperature, more)
        if not reply.text.strip():
            hint = "a model that thinks first does not do here, unless that is turned off"
            raise LLMError(f"{self._where} said nothing in {max_tokens} tokens", hint=hint, kind="llm_reply")
        return reply

    def reply(
        self,
        messages: Sequence[Message],
        max_tokens: int,
        temperature: float = 0.0,
        more: Mapping[str, Any] | None = None,
    ) -> Reply:
        """The model's reply, which may be empty or cut at `max_tokens`. Raises LLMError, UsageError."""
        if not self.allowed:
            hint = f"agree to {self.endpoint.url} first: trusted_hosts, or --yes"
            raise UsageError("nothing was sent, because no user agreed to it", hint=hint, kind="not_sent")
        stop = getattr(self._job, "stop", None)
        messages = [{**message, "content": self._mask(message["content"])} for message in messages]
        with self._places, self._counting():
            reply = self.client.complete(
                messages, max_tokens=max_tokens, temperature=temperature, stop=stop, more=more
            )
        one = Spent(1, reply.cached, reply.prompt_tokens, reply.completion_tokens, reply.estimated)
        with self._lock:
            self._spent += one
        return reply

    @contextmanager
    def _counting(self) -> Iterator[None]:
        """Mark the error of a server that keeps failing as one that every other request would meet."""
        try:
            yield
        except LLMError as error:
            self._failed += error.retryable and not error.general
            error.absent |= self._failed >= LOST
            raise
        self._failed = 0


def _with_schema(messages: Sequence[Message], schema: Mapping[str, Any]) -> list[Message]:
    """The messages, the first of which says what the reply has to look like: some servers drop the schema."""
    first, *rest = messages
    shape = json.dumps(schema, separators=(",", ":"), ensure_ascii=False)
    wanted = f"Reply with one JSON object and nothing else. Its JSON schema: {shape}"
    return [{**first, "content": f"{first['content']}\n\n{wanted}"}, *rest]


def _said(reply: Reply) -> list[Message]:
    """The reply as a message; none where it is cut, for it would lead the model to the same end."""
    whole = reply.text and reply.finish != "length"
    return [{"role": "assistant", "content": reply.text}] if whole else []


def _value(reply: Reply, model: type[M], max_tokens: int) -> tuple[M | None, str]:
    """The reply as a `model`, or None and what is wrong with it. One that is cut is never repaired."""
    from json_repair import repair_json
    from pydantic import ValidationError

    if reply.finish == "length":
        return None, f"it was cut at {max_tokens} tokens; be shorter"
    if reply.finish == "content_filter" or not reply.text.strip():
        return None, "it was empty or withheld"
    try:
        return model.model_validate_json(reply.text), ""
    except ValidationError:
        pass
    repaired = repair_json(reply.text)
    if not repaired:
        return None, "it holds no JSON"
    try:
        return model.model_validate_json(repaired), ""
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        at = ".".join(map(str, first["loc"]))
        return None, f"{at}: {first['msg']}" if at else first["msg"]
