"""What systems ask a language model: the roles that it takes, how they are asked, and what that will cost."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, TypeVar, cast

from pydantic import BaseModel, ConfigDict, create_model

from smartsearch.llm import Asker, LLMError, Message, rough_tokens
from smartsearch.llm.asking import no_objection
from smartsearch.systems.base import Plan, Progress

T = TypeVar("T")


class Shape(BaseModel):
    """A reply as JSON: the fields that its class has, and no others."""

    model_config = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True)
class Role(Generic[T]):
    """A role: its name, its task, the kind of its replies, their most tokens, what may be wrong in them.

    A reply is a JSON object of the kind, or where the role has a `field`, what stands in this one field.
    """

    name: str
    task: str
    kind: type[T]
    tokens: int
    check: Callable[[T], str] = no_objection
    field: str = ""

    @cached_property
    def shape(self) -> type[BaseModel]:
        """The reply as a class of pydantic."""
        if not self.field:
            return cast("type[BaseModel]", self.kind)
        told: dict[str, Any] = {self.field: (self.kind, ...)}
        return create_model(self.name.title(), __base__=Shape, **told)

    def reply(self, asker: Asker, *said: str, check: Callable[[T], str] | None = None) -> T:
        """What the model replies to what is `said`; `check` goes before the role's own. Raises LLMError."""
        wrong = check or self.check
        asked: list[Message] = [{"role": "system", "content": self.task}]
        asked += ({"role": "user", "content": one} for one in said)

        def value(found: BaseModel) -> T:
            return cast("T", getattr(found, self.field) if self.field else found)

        def fault(found: BaseModel) -> str:
            return wrong(value(found))

        return value(asker.parsed(asked, self.shape, max_tokens=self.tokens, check=fault))

    @cached_property
    def around(self) -> int:
        """Tokens of a request around what it is about: its task, and the shape of the reply."""
        return rough_tokens(self.task + json.dumps(self.shape.model_json_schema()))


def quoted(data: Mapping[str, Any], indent: int | None = None) -> str:
    """What a request is about but for what is empty, as JSON, so that nothing in it can end its quotation."""
    given = {name: value for name, value in data.items() if value}
    return json.dumps(given, ensure_ascii=False, indent=indent)


def identity(asker: Asker, roles: Iterable[Role[Any]]) -> list[str]:
    """What tells what a model makes in these roles from all others: where it is, its name, its tasks."""
    return [asker.endpoint.url, asker.endpoint.model, *(f"{role.task}{role.tokens}" for role in roles)]


Calls = tuple[Role[Any], int, int]
"""A role, how often it is asked, and the tokens that all its requests quote together."""


def foretold(rows: Iterable[Calls], unit: str = "") -> Plan:
    """What these calls take, their replies as long as they may be."""
    plan = Plan()
    for role, calls, quoted in rows:
        if calls:
            plan = plan.plus(Plan(calls, quoted + calls * role.around, calls * role.tokens))
    return replace(plan, unit=unit)


def in_turn(
    asker: Asker, jobs: Mapping[str, Callable[[], T]], at_once: int, progress: Progress
) -> Iterator[dict[str, T | LLMError]]:
    """What the jobs give by their keys, so many at a time, to be kept before the next are done.

    Raises LLMError that every job would meet.
    """
    for start in range(0, len(jobs), at_once):
        progress(start, len(jobs))
        some = list(jobs)[start : start + at_once]
        yield dict(zip(some, asker.each([jobs[key] for key in some]), strict=True))
    if jobs:
        progress(len(jobs), len(jobs))
