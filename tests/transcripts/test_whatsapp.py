"""WhatsApp's exports: locales, order of dates, files, and what WhatsApp says itself."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from smartsearch.transcripts import read
from smartsearch.types import Corpus
from tests.transcripts.build import corpus, said

OWN = "\u200e"
HEAD = "08/05/2023, 13:50 - Messages and calls are end-to-end encrypted.\n"


def android(folder: Path, *bodies: str) -> Corpus:
    """Messages of Maya's, a minute each, in an Android export."""
    lines = [f"08/05/2023, 14:{n:02} - Maya: {body}\n" for n, body in enumerate(bodies)]
    return corpus(folder, "WhatsApp Chat with Maya.txt", HEAD + "".join(lines))


def iphone(folder: Path, *bodies: str) -> Corpus:
    lines = [f"{OWN}[08.05.23, 14:{n:02}:00] Maya: {body}\n" for n, body in enumerate(bodies)]
    return corpus(folder, "WhatsApp Chat - Maya/_chat.txt", "".join(lines))


@pytest.mark.parametrize(
    ("stamp", "time"),
    [
        ("5/8/23, 1:56\u202fPM - ", "2023-05-08T13:56:00"),
        ("5/8/23, 12:56 AM - ", "2023-05-08T00:56:00"),
        ("08/05/2023, 13:56 - ", "2023-05-08T13:56:00"),
        ("08/05/23, 1:56 pm - ", "2023-05-08T13:56:00"),
        ("08.05.23, 13:56 - ", "2023-05-08T13:56:00"),
        ("08/05/2023 à 13:56 - ", "2023-05-08T13:56:00"),
        ("8/5/23 13:56 - ", "2023-05-08T13:56:00"),
        ("8/5/23, 1:56 p.\xa0m. - ", "2023-05-08T13:56:00"),
        ("08/05/2023 13:56 - ", "2023-05-08T13:56:00"),
        ("08-05-2023 13:56 - ", "2023-05-08T13:56:00"),
        ("2023-05-08 13:56 - ", "2023-05-08T13:56:00"),
        ("8.5.2023 klo 13.56 - ", "2023-05-08T13:56:00"),
        ("2023/05/08 13:56 - ", "2023-05-08T13:56:00"),
        ("2023/5/8 下午1:56 - ", "2023-05-08T13:56:00"),
        ("2023/5/8 上午12:56 - ", "2023-05-08T00:56:00"),
        ("2023년 5월 8일 오후 1:56 - ", "2023-05-08T13:56:00"),
        ("8/5/2566 13:56 - ", "2023-05-08T13:56:00"),
        ("\u200f٨\u200f/٥\u200f/٢٠٢٣، ١:٥٦ م - ", "2023-05-08T13:56:00"),
        ("[08.05.23, 13:56:01] ", "2023-05-08T13:56:01"),
        ("[5/8/23, 1:56:01\u202fPM] ", "2023-05-08T13:56:01"),
        ("[08/05/2023, 13:56:01] ", "2023-05-08T13:56:01"),
        ("[2023. 5. 8. 오후 1:56:01] ", "2023-05-08T13:56:01"),
        (f"{OWN}[12.3.2022 klo 14.08.18] ", "2022-03-12T14:08:18"),
    ],
)
def test_the_stamps_of_many_locales(tmp_path: Path, stamp: str, time: str) -> None:
    read_back = corpus(tmp_path, "WhatsApp Chat with Maya.txt", f"{stamp}Maya: hi\n{stamp}Jonas: yo: ok\n")
    assert said(read_back) == [("Maya", "hi"), ("Jonas", "yo: ok")]
    assert {turn.time for turn in read_back.turns} == {time}


@pytest.mark.parametrize(
    ("dates", "months"),
    [
        (["5/8/23", "13/8/23"], ["08", "08"]),  # no month 13: the day is first
        (["5/8/23", "5/13/23"], ["05", "05"]),  # no month 13: the month is first
        (["5/8/23", "6/8/23", "7/8/23", "1/9/23"], ["08", "08", "08", "09"]),  # else time would run back
        (["4/9/23", "4/10/23", "5/1/23"], ["04", "04", "05"]),
        (["05/08/2023", "05/08/2023"], ["08", "08"]),  # no sign: the day, as in most of the world
    ],
)
def test_the_order_of_day_and_month_is_decided_over_the_whole_file(
    tmp_path: Path, dates: list[str], months: list[str]
) -> None:
    text = "".join(f"{date}, 13:56 - Maya: hi\n" for date in dates)
    read_back = corpus(tmp_path, "WhatsApp Chat with Maya.txt", text)
    assert [turn.time[5:7] for turn in read_back.turns] == months


