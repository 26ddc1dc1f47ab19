"""What iMessage, Signal and Matrix exporters add to what was said, and how it is taken apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transcripts.build import corpus, said

SAMPLES = Path(__file__).parent / "samples"
FIRST = "May 08, 2023  1:50:00 PM\nMe\nHello\n\n"


@pytest.mark.parametrize(
    ("lines", "text", "caption"),
    [
        ("Hi\n\nthere", "Hi\n\nthere", ""),
        ("Hi\nTapbacks:\n    Loved by Me\n    😂 by Jonas", "Hi", ""),
        ("Hi\nReactions:\nLoved by Me\nLiked by Jonas", "Hi", ""),
        ("Hi\nSent with Slam", "Hi", ""),
        ("attachments/3/9.heic\nLook", "Look", "[image 9.heic]"),
        ("/Users/maya/Library/Messages/Attachments/a b.pdf", "", "[file a b.pdf]"),
        ("Attachment missing!", "", "[file]"),
        ("Sticker from Maya: attachments/1/2.heic", "", "[sticker]"),
        ("This message was deleted from the conversation!\nHi", "Hi", ""),
        ("May 08, 2023  1:56:00 PM Hi\nEdited 5 seconds later: Ho\nEdited 1 minute later: Hey", "Hey", ""),
        ("1/2 of a loaf", "1/2 of a loaf", ""),
        ("https://example.org/a.html", "https://example.org/a.html", ""),
    ],
)
def test_what_imessage_exporter_writes_below_a_sender(
    tmp_path: Path, lines: str, text: str, caption: str
) -> None:
    read = corpus(tmp_path, "Maya.txt", f"{FIRST}May 08, 2023  1:56:00 PM\nMaya\n{lines}\n\n")
    assert said(read) == [("Me", "Hello"), ("Maya", text)]
    assert (read.turns[1].caption, read.turns[1].time) == (caption, "2023-05-08T13:56:00")


def test_a_reply_is_read_in_its_own_place(tmp_path: Path) -> None:
    inner = "    May 08, 2023  2:00:00 PM\n    Maya\n    Three\n"
    own = "May 08, 2023  2:00:00 PM\nMaya\nThree\nThis message responded to an earlier message.\n\n"
    read = corpus(tmp_path, "Maya.txt", FIRST.rstrip("\n") + f"\n{inner}\n{own}")
    assert [(t.speaker, t.text, t.line) for t in read.turns] == [("Me", "Hello", 1), ("Maya", "Three", 8)]
    alone = corpus(tmp_path, "cut.txt", FIRST.rstrip("\n") + f"\n{inner}\n")
    assert [(t.speaker, t.text, t.line) for t in alone.turns] == [("Me", "Hello", 1), ("Maya", "Three", 4)]


def test_events_of_imessage_have_no_turn(tmp_path: Path) -> None:
    event = "May 08, 2023  1:55:00 PM Maya named the conversation Boat\n\n"
    assert said(corpus(tmp_path, "Boat - 7.txt", event + FIRST + event)) == [("Me", "Hello")]
    assert corpus(tmp_path, "Boat - 7.txt", FIRST).turns[0].conversation == "Boat"


@pytest.mark.parametrize(
    ("body", "text", "caption"),
    [
        ("hi  ", "hi", ""),
        ("hi  \n\nthere  ", "hi\n\nthere", ""),
        ("\n\n> what was said\n> before\n\nanswer  ", "answer", ""),
        ("answer  \n> a quotation of my own  ", "answer\n> a quotation of my own", ""),
        ("hi  \n(- Jonas: 👍, Ole: 🚤 -)", "hi", ""),
        ("  ![a b.jpg](./media/a%20b.jpg)  ", "", "[image a b.jpg]"),
        ("two  ![a.jpg](./media/a.jpg)  [b.pdf](./media/b.pdf)  ", "two", "[image a.jpg] [file b.pdf]"),
        ("  \n(( 🎉 ))", "", "[sticker]"),
        ("  [🎉](../exported_stickers/p/1.webp)  ", "", "[sticker]"),
        ("see [it](https://example.org)  ", "see [it](https://example.org)", ""),
    ],
)
def test_what_signal_export_writes(tmp_path: Path, body: str, text: str, caption: str) -> None:
    chat = f"[2023-05-08 13:50:00] Me: first  \n[2023-05-08 13:56:00] Maya: {body}\n"
    read = corpus(tmp_path, "Maya Reis/chat.md", chat)
    assert said(read) == [("Me", "first"), ("Maya", text)]
    assert (read.turns[1].caption, read.turns[1].conversation) == (caption, "Maya Reis")


def test_deleted_messages_of_signal_are_left_out(tmp_path: Path) -> None:
    chat = "[2023-05-08 13:50:00] Me: a  \n[2023-05-08 13:56:00] Maya: (This message was deleted)\n"
    read = corpus(tmp_path, "Maya/chat.md", chat)
    assert (said(read), read.warnings) == ([("Me", "a")], ())


@pytest.mark.parametrize(
    ("line", "turns"),
    [
        ("[May 08, 2023 13:56:00] <Maya> a: b", [("Maya", "a: b", "")]),
        ('[May 08, 2023 13:56:00] *** <Maya> sent file "a.jpg"', [("Maya", "", "[image a.jpg]")]),
        ("[May 08, 2023 13:56:00] *** <Maya> sent file of type audio/aac", [("Maya", "", "[audio]")]),
        ("[May 08, 2023 13:56:00] *** <Maya> sent file", [("Maya", "", "[file]")]),
        ("[May 08, 2023 13:56:00] *** Group was updated", []),
    ],
)
def test_what_signalbackup_tools_writes(tmp_path: Path, line: str, turns: list[tuple[str, str, str]]) -> None:
    read = corpus(tmp_path, "Maya (_id3).txt", f"[May 08, 2023 13:50:00] <Jonas> hi\n{line}\n")
    assert [(t.speaker, t.text, t.caption) for t in read.turns[1:]] == turns
    assert read.turns[0].conversation == "Maya"


@pytest.mark.parametrize(
    ("rest", "turn"),
    [
        ("Maya: a: b", ("Maya", "a: b", "")),
        ('Maya: <@jonas:example.org "how many"> three', ("Maya", "three", "")),
        ("Maya: > <@jonas:example.org> how many\n> tins\n\nthree", ("Maya", "three", "")),
        ("* Jonas waves", ("Jonas", "waves", "")),
        ("* Jonas Okoro waves", ("Jonas Okoro", "waves", "")),
        ("* Stranger waves", ("Stranger", "waves", "")),
        ("Maya sent a sticker. (Media omitted)", ("Maya", "", "[sticker]")),
        ("Maya: plan.pdf (File Attached)", ("Maya", "", "[file plan.pdf]")),
        ("Maya joined the room", None),
        ('Maya changed the topic to "a: b".', None),
    ],
)
def test_what_element_writes(tmp_path: Path, rest: str, turn: tuple[str, str, str] | None) -> None:
    text = (
        "08/05/2023, 13:50:00 - Jonas: one\n08/05/2023, 13:51:00 - Jonas Okoro: two\n"
        f"13/05/2023, 13:52:00 - {rest}\n"
    )
    read = corpus(tmp_path, "matrix - Boat - Chat Export - 2023-06-01T09-00-00.000Z.txt", text)
    assert [(t.speaker, t.text, t.caption) for t in read.turns[2:]] == ([turn] if turn else [])
    assert {(t.conversation, t.time[:7]) for t in read.turns} == {("Boat", "2023-05")}
