"""The hashes of the shipped model files: written when they are made, checked by `models verify`."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path

SHIPPED = Path(__file__).parent
MANIFEST = SHIPPED / "manifest.json"
FOLDERS = ("en_smartsearch", "crossencoder", "colbert")

Hashes = dict[str, str]


def hashes(folder: Path) -> Hashes:
    """SHA-256 of every file below `folder`, by its path in there."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(f.relative_to(folder)): hashlib.sha256(f.read_bytes()).hexdigest() for f in files}


def write() -> dict[str, Hashes]:
    """Hash the shipped folders into `manifest.json`; returns what was written."""
    table = {name: hashes(SHIPPED / name) for name in FOLDERS}
    MANIFEST.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return table


@lru_cache(maxsize=1)
def read() -> dict[str, Hashes]:
    """The shipped hashes by folder, or an empty table where the manifest is missing."""
    if not MANIFEST.is_file():
        return {}
    table: dict[str, Hashes] = json.loads(MANIFEST.read_text(encoding="utf-8"))
    return table


def revision(name: str) -> str:
    """The first 12 hex digits of the hash over a shipped folder's hashes, as the manifest has them."""
    listed = json.dumps(read().get(name, {}), sort_keys=True)
    return hashlib.sha256(listed.encode()).hexdigest()[:12]
