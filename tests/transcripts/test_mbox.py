"""E-mail: threads, headers, bodies, and mails that are torn."""

from __future__ import annotations

from pathlib import Path

import pytest

from smartsearch.transcripts.formats.mailtext import of_html, own_words
from smartsearch.types import Corpus
from tests.transcripts.build import corpus, said

FROM = "From maya@example.org Mon May  8 13:56:00 2023\n"


def mail(body: str = "text", **headers: str) -> str:
    """A mail with its border, and a few headers unless others are given."""
    fields = {"From": "Maya <maya@example.org>", "Date": "Mon, 8 May 2023 13:56:00 +0200", **headers}
    lines = [f"{name.replace('_', '-')}: {value}\n" for name, value in fields.items() if value]
    return f"{FROM}{''.join(lines)}\n{body}\n\n"


def box(folder: Path, *mails: str) -> Corpus:
    return corpus(folder, "Inbox.mbox", "".join(mails))


def test_mails_of_a_thread_are_together_and_in_order_of_time(tmp_path: Path) -> None:
    read = box(
        tmp_path,
        mail(
            "c",
            Subject="Re: Varnish",
            Message_ID="<3@x>",
            References="<1@x> <2@x>",
            Date="10 May 2023 09:00 +0000",
        ),
        mail("x", Subject="Parcel", Message_ID="<9@x>"),
        mail("a", Subject="Varnish", Message_ID="<1@x>", Date="Mon, 8 May 2023 23:30:00 -0700"),
        mail(
            "b", Subject="Re: Varnish", Message_ID="<2@x>", In_Reply_To="<1@x>", Date="9 May 2023 08:00 +0200"
        ),
    )
    assert [(t.text, t.conversation, t.title, t.turn, t.line) for t in read.turns] == [
        ("b", "1@x", "Varnish", "2@x", 26),
        ("a", "1@x", "Varnish", "1@x", 18),
        ("c", "1@x", "Varnish", "3@x", 1),
        ("x", "9@x", "Parcel", "9@x", 10),
    ]
    assert [t.time for t in read.turns[:2]] == ["2023-05-09T08:00:00+02:00", "2023-05-08T23:30:00-07:00"]


def test_gmails_thread_goes_before_references_and_subjects_join_replies_only(tmp_path: Path) -> None:
    read = box(
        tmp_path,
        mail("a", Subject="Hello", X_GM_THRID="77", Message_ID="<1@x>"),
        mail("b", Subject="Other", X_GM_THRID="77", References="<8@x>", Message_ID="<2@x>"),
        mail("c", Subject="Invoice", Message_ID="<3@x>"),
        mail("d", Subject="Invoice", Message_ID="<4@x>"),
        mail("e", Subject="AW: Re[2]: invoice", Message_ID="<5@x>"),
    )
    assert [(t.text, t.conversation) for t in read.turns] == [
        *(("a", "77"), ("b", "77"), ("c", "3@x"), ("d", "4@x"), ("e", "4@x")),
    ]


@pytest.mark.parametrize(
    ("date", "time"),
    [
        ("Mon, 8 May 2023 13:56:00 +0200", "2023-05-08T13:56:00+02:00"),
        ("8 May 2023 13:56:00 GMT", "2023-05-08T13:56:00+00:00"),
        ("Mon, 8 May 2023 13:56:00 -0000", "2023-05-08T13:56:00"),
        ("some day in May", "2023-05-08T13:56:00"),  # the border's
        ("", "2023-05-08T13:56:00"),
        ("Mon, 99 May 2023 13:56:00 +0200", "2023-05-08T13:56:00"),
    ],
)
def test_times_keep_their_offset(tmp_path: Path, date: str, time: str) -> None:
    assert box(tmp_path, mail(Date=date)).turns[0].time == time


@pytest.mark.parametrize(
    ("written", "speaker"),
    [
        ("Maya Reis <maya@example.org>", "Maya Reis"),
        ('"Reis, Maya" <maya@example.org>', "Reis, Maya"),
        ("=?UTF-8?B?TWF5YSBSZcOvcw==?= <maya@example.org>", "Maya Reïs"),
        ("=?iso-8859-1?Q?J=FCrgen?=\n =?iso-8859-1?Q?_M=FCller?= <j@example.org>", "Jürgen Müller"),
        ("=?x-none?Q?J=C3=BCrgen?= <j@example.org>", "Jürgen"),
        ("=?utf-8?B?!!!?= <j@example.org>", "j@example.org"),
        ("maya@example.org", "maya@example.org"),
    ],
)
def test_who_wrote(tmp_path: Path, written: str, speaker: str) -> None:
    assert box(tmp_path, mail(From=written)).turns[0].speaker == speaker


