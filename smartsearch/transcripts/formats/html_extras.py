"""Pages of exports that hold no chat, or one that lies beside them in a format that is read: no turns.

ChatGPT's `chat.html` holds what `conversations.json` does; Telegram's `export_results.html` and `lists`
link to the chats (telegramdesktop/tdesktop, export_output_html.cpp); Takeout and X have pages to look
through.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from smartsearch.transcripts.archive import plain_name
from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats.html import is_html
from smartsearch.transcripts.source import Source

_OWN = re.compile(r'<meta [^<>]{0,99}content="smartsearch ')
"""In a page that `--format html` made: an answer is no chat."""
_TITLE = re.compile(r"<title>(?P<title>[^<]{0,120})</title>", re.I)
_TITLES = {
    "chat.html": "ChatGPT Data Export",
    "export_results.html": "Exported Data",
    **dict.fromkeys(("contacts.html", "frequent.html", "sessions.html", "chats.html"), "Exported Data"),
    **dict.fromkeys(("other_data.html", "left_chats.html", "userpics.html", "stories.html"), "Exported Data"),
}


def detect(source: Source) -> bool:
    """Whether a page is one of them, by its name and its title, or one of our own."""
    head = source.text[:2000]
    if not is_html(source):
        return False
    wanted, found = _TITLES.get(PurePath(plain_name(source.path)).name), _TITLE.search(head)
    return _OWN.search(head) is not None or (found is not None and found["title"].strip() == wanted)


def read(source: Source) -> Iterator[Record]:  # noqa: ARG001 - the shape of every reader
    """No turns."""
    yield from ()
