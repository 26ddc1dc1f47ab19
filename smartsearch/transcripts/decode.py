"""Bytes to text: byte order marks, bad bytes and stray NULs survived, binary refused. Opens nothing.

SQLite stores are the one exception: their text is a JSON document of what they hold (stores.py).
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from smartsearch.transcripts.faults import FormatError

# UTF-32 first: its little-endian mark begins with UTF-16's.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
STORE = b"SQLite format 3\x00"
"""How a SQLite store begins."""
_ODD = re.compile("[\x00-\x07\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
_SAMPLE_BYTES = 65_536  # enough to tell a picture from a chat, cheap on a large file
_ODD_SHARE = 0.30  # no chat in a decodable encoding comes near it; compressed data is about half odd
_ODD_SHARE_WITH_NUL = 0.05  # NULs make binary likelier, but one stray NUL in a short note is not binary
_ODD_COUNT_WITH_NUL = 8


@dataclass(frozen=True)
class Decoded:
    """A file's text and what had to be mended to get it."""

    text: str
    warnings: tuple[str, ...] = ()


def decode(data: bytes) -> Decoded:
    """`data` as text: by its byte order mark, else UTF-8 with bad bytes replaced and counted.

    Raises FormatError `binary` for data that is not text in those encodings.
    """
    if data.startswith(STORE):
        from smartsearch.transcripts import stores

        return Decoded(*stores.text(data))
    encoding, body = _encoding(data)
    if _is_binary(body[:_SAMPLE_BYTES].decode(encoding, "replace")):
        raise FormatError("binary, or text in an encoding other than UTF-8 and UTF-16", kind="binary")
    warnings = []
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError:
        text = body.decode(encoding, "replace")
        bad = text.count("\ufffd") - body.count("\ufffd".encode(encoding))
        warnings.append(f"{_count(max(bad, 1), 'bad byte')} not {encoding.upper()}, read as \ufffd")
    nuls = text.count("\x00")
    if nuls:
        text = text.replace("\x00", "")
        warnings.append(f"{_count(nuls, 'NUL character')} left out")
    return Decoded(text, tuple(warnings))


def _encoding(data: bytes) -> tuple[str, bytes]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return encoding, data[len(mark) :]
    return "utf-8", data


def _is_binary(sample: str) -> bool:
    odd = len(_ODD.findall(sample))
    if "\x00" in sample and odd >= _ODD_COUNT_WITH_NUL:
        return odd > _ODD_SHARE_WITH_NUL * len(sample)
    return odd > max(_ODD_SHARE * len(sample), 2)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
