"""`smartsearch answer`: search as `query` does, ask a model about what was found, show what it cites.

Before anything is sent it says what goes where; what leaves this machine has to be agreed to.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smartsearch.cli import consent
from smartsearch.cli.consent import ConsentOptions
from smartsearch.cli.options import (
    LLM,
    OUTPUT,
    FilterOptions,
    Paths,
    QueryOptions,
    Question,
    TalkOptions,
    option,
)
from smartsearch.cli.search import searched
from smartsearch.config import Config
from smartsearch.errors import ExitCode, UsageError
from smartsearch.output import reply as shown
from smartsearch.output import show, stream
from smartsearch.output.plain import counted
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

ANSWER_EXAMPLES = """Examples:

smartsearch answer "When did Caroline join the support group?" chats/

smartsearch answer "What did we agree on?" chats/ --show-prompt | less

smartsearch answer "Who adopted a dog?" chats/ --redact --yes --json | jq -r .answer
"""


@dataclass(frozen=True)
class AnswerOptions:
    """Which model is asked, what it gets, and how its reply is shown."""

    model: str | None = option(LLM, "Ask this model.", metavar="MODEL", show_default="SMARTSEARCH_LLM_MODEL")
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
    question: Question,
    paths: Paths = None,
    *,
    search: QueryOptions,
    filters: FilterOptions,
    ask: AnswerOptions,
    agreed: ConsentOptions,
    progress: TalkOptions,
) -> int:
    """Let a language model answer QUESTION from the turns that are found, and cite them.

    It needs `pip install 'smartsearch-cli[llm]'`, but for --show-prompt.
    """
    from smartsearch.text.dates import today

    config = consent.ready(
        search.config(), yes=agreed.yes, answers=None if ask.show_prompt else ask.model or ""
    )
    if ask.show_prompt and config.llm:
        raise UsageError("--show-prompt sends nothing, and --llm does", hint="leave out one of them")
    hint = "; --show-prompt prints what would be sent, without any"
    endpoint = (
        None
        if ask.show_prompt
        else consent.endpoint(config, yes=agreed.yes, model=ask.model or "", hint=hint)
    )
    view = View("json" if ask.json else "text", ask.around, ask.around, quiet=progress.quiet)
    answer = searched(question, paths, config, filters, view, progress)
    found, around = answer.result, answer.around
    from smartsearch.ask.answering import cited, prompt
    from smartsearch.rank.confidence import worth_reading

    read = worth_reading(found)
    hits, near = [found.hits[n] for n in read], [around[n] for n in read] if around else around
    asked = prompt(found.query, hits, near, today(config.now), found.told)
    if found.hits and endpoint is None:
        shown.show_prompt(asked, as_json=ask.json)
    elif found.hits and endpoint is not None:
        _tell(asked, endpoint, config, yes=agreed.yes)
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


def _tell(asked: Prompt, endpoint: Endpoint, config: Config, *, yes: bool) -> None:
    """Say what goes where, and ask where that is not this machine. Raises UsageError for a no."""
    turns, files = counted(len(asked.turns), "turn"), counted(asked.files, "file")
    what = f"{turns} ({asked.words:,} words) of {files}"
    consent.tell(what, lambda: "\n".join(turn.rendered for turn in asked.turns), endpoint, config, yes=yes)


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
