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
    made = [f.default if f.default_factory is dataclasses.MISSING else f.default_factory() for f in declared]
    return [f.name for f in declared], made


@lru_cache(maxsize=64)
def _decoder(kind: Any) -> Callable[[Any], Any]:
    """What makes a value of a kind: a record, tuple, dict, text, number, truth, or one of them or None."""
    if kind is Any:  # what another system tells of itself
        return lambda data: data
    parts = get_args(kind)
    if dataclasses.is_dataclass(kind):
        return _record(kind)
    if get_origin(kind) is tuple and parts[1:] == (...,):
        item = _decoder(parts[0])
        return lambda data: tuple([item(value) for value in _of(list, data)])
    if get_origin(kind) is tuple:
        items = list(map(_decoder, parts))
        return lambda data: tuple([made(v) for made, v in zip(items, _of(list, data), strict=True)])
    if get_origin(kind) is dict:
        keys, values = map(_decoder, parts)
        return lambda data: {keys(k): values(v) for k, v in _of(dict, data).items()}
    if type(None) in parts:
        present = _decoder(next(part for part in parts if part is not type(None)))
        return lambda data: None if data is None else present(data)
    if kind is float:  # a whole number may stand where a float does
        return lambda data: data if type(data) is int else _of(float, data)
    return lambda data: _of(kind, data)


def _record(kind: Any) -> Callable[[Any], Any]:
    hints = get_type_hints(kind)
    names, defaults = _fields(kind)
    fields = [_decoder(hints[name]) for name in names]
    needed = sum(default is dataclasses.MISSING for default in defaults)

    def decoded(data: Any) -> Any:
        if not needed <= len(_of(list, data)) <= len(fields):
            raise ValueError(f"no {kind.__name__}")
        return kind(*[field(item) for field, item in zip(fields, data, strict=False)])

    return decoded


def _of(kind: type, data: Any) -> Any:
    if type(data) is not kind:
        raise ValueError(f"no {kind.__name__}")
    return data
