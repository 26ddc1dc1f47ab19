"""Cuts a turn's text to a readable length and marks its search terms by hop."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from smartsearch.output.markup import Markup, join, tag
from smartsearch.types import Term

MOST = 6000
"""Characters of a turn that are shown; of a longer one its beginning and the surroundings of its terms."""
START = 800
"""Characters of a long turn's beginning that are always shown."""
REACH = 300
"""Characters shown on both sides of a term in a long turn."""
MARKS = 5000
"""The most terms marked in one turn."""
COLOURS = 5
"""Hops that have a colour of their own; later ones share the last."""

Span = tuple[int, int]


def hop_class(hop: int) -> str:
    """The class that colours a hop."""
    return f"h{min(hop, COLOURS)}"


def found(text: str, terms: Sequence[Term]) -> list[tuple[Span, Term]]:
    """Where the terms stand in `text`, whatever their case; the longest wins where two begin together."""
    by_text = {term.text.casefold(): term for term in terms if term.text}
    words = sorted({term.text for term in terms if term.text}, key=len, reverse=True)
    if not words:
        return []
    pattern = re.compile("|".join(map(re.escape, words)), re.IGNORECASE)
    places = islice(pattern.finditer(text), MARKS)
    fallback = terms[0]
    return [(match.span(), by_text.get(match[0].casefold(), fallback)) for match in places]


def pieces(length: int, spans: Sequence[Span], keys: Sequence[str], most: int = MOST) -> list[Span]:
    """Parts of a text of `length` characters to show, in order, `most` characters in all or a quarter more.

    A longer text gives its beginning, then the surroundings of each key's first span, then of the
    other spans while there is room.
    """
    if length <= most * 5 // 4:  # leaving a few words out saves no reading
        return [(0, length)]
    first: dict[str, Span] = {}
    for key, span in zip(keys, spans, strict=True):
        first.setdefault(key, span)
    wanted = [*first.values(), *(span for span in spans if span not in first.values())]
    chosen: list[Span] = [(0, min(START, most))]
    for begin, end in wanted:
        tried = _merged([*chosen, (max(begin - REACH, 0), min(end + REACH, length))])
        if sum(stop - start for start, stop in tried) > most:
            break
        chosen = tried
    return chosen


def _merged(spans: Sequence[Span]) -> list[Span]:
    """The same characters as spans in order that do not touch."""
    merged: list[Span] = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return merged


def marked(text: str, terms: Sequence[Term], most: int = MOST) -> Markup:
    """`text` as HTML with terms in `mark`; a note stands for each part left out."""
    places = found(text, terms)
    chosen = pieces(len(text), [span for span, _ in places], [term.text for _, term in places], most)
    return join(_parts(text, places, chosen))


def _parts(text: str, places: Sequence[tuple[Span, Term]], chosen: Sequence[Span]) -> Iterator[str]:
    at = 0
    for begin, end in chosen:
        if begin > at:
            yield _left_out(begin - at)
        at = begin
        for (first, last), term in places:
            if begin <= first and last <= end:
                yield text[at:first]
                said = f"hop {term.hop}, {term.kind}, weight {term.weight:.2f}"
                yield tag("mark", text[first:last], class_=hop_class(term.hop), title=said)
                at = last
        yield text[at:end]
        at = end
    if at < len(text):
        yield _left_out(len(text) - at)


def _left_out(count: int) -> Markup:
    return tag("span", f" [… {count:,} characters left out …] ", class_="left-out")
