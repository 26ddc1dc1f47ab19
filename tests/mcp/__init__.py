"""The agent door."""

import re

HIT = re.compile(
    r"\[(?P<id>\w{8})\] (?:(?P<date>[\d-]{10}) ?)?(?:(?P<speaker>[^|]+?) \| |\| )?"
    r"(?P<place>[^|]+) \| (?P<line>.*?)(?: → (?P<reply>.*))?"
)


def read(record: dict) -> dict:
    """What `search` has found, its lines taken apart."""
    return {**record, "hits": [HIT.fullmatch(line).groupdict() for line in record["hits"]]}
