"""The language models of `smartsearch bench`: options, what they cost, and the record of their answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smartsearch.cli import consent
from smartsearch.cli.options import LLM, option
from smartsearch.errors import SmartsearchError, UsageError
from smartsearch.output import stream

if TYPE_CHECKING:
    from smartsearch.bench.accuracy import Estimate, Item
    from smartsearch.bench.run import Outcome
    from smartsearch.bench.session import Plan
    from smartsearch.config import Config
    from smartsearch.llm import Price, ReplyCache
    from smartsearch.models.tools import Tools
    from smartsearch.systems.base import Plan as Sent

PROTOCOLS = ("memos", "evermemos")


@dataclass(frozen=True)
class AccuracyOptions:
    """Whether a language model answers from what the reference row leaves, and another judges."""

    reader: str | None = option(
        LLM,
        "Let this model answer (address and key: SMARTSEARCH_LLM_BASE_URL, SMARTSEARCH_LLM_KEY).",
        metavar="MODEL",
        show_default="no accuracy",
    )
    judge: str | None = option(
        LLM,
        "Let this model judge (SMARTSEARCH_JUDGE_BASE_URL, SMARTSEARCH_JUDGE_KEY), or nobody (none): answers "
        "are compared by their words.",
        metavar="MODEL",
        show_default="the reader",
    )
    protocol: str = option(
        LLM, "Short answer and binary judge, or seven steps.", default="memos", choices=PROTOCOLS
    )
    inference: bool = option(
        LLM,
        "Let the reader infer what no turn states (the paper's A3).",
        "--inference/--no-inference",
        default=True,
        show_default="on",
    )
    answer_rows: str = option(
        LLM,
        "The rows the reader answers from; all shows gold found beside accuracy.",
        default="reference",
        choices=("reference", "all"),
    )
    jobs: int = option(LLM, "Requests at a time.", default=4, min=1, metavar="N")
    price: str | None = option(
        LLM,
        "USD per million tokens, read/written, such as 0.15/0.60; the judge's after a comma.",
        metavar="IN/OUT",
        show_default="not told",
    )

    @property
    def all_rows(self) -> bool:
        """Whether a reader answers from every row."""
        return self.reader is not None and self.answer_rows == "all"


class Readers:
    """The language models of the options, known to be set up before anything is measured."""

    def __init__(self, options: AccuracyOptions, *, asking: bool = False) -> None:
        """`asking`: a rival asks a model too, whose price is the reader's."""
        self._options = options
        self._prices = _prices(options.price)
        self.stopped: SmartsearchError | None = None
        self.judged = options.judge != "none"
        if options.reader is None:
            wanting = ("judge",) if asking else ("judge", "price")
            idle = [name for name in wanting if getattr(options, name) is not None]
            if idle:
                raise UsageError(f"--{idle[0]} needs --reader", hint=f"--reader MODEL --{idle[0]} ...")
            return
        from smartsearch import llm

        self._reader = llm.reader_endpoint(model=options.reader)
        self._judge = llm.judge_endpoint(self._reader, model=options.judge or "") if self.judged else None

    def tell(self, plans: Mapping[str, Sent], planned: Plan, config: Config) -> None:
        """Say what the rivals are about to send, and what that costs."""
        from smartsearch import llm
        from smartsearch.bench.accuracy import READER

        for name, sent in plans.items():
            endpoint = llm.memory_endpoint(model=config.memory_llm)
            price = self._prices[READER] if self._prices else endpoint.price
            turns = (turn for group in planned.dataset.groups() for turn in group.corpus.turns)
            what = f"{consent.said(sent, price)}, for {name}"
            text = partial("\n".join, (turn.rendered for turn in turns))
            consent.tell(f"about {what}", text, endpoint, config)

    def accuracy(
        self, planned: Plan, outcome: Outcome, tools: Tools, out: Path, stage: Callable[..., Any]
    ) -> dict[str, dict[str, Any]]:
        """By row the accuracy from what it keeps; the cost of all is told before, of each after."""
        if self._options.reader is None:
            return {}
        from smartsearch import llm
        from smartsearch.bench import accuracy, session

        count = tools.tokenizer.count
        asked: dict[str, list[accuracy.Item]] = {}
        for name in planned.spec.answered:
            every = [accuracy.Item(*pair) for pair in session.contexts(planned, outcome, name)]
            asked[name] = [item for item in every if item.question.answer]
            silent = len(every) - len(asked[name])
        if silent:
            stream.warn(f"{silent} questions have no answer to judge by: not asked")
        items = [item for some in asked.values() for item in some]
        if not items:
            return {}
        how = self._options
        before = accuracy.estimate(items, count, how.protocol, self._prices, how.inference, self.judged)
        stream.talk(_told(before))
        cache = llm.ReplyCache(out / "replies.db")
        found: dict[str, dict[str, Any]] = {}
        try:
            for name, some in asked.items():
                if self.stopped is None:
                    with stage(f"answers: {name}", len(some)) as step:
                        found[name] = self._measured(some, cache, count, step)
        except KeyboardInterrupt:
            stream.talk(f"the replies so far are kept in {cache.path} and will not be asked for again")
            raise
        return found

    def _measured(
        self, items: Sequence[Item], cache: ReplyCache, count: Callable[[str], int], step: Callable[[], None]
    ) -> dict[str, Any]:
        """The record of the answers from one row; `stopped` is set where the endpoint fails."""
        from smartsearch import llm
        from smartsearch.bench import accuracy

        how = self._options
        reader = llm.Client(self._reader, cache, count=count)
        judge = llm.Client(self._judge, cache, count=count) if self._judge else None
        found = accuracy.measure(
            items, reader, judge, how.protocol, inference=how.inference, jobs=how.jobs, step=step
        )
        record = found.record(self._prices)
        record["inference"] = how.inference
        record["reader"] = record["reader"] or [self._reader.model]
        record["judge"] = record["judge"] or [self._judge.model if self._judge else "nobody"]
        stream.talk(_spent(record))
        if found.stopped is not None:
            stream.warn("stopped asking; the answers so far are kept and counted")
            self.stopped = found.stopped
        record["left_out"] = {"reader": sorted(reader.unsupported)}
        record["left_out"]["judge"] = sorted(judge.unsupported) if judge else []
        return record


def _prices(text: str | None) -> dict[str, Price] | None:
    """USD per million tokens by role, from `0.15/0.60` or `0.15/0.60,2/8`."""
    if text is None:
        return None
    from smartsearch.bench.accuracy import JUDGE, READER
    from smartsearch.llm import Price

    try:
        prices = [Price.parsed(part) for part in text.split(",")]
    except ValueError:
        prices = []
    if not 1 <= len(prices) <= 2:
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
