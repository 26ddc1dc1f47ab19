"""What an index beside us costs: SQLite's FTS5 over made chats, by trigrams and by words.

`python scale_engines.py CHATS DATABASE` makes both and asks them; one line of JSON. The trigram index finds
what our substring match finds (each hit is verified against the text); the one by words with positions
stands for what Lucene or Tantivy hold.
"""

from __future__ import annotations

import json
import re
import sqlite3
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent / "speed"))

import corpus

from smartsearch import transcripts

WANTED = 500
"""Candidates taken of the index by words, for our rankers to read."""
Ask = Callable[[sqlite3.Connection, Sequence[str], Sequence[str]], list[int]]
TABLES = {
    "trigram": "content='', detail=none, tokenize='trigram'",
    "words": "content='', tokenize='unicode61'",
}


def main(chats: Path, database: Path) -> dict[str, Any]:
    """Turns, bytes of text, and for each index seconds to make it, bytes, milliseconds of a question."""
    texts = [f"{turn.speaker}: {turn.text}" for turn in transcripts.read([str(chats)]).turns]
    asked = [terms(fact.question) for fact in corpus.FACTS]
    found: dict[str, Any] = {"turns": len(texts), "text_bytes": sum(len(text.encode()) for text in texts)}
    for name, options in TABLES.items():
        file = database.with_suffix(f".{name}.db")
        file.unlink(missing_ok=True)
        store = sqlite3.connect(file)
        cpu = time.process_time()
        store.execute(f"CREATE VIRTUAL TABLE turns USING fts5(text, {options})")
        store.executemany("INSERT INTO turns(rowid, text) VALUES (?, ?)", enumerate(texts))
        store.execute("INSERT INTO turns(turns) VALUES ('optimize')")
        store.commit()
        spent = time.process_time() - cpu
        ask = by_trigrams if name == "trigram" else by_words
        times, hits = zip(*(_timed(ask, store, texts, said) for said in asked))
        found[name] = {
            "build_cpu": spent,
            "bytes": file.stat().st_size,
            "query_ms": statistics.median(times) * 1000.0,
            "hits": statistics.median(hits),
        }
        store.close()
        file.unlink()
    return found


def terms(question: str) -> list[str]:
    """The words of a question that a trigram index can find and a stop list would keep."""
    return [word for word in re.findall(r"\w{4,}", question.lower()) if word not in ("when", "where", "what")]


def by_trigrams(store: sqlite3.Connection, texts: Sequence[str], words: Sequence[str]) -> list[int]:
    """Turns that contain any of the words: candidates by trigrams, each verified."""
    match = " OR ".join(
        "(" + " AND ".join(f'"{word[n : n + 3]}"' for n in range(len(word) - 2)) + ")" for word in words
    )
    rows = store.execute("SELECT rowid FROM turns WHERE turns MATCH ?", (match,))
    return [row for (row,) in rows if any(word in texts[row].lower() for word in words)]


def by_words(store: sqlite3.Connection, _: Sequence[str], words: Sequence[str]) -> list[int]:
    """The best WANTED turns for the words by BM25."""
    match = " OR ".join(f'"{word}"' for word in words)
    rows = store.execute("SELECT rowid FROM turns WHERE turns MATCH ? ORDER BY rank LIMIT ?", (match, WANTED))
    return [row for (row,) in rows]


def _timed(
    ask: Ask, store: sqlite3.Connection, texts: Sequence[str], words: Sequence[str]
) -> tuple[float, int]:
    start = time.perf_counter()
    found = len(ask(store, texts, words))
    return time.perf_counter() - start, found


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), Path(sys.argv[2]))))
