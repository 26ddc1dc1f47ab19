"""Which turns a search may find: by conversation, session, speaker, role and time. Turns in, a choice out.

A new filter is a field of `Filters` and what it asks of a turn in `Sieve`: the command line, the lines of a
batch, run folders, agents and the JSON record take it from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from operator import attrgetter
from typing import Any, NamedTuple

from smartsearch.errors import InputError, UsageError
from smartsearch.types import Turn, bare, fold

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


def _filter(help: str, metavar: str = "", default: tuple[str, ...] | str | bool = ()) -> Any:
    """A field of `Filters`: names where the default is a tuple, a switch where it is False, else a text."""
    return field(default=default, metadata={"help": help, "metavar": metavar})


@dataclass(frozen=True)
class Filters:
    """What has to be true of a turn; what is empty asks for nothing.

    `since` and `until` are the first and last second, ISO 8601 with the offset of the user's own clock.
    """

    conversation: tuple[str, ...] = _filter("Only this conversation, by id or title.", "ID")
    session: tuple[str, ...] = _filter("Only this session, by id or title.", "ID")
    since: str = _filter(
        "Only turns from this time on: 2023-05-08, 2023-05, 7d, 2w, yesterday, last week, may 2023, "
        "2023-05-08T13:00+02:00. Turns without a time are left out; those without an offset are taken as "
        "your own clock's.",
        "WHEN",
        "",
    )
    until: str = _filter("Only turns up to the end of this day, month or time.", "WHEN", "")
    only_speaker: tuple[str, ...] = _filter(
        "Only this speaker's turns, by name or one word of it. --speaker loses fewer answers.",
        "NAME",
    )
    role: tuple[str, ...] = _filter("Only turns of this role: user, assistant, system or tool.", "ROLE")

    @property
    def given(self) -> dict[str, tuple[str, ...]]:
        """Those that ask for something, by name."""
        values = {name: getattr(self, name) for name in NAMES}
        texts = {name: "true" if value is True else value for name, value in values.items() if value}
        return {name: (v,) if isinstance(v, str) else v for name, v in texts.items()}

    def over(self, others: Filters) -> Filters:
        """These, and where one of them asks for nothing, that of `others`."""
        return replace(others, **{name: v for name in NAMES if (v := getattr(self, name))})

    @classmethod
    def of(cls, said: Mapping[str, Any], now: str = "") -> Filters:
        """The filters as written, by name, on the day `now`: lists or tuples of names, one text, or a switch.

        None and empty ask for nothing. Raises UsageError for a role or a time that is none.
        """
        values: dict[str, Any] = {
            f.name: tuple(said.get(f.name) or ()) if isinstance(f.default, tuple) else said.get(f.name)
            for f in fields(cls)
        }
        values |= {name: values[name] in (True, "true") for name in SWITCHES}
        values["role"] = roles(values["role"])
        if values["since"] is not None or values["until"] is not None:
            from smartsearch.text import dates

            values["since"], values["until"] = dates.bounds(
                values["since"], values["until"], dates.today(now)
            )
        return cls(**{name: value for name, value in values.items() if value})


NONE = Filters()
NAMES = tuple(field.name for field in fields(Filters))
SWITCHES = tuple(field.name for field in fields(Filters) if field.default is False)
"""The filters that are on or off."""


class Facts(NamedTuple):
    """What the filters ask of a turn: its fields of these names."""

    conversation: str
    session: str
    title: str
    speaker: str
    role: str
    time: str


_names_of = attrgetter("conversation", "session", "title", "speaker", "role")
"""The facts that many turns share: what is asked of them is asked once."""


def facts(turn: Turn) -> Facts:
    """The facts of a turn that is here already."""
    return Facts(turn.conversation, turn.session, turn.title, turn.speaker, turn.role, turn.time)


def speaks(name: str, speaker: str) -> bool:
    """Whether `name` is the speaker's, or one word of it, whatever the case and the accents."""
    wanted, whole = bare(name).strip(), bare(speaker)
    return bool(wanted) and wanted in (whole, *whole.split())


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
            _Named("conversation", filters.conversation, _names),
            _Named("session", filters.session, _names),
            _Named("speaker", filters.only_speaker, speaks),
            _Named("role", filters.role, has_role),
        ]
        self._since, self._until = filters.since, filters.until
        self._between = _between(filters.since, filters.until) if filters.since or filters.until else None
        self._seen = self._kept = self._timeless = 0
        self._known: dict[tuple[str, ...], bool] = {}

    def __call__(self, turn: Facts) -> bool:
        """Whether a turn passes."""
        self._seen += 1
        names = _names_of(turn)
        held = self._known.get(names)
        if held is None:
            held = self._known[names] = self._has_names(turn)
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
