"""Text to JSON documents, whole or a line each, with the place of what does not parse."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from smartsearch.transcripts.faults import FormatError

LINE_SUFFIXES = (".jsonl", ".ndjson")
JSON_SUFFIXES = (".json", *LINE_SUFFIXES)

_OPENS = re.compile(r"\s*[\[{]")
_LONE_SURROGATE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    r"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)'
_COMMENT = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?(?:\*/|\Z)", re.S)
_LAST_COMMA = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.S)
_BRACKET = re.compile(rf"{_STRING}|[\[\]{{}}]", re.S)
"""What has no end takes all that is left: reading it fails then."""
_CLOSING = {"{": "}", "[": "]"}
_WRITTEN = re.compile(r"\S")
_DECODER = json.JSONDecoder()
_HEX_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)\\x([0-9A-Fa-f]{2})")
"""`\\x0B`, as Telegram Desktop writes a control character: no JSON, but plain what is meant."""


class Item(NamedTuple):
    """A value and where it stands: `line` is 0 in a JSON file that is one document, `pointer` is RFC 6901."""

    value: Any
    line: int
    pointer: str = ""

    def fault(self, reason: str, kind: str = "bad_record") -> FormatError:
        """Why the value does not fit."""
        return FormatError(reason, line=self.line, pointer=self.pointer, kind=kind)

    def at(self, *path: str) -> Item:
        """What one key after the other leads to; None at that place where they lead to nothing."""
        found, place = self.value, self.pointer
        for key in path:
            found = found.get(key) if isinstance(found, dict) else None
            place += f"/{escaped(key)}"
        return Item(found, self.line, place)

    def elements(self, *path: str) -> Iterator[Item]:
        """The elements of the list to which one key after the other leads; none where no list is."""
        found, line, place = self.at(*path)
        for n, value in enumerate(found if isinstance(found, list) else ()):
            yield Item(value, line, f"{place}/{n}")


def escaped(key: str) -> str:
    """A key as a step of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


@dataclass(frozen=True)
class Documents:
    """The JSON values of a file, and the lines of a JSONL file that do not parse."""

    items: tuple[Item, ...] = ()
    broken: tuple[FormatError, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether the file is one JSON document, so the length of its lines means nothing."""
        return len(self.items) == 1 and not self.items[0].line

    @property
    def is_empty_list(self) -> bool:
        """Whether the file is `[]`, an empty export of any format."""
        return self.whole and self.items[0].value == []


def documents(text: str, suffix: str) -> Documents:
    """The documents in `text`; none when it is not JSON and `suffix` does not promise any.

    The content decides, not the suffix, between one document and one a line: exports get both wrong.
    Raises FormatError `invalid_json` when the suffix promises JSON and nothing parses.
    """
    promised = suffix in JSON_SUFFIXES
    if not text.strip() or not (promised or _OPENS.match(text)):
        return Documents()
    try:
        value = parse(text)
    except json.JSONDecodeError as error:
        lined = _by_line(text, first_must_parse=suffix not in LINE_SUFFIXES)
        if lined.items and (promised or len(lined.items) > len(lined.broken)):
            return lined
        if not promised:
            return Documents()
        lined = _by_line(text, first_must_parse=False)
        if len(lined.items) > len(lined.broken):  # lines after all, the first of them broken
            return lined
        reason = f"not valid JSON: {error.msg} (column {error.colno})"
        broken = FormatError(reason, line=error.lineno, kind="invalid_json")
        if found := _loose(text, broken):
            return found
        raise broken from None
    one_line = suffix in LINE_SUFFIXES and "\n" not in text.strip()
    above = text[: len(text) - len(text.lstrip())]
    return Documents((Item(value, above.count("\n") + 1 if one_line else 0, ""),))


def _by_line(text: str, *, first_must_parse: bool) -> Documents:
    """The documents of a JSONL text; none when no line holds an object or a list."""
    items: list[Item] = []
    broken: list[FormatError] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            items.append(Item(parse(line), number, ""))
        except json.JSONDecodeError as error:
            if first_must_parse and not items:
                return Documents()
            reason = f"not valid JSON: {error.msg} (column {error.colno})"
            broken.append(FormatError(reason, line=number, kind="invalid_json"))
    if not any(isinstance(item.value, dict | list) for item in items):
        return Documents()
    return Documents(tuple(items), tuple(broken))


def uncommented(text: str) -> str:
    """The text with blanks for comments and last commas; all else stands where it did."""
    for pattern in (_COMMENT, _LAST_COMMA):
        text = pattern.sub(lambda m: m[0] if m[0][0] == '"' else re.sub(r"[^\r\n]", " ", m[0]), text)
    return text.replace("\ufeff", " ", 1) if text.startswith("\ufeff") else text


def _loose(text: str, broken: FormatError) -> Documents | None:
    """The documents of a text that is nearly JSON; None of any other.

    It has comments or a comma too many, several values one after another, or was cut short, which is told.
    """
    plain, values, at, line = uncommented(text), list[Item](), 0, 1
    try:
        while found := _WRITTEN.search(plain, at):
            line += plain.count("\n", at, found.start())
            value, end = _DECODER.raw_decode(plain, found.start())
            values.append(Item(value, line))
            line += plain.count("\n", found.start(), end)
            at = end
    except (ValueError, RecursionError):
        return Documents(tuple(values), (broken,)) if values else _cut(text, broken)
    return Documents(tuple(values) if len(values) > 1 else (Item(values[0].value, 0),))


def _cut(text: str, broken: FormatError) -> Documents | None:
    """The document of a text without its end: all up to the last value that is whole."""
    open_, depth, end = list[str](), 0, 0
    for found in _BRACKET.finditer(text):
        if found[0] in _CLOSING:
            open_.append(_CLOSING[found[0]])
        elif found[0] in "]}" and open_:
            open_.pop()
            depth, end = len(open_), found.end()
    try:
        value = parse(text[:end] + "".join(reversed(open_[:depth])))
    except json.JSONDecodeError:
        return None
    return Documents((Item(value, 0),), (broken,)) if depth else None


def parse(text: str) -> Any:
    """One JSON value. Raises json.JSONDecodeError, and nothing else, whatever the text."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        if "ecursion" in error.msg:
            raise json.JSONDecodeError("nested too deeply", text, error.pos) from None
    if "\\x" in text:
        text = _HEX_ESCAPE.sub(r"\1\\u00\2", text)
    try:
        # Real exports hold NaN and halves of emoji cut by a length limit; orjson refuses both.
        return json.loads(_LONE_SURROGATE.sub(r"\\ufffd", text) if "\\u" in text else text)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise json.JSONDecodeError("nested too deeply", text, 0) from None
    except ValueError as error:  # an integer of more digits than Python converts
        raise json.JSONDecodeError(str(error), text, 0) from None
