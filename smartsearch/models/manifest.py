"""The hashes of the shipped model files: written when they are made, checked by `models verify`."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

SHIPPED = Path(__file__).parent
MANIFEST = SHIPPED / "manifest.json"
FUSION = SHIPPED / "fusion.json"
SET_ENCODER = SHIPPED / "set_encoder.npz"
STATIC = SHIPPED / "static" / "static.npz"
FOLDERS = ("en_smartsearch", "crossencoder", "colbert", "static")

Files = dict[str, dict[str, Any]]
"""By path inside a folder: `sha256` and `bytes`."""


def files(folder: Path) -> Files:
    """SHA-256 and size of every file below `folder`, by its path in there."""
    return {
        str(path.relative_to(folder)): {
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "bytes": path.stat().st_size,
        }
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def write() -> None:
    """Describe the files of the shipped folders in `manifest.json`."""
    table = {name: files(SHIPPED / name) for name in FOLDERS}
    MANIFEST.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n", encoding="utf-8")


@lru_cache(maxsize=1)
def read() -> dict[str, Files]:
    """The shipped files by folder, or an empty table where the manifest is missing."""
    if not MANIFEST.is_file():
        return {}
    table: dict[str, Files] = json.loads(MANIFEST.read_text(encoding="utf-8"))
    return table


def revision(name: str) -> str:
    """The first 12 hex digits of the hash over a shipped folder's hashes, as the manifest has them."""
    listed = json.dumps(read().get(name, {}), sort_keys=True)
    return hashlib.sha256(listed.encode()).hexdigest()[:12]
