"""Places out of what a search printed: a record, lines of JSON, or plain lines."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartsearch.cli.hits import read_hits
from smartsearch.errors import InputError
from smartsearch.transcripts.places import Place

HIT = {"rank": 1, "path": "a.txt", "line": 3, "pointer": "", "text": "hello", "context": {"before": []}}
PLACE = Place("a.txt", 3, 3, "", text="hello")


def placed(line: str) -> Place:
    if line.startswith("a.txt:"):
        return Place("a.txt", int(line.split(":")[1]), 1)
    raise InputError(f"no such file: {line}")


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"query": "q", "hits": [HIT, HIT]}),
        json.dumps({"query": "q", "hits": [HIT, HIT]}, indent=2),
        json.dumps([HIT, HIT]),
        "\n".join([json.dumps(HIT), "", json.dumps(HIT)]),
        "\n".join(json.dumps({"id": n, "hits": [HIT]}) for n in (1, 2)),
    ],
)
def test_hits_are_read_however_they_were_printed(text: str):
    assert read_hits(text, placed) == [PLACE, PLACE]


def test_lines_of_text_are_places_and_others_are_passed_by():
    text = "a.txt:4:[2024-05-08] Ann: hi\n--\na.txt-5-[2024-05-08] Ben: ho\n\na.txt:9:x\n"
    assert [place.first for place in read_hits(text, placed)] == [4, 9]


def test_a_place_in_a_file_that_is_gone_is_told_and_no_line_of_context():
    lost: list[str] = []
    text = "a.txt:4:hi\nb.txt:3: at 10:30: ho\nb.txt-4-at 10:30: ho\nnothing of the kind\n"
    assert [place.first for place in read_hits(text, placed, lost.append)] == [4]
    assert lost == ["b.txt:3"]


def test_no_hits_are_no_places():
    assert read_hits('{"hits": []}', placed) == []
    assert read_hits("", placed) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"error": {"kind": "path_not_found", "message": "no such file: x"}}', "failed: no such file: x"),
        ('{"schema_version": 1}', "has no hits"),
        ('{"hits": [{"line": 3}]}', "has no path"),
        ('{"hits": [7]}', "has no path"),
        ('{"path": "a", "line": "3"}', "has no path"),
        ('{"path": "a"}\nnot json', "line 2 of standard input is not JSON"),
        ("nothing\nelse", "no such file: nothing"),
    ],
)
def test_what_is_no_hit_is_said(text: str, said: str):
    with pytest.raises(InputError, match=said):
        read_hits(text, placed)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["hits", "path", "line", "text", "error", "pointer"]), inner)
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_read_or_refused(value):
    with contextlib.suppress(InputError):
        read_hits(json.dumps(value), placed)
