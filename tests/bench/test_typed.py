"""benchmarks/typed: the set keeps its rules, and the script reads a screen as a person does."""

import importlib.util
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
    gold = ({"path": "chat.txt", "line": 2},)
    yield typed.Question("a-1", "a", "chat.txt", "where did it go", "typed", gold)
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
    assert [len(row) for row in typed.rows("a" * 250 + "\n\nb\n")] == [100, 100, 50, 0, 1]
