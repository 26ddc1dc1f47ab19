"""Words as they stand: which turns, in which order, and without any model."""

import pytest

from smartsearch import systems
from smartsearch.config import Config
from tests.conftest import haystack

CHAT = ("Ann: the Key is blue", "Ben: a key, 50% off", "Ann: keys", "Ben: blue")


def found(question: str, **settings: object):
    def tools(_config: Config):
        raise AssertionError("a model was loaded")

    config = Config(system="fixed", **settings)
    system = systems.load(config, tools)
    chat = haystack(*CHAT)
    return systems.answer(system, question, chat, system.prepare(chat, None, lambda *_: None), config)


@pytest.mark.parametrize(
    ("question", "turns"),
    [
        ("key", [0, 1, 2]),
        ("Key", [0]),  # a capital counts
        ("50% off", [1]),
        ("k.y", []),
        ("blue\nkeys", [0, 2, 3]),  # any of several, in the order of the files
        ("ben", [1, 3]),
    ],
)
def test_turns_that_contain_the_words_in_the_order_of_the_files(question, turns):
    assert [hit.index for hit in found(question).hits] == turns


def test_what_stands_nowhere_or_only_in_small_letters_is_told_and_each_hit_names_what_it_holds():
    result = found("blue\nzebra")
    assert [term.text for term in result.trace.absent] == ["zebra"]
    assert {term.text for hit in result.hits for term in hit.terms} == {"blue"}
    assert found("KEY\nblue").warnings == ("'KEY' has a capital, so case counts; turns with 'key': 3",)
    assert found("Key").warnings == found("Zebra").warnings == ()


def test_nothing_is_cut_but_by_a_number():
    assert len(found("e", truncate="adaptive", top_k=1, budget=1).hits) == 4
    assert [hit.index for hit in found("e", limit=2).hits] == [0, 1]
