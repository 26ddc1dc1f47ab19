"""Mattermost: the lines of a bulk export, and the posts that its API answers with.

Structure as in Mattermost's documentation ("Bulk loading data") and its tests, and as in the answers in
chaoss/grimoirelab-perceval, tests/data/mattermost. System messages and deleted posts are left out, as are
the lines about teams, channels and users. A session is a thread. The API's posts name people by their ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from smartsearch.text.times import to_iso
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.captions import attachment, bracketed, joined
from smartsearch.transcripts.formats.fields import (
    escaped,
    in_time,
    last_part,
    mapping,
    misfit,
    number,
    objects,
    sequence,
    string,
    text,
)
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_POSTS = ("post", "direct_post")
_OTHERS = ("team", "channel", "direct_channel", "scheme", "role", "emoji")
"""Lines that come before the posts; those of users say too little to be known by."""


def claims(value: object) -> bool:
    """Whether a value is a line of a bulk export, or an answer with posts."""
    return _is_line(value) or _is_answer(value)


def _is_line(value: object) -> bool:
    kind = text(value, "type")
    inside = mapping(value, kind)
    return (kind in _POSTS and "create_at" in inside and "user" in inside) or (
        kind in _OTHERS and bool(inside)
    )


def _is_answer(value: object) -> bool:
    posts = list(mapping(value, "posts").values())[:5]
    return isinstance(mapping(value).get("order"), list) and any(
        isinstance(one, dict) and "create_at" in one and "channel_id" in one for one in posts
    )


def read(source: Source) -> Iterator[Record]:
    """Turns in the order of the export; of the API's posts earliest first."""
    for item in source.items():
        if _is_answer(item.value):
            yield from _answer(source, item)
        elif text(item.value, "type") in _POSTS:
            yield from _line(source, item)
        elif not text(item.value, "type"):
            yield item.fault("no line of a bulk export and no posts")


def _line(source: Source, item: Item) -> Iterator[Record]:
    kind = item.value["type"]
    post = Item(item.value.get(kind), item.line, f"{item.pointer}/{kind}")
    replies = list(post.elements("replies"))
    room, title = _room(post.value)
    thread = string(post.value, "id", "create_at") if replies else ""
    for one in (post, *replies):
        yield from _turn(source, one, text(one.value, "user"), room or source.stem, thread, title)


def _room(post: object) -> tuple[str, str]:
    """The channel, or who is in a direct one, and the channel with its team as the title."""
    channel, team = text(post, "channel"), text(post, "team")
    members = [one for one in sequence(post, "channel_members") if isinstance(one, str)]
    return channel or ", ".join(members), f"{team} / {channel}" if team and channel else ""


def _answer(source: Source, item: Item) -> Iterator[Record]:
    posts = [
        Item(one, item.line, f"{item.pointer}/posts/{escaped(key)}")
        for key, one in mapping(item.value, "posts").items()
    ]
    roots = {root for post in posts if (root := string(post.value, "root_id"))}
    for post in in_time(posts, lambda value: number(value, "create_at")):
        own = string(post.value, "id")
        thread = string(post.value, "root_id") or (own if own in roots else "")
        speaker = text(mapping(post.value, "props"), "override_username") or string(post.value, "user_id")
        room = string(post.value, "channel_id") or source.stem
        yield from _turn(source, post, speaker, room, thread)


def _turn(
    source: Source, item: Item, speaker: str, room: str, thread: str, title: str = ""
) -> Iterator[Record]:
    value = item.value
    if reason := misfit(value, "message"):
        yield item.fault(reason)
    elif not text(value, "type").startswith("system_") and not number(value, "delete_at"):
        yield turn(
            source.path,
            item,
            text=text(value, "message").strip(),
            speaker=speaker,
            time=to_iso(value.get("create_at")),
            caption=joined([*_files(value), *_attached(mapping(value, "props"))]),
            conversation=room,
            session=thread,
            turn=string(value, "id"),
            title=title,
        )


def _files(value: dict[str, Any]) -> Iterator[str]:
    for one in objects(value, "attachments"):
        yield attachment(last_part(text(one, "path")))
    for one in objects(mapping(value, "metadata"), "files"):
        yield attachment(text(one, "name"))


def _attached(props: dict[str, Any]) -> Iterator[str]:
    """What integrations attach to a post: previews and notices."""
    for one in objects(props, "attachments"):
        said = "\n".join(filter(None, (text(one, key) for key in ("pretext", "title", "text"))))
        if said or text(one, "fallback"):
            yield bracketed("attached", said or text(one, "fallback"))
