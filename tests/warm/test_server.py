"""The warm process inside this one: it says what a search here says, and refuses what it must not answer."""

from __future__ import annotations

import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from smartsearch.ask.door import find
from smartsearch.ask.library import Library
from smartsearch.ask.scope import Scope
from smartsearch.config import Config
from smartsearch.serve.warm import client, place, wire
from smartsearch.serve.warm.server import Server
from smartsearch.serve.work import Models
from smartsearch.systems.smartsearch import SmartSearch
from tests.cli.fakes import fake_tools

QUESTION, WHERE = "Where does Mara walk the dog?", Scope(("chat.txt",))
Ask = Callable[..., wire.Answer]


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ask]:
    """Asks a server that ends when it has answered; the path of its socket is short, as sockets want it."""
    folder = tempfile.mkdtemp(prefix="ss")
    spot = place.named(Path(folder), "one")
    monkeypatch.setattr(place, "place", lambda config, make=False: spot)
    monkeypatch.chdir(tmp_path)
    Path("chat.txt").write_text("Mara: my dog\nIlya: a dog\nMara: the garden\n", encoding="utf-8")

    def question(config: Config, models: Models | None = None, **more: bool) -> wire.Answer:
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
    config = Config(top_k=1)
    here = find(QUESTION, WHERE, config, lambda: SmartSearch(fake_tools(config)), Library()).result
    told = asked(config, explain=explain).result
    assert told.hits == here.hits
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
