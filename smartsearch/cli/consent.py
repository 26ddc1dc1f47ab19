"""Decides to which server chats may be sent: tells the user before, and asks where the user must agree.

Serves every command that asks a language model. Only this machine is sent to unasked.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from weakref import WeakSet

from smartsearch import systems
from smartsearch.cli.options import LLM, option
from smartsearch.config import Config
from smartsearch.errors import UsageError, listed
from smartsearch.output import stream
from smartsearch.output.plain import counted

if TYPE_CHECKING:
    from smartsearch.ask.door import Agree
    from smartsearch.llm import Endpoint, Price
    from smartsearch.retrieve.grep import Haystack
    from smartsearch.systems.base import Asking, Plan

SETUP = (
    "such as, for a server that understands OpenAI's requests,",
    "Ollama:    SMARTSEARCH_LLM_BASE_URL=http://localhost:11434/v1 SMARTSEARCH_LLM_MODEL=qwen3:8b",
    "llama.cpp: SMARTSEARCH_LLM_BASE_URL=http://localhost:8080/v1 SMARTSEARCH_LLM_MODEL=any",
    "vLLM:      SMARTSEARCH_LLM_BASE_URL=http://localhost:8000/v1 SMARTSEARCH_LLM_MODEL=the name it serves",
    "a cloud:   SMARTSEARCH_LLM_BASE_URL=https://.../v1 SMARTSEARCH_LLM_MODEL=... SMARTSEARCH_LLM_KEY=...",
)
"""Lines of help for a user who has set no model yet."""


@dataclass(frozen=True)
class ConsentOptions:
    """Whether the user has agreed already."""

    yes: bool = option(
        LLM, "Send to a server that is not on this machine without asking.", "--yes", "-y", default=False
    )


def endpoint(config: Config, *, yes: bool, asks: bool = True, model: str = "", hint: str = "") -> Endpoint:
    """The server to ask, once it is clear that it can and may be asked: before anything is searched.

    `asks`: the command can ask the user. Raises LLMError "llm_missing", with `hint` added, and UsageError.
    """
    from smartsearch import llm

    return _agreed(lambda: [llm.reader_endpoint(model=model)], config, yes=yes, asks=asks, hint=hint)[0]


def _agreed(
    find: Callable[[], list[Endpoint]], config: Config, *, yes: bool, asks: bool, hint: str = ""
) -> list[Endpoint]:
    """As `endpoint`, of the servers that `find` gives."""
    from smartsearch import llm

    try:
        found = find()
    except llm.LLMError as error:
        raise llm.LLMError(
            listed(error.message, *SETUP), hint=f"{error.hint}{hint}", kind=error.kind
        ) from error
    llm.require()
    away = list({one.host: one for one in found if not one.agreed(config.trusted_hosts)}.values())
    if away and not (yes or (asks and stream.can_ask())):
        why = "no user is there to agree" if asks else "this command asks no questions"
        which = f"{' and '.join(one.url for one in away)} {'is' if len(away) == 1 else 'are'}"
        raise UsageError(
            f"{which} not on this machine, and {why}: nothing was sent", hint=_trust(*away), kind="not_sent"
        )
    return found


def ready(config: Config, *, yes: bool = False, asks: bool = True, answers: str | None = None) -> Config:
    """The config, its system's language model set up where it wants one, and with `yes` its server trusted.

    `answers` is a model that will be asked too ("": the one set up), so that one refusal names both servers.
    Before anything is read. Raises ConfigError, LLMError "llm_missing", UsageError.
    """
    systems.check(config)
    return agreed_to(config, yes=yes, asks=asks, answers=answers)


def agreed_to(config: Config, *, yes: bool, asks: bool, answers: str | None = None) -> Config:
    """As `ready`, whichever system is asked."""
    if not config.llm:
        return config
    from smartsearch import llm

    def find() -> list[Endpoint]:
        beside = [] if answers is None else [llm.reader_endpoint(model=answers)]
        return [_systems(config), *beside]

    found = _agreed(find, config, yes=yes, asks=asks)[0]
    if not asks:
        stream.talk(f"what systems ask their language model goes to {_to(found)}")
    return replace(config, trusted_hosts=(*config.trusted_hosts, found.host)) if yes else config


def asked_for(config: Config) -> bool:
    """Whether the user will be asked before a system may send: then no spinner runs."""
    if not config.llm:
        return False
    return not _systems(config).agreed(config.trusted_hosts)


def _systems(config: Config) -> Endpoint:
    """The server that systems ask."""
    from smartsearch import llm

    return llm.memory_endpoint(model=config.memory_llm)


def agreeing(config: Config, *, many: bool = False) -> Agree:
    """Tells what a system is about to send, once for `many` questions, and asks where the user must agree."""
    told: WeakSet[Haystack] = WeakSet()

    def agree(system: Asking, haystack: Haystack, plans: Callable[[], tuple[Plan, Plan]]) -> None:
        if haystack in told:
            return
        told.add(haystack)
        making, question = plans()
        turns = haystack.corpus.turns
        of = counted(len({turn.path for turn in turns}), "file")
        price = system.asker.endpoint.price
        parts = [said(making, price)] if making.calls else []
        if question.calls:
            one = said(question, price)
            parts.append(f"{one} a question" if many or parts else one)
        if not (making.calls or question.calls):
            return
        what = f"about {', then '.join(parts)}, of {of}"
        tell(what, lambda: "\n".join(turn.rendered for turn in turns), system.asker.endpoint, config)
        system.asker.allowed = True

    return agree


def tell(
    what: str, text: Callable[[], str], endpoint: Endpoint, config: Config, *, yes: bool = False
) -> None:
    """Tell what goes where, and ask if the user must agree to send `text`. Raises UsageError for a no."""
    if endpoint.offline:
        return
    stream.talk(f"sends {what} to {_to(endpoint)}")
    if endpoint.place != "this machine" and not config.redact:
        from smartsearch.text.redact import kinds

        if secrets := kinds(text()):
            stream.warn(f"there seem to be secrets among it ({', '.join(secrets)}): --redact masks them")
    if not (yes or endpoint.agreed(config.trusted_hosts) or stream.confirm("send it?")):
        raise UsageError("nothing was sent", hint=_trust(endpoint), kind="not_sent")


def said(plan: Plan, price: Price | None = None) -> str:
    """`312 calls, 410,000 tokens (31 episodes), $0.09`."""
    tokens = plan.prompt_tokens + plan.completion_tokens
    unit = f" ({plan.unit})" if plan.unit else ""
    cost = f", ${price.of(plan.prompt_tokens, plan.completion_tokens):,.2f}" if price else ""
    return f"{counted(plan.calls, 'call')}, {tokens:,} tokens{unit}{cost}"


def _to(endpoint: Endpoint) -> str:
    to = f"{endpoint.place}: {endpoint.url}" if endpoint.place else endpoint.url
    return f"{to} (model {endpoint.model})"


def _trust(*endpoints: Endpoint) -> str:
    hosts = [one.host for one in endpoints]
    return (
        f"--yes; or for good, SMARTSEARCH_TRUSTED_HOSTS={','.join(hosts)} "
        f"or trusted_hosts = {json.dumps(hosts)} in the user file"
    )
