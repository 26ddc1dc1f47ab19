"""The command's side: find the warm process with its models, or start it, and ask it. Imports no model.

Every failure is a NotWarm; then the command answers the question itself.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import smartsearch
from smartsearch.ask.door import Found
from smartsearch.config import Config
from smartsearch.errors import SmartsearchError, UsageError
from smartsearch.runtime import frames
from smartsearch.serve.warm import place, wire
from smartsearch.serve.warm.wire import Failure, Json, Request

if TYPE_CHECKING:
    import subprocess

HANDSHAKE = 1.0
"""Seconds in which a server has to say whether it takes a question on."""
SILENCE = 5.0
"""Seconds without a sign of life after which a server is given up."""
STARTING = 60.0
"""Seconds that a server may take to start: models of the hub take half of them."""
LOG_BYTES = 1 << 20

PROGRAM = (
    sys.executable,
    "-c",
    "import sys; sys.path = [*filter(None, sys.path), sys.argv.pop(1)]; sys.argv[0] = 'smartsearch'; "
    "from smartsearch.cli.app import main; main()",
    str(Path(smartsearch.__path__[0]).parent),
)
"""`smartsearch` as this process runs it, without the current folder among the places of modules."""


class NotWarm(Exception):
    """No warm process answered. The message says why; it is empty if nothing is wrong.

    `piped` is what was read of standard input.
    """

    def __init__(self, why: str = "", piped: bytes = b"") -> None:
        super().__init__(why)
        self.piped = piped


def ask(request: Request, stdin: BinaryIO | None) -> Found:
    """What the warm process answers; where none runs, one is started if the config says `always`.

    Raises NotWarm, and the SmartsearchError that the question met there.
    """
    always = request.config.daemon == "always"
    if not place.supported():
        raise NotWarm("this system has no Unix sockets" if always else "")
    spot = _place(request.config, make=always)
    if not always and not spot.socket.exists():
        raise NotWarm
    piped = b"" if stdin is None else stdin.read(wire.PIPED_BYTES + 1)
    try:
        if len(piped) > wire.PIPED_BYTES:
            raise NotWarm
        with _reached(spot, request.config) as connection:
            return _asked(connection, replace(here(request), piped=stdin is not None), piped)
    except NotWarm as cold:
        raise NotWarm(str(cold), piped) from cold


def here(request: Request) -> Request:
    """A question as asked in the current folder.

    Raises NotWarm where that was removed: another process cannot go there.
    """
    try:
        return replace(request, folder=str(Path.cwd()), places=wire.places(request.scope))
    except OSError:
        raise NotWarm from None


def status(path: Path) -> Json | None:
    """The status of the server at that socket, None where it does not answer."""
    try:
        with _connected(path) as connection:
            hello = wire.hear(connection, wire.REQUEST_BYTES)
            if hello["state"] != "ready":
                return dict(hello)
            wire.say(connection, {"do": "status"})
            return {**wire.hear(connection, wire.REQUEST_BYTES), "state": "ready"}
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _place(config: Config, *, make: bool) -> place.Spot:
    try:
        return place.place(config, make=make)
    except UsageError as error:
        raise NotWarm(error.message if make or error.kind == place.UNSAFE else "") from error


@contextmanager
def _connected(path: Path) -> Iterator[socket.socket]:
    """A connection to the server at `path`, in time. Raises OSError."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(HANDSHAKE)
        connection.connect(str(path))
        if not wire.same_user(connection):
            raise PermissionError("it belongs to another user")
        yield connection


@contextmanager
def _reached(spot: place.Spot, config: Config) -> Iterator[socket.socket]:
    """A connection to the server, which is started if need be. What fails in the block is a NotWarm."""
    always = config.daemon == "always"
    try:
        if always and not _listens(spot.socket):
            _start(spot, config)
        with _connected(spot.socket) as connection:
            yield connection
    except FileNotFoundError as error:
        raise NotWarm(str(error) if always else "") from error
    except ConnectionRefusedError as error:
        raise NotWarm("it ended without tidying up; `smartsearch serve` starts another") from error
    except TimeoutError as error:
        raise NotWarm("it does not react; `smartsearch serve --stop` ends it") from error
    except ConnectionError as error:
        raise NotWarm(f"it broke off: {error.strerror or error}") from error
    except OSError as error:
        raise NotWarm(error.strerror or str(error)) from error
    except ValueError as error:
        raise NotWarm("what it said makes no sense") from error


