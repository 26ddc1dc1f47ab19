"""Chats written by a generator in the layout of every text format: what is read is what was written.

`WRITERS` has a row a layout. A writer is given the turns as the layout can hold them (`fits`: a nick without
blanks, a text on one line) and gives the file's lines, strewn with what is no turn; the format, number,
order, speakers, times, texts, sessions and ids must come back. A new text format is a function and a row.

`SMARTSEARCH_FUZZ=2000 pytest tests/transcripts/test_written.py` writes three times as many chats a layout.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, timezone
from email.message import EmailMessage
from email.utils import format_datetime
from html import escape
from io import StringIO
from itertools import groupby
from pathlib import Path
from random import Random

import pytest

from smartsearch.transcripts import FORMATS
from smartsearch.transcripts.corpus import read_one
from smartsearch.types import Turn
from tests.conftest import FUZZ

CHATS = FUZZ // 2 + 1 if FUZZ < 100 else 3 * FUZZ
"""Of each layout; `make test-all` sets SMARTSEARCH_FUZZ to 100."""
NAMES = ("Maya Reis", "Jonas", "Dr. Okoro", "Zoë", "田中", "Ана Петрова", "O'Neil", "Ana-Lena K.", "ليلى")
WRITTEN = """
the varnish has come three tins and a brush on Saturday maybe later well-known I'm don't naïve Straße кисть
港 傘を忘れました 민수 مفتاح ok 3 42 10% €5 #12 @ole C:\\temp a/b/c x=y f(x) <3 :) ;-) ... ?! “so” "said" 'it'
*bold* _it_ `code` ~half~ & && | [sic] (yes) {a:1} 😀 👩‍🚀 ❤️ 🇫🇷 👍🏽 e.g. Ole: 10:30 2023 null None
-> <b>x</b> &amp; %20 \\n $HOME £3.50 ½ × “ ’ ¿qué? ñ ﷺ Ω ⅷ
"""
WORDS = WRITTEN.split()
INSIDE = (
    *("at 8/5/2023, 13:56", "since [18:40]", "by 2023-05-08", "a Note: dry", "says Maya Reis: no", "re: it"),
    *("https://example.org/a?b=c:d#e", "00:00:01.000 --> 00:00:02.000 it says", "a | b | c", "<Jonas> hi"),
    *("(13:56)", "- 13:57 - Jonas: so", "**Jonas:** or", "[link](https://example.org)", "* waves", "--"),
)
FIRST = ("Hm", "And", "Well then", "yes", "Нет", "港の", "“No”", "3 tins", "10:30 is fine", "2023 was", "😀")
BELOW = ("- tins", "* brush", "1. varnish", "> then", "    indented", "Note: dry", "(so)", "From Ole", "# 1")
SHORT = (".", "?", "k", "👍", "-", "0", "ok", "♥", "…", "no: no", ":)", "n/a", "null", "None", "[]")


@dataclass(frozen=True)
class Said:
    """A turn before it is written."""

    speaker: str
    time: datetime
    text: str
    session: str = ""
    id: str = ""


Chat = Sequence[Said]
Lines = Iterator[str]


def chat(chance: Random) -> Chat:
    """Some days in order of time: two to six people, texts of a sign, of some lines, and long ones."""
    people = chance.sample(NAMES, chance.randint(2, 6))
    time = datetime(2023, chance.randint(1, 12), chance.randint(1, 28), chance.randint(0, 23), 56, 1)
    said = []
    for n in range(chance.randint(4, 40)):
        who = people[n % 2] if n < 4 else chance.choice(people)
        said.append(Said(who, time, text(chance)))
        time += timedelta(minutes=chance.choice((0, 1, 3, 50, 1_000, 9_000)), seconds=chance.randint(1, 59))
    return said


def text(chance: Random) -> str:
    if chance.random() < 0.15:
        return chance.choice(SHORT)
    lines = [" ".join([chance.choice(FIRST), *words(chance)])]
    for _ in range(chance.choice((0, 0, 0, 1, 2, 5))):
        lines += [""] * (chance.random() < 0.2)
        lines.append(" ".join([chance.choice((*FIRST, *BELOW)), *words(chance)]))
    return "\n".join(lines)


def words(chance: Random) -> list[str]:
    count = 500 if chance.random() < 0.02 else chance.randint(1, 12)
    return [chance.choice(INSIDE if chance.random() < 0.1 else WORDS) for _ in range(count)]


def by_day(said: Chat) -> Iterator[tuple[date, Chat]]:
    return ((day, list(together)) for day, together in groupby(said, lambda one: one.time.date()))


# What layouts can hold.


def as_it_is(said: Chat) -> Chat:
    return said


def on_one_line(said: Chat) -> Chat:
    return [replace(one, text=" ".join(one.text.split())) for one in said]


def nicks(said: Chat) -> Chat:
    return [replace(one, speaker=one.speaker.replace(" ", "_")) for one in on_one_line(said)]


def of_one_day(said: Chat) -> Chat:
    start = said[0].time.replace(hour=1)
    return [replace(one, time=start + timedelta(minutes=n)) for n, one in enumerate(nicks(said))]


def in_sessions(said: Chat) -> Chat:
    """Days are sessions; a line below that begins with a clock or a name would be anybody's turn."""
    begins = r"10:30|(?!Note)[^:]{1,40}:(\s|$)"
    return [replace(s, text=below(s.text, begins), session=f"{s.time:%Y-%m-%d}") for s in said]