@pytest.mark.parametrize(
    ("charset", "encoding", "body", "text"),
    [
        ("utf-8", "8bit", "für", "für"),
        ("utf-8", "quoted-printable", "f=C3=BCr=\n dich", "für dich"),
        ("iso-8859-1", "quoted-printable", "f=FCr", "für"),
        ("iso-8859-15", "base64", "ZvxyIDUgpA==", "für 5 €"),
        ("iso-8859-1", "8bit", "für", "für"),  # the file is UTF-8 whatever the mail says
        ("iso-2022-jp", "7bit", "\x1b$BF|K\\\x1b(B", "日本"),
        ("x-unknown", "quoted-printable", "f=C3=BCr", "für"),
        ("utf-8", "base64", "%%%", ""),
    ],
)
def test_charsets_and_encodings(tmp_path: Path, charset: str, encoding: str, body: str, text: str) -> None:
    kind = {"Content_Type": f'text/plain; charset="{charset}"', "Content_Transfer_Encoding": encoding}
    read = box(tmp_path, mail("first"), mail(body, **kind))
    assert [turn.text for turn in read.turns] == (["first", text] if text else ["first"])


def test_plain_text_goes_before_html_and_files_are_captions(tmp_path: Path) -> None:
    parts = [
        "Content-Type: text/html\n\n<b>html</b>",
        "Content-Type: text/plain\n\nplain",
        "Content-Type: image/png; name=a.png\nContent-Transfer-Encoding: base64\n\niVBORw0KGgo=",
        "Content-Disposition: attachment; filename*=utf-8''pl%C3%A4ne.txt\n\nnot shown",
        "Content-Type: message/rfc822\n\nSubject: Old\n\nnot shown",
    ]
    body = "".join(f"--cut\n{part}\n" for part in parts) + "--cut--"
    (turn,) = box(tmp_path, mail(body, Content_Type="multipart/mixed; boundary=cut")).turns
    assert (turn.text, turn.caption) == ("plain", "[image a.png] [file pläne.txt] [mail Old]")


def test_empty_lines_before_the_first_mail_hide_none(tmp_path: Path) -> None:
    read = box(tmp_path, "\n \r\n", mail("one"), mail("two"))
    assert [(turn.text, turn.line) for turn in read.turns] == [("one", 3), ("two", 9)]


def test_from_in_a_text_is_no_border(tmp_path: Path) -> None:
    body = "one\n\nFrom here on: we paint\n\n>From Ole at 10:30\nSubject: no header\n>>From deeper"
    (turn,) = box(tmp_path, mail(body)).turns
    assert turn.text.startswith("one\n\nFrom here on: we paint\n\nFrom Ole")


def test_torn_mails_cost_themselves_only(tmp_path: Path) -> None:
    torn = f'{FROM}Content-Type: multipart/mixed; boundary="\nFrom: =?\nDate: 99\n\n--\n\n'
    read = box(tmp_path, mail("a"), torn, mail("", Subject="nothing"), mail("b"))
    assert [turn.text for turn in read.turns if turn.text in "ab"] == ["a", "b"]


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
    assert own_words(text) == own


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>one<p>two &amp; three</p>", "one\n\ntwo & three"),
        ("<div>one</div><div>two<br></div>", "one\ntwo"),
        ("a<br>b\n  c", "a\nb c"),
        ("<ul><li>one</li><li>two</li></ul>", "- one\n- two"),
        ("<style>p{}</style><script>x<1</script><!-- no > -->yes", "yes"),
        ("<tr><td>a</td><td>b</td></tr>", "a b"),
        ("a<blockquote>old<blockquote>older</blockquote></blockquote>b", "a\n> old\n> older\n>\nb"),
        ("1 < 2 and <torn", "1 < 2 and <torn"),
        ("<script>never closed", ""),
    ],
)
def test_html_to_text(html: str, text: str) -> None:
    lines = [line.rstrip() for line in of_html(html).split("\n")]
    assert "\n".join(line for line in lines if line != ">" or ">" in text.split("\n")) == text


def test_a_mail_forwarded_without_a_word_keeps_what_was_forwarded(tmp_path: Path) -> None:
    read = box(tmp_path, mail("> the list", Subject="Fwd: Prices"), mail("> the list", Subject="Prices"))
    assert said(read) == [("Maya", "> the list")]
    assert read.warnings[0].endswith("1 turn without text left out")


def test_a_mail_of_very_many_parts_is_read_as_far_as_that_goes_and_told(tmp_path: Path) -> None:
    inner = "--b\nContent-Type: multipart/mixed; boundary=c\n\n--c--\n"
    held = box(
        tmp_path, mail("--b\n\nhi\n" + inner * 70, Content_Type="multipart/mixed; boundary=b"), mail("ho")
    )
    assert [turn.text for turn in held.turns] == ["hi", "ho"]
    assert [entry.reason for entry in held.skipped] == [
        "line 1: a mail of more than 64 parts of parts, the rest not read"
    ]


def test_a_header_without_an_end_is_cut(tmp_path: Path) -> None:
    held = box(tmp_path, mail("hi", Subject="x" * 30_000, Content_Type="text/plain; " + "a=b; " * 1000))
    assert held.turns[0].text == "hi"
    assert len(held.turns[0].title) == 20_000
