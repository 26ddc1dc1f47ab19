"""What moves up over the rankers' order for another reason than a score (docs/decisions/0016).

Replies follow their question. What holds what was typed, word for word, comes before what only means the
same. Somebody's last or first message goes by time. Turns of preferred speakers count as at a share of their
rank (docs/decisions/0013). No turn is lost.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from smartsearch.config import Config
from smartsearch.rank.fusion import Ranking
from smartsearch.rank.text import puts
from smartsearch.retrieve.grep import folded, looked_for, pattern
from smartsearch.retrieve.hops import Evidence
from smartsearch.text.literals import CODE, NUMBER, PHRASE, digits, whole
from smartsearch.transcripts.filters import speaks
from smartsearch.types import Corpus, Query, Term, Turn, fold

ASKED = 3
"""A question among so many first turns takes its reply with it."""
SHORT = 12
"""Words of a reply at most: a longer one has words of its own to be found by."""
QUESTION, WITHIN = 30, 3
"""Words of a turn that asks and says little else, and how many turns behind it may answer."""
WHOLE, INSIDE = 2, 1
"""How a turn holds a term: as whole words, or within longer ones."""
RARE, PLACE = 2, 20
"""A word of the question that at most RARE turns hold lifts them to rank PLACE or better."""
RARE_LITERAL, PLACE_LITERAL = 10, 3
"""The same for a code, a long number or a quoted phrase."""
TERSE = 4
"""A question of at most so many words is looked for as it was typed, too."""
YEAR = 4
"""A number of at most so many digits is as common as a word."""
BEST = 20
"""Of the turns that hold the words of a question for a message, so many first ones are ordered by time."""

VERB, AROUND = "VERB", '?"“”„«» '
_MESSAGE = r"(?:messages?|texts?|(?:e-?)?mails?|posts?|notes?|repl(?:y|ies))"
_NEWEST = re.compile(rf"\b(?:latest|newest|most recent|last)(?: \w+)? {_MESSAGE}\b")
_OLDEST = re.compile(rf"\b(?:earliest|oldest|first)(?: \w+)? {_MESSAGE}\b")
_MEDIA = r"(?:media|image|photo|picture|video|gif|audio|sticker|voice message|file|document|attachment)"
_MARKS = re.compile(rf"(?:\[{_MEDIA}\]\s*)*", re.IGNORECASE)
_SHOWN = re.compile(rf"\b{_MEDIA}s?\b")
_ABOUT = re.compile(rf"latest|newest|recent|most|last|earliest|oldest|first|{_MESSAGE}")


def lift(ranking: Ranking, query: Query, evidence: Evidence, corpus: Corpus, config: Config) -> Ranking:
    """`ranking` with the turns of preferred speakers moved up, before that, with `config.lift`, replies, what
    holds what was typed, and somebody's last or first message; turns that say nothing come last."""
    if config.typed and config.lift:
        ranking = wordless_last(ranking, query, corpus)
        ranking = with_replies(ranking, corpus)
        ranking = typed_first(ranking, query, corpus, evidence.counts, evidence.mended)
        ranking = by_time(ranking, query, corpus)
    return promoted(ranking, corpus.turns, config.speaker, config.speaker_rank)


