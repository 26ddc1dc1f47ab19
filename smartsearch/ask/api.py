"""The Python API (docs/python.md): the command's answers as objects."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from difflib import get_close_matches
from functools import lru_cache
from itertools import count
from typing import Any, cast

import orjson

from smartsearch import systems, types
from smartsearch.ask import batch
from smartsearch.ask.batch import Question
from smartsearch.ask.door import Door
from smartsearch.ask.library import Library
from smartsearch.ask.scope import Request, Written, input_format
from smartsearch.config import FIELDS, Config, build, check, coerced
from smartsearch.errors import InputError, UsageError
from smartsearch.models import loading
from smartsearch.output import plain, record
from smartsearch.output.contract import Query
from smartsearch.output.marking import marked
from smartsearch.output.markup import join, tag
from smartsearch.output.show import block
from smartsearch.runtime.deadline import deadline
from smartsearch.systems.base import System
from smartsearch.transcripts.filters import NAMES, SWITCHES

Name = str | os.PathLike[str]
Names = Name | Iterable[Name]
Turns = Iterable[Mapping[str, object]]
FILES = ("glob", "exclude", "input_format", "fields", "head")
LIMIT = 10


@dataclass(frozen=True, repr=False)
class Result(types.Result):
    """The answer to a question: `hits`, best first, with `confidence`, `weak`, `warnings` and `skipped`.

    It iterates over its hits, and its length is how many they are. A hit has `rank`, `scores` and `turn`
    (`path`, `line`, `speaker`, `time`, `text`); of a long turn `shown` is the part that answers.
    """

    config: Config = field(default_factory=Config)

    def __iter__(self) -> Iterator[types.Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def json(self) -> Query:
        """The record of `query --json` (docs/json.md)."""
        told = orjson.loads(record.dumps(record.result(self, self.config)))
        return cast("Query", told)

    def context(self) -> str:
        """The block to put into a prompt: what `--format context` prints. Unlikely turns are left out."""
        return "\n".join(block(self, (), self.config))

    def __repr__(self) -> str:
        """The lines of a pipe, and what is to be said beside them."""
        notes = [f"# {plain.one_line(said)}" for said in plain.told(self)]
        return "\n".join([*notes, *plain.lines(self.hits)]) or "nothing found"

    def _repr_html_(self) -> str:
        """A table for a notebook: escaped, and it loads nothing."""
        rows = [
            tag(
                "tr",
                tag("td", str(hit.rank)),
                tag("td", tag("code", plain.where(hit.turn))),
                tag("td", hit.turn.date),
                tag("td", tag("b", hit.turn.speaker), " ", marked(hit.shown.said, hit.terms)),
            )
            for hit in self.hits
        ]
        notes = [tag("p", tag("i", said)) for said in plain.told(self)]
        return join([*notes, tag("table", tag("tbody", *rows)) if rows else tag("p", "nothing found")])


class Searcher:
    """Searches the same transcripts again and again: they are read once, and the models stay loaded.

    `paths` are files, folders, archives or `@names`; or `turns` are dictionaries with the usual keys
    (`speaker`, `text`, `time`; `role`, `content`); `#/3` is the place of the fourth. `options` are those
    of `query` by name: filters (`since="2024-05"`), settings (`fast=True`), `glob`, `exclude` and more.
    Settings files and SMARTSEARCH_ variables count as for the command. One question at a time.

    Raises SmartsearchError: `UsageError`, `ConfigError`.
    """

    def __init__(self, paths: Names = ".", *, turns: Turns | None = None, **options: object) -> None:
        self._paths = ["-"] if turns is not None else _names(paths)
        filters = {name: _chosen(name, options.pop(name)) for name in NAMES if name in options}
        files: dict[str, Any] = {name: options.pop(name) for name in FILES if name in options}
        globs, excludes = (tuple(_several(name, files.get(name) or ())) for name in ("glob", "exclude"))
        usual = "auto" if turns is None else "messages"
        read_as = input_format(files.get("input_format") or usual, files.get("fields"), files.get("head"))
        self._written = Written(filters, globs, excludes, read_as)
        for name in options.keys() - FIELDS.keys():
            near = get_close_matches(name, (*NAMES, *FILES, *FIELDS), n=1)
            hint = f"did you mean {near[0]}?" if near else "docs/cli.md lists them"
            raise UsageError(f"no option {name!r}", hint=hint)
        told = {name: str(value) if isinstance(value, date) else value for name, value in options.items()}
        given = {name: coerced(name, value, f"{name}: ") for name, value in told.items()}
        self._config = build(given)
        if self._config.llm:
            raise UsageError(
                "a language model is asked by the command alone, which says what it sends",
                hint="smartsearch query --llm",
            )
        piped = None if turns is None else io.BytesIO(_as_json(turns))
        self._door = Door(lambda: _system(replace(self._config, notes=())), Library(piped))
        self._scope = self._written.scope(self._paths, self._config)

    def search(
        self, question: str, *, limit: int = LIMIT, paths: Names | None = None, **narrowed: object
    ) -> Result:
        """The best `limit` turns, 0 for all worth reading; `narrowed` are filters of this question alone.

        Raises SmartsearchError: nothing can be read, no such speaker, a filter that is none.
        """
        if unknown := narrowed.keys() - set(batch.FILTERS):
            hint = f"for one question: {', '.join(batch.FILTERS)}; others are options of Searcher"
            raise UsageError(f"no filter {sorted(unknown)[0]!r}", hint=hint)
        said = {name: _chosen(name, value) for name, value in narrowed.items()}
        said["paths"] = [] if paths is None else _names(paths)
        asked = batch.question_of(0, 0, {"question": question, **said})
        config = check(replace(self._config, limit=coerced("limit", limit, "limit: ")))
        return self._found(asked, config)

    def batch(self, questions: Iterable[str | Mapping[str, object]]) -> Iterator[dict[str, Any]]:
        """The records that `smartsearch batch` writes, one a question, in order (docs/json.md#batch).

        A question is a text, whose number is its id, or a dictionary as a line of a file has it. One that
        cannot be answered becomes a record with `error`. Raises ModelError, ConfigError, UsageError.
        """
        for outcome in batch.run(map(_line, questions, count(1)), self._answer):
            yield orjson.loads(record.dumps(record.outcome(outcome, self._config)))

    def _answer(self, question: Question) -> types.Result:
        return self._found(question, self._config)

    def _found(self, question: Question, config: Config) -> Result:
        scope, own = self._written.own(question, self._scope, config)
        with deadline(own.timeout):
            found = self._door.find(Request(question.text, scope, own)).result
        return Result(**vars(found), config=own)


def search(
    question: str, paths: Names = ".", *, turns: Turns | None = None, limit: int = LIMIT, **options: object
) -> Result:
    """The turns that answer `question`, best first, as a Searcher of the same `options` finds them.

    The transcripts are read anew, and the models stay loaded.
    """
    return Searcher(paths, turns=turns, **options).search(question, limit=limit)


@lru_cache(maxsize=2)
def _system(config: Config) -> System:
    return systems.load(config, loading.load_tools)


def _as_json(turns: Turns) -> bytes:
    """Turns as a file of JSON. Raises InputError where they are no dictionaries of what JSON holds."""
    try:
        return orjson.dumps(list(map(dict, turns)))
    except (TypeError, ValueError) as error:
        raise InputError(
            f"`turns` are no dictionaries of text: {error}", hint='turns=[{"speaker": "Ann", "text": "..."}]'
        ) from error


def _names(paths: Names) -> list[str]:
    """Paths as texts. Raises UsageError for an empty list: it does not mean the current folder."""
    names = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not names:
        raise UsageError("`paths` is empty", hint='"." is the current folder')
    return [os.fspath(name) for name in names]


def _several(name: str, value: object) -> list[str]:
    """One text or date, or several, as texts. Raises UsageError."""
    several = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]
    if not all(isinstance(one, str | date) for one in several):
        raise UsageError(f"{name} is {value!r}", hint="a text, or several in a list")
    return [str(one) for one in several]


def _chosen(name: str, value: object) -> object:
    """A filter's value: one text, or several in a list. Raises UsageError."""
    if value is None or name in SWITCHES:
        return value
    several = _several(name, value)
    if name in batch.SINGLE and len(several) != 1:
        raise UsageError(f"{name} is {value!r}", hint="one text")
    return several[0] if name in batch.SINGLE else several


def _line(question: str | Mapping[str, object], number: int) -> bytes:
    """A question as a line of a file."""
    said = {"id": number, "question": question} if isinstance(question, str) else question
    return json.dumps(dict(said) if isinstance(said, Mapping) else said, default=str).encode()
