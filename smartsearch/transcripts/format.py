"""What a transcript format is: a row of the registry's table, and the reader module behind it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.keys import Named
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

if TYPE_CHECKING:
    from smartsearch.transcripts.formats.heads import Head

Record = Turn | FormatError
READERS = "smartsearch.transcripts.formats"
"""The package in which the reader of a format is a module of the format's name."""


@dataclass(frozen=True)
class Format:
    """One way to write a chat down, with what a person has to know of it.

    Its reader, `gemini_html.py` for `gemini-html`, is imported when the format is asked for: its patterns
    take time to compile. `read(source)` there yields turns in file order, and a `FormatError` in the place of
    each record that does not fit; it raises one only when the rest of the file cannot be read. A file is in
    the format where `detect(source)` says so, or, for JSON, `claims(value)` of one of the first `records`
    records. Neither ever raises.

    `how` tells a person how to get such a file, in one line. `notice` is told to the user whenever auto
    detection takes the format. `alone` is False where a file's turns depend on files beside it
    (`Source.beside`): an index cannot know then when they change. `silent` is for files that only go with
    others, such as a list of users: no turns in one is no news. `sparse` is for chats cut into so many files
    that one without turns is no news either. `rest` says what else such files are full of that is no turn:
    little of one is explained by its turns (explained.py), and that is no news. `once` is for logs whose
    sessions, resumed in another file of the folder, begin with the turns of the first. `named` are the keys,
    or the head of turns, that a user named, for a reader that takes them. `among` is the module whose `FORMS`
    declare it (form.py, textform.py).
    """

    name: str
    description: str
    extensions: tuple[str, ...]
    how: str = ""
    records: int = 5
    notice: str = ""
    alone: bool = True
    silent: bool = False
    sparse: bool = False
    rest: str = ""
    once: bool = False
    named: Named | Head | None = None
    among: str = ""

    @property
    def is_json(self) -> bool:
        """Whether the format is made of JSON, so that a file that is not cannot be in it."""
        return ".json" in self.extensions

    @cached_property
    def _reader(self) -> Any:
        if self.among:
            return import_module(f"{READERS}.{self.among}").FORMS[self.name]
        return import_module(f"{READERS}.{self.name.replace('-', '_')}")

    def detect(self, source: Source) -> bool:
        """Whether a decoded file is in this format."""
        if detect := getattr(self._reader, "detect", None):
            found: bool = detect(source)
            return found
        claims = self._reader.has if self.among else self._reader.claims
        return any(map(claims, source.head(self.records)))

    def told(self, source: Source) -> str:
        """What the reader inferred of a file, in a word for the user; "" where it has nothing to infer."""
        found: str = self._reader.told(source) if hasattr(self._reader, "told") and not self.named else ""
        return found

    def read(self, source: Source) -> Iterator[Record]:
        """The turns of a file and the faults of what is none, in file order.

        A turn without a date has that of the file's name.
        """
        for record in self._reader.read(source, *([self.named] if self.named else [])):
            undated = source.day and isinstance(record, Turn) and not record.time
            yield replace(record, time=source.day) if undated else record


def turn(
    path: str,
    item: Item,
    text: str,
    speaker: str,
    time: str,
    caption: str = "",
    *,
    conversation: str,
    role: str = "",
    session: str = "",
    turn: str = "",
    title: str = "",
) -> Record:
    """The turn at `item` of a file, or the fault `no_text` where it has neither a text nor a caption."""
    if not caption and not text.strip():
        return item.fault("a message without text", kind="no_text")
    _, line, pointer = item
    return Turn(text, speaker, time, caption, role, path, line, pointer, conversation, session, turn, title)
