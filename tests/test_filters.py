"""Which turns pass, by hand; times with an offset and without."""

from datetime import date

import pytest

from smartsearch.ask.library import filtered
from smartsearch.ask.scope import Scope
from smartsearch.errors import InputError
from smartsearch.text.dates import since, until
from smartsearch.transcripts.filters import Filters, Sieve, facts, speaks
from smartsearch.types import Corpus, Turn

NOW = date(2023, 5, 17)


@pytest.fixture(autouse=True)
def athens(zone):
    """+03:00 in summer."""
    zone("Europe/Athens")


def passed(turns, **given):
    """The texts that pass, and what was said about it."""
    for bound, read in (("since", since), ("until", until)):
        if bound in given:
            given[bound] = read(given[bound], NOW)
    sieve = Sieve(Filters(**given))
    return [turn.text for turn in turns if sieve(facts(turn))], list(sieve.warnings())


TIMES = (
    Turn("day", time="2023-05-08"),
    Turn("night", time="2023-05-07T23:30:00"),
    Turn("noon", time="2023-05-08T12:00:00"),
    Turn("utc", time="2023-05-07T21:30:00+00:00"),
    Turn("late", time="2023-05-08T21:00:00+00:00"),
)


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ({"since": "2023-05-08"}, ["day", "noon", "utc", "late"]),
        ({"until": "2023-05-07"}, ["night"]),
        ({"since": "2023-05-08", "until": "2023-05-08"}, ["day", "noon", "utc"]),
        ({"since": "2023-05-08T12:00"}, ["day", "noon", "late"]),
        ({"since": "2023-05-08T12:01"}, ["day", "late"]),
        ({"until": "2023-05-08T12:00"}, ["day", "night", "noon", "utc"]),
        ({"since": "2023-05-08T09:00Z"}, ["day", "noon", "late"]),
        ({"since": "2023-05-08T09:01Z"}, ["day", "late"]),
        ({"since": "2023-05-09"}, ["late"]),
        ({"since": "2w", "until": "last week"}, ["day", "night", "noon", "utc", "late"]),
    ],
)
def test_days_are_inclusive_and_times_are_those_of_the_users_clock(bounds, expected):
    """`utc` is 0:30 of 8 May in Athens, `late` 0:00 of the 9th; `day` may be any time of its day."""
    assert passed(TIMES, **bounds) == (expected, [])


def test_turns_without_a_time_are_left_out_and_counted():
    turns = [*TIMES[:1], Turn("a", "Ann"), Turn("b", "Ben")]
    told = "2 turns without a time were left out: --since and --until cannot tell"
    assert passed(turns, since="2023") == (["day"], [told])
    some, said = passed(turns, until="2023", only_speaker=("ann",))
    assert some == []
    assert said[0] == "1 turn without a time was left out: --since and --until cannot tell"
    assert said[1] == "none of 3 turns passes the filters"


PEOPLE = (
    Turn("a", "Ann Lee", role="user"),
    Turn("b", "ANN", role="human"),
    Turn("c", "Anna", role="assistant"),
    Turn("d", "Zoë", role="model"),
    Turn("e", "", role="function"),
)


@pytest.mark.parametrize(
    ("names", "expected"),
    [(("ann",), "ab"), (("Ann Lee",), "a"), (("lee", "anna"), "ac"), (("zoë",), "d"), (("ZOE\u0308",), "d")],
)
def test_a_speaker_is_known_by_the_whole_name_or_a_word_of_it(names, expected):
    texts, _ = passed(PEOPLE, only_speaker=names)
    assert "".join(texts) == expected


@pytest.mark.parametrize(
    ("wanted", "name", "same"), [("an", "Ann", False), ("", "Ann", False), ("ann ", "Ann", True)]
)
def test_a_part_of_a_word_is_no_name(wanted, name, same):
    assert speaks(wanted, name) is same


@pytest.mark.parametrize(
    ("roles", "expected"),
    [(("user",), "ab"), (("assistant",), "cd"), (("tool", "user"), "abe"), (("system",), "")],
)
def test_roles_by_what_sources_call_them(roles, expected):
    assert "".join(passed(PEOPLE, role=roles)[0]) == expected


TALKS = (
    Turn("a", conversation="c-1", session="s1", title="Trip to Oslo"),
    Turn("b", conversation="c-1", session="s2", title="Trip to Oslo"),
    Turn("c", conversation="c-2", session="s1", title="Taxes"),
)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"conversation": ("trip to oslo",)}, "ab"),
        ({"conversation": ("C-2",)}, "c"),
        ({"conversation": ("c-1",), "session": ("S2",)}, "b"),
        ({"session": ("taxes",)}, "c"),
        ({"session": ("s1", "s2")}, "abc"),
    ],
)
def test_conversations_and_sessions_go_by_id_or_title(given, expected):
    assert "".join(passed(TALKS, **given)[0]) == expected


@pytest.mark.parametrize(
    ("turns", "given", "kind", "hint"),
    [
        (PEOPLE, {"only_speaker": ("Anne Lee",)}, "speaker", "the closest are Ann Lee, ANN, Anna"),
        (TALKS, {"conversation": ("trip to olso",)}, "conversation", "the closest are Trip to Oslo"),
        (TALKS, {"conversation": ("c2",)}, "conversation", "the closest are c-2"),
        (TALKS, {"conversation": ("c-2",), "session": ("s2",)}, "session", "the closest are s1"),
        (TIMES, {"session": ("s1",)}, "session", "these transcripts name no sessions"),
    ],
)
def test_an_unknown_name_is_an_error_with_the_nearest_or_that_there_is_none(turns, given, kind, hint):
    """A session of another conversation than the one asked for is unknown, too."""
    with pytest.raises(InputError) as caught:
        passed(turns, **given)
    assert (caught.value.kind, caught.value.hint) == (f"unknown_{kind}", hint)
    (name,) = list(given.values())[-1]
    assert caught.value.message == f"no {kind} {name!r}"


@pytest.mark.parametrize(("name", "speaker"), [("pal", "Pål Engstrøm"), ("PÅL", "pal"), ("zoë", "Zoe")])
def test_a_speaker_is_named_with_other_accents(name, speaker):
    assert speaks(name, speaker)
    assert not speaks(name, "Paula")


def test_nothing_asked_for_keeps_the_corpus():
    corpus = Corpus(TALKS)
    assert filtered(corpus, Scope()) is corpus


def test_what_training_gets_is_only_what_passes():
    scope = Scope(filters=Filters(since=since("2023-05-09", NOW)))
    corpus = filtered(Corpus(TIMES, warnings=("old",)), scope)
    assert [turn.text for turn in corpus.turns] == ["late"]
    assert corpus.warnings == ("old",)
