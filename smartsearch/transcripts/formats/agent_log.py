"""What the logs of coding agents share: messages, tool calls and results, in order, to turns.

A tool call is no turn of its own but a caption of what the assistant said with it. Calls of smartsearch
itself and what they returned are left out (own_calls.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from smartsearch.text.longtimes import time_of
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.captions import bracketed, joined
from smartsearch.transcripts.formats.fields import kind, mapping, string
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.own_calls import is_own
from smartsearch.transcripts.formats.tool_calls import arguments, caption


class Place(NamedTuple):
    """Where a turn stands, when it was said (as the source writes it) and the ids around it."""

    item: Item
    time: object
    conversation: str
    turn: str = ""
    session: str = ""


class Said(NamedTuple):
    """A text of the user or the assistant. Texts and calls with the same `message` are one turn."""

    role: str
    text: str
    caption: str
    place: Place
    message: str = ""


class Called(NamedTuple):
    """A tool call; without a `message` of its own it belongs to what the assistant just said."""

    tool: str
    arguments: object
    call: str
    place: Place
    message: str = ""


class Returned(NamedTuple):
    """What a tool gave back to the call with that id; `tool` where the source repeats its name."""

    call: str
    text: str
    caption: str
    place: Place
    tool: str = ""


Event = Said | Called | Returned | FormatError


class _Open(NamedTuple):
    """The turn that is still being added to."""

    role: str
    place: Place
    message: str
    texts: list[str]
    captions: list[str]


def turns(path: str, title: str, events: Iterable[Event]) -> Iterator[Record]:
    """Turns of one log in its order; faults stay where they are. What is empty leaves no turn."""
    tools: dict[str, str] = {}
    own: set[str] = set()
    open_: _Open | None = None

    def made(role: str, speaker: str, text: str, caption: str, place: Place) -> Iterator[Record]:
        if caption or text.strip():
            yield turn(
                path,
                place.item,
                text,
                speaker,
                time_of(place.time),
                caption,
                role=role,
                conversation=place.conversation,
                session=place.session,
                turn=place.turn,
                title=title,
            )

    def closed() -> Iterator[Record]:
        nonlocal open_
        if open_:
            text, captions, role = "\n".join(open_.texts), " ".join(open_.captions), open_.role
            yield from made(role, role, text, captions, open_.place)
        open_ = None

    for event in events:
        if isinstance(event, Called):
            if is_own(event.tool, event.arguments):
                own.add(event.call)
                continue
            tools[event.call] = event.tool
        if isinstance(event, Called | Said):
            role = event.role if isinstance(event, Said) else "assistant"
            goes_on = event.message == open_.message if event.message and open_ else isinstance(event, Called)
            if open_ is None or open_.role != role or not goes_on:
                yield from closed()
                open_ = _Open(role, event.place, event.message, [], [])
            if isinstance(event, Called):
                open_.captions.append(caption(event.tool, event.arguments))
                continue
            if event.text:
                open_.texts.append(event.text)
            if event.caption:
                open_.captions.append(event.caption)
        else:
            yield from closed()
            if isinstance(event, FormatError):
                yield event
            elif not (event.call and event.call in own) and not is_own(event.tool):
                tool = event.tool or tools.get(event.call, "") or "tool"
                yield from made("tool", tool, event.text, event.caption, event.place)
    yield from closed()


def no_object(item: Item) -> FormatError:
    """The fault of a record that is no JSON object."""
    return item.fault(f"{kind(item.value)} in the place of a record")


def parts(content: object) -> tuple[str, str]:
    """The text of a content, a string or parts with a `text`, and a caption for its other parts."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else "", ""
    found = list(map(of_part, content))
    return "\n".join(text for text, _ in found if text), joined(shown for _, shown in found)


def of_part(part: object) -> tuple[str, str]:
    """The text of a part, or a caption for it; neither of reasoning."""
    if not isinstance(part, dict):
        return part if isinstance(part, str) else "", ""
    what = string(part, "type")
    if what in ("reasoning", "thinking"):
        return "", ""
    if said := string(part, "text"):
        return said, ""
    if said := string(mapping(part, "text"), "value") or (string(part, "value") if what == "text" else ""):
        return said, ""
    if what == "tool_call":
        call = arguments(part.get("value"))
        return "", caption(string(call, "name"), arguments(mapping(call).get("arguments", call)))
    held = mapping(part, "inlineData") or mapping(part, "fileData")
    what = what or (string(held, "mimeType") or "file" if held else "")
    if "image" in what or string(part, "mime").startswith("image/"):
        return "", "[image]"
    noun = next((noun for noun in ("audio", "video", "file") if noun in what), "file" if held else "")
    if not noun and what != "document":
        return "", ""
    names = ("title", "filename", "name")
    return "", bracketed(noun or "file", string(part, *names) or string(part.get(what), *names))


def without(text: str, tags: Iterable[str]) -> str:
    """`text` without the blocks `<tag ...>...</tag>` of these tags; a block that is not closed stays."""
    for tag in tags:
        opening, closing = f"<{tag}", f"</{tag}>"
        if closing not in text:
            continue
        kept, at = [], 0
        while (start := text.find(opening, at)) >= 0:
            after = start + len(opening)
            if text[after : after + 1] not in (">", " ", "\n"):
                kept.append(text[at:after])
                at = after
                continue
            end = text.find(closing, after)
            if end < 0:
                break
            kept.append(text[at:start])
            at = end + len(closing)
        text = ("".join(kept) + text[at:]).strip()
    return text