def of_two(said: Chat) -> Chat:
    """A name in a heading is a speaker's where it recurs."""
    first, second = said[0].speaker, said[1].speaker
    return [replace(s, speaker=s.speaker if s.speaker == first else second) for s in in_sessions(said)]


def between(first: str, second: str) -> Callable[[Chat], Chat]:
    """An assistant's chat: by turns."""
    return lambda said: [replace(s, speaker=(first, second)[n % 2]) for n, s in enumerate(said)]


def in_days(first: str, second: str) -> Callable[[Chat], Chat]:
    return lambda said: in_sessions(between(first, second)(said))


def of_runs(said: Chat) -> Chat:
    """A day is a run of the program, called by the time it started."""
    roles = between("user", "assistant")(said)
    days = [(f"{together[0].time:%Y-%m-%d %H:%M:%S}", together) for _, together in by_day(roles)]
    return [replace(one, session=start) for start, together in days for one in together]


def below(written: str, begins: str) -> str:
    """A text without the lines below its first that begin so."""
    first, *rest = written.split("\n")
    return "\n".join([first, *(line for line in rest if not re.match(begins, line))]).rstrip()


def spoken(said: Chat) -> Chat:
    """Sentences, none twice, for others go on with the turn above; `id` is the place in the recording."""
    said = [next(same) for _, same in groupby(said, lambda one: (one.speaker, one.text))]
    since = [int((one.time - said[0].time).total_seconds()) for one in said]
    places = [f"{at // 3600:02}:{at // 60 % 60:02}:{at % 60:02}" for at in since]
    return [replace(s, text=f"{s.text}.", id=place) for s, place in zip(on_one_line(said), places)]


def in_pairs(said: Chat) -> Chat:
    """A prompt and its answer at one time; days are sessions, and HTML keeps no blanks before a line."""
    asked = zip(said[::2], said[1::2])
    pairs = [(replace(a, speaker="user"), replace(b, speaker="assistant", time=a.time)) for a, b in asked]
    lines = [(one, filter(None, map(str.strip, one.text.split("\n")))) for pair in pairs for one in pair]
    return [replace(one, text="\n".join(kept), session=f"{one.time:%Y-%m-%d}") for one, kept in lines]


def numbered(said: Chat) -> Chat:
    return [replace(one, id=str(n)) for n, one in enumerate(said, 101)]


def of_owner(said: Chat) -> Chat:
    return [replace(one, speaker="") for one in numbered(said)]


def with_me(said: Chat) -> Chat:
    own = said[0].speaker
    return [replace(one, speaker="You sent" if one.speaker == own else one.speaker) for one in said]


def of_a_meeting(said: Chat) -> Chat:
    start = said[0].time.replace(hour=1)
    return [replace(one, time=start + timedelta(minutes=n)) for n, one in enumerate(said)]


def alone(said: Chat) -> Chat:
    return mailed(said)[:1]


def without_tags(said: Chat) -> Chat:
    return [replace(s, text=re.sub(r"</?[A-Za-z]+>|&amp;", "tag", s.text)) for s in spoken(said)]


def mailed(said: Chat) -> Chat:
    """What is quoted is not its author's."""
    own = [re.sub(r"\n{3,}", "\n\n", below(s.text, ">")) for s in said]
    return [replace(s, text=text, id=f"m{n}@example.org") for n, (s, text) in enumerate(zip(said, own))]


# The writers.

ANDROID = (
    *("{0:%d/%m/%Y, %H:%M}", "{0:%d.%m.%y, %H:%M}", "{0:%d-%m-%Y %H:%M}", "{0:%Y/%m/%d %H:%M}"),
    *("{0:%d/%m/%Y à %H:%M}", "{0.month}/{0.day}/{0:%y}, {h}:{0:%M %p}", "{0.day}/{0.month}/{0:%Y %H:%M}"),
)
IPHONE = (
    *("{0:%d.%m.%y, %H:%M:%S}", "{0.month}/{0.day}/{0:%y}, {h}:{0:%M:%S\u202f%p}", "{0:%Y-%m-%d, %H:%M:%S}"),
    "{0:%d/%m/%Y, %H:%M:%S}",
)
BROWSER = ("{0.month}/{0.day}/{0:%Y}, {h}:{0:%M:%S %p}", "{0:%d/%m/%Y, %H:%M:%S}", "{0:%d.%m.%Y, %H:%M:%S}")


