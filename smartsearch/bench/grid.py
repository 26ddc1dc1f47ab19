"""The grid: which retrieval, which ranking and which cut, by the paper's names; every combination is a row.

Names (paper tables 2 to 5 and 8):

retrieval  I0 grep, dense fallback         IF0 grep alone       AND only turns with every term
           IP I0 with both expansions      IF1 IF0 + PRF        ID I3, the dense search always added
           I3 IP, dates of the question    IF2 IF0 + entities   +A2 dates, +lemma inflections: added to
           searched, few candidates        IF3 both             any of them (IF3+A2); I3 and ID have dates
           filled up (as `query` does)                          already
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

_ALONE = {"hops": 1, "prf": False, "fuzzy": False, "semantic": "off", "pool": 0, "dates": False}
RETRIEVALS: dict[str, dict[str, object]] = {
    "I0": _ALONE | {"semantic": "fallback"},
    "I3": {},
    "IP": {"pool": 0, "dates": False},
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
    """A way to gather candidates: `changes` to the Config, dates switched on, and lemmas as a control."""

    name: str
    changes: tuple[tuple[str, object], ...] = ()
    dates: bool = False
    lemmas: bool = False

    def config(self, base: Config) -> Config:
        """`base` as this retrieval has it."""
        changed = replace(base, **dict(self.changes))  # type: ignore[arg-type]
        return replace(changed, dates=True) if self.dates else changed


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

    `kind`: none, fixed, adaptive (`alpha`, `top_k`), cumulative (A1v1: of the turns that fit, the tail
    that holds less than `share` of their summed cross-encoder scores goes), floor (A1v2: a turn stays
    above `floor`).
    """

    name: str
    kind: str
    words: int = 0
    alpha: float = 0.0
    top_k: int = 0
    share: float = 0.0
    floor: float = 0.0
    rendering: str = ""

    @property
    def by_score(self) -> bool:
        """Whether it looks at the cross-encoder's scores: nothing, then, for a ranking without them."""
        return self.kind in ("cumulative", "floor") or (self.kind == "adaptive" and self.alpha > 0)


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
    """The cross product, each row once, without cuts by a score that the ranking does not have.

    Raises UsageError for a name that is none of the grid's.
    """
    parsed = (
        [retrieval(name) for name in retrievals],
        [ranker(name, base) for name in rankers],
        [cut(name) for name in cuts],
    )
    every = (Row(*parts) for parts in product(*parsed))
    return list(dict.fromkeys(row for row in every if row.ranker.reads_ce or not row.cut.by_score))


def rival_rows(names: Sequence[str], cuts: Sequence[str]) -> list[Row]:
    """Each rival under each cut that needs no score of the cross-encoder."""
    plain = [c for c in dict.fromkeys(cut(name) for name in cuts) if not c.by_score]
    return [Row(NO_RETRIEVAL, Ranker(name, "rival"), c) for name in dict.fromkeys(names) for c in plain]


def row(name: str, base: Config) -> str:
    """The name of a row as the grid writes it: `I3 cascade B2:.03` is `I3 cascade B2:0.03:60:4000`."""
    parts = name.split()
    if len(parts) == 2:
        return Row(NO_RETRIEVAL, Ranker(parts[0], "rival"), cut(parts[1])).name
    if len(parts) != 3:
        raise UsageError(f"no row {name!r}", hint="retrieval, ranking and cut, such as 'I3 cascade B1:2000'")
    return Row(retrieval(parts[0]), ranker(parts[1], base), cut(parts[2])).name


def retrieval(name: str) -> Retrieval:
    """The retrieval of that name."""
    base, *added = name.split("+")
    if base not in RETRIEVALS or not set(added) <= set(ADDED):
        raise UsageError(
            f"no retrieval {name!r}",
            hint=f"one of {', '.join(RETRIEVALS)}, with {' or '.join('+' + a for a in ADDED)} added",
        )
    canonical = "+".join([base, *(each for each in ADDED if each in added)])
    return Retrieval(canonical, tuple(RETRIEVALS[base].items()), "A2" in added, "lemma" in added)


