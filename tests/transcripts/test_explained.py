"""How much of a file its turns explain, and the warning where that is little."""

from __future__ import annotations

from pathlib import Path

import pytest

from smartsearch.transcripts import FORMATS
from smartsearch.transcripts.corpus import read_explained
from smartsearch.transcripts.explained import GLANCED, explained
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn
from tests.transcripts.build import corpus, lines, put

SAMPLES = Path(__file__).parent / "samples"
SAID = "the varnish has come and so have three tins"


def share(text: str, *turns: Turn, name: str = "a.txt", count: int = 400) -> float:
    return explained(Source(name, text), turns, count).share


def test_a_line_is_explained_by_the_turn_that_begins_at_it_or_above_it() -> None:
    text = f"Maya: {SAID}\nand a brush for every one of us\nOle joined the room and left again\n"
    turn = Turn(f"{SAID}\nand a brush for every one of us", "Maya", line=1)
    found = explained(Source("a.txt", text), [turn])
    assert (found.looked, found.held) == (3, 2)
    assert (found.place, found.begins) == ("line 3", "Ole joined the room and left again")


def test_a_line_with_a_time_that_goes_on_with_a_turn_is_not_explained() -> None:
    text = f"13:56 Maya: {SAID}\n13:57 Jonas: {SAID}\n"
    whole = Turn(text, "Maya", line=1)
    assert share(text, whole) == 0.5
    assert share(text, Turn(SAID, "Maya", line=1), Turn(SAID, "Jonas", line=2)) == 1
    unspaced = "美咲: 傘を駅に忘れました青い傘です\n港町の駅で見つかりましたか傘は\n"
    assert share(unspaced, Turn("傘を駅に忘れました青い傘です", "美咲", line=1)) == 0.5


def test_a_string_is_explained_by_a_turn_of_its_record_or_by_a_name() -> None:
    text = lines(
        {"title": "Boats and what they are painted with", "m": [{"text": SAID}, {"voice": SAID}]},
        {"m": [{"id": "3f1c0a52-7d1e", "url": "https://example.org/a b c d", "text": f"<b>{SAID}</b>"}]},
    )
    first = Turn(SAID, title="Boats and what they are painted with", line=1, pointer="/m/0")
    found = explained(Source("a.jsonl", text), [first, Turn(SAID, line=2, pointer="/m/0")])
    assert (found.looked, found.held, found.place) == (4, 3, "line 1")


@pytest.mark.parametrize("count", [GLANCED, 400])
def test_a_sample_of_a_long_file_is_enough(count: int) -> None:
    text = f"Maya: {SAID}\nOle joined the room and left again\n" * 5_000
    turns = [Turn(SAID, "Maya", line=n) for n in range(1, 10_000, 2)]
    assert share(text, *turns, count=count) == pytest.approx(0.5, abs=0.1)


def test_what_is_hardly_explained_is_warned_of_with_an_example(tmp_path: Path) -> None:
    said = [
        {"role": "user", "content": SAID},
        *({"role": "user", "content": "", "voice": SAID} for _ in range(9)),
    ]
    (empty, warning) = corpus(tmp_path, "a.json", said).warnings
    assert empty.endswith("9 turns without text left out")
    assert warning == (
        f"{tmp_path / 'a.json'}: read as messages, which leaves 90% of its texts unexplained, "
        f"first at /1/voice: {SAID}"
    )


def test_what_is_full_of_something_else_by_nature_is_not_warned_of(tmp_path: Path) -> None:
    turns = [{"speaker": "A", "dia_id": f"D1:{n}", "text": SAID} for n in range(3)]
    questions = [{"question": f"Who says that {SAID}?"} for _ in range(40)]
    value = [
        {
            "qa": questions,
            "conversation": {"session_1": turns, "session_1_date_time": "1:56 pm on 8 May, 2023"},
        }
    ]
    path = put(tmp_path, "a.json", value)
    found, known, share = read_explained(str(path))
    assert known
    assert known.rest
    assert share
    assert share.is_low
    assert found.warnings == ()


def test_no_sample_is_hardly_explained_and_prose_says_its_own() -> None:
    for path in SAMPLES.rglob("*"):
        if path.is_file():
            found, _, share = read_explained(str(path))
            assert not any("unexplained" in said for said in found.warnings), (path, share)
    assert all(not known.rest or not known.silent for known in FORMATS)


def test_a_deep_value_is_survived(tmp_path: Path) -> None:
    deep = "[" * 400 + "]" * 400
    path = put(tmp_path, "a.jsonl", '{"role": "user", "content": "hi", "more": ' + deep + "}\n")
    assert read_explained(str(path))[0].turns
