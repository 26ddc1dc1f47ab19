"""Generated collections, searched unparsed and parsed: whatever stands in a chat, both find the same turns.

10 of them as a rule, 1,000 in `make test-all`.
"""

import json
import random

import pytest

from smartsearch.retrieve.grep import Haystack
from smartsearch.retrieve.large import LargeHaystack
from smartsearch.transcripts import read, read_large
from smartsearch.transcripts.faults import NotByLine
from smartsearch.types import bare, fold
from tests.conftest import FUZZ

COLLECTIONS = range(1000 if FUZZ >= 100 else 10)
WORDS = (
    *("dog", "flute", "New York", "name", "content", "file", "plan", "role", "image", "tool_calls"),
    *("Été", "e\u0301te\u0301", "STRASSE", "straße", "ẞ", "İstanbul", "ﬁn", "Kelvin", "ſo", "ΣΊΣΥΦΟΣ"),
    *("ǰ", "j\u030c", "\u1100\u1161", "가", "が", "か\u3099", "😀", "\u0301", "\u200e", "\ufeff", "\u2028"),
    *("\u0085", "\u00a0", "\x7f", "\t", "\n", "\r", "\x00", '"name":', '"content" :', "\\", "\\u0041"),
    *("\\x41", "a/b", "[file", "smartsearch"),
)
GROWING = ("İ" * 300, "ẞ" * 300, "İ" * 200 + "ẞ" * 200, "ΐ" * 40, "ﬃ" * 90)
"""What folds to more bytes, or to fewer."""


def written(text: str, rng: random.Random) -> str:
    """A JSON string, its characters escaped in one way or another."""
    how = rng.choice(["plain", "plain", "ascii", "mixed", "hex"])
    if how in ("plain", "ascii"):
        return json.dumps(text, ensure_ascii=how == "ascii")
    pieces = []
    for letter in text:
        plain = json.dumps(letter, ensure_ascii=False)[1:-1]
        escaped = f"\\x{ord(letter):02x}" if how == "hex" and ord(letter) < 256 else json.dumps(letter)[1:-1]
        if how == "mixed" and ord(letter) < 0x10000:
            escaped = f"\\u{ord(letter):04X}"
        pieces.append(escaped if rng.random() < 0.3 else "\\/" if letter == "/" else plain)
    return f'"{"".join(pieces)}"'


def content(said: str, rng: random.Random) -> str:
    """What a message says, as text or in parts."""
    kind = rng.choice(["file", "input_audio", "video_url", "image_url", "text", "text", "text", "text"])
    if kind == "text" and rng.random() < 0.8:
        return written(said, rng)
    if kind == "text":
        return f'[{{"type": "text", "text": {written(said, rng)}}}, {written("in parts", rng)}]'
    named = f'{{"type": "{kind}", "{kind}": {{"filename": {written(said, rng)}}}}}'
    return f'[{named}, {{"type":"text","text":{written("beside it", rng)}}}]'


def line(rng: random.Random) -> str:
    """A line of a file: mostly a message."""
    said = " ".join(rng.choices(WORDS, k=rng.randint(1, 6)))
    said = rng.choice([said, said, said, rng.choice(GROWING), said * 200])
    who = rng.choice(['"Mara"', '"Ünal"', "7", written(rng.choice(WORDS), rng), "null"])
    name = rng.choice(["name", "name", "speaker", "na\\u006de"])
    role = rng.choice(["user", "assistant", "tool"])
    depth = rng.choice([3, 250, 260, 1100])
    extra = rng.choice(
        [
            *["", "", "", "", ', "Name": "dog"', ', "n": 123456789012345678901234567890', ', "x": NaN'],
            *[', "half": "\\ud83d"', f', "deep": {"[" * depth}{"]" * depth}', ', "content": "twice said"'],
            *[', "file" : 1', ', "tool_call_id": "c1"', '\r , "y":1'],
        ]
    )
    body = f'{{"role": "{role}", "{name}": {who}, "content": {content(said, rng)}{extra}}}'
    call = '{"id": "c1", "function": {"name": "SmartSearch", "arguments": "{}"}}'
    odd = [
        *["", "  ", "\u00a0", "{broken", '{"messages": [{"role": "user", "content": "whole"}]}', "[]", "7"],
        *[f'{{"role": "assistant", "content": "asks", "tool_calls": [{call}]}}', f"\ufeff{body}"],
        '{"role": "user", "content": "x", "time": "3/4/2024"}',
    ]
    return rng.choice(odd) if rng.random() < 0.01 else body


def collection(folder, seed: int) -> list[str]:
    """Some files of lines, and words that may stand in them."""
    rng = random.Random(seed)
    for n in range(rng.randint(1, 3)):
        plain = ['{"role": "user", "name": "Mara", "content": "hello there"}'] * rng.choice([5, 20, 20])
        lines = plain + [line(rng) for _ in range(rng.randint(1, 30))]
        end = rng.choice(["\n", "\n", "\r\n"])
        (folder / f"{n}.jsonl").write_bytes(end.join(lines).encode("utf-8", "replace"))
    return [*WORDS, "in parts", "file dog", "le plan", "audio", "he content", "twice said", "New", "İ", "ss"]


def asked(parsed: Haystack, words: list[str], seed: int) -> list[str]:
    """Words to look for: those, and pieces of what was said."""
    rng = random.Random(seed)
    turns = rng.sample(list(parsed.corpus.turns), min(12, len(parsed.corpus.turns)))
    cuts = ((turn.spoken, rng.randrange(len(turn.spoken))) for turn in turns)
    return [*words, *(spoken[at : at + rng.randint(1, 12)] for spoken, at in cuts)]


def places(haystack: Haystack, text: str, whole: bool) -> list[tuple[str, int]]:
    turns = haystack.corpus.turns
    return [(turns[i].path, turns[i].line) for i in haystack.turns_with(text, word_boundary=whole)]


@pytest.mark.parametrize("seed", COLLECTIONS)
def test_both_ways_find_the_same_turns(tmp_path, monkeypatch, seed):
    monkeypatch.setattr("smartsearch.transcripts.large.lines.BLOCK", (1 << 20, 97, 1000)[seed % 3])
    monkeypatch.setattr("smartsearch.transcripts.large.lines.FOLDED", (1 << 14, 1, 300, 0)[seed % 4])
    words = collection(tmp_path, seed)
    parsed = Haystack(read([str(tmp_path)]))
    unparsed = read_large([str(tmp_path)])
    parts = [part if hasattr(part, "with_word") else Haystack(part) for part in unparsed.parts]
    try:
        large = LargeHaystack(parts)
        for text in asked(parsed, words, seed):
            for whole in (False, True):
                assert places(large, text, whole) == places(parsed, text, whole), text
            if bare(text) == fold(text) and text.strip("\x00 "):  # a line is found by what is written
                assert large.has_speaker(text) == parsed.has_speaker(text), text
    except NotByLine:
        return  # it is read whole then
    assert [turn for turn in large.corpus.turns if turn.path] == list(parsed.corpus.turns)


def test_few_of_them_have_to_be_read_whole(tmp_path):
    whole = 0
    for seed in range(10):
        folder = tmp_path / str(seed)
        folder.mkdir()
        words = collection(folder, seed)
        try:
            for part in read_large([str(folder)]).parts:
                _ = hasattr(part, "with_word") and [part.with_word(fold(word)) for word in words]
        except NotByLine:
            whole += 1
    assert whole < 7
