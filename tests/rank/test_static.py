"""Static vectors: what scores a turn, how neighbours and rarity count, what a large haystack is spared."""

from pathlib import Path

import numpy as np
import pytest

from smartsearch.models.loading import _shipped_tokenizer, _static
from smartsearch.rank import static
from smartsearch.rank.static import NOTHING, Static
from smartsearch.retrieve.grep import Haystack
from smartsearch.types import Corpus, Turn

WORDS = {word: n for n, word in enumerate(["dog", "hound", "rain", "sun", "soup", "tea"])}


def tokens(texts):
    words = (text.lower().replace(":", " ").split() for text in texts)
    return [[WORDS[word] for word in said if word in WORDS] for said in words]


@pytest.fixture
def scorer(tmp_path: Path) -> Static:
    """Each word has a direction of its own, but a hound is nearly a dog."""
    size = max(NOTHING + 1, len(WORDS))
    vectors = np.zeros((size, 8), np.float32)
    vectors[range(len(WORDS)), range(len(WORDS))] = 1
    vectors[WORDS["hound"]] = [0.8, 0.6, *[0] * 6]
    scale = np.abs(vectors).max(axis=1) / 127
    whole = np.rint(vectors / np.maximum(scale, 1e-9)[:, None]).astype(np.int8)
    np.savez(
        tmp_path / "static.npz", vectors=whole, scale=scale,
        asked=np.zeros(size), told=np.zeros(size), layer=np.zeros((32, 4)), bias=np.zeros(4),
        weigh=np.zeros(4), back=np.zeros((4, 8)), turned=np.eye(8), near=np.full(2, 0.5),
        beside=np.array([0, 0, 0, 0.25, 0, 0, 0, 0]), rarity=1.0, length=0.0, loud=10.0,
    )  # fmt: skip
    return Static(tmp_path / "static.npz", tokens)


def hay(*said: str, sessions: str = "", kept=None) -> Haystack:
    turns = (Turn(text, session=name) for text, name in zip(said, sessions or "a" * len(said), strict=True))
    return Haystack(Corpus(tuple(turns)), kept)


def test_a_word_that_means_nearly_the_same_is_found_and_a_rare_one_counts_more(scorer: Static):
    found = scorer("dog", hay("rain", "hound", "dog", "sun", sessions="abcd"), range(4))
    assert found.argsort()[::-1][:2].tolist() == [2, 1]
    assert found == pytest.approx([0, 8, 10, 0], abs=0.1)
    bare = scorer("dog", hay("...", "dog", sessions="ab"), range(2))
    assert bare == pytest.approx([0, 10], abs=0.1), "one without a piece is no error"
    rare = scorer("dog rain", hay("dog", "rain", "rain", "rain", sessions="abcd"), range(4))
    assert rare[0] > rare[1] == rare[2]


def test_a_turn_beside_lends_its_words_and_a_share_of_its_score_within_a_session(scorer: Static):
    assert scorer("dog", hay("dog", "tea"), range(2)) == pytest.approx([10, 5 + 2.5], abs=0.1)
    assert scorer("dog", hay("dog", "tea", sessions="ab"), range(2)) == pytest.approx([10, 0], abs=0.1)


def test_what_filters_leave_out_lends_and_only_what_is_asked_for_is_scored(scorer: Static):
    some = hay("dog", "tea", "sun", kept=[1, 2])
    assert scorer("dog", some, some.indices) == pytest.approx([7.5, 1.25], abs=0.1)
    assert scorer("dog", some, []).shape == (0,)
    assert scorer("xyz", some, [1]).tolist() == [0]


def test_of_a_large_haystack_only_the_turns_asked_for_are_cut_into_pieces(scorer: Static, monkeypatch):
    monkeypatch.setattr(static, "WHOLE", 9)
    monkeypatch.setattr(static, "SAMPLE", 5)
    large, cut = hay(*["rain"] * 40, "hound", "dog"), []
    monkeypatch.setattr(scorer, "_tokens", lambda texts: cut.extend(texts) or tokens(texts))
    found = scorer("dog", large, [7, 40, 41])
    assert found == pytest.approx([0, 8, 10 + 2], abs=0.1)
    assert len(cut) == 1 + 5 + 3
    scorer("dog", large, [7])
    assert len(cut) == 1 + 5 + 3 + 1 + 1  # the sample is kept


def test_few_turns_of_a_large_corpus_are_cut_into_pieces_once(scorer: Static, monkeypatch):
    monkeypatch.setattr(static, "WHOLE", 9)
    few, cut = hay(*["rain"] * 40, "hound", "dog", kept=[7, 40, 41]), []
    monkeypatch.setattr(scorer, "_tokens", lambda texts: cut.extend(texts) or tokens(texts))
    assert scorer("dog", few, few.indices) == pytest.approx([0, 8, 12], abs=0.1)
    assert scorer("dog", few, [41]) == pytest.approx([12], abs=0.1)
    assert len(cut) == 1 + 3
    scorer("rain", few, [7])
    assert len(cut) == 1 + 3 + 1


def test_a_question_is_scored_once_and_only_the_pieces_that_stand_somewhere_are_looked_at(
    scorer: Static, monkeypatch
):
    some, cut, rows = hay("rain", "hound", "dog", "rain"), [], []
    vectors = scorer.vectors
    monkeypatch.setattr(scorer, "_tokens", lambda texts: cut.extend(texts) or tokens(texts))
    monkeypatch.setattr(scorer, "vectors", lambda pieces: rows.append(len(pieces)) or vectors(pieces))
    first = scorer("dog", some, some.indices)
    assert scorer("dog", some, [1, 2]).tolist() == first[1:3].tolist()
    assert (len(cut), rows) == (1 + 4, [1, 3])
    scorer("tea", some, [1])
    assert (len(cut), rows[2:]) == (1 + 4 + 1, [1, 3])


@pytest.mark.parametrize(
    ("question", "said", "met"),
    [
        ("the dog?", "A hound!", [("dog", "hound", 0.8)]),
        ("DOG", "dog, hound", []),  # the word itself is there
        ("dog tea", "hound soup rain", [("dog", "hound", 0.8)]),
        ("?", "hound", []),
        ("dog", "", []),
    ],
)
def test_words_that_stand_for_others_are_told_whole(scorer: Static, question, said, met):
    (found,) = scorer.met(question, [said])
    assert [(one.asked, one.said, round(one.cosine, 1)) for one in found] == met


def test_a_word_is_cut_as_in_its_text():
    texts = [
        *("Hey  there, Caf\u00e9s!", "50\u20ac a\u200bb \U0001f600x Cafe\u0301s", ""),
        "hey there xylographers'",
    ]
    whole = _shipped_tokenizer().encode_batch(texts, add_special_tokens=False)
    assert _static()._tokens(texts) == [one.ids for one in whole]


def test_the_shipped_vectors_know_what_a_word_means():
    some = hay("The bus leaves at nine.", "She plays the accordion.", "Soup again.", sessions="abc")
    assert _static()("which instrument does she play", some, range(3)).argmax() == 1
    ((met, *_),) = _static().met("which instrument does she play", [some.corpus.turns[1].text])
    assert (met.asked, met.said, met.cosine > 0.5) == ("instrument", "accordion", True)
