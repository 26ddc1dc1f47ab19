"""No reader takes more than linear time over a file that repeats one piece of itself.

`SMARTSEARCH_FUZZ=200 pytest tests/transcripts/test_repeats.py` tries so many pieces of each sample.
"""

from __future__ import annotations

import copy
import json
import random
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from smartsearch.errors import InputError
from smartsearch.transcripts import read
from tests.transcripts.test_fuzz import TRIES, each_sample, is_one_document, put

SHORT, FACTOR = 16_000, 6
"""Characters that are repeated, and how many times as many the second time."""
SUSPECT = 0.1
"""Seconds from which a long file is looked at closely."""
PIECES = (
    *"[](){}<>*_#->:,;\"'`~|/\\ \t\u200e\ufffc&=@!?.0a",
    *(
        "> ",
        "- ",
        "* ",
        "<a ",
        "</",
        "&#1;",
        "\\n",
        "<@U1>",
        "<@1>",
        ": ",
        "a b ",
        "1:00 ",
        "2023-05-08 ",
        "a:",
    ),
    *("](", "![a](", "<v a>", "<!--", "$(", "a.b(", "\\u0041"),
)


def numbered(piece: str, n: int) -> str:
    """A copy whose names are its own: every run of digits ends in the copy's number."""
    return piece.replace("1", f"1{n}").replace("a", f"a{n}", 1)


def repeats(text: str, chance: random.Random) -> Callable[[int], str]:
    """How a text grows by a piece within a line, or by a few of its lines."""
    lines = text.split("\n")
    n = chance.randrange(len(lines))
    line, at = lines[n], chance.randrange(len(lines[n]) + 1)
    before, after = "\n".join([*lines[:n], ""]), "\n".join(["", *lines[n + 1 :]])
    piece = chance.choice([*PIECES, line[at : at + chance.randrange(1, 12)] or " "])
    block = "\n".join(lines[n : n + chance.randrange(1, 6)]) + "\n"
    return chance.choice(
        [
            lambda size: before + line[:at] + piece * (size // len(piece)) + line[at:] + after,
            lambda size: before + f"{piece}\n" * (size // (len(piece) + 1)) + line + after,
            lambda size: before + block * (size // len(block)) + after,
            lambda size: before + "".join(numbered(block, k) for k in range(size // len(block))) + after,
        ]
    )


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every member of a document, as its holder and its key."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from places(value[key])


def renamed(value: Any, n: int) -> Any:
    """A copy whose strings of one word are its own, as ids are."""
    if isinstance(value, dict):
        return {key: renamed(inner, n) for key, inner in value.items()}
    if isinstance(value, list):
        return [renamed(inner, n) for inner in value]
    return f"{value}{n}" if isinstance(value, str) and value.isalnum() else value


def json_repeats(text: str, chance: random.Random) -> Callable[[int], str]:
    """How a document grows inside a string, by a member of a list, or by keys of an object."""
    known = [json.loads(text)]
    which, piece = chance.randrange(sum(1 for _ in places(known))), chance.choice(PIECES)

    def grown(size: int) -> str:
        value = copy.deepcopy(known)
        holder, key = list(places(value))[which]
        one = holder[key]
        times = size // (len(json.dumps(one)) + 2) + 1
        if isinstance(one, str):
            holder[key] = one + piece * (size // len(piece))
        elif isinstance(holder, list) and holder is not value:
            holder[key : key + 1] = [renamed(one, n) for n in range(times)]
        elif isinstance(one, list):
            holder[key] = one * times
        elif isinstance(holder, dict):
            holder.update({f"{key}{n}": one for n in range(times)})
        return json.dumps(value[0])

    return grown


def jsonl_repeats(text: str, chance: random.Random) -> Callable[[int], str]:
    """As `json_repeats` for one line of many, or the line itself, many times."""
    lines = [line for line in text.split("\n") if line.strip()]
    n = chance.randrange(len(lines))
    one, inside = json.loads(lines[n]), json_repeats(lines[n], chance)
    if chance.randrange(2):
        return lambda size: "\n".join([*lines[:n], inside(size), *lines[n + 1 :]])
    copies = lambda size: (json.dumps(renamed(one, k)) for k in range(size // len(lines[n])))  # noqa: E731
    return lambda size: "\n".join([*lines[:n], *copies(size), *lines[n + 1 :]])


def growing(sample: Path, chance: random.Random) -> Callable[[int], str]:
    text = sample.read_text(encoding="utf-8")
    if is_one_document(sample):
        return json_repeats(text, chance)
    return jsonl_repeats(text, chance) if sample.suffix == ".jsonl" else repeats(text, chance)


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
def test_a_repeated_piece_takes_linear_time(tmp_path: Path, sample: Path):
    path = put(tmp_path, sample, b"")
    for seed in range(TRIES):
        grown = growing(sample, random.Random(f"{sample.name} {seed}"))
        assert is_linear(path, grown, SHORT, FACTOR), (seed, grown(400)[-1000:])


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
