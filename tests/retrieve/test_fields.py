"""Dates of the question and preferred speakers among the turns, by hand."""

from dataclasses import replace

import pytest

from smartsearch.config import Config
from smartsearch.errors import InputError
from smartsearch.retrieve.grep import Haystack
from smartsearch.retrieve.hops import gather
from smartsearch.types import Corpus, HopTrace, Query, Term, Turn
from tests.cli.fakes import FakeParser

CONFIG = Config(now="2023-05-17", semantic="off", fuzzy=False, prf=False, hops=1)
KILN = Term("kiln", "NOUN", 2.0)
CHAT = Corpus(
    (
        Turn("rain", "Mara", "2023-05-08T10:00:00"),
        Turn("a kiln", "Ilya", "2023-05-08T10:01:00"),
        Turn("flute", "Ilya", "2023-05-20"),
        Turn("May 2023 and a kiln", "Ilya", ""),
        Turn("by Mara", "Ilya", "2022-01-01"),
    )
)


def evidence(question, *terms, corpus=CHAT, kept=None, **changes):
    config = replace(CONFIG, **changes)
    return gather(Query(question, terms), Haystack(corpus, kept), FakeParser(), config)  # type: ignore[arg-type]


def found(question, *terms, **how):
    return {c.index: c.weight for c in evidence(question, *terms, **how).candidates}


@pytest.mark.parametrize(
    ("question", "how", "weights"),
    [
        ("Which kiln broke on 8 May 2023?", {}, {0: 2.0, 1: 4.0, 3: 2.0}),
        ("Which kiln broke in May?", {}, {0: 2.0, 1: 4.0, 2: 2.0, 3: 2.0}),
        ("Which kiln broke in 2023?", {}, {1: 4.0, 3: 2.0}),  # a long date finds nothing alone
        ("Which kiln broke last week?", {}, {0: 2.0, 1: 4.0, 3: 2.0}),  # counted from now
        ("Which kiln broke last week?", {"now": "2023-06-17"}, {1: 2.0, 3: 2.0}),
        ("Which kiln broke on 8 May 2023?", {"dates": False}, {1: 2.0, 3: 2.0}),
        ("Which kiln broke on 8 May 2023?", {"kept": [0, 3]}, {0: 2.0, 3: 2.0}),
        ("Which kiln?", {"speaker": ("mara",)}, {0: 4.0, 1: 2.0, 3: 2.0}),
        # where every term is wanted, a date and a speaker weigh and find nothing
        ("Which kiln broke in May?", {"mode": "and", "speaker": ("Mara",)}, {1: 4.0, 3: 2.0}),
    ],
)
def test_turns_of_a_date_or_a_preferred_speaker_are_found_and_weigh_more(question, how, weights):
    assert found(question, KILN, **how) == weights
    assert found("In 2023?") == {}


def test_a_relative_date_without_a_turn_is_said_and_others_are_not():
    said = evidence("Which kiln broke last week?", KILN, now="2023-06-17").warnings
    hint = "--now sets the day that it counts from"
    assert said == (f"no turn lies in 'last week' (2023-06-05/2023-06-11); {hint}",)
    assert evidence("Which kiln broke today, in 2019?", KILN, now="2023-06-17").warnings == ()
    timeless = Corpus((Turn("a kiln"),))
    assert evidence("Which kiln broke last week?", KILN, corpus=timeless).warnings == ()


def test_the_step_and_the_term_say_what_was_understood():
    day = Term("2023-05-08", "DATE", 2.0, source="8 May 2023")
    made = evidence("Which kiln broke on 8 May 2023?", KILN)
    assert made.hops == (HopTrace(1, "grep", (KILN,), 2, 2), HopTrace(1, "date", (day,), 1, 3))
    assert made.candidates[0].terms == (KILN, day)
    assert made.counts == {"kiln": 2, "2023-05-08": 2}
    assert evidence("Which kiln broke?", KILN).hops == (HopTrace(1, "grep", (KILN,), 2, 2),)


def test_a_date_is_no_word_of_another_term():
    """The phrase "2023-05-08" would absorb its word "2023-05", were that not a date."""
    phrase = Term("2023-05-08", "ENT", 1.0)
    corpus = Corpus((Turn("booked for 2023-05-08", time="2023-05-01"),))
    assert found("Booked in 2023-05?", phrase, corpus=corpus) == {0: 3.0}


def test_an_unknown_preferred_speaker_is_an_error_and_one_who_is_filtered_out_is_none():
    with pytest.raises(InputError) as caught:
        found("Which kiln?", KILN, speaker=("Marta",))
    assert (caught.value.kind, caught.value.hint) == ("unknown_speaker", "the closest are Mara")
    assert found("Which kiln?", KILN, speaker=("Mara",), kept=[1, 2]) == {1: 2.0}


TRIP = Corpus(
    (
        Turn("the ferry or the train?", "Mara", conversation="1", title="Trip to Fjordland"),
        Turn("ferry", "Ilya", conversation="1", title="Trip to Fjordland"),
        Turn("the ferry is late", "Mara", conversation="kitchen"),
    )
)
TERMS = {name: Term(name, kind, weight) for name, kind, weight in (
    ("trip", "NOUN", 2.0), ("Fjordland", "PROPN", 3.0), ("ferry", "NOUN", 2.0), ("kitchen", "NOUN", 2.0),
)}  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "weights"),
    [
        ("trip Fjordland", {0: 5.0, 1: 5.0}),  # the title itself
        ("Fjordland ferry", {0: 5.0, 1: 5.0, 2: 2.0}),  # a word of it, where another was said
        ("Fjordland kitchen", {}),  # no title has both
        ("kitchen", {2: 2.0}),  # a channel's name
    ],
)
def test_a_title_weighs_as_a_term_of_its_turns(asked, weights):
    terms = [TERMS[name] for name in asked.split()]
    assert found(asked, *terms, corpus=TRIP) == weights
    plain = found(asked, *terms, corpus=TRIP, typed=False)
    assert plain == {n: 2.0 for n, turn in enumerate(TRIP.turns) if "ferry" in asked}


def test_a_title_is_a_whole_word():
    assert found("Fjord", Term("Fjord", "PROPN", 3.0), corpus=TRIP) == {}
