"""What a transcript format is: the record that a reader module fills. No format lives here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

Record = Turn | FormatError


@dataclass(frozen=True)
class Format:
    """One way to write a chat down: how to recognise it and how to read it.

    `detect` sees a decoded file and says whether it claims it; it never raises. `read` yields turns in
    file order, and a `FormatError` in the place of each record that does not fit; it raises one only
    when the rest of the file cannot be read. `notice` is told to the user whenever auto detection
    takes the format. `how` tells a person how to get such a file, in one line. `alone` is False where a
    file's turns depend on files beside it (`Source.beside`): an index cannot know then when they change.
    `silent` is for files that only go with others, such as a list of users: no turns in one is no news.
    `sparse` is for chats cut into so many files that one without turns is no news either.
    """

    name: str
    description: str
    extensions: tuple[str, ...]
    detect: Callable[[Source], bool]
    read: Callable[[Source], Iterator[Record]]
    notice: str = ""
    how: str = ""
    alone: bool = True
    silent: bool = False
    sparse: bool = False

    @property
    def is_json(self) -> bool:
        """Whether the format is made of JSON, so that a file that is not cannot be in it."""
        return ".json" in self.extensions