def at(time: datetime, stamp: str) -> str:
    return stamp.format(time, h=time.hour % 12 or 12)


def whatsapp_android(said: Chat, chance: Random) -> Lines:
    stamp = chance.choice(ANDROID)
    yield f"{at(said[0].time, stamp)} - Messages and calls are end-to-end encrypted. Tap to learn more."
    for one in said:
        if chance.random() < 0.1:
            yield f'{at(one.time, stamp)} - Ole changed the subject from "A: b" to "Tins: 3"'
            yield f"{at(one.time, stamp)} - Ole: This message was deleted"
        yield f"{at(one.time, stamp)} - {one.speaker}: {one.text}"


def whatsapp_iphone(said: Chat, chance: Random) -> Lines:
    stamp = chance.choice(IPHONE)
    yield f"\u200e[{at(said[0].time, stamp)}] {said[0].speaker}: \u200eMessages are end-to-end encrypted."
    for one in said:
        if chance.random() < 0.1:
            yield f"\u200e[{at(one.time, stamp)}] {one.speaker}: \u200eMissed voice call"
        stranger = "~\u202f" if chance.random() < 0.1 else ""
        yield f"[{at(one.time, stamp)}] {stranger}{one.speaker}: {one.text}"


def element(said: Chat, chance: Random) -> Lines:
    stamp = chance.choice(BROWSER)
    for one in said:
        if chance.random() < 0.1:
            yield f"{at(one.time, stamp)} - Ole joined the room"
        quoted = f'<@ole:example.org "{chance.choice(WORDS)}"> ' if chance.random() < 0.2 else ""
        yield f"{at(one.time, stamp)} - {one.speaker}: {quoted}{one.text}"


def messenger_window(said: Chat, chance: Random) -> Lines:
    yield ", ".join({one.speaker: "" for one in said if one.speaker != "You sent"})
    for one in said:
        yield f"{one.time:%B %d, %Y at %H:%M:%S}"
        yield from (one.speaker, one.text)
        yield from ["Enter"] * (chance.random() < 0.5)


def irssi(said: Chat, chance: Random) -> Lines:
    yield f"--- Log opened {said[0].time:%a %b %d %H:%M:%S %Y}"
    for day, together in by_day(said):
        if day != said[0].time.date():
            yield f"--- Day changed {day:%a %b %d %Y}"
        for one in together:
            if chance.random() < 0.1:
                yield f"{one.time:%H:%M} -!- ole [~ole@203.0.113.9] has joined #boatshed"
            nick = chance.choice(("<@{}>", "< {}>", "<+{}>", " * {}")).format(one.speaker)
            yield f"{one.time:%H:%M} {nick} {one.text}"


def weechat(said: Chat, chance: Random) -> Lines:
    for one in said:
        if chance.random() < 0.1:
            yield f"{one.time:%Y-%m-%d %H:%M:%S}\t-->\tole (~ole@203.0.113.9) has joined #boatshed"
        nick = chance.choice(("{}\t", "@{}\t", "+{}\t", " *\t{} ")).format(one.speaker)
        yield f"{one.time:%Y-%m-%d %H:%M:%S}\t{nick}{one.text}"


def znc(said: Chat, chance: Random) -> Lines:
    for one in said:
        if chance.random() < 0.1:
            yield f"[{one.time:%H:%M:%S}] *** Joins: ole (~ole@203.0.113.9)"
        nick = (chance.choice(("<{}>", "* {}")) if one in said[2:] else "<{}>").format(one.speaker)
        yield f"[{one.time:%H:%M:%S}] {nick} {one.text}"


def hexchat(said: Chat, chance: Random) -> Lines:
    yield f"**** BEGIN LOGGING AT {said[0].time:%a %b %d %H:%M:%S %Y}"
    yield ""
    for one in said:
        if chance.random() < 0.1:
            yield f"{one.time:%b %d %H:%M:%S} *\tole (~ole@203.0.113.9) has joined"
        nick = chance.choice(("<{}>\t", "<{}>\t", "*\t{} ")).format(one.speaker)
        yield f"{one.time:%b %d %H:%M:%S} {nick}{one.text}"


def mirc(said: Chat, chance: Random) -> Lines:
    yield f"Session Start: {said[0].time:%a %b %d %H:%M:%S %Y}"
    yield "Session Ident: #boatshed"
    for day, together in by_day(said):
        if day != said[0].time.date():
            yield f"Session Time: {day:%a %b %d} 00:00:00 {day:%Y}"
        for one in together:
            if chance.random() < 0.1:
                yield f"03[{one.time:%H:%M}] * ole (~ole@203.0.113.9) has joined #boatshed"
            nick = chance.choice(("<@{}>", "<{}>", "* {}")).format(one.speaker)
            yield f"[{one.time:%H:%M}] {nick} {one.text}"


