"""Loaders of the shipped models for a worker that is to fall ill: some files and questions really end it.

No reader of ours crashes, so the harm is done here, in the worker process, where a file is read or a question
is parsed. Workers find this module because they start in the checkout (smartsearch/runs/supervise.py).
"""

from __future__ import annotations

import ctypes
import os
import resource
from dataclasses import replace
from pathlib import Path
from typing import Any

from smartsearch.config import Config
from smartsearch.models import profiles
from smartsearch.models.tools import Tools
from smartsearch.transcripts import corpus

CRASH = "POISON that crashes"
HANG = "POISON that hangs"
GROW = "POISON that eats memory"
BLOCK = 32 << 20
MOST = 1_400_000_000
"""Bytes after which the eater gives up: the limit that should have ended it was not there."""
GROUP = "SMARTSEARCH_FAULTS_GROUP"
"""The environment's name for a memory cgroup (v1 or v2) that the worker puts itself in."""
ROOM = 300 << 20
"""Bytes beyond what it has that a worker may take under `limited`."""


def poisoned(config: Config) -> Tools:
    """Reading a file or being asked a question with a word of poison does what the word says."""
    if group := os.environ.get(GROUP):
        (Path(group) / "cgroup.procs").write_text(str(os.getpid()))
    tools = profiles.load_cached(config)
    load = corpus.load

    def read(path: str, *rest: Any) -> bytes:
        data = load(path, *rest)
        _take(data[:200].decode("utf-8", "replace"))
        return data

    corpus.load = read
    return replace(tools, parser=_Parser(tools.parser))  # type: ignore[arg-type]


def limited(config: Config) -> Tools:
    """As `poisoned`, in a process whose address space is limited: memory ends as MemoryError."""
    tools = poisoned(config)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    return tools


class _Parser:
    """The shipped parser, but for questions with a word of poison."""

    def __init__(self, parser: Any) -> None:
        self._parser = parser

    def parse(self, question: str, config: Config) -> Any:
        _take(question)
        return self._parser.parse(question, config)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._parser, name)


def _take(text: str) -> None:
    if CRASH in text:
        ctypes.string_at(0)  # reads address 0: SIGSEGV
    if HANG in text:
        _deadlock()
    if GROW in text:
        _grow()


def _deadlock() -> None:
    """Wait for ever in native code that holds the interpreter's lock and that no signal gets out of."""
    native = ctypes.PyDLL(None)
    mutex = ctypes.create_string_buffer(64)  # zeros are a mutex of Linux's C library that nobody holds
    native.pthread_mutex_lock(mutex)
    native.pthread_mutex_lock(mutex)


def _grow() -> None:
    held = []
    while len(held) * BLOCK < MOST:
        held.append(bytearray(os.urandom(1) * BLOCK))  # written to, so that it is really there
    raise RuntimeError(f"nothing ended a worker that took {MOST:,} bytes")
