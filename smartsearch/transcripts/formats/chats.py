"""Messengers and workplaces whose exports are JSON or tables of messages, each as a declaration.

Structures as their programs, or readers of real exports on GitHub, have them; each names its source. Notices
(who joined, called or pinned) and deleted messages are left out; what a message answers is not repeated.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from itertools import chain, repeat
from typing import Any

from smartsearch.text.htmltext import text_of, unescaped
from smartsearch.text.times import instant, to_iso
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.formats.agent_log import without
from smartsearch.transcripts.formats.captions import attachment, bracketed, joined, linked, polled
from smartsearch.transcripts.formats.csvtext import has_columns, records
from smartsearch.transcripts.formats.fields import (
    Mentions,
    kind,
    last_part,
    mapping,
    misfit,
    number,
    objects,
    sequence,
    string,
    text,
)
from smartsearch.transcripts.formats.form import Chat, Form
from smartsearch.transcripts.formats.jsontext import Item, documents
from smartsearch.transcripts.formats.neighbours import made_beside, parsed, value_beside
from smartsearch.transcripts.formats.paths import Reads, address, at, each, file, noun, path, shaped
from smartsearch.transcripts.formats.tool_calls import arguments
from smartsearch.transcripts.source import Source

_ENCRYPTED = FormatError("could not be decrypted when it was exported", kind="no_text")


def _lines(*parts: str) -> str:
    return "\n".join(part for part in parts if part)


def _addresses(key: str) -> Reads:
    """Captions of the files whose addresses stand in a text, parted by blanks."""
    return lambda value, _: joined(map(address, text(value, key).split()))


# Discord: Tyrrrz/DiscordChatExporter, Exporting/JsonMessageWriter.cs, and the kinds of MessageKind.cs, which
# are written as their numbers in Discord's documentation where it does not name them.
_NOTICES = {
    *("RecipientAdd", "RecipientRemove", "Call", "ChannelNameChange", "ChannelIconChange"),
    *("ChannelPinnedMessage", "GuildMemberJoin", "ThreadCreated"),
    *map(str, range(6, 19)),
}
_SNOWFLAKES = 1420070400
"""The first second of 2015, since 1970: from then Discord's ids count milliseconds."""
_MENTION, _EMOJI = re.compile(r"<@!?(\d+)>"), re.compile(r"<a?(:\w+:)\d+>")


def _discord_sent(value: Any, _: Any) -> float | None:
    sent, id_ = instant(string(value, "timestamp")), number(value, "id")
    return _SNOWFLAKES + id_ / 2**22 / 1000 if sent is None and id_ is not None else sent


def _discord_text(value: dict[str, Any], _: Any) -> str:
    """The text with names for ids, which exports made with `--markdown false` have, and a forwarded one."""
    said = text(value, "content").strip()
    if "<" in said:
        people = Mentions({string(w, "id"): text(w, "nickname", "name") for w in objects(value, "mentions")})
        said = _MENTION.sub(lambda found: f"@{people.name(found[1]) or found[1]}", said)
        said = _EMOJI.sub(r"\1", said)
    inner = value.get("forwardedMessage")
    return _lines(said, _discord_text(inner, None)) if isinstance(inner, dict) else said


def _embed(value: dict[str, Any]) -> str:
    fields = [text(field, key) for field in objects(value, "fields") for key in ("name", "value")]
    said = " ".join(filter(None, [text(value, "title"), text(value, "description"), *fields]))
    images = "[image]" if sequence(value, "images") or mapping(value, "image") else ""
    return bracketed("embed", said) if said else images


_DISCORD_FILES = (
    each("attachments", file("fileName", "")),
    each("stickers", noun("sticker", "name")),
    each("embeds", _embed),
)


def _forwarded(value: dict[str, Any], _: Any) -> str:
    inner = mapping(value, "forwardedMessage")
    files = [show(inner, None) for show in _DISCORD_FILES] if inner else []
    return joined(["[forwarded]", *files]) if any(files) or text(inner, "content") else ""


def _discord_title(value: dict[str, Any], _: Any) -> str:
    guild, name = text(mapping(value, "guild"), "name"), path("channel/name channel/id")(value, None)
    return f"{guild} / {name}" if guild and name and guild != "Direct Messages" else ""


# Discord's own data package: what its owner wrote in one channel, whose name is in `channel.json` beside it
# or in `index.json` above. Before 2024 it has tables.
_PACKAGE = ("ID", "Timestamp", "Contents")


def _package(source: Source, _: Item, __: Sequence[Item]) -> dict[str, str]:
    told, index = value_beside(source, "channel.json"), value_beside(source, "../index.json")
    name, guild = text(told, "name"), text(mapping(told, "guild"), "name")
    places = ("../../account/user.json", "../../Account/user.json")
    owner = next((found for place in places if (found := value_beside(source, place))), None)
    label = text(index, string(told, "id") or source.folder.removeprefix("c"))
    return {
        "name": name or label or source.folder or source.stem,
        "title": f"{guild} / {name}" if guild and name else "",
        "owner": text(owner, "global_name", "username"),
    }


_DISCORD_PACKAGE = Form(
    claims=" ".join(_PACKAGE),
    about=_package,
    name=lambda _, about: about["name"],
    title=lambda _, about: about["title"],
    says="Contents",
    speaker=lambda _, about: about["owner"],
    time="Timestamp",
    caption=(_addresses("Attachments"),),
    turn="ID",
    skip=lambda v, _: not all(key in v for key in _PACKAGE) and FormatError("no message of a channel"),
    sort=True,
)

# Google Chat: its readers on GitHub (`group_info.json` and `topic_id`).


def _google_chat(source: Source, _: Item, messages: Sequence[Item]) -> dict[str, Any]:
    """What the conversation is called, or who is in it, or its folder; and how many each topic has."""
    group = value_beside(source, "group_info.json")
    members = [text(one, "name", "email") for one in objects(group, "members")]
    name = text(group, "name") or ", ".join(filter(None, members)) or source.folder
    return {"name": name, "topics": Counter(string(one.value, "topic_id") for one in messages)}


