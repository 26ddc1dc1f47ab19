"""Accuracy with a language model: a reader answers from the context, a judge marks the answer.

Two protocols, as the systems the paper compares with are measured: `memos`, a short
answer, and `evermemos`, an answer in seven steps. Both are judged CORRECT or WRONG. Figures are
comparable only between runs of one protocol with one reader and one judge.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from smartsearch.bench import overlap, prompts
from smartsearch.bench.prompts import FINAL, judgement, nudge
from smartsearch.bench.types import BenchQuestion
from smartsearch.errors import UsageError
from smartsearch.llm import Client, LLMError, Message, Price, Reply

READER, JUDGE = "reader", "judge"
JUDGE_TOKENS = 512
"""The most a judge may write: a sentence and a label, with room for one that thinks first."""
JUDGE_TRIES = 3
"""Requests per verdict; if no reply has a label, the answer is left unjudged."""
PATIENCE = 3
"""No more questions are asked once this many in a row have failed at the endpoint."""
EXPECTED_ANSWER, EXPECTED_VERDICT = 12, 40
"""Tokens an estimate assumes for the answer that is judged and for a verdict."""
ENDINGS = ("correct", "wrong", "unjudged", "failed")


@dataclass(frozen=True)
class Item:
    """A question with the context the reader gets: rendered lines, as they go into the prompt."""

    question: BenchQuestion
    context: str


@dataclass(frozen=True)
class Protocol:
    """How `system` asks a reader, and whether its reply's last line alone is the answer.

    `max_tokens`: the most the reader may write. `expected_tokens`: what an estimate assumes.
    """

    system: str
    in_steps: bool
    max_tokens: int
    expected_tokens: int


PROTOCOLS = {
    "memos": Protocol(prompts.SHORT, False, 512, EXPECTED_ANSWER),
    "evermemos": Protocol(prompts.STEPS, True, 2048, 400),
}


@dataclass(frozen=True)
class Usage:
    """Calls and tokens of one role. `new_*`: those not answered from the cache, which cost money now.

    `estimated_calls`: those whose tokens the server did not report.
    """

    calls: int = 0
    new_calls: int = 0
    estimated_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    new_prompt_tokens: int = 0
    new_completion_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Usage)))


def usage_of(reply: Reply) -> Usage:
    """The usage of one call."""
    new = int(not reply.cached)
    tokens = (reply.prompt_tokens, reply.completion_tokens)
    return Usage(1, new, int(reply.estimated), *tokens, new * tokens[0], new * tokens[1])


def cost(usage: Mapping[str, Usage], prices: Mapping[str, Price]) -> dict[str, float]:
    """USD of `usage`, `total` as if no call had been cached, and `new`; `prices` by the same roles."""
    both = [(prices[role], used) for role, used in usage.items()]
    return {
        "total": sum(price.of(used.prompt_tokens, used.completion_tokens) for price, used in both),
        "new": sum(price.of(used.new_prompt_tokens, used.new_completion_tokens) for price, used in both),
    }


@dataclass(frozen=True)
class Outcome:
    """The outcome of one question.

    `verdict` is None where no label could be read (unjudged) and where `error` says that the reader or
    the judge failed. `overlap` has the answer's words beside the reference's (overlap.py), None without an
    answer, and with `abstention`: if the right answer is that the transcripts do not say.
    """

    id: str
    category: str
    verdict: bool | None
    usage: Mapping[str, Usage]
    error: LLMError | None = None
    overlap: Mapping[str, float] | None = None
    abstention: bool = False

    @property
    def ending(self) -> str:
        """What became of the question, one of ENDINGS."""
        if self.error:
            return "failed"
        return "unjudged" if self.verdict is None else "correct" if self.verdict else "wrong"


@dataclass(frozen=True)
class Accuracy:
    """A protocol run over questions: outcomes in the order of the items, tokens by role.

    `reader` and `judge` are the models as their servers name them. `stopped` is why the rest was not
    asked (an endpoint that is down, a key refused), or None.
    """

    protocol: str
    reader: tuple[str, ...]
    judge: tuple[str, ...]
    usage: Mapping[str, Usage]
    outcomes: tuple[Outcome, ...]
    stopped: LLMError | None = None

    @property
    def answerable(self) -> list[Outcome]:
        """Those of all questions but of abstention."""
        return [one for one in self.outcomes if not one.abstention]

    def record(self, prices: Mapping[str, Price] | None) -> dict[str, Any]:
        """Counts, tokens, cost, and per question the verdict, without any text.

        Questions of abstention are left out of the counts, as the paper says of LongMemEval; `abstention` and
        `with_abstention` have them alone and all together, where there are any.
        """
        beside = [one for one in self.outcomes if one.abstention]
        names = sorted({one.category for one in self.answerable})
        parts = {name: _part([one for one in self.answerable if one.category == name]) for name in names}
        stopped = self.stopped and {"kind": self.stopped.kind, "message": self.stopped.message}
        return {
            "protocol": self.protocol,
            "reader": list(self.reader),
            "judge": list(self.judge),
            "overall": _part(self.answerable),
            "by_category": parts,
            **({"abstention": _part(beside), "with_abstention": _part(self.outcomes)} if beside else {}),
            "usage": {role: asdict(usage) for role, usage in self.usage.items()},
            "cost": cost(self.usage, prices) if prices else None,
            "verdicts": {outcome.id: outcome.verdict for outcome in self.outcomes},
            "errors": {outcome.id: outcome.error.kind for outcome in self.outcomes if outcome.error},
            "stopped": stopped,
        }


def measure(
    items: Iterable[Item],
    reader: Client,
    judge: Client | None,
    protocol: str,
    *,
    inference: bool = True,
    jobs: int = 4,
    step: Callable[[], None] = lambda: None,
) -> Accuracy:
    """Let `reader` answer each item and `judge` (None: nobody) mark it, `jobs` at a time.

    With `inference` the reader may say what the lines only make likely (the paper's A3).

    `step` is called once per question, in this thread, as it ends. A question that fails is counted and the
    others go on; after PATIENCE failures of the endpoint in a row no more are asked and `stopped` says why.
    With a cache, an interrupted run goes on where it was. Raises UsageError.
    """
    stop = threading.Event()
    asker = _Asker(reader, judge, _protocol(protocol, inference), stop)
    if jobs < 1:
        raise UsageError(f"{jobs} jobs", hint="at least one question at a time")
    outcomes: dict[int, Outcome] = {}
    in_a_row = 0
    stopped: LLMError | None = None
    # Closed here, not when collected: an interrupt in `step` must stop the workers at once.
    with closing(_side_by_side(asker.ask, items, jobs, stop)) as ended:
        for number, outcome in ended:
            if outcome is None:
                continue
            outcomes[number] = outcome
            in_a_row = _failures(outcome, in_a_row)
            if in_a_row >= PATIENCE and stopped is None:
                stopped = outcome.error
                stop.set()
            step()
    ordered = tuple(outcomes[number] for number in sorted(outcomes))
    return Accuracy(
        protocol=protocol,
        reader=tuple(sorted(asker.models[READER])),
        judge=tuple(sorted(asker.models[JUDGE])),
        usage={role: sum((o.usage[role] for o in ordered), Usage()) for role in (READER, JUDGE)},
        outcomes=ordered,
        stopped=stopped,
    )


def _failures(outcome: Outcome, before: int) -> int:
    """The number of questions in a row that the endpoint failed; answers from the cache do not count."""
    if outcome.error and outcome.error.kind != "llm_request":
        return before + 1
    asked = outcome.error or any(usage.new_calls for usage in outcome.usage.values())
    return 0 if asked else before


def _protocol(name: str, inference: bool) -> Protocol:
    if name not in PROTOCOLS:
        raise UsageError(f"no protocol {name!r}", hint=f"one of {', '.join(PROTOCOLS)}")
    protocol = PROTOCOLS[name]
    return protocol if inference else replace(protocol, system=protocol.system.replace(prompts.INFER, ""))


def _part(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The numbers of these outcomes, the share that is correct of those with a verdict, and their words."""
    counts = Counter(one.ending for one in outcomes)
    judged = counts["correct"] + counts["wrong"]
    return {
        **{ending: counts[ending] for ending in ENDINGS},
        "questions": len(outcomes),
        "accuracy": counts["correct"] / judged if judged else None,
        "overlap": overlap.mean(one.overlap for one in outcomes),
    }


def _side_by_side(
    ask: Callable[[Item], Outcome | None], items: Iterable[Item], jobs: int, stop: threading.Event
) -> Generator[tuple[int, Outcome | None], None, None]:
    """Item numbers and outcomes as they end. Takes the next item when a worker is free, until `stop` is set.

    Leaving it waits for requests under way, so that their cost is counted.
    """
    numbered = enumerate(items)
    running: dict[Future[Outcome | None], int] = {}
    with ThreadPoolExecutor(jobs) as pool, ExitStack() as leaving:
        leaving.callback(stop.set)
        while True:
            while len(running) < jobs and not stop.is_set():
                number, item = next(numbered, (-1, None))
                if item is None:
                    break
                running[pool.submit(ask, item)] = number
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()


class _Asker:
    """Asks the same reader and judge each question; thread-safe."""

    def __init__(
        self, reader: Client, judge: Client | None, protocol: Protocol, stop: threading.Event
    ) -> None:
        self.clients = {READER: reader, **({JUDGE: judge} if judge else {})}
        self.protocol, self.stop = protocol, stop
        self.models: dict[str, set[str]] = {READER: set(), JUDGE: set()}

    def ask(self, item: Item) -> Outcome | None:
        """The outcome of a question; None where the run was stopped before it had one."""
        question = item.question
        usage = {READER: Usage(), JUDGE: Usage()}
        verdict, error, shared = None, None, None
        try:
            messages = prompts.answer(self.protocol.system, question.asked, item.context, question.date)
            answer = _answer(self._complete(READER, messages, usage, self.protocol.max_tokens), self.protocol)
            shared = (
                None if question.abstention else overlap.best(answer, (question.answer, *question.others))
            )
            if question.choices:
                verdict = question.chosen(answer) == question.answer
            elif JUDGE in self.clients:
                verdict = self._judged(question, answer, usage)
        except LLMError as failed:
            if failed.kind == "llm_stopped":
                return None
            error = failed
        return Outcome(question.id, question.category, verdict, usage, error, shared, question.abstention)

    def _judged(self, question: BenchQuestion, answer: str, usage: dict[str, Usage]) -> bool | None:
        """Whether the judge says correct, None where no label can be read."""
        right = " / ".join((question.answer, *question.others))
        messages = judgement(question.text, right, answer, question.abstention)
        for _ in range(JUDGE_TRIES):
            reply = self._complete(JUDGE, messages, usage, JUDGE_TOKENS)
            label = read_label(reply.text)
            if label is not None:
                return label
            messages = [*messages, *nudge(reply.text)]
        return None

    def _complete(
        self, role: str, messages: Sequence[Message], usage: dict[str, Usage], max_tokens: int
    ) -> Reply:
        reply = self.clients[role].complete(messages, max_tokens=max_tokens, stop=self.stop)
        usage[role] += usage_of(reply)
        self.models[role].add(reply.model)
        return reply


_FINAL = re.compile(rf"^[^\w\n]*{re.escape(FINAL.rstrip(':'))}\W*?[:：]", re.IGNORECASE | re.MULTILINE)


def _answer(reply: Reply, protocol: Protocol) -> str:
    """The answer in a reader's reply, its last line where none begins with FINAL. Raises LLMError without."""
    text = reply.text.strip()
    final = list(_FINAL.finditer(text)) if protocol.in_steps else []
    answer = text[final[-1].end() :].strip(" \n*_") if final else text
    unfinished = protocol.in_steps and not final
    if not answer or (unfinished and reply.finish == "length"):
        raise LLMError(
            f"the reader's reply has no answer (finish reason {reply.finish!r},"
            f" {reply.completion_tokens} tokens written of at most {protocol.max_tokens})",
            hint="a model that reasons less",
            kind="llm_request",
        )
    return answer.splitlines()[-1].strip() if unfinished else answer


def read_label(text: str) -> bool | None:
    """The label in a judge's reply, that of the last JSON object with CORRECT or WRONG, or None."""
    decoder = json.JSONDecoder()
    found = None
    for place in re.finditer(r"\{", text):
        try:
            value, _ = decoder.raw_decode(text, place.start())
        except (ValueError, RecursionError):
            continue
        label = str(value.get("label")).strip().upper()
        if label in ("CORRECT", "WRONG"):
            found = label == "CORRECT"
    return found


Tokens = Mapping[str, tuple[int, int]]
"""Tokens read and written, by role."""


@dataclass(frozen=True)
class Estimate:
    """Calls, tokens and cost of a run, estimated before anything is sent; without cache and retries.

    `tokens` counts replies at their assumed length. `cost` is in USD, `cost_limit` too, for replies that are
    all as long as allowed; both are None without prices.
    """

    questions: int
    calls: int
    tokens: Tokens
    cost: float | None
    cost_limit: float | None


def estimate(
    items: Iterable[Item],
    count: Callable[[str], int],
    protocol: str,
    prices: Mapping[str, Price] | None = None,
    inference: bool = True,
    judge: bool = True,
) -> Estimate:
    """The calls, tokens (by `count`) and cost of `measure` over `items`, of the reader
    alone without a `judge`; sends nothing. Raises UsageError."""
    chosen = _protocol(protocol, inference)
    questions = read = judged = 0
    for item in items:
        asked = item.question
        questions += 1
        read += _count(prompts.answer(chosen.system, asked.asked, item.context, asked.date), count)
        judged += judge and _count(judgement(asked.text, asked.answer, "", asked.abstention), count)

    def tokens(written: int, answer: int, verdict: int) -> Tokens:
        return {
            READER: (read, questions * written),
            **({JUDGE: (judged + questions * answer, questions * verdict)} if judge else {}),
        }

    def price(tokens: Tokens) -> float | None:
        return sum(prices[role].of(*both) for role, both in tokens.items()) if prices else None

    likely = tokens(chosen.expected_tokens, EXPECTED_ANSWER, EXPECTED_VERDICT)
    most = tokens(chosen.max_tokens, chosen.max_tokens, JUDGE_TOKENS)
    return Estimate(questions, len(likely) * questions, likely, price(likely), price(most))


def _count(messages: Sequence[Message], count: Callable[[str], int]) -> int:
    return sum(count(message["content"]) for message in messages)
