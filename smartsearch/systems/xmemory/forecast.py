"""What a language model will be sent, before it is: counted from the prompts, guessed where it decides."""

from __future__ import annotations

import math
from collections.abc import Sequence

from smartsearch.config import Config
from smartsearch.llm import Asker, rough_tokens
from smartsearch.llm.asking import SAMPLES
from smartsearch.systems import pieces
from smartsearch.systems.base import Plan
from smartsearch.systems.roles import foretold
from smartsearch.systems.xmemory import prompts, roles
from smartsearch.systems.xmemory.prompts import BOUNDARY, FACTS, NAME, RECORD
from smartsearch.systems.xmemory.settings import OURS, without
from smartsearch.systems.xmemory.store import Store
from smartsearch.types import Turn

STATED = 5
"""Facts of an episode, guessed."""
MEMBERS = 4.5
"""Facts of a theme (paper: 4.48 on LoCoMo)."""
TOLD, FACT = 250, 30
"""Tokens of a record, and of a fact, guessed."""
DRAFT, FRAME = 16, 150
"""Tokens of a draft, and of what is said around a question and what is known."""
TOKENS_OF_WORD = 1.5


def ingest(turns: Sequence[Turn], store: Store) -> Plan:
    """Estimate what is sent to make what `store` lacks; the rule guesses where episodes begin."""
    windows = roles.windows(turns)
    fresh = roles.unplaced(windows, store)
    found = store.notes("boundaries") | {key: roles.by_rule(turns, window) for key, window in fresh.items()}
    episodes = roles.runs(windows, found)
    keys, held = pieces.keys(turns, episodes), set(store.keys())
    new = [turns[run.start : run.stop] for key, run in zip(keys, episodes, strict=True) if key not in held]
    placing = [prompts.boundary(turns[one.first : one.stop], one.start - one.first) for one in fresh.values()]
    said = sum(rough_tokens(prompts.record(own)) for own in new)
    names = _names(len(new), len(held - set(keys)), store)
    return foretold(
        [
            (BOUNDARY, len(placing), sum(map(rough_tokens, placing))),
            (RECORD, len(new), said),
            (FACTS, len(new), said + len(new) * TOLD),
            (NAME, names, names * math.ceil(MEMBERS * FACT)),
        ],
        f"{len(new)} episode{'s' * (len(new) != 1)}",
    )


def question(turns: Sequence[Turn], config: Config, asker: Asker) -> Plan:
    """What a question would send at most: the reader is asked about each episode and about its messages.

    It knows some facts at first, and in the end what the budget lets in.
    """
    if not turns or "stage2" in without(config):
        return Plan()
    drafts = SAMPLES if "logprobs" in asker.client.unsupported else 1
    calls = drafts * (1 + 2 * min(OURS.episodes, len(turns)))
    said = sum(rough_tokens(turn.rendered) for turn in turns)
    most = min(said, math.ceil(config.word_budget * TOKENS_OF_WORD))
    return Plan(calls, calls * (FRAME + (OURS.facts * FACT + most) // 2), calls * DRAFT)


def _names(new: int, gone: int, store: Store) -> int:
    """Themes that will have other facts: all at most, and no more than facts come and go."""
    themes, changed = len(store.themed()), STATED * (new + gone)
    return min(themes + math.ceil(STATED * new / MEMBERS), len(roles.unnamed(store)) + changed)
