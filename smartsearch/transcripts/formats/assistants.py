"""Exports of assistants and their apps, each as a declaration: trees and lists of messages.

Structures as readers of real exports on GitHub have them; each names its source. Left out of all: reasoning,
what was searched, and branches that an edit or a second answer has left behind.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from smartsearch.text.htmltext import text_of
from smartsearch.text.times import to_iso
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.formats.agent_log import Event, Place, Returned, Said, no_object, without
from smartsearch.transcripts.formats.blocks import called, events_of, returned
from smartsearch.transcripts.formats.captions import attachment, bracketed, joined
from smartsearch.transcripts.formats.fields import kind, mapping, misfit, objects, sequence, string
from smartsearch.transcripts.formats.form import TALK, Chat, Form
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.own_calls import is_own
from smartsearch.transcripts.formats.paths import at, each, file, shaped
from smartsearch.transcripts.formats.tool_calls import arguments, caption, shortened
from smartsearch.transcripts.source import Source

# Google AI Studio, as Drive keeps its prompts: Sinity/polylogue (tests/data/gemini_chunked_prompt).
_FILES = {
    **dict.fromkeys(("driveDocument", "inlineFile", "inlineData", "fileData"), ""),
    **dict.fromkeys(("driveImage", "inlineImage"), "image/"),
    **dict.fromkeys(("driveVideo", "inlineVideo", "youtubeVideo"), "video/"),
    **dict.fromkeys(("driveAudio", "inlineAudio"), "audio/"),
}
"""Keys of files in a chunk, with the media type that each stands for."""


def _studio(_: Source, item: Item) -> Iterator[Chat]:
    """The chunks, with the system's instruction before them."""
    if isinstance(at(item.value, "chunkedPrompt/chunks"), list):
        system = {"role": "system"} | mapping(item.value, "systemInstruction")
        place = Item(system, item.line, f"{item.pointer}/systemInstruction")
        yield Chat(item, [place, *item.elements("chunkedPrompt", "chunks")])


def _chunk(item: Item, place: Place, _: Chat) -> Iterator[Event]:
    """A text, code that the model ran, which is text, and what came of it."""
    value, role = item.value, "assistant" if item.value["role"] == "model" else item.value["role"]
    code = string(mapping(value, "executableCode"), "code")
    shown = [(v, _FILES[key]) for key, v in value.items() if key in _FILES and isinstance(v, dict)]
    files = [attachment(string(v, "name", "displayName"), string(v, "mimeType") or mime) for v, mime in shown]
    parts = [string(part, "text") for part in objects(value, "parts") if part.get("thought") is not True]
    text = "\n".join(filter(None, (string(value, "text") or "".join(parts), code)))
    yield Said(role, text, joined([*files, "[code]" if code else ""]), place)
    if output := string(mapping(value, "codeExecutionResult"), "output"):
        yield Returned("", output, "", place, "code")


# Claude.ai: AgileWorksZA/claude_export, Sinity/polylogue (docs/providers); branches as in
# socketteer/Claude-Conversation-Exporter. The text of an attachment and what a tool returned are turns of
# their own, after the message.
_DOCUMENTS = "artifacts"
"""The tool whose calls hold what the assistant wrote: their content is text."""


def _claude_claims(value: Any) -> bool:
    messages = mapping(value).get("chat_messages")
    known = ("human", "user", "assistant")
    return isinstance(messages, list) and (
        not messages or any(string(one, "sender") in known for one in messages[:20])
    )


