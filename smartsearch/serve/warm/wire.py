"""The protocol of a command and its warm process: records and limits.

They talk in frames (runtime/frames.py): a JSON object, or a pickled record. The server says first, as an
object, what it is and whether it is busy. The command sends an object with `do`, or a Request; then it hears
whether the question is accepted, sends what was piped in, if anything, and waits for Found, a Failure or
an object with the reason for no answer.
"""

from __future__ import annotations

import json
import os
import pickle
import socket
import struct
from dataclasses import dataclass, is_dataclass
from typing import Any

from smartsearch import types
from smartsearch.ask import scope
from smartsearch.ask.door import Found
from smartsearch.config import Config
from smartsearch.runtime import frames
from smartsearch.transcripts.filters import Filters

PROTOCOL = 5
REQUEST_BYTES = 1 << 20
PIPED_BYTES = 1 << 26
"""The most of standard input that is sent along; longer input is searched in the command's own process."""
ANSWER_BYTES = 1 << 30
ALIVE_EVERY = 1.0
"""Seconds between a server's signs of life while it works."""

Json = dict[str, Any]
Identity = tuple[int, int]
"""Device and inode, (0, 0) for what is not there."""


@dataclass(frozen=True)
class Request(scope.Request):
    """A question as the command has it.

    `folder` is where relative paths begin, `places` what that folder and each path are, `piped` whether
    standard input follows: the client fills these in.
    """

    folder: str = ""
    places: tuple[Identity, ...] = ()
    piped: bool = False


@dataclass(frozen=True)
class Failure:
    """A SmartsearchError on its way."""

    message: str
    hint: str
    kind: str
    retryable: bool


_KNOWN = {
    (kind.__module__, kind.__qualname__): kind
    for kind in (Request, Found, Failure, Filters, *vars(types).values(), scope.Scope, Config)
    if is_dataclass(kind) and isinstance(kind, type)
}
"""The classes of what records hold."""


def places(where: scope.Scope) -> tuple[Identity, ...]:
    """Device and inode of the current folder and of each path; processes share only if these are equal."""
    return tuple(_identity(path) for path in (".", *where.paths) if path != "-")


def _identity(path: str) -> Identity:
    try:
        found = os.stat(path)  # noqa: PTH116 - Path would normalise the path
    except (OSError, ValueError):
        return (0, 0)
    return (found.st_dev, found.st_ino)


def say(connection: socket.socket, message: Json | Request | Found | Failure) -> None:
    """Send a message: a dict as ASCII JSON, a record pickled."""
    frames.send(connection.send, packed(message))


def packed(message: Json | Request | Found | Failure) -> bytes:
    """A message as bytes: a dict as ASCII JSON, a record pickled."""
    return json.dumps(message).encode() if isinstance(message, dict) else pickle.dumps(message)


def hear(connection: socket.socket, limit: int) -> Any:
    """The next frame that is not a sign of life, as an object or a record.

    Raises ValueError for one that is neither, BrokenOff for one of more than `limit` bytes, and OSError.
    """
    while not (data := frames.receive(connection.recv, limit)):
        pass
    return unpacked(data)


def unpacked(data: bytes) -> Any:
    """What `packed` made these bytes of. Raises ValueError."""
    if data.startswith(pickle.PROTO):
        return frames.record(data, _KNOWN)
    try:
        value = json.loads(data)
    except RecursionError as error:
        raise ValueError(str(error)) from error
    if not isinstance(value, dict):
        raise ValueError("no object")  # noqa: TRY004 - what came is wrong, not the program
    return value


def same_user(connection: socket.socket) -> bool:
    """Whether the process at the other end is this user's; where the system cannot tell, the folder must."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:  # pragma: no cover - not Linux
        return True
    _, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, option, struct.calcsize("3i")))
    return bool(user == os.geteuid())
