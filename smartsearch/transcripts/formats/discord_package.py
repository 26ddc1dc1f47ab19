"""Discord's own data package: `messages/c123/messages.json`, what the owner wrote in one channel.

Structure as its readers describe it (search of GitHub for `ID,Timestamp,Contents,Attachments`); no real
package could be looked at. Nobody else's messages are in it. The channel's name is in `channel.json` beside
it, or in `index.json` above; the owner's in the folder `account`. Older packages have the same as CSV
(discord_csv.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from smartsearch.text.times import to_iso
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.captions import attachment, joined
from smartsearch.transcripts.formats.fields import in_time, last_part, mapping, misfit, moment, string, text
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.neighbours import value_beside
from smartsearch.transcripts.source import Source

COLUMNS = ("ID", "Timestamp", "Contents")
_OWNERS = ("../../account/user.json", "../../Account/user.json")


class _Channel(NamedTuple):
    """What a channel is called, alone and with its server, and who wrote in it."""

    name: str
    title: str
    owner: str


def claims(value: object) -> bool:
    """Whether a value is a message of the package."""
    return isinstance(value, dict) and all(name in value for name in COLUMNS)


def read(source: Source) -> Iterator[Record]:
    """Turns of the channel, earliest first."""
    yield from turns(source, source.items())


def turns(source: Source, items: Iterable[Item | FormatError]) -> Iterator[Record]:
    """The turns of records that are as the package has them, earliest first."""
    found = list(items)
    yield from (one for one in found if isinstance(one, FormatError))
    channel = _channel(source)
    kept = [one for one in found if isinstance(one, Item)]
    for item in in_time(kept, lambda value: moment(string(value, "Timestamp"))):
        if reason := misfit(item.value, "Contents"):
            yield item.fault(reason)
        elif not claims(item.value):
            yield item.fault("no message of a channel")
        else:
            yield turn(
                source.path,
                item,
                text=text(item.value, "Contents").strip(),
                speaker=channel.owner,
                time=to_iso(item.value.get("Timestamp")),
                caption=joined(map(_file, text(item.value, "Attachments").split())),
                conversation=channel.name,
                turn=string(item.value, "ID"),
                title=channel.title,
            )


def _channel(source: Source) -> _Channel:
    told = value_beside(source, "channel.json")
    index = value_beside(source, "../index.json")
    known = string(told, "id") or source.folder.removeprefix("c")
    label = text(index, known)
    name, guild = text(told, "name"), text(mapping(told, "guild"), "name")
    owner = next((found for path in _OWNERS if (found := value_beside(source, path))), None)
    title = f"{guild} / {name}" if guild and name else ""
    return _Channel(
        name or label or source.folder or source.stem, title, text(owner, "global_name", "username")
    )


def _file(url: str) -> str:
    return attachment(last_part(url.partition("?")[0]))
