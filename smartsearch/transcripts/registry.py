"""Every format there is, and the one place that decides which of them a file is in."""

from __future__ import annotations

from smartsearch.errors import InputError
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Format
from smartsearch.transcripts.formats.csvtext import columns
from smartsearch.transcripts.formats.fields import objects
from smartsearch.transcripts.formats.keys import Named, only_list, said_by
from smartsearch.transcripts.source import Source

JSON = (".json",)
TEXT = (".txt", ".md", ".markdown", ".log")
LINES = (".json", ".jsonl")
FIELDS = "fields:"
HEAD = "head:"

# In both lists the most particular first: the first that claims a file reads it. A new format is a reader and
# a row here.
JSON_FORMATS = (
    Format(
        "locomo",
        "LoCoMo and REALTALK JSON: conversations in `session_N` lists",
        LINES,
        "data files of github.com/snap-research/locomo and github.com/danny911kr/REALTALK",
        rest="questions, observations and summaries",
        among="datasets",
    ),
    Format(
        "longmemeval",
        "LongMemEval JSON: questions with `haystack_sessions` and their dates",
        LINES,
        rest="questions and answers",
        among="datasets",
    ),
    Format("beam", "BEAM chat.json: batches with `batch_number` and `turns`", JSON, among="datasets"),
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
        among="chats",
    ),
    Format(
        "mattermost",
        "Mattermost's bulk export as JSONL, and its API's lists of posts",
        (".jsonl", ".json"),
        "Mattermost: `mmctl export create`, then search the .zip or its .jsonl",
        among="chats",
    ),
    Format(
        "zulip",
        "a Zulip organization's export, and its API's lists of messages",
        JSON,
        "Zulip: Organization settings, Data exports; unpack the .tar.gz and name the folder",
        alone=False,
        sparse=True,
        among="chats",
    ),
    Format(
        "teams",
        "Microsoft Teams' messages as Microsoft Graph's JSON",
        LINES,
        "Microsoft Graph: GET /chats/ID/messages or /teams/ID/channels/ID/messages, its answers as JSON",
        among="chats",
    ),
    Format(
        "google-chat",
        "Google Chat in a Google Takeout: messages.json, a folder a conversation",
        JSON,
        "takeout.google.com: Google Chat; search the .zip or its folder Groups",
        alone=False,
        among="chats",
    ),
    Format(
        "hangouts",
        "Hangouts.json of a Google Takeout",
        JSON,
        "takeout.google.com gave it as Hangouts until that ended in 2022",
        among="chats",
    ),
    Format(
        "snapchat",
        "Snapchat's chat_history.json",
        JSON,
        "Snapchat: Settings, My Data, with Chat History and JSON chosen",
        among="chats",
    ),
    Format(
        "discord-package",
        "Discord's own data package: messages.json a channel, of its owner alone",
        JSON,
        "Discord: User Settings, Data & Privacy, Request all of my data; search the .zip or its folder",
        alone=False,
        among="chats",
    ),
    Format(
        "discord",
        "DiscordChatExporter's JSON of a channel",
        JSON,
        "DiscordChatExporter (github.com/Tyrrrz/DiscordChatExporter): export a channel with format JSON",
        among="chats",
    ),
    Format(
        "telegram",
        "Telegram Desktop's result.json: one chat, or a whole account",
        JSON,
        "Telegram Desktop: a chat's menu, Export chat history (or Settings, Advanced, Export); format JSON",
        among="chats",
    ),
    Format(
        "matrix",
        "Element's JSON export of a Matrix room",
        JSON,
        "Element: the room's information, Export chat; format JSON",
        among="chats",
    ),
    Format(
        "messenger",
        "Facebook Messenger and Instagram: message_1.json, encrypted chats too",
        JSON,
        "Facebook or Instagram: Accounts Center, Download your information, Messages, format JSON; "
        "encrypted chats: messenger.com/secure_storage/dyi",
        among="chats",
    ),
    Format(
        "signal",
        "Signal's own export of chats: main.jsonl",
        (".jsonl", ".json"),
        "Signal: Settings, Chats, Export chat history; main.jsonl lies in the folder it makes",
        among="chats",
    ),
    Format(
        "signal-export",
        "signal-export's data.json of a Signal chat",
        LINES,
        "signal-export (github.com/carderne/signal-export): `sigexport FOLDER` writes data.json a chat",
        among="chats",
    ),
    Format(
        "sigtop",
        "sigtop's JSON of a Signal chat",
        JSON,
        "sigtop (github.com/tbvdm/sigtop): `sigtop msg -f json FOLDER`, of Signal Desktop before 7.42",
        among="chats",
    ),
    Format(
        "skype",
        "Skype's export of chats: messages.json",
        JSON,
        "secure.skype.com/data-export (until Skype's end): conversations; unpack the .tar",
        among="chats",
    ),
    Format(
        "deepseek",
        "DeepSeek's data export: `conversations.json` with `fragments`",
        JSON,
        "chat.deepseek.com: Settings, Data, Export all chats; a .zip to read as it is",
        among="assistants",
    ),
    Format(
        "chatgpt",
        "ChatGPT's data export: `conversations.json` or `conversations-000.json`",
        JSON,
        "chatgpt.com: Settings, Data controls, Export data; the mail's link gives a .zip to read as it is",
        among="assistants",
    ),
    Format(
        "claude-ai",
        "Claude.ai's data export: `conversations.json` with `chat_messages`",
        JSON,
        "claude.ai: Settings, Privacy, Export data; the mail's link gives a .zip to read as it is",
        among="assistants",
    ),
    Format(
        "grok",
        "Grok's account export, `prod-grok-backend.json`",
        JSON,
        "accounts.x.ai: Download account data; the mail's link gives a .zip to read as it is",
        among="assistants",
    ),
    Format(
        "ai-studio",
        "Google AI Studio's chats as Google Drive keeps them, a file each",
        JSON,
        "Google Drive: download the folder Google AI Studio; as its files have no ending, add --glob '*'",
        among="assistants",
    ),
    Format(
        "le-chat",
        "Mistral's Le Chat: its export, a file a chat",
        JSON,
        "chat.mistral.ai: Settings, Export; a .zip to read as it is",
        among="assistants",
    ),
    Format(
        "perplexity",
        "Perplexity's data export: questions with their answers",
        JSON,
        "perplexity.ai: Settings, Account, Export my data; a .zip to read as it is",
        among="assistants",
    ),
    Format(
        "qwen-code",
        "Qwen Code's session logs: texts, tool calls and their results",
        LINES,
        "they are in ~/.qwen/projects/*/chats on the machine it runs on, a file a session; name the folder",
        records=20,
        among="agents",
    ),
    Format(
        "pi",
        "sessions of the coding agent pi and of OpenClaw: texts, tool calls and their results",
        LINES,
        "they are in ~/.pi/agent/sessions on the machine it runs on, a file a session; name the folder",
        records=20,
        among="agents",
    ),
    Format(
        "droid",
        "sessions of Factory's droid, and its stream-json output: texts, tool calls, results",
        LINES,
        "they are in ~/.factory/sessions on the machine it runs on, a file a session; name the folder",
        records=20,
        among="agents",
    ),
    Format(
        "copilot-cli",
        "Copilot CLI's session logs, `events.jsonl`: texts, tool calls, results",
        LINES,
        "they are in ~/.copilot/session-state on the machine it runs on, a folder a session; name the folder",
        records=20,
        among="agents",
    ),
    Format(
        "cursor",
        "Cursor's transcripts of its agent: texts and tool calls",
        LINES,
        "they are in ~/.cursor/projects/*/agent-transcripts on the machine it runs on; name the folder",
        records=20,
        among="agents",
    ),
    Format(
        "kimi-code",
        "Kimi Code's session logs, `wire.jsonl`: texts, tool calls, results",
        LINES,
        "they are in ~/.kimi-code/sessions on the machine it runs on; name the folder",
        records=20,
        among="agents",
    ),
    Format(
        "grok-cli",
        "Grok CLI's session logs, `chat_history.jsonl`: texts, tool calls, results",
        LINES,
        "they are in ~/.grok/sessions on the machine it runs on; name the folder",
        records=20,
        alone=False,  # title, id and time stand in the summary.json beside it
        among="agents",
    ),
    Format(
        "vscode-chat",
        "chats of VS Code, such as GitHub Copilot's: `chatSessions/*.json` and `.jsonl`, or an export",
        LINES,
        "they are in User/workspaceStorage/*/chatSessions of VS Code's settings; or the command Chat: Export",
        sparse=True,  # every window leaves one that was never used
        among="editors",
    ),
    Format(
        "cursor-store",
        "Cursor's chats in its SQLite store, `state.vscdb`: texts, tool calls and their results",
        (".vscdb", ".json"),
        "it is in User/globalStorage of Cursor's settings, such as ~/.config/Cursor; name the file",
        alone=False,  # what was written last stands in a log beside it
        sparse=True,  # every window has a store, most without chats
        among="editors",
    ),
    Format(
        "opencode",
        "OpenCode's sessions: `opencode.db`, the JSON files it had before, and its exports",
        (".db", ".json"),
        "they are in ~/.local/share/opencode: opencode.db, before that storage/part; or `opencode export`",
        alone=False,  # a part's role stands in another file; a store has a log beside it
        sparse=True,  # the files of sessions and of messages
        among="editors",
    ),
    Format(
        "claude-code",
        "Claude Code's session logs: texts, tool calls and their results",
        (".jsonl", ".json"),
        "they are in ~/.claude/projects on the machine it runs on, a file a session; name the folder",
        records=20,
        among="agents",
    ),
    Format(
        "codex",
        "Codex CLI's session logs, `rollout-*.jsonl`: texts, tool calls, results",
        (".jsonl", ".json"),
        "they are in ~/.codex/sessions on the machine it runs on, a file a session; name the folder",
        records=20,
        among="agents",
    ),
    Format(
        "gemini-cli",
        "Gemini CLI's session logs, `session-*.json`: texts, tool calls, results",
        LINES,
        "they are in ~/.gemini/tmp/*/chats on the machine it runs on, a file a session; name the folder",
        among="agents",
    ),
    Format(
        "gemini-activity",
        "Gemini Apps' `MyActivity.json` of a Google Takeout",
        JSON,
        "takeout.google.com: My Activity alone, of it Gemini Apps alone, and JSON as its format",
        records=20,
        among="assistants",
    ),
    Format(
        "open-webui",
        "Open WebUI's exports: chats with a `history` of messages",
        JSON,
        "Open WebUI: Settings, Data Controls, Export Chats; or a chat's menu, Download, as .json",
        among="assistants",
    ),
    Format(
        "librechat",
        "LibreChat's export of a conversation as JSON",
        LINES,
        "LibreChat: a conversation's menu, Share, Export; type json",
        among="assistants",
    ),
    Format(
        "lm-studio",
        "LM Studio's conversations, `*.conversation.json`",
        JSON,
        "they are in ~/.lmstudio/conversations on the machine it runs on; name the folder",
        among="assistants",
    ),
    Format(
        "sillytavern",
        "SillyTavern's chats, a message a line",
        (".jsonl", ".json"),
        "they are in its folder data/default-user/chats, a folder a character",
        among="assistants",
    ),
    Format(
        "oasst",
        "OpenAssistant's trees of messages, or its messages one a line",
        LINES,
        "data files of OpenAssistant: oasst1 and oasst2, trees or messages",
        among="assistants",
    ),
    Format(
        "langchain",
        "messages as LangChain and LangGraph store them: `human` and `ai`, in lists or rows",
        (".json", ".jsonl", ".ndjson"),
        "a file of FileChatMessageHistory, a dump of a table of messages, or of a thread's state",
        among="assistants",
    ),
    Format(
        "amp",
        "Amp's threads, `T-*.json`: texts, tool calls and their results",
        JSON,
        "they are in ~/.local/share/amp/threads on the machine it runs on; name the folder",
        among="agents",
    ),
    Format(
        "cline",
        "tasks of Cline, Roo Code and Kilo Code: `api_conversation_history.json`",
        JSON,
        "they are in User/globalStorage/saoudrizwan.claude-dev/tasks of VS Code's settings; name the folder",
        among="agents",
    ),
    Format(
        "whatsapp-json",
        "WhatsApp's chats as WhatsApp-Chat-Exporter writes them to JSON",
        JSON,
        "WhatsApp-Chat-Exporter (github.com/KnugiHK/WhatsApp-Chat-Exporter): `wtsexporter -j`",
        among="boards",
    ),
    Format(
        "speech",
        "speech to text: Whisper(X), whisper.cpp, AWS, Deepgram, AssemblyAI, Rev, Azure, Google ...",
        JSON,
        "what the service gives as JSON; also of ElevenLabs, Fireflies, Recall and Podcasting 2.0",
        among="speech",
    ),
    Format(
        "codex-exec",
        "what `codex exec --json` prints: texts, tool calls, results",
        LINES,
        "codex exec --json PROMPT > FILE.jsonl",
        among="apps",
    ),
    Format(
        "prompt-history",
        "what was typed into Codex and Claude Code: `history.jsonl`",
        LINES,
        "it is in ~/.codex and ~/.claude; name the file",
        among="apps",
    ),
    Format(
        "openhands",
        "OpenHands' trajectories: texts, tool calls, results",
        LINES,
        "OpenHands: a conversation's menu, Download trajectory",
        among="apps",
    ),
    Format(
        "swe-agent",
        "SWE-agent's trajectories, `*.traj`",
        JSON,
        "they are in its folder trajectories; name the file, or --glob '*.traj'",
        among="apps",
    ),
    Format(
        "continue",
        "sessions of Continue",
        JSON,
        "they are in ~/.continue/sessions on the machine it runs on; name the folder",
        among="apps",
    ),
    Format(
        "zed",
        "threads of Zed's agent as JSON",
        JSON,
        "Zed: open the thread as JSON, of its database or a copy",
        among="apps",
    ),
    Format(
        "vercel-ai",
        "messages of `parts`: Vercel's AI SDK, contents of Gemini's interface",
        LINES,
        "",
        among="apps",
    ),
    Format(
        "lobechat",
        "LobeChat's export",
        JSON,
        "LobeChat: Settings, Data, Export all",
        among="apps",
    ),
    Format(
        "nextchat",
        "NextChat's backup, which was ChatGPT-Next-Web",
        JSON,
        "NextChat: Settings, Local data, Export",
        among="apps",
    ),
    Format(
        "typingmind",
        "TypingMind's export",
        JSON,
        "TypingMind: Settings, App data, Export",
        among="apps",
    ),
    Format(
        "big-agi",
        "big-AGI's conversations",
        JSON,
        "big-AGI: a conversation's menu, Backup, Download",
        among="apps",
    ),
    Format(
        "chatbox",
        "Chatbox's backup",
        JSON,
        "Chatbox: Settings, General, Data backup",
        among="apps",
    ),
    Format(
        "character-ai",
        "Character.AI's chats: `turns` with `candidates`",
        JSON,
        "what the site answers with, as extensions that download chats save it",
        among="apps",
    ),
    Format(
        "reddit",
        "Reddit's posts with their comments",
        JSON,
        "open a post's address with .json at its end, and save it",
        among="boards",
    ),
    Format(
        "discourse",
        "Discourse's topics",
        JSON,
        "open a topic's address with .json at its end, and save it",
        among="boards",
    ),
    Format(
        "github",
        "GitHub's issues and pull requests with their comments",
        LINES,
        "gh issue view N --json number,title,body,author,createdAt,comments; or gh api .../comments",
        among="boards",
    ),
    Format(
        "zendesk",
        "Zendesk's tickets with their comments",
        LINES,
        "Zendesk: Account, Tools, Reports, Export as JSON; or its API's answers",
        among="boards",
    ),
    Format(
        "intercom",
        "Intercom's conversations",
        LINES,
        "Intercom: GET /conversations/ID of its API, saved",
        among="boards",
    ),
    Format(
        "dialogues",
        "data sets of dialogues: SAMSum, MediaSum, HH-RLHF, UltraChat",
        (".json", ".jsonl", ".ndjson"),
        "their files on the Hugging Face Hub",
        among="datasets",
        rest="summaries and answers that were not chosen",
    ),
    Format(
        "messages",
        "messages with `role` and `content`, `sender` and `text` or the like: JSONL, a list, conversations",
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
        among="chats",
    ),
    Format(
        "linkedin",
        "LinkedIn's messages.csv",
        (".csv",),
        "LinkedIn: Settings, Data privacy, Get a copy of your data, with Messages",
        among="chats",
    ),
    Format(
        "discord-csv",
        "Discord's own data package before 2024: messages.csv a channel",
        (".csv",),
        "Discord: User Settings, Data & Privacy, Request all of my data",
        alone=False,
        among="chats",
    ),
    Format(
        "mbox",
        "e-mail, a mail a turn: mbox files (Gmail Takeout, Thunderbird, Apple Mail), single mails",
        (".mbox", ".eml", ".emlx"),
        "Gmail: takeout.google.com, Mail; Apple Mail: Export Mailbox; Thunderbird: its profile folder",
        rest="headers, quotations, and HTML beside text",
    ),
    Format(
        "subtitles",
        "subtitles and meeting transcripts: WebVTT (Teams, Zoom), SubRip, Meet's .sbv",
        (".vtt", ".srt", ".sbv"),
        "Teams: the meeting's Recap, Transcript, Download; Zoom: Recordings, Audio transcript",
    ),
    Format(
        "zoom",
        "the chat of a Zoom meeting, saved or copied",
        (".txt",),
        "Zoom: in the meeting's chat, Save chat; it lies in Documents/Zoom, a folder a meeting",
    ),
    Format(
        "sms-backup",
        "SMS and MMS of Android: the XML of SMS Backup & Restore",
        (".xml",),
        "SMS Backup & Restore: Back up now, Messages; sms-*.xml lies where it was told to keep backups",
    ),
    Format(
        "imessage",
        "iMessage and SMS as imessage-exporter writes them in plain text",
        (".txt",),
        "on a Mac or with an iPhone backup: imessage-exporter --format txt",
    ),
    Format(
        "signal-text",
        "Signal's chats as signalbackup-tools and signal-export write them in text and Markdown",
        (".txt", ".md"),
        "Desktop: pip install signal-export, sigexport FOLDER; Android: signalbackup-tools, its --exporttxt",
    ),
    Format(
        "kakaotalk",
        "KakaoTalk's export of a chat, of phones and Windows as text, of a Mac as CSV",
        (".txt", ".csv"),
        "KakaoTalk: in the chat its menu, settings, Export chat messages, text only",
    ),
    Format(
        "line",
        "LINE's export of a chat as text, in many languages",
        (".txt",),
        "LINE: in the chat its menu, settings, Export chat history (on a computer: Save chat)",
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
        "IRC logs of irssi, WeeChat, ZNC, HexChat, mIRC, Limnoria, The Lounge and others",
        (".log", ".txt", ".weechatlog"),
        "the client's own log folder, such as ~/irclogs or ~/.local/share/weechat/logs",
    ),
    Format(
        "aider",
        "aider's `.aider.chat.history.md`: prompts, answers and its own messages",
        (".md",),
        "it lies in the top folder of a repository that aider worked on; name the file, it is a hidden one",
    ),
    Format(
        "claude-code-export",
        "what Claude Code's /export writes: a session as its terminal shows it",
        (".txt", ".md"),
        "in Claude Code: /export FILE; the logs in ~/.claude/projects say more, with times",
    ),
    Format(
        "obsidian",
        "chats in notes of Obsidian, a callout a message: `> [!user]`, `> [!assistant]`",
        (".md",),
        "plugins such as Gemini Scribe keep them in the vault: name the folder, or the note",
    ),
    Format(
        "specstory",
        "SpecStory's Markdown of sessions with Cursor, Claude Code, Codex and other agents",
        (".md",),
        "they are in .specstory/history of a project, a file a session; name that hidden folder",
    ),
    Format(
        "prompts",
        "prompts as language models are given them: ChatML, Llama's [INST], Gemma's and Phi's marks",
        TEXT,
        rest="marks of turns",
    ),
    Format("table", "CSV and TSV with a column for who speaks and one for what is said", (".csv", ".tsv")),
    Format(
        "chat",
        "text and Markdown chats and transcripts, by the head of their turns: `[time] Name:"
        " text`, `## User`, "
        "`Name  0:12` above what was said (Otter, Teams' .docx, Fathom, Gong), copies of windows",
        (*TEXT, ".docx"),
        "Otter: Export Text, TXT with names and times; Teams: the meeting's Recap, Transcript, Download",
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
    table = not source.json.items
    outline = f"columns {', '.join(columns(source))}" if table else _outline(source)
    shown = outline if len(outline) <= _OUTLINE else f"{outline[: _OUTLINE - 3]}..."
    what, kind = ("a table", "unrecognised_table") if table else ("JSON", "unrecognised_json")
    raise FormatError(f"{what} of no known chat format: {shown}", kind=kind)


def by_name(name: str) -> Format | None:
    """The format called `name`, None for `auto`. Raises InputError for a name that is none of them.

    `fields:` and what --fields says is messages with these keys, in JSON or a table; `head:` and what --head
    says is a text chat whose turns begin so.
    """
    if name == "auto":
        return None
    if name.startswith(FIELDS):
        named = Named.of(name.removeprefix(FIELDS))
        return Format("messages", "messages with named keys", LINES, named=named)
    if name.startswith(HEAD):
        from smartsearch.transcripts.formats.heads import Head

        return Format(
            "chat", "a text chat with a stated head", TEXT, named=Head.stated(name.removeprefix(HEAD))
        )
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
    key = only_list(value)
    return f"{_shape(value)}; in {key}: {said_by(objects(value, key)[0])}" if key else _shape(value)


def _shape(value: object) -> str:
    if isinstance(value, dict):
        return f"an object with {said_by(value)}" if value else "an empty object"
    return f"a {type(value).__name__}"
