"""Our samples of what assistants and coding agents export: invented, in the structure of real files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SAMPLES = Path(__file__).parent / "samples"
FILES = {
    "chatgpt": ["chatgpt/conversations.json"],
    "claude-ai": ["claude-ai/conversations.json"],
    "claude-code": ["claude-code/-home-ines-tidewatch/c7c6eb5c-929e-424e-9668-ed5830ec2ab2.jsonl"],
    "codex": [
        "codex/2025/08/08/rollout-2025-08-08T10-39-10-f4a1c7e2-5b7e-4d43-8f0e-1d2c3b4a5968.jsonl",
        "codex/2025/10/03/rollout-2025-10-03T08-12-00-0199a8c2-77d0-7c11-9a40-5be1f0c4d2aa.jsonl",
    ],
    "gemini-activity": ["gemini-activity/MyActivity.json"],
    "gemini-cli": [
        "gemini-cli/chats/session-2025-12-03T06-35-477f39d0.json",
        "gemini-cli/chats/session-2026-02-01T09-00-5b0c6c2e.jsonl",
    ],
}
EVERY = [(name, file) for name, files in FILES.items() for file in files]


def sample(name: str, number: int = 0) -> Path:
    """A sample file of a format."""
    return SAMPLES / FILES[name][number]


def records(path: Path) -> Any:
    """What a sample holds: its one JSON value, or a list of those on its lines."""
    text = path.read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else json.loads(text)
