"""Puts our server into the text of an agent's configuration, or takes it out: one writer per format.

An edit is one splice, so comments, order and layout of all else stay. No writer understands all of its
format: wiring.py reads what an edit gives and compares it with what was meant.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SERVER = "smartsearch"
"""What the server is called in every configuration."""

Json = dict[str, Any]


class Edit(NamedTuple):
    """The characters from `start` to `end` become `text`."""

    start: int
    end: int
    text: str = ""

    def of(self, text: str) -> str:
        """The text with this edit."""
        return text[: self.start] + self.text + text[self.end :]


class Writer(NamedTuple):
    """A format. `put` writes an entry, which is not there yet, below the top key; `drop` takes it out.

    With `whole`, `drop` takes the top key out too, below which nothing else stands. Each raises ValueError.
    """

    read: Callable[[str], Any]
    put: Callable[[str, str, Json], Edit]
    drop: Callable[[str, str, bool], Edit]


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _inline(value: object) -> str:
    """A value as JSON, which TOML's and YAML's texts, numbers and lists of them are too."""
    return json.dumps(value, ensure_ascii=False)


# JSON, with comments and last commas, as several agents allow them.

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)'
_COMMENT = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_LAST_COMMA = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
"""What has no end takes all that is left: reading it fails then."""
_COMMA = re.compile(r"\s*,")
_BLANKS = re.compile(r"\s*")
_DECODER = json.JSONDecoder()


class _Member(NamedTuple):
    at: int
    value: int
    end: int


def _bare(text: str) -> str:
    """The text with blanks for comments and last commas; all else stands where it did."""
    for pattern in (_COMMENT, _LAST_COMMA):
        text = pattern.sub(lambda m: m[0] if m[0][0] == '"' else re.sub(r"[^\r\n]", " ", m[0]), text)
    return text.replace("\ufeff", " ", 1) if text.startswith("\ufeff") else text


def _read_json(text: str) -> Any:
    bare = _bare(text)
    return json.loads(bare) if bare.strip() else {}


def _past(bare: str, at: int) -> int:
    """The index of the next character that is not blank."""
    blanks = _BLANKS.match(bare, at)
    return blanks.end() if blanks else at


def _members(bare: str, at: int) -> dict[str, _Member]:
    """Where the members of the object at `at` stand."""
    found = {}
    at = _past(bare, at + 1)
    while bare[at] == '"':
        key, colon = _DECODER.raw_decode(bare, at)
        value = _past(bare, _past(bare, colon) + 1)
        end = _DECODER.raw_decode(bare, value)[1]
        found[key] = _Member(at, value, end)
        comma = _COMMA.match(bare, end)
        at = _past(bare, comma.end() if comma else end)
    return found


def _put_json(text: str, top: str, entry: Json) -> Edit:
    bare, newline = _bare(text), _newline(text)
    indented = re.search(r"\n([ \t]+)\S", bare)
    unit = indented[1] if indented else "  "

    def drawn(value: Json, margin: str) -> str:
        return json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", newline + margin)

    if not bare.strip():
        return Edit(len(text), len(text), drawn({top: {SERVER: entry}}, "") + newline)
    at, key, value = _past(bare, 0), top, {SERVER: entry}
    members = _members(bare, at)
    if top in members:
        at, key, value = members[top].value, SERVER, entry
        members = _members(bare, at)
    first = min((member.at for member in members.values()), default=0)
    if members and "\n" not in bare[at:first]:
        return Edit(first, first, f"{_inline(key)}: {_inline(value)}, ")
    outer = _margin(bare, at)
    margin = _margin(bare, first) if members else outer + unit
    line = f"{newline}{margin}{_inline(key)}: {drawn(value, margin)}"
    if members:  # behind what stands beside the bracket
        end = at + len(text[at : bare.index("\n", at)].rstrip("\r"))
        return Edit(end, end, f"{line},")
    close = bare.index("}", at)
    return Edit(at + len(text[at:close].rstrip()), close, f"{line}{newline}{outer}")


def _margin(bare: str, at: int) -> str:
    """The blanks that the line of `at` begins with."""
    line = bare[bare.rfind("\n", 0, at) + 1 :]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _drop_json(text: str, top: str, whole: bool) -> Edit:
    bare = _bare(text)
    at = _past(bare, 0)
    members = _members(bare, at)
    if not whole:
        at = members[top].value
        members = _members(bare, at)
    ours = members[top if whole else SERVER]
    before = len(text[: ours.at].rstrip())
    comma = _COMMA.match(text, ours.end)
    if comma:
        lone = "\n" in text[before : ours.at]
        return Edit(before, comma.end()) if lone else Edit(ours.at, _past(bare, comma.end()))
    ends = [member.end for member in members.values() if member.end < ours.at]
    if ends:
        cut = bare.index(",", max(ends))
        return Edit(cut, ours.end, text[cut + 1 : ours.at].rstrip())
    return Edit(before, _past(bare, ours.end) if before == at + 1 else ours.end)


# TOML: a table of its own, at the end.


def _put_toml(text: str, top: str, entry: Json) -> Edit:
    newline = _newline(text)
    lines = [f"[{top}.{SERVER}]"]
    for key, value in entry.items():
        held = value.items() if isinstance(value, dict) else None
        inside = ", ".join(f"{_inline(name)} = {_inline(one)}" for name, one in held or ())
        lines.append(f"{key} = {_inline(value) if held is None else f'{{{inside}}}'}")
    gap = newline * (2 - text.endswith("\n")) if text.strip() else ""
    return Edit(len(text), len(text), gap + newline.join([*lines, ""]))


def _drop_toml(text: str, top: str, _whole: bool) -> Edit:
    name = rf"{re.escape(top)}\s*\.\s*[\"']?{SERVER}[\"']?"
    body = r"[^\n]*(?:\n(?![ \t]*\[)[^\n]*)*"
    found = re.search(
        rf"^[ \t]*\[\s*{name}\s*\]{body}(?:\n[ \t]*\[\s*{name}\s*\.{body})*", text, re.MULTILINE
    )
    if found is None:
        raise ValueError("our server stands in no table of its own")
    lines = found[0].split("\n")
    while lines[-1].strip()[:1] in ("", "#"):  # what stands above the next table is its own
        lines.pop()
    end = found.start() + len("\n".join(lines))
    gap = re.search(r"(?<=\n)\r?\n\Z|\A\Z", text[: found.start()])
    return Edit(gap.start() if gap else found.start(), end + text[end:].startswith("\n"))


# YAML: a block below the top key; texts and lists are spelt as in JSON.


def _read_yaml(text: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def _put_yaml(text: str, top: str, entry: Json) -> Edit:
    newline = _newline(text)
    head = re.search(rf"^{re.escape(top)}:[ \t]*(?:#[^\r\n]*)?(?=\r?$)", text, re.MULTILINE)
    below = re.compile(r"(?:\s*#[^\n]*)*\s*\n([ \t]+)[^\s#]").match(text, head.end()) if head else None
    margin = below[1] if below else "  "
    lines = [f"{margin}{SERVER}:", *(f"{margin}  {key}: {_inline(value)}" for key, value in entry.items())]
    if head:
        return Edit(head.end(), head.end(), newline + newline.join(lines))
    gap = newline if text and not text.endswith("\n") else ""
    return Edit(len(text), len(text), gap + newline.join([f"{top}:", *lines, ""]))


def _drop_yaml(text: str, top: str, whole: bool) -> Edit:
    name = f"(){re.escape(top)}" if whole else rf"([ \t]+)[\"']?{SERVER}[\"']?"
    found = re.search(rf"^{name}:[^\n]*(?:\n[ \t\r]*(?=\n)|\n\1[ \t]+[^\n]*)*\n?", text, re.MULTILINE)
    if found is None:
        raise ValueError("our server stands in no block of its own")
    return Edit(found.start(), found.end())


WRITERS = {
    "json": Writer(_read_json, _put_json, _drop_json),
    "toml": Writer(tomllib.loads, _put_toml, _drop_toml),
    "yaml": Writer(_read_yaml, _put_yaml, _drop_yaml),
}
