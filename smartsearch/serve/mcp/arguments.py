"""What the tools take: each argument declared once; pydantic makes its schema and holds what is sent to it.

What narrows a search are the filters and settings that a line of a batch may say for itself: they come from
their own declarations, under the same names, in the plural where there may be several.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    StringConstraints,
    ValidationError,
    create_model,
)

from smartsearch.ask.batch import FILTERS
from smartsearch.config import FIELDS
from smartsearch.errors import UsageError
from smartsearch.transcripts.filters import Filters

KIND = "argument"
LONGEST_NAME = 1000
"""Characters of an id, a place or a path."""
NARROWING = {name: (FIELDS | Filters.__dataclass_fields__)[name] for name in FILTERS}
"""The filters and settings that an agent may say, as they are declared."""

T = TypeVar("T", bound="Arguments")
Json = dict[str, Any]


def _listed(given: object) -> object:
    return [given] if isinstance(given, str) else given


def _whole(given: object) -> object:
    return int(given) if isinstance(given, float) and given.is_integer() else given


Name = Annotated[str, StringConstraints(max_length=LONGEST_NAME)]
Names = Annotated[tuple[Name, ...], BeforeValidator(_listed)]
Text = Annotated[str, StringConstraints(strip_whitespace=True, max_length=60)]
Number = Annotated[int, Strict(), BeforeValidator(_whole)]


class Arguments(BaseModel):
    """What a tool takes; of an agent nothing else is accepted."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @property
    def plain(self) -> Json:
        """What was sent, as a record for a process that does not import pydantic."""
        return dict(self)


class Search(Arguments):
    """What `search` takes beside what narrows it."""

    question: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)] = Field(
        description="What you want to know, as a question or as words; names help."
    )
    paths: Names = Field(
        (), max_length=32, description="Only these files or folders, or those of hits, by id."
    )
    limit: Number = Field(8, ge=1, le=50, description="Most hits.")
    line: Number = Field(90, ge=40, le=500, description="Most characters of a hit's line.")

    @property
    def narrowed(self) -> Json:
        """What was said that narrows the search, as a line of a batch says it."""
        said = {name: getattr(self, _argument(name)) for name in NARROWING}
        return {name: list(v) if isinstance(v, tuple) else v for name, v in said.items() if v}

    @property
    def plain(self) -> Json:
        """What was sent, and what of it narrows the search."""
        return {**dict(self), "narrowed": self.narrowed}


def _argument(name: str) -> str:
    """What agents call a filter or setting."""
    return f"{name}s" if isinstance(NARROWING[name].default, tuple) else name


def _declared(name: str) -> Any:
    """A filter or setting as a field of pydantic's, with the first sentence of its help."""
    default, help = NARROWING[name].default, NARROWING[name].metadata["help"].split(". ")[0]
    kind = Names if isinstance(default, tuple) else bool if default is False else Text
    return kind, Field(default, description=help, max_length=32 if kind is Names else None)


SearchArguments = create_model(
    "SearchArguments",
    __base__=Search,
    __module__=__name__,
    **{_argument(name): _declared(name) for name in NARROWING},
)


class ExpandArguments(Arguments):
    """What `expand` takes."""

    ids: Names = Field(min_length=1, max_length=20, description="Ids of hits, or places: `chat.txt:12`.")
    around: Number = Field(2, ge=0, le=20, description="Turns before and after each, of the same session.")
    tokens: Number = Field(2000, ge=100, le=20_000, description="Most tokens of text in all.")


class StatusArguments(Arguments):
    """What `status` takes: nothing."""


def schema(kind: type[Arguments]) -> Json:
    """The JSON schema of a record of arguments, without what tells an agent nothing."""
    made = kind.model_json_schema()
    for shape in made["properties"].values():
        del shape["title"]
        if not shape.get("default", True):
            del shape["default"]
    return {key: value for key, value in made.items() if key not in ("title", "description")}


def parse(kind: type[T], given: Mapping[str, Any]) -> T:
    """The record of what an agent sent. Raises UsageError `argument` that names the first wrong one."""
    try:
        return kind.model_validate({name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
    name, known = str(wrong["loc"][0]), kind.model_fields
    if name not in known:
        close = get_close_matches(name, known, n=1)
        meant = f"did you mean {close[0]}?" if close else f"it takes {', '.join(known) or 'none'}"
        raise UsageError(f"no argument {name[:60]!r}", hint=meant, kind=KIND)
    if wrong["type"] == "missing":
        raise UsageError(f"{name} is missing", hint=known[name].description or "", kind=KIND)
    said = repr(given[name])
    shown = said if len(said) <= 60 else f"{said[:57]}..."
    raise UsageError(f"{name} is {shown}", hint=f"{name}: {wrong['msg']}", kind=KIND)
