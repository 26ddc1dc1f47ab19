"""Tells question and paths apart where a line was typed without a command or without quotes."""

from __future__ import annotations

import os
import re
import select
import shlex
import stat
import sys
from collections.abc import Callable, Collection, Sequence
from itertools import takewhile

from smartsearch.errors import UsageError
from smartsearch.output import stream

FIXED = ("-F", "--fixed-strings", "-e")
"""Options that only `query` has, and that may begin a line as grep's do."""
ASKING = ("query", "answer")
"""Commands that take a question: the words behind them are one."""
PLACE = re.compile(r":\d|^\d+$|=")
"""What a word has that is a place, a number or a setting."""
CLOSE = 0.75
"""How alike a word and a command are, of 1, where one may be meant for the other."""
SHORT_NAME = 4
"""Letters of a word that may be a mistyped name of a file."""
ENDINGS = (".json", ".jsonl", ".txt", ".md", ".zip", ".gz", ".zst", ".log", ".vtt", ".srt", ".mbox")
"""Endings that only a path has."""


def commanded(
    arguments: Sequence[str],
    commands: Collection[str],
    below: Callable[[str], Collection[str]] = lambda _: (),
) -> list[str]:
    """`arguments` with `query` in front where they begin with a question: several words, or one in quotes.

    The same holds for a command's name before words that cannot be its arguments; `below` gives subcommands.
    Raises UsageError for a single unknown word or a mistyped command; tells of a first word that may be one.
    """
    first = next(iter(arguments), "")
    if first in FIXED:
        return ["query", *arguments]
    if not first or first.startswith("-"):
        return list(arguments)
    words = list(takewhile(lambda word: word == "-" or not word.startswith("-"), arguments))
    if first in commands:
        return ["query", *arguments] if _asks(words, below) else list(arguments)
    from difflib import get_close_matches

    near = get_close_matches(first, commands, n=1, cutoff=CLOSE)
    if _spaced(first) or (len(words) > 1 and not (near and (_spaced(words[1]) or is_path(words[1])))):
        if near and len(words) > 1 and not {"-q", "--quiet"}.intersection(arguments):
            _tell(first, near[0], words[1:])
        return ["query", *arguments]
    hint = f"did you mean {near[0]}?" if near else f"smartsearch query {first}, or smartsearch --help"
    raise UsageError(f"there is no command {first!r}", hint=hint)


def _tell(first: str, near: str, rest: Sequence[str]) -> None:
    """Tell that a question's first word may be a command with a letter wrong, missing or elsewhere."""
    from rapidfuzz.distance import OSA

    if OSA.distance(first, near) == 1 and first != f"{near}s":
        meant = f"smartsearch {shlex.join([near, *rest])}"
        stream.talk(f"'{first}' is taken for a word of the question; if {near} was meant: {meant}")


def _asks(words: Sequence[str], below: Callable[[str], Collection[str]]) -> bool:
    """Whether the name of a command and the words behind it are a question.

    They are not if one before the last is a path, if any is a place, or if the command takes a question.
    Two words may be missing paths.
    """
    command, rest = words[0], _unplaced(words[1:])
    if command in ASKING or len(rest) < 2 or any(map(is_path, rest)) or any(map(PLACE.search, words)):
        return False
    under = below(command)
    return rest[0] not in under if under else len(rest) > 2


def doubted(
    arguments: Sequence[str], commands: Collection[str], below: Callable[[str], Collection[str]]
) -> str:
    """A hint to ask the words as a question, where the command that they begin with refused them."""
    words = list(takewhile(lambda word: not word.startswith("-"), arguments))
    command, rest = words[:1], _unplaced(words[1:])
    if not rest or command == ["query"] or command[0] not in commands:
        return ""
    if any(map(is_path, rest)) or any(map(PLACE.search, words)) or rest[0] in below(command[0]):
        return ""
    question, paths = " ".join([*command, *rest]), words[1 + len(rest) :]
    return f"or, as a question: smartsearch query {shlex.join([question, *paths])}"


def asked(question: str, paths: Sequence[str]) -> tuple[str, list[str]]:
    """The question and the paths, where the words of a question were typed without quotes.

    Trailing words are paths if they are there or look like one. All are where the question has a blank, where
    the first is one, and, except on a terminal, where there is but one: a script's path that is missing.
    """
    words = _unplaced(paths)
    few = len(words) == 1 and not sys.stdout.isatty()
    if not words or few or _spaced(question) or is_path(words[0]):
        return question, list(paths)
    return " ".join([question, *words]), list(paths[len(words) :])


def near_path(words: Sequence[str]) -> str:
    """A hint for a question without paths whose last word may be a mistyped file name."""
    word = words[-1] if len(words) > 1 else ""
    there = sorted(os.listdir()) if len(word) >= SHORT_NAME else ()  # noqa: PTH208 - names, no paths
    there = [name for name in there if abs(len(name.split(".")[0]) - len(word)) <= 1]
    if not there:
        return ""
    from rapidfuzz.distance import OSA

    names = [name for name in there if OSA.distance(word, name.split(".")[0]) <= 1]
    if not names:
        return ""
    near = min(names, key=lambda name: abs(len(name) - len(word)))
    other = shlex.join([" ".join(words[:-1]), near])
    return f"'{word}' is taken for a word of the question; if {near} was meant: smartsearch query {other}"


def _unplaced(words: Sequence[str]) -> list[str]:
    """`words` without the paths at their end."""
    rest = list(words)
    while rest and is_path(rest[-1]):
        rest.pop()
    return rest


def is_path(word: str) -> bool:
    """Whether a word is the path of something, or can only have been meant as one."""
    if not word or word == "-" or word[0] in "@~." or os.sep in word:
        return True
    return word.lower().endswith(ENDINGS) or os.path.lexists(word)


def piped() -> bool:
    """Whether something waits in a pipe at standard input, without waiting for it."""
    try:
        there = stat.S_ISFIFO(os.fstat(0).st_mode) and bool(select.select([0], [], [], 0)[0])
        return there and _waiting() > 0
    except (OSError, ValueError, ImportError):
        return False


def _waiting() -> int:
    """Bytes that can be read from standard input at once."""
    import fcntl
    import termios

    return int.from_bytes(fcntl.ioctl(0, termios.FIONREAD, bytes(4)), sys.byteorder)


def _spaced(word: str) -> bool:
    return any(letter.isspace() for letter in word)