# Hangouts: adrish96/Hangouts-JSON-Parser (`conversations`) and ammgws/wynbot (`conversation_state`).
_TOLD = ("conversation/conversation", "conversation_state/conversation")
_person = path("gaia_id chat_id")


def _hangouts(_: Source, item: Item, __: Sequence[Item]) -> tuple[dict[str, str], str]:
    """The names in a conversation by their ids, and its own: that of the others where it has none."""
    told = next((found for way in _TOLD if (found := at(item.value, way))), None)
    listed = objects(told, "participant_data")
    people = {_person(mapping(one, "id"), None): text(one, "fallback_name") for one in listed}
    own = mapping(told, "self_conversation_state", "self_read_state", "participant_id")
    others = [name for known, name in people.items() if name and known != _person(own, None)]
    return people, text(told, "name") or ", ".join(others)


def _segment(value: dict[str, Any]) -> str:
    said, link = string(value, "text"), text(mapping(value, "link_data"), "link_target")
    if value.get("type") == "LINE_BREAK":
        return "\n"
    return linked(said, link) if value.get("type") == "LINK" else said


def _embedded(value: dict[str, Any]) -> str:
    held = mapping(value, "embed_item")
    photo = mapping(held, "plus_photo") or mapping(held, "embeds.PlusPhoto.plus_photo")
    places = (mapping(held, key) for key in ("place_v2", "embeds.PlaceV2.place_v2", "place"))
    if photo:
        word = "video" if photo.get("media_type") == "VIDEO" else "image"
        return bracketed(word, last_part(text(photo, "original_content_url", "url").partition("?")[0]))
    place = next(filter(None, places), None)
    return bracketed("place", text(place, "name")) if place else "[attachment]" if held else ""


# LinkedIn's messages.csv: its readers on GitHub; rows come latest first.


def _linkedin_called(_: Any, rows: Any) -> str:
    """A conversation's title, or the names of those in it, in the order in which they come."""
    title = next((found for row in rows if (found := text(row.value, "CONVERSATION TITLE"))), "")
    people = (text(row.value, key).split(",") for row in reversed(rows) for key in ("FROM", "TO"))
    names = (name.strip() for listed in people for name in listed)
    return title or ", ".join(dict.fromkeys(filter(None, names)))


def _linkedin_skip(value: dict[str, Any], _: Any) -> object:
    if not (text(value, "CONTENT", "FROM") and "CONTENT" in value):
        return FormatError("a row without what was said")
    return text(value, "IS MESSAGE DRAFT").casefold() == "yes"


def _linkedin_text(value: dict[str, Any], _: Any) -> str:
    content = text(value, "CONTENT").strip()
    said = text_of(content) if content.startswith("<p") else content
    return _lines(text(value, "SUBJECT").strip(), said)


# Mattermost: its documentation ("Bulk loading data") and, for the API's answers,
# chaoss/grimoirelab-perceval, tests/data/mattermost. The API's posts name people by their ids.


def _mattermost(source: Source) -> Iterator[Item | FormatError]:
    """The posts of an export, or what holds some; the lines about teams, channels and users do not."""
    for item in source.items():
        what = text(item.value, "type")
        if what in ("post", "direct_post"):
            yield item.at(what)
        elif not what:
            held = isinstance(at(item.value, "posts"), dict)
            yield item if held else item.fault("no conversation with `messages` here")


def _room(value: Any, _: Any) -> str:
    team, channel = text(value, "team"), text(value, "channel")
    members = [one for one in sequence(value, "channel_members") if isinstance(one, str)]
    return f"{team} / {channel}" if team and channel else channel or ", ".join(members)


def _integrated(value: dict[str, Any]) -> str:
    said = _lines(*(text(value, key) for key in ("pretext", "title", "text"))) or text(value, "fallback")
    return bracketed("attached", said) if said else ""


# Matrix rooms as Element exports them: matrix-org/matrix-react-sdk, JSONExport.ts, and spec.matrix.org.
_SPOKEN = ("m.room.message", "m.sticker", "m.poll.start", "org.matrix.msc3381.poll.start")
_MEDIA = {"m.image": "image/", "m.video": "video/", "m.audio": "audio/", "m.file": ""}
_QUOTED = re.compile(r"> (?:\* )?<@[^>\n]+>[^\n]*(?:\n>[^\n]*)*\n\n")


def _matrix(_: Source, __: Item, messages: Sequence[Item]) -> dict[str, dict[str, Any]]:
    """What events say of others: display names by user, and what edits made of events."""
    names, edits, here = {}, {}, set()
    events = [one.value for one in messages if isinstance(one.value, dict)]
    for event in sorted(events, key=lambda one: number(one, "origin_server_ts") or 0):
        content, relation = mapping(event, "content"), mapping(event, "content", "m.relates_to")
        here.add(string(event, "event_id"))
        if event.get("type") == "m.room.member" and text(content, "displayname"):
            names[string(event, "state_key", "sender")] = text(content, "displayname")
        if relation.get("rel_type") == "m.replace" and mapping(content, "m.new_content"):
            edits[string(relation, "event_id")] = mapping(content, "m.new_content")
    return {"names": names, "edits": {id_: content for id_, content in edits.items() if id_ in here}}


def _matrix_skip(value: dict[str, Any], about: Any) -> object:
    """Whether nobody said it: redacted, the edit of another, or no message at all."""
    if value.get("type") == "m.room.encrypted":
        return _ENCRYPTED
    if value.get("type") not in _SPOKEN:
        return True
    relation = mapping(value, "content", "m.relates_to")
    edits = relation.get("rel_type") == "m.replace" and string(relation, "event_id") in about["edits"]
    gone = {"redacted_because", "redacted_by"} & mapping(value, "unsigned").keys()
    wrong = misfit(mapping(value, "content"), "body")
    return wrong or edits or gone or not mapping(value, "content")


def _matrix_content(event: dict[str, Any], about: Any) -> dict[str, Any]:
    """The content as it is now: by an edit in the file, or by the one the server bundled with the event."""
    content = mapping(event, "content")
    bundled = mapping(event, "unsigned", "m.relations", "m.replace", "content", "m.new_content")
    edit = about["edits"].get(string(event, "event_id"))
    return edit or bundled or mapping(content, "m.new_content") or content


