"""A tool call in one line, `[Bash: git status]`: the tool's name and the most telling of its arguments."""

from __future__ import annotations

import json

from smartsearch.transcripts.formats.jsontext import parse

LONGEST = 200
"""Characters of an argument that are shown; what follows is mostly a file's whole content."""

# The first one present wins: what is done or looked for comes before where, and where before with what.
_TELLING = (
    *("command", "cmd", "file_path", "absolute_path", "notebook_path", "pattern", "query", "q", "url"),
    *("path", "dir_path", "prompt", "description", "objective", "question", "title", "name", "skill", "id"),
    *("content", "text", "input", "code"),
)
_DEPTH = 4


def caption(tool: str, arguments: object) -> str:
    """`[tool: argument]`, or `[tool]` where no argument is a text."""
    told = shortened(_telling(arguments, _DEPTH))
    return f"[{tool or 'tool'}: {told}]" if told else f"[{tool or 'tool'}]"


def shortened(text: str) -> str:
    """A text on one line of at most `LONGEST` characters."""
    line = " ".join(text[: 4 * LONGEST].split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def arguments(written: object) -> object:
    """The arguments of a call: parsed where they are JSON in a string, else as they are."""
    if not isinstance(written, str) or written.lstrip()[:1] not in ("{", "["):
        return written
    try:
        return parse(written)
    except json.JSONDecodeError:
        return written


def _telling(value: object, depth: int) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if not value or not depth:
        return ""
    if isinstance(value, list):
        if all(isinstance(word, str) for word in value):
            return str(value[-1]) if len(value) == 3 and str(value[1]).endswith("c") else " ".join(value)
        return next((told for one in value if (told := _telling(one, depth - 1))), "")
    if isinstance(value, dict):
        for key in _TELLING:
            if key in value and (told := _telling(value[key], depth - 1)):
                return told
        return next((told for one in value.values() if (told := _telling(one, depth - 1))), "")
    return ""
