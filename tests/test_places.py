"""Places as our output prints them: how they are read, which turns are at them, what is opened around."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartsearch.output.plain import turn_line, where
from smartsearch.transcripts.places import Found, Place, excerpts, find, readings
from smartsearch.types import Turn


def read(text: str, *there: str) -> Place:
    return next(place for place in readings(text) if place.path in there)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a.txt", Place("a.txt")),
        ("a.txt:12", Place("a.txt", 12, 12)),
        ("a.txt:12-15", Place("a.txt", 12, 15)),
        ("a.txt:15-12", Place("a.txt", 15, 15)),
        ("a.txt:12:5", Place("a.txt", 12, 12)),
        ("a.txt:12:[2024-05-08] Ann: see b@c #/1 at 10:30", Place("a.txt", 12, 12)),
        ("a.txt#/0/turns/3", Place("a.txt", pointer="/0/turns/3")),
        ("a.txt#", Place("a.txt", pointer="")),
        ("a.txt:3#/messages/2", Place("a.txt", 3, 3, "/messages/2")),
        ("a.txt@D3:7", Place("a.txt", name="D3:7")),
        ("a.txt@c-26/session_3/D3:7", Place("a.txt", name="c-26/session_3/D3:7")),
    ],
)
def test_a_place_is_read(text: str, place: Place):
    assert read(text, "a.txt") == place


def test_marks_can_be_part_of_a_name_and_the_longest_path_wins():
    assert read("me@home#1:2.txt", "me@home#1:2.txt", "me").path == "me@home#1:2.txt"
    assert read("me@home.txt@D1:2", "me@home.txt", "me") == Place("me@home.txt", name="D1:2")
    assert read("notes:3:4", "notes:3", "notes") == Place("notes:3", 4, 4)


@pytest.mark.parametrize("text", ["a.txt:0", "a.txt:x", "a.txt:-3", "a.txt@", "a.txt#x"])
def test_what_is_no_place_is_only_a_path(text: str):
    assert list(readings(text)) == [Place(text)]


@given(st.text(max_size=40))
def test_any_text_can_be_read_and_comes_back_as_it_was_written(text: str):
    for place in readings(text):
        assert text.startswith(place.path)
        if not place.whole and place.path:
            assert place in list(readings(str(place)))


def chat(*lines: int, text: str = "one") -> list[Turn]:
    return [Turn(text, "Ann", path="a.txt", line=line, conversation="c", session="s") for line in lines]


CHAT = [
    *chat(3),
    Turn("two\nthree\n\nfour", "Ben", path="a.txt", line=4, conversation="c", session="s"),
    *chat(10, 11),
]


@pytest.mark.parametrize(
    ("first", "last", "found"),
    [
        (3, 3, Found((0,))),
        (4, 4, Found((1,))),
        (6, 6, Found((1,))),  # a blank line inside what Ben said
        (7, 7, Found((1,))),
        (8, 8, Found((1,), exact=False)),  # a heading, perhaps: between two turns
        (10, 10, Found((2,))),
        (1, 1, Found(nearest=0)),
        (12, 12, Found(nearest=3)),
        (900, 900, Found(nearest=3)),
        (1, 3, Found((0,))),
        (5, 10, Found((1, 2))),
        (8, 11, Found((2, 3))),
        (1, 99, Found((0, 1, 2, 3))),
    ],
)
def test_lines(first: int, last: int, found: Found):
    assert find(CHAT, Place("a.txt", first, last)) == found


def test_several_turns_of_one_line_are_all_at_it():
    talk = [Turn("x", line=2, pointer=f"/messages/{n}") for n in range(3)] + [Turn("y", line=5, pointer="/m")]
    assert find(talk, Place("a", 2, 2)).indices == (0, 1, 2)
    assert find(talk, Place("a", 2, 2, "/messages/1")).indices == (1,)


JSON = [
    Turn("x", pointer=f"/0/conversation/session_{s}/{t}", turn=f"D{s}:{t + 1}", session=f"session_{s}")
    for s in (1, 3)
    for t in range(3)
]


@pytest.mark.parametrize(
    ("pointer", "found"),
    [
        ("/0/conversation/session_1/2", Found((2,))),
        ("/0/conversation/session_3", Found((3, 4, 5))),
        ("/0/conversation/session_3/", Found((3, 4, 5))),
        ("", Found((0, 1, 2, 3, 4, 5))),
        ("/0/conversation/session_3/1/text", Found((4,))),
        ("/0/conversation/session_3/1:[2023-05-08] Ann: at 10:30", Found((4,))),
        ("/0/conversation/session_3/99", Found(nearest=5)),
        ("/0/conversation/session_2/0", Found(nearest=0)),
    ],
)
def test_pointers(pointer: str, found: Found):
    assert find(JSON, Place("a.json", pointer=pointer)) == found


def test_a_file_without_lines_says_so_and_one_without_pointers_too():
    assert find(JSON, Place("a.json", 3, 3)) == Found(nearest=0, note="this file's places are no lines")
    assert find(CHAT, Place("a.txt", pointer="/0")).note == "this file's places are no pointers"
    assert find([], Place("a.txt", 3, 3)).nearest == find([], Place("a.txt", pointer="/1")).nearest == -1


TWO = [
    Turn("x", conversation=c, session=f"s{s}", turn=f"D{s}:{t}", title=f"Trip {c}")
    for c in ("a", "b")
    for s in (1, 2)
    for t in (1, 2)
]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        *(("D2:1", Found((2, 6))), ("s2/D2:1", Found((2, 6))), ("b/D2:1", Found((6,)))),
        *(("b/s2/D2:1", Found((6,))), ("s1", Found((0, 1, 4, 5))), ("a/s1", Found((0, 1)))),
        *(("b", Found((4, 5, 6, 7))), ("Trip a", Found((0, 1, 2, 3))), ("D2:3", Found(nearest=3))),
        ("quite different", Found(nearest=-1)),
    ],
)
def test_names(name: str, found: Found):
    assert find(TWO, Place("a", name=name)) == found


def test_a_hit_is_found_where_it_stood_or_where_it_moved_to():
    talk = chat(1, 2, text="kites") + chat(3, text="the dog Oscar")
    assert find(talk, Place("a.txt", 2, 2, "", text="kites")) == Found((1,))
    assert find(talk, Place("a.txt", 1, 1, "", text="the dog")) == Found((2,), note="moved since the search")
    gone = find(talk, Place("a.txt", 3, 3, "", text="a cat"))
    assert gone == Found((2,), note="no longer what the hit said")
    assert find(talk, Place("a.txt", 9, 9, "", text="a cat")) == Found()


def texts(found) -> list[list[str]]:
    return [
        [("*" if asked else "") + turn.text for turn, asked in zip(e.turns, e.asked, strict=True)]
        for e in found
    ]


def numbered(*sessions: int) -> list[Turn]:
    return [Turn(str(n), path="a", conversation="c", session=str(s)) for n, s in enumerate(sessions)]


@pytest.mark.parametrize(
    ("found", "before", "after", "whole", "expected"),
    [
        ([2], 1, 1, "", [["1", "*2", "3"]]),
        ([0], 5, 0, "", [["*0"]]),
        ([1, 3], 1, 1, "", [["0", "*1", "2", "*3", "4"]]),
        ([0, 3], 0, 1, "", [["*0", "1"], ["*3", "4"]]),
        ([4, 5], 1, 1, "", [["3", "*4"], ["*5", "6"]]),
        ([5], 0, 0, "session", [["*5", "6"]]),
        ([5], 0, 0, "conversation", [["0", "1", "2", "3", "4"], ["*5", "6"]]),
        ([], 1, 1, "", []),
    ],
)
def test_excerpts_stay_in_the_session(found, before, after, whole, expected):
    assert texts(excerpts(numbered(1, 1, 1, 1, 1, 2, 2), found, before, after, whole)) == expected


def test_sessions_that_are_written_interleaved_are_read_one_by_one():
    assert texts(excerpts(numbered(1, 2, 1, 2, 1), [2], 1, 1)) == [["0", "*2", "4"]]


@given(st.lists(st.integers(0, 2), min_size=1, max_size=12), st.data())
def test_all_that_was_asked_for_is_marked_once(sessions: list[int], data):
    turns = numbered(*sessions)
    asked = data.draw(st.sets(st.integers(0, len(turns) - 1)))
    shown = texts(excerpts(turns, sorted(asked), data.draw(st.integers(0, 3)), data.draw(st.integers(0, 3))))
    said = [text for excerpt in shown for text in excerpt]
    assert sorted(text[1:] for text in said if text[0] == "*") == sorted(map(str, asked))
    assert len(said) == len({text.lstrip("*") for text in said})


@given(st.sampled_from(CHAT + JSON))
def test_a_line_of_output_opens_its_turn(turn: Turn):
    talk = JSON if turn.pointer else CHAT
    for text in (where(turn), turn_line(turn)):
        place = read(text, turn.path) if turn.path else Place("", pointer=text.partition("#")[2])
        assert [talk[i] for i in find(talk, place).indices] == [turn]
