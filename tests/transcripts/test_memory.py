"""Small files that would take gigabytes, read under a limit on memory: they are refused, the others read."""

from __future__ import annotations

import gzip
import json
import struct
import subprocess
import sys
import textwrap
import zlib
from pathlib import Path

import pytest

from smartsearch.transcripts import read
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.large.density import check_values
from tests.transcripts.build import corpus, put, said, zipped

CHAT = "Maya: hi\nJonas: hello\n"
TWO = [("Maya", "hi"), ("Jonas", "hello")]
LINE = '{"role": "user", "content": "hello"}\n'
MOST_MEMORY = 1 << 30
"""Of addresses, of which an interpreter with its libraries takes a half."""


def channel(nickname: str, *contents: str) -> dict:
    mentions = [{"id": "1", "nickname": nickname}]
    messages = [
        {"id": str(n), "content": content, "mentions": mentions, "author": {"name": "Ann"}}
        for n, content in enumerate(contents)
    ]
    return {"guild": {"name": "g"}, "channel": {"name": "c"}, "messages": messages}


def day(*texts: str) -> list[dict]:
    return [
        {"type": "message", "ts": f"1683540000.{n:06}", "user": "U12345", "text": text}
        for n, text in enumerate(texts)
    ]


def overlapping(path: Path, members: int) -> None:
    """An archive whose members are all the same few bytes."""
    body = b"x " * 1_000_000
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(body) + packer.flush()
    facts = (zlib.crc32(body), len(packed), len(body), 5, 0)
    data = struct.pack("<IHHHHHIIIHH", 0x04034B50, 20, 0, 8, 0, 0, *facts) + b"0.txt" + packed
    listed = b"".join(
        struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 20, 20, 0, 8, 0, 0, *facts, 0, 0, 0, 0, 0) + b"0.txt"
        for _ in range(members)
    )
    end = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, members, members, len(listed), len(data), 0)
    path.write_bytes(data + listed + end)


def test_a_message_of_endless_mentions_costs_itself(tmp_path):
    read_back = corpus(tmp_path, "a.json", channel("n" * 100_000, "hi <@1>", "<@1>" * 40_000, "bye"))
    assert [turn.text for turn in read_back.turns] == ["hi @" + "n" * 100_000, "bye"]
    assert [(entry.kind, "/messages/1" in entry.reason) for entry in read_back.skipped] == [
        ("too_large", True)
    ]


@pytest.mark.parametrize(
    ("name", "texts", "least", "most"),
    [(100_000, ["<@U12345>" * 100, "hello", "<@U12345>" * 100], 2, 2), (1_000_000, ["hello"] * 40, 11, 19)],
)
def test_long_names_that_are_mentioned_and_that_speak_are_counted_over_the_file(
    tmp_path, name, texts, least, most
):
    put(tmp_path, "users.json", [{"id": "U12345", "name": "n" * name}])
    put(tmp_path, "boats/2023-05-08.json", day(*texts))
    read_back = read([str(tmp_path / "boats")])
    assert least <= len(read_back.turns) <= most
    assert read_back.turns[1].text == "hello"
    assert [entry.kind for entry in read_back.skipped] == ["too_large"]


def test_members_within_one_another_are_no_archive(tmp_path):
    overlapping(tmp_path / "a.zip", 2)
    put(tmp_path, "b.txt", CHAT)
    read_back = read([str(tmp_path)])
    assert said(read_back) == TWO
    assert [(entry.kind, "overlaps" in entry.reason) for entry in read_back.skipped] == [
        ("damaged_archive", True)
    ]


def test_the_limit_of_an_archive_is_one_for_all_its_members(tmp_path):
    zipped(tmp_path / "a.zip", {f"{n}.txt": CHAT + "x" * 1_000_000 for n in range(8)})
    read_back = read([str(tmp_path)])
    skipped = [entry.kind for entry in read_back.skipped]
    assert 2 <= len(skipped) < 8
    assert set(skipped) == {"too_large"}
    assert len(read_back.turns) == 2 * (8 - len(skipped))


@pytest.mark.parametrize(
    ("dense", "refused"),
    [
        ("[" + "[]," * 1000 + "1]", True),
        ("{}\n" * 500, True),
        ("\n" * 2000, True),
        ("\r" * 2000, True),
        (json.dumps([{"role": "user", "content": '1,2,[3],{4}\\",' * 300}]), False),
        (json.dumps([{"role": "user", "content": "hello, you there"}] * 300), False),
    ],
)
def test_more_values_than_memory_holds_are_counted_before_they_are_read(monkeypatch, dense, refused):
    monkeypatch.setattr("smartsearch.transcripts.large.density.ROOM", 64 * 1100)
    if not refused:
        check_values(dense.encode())
        return
    with pytest.raises(FormatError, match="more than fit in memory"):
        check_values(dense.encode())


READ = """
    import resource, sys
    import numpy, orjson, stringzilla
    from smartsearch.retrieve.grep import Haystack
    from smartsearch.retrieve.large import LargeHaystack
    from smartsearch.transcripts import Limits, read_large
    resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
    read = read_large([sys.argv[1]], limits=Limits(line=1 << 22))
    parts = [part if hasattr(part, "with_word") else Haystack(part) for part in read.parts]
    found = LargeHaystack(parts).turns_with("hello")
    for entry in read.skipped:
        print(entry.path.rpartition("/")[2], entry.kind)
    print("found", len(found))
"""


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS holds on Linux")
def test_hostile_files_are_read_within_a_limit_on_memory(tmp_path):
    put(tmp_path, "discord.json", channel("n" * 100_000, "<@1>" * 60_000))
    put(tmp_path, "slack/users.json", [{"id": "U12345", "name": "n" * 50_000}])
    put(tmp_path, "slack/boats/day.json", day("<@U12345>" * 20_000, *["hi"] * 3000))
    overlapping(tmp_path / "overlap.zip", 1000)
    zipped(tmp_path / "sum.zip", {f"{n}.txt": "x" * 4_000_000 for n in range(30)})
    put(tmp_path, "lines.txt.gz", gzip.compress(b"\n" * 24_000_000))
    put(tmp_path, "lists.json.gz", gzip.compress(b"[" + b"[]," * 8_000_000 + b"1]"))
    put(tmp_path, "long.jsonl", LINE * 20 + '{"role": "user", "content": "' + "ab " * 3_000_000 + '"}\n')
    put(tmp_path, "dense.json", b"[" + b"[]," * 10_000_000 + b"1]")
    put(tmp_path, "good.txt", CHAT)
    put(tmp_path, "good.jsonl", LINE * 30)
    program = textwrap.dedent(READ.format(limit=MOST_MEMORY))
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    *skipped, found = done.stdout.splitlines()
    assert found == "found 31"
    assert {line.split()[0] for line in skipped if line.endswith("too_large")} >= {
        *("discord.json", "day.json", "lines.txt.gz", "lists.json.gz", "long.jsonl", "dense.json"),
    }
    assert "overlap.zip damaged_archive" in skipped
