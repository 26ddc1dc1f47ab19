"""Our systems as providers of the Agent Memory Benchmark (github.com/vectorize-io/agent-memory-benchmark).

With its package and ours in one environment, instead of its own command `omb`:

    python benchmarks/amb/provider.py run --dataset locomo --split locomo10 --memory smartsearch-xmemory-rule

The harness calls `prepare`, `ingest` with documents (sessions, or whole chats) and `retrieve`. What it gets
back are documents of the same ids, best first, with the turns that our system keeps of each, as said.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path

from memory_bench.memory import REGISTRY
from memory_bench.memory.base import MemoryProvider
from memory_bench.models import Document

from smartsearch import systems
from smartsearch.bench.store import digest
from smartsearch.config import Config
from smartsearch.errors import InputError
from smartsearch.models.loading import load_tools
from smartsearch.retrieve.grep import Haystack
from smartsearch.systems.base import quietly
from smartsearch.text.times import to_iso
from smartsearch.transcripts import read
from smartsearch.types import Corpus, Turn


class Provider(MemoryProvider):
    """One system, with a memory for each user. Without documents of a user nothing is found for them."""

    kind = "local"
    provider = "smartsearch"
    concurrency = 1
    system = "smartsearch"

    def __init__(self) -> None:
        self._config = Config(system=self.system)
        self._loaded = systems.load(self._config, load_tools)
        self._turns: dict[str | None, dict[str, list[Turn]]] = {}
        self._ready: dict[str | None, tuple[Haystack, object]] = {}
        self._store: Path | None = None

    def prepare(self, store_dir: Path, unit_ids: set[str] | None = None) -> None:  # noqa: ARG002
        """Memories that are costly are kept below `store_dir`."""
        self._store = store_dir

    def ingest(self, documents: list[Document]) -> None:
        """Read documents, over those of the same id, and make the memories of their users."""
        for document in documents:
            self._turns.setdefault(document.user_id, {})[document.id] = turns(document)
        self._ready.pop(None, None)
        for user in {document.user_id for document in documents}:
            self._remember(user)

    def retrieve(
        self, query: str, k: int | None = None, user_id: str | None = None, query_timestamp: str | None = None
    ) -> tuple[list[Document], None]:
        """The documents, `k` at most, with what a search of the user's chats keeps of them within its budget.

        Without a user it searches all chats. No raw response: some of the harness's prompts would read that.
        """
        if user_id not in self._ready:
            if user_id is not None or not self._turns:
                return [], None
            self._remember(None)
        haystack, memory = self._ready[user_id]
        config = replace(self._config, now=to_iso(query_timestamp)[:10] if query_timestamp else "")
        kept: dict[str, list[int]] = {}
        for hit in self._loaded.search(query, haystack, memory, config).hits:
            kept.setdefault(hit.turn.path, []).append(hit.index)
        found = [(name, [haystack.corpus.turns[index] for index in sorted(kept[name])]) for name in kept]
        made = [(name, "\n".join(turn.rendered for turn in some)) for name, some in found]
        return [Document(id=name, content=text, user_id=user_id) for name, text in made[:k]], None

    def _remember(self, user: str | None) -> None:
        own = self._turns if user is None else {user: self._turns[user]}
        said = [turn for documents in own.values() for some in documents.values() for turn in some]
        haystack, folder = Haystack(Corpus(tuple(said))), None
        if self._store and self._loaded.card.keeps:
            folder = self._store / digest(user or "")
            folder.mkdir(parents=True, exist_ok=True)
        self._ready[user] = haystack, self._loaded.prepare(haystack, folder, quietly)


def turns(document: Document) -> list[Turn]:
    """A document as our readers see it: its messages, else its text, as prose where it is no chat.

    Turns without a time have the document's.
    """
    text = json.dumps(document.messages) if document.messages else document.content
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"chat{'.json' if text.lstrip()[:1] in ('[', '{') else '.txt'}"
        path.write_text(text, encoding="utf-8")
        try:
            corpus = read([str(path)])
        except InputError:
            corpus = read([str(path)], input_format="prose")
    time = to_iso(document.timestamp) if document.timestamp else ""
    about = {"path": document.id, "conversation": document.id, "session": document.id}
    return [replace(turn, **about, time=turn.time or time) for turn in corpus.turns]


def register() -> None:
    """Make every system of ours known to the harness, by names that none of its own has."""
    for name in systems.SYSTEMS:
        card = systems.card(name)
        shown = name if name == Provider.system else f"smartsearch-{card.shown}"
        REGISTRY[shown] = type(
            f"Provider_{name}", (Provider,), {"name": shown, "description": card.summary, "system": name}
        )


register()

if __name__ == "__main__":
    from memory_bench.cli import app

    app()