def _claude(item: Item, place: Place, _: Chat) -> Iterator[Event]:
    message, uuid = item.value, place.turn
    role = "assistant" if message["sender"] == "assistant" else "user"
    content = message.get("content")
    if not isinstance(content, list | None):
        yield item.fault(f"`content` is {kind(content)}, not a list")
        return
    blocks = [block for block in content or [] if isinstance(block, dict)]
    own = uuid if role == "assistant" else ""
    yield Said(role, _claude_text(message, blocks), _claude_files(message, blocks), place, own)
    for n, block in enumerate(block for block in blocks if string(block, "type") == "tool_use"):
        call = called(block, place, uuid)
        told = string(call.arguments, "title", "id") if call.tool == _DOCUMENTS else call.arguments
        yield call._replace(arguments=told, call=call.call or f"{uuid}/{n}")
    for one in item.elements("attachments"):
        if text := string(one.value, "extracted_content"):
            inside = place._replace(item=one, turn=string(one.value, "id") or uuid)
            yield Said(role, text, _claude_file(one.value), inside)
    for one in item.elements("content"):
        if string(one.value, "type") == "tool_result":
            yield returned(one.value, place._replace(item=one))


def _claude_text(message: dict[str, Any], blocks: list[dict[str, Any]]) -> str:
    """The texts, said or written, and the documents; where there are no blocks, `text` for the former."""
    texts = []
    for block in blocks:
        if string(block, "type") in ("text", "voice_note"):
            texts.append(string(block, "text", "transcript"))
        elif string(block, "name") == _DOCUMENTS and string(block, "type") == "tool_use":
            texts.append(string(block.get("input"), "content"))
    return "\n".join(filter(None, texts)) or ("" if blocks else string(message, "text"))


def _claude_files(message: dict[str, Any], blocks: list[dict[str, Any]]) -> str:
    images = ["[image]" for block in blocks if string(block, "type") == "image"]
    spoken = [bracketed("audio", string(b, "title")) for b in blocks if string(b, "type") == "voice_note"]
    files = [*sequence(message, "attachments"), *sequence(message, "files")]
    return " ".join(dict.fromkeys([*images, *spoken, *map(_claude_file, files)]))


def _claude_file(value: object) -> str:
    return bracketed("image" if string(value, "file_kind") == "image" else "file", string(value, "file_name"))


# DeepSeek: xionglongztz/DeepSeekDataExporter, goodbu/Deepseek-md-, and for a chat as the site itself sends it
# ceyaima/deepseek-exporter. A fragment is a REQUEST of the user, or a RESPONSE, THINK or SEARCH of the model.
_fragment_files = each("files", file("file_name name", ""))


def _deepseek_role(value: dict[str, Any], _: Any) -> str:
    """Who speaks, "" where an older export does not tell."""
    told = string(value, "role").casefold()
    kinds = {string(one, "type") for one in objects(value, "fragments")}
    if told in TALK:
        return told
    if kinds & {"RESPONSE", "THINK", "SEARCH"}:
        return "assistant"
    return "user" if kinds & {"REQUEST", "FILE"} else ""


def _deepseek_text(value: dict[str, Any], _: Any) -> str:
    fragments = objects(value, "fragments")
    said = [string(one, "content") for one in fragments if string(one, "type") not in ("THINK", "SEARCH")]
    return "\n".join(filter(None, said)) or string(value, "content")


# Gemini Apps' activity in a Takeout: readers of real exports on GitHub (`safeHtmlItem` and "Gemini Apps").
# Records have no ids and no conversations; a day is taken for a session.
_ASKED = re.compile(r"(?:Prompted with:|Asked (?:Gemini|Bard):|Prompted|Asked|Said|Branched|Answered)\s+")
_DONE = re.compile(r"(?:Used|Gave feedback|Selected|Shared|Deleted|Viewed|Visited|Pinned|Renamed|Exported)\b")
"""How titles begin, in English, of what the user did and did not say; such a record has no answer."""


def is_gemini(value: Any) -> bool:
    """Whether a record of Google's activities is Gemini's (or Bard's), whatever the language."""
    if not isinstance(value, dict) or not isinstance(value.get("title"), str) or "time" not in value:
        return False
    labels = [string(value, "header"), *map(str, sequence(value, "products"))]
    return any(name in label.casefold() for label in labels for name in ("gemini", "bard"))