def wordless_last(ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
    """`ranking` with the turns that say nothing behind all others: scorers saw the turns before them.

    A mark of an image or a file that was left out says nothing, unless the question asks for such.
    """
    marks = _SHOWN.search(fold(query.text)) is None
    said = [corpus.turns[c.index].said.strip() for c in ranking.candidates]
    silent = [bool(_MARKS.fullmatch(text)) if marks else not text for text in said]
    return ranking.reordered(sorted(range(len(silent)), key=silent.__getitem__)) if any(silent) else ranking


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
    after = corpus.following(index) if puts(corpus.turns[index]) else -1
    if after < 0:
        return -1
    reply = corpus.turns[after]
    return after if len(reply.text.split()) <= SHORT and not puts(reply) else -1


def answer_to(index: int, corpus: Corpus) -> int:
    """The turn that answers turn `index`, which asks and says little else, or -1.

    It is what somebody else says next, if that is no question; turns without a word are passed over.
    """
    turn, after = corpus.turns[index], index
    if not puts(turn) or len(turn.text.split()) > QUESTION:
        return -1
    for _ in range(WITHIN):
        after = corpus.following(after)
        if after < 0:
            return -1
        said = corpus.turns[after]
        if (said.speaker != turn.speaker or not said.speaker) and any(c.isalnum() for c in said.said):
            return -1 if puts(said) else after
    return -1


def typed_first(
    ranking: Ranking, query: Query, corpus: Corpus, counts: Mapping[str, int], mended: Sequence[Term]
) -> Ranking:
    """`ranking` with the turns that hold what was typed lifted, and pinned: no score cuts them off.

    A literal question behaves as grep does: turns that hold all of it as whole words come first, then those
    that hold it within longer words, each in the rankers' order. Where it is codes, numbers and quoted
    phrases, and a turn holds them all, no other is an answer. Of another question the turns that hold a rare
    term are lifted. `counts` says how many turns hold a term, `mended` what typing errors stand for.
    """
    if query.literal:
        return _as_it_stands(_as_grep(ranking, query, corpus, mended), query, corpus)
    places = _places(ranking, query, corpus, counts)
    order = sorted(range(len(ranking.candidates)), key=lambda n: (min(n, places.get(n, n)), n not in places))
    lifted = ranking.reordered(order, pinned=places)
    return _as_it_stands(lifted, query, corpus) if len(query.text.split()) <= TERSE else lifted


def _as_it_stands(ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
    """The turns that hold the whole question as it was typed come first."""
    asked = whole(looked_for(query.text.strip(AROUND)))
    holds = [
        c.index not in ranking.asked and asked.search(folded(corpus.turns[c.index])) is not None
        for c in ranking.candidates
    ]
    pinned = [n for n, held in enumerate(holds) if held]
    return ranking.reordered([*pinned, *(n for n, held in enumerate(holds) if not held)], pinned=pinned)


def _as_grep(ranking: Ranking, query: Query, corpus: Corpus, mended: Sequence[Term]) -> Ranking:
    grades = [_grades(corpus.turns[c.index], query, mended) for c in ranking.candidates]
    order = sorted(range(len(grades)), key=lambda n: (-min(grades[n]), -sum(grades[n])))
    every = [n for n in order if min(grades[n])]
    if every and all(term.kind in (CODE, NUMBER, PHRASE) for term in query.terms):
        order = every
    best = every or [n for n in order if sum(grades[n]) == max(map(sum, grades)) > 0]
    return ranking.reordered(order, pinned=best)


def _grades(turn: Turn, query: Query, mended: Sequence[Term]) -> list[int]:
    """How the turn holds each term, or what the term was mended to; 0 where it does not."""
    text = folded(turn)
    found = []
    for term in query.terms:
        stand_ins = [other for other in mended if other.source == term.text]
        found.append(max(_grade(one, text) for one in (stand_ins or [term])))
    return found


def _grade(term: Term, text: str) -> int:
    needle = looked_for(term.text)
    holds = pattern(needle, number=term.kind == NUMBER)
    if not (holds.search(text) if holds else needle in text):
        return 0
    return WHOLE if whole(needle).search(text) else INSIDE


def _places(ranking: Ranking, query: Query, corpus: Corpus, counts: Mapping[str, int]) -> dict[int, int]:
    """Where the turns with a rare term should stand at least, by their position; from 0."""
    wanted: list[tuple[int, Term]] = []
    for term in query.terms:
        literal = term.kind in (CODE, PHRASE) or (term.kind == NUMBER and len(digits(term.text)) > YEAR)
        most, place = (RARE_LITERAL, PLACE_LITERAL) if literal else (RARE, PLACE)
        if 0 < counts.get(fold(term.text), 0) <= most and term.kind != VERB:
            wanted.append((place - 1, term))
    places: dict[int, int] = {}
    for n, candidate in enumerate(ranking.candidates if wanted else ()):
        answers = candidate.terms and candidate.index not in ranking.asked
        text = folded(corpus.turns[candidate.index]) if answers else ""
        near = [place for place, term in wanted if _grade(term, text) == WHOLE]
        if near:
            places[n] = min(near)
    return places


def by_time(ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
    """`ranking` with somebody's turns that hold the question's other words best in the order of time.

    Only where the question asks for a message `from` or `by` somebody, or for somebody's: newest first for
    `last`, `latest`, `newest` and `most recent`, oldest first for `first`, `earliest` and `oldest`. In other
    questions these words ask for no order: by time the right turn lost the first place far more often than it
    gained it (benchmarks/LOG.md).
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


def promoted(ranking: Ranking, turns: Sequence[Turn], names: Sequence[str], share: float) -> Ranking:
    """`ranking` with each turn of a speaker in `names` as if it stood at `share` of its rank.

    So it counts the same whatever made the order: scores of one ranker, of several, or match weight. Equal
    ones keep their order.
    """
    if not names:
        return ranking
    preferred = [any(speaks(name, turns[c.index].speaker) for name in names) for c in ranking.candidates]
    order = sorted(range(len(preferred)), key=lambda n: (n + 1) * (share if preferred[n] else 1.0))
    return ranking.reordered(order)
