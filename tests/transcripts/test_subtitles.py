"""Subtitles: cues to turns, speakers, and places in the recording."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transcripts.build import corpus, said


def vtt(*cues: tuple[str, str]) -> str:
    return "WEBVTT\n\n" + "".join(f"{at}.000 --> {at}.900\n{text}\n\n" for at, text in cues)


def test_cues_of_one_speaker_join_to_the_end_of_a_sentence(tmp_path: Path) -> None:
    text = vtt(
        ("00:00:01", "<v Maya>The varnish"),
        ("00:00:02", "<v Maya>has come."),
        ("00:00:03", "<v Maya>Three tins"),
        ("00:00:04", "<v Jonas>How many?"),
        ("00:00:05", "<v Jonas>(laughs) “Three!”"),
        ("01:00:06", "<v Jonas>ok"),
    )
    read = corpus(tmp_path, "talk.vtt", text)
    assert said(read) == [
        ("Maya", "The varnish has come."),
        ("Maya", "Three tins"),
        ("Jonas", "How many?"),
        ("Jonas", "(laughs) “Three!”"),
        ("Jonas", "ok"),
    ]
    assert [(t.turn, t.line, t.time) for t in read.turns[:1] + read.turns[-1:]] == [
        ("00:00:01", 4, ""),
        ("01:00:06", 19, ""),
    ]


def test_an_empty_line_within_a_cue_hides_nothing_of_it(tmp_path: Path) -> None:
    text = (
        "1\n00:00:01,000 --> 00:00:02,000\nMaya: The varnish\n\nhas come.\n\n"
        "2\n00:00:03,000 --> 00:00:04,000\n\nJonas: Three tins.\nMaya: Good.\n\n3\n\n"
        "4\n00:00:05,000 --> 00:00:06,000\nJonas: Yes.\n\nJonas: No.\n"
    )
    assert said(corpus(tmp_path, "talk.srt", text)) == [
        ("Maya", "The varnish has come."),
        ("Jonas", "Three tins."),
        ("Maya", "Good."),
        ("Jonas", "Yes."),
        ("Jonas", "No."),
    ]


def test_what_is_nobodys_words_stays_out(tmp_path: Path) -> None:
    text = vtt(("00:00:01", "<v Maya>hi.")) + "NOTE Confidence: 0.9\nmore\n\nSTYLE\n::cue {}\n\nab-12\n"
    assert said(corpus(tmp_path, "talk.vtt", text + vtt(("00:00:03", "<v Jonas>yo."))[8:])) == [
        ("Maya", "hi."),
        ("Jonas", "yo."),
    ]


def test_without_a_sentence_a_turn_is_a_minute(tmp_path: Path) -> None:
    cues = [(f"00:0{n // 60}:{n % 60:02}", f"<v Maya>word{n}") for n in range(0, 120, 20)]
    read = corpus(tmp_path, "talk.vtt", vtt(*cues))
    assert [(turn.turn, turn.text) for turn in read.turns] == [
        ("00:00:00", "word0 word20 word40"),
        ("00:01:00", "word60 word80 word100"),
    ]


@pytest.mark.parametrize(
    ("text", "turns"),
    [
        ("<v.loud Maya Reis>hi</v>", [("Maya Reis", "hi")]),
        ("<v Maya>hi</v> <v Jonas>yo</v>", [("Maya", "hi"), ("Jonas", "yo")]),
        ("<v Maya>one\ntwo", [("Maya", "one two")]),
        ("<v R&amp;D>a &lt; b &amp; c", [("R&D", "a < b & c")]),
        ("Maya Reis: hi\nJonas: yo", [("Maya Reis", "hi"), ("Jonas", "yo")]),
        ("- Maya: hi\n- Jonas: yo", [("Maya", "hi"), ("Jonas", "yo")]),
        ("Note: <i>bring</i> gloves", [("", "Note: bring gloves")]),
        ("at 10:30 sharp", [("", "at 10:30 sharp")]),
        ("{\\an8}hi<00:00:01.500><c> there</c>", [("", "hi there")]),
        ("<b></b>", []),
    ],
)
def test_the_speakers_of_a_cue(tmp_path: Path, text: str, turns: list[tuple[str, str]]) -> None:
    assert said(corpus(tmp_path, "talk.vtt", vtt(("00:00:01", text), ("00:59:00", "Ole: end")))) == [
        *turns,
        ("Ole", "end"),
    ]


def test_a_name_that_is_no_name_must_recur(tmp_path: Path) -> None:
    cues = [("00:00:01", "speaker 1: a."), ("00:00:02", "the point is: b."), ("00:00:03", "speaker 1: c.")]
    assert said(corpus(tmp_path, "talk.vtt", vtt(*cues))) == [
        ("speaker 1", "a."),
        ("", "the point is: b."),
        ("speaker 1", "c."),
    ]


def test_notes_ids_and_settings_are_no_text(tmp_path: Path) -> None:
    text = (
        "WEBVTT - Weekly\nKind: captions\n\nNOTE\nnot said\n\nSTYLE\n::cue {}\n\nid-1\n"
        "00:01.000 --> 00:02.000 align:start\nsaid\n\nREGION\nid:1\n"
    )
    read = corpus(tmp_path, "talk.vtt", text)
    assert [(t.text, t.conversation, t.turn, t.line) for t in read.turns] == [
        ("said", "Weekly", "00:00:01", 12)
    ]


def test_subrip_without_blank_lines_and_with_torn_cues(tmp_path: Path) -> None:
    text = (
        "1\n00:00:01,000 --> 00:00:02,000\nMaya: one.\n2\n00:00:03,000 --> 00:00:04,000\nJonas: 22\n\n"
        "3\n00:00:05,000 --> \nlost\n\n4\n00:00:07,5 --> 00:00:08,000\nMaya: three.\n"
    )
    assert said(corpus(tmp_path, "talk.srt", text)) == [("Maya", "one."), ("Jonas", "22"), ("Maya", "three.")]


def test_rolling_captions_say_a_line_once(tmp_path: Path) -> None:
    text = vtt(
        ("00:00:01", "the<00:00:01.500><c> harbour</c>"),
        ("00:00:02", "the harbour"),
        ("00:00:03", "the harbour\nis<c> closed</c>"),
    )
    (turn,) = corpus(tmp_path, "talk.vtt", text).turns
    assert turn.text == "the harbour is closed"


def test_two_speakers_may_say_the_same(tmp_path: Path) -> None:
    text = vtt(("00:00:01", "<v Maya>Yes."), ("00:00:02", "<v Jonas>Yes."))
    assert said(corpus(tmp_path, "talk.vtt", text)) == [("Maya", "Yes."), ("Jonas", "Yes.")]
