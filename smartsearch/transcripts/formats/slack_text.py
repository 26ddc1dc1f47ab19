"""Slack's markup to plain text: names for ids, links, entities; rich text blocks; attachments of messages.

As in Slack's documentation, docs.slack.dev: "Formatting text for app surfaces", "Rich text block" and
"Attachments"; shapes in old exports as in hfaran/slack-export-viewer, slackviewer/message.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from smartsearch.transcripts.formats.captions import attachment, bracketed, linked
from smartsearch.transcripts.formats.fields import last_part, mapping, objects, text
from smartsearch.transcripts.formats.mentions import Mentions

_ANGLED = re.compile(r"<([^<>\n]+)>")
_ENTITIES = re.compile("&(amp|lt|gt);")
_CHARACTERS = {"amp": "&", "lt": "<", "gt": ">"}
_DEEP = 20  # levels of rich text that are followed: lists and quotes in earnest nest two or three deep


@dataclass(frozen=True)
class Names:
    """What people and channels are called, by id."""

    people: Mentions = field(default_factory=Mentions)
    channels: Mentions = field(default_factory=Mentions)

    def person(self, known: str) -> str:
        """The name behind an id, or the id."""
        return self.people.name(known) or known

    def channel(self, known: str) -> str:
        """The channel's name behind an id, or the id."""
        return self.channels.name(known) or known


def plain(said: str, names: Names) -> str:
    """Text without markup: `<@U1>` to `@Maya`, `<https://a|b>` to `b (https://a)`, `&amp;` to `&`."""
    if "<" in said:
        said = _ANGLED.sub(lambda found: _angled(found[1], names), said)
    if "&" in said:
        said = _ENTITIES.sub(lambda found: _CHARACTERS[found[1]], said)
    return said.strip()


def _angled(inside: str, names: Names) -> str:
    what, _, label = inside.partition("|")
    if what.startswith("@"):
        return f"@{names.people.name(what[1:]) or label or what[1:]}"
    if what.startswith("#"):
        return f"#{label or names.channel(what[1:])}"
    if what.startswith("!subteam^"):
        return label if label.startswith("@") else f"@{label or what[9:]}"
    if what.startswith("!date^"):
        return label or what[6:].partition("^")[0]
    if what.startswith("!"):
        return f"@{what[1:]}"
    return linked(label, what)


def blocks(value: dict[str, Any], names: Names) -> str:
    """The text of a message's blocks, for messages that have none beside them."""
    return "\n".join(filter(None, (_block(block, names).strip() for block in objects(value, "blocks"))))


def _block(block: dict[str, Any], names: Names) -> str:
    if block.get("type") == "rich_text":
        parts = (_rich(element, names).strip("\n") for element in objects(block, "elements"))
        return "\n".join(filter(None, parts))
    if block.get("type") == "image":
        return bracketed("image", text(block, "alt_text") or text(mapping(block, "title"), "text"))
    worded = [mapping(block, "text"), *objects(block, "fields"), *objects(block, "elements")]
    return "\n".join(filter(None, (plain(text(found, "text"), names) for found in worded)))


def _rich(element: dict[str, Any], names: Names, depth: int = 0) -> str:
    kind = element.get("type")
    nested = objects(element, "elements")
    if depth > _DEEP:
        return ""
    if kind == "rich_text_list":
        return "\n".join(f"- {_rich(found, names, depth + 1)}" for found in nested)
    if nested:
        return "".join(_rich(found, names, depth + 1) for found in nested)
    if kind == "user":
        return f"@{names.person(text(element, 'user_id'))}"
    if kind == "channel":
        return f"#{names.channel(text(element, 'channel_id'))}"
    if kind == "broadcast":
        return f"@{text(element, 'range')}"
    if kind == "emoji":
        return f":{text(element, 'name')}:"
    if kind == "link":
        return linked(text(element, "text"), text(element, "url"))
    found = element.get("text")
    return found if isinstance(found, str) else ""


def attached(value: dict[str, Any], names: Names) -> Iterator[str]:
    """The text of each attachment of a message: previews of links, quoted messages, what bots say."""
    for found in objects(value, "attachments"):
        parts = [plain(text(found, key), names) for key in ("pretext", "title", "text")]
        for pair in objects(found, "fields"):
            title, content = plain(text(pair, "title"), names), plain(text(pair, "value"), names)
            parts.append(f"{title}: {content}" if title and content else title or content)
        said = "\n".join(dict.fromkeys(filter(None, parts))) or blocks(found, names)
        said = said or plain(text(found, "fallback"), names)
        if said:
            yield said
        elif image := text(found, "image_url"):
            yield bracketed("image", last_part(image))


def shared(value: dict[str, Any]) -> Iterator[str]:
    """A caption for each file of a message: its name, and its title where that says something else."""
    for found in [*objects(value, "files"), *filter(None, [mapping(value, "file")])]:
        name, title = text(found, "name"), text(found, "title")
        named = attachment(name or title, text(found, "mimetype"))
        if title and name and title != name:
            named = f"{named[:-1]}: {' '.join(title.split())}]"
        yield named
