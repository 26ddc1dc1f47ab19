"""HTML that no reader takes: nothing is read, and the user is told how to get the chat in another format.

What names a page's maker is in its markup: classes of Tyrrrz/DiscordChatExporter's templates, of Facebook's
and Instagram's download, of Google's My Activity and Voice, as their parsers in public repositories use
them.
"""

from __future__ import annotations

from collections.abc import Iterator

from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Record
from smartsearch.transcripts.source import Source

_OPENINGS = ("<!doctype html", "<html")
_HEAD = 1 << 18
"""Characters in which a page says whose it is: style sheets stand before what they are for."""
_MAKERS = (
    ("chatlog__", "DiscordChatExporter's HTML; export the channel with format JSON"),
    ("_a6-g", "Facebook's or Instagram's HTML; download your information with format JSON"),
    ("_3-95", "Facebook's or Instagram's HTML; download your information with format JSON"),
    ("outer-cell mdl-cell", "Google's My Activity, and nothing of Gemini Apps in it"),
    ("hChatLog", "Google Voice's HTML, which is not read"),
    ("Exported Data", "Telegram's HTML, and no messages in it; export the chat with format JSON"),
)
_UNKNOWN = "an HTML page of no known chat; export the chat as JSON or text"


def is_html(source: Source) -> bool:
    """Whether a file is an HTML page, by its name or by how it begins."""
    return source.suffix in (".html", ".htm") or source.text[:500].lstrip().lower().startswith(_OPENINGS)


detect = is_html
"""Only asked about what no reader of a kind of HTML claims."""


def read(source: Source) -> Iterator[Record]:
    """No turns, and a fault that says what to export instead."""
    head = source.text[:_HEAD]
    reason = next((said for mark, said in _MAKERS if mark in head), _UNKNOWN)
    yield FormatError(reason, kind="unrecognised_html")
