"""The language models of `smartsearch bench`: options, what they cost, and the record of their answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smartsearch.cli.options import LLM, option
from smartsearch.errors import SmartsearchError, UsageError
from smartsearch.output import stream

if TYPE_CHECKING:
    from smartsearch.bench.accuracy import Estimate, Price
    from smartsearch.bench.run import Outcome
    from smartsearch.bench.session import Plan
    from smartsearch.models.tools import Tools

PROTOCOLS = ("memos", "evermemos")


@dataclass(frozen=True)
class AccuracyOptions:
    """Whether a language model answers from what the reference row leaves, and another judges."""

    reader: str | None = option(
        LLM,
        "Let this model answer (address and key: SMARTSEARCH_LLM_BASE_URL, SMARTSEARCH_LLM_KEY).",
        "--reader",
        metavar="MODEL",
        show_default="no accuracy",
    )
    judge: str | None = option(
        LLM,
        "Let this model judge (SMARTSEARCH_JUDGE_BASE_URL, SMARTSEARCH_JUDGE_KEY).",
        "--judge",
        metavar="MODEL",
        show_default="the reader",
    )
    protocol: str = option(
        LLM, "Short answer and binary judge, or seven steps.", default="memos", choices=PROTOCOLS
    )
    jobs: int = option(LLM, "Requests at a time.", "--jobs", default=4, min=1, metavar="N")
    price: str | None = option(
        LLM,
        "USD per million tokens, read/written, such as 0.15/0.60; the judge's after a comma.",
        "--price",
        metavar="IN/OUT",
        show_default="not told",
    )


class Readers:
    """The language models of the options, known to be set up before anything is measured."""

    def __init__(self, options: AccuracyOptions) -> None:
        self._options = options
        self.stopped: SmartsearchError | None = None
        if options.reader is None:
            idle = [name for name in ("judge", "price") if getattr(options, name) is not None]
            if idle:
                raise UsageError(f"--{idle[0]} needs --reader", hint=f"--reader MODEL --{idle[0]} ...")
            return
        from smartsearch import llm

        self._reader = llm.reader_endpoint(model=options.reader)
        self._judge = llm.judge_endpoint(self._reader, model=options.judge or "")
        self._prices = _prices(options.price)

    def accuracy(
        self, planned: Plan, outcome: Outcome, tools: Tools, out: Path, stage: Callable[..., Any]
    ) -> dict[str, Any] | None:
        """Accuracy from what the reference row keeps, its cost told before and after."""
        if self._options.reader is None:
            return None
        from smartsearch import llm
        from smartsearch.bench import accuracy, session

        count = tools.tokenizer.count
        every = [accuracy.Item(question, text) for question, text in session.contexts(planned, outcome)]
        items = [item for item in every if item.question.answer]
        if len(items) < len(every):
            stream.warn(f"{len(every) - len(items)} questions have no answer to judge by: not asked")
        if not items:
            return None
        asked, prices = self._options, self._prices
        stream.talk(_told(accuracy.estimate(items, count, asked.protocol, prices)))
        cache = llm.ReplyCache(out / "replies.db")
        reader = llm.Client(self._reader, cache, count=count)
        judge = llm.Client(self._judge, cache, count=count)
        try:
            with stage("answers", len(items)) as step:
                found = accuracy.measure(items, reader, judge, asked.protocol, jobs=asked.jobs, step=step)
        except KeyboardInterrupt:
            stream.talk(f"the replies so far are kept in {cache.path} and will not be asked for again")
            raise
        record = found.record(prices)
        record["reader"] = record["reader"] or [self._reader.model]
        record["judge"] = record["judge"] or [self._judge.model]
        stream.talk(_spent(record))
        if found.stopped is not None:
            stream.warn("stopped asking; the answers so far are kept and counted")
            self.stopped = found.stopped
        record["left_out"] = {"reader": sorted(reader.unsupported), "judge": sorted(judge.unsupported)}
        return record


def _prices(text: str | None) -> dict[str, Price] | None:
    """USD per million tokens by role, from `0.15/0.60` or `0.15/0.60,2/8`."""
    if text is None:
        return None
    from smartsearch.bench.accuracy import JUDGE, READER, Price

    try:
        pairs = [[float(number) for number in part.split("/")] for part in text.split(",")]
        prices = [Price(*pair) for pair in pairs]
    except (ValueError, TypeError):
        prices = []
    if not 1 <= len(prices) <= 2 or any(price.input < 0 or price.output < 0 for price in prices):
        raise UsageError(f"--price is {text!r}", hint="USD per million tokens, read/written: 0.15/0.60")
    return {READER: prices[0], JUDGE: prices[-1]}


def _told(before: Estimate) -> str:
    tokens = [f"{role} {read:,} in, {written:,} out" for role, (read, written) in before.tokens.items()]
    cost = f"; ${before.cost:.2f}, at most ${before.cost_limit:.2f}" if before.cost is not None else ""
    calls = f"{before.questions:,} questions, {before.calls:,} calls"
    return f"an estimate: {calls}, tokens: {'; '.join(tokens)}{cost}; cached replies cost nothing"


def _spent(record: dict[str, Any]) -> str:
    new = sum(u["new_prompt_tokens"] + u["new_completion_tokens"] for u in record["usage"].values())
    cost = record["cost"]
    dollars = f", ${cost['new']:.2f} of ${cost['total']:.2f} in all" if cost else ""
    return f"spent {new:,} tokens now{dollars}"
