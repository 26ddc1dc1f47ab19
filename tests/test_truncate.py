"""The cut, worked out by hand: tau, top K, word and token ceilings, the first turn."""

import pytest

from smartsearch.config import Config
from smartsearch.rank.truncate import Tokenizer, threshold, truncate
from smartsearch.types import Hit, Scores, Turn

TOKENS = Tokenizer("letters", lambda text: sum(c.isalpha() for c in text))


def hits(*scores, words=5):
    """Hits of `words` words each, with these cross-encoder scores."""
    return [
        Hit(n, Turn(" ".join(["w"] * (words - 1)), "S"), Scores(1.0, ce=score))
        for n, score in enumerate(scores, start=1)
    ]


def cut(found, **settings):
    kept, budget = truncate(found, Config(**settings), TOKENS)
    return [hit.rank for hit in kept], budget


MIXED = [*hits(0.9, 0.8), Hit(3, Turn("w " * 20, "S"), Scores(1)), Hit(4, Turn("w", "S"), Scores(1))]
LONG = [Hit(1, Turn("w " * 30, "S"), Scores(1, 0.9)), Hit(2, Turn("w", "S"), Scores(1, 0.9))]


@pytest.mark.parametrize(
    ("found", "settings", "kept", "dropped"),
    [
        (hits(0.9, 0.0001), {"truncate": "none"}, [1, 2], {}),
        ([], {}, [], {}),
        # a turn that does not fit is skipped or stopped at
        (MIXED, {"truncate": "fixed", "budget": 14}, [1, 2, 4], {3: "budget"}),
        (MIXED, {"truncate": "adaptive", "budget": 14}, [1, 2, 4], {3: "budget"}),
        (MIXED, {"truncate": "fixed", "budget": 14, "fill": "stop"}, [1, 2], {3: "budget", 4: "budget"}),
        (MIXED, {"truncate": "adaptive", "budget": 14, "fill": "stop"}, [1, 2], {3: "budget", 4: "budget"}),
        (LONG, {"truncate": "fixed", "budget": 9, "fill": "skip"}, [2], {1: "budget"}),
        (LONG[:1], {"truncate": "fixed", "budget": 9, "fill": "skip"}, [1], {}),
        # what scores below alpha of the best of the first top_k goes, what is exactly tau stays
        (hits(0.5, 0.02, 0.014, 0.3), {"alpha": 0.03}, [1, 2, 4], {3: "tau"}),
        (hits(0.8, 0.4), {"alpha": 0.5}, [1, 2], {}),
        (hits(0.1, 0.1, 0.9), {"alpha": 0.03, "top_k": 2}, [1, 2], {3: "top_k"}),
        (hits(1e-9, 1e-9), {"alpha": 0.5}, [1, 2], {}),
        (hits(1e-12, 1e-3), {"alpha": 0.5}, [2], {1: "tau"}),
        (hits(None, None), {}, [1, 2], {}),
        (hits(0.5, None, 0.2), {"min_score": 0.2}, [1, 3], {2: "min_score"}),
        (hits(0.5, 0.2), {"min_score": 0.6}, [], {1: "min_score", 2: "min_score"}),
        (hits(0.9, 0.8, 0.7), {"tokens": 10}, [1, 2], {3: "budget"}),  # five letters a turn
        (hits(0.9, 0.8), {"truncate": "fixed", "budget": 5, "fill": "cut"}, [1], {2: "budget"}),
    ],
)
def test_which_turns_stay_and_why_others_do_not(found, settings, kept, dropped):
    stay, budget = cut(found, **settings)
    assert (stay, {d.rank: d.reason for d in budget.dropped}) == (kept, dropped)
    scores = {hit.rank: hit.scores for hit in found}
    assert all(d.scores == scores[d.rank] for d in budget.dropped)
    assert budget.cut_text == (found == LONG[:1])
    if not budget.cut_text:
        assert budget.used_words == sum(hit.turn.words for hit in found if hit.rank in kept)


def test_tau_is_a_share_of_the_best_of_those_looked_at():
    assert cut(hits(0.5, 0.02), alpha=0.03)[1].tau == pytest.approx(0.015)
    assert cut(hits(0.1, 0.1, 0.9), top_k=2, alpha=0.03)[1].tau == pytest.approx(0.003)
    assert cut(hits(None, None))[1].tau == 0.0 == threshold(hits(None), 0.5)


def test_the_budget_says_what_was_counted():
    assert cut(hits(0.9))[1].words == 4000  # the paper's
    assert cut(hits(0.9), truncate="fixed")[1].words == 2000
    none = cut(hits(0.9), truncate="none")[1]
    assert (none.words, none.tau) == (0, 0.0)
    budget = cut(hits(0.9, 0.8, 0.7), tokens=10)[1]
    assert (budget.used_tokens, budget.tokenizer) == (10, "letters")


def test_a_first_turn_longer_than_the_budget_is_cut_and_said_so():
    found = [Hit(1, Turn("a b c d e f", "S", "2023-05-08"), Scores(1, 0.9)), *hits(0.9)]
    kept, budget = truncate(found, Config(truncate="fixed", budget=4), TOKENS)
    assert kept[0].turn.rendered == "[2023-05-08] S: a b"
    assert budget.cut_text
    assert budget.used_words == 4
    assert len(kept) == 1


def test_cut_fills_the_rest_with_part_of_the_next_turn():
    kept, budget = truncate(hits(0.9, 0.8), Config(truncate="fixed", budget=7, fill="cut"), TOKENS)
    assert [hit.turn.words for hit in kept] == [5, 2]
    assert budget.cut_text


def test_the_limit_hides_without_dropping_and_is_not_counted_as_used():
    kept, budget = cut(hits(0.9, 0.8, 0.7), limit=2)
    assert kept == [1, 2]
    assert budget.used_words == 10
    assert budget.dropped == ()
    assert [hit.rank for hit in budget.hidden] == [3]


def test_a_caption_goes_first_when_a_turn_is_cut():
    found = [Hit(1, Turn("a b c", "S", caption="x " * 100), Scores(1, 0.9))]
    kept, budget = truncate(found, Config(truncate="fixed", budget=10), TOKENS)
    assert kept[0].turn.rendered == "S: a b c"
    assert budget.cut_text


def test_a_turn_without_spaces_is_cut_by_characters():
    found = [Hit(1, Turn("犬" * 1000), Scores(1, 0.9))]
    kept, budget = truncate(found, Config(tokens=50), TOKENS)
    assert 0 < len(kept[0].turn.text) <= 50
    assert budget.cut_text


def test_a_turn_is_masked_before_it_is_cut():
    card = Turn("4111 1111 1111 1111 is my card, Blau42 the word", "S")
    found = [Hit(1, card, Scores(1)), Hit(2, Turn("password: Blau42"), Scores(1))]
    kept, _ = truncate(found, Config(truncate="fixed", budget=4, redact=True, fill="stop"), TOKENS)
    assert kept[0].turn.text == "[redacted: card number]"
    kept, _ = truncate(found, Config(truncate="fixed", budget=9, fill="cut", redact=True), TOKENS)
    assert kept[0].turn.text.endswith("card, [redacted: password]")
    kept, _ = truncate(found, Config(truncate="fixed", budget=4, fill="stop"), TOKENS)
    assert kept[0].turn.text == "4111 1111 1111"
