"""The cut, worked out by hand: tau, top K, word and token ceilings, the first turn."""

from __future__ import annotations

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


def test_none_keeps_all():
    kept, budget = cut(hits(0.9, 0.0001), truncate="none")
    assert kept == [1, 2]
    assert (budget.used_words, budget.words, budget.tau) == (10, 0, 0.0)


def test_whole_turns_are_taken_and_one_that_does_not_fit_is_skipped_or_stopped_at():
    found = [*hits(0.9, 0.8), Hit(3, Turn("w " * 20, "S"), Scores(1)), Hit(4, Turn("w", "S"), Scores(1))]
    for kind in ("fixed", "adaptive"):
        kept, budget = cut(found, truncate=kind, budget=14)
        assert kept == [1, 2, 4]
        assert [(d.rank, d.reason) for d in budget.dropped] == [(3, "budget")]
        kept, budget = cut(found, truncate=kind, budget=14, fill="stop")
        assert kept == [1, 2]
        assert [(d.rank, d.reason) for d in budget.dropped] == [(3, "budget"), (4, "budget")]


def test_adaptive_drops_what_scores_below_alpha_of_the_best():
    kept, budget = cut(hits(0.5, 0.02, 0.014, 0.3), alpha=0.03)
    assert budget.tau == pytest.approx(0.015)
    assert kept == [1, 2, 4]
    assert [(d.rank, d.reason, d.scores.ce) for d in budget.dropped] == [(3, "tau", 0.014)]
    assert cut(hits(0.8, 0.4), alpha=0.5)[0] == [1, 2]  # what is exactly tau stays


def test_adaptive_looks_only_at_the_top_k_for_its_maximum():
    kept, budget = cut(hits(0.1, 0.1, 0.9), top_k=2, alpha=0.03)
    assert kept == [1, 2]
    assert budget.tau == pytest.approx(0.003)
    assert [d.reason for d in budget.dropped] == ["top_k"]


def test_low_scores_all_round_still_leave_one():
    kept, _ = cut(hits(1e-9, 1e-9), alpha=0.5)
    assert kept == [1, 2]
    kept, _ = cut(hits(1e-12, 1e-3), alpha=0.5)
    assert kept == [2]


def test_below_a_score_that_was_asked_for_no_turn_stays():
    kept, budget = cut(hits(0.5, None, 0.2), min_score=0.2)
    assert kept == [1, 3]
    assert [(d.rank, d.reason) for d in budget.dropped] == [(2, "min_score")]
    assert cut(hits(0.5, 0.2), min_score=0.6)[0] == []


def test_without_a_cross_encoder_nothing_falls_below_tau():
    kept, budget = cut(hits(None, None))
    assert kept == [1, 2]
    assert budget.tau == 0.0 == threshold(hits(None), 0.5)


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


def test_skip_passes_over_a_first_turn_that_does_not_fit():
    found = [Hit(1, Turn("w " * 30, "S"), Scores(1, 0.9)), Hit(2, Turn("w", "S"), Scores(1, 0.9))]
    assert cut(found, truncate="fixed", budget=9, fill="skip")[0] == [2]
    kept, budget = cut(found[:1], truncate="fixed", budget=9, fill="skip")
    assert kept == [1]
    assert budget.cut_text


def test_the_limit_hides_without_dropping_and_is_not_counted_as_used():
    kept, budget = cut(hits(0.9, 0.8, 0.7), limit=2)
    assert kept == [1, 2]
    assert budget.used_words == 10
    assert budget.dropped == ()
    assert [hit.rank for hit in budget.hidden] == [3]


def test_cut_adds_nothing_to_a_budget_that_is_used_up():
    kept, budget = cut(hits(0.9, 0.8), truncate="fixed", budget=5, fill="cut")
    assert kept == [1]
    assert not budget.cut_text


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


def test_a_token_ceiling_counts_with_the_named_tokenizer():
    kept, budget = cut(hits(0.9, 0.8, 0.7), tokens=10)
    assert kept == [1, 2]  # five letters a turn
    assert (budget.used_tokens, budget.tokenizer) == (10, "letters")


def test_budgets_default_to_the_papers():
    assert cut(hits(0.9))[1].words == 4000
    assert cut(hits(0.9), truncate="fixed")[1].words == 2000


def test_nothing_in_nothing_out():
    assert cut([])[0] == []


def test_a_turn_is_masked_before_it_is_cut():
    card = Turn("4111 1111 1111 1111 is my card, Blau42 the word", "S")
    found = [Hit(1, card, Scores(1)), Hit(2, Turn("password: Blau42"), Scores(1))]
    kept, _ = truncate(found, Config(truncate="fixed", budget=4, redact=True, fill="stop"), TOKENS)
    assert kept[0].turn.text == "[redacted: card number]"
    kept, _ = truncate(found, Config(truncate="fixed", budget=9, fill="cut", redact=True), TOKENS)
    assert kept[0].turn.text.endswith("card, [redacted: password]")
    kept, _ = truncate(found, Config(truncate="fixed", budget=4, fill="stop"), TOKENS)
    assert kept[0].turn.text == "4111 1111 1111"
