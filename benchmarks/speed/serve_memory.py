"""The memory of a warm process over many questions: `python benchmarks/speed/serve_memory.py -n 10000 CHATS`.

Starts a server of its own, asks questions made of the transcripts' own words, each different, and prints its
memory every 1,000. One of the chats is a copy that grows, so that transcripts are read again and forgotten.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import tempfile
import time
from pathlib import Path

from smartsearch import serve_cli, transcripts
from smartsearch.ask import Scope
from smartsearch.config import Config
from smartsearch.warm import client, place, wire


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", default=["docs/samples"])
    parser.add_argument("-n", "--questions", type=int, default=10_000)
    parser.add_argument("--every", type=int, default=1000)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="ss"))
    os.environ["XDG_RUNTIME_DIR"] = str(folder)
    try:
        measure(given.paths, given.questions, given.every, folder / "grows.txt")
    finally:
        serve_cli.stop_all()
        shutil.rmtree(folder)


def measure(paths: list[str], questions: int, every: int, grows: Path) -> None:
    turns = transcripts.read(paths).turns
    words = sorted({word for turn in turns for word in re.findall(r"\w{4,}", turn.text)})
    config = Config(daemon="always")
    socket = place.place(config, make=True).socket
    scopes = [Scope((path,)) for path in dict.fromkeys(turn.path for turn in turns)]
    scopes += [Scope(tuple(paths)), Scope((str(grows),))]
    draw = random.Random(1)
    print("questions  rss_mb  ms_a_question")
    start = time.perf_counter()
    for number in range(questions + 1):
        if number % every == 0:
            spent = (time.perf_counter() - start) * 1000 / every
            held = (client.status(socket) or {}).get("rss_bytes", 0) / 1e6
            print(f"{number:9}  {held:6.0f}  {spent if number else 0:13.1f}", flush=True)
            start = time.perf_counter()
        with grows.open("a" if number % 500 else "w", encoding="utf-8") as file:
            file.write(f"Ann: {' '.join(draw.sample(words, 12))}.\nBen: {' '.join(draw.sample(words, 8))}!\n")
        question = f"When did {' '.join(draw.sample(words, 4))}?"
        client.ask(wire.Request(question, draw.choice(scopes), config), None)


if __name__ == "__main__":
    main()
