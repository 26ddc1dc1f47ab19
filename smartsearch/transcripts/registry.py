"""Every format there is, and the one place that decides which of them a file is in."""

from __future__ import annotations

import re

from smartsearch.errors import InputError
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Format
from smartsearch.transcripts.formats.csvtext import columns
from smartsearch.transcripts.formats.fields import objects
from smartsearch.transcripts.formats.keys import Named, only_list, said_by
from smartsearch.transcripts.source import Source

TEXT = (".txt", ".md", ".markdown", ".log")
LINES = (".json", ".jsonl")
FIELDS = "fields:"
HEAD = "head:"

# A row a format: its name, behind the module whose `FORMS` declare it; the endings of such files; `beside`
# where it is not `alone`, `silent`, `sparse`, `once`, its number of `records`; its description. Below
# stand how a person gets such a file, and what else `Format` says of it. In both lists the most particular
# first: the first that claims a file reads it.
_JSON = """
datasets/locomo .json .jsonl: LoCoMo and REALTALK JSON: conversations in `session_N` lists
    how: data files of github.com/snap-research/locomo and github.com/danny911kr/REALTALK
    rest: questions, observations and summaries
datasets/longmemeval .json .jsonl: LongMemEval JSON: questions with `haystack_sessions` and their dates
    rest: questions and answers
datasets/beam .json: BEAM chat.json: batches with `batch_number` and `turns`
extras/slack-lists .json silent: users.json and other lists of a Slack export, for names
    how: comes with a Slack export
slack .json .jsonl beside sparse: a Slack export: a folder or .zip of channels, a file a day; slackdump's
    files, its API's answers
    how: Slack: workspace settings, Import/Export Data, Export; search the .zip itself or its folder
chats/rocketchat .json .jsonl: Rocket.Chat's JSON of a room, its export's and its API's
    how: Rocket.Chat: a room's menu, Export messages, as a file, JSON
chats/mattermost .jsonl .json: Mattermost's bulk export as JSONL, and its API's lists of posts
    how: Mattermost: `mmctl export create`, then search the .zip or its .jsonl
chats/zulip .json beside sparse: a Zulip organization's export, and its API's lists of messages
    how: Zulip: Organization settings, Data exports; unpack the .tar.gz and name the folder
chats/teams .json .jsonl: Microsoft Teams' messages as Microsoft Graph's JSON
    how: Microsoft Graph: GET /chats/ID/messages or /teams/ID/channels/ID/messages, its answers as JSON
chats/google-chat .json beside: Google Chat in a Google Takeout: messages.json, a folder a conversation
    how: takeout.google.com: Google Chat; search the .zip or its folder Groups
chats/hangouts .json: Hangouts.json of a Google Takeout
    how: takeout.google.com gave it as Hangouts until that ended in 2022
chats/snapchat .json: Snapchat's chat_history.json
    how: Snapchat: Settings, My Data, with Chat History and JSON chosen
chats/discord-package .json beside: Discord's own data package: messages.json a channel, of its owner alone
    how: Discord: User Settings, Data & Privacy, Request all of my data; search the .zip or its folder
chats/discord .json: DiscordChatExporter's JSON of a channel
    how: DiscordChatExporter (github.com/Tyrrrz/DiscordChatExporter): export a channel with format JSON
chats/telegram .json: Telegram Desktop's result.json: one chat, or a whole account
    how: Telegram Desktop: a chat's menu, Export chat history (or Settings, Advanced, Export); format JSON
chats/matrix .json: Element's JSON export of a Matrix room
    how: Element: the room's information, Export chat; format JSON
chats/messenger .json: Facebook Messenger and Instagram: message_1.json, encrypted chats too
    how: Facebook or Instagram: Accounts Center, Download your information, Messages, format JSON; encrypted
    chats: messenger.com/secure_storage/dyi
chats/signal .jsonl .json: Signal's own export of chats: main.jsonl
    how: Signal: Settings, Chats, Export chat history; main.jsonl lies in the folder it makes
chats/signal-export .json .jsonl: signal-export's data.json of a Signal chat
    how: signal-export (github.com/carderne/signal-export): `sigexport FOLDER` writes data.json a chat
chats/sigtop .json: sigtop's JSON of a Signal chat
    how: sigtop (github.com/tbvdm/sigtop): `sigtop msg -f json FOLDER`, of Signal Desktop before 7.42
chats/skype .json: Skype's export of chats: messages.json
    how: secure.skype.com/data-export (until Skype's end): conversations; unpack the .tar
assistants/deepseek .json: DeepSeek's data export: `conversations.json` with `fragments`
    how: chat.deepseek.com: Settings, Data, Export all chats; a .zip to read as it is
assistants/chatgpt .json: ChatGPT's data export: `conversations.json` or `conversations-000.json`
    how: chatgpt.com: Settings, Data controls, Export data; the mail's link gives a .zip to read as it is
assistants/claude-ai .json: Claude.ai's data export: `conversations.json` with `chat_messages`
    how: claude.ai: Settings, Privacy, Export data; the mail's link gives a .zip to read as it is
assistants/grok .json: Grok's account export, `prod-grok-backend.json`
    how: accounts.x.ai: Download account data; the mail's link gives a .zip to read as it is
assistants/ai-studio .json: Google AI Studio's chats as Google Drive keeps them, a file each
    how: Google Drive: download the folder Google AI Studio; as its files have no ending, add --glob '*'
assistants/le-chat .json: Mistral's Le Chat: its export, a file a chat
    how: chat.mistral.ai: Settings, Export; a .zip to read as it is
assistants/perplexity .json: Perplexity's data export: questions with their answers
    how: perplexity.ai: Settings, Account, Export my data; a .zip to read as it is
agents/qwen-code .json .jsonl 20: Qwen Code's session logs: texts, tool calls and their results
    how: they are in ~/.qwen/projects/*/chats on the machine it runs on, a file a session; name the folder
agents/pi .json .jsonl 20: sessions of the coding agent pi and of OpenClaw: texts, tool calls and their
    results
    how: they are in ~/.pi/agent/sessions on the machine it runs on, a file a session; name the folder
agents/droid .json .jsonl 20: sessions of Factory's droid, and its stream-json output: texts, tool calls,
    results
    how: they are in ~/.factory/sessions on the machine it runs on, a file a session; name the folder
agents/copilot-cli .json .jsonl 20: Copilot CLI's session logs, `events.jsonl`: texts, tool calls, results
    how: they are in ~/.copilot/session-state on the machine it runs on, a folder a session; name the folder
agents/cursor .json .jsonl 20: Cursor's transcripts of its agent: texts and tool calls
    how: they are in ~/.cursor/projects/*/agent-transcripts on the machine it runs on; name the folder
agents/kimi-code .json .jsonl 20: Kimi Code's session logs, `wire.jsonl`: texts, tool calls, results
    how: they are in ~/.kimi-code/sessions on the machine it runs on; name the folder
agents/grok-cli .json .jsonl beside 20: Grok CLI's session logs, `chat_history.jsonl`: texts, tool calls,
    results
    how: they are in ~/.grok/sessions on the machine it runs on; name the folder
editors/vscode-chat .json .jsonl sparse: chats of VS Code, such as GitHub Copilot's: `chatSessions/*.json` and
    `.jsonl`, or an export
    how: they are in User/workspaceStorage/*/chatSessions of VS Code's settings; or the command Chat: Export
editors/cursor-store .vscdb .json beside sparse: Cursor's chats in its SQLite store, `state.vscdb`: texts,
    tool calls and their results
    how: it is in User/globalStorage of Cursor's settings, such as ~/.config/Cursor; name the file
editors/opencode .db .json beside sparse: OpenCode's sessions: `opencode.db`, the JSON files it had before,
    and its exports
    how: they are in ~/.local/share/opencode: opencode.db, before that storage/part; or `opencode export`
agents/claude-code .jsonl .json once 20: Claude Code's session logs: texts, tool calls and their results
    how: they are in ~/.claude/projects on the machine it runs on, a file a session; name the folder
agents/codex .jsonl .json 20: Codex CLI's session logs, `rollout-*.jsonl`: texts, tool calls, results
    how: they are in ~/.codex/sessions on the machine it runs on, a file a session; name the folder
agents/gemini-cli .json .jsonl: Gemini CLI's session logs, `session-*.json`: texts, tool calls, results
    how: they are in ~/.gemini/tmp/*/chats on the machine it runs on, a file a session; name the folder
assistants/gemini-activity .json 20: Gemini Apps' `MyActivity.json` of a Google Takeout
    how: takeout.google.com: My Activity alone, of it Gemini Apps alone, and JSON as its format
assistants/open-webui .json: Open WebUI's exports: chats with a `history` of messages
    how: Open WebUI: Settings, Data Controls, Export Chats; or a chat's menu, Download, as .json
assistants/librechat .json .jsonl: LibreChat's export of a conversation as JSON
    how: LibreChat: a conversation's menu, Share, Export; type json
assistants/lm-studio .json: LM Studio's conversations, `*.conversation.json`
    how: they are in ~/.lmstudio/conversations on the machine it runs on; name the folder
assistants/sillytavern .jsonl .json: SillyTavern's chats, a message a line
    how: they are in its folder data/default-user/chats, a folder a character
assistants/oasst .json .jsonl: OpenAssistant's trees of messages, or its messages one a line
    how: data files of OpenAssistant: oasst1 and oasst2, trees or messages
assistants/langchain .json .jsonl .ndjson: messages as LangChain and LangGraph store them: `human` and `ai`,
    in lists or rows
    how: a file of FileChatMessageHistory, a dump of a table of messages, or of a thread's state
agents/amp .json: Amp's threads, `T-*.json`: texts, tool calls and their results
    how: they are in ~/.local/share/amp/threads on the machine it runs on; name the folder
agents/cline .json: tasks of Cline, Roo Code and Kilo Code: `api_conversation_history.json`
    how: they are in User/globalStorage/saoudrizwan.claude-dev/tasks of VS Code's settings; name the folder
boards/whatsapp-json .json: WhatsApp's chats as WhatsApp-Chat-Exporter writes them to JSON
    how: WhatsApp-Chat-Exporter (github.com/KnugiHK/WhatsApp-Chat-Exporter): `wtsexporter -j`
speech/speech .json .jsonl: speech to text: Whisper(X), whisper.cpp, AWS, Deepgram, AssemblyAI, Rev, Azure
    ...
    how: what the service gives as JSON; also of Google, ElevenLabs, Speechmatics, Gladia, Vosk, Fireflies ...
apps/codex-exec .json .jsonl: what `codex exec --json` prints: texts, tool calls, results
    how: codex exec --json PROMPT > FILE.jsonl
apps/prompt-history .json .jsonl: what was typed into Codex and Claude Code: `history.jsonl`
    how: it is in ~/.codex and ~/.claude; name the file
apps/openhands .json .jsonl: OpenHands' trajectories: texts, tool calls, results
    how: OpenHands: a conversation's menu, Download trajectory
apps/swe-agent .json: SWE-agent's trajectories, `*.traj`
    how: they are in its folder trajectories; name the file, or --glob '*.traj'
apps/continue .json: sessions of Continue
    how: they are in ~/.continue/sessions on the machine it runs on; name the folder
apps/zed .json: threads of Zed's agent as JSON
    how: Zed: open the thread as JSON, of its database or a copy
apps/vercel-ai .json .jsonl: messages of `parts`: Vercel's AI SDK, contents of Gemini's interface
apps/big-agi .json: big-AGI's conversations
    how: big-AGI: a conversation's menu, Backup, Download
apps/chatbox .json: Chatbox's backup
    how: Chatbox: Settings, General, Data backup
apps/character-ai .json: Character.AI's chats: `turns` with `candidates`
    how: what the site answers with, as extensions that download chats save it
boards/reddit .json: Reddit's posts with their comments
    how: open a post's address with .json at its end, and save it
boards/discourse .json: Discourse's topics
    how: open a topic's address with .json at its end, and save it
boards/github .json .jsonl: GitHub's issues and pull requests with their comments
    how: gh issue view N --json number,title,body,author,createdAt,comments; or gh api .../comments
boards/zendesk .json .jsonl: Zendesk's tickets with their comments
    how: Zendesk: Account, Tools, Reports, Export as JSON; or its API's answers
boards/intercom .json .jsonl: Intercom's conversations
    how: Intercom: GET /conversations/ID of its API, saved
datasets/dialogues .json .jsonl .ndjson: data sets of dialogues: SAMSum, MediaSum, HH-RLHF, UltraChat
    how: their files on the Hugging Face Hub
    rest: summaries and answers that were not chosen
messages .json .jsonl .ndjson: messages with `role` and `content`, `sender` and `text` or the like: JSONL, a
    list, conversations; NextChat, TypingMind, LobeChat, LiteLLM, GitLab, Jira, Twilio ...
extras/export-extras .json silent: files without turns in exports; nothing is read
"""
_TEXT = """
telegram-html .html: Telegram Desktop's messages.html, messages2.html, ...
    how: Telegram Desktop: a chat's menu, Export chat history; format HTML, or better JSON
    rest: the tags of a page
gemini-html .html: Gemini Apps' `MyActivity.html` of a Google Takeout
    how: takeout.google.com: My Activity alone, of it Gemini Apps alone; HTML as its format, or better JSON
    rest: the tags of a page
extras/html-extras .html silent: pages without a chat of their own in exports; nothing is read
html .html .htm: any other HTML: turns with times in its text, else how to export it
    rest: the tags of a page
chats/twitter .js beside: X's, or Twitter's, archive: direct-messages.js
    how: x.com: Settings, Your account, Download an archive of your data; search the .zip or its folder data
chats/linkedin .csv: LinkedIn's messages.csv
    how: LinkedIn: Settings, Data privacy, Get a copy of your data, with Messages
chats/discord-csv .csv beside: Discord's own data package before 2024: messages.csv a channel
    how: Discord: User Settings, Data & Privacy, Request all of my data
mbox .mbox .eml .emlx: e-mail, a mail a turn: mbox files (Gmail Takeout, Thunderbird, Apple Mail), single
    mails
    how: Gmail: takeout.google.com, Mail; Apple Mail: Export Mailbox; Thunderbird: its profile folder
    rest: headers, quotations, and HTML beside text
subtitles .vtt .srt .sbv .ass: subtitles and meeting transcripts: WebVTT (Teams, Zoom), SubRip, .sbv, .ass
    how: Teams: the meeting's Recap, Transcript, Download; Zoom: Recordings, Audio transcript
texts/zoom .txt: the chat of a Zoom meeting, saved or copied
    how: Zoom: in the meeting's chat, Save chat; it lies in Documents/Zoom, a folder a meeting
sms_backup/sms-backup .xml: SMS and MMS of Android: the XML of SMS Backup & Restore
    how: SMS Backup & Restore: Back up now, Messages; sms-*.xml lies where it was told to keep backups
imessage .txt: iMessage and SMS as imessage-exporter writes them in plain text
    how: on a Mac or with an iPhone backup: imessage-exporter --format txt
texts/signal-text .txt .md: Signal's chats as signalbackup-tools and signal-export write them in text and
    Markdown
    how: Desktop: pip install signal-export, sigexport FOLDER; Android: signalbackup-tools, its --exporttxt
texts/kakaotalk .txt .csv: KakaoTalk's export of a chat, of phones and Windows as text, of a Mac as CSV
    how: KakaoTalk: in the chat its menu, settings, Export chat messages, text only
texts/line .txt: LINE's export of a chat as text, in many languages
    how: LINE: in the chat its menu, settings, Export chat history (on a computer: Save chat)
whatsapp/whatsapp .txt: WhatsApp's export of a chat as text, of Android and iPhone, in many languages
    how: WhatsApp: open the chat, its menu (on iPhone its name), Export chat, Without media
texts/element .txt: a Matrix room as Element exports it in plain text
    how: Element: Room info, Export chat, format Plain text
texts/messenger-window .txt: Facebook Messenger's and Instagram's chats, copied out of a browser's window
    how: messenger.com or instagram.com: select the messages of a chat, copy, and save them as text
irc/irc .log .txt .weechatlog: IRC logs of irssi, WeeChat, ZNC, HexChat, mIRC, Limnoria, The Lounge and others
    how: the client's own log folder, such as ~/irclogs or ~/.local/share/weechat/logs
aider .md: aider's `.aider.chat.history.md`: prompts, answers and its own messages
    how: it lies in the top folder of a repository that aider worked on; name the file, it is a hidden one
claude-code-export .txt .md: what Claude Code's /export writes: a session as its terminal shows it
    how: in Claude Code: /export FILE; the logs in ~/.claude/projects say more, with times
obsidian .md: chats in notes of Obsidian, a callout a message: `> [!user]`, `> [!assistant]`
    how: plugins such as Gemini Scribe keep them in the vault: name the folder, or the note
specstory .md: SpecStory's Markdown of sessions with Cursor, Claude Code, Codex and other agents
    how: they are in .specstory/history of a project, a file a session; name that hidden folder
prompts .txt .md .markdown .log: prompts as language models are given them: ChatML, Llama's [INST], Gemma's
    and Phi's marks; a terminal's `ollama run`
    rest: marks of turns
table .csv .tsv .md: CSV, TSV and Markdown tables with a column for what is said, and one for who speaks or
    when in a recording
chat .txt .md .markdown .log .docx .rtf: text and Markdown chats and transcripts, by the head of their turns:
    `[time] Name: text`, `## User`, `Name  0:12` above what was said (Otter, Teams' .docx, Fathom, Gong),
    copies of windows
    how: Otter: Export Text, TXT with names and times; Teams: the meeting's Recap, Transcript, Download
prose .txt .md .markdown .log: any other text, a paragraph a turn
    notice: no chat format recognised, read as prose, a paragraph a turn
"""


