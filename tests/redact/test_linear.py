"""The work of masking grows with the length of a text and no faster, whatever somebody repeats.

That no pattern of it takes longer tests/test_patterns.py shows.
"""

from __future__ import annotations

import time

import pytest

from smartsearch.text.redact import redacted, redacted_turns, repeats
from smartsearch.types import Turn

UNITS = (
    "password",
    "password:",
    "password=a.b(",
    "token:",
    "token is ",
    "token=a.b(",
    "token='",
    'token=\\"',
    "token=\\\\",
    "password for password is ",
    "password (",
    "<password>",
    '<a name="password">',
    "<td>password</td><td>",
    '"password","value":',
    "pass: ",
    "sk-",
    "eyJ-",
    " eyJaaaaaaaa.",
    "SG.aaaaaaaaaaaaaaaa",
    "a.",
    "://:",
    "a://b:c",
    "1234 ",
    "4111-",
    "1",
    "123---",
    "DE89 ",
    "your code is ",
    "123456 is your ",
    "bearer ",
    "authorization: ",
    "cookie: a",
    "curl -u",
    "user identified by ",
    "-----BEGIN PRIVATE KEY-----",
    "'password: '",
    "passphrase: \n",
    "--password-",
    " ",
    "\x1b[1;",
    "é\u200b",
    "password: hunter2 ",
    "password: a1 b2 c3 d4\n",
)


@pytest.mark.parametrize("unit", UNITS)
def test_twenty_times_the_text_is_no_hundred_times_the_work(unit: str):
    def spent(characters: int) -> float:
        text = unit * (characters // len(unit))
        times = []
        for _ in range(3):
            start = time.process_time()
            redacted(text)
            times.append(time.process_time() - start)
        return min(times)

    assert spent(40_000) < 100 * max(spent(2_000), 0.001)  # quadratic: 400 times


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