def _activity(item: Item, place: Place, _: Chat) -> Iterator[Event]:
    """A prompt and its answer."""
    value, title = item.value, item.value["title"].strip()
    pieces = [text_of(string(piece, "html")) for piece in sequence(value, "safeHtmlItem")]
    answer = "\n".join(filter(None, pieces))
    names = [name for name in sequence(value, "attachedFiles") if isinstance(name, str)]
    if not answer and _DONE.match(title):
        return
    asked = title[found.end() :] if (found := _ASKED.match(title)) else title
    halves = [
        ("user", "title", asked, joined(map(attachment, names))),
        ("assistant", "safeHtmlItem", answer, ""),
    ]
    if title.startswith("Created "):  # a document, by the model
        halves = [("assistant", "safeHtmlItem", answer, f"[{title}]")]
    for role, key, text, shown in halves:
        half = item.at(key) if item.pointer or not item.line else item
        yield Said(role, text.strip(), shown, place._replace(item=half))


# Grok: portable-ai-memory's mapping (Feb 2026), Superkikim/nexus-ai-chat-importer
# (grok-export-format.md). `human` is the user, any other sender the model. Prompts for pictures ("Imagine")
# are turns, one a conversation.


def _grok(source: Source, item: Item) -> Iterator[Chat | FormatError]:
    listed = item.elements("conversations") if "conversations" in mapping(item.value) else iter([item])
    for n, one in enumerate(listed, 1):
        if mapping(one.value, "conversation") and isinstance(one.value.get("responses"), list):
            name = string(mapping(one.value, "conversation"), "id")
            many = source.stem if one is item else f"{source.stem}#{n}"
            yield Chat(one, list(one.elements("responses")), name or many)
        elif one is not item or "media_posts" not in mapping(item.value):
            yield one.fault("no conversation with `responses` here")
    for post in item.elements("media_posts"):
        if not isinstance(post.value, dict):
            yield no_object(post)
        else:
            held = {
                "message": string(post.value, "original_prompt"),
                "sender": "human",
                "post": True,
            } | post.value
            yield Chat(post, [post._replace(value=held)], string(post.value, "id") or source.stem, "Imagine")


def _grok_caption(value: dict[str, Any], _: Any) -> str:
    if "post" in value:
        return bracketed(string(value, "media_type") or "image") if value["message"].strip() else ""
    files = ["[file]"] * len(sequence(value, "file_attachments"))
    return joined([*files, *["[image]"] * len(sequence(value, "generated_image_urls"))])


# LangChain's and LangGraph's messages: langchain-core: `messages_to_dict` (`type` and `data`), `dumps` (`lc`,
# `id` and `kwargs`) and `model_dump` (`type` and `content`). A table's row, as its chat histories and n8n's
# memory write them, has a session and one `message`.
_LANGCHAIN = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "tool"}
_PATHS = "messages chat_history history values/messages"
_CONVERSATION = ("session_id", "sessionId", "SessionId", "thread_id", "conversation_id")


def _unpacked(row: Any) -> tuple[str, dict[str, Any]]:
    """The kind of a message, `ai` of `AIMessageChunk`, and the object that has its content."""
    held = arguments(mapping(row).get("message"))
    value = held if isinstance(held, dict) else row
    data = mapping(value, "data") or mapping(value, "kwargs") or mapping(value)
    names = [name for name in sequence(value, "id")[-1:] if isinstance(name, str)]
    named = names[0] if names else string(value, "type")
    return named.casefold().removesuffix("chunk").removesuffix("message"), data


def _opens(value: object) -> bool:
    """Whether a value is a message of a person or the model; the other kinds have names that anything has."""
    what, data = _unpacked(value)
    return what in ("human", "ai") and isinstance(data.get("content"), str | list)


def _langchain_claims(value: Any) -> bool:
    held = [value, *(at(value, way) for way in _PATHS.split())]
    listed = (one for found in held if isinstance(found, list) for one in found[:5])
    return any(map(_opens, (value, *listed)))


