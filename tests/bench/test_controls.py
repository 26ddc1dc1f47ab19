"""Dates and lemmas of questions, by hand."""

from __future__ import annotations

import sys
from datetime import date

import pytest

from smartsearch.bench import lemmas
from smartsearch.bench.controls import dated, find, with_dates, with_lemmas
from smartsearch.errors import SmartsearchError
from smartsearch.retrieve.grep import Haystack
from smartsearch.retrieve.hops import Evidence
from smartsearch.types import Candidate, Corpus, HopTrace, Query, Term, Turn
from tests.conftest import haystack

ASKED = "2023-05-17T20:00:00"  # a Wednesday


def names(question, asked=""):
    return [when.name for when in find(question, asked)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did Mara glaze on 8 May 2023?", ["2023-05-08"]),
        ("What did Mara glaze on the 8th of May, 2023?", ["2023-05-08"]),
        ("What did Mara glaze on May 8th?", ["--05-08"]),
        ("What did Mara glaze on may 8th", ["--05-08"]),
        ("Where was Ilya on September 3, 2022?", ["2022-09-03"]),
        ("Where was Ilya on 2023-05-08?", ["2023-05-08"]),
        ("Where was Ilya on 13/5/2023?", ["2023-05-13"]),
        ("Where was Ilya in 2023-05?", ["2023-05"]),
        ("Which kiln broke in May 2023?", ["2023-05"]),
        ("Which kiln broke in May?", ["--05"]),
        ("Which kiln broke in the summer of 2022?", ["2022"]),
        ("Was it 8 May 2023, in June or in 2021?", ["2023-05-08", "--06", "2021"]),
        ("Was it in May 2023 or in May 2023?", ["2023-05"]),
    ],
)
def test_dates_are_normalised(question, expected):
    assert names(question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "What may Mara cook?",
        "Which 8 may come along?",
        "What did April give June?",
        "How far did they march?",
        "Does this march tire you?",
        "Did Ilya win 2,022 points or $2022?",
        "Is it 10:30 on Monday?",
        "Where was Ilya on 2023-02-31?",
        "What is her second dog called, and will the maybe-pile go?",
    ],
)
def test_what_is_no_date_is_left_alone(question):
    assert names(question, ASKED) == []


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did I buy today?", "2023-05-17"),
        ("What did I buy yesterday?", "2023-05-16"),
        ("What did I buy the day before yesterday?", "2023-05-15"),
        ("What did I buy ten days ago?", "2023-05-07"),
        ("What did I buy two weeks ago?", "2023-04-30/2023-05-06"),
        ("What did I buy a couple of months ago?", "2023-03-01/2023-03-31"),
        ("What did I buy 5 months ago?", "2022-12-01/2022-12-31"),
        ("What did I buy a year ago?", "2022-01-01/2022-12-31"),
        ("What did I buy last week?", "2023-05-08/2023-05-14"),
        ("What did I buy this week?", "2023-05-15/2023-05-21"),
        ("What did I buy last weekend?", "2023-05-13/2023-05-14"),
        ("What did I buy in the past week?", "2023-05-10/2023-05-17"),
        ("What did I buy in the last week?", "2023-05-10/2023-05-17"),
        ("What did I buy in the last three days?", "2023-05-14/2023-05-17"),
        ("What did I buy last month?", "2023-04-01/2023-04-30"),
        ("What did I buy last year?", "2022-01-01/2022-12-31"),
        ("What did I buy last Monday?", "2023-05-15"),
        ("What did I buy last Wednesday?", "2023-05-10"),
    ],
)
def test_relative_dates_need_the_day_of_the_question(question, expected):
    assert names(question, ASKED) == [expected]
    assert names(question) == []


def test_a_span_before_the_calendar_begins_is_no_date():
    assert names("What was 900 years ago?", "0800-01-01") == []


