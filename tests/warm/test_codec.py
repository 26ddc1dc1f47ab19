from __future__ import annotations

import json
from dataclasses import replace

import pytest

from smartsearch.ask.scope import Scope
from smartsearch.config import Config
from smartsearch.serve.warm.codec import decode, encode
from smartsearch.serve.warm.wire import Answer, Request
from smartsearch.types import (
    Budget,
    Dropped,
    Graph,
    Hit,
    HopTrace,
    Link,
    ModelInfo,
    Nearby,
    Result,
    Scores,
    Skipped,
    Term,
    Trace,
    Turn,
)

TURN = Turn("half a pair \udc80 and\nа line", "Mara", path="ch\udcffat.txt", line=3, pointer="", turn="7")
HIT = Hit(1, TURN, Scores(0.1 + 0.2, 5e-324, None, 1e300, -0.0), (Term("café", "PROPN", 3),), 2, 4)
RESULT = Result(
    "q",
    "embedded",
    (HIT,),
    Budget(
        "adaptive", 4000, 60, 0.03, 1 / 3, 12, dropped=(Dropped(9, "tau", TURN, HIT.scores),), hidden=(HIT,)
    ),
    Trace((Term("a", "FUZZY", 1.5, 1, "b"),), (HopTrace(1, "grep", (), 2, 2),), 5, timing_ms={"read": 0.25}),
    2,
    (Skipped("x", "unreadable", "why"),),
    ("a warning",),
)


def there_and_back(kind, value):
    return decode(kind, json.loads(json.dumps(encode(value))))


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Answer, Answer(RESULT, (Nearby(4, (TURN,), ()),))),
        (Answer, Answer(Result("", "", (), Budget("none", 0, 0, 0.0, 0.0, 0), Trace()))),
        (Answer, Answer(replace(RESULT, trace=Trace(models=(ModelInfo("a", "b", "c", "d"),))))),
        (Answer, Answer(replace(RESULT, trace=Trace(own={"mode": "kn", "read": 7, "more": [True, None]})))),
        (Answer, Answer(replace(RESULT, graph=Graph(HIT.terms, (Link(0, 0, (0,)),), (TURN,))))),
        (
            Request,
            Request("q", Scope(("a", "-"), globs=("*",)), Config(rank=(), alpha=0.5), places=((1, 2),)),
        ),
    ],
)
def test_a_record_comes_back_as_it_was(kind, value):
    assert there_and_back(kind, value) == value
    assert repr(there_and_back(kind, value)) == repr(value)


def test_fields_at_the_end_that_hold_their_default_are_not_sent():
    assert encode(Turn("said")) == ["said"]
    assert encode(Turn("said", line=0, turn="1")) == ["said", *[""] * 5, 0, "", "", "", "1"]
    assert encode(Scores(1.0, rrf=0)) == [1.0, None, None, 0]  # a whole number is not its float


@pytest.mark.parametrize(
    "data",
    [
        None,
        {},
        [],
        ["q", [["a"]], [], 0, 0, False, "", [[1]]],
        ["q", [["a"]], [], "0"],
        ["q", [["a"]], [], 0, 0, 1],
        ["q", [["a"]], [None]],
        ["q", [["a"]], [True]],
        ["q", [[1]], []],
        ["q", ["a"], []],
        ["q", [["a"]], [], 0, 0, False, "", [], False, "one more"],
    ],
)
def test_what_is_no_record_is_refused(data):
    assert decode(Request, ["q", [["a"]], []]).scope.paths == ("a",)
    with pytest.raises(ValueError, match=r"no |zip"):
        decode(Request, data)
