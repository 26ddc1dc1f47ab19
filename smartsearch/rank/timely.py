"""Questions for the last or the first message of somebody, in the order of time (docs/decisions/0016).

In other questions `last`, `first`, `latest` or `earliest` wish for no order: by time the right turn lost the
first place far more often than it gained it (benchmarks/LOG.md).
"""

from __future__ import annotations

import re

from smartsearch.rank.cascade import Ranking
from smartsearch.retrieve.grep import folded, looked_for
from smartsearch.transcripts.filters import speaks
from smartsearch.types import Corpus, Query, fold

BEST = 20
"""Of the turns that hold the question's words those among so many first ones are put in order."""

_MESSAGE = r"(?:messages?|texts?|(?:e-?)?mails?|posts?|notes?|repl(?:y|ies))"
_NEWEST = re.compile(rf"\b(?:latest|newest|most recent|last)(?: \w+)? {_MESSAGE}\b")
_OLDEST = re.compile(rf"\b(?:earliest|oldest|first)(?: \w+)? {_MESSAGE}\b")
_ABOUT = re.compile(rf"latest|newest|recent|most|last|earliest|oldest|first|{_MESSAGE}")


def by_time(ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
    """`ranking` with somebody's turns that hold the question's other words best in the order of time.

    Only where the question asks for a message `from` or `by` somebody, or for somebody's: newest first for
    `last`, `latest`, `newest` and `most recent`, oldest first for `first`, `earliest` and `oldest`.
    """
    asked = fold(query.text)
    newest = _NEWEST.search(asked) is not None
    if not newest and not _OLDEST.search(asked):
        return ranking
    from_whom = r"\b(?:(?:from|by) {0}\b|{0}['’]s\b)"
    said_by = [t for t in query.terms if re.search(from_whom.format(re.escape(fold(t.text))), asked)]
    turns = [corpus.turns[c.index] for c in ranking.candidates]
    theirs = [n for n, t in enumerate(turns) if said_by and all(speaks(s.text, t.speaker) for s in said_by)]
    words = [t for t in query.terms if t not in said_by and not _ABOUT.fullmatch(fold(t.text))]
    held = {n: sum(t.weight for t in words if looked_for(t.text) in folded(turns[n])) for n in theirs}
    most = max(held.values(), default=0.0)
    best = [n for n in theirs if held[n] == most]
    if words:
        best = ([n for n in best if n < BEST] or best[:1]) if most else []
    inside = set(best)
    best.sort(key=lambda n: (turns[n].time, ranking.candidates[n].index), reverse=newest)
    return ranking.reordered([*best, *(n for n in range(len(turns)) if n not in inside)], pinned=best[:BEST])
