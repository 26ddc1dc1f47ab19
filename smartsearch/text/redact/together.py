"""What is shown together, masked together: turns and texts, and whole results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from smartsearch.text.redact import keys, names, numbers
from smartsearch.text.redact.page import MARK, Rules, Secret, masked
from smartsearch.text.redact.repeats import repeats
from smartsearch.types import Nearby, Result, Term, Turn, changed, fold

RULES = Rules(
    *keys.RULES,
    *names.RULES,
    *keys.HEADERS,
    *names.TOKENS,
    *numbers.RULES,
    *keys.KEYS,
    *numbers.CHECKED,
)
"""A value by its name first, whole, before a part of it could look like a key."""


BROKEN = Rules(*names.TOKENS, *keys.BROKEN)


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
            self._known[text], secrets = masked(text, RULES, BROKEN)
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
    return Together(texts=[text]).text(text)


def kinds(text: str) -> list[str]:
    """The kinds of secrets that `redacted` finds in `text`, each once."""
    return list(dict.fromkeys(MARK.findall(redacted(text))))


def redacted_turns(turns: Sequence[Turn]) -> list[Turn]:
    """Turns that are shown together, masked together."""
    return list(map(Together(turns).turn, turns))


def redacted_result(answer: Result, around: Sequence[Nearby] = ()) -> tuple[Result, list[Nearby]]:
    """An answer and its context turns, masked wherever either is shown: turns, terms, hops, warnings.

    Hops search for words of other turns, a password among them: a term is shown only where the masked
    question or a masked turn holds it too.
    """
    trace = answer.trace
    reasons = [skipped.reason for skipped in answer.skipped]
    turns: list[Turn] = []

    def collect(turn: Turn) -> Turn:
        turns.append(turn)
        return turn

    changed((answer, tuple(around)), collect)
    mask = Together(turns, [answer.query, *reasons, *answer.warnings, trace.fallback, *trace.degraded])
    query = mask.text(answer.query)
    openly = "\n".join([query, *(mask.turn(turn).spoken for turn in turns)])
    held = " ".join(fold(MARK.sub("\0", openly)).split())

    def shown(word: str) -> str:
        return word if " ".join(fold(word).split()) in held else "[redacted: term]"

    def term(one: Term) -> Term:
        return replace(one, text=shown(one.text), source=shown(one.source))

    result, near = changed((answer, tuple(around)), mask.turn, term)
    told = replace(
        result.trace, fallback=mask.text(trace.fallback), degraded=tuple(map(mask.text, trace.degraded))
    )
    masked_result = replace(
        result,
        query=query,
        trace=told,
        skipped=tuple(replace(s, reason=mask.text(s.reason)) for s in answer.skipped),
        warnings=tuple(map(mask.text, answer.warnings)),
    )
    return masked_result, list(near)
