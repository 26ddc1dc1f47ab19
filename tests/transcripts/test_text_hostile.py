"""Torn, cut and mis-encoded exports raise nothing but InputError, and no line takes a pattern for ever."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartsearch.errors import InputError
from smartsearch.transcripts import FORMATS, read
from smartsearch.transcripts.source import Source
from tests.transcripts.test_text_samples import OURS, SAMPLES

BYTES = sorted(path.read_bytes() for name in OURS for path in (SAMPLES / name).rglob("*") if path.is_file())
PIECES = st.sampled_from(
    [
        *(
            "\n",
            "\n\n",
            "\r",
            "\u200e",
            "\u202f",
            "\ufeff",
            "<",
            ">",
            "[",
            "]",
            ": ",
            " - ",
            " -- ",
            "\t",
            "\x00",
        ),
        *(
            "5/8/23, 1:56 PM - ",
            "[99.99.99, 99:99:99] ",
            "٣١/١٢/٢٠٢٣",
            "0/0/0, 0:0",
            "<attached: ",
            "(file attached)",
        ),
        *(
            "13:56 <",
            "--- Day changed ",
            "**** BEGIN LOGGING AT ",
            "Session Start: ",
            "*",
            "\x0312,99",
            "May 31, 0000",
        ),
        *(
            "From a 1:00\nX: ",
            "--cut\n",
            "Content-Type: multipart/mixed; boundary=",
            "=?utf-8?Q?",
            "=?",
            "&#xfffffff;",
        ),
        *(
            "Date: Mon, 31 Feb 99999 25:61 +9999\n",
            "References: <a@b> <a@b>\n",
            "Subject: Re: Re:\n",
            "filename*0*=x''%",
        ),
        *(
            "WEBVTT",
            "00:00:00.000 --> 99:99:99.999\n",
            "<v ",
            "<v a>",
            "\n-->\n",
            "Tapbacks:\n",
            "Edited a later: ",
        ),
        *(
            "> ",
            "(- ",
            "(( 1 ))",
            "](./media/",
            "*** <a> sent file",
            "On 1 wrote:\n",
            "\ud83d".encode("utf-8", "replace").decode(),
        ),
    ]
)


@st.composite
def torn(draw: st.DrawFn) -> bytes:
    """A sample that was cut, spliced, overwritten, filled with pieces, or encoded in another way."""
    data = draw(st.sampled_from(BYTES))
    for _ in range(draw(st.integers(1, 4))):
        at, to = sorted((draw(st.integers(0, len(data))), draw(st.integers(0, len(data)))))
        data = draw(
            st.sampled_from(
                [
                    data[:to],
                    data[at:],
                    data[:at] + data[to:],
                    data[:at] + draw(PIECES).encode() + data[at:],
                    data[:at] + draw(st.binary(max_size=4)) + data[at:],
                    data[:at] + draw(st.sampled_from(BYTES))[at:to] + data[at:],
                ]
            )
        )
    encoding = draw(st.sampled_from(["utf-8", "utf-8", "utf-8", "utf-16", "latin-1", "cp1252"]))
    if encoding == "utf-8":
        return data
    return data.decode("utf-8", "replace").encode(encoding, "replace")


@given(torn(), st.sampled_from(["auto", *OURS]))
def test_any_torn_export_is_survived(data: bytes, name: str) -> None:
    try:
        found = read(["-"], stdin=io.BytesIO(data), input_format=name)
    except InputError:
        return
    assert all((turn.text or turn.caption) and turn.line > 0 for turn in found.turns)


HEADS = {
    "whatsapp": ("", "08/05/2023, 13:56 - Maya: ", "[08.05.23, 13:56:01] Maya: \u200e", "8/5/23, 1:56 PM"),
    "element": ("", "5/8/2023, 1:56:00 PM - Maya: ", "5/8/2023, 1:56:00 PM - "),
    "irc": ("", "13:56 <maya> ", "13:56 * maya ", "2023-05-08 13:56:01\t", "Session Start: "),
    "imessage": ("", "May 08, 2023  1:56:00 PM\nMaya\n", "May 08, 2023  1:56:00 PM "),
    "signal-markdown": ("", "[2023-05-08 13:56:00] Maya: ", "[2023-05-08 13:56:00] "),
    "signal-text": ("", "[May 08, 2023 13:56:00] <Maya> ", "[May 08, 2023 13:56:00] *** <Maya> sent file "),
    "subtitles": ("", "WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n", "WEBVTT - "),
    "mbox": (
        *("", "From a 1:00\nSubject: x\n\n", "From a 1:00\nSubject: ", "From a 1:00\nFrom: "),
        *(
            "From a 1:00\nContent-Type: text/html\n\n",
            "From a 1:00\nReferences: ",
            "From a 1:00\nContent-Type: ",
        ),
    ),
}
FILLS = ("1", "<a ", "\u200e<", "a: ", " ", "> On 1 wrote:", "[a](./", "“")


@pytest.mark.parametrize("name", HEADS)
def test_a_line_of_a_megabyte_is_read_within_a_second(name: str) -> None:
    (known,) = (known for known in FORMATS if known.name == name)
    for head in HEADS[name]:
        for fill in FILLS:
            text = f"{head}{(fill * (1_000_000 // len(fill)))}\n"
            source = Source("export", text)
            assert len(source.lines) >= 2
            begun = time.process_time()
            known.detect(source)
            sum(1 for _ in known.read(source))
            assert time.process_time() - begun < 1, (head, fill)


def test_many_torn_lines_are_read_within_a_second(tmp_path: Path) -> None:
    lines = {
        "html": "From a 1:00\nContent-Type: text/html\n\n" + "<script><title><!" * 60_000,
        "announced": "From a 1:00\nX: y\n\n" + "On 1 May somebody wrote\n:\n" * 20_000 + "> x\n",
        "threads": "".join(f"From a 1:00\nReferences: <{n}@x> <{n + 1}@x>\n\nx\n\n" for n in range(3_000)),
    }
    for name, text in lines.items():
        begun = time.process_time()
        read(["-"], stdin=io.BytesIO(text.encode()), input_format="mbox")
        assert time.process_time() - begun < 3, name
