"""What a terminal is told while it waits."""

import os
import sys

import pytest

from smartsearch.output import masking, stream
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


def test_a_terminal_gets_lines_that_are_parted_between_words_and_within_no_command(monkeypatch, capfd):
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((30, 24)))
    stream.talk(
        "this is said to a terminal of `smartsearch query --limit 3` only\n  try: smartsearch show "
        + "x " * 20
    )
    *said, copied = capfd.readouterr().err.splitlines()
    assert said == [
        *("smartsearch: this is said to a", "  terminal of", "  `smartsearch query --limit 3`", "  only"),
    ]
    assert copied.startswith("  try: smartsearch show x x x x x x x x x x x x")
    monkeypatch.undo()
    stream.talk("and a pipe gets it as it is, " * 5)
    assert len(capfd.readouterr().err.splitlines()) == 1


def test_a_secret_is_masked_before_its_line_is_parted(monkeypatch, capfd):
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((24, 24)))
    with masking.during(True):
        stream.talk("the passphrase: correct horse battery staple")
        assert "horse" not in capfd.readouterr().err
