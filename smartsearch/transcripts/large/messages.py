"""Messages with `role` and `content` as OpenAI's interface writes them, in lists, conversations or lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from smartsearch.text.times import is_ambiguous, is_day_first, to_iso
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.filters import Facts, facts
from smartsearch.transcripts.format import Format, Record
from smartsearch.transcripts.formats.own_calls import ids, is_result
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

# First one present wins. The loose ones (`speaker`, `text`) are what people's own scripts write.
_NAME_KEYS = ("name", "speaker", "author")
_TEXT_KEYS = ("content", "text")
_TIME_KEYS = ("time", "timestamp", "created_at", "create_time", "date")
_TURN_KEYS = ("id", "message_id", "uuid")
_ATTACHED = ("file", "audio", "video")
_NAMED_KINDS = tuple(kind.encode() for kind in _ATTACHED)
_CONVERSATION_KEYS = ("conversation_id", "id", "title")


@dataclass(frozen=True)
class _Message:
    """A message's value, its place, and the names of the conversation and session around it."""

    value: Any
    line: int
    pointer: str
    conversation: str
    session: str = ""


def detect(source: Source) -> bool:
    """Whether messages, or conversations of messages, stand at the top."""
    return any(_is_message(value) or _messages(value) is not None for value in source.head())


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
    own = ids(m.value for m in messages if isinstance(m, _Message))
    day_first = is_day_first(str(_first(m.value, _TIME_KEYS)) for m in messages if isinstance(m, _Message))
    for message in messages:
        if isinstance(message, FormatError):
            yield message
        elif not is_result(message.value, own):
            yield _turn(source.path, message, day_first)


def of_line(source: Source, value: object, line: int) -> Record | None:
    """What `read` makes of `value`, which stands alone on a line; None where more of the file decides.

    That is so of a conversation, which may be one of many, and of a date that may be day or month first.
    """
    if _messages(value) is not None or is_ambiguous(str(_first(value, _TIME_KEYS))):
        return None
    if not isinstance(value, dict):
        return _no_message(value, line, "")
    if is_result(value, set()):
        return FormatError("what smartsearch itself returned", line=line, kind="no_text")
    return _turn(source.path, _Message(value, line, "", source.stem), day_first=True)


def as_written(lines: bytes) -> bool:
    """Whether what messages on these lines say stands in them letter by letter, but for `\\n` and its like.

    It does not where letters are escaped, or where a caption is put together of a part's kind and name.
    """
    if b"\\" in lines and (b"\\u" in lines or b"\\x" in lines):
        return False
    return b"[" not in lines or not any(kind in lines for kind in _NAMED_KINDS)


def facts_of_line(source: Source, value: object, line: int) -> Facts | Literal[False] | None:
    """The facts of the turn that `of_line` makes of `value`, without making it: False where it is no turn.

    None where more of the file decides.
    """
    content = _first(value, _TEXT_KEYS)
    plain = isinstance(value, dict) and isinstance(content, str) and content.strip()
    if not plain or is_result(value, set()):
        made = of_line(source, value, line)
        return facts(made) if isinstance(made, Turn) else None if made is None else False
    time = _first(value, _TIME_KEYS)
    if _messages(value) is not None or is_ambiguous(str(time)):
        return None
    role = _text_id(value, ("role",))
    return Facts(
        _text_id(value, ("conversation_id",)) or source.stem,
        _text_id(value, ("session_id", "session")),
        "",
        _text_id(value, _NAME_KEYS) or role,
        role,
        to_iso(time),
    )


def _no_message(value: object, line: int, pointer: str) -> FormatError:
    return FormatError(f"{_kind(value)} in the place of a message", line=line, pointer=pointer)


def _walk(source: Source) -> Iterator[_Message | FormatError]:
    """Every message of the file under its conversation's name: its own, else the file's, numbered if many."""
    items = list(source.items())
    nested = [_messages(item.value) for item in items]
    many = sum(found is not None for found in nested) > 1
    for n, (item, found) in enumerate(zip(items, nested, strict=True), 1):
        if found is None:
            if not isinstance(item.value, dict):
                yield _no_message(item.value, item.line, item.pointer)
                continue
            yield _Message(item.value, item.line, item.pointer, source.stem)
            continue
        holder = item.value if isinstance(item.value, dict) else {}
        name = _text_id(holder, _CONVERSATION_KEYS) or (f"{source.stem}#{n}" if many else source.stem)
        place = f"{item.pointer}/messages" if holder else item.pointer
        for i, value in enumerate(found):
            yield _Message(value, item.line, f"{place}/{i}", name, _text_id(holder, ("session_id",)))


def _turn(path: str, message: _Message, day_first: bool) -> Record:
    value = message.value
    place: dict[str, Any] = {"line": message.line, "pointer": message.pointer}
    if not isinstance(value, dict):
        return _no_message(value, message.line, message.pointer)
    content = _first(value, _TEXT_KEYS)
    if not isinstance(content, str | list | None):
        return FormatError(f"`content` is {_kind(content)}, not text or a list of parts", **place)
    text, caption = _said(content)
    if not text.strip() and not caption:
        return FormatError("a message without text", kind="no_text", **place)
    role = _text_id(value, ("role",))
    return Turn(
        text=text,
        speaker=_text_id(value, _NAME_KEYS) or role,
        time=to_iso(_first(value, _TIME_KEYS), day_first=day_first),
        caption=caption,
        role=role,
        path=path,
        conversation=_text_id(value, ("conversation_id",)) or message.conversation,
        session=_text_id(value, ("session_id", "session")) or message.session,
        turn=_text_id(value, _TURN_KEYS),
        **place,
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
            kind = str(part.get("type") or "")
            if isinstance(part.get("text"), str):
                texts.append(part["text"])
            elif "image" in kind:
                captions.append("[image]")
            elif any(noun in kind for noun in _ATTACHED):
                captions.append(_attachment(kind, part))
    return "\n".join(texts), " ".join(captions)


def _attachment(kind: str, part: dict[str, Any]) -> str:
    inner = part.get(kind)
    name = _text_id(part, ("filename", "name")) or _text_id(inner, ("filename", "name"))
    noun = next(noun for noun in _ATTACHED if noun in kind)
    return f"[{noun} {name}]" if name else f"[{noun}]"


def _first(value: object, keys: tuple[str, ...]) -> Any:
    if isinstance(value, dict):
        for key in keys:
            if value.get(key) is not None:
                return value[key]
    return None


def _text_id(value: object, keys: tuple[str, ...]) -> str:
    """The first of `keys` that holds a non-empty string or a number, as a string."""
    if not isinstance(value, dict):
        return ""
    for key in keys:
        found = value.get(key)
        if isinstance(found, str) and found:
            return found
        if isinstance(found, int) and not isinstance(found, bool):
            return str(found)
    return ""


def _kind(value: object) -> str:
    kinds = {
        "dict": "an object",
        "list": "a list",
        "str": "a string",
        "NoneType": "null",
        "bool": "a boolean",
    }
    return kinds.get(type(value).__name__, "a number")


FORMAT = Format(
    name="messages",
    description="messages with `role` and `content`: JSONL, a JSON list, or conversations with `messages`",
    extensions=(".json", ".jsonl", ".ndjson"),
    detect=detect,
    read=read,
)