def _listens(path: Path) -> bool:
    """Whether a server listens there; one that does not answer in time listens too."""
    try:
        with _connected(path):
            return True
    except (FileNotFoundError, ConnectionRefusedError):
        return False


def _asked(connection: socket.socket, request: Request, piped: bytes) -> Found:
    _expect("ready", wire.hear(connection, wire.REQUEST_BYTES))
    wire.say(connection, request)
    _expect("accepted", wire.hear(connection, wire.REQUEST_BYTES))
    connection.settimeout(SILENCE)
    if request.piped:
        frames.send(connection.send, piped)
    told = wire.hear(connection, wire.ANSWER_BYTES)
    if isinstance(told, Found):
        return told
    if isinstance(told, Failure):  # the class of the error stays behind
        raise SmartsearchError(told.message, hint=told.hint, kind=told.kind, retryable=told.retryable)
    raise NotWarm(_reason(told))


def _expect(state: str, told: object) -> None:
    said = told if isinstance(told, dict) else {}
    if said.get("protocol") != wire.PROTOCOL or said.get("version") != smartsearch.__version__:
        raise NotWarm(f"it is of version {said.get('version')!r}, this is {smartsearch.__version__}")
    if said.get("state") != state:
        raise NotWarm(_reason(said))


def _reason(told: object) -> str:
    nothing = "it said nothing of use"
    return str(told.get("reason", nothing)) if isinstance(told, dict) else nothing


def launch(spot: place.Spot, config: Config, left: Request | None = None) -> subprocess.Popen[bytes] | None:
    """Start a server in the background, without waiting for it; None where one runs or starts already.

    With `left`, the question that leaves it behind, it is a spare server (cli/serve.py). Raises OSError.
    """
    import subprocess
    import tempfile

    lock = place.hold(spot.lock, place.about(config))
    if lock is None:
        return None
    options = {
        "--system": config.system,
        "--profile": config.profile,
        "--parser": config.parser,
        "--crossencoder": config.crossencoder,
        "--colbert": config.colbert,
        "--threads": str(config.cores),
    }
    given = [f"{name}={value}" for name, value in options.items() if value]
    try:
        spot.socket.unlink(missing_ok=True)  # of a killed server: no command should ask it meanwhile
        with open(_log(spot.log), "ab") as log, tempfile.TemporaryFile() as stdin:
            if left is not None:
                stdin.write(wire.packed(left))
                stdin.seek(0)
            process = subprocess.Popen(
                [*PROGRAM, "serve", *given],
                stdin=stdin,
                stdout=subprocess.DEVNULL,
                stderr=log,
                env={**os.environ, place.WANTED: str(spot.socket), place.LOCK: str(lock)},
                pass_fds=(lock,),
                start_new_session=True,
            )
        place.describe(lock, place.about(config, process.pid))
        return process
    finally:
        os.close(lock)  # the server has it too


def _start(spot: place.Spot, config: Config) -> None:
    """Start a server and wait until it listens. Raises NotWarm and OSError."""
    try:
        process = launch(spot, config)
    except OSError as error:
        raise NotWarm(f"it did not start: {error.strerror or error}") from error
    until = time.monotonic() + STARTING
    while not _listens(spot.socket):
        if (process is None or process.poll() is not None) and place.holder(spot.lock) is None:
            raise NotWarm(f"it did not start: {_last_line(spot.log)}")
        if time.monotonic() > until:
            raise NotWarm(f"it was not ready within {STARTING:g} s, see {spot.log}")
        time.sleep(0.05)


def _log(path: Path) -> int:
    """Open the log to append to it; empty it first where it has grown long."""
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    if os.fstat(log).st_size > LOG_BYTES:
        os.ftruncate(log, 0)
    return log


def _last_line(path: Path) -> str:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError as error:
        return error.strerror or str(error)
    said = [line.strip() for line in lines if line.strip()]
    return next((line for line in reversed(said) if not line.startswith("try:")), "it said nothing")