def bot(stamp: str, *signs: str, joined: str) -> Callable[[Chat, Random], Lines]:
    """A log with stamps of this form before nicks with these signs."""

    def write(said: Chat, chance: Random) -> Lines:
        for n, one in enumerate(said):
            if chance.random() < 0.1:
                yield f"{one.time.strftime(stamp)}{joined}"
            nick = (chance.choice(signs) if n > 1 else signs[0]).format(one.speaker)
            yield f"{one.time.strftime(stamp)}{nick} {one.text}"

    return write


def eggdrop(said: Chat, chance: Random) -> Lines:
    for day, together in by_day(said):
        yield f"[00:00] --- {day:%a %b} {day.day:2} {day:%Y}"
        for one in together:
            if chance.random() < 0.1:
                yield f"[{one.time:%H:%M}] ole (~ole@203.0.113.9) joined #boatshed."
            yield f"[{one.time:%H:%M}] {chance.choice(('<{}>', 'Action: {}')).format(one.speaker)} {one.text}"


def zoom(said: Chat, chance: Random) -> Lines:
    older = chance.random() < 0.5
    for one in said:
        begin = f"{one.time:%H:%M:%S}\t From  {one.speaker}  to  Everyone"
        if chance.random() < 0.1:
            yield f"{begin} : " + 'Reacted to "the varnish..." with 👍'
        yield f"{begin} : {one.text}" if older else f"{begin}:\n\t" + one.text.replace("\n", "\n\t")


KAKAO = ("{0:%Y}년 {0.month}월 {0.day}일 {half} {h}:{0:%M}", "{0:%Y}. {0.month}. {0.day}. {half} {h}:{0:%M}")


def korean(time: datetime, stamp: str) -> str:
    return stamp.format(time, h=time.hour % 12 or 12, half="오후" if time.hour > 11 else "오전")


def kakao_phone(said: Chat, chance: Random) -> Lines:
    stamp = chance.choice(
        (*KAKAO, "{0:%B} {0.day}, {0:%Y}, {h}:{0:%M %p}", "{0:%Y}. {0.month}. {0.day}. {0:%H:%M}")
    )
    yield from ("Boat 님과 카카오톡 대화", "저장한 날짜 : 2024년 5월 10일 오전 9:00", "")
    for day, together in by_day(said):
        yield f"\n{day.year}년 {day.month}월 {day.day}일 월요일"
        for one in together:
            if chance.random() < 0.1:
                yield f"{korean(one.time, stamp)}, 올레님이 들어왔습니다."
            yield f"{korean(one.time, stamp)}, {one.speaker} : {one.text}"


def kakao_windows(said: Chat, chance: Random) -> Lines:
    stamp = chance.choice(("{half} {h}:{0:%M}", "{h}:{0:%M %p}"))
    yield from ("Boat 님과 카카오톡 대화", "저장한 날짜 : 2024-05-10 09:00:01", "")
    for day, together in by_day(said):
        yield f"--------------- {day.year}년 {day.month}월 {day.day}일 월요일 ---------------"
        for one in together:
            yield from ["올레님이 나갔습니다."] * (chance.random() < 0.1)
            yield f"[{one.speaker}] [{korean(one.time, stamp)}] {one.text}"


def kakao_mac(said: Chat, chance: Random) -> Lines:
    yield "Date,User,Message"
    for one in said:
        quoted = one.text.replace('"', '""')
        yield f'{one.time:%Y-%m-%d %H:%M:%S},"{one.speaker}","{quoted}"'


def line(said: Chat, chance: Random) -> Lines:
    stamp = chance.choice(("{0.hour}:{0:%M}", "{h:02}:{0:%M%p}"))
    day_stamp = chance.choice(("{0:%Y/%m/%d}(月)", "{0:%Y.%m.%d} Monday", "{0:%a, %m/%d/%Y}"))
    yield from ("[LINE] 舟小屋のトーク履歴", "保存日時：2024/05/10 09:00", "")
    for day, together in by_day(said):
        yield day_stamp.format(day)
        for one in together:
            if chance.random() < 0.1:
                yield f"{at(one.time, stamp)}\tオレがグループに参加しました。"
            text = f'"{one.text}"' if "\n" in one.text else one.text
            yield f"{at(one.time, stamp)}\t{one.speaker}\t{text}"
        yield ""


def otter(said: Chat, chance: Random) -> Lines:
    for one in said:
        yield f"{one.speaker}  {re.sub('^00?:?', '', one.id)}  \n{one.text}\n"
    yield "Transcribed by https://otter.ai"