def _langchain_items(source: Source) -> Iterator[Item]:
    for item in source.items():
        row = isinstance(arguments(mapping(item.value).get("message")), dict)
        yield item._replace(pointer=f"{item.pointer}/message") if row else item


def _langchain_role(value: dict[str, Any], _: Any) -> str | None:
    what, data = _unpacked(value)
    return _LANGCHAIN.get(what) or _LANGCHAIN.get(known := string(data, "role")) or known or None


def _langchain_message(value: dict[str, Any], _: Any) -> dict[str, Any]:
    data = _unpacked(value)[1]
    more = mapping(data, "additional_kwargs").get("tool_calls")
    return data | {"tool_calls": data.get("tool_calls") or more}


def _le_chat_text(value: dict[str, Any], _: Any) -> str:
    if said := string(value, "content"):
        return said
    chunks = (one for one in objects(value, "contentChunks") if one.get("type") == "text")
    return "".join(string(one, "text") for one in chunks)


def _le_chat_shown(chunk: dict[str, Any]) -> str:
    if chunk.get("type") == "tool_call":
        return caption(string(chunk, "name"), arguments(chunk.get("publicArguments")))
    return "[image]" if chunk.get("type") == "image_url" else ""


# LibreChat: danny-avila/LibreChat (api/server/utils/import/__data__).


_is_libre = shaped("messageId parentMessageId isCreatedByUser")
_has_libre = shaped("messages[]|messagesTree[]/messageId+parentMessageId+isCreatedByUser")


# LM Studio: ChrystianSchutz/ThreadShelf's README. A message has versions, of which one is selected, and a
# version of the model has steps. Only a step tells a time, in its identifier; a message without one has that
# of the message before it, the first one the conversation's.


def _lm_studio(source: Source, item: Item) -> Iterator[Chat]:
    if not isinstance(mapping(item.value).get("messages"), list):
        return
    time = item.value.get("createdAt")
    fields = objects(mapping(item.value, "perChatPredictionConfig"), "fields")
    own = [string(one, "value") for one in fields if string(one, "key") == "llm.prediction.systemPrompt"]
    system = next(filter(None, own), string(item.value, "systemPrompt"))
    opened = item._replace(value={"role": "system", "blocks": [{"content": system}], "time": time})
    found = [opened] if system else []
    for message in item.elements("messages"):
        versions = sequence(message.value, "versions")
        picked = mapping(message.value).get("currentlySelected")
        place = picked if isinstance(picked, int) and 0 <= picked < len(versions) else -1
        chosen = (versions or [None])[place]
        times = (string(step, "stepIdentifier").partition("-")[0] for step in objects(chosen, "steps"))
        time = next(filter(None, map(to_iso, times)), time)
        blocks = [mapping(chosen), *objects(chosen, "steps")]
        found.append(message._replace(value={"role": string(chosen, "role"), "blocks": blocks, "time": time}))
    title = string(item.value, "name")
    named = "" if title in ("Untitled", "Untitled - Branched") else title
    yield Chat(item, found, source.stem.removesuffix(".conversation"), named)


def _lm_said(item: Item, place: Place, _: Chat) -> Iterator[Event]:
    role = item.value["role"]
    for block in item.value["blocks"]:
        if string(mapping(block, "style"), "type") != "thinking" and block.get("content"):
            parts = block["content"] if isinstance(block["content"], list) else [block["content"]]
            held = {"content": [{"type": "image"} if string(p, "fileType") == "image" else p for p in parts]}
            yield from events_of(role, held, "content", place, item.pointer)


# Open WebUI: danny-avila/LibreChat's sample of such an export. Older versions write what a tool was asked
# into the text alone, and what it returned is left out with it.
_ASIDE = '<details type="'
_NAMED = re.compile(r'\bname="([^"]{1,200})"')
_GIVEN = re.compile(r'\barguments="([^"]{1,5000})"')


