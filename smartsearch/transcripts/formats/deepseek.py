"""DeepSeek's data export: `conversations.json`, each conversation a tree of messages with `fragments`.

Structure from readers of the export (xionglongztz/DeepSeekDataExporter, goodbu/Deepseek-md-) and, for a chat
as the site itself sends it, the samples of ceyaima/deepseek-exporter. A fragment is a REQUEST of the user, or
a RESPONSE, THINK or SEARCH of the model. Left out: what the model thought and found, and branches that an
edit or a second answer has left behind.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from smartsearch.text.times import to_iso
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.agent_log import no_object
from smartsearch.transcripts.formats.branch import Node, shown
from smartsearch.transcripts.formats.captions import attachment, joined
from smartsearch.transcripts.formats.fields import escaped, mapping, objects, string
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_SENT = ("data", "biz_data")
"""Where a chat lies in what the site sends."""
_USERS, _MODELS = ("REQUEST", "FILE"), ("RESPONSE", "THINK", "SEARCH")


class _Chat(NamedTuple):
    """What the turns of a conversation share."""

    path: str
    name: str
    title: str


def claims(value: object) -> bool:
    """Whether a value is a conversation with DeepSeek's `inserted_at`, or a chat as the site sends it."""
    sent = mapping(value, *_SENT)
    if mapping(sent, "chat_session") and isinstance(sent.get("chat_messages"), list):
        return True
    return "inserted_at" in mapping(value) and isinstance(mapping(value).get("mapping"), dict)


def read(source: Source) -> Iterator[Record]:
    """Turns of every conversation's latest branch."""
    for n, item in enumerate(source.items(), 1):
        about = mapping(item.value, *_SENT, "chat_session") or mapping(item.value)
        chat = _Chat(source.path, string(about, "id") or f"{source.stem}#{n}", string(about, "title"))
        if not claims(item.value):
            yield item.fault("no conversation with a `mapping` here")
        elif "mapping" in item.value:
            yield from _exported(chat, item)
        else:
            messages = list(item.elements(*_SENT, "chat_messages"))
            nodes = [
                Node(
                    string(one.value, "message_id"),
                    string(one.value, "parent_id") or "root",
                    _time(one.value),
                )
                for one in messages
            ]
            yield from _turns(chat, messages, nodes, string(about, "current_message_id"))


def _exported(chat: _Chat, item: Item) -> Iterator[Record]:
    nodes, messages = [], []
    for key, node in item.value["mapping"].items():
        place = f"{item.pointer}/mapping/{escaped(key)}"
        if not isinstance(node, dict):
            yield FormatError("no node here", line=item.line, pointer=place)
            continue
        nodes.append(Node(key, string(node, "parent"), _time(node.get("message"))))
        messages.append(Item(node.get("message"), item.line, f"{place}/message"))
    yield from _turns(chat, messages, nodes)


def _time(message: object) -> str:
    return to_iso(mapping(message).get("inserted_at"))


def _turns(chat: _Chat, messages: list[Item], nodes: list[Node], leaf: str = "") -> Iterator[Record]:
    kept = shown(nodes, leaf)
    for n, (message, node) in enumerate(zip(messages, nodes)):
        if n in kept and message.value is not None:
            yield _turn(chat, message, node.name)


def _turn(chat: _Chat, item: Item, name: str) -> Record:
    if not isinstance(item.value, dict):
        return no_object(item)
    fragments = objects(item.value, "fragments")
    said = [string(one, "content") for one in fragments if string(one, "type") not in ("THINK", "SEARCH")]
    files = [file for one in (item.value, *fragments) for file in objects(one, "files")]
    role = _role(item.value)
    return turn(
        chat.path,
        item,
        text="\n".join(filter(None, said)) or string(item.value, "content"),
        speaker=role,
        time=_time(item.value),
        caption=joined(attachment(string(file, "file_name", "name")) for file in files),
        role=role,
        conversation=chat.name,
        turn=name,
        title=chat.title,
    )


def _role(message: dict[str, object]) -> str:
    """Who speaks, "" where an older export does not tell."""
    kinds = {string(one, "type") for one in objects(message, "fragments")}
    told = string(message, "role").casefold()
    if told in ("user", "assistant"):
        return told
    return "assistant" if kinds & set(_MODELS) else "user" if kinds & set(_USERS) else ""
