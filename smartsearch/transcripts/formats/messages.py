"""Messages with `role` and `content` as OpenAI's interface writes them, in lists, conversations or lines.

ShareGPT's `conversations` of `from` and `value`, WildChat's and LMSYS-Chat's `conversation`, and parts with a
`value` are read too, structure from hiyouga/LLaMA-Factory and lm-sys/FastChat (data) and, for threads of the
Assistants interface and Jan, from janhq/jan (docs). Conversations are found wherever they stand (found.py);
what answers them there (`response`, or `chosen` and `rejected`, both) follows them. A call of a tool is a
caption. Left out: parts that are reasoning, lists of tools, and messages that were taken back.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from smartsearch.text.longtimes import time_of
from smartsearch.text.times import clock, find_date, is_ambiguous, is_day_first
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.filters import ROLES, Facts, facts, has_role
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.agent_log import Called, Place, Returned, Said, parts
from smartsearch.transcripts.formats.blocks import events_of, has_more
from smartsearch.transcripts.formats.captions import joined
from smartsearch.transcripts.formats.csvtext import columns, records
from smartsearch.transcripts.formats.fields import kind, objects, string, unwrapped
from smartsearch.transcripts.formats.found import (
    answers,
    by_id,
    conversations,
    halves,
    holds,
    is_message,
    pair,
)
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.keys import (
    HEAD,
    Keys,
    Named,
    are_messages,
    is_first,
    is_gone,
    is_plain,
    keys_of,
    name_at,
    only_list,
    plain,
    said_by,
    said_of,
    text_at,
    value_at,
)
from smartsearch.transcripts.formats.own_calls import ids, is_own, is_result
from smartsearch.transcripts.formats.tool_calls import caption as called_caption
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

_ROLES = {
    **dict.fromkeys(("human", "user"), "user"),
    **dict.fromkeys(("gpt", "chatgpt", "bard", "bing", "model", "assistant", "function_call"), "assistant"),
    **dict.fromkeys(("observation", "function_response", "tool"), "tool"),
    "system": "system",
}
"""Whom ShareGPT's `from` names; anything else there is a person's name."""
_PUT_TOGETHER = (b"file", b"audio", b"video", b"document", b"inlineData", b'"tool_', b"attachments")
_FROM = b'"from"'
_CONVERSATION_KEYS = (
    *("conversation_id", "conversationId", "thread_id", "conversation_hash", "id", "chatID", "title"),
)
_PEOPLE = ("users", "participants", "members", "people", "authors", "contacts", "profiles", "speakers")
_NAMES = ("name", "display_name", "displayName", "full_name", "username")
_TITLES = ("title", "topic", "chatTitle", "name")


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
    pairs = sum(map(bool, map(pair, head)))
    begun = any(is_message(value) or holds(value) for value in head[:5])
    return begun or are_messages(head) or 2 * pairs > len(head) or bool(by_id(source.json.items))


def read(source: Source, named: Named | None = None) -> Iterator[Record]:
    """Turns in file order, of JSON or of a table's rows; messages without text are reported as `no_text`.

    A list that begins with the last message, as services answer, is turned round. What smartsearch itself
    returned to an agent is left out (own_calls.py).
    """
    items = by_id(source.json.items) or list(source.items())
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
    known = [keys_of(message.item.value) for message in messages]
    times = [_when(message.item.value, keys) for message, keys in zip(messages, known, strict=True)]
    day_first = is_day_first(map(str, times))
    nobody, timeless, people = list[Item](), list[Item](), _people(items)
    for message, keys, when in zip(messages, known, times, strict=True):
        value = message.item.value
        if is_result(value, own) or (keys.gone and is_gone(value, keys)):
            continue
        record = _turn(source, message, keys, when, day_first, own)
        if isinstance(record, Turn):
            if not record.role:
                record = replace(record, speaker=people.get(record.speaker, record.speaker))
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


def _people(items: Sequence[Item]) -> dict[str, str]:
    """The names of people by their ids, which a list beside the conversations tells."""
    whole = items[0].value if len(items) == 1 and isinstance(items[0].value, dict) else {}
    listed = (one for key in whole if plain(key) in _PEOPLE for one in objects(whole, key))
    return {
        str(one["id"]): name
        for one in listed
        if isinstance(one.get("id"), int | str) and not keys_of(one).text and (name := string(one, *_NAMES))
    }


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
    when = _when(value, keys)
    if _needs_more(value, keys) or is_ambiguous(str(when)):
        return None
    item = Item(value, line)
    if is_result(value, set()) or (keys.gone and is_gone(value, keys)):
        return item.fault("what smartsearch itself returned, or what was taken back", "no_text")
    return _turn(source, _Message(item, source.stem), keys, when)


def _needs_more(value: object, keys: Keys) -> bool:
    """Whether a line is a conversation, a question with its answer, or a message that others answer.

    Or a name is put together of two.
    """
    if keys.pair or (keys.answers and answers(value)) or (keys.speaker and is_first(keys.speaker[0])):
        return True
    return not is_plain(value, keys) and holds(value)


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
    if not (isinstance(value, dict) and plain) or keys.gone:
        made = of_line(source, value, line)
        return None if made is None else facts(made) if isinstance(made, Turn) else False
    time = _when(value, keys)
    if _needs_more(value, keys) or is_ambiguous(str(time)):
        return None
    role = _role(value)
    return Facts(
        string(value, *keys.conversation) or source.stem,
        string(value, *keys.session),
        "",
        _speaker(value, keys, role),
        role,
        time_of(time) or source.day,
    )


def _walk(source: Source, items: Sequence[Item]) -> Iterator[_Message]:
    """Every message of the file under its conversation's name: its own, else the file's, numbered if many."""
    found = [None if _is_single(item.value) else conversations(item) for item in items]
    many = sum(len(chats) for chats in found if chats) > 1
    n = 0
    for item, chats in zip(items, found, strict=True):
        if chats is None:
            yield _Message(item, source.stem)
            continue
        for half in () if chats else halves(item):
            for one in _threaded(half):
                yield _Message(one, source.stem)
        for messages, around, label in chats:
            n, value = n + 1, around.value
            name = string(value, *_CONVERSATION_KEYS) if not label else ""
            name = name or label or (f"{source.stem}#{n}" if many else source.stem)
            title = string(value, *_TITLES)
            about = _Message(
                around,
                name,
                string(value, "session_id"),
                title if title != name else "",
                _when(value, keys_of(value)),
            )
            for one in (answer for message in messages for answer in _threaded(message)):
                yield about._replace(item=one)


def _is_single(value: object) -> bool:
    """Whether a record is a message, and one alone."""
    keys = keys_of(value)
    return not (keys.pair or keys.answers) and is_plain(value, keys)


def _threaded(item: Item) -> Iterator[Item]:
    """A message and those that answer it, however deep, each behind the one that it answers."""
    waiting = [item]
    while waiting:
        yield (one := waiting.pop())
        if keys_of(one.value).answers and (path := answers(one.value)):
            waiting.extend(reversed(list(one.elements(*path))))


def _turn(
    source: Source,
    message: _Message,
    keys: Keys,
    when: Any,
    day_first: bool = True,
    own: Container[str] = frozenset(),
) -> Record:
    item, value = message.item, message.item.value
    if not isinstance(value, dict):
        return item.fault(f"{kind(value)} in the place of a message")
    key, content = _content(value, keys)
    if not isinstance(content, str | list | None):
        return item.fault(f"`{key}` is {kind(content)}, not text or a list of parts")
    role = _role(value)
    speaker = _speaker(value, keys, role)
    text, caption = parts(content)
    if has_more(value, content):
        text, caption, results = _with_calls(item, key, own)
        if results and not text.strip():
            speaker = speaker if role == "tool" else "tool"
            role, text = "tool", results
    time = time_of(when, day_first=day_first) or time_of(message.time, day_first=day_first)
    return turn(
        source.path,
        item,
        text=text,
        speaker=speaker,
        time=time or source.day,
        caption=caption,
        role=role,
        conversation=string(value, *keys.conversation) or message.conversation,
        session=string(value, *keys.session) or message.session,
        turn=string(value, *keys.turn),
        title=message.title,
    )


def _with_calls(item: Item, key: str, own: Container[str]) -> tuple[str, str, str]:
    """What a message says, the captions of its files and of the calls in it, and what tools gave."""
    said, captions, results = list[str](), list[str](), list[str]()
    for event in events_of("assistant", item.value, key, Place(item, "", ""), ""):
        if isinstance(event, Called):
            shown = "" if is_own(event.tool, event.arguments) else called_caption(event.tool, event.arguments)
            captions.append(shown)
        elif isinstance(event, Said):
            said.append(event.text)
            captions.append(event.caption)
        elif isinstance(event, Returned) and not (event.call and event.call in own):
            results.append(event.text)
            captions.append(event.caption)
    return "\n".join(filter(None, said)), joined(captions), "\n".join(filter(None, results))


def _speaker(value: dict[str, Any], keys: Keys, role: str) -> str:
    """Who speaks: a name, unless that is ShareGPT's word for a role; the role; any other name."""
    key, name = name_at(value, keys.speaker)
    if key and not (key == "from" and role):
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
    found = unwrapped(value_at(value, keys.time)[1])
    found = None if isinstance(found, dict | list) else found
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