def _web_ui(item: Item, place: Place, _: Chat) -> Iterable[Event] | None:
    value, role = item.value, item.value["role"]
    content, output = value.get("content"), objects(value, "output")
    if any(string(one, "type") == "message" for one in output):
        found: list[Event] = []
        for one in output:
            said = string(one, "type") == "message"
            held = one if said else {"content": [one]}
            found += events_of("assistant", held, "content", place, item.pointer)
        return found
    if not isinstance(content, str):
        return None
    text, asides = _told(content)
    files = joined([*asides, each("files", file("name"))(value, None)])
    return [Said(role, text, files, place)]


def _told(text: str) -> tuple[str, list[str]]:
    """A text without its asides, reasoning and tool calls, and captions for the calls."""
    first, *rest = text.split(_ASIDE)
    said, captions = [first], []
    for piece in rest:
        aside, closed, after = piece.partition("</details>")
        said.append(after if closed else f"{_ASIDE}{piece}")
        if closed and (tool := _NAMED.search(aside)):
            given = _GIVEN.search(aside)
            captions.append(caption(tool[1], arguments(html.unescape(given[1])) if given else None))
    return "".join(said).strip() if rest else text, captions


# OpenAssistant: a tree of messages a line, or a message a line with its `parent_id`.
_OASST = {"prompter": "user", "assistant": "assistant"}


def _oasst(source: Source) -> Iterator[Item]:
    """All messages, each with its replies behind it; what replies to nothing in the file opens a thread."""
    messages = [message for item in source.items() for message in _oasst_inside(item)]
    ids = {string(one.value, "message_id") for one in messages}
    replies: dict[str, list[int]] = {}
    for n, one in enumerate(messages):
        parent = string(one.value, "parent_id")
        replies.setdefault(parent if parent in ids else "", []).append(n)
    seen: set[int] = set()
    for first in (*replies.pop("", ()), *range(len(messages))):  # the rest go round in a circle
        waiting = [first]
        while waiting:
            n = waiting.pop()
            if n not in seen:
                seen.add(n)
                yield messages[n]
                waiting += reversed(replies.pop(string(messages[n].value, "message_id"), ()))


def _oasst_inside(item: Item) -> Iterator[Item]:
    """The messages of a record: itself, or its `prompt`, with all replies inside, and their tree."""
    tree = string(item.value, "message_tree_id")
    if tree and "prompt" in item.value:
        item = item.at("prompt")
    tree = tree or string(item.value, "message_id")
    waiting = [(item, string(item.value, "parent_id"))]
    while waiting:
        one, parent = waiting.pop()
        known = isinstance(one.value, dict)
        yield one._replace(value=one.value | {"tree": tree, "parent_id": parent}) if known else one
        above = string(one.value, "message_id")
        waiting += reversed([(reply, above) for reply in one.elements("replies")])


# Perplexity: Superkikim/nexus-ai-chat-importer (perplexity-export-format.md), and its Thread Exporter.


def _perplexity(_: Source, item: Item) -> Iterator[Chat | FormatError]:
    """An exported thread, or an account's."""
    thread = bool(at(item.value, "metadata/thread_id"))
    many = not thread and "conversations" in mapping(item.value)
    for one in item.elements("conversations") if many else [item]:
        entries = one.elements("conversations" if thread else "entries")
        if thread or (at(one.value, "context_uuid") and isinstance(one.value.get("entries"), list)):
            yield Chat(one, list(entries))
        else:
            yield one.fault("no conversation with `entries` here")


def _entry(item: Item, place: Place, _: Chat) -> Iterator[Event]:
    """A question and its answer."""
    for key, role in (("query", "user"), ("answer", "assistant")):
        half, said = item.at(key), string(item.value, key)
        if wrong := misfit(item.value, key):
            yield half.fault(str(wrong))
        elif said.strip():
            yield Said(role, said.strip(), "", place._replace(item=half))
        else:
            yield half.fault("a message without text", "no_text")


