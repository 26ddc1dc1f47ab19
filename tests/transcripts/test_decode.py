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


BAD = "Zoë: \ufffd hi".encode() + b"\xff\xfe there"
NUL = b"Maya: h\x00i there, how are you?"


@pytest.mark.parametrize(
    ("data", "text", "warnings"),
    [
        (BAD, "Zoë: \ufffd hi\ufffd\ufffd there", ("2 bad bytes not UTF-8, read as \ufffd",)),
        (b"Zo\xc3\xab\n" * 5 + b"\xe9", "Zoë\n" * 5 + "\ufffd", ("1 bad byte not UTF-8, read as \ufffd",)),
        ("hi there é".encode()[:-1], "hi there \ufffd", ("1 bad byte not UTF-8, read as \ufffd",)),
        (
            codecs.BOM_UTF16_LE + "hello".encode("utf-16-le") + b"\x00",
            "hello\ufffd",
            ("1 bad byte not UTF-16-LE, read as \ufffd",),
        ),
        (NUL, "Maya: hi there, how are you?", ("1 NUL character left out",)),
    ],
)
def test_bad_bytes_and_cut_characters_are_replaced_or_left_out_and_counted(data, text, warnings) -> None:
    decoded = decode(data)
    assert (decoded.text, decoded.warnings) == (text, warnings)


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


FRENCH = "Maya: Les événements d’été étaient très animés, où êtes-vous ?\nJonas: À la fête près du café\n"
JAPANESE = "美咲: 傘を駅に忘れました。青い傘です\n健太: どの駅ですか、見つかりました\n"
CHINESE = "[13:56] 小明: 今天我们去港口买油漆，三桶\n[13:57] 小红: 好的，还要一把刷子，周六见\n"
RUSSIAN = "Майя: Лак для лодки пришёл, три банки\nИлья: Отлично, а кисть?\n"


@pytest.mark.parametrize(
    ("text", "encoding", "shown"),
    [
        (FRENCH, "cp1252", "Windows-1252"),
        (FRENCH.replace("’", "'"), "latin-1", "Windows-1252"),
        ("Zoë: hi\n", "latin-1", "Windows-1252"),
        (FRENCH, "utf-16-le", "UTF-16"),
        (CHINESE, "utf-16-be", "UTF-16 (big-endian)"),
        (JAPANESE, "cp932", "Shift-JIS"),
        (JAPANESE, "euc-jp", "EUC-JP"),
        (CHINESE, "gb2312", "GB 18030"),
        (CHINESE, "gbk", "GB 18030"),
        ("小明: 今天我們去港口買油漆，三桶\n小紅: 好的，還要一把刷子，週六見\n", "big5", "Big5"),
        (
            "민수: 표를 두 장 샀어, 저녁 여덟 시\n지은: 몇 시 공연이야? ㅋㅋ\n",
            "cp949",
            "Korean (Windows-949)",
        ),
        (RUSSIAN, "cp1251", "Windows-1251"),
        (RUSSIAN, "koi8-r", "KOI8-R"),
        ("Maja: Zażółć gęślą jaźń, jutro będzie ciepło\n", "cp1250", "Windows-1250"),
    ],
)
@pytest.mark.parametrize("times", [1, 2_000])
def test_another_encoding_is_guessed_and_told(text: str, encoding: str, shown: str, times: int) -> None:
    decoded = decode((text * times).encode(encoding))
    assert decoded.text == text * times
    assert decoded.warnings == (f"not UTF-8, read as {shown}, which its bytes make likely",)


def test_the_end_of_a_long_file_shows_that_it_is_not_utf8_and_what_the_guess_lacks_is_counted() -> None:
    text = "Maya: nothing odd here\n" * 10_000 + FRENCH
    assert decode(text.encode("cp1252")).text == text
    decoded = decode(CHINESE.encode("gbk") * 900 + b"\xd0")
    assert decoded.text == CHINESE * 900 + "\ufffd"
    assert decoded.warnings[1:] == ("1 bad byte not GB 18030, read as \ufffd",)