def _matrix_said(event: dict[str, Any], about: Any) -> tuple[str, str]:
    content = _matrix_content(event, about)
    body, what = text(content, "body").strip(), text(content, "msgtype")
    if event.get("type") == "m.sticker":
        return "", bracketed("sticker", body)
    if event.get("type") != "m.room.message":
        asked = mapping(content, "m.poll") or mapping(content, "org.matrix.msc3381.poll.start")
        answers = map(_worded, objects(asked, "answers"))
        return "", polled(_worded(mapping(asked, "question")), answers) if asked else ""
    if what in _MEDIA:  # where both stand, `filename` names the file and `body` is what was written beside it
        name, mime = text(content, "filename") or body, text(mapping(content, "info"), "mimetype")
        return "" if name == body else body, attachment(name, _MEDIA[what] or mime)
    if what in ("m.location", "m.bad.encrypted"):
        return "", bracketed("location", body, text(content, "geo_uri")) if what == "m.location" else ""
    quoted = mapping(event, "content", "m.relates_to", "m.in_reply_to") and _QUOTED.match(body)
    return body[quoted.end() :] if quoted else body, ""


def _worded(value: dict[str, Any]) -> str:
    texts = [text(found, "body") for found in objects(value, "m.text")]
    return text(value, "org.matrix.msc1767.text", "body") or next(filter(None, texts), "")


def _matrix_thread(value: dict[str, Any], _: Any) -> str:
    relation = mapping(value, "content", "m.relates_to")
    return string(relation, "event_id") if relation.get("rel_type") == "m.thread" else ""


# Messenger and Instagram: kenn-io/msgvault issue 280, bepaald/signalbackup-tools issue 331; encrypted chats,
# which come apart from it, adurivault/FBMessage pull request 5. The first writes each byte of UTF-8 as a
# character, which is mended here.
_BYTES, _NUMBERED = re.compile("[\x80-\xff]+"), re.compile(r"_\d+$")


def mended(said: str) -> str:
    """Text whose UTF-8 bytes were each written as a character; what is no such text stays as it is."""
    return said if said.isascii() else _BYTES.sub(_decoded, said)


def _decoded(found: re.Match[str]) -> str:
    try:
        return found[0].encode("latin-1").decode()
    except UnicodeDecodeError:
        return found[0]


def _messenger_skip(value: dict[str, Any], _: Any) -> object:
    gone = value.get("is_unsent") is True or value.get("isUnsent") is True or "call_duration" in value
    event = value.get("type") in ("Subscribe", "Unsubscribe", "Call")
    return gone or event or misfit(value, "text")


_ALBUMS = {
    **{"media": "", "photos": "image/", "videos": "video/", "audio_files": "audio/", "gifs": "image/"},
    "files": "",
}
"""Lists of files, with the media type that each stands for."""
_HOLDS = {*_ALBUMS, "sticker", "share"}


def _messenger_caption(value: dict[str, Any], _: Any) -> str:
    if _HOLDS.isdisjoint(value):
        return ""
    listed = ((one, mime) for key, mime in _ALBUMS.items() for one in objects(value, key))
    captions = [attachment(last_part(text(one, "uri")), mime) for one, mime in listed]
    captions.append("[sticker]" if mapping(value, "sticker") else "")
    if share := mapping(value, "share"):
        captions.append(bracketed("link", text(share, "share_text"), text(share, "link")))
    return mended(joined(captions))


# Rocket.Chat: RocketChat/Rocket.Chat, exportRoomMessagesToFile.ts, and the answers in
# chaoss/grimoirelab-perceval, tests/data/rocketchat.


def _rocket_attached(value: dict[str, Any]) -> str:
    """A file, or what a bot attaches; the quote of a message is not repeated."""
    if "message_link" in value:
        return ""
    said = _lines(text(value, "title"), text(value, "description", "text"))
    if value.get("type") == "file" or {"image_url", "video_url", "audio_url", "fileName"} & value.keys():
        return attachment(text(value, "title", "fileName", "remote"))
    return bracketed("attached", said) if said else ""


# Signal's own export, `main.jsonl`: signalapp/Signal-Desktop, protos/Backups.proto. Frames name people and
# chats before the messages that refer to them by number; messages of all chats come in one stream.
_SIGN = "\ufffc"
_FRAMES = ("account", "recipient", "chat", "chatItem", "stickerPack", "adHocCall", "notificationProfile")
_UNSAID = ("updateMessage", "remoteDeletedMessage", "giftBadge")


def _signal_claims(value: Any) -> bool:
    told = mapping(value, "recipient"), mapping(value, "chatItem"), mapping(value, "account")
    begun = isinstance(value, dict) and "backupTimeMs" in value and "version" in value
    return begun or ("id" in told[0] and len(told[0]) > 1) or "authorId" in told[1] or "givenName" in told[2]


def _signal(source: Source) -> Iterator[Chat | FormatError]:
    """The chats, with what the frames told: people and mentions."""
    people, mentions, rooms = dict[str, str](), Mentions(), dict[str, str]()
    chats: dict[str, list[Item]] = {}
    for item in source.items():
        frame = item.value
        wrong = [k for k in _FRAMES if k in mapping(frame) and not isinstance(frame[k], dict)]
        if wrong or not isinstance(frame, dict):
            what = f"`{wrong[0]}` is {kind(frame[wrong[0]])}, not an object" if wrong else ""
            yield item.fault(what or f"{kind(frame)} in the place of a frame")
        elif found := mapping(frame, "chatItem"):
            chats.setdefault(string(found, "chatId"), []).append(item._replace(value=found))
        elif account := mapping(frame, "account"):
            people["self"] = _full(account, "givenName", "familyName")
        elif told := mapping(frame, "recipient"):
            people[string(told, "id")] = _recipient(told, people)
            mentions[text(mapping(told, "contact"), "aci")] = people[string(told, "id")]
        elif room := mapping(frame, "chat"):
            rooms[string(room, "id")] = string(room, "recipientId")
    for id_, items in chats.items():
        name = people.get(rooms.get(id_, ""), "")
        yield Chat(Item({"id": id_, "name": name}, 0), items, about=(people, mentions))


