"""Oracle traces on hand-made chats, and against a search that tries every edge there is."""

from __future__ import annotations

import dataclasses
import json
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartsearch.bench.oracle import (
    Edge,
    OracleOptions,
    OracleTrace,
    Postings,
    smallest_cover,
    summarise,
    trace,
)
from smartsearch.types import Term
from tests.conftest import haystack

NAMES = ("Petra", "Lisbon", "Otto", "Zoe", "Mara")
BRIDGE = (
    "Mara: my flatmate is called Petra",
    "Ilya: lovely",
    "Mara: she is kind",
    "Ilya: Petra repairs organs in Lisbon",
    "Ilya: nice weather",
    "Zoe: Lisbon has blue tiles",
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


def test_one_hop_with_the_terms_that_matter():
    got = solve(BRIDGE, "weather flatmate blue", {0, 5})
    assert got.path == (Edge("grep", ("flatmate", "blue"), 2, (0, 5)),)
    assert (got.solved, got.reason, got.hops, got.semantic_needed) == (True, "", 1, False)


def test_three_hops_and_the_limit():
    got = solve(BRIDGE, "flatmate", {0, 5})
    assert got.path == (
        Edge("grep", ("flatmate",), 1, (0,)),
        Edge("grep", ("Petra",), 2, ()),
        Edge("grep", ("Lisbon",), 2, (5,)),
    )
    limited = solve(BRIDGE, "flatmate", {0, 5}, hops=2)
    assert (limited.solved, limited.reason, limited.hops, limited.path) == (False, "no path", 0, ())


def test_a_middle_edge_keeps_only_terms_the_rest_of_the_path_needs():
    lines = (
        "Ilya: flute Petra",
        "Ilya: kitchen Otto",
        "Ilya: garden Zoe",
        "Ilya: Petra and Otto",
        "Ilya: Petra",
    )
    got = solve((*lines, "Ilya: Otto"), "flute kitchen garden", {4, 5}, subset=1)
    assert [edge.terms for edge in got.path] == [("flute", "kitchen"), ("Petra", "Otto")]


def test_names_come_from_the_turns_that_match_best():
    lines = ("Ilya: flute", "Ilya: flute garden Petra", "Ilya: Petra")
    assert not solve(lines, "flute", {2}, sources=1).solved
    assert solve(lines, "flute", {2}, sources=2).hops == 2
    assert solve(lines, "flute", {2}, sources=0).hops == 2
    both = solve(("Ilya: flute", "Ilya: garden", *lines[1:]), "flute garden", {3}, sources=1)
    assert [edge.terms for edge in both.path] == [("flute", "garden"), ("Petra",)]


def test_a_vocabulary_gap_needs_meaning():
    lines = ("Ilya: we sold the violin", "Ilya: tea", "Ilya: tea")
    assert solve(lines, "instrument", {0}).reason == "no path"
    got = solve(lines, "instrument", {0}, semantic=lambda terms: [] if terms else [1, 0])
    assert got.path == (Edge("semantic", (), 2, (0,)),)
    assert (got.semantic_needed, got.semantic_ties) == (True, False)


def test_meaning_is_asked_for_one_term_too_and_cut_to_its_top():
    lines = ("Ilya: violin", "Ilya: tea", "Ilya: tea")

    def by_term(terms):
        return [1, 2, 0] if terms == ["instrument"] else [1]

    got = solve(lines, "instrument", {0}, semantic=by_term)
    assert got.path == (Edge("semantic", ("instrument",), 3, (0,)),)
    assert not solve(lines, "instrument", {0}, semantic=by_term, semantic_top=2).solved
    assert not solve(lines, "instrument", {0}, semantic=by_term, semantic_terms=0).solved


def test_grep_wins_a_tie_with_meaning_and_the_tie_is_told():
    tied = solve(("Ilya: flute", "Ilya: tea"), "flute", {0}, semantic=lambda terms: [0])
    assert (tied.path[0].tool, tied.semantic_ties, tied.semantic_needed) == ("grep", True, False)
    alone = solve(("Ilya: flute", "Ilya: tea"), "flute", {0}, semantic=lambda terms: [1])
    assert (alone.semantic_ties, alone.semantic_needed) == (False, False)


def test_with_a_cap_only_and_finds_the_turn_with_both_terms():
    lines = ("Ilya: flute", "Ilya: kitchen", "Ilya: flute kitchen")
    assert solve(lines, "flute kitchen", {2}, results=1).path == (Edge("and", ("flute", "kitchen"), 1, (2,)),)
    assert solve(lines, "flute kitchen", {2}).path == (Edge("grep", ("flute",), 2, (2,)),)
    assert solve(lines, "flute kitchen", {2}, results=2).path[0].tool == "grep"


def test_unsolved_says_why():
    assert solve(BRIDGE, "flatmate", ()).reason == "no gold"
    assert solve(BRIDGE, "flatmate", {4}).reason == "no path"
    capped = solve(BRIDGE, "flatmate", {5}, expansions=1)
    assert (capped.solved, capped.reason, capped.expansions) == (False, "capped", 1)


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
    assert got.hops == brute(lines, weights, frozenset(gold), cap, sources=2)
    covered, usable = set(), set(question)
    for edge in got.path:
        assert set(edge.terms) <= usable
        places = found(lines, edge.tool, edge.terms, cap)
        assert (edge.found, set(edge.gold)) == (len(places), (gold - covered) & set(places))
        covered |= set(edge.gold)
        usable |= set(names_in(lines, places))
    assert not got.path or covered == gold


def test_a_summary_counts_questions_edges_and_reasons():
    grep, near = Edge("grep", ("a",), 3, (1,)), Edge("semantic", (), 10, (2,))
    traces = [
        OracleTrace(True, hops=1, path=(grep,), semantic_ties=True, expansions=4),
        OracleTrace(True, hops=1, path=(grep,), expansions=1),
        OracleTrace(True, hops=2, path=(grep, near), semantic_needed=True, expansions=10),
        OracleTrace(False, "no path", expansions=85),
        OracleTrace(False, "no gold"),
    ]
    got = summarise(traces)
    assert (got.questions, got.with_gold, got.solved, got.solved_share) == (5, 4, 3, 0.75)
    assert (got.hops, got.tools) == ({"1": 2, "2": 1}, {"grep": 3, "and": 0, "semantic": 1})
    assert got.hop_shares["1"] == pytest.approx(2 / 3)
    assert got.tool_shares == {"grep": 0.75, "and": 0.0, "semantic": 0.25}
    assert (got.semantic_needed, got.semantic_ties) == (1, 1)
    assert got.semantic_needed_share == got.semantic_ties_share == pytest.approx(1 / 3)
    assert (got.unsolved, got.expansions) == ({"no gold": 1, "no path": 1, "capped": 0}, 100)
    assert json.loads(json.dumps(dataclasses.asdict(got)))["hops"] == {"1": 2, "2": 1}
