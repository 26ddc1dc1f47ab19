"""The warm process inside this one: it says what a search here says, and refuses what it must not answer."""

import math
import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from smartsearch.ask.door import Door, Found
from smartsearch.ask.library import Library
from smartsearch.ask.scope import Request, Scope
from smartsearch.cli import serve
from smartsearch.config import Config
from smartsearch.errors import SmartsearchError
from smartsearch.models.tools import Tools
from smartsearch.rank.cache.vectors import TokenVectors, quantised
from smartsearch.rank.scorer import Scorer
from smartsearch.runtime.work import Job
from smartsearch.serve.models import Models
from smartsearch.serve.warm import client, place, wire
from smartsearch.serve.warm.server import Server
from smartsearch.systems.smartsearch import SmartSearch
from tests.cli.fakes import fake_tools
from tests.conftest import haystack

QUESTION, WHERE = "Where does Mara walk the dog?", Scope(("chat.txt",))
Ask = Callable[..., Found]


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ask]:
    """Asks a server that ends when it has answered; the path of its socket is short, as sockets want it."""
    folder = tempfile.mkdtemp(prefix="ss")
    spot = place.named(Path(folder), "one")
    monkeypatch.setattr(place, "place", lambda config, make=False: spot)
    monkeypatch.chdir(tmp_path)
    Path("chat.txt").write_text("Mara: my dog\nIlya: a dog\nMara: the garden\n", encoding="utf-8")

    def question(config: Config, models: Models | None = None, **more: bool) -> Found:
        server = Server(Config(), models or Models(Config(), fake_tools))

        def end(_: object) -> None:
            server._ending = True
            server._jobs.put(None)

        with socket.socket(socket.AF_UNIX) as listener, ThreadPoolExecutor(1) as pool:
            listener.bind(str(spot.socket))
            listener.listen()
            told = pool.submit(client.ask, wire.Request(QUESTION, WHERE, config, **more), None)
            told.add_done_callback(end)
            server.run(listener, idle=60)
            listener.shutdown(socket.SHUT_RDWR)
        return told.result()

    yield question
    shutil.rmtree(folder)


@pytest.mark.parametrize("explain", [True, False])
def test_the_answer_is_that_of_a_search_here_with_what_was_cut_if_that_is_shown(asked: Ask, explain: bool):
    config = Config(top_k=1, notes=("a project's file sets top_k = 1",))
    door = Door(lambda: SmartSearch(fake_tools(config)), Library())
    here = door.find(Request(QUESTION, WHERE, config)).result
    told = asked(config, explain=explain).result
    assert told.hits == here.hits
    assert told.warnings[:1] == here.warnings[:1] == config.notes
    assert [d.reason for d in told.budget.dropped] == ["top_k", "top_k"]
    assert [d.turn == h.turn for d, h in zip(told.budget.dropped, here.budget.dropped)] == [explain] * 2


def test_a_question_for_other_models_is_refused(asked: Ask):
    with pytest.raises(client.NotWarm, match="its models are others"):
        asked(Config(threads=Config().cores + 1))


def test_a_command_that_sees_other_files_is_not_answered(asked: Ask, monkeypatch: pytest.MonkeyPatch):
    seen = iter([((1, 1),), ((1, 2),)])
    monkeypatch.setattr(wire, "places", lambda scope: next(seen))
    with pytest.raises(client.NotWarm, match="it sees other files than you do"):
        asked(Config())


@pytest.mark.parametrize(("system", "state"), [("grep", "not loaded"), ("smartsearch", "ready")])
def test_the_models_load_for_the_system_that_needs_them(asked: Ask, system: str, state: str):
    models = Models(Config(), fake_tools)
    told = asked(Config(system=system), models).result
    assert (told.system, bool(told.hits)) == (system, True)
    assert models.state == state


class Ahead:
    """Makes vectors of turns, and calls `then` with how many it has read."""

    def __init__(self, then: Callable[[int], object]) -> None:
        self.read, self._then = 0, then

    def vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        self.read += len(texts)
        self._then(self.read)
        return [quantised(np.eye(2)) for _ in texts]


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Server, Ahead]]:
    """A server that was just asked about six turns, and reads one of them at a time."""
    monkeypatch.setattr("smartsearch.serve.warm.server.AHEAD", 1)
    monkeypatch.setattr("smartsearch.serve.warm.server.AHEAD_BYTES", math.inf)  # tests before may hold more

    def made(then: Callable[[Server, int], object]) -> tuple[Server, Ahead]:
        server = Server(Config(), Models(Config(), fake_tools))
        ahead = Ahead(lambda read: then(server, read))
        server._ahead = haystack(*(f"turn {n}" for n in range(6))), Scorer(len, vectors=ahead.vectors)
        return server, ahead

    return made