def _recipient(value: dict[str, Any], people: dict[str, str]) -> str:
    """A recipient's name: as the exporting person wrote it, else its own, else its number."""
    if contact := mapping(value, "contact"):
        phone = string(contact, "e164").lstrip("+")
        return (
            _full(mapping(contact, "nickname"), "given", "family")
            or _full(contact, "systemGivenName", "systemFamilyName")
            or _full(contact, "profileGivenName", "profileFamilyName")
            or text(contact, "username")
            or (f"+{phone}" if phone else "")
        )
    if "self" in value:
        return people.get("self") or "Me"
    named = path("group/snapshot/title/title distributionList/distributionList/name")
    return "Signal" if "releaseNotes" in value else named(value, None)


def _full(value: dict[str, Any], *keys: str) -> str:
    return " ".join(filter(None, (text(value, key).strip() for key in keys)))


def _named(said: str, ranges: list[dict[str, Any]], name: Callable[[dict[str, Any]], str]) -> str:
    """A text with names where Signal keeps a sign, in the order of what it has about parts of the text."""
    if _SIGN not in said:
        return said
    ordered = sorted(ranges, key=lambda found: number(found, "start") or 0)
    names = chain((f"@{told}" for told in map(name, ordered) if told), repeat(_SIGN))
    first, *rest = said.split(_SIGN)
    return first + "".join(f"{named}{piece}" for piece, named in zip(rest, names))


def _signal_text(value: dict[str, Any], about: Any) -> str:
    body = at(value, "standardMessage/text") or at(value, "directStoryReplyMessage/textReply/text")
    ranges = [found for found in objects(body, "bodyRanges") if text(found, "mentionAci")]
    said = _named(text(body, "body"), ranges, lambda v: about[1].name(text(v, "mentionAci")) or "someone")
    return said or text(mapping(value, "directStoryReplyMessage"), "emoji")


def _pointed(value: dict[str, Any]) -> str:
    pointer = mapping(value, "pointer")
    return joined([file("fileName", "contentType")(pointer), text(pointer, "caption")])


def _poll(value: dict[str, Any]) -> str:
    return polled(text(value, "question"), (text(found, "option") for found in objects(value, "options")))


# sigtop: tbvdm/sigtop, cmd/sigtop/fmt_json.go: the JSON of Signal Desktop's database, unchanged. It holds no
# name but the file's: who exported speaks as `Me`, members of a group by number or id.
_DESKTOP = {
    *("conversationId", "sent_at", "received_at", "received_at_ms", "sourceUuid", "sourceServiceId"),
    *("sendStateByConversationId", "unidentifiedDeliveries", "schemaVersion", "hasAttachments"),
    *("expirationStartTimestamp", "readStatus", "seenStatus", "bodyRanges"),
}
_NO_TEXT = (
    "this JSON holds no text: Signal Desktop 7.42 and later keep it where sigtop's JSON does not "
    "look; export with `sigtop export-messages -f text`, or with Signal itself"
)
_from = path("source sourceServiceId sourceUuid")


def _sigtop(source: Source) -> Iterator[Item | FormatError]:
    items = list(source.items())
    if items and not any("body" in mapping(item.value) for item in items):
        yield items[0].fault(_NO_TEXT)
    yield from items


def _sigtop_about(source: Source, _: Item, messages: Sequence[Item]) -> tuple[str, bool]:
    """The chat's name, and whether it is a group's."""
    values = [one.value for one in messages if isinstance(one.value, dict)]
    others = {_from(value, None) for value in values if _came(value) == "incoming"} - {""}
    name = re.sub(r"(?<!\s)\s*\([^()]*\)$", "", source.stem)
    return name or source.stem, len(others) > 1


def _came(value: dict[str, Any]) -> str:
    """Whether a message came in or went out; where the database keeps that elsewhere, by what it has."""
    return text(value, "type") or ("outgoing" if "sendStateByConversationId" in value else "incoming")


# Skype: siwen-r/skype-export-parser (`SkypeExport.d.ts`) and kcoderhtml/mini-me.
_EVENTS = ("Event/", "ThreadActivity/", "Control/", "Notice", "PopCard", "EndToEndEncryption/E2EE")
_SHOWN = {
    "RichText/UriObject": "image",
    "RichText/Media_Album": "album",
    "RichText/Media_AudioMsg": "audio",
    "RichText/Media_Video": "video",
    "RichText/Media_FlikMsg": "video",
    "RichText/Media_CallRecording": "call recording",
    "RichText/Media_Card": "card",
    "RichText/Media_GenericFile": "file",
    "RichText/Contacts": "contact",
    "RichText/Location": "location",
    "RichText/ScheduledCallInvite": "call invitation",
    "Poll": "poll",
}
_ACCOUNT = re.compile(r"\d{1,3}:")
_NAME = re.compile(r"<OriginalName [^<>]{0,20}v=\"(?P<name>[^\"<>]{1,300})\"")
_DETAIL = re.compile(r"(?:<c [^<>]{0,200}f=|address=|pollQuestion\":\s?)\"(?P<detail>[^\"<>]{1,300})\"")
_EDITED = re.compile(r"<e_m\b[^<>]{0,300}>(?:</e_m>)?")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,2000}>")


def _skype(_: Source, item: Item) -> Iterator[Chat | FormatError]:
    """The conversations, and the names of accounts: as messages give them, else as the talk with one does."""
    listed = list(item.elements("conversations"))
    names = {string(one.value, "id"): text(one.value, "displayName") for one in listed}
    for value in (value for one in listed for value in objects(one.value, "MessageList")):
        if text(value, "displayName"):
            names[string(value, "from")] = text(value, "displayName")
    for one in listed:
        if isinstance(one.value, dict):
            yield Chat(one, list(one.elements("MessageList")), about=names)
        else:
            yield one.fault(f"{kind(one.value)} in the place of a conversation")


def _account(value: Any, _: Any) -> str:
    return _ACCOUNT.sub("", string(value, "id"), count=1)


def _skype_skip(value: dict[str, Any], _: Any) -> bool:
    deleted = mapping(value, "properties").get("deletetime") is not None
    return text(value, "messagetype").startswith(_EVENTS) or (deleted and not text(value, "content"))


