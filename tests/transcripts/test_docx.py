"""Word documents, as which transcripts of meetings come."""

from __future__ import annotations

from pathlib import Path

import pytest

from smartsearch.transcripts import FormatError, docx
from smartsearch.transcripts.corpus import read_one
from smartsearch.transcripts.decode import decode
from smartsearch.types import Turn
from tests.transcripts import build
from tests.transcripts.build import put


def document(*paragraphs: str, **how: str) -> bytes:
    """A document of paragraphs, each the XML of its runs."""
    return build.document("".join(f"<w:p>{paragraph}</w:p>" for paragraph in paragraphs), **how)


def run(*parts: str) -> str:
    """A run of text, its parts broken by line."""
    return "<w:r>" + "<w:br/>".join(f'<w:t xml:space="preserve">{part}</w:t>' for part in parts) + "</w:r>"


def turns(folder: Path, data: bytes) -> tuple[str, list[Turn]]:
    found, known = read_one(str(put(folder, "Boat meeting.docx", data)))
    return known.name if known else "", list(found.turns)


def test_a_transcript_of_teams_is_read(tmp_path: Path) -> None:
    data = document(
        run("Boat meeting-20230508_100000-Meeting Recording"),
        run("May 8, 2023, 10:00AM"),
        run("1m 3s"),
        run("Maya Reis") + run(" started transcription"),
        run("Maya Reis") + run("   0:03", "The varnish has come."),
        run("Ole Brandt   0:09", "How many tins", "do we need?"),
        run("Maya Reis   1:02", "Three &amp; a brush."),
        run("Maya Reis stopped transcription"),
    )
    name, found = turns(tmp_path, data)
    assert name == "chat"
    assert [(t.speaker, t.text, t.turn) for t in found] == [
        ("Maya Reis", "The varnish has come.", "00:00:03"),
        ("Ole Brandt", "How many tins\ndo we need?", "00:00:09"),
        ("Maya Reis", "Three & a brush.", "00:01:02"),
    ]
    assert {(t.time, t.conversation) for t in found} == {
        ("2023-05-08", "Boat meeting-20230508_100000-Meeting Recording")
    }


def test_an_older_transcript_of_teams_is_read(tmp_path: Path) -> None:
    data = document(
        *map(run, ("0:0:5.100 --> 0:0:8.250", "Maya Reis", "The varnish has come.")),
        *map(run, ("0:0:8.500 --> 0:1:10.300", "Ole Brandt", "Good.")),
    )
    name, found = turns(tmp_path, data)
    assert name == "chat"
    assert [(t.speaker, t.text, t.turn, t.line) for t in found] == [
        ("Maya Reis", "The varnish has come.", "00:00:05", 1),
        ("Ole Brandt", "Good.", "00:00:08", 4),
    ]


def test_any_document_is_its_paragraphs() -> None:
    copied = (
        f"<mc:AlternateContent><mc:Choice>{run('once')}</mc:Choice>"
        f"<mc:Fallback>{run('twice')}</mc:Fallback></mc:AlternateContent>"
    )
    deleted = "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del>"
    data = document(run("Maya: hi"), f"<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t></w:r>{deleted}", copied, "")
    assert decode(data).text == "Maya: hi\na\tb\nonce\n\n"


def test_what_is_wrong_with_a_document_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    entities = '<!DOCTYPE w [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
    with pytest.raises(FormatError, match="entities"):
        decode(document(run("&b;"), head=entities))
    with pytest.raises(FormatError, match="damaged"):
        decode(document(run("hi"))[:-30])
    with pytest.raises(FormatError, match="damaged"):
        decode(document("<w:r>", head="<"))
    with pytest.raises(FormatError, match="binary"):
        decode(document(run("hi"), part="xl/workbook.xml"))
    monkeypatch.setattr(docx, "_LIMIT", 100)
    with pytest.raises(FormatError) as raised:
        decode(document(run("hi")))
    assert raised.value.kind == "too_large"


def test_a_torn_document_gives_what_stands_before(tmp_path: Path) -> None:
    assert decode(document(run("Maya: hi"), "</w:r>")).text == "Maya: hi\n"
