"""`smartsearch answer`: search as `query` does, ask a model about what was found, show what it cites.

Before anything is sent it says what goes where; what leaves this machine has to be agreed to.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from smartsearch.cli.options import LLM, OUTPUT, FilterOptions, QueryOptions, TalkOptions, option
from smartsearch.cli.search import searched
from smartsearch.config import Config
from smartsearch.errors import ExitCode, UsageError, listed
from smartsearch.output import reply as shown
from smartsearch.output import show, stream
from smartsearch.output.show import View

if TYPE_CHECKING:
    from smartsearch.llm import Endpoint, Reply
    from smartsearch.output.reply import Prompt

MAX_TOKENS = 2048
"""The most a reply may have: a paragraph, with room for a model that thinks first."""
RETRIES = 2
"""Tries after the first: somebody waits."""
READ_SHARE = 0.5
"""A server that counted less than this share of the prompt we estimate has likely not read all of it."""

SETUP = (
    "such as, for a server that understands OpenAI's requests,",
    "Ollama:    SMARTSEARCH_LLM_BASE_URL=http://localhost:11434/v1 SMARTSEARCH_LLM_MODEL=qwen3:8b",
    "llama.cpp: SMARTSEARCH_LLM_BASE_URL=http://localhost:8080/v1 SMARTSEARCH_LLM_MODEL=any",
    "vLLM:      SMARTSEARCH_LLM_BASE_URL=http://localhost:8000/v1 SMARTSEARCH_LLM_MODEL=the name it serves",
    "a cloud:   SMARTSEARCH_LLM_BASE_URL=https://.../v1 SMARTSEARCH_LLM_MODEL=... SMARTSEARCH_LLM_KEY=...",
)
"""Lines of help for who has set no model yet."""

ANSWER_EXAMPLES = """Examples:

smartsearch answer "When did Caroline join the support group?" chats/

smartsearch answer "What did we agree on?" chats/ --show-prompt | less

smartsearch answer "Who adopted a dog?" chats/ --redact --yes --json | jq -r .answer
"""


@dataclass(frozen=True)
class AnswerOptions:
    """Which model is asked, what it gets, and how its reply is shown."""

    model: str | None = option(
        LLM, "Ask this model.", "--model", metavar="MODEL", show_default="SMARTSEARCH_LLM_MODEL"
    )
    max_tokens: int = option(
        LLM, "Most tokens of the reply, thinking included.", default=MAX_TOKENS, min=1, metavar="N"
    )
    wait: float = option(
        LLM,
        "Most seconds the server may stay silent; a long context on a CPU takes minutes to read.",
        default=120.0,
        min=0.1,
        metavar="SECONDS",
    )
    yes: bool = option(
        LLM, "Send to a server that is not on this machine without asking.", "--yes", "-y", default=False
    )
    show_prompt: bool = option(LLM, "Print what would be sent, and send nothing.", default=False)
    around: int = option(
        OUTPUT,
        "Turns of context on both sides of each hit, sent too.",
        "--context",
        "-C",
        default=0,
        min=0,
        metavar="N",
    )
    json: bool = option(
        OUTPUT, "One JSON record: the reply, what it cites, and the search's result.", default=False
    )


def answer(
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="What you want to know.", show_default=False)
    ],
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH",
            help="Files, folders, @NAMES (`formats places`); - is standard input.",
            show_default=".",
        ),
    ] = None,
    *,
    search: QueryOptions,
    filters: FilterOptions,
    ask: AnswerOptions,
    progress: TalkOptions,
) -> int:
    """Let a language model answer QUESTION from the turns that are found, and cite them.

    It needs `pip install 'smartsearch[llm]'`, but for --show-prompt.
    """
    from smartsearch.text.dates import today

    config = search.config()
    endpoint = None if ask.show_prompt else _endpoint(ask, config)
    view = View("json" if ask.json else "text", ask.around, ask.around, quiet=progress.quiet)
    answer = searched(question, paths, config, filters, view, progress)
    found, around = answer.result, answer.around
    from smartsearch.ask.answering import cited, prompt

    asked = prompt(found.query, found.hits, around, today(config.now))
    if found.hits and endpoint is None:
        shown.show_prompt(asked, as_json=ask.json)
    elif found.hits and endpoint is not None:
        _tell(asked, endpoint, config, ask)
        reply = _asked(asked, endpoint, ask, wanted=progress.progress == "auto")
        citations = cited(reply.text, len(asked.turns))
        of = shown.Searched(found, around, config)
        shown.answered(asked, reply, endpoint, citations, of, as_json=ask.json)
        _doubt(asked, reply, ask)
    else:
        stream.talk(f"nothing found for {found.query!r}: no model was asked")
        if ask.json:
            stream.write_json(shown.unanswered(shown.Searched(found, around, config)))
    if not progress.quiet:
        show.complain(found, paths or ())
    return ExitCode.FOUND if found.hits else ExitCode.NOTHING


def _endpoint(ask: AnswerOptions, config: Config) -> Endpoint:
    """The server to ask, once it is clear that it can and may be asked: before anything is searched."""
    from smartsearch import llm

    try:
        endpoint = llm.reader_endpoint(model=ask.model or "")
    except llm.LLMError as error:
        hint = f"{error.hint}; --show-prompt prints what would be sent, without any"
        raise llm.LLMError(listed(error.message, *SETUP), hint=hint, kind=error.kind) from error
    llm.require()
    if not (_agreed(endpoint, ask, config) or stream.can_ask()):
        raise UsageError(
            f"{endpoint.url} is not on this machine, and nobody is there to be asked: nothing was sent",
            hint=_trust(endpoint),
            kind="not_sent",
        )
    return endpoint


def _agreed(endpoint: Endpoint, ask: AnswerOptions, config: Config) -> bool:
    """Whether nobody need be asked: it is this machine, `--yes`, or one of the user's trusted hosts."""
    trusted = {host.strip().lower() for host in config.trusted_hosts}
    return ask.yes or endpoint.place == "this machine" or endpoint.host in trusted