def _skype_said(value: dict[str, Any], _: Any) -> tuple[str, str]:
    content, what = text(value, "content"), text(value, "messagetype")
    if what not in _SHOWN:
        plain = content if what == "Text" else _untagged(without(content, ("quote",)))
        return plain or _untagged(content), ""
    if named := _NAME.search(content):
        return "", attachment(unescaped(named["name"]))
    detail = _DETAIL.search(content)
    return "", bracketed(_SHOWN[what], unescaped(detail["detail"]) if detail else "")


def _untagged(content: str) -> str:
    """Text without Skype's tags; its line ends are its own."""
    return unescaped(_TAG.sub("", _EDITED.sub("", content))).replace("\r\n", "\n").strip()


# Snapchat: its readers on GitHub ("Received Saved Chat History", "IsSaved"). Before 2023 messages stand in
# lists by whether they were sent or received and kept: those sent do not say who sent them.
_BEFORE = re.compile(r"(?:Received|Sent) (?:Saved|Unsaved) Chat History")
_NOUNS = {"IMAGE": "image", "PHOTO": "image", "VIDEO": "video", "NOTE": "audio", "STICKER": "sticker"}


def _snapchat_claims(value: Any) -> bool:
    lists = [one for one in mapping(value).values() if isinstance(one, list)][:20]
    return any({"Media Type", "Created"} <= mapping(one).keys() for found in lists for one in found[:3])


def _snapchat(_: Source, item: Item) -> Iterator[Chat | FormatError]:
    chats: dict[str, list[Item]] = {}
    for key in mapping(item.value):
        place = item.at(key)
        if not isinstance(place.value, list):
            yield place.fault(f"{kind(place.value)} in the place of a list of messages")
        for one in place.elements():
            keys = ("From", "To") if _BEFORE.fullmatch(key) else ("Conversation Title",)
            chats.setdefault(text(one.value, *keys) or key, []).append(one)
    for name, messages in chats.items():
        yield Chat(item, messages, name)


def _snapchat_caption(value: dict[str, Any], _: Any) -> str:
    what = text(value, "Media Type")
    if what in ("", "TEXT"):
        return ""
    return bracketed(_NOUNS.get(what, what.lower()), text(value, "Media IDs"))


# Teams: Microsoft's documentation ("chatMessage resource type"); its web client's messages, which
# `imdisplayname` and `composetime` tell, are put under Graph's keys.


def _teams(source: Source) -> Iterator[Item]:
    for item in source.items():
        key = next((key for key in ("value", "messages") if isinstance(at(item.value, key), list)), "")
        for one in item.elements(key) if key else [item]:
            yield one._replace(value=_graph(one.value)) if _is_web(one.value) else one


_is_web = shaped("messagetype+composetime+content")


def _graph(value: dict[str, Any]) -> dict[str, Any]:
    what, more = text(value, "messagetype"), mapping(value, "properties")
    files = arguments(text(more, "files"))
    room = string(value, "conversationid") or last_part(string(value, "conversationLink").partition(";")[0])
    return {
        "id": value.get("id"),
        "messageType": "message" if what.startswith(("RichText", "Text")) else what or "none",
        "createdDateTime": value.get("originalarrivaltime") or value.get("composetime"),
        "deletedDateTime": more.get("deletetime"),
        "subject": more.get("subject"),
        "from": {"user": {"displayName": value.get("imdisplayname"), "id": last_part(string(value, "from"))}},
        "body": {"contentType": "text" if what == "Text" else "html", "content": value.get("content")},
        "attachments": [{"name": text(one, "fileName", "title")} for one in objects({"all": files}, "all")],
        "chatId": room,
    }


def _is_html(value: dict[str, Any]) -> bool:
    return text(mapping(value, "body"), "contentType").lower() == "html"


def _teams_text(value: dict[str, Any], _: Any) -> str:
    content = text(mapping(value, "body"), "content")
    said = text_of(content) if _is_html(value) else content.strip()
    return _lines(text(value, "subject").strip(), said)


def _teams_pictures(value: dict[str, Any], _: Any) -> str:
    count = text(mapping(value, "body"), "content").count("<img ") if _is_html(value) else 0
    return joined(["[image]"] * count)


# Telegram Desktop's `result.json`, a chat or an account: telegramdesktop/tdesktop, export_output_json.cpp.
_UNNAMED = {"saved_messages": "Saved Messages", "replies": "Replies"}
_MEDIA_TYPES = {
    "sticker": "sticker",
    "video_message": "video",
    "voice_message": "audio",
    "animation": "video",
    "video_file": "video",
    "audio_file": "audio",
}
_HELD = {
    *("forwarded_from", "photo", "file", "media_type", "contact_information", "place_name"),
    *("location_information", "poll", "todo_list", "game_title"),
}
_OFFSETS = 15 * 3600  # seconds: no clock on earth differs more from UTC


def _by_epoch(_: Source, __: Item, messages: Sequence[Item]) -> bool:
    """Whether all messages of a chat have an epoch: merged exports have it on some."""
    values = [one.value for one in messages]
    return all(number(one, "date_unixtime") is not None or not string(one, "date") for one in values)


def _telegram_sent(value: Any, by_epoch: Any) -> float | None:
    """When a message was sent, for comparison within its chat: by the epoch, else by the local clock."""
    epoch = number(value, "date_unixtime")
    return epoch if by_epoch else instant(string(value, "date")) or epoch


def _telegram_time(value: dict[str, Any], _: Any) -> str:
    """The local time of the person who exported, with the offset that the epoch beside it tells."""
    sent, written = number(value, "date_unixtime"), string(value, "date")
    if sent is None:
        return to_iso(written)
    try:
        local = datetime.fromisoformat(written)
        utc = datetime.fromtimestamp(sent, timezone.utc)
        ahead = (local.replace(tzinfo=timezone.utc) - utc).total_seconds()
    except (ValueError, OverflowError, OSError):
        return to_iso(sent) or to_iso(written)
    if local.tzinfo or abs(ahead) > _OFFSETS or ahead % 900:
        return to_iso(sent) or to_iso(written)
    return local.replace(tzinfo=timezone(timedelta(seconds=ahead)), microsecond=0).isoformat()


