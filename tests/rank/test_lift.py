"""What moves up over the rankers' order, and that nothing does where it is switched off."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from smartsearch.config import Config
from smartsearch.rank.fusion import Ranking
from smartsearch.rank.lift import (
    PLACE,
    PLACE_LITERAL,
    SHORT,
    answer_to,
    by_time,
    promoted,
    typed_first,
    with_replies,
    wordless_last,
)
from smartsearch.rank.truncate import Tokenizer, truncate
from smartsearch.retrieve.grep import Haystack
from smartsearch.retrieve.hops import Evidence
from smartsearch.systems.smartsearch.pipeline import _hits, ranked
from smartsearch.types import Candidate, Corpus, Hit, Query, Scores, Term, Turn

TURNS = (
    Turn("Is the boat sold?", "Gran", "2024-01-01"),
    Turn("Yes.", "Ann", "2024-01-02"),
    Turn("the boathouse burnt", "Bo", "2024-03-01"),
    Turn("a new boat", "Gran", "2024-05-01"),
)
BOAT, GRAN = Term("boat", "NOUN", 2.0), Term("Gran", "PROPN", 4.0)
CONFIG = Config(rank=(), first="match")
NONE = SimpleNamespace(scorers={}, fusion=None, static=None)


def order(query: Query, config: Config) -> list[int]:
    """The turns as they are put, the rankers' order being 0, 2, 3, 1."""
    candidates = tuple(Candidate(n, (BOAT,) if n != 1 else (), 1.0, 1) for n in (0, 2, 3, 1))
    found = ranked(query, Evidence(candidates, ()), Haystack(Corpus(TURNS)), config, NONE)
    return [candidate.index for candidate in found.candidates]


@pytest.mark.parametrize(
    ("question", "literal", "expected"),
    [
        ("Did they ever manage to sell the boat?", False, [0, 1, 2, 3]),  # the reply after its question
        ("boat", True, [0, 3, 2, 1]),  # whole words before inner matches
        ("the last message from Gran about the boat", False, [3, 0, 1, 2]),
    ],
)
def test_replies_what_was_typed_and_the_last_move_up_where_lift_is_on(question, literal, expected):
    query = Query(question, (BOAT,) if literal else (BOAT, GRAN), literal=literal)
    assert order(query, CONFIG) == expected
    for off in ({"lift": False}, {"typed": False}):
        assert order(query, replace(CONFIG, **off)) == [0, 2, 3, 1]


@pytest.mark.parametrize("lift", [True, False])
def test_preferred_speakers_move_up_in_any_case(lift):
    config = replace(CONFIG, speaker=("Bo",), speaker_rank=0.1, lift=lift)
    assert order(Query("Did they ever manage to sell the boat?", (BOAT,)), config)[0] == 2


@pytest.mark.parametrize(
    ("question", "order"),
    [("Is the boat sold?", [2, 3, 0, 1, 4]), ("Who sent a sticker of the boat?", [2, 4, 3, 0, 1])],
)
def test_a_turn_that_says_nothing_comes_last(question, order):
    turns = (
        Turn("Is the boat sold?"),
        Turn(" "),
        Turn("", caption="a boat"),
        Turn("Yes"),
        Turn("", caption="[sticker]"),
    )
    query = Query(question, ())
    ranking = Ranking(tuple(Candidate(i, (), 0.0, 1) for i in (1, 2, 4, 3, 0)), (Scores(),) * 5, {})
    assert [c.index for c in wordless_last(ranking, query, Corpus(turns)).candidates] == order
    assert wordless_last(ranking, query, Corpus((Turn("x"),) * 5)) is ranking


ASKED, SAID = Turn("How much is that a year?", "Ann"), Turn("Forty four thousand", "Ben")


def replied(turns, ranked):
    ranking = Ranking(tuple(Candidate(i, (), 0.0, 1) for i in ranked), (Scores(),) * len(ranked), {})
    done = with_replies(ranking, Corpus(tuple(turns)))
    return [c.index for c in done.candidates], done.pinned


def test_a_reply_stands_right_after_its_question_and_is_pinned():
    assert replied([ASKED, SAID, Turn("rain"), Turn("sun")], [2, 0, 3, 1]) == ([2, 0, 1, 3], {1})


@pytest.mark.parametrize(
    "turns",
    [
        [Turn("It is much."), SAID, Turn("rain")],
        [ASKED, Turn("word " * (SHORT + 1)), Turn("rain")],
        [ASKED, Turn("Why?"), Turn("rain")],
        [ASKED, Turn("Forty", session="another"), Turn("rain")],
    ],
    ids=["no question", "a long reply", "a question back", "another session"],
)
def test_other_turns_stay_where_they_are(turns):
    assert replied(turns, [0, 2, 1]) == ([0, 2, 1], frozenset())


