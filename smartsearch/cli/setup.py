"""`smartsearch setup`: gives the agents on this machine `smartsearch mcp`, and takes it out again."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from smartsearch.cli.groups import chats_argument
from smartsearch.errors import ExitCode, InputError, SmartsearchError, UsageError
from smartsearch.output import stream
from smartsearch.runtime import extras, xdg

if TYPE_CHECKING:
    from smartsearch.serve.setup.agents import Agent
    from smartsearch.serve.setup.wiring import Step, Wanted

EXAMPLES = """Examples:

smartsearch setup

smartsearch setup ~/notes ~/chats --agent codex --yes

smartsearch setup --remove
"""
PRINTED = {"skill": "skills/smartsearch/SKILL.md", "agents": "AGENTS.md", "plugin": "", "config": ""}
"""What `--print` takes, and where that stands in the plugin."""


def _names() -> list[str]:
    """For a shell's completion."""
    from smartsearch.serve.setup.agents import AGENTS

    return [agent.name for agent in AGENTS]


def setup(
    paths: Annotated[
        list[str] | None, chats_argument("What to search beside an agent's own sessions.", shown=False)
    ] = None,
    agents: Annotated[
        list[str] | None,
        typer.Option(
            "--agent",
            metavar="NAME",
            help="Only this agent (repeatable); `project` is the .mcp.json of this folder, `claude-hook` "
            "has Claude Code start the warm process with each session.",
            autocompletion=_names,
        ),
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take out what setup has put in.")] = False,
    printed: Annotated[
        str,
        typer.Option(
            "--print",
            metavar="|".join(PRINTED),
            help="Write nothing. Print a SKILL.md, lines for AGENTS.md, the folder of a plugin for Claude "
            "Code, or what would stand in each configuration.",
            autocompletion=lambda: list(PRINTED),
        ),
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Write without asking.")] = False,
) -> int:
    """Give the coding agents on this machine a memory: the MCP server over their own sessions.

    Finds Claude Code, Codex, Gemini CLI, Cursor, VS Code, Claude Desktop, OpenCode, Qwen Code, Copilot CLI
    and Goose, shows what it would write into their configurations, asks, and keeps a copy of each beside it.
    A configuration that cannot be read is left alone and named; then, and where an agent of --agent lacks a
    folder to search, the exit code is 2.
    """
    from smartsearch.serve.setup.wiring import NO_CHATS, Wanted, planned

    if printed and printed not in PRINTED:
        raise UsageError(
            f"nothing to print is called {printed!r}", hint=f"--print TEXT, of {', '.join(PRINTED)}"
        )
    if printed and printed != "config":
        return _print(PRINTED[printed])
    if xdg.user_home() == xdg.NOWHERE:
        raise UsageError("there is no home folder to look in: HOME names none", hint="HOME=/home/ann")
    wanted = Wanted(_command(), [_whole(path) for path in paths or ()], remove)
    chosen = _chosen(agents, every=bool(printed), removed=remove)
    if printed:
        return _print_config(chosen, wanted)
    if not remove:
        extras.require("mcp", "setup")
        if "archive-v0" in Path(sys.prefix).parts:
            stream.warn("uvx runs this out of a cache that may be emptied: `uv tool install` it first")
    steps = [planned(agent, wanted) for agent in chosen]
    stream.write(line for step in steps for line in _shown(step))
    if alone := " ".join(f"--agent {step.agent.name}" for step in steps if step.fault):
        stream.talk(
            f"what is left alone: `smartsearch setup --print config {alone}` shows what to write by hand"
        )
    due = [step for step in steps if step.lines]
    if due and not yes:
        if not stream.can_ask():
            raise UsageError("nothing was written: nobody is there to be asked", hint="--yes")
        if not stream.confirm("write this?"):
            stream.talk("nothing was written")
            return ExitCode.FOUND
    sound = [_carried_out(step, wanted) for step in due]
    if any(sound) and not remove:
        stream.talk("start the agents anew; `smartsearch setup --remove` takes it out again")
    failed = any(step.fault or (agents and NO_CHATS in step.said) for step in steps)
    return ExitCode.ERROR if failed or not all(sound) else ExitCode.FOUND


def _carried_out(step: Step, wanted: Wanted) -> bool:
    """Carry out a step and say so; False where it fails."""
    from smartsearch.serve.setup.wiring import carried_out

    try:
        done = carried_out(step, wanted)
    except SmartsearchError as error:
        stream.fail(error, as_json=False)
        return False
    stream.talk(f"{done.agent.title}: {done.said or ('taken out' if wanted.remove else 'set up')}")
    return not done.fault


def _chosen(names: Sequence[str] | None, *, every: bool, removed: bool) -> list[Agent]:
    """The agents that are meant: those named, else those that are here. Raises UsageError."""
    from smartsearch.serve.setup.agents import AGENTS

    known = {agent.name: agent for agent in AGENTS}
    for name in names or ():
        if name not in known:
            raise UsageError(f"no agent is called {name!r}", hint=f"--agent NAME, of {', '.join(known)}")
    found = [known[name] for name in names or ()] or [
        one for one in AGENTS if every or one.found or (removed and one.asked and one.path.exists())
    ]
    if not found:
        hint = f"--agent NAME, of {', '.join(known)}; or --print config"
        raise UsageError("no agent was found on this machine", hint=hint)
    return found


def _command() -> list[str]:
    """What starts smartsearch, by its full path: an agent starts it without a shell."""
    typed = shutil.which(sys.argv[0]) if Path(sys.argv[0]).name.startswith("smartsearch") else None
    return [os.path.abspath(typed)] if typed else [sys.executable, "-m", "smartsearch"]  # noqa: PTH100


def _whole(path: str) -> str:
    """The full path; an @name stays as it is. Raises InputError where nothing is there."""
    from smartsearch.transcripts.named import resolved

    if path.startswith("@"):
        resolved([path])
        return path
    full = Path(path).expanduser().absolute()
    if not full.exists():
        raise InputError(f"no such file or folder: {path}", hint="a folder of chats", kind="path_not_found")
    return os.path.normpath(full)


def _shown(step: Step) -> list[str]:
    said = f": {step.said}" if step.said else ""
    return [f"{step.agent.title}  {step.path}{said}", *(f"  {line}" for line in step.lines)]


def _print_config(agents: Sequence[Agent], wanted: Wanted) -> int:
    """Print what to write by hand: each configuration as it would be with our server alone."""
    from smartsearch.serve.setup.edits import WRITERS

    for agent in agents:
        words = [*wanted.command[1:], agent.verb, *filter(None, [agent.chats, *wanted.paths])]
        put = WRITERS[agent.writer].put("", agent.top, agent.shape(wanted.command[0], words))
        stream.write([f"# {agent.title}: {agent.path}", *put.text.splitlines(), ""])
    return ExitCode.FOUND


def _print(inside: str) -> int:
    """Print what the package brings for agents; of the plugin its folder."""
    plugin = files("smartsearch.serve.setup") / "plugin"
    file = plugin / inside
    stream.write(file.read_text(encoding="utf-8").splitlines() if inside else [str(plugin)])
    return ExitCode.FOUND
