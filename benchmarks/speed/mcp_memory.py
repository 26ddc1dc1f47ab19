"""An agent's waiting, and memory over many searches: `python benchmarks/speed/mcp_memory.py -n 200 CHATS`.

Starts `smartsearch mcp` over CHATS, shakes hands, asks questions made of the transcripts' own words, each
different, expands the best hit of each, and prints times and memory. Options after `--` go to the server.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import time
from statistics import median
from typing import Any

from smartsearch import transcripts


class Client:
    """A client that waits for each answer."""

    def __init__(self, arguments: list[str]) -> None:
        self.start = time.perf_counter()
        command = [sys.executable, "-m", "smartsearch", "mcp", *arguments]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number = 0

    def tell(self, message: dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        assert self.process.stdout
        self.number += 1
        self.tell({"id": self.number, "method": method, "params": params})
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())["result"]
        return answer

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        told: dict[str, Any] = self.ask("tools/call", name=tool, arguments=arguments)["structuredContent"]
        return told


def timed(client: Client, tool: str, **arguments: Any) -> tuple[float, dict[str, Any]]:
    start = time.perf_counter()
    told = client.call(tool, **arguments)
    return time.perf_counter() - start, told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", default=["docs/samples"])
    parser.add_argument("-n", "--searches", type=int, default=200)
    parser.add_argument("--every", type=int, default=50)
    own, _, options = (part.split("\0") for part in "\0".join(sys.argv[1:]).partition("\0--\0"))
    given = parser.parse_args([argument for argument in own if argument])
    words = sorted(
        {w for turn in transcripts.read(given.paths).turns for w in re.findall(r"\w{4,}", turn.text)}
    )
    draw = random.Random(1)
    client = Client([*given.paths, *filter(None, options)])
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "0"},
    }
    client.ask("initialize", **hello)
    print(f"initialize answered after {time.perf_counter() - client.start:.2f} s", flush=True)
    client.tell({"method": "notifications/initialized"})
    client.ask("tools/list")
    spent: list[float] = []
    for number in range(1, given.searches + 1):
        question = f"When did {' '.join(draw.sample(words, 4))}?"
        seconds, found = timed(client, "search", question=question)
        if number <= 2:
            print(f"search {number}: {seconds:.2f} s", flush=True)
        for hit in found["hits"][:1]:
            client.call("expand", ids=[hit["id"]])
        spent.append(seconds)
        if number % given.every == 0 or number == 1:
            held = client.call("status")["warm"]["rss_bytes"] / 1e6
            print(f"{number:5} searches: {held:6.1f} MB, median {median(spent) * 1000:.0f} ms", flush=True)
            spent = []
    start = time.perf_counter()
    assert client.process.stdin
    client.process.stdin.close()
    code = client.process.wait()
    print(f"ended with {code} {time.perf_counter() - start:.2f} s after its input was closed")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