def ranker(name: str, base: Config) -> Ranker:
    """The ranker of that name; what the name leaves open is `base`'s."""
    kind, *given = name.split(":")
    ce, colbert, k = base.weight_ce, base.weight_colbert, base.rrf_k
    if kind in ("weight", "corpus", "ce", "colbert", "product"):
        made = Ranker(kind, kind)
    elif kind in ("rrf", "zscore"):
        if given and (share := _number(name, given.pop(0), 0.0, 1.0)) != ce:
            ce, colbert = share, round(1.0 - share, 9)
        if kind == "rrf" and given:
            k = int(_number(name, given.pop(0), 0, 10_000))
        numbers = [f"{ce:g}"] * (ce != base.weight_ce or k != base.rrf_k) + [str(k)] * (k != base.rrf_k)
        made = Ranker(":".join([kind, *numbers]), kind, ce, colbert, k)
    elif kind == "cascade":
        head = int(_number(name, given.pop(0), 1, 1e6)) if given else base.cascade
        made = Ranker(kind if head == base.cascade else f"{kind}:{head}", kind, ce, colbert, k, head=head)
    elif kind == "mmr":
        trade_off = _number(name, given.pop(0), 0.0, 1.0) if given else 0.7
        made = Ranker(f"mmr:{trade_off:g}", kind, ce, colbert, k, trade_off=trade_off)
    else:
        raise UsageError(
            f"no ranking {name!r}",
            hint="weight, corpus, ce, colbert, rrf:.7:60, cascade:128, zscore:.7, product, mmr:.7",
        )
    _nothing_left(name, given)
    return made


def cut(name: str) -> Cut:
    """The cut of that name."""
    base, *rendering = name.split("+")
    if rendering and (len(rendering) > 1 or rendering[0] not in RENDERINGS):
        raise UsageError(f"no rendering {rendering[0]!r}", hint=f"one of {', '.join(RENDERINGS)}")
    kind, *given = base.split(":")

    def number(default: float, low: float, high: float) -> float:
        return _number(name, given.pop(0), low, high) if given else default

    if kind == "B0":
        made = Cut("B0", "none")
    elif kind == "B1":
        words = int(number(2000, 1, 1e9))
        made = Cut(f"B1:{words}", "fixed", words)
    elif kind == "B2":
        alpha, top_k, words = number(0.03, 0.0, 1.0), int(number(60, 1, 1e6)), int(number(4000, 1, 1e9))
        made = Cut(f"B2:{alpha:g}:{top_k}:{words}", "adaptive", words, alpha, top_k)
    elif kind == "A1v1":
        share, words = number(0.2, 0.0, 1.0), int(number(2000, 1, 1e9))
        made = Cut(f"A1v1:{share:g}:{words}", "cumulative", words, share=share)
    elif kind == "A1v2":
        floor, words = number(0.5, 0.0, 1.0), int(number(2000, 1, 1e9))
        made = Cut(f"A1v2:{floor:g}:{words}", "floor", words, floor=floor)
    else:
        raise UsageError(
            f"no cut {name!r}", hint="B0, B1:2000, B2:.03:60:4000, A1v1:.2, A1v2:.5, with +C1 or +C2"
        )
    _nothing_left(name, given)
    if rendering:
        made = replace(made, name=f"{made.name}+{rendering[0]}", rendering=rendering[0])
    return made


def split(names: str) -> list[str]:
    """The names of a comma-separated option."""
    return [name.strip() for name in names.split(",") if name.strip()]


_HINT = "such as the rankings rrf:.7:60 and cascade:128, and the cuts B1:2000 and B2:.03:60:4000"


def _number(name: str, text: str, low: float, high: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not low <= value <= high:
        raise UsageError(f"{name!r}: {text!r} is not a number from {low:g} to {high:g}", hint=_HINT)
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