def sms_backup(said: Chat, chance: Random) -> Lines:
    yield '<?xml version="1.0" encoding="UTF-8" standalone="yes" ?>\n<smses count="1">'
    for one in chance.sample(said, len(said)):
        time = int(one.time.replace(tzinfo=timezone.utc).timestamp() * 1000)
        body = escape(one.text).replace("\n", "&#10;")
        if chance.random() < 0.5:  # as the app writes emoji
            pairs = body.encode("utf-16-be", "surrogatepass")
            units = (int.from_bytes(pairs[n : n + 2], "big") for n in range(0, len(pairs), 2))
            body = "".join(f"&#{unit};" if 0xD800 <= unit < 0xE000 else chr(unit) for unit in units)
        name = escape(one.speaker)
        yield f'  <sms address="{name}" date="{time}" type="1" body="{body}" contact_name="{name}" />'
    yield "</smses>"


def imessage(said: Chat, chance: Random) -> Lines:
    for one in said:
        time = at(one.time, "{0:%b %d, %Y} {h:2}:{0:%M:%S %p}")
        if chance.random() < 0.1:
            yield from (f"{time} You named the conversation A", "")
        yield time + chance.choice(("", "", " (Read by you after 2 minutes, 4 seconds)"))
        yield from (one.speaker, one.text)
        yield from ("Tapbacks:", "    Loved by Me") if chance.random() < 0.1 else ()
        yield ""


def signal_text(said: Chat, chance: Random) -> Lines:
    for one in said:
        if chance.random() < 0.1:
            yield f"[{one.time:%b %d, %Y %H:%M:%S}] *** Missed voice call"
        yield f"[{one.time:%b %d, %Y %H:%M:%S}] <{one.speaker}> {one.text}"


def signal_markdown(said: Chat, chance: Random) -> Lines:
    for one in said:
        quoted = f"\n\n> {chance.choice(WORDS)}\n\n" if chance.random() < 0.1 else ""
        yield f"[{one.time:%Y-%m-%d %H:%M:%S}] {one.speaker}: {quoted}{one.text}  "
        yield from ["(- Ole: 👍 -)  "] * (chance.random() < 0.1)


def timing(one: Said, mark: str) -> str:
    return f"{one.id}{mark}000 --> {one.id}{mark}999"


def broken(written: str, chance: Random) -> str:
    """A cue's text on two lines."""
    parts = written.split(" ")
    middle = chance.randint(0, len(parts) - 1)
    return "\n".join(filter(None, (" ".join(parts[:middle]), " ".join(parts[middle:]))))


def vtt(said: Chat, chance: Random) -> Lines:
    yield from ("WEBVTT", "", 'NOTE duration:"00:03:10.0000000"', "")
    for n, one in enumerate(said):
        yield from [f"3f1c0a52/{n}-0"] * (chance.random() < 0.5)
        yield timing(one, ".")
        yield f"<v {one.speaker}>{broken(escape(one.text, quote=False), chance)}</v>"
        yield ""


def srt(said: Chat, chance: Random) -> Lines:
    for n, one in enumerate(said, 1):
        yield from (str(n), timing(one, ","), f"{one.speaker}: {one.text}", "")


def ass(said: Chat, chance: Random) -> Lines:
    yield from ("[Script Info]", "; Script generated by Aegisub", "", "[Events]")
    yield "Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text"
    for one in said:
        yield from ["Comment: 0,0:00:00.00,0:00:00.00,Default,,0,0,0,,check"] * (chance.random() < 0.1)
        yield f"Dialogue: 0,{one.id}.10,{one.id}.99,Default,{one.speaker},0,0,0,,{{\\i1}}{one.text}"


def mbox(said: Chat, chance: Random) -> Lines:
    """A thread a day; the answers of one stand in any order."""
    for _, (first, *answers) in by_day(said):
        yield mail(first, first, chance)
        yield from (mail(one, first, chance) for one in chance.sample(answers, len(answers)))


def eml(said: Chat, chance: Random) -> Lines:
    yield re.sub(r"^>(?=>*From )", "", mail(said[0], said[0], chance).split("\n", 1)[1], flags=re.M)


def sbv(said: Chat, chance: Random) -> Lines:
    for one in said:
        yield from (f"{one.id}.000,{one.id}.999", f"{one.speaker}: {one.text}", "")


def mail(one: Said, first: Said, chance: Random) -> str:
    message = EmailMessage()
    message["From"] = f'"{one.speaker}" <{one.id}>'
    message["Date"] = format_datetime(one.time).replace("-0000", "+0200")
    message["Subject"] = "Varnish" if one is first else "Re: Varnish"
    message["Message-ID"] = f"<{one.id}>"
    if one is not first:
        message["References"] = f"<{first.id}>"
    encoding = chance.choice(("8bit", "quoted-printable", "base64"))
    message.set_content(one.text, cte=encoding)
    body = re.sub(r"^(?=>*From )", ">", message.as_bytes().decode(), flags=re.M)
    return f"From {one.id} {one.time:%a %b %d %H:%M:%S %Y}\n{body}\n"


