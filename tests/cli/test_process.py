"""The command as a process: start-up, closed pipes, signals, locales, a real terminal."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.waiting import HANG, until

FAKES = Path(__file__).parent / "fakes.py"
HEAVY = ("numpy", "spacy", "onnxruntime", "tokenizers", "torch", "rapidfuzz", "orjson", "transformers")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "chat.txt").write_text("Mara: the café has a support group\n" * 100, encoding="utf-8")
    return tmp_path


def environment(**changes: str) -> dict[str, str]:
    ours = ("SMARTSEARCH_", "LC_", "LANG", "NO_COLOR")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return kept | changes


def smartsearch(folder: Path, *arguments: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, str(FAKES), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, timeout=HANG, check=False, **options)


def python(folder: Path, program: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=folder, capture_output=True, timeout=HANG, check=False, **options)


@pytest.mark.parametrize("option", ["", "--color always"])
def test_a_reader_that_goes_away_is_no_error(folder: Path, option: str):
    text = "Mara: a support group in the café on the corner\n"
    (folder / "chat.txt").write_text(text * 5000, encoding="utf-8")
    asks = f"{sys.executable} {FAKES} query support -n0 --truncate none {option}"
    command = ["bash", "-c", f"({asks}; echo $? >&2) | head -1"]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=HANG, check=True)
    assert ran.stdout.count("\n") == 1
    assert option or ran.stdout.split(":", 2)[2] == text
    assert ran.stderr == "0\n"


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("query support >&-", 0, ""),
        ("show chat.txt:3 >&-", 0, ""),
        ("query support - <&-", 1, "warning: -: empty, no turns"),
        ("show - <&-", 1, ""),
        ("query support 2>&- >/dev/null", 0, ""),
    ],
)
def test_a_stream_that_is_closed_from_the_start_is_no_bug(folder: Path, command: str, code: int, said: str):
    line = f"{sys.executable} {FAKES} {command}"
    ran = subprocess.run(line, shell=True, cwd=folder, capture_output=True, timeout=HANG)
    assert (ran.returncode, ran.stdout) == (code, b"")
    assert ran.stderr.decode() == (f"smartsearch: {said}\n" if said else "")


NO_ROOM = "No space left on device\n  try: room on that disk\n"
OUTPUT = "smartsearch: standard output cannot be written: "


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    ("command", "full", "code", "other"),
    [
        ("query support", "stdout", 2, OUTPUT + NO_ROOM),
        ("query support --json", "stdout", 2, OUTPUT + NO_ROOM),
        ("--help", "stdout", 2, "smartsearch: " + NO_ROOM),
        ("query support nosuch.txt", "stderr", 2, ""),
        ("query support - chat.txt -l", "stderr", 0, "chat.txt\n"),
    ],
)
def test_a_full_disk_is_told_as_one_and_an_error_that_cannot_be_written_keeps_its_code(
    folder: Path, command: str, full: str, code: int, other: str
):
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
    with Path("/dev/full").open("w") as device:
        program = [sys.executable, str(FAKES), *command.split()]
        ran = subprocess.run(program, cwd=folder, timeout=HANG, **{**streams, full: device})
    said = ran.stderr if full == "stdout" else ran.stdout
    assert (ran.returncode, said.decode()) == (code, other)


def test_utf_8_out_whatever_the_locale(folder: Path):
    env = environment(LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    ran = smartsearch(folder, "query", "café", "--json", "-n1", env=env)
    record = json.loads(ran.stdout.decode("utf-8"))
    assert record["query"] == "café"
    assert record["hits"][0]["text"] == "the café has a support group"


def test_ctrl_c_is_130_and_says_nothing(folder: Path):
    program = (
        "import pathlib, signal, sys\n"
        "from smartsearch.cli import app as cli\n"
        "from smartsearch.models import loading\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler); "  # background jobs start with it ignored
        "loading.load_tools = lambda config: pathlib.Path('ready').touch(); "
        "sys.argv = ['smartsearch', 'query', 'support', '-']; cli.main()"
    )
    reader, writer = os.pipe()
    command, pipe = [sys.executable, "-c", program], subprocess.PIPE
    process = subprocess.Popen(command, cwd=folder, stdin=reader, stdout=pipe, stderr=pipe)
    until(lambda: (folder / "ready").exists(), "models are loaded")
    time.sleep(0.3)  # mostly it reads by now
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=HANG)
    os.close(reader)
    os.close(writer)
    assert (process.returncode, out, err) == (130, b"", b"")


def test_a_ctrl_c_that_python_ignores_is_heeded(folder: Path):
    program = (
        "import signal, sys, time, weakref; from smartsearch.cli import app as cli\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Lock: pass\n"
        "def stuck(arguments):\n"
        "    lock = Lock()\n"
        "    kept = weakref.ref(lock, lambda _: signal.raise_signal(signal.SIGINT))\n"
        "    del lock\n"
        "    time.sleep(600)\n"
        "cli.application = stuck\n"
        "sys.argv = ['smartsearch', 'query', 'support']; cli.main()"
    )
    ran = python(folder, program)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, b"", b"")


STUCK_IMPORT = """
import pathlib, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
pathlib.Path("slow.py").write_text(
    "import signal, pathlib; signal.raise_signal(signal.SIGINT); {then}; pathlib.Path('whole').touch()"
)
sys.path.insert(0, ".")
from smartsearch.cli import app as cli
def imports(arguments):
    import slow
    import time
    time.sleep(600)
