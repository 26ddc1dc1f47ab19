"""Questions for the last or the first of something: what matches, in the order of time (docs/decisions/0016).

"last week" is a date and "last name" a name: neither asks for an order.
"""

from __future__ import annotations

import re

from smartsearch.rank.cascade import Ranking
from smartsearch.retrieve.grep import folded, looked_for
from smartsearch.transcripts.filters import speaks
from smartsearch.types import Corpus, Query, fold

BEST = 20
"""Of the turns that hold the question's words those among so many first ones are put in order."""

_SPAN = (
    r"(?:few |couple |\w+ )??(?:second|minute|hour|day|night|evening|morning|week|weekend|month|quarter|year"
    r"|decade|century|spring|summer|autumn|fall|winter|christmas|easter|season|term|semester"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|january|february|march|april|may|june|july|august|september|october|november|december)s?\b"
)
_SAID = r"(?:messages?|texts?|(?:e-?)?mails?|posts?|notes?|turns?|things?|times?|words?|repl(?:y|ies))"
_NEWEST = re.compile(
    rf"\b(?:latest|newest|most recent(?:ly)?"
    rf"|(?<!at )last(?= \w)(?! (?:names?|long|resort|straw|of all|{_SPAN})))\b"
)
_OLDEST = re.compile(
    rf"\b(?:earliest|oldest"
    rf"|first(?= (?:{_SAID}|errors?|mention\w*|sa(?:y|id)|hear|heard|talk\w*|met|meet|ask\w*))"
    r"(?! (?:thing in|time buyer)))\b"
)
_ABOUT = re.compile(rf"latest|newest|recently|recent|most|last|earliest|oldest|first|{_SAID}")


def by_time(ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
    """`ranking` with what holds the question's words best in the order of time, if the question asks for it.

    Newest first for `last`, `latest`, `newest` and `most recent`, oldest first for `first`, `earliest` and
    `oldest`. Where it says from whom, only their turns count; of these all, if it says nothing else.
    """
    asked = fold(query.text)
    newest = _NEWEST.search(asked) is not None
    if not newest and not _OLDEST.search(asked):
        return ranking
    said_by = [t for t in query.terms if re.search(rf"\b(?:from|by) {re.escape(fold(t.text))}\b", asked)]
    turns = [corpus.turns[c.index] for c in ranking.candidates]
    theirs = [n for n, turn in enumerate(turns) if all(speaks(t.text, turn.speaker) for t in said_by)]
    if not theirs:
        said_by, theirs = [], list(range(len(turns)))
    words = [t for t in query.terms if t not in said_by and not _ABOUT.fullmatch(fold(t.text))]
    if not words and not said_by:
        return ranking
    held = {n: sum(t.weight for t in words if looked_for(t.text) in folded(turns[n])) for n in theirs}
    most = max(held.values())
    best = [n for n in theirs if held[n] == most]
    if words:
        best = ([n for n in best if n < BEST] or best[:1]) if most else []
    inside = set(best)
    best.sort(key=lambda n: (turns[n].time, ranking.candidates[n].index), reverse=newest)
    return ranking.reordered([*best, *(n for n in range(len(turns)) if n not in inside)], pinned=best[:BEST])
