"""Tiny transcripts for the tests of the readers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from smartsearch.transcripts import read
from smartsearch.types import Corpus


def corpus(folder: Path, name: str, content: Any) -> Corpus:
    """`content` written to a file (JSON unless text or bytes) and read back."""
    return read([str(put(folder, name, content))])


def put(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8", newline="")
    return path


def said(read_back: Corpus) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in read_back.turns]


def lines(*values: Any) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)