@pytest.mark.parametrize(
    ("turns", "answer"),
    [
        (["A: Where is it?", "B: In the shed"], 1),
        (["A: does she do house calls", "B: wednesdays"], 1),
        (["A: Where is it?", "B: where did you see it last", "A: here"], -1),
        (["A: Where is it?", "B: ", "A: hello", "B: In the shed, " + "far " * 200], 3),
        (["A: Where is it?", "B: Where is what?", "A: The key"], -1),
        (["A: It is here", "B: Good"], -1),
        (["A: " + "word " * 40 + "right?", "B: Good"], -1),
        (["A: Where is it?"], -1),
        ([": Where is it?", ": In the shed"], 1),
    ],
)
def test_what_somebody_else_says_next_answers_a_question(turns, answer):
    said = tuple(Turn(text, speaker) for speaker, _, text in (turn.partition(": ") for turn in turns))
    assert answer_to(0, Corpus(said)) == answer


NOTHING = Term("x", "NOUN", 2.0)


def lifted(texts, query, counts=None, mended=()):
    """The texts as `typed_first` puts them, and which of them are pinned."""
    corpus = Corpus(tuple(map(Turn, texts)))
    candidates = tuple(Candidate(index, (NOTHING,), 2.0, 1) for index in range(len(texts)))
    ranking = Ranking(candidates, (Scores(),) * len(texts), {})
    done = typed_first(ranking, query, corpus, counts or {}, mended)
    return [texts[c.index] for c in done.candidates], {texts[index] for index in done.pinned}


def literal(*terms, kind="NOUN"):
    return Query(" ".join(terms), tuple(Term(term, kind, 2.0) for term in terms), literal=True)


def test_a_literal_question_behaves_as_grep_whole_words_first():
    texts = ["Swam 30 lengths", "a sailboat", "the BOAT leaks", "boats", "no", "boat again"]
    order, pinned = lifted(texts, literal("boat"))
    assert order == ["the BOAT leaks", "boat again", "a sailboat", "boats", "Swam 30 lengths", "no"]
    assert pinned == set(order[:4])
    order, _ = lifted(["13.55 paid", "order 3.5", "3.55"], literal("3.5", kind="NUMBER"))
    assert order == ["order 3.5", "13.55 paid", "3.55"], "a number within another comes after itself"
    mended = [Term("prius", "FUZZY", 2, source="prias")]
    found = lifted(["rain", "the prius"], literal("prias"), mended=mended)
    assert found == (["the prius", "rain"], {"the prius"}), "what was mended counts as typed"


def test_turns_that_hold_all_of_it_come_before_those_that_hold_a_part():
    order, pinned = lifted(["Mercer", "rain", "Street of Mercer", "Street"], literal("Mercer", "Street"))
    assert order == ["Street of Mercer", "Mercer", "Street", "rain"]
    assert pinned == {"Street of Mercer"}


def test_a_few_words_that_stand_somewhere_as_they_were_typed_come_first():
    query = Query("salad blue", (Term("salad", "NOUN", 2.0), Term("blue", "NOUN", 2.0)))
    order, pinned = lifted(["blue salad", "rain", "a Salad Blue cup"], query)
    assert (order[0], pinned) == ("a Salad Blue cup", {"a Salad Blue cup"})


@pytest.mark.parametrize(("kind", "place"), [("NOUN", PLACE), ("CODE", PLACE_LITERAL)])
def test_a_rare_word_of_another_question_lifts_its_turn_and_no_score_cuts_it(kind, place):
    texts = [f"turn {n}" for n in range(30)] + ["about zorb"]
    query = Query("what of zorb", (Term("zorb", kind, 2.0),))
    order, pinned = lifted(texts, query, {"zorb": 1})
    hits = [Hit(n, Turn(str(n)), Scores(ce=ce), index=n) for n, ce in ((1, 0.9), (2, 0.001), (3, 0.001))]
    kept, _ = truncate(hits, Config(), Tokenizer("words", lambda text: len(text.split())), frozenset((3,)))
    assert [hit.index for hit in kept] == [1, 3], "a pinned one"
    assert order.index("about zorb") == place - 1
    assert pinned == {"about zorb"}
    assert [text for text in order if text != "about zorb"] == texts[:-1]


