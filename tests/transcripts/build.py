"""Tiny transcripts for the tests of the readers."""

from __future__ import annotations

import io
import json
import zipfile
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


def zipped(path: Path, files: dict[str, str | bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name, content)
    return path


MAIN = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
COMPATIBLE = "http://schemas.openxmlformats.org/markup-compatibility/2006"


def document(
    body: str, *, head: str = "", part: str = "word/document.xml", packed: int = zipfile.ZIP_STORED
) -> bytes:
    """A document of Word's with this XML as its body."""
    xml = f'{head}<w:document xmlns:w="{MAIN}" xmlns:mc="{COMPATIBLE}"><w:body>{body}</w:body></w:document>'
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", packed) as parts:
        parts.writestr(part, xml)
    return made.getvalue()


def said(read_back: Corpus) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in read_back.turns]


def lines(*values: Any) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)