def _format(row: str) -> Format:
    """The format of a row of the table."""
    first, *more = row.split("\n    ")
    about, _, description = first.partition(": ")
    named, *marks = about.split()
    among, _, name = named.rpartition("/")
    told, last = {"description": description}, "description"
    for line in more:
        key, colon, said = line.partition(": ")
        if colon and key in ("how", "rest", "notice"):
            last, told[key] = key, said
        else:
            told[last] += f" {line}"
    return Format(
        name,
        told["description"],
        tuple(mark for mark in marks if mark[0] == "."),
        told.get("how", ""),
        next((int(mark) for mark in marks if mark.isdigit()), Format.records),
        told.get("notice", ""),
        alone="beside" not in marks,
        silent="silent" in marks,
        sparse="sparse" in marks,
        rest=told.get("rest", ""),
        once="once" in marks,
        among=among,
    )


def _formats(table: str) -> tuple[Format, ...]:
    return tuple(map(_format, re.split(r"\n(?! )", table.strip())))


JSON_FORMATS, TEXT_FORMATS = _formats(_JSON), _formats(_TEXT)
"""The last, prose, is any text."""
FORMATS = (*JSON_FORMATS, *TEXT_FORMATS)


_ELEMENT = re.compile(r"<\w[^\s<>/]{0,40}")
_OUTLINE = 70
"""Characters of what stands at the top of a JSON file: the message is one short line of many."""


def detect(source: Source) -> Format:
    """The format of a file. Raises FormatError `invalid_json`, or `unrecognised_json`, `unrecognised_xml` or
    `unrecognised_table` with its outline.
    """
    for known in JSON_FORMATS if source.json.items else TEXT_FORMATS:
        if known.detect(source):
            return known
    if source.json.items:
        what, kind, outline = "JSON", "unrecognised_json", _outline(source)
    elif source.is_xml:
        what, kind, outline = "XML", "unrecognised_xml", " ".join(_ELEMENT.findall(source.text[:2000])[:3])
    else:
        what, kind, outline = "a table", "unrecognised_table", f"columns {', '.join(columns(source))}"
    shown = outline if len(outline) <= _OUTLINE else f"{outline[: _OUTLINE - 3]}..."
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
