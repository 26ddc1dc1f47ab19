"""What is typed to be found as it stands."""

import pytest

from smartsearch.config import Config
from smartsearch.retrieve.grep import grep
from smartsearch.text.literals import literals, loosely, spellings, whole
from smartsearch.types import Term
from tests.conftest import haystack


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("ticket FC-311", ["FC-311"]),
        ("why did cp1252 break FTS5?", ["cp1252", "FTS5"]),
        ("lb-3, lb-4", ["lb-3", "lb-4"]),
        ("who changed src/app.py and .env", ["src/app.py", ".env"]),
        ("what was said in #general by @anna", ["#general", "@anna"]),
        ("mail of anna@x.org.", ["anna@x.org"]),
        ("release v2.1's notes", ["v2.1"]),
        ('who lives in "Mercer Street"?', ["Mercer Street"]),
        ("what did “red pony” cost, $1,250?", ["red pony", "1,250"]),
        ("call 07700 900418 now", ["07700 900418"]),
        ("C++ or C#", ["C++", "C#"]),
        ("on the 14th", ["14th"]),
        ("a long-term plan", ["long-term"]),
        ("e.g. at 5 p.m. - or not... What's that? (Yes!)", []),
        ('an open " quote, and "" and "?"', []),
    ],
)
def test_codes_numbers_and_quoted_phrases_are_literals(question, expected):
    found = literals(question)
    assert [one.text for one in found] == expected
    assert all(one.text in question[one.start : one.end] for one in found)


def terms(parser, question, **settings):
    return [(t.text, t.kind) for t in parser.parse(question, Config(**settings)).terms]


def test_a_literal_is_a_term_whatever_the_tagger_says_and_its_parts_are_none(parser):
    found = terms(parser, "dog FC-311 in src/app.py")
    assert found == [("dog", "NOUN"), ("FC-311", "CODE"), ("src/app.py", "CODE")]
    assert terms(parser, 'Who lives in "New York"?') == [("lives", "VERB"), ("New York", "PHRASE")]
    assert ("FC-311", "CODE") not in terms(parser, "dog FC-311", typed=False)


@pytest.mark.parametrize(
    ("question", "literal"),
    [
        ("cp1252", True),
        ('"Mercer Street"', True),
        ("FC-311 src/app.py", True),
        ("dog", True),
        ("New York", True),
        ("When did Mara adopt the dog?", False),
        ("dog FC-311", False),
    ],
)
def test_a_question_of_nothing_but_a_word_a_name_or_a_code_is_literal(parser, question, literal):
    assert parser.parse(question, Config()).literal == literal
    assert not parser.parse(question, Config(typed=False)).literal


@pytest.mark.parametrize(
    ("typed", "text", "found"),
    [
        ("07700900418", "ring 07700 900418", True),
        ("07700 900418", "ring 07700900418.", True),
        ("(0770) 090-0418", "0770 0900418", True),
        ("44000", "it was 44,000 a year", True),
        ("44,000", "it was 44000 a year", True),
        ("2023", "20 23", False),
        ("3.5", "35", False),
        ("14th", "Saturday 14 December", True),
        ("14th", "on the 14th, at 17:00", True),
        ("14th", "in 2014, at 3.14, or gate 114", False),
    ],
)
def test_a_number_is_found_however_it_is_grouped(typed, text, found):
    assert bool(grep(haystack(f"Mara: {text}"), [Term(typed, "NUMBER", 2.0)])) == found
    assert loosely(typed) or not found


def test_a_number_is_found_by_its_commonest_spellings_where_only_plain_text_can_be_looked_for():
    assert spellings("44,000") == ["44,000", "44000"]
    assert spellings("44000") == ["44000", "44,000"]
    assert spellings("fc-311") == ["fc-311"]


@pytest.mark.parametrize(
    ("needle", "text", "found"),
    [
        ("3.5", "order 3.5 of it", True),
        ("3.5", "order 13.55 of it", False),
        ("3.5", "3.5.1", False),
        ("35", "1,350", False),
        ("#general", "in #general.", True),
        ("fc-311", "fc-3110", False),
    ],
)
def test_a_whole_token_is_not_part_of_another(needle, text, found):
    assert bool(whole(needle).search(text)) == found
