"""Messages with `role` and `content` as OpenAI's interface writes them, in lists, conversations or lines.

ShareGPT's `conversations` of `from` and `value`, WildChat's and LMSYS-Chat's `conversation`, and parts with a
`value` are read too, structure from hiyouga/LLaMA-Factory and lm-sys/FastChat (data) and, for threads of the
Assistants interface and Jan, from janhq/jan (docs). Answers to choose from (`chosen`, `rejected`) follow the
conversation, both. Left out: parts that are reasoning, and lists of tools.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from smartsearch.text.times import is_ambiguous, is_day_first, to_iso
from smartsearch.transcripts.filters import Facts, facts
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats import tool_calls
from smartsearch.transcripts.formats.captions import bracketed, joined
from smartsearch.transcripts.formats.fields import kind, mapping, string, unwrapped
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.own_calls import ids, is_result
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

# First one present wins. The loose ones (`speaker`, `text`) are what people's own scripts write.
NAME_KEYS = ("name", "speaker", "author")
_TEXT_KEYS = ("content", "text")
_TIME_KEYS = (
    *("time", "timestamp", "created_at", "create_time", "date"),
    *("createdAt", "createTime", "created_date", "ts"),
)
_TURN_KEYS = ("id", "message_id", "uuid", "turn_identifier")
_LIST_KEYS = ("messages", "conversations", "conversation")
_ROLES = {
    **dict.fromkeys(("human", "user"), "user"),
    **dict.fromkeys(("gpt", "chatgpt", "bard", "bing", "model", "assistant", "function_call"), "assistant"),
    **dict.fromkeys(("observation", "function_response", "tool"), "tool"),
    "system": "system",
}
"""Whom ShareGPT's `from` names; anything else there is a person's name."""
_REASONING = ("reasoning", "thinking")
_ATTACHED = ("file", "audio", "video")
_FILE_KEYS = ("filename", "name")
_PUT_TOGETHER = (*(noun.encode() for noun in _ATTACHED), b'"tool_call"')
_OF_KEYS = ("conversation_id", "conversationId", "thread_id")
_FROM = b'"from"'
_CONVERSATION_KEYS = (*_OF_KEYS, "conversation_hash", "id", "title")


class _Message(NamedTuple):
    """A message at its place, and the names of the conversation and session around it."""

    item: Item
    conversation: str
    session: str = ""
    title: str = ""
    time: object = None


def claims(value: object) -> bool:
    """Whether a value is a message, or a conversation of messages."""
    return _is_message(value) or _list_key(value) is not None


def _is_message(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("from", value.get("role")), str) and isinstance(value.get("value"), str):
        return "to" not in value  # a line of a graph has both ends
    who = isinstance(value.get("role"), str) or any(isinstance(value.get(key), str) for key in NAME_KEYS)
    return who and any(isinstance(value.get(key, 0), str | list | None) for key in _TEXT_KEYS)


def _list_key(value: object) -> str | None:
    """The key of a conversation's messages, "" where it is a list itself; None when it is no conversation."""
    if isinstance(value, list):
        return "" if any(map(_is_message, value[:5])) else None
    for key in _LIST_KEYS:
        found = mapping(value).get(key)
        if isinstance(found, list) and (
            any(map(_is_message, found[:5])) or (key == "messages" and not found)
        ):
            return key
    return None


def read(source: Source) -> Iterator[Record]:
    """Turns in file order. Messages without text, such as bare tool calls, are reported as `no_text`.

    What smartsearch itself returned to an agent is left out (own_calls.py).
    """
    messages = list(_walk(source))
    own = ids(message.item.value for message in messages)
    day_first = is_day_first(str(_when(message.item.value)) for message in messages)
    for message in messages:
        if not is_result(message.item.value, own):
            yield _turn(source, message, day_first)


def of_line(source: Source, value: object, line: int) -> Record | None:
    """What `read` makes of `value`, which stands alone on a line; None where more of the file decides.

    That is so of a conversation, which may be one of many, and of a date that may be day or month first.
    """
    if _list_key(value) is not None or is_ambiguous(str(_when(value))):
        return None
    item = Item(value, line)
    if is_result(value, set()):
        return item.fault("what smartsearch itself returned", "no_text")
    return _turn(source, _Message(item, source.stem), day_first=True)


def as_written(lines: bytes) -> bool:
    """Whether what messages on these lines say stands in them letter by letter, but for `\\n` and its like.

    It does not where letters are escaped, where a caption is put together of a part's kind and name, or
    where a speaker goes by another name here (`_ROLES`).
    """
    import stringzilla

    if b"\\" in lines and (b"\\u" in lines or b"\\x" in lines):
        return False
    odd = (_FROM, *_PUT_TOGETHER) if b"[" in lines else (_FROM,)
    return all(stringzilla.find(lines, needle) < 0 for needle in odd)


