"""One's own transcripts, without labels, as chats with rule-made questions; some of it held out.

The transcripts are cut into parts: a session, or a run of 30 turns of a longer one. A part is held out by a
hash of how it begins, so the same part stays on the same side, whatever folder it lies in and however much
is added later (of a small collection more is held out). A held-out turn is never trained on, not even as a
wrong one.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from smartsearch.errors import InputError
from smartsearch.training.chats import Chat, Labelled
from smartsearch.training.overlap import words
from smartsearch.training.questions import first_person, made_questions
from smartsearch.types import Turn

PART = 30
"""Turns of a part at most."""
SHARES = (0.15, 0.3)
"""The share of parts held out; the second where the first leaves too few questions."""
LEAST_HELD_OUT, LEAST_TRAINED = 30, 100
"""The fewest questions for a comparison, and for training."""
POOL = 1000
"""Turns of a chat at most: wrong turns come from the same one, in a time that grows with its square."""
RENAMED = 0.3
"""Share of training groups with other first names, so that names are not all that is learned."""
LONGEST = 22
"""Words of a question."""
SELF = frozenset(("user", "human", "me", "you", "i", "myself"))
MACHINE_ROLES = frozenset(("assistant", "system", "tool", "model", "bot", "ai", "function", "developer"))
FIRST_NAME = re.compile(r"[A-Z]\w+")
ABOUT_USER = re.compile(r"\bUser\b")
TWICE = r"(?i)\b(\w+) \1\b"


@dataclass(frozen=True)
class Own:
    """What was made of the transcripts: chats to train on, chats to measure on, and the number of turns."""

    trained: tuple[Chat, ...]
    held_out: tuple[Chat, ...]
    turns: int

    @property
    def questions(self) -> tuple[int, int]:
        """How many questions there are to train on and to measure on."""
        train, measure = (sum(len(c.questions) for c in side) for side in (self.trained, self.held_out))
        return train, measure


def read_own(turns: Sequence[Turn]) -> Own:
    """The chats of `turns`, which are in corpus order; a copy of a part counts as nothing."""
    parts = [_asked(part) for part in _without_copies(_parts(turns))]
    once = _asked_once(parts)
    for share in SHARES:
        kept, unseen = [part for part in once if not part.out(share)], [p for p in once if p.out(share)]
        if sum(len(part.questions) for part in unseen) >= LEAST_HELD_OUT:
            break
    return Own(
        tuple(_pooled(kept, "own", RENAMED)), tuple(_pooled(unseen, "held out", 0.0)), sum(map(len, parts))
    )


def check(own: Own) -> None:
    """Raise InputError where there are too few questions to train or to measure."""
    train, measure = own.questions
    if train >= LEAST_TRAINED and measure >= LEAST_HELD_OUT:
        return
    raise InputError(
        f"{own.turns} turns gave {train} questions to train on and {measure} to measure on; "
        f"{LEAST_TRAINED} and {LEAST_HELD_OUT} are needed",
        hint="more chats; questions are made of English turns whose speakers are named, "
        "about one for every three or four turns",
        kind="too_little",
    )


@dataclass(frozen=True)
class _Part:
    turns: tuple[Turn, ...]
    questions: tuple[Labelled, ...] = ()
    names: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.turns)

    @property
    def key(self) -> str:
        return "\0".join(f"{turn.speaker}\0{turn.time}\0{turn.text}" for turn in self.turns[:2])

    def out(self, share: float) -> bool:
        """Whether the part is held out: by its beginning alone."""
        digest = hashlib.sha256(self.key.encode("utf-8", "replace")).digest()
        return int.from_bytes(digest[:4], "big") / 2**32 < share


def _parts(turns: Sequence[Turn]) -> Iterator[_Part]:
    """Runs of turns of one session of one conversation, of one day where there are no sessions."""

    def place(turn: Turn) -> tuple[str, ...]:
        return (turn.path, turn.conversation, turn.session, "" if turn.session else turn.date)

    for _, run in groupby(turns, place):
        said = tuple(run)
        for start in range(0, len(said), PART):
            yield _Part(said[start : start + PART])


def _without_copies(parts: Iterable[_Part]) -> Iterator[_Part]:
    """The parts whose turns are not those of an earlier one: a folder may hold a chat and its copy."""
    seen = set()
    for part in parts:
        said = tuple((turn.speaker, turn.time, turn.text) for turn in part.turns)
        if said not in seen:
            seen.add(said)
            yield part


def _asked_name(turn: Turn) -> str:
    """What a question calls the speaker: a first name, User, Assistant, or nothing."""
    plain = turn.speaker.strip().lower()
    if turn.role in MACHINE_ROLES or plain in MACHINE_ROLES:
        return "Assistant"
    if plain in SELF:
        return "User"
    first = turn.speaker.split()[0] if plain else ""
    first = first[:1].upper() + first[1:]
    return first if FIRST_NAME.fullmatch(first) else ""


def _asked(part: _Part) -> _Part:
    """The part with its questions: always the same ones, whatever else is read."""
    called = [_asked_name(turn) for turn in part.turns]
    full = {name: {t.speaker for t, c in zip(part.turns, called) if c == name} for name in called}
    called = [name if len(full[name]) == 1 or name in ("User", "Assistant") else "" for name in called]
    renamed = [replace(turn, speaker=name) for turn, name in zip(part.turns, called)]
    machine = "Assistant" in called
    made = []
    for one in made_questions(renamed, random.Random(part.key), 1.0):
        if _usable(one.question, set(called)):
            asked = first_person(one.question) if ABOUT_USER.search(one.question) else one.question
            near = frozenset(one.gold[0] + step for step in (-1, 1)) if machine else frozenset[int]()
            made.append(replace(one, question=asked, related=near))
    return replace(part, questions=tuple(made), names=frozenset(called) - {"", "User", "Assistant"})


def _usable(question: str, names: Iterable[str]) -> bool:
    """Whether a made question has something to go by, and no sign that the rules went astray."""
    told = words(question) - {name.lower() for name in names}
    clitics = [rf"\b{re.escape(name)}['’](?:d|ll|ve|m)\b" for name in names if name]
    astray = "Assistant" in question or any(re.search(odd, question) for odd in (*clitics, TWICE))
    return len(told) >= 2 and len(question.split()) <= LONGEST and not astray


def _asked_once(parts: Sequence[_Part]) -> list[_Part]:
    """Parts without the questions that were made of two turns: either may be what was meant."""
    count = Counter(one.question.lower() for part in parts for one in part.questions)
    return [
        replace(part, questions=tuple(q for q in part.questions if count[q.question.lower()] == 1))
        for part in parts
    ]


def _pooled(parts: Iterable[_Part], name: str, rename: float) -> Iterator[Chat]:
    """Parts as chats of about `POOL` turns: search goes through many conversations at once too."""
    pool: list[_Part] = []
    for number, part in enumerate(parts):
        if pool and sum(map(len, pool)) + len(part) > POOL:
            yield _chat(pool, f"{name} {number}", rename)
            pool = []
        pool.append(part)
    if pool:
        yield _chat(pool, f"{name} last", rename)


def _chat(parts: Sequence[_Part], name: str, rename: float) -> Chat:
    turns: list[Turn] = []
    asked: list[Labelled] = []
    for number, part in enumerate(parts):
        start = len(turns)
        turns += [replace(turn, session=str(number)) for turn in part.turns]
        asked += [
            replace(
                one,
                gold=tuple(start + i for i in one.gold),
                related=frozenset(start + i for i in one.related if 0 <= i < len(part)),
            )
            for one in part.questions
        ]
    people = sorted({name for part in parts for name in part.names})
    machine = any(_asked_name(turn) == "Assistant" for turn in turns)
    return Chat("own", name, tuple(turns), tuple(asked), tuple(people), rename, repeats=machine)
