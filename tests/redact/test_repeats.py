"""A secret that one turn gives away is masked wherever it is shown with it."""

from dataclasses import replace

import pytest

from smartsearch.text.redact import redacted, redacted_result, redacted_turns
from smartsearch.text.redact.page import Page, Secret
from smartsearch.text.redact.repeats import repeats
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
    budget, trace = Budget("none", 0, 0, 0.0, 0.0, 0), Trace(terms=hits[0].terms)
    said = ("no turn contains 'hunter2'",)
    answer = Result("what is hunter2 for?", "embedded", hits, budget, trace, warnings=said)
    assert redacted_result(answer)[0] == answer
    shown = redacted_result(answer, [Nearby(0, (Turn("password: hunter2"),))])
    assert "hunter2" not in repr(shown)
    assert shown[0].query == f"what is {MASK} for?"
    again = replace(answer, warnings=("password: hunter2",))
    assert "hunter2" not in repr(redacted_result(again))


@pytest.mark.parametrize(
    ("gives", "again", "masked"),
    [
        ("password: Blau42Xy9z", "xBlau42Xy9zy", f"x{MASK}y"),
        ("password: Blau42Xy9z", "https://x.test/?q=blau42xy9z&b=1", f"https://x.test/?q={MASK}&b=1"),
        ("password: p@ss w0rd!x", "n", "n"),
        ("password: 'p@ss/w0rd'", "?q=p%40ss%2Fw0rd", f"?q={MASK}"),
        ("password: 'a&b<c1234'", "a&amp;b&lt;c1234", MASK),
        ("PIN: 4821", "from 4821-1 to 48210", "from [redacted: pin]-1 to 48210"),
        ("token=" + "a1" * 200, "xa1" + "a1" * 200, "x[redacted: token]"),
    ],
)
def test_a_secret_is_masked_in_whatever_holds_it(gives: str, again: str, masked: str):
    assert texts(gives, again)[1] == masked


LINE = "MIIEa1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6a7B8c9D0"


@pytest.mark.parametrize(
    ("said", "gone", "stays"),
    [
        (["-----BEGIN RSA PRIVATE KEY-----", LINE, LINE[::-1], "see you at 5"], [LINE, LINE[::-1]], "at 5"),
        (["Private-Lines: 2", LINE, "thanks, 42 of them"], [LINE], "42"),
        (
            [
                *("seed phrase: apple bear cat delta", "ember flower garden hotel"),
                *("island jungle kitten lemon", "see you there"),
            ],
            ["ember flower", "island jungle"],
            "see you there",
        ),
        (["my card: 4111 1111", "1111 1111", "exp 12/27"], ["4111 1111", "1111 1111"], "12/27"),
        (["what's the wifi password?", "Blau42Xy9z"], ["Blau42Xy9z"], "wifi"),
        (["the password for the attic:", "Blau42Xy9z"], ["Blau42Xy9z"], "attic"),
        (["sorry, what was the password again, please??", "Blau42Xy9z"], ["Blau42Xy9z"], "sorry"),
        (["the wifi password for guests?", "It's: Blau42Xy9z"], ["Blau42Xy9z"], "guests"),
        (["the wifi password for guests?", "sure, Blau42Xy9z"], ["Blau42Xy9z"], "guests"),
        (["the wifi password for guests?", "ok - here it is: Blau42Xy9z"], ["Blau42Xy9z"], "guests"),
        (["and the wifi password for guests now?", "it's Gerdaverliert62"], ["Gerdaverliert62"], "guests"),
    ],
)
def test_what_opens_in_one_turn_stays_open_over_the_next(said: list[str], gone: list[str], stays: str):
    turns = [Turn(text, "Mara", path="a", line=n) for n, text in enumerate(said, 1)]
    shown = repr(redacted_turns(turns, [turns]))
    assert [text for text in gone if text in shown] == []
    assert stays in shown
    between = [turns[0], Turn("wait", "Ilya"), *turns[1:]]  # somebody else says something in between
    if "?" not in said[0] and not said[0].startswith("the"):
        assert [text for text in gone if text in repr(redacted_turns(between, [between]))] == []
    alone = redacted_turns(turns[1:2], [turns])  # the first turn is not shown
    assert gone[-1] not in repr(alone) or len(gone) > 1


@pytest.mark.parametrize(
    "said",
    [
        ["what's your password?", "no idea"],
        ["what's your password?", "sure, see you in room 12b"],
        ["I lost my passphrase", "oh dear"],
        ["call 4111 1111", "or 2222 3333"],
        ["my favourite phrase: so it goes", "nice one indeed"],
    ],
)
def test_ordinary_turns_behind_such_words_stay(said: list[str]):
    turns = [Turn(text, "Mara") for text in said]
    assert redacted_turns(turns, [turns])[1:] == turns[1:]


def test_known_secrets_are_looked_for_in_work_that_grows_with_the_text():
    def looked(n: int) -> int:
        count = 0

        class Texts(set):
            def __contains__(self, text):
                nonlocal count
                count += 1
                return super().__contains__(text)

        secrets = [Secret("password", "a" * k + "1", alone=True) for k in range(3, n)]
        rules = repeats(secrets)
        for rule, _ in rules._rules:
            known = rule.find._known.items()
            rule.find._known = {s: [(k, Texts(t)) for k, t in lengths] for s, lengths in known}
        rules.found(Page("a" * 20 * n))
        return count

    assert looked(1000) <= 4.5 * looked(250) + 256 * 20_000
    assert looked(1000) <= 256 * 20_000
