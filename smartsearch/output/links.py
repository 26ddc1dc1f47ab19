"""Links (OSC 8) from the places we print to the files: whether the terminal has them, and the URL. Pure.

Each terminal's documentation says how to recognise it; other terminals ignore the sequence or are left out.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import quote

TEMPLATE = "SMARTSEARCH_EDITOR_URL"
"""The environment variable with the URL that opens a file in an editor: `vscode://file{path}:{line}`."""

_PROGRAMS = frozenset(
    ("iterm.app", "wezterm", "vscode", "hyper", "ghostty", "rio", "tabby", "warpterminal", "mintty", "zed")
)
_TERMS = ("xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm", "contour", "rio")
_MARKS = ("KITTY_WINDOW_ID", "WEZTERM_EXECUTABLE", "WT_SESSION", "DOMTERM", "ALACRITTY_WINDOW_ID")
_VTE = 5001  # 0.50.0 crashed on a link
_KONSOLE = 201200
_TMUX = (3, 4)
_UNSAFE = re.compile(r"[^\x21-\x7e]")


def supported(env: Mapping[str, str]) -> bool:
    """Whether the terminal that `env` describes shows links; FORCE_HYPERLINK overrules the guess."""
    forced = env.get("FORCE_HYPERLINK", "")
    if forced:
        return forced != "0"
    term, program = env.get("TERM", ""), env.get("TERM_PROGRAM", "").lower()
    if term in ("", "dumb", "linux") or env.get("STY"):
        return False
    if program == "tmux" or env.get("TMUX"):
        return program == "tmux" and _version(env.get("TERM_PROGRAM_VERSION", "")) >= _TMUX
    return (
        program in _PROGRAMS
        or term.startswith(_TERMS)
        or any(env.get(name) for name in _MARKS)
        or _number(env.get("VTE_VERSION", "")) >= _VTE
        or _number(env.get("KONSOLE_VERSION", "")) >= _KONSOLE
    )


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
    if os.path.lexists(path):
        return path
    from smartsearch.transcripts.archive import file_of

    return file_of(path)


@lru_cache(maxsize=1)
def _host() -> str:
    return socket.gethostname()


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and text.isascii() else 0


def _version(text: str) -> tuple[int, ...]:
    """`3.4a` as (3, 4); a version without a number (tmux's main branch) counts as the newest."""
    numbers = re.findall(r"\d+", text)[:2]
    return tuple(map(int, numbers)) if numbers else (99,)
