"""benchmarks/amb: our systems behind the harness's documented methods, whose package is stood in for here."""

import importlib.util
import json
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from smartsearch.models import loading
from tests.cli.fakes import fake_tools


class MemoryProvider(ABC):
    @abstractmethod
    def ingest(self, documents): ...

    @abstractmethod
    def retrieve(self, query, k=10, user_id=None, query_timestamp=None): ...


@dataclass
class Document:
    id: str
    content: str
    user_id: str | None = None
    messages: list[dict] | None = None
    timestamp: str | None = None
    context: str | None = None


@pytest.fixture
def registry(monkeypatch) -> dict[str, type]:
    """What the harness knows once our file was loaded; the models are stand-ins."""
    found: dict[str, type] = {"bm25": object}
    parts = {"": {}, ".memory": {"REGISTRY": found}, ".memory.base": {"MemoryProvider": MemoryProvider}}
    for name, values in {**parts, ".models": {"Document": Document}}.items():
        module = ModuleType(f"memory_bench{name}")
        vars(module).update(values)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(loading, "load_tools", fake_tools)
    path = Path(__file__).parents[2] / "benchmarks" / "amb" / "provider.py"
    spec = importlib.util.spec_from_file_location("amb_provider", path)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    return found


def session(*said: str) -> str:
    turns = (line.split(": ") for line in said)
    return json.dumps([{"speaker": who, "dia_id": str(n), "text": t} for n, (who, t) in enumerate(turns)])


DOCUMENTS = [
    Document(
        "s1",
        session("Mara: I glazed bowls", "Ilya: I saw Oscar"),
        "ann",
        timestamp="2023-05-08T10:00:00+00:00",
    ),
    Document("s2", session("Ilya: rain", "Mara: Oscar chased gulls", "Ilya: poor Oscar, poor gulls"), "ann"),
    Document("s3", "", "bob", messages=[{"role": "user", "content": "my parrot Oscar bit Petra"}]),
]


def test_every_system_is_registered_and_none_of_theirs_replaced(registry):
    assert registry["bm25"] is object
    names = {
        "smartsearch",
        "smartsearch-xmemory-rule",
        "smartsearch-qrmem-rule",
        "smartsearch-bm25_neighbours",
    }
    assert names <= registry.keys()


@pytest.mark.parametrize("name", ["smartsearch", "smartsearch-grep"])
def test_prepare_ingest_retrieve(registry, tmp_path, name):
    provider = registry[name]()
    assert provider.retrieve("What about Oscar?") == ([], None)
    provider.prepare(tmp_path, unit_ids={"ann", "bob"})
    provider.ingest(DOCUMENTS[:2])
    provider.ingest(DOCUMENTS[2:])
    asked = "What about Oscar and the gulls?"
    found, raw = provider.retrieve(asked, user_id="ann", query_timestamp="2023-06-01")
    assert raw is None
    assert [(one.id, one.user_id) for one in found] == [("s2", "ann"), ("s1", "ann")]
    assert "Mara: Oscar chased gulls\nIlya: poor Oscar, poor gulls" in found[0].content
    assert "[2023-05-08] Ilya: I saw Oscar" in found[1].content
    assert [one.id for one in provider.retrieve("gulls of Oscar?", k=1, user_id="ann")[0]] == ["s2"]
    assert [one.id for one in provider.retrieve("Oscar?", user_id="bob")[0]] == ["s3"]
    assert provider.retrieve("Oscar?", user_id="eve") == ([], None)
    assert {one.id for one in provider.retrieve("Oscar?")[0]} == {"s1", "s2", "s3"}


def test_a_document_that_comes_again_takes_the_place_of_the_first(registry):
    provider = registry["smartsearch-grep"]()
    provider.ingest(DOCUMENTS)
    provider.ingest([Document("s3", session("Petra: the parrot is called Otto"), "bob")])
    assert provider.retrieve("Oscar?", user_id="bob")[0] == []
    assert provider.retrieve("parrot?", user_id="bob")[0][0].content == "Petra: the parrot is called Otto"


@pytest.mark.parametrize("content", ["", "[]", "{broken Oscar", '{"note": "Oscar"}', "Oscar.\n\nNo chat."])
def test_a_document_that_is_no_chat_is_prose_and_costs_no_other(registry, content):
    provider = registry["smartsearch-grep"]()
    provider.ingest([Document("odd", content, "bob"), *DOCUMENTS])
    found = provider.retrieve("Oscar?", user_id="bob")[0]
    assert {one.id for one in found} == ({"s3", "odd"} if "Oscar" in content else {"s3"})