def test_a_date_holds_its_days_only():
    (whole,) = find("in May 2023")
    (yearless,) = find("on 8 May")
    (week,) = find("last week", ASKED)
    days = [date(2023, 5, 8), date(2022, 5, 8), date(2023, 5, 15)]
    assert [whole.holds(day) for day in days] == [True, False, True]
    assert [yearless.holds(day) for day in days] == [True, True, False]
    assert [week.holds(day) for day in days] == [True, False, False]


CHAT = Corpus(
    (
        Turn("rain", "Mara", "2023-05-08T10:00:00"),
        Turn("kiln", "Ilya", "2023-05-08T10:01:00"),
        Turn("flute", "Ilya", "2023-05-20"),
        Turn("May 2023", "Ilya", ""),
        Turn("tea", "Ilya", "some day"),
    )
)


def test_turns_of_the_date_weigh_one_for_each_date_that_holds_them():
    assert dated("What broke on 8 May 2023?", CHAT) == {0: 1.0, 1: 1.0}
    assert dated("What broke in May 2023, on the 20th of May?", CHAT) == {0: 1.0, 1: 1.0, 2: 2.0}
    assert dated("What broke?", CHAT) == {}
    assert dated("What broke last week?", CHAT, "2023-05-17") == {0: 1.0, 1: 1.0}


def test_the_dates_turns_join_the_candidates_in_order_of_weight():
    kiln = Term("kiln", "NOUN", 2.0)
    steps = (HopTrace(1, "grep", (kiln,), 2, 2),)
    before = Evidence((Candidate(1, (kiln,), 2.0, 1), Candidate(4, (), 0.0, 0)), steps)
    after = with_dates(before, "Which kiln broke on 8 May 2023?", CHAT)
    assert [(c.index, c.weight, c.hop) for c in after.candidates] == [(1, 3.0, 1), (0, 1.0, 1), (4, 0.0, 0)]
    day = Term("2023-05-08", "ENT", 1.0, source="8 May 2023")
    assert after.candidates[0].terms == (kiln, day)
    assert after.hops == (*steps, HopTrace(1, "date", (day,), 1, 3))


def test_without_a_date_the_evidence_is_unchanged():
    before = Evidence((Candidate(4, (), 0.0, 0),), ())
    assert with_dates(before, "Which kiln broke?", CHAT) == before


def expanded(query, hay):
    return [(t.text, t.kind, t.weight) for t in with_lemmas(Query("?", query), hay).terms]


def test_a_term_gains_the_words_of_its_lemma():
    hay = haystack("Mara: the children ran and swam", "Ilya: she runs", "Ilya: a running child")
    assert expanded((Term("ran", "VERB", 1.0), Term("child", "NOUN", 2.0)), hay) == [
        ("ran", "VERB", 1.0),
        ("runs", "VERB", 1.0),
        ("running", "VERB", 1.0),
        ("child", "NOUN", 2.0),
    ]


def test_a_phrase_and_a_form_that_is_a_term_already_are_not_expanded():
    hay = haystack("Mara: she runs", "Ilya: they ran")
    run = (Term("ran", "VERB", 1.0), Term("runs", "NOUN", 2.0), Term("ran far", "ENT", 3.0))
    assert [text for text, _, _ in expanded(run, hay)] == ["ran", "runs", "ran far"]


def test_an_added_form_tells_the_questions_word():
    hay = haystack("Mara: they went away")
    assert with_lemmas(Query("?", (Term("go", "VERB", 1.0),)), hay).terms[1].source == "go"


def test_a_haystacks_words_are_lemmatised_once():
    class Counting(Haystack):
        asked = 0

        def words(self):
            self.asked += 1
            return super().words()

    hay = Counting(haystack("Mara: they went away").corpus)
    for _ in range(3):
        with_lemmas(Query("?", (Term("go", "VERB", 1.0),)), hay)
    assert hay.asked == 1


def test_without_simplemma_the_error_tells_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "simplemma", None)
    lemmas.lemma.cache_clear()
    with pytest.raises(SmartsearchError) as caught:
        with_lemmas(Query("?", (Term("go", "VERB", 1.0),)), haystack("Mara: they went away"))
    assert (caught.value.kind, caught.value.hint) == ("package", "pip install 'smartsearch[bench]'")