cli.application = imports
sys.argv = ["smartsearch", "query", "support"]; cli.main()
"""


@pytest.mark.parametrize(("then", "whole"), [("pass", True), ("signal.raise_signal(signal.SIGINT)", False)])
def test_a_ctrl_c_in_an_import_waits_for_its_end_and_a_second_one_does_not(folder: Path, then, whole):
    ran = python(folder, STUCK_IMPORT.format(then=then))
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, b"", b"")
    assert (folder / "whole").exists() is whole


EARLY = """
import signal, sys, types
signal.signal(signal.SIGINT, signal.default_int_handler)
class Meddling:
    def find_spec(self, name, path, target=None):
        if name == {name!r}:
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Meddling())
sys.argv = ["smartsearch", "--version"]
from smartsearch.__main__ import main
main()
"""


@pytest.mark.parametrize("name", ["typer", "smartsearch.cli.app", "smartsearch.output"])
def test_a_ctrl_c_while_the_command_is_imported_is_130_and_says_nothing(folder: Path, name: str):
    ran = python(folder, EARLY.format(name=name))
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, b"", b"")


def test_a_ctrl_c_after_the_answer_changes_nothing(folder: Path):
    program = (
        "import signal, sys; from smartsearch.cli import app as cli; from smartsearch.runtime import ending\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "ending.add(lambda: signal.raise_signal(signal.SIGINT))\n"
        "sys.argv = ['smartsearch', '--version']; cli.main()"
    )
    ran = python(folder, program)
    assert (ran.returncode, ran.stderr) == (0, b"")


def test_an_error_does_not_wait_for_models_that_still_load(folder: Path):
    program = (
        "import sys, time; from smartsearch.cli import app as cli; from smartsearch.models import loading; "
        f"loading.load_tools = lambda config: time.sleep({2 * HANG}); "
        "sys.argv = ['smartsearch', 'query', 'x', 'nowhere']; cli.main()"
    )
    assert python(folder, program).returncode == 2


def test_a_search_deep_in_threads_ends_at_its_timeout(folder: Path):
    program = (
        f"import sys, time; sys.path.insert(0, {str(FAKES.parent)!r}); import fakes\n"
        "from smartsearch.cli import app as cli; from smartsearch.models import loading\n"
        "from dataclasses import replace\n"
        f"slow = fakes.Scorer(lambda q, t: time.sleep({2 * HANG}))\n"
        "scorers = {'ce': slow, 'colbert': slow}\n"
        "loading.load_tools = lambda c: replace(fakes.fake_tools(c), scorers=scorers)\n"
        "sys.argv = ['smartsearch', 'query', 'support', '--candidates', 'all', '--timeout', '.5', '--json']\n"
        "cli.main()"
    )
    ran = python(folder, program)
    assert (ran.returncode, json.loads(ran.stdout)["error"]["kind"]) == (2, "timeout")


KEEPING = """
import contextlib, signal, sys, time
sys.path[:0] = [{fakes!r}, {root!r}]
import fakes
from dataclasses import replace
from smartsearch.cli import app as cli
from smartsearch.models import loading
from smartsearch.rank.cache.vector_store import VectorStore, home
from tests.rank.tiny import vectors
signal.signal(signal.SIGINT, signal.default_int_handler)
files = VectorStore(home(), "m", 2**30)
def colbert(question, texts):
    files.put({{text: vectors(text) for text in texts}})
    {then}
    return fakes.shared(question, texts)
