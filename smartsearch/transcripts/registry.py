"""Every format there is, and the one place that decides which of them a file is in."""

from __future__ import annotations

from smartsearch.errors import InputError
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Format
from smartsearch.transcripts.source import Source

JSON = (".json",)
TEXT = (".txt", ".md", ".markdown", ".log")
LINES = (".json", ".jsonl")

# In both lists the most particular first: the first that claims a file reads it. A new format is a reader and
# a row here.
JSON_FORMATS = (
    Format(
        "locomo",
        "LoCoMo and REALTALK JSON: conversations in `session_N` lists",
        LINES,
        "data files of github.com/snap-research/locomo and github.com/danny911kr/REALTALK",
        rest="questions, observations and summaries",
    ),
    Format(
        "longmemeval",
        "LongMemEval JSON: questions with `haystack_sessions` and their dates",
        LINES,
        rest="questions and answers",
    ),
    Format("beam", "BEAM chat.json: batches with `batch_number` and `turns`", JSON),
    Format(
        "slack-lists",
        "users.json and other lists of a Slack export, for names",
        JSON,
        "comes with a Slack export",
        silent=True,
    ),
    Format(
        "slack",
        "a Slack export: a folder or .zip of channels, a file a day",
        JSON,
        "Slack: workspace settings, Import/Export Data, Export; search the .zip itself or its folder",
        alone=False,
        sparse=True,  # a day of nothing but joins
    ),
    Format(
        "discord",
        "DiscordChatExporter's JSON of a channel",
        JSON,
        "DiscordChatExporter (github.com/Tyrrrz/DiscordChatExporter): export a channel with format JSON",
    ),
    Format(
        "telegram",
        "Telegram Desktop's result.json: one chat, or a whole account",
        JSON,
        "Telegram Desktop: a chat's menu, Export chat history (or Settings, Advanced, Export); format JSON",
    ),
    Format(
        "matrix",
        "Element's JSON export of a Matrix room",
        JSON,
        "Element: the room's information, Export chat; format JSON",
    ),
    Format(
        "messenger",
        "Facebook Messenger and Instagram: message_1.json, encrypted chats too",
        JSON,
        "Facebook or Instagram: Accounts Center, Download your information, Messages, format JSON; "
        "encrypted chats: messenger.com/secure_storage/dyi",
    ),
    Format(
        "signal",
        "Signal's own export of chats: main.jsonl",
        (".jsonl", ".json"),
        "Signal: Settings, Chats, Export chat history; main.jsonl lies in the folder it makes",
    ),
    Format(
        "signal-export",
        "signal-export's data.json of a Signal chat",
        LINES,
        "signal-export (github.com/carderne/signal-export): `sigexport FOLDER` writes data.json a chat",
    ),
    Format(
        "sigtop",
        "sigtop's JSON of a Signal chat",
        JSON,
        "sigtop (github.com/tbvdm/sigtop): `sigtop msg -f json FOLDER`, of Signal Desktop before 7.42",
    ),
    Format(
        "chatgpt",
        "ChatGPT's data export: `conversations.json` or `conversations-000.json`",
        JSON,
        "chatgpt.com: Settings, Data controls, Export data; the mail's link gives a .zip to read as it is",
    ),
    Format(
        "claude-ai",
        "Claude.ai's data export: `conversations.json` with `chat_messages`",
        JSON,
        "claude.ai: Settings, Privacy, Export data; the mail's link gives a .zip to read as it is",
    ),
    Format(
        "claude-code",
        "Claude Code's session logs: texts, tool calls and their results",
        (".jsonl", ".json"),
        "they are in ~/.claude/projects on the machine it runs on, a file a session; name the folder",
        records=20,
    ),
    Format(
        "codex",
        "Codex CLI's session logs, `rollout-*.jsonl`: texts, tool calls, results",
        (".jsonl", ".json"),
        "they are in ~/.codex/sessions on the machine it runs on, a file a session; name the folder",
        records=20,
    ),
    Format(
        "gemini-cli",
        "Gemini CLI's session logs, `session-*.json`: texts, tool calls, results",
        LINES,
        "they are in ~/.gemini/tmp/*/chats on the machine it runs on, a file a session; name the folder",
    ),
    Format(
        "gemini-activity",
        "Gemini Apps' `MyActivity.json` of a Google Takeout",
        JSON,
        "takeout.google.com: My Activity alone, of it Gemini Apps alone, and JSON as its format",
        records=20,
    ),
    Format(
        "messages",
        "messages with `role` and `content`: JSONL, a JSON list, or conversations with `messages`",
        (".json", ".jsonl", ".ndjson"),
    ),
    Format(
        "export-extras", "files without turns in exports of assistants; nothing is read", JSON, silent=True
    ),
)

