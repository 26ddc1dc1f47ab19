"""Themes: the formulas on partitions worked out by hand, and what insertions and removals keep true."""

from dataclasses import replace

import numpy as np
import pytest

from smartsearch.systems.xmemory import themes as module
from smartsearch.systems.xmemory.settings import AUTHORS, OURS
from smartsearch.systems.xmemory.themes import Themes, clusters, coherence, sparsity, worth

E1, E2, E3 = np.eye(3)
TILTED = np.array([0.5, np.sqrt(0.75), 0.0])  # its cosine with E1 is one half


@pytest.mark.parametrize(
    ("sizes", "expected"), [((2, 2), 1.0), ((3, 1), 0.8), ((7,), 1.0), ((4, 1, 1), 2 / 3)]
)
def test_sparsity_is_one_for_equal_sizes_and_less_for_others(sizes, expected):
    assert sparsity(sizes) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("sums", "sizes", "expected"),
    [
        ([E1 + E2], [2], np.sqrt(2) / 2),  # alone: no other theme to be told from
        ([E1 + E1, E2 + E2], [2, 2], 1.0),  # both equally far from the other
        ([E1 + E2, E3], [2, 1], (np.sqrt(2) / 2 + 1) / 2),
        ([E1, TILTED, E3], [1, 1, 1], 2 / 3),  # s = .5 .5 0: the median's deviation is 0, so g is 1 1 0
    ],
)
def test_coherence_by_hand(sums, sizes, expected):
    assert coherence(np.array(sums), sizes) == pytest.approx(expected)
    units = np.array([E1, TILTED, np.array([0.0, 0.6, 0.8])])  # a deviation that is not zero
    s = np.array([0.5, *[units[1] @ units[2]] * 2])
    sigma = np.median(np.abs(s - np.median(s))) + 0.02
    told = np.mean(np.exp(-((s - np.median(s)) ** 2) / (2 * sigma**2)))
    assert coherence(units, [1, 1, 1]) == pytest.approx(told)
    assert worth(units, [1, 1, 1]) == pytest.approx(1 + told)


def around(centre, count, rng, spread=0.1):
    vectors = centre + spread * rng.standard_normal((count, len(centre)))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_planted_clusters_are_found_whatever_the_seed():
    rng = np.random.default_rng(1)
    planted = np.vstack([around(centre, 5, rng) for centre in np.eye(8)[:3]])
    for seed in range(4):
        parts = sorted(clusters(planted, 3, seed))
        assert parts == [list(range(5)), list(range(5, 10)), list(range(10, 15))]
    assert sorted(map(len, clusters(np.tile(E1, (13, 1)), 2, 0))) == [1, 12], "equal ones are cut too"


