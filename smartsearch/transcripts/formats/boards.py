"""Boards and help desks, each as a declaration: what people wrote to one another.

Shapes as their interfaces document them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from smartsearch.text.htmltext import text_of
from smartsearch.transcripts.formats.fields import mapping, objects, string
from smartsearch.transcripts.formats.form import Form
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.paths import EACH, address, at
from smartsearch.transcripts.source import Source


def _lines(value: dict[str, Any], *keys: str) -> str:
    return "\n\n".join(filter(None, (string(value, key) for key in keys)))


# Reddit's listings: a post and, in a second list, its comments with their replies; `more` is a link.
def _reddit(source: Source) -> Iterator[Item]:
    """The things of all lists, replies behind what they answer."""
    waiting = list(source.items())[::-1]
    while waiting:
        item = waiting.pop()
        what, data = at(item.value, "kind"), mapping(item.value, "data")
        if what == "Listing":
            waiting += reversed(list(item.elements("data", "children")))
        elif what in ("t1", "t3"):
            yield item.at("data")
            if isinstance(data.get("replies"), dict):
                waiting.append(item.at("data", "replies"))


# WhatsApp-Chat-Exporter (KnugiHK): chats by their ids, with messages by theirs.
def _is_whatsapp(value: Any) -> bool:
    chats = list(mapping(value).values())[:5]
    messages = (one for chat in chats for one in list(mapping(chat, "messages").values())[:3])
    return any({"from_me", "timestamp", "data"} <= mapping(one).keys() for one in messages)


FORMS = {
    "reddit": Form(
        claims="kind=Listing data/children[]/kind",
        items=_reddit,
        head="title",
        name="",
        text=lambda value, _: _lines(value, "title", "selftext", "body"),
        speaker="author",
        time="created_utc",
    ),
    "discourse": Form(
        claims="post_stream/posts[]/username+created_at",
        inside="post_stream/posts",
        name="slug id",
        text=lambda value, _: string(value, "raw") or text_of(string(value, "cooked")),
        speaker="name username",
        turn="post_number",
        skip=lambda value, _: value.get("post_type", 1) == 3,
    ),
    "github": Form(
        claims=(
            "comments[]/author+body title body",
            "title body url author/login comments[]",
            "html_url user/login body created_at",
        ),
        # an issue or a pull request as `gh issue view --json` gives it, or a list of comments, or of issues
        inside="comments",
        first="",
        alone=True,
        name="number id",
        says="body",
        text=lambda value, _: _lines(value, "title", "body"),
        speaker="author/login user/login",
        turn="number id",
        conversation=lambda value, _: string(value, "issue_url", "pull_request_url").rpartition("/")[2],
    ),
    "zendesk": Form(
        claims=("comments[]/author_id+plain_body", "comments[]/author_id+body+public"),
        inside="comments",
        about=lambda _, item, __: {
            string(one, "id"): string(one, "name") for one in objects(item.value, "users")
        },
        title="subject",
        text="plain_body body",
        speaker=lambda value, people: people.get(who := string(value, "author_id"), who),
    ),
    "intercom": Form(
        claims="source{} conversation_parts/conversation_parts[]",
        inside="conversation_parts/conversation_parts",
        first="source",
        about=lambda _, item, __: item.value.get("created_at"),
        title=lambda value, _: string(value, "title") or text_of(string(mapping(value, "source"), "subject")),
        text=lambda value, _: text_of(string(value, "body")),
        speaker="author/name author/email author/id",
        time=lambda value, began: value.get("created_at", began),
        skip=lambda value, _: not value.get("body"),
    ),
    "whatsapp-json": Form(
        claims=_is_whatsapp,
        chats=EACH,
        inside="messages",
        about=lambda _, item, __: string(item.value, "name") or string(item.value, "id").partition("@")[0],
        called=lambda _, name: name,
        text=lambda value, _: "" if value.get("media") else string(value, "data").replace("<br>", "\n"),
        speaker=lambda value, name: "Me" if value.get("from_me") else string(value, "sender") or name,
        caption=(
            lambda value, _: (
                address(string(value, "data"), string(value, "mime")) if value.get("media") else ""
            ),
            lambda value, _: string(value, "caption"),
        ),
        turn="key_id",
        skip=lambda value, _: value.get("meta") is True and not value.get("media"),
    ),
}
