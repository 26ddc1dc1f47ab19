"""Links (OSC 8) from the places we print to the files: whether a terminal may get them, and URLs. Pure."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import quote

TEMPLATE = "SMARTSEARCH_EDITOR_URL"
"""The environment variable with the URL that opens a file in an editor: `vscode://file{path}:{line}`."""

_UNSAFE = re.compile(r"[^\x21-\x7e]")


def supported(env: Mapping[str, str]) -> bool:
    """Whether a terminal may get links: others leave the sequence out. FORCE_HYPERLINK decides if it is set.

    The console of Linux and GNU screen print it.
    """
    forced = env.get("FORCE_HYPERLINK", "")
    if forced:
        return forced != "0"
    return env.get("TERM", "") not in ("", "dumb", "linux") and not env.get("STY")


def url(path: str, line: int, template: str = "") -> str:
    """The URL of a file, or of the archive it is in: `file://host/path`, or an editor's by its template.

    `{path}` is absolute and percent-encoded, `{line}` 1 where there is no line, `{host}` this machine's name.
    Empty for standard input. No byte of it is outside printable ASCII, whatever the path and the template.
    """
    if path in ("", "-"):
        return ""
    absolute = os.path.abspath(_on_disk(path))  # noqa: PTH100 - links stay as they are
    if os.sep != "/":  # pragma: no cover - Windows
        absolute = "/" + absolute.replace(os.sep, "/")
    values = {
        "{path}": quote(absolute.encode("utf-8", "surrogateescape"), safe="/"),
        "{line}": str(max(line, 1)),
        "{host}": quote(_host(), safe=""),
    }
    made = re.sub(r"\{(path|line|host)\}", lambda m: values[m[0]], template or "file://{host}{path}")
    return _UNSAFE.sub(lambda m: quote(m[0].encode("utf-8", "replace"), safe=""), made)


def link(text: str, target: str) -> str:
    """`text` as a link to `target`; itself where that is empty."""
    return f"\x1b]8;;{target}\x1b\\{text}\x1b]8;;\x1b\\" if target else text


def _on_disk(path: str) -> str:
    if ".zip" not in path.lower():
        return path
    from smartsearch.transcripts.archive import file_of

    return file_of(path)


@lru_cache(maxsize=1)
def _host() -> str:
    return socket.gethostname()
