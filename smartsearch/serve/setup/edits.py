"""Puts our server into the text of an agent's configuration, or takes it out: one writer per format.

An edit is one splice, so comments, order and layout of all else stay. No writer understands all of its
format: wiring.py reads what an edit gives and compares it with what was meant.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from smartsearch.transcripts.formats.jsontext import uncommented

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SERVER = "smartsearch"
"""What the server is called in every configuration."""

Json = dict[str, Any]
Key = str | int
"""Of a member of an object, or of a list."""
NEW = -1
"""The key of one more member of a list."""


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

_COMMA = re.compile(r"\s*,")
_BLANKS = re.compile(r"\s*")
_DECODER = json.JSONDecoder()


class _Member(NamedTuple):
    at: int
    value: int
    end: int


def _read_json(text: str) -> Any:
    bare = uncommented(text)
    return json.loads(bare) if bare.strip() else {}


def _past(bare: str, at: int) -> int:
    """The index of the next character that is not blank."""
    blanks = _BLANKS.match(bare, at)
    return blanks.end() if blanks else at


def _members(bare: str, at: int) -> dict[Key, _Member]:
    """Where the members of the object or the list at `at` stand."""
    found: dict[Key, _Member] = {}
    named = bare[at] == "{"
    at = _past(bare, at + 1)
    while bare[at] not in "]}":
        key, colon = _DECODER.raw_decode(bare, at) if named else (len(found), at)
        value = _past(bare, _past(bare, colon) + 1) if named else at
        end = _DECODER.raw_decode(bare, value)[1]
        found[key] = _Member(at, value, end)
        comma = _COMMA.match(bare, end)
        at = _past(bare, comma.end() if comma else end)
    return found


def _nested(path: Sequence[Key], entry: Any) -> Any:
    for key in reversed(path):
        entry = {key: entry} if isinstance(key, str) else [entry]
    return entry


def _put_json(text: str, path: Sequence[Key], entry: Json) -> Edit:
    """Put `entry` at `path`, whose last key is not there yet; NEW is one more member of a list."""
    bare, newline = uncommented(text), _newline(text)
    indented = re.search(r"\n([ \t]+)\S", bare)
    unit = indented[1] if indented else "  "

    def drawn(value: Any, margin: str) -> str:
        return json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", newline + margin)

    if not bare.strip():
        return Edit(len(text), len(text), drawn(_nested(path, entry), "") + newline)
    at, (key, *below) = _past(bare, 0), path
    while key in (members := _members(bare, at)):
        at, (key, *below) = members[key].value, below
    name, value = f"{_inline(key)}: " if isinstance(key, str) else "", _nested(below, entry)
    first = min((member.at for member in members.values()), default=0)
    if members and "\n" not in bare[at:first]:
        return Edit(first, first, f"{name}{_inline(value)}, ")
    outer = _margin(bare, at)
    margin = _margin(bare, first) if members else outer + unit
    line = f"{newline}{margin}{name}{drawn(value, margin)}"
    if members:  # behind what stands beside the bracket
        end = at + len(text[at : bare.index("\n", at)].rstrip("\r"))
        return Edit(end, end, f"{line},")
    close = bare.index("}" if bare[at] == "{" else "]", at)
    return Edit(at + len(text[at:close].rstrip()), close, f"{line}{newline}{outer}")


def _margin(bare: str, at: int) -> str:
    """The blanks that the line of `at` begins with."""
    line = bare[bare.rfind("\n", 0, at) + 1 :]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _drop_json(text: str, path: Sequence[Key]) -> Edit:
    bare = uncommented(text)
    at = _past(bare, 0)
    members = _members(bare, at)
    for key in path[:-1]:
        at = members[key].value
        members = _members(bare, at)
    ours = members[path[-1]]
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


# The hooks of Claude Code: ours is in the list of an event, and is read as if it had our name there.

_EVENT = "SessionStart"
BEHIND = " >/dev/null 2>&1 &"
"""What has a shell start a command and go on at once."""


def _ours(groups: Sequence[Any]) -> tuple[Any, ...]:
    """Where ours is in an event's groups: a group, or a hook of one that holds others too; else ()."""
    for n, group in enumerate(groups):
        held = group.get("hooks") if isinstance(group, dict) else None
        hooks = held if isinstance(held, list) else []
        for m, hook in enumerate(hooks):
            if _is_ours(hooked({"hooks": [hook]})):
                return (n,) if len(hooks) == 1 else (n, "hooks", m)
    return ()


def _is_ours(command: str) -> bool:
    """Whether it is one command, which serves behind the shell."""
    alone = command.removesuffix(BEHIND)
    program, serves, _ = alone.partition(" serve ")
    return (
        alone != command
        and bool(serves)
        and "smartsearch" in program.split(" ")[-1]
        and not set(";&|") & set(alone)
    )


def hooked(group: Any) -> str:
    """The one command of a group of hooks, empty where it is not one command."""
    match group:
        case {"hooks": [{"command": str(command)}]}:
            return command
    return ""


def _read_hooks(text: str) -> Any:
    value = _read_json(text)
    match value:
        case {"hooks": {"SessionStart": list(groups)} as hooks}:
            match _ours(groups):
                case (n,):
                    hooks[SERVER] = groups.pop(n)
                case (n, _, m):
                    hooks[SERVER] = {"hooks": [groups[n]["hooks"].pop(m)]}
            if not groups:
                del hooks[_EVENT]
        case {"hooks": {"SessionStart": _}}:
            raise ValueError(f"{_EVENT} is no list")
    return value


def _drop_hook(text: str, top: str, whole: bool) -> Edit:
    groups = _read_json(text)[top][_EVENT]
    ours = _ours(groups)
    alone = len(groups) == len(ours) == 1
    return _drop_json(text, (top,) if whole else (top, _EVENT) if alone else (top, _EVENT, *ours))


WRITERS = {
    "json": Writer(
        _read_json,
        lambda text, top, entry: _put_json(text, (top, SERVER), entry),
        lambda text, top, whole: _drop_json(text, (top,) if whole else (top, SERVER)),
    ),
    "json hooks": Writer(
        _read_hooks, lambda text, top, entry: _put_json(text, (top, _EVENT, NEW), entry), _drop_hook
    ),
    "toml": Writer(tomllib.loads, _put_toml, _drop_toml),
    "yaml": Writer(_read_yaml, _put_yaml, _drop_yaml),
}
