"""How far the int8 file is from the float one."""

import pytest

from recipe.export import parity
from smartsearch.training.chats import Group
from tests.recipe.conftest import needs_scipy


def group(*texts: str) -> Group:
    return Group("written", "single", "a", "Who?", texts[0], list(texts[1:]))


@needs_scipy
def test_parity_tells_the_order_and_the_first_and_leaves_out_a_lone_text() -> None:
    def by_length(_: str, texts: list[str]) -> list[float]:
        return [float(len(text)) for text in texts]

    def backwards(_: str, texts: list[str]) -> list[float]:
        return [-float(len(text)) for text in texts]

    trials = [group("a", "bbb", "cc"), group("alone")]
    same = parity(by_length, by_length, trials)
    assert (same["spearman_mean"], same["same_first"]) == (pytest.approx(1.0), 1.0)
    assert parity(by_length, backwards, trials)["spearman_min"] == pytest.approx(-1.0)
    assert parity(by_length, by_length, trials[1:]) == {}
