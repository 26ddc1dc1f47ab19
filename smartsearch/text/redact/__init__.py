"""Masks secrets in what is shown or sent: keys, passwords, card and account numbers. Pure: records in, out.

By pattern and check digit alone, so that a name, a date or an order number stays; what looks like nothing in
particular (a password said without the word, a phone number) stays too. The search itself sees all of it.
"""

from smartsearch.text.redact.page import MARK
from smartsearch.text.redact.together import (
    Together,
    kinds,
    redacted,
    redacted_result,
    redacted_turn,
    redacted_turns,
)

__all__ = ["MARK", "Together", "kinds", "redacted", "redacted_result", "redacted_turn", "redacted_turns"]