def _runs(value: object) -> str:
    """A text, which is a string or a list of strings and of parts with a type of their own."""
    if isinstance(value, str):
        return value
    parts = []
    for part in value if isinstance(value, list) else []:
        if isinstance(part, str):
            parts.append(part)
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            href = part.get("href")
            parts.append(linked(part["text"], href) if isinstance(href, str) else part["text"])
    return "".join(parts)


def _telegram_caption(value: dict[str, Any], __: Any) -> str:
    """Everything a message holds beside its text."""
    if value.get("type") == "service" or not value.keys() & _HELD:
        return ""
    return joined(
        [
            bracketed("forwarded from", source) if (source := text(value, "forwarded_from")) else "",
            bracketed("image", _kept(text(value, "photo"))) if "photo" in value else "",
            _medium(value) if "file" in value or "media_type" in value else "",
            _contact(mapping(value, "contact_information")) if "contact_information" in value else "",
            _telegram_place(value),
            _listed("poll", mapping(value, "poll"), "question", "answers") if "poll" in value else "",
            _listed("list", mapping(value, "todo_list"), "title", "items") if "todo_list" in value else "",
            bracketed("game", text(value, "game_title"), text(value, "game_description"))
            if "game_title" in value
            else "",
        ]
    )


def _kept(path: str) -> str:
    """The name of a file; none where a remark in brackets says why it was not exported."""
    return "" if path.endswith(")") and "(File " in path else last_part(path)


def _medium(value: dict[str, Any]) -> str:
    name = text(value, "file_name") or _kept(text(value, "file"))
    noun = _MEDIA_TYPES.get(text(value, "media_type"), "")
    if noun == "sticker":
        return bracketed("sticker", text(value, "sticker_emoji"))
    if noun == "audio" and text(value, "title"):
        return bracketed("audio", " - ".join(filter(None, (text(value, "performer"), text(value, "title")))))
    return bracketed(noun, name) if noun else attachment(name, text(value, "mime_type"))


_contact = noun("contact", "first_name", "last_name", "phone_number")


def _telegram_place(value: dict[str, Any]) -> str:
    if name := text(value, "place_name"):
        return bracketed("place", ", ".join(filter(None, (name, text(value, "address")))))
    at = mapping(value, "location_information")
    where = [number(at, key) for key in ("latitude", "longitude")]
    return bracketed("location", ", ".join(str(found) for found in where if found is not None)) if at else ""


def _listed(noun: str, value: dict[str, Any], question: str, answers: str) -> str:
    told = (_runs(found.get("text")) for found in objects(value, answers))
    return polled(_runs(value.get(question)), told, noun)


# X's, or Twitter's, archive, `direct-messages.js`: its readers on GitHub. People are ids; the owner's name
# is in `account.js` beside. Links stand as they lead, not as X shortened them.
_ASSIGNED = re.compile(r"\s{0,99}window\.YTD\.(?P<name>\w{1,60})\.part\d{1,4}\s{0,9}=")


def _is_twitter(source: Source) -> bool:
    found = _ASSIGNED.match(source.text)
    return found is not None and found["name"].startswith("direct_message") and "headers" not in found["name"]


def _assigned(written: str) -> Iterator[Item]:
    """What a file assigns. Raises FormatError `invalid_json`."""
    found = _ASSIGNED.match(written)
    for item in documents(written[found.end() :].rstrip().rstrip(";") if found else written, ".json").items:
        yield from item.elements() if isinstance(item.value, list) else [item]


def _owner(written: str) -> dict[str, str]:
    """The name of the archive's owner by id."""
    try:
        accounts = [mapping(item.value, "account") for item in _assigned(written)]
    except FormatError:
        return {}
    return {string(one, "accountId"): text(one, "accountDisplayName", "username") for one in accounts}


def _twitter(source: Source, item: Item) -> Iterator[Chat]:
    """A conversation with what its events hold: objects with one key that says what each is."""
    events = []
    for one in item.elements("dmConversation", "messages"):
        key = next(iter(one.value)) if isinstance(one.value, dict) and len(one.value) == 1 else ""
        if key in ("messageCreate", "welcomeMessageCreate") or not isinstance(one.value, dict):
            events.append(one.at(key) if key else one)
    if isinstance(at(item.value, "dmConversation/messages"), list):
        yield Chat(item, events, about=made_beside(source, "account.js", _owner) or {})


def _renamed(value: Any, _: Any) -> str:
    names = (
        text(mapping(one, "conversationNameUpdate"), "name")
        for one in objects(mapping(value, "dmConversation"), "messages")
    )
    return next(filter(None, names), "")


def _expanded(value: dict[str, Any], _: Any) -> str:
    said = text(value, "text")
    for one in objects(value, "urls")[:50]:
        short, whole = text(one, "url"), text(one, "expanded")
        said = said.replace(short, whole, 1) if short and whole else said
    return unescaped(said)


# Zulip: zulip/zulip, zerver/lib/export.py, and its API's documentation. In an export the names of people and
# channels are in `realm.json` beside it.


def _realm(written: str) -> tuple[dict[str, str], dict[str, str]]:
    """Names of people by id, and of the places of messages by the id of a recipient."""
    value = parsed(written)
    people = {
        string(one, "id"): text(one, "full_name", "email")
        for key in ("zerver_userprofile", "zerver_userprofile_crossrealm")
        for one in objects(value, key)
    }
    streams = {string(one, "id"): text(one, "name") for one in objects(value, "zerver_stream")}
    members: dict[str, list[str]] = {}
    for one in objects(value, "zerver_subscription"):
        members.setdefault(string(one, "recipient"), []).append(people.get(string(one, "user_profile"), ""))
    places = {}
    for one in objects(value, "zerver_recipient"):
        known, what = string(one, "id"), one.get("type")  # 2: a stream, 3: several people
        grouped = ", ".join(filter(None, members.get(known, []))) if what == 3 else ""
        places[known] = grouped or (streams if what == 2 else people).get(string(one, "type_id"), "")
    return people, places


