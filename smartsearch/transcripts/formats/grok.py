"""Grok's account export: `prod-grok-backend.json`, with `conversations` of `responses`.

Structure from readers of real exports: portable-ai-memory's mapping (Feb 2026) and Superkikim's
nexus-ai-chat-importer (docs/architecture/providers/grok-export-format.md). `human` is the user, any other
sender the model. Left out: reasoning, steps and search results, cards within a text, answers that a second
one left behind, tasks and projects. Prompts for pictures ("Imagine") are turns, one a conversation.
"""

from __future__ import annotations

from collections.abc import Iterator

from smartsearch.text.times import to_iso
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.agent_log import no_object, without
from smartsearch.transcripts.formats.branch import Node, shown
from smartsearch.transcripts.formats.captions import bracketed, joined
from smartsearch.transcripts.formats.fields import mapping, misfit, sequence, string, unwrapped
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_CARDS = ("grok:render", "xai:tool_usage_card")


def claims(value: object) -> bool:
    """Whether a value is the export, or one of its conversations."""
    held = mapping(value).get("conversations")
    listed = held[:5] if isinstance(held, list) else []
    return any(map(_is_conversation, [value, *listed]))


def _is_conversation(value: object) -> bool:
    return bool(mapping(value, "conversation")) and isinstance(mapping(value).get("responses"), list)


def read(source: Source) -> Iterator[Record]:
    """Turns of every conversation's latest branch, then the prompts for pictures."""
    for item in source.items():
        if _is_conversation(item.value):
            yield from _conversation(source, item)
        elif not claims(item.value):
            yield item.fault("no `conversations` with `responses` here")
        for n, conversation in enumerate(item.elements("conversations"), 1):
            if _is_conversation(conversation.value):
                yield from _conversation(source, conversation, f"#{n}")
            else:
                yield conversation.fault("no conversation with `responses` here")
        for post in item.elements("media_posts"):
            yield _post(source, post) if isinstance(post.value, dict) else no_object(post)


def _conversation(source: Source, item: Item, number: str = "") -> Iterator[Record]:
    about = mapping(item.value, "conversation")
    name, title = string(about, "id") or f"{source.stem}{number}", string(about, "title")
    responses = [
        Item(response.value["response"], response.line, f"{response.pointer}/response")
        if "response" in mapping(response.value)
        else response
        for response in item.elements("responses")
    ]
    kept = shown([_node(response.value) for response in responses])
    for n, response in enumerate(responses):
        if n in kept:
            yield _turn(source.path, response, name, title)


def _node(value: object) -> Node:
    return Node(string(value, "_id"), string(value, "parent_response_id"), _time(value))


def _time(value: object) -> str:
    return to_iso(unwrapped(mapping(value).get("create_time")))


def _turn(path: str, item: Item, name: str, title: str) -> Record:
    value = item.value
    if reason := misfit(value, "message"):
        return item.fault(reason)
    role = "user" if string(value, "sender").casefold() == "human" else "assistant"
    images = ["[image]" for _ in sequence(value, "generated_image_urls")]
    return turn(
        path,
        item,
        text=without(string(value, "message"), _CARDS),
        speaker=role,
        time=_time(value),
        caption=joined([*("[file]" for _ in sequence(value, "file_attachments")), *images]),
        role=role,
        conversation=name,
        turn=string(value, "_id"),
        title=title,
    )


def _post(source: Source, item: Item) -> Record:
    """The prompt for a picture or a video, the fault `no_text` where it has none."""
    value, prompt = item.value, string(item.value, "original_prompt")
    return turn(
        source.path,
        item,
        text=prompt,
        speaker="user",
        time=_time(value),
        caption=bracketed(string(value, "media_type") or "image") if prompt.strip() else "",
        role="user",
        conversation=string(value, "id") or source.stem,
        turn=string(value, "id"),
        title="Imagine",
    )