# SillyTavern: SillyTavern/SillyTavern (public/chats in its history): a line of who takes part, then messages.
_HUMANE = re.compile(r"(\d{4}-\d{1,2}-\d{1,2})\s?@\s?(\d{1,2})h\s?(\d{1,2})m\s?(\d{1,2})s(?:\s?\d{1,3}ms)?")
"""`2023-5-8 @13h 56m 01s 123ms`, as older versions write a time."""


def _tavern_time(value: dict[str, Any], _: Any) -> Any:
    sent = value.get("send_date")
    found = _HUMANE.fullmatch(sent.strip()) if isinstance(sent, str) else None
    return f"{found[1]} {found[2]}:{found[3]:0>2}:{found[4]:0>2}" if found else sent


def _tavern_role(value: dict[str, Any], _: Any) -> str:
    if string(value, "name") == "SillyTavern System":
        return "system"
    return "user" if value.get("is_user") is True else "assistant"


# ChatGPT: mitkury/chatgpt-export-parser (chatgpt-data-export-format.md), kvsankar/agent-history
# (chatgpt-web-format.md); files split as `conversations-000.json` as in pull request 23 of
# daugaard47/ChatGPT_Conversations_To_Markdown. What the app does not show is left out: system messages,
# custom instructions, memory, reasoning and whatever is marked as hidden.
_CHATGPT = ("user", "assistant", "tool")
_UNSEEN = frozenset(
    {"user_editable_context", "model_editable_context", "thoughts", "reasoning_recap", "app_pairing_content"}
)


def _chatgpt_claims(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("mapping"), dict):
        return False
    nodes = list(islice(value["mapping"].values(), 20))  # the first ones may be empty
    messages = [m for node in nodes if isinstance(node, dict) and isinstance(m := node.get("message"), dict)]
    if messages:
        return any("author" in message for message in messages)
    if "inserted_at" in value:  # DeepSeek's, which has no messages yet
        return False
    return "current_node" in value or any(isinstance(node, dict) and "children" in node for node in nodes)


def _chatgpt_above(_: Source, item: Item, __: Sequence[Item]) -> dict[str, str]:
    """The parents of nodes as those list them: a node may not say its own."""
    nodes = mapping(item.value, "mapping").items()
    return {str(child): key for key, node in nodes for child in sequence(node, "children")}


def _chatgpt_speaker(message: dict[str, Any], _: Any) -> str:
    author = mapping(message, "author")
    role = string(author, "role")
    return (string(author, "name") if role == "tool" else "") or role


def _chatgpt_said(message: dict[str, Any], _: Any) -> tuple[str, str] | None:
    """A text and a caption; None for what is not shown, is empty, or is a call of smartsearch itself.

    Of a call code and documents of a canvas are text, the rest is told in its caption.
    """
    content, role = message.get("content"), string(mapping(message, "author"), "role")
    if not role or not isinstance(content, dict):
        raise FormatError("a message without an `author` with a role and a `content`")
    hidden = mapping(message, "metadata").get("is_visually_hidden_from_conversation")
    if role not in _CHATGPT or hidden or string(content, "content_type") in _UNSEEN:
        return None
    parts = content.get("parts", [])
    if not isinstance(parts, list):
        raise FormatError(f"`parts` is {kind(parts)}, not a list")
    text, captions = _chatgpt_content(message, content, parts)
    recipient = string(message, "recipient") if role == "assistant" else "all"
    tool = recipient if recipient != "all" else ""
    if is_own(_chatgpt_speaker(message, None) if role == "tool" else tool, text if tool else None):
        return None
    if tool:
        given = arguments(text)
        whole = isinstance(given, dict)
        captions = [caption(tool, given if whole else None), *captions]
        text = string(given, "content") if whole else text
    return (text, " ".join(captions)) if captions or text.strip() else None