def aider(said: Chat, chance: Random) -> Lines:
    for start, together in groupby(said, lambda one: one.session):
        yield from ("", f"# aider chat started at {start}", "")
        for one in together:
            if one.speaker == "user":
                yield from ["", *(f"#### {line}  " for line in one.text.split("\n"))]
            else:
                yield from ("", one.text, "")


def specstory(said: Chat, chance: Random) -> Lines:
    yield from ("<!-- Generated by SpecStory, Markdown v2.1.0 -->", "", "# 2023-05-08 13:56:01Z", "")
    for one in said:
        who = "User (" if one.speaker == "user" else chance.choice(("Agent (gpt-5 ", "Agent - sidechain ("))
        yield from (f"_**{who}{one.time:%Y-%m-%d %H:%M:%SZ})**_", "")
        yield from ["<think><details>", "hm", "</details></think>", ""] * (chance.random() < 0.1)
        yield from (one.text, "", *["---", ""] * (chance.random() < 0.5))


def claude_code_export(said: Chat, chance: Random) -> Lines:
    prompt, answer = chance.choice(("❯⏺", "❯●", ">⏺"))
    yield from (" ▐▛███▜▌   Claude Code v2.1.40", "▝▜█████▛▘  ~/boat", "") if chance.random() < 0.5 else ()
    for one in said:
        sign, width = (prompt, 80) if one.speaker == "user" else (answer, 0)
        first, *rest = one.text.split("\n")
        yield f"{sign} {first:{width}}"
        yield from (f"  {line}".ljust(width) if line or width else "" for line in rest)
        yield from ("", *["✻ Brewed for 23s", ""] * (not width and chance.random() < 0.2))


def obsidian(said: Chat, chance: Random) -> Lines:
    yield from ("# Boat", "")
    for one in said:
        yield from (f"## {one.speaker}", "", "> [!metadata]- Message Info")
        yield from (f"> | Time | {one.time:%Y-%m-%dT%H:%M:%S} |", "")
        yield f"> [!{'user' if one.speaker == 'Maya' else 'assistant'}]+"
        yield from (f"> {line}".rstrip() for line in one.text.split("\n"))
        yield from ("", "--- ")


def chatml(said: Chat, chance: Random) -> Lines:
    for one in said:
        yield f"<|im_start|>{one.speaker}"
        yield f"{one.text}<|im_end|>"


def telegram_html(said: Chat, chance: Random) -> Lines:
    yield "<!DOCTYPE html>\n<html><head><title>Exported Data</title></head><body>"
    last = ""
    for one in said:
        if chance.random() < 0.1:
            last = ""
            yield f'<div class="message service" id="message-1"><div class="body">{one.time:%d}</div></div>'
        joined = " joined" if last == one.speaker else ""
        yield f'<div class="message default clearfix{joined}" id="message{one.id}">\n<div class="body">'
        time = f"{one.time:%d.%m.%Y %H:%M:%S} UTC+02:00"
        yield f'<div class="pull_right date details" title="{time}">\nx\n</div>'
        yield from [] if joined else [f'<div class="from_name">\n{escape(one.speaker)}\n</div>']
        yield f'<div class="text">\n{escape(one.text).replace(chr(10), "<br>")}\n</div>\n</div>\n</div>'
        last = one.speaker


def gemini_html(said: Chat, chance: Random) -> Lines:
    """The latest pair of turns first."""
    yield "<html><body>"
    zone = chance.choice(("CEST", "PST", "MEZ"))
    for asked, answer in reversed(list(zip(said[::2], said[1::2]))):
        yield '<div class="outer-cell mdl-cell"><p class="mdl-typography--title">Gemini Apps<br></p>'
        yield f'<div class="content-cell mdl-typography--body-1">Prompted&nbsp;{escape(asked.text)}<br>'
        yield at(asked.time, "{0:%b %d, %Y}, {h}:{0:%M:%S}&#8239;{0:%p} ") + zone + "<br>"
        yield f"<p>{escape(answer.text).replace(chr(10), '<br>')}</p></div></div>"


def table(columns: Sequence[str], rows: Iterator[Sequence[str]], mark: str = ",") -> Lines:
    written = StringIO()
    csv.writer(written, delimiter=mark, lineterminator="\n").writerows([columns, *rows])
    yield written.getvalue()


def linkedin(said: Chat, chance: Random) -> Lines:
    """Latest first, as LinkedIn writes them."""
    columns = ("CONVERSATION ID", "CONVERSATION TITLE", "FROM", "TO", "DATE", "SUBJECT", "CONTENT", "FOLDER")
    when = ((one, f"{one.time:%Y-%m-%d %H:%M:%S} UTC") for one in reversed(said))
    return table(
        columns, (("2-a", "", one.speaker, "Ole", time, "", one.text, "INBOX") for one, time in when)
    )


def ordinary(mark: str) -> Callable[[Chat, Random], Lines]:
    """A table with columns that people name themselves."""

    def write(said: Chat, chance: Random) -> Lines:
        head = chance.choice(
            (("Time", "Sender", "Message"), ("created_at", "user", "text"), ("ts", "From", "body"))
        )
        rows = ((one.time.isoformat(), one.speaker, one.text) for one in said)
        return table(head, rows, mark)

    return write


