"""Hops on hand-made chats: one hop, two hops, feedback nouns, fuzzy words, the dense fallback."""

import pytest

from smartsearch.config import Config
from smartsearch.models.loading import is_word
from smartsearch.retrieve.hops import gather, is_form
from smartsearch.text.parse import Parser
from smartsearch.types import Query, Term
from tests.conftest import haystack

CHAT = (
    *("Mara: my flatmate is called Petra", "Ilya: lovely", "Mara: she is kind"),
    *("Ilya: Petra repairs organs in Lisbon", "Ilya: nice weather", "Zoe: Lisbon has blue tiles"),
)


def run(parser, question, lines=CHAT, dense=None, **settings):
    config = Config(**settings)
    return gather(parser.parse(question, config), haystack(*lines), parser, config, dense)


def indices(evidence):
    return sorted(c.index for c in evidence.candidates)


def test_an_entity_of_a_found_turn_leads_to_the_next_up_to_three_hops(parser):
    found = {hops: run(parser, "Who is the flatmate?", hops=hops, prf=False) for hops in (1, 2, 3)}
    assert {hops: indices(one) for hops, one in found.items()} == {1: [0], 2: [0, 3], 3: [0, 3, 5]}
    assert indices(run(parser, "Who is the flatmate?", prf=False)) == [0, 3, 5]  # the default
    second = found[2].hops[1]
    assert (second.kind, second.hop, second.found) == ("entity", 2, 1)
    assert [(term.text, term.weight) for term in second.terms] == [("Petra", 2.5)]
    assert {c.index: c.hop for c in found[2].candidates} == {0: 1, 3: 2}


def test_hops_stop_when_an_entity_finds_nothing_new(parser):
    evidence = run(parser, "dog?", ("Mara: dog of Petra", "Mara: Petra and the dog"), prf=False)
    assert [step.kind for step in evidence.hops] == ["grep", "entity"]


def test_terms_of_the_question_are_not_used_again(parser):
    evidence = run(parser, "Where does Petra work?", prf=False)
    assert "Petra" not in [t.text for step in evidence.hops[1:] for t in step.terms]


def test_a_speakers_name_or_first_name_is_no_hop_term(parser):
    lines = ("Petra Novak: hello", "Mara: my flatmate is Petra", "Petra Novak: rain")
    evidence = run(parser, "Who is the flatmate?", lines, prf=False)
    assert indices(evidence) == [1]


def test_a_speakers_name_is_a_hop_term_where_it_is_asked_for(parser):
    lines = ("Mara: dog of Petra", "Petra: rain", "Zoe: Petra sang", "Mara: sun")
    without, with_names = (run(parser, "dog", lines, prf=False, hop_speakers=on) for on in (False, True))
    assert indices(without) == [0]
    assert sorted(indices(with_names)) == [0, 1, 2, 3]


def test_how_much_of_how_many_turns_a_hop_reads_can_be_set(parser):
    long = f"Mara: dog {'and so on ' * 250}Lisbon"
    lines = (
        long,
        "Ilya: Lisbon is far",
        "Ilya: New York too",
        "Ilya: Quill Co",
        "Zoe: a dog, New York, Quill Co",
    )
    assert 1 not in indices(run(parser, "dog", lines, prf=False, hops=2))
    assert 1 in indices(run(parser, "dog", lines, prf=False, hops=2, hop_characters=0))
    few = run(parser, "dog", lines, prf=False, hops=2, hop_terms=1)
    every = run(parser, "dog", lines, prf=False, hops=2, hop_terms=0)
    assert [len(step.terms) for step in few.hops if step.kind == "entity"] == [1]
    assert [len(step.terms) for step in every.hops if step.kind == "entity"] == [2]


@pytest.mark.parametrize(("word", "other"), [("pal", "Pål"), ("Pål", "pal"), ("senorita", "señorita")])
def test_a_word_is_found_with_other_accents(parser, word, other):
    assert mended(parser, word, other) == [other.lower()]
    assert is_form(Term(other.lower(), "FUZZY", 1.8, source=word))


