"""QRMeM's structures and walks on graphs made by hand, with a scripted judge and scripted similarities."""

from collections import Counter
from dataclasses import replace

import numpy as np

from smartsearch.rank.text import PLAIN
from smartsearch.systems.pieces import segmented
from smartsearch.systems.qrmem.graph import (
    Fact,
    Sentence,
    accepted,
    cloze,
    disambiguated,
    graph,
    mentions,
    sentences,
)
from smartsearch.systems.qrmem.navigate import (
    Ground,
    Verdict,
    expand,
    important,
    in_segments,
    navigate,
)
from smartsearch.types import Query, Term, Turn


def words(text: str) -> int:
    return len(text.split())


def fact(segment: int, *names: str) -> Fact:
    return Fact(segment, Sentence("", " and ".join(names), segment, names, ()), names)


def test_segments_are_whole_turns_of_one_conversation():
    # Four words fit: turns of 2, 2 and 1 words; one of 9 stands alone; another conversation begins anew.
    said = ["a b", "c d", "e", "1 2 3 4 5 6 7 8 9", "f", "g"]
    turns = [Turn(text, path="x", conversation="c" if n < 5 else "d") for n, text in enumerate(said)]
    made = segmented(turns, words, most=4)
    assert made.turns == ((0, 1), (2,), (3,), (4,), (5,))
    assert made.tokens == (2, 2, 1, 9, 1, 1)
    assert made.of_turn == [0, 0, 1, 2, 3, 4]


def test_a_turn_is_read_sentence_by_sentence(parser):
    turn = Turn("Ilya repairs the flute. Quill Co is in Lisbon!\nNo dog", "Mara", "2023-05-08")
    first, second, third = sentences(7, turn, parser, PLAIN, 0)
    assert (first.text, first.turn) == ("Mara: Ilya repairs the flute.", 7)
    assert (first.names, first.nouns) == (("Mara", "Ilya"), ("Ilya", "flute"))
    assert second.names == ("Mara", "Quill Co", "Lisbon")
    assert third.nouns == ("dog",)
    assert len(sentences(7, turn, parser, PLAIN, 20)) == 1  # of the first 20 characters


def test_a_question_is_accepted_below_a_rouge_l_of_six_tenths():
    # Of five words three in order shared: 2 * 3 / 10 = .6, refused; two shared: .4; of three and five, three
    # shared: 2 * 3 / 8 = .75; the same words the other way round share one: .2.
    first = "who adopted a grey dog"
    assert accepted(map(str.split, [first, "who adopted a black cat"])) == {0}
    assert accepted(map(str.split, [first, "who adopted the black cat"])) == {0, 1}
    assert accepted(map(str.split, [first, "who adopted a"])) == {0}
    assert accepted(map(str.split, [first, "dog grey a adopted who"])) == {0, 1}
    assert accepted([[], ["x"]]) == {1}


def test_a_cloze_asks_for_the_first_name():
    said = Sentence("[8 May 2023] Mara: ", "Ilya repairs the flute.", 0, ("Mara", "Ilya"), ("flute",))
    assert cloze(said) == ["what", "repairs", "the", "flute"]


def test_what_a_sentence_mentions_depends_on_the_question_and_its_update():
    said = Sentence("Mara: ", "two flutes", 0, ("Mara",), ("flutes", "tiles"))
    nouns = [Term(word, "NOUN", 2.0) for word in ("flute", "Mar", "dog")]
    query = Query("", (*nouns, Term("play", "VERB", 1.0)))
    assert mentions(said, query) == ("flute", "Mara")
    assert mentions(said, query, asked=False) == ("Mara",)
    assert mentions(said, query, updated=True) == ("flute", "Mara", "flutes", "tiles")


def test_mentions_of_one_entity_are_one_node():
    counted = Counter({"Gina Ray": 1, "Gina": 5, "gina ray": 1, "dog": 2, "dogs": 1, "Ray Lee": 1, "Ray": 1})
    names = disambiguated(counted)
    assert names["Gina"] == names["gina ray"] == "Gina Ray"
    assert names["dogs"] == names["dog"] == "dog"
    assert names["Ray"] == "Ray"  # a word of two longer names


def test_parallel_relations_are_one_edge_and_segments_unite():
    made = graph([fact(0, "Mara", "dog"), fact(2, "dogs", "Mara"), fact(2, "dog", "Lisbon")])
    assert made.entities["dog"] == {0, 2}
    assert made.meant(["dogs", "dog"]) == ["dog"]
    assert made.edges == {("Mara", "dog"): [0, 1], ("Lisbon", "dog"): [2]}
    assert [name for name, _ in made.beside(["dog"])] == ["Mara", "Lisbon"]
    assert made.meant(["DOGS", "dogs", "cat"]) == ["dog"]


ROADS = [fact(0, "Mara", "dog"), fact(1, "Mara", "kiln"), fact(2, "kiln", "glaze"), fact(3, "dog", "vet")]
"""Mara leads to the dog and the kiln, these to a vet and a glaze; a segment a fact."""


def likes(text: str) -> np.ndarray:
    """How many of its words each fact of ROADS has."""
    asked = set(text.split())
    return np.array([len(asked & set(one.sentence.text.split())) for one in ROADS], dtype=float)


def ground(judge, *, similarity=likes, window=4, tokens=1, question="Mara") -> Ground:
    sizes = dict.fromkeys(range(4), tokens)
    return Ground(question, graph(ROADS), [0, 1, 2, 3], sizes, similarity, judge, window)