def filled(count=300, constants=OURS, **changed):
    rng = np.random.default_rng(2)
    themes = Themes(replace(constants, **changed))
    centres = rng.standard_normal((count // 30, 16))
    for n in range(count):
        [vector] = around(centres[n % len(centres)] / 4, 1, rng, 0.3)
        themes.insert(n, vector)
        yield themes, n


def check(themes):
    held = [one for members in themes.members.values() for one in members]
    assert sorted(held) == sorted(themes.theme), "each in exactly one theme"
    assert all(themes.theme[one] == theme for theme, members in themes.members.items() for one in members)
    assert all(members == sorted(members) and members for members in themes.members.values())
    assert themes.ids == sorted(themes.members)
    sums = [sum(themes.vectors[one] for one in themes.members[theme]) for theme in themes.ids]
    assert np.allclose(themes.centroids, [each / np.linalg.norm(each) for each in sums])


@pytest.mark.parametrize("cap", [1, 2, 5, 8, 12, 14])
def test_the_cap_holds_after_every_insertion(cap):
    for themes, _ in filled(cap=cap):
        assert max(map(len, themes.members.values())) <= cap
        check(themes)
    assert themes.reassigned > 0


def test_a_thirteenth_semantic_forces_a_split():
    themes = Themes(replace(OURS, merge=False))
    rng = np.random.default_rng(3)
    alike = around(np.eye(16)[0], 13, rng, 0.02)
    for n, vector in enumerate(alike[:12]):
        themes.insert(n, vector)
    assert (len(themes.members), themes.reassigned) == (1, 0.0)
    themes.insert(12, alike[12])
    assert len(themes.members) > 1
    assert themes.reassigned > 0
    check(themes)


def test_what_moves_in_the_insertion_that_brings_it_was_not_reassigned():
    """A fact that opens a theme and is merged, or split off, at once has been nowhere else."""
    for themes, n in filled():
        assert n not in themes.moved
    assert themes.moved


def test_without_split_and_merge_nothing_is_ever_moved():
    for themes, _ in filled(split=False, merge=False):
        assert themes.reassigned == 0.0
    assert max(map(len, themes.members.values())) > 12


def test_what_is_chosen_is_worth_most_of_all_that_was_weighed(monkeypatch):
    """The value of the partition after a merge is never below that of leaving it."""
    seen = []
    weigh = Themes._worth

    def noted(self, instead, parts, near):
        seen.append((tuple(instead), weigh(self, instead, parts, near)))
        return seen[-1][1]

    monkeypatch.setattr(Themes, "_worth", noted)
    joined = 0
    for themes, _ in filled(120, split=False):
        left = [value for instead, value in seen if len(instead) == 1]
        merged = [value for instead, value in seen if len(instead) == 2]
        if themes.next - len(themes.members) > joined:
            joined += 1
            assert max(merged) > left[0]
        elif merged:
            assert max(merged) <= left[0]
        seen.clear()
    assert joined


def test_f_is_weighed_over_the_nearest_themes_however_many_there_are(monkeypatch):
    """So an insertion into a hundred thousand costs what one into a thousand does, but for a look at each."""
    weigh, weighed = worth, []

    def noted(sums, sizes, eps):
        weighed.append(len(sizes))
        return weigh(sums, sizes, eps)

    monkeypatch.setattr(module, "worth", noted)
    *_, (themes, _) = filled(constants=replace(OURS, around=5))
    assert len(themes.ids) > 20
    assert max(weighed) <= 5 + max(module.NEAREST, -(-13 // module.SIZE))
    for row, theme in enumerate(themes.ids):
        like = np.delete(themes.centroids @ themes.centroids[row], row)
        nearest = np.delete(themes.ids, row)[np.argsort(-like, kind="stable")[:6]]
        assert themes._near(theme) == nearest.tolist()


def test_a_removal_is_forgotten_everywhere_and_the_cap_still_holds():
    *_, (themes, last) = filled()
    for one in range(0, last, 3):
        themes.remove(one)
        check(themes)
    assert sorted(themes.theme) == [n for n in range(last + 1) if n % 3 or n == last]
    for one in list(themes.theme):
        themes.remove(one)
    assert not themes.members
    assert themes.threshold == module.FIRST


def test_what_was_kept_goes_on_as_if_it_never_stopped():
    *_, (whole, _) = filled(200)
    themes = next(themes for themes, n in filled(200) if n == 120)
    rows = [
        (one, themes.theme[one], one in themes.moved, themes.likeness.get(one), themes.vectors[one])
        for one in sorted(themes.theme)
    ]
    again = Themes.restored(rows, themes.next)
    for one in range(121, 200):
        again.insert(one, whole.vectors[one])
    assert again.theme == whole.theme
    assert again.moved == whole.moved
    assert again.threshold == whole.threshold


def test_the_authors_constants_are_theirs():
    """A fact joins from .62 on, whatever came before it."""
    *_, (themes, _) = filled(60, constants=AUTHORS)
    assert themes.threshold == 0.62
    assert (AUTHORS.around, AUTHORS.eps, AUTHORS.alpha, AUTHORS.pool) == (10, 1e-8, 0.7, 40)
    assert (AUTHORS.gain, AUTHORS.low, AUTHORS.opens) == (-0.45, -0.4, 0.25)
