"""The warm process that a question at a terminal leaves behind: whether it does, and what is read first.

It holds little, and ends as every warm process does. It keeps the usual priority: a lower one cannot be
raised again, and on a busy machine its answers came no sooner than a cold search.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

from smartsearch.config import Config
from smartsearch.errors import SmartsearchError
from smartsearch.runtime import private, xdg
from smartsearch.serve.warm import client, place, wire
from smartsearch.serve.warm.wire import Request

BYTES = 400 * 10**6
"""The memory that it may hold."""
TOLD = (
    "a process stays behind, so that the next questions are faster, until it is idle for 15 minutes; "
    "400 MB at most. `smartsearch serve --stop` ends it, SMARTSEARCH_DAEMON=never starts none (told once)"
)


def wanted(asked: Request, env: Mapping[str, str] = os.environ) -> bool:
    """Whether a question leaves one behind: a person asked it at a terminal, and the next may need models."""
    config = asked.config
    models = config.system == Config.system and config.rank and config.cache and "-" not in asked.scope.paths
    if config.daemon != "auto" or not models or not place.supported():
        return False
    person = sys.stdin.isatty() and sys.stdout.isatty() and not env.get("CI")
    return person and _at_home(env)


def _at_home(env: Mapping[str, str]) -> bool:
    """Whether this process is of the user whose home it has, not another's by sudo or su."""
    if env.get("SUDO_UID") or env.get("DOAS_USER") or os.getuid() != os.geteuid():
        return False
    with suppress(OSError):
        return xdg.user_home().stat().st_uid == os.geteuid()
    return False


def leave(asked: Request, tell: Callable[[str], object] | None) -> None:
    """Leave one behind that reads ahead what was asked, unless one of this installation is there.

    `tell` is told so, once ever; where it cannot be told, none is left. Nothing is raised.
    """
    with suppress(OSError, SmartsearchError, client.NotWarm):
        if any(about.get("install") == place.install() for _, about in place.running()):
            return
        told = private.home("warm") / "told" / "once"
        news = not told.exists()
        if news:
            if tell is None or not sys.stderr.isatty():
                return
            private.make(told.parent)
            with suppress(FileExistsError):  # another terminal says it
                news = False
                os.close(os.open(told, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
                news = True
        try:
            spot = place.place(asked.config, make=True)
            client.launch(spot, asked.config, client.here(replace(asked, question="")))
        except BaseException:
            if news:
                told.unlink()
            raise
        if news and tell is not None:
            tell(TOLD)


def question() -> Request | None:
    """The question that left this process behind; None for one that a command waits for."""
    with suppress(OSError, ValueError):
        left = wire.unpacked(sys.stdin.buffer.read(wire.REQUEST_BYTES))
        return left if isinstance(left, Request) else None
    return None
