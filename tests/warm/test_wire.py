"""What travels between a command and its warm process: as it was, or refused; nothing that is sent runs."""

import pickle
import socket
import struct
from dataclasses import replace

import pytest

from smartsearch.ask.door import Found
from smartsearch.ask.scope import Scope
from smartsearch.config import Config
from smartsearch.runtime import frames
from smartsearch.runtime.frames import BrokenOff
from smartsearch.serve.warm import wire
from smartsearch.serve.warm.wire import Failure, Request
from smartsearch.types import (
    Budget,
    Dropped,
    Hit,
    HopTrace,
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


@pytest.fixture
def ends():
    """Both ends of a connection."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


@pytest.mark.parametrize(
    "message",
    [
        Found(RESULT, (Nearby(4, (TURN,), ()),)),
        Found(Result("", "", (), Budget("none", 0, 0, 0.0, 0.0, 0), Trace())),
        Found(replace(RESULT, trace=Trace(models=(ModelInfo("a", "b", "c", "d"),)))),
        Found(replace(RESULT, trace=Trace(own={"mode": "kn", "read": 7, "more": [True, None]}))),
        Request("q", Scope(("a", "-"), globs=("*",)), Config(rank=(), alpha=0.5), places=((1, 2),)),
        Failure("what", "try", "kind", retryable=True),
        {"state": "ready \udc80"},
    ],
)
def test_a_message_comes_back_as_it_was(ends, message):
    frames.send(ends[0].send, b"")
    wire.say(ends[0], message)
    told = wire.hear(ends[1], 1 << 20)
    assert told == message
    assert repr(told) == repr(message)


class Runs:
    """Unpickled it would call a function."""

    def __reduce__(self):
        return exec, ("raise SystemExit",)


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"[]",
        b'"x"',
        b"[" * 100_000,
        b"\xff" * 2000,
        pickle.dumps([1]),
        pickle.dumps(Runs()),
        pickle.dumps(replace(RESULT, hits=(Runs(),))),
        pickle.dumps(RESULT)[:-20],
        pickle.dumps(Request),
        b"\x80\x05csmartsearch.serve.warm.wire\nRequest\n)\x81.",  # without any field
    ],
)
def test_what_is_no_message_is_refused_and_nothing_of_it_runs(ends, data):
    frames.send(ends[0].send, data)
    with pytest.raises(ValueError, match=r"."):
        wire.hear(ends[1], 1 << 20)


def test_a_frame_that_is_too_long_or_cut_is_broken_off(ends):
    frames.send(ends[0].send, b"123")
    with pytest.raises(BrokenOff, match="the limit is 2"):
        frames.receive(ends[1].recv, 2)
    ends[1].recv(3)
    ends[0].sendall(struct.pack(">Q", 1 << 62) + b"12")
    ends[0].close()
    with pytest.raises(BrokenOff, match="closed"):
        frames.receive(ends[1].recv, 1 << 63)
