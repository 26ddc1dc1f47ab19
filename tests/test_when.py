"""Dates of questions and bounds of filters, by hand."""

import contextlib
import random
from datetime import date

import pytest

from smartsearch.errors import UsageError
from smartsearch.text.dates import UNDERSTOOD, day_of, find, since, today, until

ASKED = date(2023, 5, 17)  # a Wednesday


def names(question, asked=None):
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
        ("Which kiln broke in the summer of 2022?", ["2022-06-01/2022-08-31"]),
        ("Which kiln broke in winter 2022?", ["2022-12-01/2023-02-28"]),
        ("Which kiln broke during the summer?", ["--06-01/--08-31"]),
        ("Was it 8 May 2023, in June or in 2021?", ["2023-05-08", "--06", "2021"]),
        ("Was it in May 2023 or in May 2023?", ["2023-05"]),
    ],
)
def test_dates_are_normalised(question, expected):
    assert names(question) == expected


@pytest.mark.parametrize(
    "question",
    [
        *("What may Mara cook?", "Which 8 may come along?", "What did April give June?"),
        *("How far did they march?", "Does this march tire you?", "Did Ilya win 2,022 points or $2022?"),
        *("Is it 10:30 on Monday?", "Where was Ilya on 2023-02-31?"),
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
        ("What did I buy last summer?", "2022-06-01/2022-08-31"),
        ("What did I buy this summer?", "2023-06-01/2023-08-31"),
        ("What did I buy last winter?", "2022-12-01/2023-02-28"),
        ("What did I buy last April?", "2023-04-01/2023-04-30"),
        ("What did I buy last May?", "2022-05-01/2022-05-31"),
        ("What did I buy this June?", "2023-06-01/2023-06-30"),
    ],
)
def test_relative_dates_need_the_day_of_the_question(question, expected):
    assert names(question, ASKED) == [expected]
    assert expected not in names(question)


def test_a_span_before_the_calendar_begins_is_no_date():
    assert names("What was 900 years ago?", date(800, 1, 1)) == []


def test_a_date_holds_its_days_only():
    (whole,) = find("in May 2023")
    (yearless,) = find("on 8 May")
    (week,) = find("last week", ASKED)
    (winter,) = find("in the winter")
    days = ["2023-05-08", "2022-05-08", "2023-05-15", "2021-01-31", "2021-12-01"]
    assert [whole.holds(day) for day in days] == [True, False, True, False, False]
    assert [yearless.holds(day) for day in days] == [True, True, False, False, False]
    assert [week.holds(day) for day in days] == [True, False, False, False, False]
    assert [winter.holds(day) for day in days] == [False, False, False, True, True]


@pytest.mark.parametrize(
    ("question", "days"),
    [
        *(("on 8 May 2023", 1), ("on May 8th", 1), ("in May", 31), ("in February 2023", 28)),
        *(("last week", 7), ("in 2023", 365), ("in the winter", 91), ("two weeks ago", 7)),
    ],
)
def test_a_date_knows_how_many_days_it_has(question, days):
    (when,) = find(question, ASKED)
    assert when.days == days


def test_only_relative_dates_depend_on_the_day_of_the_question():
    both = find("Was it in May 2023 or last week?", ASKED)
    assert [(when.said, when.relative) for when in both] == [("May 2023", False), ("last week", True)]


@pytest.fixture
def lisbon(zone):
    zone("Europe/Lisbon")  # +01:00 in summer, +00:00 in winter


