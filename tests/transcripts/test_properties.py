"""Any bytes raise nothing but InputError, and what is said in `Name: text` lines comes back."""

from __future__ import annotations

import io
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from smartsearch.errors import InputError
from smartsearch.transcripts import read, to_iso
from smartsearch.types import Corpus

KEYS = st.sampled_from(
    [
        *(
            "conversation",
            "session_1",
            "session_1_date_time",
            "speaker_a",
            "sample_id",
            "text",
            "blip_caption",
        ),
        *(
            "haystack_sessions",
            "haystack_dates",
            "role",
            "content",
            "messages",
            "name",
            "time",
            "id",
            "title",
        ),
        *("turns", "batch_number", "time_anchor", "type"),
    ]
)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
JSON: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=25,
)
PIECES = st.sampled_from(
    [
        "Maya: ",
        "[18:40] ",
        "8 May 2023",
        "## User",
        "**Jo:** ",
        "---",
        "```",
        "\n",
        "\n\n",
        "\r",
        "{",
        "[",
        "\x00",
        "x",
    ]
)
NAMES = st.sampled_from(["Maya", "Jonas", "Dr. Reis", "田中"])
WORDS = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=9)
SAID = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)


def survives(data: bytes) -> Corpus | None:
    try:
        return read(["-"], stdin=io.BytesIO(data))
    except InputError:
        return None


@given(st.binary(max_size=300))
def test_any_bytes_are_survived(data: bytes) -> None:
    survives(data)


@given(st.lists(PIECES, max_size=20).map("".join))
def test_any_heap_of_chat_pieces_is_survived(text: str) -> None:
    survives(text.encode())


@given(JSON)
def test_any_json_is_survived(value: Any) -> None:
    survives(json.dumps(value).encode())
    survives(json.dumps([{"conversation": {"session_1": value}, "role": value}, value]).encode())
    survives(json.dumps([{"haystack_sessions": [value], "haystack_dates": value}, value]).encode())
    survives(
        json.dumps([{"batch_number": value, "turns": [[value]]}, {"role": "user", "content": value}]).encode()
    )
    survives(json.dumps({"messages": [{"role": "user", "content": "x", "time": value}, value]}).encode())


@given(st.lists(st.tuples(NAMES, SAID), min_size=5, max_size=12))
def test_a_chat_of_names_and_texts_comes_back(turns: list[tuple[str, str]]) -> None:
    read_back = survives("".join(f"{name}: {text}\n" for name, text in turns).encode())
    assert read_back is not None
    assert [(turn.speaker, turn.text, turn.line) for turn in read_back.turns] == [
        (name, text, i) for i, (name, text) in enumerate(turns, 1)
    ]


@given(st.text(max_size=40) | LEAVES)
def test_any_time_is_survived(written: Any) -> None:
    to_iso(written)
