"""Telegram Desktop's `messages.html`, `messages2.html`, ...: a chat as pages of a thousand messages.

Structure as in telegramdesktop/tdesktop, Telegram/SourceFiles/export/output/export_output_html.cpp, and in
exports of public channels. What is left out is what the reader of `result.json` leaves out: service
messages (who joined, called, pinned), reactions, the buttons of bots, the link to the message that is
replied to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from smartsearch.text.htmltext import Element, elements, text_of
from smartsearch.text.times import to_iso
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.captions import attachment, bracketed, joined, linked, polled
from smartsearch.transcripts.formats.fields import last_part
from smartsearch.transcripts.formats.html import is_html
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_MESSAGE = re.compile(
    r'<div class="message (?P<kind>default|service)[^"<>]*" id="message-?(?P<id>\d+)"[^<>]*>', re.A
)
_NAME = re.compile(r'<div class="page_header">.{0,800}?<div class="text bold">(?P<name>[^<]{1,400})<', re.S)
_OFFSET = re.compile(r" UTC(?=[+-]\d)")
_VIA = re.compile(r" via @\w+$")
# Classes of what a message holds, and the noun of its caption. A link to a file is named by its path.
_FILES = {
    "photo_wrap": "image",
    "media_photo": "image",
    "animated_wrap": "video",
    "video_file_wrap": "video",
    "media_video": "video",
    "media_voice_message": "audio",
}
_TITLED = {
    "media_audio_file": "audio",
    "media_contact": "contact",
    "media_location": "location",
    "media_live_location": "location",
    "media_venue": "place",
    "media_game": "game",
    "media_invoice": "invoice",
}
_UNNAMED = {"Audio file", "Location", "Live location", "File"}
"""Titles that stand where a name could."""
_TAGS = 5_000
"""Tags in one message, which are held in memory: a text of Telegram's has 4,096 characters."""


class _Parts(NamedTuple):
    """The HTML of one message, and its elements with their classes."""

    html: str
    found: list[tuple[frozenset[str], Element]]

    def first(self, *classes: str, after: int = 0) -> Element | None:
        """The first element behind `after` that has all of the classes."""
        wanted = frozenset(classes)
        return next((one for own, one in self.found if wanted <= own and one.start >= after), None)

    def text(self, *classes: str, after: int = 0) -> str:
        """The text of the first such element, or ""."""
        found = self.first(*classes, after=after)
        return text_of(self.html[found.start : found.end]) if found else ""


def detect(source: Source) -> bool:
    """Whether a file is a page with Telegram's messages."""
    return is_html(source) and _MESSAGE.search(source.text, 0, 1 << 16) is not None


def read(source: Source) -> Iterator[Record]:
    """Turns of the page in its order, which is that of time."""
    text = source.text.replace("\r\n", "\n").replace("\r", "\n")
    named = _NAME.search(text, 0, 1 << 16)
    name = (text_of(named["name"]) if named else "") or source.folder or source.stem
    messages = list(_MESSAGE.finditer(text))
    line, at, speaker, origin = 1, 0, "", ""
    for n, message in enumerate(messages):
        line, at = line + text.count("\n", at, message.start()), message.start()
        if message["kind"] == "service":
            continue
        end = messages[n + 1].start() if n + 1 < len(messages) else len(text)
        if text.count("<", message.end(), end) > _TAGS:
            yield Item(None, line).fault(f"a message of more than {_TAGS:,} tags", "too_large")
            continue
        html = text[message.end() : end]
        parts = _Parts(html, [(one.classes, one) for one in elements(html) if "class" in one.tag])
        speaker = _speaker(parts) or speaker
        origin = _origin(parts, origin)
        if parts.first("media_call") is None:
            yield _turn(source.path, Item(None, line), parts, speaker, origin, name, message["id"])
    if not messages:
        yield Item(None, 0).fault("no messages of Telegram's here")