scorers = {{"colbert": fakes.Scorer(colbert)}}
loading.load_tools = lambda config: replace(fakes.fake_tools(config), scorers=scorers)
sys.argv = ["smartsearch", "query", "support", "chat.txt", "--rank", "colbert", "--timeout", "600"]
cli.main()
"""


@pytest.mark.parametrize(
    ("then", "code"),
    [
        ("pass", 0),
        ("signal.raise_signal(signal.SIGINT)", 130),
        ("signal.raise_signal(signal.SIGALRM)", 2),
        ("with contextlib.suppress(Exception): signal.raise_signal(signal.SIGALRM)\n    time.sleep(600)", 2),
    ],
    ids=["done", "Ctrl-C", "timeout", "stuck at its timeout"],
)
def test_vectors_are_kept_however_the_process_ends(folder: Path, then: str, code: int):
    program = KEEPING.format(fakes=str(FAKES.parent), root=str(FAKES.parents[2]), then=then)
    ran = python(folder, program, env=environment(XDG_CACHE_HOME=str(folder / "cache")))
    assert ran.returncode == code
    with closing(sqlite3.connect(folder / "cache/smartsearch/colbert/store/vectors.sqlite")) as kept:
        assert kept.execute("SELECT count(*) FROM batches WHERE model = 'm'").fetchone() == (1,)


needs_terminal = pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a Unix terminal")


def on_terminal(folder: Path, *arguments: str, stream: str, **env: str) -> tuple[bytes, str]:
    """What a command says through a pipe, and what it shows on a terminal at `stream`."""
    main, side = os.openpty()
    with (folder / "piped").open("wb") as piped:
        streams = {"stdout": piped, "stderr": piped, stream: side}
        command = [sys.executable, str(FAKES), *arguments]
        env = environment(**{"TERM": "xterm-256color", **env})
        process = subprocess.Popen(command, cwd=folder, env=env, **streams)
        os.close(side)
        shown = b"".join(iter(lambda: read(main), b""))
        os.close(main)
        assert process.wait(timeout=HANG) == 0
    return (folder / "piped").read_bytes(), shown.decode()


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux says that the other side has closed it
        return b""


@needs_terminal
def test_on_a_terminal_explain_comes_below_the_hits(folder: Path):
    command = ["query", "support", "chat.txt", "-n2", "--explain"]
    piped, text = on_terminal(folder, *command, stream="stdout", COLUMNS="80")
    assert piped == b""
    assert "x2" in text
    assert "chat.txt:1" in text
    drawn = text[text.index("terms") :]
    assert drawn.isascii()
    assert all(part in drawn for part in ("hops", "scores", "cut", "tau", "ms", "models", "fake-ce"))
    assert "# terms" not in text


@needs_terminal
def test_a_page_on_a_terminal_comes_with_what_to_do_with_it(folder: Path):
    said, shown = on_terminal(folder, "query", "support", "chat.txt", "--format", "html", stream="stdout")
    assert shown.startswith("<!doctype html>")
    assert b"> answer.html keeps it" in said


@needs_terminal
@pytest.mark.parametrize(
    ("arguments", "env"),
    [
        (["query", "support", "chat.txt", "-n1", "--explain"], {"NO_COLOR": "1"}),
        (["show", "chat.txt:3", "-C1"], {"CLICOLOR": "0"}),
        (["show", "chat.txt"], {"TERM": "dumb"}),
        (["formats"], {"NO_COLOR": "1", "PAGER": "cat"}),
        (["models", "list"], {"CLICOLOR": "0"}),
        (["--help"], {"NO_COLOR": "1"}),
    ],
)
def test_no_escape_sequence_where_colour_is_not_wanted(folder: Path, arguments, env):
    _, shown = on_terminal(folder, *arguments, stream="stdout", **env)
    assert shown
    assert "\x1b" not in shown


@needs_terminal
def test_colour_and_links_where_they_are(folder: Path):
    env = {"TERM": "xterm-kitty", "SMARTSEARCH_EDITOR_URL": "vscode://file{path}:{line}"}
    _, help_text = on_terminal(folder, "--help", stream="stdout")
    assert "\x1b[1m" in help_text
    for arguments in (["query", "support", "chat.txt", "-n1"], ["show", "chat.txt:1", "-C0"]):
        for more in ({}, {"NO_COLOR": "1"}):
            _, shown = on_terminal(folder, *arguments, stream="stdout", **env, **more)
            assert f";vscode://file{folder}/chat.txt:1\x1b\\" in shown
            assert ("\x1b[" in shown) is not bool(more)
    _, listed = on_terminal(folder, "query", "support", "-l", stream="stdout", **env)
    assert listed.startswith(f"\x1b]8;;vscode://file{folder}/chat.txt:1\x1b\\chat.txt\x1b]8;;")


@pytest.mark.parametrize(
    "arguments", [["query", "support", "chat.txt", "-n1"], ["show", "chat.txt:1", "-C0"]]
)
def test_a_pipe_is_plain_whatever_the_terminal_and_coloured_or_linked_on_request(folder: Path, arguments):
    env = environment(TERM="xterm-kitty", FORCE_HYPERLINK="1")
    assert b"\x1b" not in smartsearch(folder, *arguments, env=env).stdout
    assert b"\x1b]8;" in smartsearch(folder, *arguments, "--hyperlinks", "always", env=env).stdout
    assert b"\x1b[" in smartsearch(folder, *arguments, env=env | {"CLICOLOR_FORCE": "1"}).stdout
    for form in ("json", "md", "context"):
        ran = smartsearch(folder, *arguments, "--format", form, "--hyperlinks", "always", "--color", "always")
        assert b"\x1b" not in ran.stdout


@needs_terminal
def test_progress_is_for_the_terminal_and_the_records_for_the_pipe(folder: Path):
    questions = [{"id": n, "question": "support", "paths": ["chat.txt"]} for n in range(3)]
    (folder / "q.jsonl").write_text("\n".join(map(json.dumps, questions)), encoding="utf-8")
    piped, shown = on_terminal(folder, "batch", "q.jsonl", "-n1", stream="stderr")
    assert [json.loads(line)["id"] for line in piped.splitlines()] == [0, 1, 2]
    assert "3/3" in shown