def test_a_common_word_or_one_that_stands_within_another_lifts_nothing():
    texts = [f"turn {n}" for n in range(30)] + ["about zorbing"]
    query = Query("what of zorb", (Term("zorb", "NOUN", 2.0),))
    assert lifted(texts, query, {"zorb": 1}) == (texts, set())
    assert lifted([*texts, "zorb"], query, {"zorb": 400}) == ([*texts, "zorb"], set())


MESSAGES = (
    Turn("the boat leaks", "Gran", "2024-03-01"),
    Turn("a new boat", "Ann", "2024-05-01"),
    Turn("rain", "Gran", "2024-04-01"),
    Turn("boat sold", "Ann", "2024-01-01"),
)
ANN, MESSAGE = Term("Ann", "PROPN", 4.0), Term("message", "NOUN", 2.0)
BEFORE = [2, 0, 3, 1]


def in_time(question: str, *terms: Term) -> list[int]:
    candidates = tuple(Candidate(index, (), 0.0, 1) for index in BEFORE)
    ranking = Ranking(candidates, (Scores(),) * 4, {})
    return [c.index for c in by_time(ranking, Query(question, terms), Corpus(MESSAGES)).candidates]


@pytest.mark.parametrize(
    ("question", "terms", "expected"),
    [
        ("last message from Gran", (MESSAGE, GRAN), [2, 0, 3, 1]),
        ("first message from Gran", (MESSAGE, GRAN), [0, 2, 3, 1]),
        ("what was the latest text message by Ann?", (MESSAGE, ANN), [1, 3, 2, 0]),
        ("Ann's earliest mail", (ANN,), [3, 1, 2, 0]),
        ("Ann’s most recent post", (ANN,), [1, 3, 2, 0]),
        ("last message from Gran about the boat", (MESSAGE, GRAN, BOAT), [0, 2, 3, 1]),
        ("last message from Ann about the boat", (MESSAGE, ANN, BOAT), [1, 3, 2, 0]),
        ("first reply from Ann about the boat", (ANN, BOAT), [3, 1, 2, 0]),
    ],
)
def test_a_question_for_the_last_or_the_first_message_of_somebody_goes_by_time(question, terms, expected):
    assert in_time(question, *terms) == expected


@pytest.mark.parametrize(
    "question",
    [
        "In what order did we see the boat, starting from the earliest?",
        "which came first, the boat or the rain, from earliest to latest",
        *("when did we last see the boat", "how long did the boat last"),
        *("when did Gran see the boat for the first time?", "who first mentioned the boat"),
        *("the latest on the boat", "Gran's last boat", "the oldest boat"),
        "what is still to pay, by the last message, for the boat",
        *("the last message of the day from the boat", "the first name in the note by the boat"),
        "the boat of the last two years",
    ],
)
def test_other_questions_keep_their_order(question):
    assert in_time(question, BOAT, GRAN) == BEFORE


SAID_BY = tuple(Turn(str(n), "Ann Lee" if n in (3, 4) else "Ben") for n in range(5))
FIVE = tuple(Candidate(n, (), 5.0 - n, 1) for n in range(5))
FOUND = Ranking(FIVE, tuple(Scores(5.0 - n) for n in range(5)), {})


def preferred(names, share):
    return [c.index for c in promoted(FOUND, SAID_BY, names, share).candidates]


def test_a_preferred_turn_counts_as_at_a_share_of_its_rank():
    """Ranks 4 and 5 become 2 and 2.5; of equal ones the first stays first."""
    assert preferred(("ann",), 0.5) == [0, 1, 3, 4, 2]
    assert preferred(("ann",), 0.2) == [3, 0, 4, 1, 2]
    assert preferred(("ann", "ben"), 0.5) == [0, 1, 2, 3, 4]
    assert preferred((), 0.5) == [0, 1, 2, 3, 4]
    after = promoted(FOUND, SAID_BY, ("lee",), 0.5)
    assert [s.match for s in after.scores] == [c.weight for c in after.candidates]


def test_a_question_that_ends_the_chat_has_no_reply_nor_one_that_filters_leave_out():
    turns = (Turn("first words", "Bo"), Turn("Is it sold?", "Ann"))
    assert Corpus(turns).following(-1) == -1
    assert answer_to(1, Corpus(turns)) == -1
    asked = Corpus((Turn("Is it sold?", "Ann"), Turn("In May", "Bo")))
    ranking = Ranking((Candidate(0, (), 1.0, 1),), (Scores(),), {})
    assert _hits(ranking, Haystack(asked), 3)[0].reply is not None
    assert _hits(ranking, Haystack(asked, [0]), 3)[0].reply is None
