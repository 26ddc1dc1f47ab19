"""Gemini in a Google Takeout: `MyActivity.json` of "Gemini Apps", a record for each prompt and its answer.

Structure as readers of real exports describe it (search of GitHub for `safeHtmlItem` and "Gemini Apps", e.g.
420AI's notes on 1,452 records): `header`, `title` ("Prompted ..." in English), `time`, the answer as HTML in
`safeHtmlItem`, newest first. Records have no ids and no conversations; a day is taken for a session.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from smartsearch.text.htmltext import text_of
from smartsearch.text.times import to_iso
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.fields import kind, sequence, string
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_ASKED = re.compile(r"(?:Prompted with:|Asked (?:Gemini|Bard):|Prompted|Asked|Said|Branched|Answered)\s+")
_DONE = re.compile(r"(?:Used|Gave feedback|Selected|Shared|Deleted|Viewed|Visited|Pinned|Renamed|Exported)\b")
"""How titles begin, in English, of what the user did and did not say; such a record has no answer."""

_MADE = re.compile(r"Created\b")
"""How the titles of documents begin that Gemini has made."""

_IMAGE = re.compile(r"\.(?:png|jpe?g|gif|webp|heic|bmp)$", re.I)


def claims(value: object) -> bool:
    """Whether a record says, in whatever language, that it is Gemini's (or Bard's, as it was called)."""
    if not isinstance(value, dict) or not isinstance(value.get("title"), str) or "time" not in value:
        return False
    labels = [string(value, "header"), *map(str, sequence(value, "products"))]
    return any(name in label.casefold() for label in labels for name in ("gemini", "bard"))


def read(source: Source) -> Iterator[Record]:
    """A turn for each prompt and one for its answer, the oldest first; other products are not read."""
    yield from turns(source, list(source.items()))


def turns(source: Source, items: Sequence[Item]) -> Iterator[Record]:
    """The turns of records, the oldest first. A record without a pointer is all there is at its line."""
    times = [to_iso(string(item.value, "time")) for item in items]
    dated = [time for time in times if time]
    newest_first = bool(dated) and dated[0] > dated[-1]
    for item in reversed(items) if newest_first else items:
        yield from _turns(source, item)


def _turns(source: Source, item: Item) -> Iterator[Record]:
    if not isinstance(item.value, dict):
        yield item.fault(f"{kind(item.value)} in the place of a record")
        return
    if not isinstance(item.value.get("title"), str):
        yield item.fault("a record without a `title`")
        return
    if not claims(item.value):
        return
    title, answer = item.value["title"].strip(), _answer(item.value)
    if not answer and _DONE.match(title):
        return
    asked = title[found.end() :] if (found := _ASKED.match(title)) else title
    said = [("user", asked, _files(item.value)), ("assistant", answer, "")]
    for role, text, caption in [("assistant", answer, f"[{title}]")] if _MADE.match(title) else said:
        if text or caption:
            time = to_iso(item.value.get("time"))
            key = "title" if role == "user" else "safeHtmlItem"
            yield turn(
                source.path,
                Item(None, item.line, f"{item.pointer}/{key}" if item.pointer or not item.line else ""),
                text=text,
                speaker=role,
                time=time,
                caption=caption,
                role=role,
                conversation=source.stem,
                session=time[:10],
            )


def _answer(value: dict[str, Any]) -> str:
    pieces = [text_of(string(piece, "html")) for piece in sequence(value, "safeHtmlItem")]
    return "\n".join(piece for piece in pieces if piece)


def _files(value: dict[str, Any]) -> str:
    """Captions of the files that were sent along."""
    names = [name for name in sequence(value, "attachedFiles") if isinstance(name, str)]
    return " ".join(f"[{'image' if _IMAGE.search(name) else 'file'} {name}]" for name in names)
