"""A secret that one turn gives away is masked wherever it is shown with it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from smartsearch.text.redact import redacted, redacted_result, redacted_turns
from smartsearch.types import Budget, Hit, Nearby, Result, Scores, Term, Trace, Turn

MASK = "[redacted: password]"


def texts(*said: str) -> list[str]:
    return [turn.text for turn in redacted_turns([Turn(text) for text in said])]


@pytest.mark.parametrize(
    ("gives", "again", "masked"),
    [
        ("password: hunter2", "Hunter2 works, hunter2!", f"{MASK} works, {MASK}!"),
        ("the password is Blau42.", "type BLAU42 there", f"type {MASK} there"),
        ("password: 'open sesame 7'", "I said open sesame 7.", f"I said {MASK}."),
        ("password: swordfish", "swordfish works", f"{MASK} works"),
        ("password=hunter2;Server=db1", "hunter2", MASK),
        ("password: hun\u200bter2", "hunter2 and hu\u200bnter2", f"{MASK} and {MASK}"),
        ("password: p@ss!x", "try p@ss!x now", f"try {MASK} now"),
        ("PIN: 4821", "4821 it is", "[redacted: pin] it is"),
        ("seed phrase: apple bear cat", "mine: Apple bear cat", "mine: [redacted: passphrase]"),
    ],
)
def test_again_in_another_turn(gives: str, again: str, masked: str):
    assert texts(gives, again)[1] == masked
    assert texts(again, gives)[0] == masked
    assert redacted(f"{gives}\n{again}").endswith(masked)


@pytest.mark.parametrize(
    ("gives", "again"),
    [
        ("password: I forgot it", "I think I know"),
        ("password: changed yesterday", "it was changed"),
        ("password: sun", "the sun shines"),
        ("PIN: 1984", "in 1984"),
        ("password: b4lk", "xb4lk, b4lks, b 4lk"),
        ("PIN: 4821", "48210, 14821"),
        ("password = proxy_auth", "proxy_auth is a name"),
        ("password: yourpassword", "yourpassword, my password"),
        ("password: redacted1", "password: [redacted: password]"),
    ],
)
def test_ordinary_words_stay(gives: str, again: str):
    assert texts(gives, again)[1] == again


def test_in_the_question_the_context_the_terms_and_the_warnings():
    hits = (Hit(1, Turn("does hunter2 work?"), Scores(1.0), (Term("hunter2", "NOUN", 2.0),)),)
    answer = Result(
        "what is hunter2 for?",
        "embedded",
        hits,
        Budget("none", 0, 0, 0.0, 0.0, 0),
        Trace(terms=hits[0].terms),
        warnings=("no turn contains 'hunter2'",),
    )
    assert redacted_result(answer)[0] == answer
    shown = redacted_result(answer, [Nearby(0, (Turn("password: hunter2"),))])
    assert "hunter2" not in repr(shown)
    assert shown[0].query == f"what is {MASK} for?"
    again = replace(answer, warnings=("password: hunter2",))
    assert "hunter2" not in repr(redacted_result(again))
