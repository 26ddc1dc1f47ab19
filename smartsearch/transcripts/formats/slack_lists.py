"""The lists at the top of a Slack export, which slack.py reads for names: no turns of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from smartsearch.transcripts.archive import plain_name
from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats.fields import objects, string
from smartsearch.transcripts.source import Source

_ID = re.compile(r"[A-Z][A-Z0-9]{5,}")
_NAMES = (
    *("users.json", "org_users.json", "channels.json", "groups.json", "dms.json", "mpims.json"),
    *("integration_logs.json", "canvases.json", "lists.json", "content_flags.json"),
    *("file_conversations.json", "huddle_transcripts.json", "canvas_in_the_conversation.json"),
)


def detect(source: Source) -> bool:
    """Whether a file is one of the lists, or the API's answer with one, by its name and its ids."""
    if PurePath(plain_name(source.path)).name not in _NAMES:
        return False
    found = [one for value in source.head() for one in [value, *objects(value, "members")[:5]]]
    return any(_ID.fullmatch(string(value, "id", "user_id", "bot_id")) for value in found)


def read(source: Source) -> Iterator[Record]:  # noqa: ARG001 - the shape of every reader
    """No turns."""
    yield from ()
