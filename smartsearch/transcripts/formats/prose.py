"""Prose, the last resort: any text that is no known chat, a paragraph a turn, and said so."""

from __future__ import annotations

from collections.abc import Iterator

from smartsearch.transcripts.format import Format, Record
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn


def detect(source: Source) -> bool:
    """Any text but JSON, which has a shape of its own that prose would hide."""
    return not source.json.items


def read(source: Source) -> Iterator[Record]:
    """Paragraphs, parted by blank lines, as turns without a speaker; `line` is a paragraph's first."""
    paragraph: list[str] = []
    for number, line in enumerate([*source.lines, ""], 1):
        if line.strip():
            paragraph.append(line.rstrip())
        elif paragraph:
            yield Turn(
                text="\n".join(paragraph).strip(),
                path=source.path,
                line=number - len(paragraph),
                conversation=source.stem,
            )
            paragraph = []


FORMAT = Format(
    name="prose",
    description="any other text, a paragraph a turn",
    extensions=(".txt", ".md", ".markdown", ".log"),
    detect=detect,
    read=read,
    notice="no chat format recognised, read as prose, a paragraph a turn",
)
