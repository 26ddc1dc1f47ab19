"""Questions made by rule from statements, first-person turns and two-turn exchanges."""

import random

import pytest

from smartsearch.training.names import pick_names, replace_names
from smartsearch.training.questions import (
    asked_of,
    first_person,
    from_statement,
    last_question,
    statements_in,
)


@pytest.mark.parametrize(
    ("statement", "question"),
    [
        ("Emma moved to Lyon in May 2024.", "When did Emma move to Lyon?"),
        ("Emma moved to Lyon in May 2024.", "Where did Emma move?"),
        ("Emma bought a red bike because her old one broke.", "Why did Emma buy a red bike?"),
        ("Emma's favourite colour is green.", "What is Emma's favourite colour?"),
        ("Emma plans to use a tent for the trip.", "What does Emma plan to use for the trip?"),
        ("Emma is learning Dutch.", "Is Emma learning Dutch?"),
    ],
)
def test_a_statement_can_give_the_question(statement: str, question: str) -> None:
    assert question in {from_statement(statement, random.Random(seed)) for seed in range(60)}


@pytest.mark.parametrize(
    ("said", "statement"),
    [
        ("Well. I went to the zoo with my sister.", "Emma went to the zoo with their sister"),
        ("I'm painting a fence today", "Emma is painting a fence today"),
        ("I love long walks at night!", "Emma loves long walks at night"),
    ],
)
def test_first_person_becomes_third(said: str, statement: str) -> None:
    assert statements_in(said, "Emma") == [statement]


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Do you have any pets?", "Does Emma have any pets?"),
        ("and where are you going with your car?", "Where is Emma going with their car?"),
        ("Have you met my brother?", "Has Emma met Ben's brother?"),
        ("Did you know that cats purr?", ""),
        ("Is it late?", ""),
    ],
)
def test_a_question_put_to_someone_becomes_a_question_about_them(question: str, asked: str) -> None:
    assert asked_of(question, "Ben", "Emma") == asked


def test_a_question_about_the_user_can_be_asked_by_the_user_and_the_last_of_a_turn_counts() -> None:
    assert first_person("What does User plan for User's cat?") == "What do I plan for my cat?"
    assert last_question("Nice! That is great. Do you cook?") == "Do you cook?"
    assert last_question("Do you cook? I do.") == ""


def test_names_are_replaced_as_whole_words_and_are_new() -> None:
    names = pick_names(("Ann", "Ann Lee"), random.Random(0), "Tom and Mia")
    assert len(set(names.values())) == 2
    assert not {"Tom", "Mia"} & set(names.values())
    text = replace_names("Ann Lee met Ann and Annabel", {"Ann": "Zoe", "Ann Lee": "Mia"})
    assert text == "Mia met Zoe and Annabel"
