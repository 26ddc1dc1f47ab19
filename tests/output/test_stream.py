"""What a terminal is told while it waits."""

from __future__ import annotations

import sys

import pytest

from smartsearch.output import stream
from smartsearch.runtime import reading


@pytest.mark.parametrize(
    ("done", "seconds", "said"),
    [
        (0, 0.0, "reading 803 turns for the first time; the next question finds them read"),
        (256, 10.0, "reading 803 turns for the first time, 10 of 31 s; the next question finds them read"),
    ],
)
def test_a_first_reading_says_what_it_is_how_long_it_takes_and_that_it_is_once(done, seconds, said):
    assert stream.first_time(done, 803, seconds) == said


def test_a_terminal_hears_of_it_and_nobody_else(monkeypatch, capfd):
    for terminal in (True, False):
        monkeypatch.setattr(sys.stderr, "isatty", lambda terminal=terminal: terminal)
        with stream.status("searching", wanted=True):
            reading.tell(0, 1234)
        assert ("reading 1,234 turns" in capfd.readouterr().err) == terminal
        reading.tell(0, 99)  # nobody listens any more
        assert "99" not in capfd.readouterr().err
