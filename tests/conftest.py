"""What many tests share: which of them are slow, how much is tried, and a hand-made spaCy pipeline."""

import contextlib
import gc
import mmap
import os
import signal
import ssl
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from smartsearch import systems
from smartsearch.config import Config
from smartsearch.retrieve.grep import Haystack
from smartsearch.runtime.lean import standing_in
from smartsearch.systems.base import Empty
from smartsearch.systems.smartsearch import SmartSearch
from smartsearch.text.parse import Parser
from smartsearch.types import Corpus, Turn

with contextlib.suppress(ValueError):  # not in the main thread
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background starts deaf to it

HERE = Path(__file__).parent
fsync = os.fsync
SLOW = {
    "process": (
        *("cli/test_process.py", "cli/test_serve.py", "mcp/test_server.py"),
        *("runs/folder/test_run.py", "runs/folder/test_supervise.py", "runs/folder/test_worker.py"),
        *("test_silence.py", "runs/test_ray_engine.py"),
    ),
    "docs": ("docs/test_readme.py", "docs/test_guides.py"),
    "reports": ("bench/test_speed.py",),
    "torch": (
        *("rank/test_qrranker.py", "recipe/test_qrranker.py", "systems/test_qrranker.py"),
        *("training/test_adapt.py", "training/test_listwise.py", "training/test_restore.py"),
    ),
}
"""What `make test` leaves to `make test-all`, by marker; a test marked `quick` stays in both."""

collect_ignore = list(SLOW["torch"]) if find_spec("torch") is None else []

FUZZ = int(os.environ.get("SMARTSEARCH_FUZZ", "12"))
"""Examples a property is tried with. Up to 100 they are the same every time: no run fails by chance."""
settings.register_profile(
    "smartsearch",
    max_examples=FUZZ,
    deadline=None,
    derandomize=FUZZ <= 100,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("smartsearch")


def pytest_collection_modifyitems(items):
    """Give each test the marker of its file; what needs torch is skipped where there is none."""
    marker = {HERE / file: name for name, files in SLOW.items() for file in files}
    torchless = find_spec("torch") is None
    for item in items:
        if item.path in marker:
            item.add_marker(marker[item.path])
        if torchless and item.get_closest_marker("torch"):
            item.add_marker(pytest.mark.skip(reason="needs torch"))


LEXICON = {
    "PROPN": "Mara Ilya Petra Petrra Lisbon New York Quill Co Will Zoe June 五月",
    "NOUN": "dog group support flute kitchen organ organs flat flatmate work garden tiles festival",
    "VERB": "adopt adopted repair repairs moved play plays painted live lives",
    "AUX": "did does is was has can will",
    "NUM": "2023 7",
}
ENTITIES = {
    "PERSON": ["Mara", "Ilya", "Petra", "Will", "Zoe"],
    "GPE": ["Lisbon", "New York"],
    "ORG": ["Quill Co"],
    "DATE": ["7 June 2023", "June 2023"],
    "EVENT": ["Organ Festival"],
}


@pytest.fixture(scope="session", autouse=True)
def apart(tmp_path_factory):
    """No test reads or writes the user's own cache, meets a warm process that its developer has running, or
    leaves one behind: nothing does that under CI.

    Certificates, which a client of a language model reads, 25 ms a client, are left out: no test speaks TLS.
    Nothing waits for the disk: no test cuts the power.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.getbasetemp()))
        patch.setenv("CI", "1")
        patch.setattr(os, "fsync", lambda file: None)
        patch.setattr(ssl.SSLContext, "load_verify_locations", lambda *given, **named: None)
        yield


@pytest.fixture(scope="module")
def running():
    """A server of a language model; `reply` says what it says."""
    from tests.llm_server import llm_server

    with llm_server() as server:
        yield server


@pytest.fixture
def server(running):
    """The same, as new."""
    return running.reset()


def pytest_collection_finish():
    """What was collected stays to the end: to look through it for garbage costs 5% of all work."""
    gc.freeze()
    gc.set_threshold(200_000, 50, 1000)


UMASK = os.umask(0o022)
os.umask(UMASK)


def pytest_runtest_teardown():
    """`serve`, run in this very process, would make what comes after it private."""
    os.umask(UMASK)


@pytest.fixture(scope="session")
def nlp():
    with standing_in({} if "spacy" in sys.modules else {"torch": None}):  # a second of its import
        import spacy
    pipeline = spacy.blank("en")
    attributes = pipeline.add_pipe("attribute_ruler")
    for tag, words in LEXICON.items():
        for word in words.split():
            attributes.add([[{"TEXT": word}]], {"POS": tag})
    entities = pipeline.add_pipe("entity_ruler")
    named = ((label, name) for label, names in ENTITIES.items() for name in names)
    entities.add_patterns([{"label": label, "pattern": name} for label, name in named])
    return pipeline


@pytest.fixture
def parser(nlp):
    return Parser(nlp)


@pytest.fixture
def config():
    return Config()


@pytest.fixture
def zone(monkeypatch):
    """Sets the time zone of this process until the test ends: in the environment alone nobody reads it."""

    def be(name: str) -> None:
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield be
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def mapped(monkeypatch):
    """Maps a file and gives what writes into it; skips where the file system never tells of such a change."""

    monkeypatch.setattr(os, "fsync", fsync)  # which tells the time of a change
    with contextlib.ExitStack() as stack:

        def held(path: Path) -> Callable[[int, bytes], None]:
            file = stack.enter_context(path.open("r+b"))
            memory = stack.enter_context(mmap.mmap(file.fileno(), 0))

            def store(at: int, data: bytes) -> None:
                memory[at : at + len(data)] = data

            os.fsync(file.fileno())
            before = path.stat().st_mtime_ns
            time.sleep(0.01)  # the clock of times ticks every 4 ms
            store(0, memory[:1])
            if path.stat().st_mtime_ns == before:
                pytest.skip("a file system in memory")
            return store

        yield held


def corpus(*lines: str, session: str = "1") -> Corpus:
    """`speaker: text` lines as one conversation."""
    turns = []
    for number, line in enumerate(lines, start=1):
        speaker, _, text = line.partition(": ")
        place = {"path": "chat.txt", "line": number, "conversation": "c", "turn": str(number)}
        turns.append(Turn(text, speaker, session=session, **place))
    return Corpus(tuple(turns))


def haystack(*lines: str) -> Haystack:
    return Haystack(corpus(*lines))


def search(question, haystack, config, tools):
    """What SmartSearch with these models answers, cut and in order."""
    return systems.answer(SmartSearch(tools), question, haystack, Empty(), config)