TEXT_FORMATS = (
    Format(
        "mbox",
        "e-mail in mbox files (Gmail Takeout, Thunderbird, Apple Mail), a mail a turn",
        (".mbox",),
        "Gmail: takeout.google.com, Mail; Apple Mail: Export Mailbox; Thunderbird: its profile folder",
        rest="headers, quotations, and HTML beside text",
    ),
    Format(
        "subtitles",
        "subtitles and meeting transcripts: WebVTT (Teams, Zoom, Meet) and SubRip",
        (".vtt", ".srt"),
        "Teams: the meeting's Recap, Transcript, Download; Zoom: Recordings, Audio transcript",
    ),
    Format(
        "imessage",
        "iMessage and SMS as imessage-exporter writes them in plain text",
        (".txt",),
        "on a Mac or with an iPhone backup: imessage-exporter --format txt",
    ),
    Format(
        "signal-text",
        "Signal's chats as signalbackup-tools writes them in plain text",
        (".txt",),
        "with a backup of Signal for Android: signalbackup-tools BACKUP PASSPHRASE --exporttxt FOLDER",
    ),
    Format(
        "signal-markdown",
        "Signal Desktop's chats as signal-export writes them in Markdown",
        (".md",),
        "with Signal Desktop: pip install signal-export, then sigexport FOLDER",
    ),
    Format(
        "whatsapp",
        "WhatsApp's export of a chat as text, of Android and iPhone, in many languages",
        (".txt",),
        "WhatsApp: open the chat, its menu (on iPhone its name), Export chat, Without media",
    ),
    Format(
        "element",
        "a Matrix room as Element exports it in plain text",
        (".txt",),
        "Element: Room info, Export chat, format Plain text",
    ),
    Format(
        "irc",
        "IRC logs of irssi, WeeChat, ZNC, HexChat and mIRC",
        (".log", ".txt", ".weechatlog"),
        "the client's own log folder, such as ~/irclogs or ~/.local/share/weechat/logs",
    ),
    Format(
        "chat",
        "text and Markdown chats: `Name: text`, `[time] Name: text`, `**Name:** text`, `## Name`",
        TEXT,
    ),
    Format(
        "prose",
        "any other text, a paragraph a turn",
        TEXT,
        notice="no chat format recognised, read as prose, a paragraph a turn",
    ),
)
"""The last, prose, is any text."""

FORMATS = (*JSON_FORMATS, *TEXT_FORMATS)


_OUTLINE = 70
"""Characters of what stands at the top of a JSON file: the message is one short line of many."""


def detect(source: Source) -> Format:
    """The format of a file. Raises FormatError `invalid_json`, or `unrecognised_json` with its outline."""
    for known in JSON_FORMATS if source.json.items else TEXT_FORMATS:
        if known.detect(source):
            return known
    outline = _outline(source)
    shown = outline if len(outline) <= _OUTLINE else f"{outline[: _OUTLINE - 3]}..."
    raise FormatError(f"JSON of no known chat format: {shown}", kind="unrecognised_json")


def by_name(name: str) -> Format | None:
    """The format called `name`, None for `auto`. Raises InputError for a name that is none of them."""
    if name == "auto":
        return None
    for known in FORMATS:
        if known.name == name:
            return known
    names = ", ".join(["auto", *(known.name for known in FORMATS)])
    raise InputError(f"unknown input format {name!r}", hint=f"use one of: {names}", kind="unknown_format")


def _outline(source: Source) -> str:
    """What stands at the top of a JSON file: `a list of 3, the first an object with id, mapping`."""
    value = source.json.items[0].value
    if isinstance(value, list):
        return f"a list of {len(value):,}, the first {_shape(value[0])}" if value else "an empty list"
    return _shape(value)


def _shape(value: object) -> str:
    if isinstance(value, dict):
        keys = [str(key)[:40] for key in list(value)[:6]]
        more = ", ..." if len(value) > 6 else ""
        return f"an object with {', '.join(keys)}{more}" if keys else "an empty object"
    return f"a {type(value).__name__}"
