"""The tools, without the protocol: checked arguments in, a record and the same as text out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from smartsearch import systems
from smartsearch.ask.batch import question_of
from smartsearch.ask.door import Door, Found
from smartsearch.ask.scope import Request, Written
from smartsearch.config import Config
from smartsearch.errors import InputError, SmartsearchError
from smartsearch.models import loading
from smartsearch.output.plain import where
from smartsearch.rank.confidence import worth_reading
from smartsearch.serve.mcp import brief
from smartsearch.serve.mcp.brief import Json, Reply, Wanted
from smartsearch.serve.mcp.roots import Location, Locations, Roots
from smartsearch.serve.models import Models
from smartsearch.serve.warm.shelf import Shelf
from smartsearch.transcripts.nearby import nearby, runs
from smartsearch.transcripts.opening import confined
from smartsearch.types import Corpus, Hit, Scores, Turn

if TYPE_CHECKING:
    from smartsearch.serve.mcp.arguments import ExpandArguments, Search
    from smartsearch.systems.base import System

ANY_WORDS = 10**8
"""The word budget of a search unless one is set: lines are short however long the turns are."""

_ID = re.compile(rf"[a-z2-7]{{{brief.ID_CHARACTERS}}}")
NEXT = "other words, names or synonyms; fewer `paths`; or there is nothing about it"
"""What to try where nothing was found."""


class Answers:
    """The tools over `roots`: `written` holds the filters of the command line, `config` its settings."""

    def __init__(self, roots: Roots, written: Written, config: Config, models: Models) -> None:
        self._roots, self._written, self._config, self._models = roots, written, config, models
        self._scope = written.scope(None, config)
        self._shelf = Shelf()
        self.places = Locations()

    def prepare(self) -> None:
        """Load what the system needs before anybody waits for it. The next question reports a failure."""
        with suppress(SmartsearchError, OSError, ImportError):
            self._system()

    def search(self, arguments: Search) -> Reply:
        """A short line for each of the best turns. Raises SmartsearchError."""
        self._roots.look()
        named = [self.places[path].path if path in self.places else path for path in arguments.paths]
        paths = [self._roots.resolve(path) for path in named]
        asked = question_of(0, 0, {"question": arguments.question, "paths": paths, **arguments.narrowed})
        served = replace(self._scope, paths=self._roots.paths)
        scope, config = self._written.own(asked, served, self._config)
        most = min(arguments.limit, self._config.limit or arguments.limit)
        config = replace(config, limit=0, wanted=most, budget=config.budget or ANY_WORDS)
        with confined(self._roots.paths):
            found = Door(self._system, self._shelf).find(Request(asked.text, scope, config))
        result = found.result
        read = [result.hits[n] for n in worth_reading(result)]
        best = {hit.rank for hit in sorted(read, key=lambda hit: hit.rank)[:most]}
        shown = [n for n, hit in enumerate(result.hits) if hit.rank in best]
        return self._shown(found, shown, arguments.line)

    def expand(self, arguments: ExpandArguments) -> Reply:
        """The full text of turns, with those around each. Raises SmartsearchError where none is found."""
        self._roots.look()
        corpora: dict[str, Corpus] = {}
        with confined(self._roots.paths):
            found = {name: self._tried(name, arguments.around, corpora) for name in arguments.ids}
        faults = {name: one for name, one in found.items() if isinstance(one, InputError)}
        wanted = [turn for one in found.values() if not isinstance(one, InputError) for turn in one]
        if not wanted:
            raise next(iter(faults.values()))
        missing = [
            {"id": name, "kind": fault.kind, "why": self._roots.shortened(fault.message)}
            for name, fault in faults.items()
        ]
        shown = {one.turn.path: self._roots.shown(one.turn.path) for one in wanted}
        if self._config.redact:
            from smartsearch.text.redact import redacted_turns

            at = {path: [one.at for one in wanted if one.turn.path == path] for path in corpora}
            said = [run for path, corpus in corpora.items() for run in runs(corpus, at[path])]
            masked = redacted_turns([one.turn for one in wanted], said)
            shown = {turn.path: shown[one.turn.path] for one, turn in zip(wanted, masked, strict=True)}
            wanted = [replace(one, turn=turn) for one, turn in zip(wanted, masked, strict=True)]
        tokenizer = loading.tokenizer()
        filled = brief.filled(wanted, arguments.tokens, tokenizer)
        record: Json = {
            "sessions": brief.sessions(filled.turns, shown),
            "used_tokens": filled.used,
            "tokens": arguments.tokens,
            "tokenizer": tokenizer.name,
            **_unless_empty(
                cut=list(filled.cut),
                left_out=list(filled.left_out),
                neighbours_left_out=filled.crowded_out,
                missing=missing,
            ),
        }
        lines = [line for session in record["sessions"] for line in ("", *brief.session_lines(session))]
        lines += ["", f"{filled.used:,} of {arguments.tokens:,} tokens ({tokenizer.name})"]
        if filled.cut:
            lines.append(f"cut to fit: {', '.join(filled.cut)}; more `tokens` show more")
        if filled.left_out:
            lines.append(f"left out: {', '.join(filled.left_out)}; ask for them alone, or with more `tokens`")
        if filled.crowded_out:
            lines.append(f"{filled.crowded_out} turns around them did not fit")
        lines += [f"missing: {entry['id']}: {entry['why']}" for entry in missing]
        return Reply(record, "\n".join(lines).lstrip("\n"))

    def _system(self) -> System:
        return systems.load(self._config, self._models)

    def _shown(self, found: Found, shown: Sequence[int], most: int) -> Reply:
        hits, places, result = [], {}, found.result
        for n in shown:
            turn = found.sources[n]
            name, place = brief.identity(turn), where(replace(turn, path=self._roots.shown(turn.path)))
            places[name] = Location(turn.path, turn.line, turn.pointer)
            hits.append(brief.hit(result.hits[n], name, place, most))
        self.places.keep(places)
        warned = (*self._roots.missing, *(result.warnings if self._roots.paths else ()))
        said = [self._roots.shortened(text) for text in (*warned, *result.trace.degraded)]
        if unfit := result.budget.drops.get("budget"):
            said.append(f"{unfit:,} more did not fit the budget of this server")
        skipped = [replace(s, path=self._roots.shown(s.path)) for s in result.skipped]
        answer: Json = {
            "hits": hits,
            **({} if result.confidence is None else {"confidence": round(result.confidence, 2)}),
            "weak": result.weak,
            **_unless_empty(
                absent=[term.text for term in result.trace.absent],
                more=len(result.hits) - len(shown),
                estimates=list(result.trace.estimates),
                notes=brief.notes(said, skipped),
                next="" if hits else NEXT,
            ),
        }
        return Reply(answer, brief.text(answer), tuple(places))

    def _tried(self, name: str, around: int, corpora: dict[str, Corpus]) -> list[Wanted] | InputError:
        try:
            return self._wanted(name, around, corpora)
        except InputError as error:
            return error

    def _wanted(self, name: str, around: int, corpora: dict[str, Corpus]) -> list[Wanted]:
        """The turn of that id or at that place, and those around it. Raises InputError."""
        place = self.places.get(name)
        if place is None:
            if _ID.fullmatch(name):
                raise InputError(
                    f"no such id: {name}", hint="`search` gives ids; search again", kind="unknown_id"
                )
            place = self._roots.place(name)
        path = self._roots.resolve(place.path)
        scope = replace(self._scope.unfiltered, paths=(path,), indexed=False)

        def near() -> list[Wanted]:
            corpus = corpora[path] if path in corpora else self._shelf.haystack(scope).corpus
            at = self._found(corpus.turns, replace(place, path=path), name)
            wanted = _around(corpus, at, around, name)
            corpora[path] = corpus
            return wanted

        return self._shelf.reading(scope, near)[0]

    def _found(self, turns: Sequence[Turn], place: Location, name: str) -> int:
        """Which of a file's turns is meant. Raises InputError `stale_id`, `no_turn`."""
        there = _located(turns, place)
        by_id = name in self.places
        meant = [at for at in there if not by_id or brief.identity(turns[at]) == name]
        if meant:
            return meant[0]
        if by_id:
            said = f"{self._roots.shown(place.path)} has changed since {name} was found in it"
            raise InputError(said, hint="search again", kind="stale_id")
        hint = "places stand in the hits of `search`"
        raise InputError(f"no turn at {name[:300]}", hint=hint, kind="no_turn")


