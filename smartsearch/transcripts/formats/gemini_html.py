"""Gemini in a Google Takeout as HTML, which is its default: `MyActivity.html` of "Gemini Apps".

Structure as readers of real exports have it (search of GitHub for `outer-cell mdl-cell` and "Prompted"): a
cell a record with a header, then the prompt, what is attached, the time and the answer, `<br>` between
them; newest first. No real file could be looked at. A record becomes one of `MyActivity.json`'s and is read
so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

from smartsearch.text.htmltext import inside, text_of
from smartsearch.text.times import is_day_first, to_iso
from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats.assistants import FORMS
from smartsearch.transcripts.formats.html import is_html
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_CELL = re.compile(r'<div class="outer-cell [^"<>]*"[^<>]*>')
_OURS = re.compile(r'mdl-typography--title">[^<]{0,80}(?:gemini|bard)', re.I)
_BREAK = re.compile(r"<br\s{0,9}/?>", re.I)
_ZONE = re.compile(r"\s[A-Z]{2,5}$")
"""A zone's short name, which several zones share: the time is local then. UTC and offsets are kept."""
_CLOCK = re.compile(r"\d{1,2}[:.]\d{2}[:.]\d{2}")
_YEAR = re.compile(r"(?<!\d)20\d\d(?!\d)")
_ATTACHED = re.compile(r"Attached \d+ files?\.?")


def detect(source: Source) -> bool:
    """Whether a file is a page of My Activity with records of Gemini, or of Bard, as it was called."""
    return is_html(source) and _CELL.search(source.text) is not None and _OURS.search(source.text) is not None


def read(source: Source) -> Iterator[Record]:
    """A turn for each prompt and one for its answer, the oldest first; other products are not read."""
    text = source.text.replace("\r\n", "\n").replace("\r", "\n")
    starts = [found.end() for found in _CELL.finditer(text)]
    cells = [(at, text[at:end]) for at, end in pairwise([*starts, len(text)])]
    parted = [(at, _parted(cell)) for at, cell in cells]
    day_first = is_day_first(when for _, record in parted if record for when in [record["time"]])
    items, line, before = [], 1, 0
    for at, record in parted:
        line, before = line + text.count("\n", before, at), at
        if record is None:
            yield Item(None, line).fault("a record without its time")
        else:
            items.append(Item({**record, "time": _iso(record["time"], day_first)}, line))
    yield from replace(FORMS["gemini-activity"], items=lambda _: items).read(source)


def _parted(cell: str) -> dict[str, Any] | None:
    """A record as in `MyActivity.json`, with its time as written; None where none stands in it."""
    header = text_of(inside(cell, "mdl-typography--title"))
    pieces = _BREAK.split(inside(cell, "mdl-typography--body-1"))
    at = next((n for n, piece in enumerate(pieces) if n and _is_time(piece)), 0)
    if not at:
        return None
    prompt, files = _prompt(pieces[:at])
    answer = "<br>".join(pieces[at + 1 :])
    return {
        "header": header,
        "title": prompt,
        "time": text_of(pieces[at]),
        "safeHtmlItem": [{"html": answer}],
        "attachedFiles": files,
    }


def _is_time(piece: str) -> bool:
    """Whether a piece between two breaks is the time of a record, in whatever language it is written."""
    if len(piece) > 120 or not _CLOCK.search(piece):
        return False
    said = text_of(piece)
    return bool(_iso(said, day_first=True)) or (len(said) < 50 and _YEAR.search(said) is not None)


def _iso(said: str, day_first: bool) -> str:
    said = said.replace("\u202f", " ").replace("\xa0", " ")
    return to_iso(said, day_first=day_first) or to_iso(_ZONE.sub("", said), day_first=day_first)


def _prompt(pieces: list[str]) -> tuple[str, list[str]]:
    """What was asked, with the line breaks that it has, and the names of the files sent along."""
    said, files = [text_of(f"<pre>{pieces[0]}</pre>")], []
    for piece in pieces[1:]:
        if "<a " in piece:
            files.append(text_of(piece).lstrip("-\xa0 "))
        elif not _ATTACHED.fullmatch(text_of(piece)):
            said.append(text_of(f"<pre>{piece}</pre>"))
    return "\n".join(said).strip(), [name for name in files if name]
