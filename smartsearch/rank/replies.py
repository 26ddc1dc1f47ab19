"""A question and its reply together: a reply may have no word of what was asked (docs/decisions/0016)."""

from __future__ import annotations

from smartsearch.rank.cascade import Ranking
from smartsearch.rank.text import asks
from smartsearch.types import Corpus

ASKED = 3
"""Among so many first turns a question takes its reply with it."""
SHORT = 12
"""Words of a reply at most: a longer one has words of its own to be found by."""


def with_replies(ranking: Ranking, corpus: Corpus) -> Ranking:
    """`ranking` with the short reply to each question among the first turns right after it, and pinned."""
    place = {c.index: n for n, c in enumerate(ranking.candidates)}
    key = {n: float(n) for n in place.values()}
    lifted = []
    for n, candidate in enumerate(ranking.candidates[:ASKED]):
        reply = place.get(reply_to(candidate.index, corpus), -1)
        if reply > n:
            key[reply] = n + 0.5
            lifted.append(reply)
    return ranking.reordered(sorted(key, key=key.__getitem__), pinned=lifted) if lifted else ranking


def reply_to(index: int, corpus: Corpus) -> int:
    """The turn that answers the question of turn `index` shortly, or -1."""
    after = corpus.following(index) if asks(corpus.turns[index]) else -1
    if after < 0:
        return -1
    reply = corpus.turns[after]
    return after if len(reply.text.split()) <= SHORT and not asks(reply) else -1
