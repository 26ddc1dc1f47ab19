"""Files that come with an assistant's export and hold no turns, passed over in silence.

A file is one of them by its name and, where the name could be anyone's, by a key that it has.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from smartsearch.transcripts.archive import plain_name
from smartsearch.transcripts.format import Record
from smartsearch.transcripts.source import Source

_KEYS: dict[str, frozenset[str]] = {
    # ChatGPT's export
    "user.json": frozenset({"chatgpt_plus_user"}),
    "user_settings.json": frozenset(),
    "message_feedback.json": frozenset({"rating"}),
    "model_comparisons.json": frozenset(),
    "shared_conversations.json": frozenset({"is_anonymous"}),
    "export_manifest.json": frozenset(),
    "conversation_asset_file_names.json": frozenset(),
    # Claude.ai's export
    "users.json": frozenset({"verified_phone_number", "email_address"}),
    "projects.json": frozenset({"prompt_template", "is_starter_project"}),
    "memories.json": frozenset({"conversations_memory", "project_memories"}),
    # Claude Code's list of its sessions, and Gemini CLI's of what was typed, which its sessions hold too
    "sessions-index.json": frozenset({"entries"}),
    "logs.json": frozenset({"messageId"}),
    # What Cline and its kin keep beside a task: the same talk for the screen, and notes
    "ui_messages.json": frozenset({"say", "ask"}),
    "task_metadata.json": frozenset({"files_in_context", "model_usage"}),
    # What Kimi Code and Grok CLI note of a session beside it
    "state.json": frozenset({"isCustomTitle"}),
    "summary.json": frozenset({"chat_format_version", "num_chat_messages"}),
}


def detect(source: Source) -> bool:
    """Whether a JSON file is one of them; only asked about what no other format claims."""
    keys = _KEYS.get(PurePath(plain_name(source.path)).name)
    if keys is None or not source.json.items:
        return False
    return not keys or any(isinstance(value, dict) and keys & value.keys() for value in source.head())


def read(source: Source) -> Iterator[Record]:  # noqa: ARG001 - the shape of every reader
    """No turns."""
    yield from ()
