"""What was typed without a command or without quotes: which words are the question, and which are paths."""

from __future__ import annotations

import os
import select
import stat
import sys
from collections.abc import Collection, Sequence
from itertools import takewhile

from smartsearch.errors import UsageError

CLOSE = 0.75
"""How alike a word and a command are, of 1, where one may be meant for the other."""
ENDINGS = (".json", ".jsonl", ".txt", ".md", ".zip", ".gz", ".zst", ".log", ".vtt", ".srt", ".mbox")
"""What a word that is no path does not end in."""


def commanded(arguments: Sequence[str], commands: Collection[str]) -> list[str]:
    """`arguments` with `query` in front where they begin with a question: several words, or one in quotes.

    Raises UsageError for a single word that is no command, and for what looks like one that was mistyped.
    """
    first = next(iter(arguments), "")
    if not first or first.startswith("-") or first in commands:
        return list(arguments)
    from difflib import get_close_matches

    words = list(takewhile(lambda word: word == "-" or not word.startswith("-"), arguments))
    near = get_close_matches(first, commands, n=1, cutoff=CLOSE)
    if _spaced(first) or (len(words) > 1 and not (near and (_spaced(words[1]) or is_path(words[1])))):
        return ["query", *arguments]
    hint = f"did you mean {near[0]}?" if near else f"smartsearch query {first}, or smartsearch --help"
    raise UsageError(f"there is no command {first!r}", hint=hint)


def asked(question: str, paths: Sequence[str]) -> tuple[str, list[str]]:
    """The question and the paths, where the words of a question were typed without quotes.

    Trailing words are paths if they are there or look like one. All are where the question has a blank, where
    the first is one, and, except on a terminal, where there is but one: a script's path that is missing.
    """
    words = list(paths)
    while words and is_path(words[-1]):
        words.pop()
    few = len(words) == 1 and not sys.stdout.isatty()
    if not words or few or _spaced(question) or is_path(words[0]):
        return question, list(paths)
    return " ".join([question, *words]), list(paths[len(words) :])


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
