"""Relative dates: said on Monday 8 May 2023 unless the case says otherwise."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartsearch.text.dates import with_dates

MONDAY, FRIDAY, SATURDAY, SUNDAY = "2023-05-08", "2023-05-12", "2023-05-13", "2023-05-14"


@pytest.mark.parametrize(
    ("phrase", "said", "meant"),
    [
        ("yesterday", MONDAY, "2023-05-07"),
        ("Today", MONDAY, "2023-05-08"),
        ("tomorrow", "2024-02-28", "2024-02-29"),
        ("the day before yesterday", MONDAY, "2023-05-06"),
        ("the day after tomorrow", MONDAY, "2023-05-10"),
        ("last night", "2023-01-01", "2022-12-31"),
        ("this morning", MONDAY, "2023-05-08"),
        ("last Friday", MONDAY, "2023-05-05"),
        ("last monday", MONDAY, "2023-05-01"),
        ("last Sunday", MONDAY, "2023-05-07"),
        ("last Friday", SATURDAY, "2023-05-12"),
        ("this Friday", MONDAY, "2023-05-12"),
        ("next Friday", MONDAY, "2023-05-12 or 2023-05-19"),
        ("next Friday", FRIDAY, "2023-05-19"),
        ("next Monday", MONDAY, "2023-05-15"),
        ("this weekend", MONDAY, "2023-05-13 to 2023-05-14"),
        ("this weekend", SUNDAY, "2023-05-13 to 2023-05-14"),
        ("last weekend", MONDAY, "2023-05-06 to 2023-05-07"),
        ("last weekend", SUNDAY, "2023-05-06 to 2023-05-07"),
        ("next weekend", SUNDAY, "2023-05-20 to 2023-05-21"),
        ("next weekend", MONDAY, "2023-05-13 to 2023-05-14 or 2023-05-20 to 2023-05-21"),
        ("last week", MONDAY, "2023-05-01 to 2023-05-07"),
        ("last week", SUNDAY, "2023-05-01 to 2023-05-07"),
        ("this week", SUNDAY, "2023-05-08 to 2023-05-14"),
        ("next week", SUNDAY, "2023-05-15 to 2023-05-21"),
        ("last month", "2023-01-31", "2022-12"),
        ("next month", "2023-12-31", "2024-01"),
        ("this month", MONDAY, "2023-05"),
        ("last year", MONDAY, "2022"),
        ("next year", "2024-02-29", "2025"),
        ("three days ago", "2023-05-02", "2023-04-29"),
        ("10 days ago", MONDAY, "2023-04-28"),
        ("a week ago", MONDAY, "about 2023-05-01"),
        ("two weeks from now", MONDAY, "about 2023-05-22"),
        ("5 months ago", MONDAY, "2022-12"),
        ("17 months ago", MONDAY, "2021-12"),
        ("a year ago", MONDAY, "2022"),
        ("12 years ago", MONDAY, "2011"),
    ],
)
def test_what_is_meant(phrase, said, meant):
    assert with_dates(f"I saw it {phrase}, really.", said) == f"I saw it {phrase} [= {meant}], really."


@pytest.mark.parametrize(
    "text",
    [
        *("on Friday", "recently, a few days ago, the other day", "the last week of June"),
        *("the next day, the next week and the last year", "half a year ago"),
        "1.5 years ago, 2-3 days ago, 2 or 3 days ago, twenty one days ago",
        *("more than two weeks ago, over a month ago", "at last Fridays are free", "in two weeks"),
        *("9999 years ago", "I read USA Today-ish papers"),
    ],
)
def test_what_is_not_exact_stays(text):
    assert with_dates(text, MONDAY) == text


def test_a_possessive_keeps_its_end():
    assert with_dates("yesterday's bread", MONDAY) == "yesterday's [= 2023-05-07] bread"


@pytest.mark.parametrize("said", ["", "2023", "2023-13-40", "soon"])
def test_without_a_day_nothing_is_added(said):
    assert with_dates("yesterday", said) == "yesterday"


@given(st.dates(), st.sampled_from(["last", "this", "next"]), st.integers(0, 6))
def test_weekdays_are_on_their_side_of_the_day(day, when, weekday):
    name = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")[weekday]
    written = with_dates(f"{when} {name}", str(day))
    for meant in written.partition("[= ")[2].rstrip("]").split(" or ") if "[=" in written else []:
        found = date.fromisoformat(meant)
        assert found.weekday() == weekday
        days = (found - day).days
        assert {"last": -7 <= days < 0, "this": -6 <= days <= 6, "next": 0 < days <= 13}[when]


@given(st.text(), st.dates())
def test_any_text_keeps_its_words(text, day):
    written = with_dates(text, str(day))
    assert written == text or written.replace(" [= ", "\0").count("\0") > 0
