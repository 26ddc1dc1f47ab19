"""BEAM's `chat.json`: batches of user-assistant exchanges, now and then anchored in time.

Structure as in the published data: a list of `{batch_number, time_anchor, turns}`, `turns` a list of groups
of `{role, id, content, time_anchor?}`; a user's content ends in a marker such as `->-> 1,1`, which is no
part of what was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from smartsearch.text.times import to_iso
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_MARKER = re.compile(r"[\w,./()\s-]{,40}")


def claims(value: object) -> bool:
    """Whether a value is a batch."""
    return isinstance(value, dict) and "batch_number" in value and "turns" in value


def read(source: Source) -> Iterator[Record]:
    """Turns of every batch; a time anchor holds until the next one in its batch."""
    name = (source.folder if source.stem == "chat" else "") or source.stem  # every file is called so
    for item in source.items():
        if isinstance(item.value, dict) and isinstance(item.value.get("turns"), list):
            yield from _batch(source.path, item, name)
        else:
            yield item.fault("no `turns` list here")


def _unmarked(content: str) -> str:
    said, _, marker = content.rpartition("->->")
    return said.rstrip() if said and _MARKER.fullmatch(marker) else content


def _batch(path: str, item: Item, name: str) -> Iterator[Record]:
    session = str(item.value.get("batch_number", ""))
    time = to_iso(item.value.get("time_anchor"))
    for group in item.elements("turns"):
        if not isinstance(group.value, list):
            yield group.fault("not a list of turns")
        for said in group.elements():
            value = said.value
            content = value.get("content") if isinstance(value, dict) else None
            if not isinstance(content, str):
                yield said.fault("a turn without a `content` string")
                continue
            time = to_iso(value.get("time_anchor")) or time
            role, turn_id = str(value.get("role") or ""), value.get("id")
            yield turn(
                path,
                said,
                text=_unmarked(content),
                speaker=role,
                time=time,
                role=role,
                conversation=name,
                session=session,
                turn="" if turn_id is None else str(turn_id),
            )
