"""The grid: which retrieval, which ranking and which cut, by the paper's names; every combination is a row.

Names (paper tables 2 to 5 and 8; seeds 1.2):

retrieval  I0 grep, dense fallback         IF0 grep alone       ID the dense search always added
           I3 I0 with both expansions      IF1 IF0 + PRF        AND only turns with every term
           (the default of `query`)        IF2 IF0 + entities   +A2 dates, +lemma inflections: added to
                                           IF3 both             any of them (IF3+A2)
rank       weight, corpus (R0)             ce, colbert          rrf[:WEIGHT_CE[:K]]
           zscore[:WEIGHT_CE], product     mmr[:TRADE_OFF]      cascade[:N] (the default of `query`)
cut        B0                              B1:WORDS             B2:ALPHA[:K[:WORDS]]
           A1v1[:SHARE[:WORDS]]            A1v2[:FLOOR[:WORDS]] +C1, +C2 or +C1C2 added to any of them
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from smartsearch.config import Config
from smartsearch.errors import UsageError

_ALONE = {"hops": 1, "prf": False, "fuzzy": False, "semantic": "off"}
RETRIEVALS: dict[str, dict[str, object]] = {
    "I0": _ALONE | {"semantic": "fallback"},
    "I3": {},
    "ID": {"semantic": "always"},
    "IF0": _ALONE,
    "IF1": _ALONE | {"prf": True},
    "IF2": _ALONE | {"hops": 3},
    "IF3": _ALONE | {"hops": 3, "prf": True},
    "AND": _ALONE | {"mode": "and"},
}
"""Retrieval by name: what changes in the Config. I3 changes nothing, whatever the defaults are."""

ADDED = ("A2", "lemma")
RENDERINGS = ("C1", "C2", "C1C2")


@dataclass(frozen=True)
class Retrieval:
    """A way to gather candidates: `changes` to the Config, and the negative controls switched on."""

    name: str
    changes: tuple[tuple[str, object], ...] = ()
    dates: bool = False
    lemmas: bool = False

    def config(self, base: Config) -> Config:
        """`base` as this retrieval has it."""
        return replace(base, **dict(self.changes))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Ranker:
    """A way to order candidates. `weight_ce` is the cross-encoder's share, ColBERT has the rest.

    `kind`: weight, corpus, ce, colbert, rrf, cascade, zscore, product, mmr, or rival (then `name` is
    the rival's, which orders every turn and needs no retrieval).
    """

    name: str
    kind: str
    weight_ce: float = 0.0
    weight_colbert: float = 0.0
    k: int = 60
    head: int = 0  # candidates the cross-encoder reads, 0 = all
    trade_off: float = 0.7

    @property
    def reads_ce(self) -> bool:
        """Whether it needs the cross-encoder."""
        return self.kind in ("ce", "rrf", "cascade", "zscore", "product", "mmr")

    @property
    def reads_colbert(self) -> bool:
        """Whether it needs ColBERT."""
        return self.kind in ("colbert", "rrf", "cascade", "zscore", "product", "mmr")


@dataclass(frozen=True)
class Cut:
    """A way to cut the ranked list. `words` 0 is no ceiling; `rendering` a format-level compression.

    `kind`: none, fixed, adaptive (`alpha`, `top_k`), cumulative (A1v1: the tail that holds less than
    `share` of the summed cross-encoder scores goes), floor (A1v2: a turn stays above `floor`).
    """

    name: str
    kind: str
    words: int = 0
    alpha: float = 0.0
    top_k: int = 0
    share: float = 0.0
    floor: float = 0.0
    rendering: str = ""


@dataclass(frozen=True)
class Row:
    """One configuration of the grid."""

    retrieval: Retrieval
    ranker: Ranker
    cut: Cut

    @property
    def name(self) -> str:
        """`I3 cascade B1:2000`; a rival needs no retrieval: `bm25 B1:2000`."""
        parts = (self.retrieval.name, self.ranker.name, self.cut.name)
        return " ".join(part for part in parts if part)


NO_RETRIEVAL = Retrieval("")


def rows(retrievals: Sequence[str], rankers: Sequence[str], cuts: Sequence[str], base: Config) -> list[Row]:
    """The cross product, each row once. Raises UsageError for a name that is none of the grid's."""
    parsed = (
        [retrieval(name) for name in dict.fromkeys(retrievals)],
        [ranker(name, base) for name in dict.fromkeys(rankers)],
        [cut(name) for name in dict.fromkeys(cuts)],
    )
    return [Row(*parts) for parts in product(*parsed)]


def rival_rows(names: Sequence[str], cuts: Sequence[str]) -> list[Row]:
    """Each rival under each cut that needs no score."""
    plain = [c for c in (cut(name) for name in dict.fromkeys(cuts)) if c.kind in ("none", "fixed")]
    return [Row(NO_RETRIEVAL, Ranker(name, "rival"), c) for name in dict.fromkeys(names) for c in plain]


def retrieval(name: str) -> Retrieval:
    """The retrieval of that name."""
    base, *added = name.split("+")
    if base not in RETRIEVALS or not set(added) <= set(ADDED):
        raise UsageError(
            f"no retrieval {name!r}",
            hint=f"one of {', '.join(RETRIEVALS)}, with {' or '.join('+' + a for a in ADDED)} added",
        )
    return Retrieval(name, tuple(RETRIEVALS[base].items()), "A2" in added, "lemma" in added)


def ranker(name: str, base: Config) -> Ranker:
    """The ranker of that name; what the name leaves open is `base`'s."""
    kind, *given = name.split(":")
    ce, colbert, k = base.weight_ce, base.weight_colbert, base.rrf_k
    if kind in ("rrf", "zscore") and given:
        ce = _number(name, given.pop(0), 0.0, 1.0)
        colbert = round(1.0 - ce, 9)
    made = Ranker(name, kind, ce, colbert, k, trade_off=0.7)
    if kind == "rrf" and given:
        made = replace(made, k=int(_number(name, given.pop(0), 0, 10_000)))
    elif kind == "cascade":
        made = replace(made, head=int(_number(name, given.pop(0), 1, 1e6)) if given else base.cascade)
    elif kind == "mmr":
        made = replace(made, trade_off=_number(name, given.pop(0), 0.0, 1.0) if given else 0.7)
    elif kind in ("weight", "corpus", "ce", "colbert", "product"):
        made = Ranker(name, kind)
    elif kind not in ("rrf", "zscore"):
        raise UsageError(
            f"no ranking {name!r}",
            hint="weight, corpus, ce, colbert, rrf:.7:60, cascade:128, zscore, product, mmr:.7",
        )
    _nothing_left(name, given)
    return made


def cut(name: str) -> Cut:
    """The cut of that name."""
    base, *rendering = name.split("+")
    if rendering and (len(rendering) > 1 or rendering[0] not in RENDERINGS):
        raise UsageError(f"no rendering {rendering[0]!r}", hint=f"one of {', '.join(RENDERINGS)}")
    kind, *given = base.split(":")
    if kind == "B0":
        made = Cut(name, "none")
    elif kind == "B1":
        made = Cut(name, "fixed", int(_number(name, given.pop(0), 1, 1e9)) if given else 2000)
    elif kind == "B2":
        alpha = _number(name, given.pop(0), 0.0, 1.0) if given else 0.03
        top_k = int(_number(name, given.pop(0), 1, 1e6)) if given else 60
        made = Cut(
            name, "adaptive", int(_number(name, given.pop(0), 1, 1e9)) if given else 4000, alpha, top_k
        )
    elif kind in ("A1v1", "A1v2"):
        value = _number(name, given.pop(0), 0.0, 1.0) if given else {"A1v1": 0.2, "A1v2": 0.5}[kind]
        words = int(_number(name, given.pop(0), 1, 1e9)) if given else 2000
        pruned = {
            "A1v1": Cut(name, "cumulative", words, share=value),
            "A1v2": Cut(name, "floor", words, floor=value),
        }
        made = pruned[kind]
    else:
        raise UsageError(
            f"no cut {name!r}", hint="B0, B1:2000, B2:.03:60:4000, A1v1:.2, A1v2:.5, with +C1 or +C2"
        )
    _nothing_left(name, given)
    return replace(made, rendering=rendering[0] if rendering else "")


def split(names: str) -> list[str]:
    """The names of a comma-separated option."""
    return [name.strip() for name in names.split(",") if name.strip()]


def _number(name: str, text: str, low: float, high: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not low <= value <= high:
        raise UsageError(
            f"{name!r}: {text!r} is not a number from {low:g} to {high:g}", hint="such as B2:.03:60:4000"
        )
    return value


def _nothing_left(name: str, given: Sequence[str]) -> None:
    if given:
        raise UsageError(
            f"{name!r}: {':'.join(given)!r} is one number too many", hint="such as B2:.03:60:4000"
        )


def needs(rows: Sequence[Row]) -> Iterator[tuple[Retrieval, list[Ranker]]]:
    """Each retrieval of the rows with its rankers, each once: what has to be computed."""
    wanted: dict[Retrieval, dict[Ranker, None]] = {}
    for row in rows:
        wanted.setdefault(row.retrieval, {})[row.ranker] = None
    for way, rankers in wanted.items():
        yield way, list(rankers)
