"""No reader takes more than linear time over a file that repeats itself."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from smartsearch.errors import InputError
from smartsearch.transcripts import read
from tests.transcripts.test_fuzz import each_sample, is_one_document, put, records

SUSPECT = 0.1
"""Seconds from which a long file is looked at closely."""


def renamed(value: Any, n: int) -> Any:
    """A copy whose strings of one word are its own, as ids are."""
    if isinstance(value, dict):
        return {key: renamed(inner, n) for key, inner in value.items()}
    if isinstance(value, list):
        return [renamed(inner, n) for inner in value]
    return f"{value}{n}" if isinstance(value, str) and value.isalnum() else value


def grown(sample: Path, size: int) -> str:
    """A sample with its lines, or its longest list of records, so often that it is about `size` long."""
    text = sample.read_text(encoding="utf-8")
    times = range(size // len(text) + 1)
    if sample.suffix == ".jsonl":
        return "\n".join(json.dumps(renamed(json.loads(x), n)) for n in times for x in text.splitlines() if x)
    value = json.loads(text) if is_one_document(sample) else None
    longest = max(records(value), key=len, default=None)
    if longest is None:
        return f"{text}\n" * len(times)
    longest[:] = [renamed(one, n) for n in times for one in longest]
    return json.dumps(value)


def seconds(path: Path, text: str) -> float:
    """How long reading takes once the text stands in the file."""
    path.write_text(text, encoding="utf-8", errors="replace")
    begun = time.process_time()
    with suppress(InputError):
        read([str(path)])
    return time.process_time() - begun


def is_linear(path: Path, grown: Callable[[int], str], short: int, factor: int) -> bool:
    """Whether a file so many times as long takes less than half of what quadratic time would be."""
    if seconds(path, grown(short * factor)) < SUSPECT:
        return True
    ratios = (
        seconds(path, grown(short * factor)) / max(seconds(path, grown(short)), 0.001) for _ in range(3)
    )
    return any(ratio < factor**2 / 2 for ratio in ratios)  # one quiet moment of the machine is enough


@each_sample
def test_a_file_many_times_as_long_takes_linear_time(tmp_path: Path, sample: Path):
    path = put(tmp_path, sample, b"")
    assert is_linear(path, lambda size: grown(sample, size), 100_000, 10)


def said(number: int) -> str:
    return f'{{"id":"m{number}","type":"user","timestamp":"2025-01-01T00:00:00Z","content":"hi"}}'


def signal(size: int) -> str:
    """A Signal message of nothing but mentions."""
    ranges = [{"start": n, "mentionAci": "a"} for n in range(size // 35)]
    text = {"body": "\ufffc" * len(ranges), "bodyRanges": ranges}
    item = {"chatId": "1", "authorId": "1", "dateSent": "1683554161000", "standardMessage": {"text": text}}
    head = [{"version": "1", "backupTimeMs": "1"}, {"recipient": {"id": "1", "contact": {"aci": "a"}}}]
    return "\n".join(map(json.dumps, [*head, {"chatItem": item}]))


def sigtop(size: int) -> str:
    """The same from Signal Desktop."""
    ranges = [{"start": n, "replacementText": "Maya"} for n in range(size // 41)]
    about = {"conversationId": "1", "sent_at": 1683554161000, "schemaVersion": 1, "type": "incoming"}
    return json.dumps([{**about, "body": "\ufffc" * len(ranges), "bodyRanges": ranges}])


def mail(kind: str, body: str) -> str:
    head = "From a@b Mon May 08 13:56:00 2023\nFrom: a <a@b>\nSubject: x\n"
    return f"{head}Content-Type: {kind}\n\nhi\n{body}\n"


def nested(size: int) -> str:
    """A mail of many parts in parts, and of many short lines in the innermost."""
    parts = (f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(300))
    return mail("multipart/mixed; boundary=b", "--b\n" + "".join(parts) + "\n" + "x\n" * (size // 2))


ATTACKS: dict[str, Callable[[int], str]] = {
    "a.md": lambda size: f"Maya: a\nJonas: b\n# {' ' * (size // 20)}x\n",
    "name.txt": lambda size: f"Maya: a\nJonas: b\nMaya: {' ' * size}\x0b\n",
    "element.txt": lambda size: "\n".join(
        "5/8/2023, 1:56:00 PM - " + (f"* N{n} waves" if n % 2 else f"N{n}: hi") for n in range(size // 100)
    ),
    "gemini.jsonl": lambda size: "\n".join(
        [
            '{"sessionId":"s","projectHash":"p"}',
            *map(said, range(size // 200)),
            *(f'{said(-n)}\n{{"$rewindTo":"m-{n}"}}' for n in range(1, size // 200)),
        ]
    ),
    "signal.jsonl": signal,
    "sigtop.json": sigtop,
    "parameters.mbox": lambda size: mail("text/plain" + ";a" * (size // 2), ""),
    "quotes.mbox": lambda size: mail('text/plain; a="' + ';"' * (size // 2), ""),
    "nested.mbox": nested,
    "html.mbox": lambda size: mail("text/html", "<" + "a" * size),
    "MyActivity.json": lambda size: json.dumps(
        [
            {
                "header": "Gemini Apps",
                "title": "Prompted x",
                "time": "2025-01-01T00:00:00Z",
                "safeHtmlItem": [{"html": "<" + "a" * size}],
            }
        ]
    ),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_what_took_quadratic_time_takes_linear(tmp_path: Path, name: str):
    assert is_linear(tmp_path / name, ATTACKS[name], 90_000, 10)
