"""Writes docs/smartsearch.1 from the commands themselves; a test keeps them equal."""

# ruff: noqa: E501 - running text

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import typer

sys.path.insert(0, str(Path(__file__).parent))

from generate_cli import default, flags, parameters, placeholder

from smartsearch import __version__
from smartsearch.cli.app import COMMANDS, application
from smartsearch.cli.options import PANELS

TARGET = Path(__file__).parent / "smartsearch.1"

HEAD = """.\\" Written by docs/generate_man.py from the commands; a test compares it.
.TH SMARTSEARCH 1 "" "smartsearch {version}" "User Commands"
.SH NAME
smartsearch \\- find the few turns in raw chat transcripts that answer a question
.SH SYNOPSIS
.B smartsearch
.I COMMAND
.RI [ OPTIONS ]
.RI [ ARGUMENTS ]
.SH DESCRIPTION
A question and a pile of chat transcripts go in; the turns that hold the answer come out, verbatim, ranked and cut to a
budget. Nothing has to be built first: no index, no language model, no network. Words and names of the question are
looked for in every turn, names that turn up lead to further turns, and two small models rank what was found.
.PP
.nf
smartsearch query "When did Caroline join the support group?" chats/
.fi
.SH COMMANDS
"""

TAIL = """.SH ENVIRONMENT
.TP
.B SMARTSEARCH_\\fINAME\\fR
A setting, for every option of the panels Budget, Retrieval, Ranking and Run, with an underscore for a dash.
.B smartsearch config show
lists them and where each value came from.
.TP
.B SMARTSEARCH_DEBUG
Show the traceback of an error.
.TP
.BR NO_COLOR ", " CLICOLOR ", " CLICOLOR_FORCE ", " TERM
Whether output is coloured.
.TP
.BR XDG_CONFIG_HOME ", " XDG_CACHE_HOME ", " XDG_DATA_HOME ", " XDG_RUNTIME_DIR
Where settings, caches, trained profiles and the socket of the warm process lie.
.SH FILES
.TP
.I ~/.config/smartsearch/config.toml
The user's settings.
.TP
.I .smartsearch.toml
Settings of a folder; it may not name models, caches or processes.
.TP
.I ~/.cache/smartsearch
Vectors of turns and indexes, for this user only.
.SH EXIT STATUS
.TP
.B 0
Found; a closed pipe counts as success.
.TP
.B 1
Nothing found.
.TP
.B 2
An error. With JSON asked for, a record on standard output tells its kind.
.TP
.B 130
Interrupted.
.SH SEE ALSO
.BR grep (1),
.BR rg (1),
.BR fzf (1),
.BR jq (1)
"""


def page() -> str:
    """The text of docs/smartsearch.1."""
    body = [HEAD.format(version=__version__)]
    app = application([], whole=True)
    for name in COMMANDS:
        body += section(app, name)
    return "".join(body) + TAIL


def section(app: typer.Typer, name: str) -> Iterator[str]:
    """A command with its arguments, options and examples; a group with its commands."""
    for info in app.registered_commands:
        if (info.name or info.callback.__name__) == name:
            yield from command(f"smartsearch {name}", info.callback, info.epilog or "")
    for group in app.registered_groups:
        if group.name == name:
            alone = group.typer_instance.registered_callback
            if alone and any(p.annotation is not typer.Context for p in parameters(alone.callback)):
                yield from command(f"smartsearch {name}", alone.callback, "")
            for info in group.typer_instance.registered_commands:
                inner = info.name or info.callback.__name__
                yield from command(f"smartsearch {name} {inner}", info.callback, info.epilog or "")


def command(path: str, function: Callable[..., Any], epilog: str) -> Iterator[str]:
    declared = [(p, *get_args(p.annotation)) for p in parameters(function) if get_args(p.annotation)]
    arguments = [d for d in declared if type(d[2]).__name__ == "ArgumentInfo"]
    options = [d for d in declared if d not in arguments]
    usage = " ".join([path, *(["[OPTIONS]"] if options else []), *map(placeholder, arguments)])
    yield f".SS {text(usage)}\n{prose(inspect.cleandoc(function.__doc__ or ''))}\n"
    for d in arguments:
        yield f".TP\n.I {text(placeholder(d))}\n{text(d[2].help)}{told(default(d))}\n"
    for panel in (None, *PANELS):
        for d in options:
            if d[2].rich_help_panel == panel:
                names = plain(flags(d))
                yield f".TP\n.B {text(names)}\n{text(d[2].help)}{told(default(d))}\n"
    examples = [line for line in epilog.splitlines() if line.startswith(("smartsearch", "cat"))]
    if examples:
        yield ".PP\n.nf\n" + "\n".join(map(text, examples)) + "\n.fi\n"


def told(shown: str) -> str:
    return f" Default: {text(shown)}." if shown and shown != "required" else ""


def plain(markdown: str) -> str:
    return markdown.replace("`", "").replace("\\|", "|").replace("\\[", "[")


def text(said: str) -> str:
    """`said` as roff: backslashes, dashes and a leading dot or quote escaped."""
    escaped = plain(said).replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(f"\\&{line}" if line[:1] in (".", "'") else line for line in escaped.split("\n"))


def prose(said: str) -> str:
    """Paragraphs; what is indented stays as it is."""
    parts = re.split(r"\n\s*\n", said)
    return "\n.PP\n".join(text(part) for part in parts)


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