@pytest.mark.usefixtures("lisbon")
@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2023", "2023-01-01T00:00:00+00:00", "2023-12-31T23:59:59+00:00"),
        ("2023-05", "2023-05-01T00:00:00+01:00", "2023-05-31T23:59:59+01:00"),
        ("2023-05-08", "2023-05-08T00:00:00+01:00", "2023-05-08T23:59:59+01:00"),
        ("2023-05-08T13:00", "2023-05-08T13:00:00+01:00", "2023-05-08T13:00:59+01:00"),
        ("2023-05-08 13:00:05", "2023-05-08T13:00:05+01:00", "2023-05-08T13:00:05+01:00"),
        ("2023-05-08T13:00+02:00", "2023-05-08T12:00:00+01:00", "2023-05-08T12:00:59+01:00"),
        ("2023-05-08T13:00Z", "2023-05-08T14:00:00+01:00", "2023-05-08T14:00:59+01:00"),
        ("2023-05-08Z", "2023-05-08T01:00:00+01:00", "2023-05-09T00:59:59+01:00"),
    ],
)
def test_a_bound_is_the_first_or_last_second_on_the_users_clock(text, first, last):
    assert (since(text, ASKED), until(text, ASKED)) == (first, last)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        *(("today", "2023-05-17", "2023-05-17"), ("Yesterday", "2023-05-16", "2023-05-16")),
        *(("7d", "2023-05-10", "2023-05-10"), ("3w", "2023-04-26", "2023-04-26")),
        *(("2m", "2023-03-17", "2023-03-17"), ("1y", "2022-05-17", "2022-05-17")),
        *(("2 weeks ago", "2023-05-03", "2023-05-03"), ("a month ago", "2023-04-17", "2023-04-17")),
        *(("last week", "2023-05-08", "2023-05-14"), ("this month", "2023-05-01", "2023-05-31")),
        *(("last monday", "2023-05-15", "2023-05-15"), ("last summer", "2022-06-01", "2022-08-31")),
        *(("may", "2023-05-01", "2023-05-31"), ("June", "2022-06-01", "2022-06-30")),
        *(("may 2022", "2022-05-01", "2022-05-31"), ("17 may", "2023-05-17", "2023-05-17")),
        *(("18 may", "2022-05-18", "2022-05-18"), ("May 8th, 2021", "2021-05-08", "2021-05-08")),
        *(("29 february", "2020-02-29", "2020-02-29"), ("summer 2021", "2021-06-01", "2021-08-31")),
    ],
)
def test_a_bound_may_be_relative_and_a_month_without_a_year_has_begun(text, first, last):
    assert (since(text, ASKED)[:10], until(text, ASKED)[:10]) == (first, last)


def test_months_back_from_a_long_one_end_in_a_short_one():
    assert since("1m", date(2023, 3, 31))[:10] == "2023-02-28"


@pytest.mark.parametrize(
    "text",
    ["", "soon", "2023-02-31", "2023-13", "9999y", "8/5/2023", "25:00", "7", "may be", "2023-05-08T25:00"],
)
def test_what_is_not_understood_is_said_with_what_is(text):
    with pytest.raises(UsageError) as caught:
        since(text, ASKED)
    assert repr(text) in caught.value.message
    assert "2023-05-08T13:00+02:00" in caught.value.hint
    assert "last week" in caught.value.hint


def test_every_example_of_the_hint_is_understood():
    for example in UNDERSTOOD.split(", "):
        assert since(example, ASKED) < until(example, ASKED)


@pytest.mark.parametrize(
    ("text", "day"),
    [("2023-05-08", "2023-05-08"), ("2023-05-08T23:59+02:00", "2023-05-08"), ("8 May 2023", "2023-05-08")],
)
def test_now_is_the_day_as_written(text, day):
    assert day_of(text) == day
    assert today(day) == date.fromisoformat(day)


@pytest.mark.parametrize("text", ["tomorrow", "2023", "2023-02-31", "", "8/5/2023"])
def test_now_is_a_whole_date(text):
    with pytest.raises(UsageError):
        day_of(text)


WORDS = (
    *("may", "last", "8", "8th", "31", "2023", "summer", "week", "ago", "2", "in", "the", "of", "february"),
    *("29", "monday", "this", "a", "couple", "days", "-", "/", "13:00", "+02:00", "T", "year", "years"),
    *("999", "d", "w"),
)


def test_no_words_break_it():
    rng = random.Random(7)
    for _ in range(4000):
        text = " ".join(rng.choices(WORDS, k=rng.randint(1, 6)))
        text = text.replace(" ", "") if rng.random() < 0.2 else text
        for when in find(text, ASKED):
            assert when.said in text
            assert when.days >= 1
            assert isinstance(when.holds("2023-05-08"), bool)
        with contextlib.suppress(UsageError):
            assert since(text, ASKED) <= until(text, ASKED)