def test_prf_takes_nouns_that_two_of_the_top_turns_share(parser):
    lines = ("Mara: dog in the garden", "Ilya: dog and garden", "Mara: dog and flute", "Zoe: far garden")
    evidence = run(parser, "dog?", lines, hops=1)
    assert evidence.hops[-1].kind == "prf"
    assert [(t.text, t.weight) for t in evidence.hops[-1].terms] == [("garden", 0.5)]
    assert indices(evidence) == [0, 1, 2, 3]
    assert indices(run(parser, "dog?", lines, hops=1, prf=False)) == [0, 1, 2]


@pytest.mark.parametrize(
    ("question", "source", "near"),
    [("Where does Petrra live?", "Petrra", "petra"), ("What did Zoelina do? Zoe", None, None)],
)
def test_a_term_without_a_hit_is_matched_to_the_nearest_word(parser, question, source, near):
    steps = [s for s in run(parser, question, prf=False).hops if s.kind == "fuzzy"]
    found = {(t.source, t.text) for s in steps for t in s.terms}
    assert found == ({(source, near)} if source else set())


def test_a_shortened_name_is_found(parser, nlp):
    evidence = run(parser, "Where does Petra live?", ("Ilya: ask Pet about the flat",), prf=False)
    fuzzy = next(s for s in evidence.hops if s.kind == "fuzzy")
    assert [(t.text, t.source, t.weight) for t in fuzzy.terms] == [("pet", "Petra", 0.9 * 4.0)]


def test_the_dense_search_joins_when_grep_finds_few(parser):
    asked = []

    def dense(top):
        asked.append(top)
        return [4]

    evidence = run(parser, "flatmate", dense=dense, hops=1, prf=False, pool=0)
    assert indices(evidence) == [0, 4]
    found = next(c for c in evidence.candidates if c.index == 4)
    assert (found.weight, found.hop) == (0.0, 0)
    many = ["Mara: dog"] * 5
    run(parser, "dog", many, dense=dense, pool=0)
    assert asked == [50]
    run(parser, "dog", many, dense=dense, semantic="always", pool=0)
    assert asked == [50, 50]


def test_few_candidates_are_filled_up_by_meaning(parser):
    texts = ("Mara: my dog sleeps", "Ilya: the hound barked", "Mara: puppies!", "Ilya: rain", "Mara: soup")
    nearest = [2, 1, 4, 0, 3]

    def found(**settings):
        def dense(top):
            return nearest[:top]

        evidence = run(parser, "dog", texts, dense=dense, semantic_below=0, **settings)
        return [c.index for c in evidence.candidates], [s.kind for s in evidence.hops]

    order, kinds = found(pool=3)
    assert order[0] == 0
    assert sorted(order) == [0, 1, 2, 4]  # the three nearest, beside what words found
    assert kinds[-1] == "semantic"
    assert sorted(found(pool=3, first="match")[0]) == [0, 1, 2]  # ColBERT read for it
    assert found(pool=200)[0][0] == 0
    assert len(found(pool=200)[0]) == 5
    for settings in ({"pool": 0}, {"pool": 3, "first": "match", "rank": ("ce",)}):
        assert found(**settings)[0] == [0]
    assert found(pool=3, mode="and")[0] == [0]


def test_nothing_found_is_no_error(parser):
    evidence = run(parser, "dog?", ("Ilya: rain",))
    assert evidence.candidates == ()
    assert gather(parser.parse("dog", Config()), haystack(), parser, Config()).candidates == ()


KNOWN = {
    "money": "honey", "flight": "light", "employed": "deployed", "peru": "per", "boat": "coat",
    "garden": "warden", "house": "mouse", "table": "cable", "lease": "please", "dinner": "winner",
    "letter": "better", "butter": "button", "sister": "mister", "father": "rather", "mother": "another",
    "kitchen": "kitten", "summer": "hummer", "school": "scholl", "ticket": "thicker", "camera": "camel",
}  # fmt: skip
"""A word of the language, and one of the chat that looks like it."""
TYPED_WRONG = {
    "prias": "prius", "docter": "doctor", "adress": "address", "recieve": "receive", "tommorow": "tomorrow",
    "calender": "calendar", "restaraunt": "restaurant", "seperate": "separate", "wensday": "wednesday",
    "birthdya": "birthday", "passwrod": "password", "meetign": "meeting", "invocie": "invoice",
    "dentsit": "dentist", "kubernets": "kubernetes", "petrra": "petra", "definately": "definitely",
    "accomodation": "accommodation", "oskarr": "oskar", "temprature": "temperature",
}  # fmt: skip


