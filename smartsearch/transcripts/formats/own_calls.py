"""Calls of smartsearch itself in the logs of agents: left out, lest a tool's own output come back as memory.

A call is one of its MCP tools, or a shell command that runs it. What such a call returned goes with it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from smartsearch.transcripts.formats.fields import mapping, sequence, string
from smartsearch.transcripts.formats.tool_calls import arguments

NAME = "smartsearch"
_LOOKED_AT = 20_000
"""Characters of a command that are looked at: beyond them stands a file's content, not a command."""
_DEPTH = 4
"""Shells within shells that are looked into."""

_SEPARATORS = ";&|()\n`"
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ash", "fish"})
_RUNNERS = frozenset(
    {
        *("sudo", "time", "exec", "nohup", "command", "env", "nice", "stdbuf", "timeout", "xargs"),
        *("uv", "uvx", "pipx", "poetry", "run", "then", "do", "else", "if", "while", "!", "{", "$"),
    }
)
_VALUED = ("--from", "--with")
"""Options of runners with a package behind them."""
_ASSIGNMENT = re.compile(r"\w+=")
_OPTION = re.compile(r"-.*|[\d.]+[smhd]?", re.S)


def is_own(tool: str, written: object = None) -> bool:
    """Whether a call of `tool` with arguments (parsed, or JSON in a string) asks smartsearch."""
    if NAME in tool.casefold():
        return True
    if isinstance(written, str) and NAME not in written:
        return False
    given = arguments(written)
    if not isinstance(given, dict):
        return False
    return any(_runs(command) for key in ("command", "cmd") if (command := given.get(key)))


def is_reply(value: Any) -> bool:
    """Whether a value is a reply of smartsearch in JSON, as `--json` and `batch` write it."""
    return isinstance(value, dict) and value.keys() >= {"schema_version", "tool_version"}


def possible(data: bytes) -> bool:
    """Whether the raw bytes of a file may hold such calls with results that only their ids connect."""
    return NAME.encode() in data and b'"tool_call' in data


def ids(messages: Iterable[object]) -> set[str]:
    """The ids of such calls in messages as OpenAI's interface (`tool_calls`) and Anthropic's write them."""
    found: set[str] = set()
    for message in messages:
        for call in sequence(message, "tool_calls"):
            function = mapping(call, "function")
            if is_own(string(function, "name"), function.get("arguments")):
                found.add(string(call, "id"))
        for block in sequence(message, "content"):
            if string(block, "type") == "tool_use" and is_own(string(block, "name"), block.get("input")):
                found.add(string(block, "id"))
    return found - {""}


def is_result(message: Any, own: set[str]) -> bool:
    """Whether a message is what smartsearch returned: by its tool's name or its call's id."""
    if string(message, "role") != "tool":
        return False
    return NAME in string(message, "name").casefold() or string(message, "tool_call_id") in own


def _runs(command: object) -> bool:
    if isinstance(command, list):
        return _starts([word for word in command if isinstance(word, str)])
    return isinstance(command, str) and runs(command)


def runs(command: str, depth: int = _DEPTH) -> bool:
    """Whether a shell command runs smartsearch, by itself or among others; naming it is not running it."""
    looked_at = command[:_LOOKED_AT]
    if not depth or NAME not in looked_at:
        return False
    return any(_starts(words, depth - 1) for words in _commands(looked_at))


def _commands(line: str) -> Iterator[list[str]]:
    """The words of each command of a line. A quote that is never closed ends the last one."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=_SEPARATORS)
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    words: list[str] = []
    try:
        for word in lexer:
            if word.strip(_SEPARATORS):
                words.append(word)
            else:
                yield words
                words = []
    except ValueError:
        pass  # the shell would wait for more; what was complete is enough here
    yield words


def _starts(words: Sequence[str], depth: int = _DEPTH) -> bool:
    """Whether a command of these words starts smartsearch, itself or by way of a runner or a shell."""
    if any("$(" in word and runs(word.partition("$(")[2], depth) for word in words):
        return True
    for n, word in enumerate(words):
        if n and words[n - 1] in _VALUED:
            continue
        program = re.split(r"[\\/]", word)[-1].removesuffix(".exe")
        if program == NAME:
            return True
        if program.startswith("python"):
            return _after(words[n + 1 :], "-m") == NAME
        if program in _SHELLS:
            return runs(_after(words[n + 1 :], "c"), depth)
        if program not in _RUNNERS and not _ASSIGNMENT.match(word) and not _OPTION.fullmatch(word):
            return False
    return False


def _after(words: Sequence[str], option: str) -> str:
    """The word after the first option that ends so: `-m` of python, `-c` or `-lc` of a shell."""
    return next((words[n + 1] for n, w in enumerate(words[:-1]) if w[:1] == "-" and w.endswith(option)), "")