def lacking(reason: str, until: int = 9):
    """Says that `reason` is lacking, until so many segments are read."""
    return lambda segments: Verdict(len(segments) >= until, reason)


def test_what_is_lacking_decides_the_next_node():
    for reason in ("dog", "kiln"):
        (step,) = navigate(ground(lacking(reason)), ["Mara"], trials=1).steps
        assert (step.entity, step.reason) == (reason, reason)


def test_without_reflection_the_question_alone_is_compared():
    asked = []

    def similarity(text):
        asked.append(text)
        return likes(text)

    navigate(ground(lacking("vet"), similarity=similarity), ["dog"], trials=2, reflect=False)
    assert asked == ["Mara", "Mara"]
    asked.clear()
    navigate(ground(lacking("vet"), similarity=similarity, window=2), ["vet"], trials=2)
    assert asked == ["Mara vet vet", "Mara vet vet dog"]


def test_a_walk_ends_where_the_segments_answer():
    judge = lacking("kiln", until=3)
    route = navigate(ground(judge), ["Mara"])
    assert (route.answerable, route.stopped) == (True, "answerable")
    assert route.important == (0, 1)
    assert route.added.keys() == {2}


def test_a_walk_ends_where_no_entity_leads_on_and_after_its_trials():
    everything = navigate(ground(lacking("x"), window=9), ["Mara"])
    assert everything.stopped == "exhausted"
    assert set(everything.segments) == {0, 1, 2, 3}
    assert navigate(ground(lacking("x"), window=9), ["Mara"], trials=1).stopped == "trials"
    large = navigate(ground(lacking("x"), tokens=9), ["Mara"])
    assert (large.segments, large.stopped) == ((0,), "window"), (
        "a segment larger than the window is read alone"
    )
    assert navigate(ground(lacking("x")), ["Mara"], trials=0).steps == ()


def test_the_window_drops_the_lowest_added_segments_and_never_the_important_ones():
    # The dog's first segment is half of a window of three. Mara brings 1 with a score of 1, the kiln 2 with
    # one of 4; the window is full, and the vet's segment with its 2 takes the place of 1.
    rounds = iter([[1.0, 0.0, 0.0, 0.0], [0.0, 4.0, 0.0, 0.0], [0.0, 0.0, 0.0, 2.0]])
    made = graph([fact(0, "dog", "Mara"), fact(1, "Mara", "kiln"), fact(2, "kiln"), fact(3, "dog", "vet")])
    sizes = dict.fromkeys(range(4), 1)
    place = Ground("q", made, [0, 1, 2, 3], sizes, lambda _: np.array(next(rounds)), lacking(""), 3)
    route = navigate(place, ["dog"], trials=3)
    assert [step.entity for step in route.steps] == ["Mara", "kiln", "vet"]
    assert route.important == (0,)
    assert route.added == {2: 4.0, 3: 2.0}


def test_rare_entities_fill_the_first_half_before_common_ones():
    facts = [fact(s, "Mara") for s in range(4)] + [fact(3, "Mara", "vet")]
    sizes = dict.fromkeys(range(4), 1)
    place = Ground("q", graph(facts), [0, 1, 2, 3], sizes, likes, lacking(""), 4)
    assert important(place, ["Mara", "vet"]) == [3, 0]
    assert important(place, []) == [0, 1]  # no entity at all: the nearest


def test_entity_trial_takes_entities_of_what_it_read_and_stops_when_the_window_is_full():
    # "vet" shares no sentence with Mara; by entities alone it is reached through what is read.
    route = navigate(ground(lacking("dog"), window=4), ["Mara"], in_segments, drops=False)
    assert [step.entity for step in route.steps] == ["dog", "kiln"]
    full = navigate(ground(lacking("dog"), window=2), ["dog"], in_segments, drops=False)
    assert full.stopped == "window"
    assert full.segments == (0, 1)
    assert [step.entity for step in full.steps] == ["Mara", "kiln"]  # the kiln's segment did not fit


def test_graph_expansion_follows_only_edges_like_the_question_and_judges_once():
    judged = []

    def judge(segments):
        judged.append(tuple(segments))
        return Verdict(False)

    def similarity(text):
        if "kiln" in text.split():
            return np.array([0.0, 0.1, 1.0, 0.2])
        return np.array([0.5, 1.0, 0.89, 0.0])  # Mara - kiln is high, kiln - glaze just not

    route = expand(ground(judge, similarity=similarity, window=2), ["Mara"])
    assert [step.entity for step in route.steps] == ["kiln"]
    assert route.stopped == "exhausted"
    assert judged == [(2, 3)]  # the widened question fetches the glaze, then the vet
    assert set(route.segments) == {2, 3}
    assert expand(ground(judge, similarity=similarity), ["Mara"], steps=0).stopped == "trials"
    made = graph([fact(0, "Mara", "kiln"), replace(fact(1, "kiln", "glaze"), relates=False)])
    assert list(made.edges) == [("Mara", "kiln")]
    assert made.entities["glaze"] == {1}
    place = replace(ground(lacking("x"), similarity=lambda _: np.array([0.5, 1.0])), graph=made, order=[0, 1])
    assert [step.entity for step in expand(place, ["Mara"]).steps] == ["kiln"], (
        "what relates nothing is no edge"
    )
