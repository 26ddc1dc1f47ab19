"""HTML: what is known is read, and any other page is told, in a folder too."""

from __future__ import annotations

from pathlib import Path

import pytest

from smartsearch.errors import InputError
from smartsearch.text.htmltext import elements
from smartsearch.transcripts import read
from tests.transcripts.build import put, said, zipped

SAMPLES = Path(__file__).parent / "samples"


def test_a_page_in_a_folder_is_told_beside_the_chats_and_alone_is_an_error(tmp_path: Path) -> None:
    page = (SAMPLES / "html" / "channel.html").read_text(encoding="utf-8")
    put(tmp_path, "page.html", page)
    with pytest.raises(InputError, match="with format JSON"):
        read([str(tmp_path)])
    put(tmp_path, "chat.txt", "Maya: hi\nJonas: hello\n")
    found = read([str(tmp_path)])
    assert said(found) == [("Maya", "hi"), ("Jonas", "hello")]
    assert [(Path(one.path).name, one.kind) for one in found.skipped] == [("page.html", "unrecognised_html")]


def test_telegrams_pages_are_read_from_an_archive(tmp_path: Path) -> None:
    folder = SAMPLES / "telegram-html" / "ChatExport_2024-07-08"
    inside = {"ChatExport/messages.html": (folder / "messages.html").read_bytes()}
    assert said(read([str(zipped(tmp_path / "export.zip", inside))])) == said(read([str(folder)]))


def test_elements_have_their_attributes_and_what_they_hold() -> None:
    html = "<div class='a b' id=x><p title=\"1 &lt; 2\">one<br>two</p></div><span>three"
    found = elements(html)
    assert [(one.name, html[one.start : one.end]) for one in found] == [
        ("div", '<p title="1 &lt; 2">one<br>two</p>'),
        ("p", "one<br>two"),
        ("br", ""),
        ("span", "three"),
    ]
    assert (found[0].classes, found[0].attributes["id"]) == ({"a", "b"}, "x")
    assert found[1].attributes == {"title": "1 < 2"}
    torn = "</p><b><i>x</b></i></div>"
    crossed = [("b", "<i>x"), ("i", "x</b>")]
    assert [(one.name, torn[one.start : one.end]) for one in elements(torn)] == crossed