def _chatgpt_content(
    message: dict[str, Any], content: dict[str, Any], parts: list[Any]
) -> tuple[str, list[str]]:
    """The text of a content, and captions of its images, sounds and of the files sent along."""
    texts, captions = list[str](), list[str]()
    files = sequence(mapping(message, "metadata"), "attachments")
    rest = {string(file, "id") or f"#{n}": string(file, "name") for n, file in enumerate(files)}
    spoken = any(string(part, "content_type") == "audio_transcription" for part in parts)
    for part in parts:
        what = string(part, "content_type")
        if isinstance(part, str):
            texts.append(part)
        elif what == "image_asset_pointer":
            named = string(part, "asset_pointer").rpartition("/")[2].partition("#")[0]
            drawn = string(mapping(part, "metadata", "dalle"), "prompt")
            name = rest.pop(named, "")
            captions.append(f"[image: {shortened(drawn)}]" if drawn else bracketed("image", name))
        elif string(part, "text"):
            texts.append(string(part, "text"))
        elif "audio" in what and not spoken:
            captions.append("[audio]")
    texts += [string(content, key) for key in ("title", "text", "result")]
    captions += [f"[file {name}]" for name in rest.values() if name]
    return "\n".join(filter(None, texts)), captions


FORMS = {
    "chatgpt": Form(
        claims=_chatgpt_claims,
        inside="mapping",
        within="message",
        about=_chatgpt_above,
        name="conversation_id id",
        numbered=True,
        parent=lambda node, above: string(node, "parent") or above.get(string(node, "id"), ""),
        leaf="current_node",
        text=_chatgpt_said,
        speaker=_chatgpt_speaker,
        role="author/role",
    ),
    "ai-studio": Form(
        claims="chunkedPrompt/chunks[]",
        parted=_studio,
        inside="chunkedPrompt",
        title="displayName title",
        roles={"user": "user", "model": "assistant", "system": "system"},
        time="createTime",
        skip=lambda value, _: value.get("isThought") is True,
        events=_chunk,
    ),
    "claude-ai": Form(
        claims=_claude_claims,
        inside="chat_messages",
        name="uuid",
        title="name",
        numbered=True,
        parent="parent_message_uuid",
        leaf="current_leaf_message_uuid",
        kind="sender",
        roles={"human": "user", "user": "user", "assistant": "assistant"},
        turn="uuid",
        events=_claude,
    ),
    "deepseek": Form(
        claims=(
            "inserted_at mapping",
            "data/biz_data/chat_session{} data/biz_data/chat_messages[]",
        ),
        inside="mapping data/biz_data/chat_messages",
        within="message",
        name="id data/biz_data/chat_session/id",
        title="title data/biz_data/chat_session/title",
        numbered=True,
        parent=lambda v, _: string(v, "parent", "parent_id") or ("" if "parent" in v else "root"),
        leaf="data/biz_data/chat_session/current_message_id",
        text=_deepseek_text,
        role=_deepseek_role,
        time="inserted_at",
        caption=(
            _fragment_files,
            lambda v, _: joined(_fragment_files(one, None) for one in objects(v, "fragments")),
        ),
        turn="message_id id",
    ),
    "gemini-activity": Form(
        claims=is_gemini,
        title="",
        sort=True,
        kind=lambda _, __: "activity",
        roles={"activity": "user"},
        session=lambda value, _: to_iso(value["time"])[:10],
        skip=lambda value, _: (
            not is_gemini(value)
            if isinstance(value.get("title"), str)
            else FormatError("a record without a `title`")
        ),
        events=_activity,
    ),
    "grok": Form(
        claims=("conversation{} responses[]", "conversations[]/conversation{}+responses[]"),
        parted=_grok,
        inside="conversations",
        title="conversation/title",
        within="response",
        parent="response/parent_response_id parent_response_id",
        says="message",
        text=lambda value, _: without(string(value, "message"), ("grok:render", "xai:tool_usage_card")),
        role=lambda value, _: "user" if string(value, "sender").casefold() == "human" else "assistant",
        caption=(_grok_caption,),
        turn="_id id",
    ),
    "langchain": Form(
        claims=_langchain_claims,
        items=_langchain_items,
        inside=_PATHS,
        alone=True,
        name=lambda value, _: string(value, *_CONVERSATION, "id"),
        kind=_langchain_role,
        roles={"tool": "tool", "*": "*"},
        message=_langchain_message,
        conversation=" ".join(_CONVERSATION),
        turn=lambda value, _: string(_unpacked(value)[1], "id") or string(value, "id"),
    ),
    "le-chat": Form(
        # Superkikim/nexus-ai-chat-importer (src/providers/lechat): the messages of a file are in no order
        claims="chatId contentChunks role createdAt",
        says="content",
        text=_le_chat_text,
        role="role",
        caption=(each("contentChunks", _le_chat_shown), each("files", file("name"))),
        conversation="chatId",
        sort=True,
    ),
    "librechat": Form(
        claims=lambda value: _is_libre(value) or ("conversationId" in mapping(value) and _has_libre(value)),
        inside="messages messagesTree",
        alone=True,
        by="conversationId",
        replies="children",
        name="conversationId",
        parent="parentMessageId",
        kind=lambda value, _: str(value.get("isCreatedByUser") is True) if "messageId" in value else "",
        roles={"True": "user", "False": "assistant"},
        message=lambda value, _: {
            # the parts, which only the model's have
            "content": (value.get("isCreatedByUser") is not True and objects(value, "content"))
            or string(value, "text"),
            "files": value.get("files"),
        },
        conversation="conversationId",
        turn="messageId",
        skip=lambda value, _: misfit(value, "text"),
    ),
    "lm-studio": Form(
        claims="messages[]/versions[]+currentlySelected",
        parted=_lm_studio,
        inside="messages",
        roles=TALK | {"system": "system"},
        events=_lm_said,
    ),
    "oasst": Form(
        # LAION-AI/Open-Assistant (oasst-data/oasst_data): a tree is a conversation; all answers are kept
        claims=(
            "message_id text parent_id|replies role=prompter|assistant",
            "message_tree_id prompt/message_id+text+parent_id|replies prompt/role=prompter|assistant",
        ),
        items=_oasst,
        says="text",
        speaker=lambda value, _: _OASST.get(said := string(value, "role"), said),
        role=lambda value, _: _OASST.get(string(value, "role"), ""),
        time="created_date",
        conversation="tree",
        turn="message_id",
        skip=lambda value, _: value.get("deleted") is True,
    ),
    "open-webui": Form(
        claims=("chat/history/currentId chat/history/messages", "history/currentId history/messages"),
        inside="chat/history/messages history/messages",
        name="id chat/id",
        title="title chat/title",
        numbered=True,
        parent=lambda value, _: string(value, "parentId") or "root",
        leaf="chat/history/currentId history/currentId",
        roles=TALK | {"system": "system", "tool": "tool"},
        events=_web_ui,
    ),
    "perplexity": Form(
        claims=(
            "metadata/thread_id conversations[]/query+answer",
            "context_uuid entries[]",
            "conversations[]/context_uuid+entries",
        ),
        parted=_perplexity,
        inside="conversations",
        name="metadata/thread_id context_uuid",
        title=lambda v, _: (
            string(mapping(v, "metadata"), "thread_title") or shortened(string(v, "context_title"))
        ),
        says="query",
        kind=lambda _, __: "entry",
        roles={"entry": "user"},
        turn="entry_uuid uuid",
        events=_entry,
    ),
    "sillytavern": Form(
        claims=("user_name character_name", "mes is_user name"),
        head="character_name",
        title=lambda value, _: "" if (name := string(value, "character_name")) == "unused" else name,
        says="mes",
        speaker=lambda value, _: string(value, "name") or _tavern_role(value, None),
        role=_tavern_role,
        time=_tavern_time,
        caption=(
            lambda value, _: "[image]" if string(mapping(value, "extra"), "image") else "",
            each("extra/file extra/files", file("name")),
        ),
        skip=lambda value, _: "mes" not in value and bool(value.keys() & {"character_name", "chat_metadata"}),
    ),
}
