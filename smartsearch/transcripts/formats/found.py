"""Where the conversations of a JSON value stand, whatever its keys: lists of messages, a few steps deep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from smartsearch.transcripts.formats.fields import mapping, string
from smartsearch.transcripts.formats.jsontext import Item, escaped
from smartsearch.transcripts.formats.keys import (
    ANSWERED,
    HEAD,
    LISTS,
    are_messages,
    is_plain,
    keys_of,
    value_at,
)
from smartsearch.transcripts.formats.own_calls import is_reply

_TOGETHER = {*LISTS, *ANSWERED, "request", "input", "inputs", "prompt", "message"}
"""Keys of one conversation. Several lists of messages under other keys are as many conversations."""
_DEPTH = 6
"""Steps from a record to the messages in it."""
_ROLE = {"role": "assistant"}


class Conversation(NamedTuple):
    """Some messages, the object around them, and the key that parts them from others in it."""

    messages: Sequence[Item]
    around: Item = Item(None, 0)
    label: str = ""


def is_message(value: object) -> bool:
    """Whether a value is a message by its `role`, or as ShareGPT has it."""
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("from", value.get("role")), str) and isinstance(value.get("value"), str):
        return "to" not in value  # a line of a graph has both ends
    said = any(isinstance(value.get(key, 0), str | list | None) for key in keys_of(value).text)
    return said and isinstance(value.get("role"), str)


def are_listed(values: Sequence[object], *, far: bool = False) -> bool:
    """Whether a list is one of messages."""
    return any(map(is_message, values[:5])) or are_messages(values[:HEAD], far=far)


def pair(value: object) -> tuple[str, ...]:
    """The keys of a question and its answer, both of them texts; () where a record is no such pair."""
    keys = keys_of(value)
    texts = keys.is_chat and isinstance(value, dict) and all(isinstance(value[k], str) for k in keys.pair)
    return keys.pair if texts else ()


def halves(item: Item) -> list[Item]:
    """A question and its answer as two messages; any other record as it is."""
    keys = pair(item.value) if keys_of(item.value).pair else ()
    if not keys:
        return [item]
    more = {key: one for key, one in item.value.items() if key not in keys}
    return [
        Item(more | {"role": role, "content": item.value[key]}, item.line, f"{item.pointer}/{key}")
        for key, role in zip(keys, ("user", "assistant"))
    ]


def by_id(values: Sequence[Item]) -> list[Item]:
    """The messages of a file that is one object of them by their ids; none of any other."""
    held = values[0].value if len(values) == 1 and not values[0].line else None
    few = list(islice(held.values(), HEAD)) if isinstance(held, dict) else []
    if len(few) < 2 or not all(isinstance(one, dict) for one in few) or not are_messages(few, far=True):
        return []
    return [Item(one, 0, f"/{escaped(key)}") for key, one in held.items()] if isinstance(held, dict) else []


def holds(value: object) -> bool:
    """Whether a value is a conversation, or holds some, and is no message itself."""
    return isinstance(value, list | dict) and bool(conversations(Item(value, 0), HEAD))


def conversations(item: Item, most: int | None = None) -> list[Conversation]:
    """The conversations in a record, none where it is a message itself; of the first keys for `most`."""
    value = item.value
    if isinstance(value, dict):
        keys = keys_of(value)
        if keys.pair or is_plain(value, keys):
            return []
        known = next((key for key in keys.lists if _is_list(value, key)), "")
        if known and not keys.answered:
            return [Conversation([*_system(item), *item.elements(known)], item)]
        if not any(isinstance(value[key], list) for key in keys.lists) and (
            is_message(value) or (keys.text and are_messages([value]))
        ):
            return []
    return [one._replace(messages=[*_system(one.around), *one.messages]) for one in _inside(item, most, 0)]


def _inside(item: Item, most: int | None, depth: int) -> list[Conversation]:
    value = item.value
    if depth > _DEPTH:
        return []
    if isinstance(value, list):
        if are_listed(value, far=depth > 1):
            return [Conversation(list(item.elements()))]
        if 2 * sum(map(bool, map(pair, value[:HEAD]))) > len(value[:HEAD]):
            return [Conversation([half for one in item.elements() for half in halves(one)])]
        inner = [
            Item(mapping(one.value, "message"), one.line, f"{one.pointer}/message") for one in item.elements()
        ]
        if inner and are_messages([one.value for one in inner[:HEAD]]):
            return [Conversation(inner)]
        return [one for each in islice(item.elements(), most) for one in _inside(each, most, depth + 1)]
    if not isinstance(value, dict) or is_reply(value):
        return []
    if depth and is_message(value):
        return [Conversation([item])]
    known = next((key for key in LISTS if _is_list(value, key)), "")
    known = known or ("messages" if not depth and value.get("messages") == [] else "")
    keys = [known, *keys_of(value).answered] if known else islice(value, most)
    found: dict[str, list[Conversation]] = {}
    for key in keys:
        place = item.at(key)
        if key == known:
            found[key] = [Conversation(list(place.elements()))]
        elif isinstance(place.value, list | dict) and (some := _inside(place, most, depth + 1)):
            found[key] = some
        elif known and isinstance(place.value, str):
            found[key] = [Conversation([place._replace(value=_ROLE | {"content": place.value})], item)]
    return _parted(item, found)


def _parted(item: Item, found: dict[str, list[Conversation]]) -> list[Conversation]:
    """Those of an object: one of all that its keys hold together, and one of each other key."""
    together = [one for key, some in found.items() if key in _TOGETHER for one in some]
    if sum(key in _TOGETHER for key in found) > 1:
        messages = [message for one in together for message in one.messages]
        found = {key: some for key, some in found.items() if key not in _TOGETHER}
        found |= {"": [Conversation(messages, item)]}
    many = len(found) > 1
    return [
        one if one.around.value else one._replace(around=item, label=key if many else "")
        for key, some in found.items()
        for one in some
    ]


def _is_list(value: dict[str, Any], key: str) -> bool:
    """Whether a key holds a list of messages."""
    held = value.get(key)
    return isinstance(held, list) and are_listed(held)


def _system(item: Item) -> Iterator[Item]:
    """What the model was told before a conversation."""
    if system := string(item.value, "system"):
        yield Item({"role": "system", "content": system}, item.line, f"{item.pointer}/system")


def answers(value: object) -> tuple[str, ...]:
    """The path to the messages that answer one and stand in it, perhaps in an object; () for none."""
    for key in keys_of(value).answers if isinstance(value, dict) else ():
        held = mapping(value).get(key)
        inner = next((name for name in mapping(held) if isinstance(mapping(held)[name], list)), "")
        listed = mapping(held)[inner] if inner else held
        if isinstance(listed, list) and are_messages(
            [one for one in listed[:HEAD] if value_at(one, keys_of(one).text)[1]]
        ):
            return (key, inner) if inner else (key,)
    return ()
