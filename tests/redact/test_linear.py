"""The work of masking grows with the length of a text and no faster, whatever somebody repeats.

That no pattern of it takes longer is for tests/test_patterns.py.
"""

import pytest

from smartsearch.text.redact import redacted_turns, repeats
from smartsearch.types import Turn
from tests.counting import looking

UNITS = (
    *("password", "password:", "password=a.b(", "token:", "token is ", "token=a.b(", "token='"),
    *('token=\\"', "token=\\\\", "password for password is ", "password (", "<password>"),
    *('<a name="password">', "<td>password</td><td>", '"password","value":', "pass: ", "sk-", "eyJ-"),
    *(" eyJaaaaaaaa.", "SG.aaaaaaaaaaaaaaaa", "a.", "://:", "a://b:c", "1234 ", "4111-", "1"),
    *("123---", "DE89 ", "your code is ", "123456 is your ", "bearer ", "authorization: "),
    *("cookie: a", "curl -u", "user identified by ", "-----BEGIN PRIVATE KEY-----", "'password: '"),
    *("passphrase: \n", "--password-", " ", "\x1b[1;", "é\u200b", "password: hunter2 "),
    *("password: a1 b2 c3 d4\n"),
    *("passwords: hunter2a, hunter2b and ", "password: ```\n", "password....", "password: str "),
    *('password: ["a": ', 'getenv("password", ', "a,password\n", "password|token|\nhunter2a|"),
    *("auth=('a',", "password (a) is "),
)


def test_four_times_the_text_is_four_times_the_work():
    """Counted before any of it is masked, where a sign or a digit lets every rule begin."""
    grown = {}
    with looking("smartsearch.text.redact") as (redact, looked):
        for unit in UNITS:
            few, many = (looked.count(redact.redacted, "7 " + unit * (n // len(unit))) for n in (300, 1200))
            if many > 4.4 * few:
                grown[unit] = f"{few:,} at 300 characters, {many:,} at 1,200"
    assert not grown


def test_many_secrets_are_sought_in_many_turns_word_by_word():
    turns = [Turn(f"password: same{n} secret{n} words{n}\nsame{n + 1} secret{n} same{n}") for n in range(500)]
    looked = 0
    known = repeats._Again.__call__

    def counted(self, plain):
        nonlocal looked
        looked += 1
        return known(self, plain)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repeats._Again, "__call__", counted)
        redacted_turns(turns)
    assert looked <= 2 * len(turns)
