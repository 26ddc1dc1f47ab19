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
        "a Slack export: a folder or .zip of channels, a file a day; slackdump's files, its API's answers",
        LINES,
        "Slack: workspace settings, Import/Export Data, Export; search the .zip itself or its folder",
        alone=False,
        sparse=True,  # a day of nothing but joins
    ),
    Format(
        "rocketchat",
        "Rocket.Chat's JSON of a room, its export's and its API's",
        LINES,
        "Rocket.Chat: a room's menu, Export messages, as a file, JSON",
    ),
    Format(
        "mattermost",
        "Mattermost's bulk export as JSONL, and its API's lists of posts",
        (".jsonl", ".json"),
        "Mattermost: `mmctl export create`, then search the .zip or its .jsonl",
    ),
    Format(
        "zulip",
        "a Zulip organization's export, and its API's lists of messages",
        JSON,
        "Zulip: Organization settings, Data exports; unpack the .tar.gz and name the folder",
        alone=False,
        sparse=True,
    ),
    Format(
        "teams",
        "Microsoft Teams' messages as Microsoft Graph's JSON",
        LINES,
        "Microsoft Graph: GET /chats/ID/messages or /teams/ID/channels/ID/messages, its answers as JSON",
    ),
    Format(
        "google-chat",
        "Google Chat in a Google Takeout: messages.json, a folder a conversation",
        JSON,
        "takeout.google.com: Google Chat; search the .zip or its folder Groups",
        alone=False,
    ),
    Format(
        "hangouts",
        "Hangouts.json of a Google Takeout",
        JSON,
        "takeout.google.com gave it as Hangouts until that ended in 2022",
    ),
    Format(
        "snapchat",
        "Snapchat's chat_history.json",
        JSON,
        "Snapchat: Settings, My Data, with Chat History and JSON chosen",
    ),
    Format(
        "discord-package",
        "Discord's own data package: messages.json a channel, of its owner alone",
        JSON,
        "Discord: User Settings, Data & Privacy, Request all of my data; search the .zip or its folder",
        alone=False,
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
        "deepseek",
        "DeepSeek's data export: `conversations.json` with `fragments`",
        JSON,
        "chat.deepseek.com: Settings, Data, Export all chats; a .zip to read as it is",
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
        "grok",
        "Grok's account export, `prod-grok-backend.json`",
        JSON,
        "accounts.x.ai: Download account data; the mail's link gives a .zip to read as it is",
    ),
    Format(
        "ai-studio",
        "Google AI Studio's chats as Google Drive keeps them, a file each",
        JSON,
        "Google Drive: download the folder Google AI Studio; as its files have no ending, add --glob '*'",
    ),
    Format(
        "le-chat",
        "Mistral's Le Chat: its export, a file a chat",
        JSON,
        "chat.mistral.ai: Settings, Export; a .zip to read as it is",
    ),
    Format(
        "perplexity",
        "Perplexity's data export: questions with their answers",
        JSON,
        "perplexity.ai: Settings, Account, Export my data; a .zip to read as it is",
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
        "open-webui",
        "Open WebUI's exports: chats with a `history` of messages",
        JSON,
        "Open WebUI: Settings, Data Controls, Export Chats; or a chat's menu, Download, as .json",
    ),
    Format(
        "librechat",
        "LibreChat's export of a conversation as JSON",
        LINES,
        "LibreChat: a conversation's menu, Share, Export; type json",
    ),
    Format(
        "lm-studio",
        "LM Studio's conversations, `*.conversation.json`",
        JSON,
        "they are in ~/.lmstudio/conversations on the machine it runs on; name the folder",
    ),
    Format(
        "sillytavern",
        "SillyTavern's chats, a message a line",
        (".jsonl", ".json"),
        "they are in its folder data/default-user/chats, a folder a character",
    ),
    Format(
        "oasst",
        "OpenAssistant's trees of messages, or its messages one a line",
        LINES,
        "data files of OpenAssistant: oasst1 and oasst2, trees or messages",
    ),
    Format(
        "langchain",
        "messages as LangChain and LangGraph store them: `human` and `ai`, in lists or rows",
        (".json", ".jsonl", ".ndjson"),
        "a file of FileChatMessageHistory, a dump of a table of messages, or of a thread's state",
    ),
    Format(
        "messages",
        "messages with `role` and `content`, or ShareGPT's `from` and `value`: JSONL, a list, conversations",
        (".json", ".jsonl", ".ndjson"),
    ),
    Format("export-extras", "files without turns in exports; nothing is read", JSON, silent=True),
)

TEXT_FORMATS = (
    Format(
        "telegram-html",
        "Telegram Desktop's messages.html, messages2.html, ...",
        (".html",),
        "Telegram Desktop: a chat's menu, Export chat history; format HTML, or better JSON",
        rest="the tags of a page",
    ),
    Format(
        "gemini-html",
        "Gemini Apps' `MyActivity.html` of a Google Takeout",
        (".html",),
        "takeout.google.com: My Activity alone, of it Gemini Apps alone; HTML as its format, or better JSON",
        rest="the tags of a page",
    ),
    Format(
        "html-extras",
        "pages without a chat of their own in exports; nothing is read",
        (".html",),
        silent=True,
    ),
    Format("html", "any other HTML: nothing is read, how to export the chat is told", (".html", ".htm")),
    Format(
        "twitter",
        "X's, or Twitter's, archive: direct-messages.js",
        (".js",),
        "x.com: Settings, Your account, Download an archive of your data; search the .zip or its folder data",
        alone=False,
    ),
    Format(
        "linkedin",
        "LinkedIn's messages.csv",
        (".csv",),
        "LinkedIn: Settings, Data privacy, Get a copy of your data, with Messages",
    ),
    Format(
        "discord-csv",
        "Discord's own data package before 2024: messages.csv a channel",
        (".csv",),
        "Discord: User Settings, Data & Privacy, Request all of my data",
        alone=False,
    ),
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
