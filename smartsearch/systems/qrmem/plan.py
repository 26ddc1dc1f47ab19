"""What one question will send to a language model at most, told before anything is sent."""

from __future__ import annotations

from math import ceil

from smartsearch.retrieve.grep import Haystack
from smartsearch.systems.base import Plan
from smartsearch.systems.pieces import Segments
from smartsearch.systems.qrmem import prompts, rules
from smartsearch.systems.qrmem.navigate import WINDOW
from smartsearch.systems.qrmem.prompts import ASK, OPEN, RELATE, SUMMARY, UPDATE
from smartsearch.systems.qrmem.roles import MERGED, MERGES, NAMES
from smartsearch.systems.qrmem.summaries import TOGETHER, windows
from smartsearch.systems.roles import Calls, foretold


def plan(haystack: Haystack, memory: Segments, scope: int, way: str, trials: int) -> Plan:
    """Of the largest segments and longest conversations: which ones it will be, the question decides."""
    every = rules.scope((), haystack, memory, 0).values()
    sizes = (min(sum(memory.tokens[index] for index in turns), 2 * WINDOW) for turns in every)
    chosen = sorted(sizes, reverse=True)[: scope or None]
    judged = min(WINDOW, sum(chosen))
    count, read = len(chosen), sum(chosen) + len(chosen) * SUMMARY.tokens
    runs = sorted(map(len, windows(haystack, memory).values()), reverse=True)[:count]
    opens = way != "no-open-entities"
    updates = way != "no-update"
    judges = 1 if way in ("ges", "no-navigation") else trials + 1
    rows: list[Calls] = [
        (SUMMARY, sum(runs), sum(runs) * WINDOW),
        (SUMMARY, sum(map(_above, runs)), sum(map(_above, runs)) * TOGETHER * SUMMARY.tokens),
        (OPEN, count * opens, read),
        (RELATE, count, read + count * OPEN.tokens),
        (ASK, count * updates, read + count * (OPEN.tokens + RELATE.tokens)),
        (UPDATE, count * updates, read + count * (OPEN.tokens + ASK.tokens)),
        (prompts.SAME, 1, min(NAMES, count * 2 * prompts.ENTITIES) * 30),
        (prompts.MERGE, MERGES * count, MERGES * MERGED * read + count * RELATE.tokens),
        (prompts.JUDGE, judges, judges * judged),
        (prompts.PROPOSE, trials * (way == "te"), trials * judged),
        (prompts.ELABORATE, int(way == "ges"), RELATE.tokens),
    ]
    return foretold(rows, f"{count} segment{'s' * (count != 1)}") if count else Plan()


def _above(runs: int) -> int:
    """The summaries of summaries of so many."""
    more = ceil(runs / TOGETHER) if runs > 1 else 0
    return more + _above(more) if more else 0
