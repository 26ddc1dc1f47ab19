"""The agents that can be given `smartsearch mcp`, as one table: where each keeps its servers, and how."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from smartsearch.runtime import xdg
from smartsearch.serve.setup.edits import BEHIND, SERVER, Json, hooked

Shape = Callable[[str, Sequence[str]], Json]
"""An entry, of a command and its arguments."""


def _plain(command: str, words: Sequence[str]) -> Json:
    return {"command": command, "args": list(words)}


def _stdio(command: str, words: Sequence[str]) -> Json:
    return {"type": "stdio", **_plain(command, words)}


def _copilot(command: str, words: Sequence[str]) -> Json:
    return {"type": "local", **_plain(command, words), "tools": ["*"]}


def _opencode(command: str, words: Sequence[str]) -> Json:
    return {"type": "local", "command": [command, *words], "enabled": True}


def _goose(command: str, words: Sequence[str]) -> Json:
    said = {"name": SERVER, "description": "What was said in earlier sessions", "type": "stdio"}
    return {"enabled": True, **said, "cmd": command, "args": list(words), "envs": {}, "timeout": 300}


def _hook(command: str, words: Sequence[str]) -> Json:
    return {"hooks": [{"type": "command", "command": shlex.join([command, *words]) + BEHIND}]}


def words_of(entry: Json) -> list[str]:
    """The command line of an entry of any of these shapes."""
    if command := hooked(entry):
        return shlex.split(command.removesuffix(BEHIND))
    first, rest = entry.get("command", entry.get("cmd")), entry.get("args")
    line = [*(first if isinstance(first, list) else [first]), *(rest if isinstance(rest, list) else [])]
    return [word for word in line if isinstance(word, str)]


class Agent(NamedTuple):
    """An agent, and the `file` in whose `top` key its servers stand.

    `command` starts it, `chats` names its own sessions ("" where none are known); `folder` is a variable of
    the environment, and the folder below the home folder where it is not set. It is given `smartsearch VERB`,
    and where `asked` only if it is named.
    """

    name: str
    title: str
    command: str
    chats: str
    folder: tuple[str, str]
    file: str
    writer: str = "json"
    top: str = "mcpServers"
    shape: Shape = _plain
    verb: str = "mcp"
    asked: bool = False

    @property
    def path(self) -> Path:
        """The path of its configuration, whether it exists or not; ends in .jsonc where only that exists."""
        path = (Path.cwd() if self.folder == HERE else xdg.folder(*self.folder)) / self.file
        other = path.with_name(f"{path.name}c")
        return other if other.exists() and not path.exists() else path

    @property
    def found(self) -> bool:
        """Whether it is on this machine: its configuration, a folder of its own for that, or its command."""
        if self.asked:
            return False
        path = self.path
        own = self.folder != HERE and path.parent != xdg.user_home()
        return path.exists() or (own and path.parent.is_dir()) or shutil.which(self.command) is not None


HERE = ("", ".")
"""The current folder."""
CONFIG = ("XDG_CONFIG_HOME", ".config")
APPS = {"darwin": ("", "Library/Application Support"), "win32": ("APPDATA", "AppData/Roaming")}.get(
    sys.platform, CONFIG
)
"""Where desktop programs keep their configuration."""
CLAUDE = "@claude-code"

AGENTS = (
    Agent(
        *("claude-code", "Claude Code", "claude", CLAUDE, ("CLAUDE_CONFIG_DIR", ""), ".claude.json"),
        shape=_stdio,
    ),
    Agent("project", "Claude Code in this folder", "", CLAUDE, HERE, ".mcp.json", shape=_stdio),
    Agent(
        *(
            "claude-hook",
            "Claude Code's start",
            "",
            CLAUDE,
            ("CLAUDE_CONFIG_DIR", ".claude"),
            "settings.json",
        ),
        *("json hooks", "hooks", _hook, "serve", True),
    ),
    Agent(
        "codex", "Codex", "codex", "@codex", ("CODEX_HOME", ".codex"), "config.toml", "toml", "mcp_servers"
    ),
    Agent("gemini-cli", "Gemini CLI", "gemini", "@gemini-cli", ("", ".gemini"), "settings.json"),
    Agent("cursor", "Cursor", "cursor", "@cursor", ("", ".cursor"), "mcp.json"),
    Agent("vscode", "VS Code", "code", "@copilot", APPS, "Code/User/mcp.json", top="servers", shape=_stdio),
    Agent("claude-desktop", "Claude Desktop", "", "", APPS, "Claude/claude_desktop_config.json"),
    Agent(
        *("opencode", "OpenCode", "opencode", "@opencode", CONFIG, "opencode/opencode.json", "json", "mcp"),
        _opencode,
    ),
    Agent("qwen", "Qwen Code", "qwen", "@qwen", ("", ".qwen"), "settings.json"),
    Agent(
        *("copilot", "Copilot CLI", "copilot", "@copilot", ("COPILOT_HOME", ".copilot"), "mcp-config.json"),
        shape=_copilot,
    ),
    Agent("goose", "Goose", "goose", "", CONFIG, "goose/config.yaml", "yaml", "extensions", _goose),
)
