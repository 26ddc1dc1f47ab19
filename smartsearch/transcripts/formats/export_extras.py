"""Files that come with an export and hold no turns, but names at most: passed over in silence.

A file is one of them by its name and, where the name could be anyone's, by a key that it has.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from smartsearch.transcripts.archive import plain_name
from smartsearch.transcripts.format import Record
from smartsearch.transcripts.source import Source

_KEYS: dict[str, frozenset[str]] = {
    # ChatGPT's export, DeepSeek's and Discord's
    "user.json": frozenset({"chatgpt_plus_user", "discriminator", "mobile"}),
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
    # Grok's export
    "prod-mc-auth-mgmt-api.json": frozenset(),
    "prod-mc-billing.json": frozenset(),
    # Claude Code's list of its sessions, and Gemini CLI's of what was typed, which its sessions hold too
    "sessions-index.json": frozenset({"entries"}),
    "logs.json": frozenset({"messageId"}),
    # Google Chat's, Zulip's and Discord's names of people and channels
    "group_info.json": frozenset({"members"}),
    "user_info.json": frozenset({"membership_info"}),
    "realm.json": frozenset({"zerver_realm"}),
    "channel.json": frozenset({"guild", "recipients", "type"}),
}


def detect(source: Source) -> bool:
    """Whether a JSON file is one of them; only asked about what no other format claims."""
    name = PurePath(plain_name(source.path)).name
    if name == "index.json":
        return _is_index(source.head(1))
    keys = _KEYS.get(name)
    if keys is None or not source.json.items:
        return False
    return not keys or any(isinstance(value, dict) and keys & value.keys() for value in source.head())


def _is_index(values: list[object]) -> bool:
    """Whether a file's first value has the names of Discord's channels by their ids of 17 and more digits."""
    found = values[0] if values else None
    if not isinstance(found, dict) or not found:
        return False
    return all(len(str(key)) >= 17 and str(key).isdecimal() for key in list(found)[:20])


def read(source: Source) -> Iterator[Record]:  # noqa: ARG001 - the shape of every reader
    """No turns."""
    yield from ()
