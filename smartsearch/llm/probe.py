"""Finds out what a server of language models can do: asks for a list and two short replies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from smartsearch.llm.asking import TOP_LOGPROBS
from smartsearch.llm.client import Client
from smartsearch.llm.faults import LLMError
from smartsearch.llm.replies import Message

_ASKED: tuple[Message, ...] = ({"role": "user", "content": "Name one colour."},)
_SCHEMA = {
    "type": "object",
    "properties": {"colour": {"type": "string"}},
    "required": ["colour"],
    "additionalProperties": False,
}
_CONTEXT = ("max_model_len", "context_length", "context_window", "n_ctx", "n_ctx_train")
"""Names that servers give to the tokens a model can read, the most reliable first."""


@dataclass(frozen=True)
class Capabilities:
    """`models`: what the server lists, if anything. `context`: tokens, 0 where it does not tell.

    `schema` and `logprobs`: whether a reply came as the schema has it, and with log-probabilities. `thinks`:
    it said nothing in 64 tokens, as models do that think first.
    """

    models: tuple[str, ...]
    context: int
    answers_as: str
    schema: bool
    logprobs: bool
    thinks: bool


def probe(client: Client) -> Capabilities:
    """What the client's model and server can do. Raises LLMError where they cannot be asked at all."""
    listed: dict[str, dict[str, Any]] = {}
    try:
        listed = client.models()
    except LLMError as error:
        if error.kind not in ("llm_not_found", "llm_request", "llm_reply"):  # few need a list
            raise
    shape = {"type": "json_schema", "json_schema": {"name": "Colour", "schema": _SCHEMA}}
    whole = client.complete(_ASKED, max_tokens=64, more={"response_format": shape})
    drafted = client.complete(_ASKED, max_tokens=8, more={"logprobs": True, "top_logprobs": TOP_LOGPROBS})
    colour: object = None
    with suppress(ValueError):
        colour = json.loads(whole.text)
    return Capabilities(
        tuple(listed),
        _context(
            listed.get(client.endpoint.model) or (next(iter(listed.values())) if len(listed) == 1 else {})
        ),
        whole.model,
        isinstance(colour, dict) and list(colour) == ["colour"],
        drafted.entropy is not None,
        not whole.text.strip(),
    )


def _context(model: Mapping[str, Any]) -> int:
    """Tokens that a model of the list can read, as its server tells; 0 where it does not."""
    meta = model.get("meta")
    told = {**(meta if isinstance(meta, dict) else {}), **model}
    return next((told[name] for name in _CONTEXT if isinstance(told.get(name), int)), 0)
