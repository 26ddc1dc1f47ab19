"""Frames, in which processes talk: a length in 8 bytes, then a payload of that length.

An empty frame is a sign of life. Between a process and one that it started a payload is any pickled message.
From a socket, where another may listen, `record` takes only records of known classes: it looks up no other
class and no function, so nothing that is sent can run.
"""

from __future__ import annotations

import io
import pickle
import struct
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

_LENGTH = struct.Struct(">Q")
_PART = 1 << 20  # bytes read at a time: a length that is a lie reserves no memory


class BrokenOff(ConnectionError):
    """The other end has gone, or sent something else than a frame."""


def send(write: Callable[[memoryview], int | None], data: bytes) -> None:
    """Send one frame by `write`, which gives how many bytes it took. Raises OSError."""
    left = memoryview(_LENGTH.pack(len(data)) + data)
    while left:
        left = left[write(left) or 0 :]


def receive(read: Callable[[int], bytes | None], limit: int = 1 << 40) -> bytes:
    """The next frame from `read`, which takes the most bytes to give and gives none at the end.

    Raises BrokenOff, also for a frame of more than `limit` bytes, and the OSError of `read`.
    """
    (size,) = _LENGTH.unpack(_exactly(read, _LENGTH.size))
    if size > limit:
        raise BrokenOff(f"{size:,} bytes, the limit is {limit:,}")
    return _exactly(read, size)


def _exactly(read: Callable[[int], bytes | None], size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = read(min(size - len(parts), _PART))
        if not part:
            raise BrokenOff("the connection was closed")
        parts += part
    return bytes(parts)


def record(data: bytes, known: Mapping[tuple[str, str], type]) -> Any:
    """The record that was pickled as `data`, made of `known` dataclasses by their module and name.

    Raises ValueError for anything else.
    """
    try:
        return replace(_Records(data, known).load())  # made anew, so that it lacks no field
    except Exception as error:  # damaged bytes may raise any
        raise ValueError(f"no record: {error}") from error


class _Records(pickle.Unpickler):
    def __init__(self, data: bytes, known: Mapping[tuple[str, str], type]) -> None:
        super().__init__(io.BytesIO(data))
        self._known = known

    def find_class(self, module: str, name: str) -> Any:
        """A known class. Raises KeyError for any other."""
        return self._known[module, name]