def facts_of_line(source: Source, value: object, line: int) -> Facts | Literal[False] | None:
    """The facts of the turn that `of_line` makes of `value`, without making it: False where it is no turn.

    None where more of the file decides.
    """
    content = _content(value)
    plain = isinstance(value, dict) and isinstance(content, str) and content.strip()
    if not plain or is_result(value, set()):
        made = of_line(source, value, line)
        return None if made is None else facts(made) if isinstance(made, Turn) else False
    time = _when(value)
    if _list_key(value) is not None or is_ambiguous(str(time)):
        return None
    return Facts(
        string(value, *_OF_KEYS) or source.stem,
        string(value, "session_id", "session"),
        "",
        _speaker(value),
        _role(value),
        to_iso(time) or source.day,
    )


def _walk(source: Source) -> Iterator[_Message]:
    """Every message of the file under its conversation's name: its own, else the file's, numbered if many."""
    items = list(source.items())
    keys = [_list_key(item.value) for item in items]
    many = sum(key is not None for key in keys) > 1
    for n, (item, key) in enumerate(zip(items, keys, strict=True), 1):
        if key is None:
            yield _Message(item, source.stem)
            continue
        name = string(item.value, *_CONVERSATION_KEYS) or (f"{source.stem}#{n}" if many else source.stem)
        title = string(item.value, "title")
        about = _Message(
            item,
            name,
            string(item.value, "session_id"),
            title if title != name else "",
            _when(item.value),
        )
        for one in _inside(item, key):
            yield about._replace(item=one)


def _inside(item: Item, key: str) -> Iterator[Item]:
    """The messages of a conversation, the system's before them, and answers to choose from behind them."""
    if system := string(item.value, "system"):
        yield Item({"role": "system", "content": system}, item.line, f"{item.pointer}/system")
    yield from item.elements(key) if key else item.elements()
    for key in ("chosen", "rejected"):
        if _is_message(answer := mapping(item.value, key)):
            yield Item(answer, item.line, f"{item.pointer}/{key}")


def _turn(source: Source, message: _Message, day_first: bool) -> Record:
    item, value = message.item, message.item.value
    if not isinstance(value, dict):
        return item.fault(f"{kind(value)} in the place of a message")
    content = _content(value)
    if not isinstance(content, str | list | None):
        return item.fault(f"`content` is {kind(content)}, not text or a list of parts")
    text, caption = _said(content)
    times = (to_iso(time, day_first=day_first) for time in (_when(value), message.time))
    return turn(
        source.path,
        item,
        text=text,
        speaker=_speaker(value),
        time=next(filter(None, times), source.day),
        caption=caption,
        role=_role(value),
        conversation=string(value, *_OF_KEYS) or message.conversation,
        session=string(value, "session_id", "session") or message.session,
        turn=string(value, *_TURN_KEYS),
        title=message.title,
    )


def _speaker(value: object) -> str:
    return string(value, *NAME_KEYS) or _role(value) or string(value, "from")


def _role(value: object) -> str:
    return string(value, "role") or _ROLES.get(string(value, "from").casefold(), "")


def _said(content: str | list[Any] | None) -> tuple[str, str]:
    """The text of a content and a caption for the parts that are not text: `[image] [file plan.pdf]`."""
    if not isinstance(content, list):
        return content or "", ""
    texts = [text for part in content if (text := _text(part)) is not None]
    captions = [_caption(part) for part in content if isinstance(part, dict) and _text(part) is None]
    return "\n".join(texts), joined(captions)


def _text(part: object) -> str | None:
    """The text of a part, None for one of another kind."""
    if not isinstance(part, dict) or part.get("type") in _REASONING:
        return part if isinstance(part, str) else None
    text = part.get("text", part.get("value") if part.get("type") == "text" else None)
    text = text.get("value") if isinstance(text, dict) else text
    return text if isinstance(text, str) else None


def _caption(part: dict[str, Any]) -> str:
    what = str(part.get("type") or "")
    if "image" in what:
        return "[image]"
    if what == "tool_call":
        call = tool_calls.arguments(part.get("value"))
        given = mapping(call).get("arguments", call)
        return tool_calls.caption(string(call, "name"), tool_calls.arguments(given))
    noun = next((noun for noun in _ATTACHED if noun in what), "")
    return bracketed(noun, string(part, *_FILE_KEYS) or string(part.get(what), *_FILE_KEYS)) if noun else ""


def _content(value: object) -> Any:
    found, by_value = _first(value, _TEXT_KEYS), mapping(value).keys() & {"from", "role"}
    return mapping(value).get("value") if found is None and by_value else found


def _when(value: object) -> Any:
    return unwrapped(_first(value, _TIME_KEYS))


def _first(value: object, keys: tuple[str, ...]) -> Any:
    if isinstance(value, dict):
        for key in keys:
            if value.get(key) is not None:
                return value[key]
    return None
