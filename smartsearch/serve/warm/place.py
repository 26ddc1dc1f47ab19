"""Where to find a warm process: the private folder, the names of its files, the lock that it holds.

There is one process per user, version and set of models: `KEY.sock` is its socket, `KEY.lock` is locked as
long as it lives and says what it is, `KEY.log` holds what it said when it was started in the background. A
command that starts one in the background takes the lock for it, so commands that try at once start only one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
import stat
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import smartsearch
from smartsearch.config import Config
from smartsearch.errors import UsageError
from smartsearch.models import trained
from smartsearch.runtime import xdg
from smartsearch.serve.warm.wire import PROTOCOL, Json

LONGEST_SOCKET = 103
"""Bytes of a socket's path that every system takes (macOS 104 with its end, Linux 108)."""
UNSAFE = "unsafe_folder"
WANTED = "_SMARTSEARCH_SOCKET"
"""The variable that tells a server which socket the command that started it waits for."""
LOCK = "_SMARTSEARCH_LOCK"
"""The variable with the number of the open lock that such a server is given."""
LOCK_TRIES, LOCK_PAUSE = 10, 0.05


@dataclass(frozen=True)
class Spot:
    """The files of one warm process."""

    socket: Path
    lock: Path
    log: Path


def supported() -> bool:
    """Whether this system has Unix sockets and users; Windows has not."""
    return hasattr(socket, "AF_UNIX") and hasattr(os, "geteuid")


def folder(*, make: bool = False) -> Path:
    """The private folder: in XDG_RUNTIME_DIR if that is this user's, else `smartsearch-UID` in TMPDIR.

    Raises UsageError where there is something that is not a folder of this user's alone, or where it cannot
    be made; without `make` it need not exist.
    """
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR") or "-")
    if runtime.is_absolute() and _owned(runtime):
        path = runtime / "smartsearch"
    else:
        path = Path(os.environ.get("TMPDIR") or "/tmp").absolute() / f"smartsearch-{os.geteuid()}"
    try:
        if make:
            path.mkdir(mode=0o700, exist_ok=True)
        found = path.lstat()
    except FileNotFoundError:
        if not make:
            return path
        raise _unfit(path, "cannot be made") from None
    except OSError as error:
        raise _unfit(path, error.strerror or str(error)) from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise _unfit(path, "is not a folder that only you can use")
    return path


def _owned(path: Path) -> bool:
    try:
        found = path.stat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()


def _unfit(path: Path, why: str) -> UsageError:
    hint = "move it away, or set XDG_RUNTIME_DIR to a folder of yours"
    return UsageError(f"{path}: {why}", hint=hint, kind=UNSAFE)


def place(config: Config, *, make: bool = False) -> Spot:
    """The files of the warm process for the models of `config`. Raises UsageError as `folder` does."""
    return named(folder(make=make), key(config))


def named(home: Path, name: str) -> Spot:
    """The files of that name. Raises UsageError where the socket's path would be too long."""
    path = home / f"{name}.sock"
    length = len(os.fsencode(path))
    if length > LONGEST_SOCKET:
        raise UsageError(
            f"the path of the socket has {length} bytes, the limit is {LONGEST_SOCKET}: {path}",
            hint="set XDG_RUNTIME_DIR to a folder with a shorter path",
        )
    return Spot(path, home / f"{name}.lock", home / f"{name}.log")


def install() -> str:
    """Which installation of smartsearch this is: its package and Python's environment."""
    return f"{Path(smartsearch.__path__[0]).resolve()} in {sys.prefix}"


def key(config: Config) -> str:
    """A short hash of all that two processes must have in common to give the same answers."""
    models = (config.profile, config.parser, config.crossencoder, config.colbert)
    given = [Path(name).expanduser() for name in models[1:] if name]
    folders = [str(path.resolve()) if path.is_dir() else "" for path in given]
    home = trained.find(config.profile)
    cache = [os.environ.get(name, "") for name in ("HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE")]
    cache.append(str(xdg.folder("XDG_CACHE_HOME", ".cache")))
    program = (smartsearch.__version__, PROTOCOL, sys.prefix, sys.version, str(smartsearch.__path__[0]))
    said = [*program, sys.getfilesystemencoding(), *models, *folders, str(home and home.resolve()), *cache]
    return hashlib.sha256(json.dumps([*said, config.cores]).encode()).hexdigest()[:12]


def about(config: Config, pid: int | None = None) -> Json:
    """What the lock says of a process for the models of `config`."""
    said = {"pid": pid, "version": smartsearch.__version__, "profile": config.profile}
    return {**said, "since": int(time.time()), "install": install()}


def hold(path: Path, about: Json) -> int | None:
    """Lock `path` for as long as this process lives and write `about` into it; None if another holds it.

    A lock that the parent took for this process is taken over. Raises OSError.
    """
    import fcntl

    lock = _inherited(path)
    if lock is None:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        for _ in range(LOCK_TRIES):  # `holder` locks it for a moment
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            time.sleep(LOCK_PAUSE)
        else:
            os.close(lock)
            return None
    try:
        describe(lock, about)
    except OSError:
        os.close(lock)
        raise
    return lock


def describe(lock: int, about: Json) -> None:
    """Write `about` into a lock that is held. Raises OSError."""
    said = json.dumps(about).encode()
    os.pwrite(lock, said, 0)
    os.ftruncate(lock, len(said))


def _inherited(path: Path) -> int | None:
    """The open lock of `path` that this process was given, if any."""
    try:
        lock = int(os.environ.pop(LOCK, ""))
        if os.path.samestat(os.fstat(lock), path.lstat()):
            os.set_inheritable(lock, False)
            return lock
    except (OSError, ValueError, OverflowError):
        pass
    return None


def running() -> list[tuple[Spot, Json]]:
    """The warm processes of this user, of whatever version and models, and what each says of itself.

    Raises UsageError as `folder` does.
    """
    home = folder()
    spots = [named(home, path.stem) for path in sorted(home.glob("*.lock"))]
    return [(spot, about) for spot in spots if (about := holder(spot.lock)) is not None]


def holder(path: Path) -> Json | None:
    """What the living process that holds `path` says of itself; None where none does."""
    import fcntl

    try:
        lock = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        with contextlib.suppress(ValueError):
            about = json.loads(os.pread(lock, 1 << 16, 0))
            return about if isinstance(about, dict) else {}
        return {}
    else:
        return None
    finally:
        os.close(lock)
