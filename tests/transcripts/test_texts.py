"""Text out of HTML, of mails and of the markup of services."""

from __future__ import annotations

import pytest

from smartsearch.text.htmltext import text_of
from smartsearch.transcripts.formats.chats import mended
from smartsearch.transcripts.formats.fields import Mentions
from smartsearch.transcripts.formats.mailtext import of_html, own_words
from smartsearch.transcripts.formats.slack_text import Names, plain
from tests.transcripts.work import growth, working


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


@pytest.mark.parametrize(
    "piece", ["<!--", "<a ", '<a "', "<a x='", "&#", "<![CDATA[", "</", "<script>", "<p>", "<"]
)
def test_no_html_takes_long(piece: str) -> None:
    with working() as work:
        assert not growth([work(text_of, piece * n) for n in (200, 400, 800)])


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("hi\n\n-- \nMaya\n040 555", "hi"),
        ("hi\n> old\n> older", "hi"),
        ("> old\n\nnew\n\n> old\nnewer", "new\n\nnewer"),
        ("hi\n\nOn Mon, May 8, 2023 at 1:56 PM Maya <m@x> wrote:\n\n> old", "hi"),
        ("hi\n\nOn Mon, May 8, 2023 at 1:56 PM Maya\n<maya@example.org> wrote:\n> old", "hi"),
        ("hi\n\nAm 08.05.23 um 13:56 schrieb Maya:\n> old", "hi"),
        ("hi\n\nLe lun. 8 mai 2023 à 13:56, Maya <m@x> a écrit :\n> old", "hi"),
        ("hi\n\nEl lun, 8 may 2023 a las 13:56, Maya escribió:\n\n> old", "hi"),
        ("hi\n\nOn 8 May 2023, Maya wrote:\nold without marks", "hi"),
        ("hi\n\n-----Original Message-----\nFrom: x", "hi"),
        ("hi\n\n________________________________\nFrom: Maya\nSent: Monday\n\nold", "hi"),
        ("hi\n\nVon: Maya\nGesendet: Montag\nBetreff: x\n\nold", "hi"),
        ("hi\n\nSent from my iPhone", "hi"),
        ("The list:\n- From: Porto\n- two -- dashes", "The list:\n- From: Porto\n- two -- dashes"),
        ("He wrote:\nnothing", "He wrote:\nnothing"),
        ("What I meant:\n> the gate\nis open", "What I meant:\n\nis open"),
    ],
)
def test_own_words_are_what_the_author_wrote(text: str, own: str) -> None:
    assert own_words(text) == (own, "")


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>one<p>two &amp; three</p>", "one\n\ntwo & three"),
        ("<div>one</div><div>two<br></div>", "one\ntwo"),
        ("a<br>b\n  c", "a\nb c"),
        ("<ul><li>one</li><li>two</li></ul>", "- one\n- two"),
        ("<style>p{}</style><script>x<1</script><!-- no > -->yes", "yes"),
        ("<tr><td>a</td><td>b</td></tr>", "a b"),
        ("a<blockquote>old<blockquote>older</blockquote></blockquote>b", "a\n\n> old\n>\n> older\nb"),
        ("1 < 2 and <torn", "1 < 2 and <torn"),
        ("<script>never closed", ""),
        ("<div>one</div><div><br></div><div>two</div>", "one\n\ntwo"),
    ],
)
def test_html_of_a_mail_to_text(html: str, text: str) -> None:
    assert of_html(html) == text


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("<@U0000MAYA> and <@U000TARIK|tarik>", "@Maya and @Tarik Benali"),
        ("<@UNKNOWN1|joe> <@UNKNOWN2>", "@joe @UNKNOWN2"),
        ("<#C1|general> <#C2> <#C3|>", "#general #boats #C3"),
        ("<https://a.example>", "https://a.example"),
        ("<https://a.example|https://a.example>", "https://a.example"),
        ("<http://a.example|a.example>", "http://a.example"),
        ("<https://a.example/b|the plan>", "the plan (https://a.example/b)"),
        ("<mailto:a@b.example|a@b.example>", "a@b.example"),
        ("<!here> <!channel> <!subteam^S1|@crew> <!subteam^S2>", "@here @channel @crew @S2"),
        ("<!date^1392734382^{date}|Feb 18>", "Feb 18"),
        ("1 &lt; 2 &amp;&amp; 3 &gt; 2 &amp;lt;", "1 < 2 && 3 > 2 &lt;"),
        (":sailboat: *bold* `a < b`", ":sailboat: *bold* `a < b`"),
    ],
)
def test_markup_becomes_text(written: str, read_as: str) -> None:
    names = Names(Mentions({"U0000MAYA": "Maya", "U000TARIK": "Tarik Benali"}), Mentions({"C2": "boats"}))
    assert plain(written, names) == read_as


@pytest.mark.parametrize("text", ["plain", "é", "größer", "😅 ok", "Ж – naïve", "日本語", "a\u0301"])
def test_mending_undoes_the_damage_and_leaves_sound_text_alone(text: str) -> None:
    assert mended(text.encode().decode("latin-1")) == text
    assert mended(text) == text


def test_a_cut_character_does_not_keep_the_others_from_being_mended() -> None:
    assert mended("café and 😅".encode()[:-1].decode("latin-1")) == "café and \xf0\x9f\x98"
