"""Who asked the same before has not answered: such turns count least, and lend no words to those below."""

import random
from collections.abc import Sequence

import numpy as np
import pytest

from recipe.asked_before import asked_before, moved
from smartsearch.rank.asked import askers, fair_scores
from smartsearch.rank.scorer import Scorer
from smartsearch.rank.text import SHOWN
from smartsearch.training.chats import Chat, Labelled
from smartsearch.types import Corpus, Turn

WHEN = "When does the ferry to Runmarö leave?"


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (WHEN, "when does the ferry to runmarö leave"),
        (WHEN, "hey all, does anyone know when the ferry leaves to Runmarö??"),
        (WHEN, "Ida asked when the Runmarö ferry leaves and I had no answer"),
        (WHEN, "Runmarö ferry, when does it leave? can't find it"),
        ("Does Ida own a boat?", "does ida own a boat"),
        ("Give me the story of the gate.", "give me the story of the gate"),
        ("gate code", "gate code?"),
        ("How much was the stove?", "remind me, how much was that stove"),
    ],
)
def test_a_turn_that_asks_the_same_only_asks(question, said):
    assert askers(question, Corpus((Turn(said),)), [0]) == {0}


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (WHEN, "The ferry to Runmarö leaves at 14"),
        (WHEN, "When the ferry leaves to Runmarö at 14 I am on it"),
        (WHEN, "When does the bus leave?"),
        (WHEN, "the ferry? ok"),
        (WHEN, "It leaves Runmarö every full hour, ferry or no ferry, said Ida, who never was late"),
        ("Does Ida own a boat?", "Ida owns a boat."),
        ("Who owns a boat?", "Ida owns a boat."),
        ("Which day does the ferry leave?", "Tuesday is the day when the ferry leaves, which Ida chose"),
        ("Where did Ida park?", "The garage is where Ida parked"),
        ("When is Ida's birthday?", "Ida's birthday? It's the ninth of June!"),
        ("I left the gate open yesterday", "i left the gate open yesterday"),  # words that are looked for
        ("gate code", "the gate code"),
        ("Is it so?", "is it so?"),  # no word that says anything
    ],
)
def test_a_turn_that_answers_or_asks_something_else_does_not(question, said):
    assert askers(question, Corpus((Turn(said),)), [0]) == frozenset()


def scorer_of(read: list[str]) -> Scorer:
    """Gives a text as many points as it has letters e, and keeps what it read."""

    def call(_question: str, texts: Sequence[str]) -> np.ndarray:
        read.extend(texts)
        return np.array([float(text.count("e")) for text in texts])

    return Scorer(call, before=2)


def test_a_turn_below_counts_the_mean_and_the_turn_that_asks_the_least_of_all():
    corpus = Corpus(tuple(map(Turn, ("zero", "eee", "none", "one", "far"))))
    read: list[str] = []
    values = fair_scores("?", corpus, [0, 1, 2, 3, 4], scorer_of(read), SHOWN, {1})
    assert read == [
        *("zero", "eee | zero", "none | eee | zero", "one | none | eee", "far | one | none"),
        *("none | zero", "one | none | zero"),
    ]
    assert values.tolist() == [1.0, 1.0, (5 + 2) / 2, (5 + 3) / 2, 2.0]
    read.clear()
    fair_scores("?", Corpus((Turn("a"), Turn("b"))), [0, 1], scorer_of(read), SHOWN, frozenset())
    assert read == ["a", "b | a"], "nothing twice where nobody asked"


def test_the_mean_of_chances_is_that_of_their_logits():
    corpus = Corpus((Turn("asks"), Turn("below"), Turn("other", session="2")))
    by_text = {"asks": 0.5, "below | asks": 0.9, "below": 0.1, "other": 0.2}
    scorer = Scorer(lambda _question, texts: np.array([by_text[text] for text in texts]))
    scores = fair_scores("?", corpus, [0, 1, 2], scorer, SHOWN, {0}, chances=True)
    assert scores.tolist() == pytest.approx([0.2, 0.5, 0.2])


def test_the_measure_puts_the_asking_turn_above_the_answer_and_moves_the_labels():
    chat = Chat("made", "1", tuple(Turn(str(n), "AB"[n % 2], session="s") for n in range(8)))
    labelled = Labelled("Where is it?", (5, 7), related=frozenset((2, 6)))
    changed = asked_before(chat, labelled, random.Random(1), 2)
    asked = changed.questions[0]
    assert [changed.turns[n].text for n in asked.gold] == ["5", "7"]
    assert {changed.turns[n].text for n in asked.related} == {"2", "6"}
    new = [n for n, turn in enumerate(changed.turns) if turn not in chat.turns]
    assert new[0] == 4
    assert "it" in changed.turns[4].text
    assert changed.turns[4].speaker == "A"  # not who answers
    assert moved((1, 4), 4, 2) == (1, 6)
