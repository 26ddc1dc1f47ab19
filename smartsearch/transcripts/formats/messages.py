"""Messages with `role` and `content` as OpenAI's interface writes them, in lists, conversations or lines.

ShareGPT's `conversations` of `from` and `value`, WildChat's and LMSYS-Chat's `conversation`, and parts with a
`value` are read too, structure from hiyouga/LLaMA-Factory and lm-sys/FastChat (data) and, for threads of the
Assistants interface and Jan, from janhq/jan (docs). Answers to choose from (`chosen`, `rejected`) follow the
conversation, both. Left out: parts that are reasoning, and lists of tools.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from smartsearch.text.longtimes import time_of
from smartsearch.text.times import clock, find_date, is_ambiguous, is_day_first
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.filters import ROLES, Facts, facts, has_role
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.agent_log import parts
from smartsearch.transcripts.formats.csvtext import columns, records
from smartsearch.transcripts.formats.fields import kind, mapping, objects, string, unwrapped
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.keys import (
    HEAD,
    Keys,
    Named,
    are_messages,
    keys_of,
    name_at,
    only_list,
    said_by,
    said_of,
    text_at,
)
from smartsearch.transcripts.formats.own_calls import ids, is_result
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

_LIST_KEYS = ("messages", "conversations", "conversation")
_ROLES = {
    **dict.fromkeys(("human", "user"), "user"),
    **dict.fromkeys(("gpt", "chatgpt", "bard", "bing", "model", "assistant", "function_call"), "assistant"),
    **dict.fromkeys(("observation", "function_response", "tool"), "tool"),
    "system": "system",
}
"""Whom ShareGPT's `from` names; anything else there is a person's name."""
_PUT_TOGETHER = (b"file", b"audio", b"video", b"document", b"inlineData", b'"tool_call"')
_FROM = b'"from"'
_CONVERSATION_KEYS = ("conversation_id", "conversationId", "thread_id", "conversation_hash", "id", "title")


class _Message(NamedTuple):
    """A message at its place, and the names of the conversation and session around it."""

    item: Item
    conversation: str
    session: str = ""
    title: str = ""
    time: object = None


def detect(source: Source) -> bool:
    """Whether a file is messages with roles, or conversations, or has a speaker and a text in each record."""
    head = source.head(HEAD)
    whole = source.json.whole and isinstance(source.json.items[0].value, dict)
    begun = any(_is_message(value) or _list_key(value, whole=whole) is not None for value in head[:5])
    return begun or are_messages(head)


def _is_message(value: object) -> bool:
    """Whether a value is a message by its `role`, or as ShareGPT has it."""
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("from", value.get("role")), str) and isinstance(value.get("value"), str):
        return "to" not in value  # a line of a graph has both ends
    said = any(isinstance(value.get(key, 0), str | list | None) for key in keys_of(value).text)
    return said and isinstance(value.get("role"), str)


def _list_key(value: object, *, whole: bool = False) -> str | None:
    """The key of a conversation's messages, "" where it is a list itself; None when it is no conversation.

    Where the value is the `whole` file, any key whose list is its only one of objects.
    """
    if isinstance(value, list):
        return "" if any(map(_is_message, value[:5])) or are_messages(value[:HEAD]) else None
    for key in _LIST_KEYS:
        found = mapping(value).get(key)
        if isinstance(found, list) and (_list_key(found) is not None or (key == "messages" and not found)):
            return key
    key = only_list(value) if whole and not (_is_message(value) or are_messages([value])) else ""
    return key if key and _list_key(mapping(value)[key]) is not None else None


def read(source: Source, named: Named | None = None) -> Iterator[Record]:
    """Turns in file order, of JSON or of a table's rows; messages without text are reported as `no_text`.

    A list that begins with the last message, as services answer, is turned round. What smartsearch itself
    returned to an agent is left out (own_calls.py).
    """
    items = list(source.items())
    for row in records(source) if not items and columns(source) else ():
        if isinstance(row, FormatError):
            yield row
        else:
            items.append(row)
    messages = list(_by_names(source, items, named) if named else _walk(source, items))
    if messages and not any(_content(one.item.value, keys_of(one.item.value))[0] for one in messages):
        raise FormatError(
            f"no key is known as a text: {said_by(messages[0].item.value)}", kind="unknown_field"
        )
    if said := "" if named else said_of(message.item.value for message in messages[:HEAD]):
        yield FormatError(said, kind="notice")
    if messages and not messages[0].item.line and _are_latest_first(messages):
        messages.reverse()
    own = ids(message.item.value for message in messages)
    times = [_when(message.item.value, keys_of(message.item.value)) for message in messages]
    day_first = is_day_first(map(str, times))
    nobody, timeless = list[Item](), list[Item]()
    for message, when in zip(messages, times, strict=True):
        if is_result(message.item.value, own):
            continue
        record = _turn(source, message, day_first)
        if isinstance(record, Turn):
            if not record.speaker:
                nobody.append(message.item)
            if when not in (None, "") and not time_of(when):
                timeless.append(message.item)
        yield record
    for items, lacks in ((nobody, "a speaker"), (timeless, "a time that can be read")):
        if items:
            _, line, pointer = items[0]
            count = f"{len(items):,} turn{'s' if len(items) > 1 else ''}"
            place = f"on line {line}" if line else f"at {pointer}"
            yield FormatError(f"{count} without {lacks}, the first {place}", kind="notice")


def _are_latest_first(messages: Sequence[_Message]) -> bool:
    """Whether the messages of one conversation all have a time, and none is later than the one before it."""
    ends = messages[0], messages[-1]
    first, last = (time_of(_when(one.item.value, keys_of(one.item.value))) for one in ends)
    if not first > last > "" or ends[0].conversation != ends[1].conversation:
        return False
    times = [time_of(_when(one.item.value, keys_of(one.item.value))) for one in messages]
    return all(times) and all(one >= later for one, later in pairwise(times))


def _by_names(source: Source, items: Sequence[Item], named: Named) -> Iterator[_Message]:
    """The records of a file whose keys are named: its values, or what is in the one list of each.

    Raises FormatError `unknown_field`.
    """
    rows: list[tuple[Item, str]] = []
    for n, item in enumerate(items, 1):
        key = "" if named.has(item.value) else only_list(item.value)
        key = key if any(map(named.has, objects(item.value, key)[:HEAD])) else ""
        many = f"{source.stem}#{n}" if len(items) > 1 else source.stem
        name = (string(item.value, *_CONVERSATION_KEYS) or many) if key else source.stem
        inside = item.elements(*[key] if key else []) if key or isinstance(item.value, list) else [item]
        rows.extend((one, name) for one in inside)
    renamed = named.records([one for one, _ in rows])
    return (_Message(one, name) for one, (_, name) in zip(renamed, rows, strict=True))


def of_line(source: Source, value: object, line: int) -> Record | None:
    """What `read` makes of `value`, which stands alone on a line; None where more of the file decides.

    That is so of a conversation, which may be one of many, and of a date that may be day or month first.
    """
    keys = keys_of(value)
    if _list_key(value) is not None or _answers(value, keys) or is_ambiguous(str(_when(value, keys))):
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
    keys = keys_of(value)
    content = _content(value, keys)[1]
    plain = isinstance(content, str) and content.strip() and not is_result(value, set())
    if not (isinstance(value, dict) and plain):
        made = of_line(source, value, line)
        return None if made is None else facts(made) if isinstance(made, Turn) else False
    time = _when(value, keys)
    if _list_key(value) is not None or _answers(value, keys) or is_ambiguous(str(time)):
        return None
    return Facts(
        string(value, *keys.conversation) or source.stem,
        string(value, *keys.session),
        "",
        _speaker(value, keys),
        _role(value),
        time_of(time) or source.day,
    )


def _walk(source: Source, items: Sequence[Item]) -> Iterator[_Message]:
    """Every message of the file under its conversation's name: its own, else the file's, numbered if many."""
    keys = [_list_key(item.value, whole=not (item.line or item.pointer)) for item in items]
    many = sum(key is not None for key in keys) > 1
    for n, (item, key) in enumerate(zip(items, keys, strict=True), 1):
        if key is None:
            for one in _threaded(item):
                yield _Message(one, source.stem)
            continue
        name = string(item.value, *_CONVERSATION_KEYS) or (f"{source.stem}#{n}" if many else source.stem)
        title = string(item.value, "title")
        about = _Message(
            item,
            name,
            string(item.value, "session_id"),
            title if title != name else "",
            _when(item.value, keys_of(item.value)),
        )
        for one in (answer for inside in _inside(item, key) for answer in _threaded(inside)):
            yield about._replace(item=one)


def _answers(value: object, keys: Keys) -> tuple[str, ...]:
    """The path to the messages that answer one and stand in it, perhaps in an object; () for none."""
    for key in keys.answers:
        inner = only_list(mapping(value, key))
        path = (key, inner) if inner else (key,)
        if are_messages(objects(mapping(value, *path[:-1]), path[-1])[:HEAD]):
            return path
    return ()


def _threaded(item: Item) -> Iterator[Item]:
    """A message and those that answer it, however deep, each behind the one that it answers."""
    waiting = [item]
    while waiting:
        yield (one := waiting.pop())
        if path := _answers(one.value, keys_of(one.value)):
            waiting.extend(reversed(list(one.elements(*path))))


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
    keys = keys_of(value)
    key, content = _content(value, keys)
    if not isinstance(content, str | list | None):
        return item.fault(f"`{key}` is {kind(content)}, not text or a list of parts")
    text, caption = parts(content)
    times = (time_of(time, day_first=day_first) for time in (_when(value, keys), message.time))
    return turn(
        source.path,
        item,
        text=text,
        speaker=_speaker(value, keys),
        time=next(filter(None, times), source.day),
        caption=caption,
        role=_role(value),
        conversation=string(value, *keys.conversation) or message.conversation,
        session=string(value, *keys.session) or message.session,
        turn=string(value, *keys.turn),
        title=message.title,
    )


def _speaker(value: dict[str, Any], keys: Keys) -> str:
    """Who speaks: a name, unless that is ShareGPT's word for a role; the role; any other name."""
    role = _role(value)
    key, name = name_at(value, keys.speaker)
    if name and not (key == "from" and role):
        return name
    other = "" if _is_of_chats(role) else name_at(value, keys.after_role)[1]
    return other or role or name


def _role(value: dict[str, Any]) -> str:
    return string(value, "role") or _ROLES.get(string(value, "from").casefold(), "")


@lru_cache(maxsize=256)
def _is_of_chats(role: str) -> bool:
    return any(has_role(one, role) for one in ROLES)


def _content(value: Any, keys: Keys) -> tuple[str, Any]:
    """The key of what was said, and that."""
    key, found = text_at(value, keys.text)
    if found is None and isinstance(value, dict) and ("from" in value or "role" in value):
        return "value", value.get("value")
    return key, found


def _when(value: Any, keys: Keys) -> Any:
    """When it was said; of a day and a time of day under two keys both, of a time and none the time."""
    found = unwrapped(text_at(value, keys.time)[1])
    told = time_of(found) if len(keys.time) > 1 else "T"
    if "T" in told:
        return found
    others = [unwrapped(value[key]) for key in keys.time]
    written = [one for one in others if isinstance(one, str)]
    if isinstance(found, str) and clock(found):
        return next((f"{day} {found}" for day in written if find_date(day)), found)
    if told:
        return next((f"{found} {hour}" for hour in written if clock(hour)), found)
    return next(filter(time_of, others), found)  # `2 years ago`
