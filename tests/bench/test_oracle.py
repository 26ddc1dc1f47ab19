"""Oracle traces on hand-made chats, and against a search that tries every edge there is."""

import json
import sys
from itertools import combinations
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from smartsearch.types import Term
from tests.conftest import haystack

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
oracle = __import__("oracle")
OracleOptions, Postings, Step = oracle.OracleOptions, oracle.Postings, oracle.Step
smallest_cover, trace = oracle.smallest_cover, oracle.trace

NAMES = ("Petra", "Lisbon", "Otto", "Zoe", "Mara")
BRIDGE = (
    *("Mara: my flatmate is called Petra", "Ilya: lovely", "Mara: she is kind"),
    *("Ilya: Petra repairs organs in Lisbon", "Ilya: nice weather", "Zoe: Lisbon has blue tiles"),
)


def names_in(lines, places):
    """Names in what was said in some turns, who said it left out."""
    said = [lines[place].partition(": ")[2] for place in places]
    return [name for text in said for name in NAMES if name in text.split()]


def solve(lines, question, gold, semantic=None, **options):
    """A trace; `question` holds the terms, each with weight 2 or as in `word^weight`."""
    parts = (word.partition("^") for word in question.split())
    terms = [Term(word, "NOUN", float(weight or 2)) for word, _, weight in parts]
    return trace(
        terms,
        frozenset(gold),
        Postings(haystack(*lines)),
        entities=lambda places: names_in(lines, places),
        semantic=semantic,
        options=OracleOptions(**options),
    )


def test_three_hops_and_the_limit():
    got = solve(BRIDGE, "flatmate", {0, 5})
    assert got.path == tuple(Step("grep", (key,)) for key in ("flatmate", "petra", "lisbon"))
    limited = solve(BRIDGE, "flatmate", {0, 5}, hops=2)
    assert (limited.reason, limited.path) == ("no path", ())


def test_a_vocabulary_gap_needs_meaning_of_all_terms_or_of_one_cut_to_its_top():
    lines = ("Ilya: we sold the violin", "Ilya: tea", "Ilya: tea")
    assert solve(lines, "instrument", {0}).reason == "no path"
    got = solve(lines, "instrument", {0}, semantic=lambda terms: [] if terms else [1, 0])
    assert got.path == (Step("semantic", ()),)
    assert (got.semantic_needed, got.semantic_ties) == (True, False)

    def by_term(terms):
        return [1, 2, 0] if terms == ["instrument"] else [1]

    got = solve(lines, "instrument", {0}, semantic=by_term)
    assert got.path == (Step("semantic", ("instrument",)),)
    assert not solve(lines, "instrument", {0}, semantic=by_term, semantic_top=2).path
    assert not solve(lines, "instrument", {0}, semantic=by_term, semantic_terms=0).path


def test_grep_wins_a_tie_with_meaning_and_the_tie_is_told():
    tied = solve(("Ilya: flute", "Ilya: tea"), "flute", {0}, semantic=lambda terms: [0])
    assert (tied.path[0].tool, tied.semantic_ties, tied.semantic_needed) == ("grep", True, False)
    alone = solve(("Ilya: flute", "Ilya: tea"), "flute", {0}, semantic=lambda terms: [1])
    assert (alone.semantic_ties, alone.semantic_needed) == (False, False)


def test_unsolved_says_why():
    assert solve(BRIDGE, "flatmate", ()).reason == "no gold"
    assert solve(BRIDGE, "flatmate", {4}).reason == "no path"
    capped = solve(BRIDGE, "flatmate", {5}, expansions=1)
    assert (capped.path, capped.reason, capped.expansions) == ((), "capped", 1)


def test_the_smallest_cover_is_not_the_greedy_one():
    covers = {"big": 0b011110, "left": 0b000111, "right": 0b111000}
    assert smallest_cover(covers, 0b111111) == ("left", "right")
    assert smallest_cover(covers, 0b1111111) is None
    assert smallest_cover({}, 0b1) is None


WORDS = ("flute", "kitchen", *NAMES[:4])
CHATS = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=2), min_size=3, max_size=7)


def found(lines, tool, terms, cap):
    """What an edge finds, from the lines alone."""
    test = any if tool == "grep" else all
    places = [n for n, line in enumerate(lines) if test(t.lower() in line.lower() for t in terms)]
    return places[:cap] if cap else places


def brute(lines, weights, gold, cap, sources, hops=3):
    """The fewest edges to all gold, every subset of the usable terms tried with both tools; 0 if none."""
    states = {(frozenset(), frozenset(weights))}
    for edges in range(1, hops + 1):
        grown = set()
        for covered, usable in states:
            subsets = [keys for size in range(1, len(usable) + 1) for keys in combinations(usable, size)]
            for tool, keys in [(tool, keys) for tool in ("grep", "and") for keys in subsets]:
                places = found(lines, tool, keys, cap)
                if gold <= covered | set(places):
                    return edges
                weight = {
                    p: -sum(weights.get(k, 2.5) for k in keys if k.lower() in lines[p].lower())
                    for p in places
                }
                best = sorted(places, key=weight.__getitem__)[:sources]
                grown.add((covered | (gold & set(places)), usable | set(names_in(lines, best))))
        states = grown
    return 0


@given(
    chat=CHATS,
    gold=st.sets(st.integers(0, 6), min_size=1, max_size=2),
    cap=st.sampled_from((0, 0, 1, 2)),
    data=st.data(),
)
def test_the_shortest_path_and_no_term_from_gold_that_was_not_found(chat, gold, cap, data):
    lines = [f"Ilya: {' '.join(words)}" for words in chat]
    gold = {place % len(lines) for place in gold}
    question = data.draw(st.lists(st.sampled_from(WORDS[:2]), min_size=1, max_size=2, unique=True))
    weights = {word: float(n + 1) for n, word in enumerate(question)}
    text = " ".join(f"{word}^{weight}" for word, weight in weights.items())
    got = solve(lines, text, gold, results=cap, sources=2, subset=8)
    assert len(got.path) == brute(lines, weights, frozenset(gold), cap, sources=2)
    covered, usable = set(), set(question)
    for step in got.path:
        assert {key.lower() for key in usable} >= set(step.keys)
        places = found(lines, step.tool, step.keys, cap)
        covered |= gold & set(places)
        usable |= set(names_in(lines, places))
    assert not got.path or covered == gold


def test_the_traces_of_a_record_are_put_into_it(chats, tools, tmp_path, monkeypatch, capsys):
    path = tmp_path / "record.json"
    data = {"path": str(chats), "format": "folder", "every": 1}
    path.write_text(json.dumps({"kind": "smartsearch bench", "dataset": data, "rows": []}))
    monkeypatch.setattr(oracle.loading, "load_tools", lambda config: tools)
    assert oracle.main([str(path)]) == 0
    found = json.loads(path.read_text())
    assert found["rows"] == []
    assert found["oracle"]["with_gold"] == 4
    assert found["oracle"]["solved"] >= 3
    assert found["oracle_limited"]["results"] == 100
    assert "questions with gold\t4\t-\t4\t-" in capsys.readouterr().out
