"""Standard output and standard error: UTF-8, warnings, errors, progress, and a pipe that may close."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from smartsearch.errors import SmartsearchError, UsageError
from smartsearch.output import masking, record
from smartsearch.output.plain import one_line, safe


class PipeClosed(Exception):
    """The reader of our standard output has closed it, which is no error."""


def prepare() -> None:
    """Make both streams UTF-8 whatever the locale; what UTF-8 cannot hold becomes `?`.

    A stream that was closed before we began (`>&-`) is None in Python: it becomes the null device, as does
    a closed standard input.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 - as long as the process lives
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace", newline="\n")


def write(lines: Iterable[str], *, masked: bool = False) -> None:
    """Print lines to standard output and flush. Raises PipeClosed when the reader has gone.

    `masked`: the lines are for programs, made of values that were masked already.

    Raises UsageError where it leads to a disk that is full.
    """
    out = masking.bare(sys.stdout) if masked else sys.stdout
    try:
        for line in lines:
            out.write(line + "\n")
        out.flush()
    except BrokenPipeError as error:
        raise PipeClosed from error
    except OSError as error:
        raise UsageError(
            f"standard output cannot be written: {error.strerror}", hint="room on that disk", kind="output"
        ) from error


def write_json(value: record.Json) -> None:
    """Print one record: on one line, indented where a person reads it."""
    write([record.dumps(masking.shown(value), indent=sys.stdout.isatty())], masked=True)


def finish() -> None:
    """Flush what is left; a reader that has gone is no error, here or at the interpreter's own flush."""
    for stream in (sys.stdout, sys.stderr):
        _flush(stream)


def _flush(stream: TextIO) -> None:
    try:
        stream.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def talk(text: str) -> None:
    """Print a message on standard error; a failure to print it is ignored."""
    with contextlib.suppress(OSError):  # a closed pipe, a full disk
        sys.stderr.write(_folded(masking.shown(f"smartsearch: {safe(text)}\n")))  # masked while it is whole
        sys.stderr.flush()


def _folded(text: str) -> str:
    """Text with lines that fit the terminal, parted between words and within no command."""
    try:
        width = os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):  # no terminal
        return text
    from textwrap import TextWrapper

    commands = r"`[^`\n]+`|  try: (?:smartsearch|\S+ -m pip) .*"
    lines = re.sub(commands, lambda found: found[0].replace(" ", "\0"), text).split("\n")
    fold = TextWrapper(width or 80, "", "  ", break_long_words=False, break_on_hyphens=False).fill
    return "\n".join(map(fold, lines)).replace("\0", " ")


