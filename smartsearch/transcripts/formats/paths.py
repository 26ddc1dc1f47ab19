"""Paths to what a JSON object holds, shapes that it may have, and captions of files, each made once.

A path is keys with `/` between them; of several, parted by blanks, the first counts that leads to a text or a
whole number: `author/nickname author/name id`. A shape is paths that must all be there, `=` says with which
words, `[]` and `{}` ask for a list and an object, a list's elements have what follows among the first of
them, `|` parts keys of which one is enough: `guild{} messages[]/id+text|content type=user|assistant`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from smartsearch.transcripts.formats.captions import attachment, bracketed, joined
from smartsearch.transcripts.formats.fields import last_part

Reads = Callable[[Any, Any], Any]
"""A function of a message, or a conversation, and of what is known about the conversation."""
Pick = str | Reads
_LOOKED_AT = 20
"""Elements of a list that a shape looks at."""


EACH = "*"
"""The path to a value itself, whose keys are ids."""


def at(value: object, way: str) -> Any:
    """What one path leads to, None where it ends early."""
    return _led(value, way.split("/") if way and way != EACH else ())


def path(written: Pick) -> Reads:
    """What gives the text at the paths, or ""."""
    if callable(written):
        return written
    ways = [way.split("/") for way in written.split()]
    if all(len(way) == 1 for way in ways):
        return _of_keys([key for (key,) in ways])

    def of_ways(value: Any, _: Any) -> str:
        for way in ways:
            found = value
            for key in way:
                if not isinstance(found, dict):
                    break
                found = found.get(key)
            else:
                if found is not None and (said := _text(found)):
                    return said
        return ""

    return of_ways


def _of_keys(keys: Sequence[str]) -> Reads:
    def of(value: Any, _: Any) -> str:
        for key in keys:
            found = value.get(key)
            if found.__class__ is str:
                if found and not found.isspace():
                    return found
            elif found is not None and (said := _text(found)):
                return said
        return ""

    return of


def value_of(written: Pick) -> Reads:
    """What gives the first value there is at the paths, whatever it is, or None."""
    if callable(written):
        return written
    keys = written.split()
    if len(keys) == 1 and "/" not in written:
        return lambda value, _: value.get(keys[0])
    ways = [way.split("/") for way in keys]

    def of(value: Any, _: Any) -> Any:
        for way in ways:
            found = value.get(way[0]) if len(way) == 1 else _led(value, way)
            if found is not None:
                return found
        return None

    return of


def _led(value: Any, way: Sequence[str]) -> Any:
    for key in way:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def _text(found: object) -> str:
    if isinstance(found, str):
        return found if found and not found.isspace() else ""
    return str(found) if isinstance(found, int) and not isinstance(found, bool) else ""


def shaped(*shapes: str) -> Callable[[Any], bool]:
    """Whether a value has one of the shapes."""
    wanted = [[way.split("/") for way in shape.split()] for shape in shapes]
    return lambda value: any(all(_has(value, way) for way in shape) for shape in wanted)


def _has(value: Any, way: Sequence[str]) -> bool:
    if not way:
        return True
    if not isinstance(value, dict):
        return False
    if "+" in way[0]:
        return all(_has(value, [key]) for key in way[0].split("+"))
    if "|" in way[0] and "=" not in way[0]:
        return any(_has(value, [key, *way[1:]]) for key in way[0].split("|"))
    key, equal, words = way[0].partition("=")
    bare = key.rstrip("[]{}")
    if bare not in value:
        return False
    found, rest = value[bare], way[1:]
    if equal:
        return isinstance(found, str) and found in words.split("|")
    if key.endswith("[]"):
        whole = isinstance(found, list)
        return whole and (not rest or any(_has(one, rest) for one in found[:_LOOKED_AT]))
    return (not key.endswith("{}") or (isinstance(found, dict) and bool(found))) and _has(found, rest)


Shows = Callable[[dict[str, Any]], str]


def each(ways: str, shows: Shows) -> Reads:
    """The captions of the objects, one or a list, at each of the paths."""
    paths = [way.split("/") for way in ways.split()]

    def of(value: Any, _: Any) -> str:
        captions: list[str] = []
        for way in paths:
            found = value.get(way[0])
            if found and len(way) > 1:
                found = _led(found, way[1:])
            if found:
                listed = found if isinstance(found, list) else [found]
                captions += [shows(one) for one in listed if isinstance(one, dict)]
        return joined(captions) if captions else ""

    return of


def address(where: str, mime: str = "") -> str:
    """The caption of a file at a path or an address."""
    return attachment(last_part(where.partition("?")[0]), mime)


def file(names: str = "name", mime: str = "type") -> Shows:
    """The caption of a file: paths to its name, path or address, and to its media type."""
    name, kind = path(names), path(mime)
    return lambda value: address(name(value, None), kind(value, None))


def noun(word: str, *details: str) -> Shows:
    """The caption `[word name]`, of what stands at the paths of each detail."""
    told = [path(one) for one in details]
    return lambda value: bracketed(word, *(one(value, None) for one in told))
