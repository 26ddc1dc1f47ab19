"""BEAM's `chat.json`: batches of user-assistant exchanges, now and then anchored in time.

Structure as in the published data: a list of `{batch_number, time_anchor, turns}`, `turns` a list of groups
of `{role, id, content, time_anchor?}`; a user's content ends in a marker such as `->-> 1,1`, which is no
part of what was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from smartsearch.text.times import to_iso
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Format, Record
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

_MARKER = re.compile(r"[\w,./()\s-]{,40}")


def detect(source: Source) -> bool:
    """Whether batches stand at the top."""
    heads = (value for value in source.head() if isinstance(value, dict))
    return any("batch_number" in value and "turns" in value for value in heads)


def read(source: Source) -> Iterator[Record]:
    """Turns of every batch; a time anchor holds until the next one in its batch."""
    name = _conversation(source)
    for item in source.items():
        groups = item.value.get("turns") if isinstance(item.value, dict) else None
        if not isinstance(groups, list):
            yield FormatError("no `turns` list here", line=item.line, pointer=item.pointer)
            continue
        yield from _batch(source.path, item, name, groups)


def _conversation(source: Source) -> str:
    """BEAM calls every file `chat.json` and numbers the folders."""
    folder = Path(source.path).absolute().parent.name
    return folder if source.stem == "chat" and folder else source.stem


def _unmarked(content: str) -> str:
    said, _, marker = content.rpartition("->->")
    return said.rstrip() if said and _MARKER.fullmatch(marker) else content


def _batch(path: str, item: Item, name: str, groups: list[Any]) -> Iterator[Record]:
    session = str(item.value.get("batch_number", ""))
    time = to_iso(item.value.get("time_anchor"))
    for g, group in enumerate(groups):
        place = f"{item.pointer}/turns/{g}"
        if not isinstance(group, list):
            yield FormatError("not a list of turns", line=item.line, pointer=place)
            continue
        for t, turn in enumerate(group):
            pointer = f"{place}/{t}"
            content = turn.get("content") if isinstance(turn, dict) else None
            if not isinstance(content, str):
                yield FormatError("a turn without a `content` string", line=item.line, pointer=pointer)
                continue
            time = to_iso(turn.get("time_anchor")) or time
            text = _unmarked(content)
            if not text.strip():
                yield FormatError("an empty turn", line=item.line, pointer=pointer, kind="no_text")
                continue
            role, turn_id = str(turn.get("role") or ""), turn.get("id")
            yield Turn(
                text=text,
                speaker=role,
                time=time,
                role=role,
                path=path,
                line=item.line,
                pointer=pointer,
                conversation=name,
                session=session,
                turn="" if turn_id is None else str(turn_id),
            )


FORMAT = Format(
    name="beam",
    description="BEAM chat.json: batches with `batch_number` and `turns`",
    extensions=(".json",),
    detect=detect,
    read=read,
)
