"""The pager: which, when, and what becomes of Ctrl-C, of one that is missing or that is left early."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from smartsearch.output import pager
from tests.waiting import HANG, until

ROOT = Path(__file__).parents[2]


@pytest.fixture
def programs(tmp_path: Path) -> dict[str, str]:
    for name in ("less", "most"):
        program = tmp_path / name
        program.write_text("#!/bin/sh\ncat\n", encoding="utf-8")
        program.chmod(0o755)
    return {"PATH": str(tmp_path), "TERM": "xterm"}


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, "less"),
        ({"PAGER": "most -s"}, "most -s"),
        ({"PAGER": "most", "SMARTSEARCH_PAGER": "less -S"}, "less -S"),
        ({"PAGER": "LESS=-R less"}, "LESS=-R less"),
        ({"PAGER": "most", "SMARTSEARCH_PAGER": ""}, ""),
        ({"PAGER": "cat"}, ""),
        ({"PAGER": "  "}, ""),
        ({"PAGER": "nothing-of-that-name"}, ""),
        ({"TERM": "dumb"}, ""),
    ],
)
def test_which_pager(env: dict[str, str], expected: str, programs: dict[str, str]):
    assert pager.command({**programs, **env}) == expected


@pytest.mark.parametrize(
    ("text", "columns", "rows"),
    [
        ("a\n", 10, 1),
        ("a\nb\n", 10, 2),
        ("0123456789\n", 10, 1),
        ("0123456789a\n", 10, 2),
        ("\x1b[1;31m0123456789\x1b[0m\n", 10, 1),
        ("\x1b]8;;http://long.example/path\x1b\\0123456789\x1b]8;;\x1b\\\n", 10, 1),
        ("日本語日本語\n", 10, 2),
        ("no end", 10, 0),
    ],
)
def test_rows_of_a_screen(text: str, columns: int, rows: int):
    assert pager.rows(text, columns) == rows


needs_terminal = pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a Unix terminal")
PROGRAM = """
import sys
from smartsearch.output import pager, stream
stream.prepare()
with pager.paged():
    stream.write(f"line {n}" for n in range(int(sys.argv[1])))
print("after")
"""


def _heeding_ctrl_c() -> None:
    """Processes of a shell's background, such as a CI's, ignore SIGINT, and so do theirs."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Terminal:
    """A terminal of 24 rows with a program on it."""

    def __init__(self, lines: int, **env: str) -> None:
        import fcntl
        import struct
        import termios

        self.main, side = os.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        kept = {
            k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "LESS", *pager.VARIABLES)
        }
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(lines)],
            stdin=side,
            stdout=side,
            stderr=side,
            env={**kept, "TERM": "xterm", "PYTHONPATH": str(ROOT), **env},
            start_new_session=True,
            preexec_fn=_heeding_ctrl_c,
        )
        os.close(side)

    def shown(self) -> str:
        out = b""
        while True:
            try:
                data = os.read(self.main, 65536)
            except OSError:
                break
            if not data:
                break
            out += data
        os.close(self.main)
        return out.decode().replace("\r\n", "\n")

    def ended(self) -> int:
        return self.process.wait(timeout=HANG)


def script(folder: Path, text: str) -> str:
    program = folder / "page"
    program.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    program.chmod(0o755)
    return str(program)


@needs_terminal
def test_what_is_longer_than_the_screen_is_paged_and_the_rest_is_not(tmp_path: Path):
    page = script(tmp_path, 'echo "paged $LESS"; cat')
    short, long = Terminal(23, PAGER=page), Terminal(24, PAGER=page)
    assert short.shown() == "".join(f"line {n}\n" for n in range(23)) + "after\n"
    assert long.shown() == "paged FRX\n" + "".join(f"line {n}\n" for n in range(24)) + "after\n"
    assert (short.ended(), long.ended()) == (0, 0)


@needs_terminal
def test_a_user_s_own_options_for_less_stay(tmp_path: Path):
    assert (
        Terminal(50, PAGER=script(tmp_path, 'echo "paged $LESS"'), LESS="-S").shown().startswith("paged -S\n")
    )


@needs_terminal
def test_a_pager_that_is_left_early_is_no_error(tmp_path: Path):
    ran = Terminal(200_000, PAGER=script(tmp_path, "head -1"))
    assert ran.shown() == "line 0\nafter\n"
    assert ran.ended() == 0


@needs_terminal
def test_ctrl_c_is_the_pager_s_own(tmp_path: Path):
    page = script(
        tmp_path,
        f"trap 'echo interrupted; touch {tmp_path}/told' INT; cat >/dev/null; touch {tmp_path}/ready;"
        f" while [ ! -e {tmp_path}/told ]; do sleep 0.05; done",
    )
    ran = Terminal(50, PAGER=page)
    until((tmp_path / "ready").exists, "the pager has read all")
    os.killpg(ran.process.pid, signal.SIGINT)
    assert ran.shown() == "interrupted\nafter\n"
    assert ran.ended() == 0


def test_in_a_pipe_there_is_none(tmp_path: Path):
    page = script(tmp_path, "echo paged; cat")
    command = [sys.executable, "-c", PROGRAM, "50"]
    env = {**os.environ, "TERM": "xterm", "PAGER": page, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(command, capture_output=True, text=True, env=env, timeout=HANG, check=True)
    assert ran.stdout.startswith("line 0\n")