def test_a_file_of_early_days_in_american_style_is_month_first(tmp_path: Path) -> None:
    text = "5/8/23, 1:56\u202fPM - Maya: hi\n5/8/23, 1:57\u202fPM - Jonas: yo\n"
    assert corpus(tmp_path, "chat.txt", text).turns[0].time == "2023-05-08T13:56:00"


def test_a_date_of_no_calendar_known_keeps_the_turn_without_a_time(tmp_path: Path) -> None:
    text = "1402/02/18 13:56 - مایا: سلام\n31/31/2023 13:57 - مایا: خوبی\n"
    read_back = corpus(tmp_path, "WhatsApp Chat with x.txt", text)
    assert [turn.time for turn in read_back.turns] == ["", ""]


@pytest.mark.parametrize(
    ("body", "text", "caption"),
    [
        ("<Media omitted>", "", "[media]"),
        ("<Media omitted>\nthe caption", "the caption", "[media]"),
        (f"{OWN}IMG-20230508-WA0003.jpg (file attached)", "", "[image IMG-20230508-WA0003.jpg]"),
        ("VID-20230508-WA0001.mp4 (in a language nobody knows)", "", "[video VID-20230508-WA0001.mp4]"),
        ("STK-20230508-WA0001.webp (dosya ekli)", "", "[sticker STK-20230508-WA0001.webp]"),
        (f"plan.pdf • {OWN}3 pages {OWN}(file attached)", "", "[file plan.pdf]"),
        ("Maya Reis.vcf (file attached)", "", "[contact Maya Reis.vcf]"),
        ("see plan.pdf (page 3)", "see plan.pdf (page 3)", ""),
        ("Done <This message was edited>", "Done", ""),
        ("a < b and b > a", "a < b and b > a", ""),
        ("<Medya dahil edilmedi>", "", "[media]"),
        ("location: https://maps.google.com/?q=1,2", "location: https://maps.google.com/?q=1,2", ""),
        ("POLL:\nWhen?\nOPTION: Now (1 vote)", "POLL:\nWhen?\nOPTION: Now (1 vote)", ""),
    ],
)
def test_files_and_edits_on_android(tmp_path: Path, body: str, text: str, caption: str) -> None:
    (turn,) = android(tmp_path, body).turns
    assert (turn.text, turn.caption, turn.speaker) == (text, caption, "Maya")


@pytest.mark.parametrize(
    ("body", "text", "caption"),
    [
        (f"{OWN}image omitted", "", "[image]"),
        (f"{OWN}GIF weggelassen", "", "[gif]"),
        (f"{OWN}<attached: 00000012-PHOTO-2023.jpg>", "", "[image 00000012-PHOTO-2023.jpg]"),
        (f"{OWN}<ungekannt: 00000012-AUDIO-2023.opus>", "", "[audio 00000012-AUDIO-2023.opus]"),
        (f"Look {OWN}<attached: 00000012-PHOTO.jpg>", "Look", "[image 00000012-PHOTO.jpg]"),
        (f"plan.pdf • {OWN}3 pages {OWN}document omitted", "", "[file plan.pdf]"),
        (f"Done {OWN}<Eine Sprache, die keiner kennt>", "Done", ""),
        (f"{OWN}POLL:\nWhen?\n{OWN}OPTION: Now ({OWN}1 vote)", "POLL:\nWhen?\nOPTION: Now (1 vote)", ""),
        ("@\u2068Jonas\u2069 hi", "@Jonas hi", ""),
    ],
)
def test_files_and_edits_on_an_iphone(tmp_path: Path, body: str, text: str, caption: str) -> None:
    (turn,) = iphone(tmp_path, body).turns
    assert (turn.text, turn.caption) == (text, caption)


@pytest.mark.parametrize(
    "body",
    [
        "This message was deleted",
        "You deleted this message",
        "Diese Nachricht wurde gelöscht.",
        "Ce message a été supprimé",
        "Se eliminó este mensaje.",
        "Mensagem apagada",
        "このメッセージは削除されました",
        "此訊息已刪除",
    ],
)
def test_deleted_messages_are_left_out_and_counted_nowhere(tmp_path: Path, body: str) -> None:
    read_back = android(tmp_path, "hi", body)
    assert said(read_back) == [("Maya", "hi")]
    assert (read_back.skipped, read_back.warnings) == ((), ())


