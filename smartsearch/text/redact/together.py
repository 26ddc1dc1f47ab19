"""What is shown together, masked together: turns and texts, and whole results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from smartsearch.text.redact.page import MARK, Rules, Secret, masked
from smartsearch.text.redact.repeats import repeats
from smartsearch.text.redact.rules import RULES
from smartsearch.types import Hit, HopTrace, Nearby, Result, Term, Trace, Turn, fold


class Together:
    """Masks turns and texts that are shown together: what one of them gives away is masked in all."""

    def __init__(self, turns: Iterable[Turn] = (), texts: Iterable[str] = ()) -> None:
        self._secrets: list[Secret] = []
        self._known: dict[str, str] = {}
        self._again: Rules | None = None
        for turn in turns:
            self.turn(turn)
        for text in texts:
            self.text(text)
        self._again = repeats(self._secrets)

    def text(self, text: str) -> str:
        """`text` with each secret as `[redacted: kind]`; what is masked already stays as it is."""
        if text not in self._known:
            self._known[text], secrets = masked(text, RULES)
            self._secrets += secrets
        first = self._known[text]
        return masked(first, self._again, again=True)[0] if self._again else first

    def turn(self, turn: Turn) -> Turn:
        """The turn with its text, caption, speaker and title masked; path, place and the source's ids stay.

        A line `password: x` may have been read as somebody called password: both are looked at as one.
        """
        start = f"{turn.speaker}: " if turn.speaker else ""
        whole = self.text(f"{start}{turn.text}")
        if whole.startswith(start):
            speaker, text = turn.speaker, whole[len(start) :]
        else:
            speaker, text = self.text(turn.speaker), self.text(turn.text)
        caption = self.text(turn.caption) if turn.caption else ""
        title = self.text(turn.title) if turn.title else ""
        if (text, speaker, caption, title) == (turn.text, turn.speaker, turn.caption, turn.title):
            return turn
        return replace(turn, text=text, speaker=speaker, caption=caption, title=title)


def redacted(text: str) -> str:
    """`text` with each secret as `[redacted: kind]`; what is masked already stays as it is."""
    first, secrets = masked(text, RULES)
    again = repeats(secrets) if secrets else None
    return masked(first, again, again=True)[0] if again else first


def kinds(text: str) -> list[str]:
    """The kinds of secrets that `redacted` finds in `text`, each once."""
    return list(dict.fromkeys(MARK.findall(redacted(text))))


def redacted_turn(turn: Turn) -> Turn:
    """`turn`, masked by itself."""
    return Together([turn]).turn(turn)


def redacted_turns(turns: Sequence[Turn]) -> list[Turn]:
    """Turns that are shown together, masked together."""
    return list(map(Together(turns).turn, turns))


def redacted_result(answer: Result, around: Sequence[Nearby] = ()) -> tuple[Result, list[Nearby]]:
    """An answer and its context turns, masked wherever either is shown: turns, terms, hops, warnings.

    Hops search for words of other turns, a password among them: a term is shown only where the masked
    question or a masked turn holds it too.
    """
    cut, trace = answer.budget, answer.trace
    hits = (*answer.hits, *cut.hidden)
    turns = [turn for hit in hits for turn in (hit.turn, *hit.also)] + [d.turn for d in cut.dropped]
    turns += [turn for n in around for turn in (*n.before, *n.after)]
    said = [
        answer.query,
        *(s.reason for s in answer.skipped),
        *answer.warnings,
        trace.fallback,
        *trace.degraded,
    ]
    mask = Together(turns, said)
    query = mask.text(answer.query)
    shown = _terms_within("\n".join([query, *(mask.turn(turn).spoken for turn in turns)]))
    result = replace(
        answer,
        query=query,
        hits=tuple(_hit(hit, mask, shown) for hit in answer.hits),
        budget=replace(
            cut,
            dropped=tuple(replace(d, turn=mask.turn(d.turn)) for d in cut.dropped),
            hidden=tuple(_hit(hit, mask, shown) for hit in cut.hidden),
        ),
        trace=_trace(trace, mask, shown),
        skipped=tuple(replace(s, reason=mask.text(s.reason)) for s in answer.skipped),
        warnings=tuple(map(mask.text, answer.warnings)),
    )
    return result, [
        Nearby(n.index, tuple(map(mask.turn, n.before)), tuple(map(mask.turn, n.after))) for n in around
    ]


Shown = Callable[[tuple[Term, ...]], tuple[Term, ...]]


def _terms_within(text: str) -> Shown:
    """What masks those terms that `text` does not hold."""
    held = " ".join(fold(MARK.sub("\0", text)).split())

    def shown(terms: tuple[Term, ...]) -> tuple[Term, ...]:
        return tuple(replace(t, text=_held(t.text), source=_held(t.source)) for t in terms)

    def _held(word: str) -> str:
        return word if " ".join(fold(word).split()) in held else "[redacted: term]"

    return shown


def _hit(hit: Hit, mask: Together, shown: Shown) -> Hit:
    also = tuple(map(mask.turn, hit.also))
    return replace(hit, turn=mask.turn(hit.turn), terms=shown(hit.terms), also=also)


def _trace(trace: Trace, mask: Together, shown: Shown) -> Trace:
    hops = tuple(HopTrace(h.hop, h.kind, shown(h.terms), h.found, h.total) for h in trace.hops)
    return replace(
        trace,
        terms=shown(trace.terms),
        hops=hops,
        fallback=mask.text(trace.fallback),
        degraded=tuple(map(mask.text, trace.degraded)),
    )