def can_ask() -> bool:
    """Whether a person can be asked: both streams are a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def confirm(question: str) -> bool:
    """Ask the person at the terminal; anything but y and yes is no."""
    sys.stderr.write(f"smartsearch: {question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def warn(text: str) -> None:
    """Warn on standard error."""
    talk(f"warning: {one_line(text)}")


def warn_of(texts: Sequence[str], most: int) -> None:
    """Print warnings; a terminal gets the first few and the number of the others."""
    shown = texts if len(texts) <= most or not sys.stderr.isatty() else texts[: most - 1]
    for text in shown:
        warn(text)
    if len(shown) < len(texts):
        talk(f"and {len(texts) - len(shown):,} more: 2>&1 | less shows them, -q none")


def fail(error: SmartsearchError, *, as_json: bool) -> None:
    """Report an error: as a record on standard output for JSON, else in words."""
    if as_json:
        with contextlib.suppress(UsageError):  # standard output cannot be written
            write_json(record.error(error))
            return
    said = [one_line(part) for part in re.split(r"\n(?=  )", error.message)]  # as `listed` makes them
    talk("\n".join([*said, *([f"  try: {one_line(error.hint)}"] if error.hint else [])]))


def coloured(choice: str, env: Mapping[str, str] | None = None) -> bool:
    """Whether to colour standard output: by the option, else the environment, else the terminal.

    NO_COLOR comes first, then CLICOLOR_FORCE and FORCE_COLOR, then CLICOLOR=0 and TERM=dumb.
    """
    env = os.environ if env is None else env
    if choice != "auto":
        return choice == "always"
    if env.get("NO_COLOR"):
        return False
    if any(env.get(name, "0") not in ("", "0") for name in ("CLICOLOR_FORCE", "FORCE_COLOR")):
        return True
    return sys.stdout.isatty() and env.get("TERM") != "dumb" and env.get("CLICOLOR") != "0"


def linked(choice: str, env: Mapping[str, str] | None = None) -> bool:
    """Whether places are links (OSC 8): by the option, else by the kind of terminal."""
    if choice != "auto" or not sys.stdout.isatty():
        return choice == "always"
    from smartsearch.output.links import supported

    return supported(os.environ if env is None else env)


def show_cursor() -> None:
    """Show the cursor again, which a spinner hides; a process that is ended cannot do so itself."""
    if sys.stderr.isatty():
        sys.stderr.write("\x1b[?25h")


@contextmanager
def status(said: str, *, wanted: bool) -> Iterator[None]:
    """A spinner on standard error while the block runs, on a terminal only; it tells of a first reading."""
    if not (wanted and sys.stderr.isatty()):
        yield
        return
    from rich.console import Console

    from smartsearch.runtime import reading

    begun: list[float] = []
    with Console(stderr=True).status(said) as spinner:

        def tell(done: int, of: int) -> None:
            begun[:] = begun or [time.monotonic()]
            spinner.update(first_time(done, of, time.monotonic() - begun[0]))

        with reading.heard_by(tell):
            yield


def first_time(done: int, of: int, seconds: float) -> str:
    """The progress message of reading `of` new turns, of which `done` took these seconds."""
    left = f", {seconds:.0f} of {seconds * of / done:.0f} s" if done else ""
    return f"reading {of:,} turns for the first time{left}; the next question finds them read"


LOG_SECONDS = 30.0
"""Seconds between progress lines outside a terminal."""


@contextmanager
def progress(
    total: int | None,
    *,
    wanted: bool,
    title: str = "questions",
    done: int = 0,
    failed: int = 0,
    logged: bool = False,
) -> Iterator[Callable[..., None]]:
    """How far a run is on standard error: a bar on a terminal; elsewhere a line now and then if `logged`.

    Both with rate and time left. Yields a function that counts one more as done; it takes whether that
    failed. `done` and `failed` count from before.
    """
    began = last = time.monotonic()
    here = 0

    def count(bad: bool) -> str:
        nonlocal here, failed
        here, failed = here + 1, failed + bad
        rate = here / max(time.monotonic() - began, 1e-9)
        left = "" if total is None else f", {_duration((total - done - here) / rate)} left"
        return f"{rate:.3g}/s{left}{f', {failed:,} failed' if failed else ''}"

    if wanted and sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        told = TextColumn("{task.fields[told]}")
        columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), told, TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as bar:
            task = bar.add_task(title, total=total, completed=done, told="")
            yield lambda bad=False: bar.update(task, advance=1, told=count(bad))
        return

    def say(bad: bool = False) -> None:
        nonlocal last
        now = count(bad)
        if wanted and logged and time.monotonic() - last >= LOG_SECONDS:
            last = time.monotonic()
            talk(f"{done + here:,} of {total:,}, {now}")

    yield say


def _duration(seconds: float) -> str:
    """`45 s`, `24 min`, `2.5 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@contextmanager
def counted(title: str) -> Iterator[Callable[..., None]]:
    """Show a count on standard error, on a terminal only.

    Yields a function that takes how many are done, how many there are, and a text to show after them.
    """
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console

    with Console(stderr=True).status(title) as shown:
        yield lambda done, total, more="": shown.update(f"{title}: {done:,} of {total:,}{more}")
