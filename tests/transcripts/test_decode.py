"""Bytes that are not quite text."""

from __future__ import annotations

import codecs

import pytest

from smartsearch.transcripts import FormatError
from smartsearch.transcripts.decode import decode

TEXT = "Zoë: hi\nJonas: hello\n"


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        codecs.BOM_UTF8 + TEXT.encode(),
        codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
        codecs.BOM_UTF32_LE + TEXT.encode("utf-32-le"),
    ],
)
def test_byte_order_marks_are_obeyed_and_gone(data: bytes) -> None:
    decoded = decode(data)
    assert (decoded.text, decoded.warnings) == (TEXT, ())


def test_bad_bytes_are_replaced_and_counted() -> None:
    decoded = decode("Zoë: \ufffd hi".encode() + b"\xff\xfe there")
    assert decoded.text == "Zoë: \ufffd hi\ufffd\ufffd there"
    assert decoded.warnings == ("2 bad bytes not UTF-8, read as \ufffd",)


def test_half_a_utf16_character_is_survived() -> None:
    assert decode(codecs.BOM_UTF16_LE + "hello".encode("utf-16-le") + b"\x00").text == "hello\ufffd"


def test_a_stray_nul_is_left_out_and_counted() -> None:
    decoded = decode(b"Maya: h\x00i there, how are you?")
    assert (decoded.text, decoded.warnings) == ("Maya: hi there, how are you?", ("1 NUL character left out",))


@pytest.mark.parametrize(
    "data", [bytes(range(256)), b"\x89PNG\r\n\x1a\n" + b"\x00\x01\x02\xff" * 50, b"\x00" * 100]
)
def test_binary_is_refused(data: bytes) -> None:
    with pytest.raises(FormatError, match="binary") as raised:
        decode(data)
    assert raised.value.kind == "binary"


def test_a_mail_of_outlook_is_refused_with_what_to_do() -> None:
    with pytest.raises(FormatError, match=r"\.msg mail .* save it as \.eml"):
        decode(bytes.fromhex("d0cf11e0a1b11ae1") + TEXT.encode("utf-16-le") * 50)
