"""Speakers with emoji before their names, and stamps that are no dates or in other scripts' digits."""

from __future__ import annotations

import re

import pytest

from smartsearch.text.times import to_iso
from smartsearch.transcripts.corpus import read_one
from smartsearch.transcripts.filters import Filters, Sieve, facts
from smartsearch.types import Turn
from tests.transcripts.build import corpus, put, said
from tests.transcripts.test_samples import SAMPLES

WRITTEN = re.compile(r"(?:\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:[+-]\d\d:\d\d)?)?)?", re.ASCII)
ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
OURS = SAMPLES.parents[1] / "tests" / "transcripts" / "samples"
EVERY = sorted(path for path in OURS.rglob("*") if path.is_file() and path.suffix != ".zip")
FOX = [("🦊 Fox", "hello"), ("Jonas", "hi"), ("🦊 Fox", "again")]


@pytest.mark.parametrize(
    "chat",
    [
        "🦊 Fox: hello\nJonas: hi\n🦊 Fox: again\n",
        "**🦊 Fox:** hello\n\n**Jonas:** hi\n\n**🦊 Fox:** again\n",
        "[2023-05-08 10:00] 🦊 Fox: hello\n[2023-05-08 10:01] Jonas: hi\n[2023-05-08 10:02] 🦊 Fox: again\n",
        "## 🦊 Fox\nhello\n\n## Jonas\nhi\n\n## 🦊 Fox\nagain\n\n## Jonas\nbye\n",
        "08/05/2023, 10:00 - 🦊 Fox: hello\n08/05/2023, 10:01 - Jonas: hi\n"
        "08/05/2023, 10:02 - 🦊 Fox: again\n",
        "WEBVTT\n\n00:01.000 --> 00:02.000\n🦊 Fox: hello\n\n00:03.000 --> 00:04.000\nJonas: hi\n\n"
        "00:05.000 --> 00:06.000\n🦊 Fox: again\n",
    ],
)
def test_a_speaker_may_begin_with_an_emoji(tmp_path, chat):
    assert said(corpus(tmp_path, "a.vtt" if chat.startswith("WEBVTT") else "a.txt", chat))[:3] == FOX


@pytest.mark.parametrize("name", ["👩‍🚀 Ann", "❤️ Ann", "🇫🇷 Ann", "🦊", "👍🏽 Ann"])
def test_emoji_that_are_joined_are_part_of_the_name(tmp_path, name):
    read_back = corpus(tmp_path, "a.txt", f"{name}: hello\nJonas: hi\n{name}: again\n")
    assert [turn.speaker for turn in read_back.turns] == [name, "Jonas", name]


def test_an_emoji_makes_no_speaker_of_a_label_or_of_what_stands_once(tmp_path):
    chat = "Ann: what now?\nJonas: two ways\n✅ Pros: quick\n❌ Cons: dear\n✅ Pros: near\n🚀 Launch: soon\n"
    assert {turn.speaker for turn in corpus(tmp_path, "a.txt", chat).turns} == {"Ann", "Jonas"}


@pytest.mark.parametrize(
    ("stamp", "time"),
    [
        ("2023-05-08 10:00:00 +0٣:00", "2023-05-08T10:00:00+03:00"),
        ("2023-05-08T10:00:00-٠٣:30", "2023-05-08T10:00:00-03:30"),
        ("٢٠٢٣-٠٥-٠٨ ١٠:٠٠", "2023-05-08T10:00:00"),
        ("2023-99-99", ""),
        ("2023-99-99T10:00:00Z", ""),
        ("2023-05-08 10:00 +²3:00", "2023-05-08T10:00:00"),
    ],
)
def test_digits_of_any_script_are_read_right_or_not_at_all(stamp, time):
    assert to_iso(stamp) in (time, "")


@pytest.mark.parametrize(
    ("name", "line", "time"),
    [
        ("a.log", "2023-99-99 10:00 <maya> hello", ""),
        ("a.log", "2023-05-08 1٠:0٠ <maya> hello", "2023-05-08T10:00:00"),
        ("a.weechatlog", "2023-02-30 10:00:00\tmaya\thello", ""),
        ("a.weechatlog", "2023-05-08 10:0٥:0٧\tmaya\thello", "2023-05-08T10:05:07"),
    ],
)
def test_dates_of_irc_are_those_of_a_calendar(tmp_path, name, line, time):
    row = line.replace("2023-99-99", "2023-05-08").replace("2023-02-30", "2023-05-08")
    read_back = corpus(tmp_path, name, f"{row}\n{line}\n{row}\n")
    assert [turn.time for turn in read_back.turns][1] == time


@pytest.mark.parametrize("path", EVERY, ids=lambda path: str(path.relative_to(OURS)))
@pytest.mark.parametrize("change", ["arabic", "some arabic", "no date"])
def test_every_time_that_any_reader_gives_is_one(tmp_path, path, change):
    text = path.read_text(encoding="utf-8", errors="replace")
    if change == "no date":
        text = re.sub(r"\d(?=[-/.]\d\d[-/.])|(?<=\d[-/])\d\d|\d(?=:\d\d)", "99", text)
    else:
        text = re.sub(
            r"\d" if change == "arabic" else r"(?<=[\d:+-])\d(?!\d)", lambda d: d[0].translate(ARABIC), text
        )
    turns = read_one(str(put(tmp_path, path.name, text)))[0].turns
    assert [turn.time for turn in turns if not WRITTEN.fullmatch(turn.time)] == []


def test_a_time_that_is_none_ends_no_search():
    sieve = Sieve(Filters(since="2023-05-08T00:00:00+00:00"))
    assert not sieve(facts(Turn("x", time="2023-05-08T10:00:00+0٣:00")))
    assert sieve(facts(Turn("x", time="2023-05-08T10:00:00+03:00")))
