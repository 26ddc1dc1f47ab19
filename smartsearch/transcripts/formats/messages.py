"""Messages with `role` and `content` as OpenAI's interface writes them, in lists, conversations or lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from smartsearch.text.times import is_ambiguous, is_day_first, to_iso
from smartsearch.transcripts.filters import Facts, facts
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.fields import kind, string
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.own_calls import ids, is_result
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

# First one present wins. The loose ones (`speaker`, `text`) are what people's own scripts write.
_NAME_KEYS = ("name", "speaker", "author")
_TEXT_KEYS = ("content", "text")
_TIME_KEYS = ("time", "timestamp", "created_at", "create_time", "date")
_TURN_KEYS = ("id", "message_id", "uuid")
_ATTACHED = ("file", "audio", "video")
_FILE_KEYS = ("filename", "name")
_NAMED_KINDS = tuple(noun.encode() for noun in _ATTACHED)
_CONVERSATION_KEYS = ("conversation_id", "id", "title")


class _Message(NamedTuple):
    """A message at its place, and the names of the conversation and session around it."""

    item: Item
    conversation: str
    session: str = ""


def claims(value: object) -> bool:
    """Whether a value is a message, or a conversation of messages."""
    return _is_message(value) or _messages(value) is not None


def _is_message(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    who = isinstance(value.get("role"), str) or any(isinstance(value.get(key), str) for key in _NAME_KEYS)
    return who and any(isinstance(value.get(key, 0), str | list | None) for key in _TEXT_KEYS)


def _messages(value: object) -> list[Any] | None:
    """The messages of a conversation object or list, or None when `value` is no conversation."""
    found = value.get("messages") if isinstance(value, dict) else value
    if not isinstance(found, list) or (found and not any(_is_message(message) for message in found[:5])):
        return None
    return found if isinstance(value, dict) or found else None


def read(source: Source) -> Iterator[Record]:
    """Turns in file order. Messages without text, such as bare tool calls, are reported as `no_text`.

    What smartsearch itself returned to an agent is left out (own_calls.py).
    """
    messages = list(_walk(source))
    own = ids(message.item.value for message in messages)
    day_first = is_day_first(str(_first(message.item.value, _TIME_KEYS)) for message in messages)
    for message in messages:
        if not is_result(message.item.value, own):
            yield _turn(source, message, day_first)


def of_line(source: Source, value: object, line: int) -> Record | None:
    """What `read` makes of `value`, which stands alone on a line; None where more of the file decides.

    That is so of a conversation, which may be one of many, and of a date that may be day or month first.
    """
    if _messages(value) is not None or is_ambiguous(str(_first(value, _TIME_KEYS))):
        return None
    item = Item(value, line)
    if is_result(value, set()):
        return item.fault("what smartsearch itself returned", "no_text")
    return _turn(source, _Message(item, source.stem), day_first=True)


def as_written(lines: bytes) -> bool:
    """Whether what messages on these lines say stands in them letter by letter, but for `\\n` and its like.

    It does not where letters are escaped, or where a caption is put together of a part's kind and name.
    """
    if b"\\" in lines and (b"\\u" in lines or b"\\x" in lines):
        return False
    return b"[" not in lines or not any(noun in lines for noun in _NAMED_KINDS)


def facts_of_line(source: Source, value: object, line: int) -> Facts | Literal[False] | None:
    """The facts of the turn that `of_line` makes of `value`, without making it: False where it is no turn.

    None where more of the file decides.
    """
    content = _first(value, _TEXT_KEYS)
    plain = isinstance(value, dict) and isinstance(content, str) and content.strip()
    if not plain or is_result(value, set()):
        made = of_line(source, value, line)
        return None if made is None else facts(made) if isinstance(made, Turn) else False
    time = _first(value, _TIME_KEYS)
    if _messages(value) is not None or is_ambiguous(str(time)):
        return None
    role = string(value, "role")
    return Facts(
        string(value, "conversation_id") or source.stem,
        string(value, "session_id", "session"),
        "",
        string(value, *_NAME_KEYS) or role,
        role,
        to_iso(time) or source.day,
    )


def _walk(source: Source) -> Iterator[_Message]:
    """Every message of the file under its conversation's name: its own, else the file's, numbered if many."""
    items = list(source.items())
    nested = [_messages(item.value) for item in items]
    many = sum(found is not None for found in nested) > 1
    for n, (item, found) in enumerate(zip(items, nested, strict=True), 1):
        if found is None:
            yield _Message(item, source.stem)
            continue
        name = string(item.value, *_CONVERSATION_KEYS) or (f"{source.stem}#{n}" if many else source.stem)
        inside = item.elements("messages") if isinstance(item.value, dict) else item.elements()
        for one in inside:
            yield _Message(one, name, string(item.value, "session_id"))


def _turn(source: Source, message: _Message, day_first: bool) -> Record:
    item, value = message.item, message.item.value
    if not isinstance(value, dict):
        return item.fault(f"{kind(value)} in the place of a message")
    content = _first(value, _TEXT_KEYS)
    if not isinstance(content, str | list | None):
        return item.fault(f"`content` is {kind(content)}, not text or a list of parts")
    text, caption = _said(content)
    role = string(value, "role")
    return turn(
        source.path,
        item,
        text=text,
        speaker=string(value, *_NAME_KEYS) or role,
        time=to_iso(_first(value, _TIME_KEYS), day_first=day_first) or source.day,
        caption=caption,
        role=role,
        conversation=string(value, "conversation_id") or message.conversation,
        session=string(value, "session_id", "session") or message.session,
        turn=string(value, *_TURN_KEYS),
    )


def _said(content: str | list[Any] | None) -> tuple[str, str]:
    """The text of a content and a caption for the parts that are not text: `[image] [file plan.pdf]`."""
    if not isinstance(content, list):
        return content or "", ""
    texts, captions = [], []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            what = str(part.get("type") or "")
            if isinstance(part.get("text"), str):
                texts.append(part["text"])
            elif "image" in what:
                captions.append("[image]")
            elif noun := next((noun for noun in _ATTACHED if noun in what), ""):
                name = string(part, *_FILE_KEYS) or string(part.get(what), *_FILE_KEYS)
                captions.append(f"[{noun} {name}]" if name else f"[{noun}]")
    return "\n".join(texts), " ".join(captions)


def _first(value: object, keys: tuple[str, ...]) -> Any:
    if isinstance(value, dict):
        for key in keys:
            if value.get(key) is not None:
                return value[key]
    return None
