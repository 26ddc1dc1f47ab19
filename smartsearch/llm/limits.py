"""Bounds how much of a server's response is read, and for how long: a server may be broken or hostile."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

LARGEST = 64 << 20
"""Bytes of a reply, which take a model of the longest thoughts some 250,000 tokens; more are not read."""
LARGEST_REFUSAL = 1 << 20
"""Bytes of what a server says when it refuses a request."""
LARGEST_TEXT = 1_000_000
"""Characters of a reply in pieces, more than a model says to any `max_tokens`."""
LARGEST_COUNT = 10**12
"""Tokens; a server that counts more does not count."""
LONGEST = 3600.0
"""Seconds from the head of a response to its end: a CPU writes thousands of tokens in that time."""


class Endless(Exception):
    """A response that goes on after LONGEST, such as an endless one of keep-alive signs."""


def bound(response: Any) -> None:
    """Bound how many bytes of an HTTP response are read; the response then seems to end there.

    Compressed data, which we do not ask for, may unpack to any size: it is not unpacked. Reading raises
    Endless after LONGEST.
    """
    whole = response.stream
    kind: Any = type(whole).__mro__[-2]  # the stream of the HTTP client that this version of openai has
    ends = time.monotonic() + LONGEST

    class Bounded(kind):  # type: ignore[misc]
        def __iter__(self) -> Iterator[bytes]:
            left = LARGEST if response.is_success else LARGEST_REFUSAL
            for part in whole:
                if time.monotonic() > ends:
                    raise Endless(f"did not end within {LONGEST:g} seconds")
                yield part[:left]
                left -= len(part)
                if left <= 0:
                    return

        def close(self) -> None:
            whole.close()

    response.headers.pop("Content-Encoding", None)
    response.stream = Bounded()
