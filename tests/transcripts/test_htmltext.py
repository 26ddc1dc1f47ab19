"""HTML as a reader sees it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartsearch.text.htmltext import text_of


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("plain text", "plain text"),
        ("<p>a <b>bold</b> word</p>\n<p>next</p>", "a bold word\nnext"),
        ("one<br>two<br/>three", "one\ntwo\nthree"),
        ("<ul><li>a</li><li>b</li></ul>", "- a\n- b"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a\tb\nc"),
        ("caf&eacute; &amp; &#x1F375;", "café & 🍵"),
        ("<pre>  x = 1\n    y = 2</pre>done", "  x = 1\n    y = 2\ndone"),
        ("a\n   b <i>c</i>", "a b c"),
        ("<script>alert(1)</script><style>p{}</style>seen", "seen"),
        ("<pre>a\n</pre>\n<p>b</p>", "a\nb"),
        ("</pre></script>x", "x"),
        ("a <!-- not <b>this</b> --> b<br >c", "a b\nc"),
        ('<a href="x" title="a > b">link</a> 1 < 2', "link 1 < 2"),
        ("<p>torn <b", "torn <b"),
        ("<SCRIPT>x</SCRIPT>y", "y"),
        ("", ""),
    ],
)
def test_blocks_are_lines_and_markup_is_gone(html: str, text: str) -> None:
    assert text_of(html) == text


@given(st.lists(st.sampled_from(["<p>", "<pre>", "</pre>", "<!--", "<li", "&#", "a", "\n", "\x00", "<td>"])))
def test_any_html_is_survived(pieces: list[str]) -> None:
    text_of("".join(pieces))


@pytest.mark.parametrize(
    "piece", ["<!--", "<a ", '<a "', "<a x='", "&#", "<![CDATA[", "</", "<script>", "<p>", "<"]
)
def test_no_html_takes_long(piece: str) -> None:
    began = time.process_time()
    text_of(piece * 100_000)
    assert time.process_time() - began < 2
