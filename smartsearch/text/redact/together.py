"""What is shown together, masked together: texts, turns, records, and whole results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from smartsearch.text.redact import keys, names, numbers
from smartsearch.text.redact.page import MARK, Rules, Secret, masked
from smartsearch.text.redact.repeats import repeats
from smartsearch.types import Nearby, Result, Term, Turn, changed, fold

Shown = TypeVar("Shown")

RULES = Rules(
    *keys.RULES, *names.RULES, *keys.HEADERS, *names.TOKENS, *numbers.RULES, *keys.KEYS, *numbers.CHECKED
)
"""A value by its name first, whole, before a part of it could look like a key."""
BROKEN = Rules(*names.TOKENS, *keys.BROKEN)
"""What may go on over the end of a line."""
CARRIED = Rules(keys.OPENED, *names.CARRIED, numbers.SPLIT)
"""What opens in one turn and goes on in the next."""

_IDS = ("path", "pointer", "conversation", "session", "turn")
_ID = re.compile(r"[0-9A-Fa-f-]+")


class Together:
    """Masks what is shown together: what a part of it gives away is masked in all.

    `said` are turns that follow each other: they are looked at too, and a key that one of them begins is
    known in the next. `known` are secrets of before; `secrets` has them and what was found.
    """

    def __init__(
        self, *shown: object, said: Iterable[Sequence[Turn]] = (), known: Iterable[Secret] = ()
    ) -> None:
        self.secrets = list(known)
        self._known: dict[str, str] = {}
        self._again: Rules | None = None
        self.of(shown)
        for run in said:
            self.of(tuple(run))
            self.secrets += _carried(run)
        self._again = repeats(self.secrets)

    def of(self, value: Shown) -> Shown:
        """`value`, of any shape, with each secret in it as `[redacted: kind]`."""
        masked: Shown = changed(value, self.turn, text=self.named)
        return masked

    def text(self, text: str) -> str:
        """`text` with each secret as `[redacted: kind]`; what is masked already stays as it is."""
        if text not in self._known:
            self._known[text], secrets = masked(text, RULES, BROKEN)
            self.secrets += secrets
        first = self._known[text]
        return masked(first, self._again, again=True)[0] if self._again else first

    def named(self, text: str, name: str) -> str:
        """As `text`, but a bare number stays under a name of ids: there it is no card's.

        A path is masked part by part.
        """
        if name == "path" and "://" not in text:
            return "/".join(map(self.text, text.split("/")))
        return text if name in _IDS and _ID.fullmatch(text) else self.text(text)

    def turn(self, turn: Turn) -> Turn:
        """The turn with all that is told of it masked.

        A line `password: x` may have been read as somebody called password: both are looked at as one.
        """
        start = f"{turn.speaker}: " if turn.speaker else ""
        whole = self.text(f"{start}{turn.text}")
        if whole.startswith(start):
            speaker, text = self.text(turn.speaker), whole[len(start) :]
        else:
            speaker, text = self.text(turn.speaker), self.text(turn.text)
        told = {name: getattr(turn, name) for name in (*_IDS, "title")}
        new: dict[str, Any] = {name: self.named(old, name) for name, old in told.items() if old}
        new |= {"text": text, "speaker": speaker, "caption": self.text(turn.caption) if turn.caption else ""}
        return (
            replace(turn, **new) if any(getattr(turn, name) != value for name, value in new.items()) else turn
        )


def _carried(run: Sequence[Turn]) -> Iterator[Secret]:
    """What turns give away only with those before them: all of them, and those of each speaker."""
    speakers = {turn.speaker for turn in run}
    for speaker in {None, *(speakers if len(speakers) > 1 else ())}:
        texts = [turn.text for turn in run if speaker in (None, turn.speaker)]
        if len(texts) > 1:
            yield from masked("\n".join(texts), CARRIED, again=True)[1]


def redacted(text: str) -> str:
    """`text` with each secret as `[redacted: kind]`; what is masked already stays as it is."""
    return Together(text).text(text)


def kinds(text: str) -> list[str]:
    """The kinds of secrets that `redacted` finds in `text`, each once."""
    return list(dict.fromkeys(MARK.findall(redacted(text))))


def redacted_turns(turns: Sequence[Turn], said: Iterable[Sequence[Turn]] = ()) -> list[Turn]:
    """Turns that are shown together, masked together."""
    return list(map(Together(turns, said=said).turn, turns))


def redacted_result(
    answer: Result, around: Sequence[Nearby] = (), said: Iterable[Sequence[Turn]] = ()
) -> tuple[Result, list[Nearby]]:
    """An answer and its context turns, masked wherever either is shown: all texts, turns and terms.

    Hops search for words of other turns, a password among them: a term is shown only where the masked
    question or a masked turn holds it too.
    """
    turns: list[Turn] = []

    def collect(turn: Turn) -> Turn:
        turns.append(turn)
        return turn

    shown = (answer, tuple(around))
    changed(shown, collect)
    mask = Together(shown, said=said)
    openly = "\n".join([mask.text(answer.query), *(mask.turn(turn).spoken for turn in turns)])
    held = " ".join(fold(MARK.sub("\0", openly)).split())

    def told(word: str) -> str:
        known = mask.text(word)
        openly = " ".join(fold(word).split()) in held if known == word else not MARK.fullmatch(known)
        return known if openly else "[redacted: term]"

    def term(one: Term) -> Term:
        return replace(one, text=told(one.text), source=told(one.source))

    result, near = changed(shown, mask.turn, term, mask.named)
    return result, list(near)