def _trust(endpoint: Endpoint) -> str:
    return (
        f"--yes; or for good, SMARTSEARCH_TRUSTED_HOSTS={endpoint.host} "
        f'or trusted_hosts = ["{endpoint.host}"] in the user file'
    )


def _tell(asked: Prompt, endpoint: Endpoint, config: Config, ask: AnswerOptions) -> None:
    """Say what goes where, and ask where that is not this machine. Raises UsageError for a no."""
    turns, files = _count(len(asked.turns), "turn"), _count(asked.files, "file")
    to = f"{endpoint.place}: {endpoint.url}" if endpoint.place else endpoint.url
    stream.talk(f"sends {turns} ({asked.words:,} words) of {files} to {to} (model {endpoint.model})")
    if endpoint.place != "this machine" and not config.redact:
        from smartsearch.text.redact import kinds

        if secrets := kinds("\n".join(turn.rendered for turn in asked.turns)):
            stream.warn(f"there seem to be secrets among it ({', '.join(secrets)}): --redact masks them")
    if not _agreed(endpoint, ask, config) and not stream.confirm("send it?"):
        raise UsageError("nothing was sent", hint=_trust(endpoint), kind="not_sent")


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _asked(asked: Prompt, endpoint: Endpoint, ask: AnswerOptions, *, wanted: bool) -> Reply:
    """The model's reply, shown as it comes unless JSON is wanted. Raises LLMError."""
    from smartsearch import llm

    with (
        shown.live(f"waiting for {endpoint.model}", wanted=wanted, silent=ask.json) as say,
        closing(llm.Client(endpoint, timeout=ask.wait, retries=RETRIES)) as client,
    ):
        reply = client.stream(asked.messages, say, max_tokens=ask.max_tokens)
    if not reply.text:
        hint = "a larger --max-tokens, if it was still thinking" if reply.finish == "length" else "ask again"
        raise llm.LLMError(f"{endpoint.url} gave an empty reply", hint=hint, kind="llm_reply", retryable=True)
    return reply


def _doubt(asked: Prompt, reply: Reply, ask: AnswerOptions) -> None:
    """Warn of a reply that is not whole, and of a prompt that was not read whole."""
    if reply.finish == "length":
        stream.warn(f"the reply was cut at {ask.max_tokens:,} tokens: a larger --max-tokens")
    if not reply.estimated and 0 < reply.prompt_tokens < READ_SHARE * asked.tokens:
        stream.warn(
            f"the server counted {reply.prompt_tokens:,} tokens where about {asked.tokens:,} were sent: "
            "a context that is too small loses turns (Ollama: OLLAMA_CONTEXT_LENGTH; or a smaller --budget)"
        )
