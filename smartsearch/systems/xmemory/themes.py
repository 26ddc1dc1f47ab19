"""Themes: which semantics belong together, mended at every insertion (paper: attach, split, merge).

A partition is worth f = Sparsity + Sem. Sparsity rewards themes of equal size, Sem those that are alike
inside and neither too near to another theme nor too far from all.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from smartsearch.systems.xmemory.settings import OURS, Constants

SIZE = 6
"""A theme over the cap is cut in 2 up to its size / SIZE parts, rounded up."""
SEEDS = 3
"""Starts of the clustering that cuts it."""
TINY = 2
"""Semantics up to which a theme may be merged with another."""
NEAREST = 3
"""Themes that a tiny one may be merged with."""
FIRST = 0.5
"""Similarity from which a semantic joins its nearest theme, until KNOWN were seen."""
SHARE, KNOWN = 0.6, 20
"""From then on it joins where its similarity is above that of this share of those before it."""
ROWS = 16
"""Rows multiplied at a time: so little BLAS does on one thread. Several spin while a core is busy, and took
30 times as long."""

Vectors = NDArray[np.float64]


def sparsity(sizes: Sequence[int]) -> float:
    """N^2 / (K * sum of squared sizes), in (0, 1]; 1 where all K themes have the same size."""
    squares = sum(size * size for size in sizes)
    return sum(sizes) ** 2 / (len(sizes) * squares)


def coherence(sums: Vectors, sizes: Sequence[int], eps: float = OURS.eps) -> float:
    """Sem: the mean over themes of (mean cosine of members with their centroid) times g.

    `sums` (K, dim) are the sums of the members' unit vectors; their mean cosine with the centroid is the
    length of the sum over the size. g = exp(-(s - median)^2 / (2 sigma^2)), where s is the similarity with
    the nearest other theme and sigma the median absolute deviation of s + eps; 1 for a single theme.
    """
    lengths = np.linalg.norm(sums, axis=1)
    inside = lengths / np.asarray(sizes)
    if len(sums) == 1:
        return float(inside[0])
    units = sums / np.maximum(lengths, 1e-12)[:, None]
    similar = np.vstack([units[n : n + ROWS] @ units.T for n in range(0, len(units), ROWS)])
    np.fill_diagonal(similar, -np.inf)
    nearest = similar.max(axis=1)
    apart = nearest - np.median(nearest)
    sigma = np.median(np.abs(apart)) + eps
    return float(np.mean(inside * np.exp(-(apart**2) / (2 * sigma**2))))


def worth(sums: Vectors, sizes: Sequence[int], eps: float = OURS.eps) -> float:
    """f of a partition, in (0, 2]."""
    return sparsity(sizes) + coherence(sums, sizes, eps)


def clusters(vectors: Vectors, parts: int, seed: int) -> list[list[int]]:
    """Places of unit vectors (n, dim) in so many parts, none empty, by spherical k-means.

    It starts with a vector, the `seed`-th of those least like the mean, and those least like any before.
    """
    start = int(np.argsort(vectors @ vectors.sum(axis=0), kind="stable")[seed % len(vectors)])
    chosen = [start]
    while len(chosen) < parts:
        likeness = (vectors @ vectors[chosen].T).max(axis=1)
        likeness[chosen] = np.inf
        chosen.append(int(np.argmin(likeness)))
    centres, labels = vectors[chosen], np.full(len(vectors), -1)
    for _ in range(20):
        likeness = vectors @ centres.T
        likeness[chosen, range(parts)] = np.inf  # its first vector stays: no part is ever empty
        fresh = likeness.argmax(axis=1)
        if (fresh == labels).all():
            break
        labels = fresh
        sums = np.stack([vectors[labels == part].sum(axis=0) for part in range(parts)])
        centres = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
    return [np.flatnonzero(labels == part).tolist() for part in range(parts)]


class Themes:
    """The partition so far, mended at each insertion and removal.

    It is a function of what was inserted and removed, in that order, and of nothing else: one that was kept
    and read again goes on exactly as it would have.
    """

    def __init__(self, constants: Constants = OURS) -> None:
        self._constants = constants
        self.members: dict[int, list[int]] = {}
        """The semantics of each theme, ascending; themes too, as a new one has the highest id."""
        self.theme: dict[int, int] = {}
        """The theme of each semantic."""
        self.moved: set[int] = set()
        """Semantics that a split or a merge took to another theme, after the insertion that brought them."""
        self.likeness: dict[int, float] = {}
        """Of each semantic, how like its nearest theme it was when it came; of the first, not there."""
        self.touched: set[int] = set()
        """Semantics whose theme changed since this was last emptied."""
        self.next = 0
        self.vectors: dict[int, Vectors] = {}
        self._seen: list[float] = []
        self._sums: Vectors = np.zeros((0, 0))
        """The sum of the members' vectors in the row of each theme's id."""

    @classmethod
    def restored(
        cls,
        rows: Iterable[tuple[int, int, bool, float | None, Vectors]],
        following: int,
        constants: Constants = OURS,
    ) -> Themes:
        """The themes of these semantics: id, theme, moved, likeness, vector; `following` is the next id."""
        themes = cls(constants)
        for semantic, theme, moved, likeness, vector in rows:
            themes.vectors[semantic], themes.theme[semantic] = vector, theme
            themes.members.setdefault(theme, []).append(semantic)
            if moved:
                themes.moved.add(semantic)
            if likeness is not None:
                themes.likeness[semantic] = likeness
        themes.next = following
        for theme, members in sorted(themes.members.items()):
            themes._set(theme, sorted(members))
        themes.touched.clear()
        themes._seen = sorted(themes.likeness.values())
        return themes

    @property
    def threshold(self) -> float:
        """The similarity from which a semantic joins its nearest theme."""
        if self._constants.attach is not None:
            return self._constants.attach
        return FIRST if len(self._seen) < KNOWN else self._seen[int(SHARE * len(self._seen))]

    @property
    def reassigned(self) -> float:
        """The share of semantics that a later insertion took to another theme."""
        return len(self.moved) / len(self.theme) if self.theme else 0.0

    @property
    def ids(self) -> list[int]:
        """The themes there are, ascending."""
        return list(self.members)

    @property
    def centroids(self) -> Vectors:
        """Unit vectors (n, dim) of the themes, in the order of `ids`."""
        sums = self._sums[self.ids]
        units: Vectors = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
        return units

    def insert(self, semantic: int, vector: Vectors) -> None:
        """Put a new semantic, of a unit vector (dim,), where it belongs, and mend what that upsets."""
        self.vectors[semantic] = vector
        target = -1
        if self.members:
            alike = self._likeness(vector)
            likeness = float(alike.max())
            if likeness >= self.threshold:
                target = self.ids[int(alike.argmax())]
            self.likeness[semantic] = likeness
            insort(self._seen, likeness)
        target = self._new() if target < 0 else target
        self._set(target, [*self.members.get(target, []), semantic])
        over = self._constants.split and len(self.members[target]) > self._constants.cap
        for theme in self._cut(target) if over else [target]:
            self._join(theme)
        self.moved.discard(semantic)  # it has been nowhere before

    def remove(self, semantic: int) -> None:
        """Forget a semantic; a theme without any is gone, a tiny one may be merged."""
        theme = self.theme.pop(semantic)
        left = [one for one in self.members[theme] if one != semantic]
        del self.vectors[semantic]
        self.moved.discard(semantic)
        self.touched.discard(semantic)
        if (likeness := self.likeness.pop(semantic, None)) is not None:
            del self._seen[bisect_left(self._seen, likeness)]
        self._set(theme, left)
        if left:
            self._join(theme)

    def _new(self) -> int:
        self.next += 1
        return self.next - 1

    def _likeness(self, vector: Vectors) -> Vectors:
        found: Vectors = np.einsum("ij,j->i", self.centroids, vector)  # not BLAS: see ROWS
        return found

    def _set(self, theme: int, members: list[int]) -> None:
        """Let `members` be those of `theme`, new or old; without any it is gone."""
        if not members:
            del self.members[theme]
            return
        for one in members:
            if self.theme.get(one) != theme:
                self.theme[one] = theme
                self.touched.add(one)
        self.members[theme] = members
        total = np.add.reduce(np.stack([self.vectors[one] for one in members]).astype(np.float64), axis=0)
        if theme >= len(self._sums):
            grown = np.zeros((max(64, 2 * theme), len(total)))
            grown[: len(self._sums), : self._sums.shape[1]] = self._sums
            self._sums = grown
        self._sums[theme] = total

    def _cut(self, theme: int) -> list[int]:
        """Split a theme into the parts of most worth, and give these; the largest keeps its place."""
        members = self.members[theme]
        vectors = np.stack([self.vectors[one] for one in members]).astype(np.float64)
        choices = [
            [[members[place] for place in part] for part in clusters(vectors, parts, seed)]
            for parts in range(2, max(2, -(-len(members) // SIZE)) + 1)
            for seed in range(SEEDS)
        ]
        near = self._near(theme)
        best = max(choices, key=lambda parts: self._worth([theme], parts, near))
        parts = sorted(best, key=len, reverse=True)
        made = [theme, *(self._new() for _ in parts[1:])]
        for place, part in zip(made, parts, strict=True):
            self.moved.update(part if place != theme else ())
            self._set(place, part)
        return made

    def _join(self, theme: int) -> None:
        """Merge a tiny theme with one of its nearest, or leave it, whichever is worth more."""
        members = self.members.get(theme, [])
        if not self._constants.merge or not 0 < len(members) <= TINY:
            return
        near = self._near(theme)
        room = self._constants.cap - len(members)
        fit = [one for one in near[:NEAREST] if len(self.members[one]) <= room]
        best, most = None, self._worth([theme], [members], near) if fit else 0.0
        for other in fit:
            value = self._worth([theme, other], [sorted([*members, *self.members[other]])], near)
            if value > most:
                best, most = other, value
        if best is None:
            return
        smaller, larger = sorted((theme, best), key=lambda one: len(self.members[one]))
        self.moved.update(self.members[smaller])
        together = sorted([*self.members[smaller], *self.members[larger]])
        self._set(smaller, [])
        self._set(larger, together)

    def _near(self, theme: int) -> list[int]:
        """The others, the nearest first: those over which f is weighed, and one to be merged with."""
        ids, total = self.ids, self._sums[theme]
        likeness = self._likeness(total / max(float(np.linalg.norm(total)), 1e-12))
        likeness[ids.index(theme)] = -np.inf
        most = min(self._constants.around + 1, len(ids) - 1)
        rows = np.argpartition(-likeness, most)[:most]
        return [ids[n] for n in rows[np.lexsort((rows, -likeness[rows]))]]

    def _worth(self, instead: Sequence[int], parts: Sequence[Sequence[int]], near: Sequence[int]) -> float:
        """f over the neighbourhood `near`, were `parts` in the place of the themes `instead`."""
        beside = sorted([one for one in near if one not in instead][: self._constants.around])
        fresh = [np.add.reduce(np.stack([self.vectors[one] for one in part]), axis=0) for part in parts]
        sums = np.vstack([self._sums[beside], np.stack(fresh)])
        sizes = [*(len(self.members[one]) for one in beside), *map(len, parts)]
        return worth(sums, sizes, self._constants.eps)
