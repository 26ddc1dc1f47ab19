"""Records where a result comes from: code, machine, models, settings, command."""

from __future__ import annotations

import dataclasses
import datetime
import os
import platform
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import smartsearch
from smartsearch.config import FIELDS, Config
from smartsearch.types import ModelInfo

_SOURCE = Path(smartsearch.__file__).parents[1]


def receipt(command: Sequence[str], config: Config, models: Mapping[str, ModelInfo]) -> dict[str, Any]:
    """Version, commit, date, command, machine, threads, models, and settings other than the defaults."""
    plain = Config()
    values = {name: (getattr(config, name), getattr(plain, name)) for name in FIELDS}
    changed = {name: value for name, (value, default) in values.items() if value != default}
    commit = _git("rev-parse", "HEAD")
    return {
        "version": smartsearch.__version__,
        "commit": commit,
        "dirty": bool(commit and _git("status", "--porcelain", "--untracked-files=no")),
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "command": shlex.join(command),
        "machine": machine(),
        "threads": config.cores,
        "profile": config.profile,
        "models": [dataclasses.asdict(model) for model in models.values()],
        "config": changed,
    }


def machine() -> dict[str, Any]:
    """This machine: processor, cores this process may use, memory, Python, system."""
    return {
        "cpu": _processor(),
        "cores": Config().cores,
        "memory_gib": _memory(),
        "python": platform.python_version(),
        "system": platform.platform(terse=True),
    }


def _git(*words: str) -> str:
    """git's output for the checkout this package runs from; empty if it is installed."""
    if not (_SOURCE / ".git").exists():
        return ""
    try:
        said = subprocess.run(["git", "-C", str(_SOURCE), *words], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return said.stdout.strip()


def _processor() -> str:
    listed = Path("/proc/cpuinfo")
    for line in listed.read_text(encoding="utf-8").splitlines() if listed.is_file() else ():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _memory() -> float | None:
    if not hasattr(os, "sysconf") or "SC_PHYS_PAGES" not in os.sysconf_names:
        return None
    return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1)