def _zulip_place(value: dict[str, Any], realm: Any) -> str:
    """Where a message stands: its channel, or the names of those it went to."""
    people = [text(one, "full_name") for one in objects(value, "display_recipient")]
    named = text(value, "display_recipient") or ", ".join(filter(None, people))
    return realm[1].get(string(value, "recipient"), "") or named


def _zulip_text(value: dict[str, Any], _: Any) -> str:
    """Markdown as it was typed, or what is left of HTML, which the API gives."""
    content = text(value, "content").strip()
    is_html = value.get("content_type") == "text/html" or content.startswith("<p>")
    return text_of(content) if is_html else content


_sticker = path("sticker/emoji sticker")
FORMS = {
    "discord": Form(
        claims="guild{} channel{} messages[]",
        inside="messages",
        name="channel/name channel/id",
        title=_discord_title,
        says="content",
        text=_discord_text,
        speaker="author/nickname author/name author/id",
        caption=(*_DISCORD_FILES, _forwarded),
        skip=lambda value, _: string(value, "type") in _NOTICES,
        sort=_discord_sent,
    ),
    "discord-package": _DISCORD_PACKAGE,
    "google-chat": Form(
        claims=("messages[]/created_date+creator", "messages[]/created_date+topic_id+message_id"),
        inside="messages",
        about=_google_chat,
        name=lambda _, about: about["name"],
        says="text",
        speaker="creator/name creator/email",
        time="created_date",
        caption=(
            each("attached_files", file("original_name export_name", "")),
            each(
                "annotations",
                lambda one: joined(
                    bracketed(word, title)
                    for key, word in (("url_metadata", "link"), ("drive_metadata", "file"))
                    if (title := text(mapping(one, key), "title"))
                ),
            ),
        ),
        turn="message_id",
        session=lambda v, about: topic if about["topics"][topic := string(v, "topic_id")] > 1 else "",
        skip=lambda value, _: value.get("message_state") == "DELETED" or "deletion_metadata" in value,
    ),
    "hangouts": Form(
        claims=(
            "conversations[]/events[]/sender_id{}",
            "conversations[]|conversation_state[]/conversation_state/event[]/sender_id{}",
        ),
        chats="conversations conversation_state",
        inside="events conversation_state/event",
        about=_hangouts,
        name="conversation/conversation_id/id conversation_id/id",
        called=lambda _, about: about[1],
        text=lambda v, _: "".join(map(_segment, objects(at(v, "chat_message/message_content"), "segment"))),
        speaker=lambda v, about: about[0].get(who := _person(mapping(v, "sender_id"), None)) or who,
        caption=(each("chat_message/message_content/attachment", _embedded),),
        turn="event_id",
        skip=lambda value, _: "chat_message" not in value,
        sort=True,
    ),
    "linkedin": Form(
        detect=lambda source: has_columns(source, ("CONVERSATION ID", "FROM", "TO", "DATE", "CONTENT")),
        items=records,
        by=lambda row, _: string(row, "CONVERSATION ID"),
        about=lambda _, __, rows: rows,
        name=lambda _, rows: string(rows[0].value, "CONVERSATION ID"),
        called=_linkedin_called,
        text=_linkedin_text,
        speaker="FROM",
        time="DATE",
        caption=(_addresses("ATTACHMENTS"),),
        skip=_linkedin_skip,
        sort=True,
    ),
    "mattermost": Form(
        claims=(
            "type=post post/create_at+user",
            "type=direct_post direct_post/create_at+user",
            *(f"type={k} {k}{{}}" for k in ("team", "channel", "direct_channel", "scheme", "role", "emoji")),
            "order[] posts{}",
        ),
        items=_mattermost,
        inside="posts",
        alone=True,
        by=_room,
        about=lambda _, __, posts: mapping(posts[0].value) if posts else {},
        name=lambda _, post: text(post, "channel") or _room(post, None),
        title=lambda _, post: _room(post, None) if text(post, "team") else "",
        replies="replies",
        thread="root_id",
        says="message",
        speaker="props/override_username user user_id",
        time="create_at",
        caption=(
            each("attachments", file("path", "")),
            each("metadata/files", file("name", "")),
            each("props/attachments", _integrated),
        ),
        conversation="channel_id",
        skip=lambda value, _: text(value, "type").startswith("system_") or number(value, "delete_at"),
        sort=True,
    ),
    "matrix": Form(
        claims=("room_name exported_by messages[]", "messages[]/origin_server_ts+sender"),
        inside="messages",
        about=_matrix,
        name="room_name",
        says="content",
        kinds=(dict,),
        text=_matrix_said,
        speaker=lambda v, about: (
            about["names"].get(who := string(v, "sender")) or who.removeprefix("@").partition(":")[0]
        ),
        time="origin_server_ts",
        turn="event_id",
        thread=_matrix_thread,
        skip=_matrix_skip,
        sort=True,
    ),
    "messenger": Form(
        claims=("messages[]/timestamp_ms+sender_name|content", "threadName messages[]/senderName"),
        inside="messages",
        name=lambda v, _: (
            mended(text(v, "title"))
            or last_part(text(v, "thread_path"))
            or _NUMBERED.sub("", text(v, "threadName"))
        ),
        title="",
        says="content",
        text=lambda v, _: mended(text(v, "content")) if "timestamp_ms" in v else text(v, "text"),
        speaker=lambda v, _: mended(text(v, "sender_name")) or text(v, "senderName"),
        time="timestamp_ms timestamp",
        caption=(_messenger_caption,),
        skip=_messenger_skip,
        sort=True,
    ),
    "rocketchat": Form(
        claims=("msg ts username", "msg ts u/username", "messages[]/msg+ts+username|u"),
        inside="messages",
        alone=True,
        says="msg",
        speaker="alias u/name u/username username",
        caption=(each("attachments", _rocket_attached),),
        turn="_id",
        thread="tmid",
        conversation="rid",
        skip=lambda value, _: _ENCRYPTED if (what := text(value, "t", "type")) == "e2e" else what,
        sort=True,
    ),
    "signal": Form(
        claims=_signal_claims,
        items=_signal,
        called="name",
        text=_signal_text,
        speaker=lambda v, about: about[0].get(who := string(v, "authorId")) or who,
        time=lambda v, _: number(v, "dateSent"),
        caption=(
            each("standardMessage/attachments", _pointed),
            each("standardMessage/linkPreview", noun("link", "title")),
            each("viewOnceMessage/attachment", _pointed),
            lambda v, _: (
                "[file]" if "viewOnceMessage" in v and not at(v, "viewOnceMessage/attachment") else ""
            ),
            each("stickerMessage", noun("sticker", "sticker/emoji")),
            each("contactMessage/contact", noun("contact", "name/givenName", "name/familyName")),
            each("poll", _poll),
            each("paymentNotification", noun("payment", "amountMob", "note")),
        ),
        turn="dateSent",
        skip=lambda value, _: any(key in value for key in _UNSAID),
    ),
    "signal-export": Form(
        claims="sender body date reactions|sticker attachments|quote",
        about=lambda source, _, __: (source.folder if source.stem == "data" else "") or source.stem,
        name=lambda _, about: about,
        says="body",
        speaker="sender",
        caption=(
            each("attachments", file("name path", "")),
            lambda v, _: bracketed("sticker", said) if (said := _sticker(v, None)) else "",
        ),
        skip=lambda value, _: value.get("deleted") is True or value.get("call") is True,
    ),
    "sigtop": Form(
        claims=lambda value: len(mapping(value).keys() & _DESKTOP) >= 3,
        items=_sigtop,
        about=_sigtop_about,
        name=lambda _, about: about[0],
        says="body",
        text=lambda v, _: _named(
            text(v, "body"), objects(v, "bodyRanges"), lambda one: text(one, "replacementText")
        ),
        speaker=lambda v, about: "Me" if _came(v) == "outgoing" else _from(v, None) if about[1] else about[0],
        time=lambda v, _: number(v, "sent_at", "timestamp", "received_at"),
        caption=(
            each("attachments", file("fileName", "contentType")),
            each("sticker", noun("sticker", "emoji")),
        ),
        skip=lambda v, _: (
            True in (v.get("deletedForEveryone"), v.get("isErased"))
            or _came(v) not in ("incoming", "outgoing")
        ),
        sort=True,
    ),
    "skype": Form(
        claims=("conversations[]/MessageList userId", "conversations[]/MessageList exportDate"),
        parted=_skype,
        name=_account,
        called=lambda v, _: path("displayName threadProperties/topic")(v, None) or _account(v, None),
        says="content",
        text=_skype_said,
        speaker=lambda v, names: (
            text(v, "displayName") or names.get(who := string(v, "from")) or _ACCOUNT.sub("", who, count=1)
        ),
        time="originalarrivaltime",
        skip=_skype_skip,
        sort=True,
    ),
    "snapchat": Form(
        claims=_snapchat_claims,
        parted=_snapchat,
        says="Content",
        text=lambda value, _: unescaped(text(value, "Content", "Text")),
        speaker="From",
        time="Created",
        caption=(_snapchat_caption,),
        skip=lambda value, _: text(value, "Media Type").startswith("STATUS") or misfit(value, "Text"),
        sort=True,
    ),
    "teams": Form(
        claims=(
            "messageType createdDateTime from",
            "messagetype composetime content",
            "value[]|messages[]/messageType+createdDateTime+from",
            "value[]|messages[]/messagetype+composetime+content",
        ),
        items=_teams,
        replies="replies",
        says="body",
        kinds=(dict,),
        text=_teams_text,
        speaker=path(
            "from/user/displayName from/user/id from/application/displayName from/application/id "
            "from/device/displayName from/device/id"
        ),
        time="createdDateTime",
        caption=(
            _teams_pictures,
            each("attachments", lambda one: attachment(n) if (n := text(one, "name")) else ""),
        ),
        session="replyToId",
        conversation="chatId channelIdentity/channelId",
        skip=lambda v, _: (
            misfit(mapping(v, "body"), "content")
            or v.get("messageType", "message") != "message"
            or v.get("deletedDateTime")
        ),
        sort=True,
    ),
    "telegram": Form(
        claims=tuple(
            f"{where}messages[]/type=message|service|unsupported+date|text"
            for where in ("type id ", "chats|left_chats/list[]/")
        ),
        chats="chats/list left_chats/list",
        inside="messages",
        about=_by_epoch,
        called=lambda chat, _: text(chat, "name") or _UNNAMED.get(text(chat, "type"), ""),
        says="text",
        kinds=(str, list),
        text=lambda value, _: _runs(value.get("text")),
        speaker="from actor from_id actor_id",
        time=_telegram_time,
        caption=(_telegram_caption,),
        skip=lambda v, _: v.get("type") == "service" and not _runs(v.get("text")).strip(),
        sort=_telegram_sent,
    ),
    "twitter": Form(
        detect=_is_twitter,
        items=lambda source: _assigned(source.text),
        parted=_twitter,
        inside="messages",
        name="dmConversation/conversationId",
        title=_renamed,
        says="text",
        text=_expanded,
        speaker=lambda v, names: names.get(who := string(v, "senderId")) or who,
        caption=(
            lambda v, _: joined(address(one) for one in sequence(v, "mediaUrls") if isinstance(one, str)),
        ),
        sort=True,
    ),
    "zulip": Form(
        claims=tuple(
            f"{where}{keys}"
            for where in ("", "zerver_message[]|messages[]/")
            for keys in ("content+date_sent+recipient+sender", "content+sender_full_name+timestamp+sender_id")
        ),
        inside="zerver_message messages",
        alone=True,
        about=lambda source, _, __: (*(made_beside(source, "realm.json", _realm) or ({}, {})), source.folder),
        name=lambda _, about: about[2],
        says="content",
        text=_zulip_text,
        speaker=lambda v, realm: text(v, "sender_full_name") or realm[0].get(who := string(v, "sender"), who),
        time=lambda v, _: number(v, "date_sent", "timestamp"),
        session="subject topic",
        conversation=_zulip_place,
        sort=True,
    ),
}
FORMS["discord-csv"] = replace(
    _DISCORD_PACKAGE, claims="", detect=lambda source: has_columns(source, _PACKAGE), items=records
)
