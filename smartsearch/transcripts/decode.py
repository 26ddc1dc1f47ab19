"""Bytes to text: marks, other encodings, bad bytes and stray NULs survived, binary refused. Opens nothing.

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
_COMPOUND, _ZIPPED = bytes.fromhex("d0cf11e0a1b11ae1"), b"PK\x03\x04"
"""How compound files of Microsoft begin: Outlook's `.msg`, and old Office files; and new ones."""
_OTHERS = {
    "cp1252": "Windows-1252",
    "utf_16_le": "UTF-16",
    "utf_16_be": "UTF-16 (big-endian)",
    "cp932": "Shift-JIS",
    "gb18030": "GB 18030",
    "big5": "Big5",
    "cp949": "Korean (Windows-949)",
    "euc_jp": "EUC-JP",
    "cp1251": "Windows-1251",
    "koi8_r": "KOI8-R",
    "cp1250": "Windows-1250",
    "iso8859_2": "ISO 8859-2",
    "cp1253": "Windows-1253",
    "cp1254": "Windows-1254",
    "cp1255": "Windows-1255",
    "cp1256": "Windows-1256",
    "cp874": "Thai (Windows-874)",
}
"""What else chats are in, as people call it, the commoner first. Latin-1 is a part of 1252, GBK of 18030."""
_COMMONEST = "cp1252"
_ORDER = {name: n for n, name in enumerate(_OTHERS)}
_JAPANESE = ("cp932", "euc_jp")
RTF = b"{\\rtf"
"""How an RTF document begins."""
_BEFORE = 500  # bytes before the first that is no UTF-8, for a guess to see words
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
    """`data` as text: by its byte order mark, else UTF-8, else the encoding that its bytes make likely; a
    Word or RTF document as its paragraphs.

    Bad bytes are replaced and counted; an encoding that was guessed is told. Raises FormatError `binary` for
    data that is not text; Outlook's is told what to do.
    """
    if data.startswith(_COMPOUND):
        said = "an Outlook .msg mail or an old Office file: save it as .eml, .docx or text and read that"
        raise FormatError(said, kind="binary")
    if data.startswith(_ZIPPED):
        from smartsearch.transcripts.docx import text_of_docx

        if (document := text_of_docx(data)) is not None:
            return Decoded(document)
    if data.startswith(RTF):
        from smartsearch.transcripts.rtf import text_of_rtf

        return Decoded(text_of_rtf(data))
    if data.startswith(STORE):
        from smartsearch.transcripts import stores

        return Decoded(*stores.text(data))
    encoding, body = _encoding(data)
    guessed = _binary_as(body[:_SAMPLE_BYTES], encoding, marked=len(body) < len(data))
    try:
        text = body.decode(guessed or encoding)
    except UnicodeDecodeError as error:
        if encoding == "utf-8" and not guessed and _is_other(body) and b"\x00" not in body:
            guessed = _guess(_from(body, error.start)) or _COMMONEST
        return _mended(body, guessed or encoding, bool(guessed))
    return _without_nuls(text, [_told(guessed)] if guessed else [])


def _encoding(data: bytes) -> tuple[str, bytes]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return encoding, data[len(mark) :]
    return "utf-8", data


def _binary_as(sample: bytes, encoding: str, *, marked: bool) -> str:
    """The encoding that a sample is in instead, "" where it is text in `encoding`. Raises FormatError."""
    if not _is_binary(sample.decode(encoding, "replace")):
        return ""
    guessed = "" if marked else _guess(sample)
    if not guessed or _is_binary(sample.decode(guessed, "replace")):
        raise FormatError("binary, or text in an encoding that is not known", kind="binary")
    return guessed


def _is_other(body: bytes) -> bool:
    """Whether bytes are rather in another encoding than in UTF-8 with bad bytes, or cut at the end.

    What is no ASCII decodes seldom by chance: in UTF-8 with faults there is more that does than does not.
    """
    text = body.decode("utf-8", "replace")
    bad = text.count("\ufffd", 0, len(text) - 1) - body.count("\ufffd".encode())
    return bad * 2 > (len(text) - len(text.encode("ascii", "ignore")))


def _from(body: bytes, fault: int) -> bytes:
    """A sample that begins with the line of the first byte that is no UTF-8, or soon before it."""
    start = max(0, fault - _BEFORE)
    start = body.rfind(b"\n", start, fault) + 1 or (fault if start else 0)
    return body[start : start + _SAMPLE_BYTES]


def _guess(sample: bytes) -> str:
    """The likeliest of the encodings of `_OTHERS`, "" where the sample is text in none of them.

    charset-normalizer says how well the sample reads in each (`coherence`) and how odd it is (`chaos`). Where
    they are about as good the commoner one is taken; Japanese is known by its kana, which no other has.
    """
    from charset_normalizer import from_bytes

    wide = b"\x00" in sample  # as UTF-16 has blanks and line ends, and no other has
    if len(sample) == _SAMPLE_BYTES and not wide:
        sample = sample[: sample.rfind(b"\n") + 1] or sample  # no half of a character at its end
    found = {}
    for match in from_bytes(sample, cp_isolation=list(_OTHERS)):
        for name in match.could_be_from_charset:  # of those that give the same text
            found[name] = round(match.coherence - match.chaos / 2, 1), str(match)
    return max(
        (name for name in found if name.startswith("utf_16") is wide),
        key=lambda name: (_is_japanese(name, found[name][1]), found[name][0], -_ORDER[name]),
        default="",
    )


def _is_japanese(encoding: str, text: str) -> bool:
    other = [character for character in text if not character.isascii()]
    return encoding in _JAPANESE and 3 * sum("\u3040" < one < "\u30ff" for one in other) > len(other)


def _mended(body: bytes, encoding: str, guessed: bool) -> Decoded:
    """Text in which U+FFFD stands for bad bytes, counted."""
    text = body.decode(encoding, "replace")
    warnings = [_told(encoding)] if guessed else []
    bad = text.count("\ufffd") - (0 if guessed else body.count("\ufffd".encode(encoding)))
    if bad or not guessed:
        shown = _OTHERS.get(encoding, encoding.upper())
        warnings.append(f"{_count(max(bad, 1), 'bad byte')} not {shown}, read as \ufffd")
    return _without_nuls(text, warnings)


def _told(encoding: str) -> str:
    return f"not UTF-8, read as {_OTHERS[encoding]}, which its bytes make likely"


def _without_nuls(text: str, warnings: list[str]) -> Decoded:
    nuls = text.count("\x00")
    if nuls:
        text = text.replace("\x00", "")
        warnings.append(f"{_count(nuls, 'NUL character')} left out")
    return Decoded(text, tuple(warnings))


def _is_binary(sample: str) -> bool:
    odd = len(_ODD.findall(sample))
    if "\x00" in sample and odd >= _ODD_COUNT_WITH_NUL:
        return odd > _ODD_SHARE_WITH_NUL * len(sample)
    return odd > max(_ODD_SHARE * len(sample), 2)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