def discord_csv(said: Chat, chance: Random) -> Lines:
    rows = ((one.id, f"{one.time:%Y-%m-%d %H:%M:%S}", one.text, "") for one in reversed(said))
    return table(("ID", "Timestamp", "Contents", "Attachments"), rows)


def styled(form: str) -> Callable[[Chat, Random], Lines]:
    """A chat of days with a line a date, and lines of turns in this form."""

    def write(said: Chat, chance: Random) -> Lines:
        for day, together in by_day(said):
            yield chance.choice(("--- {0:%d %B %Y} ---", "# {0:%Y-%m-%d}", "\n{0:%Y-%m-%d}\n")).format(day)
            for one in together:
                yield form.format(one.time, name=one.speaker, text=one.text)

    return write


@dataclass(frozen=True)
class Writer:
    """A layout: its format and name, the file's name and how times come back, both for `strftime`."""

    layout: str
    file: str
    write: Callable[[Chat, Random], Lines]
    fits: Callable[[Chat], Chat] = as_it_is
    time: str = "%Y-%m-%dT%H:%M:%S"

    def __str__(self) -> str:
        return self.layout


MINUTES = "%Y-%m-%dT%H:%M:00"
WRITERS = (
    Writer("whatsapp: Android", "WhatsApp Chat with Maya.txt", whatsapp_android, time=MINUTES),
    Writer("whatsapp: iPhone", "WhatsApp Chat - Maya/_chat.txt", whatsapp_iphone),
    Writer("element", "matrix - Boat Shed - Chat Export - 2024-01-01T09-00-00.000Z.txt", element),
    Writer("messenger-window", "chat.txt", messenger_window, with_me),
    Writer("irc: irssi", "#boatshed.log", irssi, nicks, MINUTES),
    Writer("irc: WeeChat", "irc.libera.#boatshed.weechatlog", weechat, nicks),
    Writer("irc: ZNC", "#boatshed/%Y-%m-%d.log", znc, of_one_day),
    Writer("irc: HexChat", "Libera-#boatshed.log", hexchat, nicks),
    Writer("irc: mIRC", "#boatshed.log", mirc, nicks, MINUTES),
    Writer(
        "irc: Limnoria",
        "#boatshed.log",
        bot("%Y-%m-%dT%H:%M:%S+0200  ", "<{}>", "* {}", joined="*** ole has joined #boatshed"),
        nicks,
        "%Y-%m-%dT%H:%M:%S+02:00",
    ),
    Writer(
        "irc: The Lounge",
        "#boatshed.log",
        bot("[%Y-%m-%dT%H:%M:%S.250Z] ", "<{}>", "<@{}>", "* {}", joined="*** ole (~ole@203.0.113.9) joined"),
        nicks,
        "%Y-%m-%dT%H:%M:%S+00:00",
    ),
    Writer(
        "irc: IRCCloud",
        "#boatshed.txt",
        bot("[%Y-%m-%d %H:%M:%S] ", "<{}>", "<@{}>", "— {}", joined="→ ole joined (~ole@203.0.113.9)"),
        nicks,
    ),
    Writer("irc: eggdrop", "#boatshed.log", eggdrop, nicks, MINUTES),
    Writer("zoom", "%Y-%m-%d 10.00.00 Boat Shed 123456789/meeting_saved_chat.txt", zoom, of_a_meeting),
    Writer("kakaotalk: phone", "KakaoTalkChats.txt", kakao_phone, time=MINUTES),
    Writer("kakaotalk: Windows", "KakaoTalk_group.txt", kakao_windows, time=MINUTES),
    Writer("kakaotalk: Mac", "KakaoTalk_Chat_Boat_2024-05-10-09-00-01.csv", kakao_mac),
    Writer("line", "[LINE] 舟小屋.txt", line, time=MINUTES),
    Writer("chat: Otter", "weekly_otter_ai.txt", otter, spoken, ""),
    Writer("sms-backup", "sms-20240510090001.xml", sms_backup, time="%Y-%m-%dT%H:%M:%S+00:00"),
    Writer("subtitles: ass", "weekly.ass", ass, without_tags, ""),
    Writer("subtitles: sbv", "weekly.sbv", sbv, without_tags, ""),
    Writer("mbox: one", "Varnish.eml", eml, alone, "%Y-%m-%dT%H:%M:%S+02:00"),
    Writer("imessage", "+15555550142.txt", imessage),
    Writer("signal-text: Android", "Maya Reis (_id12).txt", signal_text),
    Writer("signal-text: Desktop", "Maya Reis/chat.md", signal_markdown),
    Writer("subtitles: WebVTT", "weekly.vtt", vtt, spoken, ""),
    Writer("subtitles: SubRip", "weekly.srt", srt, without_tags, ""),
    Writer("mbox", "Inbox.mbox", mbox, mailed, "%Y-%m-%dT%H:%M:%S+02:00"),
    Writer("telegram-html", "messages.html", telegram_html, numbered, "%Y-%m-%dT%H:%M:%S+02:00"),
    Writer("gemini-html", "MyActivity.html", gemini_html, in_pairs),
    Writer("linkedin", "messages.csv", linkedin, time="%Y-%m-%dT%H:%M:%S+00:00"),
    Writer("table: commas", "boat.csv", ordinary(",")),
    Writer("table: semicolons", "boat.csv", ordinary(";")),
    Writer("table: tabs", "boat.tsv", ordinary("\t")),
    Writer("discord-csv", "c1/messages.csv", discord_csv, of_owner),
    Writer("chat: plain", "flat.txt", styled("{name}: {text}"), in_sessions, "%Y-%m-%d"),
    Writer("chat: clock", "flat.txt", styled("[{0:%H:%M}] {name}: {text}"), in_sessions, MINUTES),
    Writer("chat: stamp", "flat.md", styled("[{0:%Y-%m-%d %H:%M:%S}] {name}: {text}"), in_sessions),
    Writer("chat: dash", "flat.txt", styled("{0:%H:%M:%S} - {name}: {text}"), in_sessions),
    Writer("chat: behind", "flat.txt", styled("{name} [{0:%H:%M}]: {text}"), in_sessions, MINUTES),
    Writer("chat: bold", "flat.md", styled("**{name}:** {text}\n"), in_sessions, "%Y-%m-%d"),
    Writer("chat: bold, timed", "flat.md", styled("**{name}** ({0:%H:%M}): {text}\n"), in_sessions, MINUTES),
    Writer("chat: headings", "flat.md", styled("## {name}\n\n{text}\n"), of_two, "%Y-%m-%d"),
    Writer("chat: headings, timed", "flat.md", styled("## {name} ({0:%H:%M})\n{text}\n"), of_two, MINUTES),
    Writer("chat: roles", "a.md", styled("## 👤 {name}\n\n{text}\n"), in_days("User", "Claude"), "%Y-%m-%d"),
    Writer(
        "chat: alone", "a.md", styled("---\n\n**{name}**\n\n{text}\n"), in_days("User", "Cursor"), "%Y-%m-%d"
    ),
    Writer("chat: said", "a.txt", styled("{name} said:\n{text}\n"), in_days("You", "ChatGPT"), "%Y-%m-%d"),
    Writer(
        "chat: time below",
        "a.md",
        styled("## {name}\n_Timestamp: {0:%Y-%m-%d %H:%M:%S}_\n\n{text}\n"),
        in_days("user", "assistant"),
    ),
    Writer("aider", ".aider.chat.history.md", aider, of_runs, "%Y-%m-%d"),
    Writer("specstory", "boat.md", specstory, between("user", "assistant"), "%Y-%m-%dT%H:%M:%S+00:00"),
    Writer("claude-code-export", "boat.txt", claude_code_export, between("user", "assistant"), ""),
    Writer("prompts", "boat.txt", chatml, between("user", "assistant"), ""),
    Writer("obsidian", "boat.md", obsidian, between("Maya", "Model")),
)