def _speaker(parts: _Parts) -> str:
    """Who wrote a message; "" where it is joined to the one before, which says it."""
    name, forwarded = parts.first("from_name"), parts.first("forwarded", "body")
    if name is None or (forwarded and name.start > forwarded.start):
        return ""
    return _VIA.sub("", text_of(parts.html[name.start : name.end]))


def _turn(
    path: str, item: Item, parts: _Parts, speaker: str, origin: str, conversation: str, known: str
) -> Record:
    date = parts.first("date", "details")
    return turn(
        path,
        item,
        text=_text(parts),
        speaker=speaker,
        time=to_iso(_OFFSET.sub("", date.attributes.get("title", ""))) if date else "",
        caption=joined((bracketed("forwarded from", origin) if origin else "", _media(parts))),
        conversation=conversation,
        turn=known,
    )


def _text(parts: _Parts) -> str:
    found = next((one for classes, one in parts.found if classes == {"text"}), None)
    inside = _with_links(parts.html[found.start : found.end]).strip() if found else ""
    return text_of(f"<pre>{inside}</pre>", mail=True).strip() if inside else ""  # with the blanks it has


def _with_links(html: str) -> str:
    """HTML in which the address of a link stands behind its words, as it does in text."""
    if "<a " not in html:
        return html
    pieces, at = [], 0
    for link in elements(html):
        if link.name == "a" and link.start >= at:
            label = text_of(html[link.start : link.end])
            href = link.attributes.get("href", "")
            address = href if "//" in href and label[:1] not in "@#/$" else ""
            broken = "<br>" if html[link.start : link.end].endswith("<br>") else ""
            pieces += [html[at : link.start], escape(linked(label, address)).replace("\n", "<br>"), broken]
            at = link.end
    return "".join([*pieces, html[at:]])


def _origin(parts: _Parts, before: str) -> str:
    """Whose message was forwarded, "" of none; the second of a series is whose the first is."""
    body = parts.first("forwarded", "body")
    if body is None:
        return ""
    name = parts.first("from_name", after=body.start)
    return _VIA.sub("", _words(parts, name)) if name else before


def _media(parts: _Parts) -> str:
    """The caption of what a message holds beside its text."""
    for classes, one in parts.found:
        if "sticker_wrap" in classes:
            return "[sticker]"
        if "media_poll" in classes:
            return _poll(parts)
        if "media_file" in classes:
            title = parts.text("title", after=one.start)
            return attachment("" if title in _UNNAMED else title)
        if noun := next((_FILES[known] for known in classes & _FILES.keys()), ""):
            return _file(parts, one, noun)
        if noun := next((_TITLED[known] for known in classes & _TITLED.keys()), ""):
            return _titled(parts, one, noun)
    unknown = parts.text("media_wrap")
    return bracketed("media", unknown) if unknown else ""


def _file(parts: _Parts, one: Element, noun: str) -> str:
    if parts.text("title", after=one.start) == "Sticker":
        emoji = parts.text("status", after=one.start).partition(", ")[0]
        return bracketed("sticker", "" if any(map(str.isdigit, emoji)) else emoji)
    return bracketed(noun, last_part(one.attributes.get("href", "")))


def _titled(parts: _Parts, one: Element, noun: str) -> str:
    title, description, status = (
        parts.text(word, after=one.start) for word in ("title", "description", "status")
    )
    told = {"contact": (status,), "location": (status,), "audio": (), "place": (description,)}
    known = "" if title in _UNNAMED else title
    return bracketed(noun, *filter(None, (known, *told.get(noun, (description, status)))))


def _poll(parts: _Parts) -> str:
    answers = [_words(parts, one).removeprefix("- ") for classes, one in parts.found if "answer" in classes]
    return polled(parts.text("question"), answers)


def _words(parts: _Parts, one: Element) -> str:
    """The words of an element up to the next tag."""
    end = parts.html.find("<", one.start, one.end)
    return text_of(parts.html[one.start : one.end if end < 0 else end])