def mended(parser, word, line, kind="NOUN"):
    query = Query(word, (Term(word, kind, 2.0),))
    found = gather(query, haystack(f"Mara: {line}"), parser, Config(prf=False, hops=1), known=is_word)
    return [term.text for term in found.mended]


FORMS = {"employed": "employs", "pets": "pet", "planning": "plan", "studied": "studies"}
"""A word of the language, and another form of it."""
ANOTHER = {
    "kindle": "kind", "unjust": "just", "mould": "could", "frying": "trying", "chats": "cats",
    "hives": "gives", "misplaced": "placed", "feathered": "father",
    "electrician": "electric", "handset": "hands",
}  # fmt: skip
"""A word that the tokenizer has in pieces, and one of another meaning that is written much like it."""


@pytest.mark.parametrize(("word", "other"), (KNOWN | ANOTHER | {"find": "fine", "redundancy": "red"}).items())
def test_a_word_of_the_language_and_one_of_another_meaning_are_left_alone(parser, word, other):
    assert mended(parser, word, other) == []


@pytest.mark.parametrize(("word", "right"), (TYPED_WRONG | FORMS).items())
def test_a_typing_error_is_mended_and_another_form_is_found(parser, word, right):
    assert mended(parser, word, right) == [right]


def test_only_the_nearest_of_what_may_be_meant_is_searched_for_and_its_forms(parser):
    assert mended(parser, "comands", "command commands compounds") == ["commands", "command"]


@pytest.mark.parametrize(
    ("line", "near"),
    [("red wine", []), ("Red is here", ["red"]), ("ask mel", []), ("mely said so", ["mely"])],
)
def test_a_shortened_name_is_no_word_of_the_language_but_with_a_capital(parser, line, near):
    assert mended(parser, "Melyssa" if "mel" in line else "Redis", line, "PROPN") == near


LABELS = {
    **dict.fromkeys(("PERSON", "PER", "ORG", "GPE", "LOC", "FAC", "EVENT"), True),
    **dict.fromkeys(("DATE", "CARDINAL", "NORP"), False),
}
"""Which entities lead to another hop, by the label that a pipeline gives them."""


def test_people_organisations_places_and_events_hop(nlp):
    import spacy  # made without torch by `nlp`

    named = spacy.blank("en")
    named.add_pipe("attribute_ruler", source=nlp)
    names = {label: f"Wex{label.lower()}" for label in LABELS}
    named.add_pipe("entity_ruler").add_patterns([{"label": a, "pattern": b} for a, b in names.items()])
    for label, name in names.items():
        lines = (f"Mara: the dog ran at {name}", f"Ilya: {name} was cold")
        assert (1 in indices(run(Parser(named), "dog", lines, prf=False))) == LABELS[label], label


TEN = 10
"""The best turns whose names and nouns widen a search, unless it is set."""


def test_names_of_the_best_ten_turns_hop_and_of_all_where_it_is_asked_for(parser):
    lines = [*["Mara: dog and flute"] * TEN, "Mara: dog of Petra", "Ilya: Petra is kind"]
    last = len(lines) - 1
    config = {"prf": False, "hops": 2}
    assert last not in indices(run(parser, "dog flute", lines, **config))
    assert last in indices(run(parser, "dog flute", lines, **config, entity_source="all"))
    assert last in indices(run(parser, "dog flute", lines, **config, hop_sources=TEN + 1))


def test_feedback_nouns_are_those_of_the_best_ten_turns(parser):
    lines = [*["Mara: dog and flute"] * TEN, *["Mara: dog, garden"] * 2, "Ilya: the garden"]
    assert len(lines) - 1 not in indices(run(parser, "dog flute", lines, hops=1))
    assert len(lines) - 1 in indices(run(parser, "dog flute", lines, hops=1, hop_sources=TEN + 2))


def test_verbs_are_no_feedback(parser):
    lines = ["Mara: dog moved", "Ilya: dog moved", "Ilya: we moved"]
    assert indices(run(parser, "dog", lines, hops=1)) == [0, 1]
