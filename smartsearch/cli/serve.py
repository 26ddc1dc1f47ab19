"""`smartsearch serve`: start the warm process in the foreground, say which run, end them."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from smartsearch.cli.groups import chats_argument
from smartsearch.cli.options import ModelOptions, Settings
from smartsearch.config import Config
from smartsearch.errors import ExitCode, UsageError
from smartsearch.output import show, stream

if TYPE_CHECKING:
    from smartsearch.serve.warm.place import Spot
    from smartsearch.serve.warm.wire import Request

EXAMPLES = """Examples:

smartsearch serve --idle 3600

smartsearch serve --status

smartsearch serve --stop
"""
NEWEST_BYTES = 4 << 20
"""Of the newest files that are read ahead before the first question."""
ENDING = 15.0
"""Seconds that a warm process is given to finish before it is killed."""


class ServeOptions(Settings):
    """Which system to be ready for, and which models run and how."""

    names = ("system", *(name for name in ModelOptions.names if "llm" not in name))


def serve(
    paths: Annotated[
        list[str] | None,
        chats_argument("Read the newest of these files ahead at once, up to 4 MiB.", shown=False),
    ] = None,
    idle: Annotated[
        float,
        typer.Option(
            "--idle", min=0, metavar="SECONDS", help="End after this long without a question; 0: never."
        ),
    ] = 900.0,
    status: Annotated[
        bool, typer.Option("--status", help="Say which of your warm processes run; 1 if none does.")
    ] = False,
    stop: Annotated[
        bool, typer.Option("--stop", help="End the warm processes of this installation; 1 if none runs.")
    ] = False,
    every: Annotated[
        bool,
        typer.Option("--all", help="With --stop: list all of yours, other installations' too, and end them."),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="With --status: as JSON.")] = False,
    *,
    search: ServeOptions,
) -> int:
    """Keep the models in memory and answer for `query`, until no question comes any more.

    It answers for every --system; what the one named here needs is loaded at once, the rest when asked for.

    `query` of the same version and models finds this process by itself. It says `ready` on standard error
    when the models are loaded; Ctrl-C ends it. Between questions it reads ahead the turns of the transcripts
    asked last, with half a core, so that later questions need not; `smartsearch cache` keeps what is read.
    """
    from smartsearch.serve.warm import place

    if not place.supported():
        raise UsageError("serve needs Unix sockets, which this system has not", hint="query without it")
    if status and stop:
        raise UsageError("--status and --stop are two things", hint="give one of them")
    if status:
        return _status(as_json=json)
    if every and not stop:
        raise UsageError("--all goes with --stop", hint="smartsearch serve --stop --all")
    if stop:
        return stop_all(others=every)
    config = search.config()
    if config.llm:
        raise UsageError("the warm process asks no language model", hint="query --llm needs none")
    _serve(config, idle, _newest(paths, config) if paths else None)
    return ExitCode.FOUND


def _newest(paths: Sequence[str], config: Config) -> Request:
    """A question over the newest files of `paths`. Raises InputError where nothing is there."""
    from smartsearch.ask.scope import Written
    from smartsearch.serve.warm import client, wire
    from smartsearch.transcripts.archive import file_of
    from smartsearch.transcripts.files import find, size

    scope = Written().scope(paths, config)
    files = [file for file in find(scope.paths) if isinstance(file, str)]
    files.sort(key=lambda file: Path(file_of(file)).stat().st_mtime, reverse=True)
    few = sum(total <= NEWEST_BYTES for total in accumulate(map(size, files)))
    return client.here(wire.Request("", replace(scope, paths=tuple(files[: few or 1])), config))


def _serve(config: Config, idle: float, ahead: Request | None) -> None:
    from smartsearch.serve.warm import place, spare

    os.umask(0o077)
    spot = place.place(config, make=True)
    wanted = os.environ.pop(place.WANTED, "")
    if wanted not in ("", str(spot.socket)):  # the folder was removed: no command would find this process
        raise UsageError(f"{wanted} cannot be made any more", hint="start it again", kind="output")
    try:
        lock = place.hold(spot.lock, place.about(config, os.getpid()))
    except OSError as error:
        raise UsageError(f"{spot.lock}: {error.strerror}", hint="room on that disk", kind="output") from error
    if lock is None:
        pid = (place.holder(spot.lock) or {}).get("pid", "?")
        raise UsageError(
            f"a warm process with these models runs already, pid {pid}", hint="smartsearch serve --stop"
        )
    left = spare.question() if wanted else None
    from smartsearch import systems
    from smartsearch.models import loading
    from smartsearch.serve.models import Models
    from smartsearch.serve.warm import server

    models = Models(config, loading.load_tools)
    systems.load(config, models)
    files = server.Files(config)
    os.chdir("/")
    serving = server.Server(config, models, files.changed, most=spare.BYTES if left else 0)
    serving.heed_signals()
    if (first := left or ahead) and not serving.look(first):
        return
    with _listening(spot) as listener:
        until = f"ends after {idle:g} s without a question" if idle else "ends with Ctrl-C"
        stream.talk(f"ready: profile {config.profile}, pid {os.getpid()}, {until}, {spot.socket}")
        serving.run(listener, idle)
    serving.finish()


@contextmanager
def _listening(spot: Spot) -> Iterator[socket.socket]:
    """The socket that commands find: replaces a dead one, and is removed at the end if it is still ours."""
    spot.socket.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(spot.socket))
        own = spot.socket.lstat()
        try:
            spot.socket.chmod(0o600)
            listener.listen(64)
            yield listener
        finally:
            if spot.socket.exists() and os.path.samestat(own, spot.socket.lstat()):
                spot.socket.unlink()
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits for commands


def _status(*, as_json: bool) -> int:
    from smartsearch.serve.warm import client, place

    rows: list[dict[str, object]] = []
    for spot, about in place.running():
        told = client.status(spot.socket) if spot.socket.exists() else {"state": "loading"}
        known = told or {"state": "silent"}
        since = about.get("since")
        rows.append(
            {
                "pid": about.get("pid"),
                "state": known.get("state"),
                "profile": about.get("profile"),
                "version": about.get("version"),
                "since": datetime.fromtimestamp(since).astimezone().isoformat(timespec="seconds")
                if isinstance(since, int | float)
                else None,
                "served": known.get("served"),
                "rss_bytes": known.get("rss_bytes"),
            }
        )
    show.table("servers", rows, as_json=as_json)
    if not rows:
        stream.talk("no warm process runs")
    return ExitCode.FOUND if rows else ExitCode.NOTHING


def stop_all(*, others: bool = False) -> int:
    """End this user's warm processes of this installation, kill those that hang; the exit code.

    With `others` those of other installations too, after a list of all.
    """
    from smartsearch.serve.warm import place

    running = place.running()
    own = [one for one in running if others or one[1].get("install") == place.install()]
    for _, about in running if others else ():
        told = [f"{name} {about.get(name) or '?'}" for name in ("pid", "version", "profile", "install")]
        stream.talk(", ".join(told))
    for spot, about in own:
        pid = about.get("pid")
        if isinstance(pid, int) and pid > 1:
            how = "ended" if _ended(spot, pid, signal.SIGTERM, ENDING) else "killed"
            if how == "killed":
                _ended(spot, pid, signal.SIGKILL, 5.0)
            stream.talk(f"{how} pid {pid}")
    left = len(running) - len(own)
    if not own:
        stream.talk("no warm process runs" + (" of this installation" if left else ""))
    if left:
        stream.talk(f"{left} of another installation: `smartsearch serve --stop --all` ends all of yours")
    return ExitCode.FOUND if own else ExitCode.NOTHING


def _ended(spot: Spot, pid: int, number: int, within: float) -> bool:
    """Send a signal to the process that holds the lock; whether it let go of it in time."""
    from smartsearch.serve.warm import place

    until = time.monotonic() + within
    if (place.holder(spot.lock) or {}).get("pid") == pid:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
    while place.holder(spot.lock) is not None:
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True
