"""The memory of a warm process over many questions: `python benchmarks/speed/serve_memory.py -n 10000 CHATS`.

Starts a server of its own, asks questions made of the transcripts' own words, each different, and prints its
memory every 1,000. With --full-every 50 the models rank for every 50th only: thousands of questions take
minutes then. One of the chats is a copy that grows, so that transcripts are read again and forgotten.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from smartsearch import transcripts
from smartsearch.ask.library import Scope
from smartsearch.cli import serve as serve_cli
from smartsearch.config import Config
from smartsearch.serve.warm import client, place, wire

GROWS = 500
"""Questions after which the chat that grows begins anew."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", default=["docs/samples"])
    parser.add_argument("-n", "--questions", type=int, default=10_000)
    parser.add_argument("--every", type=int, default=1000)
    parser.add_argument("--full-every", type=int, default=1, help="the other questions are --rank none")
    parser.add_argument("--json", action="store_true", help="a line of JSON each time")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="ss"))
    os.environ["XDG_RUNTIME_DIR"] = str(folder)
    grows = folder / "grows.txt"
    try:
        if not given.json:
            print("questions  rss_mb  ms_a_full_question  ms_without_models")
        for found in measure(given.paths, given.questions, given.every, grows, given.full_every):
            full, cheap = (f"{found[name] or 0:.1f}" for name in ("ms_full", "ms_none"))
            line = f"{found['questions']:9}  {found['rss_mb']:6.0f}  {full:>18}  {cheap:>17}"
            print(json.dumps(found) if given.json else line, flush=True)
    finally:
        serve_cli.stop_all()
        shutil.rmtree(folder)


def measure(
    paths: list[str], questions: int, every: int, grows: Path, full_every: int = 1
) -> Iterator[dict[str, float | None]]:
    """After every so many questions what the server holds, and the median time of both kinds since."""
    turns = transcripts.read(paths).turns
    words = sorted({word for turn in turns for word in re.findall(r"\w{4,}", turn.text)})
    full, cheap = Config(daemon="always"), Config(daemon="always", rank=())
    socket = place.place(full, make=True).socket
    scopes = [Scope((path,)) for path in dict.fromkeys(turn.path for turn in turns)]
    scopes += [Scope(tuple(paths)), Scope((str(grows),))]
    draw = random.Random(1)
    spent: dict[bool, list[float]] = {True: [], False: []}
    for number in range(questions + 1):
        with grows.open("a" if number % GROWS else "w", encoding="utf-8") as file:
            said = random.Random(number % GROWS)  # the same lines each time it grows: new text fills caches
            file.write(f"Ann: {' '.join(said.sample(words, 12))}.\nBen: {' '.join(said.sample(words, 8))}!\n")
        question = f"When did {' '.join(draw.sample(words, 4))}?"
        ranked = number % full_every == 0
        start = time.perf_counter()
        client.ask(wire.Request(question, draw.choice(scopes), full if ranked else cheap), None)
        spent[ranked].append((time.perf_counter() - start) * 1000)
        if number % every == 0:
            held = (client.status(socket) or {}).get("rss_bytes", 0) / 1e6
            times = {
                name: median(spent[kind] or [0]) for kind, name in ((True, "ms_full"), (False, "ms_none"))
            }
            yield {"questions": number, "rss_mb": round(held, 1)} | {
                name: round(ms, 1) or None for name, ms in times.items()
            }
            spent = {True: [], False: []}


if __name__ == "__main__":
    main()
