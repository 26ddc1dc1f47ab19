"""Files that come with exports and hold no turns, names at most: passed over in silence.

A file is one of them by its name and, where the name could be anyone's, by a key or an id that it has, or a
page's title. ChatGPT's `chat.html` holds what `conversations.json` does; Telegram's pages link to the chats
(telegramdesktop/tdesktop, export_output_html.cpp).
"""

from __future__ import annotations

import re
from pathlib import PurePath

from smartsearch.transcripts.archive import plain_name
from smartsearch.transcripts.formats.fields import mapping, objects, string
from smartsearch.transcripts.formats.form import Form
from smartsearch.transcripts.formats.html import is_html
from smartsearch.transcripts.source import Source

_ID = re.compile(r"[A-Z][A-Z0-9]{2,}")
_SLACKS = (
    *("users.json", "org_users.json", "channels.json", "groups.json", "dms.json", "mpims.json"),
    *("integration_logs.json", "canvases.json", "lists.json", "content_flags.json"),
    *("file_conversations.json", "huddle_transcripts.json", "canvas_in_the_conversation.json"),
)
_FILES = """user.json: chatgpt_plus_user discriminator mobile
user_settings.json
message_feedback.json: rating
model_comparisons.json
shared_conversations.json: is_anonymous
export_manifest.json
conversation_asset_file_names.json
users.json: verified_phone_number email_address
projects.json: prompt_template is_starter_project
memories.json: conversations_memory project_memories
prod-mc-auth-mgmt-api.json
prod-mc-billing.json
sessions-index.json: entries
logs.json: messageId
ui_messages.json: say ask
task_metadata.json: files_in_context model_usage
state.json: isCustomTitle
summary.json: chat_format_version num_chat_messages
group_info.json: members
user_info.json: membership_info
realm.json: zerver_realm
channel.json: guild recipients type"""
"""Names, and keys of which such a file has one; where none stands the name is enough."""
_KEYS = {
    name: frozenset(keys.split()) for name, _, keys in (line.partition(": ") for line in _FILES.splitlines())
}
_OWN = re.compile(r'<meta [^<>]{0,99}content="smartsearch ')
"""In a page that `--format html` made: an answer is no chat."""
_TITLE = re.compile(r"<title>(?P<title>[^<]{0,120})</title>", re.I)
_TITLES = {
    "chat.html": "ChatGPT Data Export",
    "export_results.html": "Exported Data",
    **dict.fromkeys(("contacts.html", "frequent.html", "sessions.html", "chats.html"), "Exported Data"),
    **dict.fromkeys(("other_data.html", "left_chats.html", "userpics.html", "stories.html"), "Exported Data"),
}


def _name(source: Source) -> str:
    return PurePath(plain_name(source.path)).name


def _is_list(source: Source) -> bool:
    """Whether a file is a list at the top of a Slack export, which slack.py reads for names, or the API's."""
    if _name(source) not in _SLACKS:
        return False
    found = [one for value in source.head() for one in [value, *objects(value, "members")[:5]]]
    return any(_ID.fullmatch(string(value, "id", "user_id", "bot_id")) for value in found)


def _is_extra(source: Source) -> bool:
    """Whether a JSON file is one of the others; only asked about what no other format claims."""
    if _name(source) == "index.json":  # the names of Discord's channels by their ids
        channels = list(mapping(next(iter(source.head(1)), None)))[:20]
        return bool(channels) and all(len(key) >= 17 and key.isdecimal() for key in channels)
    keys = _KEYS.get(_name(source))
    if keys is None or not source.json.items:
        return False
    return not keys or any(isinstance(value, dict) and keys & value.keys() for value in source.head())


def _is_page(source: Source) -> bool:
    """Whether a page is one of them, by its name and its title, or one of our own."""
    head = source.text[:2000]
    if not is_html(source):
        return False
    wanted, found = _TITLES.get(_name(source)), _TITLE.search(head)
    return _OWN.search(head) is not None or (found is not None and found["title"].strip() == wanted)


FORMS = {
    name: Form(detect=detect, items=lambda _: ())
    for name, detect in (("slack-lists", _is_list), ("export-extras", _is_extra), ("html-extras", _is_page))
}