@pytest.mark.parametrize(
    "line",
    [
        "08/05/2023, 14:30 - Maya added Jonas",
        "08/05/2023, 14:30 - Maya changed the subject from “Trip: Porto” to “Trip”",
        '08/05/2023, 14:30 - Maya created group "Trip: Porto"',
        "08/05/2023, 14:30 - Your security code with Jonas changed. Tap to learn more.",
        f"08/05/2023, 14:30 - {OWN}+49 170 1234567 left",
    ],
)
def test_what_whatsapp_says_is_left_out(tmp_path: Path, line: str) -> None:
    text = f"{HEAD}08/05/2023, 14:00 - Maya: hi\n{line}\n08/05/2023, 14:31 - Maya: bye\n"
    read_back = corpus(tmp_path, "WhatsApp Chat with Maya.txt", text)
    assert said(read_back) == [("Maya", "hi"), ("Maya", "bye")]
    assert read_back.warnings == ()


def test_on_an_iphone_it_speaks_under_a_persons_name(tmp_path: Path) -> None:
    read_back = iphone(tmp_path, "hi", f"{OWN}Maya changed the subject to “Trip”", f"{OWN}Missed voice call")
    assert said(read_back) == [("Maya", "hi")]


def test_a_message_goes_on_until_the_next_stamp(tmp_path: Path) -> None:
    read_back = android(tmp_path, "two:\n- milk\n\n1/2 bread\n12:30 sharp: now", "ok")
    assert [(turn.text, turn.line) for turn in read_back.turns] == [
        ("two:\n- milk\n\n1/2 bread\n12:30 sharp: now", 2),
        ("ok", 7),
    ]


def test_names_lose_their_marks(tmp_path: Path) -> None:
    names = ["~\u202fOle Brandt", "\u202a+49\xa0170\xa01234567\u202c", "Dr. Müller 🚤"]
    lines = [f"[08.05.23, 14:00:00] {name}: hi\n" for name in names]
    read_back = corpus(tmp_path, "_chat.txt", "".join(lines))
    assert [turn.speaker for turn in read_back.turns] == ["Ole Brandt", "+49 170 1234567", "Dr. Müller 🚤"]


def test_an_empty_message_is_counted(tmp_path: Path) -> None:
    read_back = android(tmp_path, "hi", "")
    assert read_back.warnings[0].endswith("1 turn without text left out")


@pytest.mark.parametrize(
    ("archive", "name"),
    [
        ("WhatsApp Chat - Maya Reis.zip", "Maya Reis"),
        ("WhatsApp Chat - Maya Reis (2).zip", "Maya Reis"),
        ("WhatsApp-Chat mit Boot: Team.zip", "Boot: Team"),
        ("export.zip", "export"),
    ],
)
def test_in_an_archive_the_archive_names_the_chat(tmp_path: Path, archive: str, name: str) -> None:
    with zipfile.ZipFile(tmp_path / archive, "w") as file:
        file.writestr("_chat.txt", "[08.05.23, 14:00:00] Maya: hi\n")
        file.writestr("00000012-PHOTO.jpg", b"\x00")
    (turn,) = read([str(tmp_path / archive)]).turns
    assert (turn.conversation, turn.path) == (name, f"{tmp_path / archive}/_chat.txt")


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("WhatsApp Chat with Maya.txt", "Maya"),
        ("Discussion WhatsApp avec Maya.txt", "Maya"),
        ("Chat de WhatsApp con Maya.txt", "Maya"),
        ("Conversa do WhatsApp com Maya.txt", "Maya"),
        ("Chat WhatsApp con Maya.txt", "Maya"),
        ("WhatsApp-chat met Maya.txt", "Maya"),
        ("Чат WhatsApp с Maya.txt", "Maya"),
        ("Maya ile WhatsApp Sohbeti.txt", "Maya"),
        ("WhatsApp 與 Maya 的對話.txt", "Maya"),
        ("Discussion WhatsApp avec Ine\u0300s.txt", "Inès"),  # as macOS writes the letter
        ("anything.txt", "anything"),
    ],
)
def test_the_file_names_the_chat(tmp_path: Path, file: str, name: str) -> None:
    text = f"{HEAD}08/05/2023, 14:00 - Maya: hi\n"
    assert corpus(tmp_path, file, text).turns[0].conversation == name


def test_a_log_with_iso_stamps_is_not_taken(tmp_path: Path) -> None:
    text = "[2023-05-08 13:56:01] worker: started\n[2023-05-08 13:56:02] worker: done\n"
    assert {turn.speaker for turn in corpus(tmp_path, "x.log", text).turns} == {"worker"}
    marked = f"[2023-05-08 13:56:01] Maya: hi\n{OWN}[2023-05-08 13:56:02] Maya: {OWN}image omitted\n"
    assert [turn.caption for turn in corpus(tmp_path, "x.txt", marked).turns] == ["", "[image]"]
