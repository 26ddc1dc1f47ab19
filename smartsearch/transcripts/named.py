"""Chats by a name: `@codex` for where Codex keeps its sessions, `@family` for folders of the user's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from smartsearch.config import chats, user_file
from smartsearch.errors import InputError, listed
from smartsearch.runtime.xdg import user_home

ALL = "all"
_SETTINGS = ("~/.config", "~/Library/Application Support", "~/AppData/Roaming")
"""Where editors keep theirs, on Linux, macOS and Windows."""
KNOWN = {
    "claude-code": ("~/.claude/projects", "~/.config/claude/projects"),
    "codex": ("~/.codex/sessions", "~/.codex/archived_sessions"),
    "gemini-cli": ("~/.gemini/tmp/*/chats",),
    "copilot": (
        "~/.copilot/session-state",
        *(f"{folder}/Code/User/workspaceStorage/*/chatSessions" for folder in _SETTINGS),
    ),
    "cursor": (
        "~/.cursor/projects/*/agent-transcripts",
        *(f"{folder}/Cursor/User/globalStorage/state.vscdb" for folder in _SETTINGS),
    ),
    "opencode": ("~/.local/share/opencode/opencode.db",),
    "qwen": ("~/.qwen/projects/*/chats", "~/.qwen/tmp/*/chats"),
    "pi": ("~/.pi/agent/sessions",),
    "droid": ("~/.factory/sessions",),
    "kimi": ("~/.kimi-code/sessions",),
    "amp": ("~/.local/share/amp/threads",),
    "grok": ("~/.grok/sessions",),
    "cline": tuple(
        f"{folder}/Code/User/globalStorage/{name}/tasks"
        for folder in _SETTINGS
        for name in ("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline")
    ),
    "irc": (
        *("~/irclogs", "~/.local/share/weechat/logs", "~/.weechat/logs", "~/.config/hexchat/logs"),
        "~/.znc/users/*/moddata/log",
    ),
    "imessage": ("~/imessage_export",),
}
"""Where programs whose files are understood keep them; a star is any folder."""


@dataclass(frozen=True)
class Named:
    """A name, the folders and files it stands for as written, and their paths."""

    name: str
    written: tuple[str, ...]
    paths: tuple[str, ...]

    @property
    def there(self) -> tuple[str, ...]:
        """The paths that exist."""
        return tuple(path for path in self.paths if Path(path).exists())


def every() -> list[Named]:
    """Every name, known ones first; the user's own take the place of known ones. Raises ConfigError."""
    home = user_home()
    known = {
        name: Named(name, written, tuple(str(p) for one in written for p in sorted(home.glob(one[2:]))))
        for name, written in KNOWN.items()
    }
    own = {
        name: Named(name, written, tuple(one.replace("~", str(home), 1) for one in written))
        for name, written in chats().items()
    }
    return list((known | own).values())


def resolved(paths: Sequence[str]) -> tuple[str, ...]:
    """The paths, with what a name stands for in the place of each `@name`; `@all` is all that exists.

    Raises InputError `unknown_chats` for no such name, and `path_not_found` where nothing of it exists.
    """
    if not any(path.startswith("@") for path in paths):
        return tuple(paths)
    names = {named.name: named for named in every()}
    return tuple(
        found
        for path in paths
        for found in (_stood_for(path[1:], names) if path.startswith("@") else (path,))
    )


def _stood_for(name: str, names: Mapping[str, Named]) -> tuple[str, ...]:
    if name == ALL:
        found = tuple(dict.fromkeys(path for named in names.values() for path in named.there))
        missing = "no chats are where their programs keep them"
    elif name in names:
        found = names[name].paths if names[name].there else ()
        missing = f"nothing is where @{name} leads: {', '.join(names[name].written)}"
    else:
        near = get_close_matches(name, [*names, ALL], n=1, cutoff=0.6)
        known = ", ".join(f"@{one}" for one in [*names, ALL])
        hint = f"{f'did you mean @{near[0]}? ' if near else ''}known: {known}; your own go below [chats] in "
        hint += (
            f'{user_file()}, a line each: family = "~/Chats/family"; a path that begins with @ is ./@{name}'
        )
        raise InputError(listed(f"no chats are called @{name}"), hint=hint, kind="unknown_chats")
    if not found:
        hint = "`smartsearch formats places` lists the names and what is there"
        raise InputError(missing, hint=hint, kind="path_not_found")
    return found
