"""HTML as a reader sees it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartsearch.transcripts.htmltext import text_of


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
        ("<p>torn <b", "torn"),
        ("</pre></script>x", "x"),
        ("", ""),
    ],
)
def test_blocks_are_lines_and_markup_is_gone(html: str, text: str) -> None:
    assert text_of(html) == text


@given(st.lists(st.sampled_from(["<p>", "<pre>", "</pre>", "<!--", "<li", "&#", "a", "\n", "\x00", "<td>"])))
def test_any_html_is_survived(pieces: list[str]) -> None:
    assert "\x00" not in text_of("".join(pieces))
