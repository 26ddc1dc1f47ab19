"""What a command and its warm process say to each other: records, frames, limits.

A frame is its length in 8 bytes and then so many bytes; an empty frame is a sign of life. The server says
first, as a JSON object, what it is and whether it is busy. The command sends one with `do`, hears whether
the question is accepted, sends what was piped in, if anything, and waits for what came of it.
"""

from __future__ import annotations

import json
import os
import socket
import struct
from dataclasses import dataclass
from typing import Any

from smartsearch.ask import scope
from smartsearch.types import Nearby, Result

PROTOCOL = 3
REQUEST_BYTES = 1 << 20
PIPED_BYTES = 1 << 26
"""The most of standard input that is sent along; longer input is searched in the command's own process."""
ANSWER_BYTES = 1 << 30
ALIVE_EVERY = 1.0
"""Seconds between a server's signs of life while it works."""

_LENGTH = struct.Struct(">Q")

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
class Answer:
    """The result and, where context was asked for, the turns around each hit."""

    result: Result
    around: tuple[Nearby, ...] = ()


@dataclass(frozen=True)
class Failure:
    """A SmartsearchError on its way."""

    message: str
    hint: str
    kind: str
    retryable: bool


class BrokenOff(ConnectionError):
    """The other side left in the middle, or sent what is no frame."""


def places(where: scope.Scope) -> tuple[Identity, ...]:
    """What the current folder and the paths of `where` are: two processes that see others must not share."""
    return tuple(_identity(path) for path in (".", *where.paths) if path != "-")


def _identity(path: str) -> Identity:
    try:
        found = os.stat(path)  # noqa: PTH116 - Path would normalise the path
    except (OSError, ValueError):
        return (0, 0)
    return (found.st_dev, found.st_ino)


def send(connection: socket.socket, data: bytes) -> None:
    """Send one frame."""
    connection.sendall(_LENGTH.pack(len(data)) + data)


def send_json(connection: socket.socket, value: Json) -> None:
    """Send one object; ASCII, so that halves of surrogate pairs arrive as they are."""
    send(connection, json.dumps(value).encode())


def receive(connection: socket.socket, limit: int) -> bytes:
    """The next frame. Raises BrokenOff, also for one of more than `limit` bytes, and OSError."""
    (size,) = _LENGTH.unpack(_exactly(connection, _LENGTH.size))
    if size > limit:
        raise BrokenOff(f"{size:,} bytes, the limit is {limit:,}")
    return _exactly(connection, size)


def receive_json(connection: socket.socket, limit: int) -> Json:
    """The next frame that is not a sign of life, as an object. Raises ValueError for one that is none."""
    while not (data := receive(connection, limit)):
        pass
    try:
        value = json.loads(data)
    except RecursionError as error:
        raise ValueError(str(error)) from error
    if not isinstance(value, dict):
        raise ValueError("no object")  # noqa: TRY004 - what came is wrong, not the program
    return value


def _exactly(connection: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = connection.recv(min(size - len(parts), 1 << 20))
        if not part:
            raise BrokenOff("the connection was closed")
        parts += part
    return bytes(parts)


def same_user(connection: socket.socket) -> bool:
    """Whether the process at the other end is this user's; where the system cannot tell, the folder must."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:  # pragma: no cover - not Linux
        return True
    _, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, option, struct.calcsize("3i")))
    return bool(user == os.geteuid())
