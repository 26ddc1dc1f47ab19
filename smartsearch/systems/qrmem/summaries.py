"""The background of a segment: a summary of its conversation, the paper's T, whatever is asked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence

from smartsearch.retrieve.grep import Haystack
from smartsearch.systems.pieces import Segments, packed
from smartsearch.systems.qrmem import prompts, rules
from smartsearch.systems.qrmem.navigate import WINDOW
from smartsearch.systems.qrmem.prompts import Data
from smartsearch.systems.roles import Role

TOGETHER = 12
"""Summaries of parts that are summed up at once."""

Place = tuple[str, str]
"""The file and the id of a conversation."""
Ask = Callable[[Role[str], Sequence[Data]], Sequence[str | None]]


def windows(
    haystack: Haystack, memory: Segments, places: Collection[Place] | None = None
) -> dict[Place, list[list[str]]]:
    """The turns, of those that may be found, of each conversation as lines, by runs of segments that fit into
    the window. A conversation of one segment needs no background."""
    turns = haystack.corpus.turns
    parts: dict[Place, list[tuple[int, ...]]] = defaultdict(list)
    for inside in rules.scope((), haystack, memory, 0).values():
        parts[turns[inside[0]].path, turns[inside[0]].conversation].append(inside)
    made = {}
    for place, some in parts.items():
        if len(some) > 1 and (places is None or place in places):
            runs = packed([sum(memory.tokens[index] for index in part) for part in some], WINDOW)
            made[place] = [[turns[index].rendered for n in run for index in some[n]] for run in runs]
    return made


def summaries(ask: Ask, lines: Mapping[Place, Sequence[Sequence[str]]]) -> dict[Place, str]:
    """A summary of each conversation: of its runs of lines, then of these summaries, until one is left.

    What no usable reply came for is left out.
    """
    done: dict[Place, str] = {}
    name, level = "lines", {place: [*runs] for place, runs in lines.items()}
    while level:
        jobs = [(place, run) for place, runs in level.items() for run in runs]
        replies = ask(prompts.SUMMARY, [{name: prompts.clipped(run)} for _, run in jobs])
        told: dict[Place, list[str]] = defaultdict(list)
        for (place, _), reply in zip(jobs, replies, strict=True):
            told[place] += [reply] if reply else []
        done |= {place: texts[0] for place, texts in told.items() if len(texts) == 1}
        left = {place: texts for place, texts in told.items() if len(texts) > 1}
        name, level = "parts", {place: _in_groups(texts) for place, texts in left.items()}
    return done


def _in_groups(texts: Sequence[str]) -> list[Sequence[str]]:
    return [texts[at : at + TOGETHER] for at in range(0, len(texts), TOGETHER)]
