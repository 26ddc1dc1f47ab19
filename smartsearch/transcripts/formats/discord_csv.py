"""Discord's own data package as it was before 2024, `messages/c123/messages.csv`: as discord_package.py."""

from __future__ import annotations

from collections.abc import Iterator

from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats.csvtext import has_columns, records
from smartsearch.transcripts.formats.discord_package import COLUMNS, turns
from smartsearch.transcripts.source import Source


def detect(source: Source) -> bool:
    """Whether a table has the columns of the package's messages."""
    return has_columns(source, COLUMNS)


def read(source: Source) -> Iterator[Record]:
    """Turns of the channel, earliest first."""
    yield from turns(source, records(source))
