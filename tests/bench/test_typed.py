"""benchmarks/typed: the set keeps its rules, and the script reads a screen as a person does."""

from __future__ import annotations

import importlib.util
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

HERE = Path(__file__).parents[2] / "benchmarks" / "typed"
spec = importlib.util.spec_from_file_location("typed_measure", HERE / "measure.py")
assert spec is not None
assert spec.loader is not None
typed = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = typed
spec.loader.exec_module(typed)


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A chat of three turns, and a question with one right turn."""
    said = ("Mara: who has the ladder?", "Ilya: the neighbour took it, room FC-311", "Petra: " + "long " * 90)
    (tmp_path / "chat.txt").write_text("\n".join(said) + "\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    typed.corpus.cache_clear()
    yield typed.Question(
        "a-1", "a", "chat.txt", "where did it go", "typed", ({"path": "chat.txt", "line": 2},)
    )
    typed.corpus.cache_clear()


def test_the_set_keeps_its_rules(monkeypatch):
    monkeypatch.chdir(HERE)
    every = typed.questions()
    assert {one.type for one in every} == set(typed.TYPES)
    assert len({one.kind for one in every}) == 6
    assert list(typed.faults(every)) == []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({}, ""),
        ({"gold": ({"path": "chat.txt", "line": 9},)}, "no turn at"),
        ({"gold": ()}, "0 right turns"),
        ({"gold": ({"path": "chat.txt", "line": 2, "says": "the cellar"},)}, "does not say"),
        ({"gold": ({"path": "chat.txt", "line": 3},)}, "is long"),
        ({"type": "nowords", "question": "what was taken by the neighbours"}, "shares ['neighbour', 'take']"),
        ({"type": "literal", "question": "fc 311"}, ""),
        ({"type": "literal", "question": "FC-312"}, "stands in 0 turns"),
        ({"type": "literal", "question": "ladder"}, "lacks ladder"),
    ],
)
def test_a_question_that_breaks_a_rule_is_told(small, change, fault):
    told = [text for text in typed.faults([replace(small, **change)]) if "fewer than" not in text]
    assert (fault in told[0]) if fault else (told == [])


def test_only_the_first_screen_counts_however_it_is_wrapped_and_coloured(small):
    drawn = "\x1b[1mIlya\x1b[0m  the neigh\r\n   │ bour took it,\r\nroom FC-\r\n311\r\n"
    found = typed.outcome(small, [("chat.txt", 1, ""), ("chat.txt", 2, "")], drawn, False, 0.5)
    assert found == typed.Outcome(2, True, 4, False, 0.5)
    below = typed.outcome(small, [], "x\n" * 24 + drawn, False, 0.5)
    assert (below.rank, below.visible, below.lines) == (0, False, 28)


def test_a_line_longer_than_the_screen_is_as_many_as_it_fills():
    assert [len(row) for row in typed.rows("a" * 250 + "\n\nb\n")] == [100, 100, 50, 0, 1]


def test_ripgrep_counts_words_and_takes_a_quoted_phrase_whole(small):
    asked = [replace(small, question=text) for text in ("neighbour room?", '"neighbour room"')]
    assert [typed.ripgrep([one])["a-1"].rank for one in asked] == [1, 0]


def test_area_is_the_share_of_pairs_in_the_right_order():
    sure, tie, unsure = (typed.Outcome(1, True, 1, False, value) for value in (0.9, 0.5, 0.1))
    assert typed.area([sure, tie], [tie, unsure]) == (1 + 1 + 0.5 + 1) / 4


def test_what_went_better_and_worse_is_told_by_id(small):
    before, after = typed.Outcome(1, True, 9, False, 0.5), typed.Outcome(2, True, 9, True, 0.5)
    old = json.loads(json.dumps({"commit": "c0ffee", "systems": {"ripgrep": {"a-1": vars(before)}}}))
    told = list(typed.paired([small], {"ripgrep": {"a-1": after}}, old))
    assert "ripgrep against c0ffee" in told[0]
    assert told[1:] == [
        "first: +0  / -1 a-1",
        "first 3: +0  / -0 ",
        "visible: +0  / -0 ",
        "weak: +1 a-1 / -0 ",
    ]
