"""Records as JSON and back, by their type hints: what travels between a command and its warm process."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")


def encode(value: Any) -> Any:
    """`value` as JSON holds it: a record is the list of its fields without those at the end that hold
    their default. Floats come back to the bit, halves of surrogate pairs too."""
    if dataclasses.is_dataclass(value):
        kind: Any = type(value)
        names, defaults = _fields(kind)
        values = [getattr(value, name) for name in names]
        while values and type(values[-1]) is type(defaults[len(values) - 1]):
            if values[-1] != defaults[len(values) - 1]:
                break
            values.pop()
        return [encode(item) for item in values]
    if isinstance(value, list | tuple):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {key: encode(item) for key, item in value.items()}
    return value


def decode(kind: type[T], data: Any) -> T:
    """The record of that kind that was encoded as `data`. Raises ValueError for anything else."""
    known: Any = kind
    made: T = _decoder(known)(data)
    return made


@lru_cache(maxsize=64)
def _fields(kind: Any) -> tuple[list[str], list[Any]]:
    """Names and defaults of a record's fields."""
    declared = dataclasses.fields(kind)
    return [f.name for f in declared], [_default(f) for f in declared]


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


@lru_cache(maxsize=64)
def _decoder(kind: Any) -> Callable[[Any], Any]:
    parts = get_args(kind)
    if dataclasses.is_dataclass(kind):
        return _record(kind)
    if get_origin(kind) is tuple:
        return _sequence(parts) if parts[1:] == (...,) else _fixed(parts)
    if get_origin(kind) is dict:
        return _mapping(*parts)
    if type(None) in parts:
        return _optional(next(part for part in parts if part is not type(None)))
    return _plain(kind)


def _record(kind: Any) -> Callable[[Any], Any]:
    hints = get_type_hints(kind)
    names, defaults = _fields(kind)
    fields = [_decoder(hints[name]) for name in names]
    needed = sum(default is dataclasses.MISSING for default in defaults)

    def decoded(data: Any) -> Any:
        if type(data) is not list or not needed <= len(data) <= len(fields):
            raise ValueError(f"no {kind.__name__}")
        return kind(*[field(item) for field, item in zip(fields, data, strict=False)])

    return decoded


def _sequence(parts: tuple[Any, ...]) -> Callable[[Any], Any]:
    item = _decoder(parts[0])
    return lambda data: tuple([item(value) for value in _of(list, data)])


def _fixed(parts: tuple[Any, ...]) -> Callable[[Any], Any]:
    items = [_decoder(part) for part in parts]

    def decoded(data: Any) -> Any:
        if len(_of(list, data)) != len(items):
            raise ValueError(f"no {len(items)} values")
        return tuple([item(value) for item, value in zip(items, data, strict=True)])

    return decoded


def _mapping(key: Any, value: Any) -> Callable[[Any], Any]:
    keys, values = _decoder(key), _decoder(value)
    return lambda data: {keys(k): values(v) for k, v in _of(dict, data).items()}


def _optional(kind: Any) -> Callable[[Any], Any]:
    present = _decoder(kind)
    return lambda data: None if data is None else present(data)


def _plain(kind: type) -> Callable[[Any], Any]:
    """A text, number or truth as it came: a whole number may stand where a float does, no more."""

    def decoded(data: Any) -> Any:
        if type(data) is not kind and not (kind is float and type(data) is int):
            raise ValueError(f"no {kind.__name__}")
        return data

    return decoded


def _of(kind: type, data: Any) -> Any:
    if type(data) is not kind:
        raise ValueError(f"no {kind.__name__}")
    return data
