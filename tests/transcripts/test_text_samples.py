"""Samples in the shape of real exports, invented: each is taken for its format and no other, and read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from smartsearch.transcripts import FORMATS
from smartsearch.transcripts.corpus import read_one
from smartsearch.transcripts.source import Source

SAMPLES = Path(__file__).parent / "samples"
OURS = ("mbox", "subtitles", "imessage", "signal-text", "signal-markdown", "whatsapp", "element", "irc")
BOAT = "matrix - Boat Shed - Chat Export - 2023-06-01T09-00-00.000Z.txt"

# sample: conversation, number of turns, then line, time, speaker and text of the first and of the last
READ = {
    f"element/{BOAT}": (
        *("Boat Shed", 8),
        (4, "2023-05-08T13:56:00", "Maya Reis", "The varnish has come"),
        (14, "2023-05-14T09:00:00", "Maya Reis", "Saturday it was"),
    ),
    "imessage/+15555550142.txt": (
        *("+15555550142", 5),
        (1, "2022-12-31T09:00:00", "+15555550142", "Your parcel is at the kiosk"),
        (19, "2023-01-01T12:33:00", "Me", "May I send a friend?"),
    ),
    "imessage/Maya Reis, Jonas - 12.txt": (
        *("Maya Reis, Jonas", 7),
        (3, "2023-05-08T13:56:00", "Maya Reis", "The varnish has come"),
        (47, "2023-05-09T08:03:00", "Maya Reis", "https://example.org/slipway\nSlipway hours"),
    ),
    "irc/hexchat/Libera-#boatshed.log": (
        *("Libera-#boatshed", 7),
        (6, "2023-12-31T23:56:01", "maya", "the varnish has come"),
        (18, "2024-01-02T08:12:00", "ole", "slipway is free from 9"),
    ),
    "irc/irssi/#boatshed.log": (
        *("#boatshed", 7),
        (6, "2023-05-08T13:56:00", "maya", "the varnish has come"),
        (16, "2023-05-09T08:12:00", "ole", "slipway is free from 9"),
    ),
    "irc/mirc/#boatshed.txt": (
        *("#boatshed", 6),
        (6, "2023-05-08T13:56:00", "maya", "the varnish has come"),
        (13, "2023-05-09T00:04:00", "maya", "too late for me"),
    ),
    "irc/weechat/irc.libera.#boatshed.weechatlog": (
        *("#boatshed", 7),
        (3, "2023-05-08T13:56:01", "maya", "the varnish has come"),
        (10, "2023-05-09T08:12:00", "ole", "slipway is free from 9"),
    ),
    "irc/znc/#boatshed/2023-05-08.log": (
        *("#boatshed", 6),
        (3, "2023-05-08T13:56:01", "maya", "the varnish has come"),
        (9, "2023-05-08T23:59:58", "maya", "good night"),
    ),
    "mbox/All mail Including Spam and Trash.mbox": (
        *("1765300000000000001", 4),
        (
            *(1, "2023-05-08T13:56:00+02:00", "Maya Reïs"),
            "Hallo Jonas,\n\nder Lack für das Boot ist da. Drei Dosen.\n\nFrom now on we can paint.",
        ),
        (
            *(82, "2023-05-09T08:00:00+02:00", "kiosk@example.org"),
            "It is at the kiosk in Mill Lane until Friday.",
        ),
    ),
    "mbox/Inbox.mbox": (
        *("a1@example.org", 4),
        (
            *(1, "2023-05-08T13:56:00+02:00", "Reis, Maya"),
            "The varnish has come. Three tins.\n\nFrom Ole I have a brush.",
        ),
        (46, "2023-05-09T09:00:00", "Ines", ""),
    ),
    "signal-markdown/Boat Shed/index.md": (
        *("Boat Shed", 4),
        (1, "2019-05-29T15:04:00", "Me", "Who has the key?"),
        (4, "2019-05-30T09:00:00", "Aya", "Buy the teak one"),
    ),
    "signal-markdown/Maya Reis/chat.md": (
        *("Maya Reis", 8),
        (1, "2023-05-08T13:56:00", "Maya Reis", "The varnish has come"),
        (
            *(16, "2023-05-09T00:04:00", "Maya Reis"),
            "See [the hours](https://example.org/hours): nine to noon",
        ),
    ),
    "signal-text/Maya Reis (_id12).txt": (
        *("Maya Reis", 7),
        (2, "2023-05-08T13:56:00", "Maya Reis", "The varnish has come"),
        (12, "2023-05-09T00:04:00", "Maya Reis", "Saturday, then"),
    ),
    "subtitles/captions.en.vtt": (
        *("captions.en", 2),
        (10, "", "", "the harbour was closed in May"),
        (22, "", "", "and June"),
    ),
    "subtitles/talk.srt": (
        *("talk", 4),
        (3, "", "MAYA", "The harbour was closed for the whole of May."),
        (22, "", "", "♪"),
    ),
    "subtitles/teams.vtt": (
        *("teams", 6),
        (7, "", "Maya Reis", "Good morning, the varnish has come on Monday."),
        (28, "", "Jonas Okoro", "Then we paint on Saturday."),
    ),
    "subtitles/zoom.transcript.vtt": (
        *("zoom", 4),
        (5, "", "Maya Reis", "Good morning, everyone."),
        (25, "", "Maya Reis", "Note: bring gloves."),
    ),
    "whatsapp/Chat WhatsApp con Giulia.txt": (
        *("Giulia", 5),
        (2, "2023-05-08T13:56:00", "Giulia", "La chiave è sotto il vaso"),
        (7, "2023-05-08T14:02:00", "Maya", ""),
    ),
    "whatsapp/Chat de WhatsApp con Lucía.txt": (
        *("Lucía", 6),
        (2, "2023-05-08T13:56:00", "Lucía", "¿A qué hora sale el tren?"),
        (8, "2023-05-09T06:50:00", "Mateo", "Ya llego"),
    ),
    "whatsapp/Conversa do WhatsApp com Rafael.txt": (
        *("Rafael", 6),
        (2, "2023-05-08T13:56:00", "Rafael", "Comprei a madeira do barco"),
        (8, "2023-05-08T14:02:00", "Maya", "Barato"),
    ),
    "whatsapp/Discussion WhatsApp avec Inès.txt": (
        *("Inès", 6),
        (2, "2023-05-08T13:56:00", "Inès", "Le dîner est à vingt heures"),
        (9, "2023-05-08T14:05:00", "Inès", "Sans, Paul est allergique"),
    ),
    "whatsapp/WhatsApp Chat - Book Club/_chat.txt": (
        *("Book Club", 9),
        (4, "2023-05-08T13:56:01", "Ines", "We read The Lamplighter next"),
        (12, "2023-05-21T00:00:05", "Tarik", "I finished it: what an ending!"),
    ),
    "whatsapp/WhatsApp Chat - Maya Reis/_chat.txt": (
        *("Maya Reis", 10),
        (2, "2023-05-08T13:56:01", "Maya Reis", "Der Lack für das Boot ist da"),
        (17, "2023-05-08T14:05:00", "Maya Reis", "Standort: https://maps.google.com/?q=53.5461,9.9661"),
    ),
    "whatsapp/WhatsApp Chat with Harbour Street 12.txt": (
        *("Harbour Street 12", 8),
        (4, "2023-05-13T08:01:00", "Tarik", "Water is off on Thursday from 9 to 12"),
        (16, "2023-05-15T06:52:00", "Mrs", "Morning"),
    ),
    "whatsapp/WhatsApp Chat with Maya Reis.txt": (
        *("Maya Reis", 10),
        (2, "2023-05-08T13:56:00", "Maya Reis", "The varnish for the boat has come"),
        (21, "2023-05-13T08:32:00", "Maya Reis", "null and void, ignore the gate (it sticks)"),
    ),
    "whatsapp/WhatsApp-Chat mit Jonas Ackermann.txt": (
        *("Jonas Ackermann", 7),
        (2, "2023-05-08T13:56:00", "Maya", "Kommst du am Samstag zum Streichen?"),
        (10, "2023-05-09T07:11:00", "Maya", "Genau"),
    ),
    "whatsapp/WhatsApp-chat met Sanne.txt": (
        *("Sanne", 5),
        (2, "2023-05-08T13:56:00", "Sanne", "De fiets staat bij de molen"),
        (6, "2023-05-08T14:00:00", "Maya", ""),
    ),
    "whatsapp/دردشة واتساب مع مايا.txt": (
        *("مايا", 5),
        (2, "2023-05-08T13:56:00", "مايا", "المفتاح عند الجيران"),
        (7, "2023-05-09T09:30:00", "طارق", "وصلت"),
    ),
    "whatsapp/美咲とのWhatsAppチャット.txt": (
        *("美咲", 5),
        (2, "2023-05-08T13:56:00", "美咲", "傘を駅に忘れました"),
        (8, "2023-05-09T08:10:00", "健太", "見つかりました"),
    ),
    "whatsapp/민수님과의 WhatsApp 대화.txt": (
        *("민수", 5),
        (2, "2023-05-08T13:56:00", "민수", "표를 두 장 샀어"),
        (7, "2023-05-09T09:31:00", "지은", "입구에서 보자"),
    ),
}


def test_the_table_names_every_sample() -> None:
    files = {path.relative_to(SAMPLES).as_posix() for path in SAMPLES.rglob("*") if path.is_file()}
    assert {name for name in files if name.split("/")[0] in OURS} == READ.keys()


@pytest.mark.parametrize("name", READ, ids=str)
def test_a_sample_is_taken_for_its_format_and_read(name: str) -> None:
    read, known = read_one(str(SAMPLES / name))
    conversation, count, first, last = READ[name]
    assert known is not None
    assert known.name == name.split("/")[0]
    assert read.skipped == ()
    assert len(read.turns) == count
    ends = [(t.line, t.time, t.speaker, t.text) for t in (read.turns[0], read.turns[-1])]
    assert ends == [first, last]
    assert read.turns[0].conversation == conversation
    assert {turn.path for turn in read.turns} == {str(SAMPLES / name)}


@pytest.mark.parametrize("name", READ, ids=str)
def test_no_other_of_the_formats_claims_a_sample(name: str) -> None:
    source = Source(str(SAMPLES / name), (SAMPLES / name).read_text(encoding="utf-8-sig"))
    claims = [known.name for known in FORMATS if known.name in OURS and known.detect(source)]
    assert claims == [name.split("/")[0]]


@pytest.mark.parametrize("name", READ, ids=str)
def test_the_line_of_a_turn_is_where_it_begins(name: str) -> None:
    lines = (SAMPLES / name).read_text(encoding="utf-8-sig").split("\n")
    read, _ = read_one(str(SAMPLES / name))
    for turn in read.turns:
        begins = "\n".join(lines[turn.line - 1 : turn.line + 1]).replace("\xa0", " ")
        if name.startswith(("whatsapp", "irc", "imessage", "element", "signal")):
            assert turn.speaker in begins
        elif name.startswith("mbox"):
            assert begins.startswith("From ")
        else:
            assert turn.text.split(" ")[0] in re.sub("<[^>]*>", " ", lines[turn.line - 1])


CHATS = [
    "Maya: hi\nJonas: hello\n",
    "[2023-05-08 13:56] Maya: hi\n[2023-05-08 13:57] Jonas: hello",
    "[2023-05-08 13:56:01] Maya: hi\n[2023-05-08 13:57:00] Jonas: hello",
    "[13:56] Maya: hi\n[13:57] Jonas: hello",
    "(13:56) Maya: hi\n(13:57) Jonas: hello",
    "13:56 Maya: hi\n13:57 Jonas: hello",
    "8 May 2023, 1:56 PM - Maya: hi\n8 May 2023, 1:57 PM - Jonas: hello",
    "2023-05-08T13:56:00Z | Maya: hi\n2023-05-08T13:57:00Z | Jonas: hello",
    "Maya [13:56]: hi\nJonas [13:57]: hello",
    "- [13:56] Maya: hi\n- [13:57] Jonas: hello",
    "**Maya:** hi\n\n**Jonas:** hello\n",
    "## Maya\nhi\n## Jonas\n\nhello\n\n## Maya\n\n## Jonas",
    "# The flat\n\n--- 8 May 2023 ---\n[18:40] Maya: hi\nJonas: hello\n[18:42] Jonas: hello\n\n",
]
PROSE = [
    "It was late. Maya: who is there?\n\nNobody spoke.\n",
    "Note: buy milk\nNote: buy bread\nTODO: sleep\n",
    "From the harbour we walked\nto: the mill\n",
    "May 08, 2023 was a Monday.\n\nMay 09, 2023 was not.\n",
    "2023-05-08 13:56:01\talpha\tone\n2023-05-08 13:56:02\tbeta\ttwo\n",
    "13:56 <b>bold</b> words\n",
    "1\n2\n3\n",
    "08/05/2023, 13:56 - the only line with a time\n",
]


@pytest.mark.parametrize("text", CHATS, ids=repr)
@pytest.mark.parametrize("name", ["chat.md", "chat.txt"])
def test_what_the_chat_reader_reads_well_stays_with_it(text: str, name: str) -> None:
    assert [known.name for known in FORMATS if known.detect(Source(name, text))] == ["chat", "prose"]


@pytest.mark.parametrize("text", PROSE, ids=repr)
def test_what_only_looks_like_an_export_is_none(text: str) -> None:
    claims = [known.name for known in FORMATS if known.detect(Source("notes.txt", text))]
    assert not set(claims) & set(OURS)


def test_our_documents_are_read_as_before() -> None:
    docs = Path(__file__).parents[2] / "docs"
    for path in sorted(docs.rglob("*.md")):
        source = Source(str(path), path.read_text(encoding="utf-8"))
        assert not [known.name for known in FORMATS if known.name in OURS and known.detect(source)], path
