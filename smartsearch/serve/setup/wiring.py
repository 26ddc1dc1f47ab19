"""What is to be done to each agent's configuration: planned first, and read again before it is written."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import shorten

from smartsearch.runtime.outputs import Place, telling
from smartsearch.serve.setup.agents import Agent, words_of
from smartsearch.serve.setup.edits import SERVER, WRITERS, Edit, Json

BACKUP = ".before-smartsearch"
"""The end of the name of a configuration as it was, beside it."""
NO_CHATS = "keeps no sessions that can be read here: name a folder"


@dataclass(frozen=True)
class Wanted:
    """The server's command, and the paths it serves beside an agent's own sessions; or its removal."""

    command: Sequence[str]
    paths: Sequence[str] = ()
    remove: bool = False


@dataclass(frozen=True)
class Step:
    """The change to one configuration: `text` is its new content, None where the file goes.

    `lines` shows the change with `-` and `+`; it is empty where nothing is done, and `said` tells why.
    `fault`: the file cannot be changed. `first`: a copy is to be kept.
    """

    agent: Agent
    path: Path
    said: str = ""
    fault: bool = False
    lines: tuple[str, ...] = ()
    text: str | None = None
    first: bool = False


def planned(agent: Agent, wanted: Wanted) -> Step:
    """What is to be done to an agent's configuration; nothing is written."""
    path = agent.path
    try:
        return _planned(Step(agent, path), _text(path) or "", wanted)
    except (ValueError, RecursionError, OSError) as error:
        why = shorten(str(error), 100, placeholder=" ...") or type(error).__name__
        kind = agent.writer.split()[0].upper()
        return Step(agent, path, f"left alone, not read as {kind}: {why}", fault=True)


def _planned(step: Step, now: str, wanted: Wanted) -> Step:
    agent, writer = step.agent, WRITERS[step.agent.writer]
    value = writer.read(now)
    servers = _servers(value, agent.top)
    held = servers.get(SERVER)
    kept = words_of(held) if isinstance(held, dict) else []
    ours = agent.verb in kept and any("smartsearch" in Path(word).name for word in kept)
    if held is not None and not ours:
        return replace(step, said=f"left alone: another server is called {SERVER} there", fault=True)
    if wanted.remove:
        return _without(step, now, held) if held else replace(step, said="not set up")
    named = [word for word in (agent.chats, *wanted.paths) if word]
    words = kept[kept.index(agent.verb) :] if kept and not wanted.paths else [agent.verb, *named]
    if words == [agent.verb]:
        return replace(step, said=f"{NO_CHATS}, as in `smartsearch setup --agent {agent.name} ~/chats`")
    entry = {**(held or {}), **agent.shape(wanted.command[0], [*wanted.command[1:], *words])}
    if entry == held:
        return replace(step, said="set up already")
    drop = writer.drop(now, agent.top, False) if held else Edit(0, 0)
    put = writer.put(drop.of(now), agent.top, entry)
    meant = {**value, agent.top: {**servers, SERVER: entry}}
    lines = (*_marked("-", now[drop.start : drop.end]), *_marked("+", put.text))
    known = held and (_backup(step.path).exists() or now == writer.put("", agent.top, held).of(""))
    return replace(_checked(step, put.of(drop.of(now)), meant), lines=lines, first=not known)


def _without(step: Step, now: str, held: Json) -> Step:
    agent, writer = step.agent, WRITERS[step.agent.writer]
    former = _text(_backup(step.path))
    drop = writer.drop(now, agent.top, False)
    step = replace(step, lines=_marked("-", now[drop.start : drop.end]))
    with contextlib.suppress(ValueError):  # to the byte, where nothing else has changed since
        if writer.put(former or "", agent.top, held).of(former or "") == now:
            return replace(step, text=former)
    value = writer.read(now)
    others = {name: one for name, one in value[agent.top].items() if name != SERVER}
    if former is not None and not others and agent.top not in writer.read(former):
        drop = writer.drop(now, agent.top, True)
    return _checked(step, drop.of(now), {**value, agent.top: others})


def _checked(step: Step, text: str, meant: Json) -> Step:
    """The step with its new text. Raises ValueError unless the text reads as what is meant."""
    top = step.agent.top
    said = WRITERS[step.agent.writer].read(text)
    if {**said, top: _servers(said, top)} != meant:
        raise ValueError("it is laid out in a way that is not known here")
    return replace(step, text=text)


def carried_out(step: Step, wanted: Wanted) -> Step:
    """Do what is planned, to the configuration as it is now. Raises SmartsearchError."""
    path = step.path
    with telling(path, "another file there, or rights"), contextlib.ExitStack() as unless_done:
        path.parent.mkdir(parents=True, exist_ok=True)
        place = Place(path, overwrite=True, hint="try again")
        step = planned(step.agent, wanted)
        if not step.lines:
            return step
        if step.first:
            _keep(path)
            unless_done.callback(_backup(path).unlink, missing_ok=True)
        if step.text is None:
            place.path.unlink()
        else:
            place.put(step.text.encode("utf-8"))
        unless_done.pop_all()
        if wanted.remove:
            _backup(path).unlink(missing_ok=True)
    return step


def _keep(path: Path) -> None:
    """Keep the configuration under a second name: a new file takes the first."""
    backup, real = _backup(path), os.path.realpath(path)
    backup.unlink(missing_ok=True)
    if path.exists():
        try:
            os.link(real, backup)
        except OSError:  # a file system without such links
            shutil.copy2(real, backup)


def _backup(path: Path) -> Path:
    return path.with_name(path.name + BACKUP)


def _text(path: Path) -> str | None:
    return path.read_bytes().decode("utf-8") if path.exists() else None


def _marked(mark: str, text: str) -> tuple[str, ...]:
    return tuple(f"{mark} {line}".rstrip() for line in text.splitlines() if line.strip())


def _servers(value: object, top: str) -> Json:
    """What stands below the top key, which may be missing. Raises ValueError for anything but objects."""
    servers = (value.get(top) or {}) if isinstance(value, dict) else None
    if not isinstance(servers, dict):
        raise ValueError(f"{top} is no object")  # noqa: TRY004 - of a file, not of a program
    return servers
