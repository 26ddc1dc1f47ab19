"""What a command imports before it does anything: the prompt waits for it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from smartsearch.cli.app import COMMANDS, application

HEAVY = (
    *("spacy", "torch", "onnxruntime", "numpy", "tokenizers"),
    *("transformers", "sentence_transformers", "pylate"),
)
SAMPLES = Path(__file__).parents[2] / "docs" / "samples"
UNUSED = ("spacy", "thinc", "srsly", "pydantic", "torch", "transformers", "sentence_transformers", "pylate")


def imported(*arguments: str) -> set[str]:
    command = [sys.executable, "-X", "importtime", "-m", "smartsearch", *arguments]
    env = {**os.environ, "_TYPER_STANDARD_TRACEBACK": "1"}
    ran = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    lines = [line for line in ran.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines}


LIGHT = {
    *("smartsearch.__main__", "smartsearch.errors", "smartsearch.cli", "smartsearch.cli.app"),
    "smartsearch.cli.words",
    *("smartsearch.runtime", "smartsearch.runtime.lean", "smartsearch.runtime.ending"),
    "smartsearch.output.masking",
    *(f"smartsearch.output{part}" for part in ("", ".stream", ".record", ".plain")),
}


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["formats", "--json"], ["query", "--help"]])
def test_what_needs_no_model_imports_none_and_help_imports_no_command(arguments: list[str]):
    modules = imported(*arguments)
    assert "smartsearch.cli.app" in modules
    assert not {name for name in modules if name.split(".")[0] in HEAVY}
    if len(arguments) == 1:
        assert {name for name in modules if name.startswith("smartsearch.")} <= LIGHT


ASKED = """
import atexit, gc, sys
from smartsearch.runtime import ending
searched = lambda: sum(one["collections"] for one in gc.get_stats())
before = searched()
atexit.register(lambda: print("Python's own end", file=sys.stderr))
ending.add(lambda: print(searched() - before, file=sys.stderr))
ending.add(lambda: print(*{name.split(".")[0] for name in sys.modules}, file=sys.stderr))
from smartsearch.__main__ import main
main()
"""


@pytest.mark.process
@pytest.mark.parametrize(("options", "networks"), [([], True), (["--fast"], False)])
def test_a_query_imports_neither_spacy_nor_torch_seeks_no_garbage_and_ends_at_once(options, networks):
    command = [sys.executable, "-c", ASKED, "query", "Where is the key?", str(SAMPLES), *options]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Python's own end" not in ran.stderr
    told = sorted(ran.stderr.splitlines()[-2:], key=len)
    assert int(told[0]) < 10  # of what is made before `main`; Python's own threshold gives a hundred
    packages = set(told[1].split())
    assert {"numpy", "tokenizers"} <= packages
    assert ("onnxruntime" in packages) == networks
    assert packages.isdisjoint(UNUSED)


CALLED = """
import os, sys
from smartsearch.cli import app
app.main = lambda: print(os.environ["OPENBLAS_NUM_THREADS"], "numpy" in sys.modules, flush=True)
from smartsearch.__main__ import main
main()
"""


@pytest.mark.parametrize(("given", "threads"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "3"}, "3")])
def test_numpy_is_loaded_later_and_with_one_thread_where_nobody_says_how_many(given, threads):
    others = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    ran = subprocess.run([sys.executable, "-c", CALLED], capture_output=True, text=True, env=others | given)
    assert ran.stdout.split() == [threads, "False"]


def test_summaries_are_the_first_lines_of_what_the_commands_say():
    app = application([], whole=True)
    said = {info.name: info.callback.__doc__ for info in app.registered_commands}
    said |= {info.name: info.typer_instance.info.help for info in app.registered_groups}
    assert said.keys() == COMMANDS.keys()
    for name, command in COMMANDS.items():
        assert " ".join(said[name].split("\n\n")[0].split()).startswith(command)
    named, unknown = application(["query", "batch"]), application(["nonsense"])
    assert [info.name for info in named.registered_commands] == ["query"], "the one that is named"
    assert [info.name for info in unknown.registered_commands] == list(COMMANDS)