def test_a_question_stops_what_is_read_ahead_and_it_goes_on_afterwards(reading):
    question = Job(lambda: None, lambda outcome: None)

    def then(server: Server, read: int) -> None:
        if read in (2, 6):
            server._jobs.put(question if read == 2 else None)
            server._ending = read == 6

    server, ahead = reading(then)
    jobs = server._asked(idle=0)
    assert (next(jobs), ahead.read) == (question, 2)
    assert (list(jobs), ahead.read) == ([], 6)


def test_a_signal_to_end_stops_what_is_read_ahead(reading):
    server, ahead = reading(lambda server, read: setattr(server, "_ending", True) or server._jobs.put(None))
    assert (list(server._asked(idle=0)), ahead.read) == ([], 1)


def test_what_cannot_be_read_ahead_is_left_and_the_process_goes_on(reading):
    def then(server: Server, read: int) -> None:
        server._jobs.put(None)
        server._ending = True
        raise OSError("gone")

    server, ahead = reading(then)
    assert list(server._asked(idle=0)) == []
    assert (ahead.read, server._ahead) == (1, None)


def test_nothing_is_read_ahead_beyond_the_memory_for_it(reading, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("smartsearch.serve.warm.server.AHEAD_BYTES", 0)
    server, ahead = reading(lambda server, read: None)
    server._jobs.put(None)
    assert not server._read_ahead()
    assert ahead.read == 0


def keeping(config: Config) -> Tools:
    """Fake models whose ColBERT makes vectors of turns."""
    made = fake_tools(config)
    colbert = replace(made.scorers["colbert"], vectors=Ahead(lambda read: None).vectors)
    return replace(made, scorers={**made.scorers, "colbert": colbert})


def test_one_that_may_hold_little_forgets_transcripts_and_ends_where_that_is_not_enough(reading, monkeypatch):
    server, _ = reading(lambda server, read: None)
    server._most, shelf = 100, server._shelf
    holds = {"bytes": 100}
    monkeypatch.setattr("smartsearch.serve.warm.server.resident_bytes", lambda: holds["bytes"])
    assert server._fits()
    assert (server._ahead is None, server._shelf is shelf) == (False, True)
    holds["bytes"] = 101
    monkeypatch.setattr("smartsearch.serve.warm.server.release", lambda: holds.update(bytes=99))
    assert server._fits()
    assert (server._ahead is None, server._shelf is shelf) == (True, False)
    holds["bytes"] = 101
    monkeypatch.setattr("smartsearch.serve.warm.server.release", lambda: None)
    assert list(server._asked(idle=0)) == []


def test_a_server_is_told_to_read_the_newest_files_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for age, name in enumerate(("new.txt", "old.txt", "older.txt")):
        (tmp_path / name).write_text("Mara: a dog\n")
        os.utime(name, (10**9 - age,) * 2)
    for most, paths in {
        10**6: ("new.txt", "old.txt", "older.txt"),
        24: ("new.txt", "old.txt"),
        5: ("new.txt",),
    }.items():
        monkeypatch.setattr(serve, "NEWEST_BYTES", most)
        left = serve._newest(["."], Config())
        assert (left.scope.paths, left.folder) == (paths, str(tmp_path))


@pytest.mark.parametrize(("most", "read"), [(0, 3), (10_000, 3), (500, None)])
def test_what_a_question_left_is_read_ahead_unless_it_is_too_much(tmp_path, monkeypatch, most, read):
    monkeypatch.setattr("smartsearch.serve.warm.shelf.SETTLED", -1.0)
    (tmp_path / "chat.txt").write_text("Mara: my dog\nIlya: a dog\nMara: the garden\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    left = client.here(wire.Request("", WHERE, Config()))
    server = Server(Config(), Models(Config(), keeping), most=most)
    assert server.look(left) is (read is not None)
    assert (server._ahead and len(server._ahead[0])) == read
    monkeypatch.chdir(tmp_path)
    if read is None:
        with pytest.raises(SmartsearchError, match=r"^$"):
            server._answer(left, None)


@pytest.mark.parametrize(
    ("config", "wanted"), [(Config(), True), (Config(semantic="off"), False), (Config(typed=False), False)]
)
def test_what_was_asked_by_meaning_is_read_ahead(asked: Ask, monkeypatch, config: Config, wanted: bool):
    monkeypatch.setattr("smartsearch.serve.warm.shelf.SETTLED", -1.0)
    seen: list[object] = []

    class Spied(Server):
        def _readable(self, config: Config) -> object:
            seen.append(super()._readable(config))
            return seen[-1]

    monkeypatch.setattr("tests.warm.test_server.Server", Spied)
    asked(config, Models(Config(), keeping))
    assert [found and len(found[0]) for found in seen] == [3 if wanted else None]