@pytest.mark.parametrize("writer", WRITERS, ids=str)
def test_what_is_read_is_what_was_written(writer: Writer, tmp_path: Path) -> None:
    for n in range(CHATS):
        chance = Random(f"{writer} {n}")
        said = writer.fits(chat(chance))
        path = tmp_path / str(n) / said[0].time.strftime(writer.file)
        path.parent.mkdir(parents=True)
        written = "\n".join(writer.write(said, chance)) + "\n"
        ending = chance.choice(("\n", "\r\n"))
        path.write_text(written, encoding=chance.choice(("utf-8", "utf-8-sig")), newline=ending)
        found, known = read_one(str(path))
        assert (known and known.name, found.skipped, found.warnings) == (writer.layout.split(":")[0], (), ())
        assert list(map(as_read, found.turns)) == [as_written(one, writer.time) for one in said], path
        lines = written.split("\n")
        assert [turn.line for turn in found.turns if not 0 < turn.line <= len(lines)] == []


def as_read(turn: Turn) -> tuple[str, ...]:
    return (turn.speaker, turn.time, turn.text, turn.session, turn.turn)


def as_written(one: Said, time: str) -> tuple[str, ...]:
    return (one.speaker, one.time.strftime(time), one.text, one.session, one.id)


WITHOUT = {"prose", "html", "html-extras", "twitter"}
"""Of no layout, without turns, or JSON behind an assignment."""


def test_every_text_format_has_a_writer() -> None:
    texts = {known.name for known in FORMATS if not known.is_json} - WITHOUT
    assert {writer.layout.split(":")[0] for writer in WRITERS} == texts
