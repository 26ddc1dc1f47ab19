"""ChatGPT's data export: `conversations.json`, each conversation a tree of messages with a current branch.

Structure from mitkury/chatgpt-export-parser (docs/chatgpt-data-export-format.md), kvsankar/agent-history
(docs/specs/agents/formats/chatgpt-web-format.md) and, for files split as `conversations-000.json`, pull
request 23 of daugaard47/ChatGPT_Conversations_To_Markdown. A conversation saved by itself is the same object.

What the app does not show is left out: system messages, custom instructions, memory, reasoning and whatever
is marked as hidden; so are branches that an edit or a second answer has left behind.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from smartsearch.text.times import to_iso
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats.branch import to_leaf
from smartsearch.transcripts.formats.fields import escaped, kind, mapping, sequence, string
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.own_calls import is_own
from smartsearch.transcripts.formats.tool_calls import arguments, caption, shortened
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

_LOOKED_AT = 20
"""Nodes of a conversation that a detector looks at: the first ones may be empty."""

_UNSEEN = frozenset(
    {"user_editable_context", "model_editable_context", "thoughts", "reasoning_recap", "app_pairing_content"}
)
_ROLES = ("user", "assistant", "tool")


class _Conversation(NamedTuple):
    """What the turns of a conversation share."""

    path: str
    item: Item
    name: str
    title: str


def claims(value: object) -> bool:
    """Whether a value is a conversation with a `mapping` of message nodes."""
    if not isinstance(value, dict) or not isinstance(value.get("mapping"), dict):
        return False
    nodes = list(islice(value["mapping"].values(), _LOOKED_AT))
    messages = [m for node in nodes if isinstance(node, dict) and isinstance(m := node.get("message"), dict)]
    if messages:
        return any("author" in message for message in messages)
    if "inserted_at" in value:  # DeepSeek's, which has no messages yet
        return False
    return "current_node" in value or any(isinstance(node, dict) and "children" in node for node in nodes)


def read(source: Source) -> Iterator[Record]:
    """Turns of every conversation's current branch, from its root to its leaf."""
    for n, item in enumerate(source.items(), 1):
        nodes = item.value.get("mapping") if isinstance(item.value, dict) else None
        if not isinstance(nodes, dict):
            yield item.fault("no conversation with a `mapping` here")
            continue
        name = string(item.value, "conversation_id", "id") or f"{source.stem}#{n}"
        yield from _read(_Conversation(source.path, item, name, string(item.value, "title")), nodes)


def _read(about: _Conversation, nodes: dict[str, Any]) -> Iterator[Record]:
    for key, node in nodes.items():
        if not isinstance(node, dict):
            yield _fault(about, key, f"{kind(node)} in the place of a node")
    for key in _current(nodes, string(about.item.value, "current_node")):
        if isinstance(nodes[key], dict) and nodes[key].get("message") is not None:
            turn = _turn(about, key, nodes[key]["message"])
            if turn is not None:
                yield turn


def _current(nodes: dict[str, Any], leaf: str) -> list[str]:
    """The ids of the current branch: to `current_node`, else to the latest leaf.

    A node that does not say its parent is found again by its parent's `children`.
    """
    below = ((key, child) for key, node in nodes.items() for child in sequence(node, "children"))
    listed = {child: key for key, child in below if isinstance(child, str)}
    parents = {}
    for key, node in nodes.items():
        parent = string(node, "parent")
        parents[key] = parent if parent in nodes else listed.get(key, "")
    times = {key: to_iso(mapping(node, "message").get("create_time")) for key, node in nodes.items()}
    return to_leaf(parents, times, leaf)


def _fault(about: _Conversation, key: str, what: str) -> FormatError:
    return FormatError(what, line=about.item.line, pointer=f"{about.item.pointer}/mapping/{escaped(key)}")


def _turn(about: _Conversation, key: str, message: object) -> Record | None:
    """What a message says; None for one that is not shown, is empty, or is a call of smartsearch itself."""
    if not isinstance(message, dict):
        return _fault(about, key, f"`message` is {kind(message)}, not an object")
    author, content = mapping(message, "author"), message.get("content")
    role = string(author, "role")
    if not role or not isinstance(content, dict):
        return _fault(about, key, "a message without an `author` with a role and a `content`")
    metadata = mapping(message, "metadata")
    hidden = metadata.get("is_visually_hidden_from_conversation")
    if role not in _ROLES or hidden or string(content, "content_type") in _UNSEEN:
        return None
    parts = content.get("parts", [])
    if not isinstance(parts, list):
        return _fault(about, key, f"`parts` is {kind(parts)}, not a list")
    recipient = string(message, "recipient")
    tool = recipient if role == "assistant" and recipient != "all" else ""
    text, captions = _content(content, parts, _names(metadata))
    speaker = string(author, "name") or role
    if is_own(speaker if role == "tool" else tool, text if tool else None):
        return None
    if tool:
        text, call = _call(tool, text)
        captions = [call, *captions]
    if not text.strip() and not captions:
        return None
    return Turn(
        text=text,
        speaker=speaker if role == "tool" else role,
        time=to_iso(message.get("create_time")),
        caption=" ".join(captions),
        role=role,
        path=about.path,
        line=about.item.line,
        pointer=f"{about.item.pointer}/mapping/{escaped(key)}/message",
        conversation=about.name,
        turn=string(message, "id") or key,
        title=about.title,
    )


def _call(tool: str, written: str) -> tuple[str, str]:
    """The text and the caption of a tool call: code and documents of a canvas are text, the rest is told."""
    given = arguments(written)
    if not isinstance(given, dict):
        return written, caption(tool, None)
    return string(given, "content"), caption(tool, given)


def _names(metadata: dict[str, Any]) -> dict[str, str]:
    """The names of the files that were sent along, by their ids."""
    files = sequence(metadata, "attachments")
    return {string(file, "id") or f"#{n}": string(file, "name") for n, file in enumerate(files)}


def _content(content: dict[str, Any], parts: list[Any], names: dict[str, str]) -> tuple[str, list[str]]:
    """The text of a content, and captions of its images, sounds and of the files sent along (`names`)."""
    texts, captions = [], []
    rest = dict(names)
    spoken = any(string(part, "content_type") == "audio_transcription" for part in parts)
    for part in parts:
        what = string(part, "content_type")
        if isinstance(part, str):
            texts.append(part)
        elif what == "image_asset_pointer":
            file = string(part, "asset_pointer").rpartition("/")[2].partition("#")[0]
            captions.append(_image(part, rest.pop(file, "")))
        elif string(part, "text"):
            texts.append(string(part, "text"))
        elif "audio" in what and not spoken:
            captions.append("[audio]")
    texts += [string(content, key) for key in ("title", "text", "result")]
    captions.extend(f"[file {name}]" for name in rest.values() if name)
    return "\n".join(text for text in texts if text), captions


def _image(part: dict[str, Any], name: str) -> str:
    """An image's caption: what DALL-E was asked to draw, else its file's name if it has one."""
    drawn = string(mapping(mapping(part, "metadata"), "dalle"), "prompt")
    return f"[image: {shortened(drawn)}]" if drawn else f"[image {name}]" if name else "[image]"
