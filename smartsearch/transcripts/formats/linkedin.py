"""LinkedIn's `messages.csv` of its "Download your data": all conversations of an account.

Structure as its readers describe it (search of GitHub for its first row); no real file could be looked at.
Rows come latest first. A conversation is named by its title, or by who is in it. Drafts are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from smartsearch.text.htmltext import text_of
from smartsearch.text.times import to_iso
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.captions import attachment, joined
from smartsearch.transcripts.formats.csvtext import has_columns, records
from smartsearch.transcripts.formats.fields import in_time, last_part, moment, text
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_COLUMNS = ("CONVERSATION ID", "FROM", "TO", "DATE", "CONTENT")


def detect(source: Source) -> bool:
    """Whether a table has the columns of LinkedIn's messages."""
    return has_columns(source, _COLUMNS)


def read(source: Source) -> Iterator[Record]:
    """Turns of every conversation, earliest first, conversations in the order of the file."""
    chats: dict[str, list[Item]] = {}
    for item in records(source):
        if isinstance(item, FormatError):
            yield item
        elif not (text(item.value, "CONTENT", "FROM") and "CONTENT" in item.value):
            yield item.fault("a row without what was said")
        else:
            chats.setdefault(text(item.value, "CONVERSATION ID"), []).append(item)
    names = {known: _name(items) for known, items in chats.items()}
    counts = Counter(names.values())
    for known, items in chats.items():
        single = bool(names[known]) and counts[names[known]] == 1
        name, title = (names[known], "") if single else (known or source.stem, names[known])
        for item in in_time(items, lambda value: moment(text(value, "DATE"))):
            if text(item.value, "IS MESSAGE DRAFT").casefold() != "yes":
                yield _turn(source.path, item, name, title)


def _name(items: list[Item]) -> str:
    """A conversation's title, or the names of those in it, in the order in which they come."""
    title = next((found for item in items if (found := text(item.value, "CONVERSATION TITLE"))), "")
    people = [name for item in reversed(items) for key in ("FROM", "TO") for name in _people(item, key)]
    return title or ", ".join(dict.fromkeys(people))


def _people(item: Item, key: str) -> list[str]:
    return [name for part in text(item.value, key).split(",") if (name := part.strip())]


def _turn(path: str, item: Item, conversation: str, title: str) -> Record:
    value = item.value
    content = text(value, "CONTENT").strip()
    said = text_of(content) if content.startswith("<p") else content
    files = [attachment(last_part(one)) for one in text(value, "ATTACHMENTS").split()]
    return turn(
        path,
        item,
        text="\n".join(filter(None, (text(value, "SUBJECT").strip(), said))),
        speaker=text(value, "FROM"),
        time=to_iso(text(value, "DATE")),
        caption=joined(files),
        conversation=conversation,
        title=title,
    )
