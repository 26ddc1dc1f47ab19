"""X's, or Twitter's, archive: `direct-messages.js` and `direct-messages-group.js`, JSON behind an assignment.

Structure as its readers have it (search of GitHub for `window.YTD.direct_messages`); no real archive could
be looked at. People are ids; the owner's name is in `account.js` beside. Reactions, renamings and who came
and went are left out. Links stand as they lead, not as X shortened them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from smartsearch.text.times import to_iso
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.captions import attachment, joined
from smartsearch.transcripts.formats.fields import (
    in_time,
    kind,
    last_part,
    mapping,
    misfit,
    moment,
    objects,
    sequence,
    string,
    text,
)
from smartsearch.transcripts.formats.jsontext import Item, documents
from smartsearch.transcripts.formats.neighbours import made_beside
from smartsearch.transcripts.source import Source

_ASSIGNED = re.compile(r"\s{0,99}window\.YTD\.(?P<name>\w{1,60})\.part\d{1,4}\s{0,9}=")
_WRITTEN = ("messageCreate", "welcomeMessageCreate")


def detect(source: Source) -> bool:
    """Whether a file assigns direct messages."""
    found = _ASSIGNED.match(source.text)
    return found is not None and found["name"].startswith("direct_message") and "headers" not in found["name"]


def read(source: Source) -> Iterator[Record]:
    """Turns of every conversation, earliest first, conversations in the order of the file."""
    names = made_beside(source, "account.js", _owner) or {}
    for item in _assigned(source.text):
        for one in item.elements() if isinstance(item.value, list) else [item]:
            if not isinstance(mapping(one.value, "dmConversation").get("messages"), list):
                yield one.fault("no conversation with `messages` here")
                continue
            yield from _conversation(source, one, names)


def _assigned(written: str) -> tuple[Item, ...]:
    """What a file assigns. Raises FormatError `invalid_json`."""
    found = _ASSIGNED.match(written)
    return documents(written[found.end() :].rstrip().rstrip(";") if found else written, ".json").items


def _owner(written: str) -> dict[str, str]:
    """The name of the archive's owner by id."""
    try:
        items = _assigned(written)
    except FormatError:
        return {}
    accounts = [mapping(one, "account") for item in items for one in objects({"all": item.value}, "all")]
    return {string(one, "accountId"): text(one, "accountDisplayName", "username") for one in accounts}


def _conversation(source: Source, item: Item, names: dict[str, str]) -> Iterator[Record]:
    known = string(mapping(item.value, "dmConversation"), "conversationId") or source.stem
    events = [_event(one) for one in item.elements("dmConversation", "messages")]
    title = next((name for _, one in events if (name := text(_named(one.value), "name"))), "")
    by_place = {one.pointer: (key, one) for key, one in events}
    for one in in_time([one for _, one in events], lambda value: moment(string(value, "createdAt"))):
        key = by_place[one.pointer][0]
        if not isinstance(one.value, dict):
            yield one.fault(f"{kind(one.value)} in the place of a message")
        elif key in _WRITTEN:
            yield _turn(source, one, known, names, title)


def _event(item: Item) -> tuple[str, Item]:
    """What an event is and what it holds: an object with one key."""
    if isinstance(item.value, dict) and len(item.value) == 1:
        ((key, value),) = item.value.items()
        return key, Item(value, item.line, f"{item.pointer}/{key}")
    return "", item


def _named(value: object) -> object:
    return value if isinstance(value, dict) and "initiatingUserId" in value else None


def _turn(source: Source, item: Item, conversation: str, names: dict[str, str], title: str) -> Record:
    value = item.value
    if reason := misfit(value, "text"):
        return item.fault(reason)
    sender = string(value, "senderId")
    pictures = [attachment(last_part(one)) for one in sequence(value, "mediaUrls") if isinstance(one, str)]
    return turn(
        source.path,
        item,
        text=_expanded(value).strip(),
        speaker=names.get(sender) or sender,
        time=to_iso(value.get("createdAt")),
        caption=joined(pictures),
        conversation=conversation,
        turn=string(value, "id"),
        title=title,
    )


def _expanded(value: dict[str, Any]) -> str:
    said = text(value, "text")
    for one in objects(value, "urls")[:50]:
        short, whole = text(one, "url"), text(one, "expanded")
        said = said.replace(short, whole, 1) if short and whole else said
    return said
