"""Every rule, in the order in which they look at a text."""

from __future__ import annotations

from smartsearch.text.redact import keys, names, numbers
from smartsearch.text.redact.page import Rules

RULES = Rules(
    *keys.RULES,
    *names.RULES,
    *keys.HEADERS,
    *names.TOKENS,
    *numbers.RULES,
    *keys.KEYS,
    *numbers.CHECKED,
)
"""A value by its name first, whole, before a part of it could look like a key."""
