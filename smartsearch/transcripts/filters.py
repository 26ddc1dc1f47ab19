"""Which turns a search may find: by conversation, session, speaker, role and time. Turns in, a choice out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import NamedTuple

from smartsearch.errors import InputError, UsageError
from smartsearch.types import Turn, fold

ROLES = ("user", "assistant", "system", "tool")
_ROLE_WORDS = {
    "user": ("user", "human"),
    "assistant": ("assistant", "ai", "model", "bot"),
    "system": ("system", "developer"),
    "tool": ("tool", "function"),
}
"""What the sources call them."""
_DAY = len("2023-05-08")
_WALL = len("2023-05-08T13:56:00")
NEAREST = 3
"""Names that are offered in the place of an unknown one."""


@dataclass(frozen=True)
class Filters:
    """What has to be true of a turn; what is empty asks for nothing.

    `since` and `until` are the first and last second, ISO 8601 with the offset of the user's own clock.
    """

    conversations: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    only_speakers: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    since: str = ""
    until: str = ""

    @property
    def given(self) -> bool:
        """Whether anything is asked for."""
        return any(getattr(self, field.name) for field in fields(self))


class Facts(NamedTuple):
    """What the filters ask of a turn: its fields of these names."""

    conversation: str
    session: str
    title: str
    speaker: str
    role: str
    time: str


def facts(turn: Turn) -> Facts:
    """The facts of a turn that is here already."""
    return Facts(turn.conversation, turn.session, turn.title, turn.speaker, turn.role, turn.time)


def speaks(name: str, speaker: str) -> bool:
    """Whether `name` is the speaker's, or one word of it, whatever the case."""
    wanted, whole = fold(name).strip(), fold(speaker)
    return wanted in (whole, *whole.split())


def has_role(role: str, turn_role: str) -> bool:
    """Whether what a source calls a role is one of ROLES."""
    return fold(turn_role) in _ROLE_WORDS[role]


def roles(given: Iterable[str]) -> tuple[str, ...]:
    """The roles of --role, in lower case. Raises UsageError for what is none."""
    named = tuple(role.casefold() for role in given)
    for role in named:
        if role not in ROLES:
            raise UsageError(f"--role is {role!r}", hint=f"one of {', '.join(ROLES)}")
    return named


def unknown(kind: str, name: str, present: Iterable[str]) -> InputError:
    """The error for a name that no turn has; its hint has the nearest of those that are `present`."""
    from difflib import get_close_matches

    known = {fold(p): p for p in present if p}
    near = [known[key] for key in get_close_matches(fold(name), known, n=NEAREST, cutoff=0.5)]
    close = near or list(known.values())[:NEAREST]
    hint = f"the closest are {', '.join(close)}" if close else f"these transcripts name no {kind}s"
    return InputError(f"no {kind} {name!r}", hint=hint, kind=f"unknown_{kind}")


class Sieve:
    """The filters at work: asked turn by turn, it notes what turns have and what they lack."""

    def __init__(self, filters: Filters) -> None:
        self._named = [
            _Named("conversation", filters.conversations, _names),
            _Named("session", filters.sessions, _names),
            _Named("speaker", filters.only_speakers, speaks),
            _Named("role", filters.roles, has_role),
        ]
        self._since, self._until = filters.since, filters.until
        self._between = _between(filters.since, filters.until) if filters.since or filters.until else None
        self._seen = self._kept = self._timeless = 0
        self._known: dict[tuple[str, ...], bool] = {}

    def __call__(self, turn: Facts) -> bool:
        """Whether a turn passes."""
        self._seen += 1
        held = self._known.get(turn[:-1])
        if held is None:
            held = self._known[turn[:-1]] = self._has_names(turn)
        if not held:
            return False
        if self._between is not None:
            if not turn.time:
                self._timeless += 1
                return False
            if not self._between(turn.time):
                return False
        self._kept += 1
        return True

    def _has_names(self, turn: Facts) -> bool:
        conversation, session, speaker, role = self._named
        return (
            conversation(turn.conversation, turn.title)
            and session(turn.session, turn.title)
            and speaker(turn.speaker)
            and role(turn.role)
        )

    def warnings(self) -> tuple[str, ...]:
        """What to say now that all turns were asked for. Raises InputError for a name that none of them has.

        A role that none has is no error: its name is one.
        """
        for named in self._named:
            if named.noun != "role":
                named.check()
        said = []
        if self._timeless:
            turns = "turn without a time was" if self._timeless == 1 else "turns without a time were"
            said.append(f"{self._timeless:,} {turns} left out: --since and --until cannot tell")
        if self._seen and not self._kept:
            said.append(f"none of {self._seen:,} turns passes the filters")
        return tuple(said)


class _Named:
    """One filter by name: which of the names wanted were met, and which there are."""

    def __init__(self, noun: str, wanted: Sequence[str], matches: Callable[[str, str], bool]) -> None:
        self.noun = noun
        self.present: dict[str, None] = {}
        self._wanted, self._matches = wanted, matches
        self._met: set[str] = set()

    def __call__(self, *names: str) -> bool:
        if not self._wanted:
            return True
        self.present.update(dict.fromkeys(names))
        met = {want for want in self._wanted if any(self._matches(want, name) for name in names)}
        self._met |= met
        return bool(met)

    def check(self) -> None:
        """Raise InputError for a name that no turn has."""
        for want in self._wanted:
            if want not in self._met:
                raise unknown(self.noun, want, self.present)


def _names(wanted: str, name: str) -> bool:
    """Whether an id or title is the one that was asked for."""
    return name == wanted or (bool(name) and fold(name) == fold(wanted))


def _between(since: str, until: str) -> Callable[[str], bool]:
    """Whether a turn's time is in the bounds.

    A time with an offset is compared as an instant, one without as what the user's own clock shows. A bare
    day is inside if any of it is.
    """
    first = datetime.fromisoformat(since) if since else None
    last = datetime.fromisoformat(until) if until else None

    def inside(time: str) -> bool:
        if len(time) <= _WALL:
            length = _DAY if len(time) <= _DAY else _WALL
            return (not since or since[:length] <= time) and (not until or time <= until[:length])
        try:
            at = datetime.fromisoformat(time)
        except ValueError:  # no reader gives such a time; one that does costs this turn and no search
            return False
        return (first is None or first <= at) and (last is None or at <= last)

    return inside