def _unless_empty(**values: object) -> Json:
    """Those of the keys that hold something: an agent pays for each."""
    return {name: value for name, value in values.items() if value}


def _around(corpus: Corpus, at: int, around: int, name: str) -> list[Wanted]:
    """The turn at an index, and up to `around` before and after it in its session."""
    turn = corpus.turns[at]
    near = nearby(corpus, [Hit(1, turn, Scores(0.0), index=at)], around, around)[0]
    return [
        Wanted(turn, at, _at(turn), name=name),
        *(Wanted(t, at - n, _at(t), n) for n, t in enumerate(reversed(near.before), 1)),
        *(Wanted(t, at + n, _at(t), n) for n, t in enumerate(near.after, 1)),
    ]


def _at(turn: Turn) -> str:
    """The place of a turn in its file."""
    return str(turn.line) if turn.line else f"#{turn.pointer}"


def _located(turns: Sequence[Turn], place: Location) -> list[int]:
    """Indices of the turns at a place of one file. Lines ascend, so that few of unread ones are parsed."""
    if isinstance(turns, tuple):
        return [n for n, t in enumerate(turns) if (t.line, t.pointer) == (place.line, place.pointer)]
    low, high = 0, len(turns)
    while low < high:
        middle = probe = (low + high) // 2
        while probe < high and not turns[probe].line:
            probe += 1
        if probe < high and turns[probe].line < place.line:
            low = probe + 1
        else:
            high = middle
    found = []
    while place.line and low < len(turns) and turns[low].line in (0, place.line):
        if turns[low].line:
            found.append(low)
        low += 1
    return found
