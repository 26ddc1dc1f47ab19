"""What systems make of transcripts: made once while these are held, and kept in the user's cache.

Each system and choice of files has a folder, `$XDG_CACHE_HOME/smartsearch/systems/NAME-...`, for this user
only. Everything in it can be made again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from smartsearch.ask.scope import Scope
from smartsearch.config import Config
from smartsearch.errors import CacheError
from smartsearch.runtime import private
from smartsearch.systems.base import Plan, quietly
from smartsearch.types import Cost

if TYPE_CHECKING:
    from smartsearch.retrieve.grep import Haystack
    from smartsearch.systems.base import Asking, Memory, Progress, System

_ABOUT = "about.json"
_MEMORIES: WeakKeyDictionary[Haystack, dict[tuple[str, str], Memory]] = WeakKeyDictionary()
"""The memories that systems made of the transcripts in use."""


@dataclass(frozen=True)
class Held:
    """A memory on disk: its system and paths, its size, and its statistics when it was last used.

    An unfinished memory has no statistics. `asked` names the language model and what it cost.
    """

    system: str
    paths: tuple[str, ...]
    statistics: dict[str, float]
    asked: dict[str, Any]
    bytes: int
    folder: Path


def memory(
    system: System, haystack: Haystack, scope: Scope, config: Config, progress: Progress = quietly
) -> Memory:
    """What the system makes of the transcripts; `progress` is called only where there is something to do."""
    held = _MEMORIES.setdefault(haystack, {})
    key = (system.card.name, system.fingerprint)
    if key not in held:
        folder = _made(system, scope, config)
        about = {"system": key[0], "paths": _real(scope), "statistics": {}}
        if folder and not (folder / _ABOUT).exists():  # so that an unfinished one can be listed and removed
            _note(folder, about)
        with _counted(system, folder, config):
            held[key] = made = system.prepare(haystack, folder, progress)
        if folder:
            _note(folder, about | {"statistics": getattr(made, "statistics", {})})
    return held[key]


def plans(system: Asking, haystack: Haystack, scope: Scope, config: Config) -> tuple[Plan, Plan]:
    """What building the memory would send (nothing if it exists), and what a question would send."""
    folder = _folder(system, scope, config)
    making, question = system.plan(haystack, folder if folder and folder.exists() else None, config)
    held = _MEMORIES.get(haystack, {})
    return (Plan() if (system.card.name, system.fingerprint) in held else making), question


def held(systems: str = "") -> list[Held]:
    """The memories on disk, of all systems or one. Raises CacheError where there can be no cache."""
    return [one for one in _all() if systems in ("", one.system)]


def of(name: str, scope: Scope) -> list[Held]:
    """The memories that a system keeps of these paths, whichever of the files below them were asked."""
    return [one for one in held(name) if list(one.paths) == _real(scope)]


def remove(one: Held) -> None:
    """Take a memory off the disk, once no process works on it. Raises CacheError."""
    try:
        with private.alone(one.folder, wait=True):
            shutil.rmtree(one.folder)
    except FileNotFoundError:
        return
    except OSError as error:
        raise CacheError(f"{one.folder} cannot be removed: {error.strerror}") from error


def _all() -> Iterator[Held]:
    for path in sorted(private.home("systems").glob(f"*/{_ABOUT}")):
        with suppress(OSError, ValueError, LookupError, TypeError):
            private.check((path.parent,))
            about = _about(path.parent)
            size = sum(file.stat().st_size for file in path.parent.iterdir())
            facts = tuple(about["paths"]), about["statistics"], about.get("asked", {})
            yield Held(str(about["system"]), *facts, size, path.parent)


def _real(scope: Scope) -> list[str]:
    return sorted({os.path.realpath(path) for path in scope.paths})


def _folder(system: System, scope: Scope, config: Config) -> Path | None:
    """Where this memory is kept; None for nowhere, as where standard input is read.

    A memory that a language model made has a folder of its own.
    """
    if not (system.card.keeps and config.cache_bytes) or "-" in scope.paths:
        return None
    chosen = [_real(scope), scope.globs, scope.excludes, scope.input_format, *(["llm"] if config.llm else [])]
    digest = hashlib.blake2b(json.dumps(chosen).encode(), digest_size=8).hexdigest()
    with suppress(CacheError):
        return private.home("systems") / f"{system.card.name}-{digest}"
    return None


def _made(system: System, scope: Scope, config: Config) -> Path | None:
    """Create that folder; None for no folder, or where it cannot be created."""
    if folder := _folder(system, scope, config):
        try:
            private.make(folder)
        except (CacheError, OSError):
            return None
    return folder


@contextmanager
def _counted(system: System, folder: Path | None, config: Config) -> Iterator[None]:
    """Add what the block spends on a language model to the folder's record, however the block ends."""
    if not config.llm:
        yield
        return
    asker = cast("Asking", system).asker
    before = asker.spent
    try:
        yield
    finally:
        if folder and (cost := (asker.spent - before).cost) != Cost():
            so_far = _about(folder).get("asked", {})
            took = {name: so_far.get(name, 0) + n for name, n in asdict(cost).items()}
            _note(folder, {"asked": {"model": asker.endpoint.model, **took}})


def _about(folder: Path) -> dict[str, Any]:
    """The record of the folder; empty where it cannot be read."""
    try:
        about = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return about if isinstance(about, dict) else {}


def _note(folder: Path, facts: dict[str, Any]) -> None:
    """Add to the folder's record, whole or not at all."""
    part = folder / f"{_ABOUT}.{os.getpid()}"
    with suppress(OSError):
        part.touch(mode=0o600)
        part.write_text(json.dumps(_about(folder) | facts), encoding="utf-8")
        part.replace(folder / _ABOUT)
