"""The Python API (docs/python.md): the command's answers as objects."""

from __future__ import annotations

import io
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
from smartsearch.ask.scope import Request, Written
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
from smartsearch.transcripts.filters import NAMES

Name = str | os.PathLike[str]
Turns = Iterable[Mapping[str, object]]
FILES = ("glob", "exclude", "input_format")
LIMIT = 10


@dataclass(frozen=True, repr=False)
class Result(types.Result):
    """The answer to a question: `hits`, best first, with `confidence`, `weak`, `warnings` and `skipped`.

    A hit has `rank`, `scores` and `turn` (`path`, `line`, `speaker`, `time`, `text`); of a long turn `shown`
    is the part that answers.
    """

    config: Config = field(default_factory=Config)

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

    def __init__(
        self, paths: Name | Iterable[Name] = ".", *, turns: Turns | None = None, **options: object
    ) -> None:
        names = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
        self._paths = ["-"] if turns is not None else [os.fspath(name) for name in names]
        filters = {name: _chosen(name, options.pop(name)) for name in NAMES if name in options}
        files = {name: options.pop(name) for name in FILES if name in options}
        globs, excludes = (tuple(_listed(files.get(name, ()))) for name in ("glob", "exclude"))
        self._written = Written(filters, globs, excludes, str(files.get("input_format", "auto")))
        for name in options.keys() - FIELDS.keys():
            near = get_close_matches(name, (*NAMES, *FILES, *FIELDS), n=1)
            hint = f"did you mean {near[0]}?" if near else "docs/cli.md lists them"
            raise UsageError(f"no option {name!r}", hint=hint)
        given = {name: coerced(name, _said(value), f"{name}: ") for name, value in options.items()}
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
        self, question: str, *, limit: int = LIMIT, paths: Iterable[str] | None = None, **narrowed: object
    ) -> Result:
        """The best `limit` turns, 0 for all worth reading; `narrowed` are filters of this question alone.

        Raises SmartsearchError: nothing can be read, no such speaker, a filter that is none.
        """
        said = {name: _listed(value) for name, value in narrowed.items()}
        if unknown := said.keys() - set(batch.FILTERS):
            hint = f"for one question: {', '.join(batch.FILTERS)}; others are options of Searcher"
            raise UsageError(f"no filter {sorted(unknown)[0]!r}", hint=hint)
        asked = batch.question_of(0, 0, {"question": question, "paths": list(paths or ()), **said})
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
    question: str,
    paths: Name | Iterable[Name] = ".",
    *,
    turns: Turns | None = None,
    limit: int = LIMIT,
    **options: object,
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


def _said(value: object) -> object:
    return value.isoformat() if isinstance(value, date) else value


def _listed(value: object) -> Any:
    """A value as a line of a batch has it: dates as text, tuples as lists."""
    if isinstance(value, str | date | bool) or value is None:
        return _said(value)
    return [_said(one) for one in value] if isinstance(value, Iterable) else value


def _chosen(name: str, value: object) -> object:
    """A filter's value: one, or several in a list."""
    several = _listed(value)
    return [several] if isinstance(several, str) and name not in batch.SINGLE else several


def _line(question: str | Mapping[str, object], number: int) -> bytes:
    """A question as a line of a file."""
    return orjson.dumps({"id": number, "question": question} if isinstance(question, str) else dict(question))
