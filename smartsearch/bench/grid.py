"""The grid: which retrieval, which ranking and which cut, by the paper's names; every combination is a row.

It takes SmartSearch apart and calls its stages; other systems answer as wholes (`rivals.py`).

Names (paper table 2, 3, 4, 5 and 8):

retrieval  I0 grep, dense fallback         IF0 grep alone       AND only turns with every term
           IP I0 with both expansions      IF1 IF0 + PRF        ID I3, the dense search always added
           I3 as the settings have it      IF2 IF0 + entities   +A2 dates, +lemma inflections: added to
           (what `query` does)             IF3 both             any of them (IF3+A2); +speakers their
                                                                names hop too
rank       weight, corpus                  ce, colbert          rrf[:WEIGHT_CE[:K]]
           zscore[:WEIGHT_CE], product     mmr[:TRADE_OFF]      cascade[:N]
           R0 to R6, R4a-eq, R4c-product, and of table 9 mxbai-xsmall, mxbai-base, mxbai-large,
           ColBERTv2: with the paper's own models, as the paper has turns read;
           +plain: so read by the profile's (rank/text.py), and no score calibrated
cut        B0                              B1:WORDS             B2:ALPHA[:K[:WORDS]]
           A1v1[:SHARE[:WORDS]]            A1v2[:FLOOR[:WORDS]] +C1, +C2, +C1C2 added to B0, B1, B2
           tail[:SHARE[:WORDS]]
           +skip added to B1, B2: on past a turn that does not fit, as `query` does
           +parts added to B1, B2: of a long turn the part that answers counts, as `query` shows it

`cascade` is the very order of `query`, with what moves up over the scores (rank/lift.py); the other rankings
are the scores' alone. All but I3 and ID retrieve as the paper does: `IP rrf+plain` is what `--as paper` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

from smartsearch.bench import models
from smartsearch.config import PRESETS, Config, names
from smartsearch.errors import UsageError

_READ = ("beside", "windows")  # the only settings of ranking that the dense search reads
_PAPER = {name: value for name, value in PRESETS["paper"].items() if name in (*names("find"), *_READ)}
_WEIGHTS = {name: PRESETS["paper"][name] for name in ("weight_ce", "weight_colbert", "rrf_k")}
_ALONE = _PAPER | {"hops": 1, "prf": False, "semantic": "off"}
RETRIEVALS: dict[str, dict[str, object]] = {
    "I0": _ALONE | {"semantic": "fallback"},
    "I3": {},
    "IP": _PAPER,
    "ID": {"semantic": "always"},
    "IF0": _ALONE,
    "IF1": _ALONE | {"prf": True},
    "IF2": _ALONE | {"hops": 3},
    "IF3": _ALONE | {"hops": 3, "prf": True},
    "AND": _ALONE | {"mode": "and"},
}
"""Retrieval by name: what changes in the Config. I3 changes nothing, whatever the defaults are."""

ADDED: dict[str, dict[str, object]] = {"A2": {"dates": True}, "speakers": {"hop_speakers": True}, "lemma": {}}
"""What may be added to a retrieval, and what it changes in the Config."""
COMPRESSED = {"C1": ("dates",), "C2": ("speakers",), "C1C2": ("dates", "speakers")}
"""The paper's compressions by what `--compress` calls them."""


@dataclass(frozen=True)
class Number:
    """A number in a name: the field it sets, its default, and its bounds."""

    field: str
    default: float
    least: float
    most: float


_WORDS, _SHARE = Number("words", 2000, 1, 1e9), partial(Number, least=0.0, most=1.0)
CUTS: dict[str, tuple[str, tuple[Number, ...]]] = {
    "B0": ("none", ()),
    "B1": ("fixed", (_WORDS,)),
    "B2": ("adaptive", (_SHARE("alpha", 0.03), Number("top_k", 60, 1, 1e6), replace(_WORDS, default=4000))),
    "A1v1": ("cumulative", (_SHARE("share", 0.2), _WORDS)),
    "tail": ("tail", (_SHARE("share", 0.2), _WORDS)),
    "A1v2": ("floor", (Number("floor", 0.0, -1e3, 1e3), _WORDS)),
}
"""Cuts by name: the kind, and the numbers that may follow."""
CONTROLS = ("cumulative", "tail", "floor")
"""The kinds that prune by the cross-encoder's own scores, not calibrated: negative controls."""


@dataclass(frozen=True)
class Retrieval:
    """A way to gather candidates: `changes` to the Config, and lemmas as a control."""

    name: str
    changes: tuple[tuple[str, object], ...] = ()
    lemmas: bool = False

    def config(self, base: Config) -> Config:
        """`base` with this retrieval's changes."""
        return replace(base, **dict(self.changes))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Ranker:
    """A way to order candidates by `scorers`: names with weights, `ce`, `colbert` or ids of the model hub.

    `kind`: weight, corpus, one (scorer), rrf, cascade, zscore, product, mmr, or rival (then `name` is
    the rival's, which orders every turn and needs no retrieval). `plain`: scorers see turns as the paper's.
    """

    name: str
    kind: str
    scorers: tuple[tuple[str, float], ...] = ()
    k: int = 60
    head: int = 0  # candidates the cross-encoder reads, 0 = all
    trade_off: float = 0.7
    plain: bool = False

    @property
    def crossencoder(self) -> str:
        """The cross-encoder whose scores a cut reads; empty without one."""
        return next((name for name, _ in self.scorers if not models.is_colbert(name)), "")


@dataclass(frozen=True)
class Cut:
    """A way to cut the ranked list. `words` 0 is no ceiling; `fill` and `compress` as in the Config.

    `kind`: none, fixed, adaptive (`alpha`, `top_k`), cumulative (A1v1: turns stay until their summed
    cross-encoder scores exceed `share` of those of all that were ranked), tail (ours: of the turns that fit,
    the last that hold less than `share` of their summed scores go), floor (A1v2: a turn stays if the
    cross-encoder's own output, before any sigmoid, is above `floor`: 0, in the baseline -4).
    """

    name: str
    kind: str
    words: int = 0
    alpha: float = 0.0
    top_k: int = 0
    share: float = 0.0
    floor: float = 0.0
    fill: str = "stop"
    compress: tuple[str, ...] = ()
    parts: bool = False  # of a long turn what answers is kept and counted (rank/excerpts.py)

    @property
    def by_score(self) -> bool:
        """Whether it reads the cross-encoder's scores, which not every ranking has."""
        return self.kind in CONTROLS or (self.kind == "adaptive" and self.alpha > 0)


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

    Raises UsageError for an unknown name.
    """
    parsed = (
        [retrieval(name) for name in retrievals],
        [ranker(name, base) for name in rankers],
        [cut(name) for name in cuts],
    )
    every = (Row(*parts) for parts in product(*parsed))
    return list(dict.fromkeys(row for row in every if row.ranker.crossencoder or not row.cut.by_score))


def rival_rows(names: Sequence[str], cuts: Sequence[str]) -> list[Row]:
    """Each rival under each cut that reads no cross-encoder score."""
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
    changes = dict(RETRIEVALS[base])
    for each in added:
        changes |= ADDED[each]
    canonical = "+".join([base, *(each for each in ADDED if each in added)])
    return Retrieval(canonical, tuple(changes.items()), "lemma" in added)


def ranker(name: str, base: Config) -> Ranker:
    """The ranker of that name. `base` sets what the name leaves open, the paper does with `+plain`."""
    if name in RANKERS:
        return RANKERS[name]
    said, *added = name.split("+")
    if added and added != ["plain"]:
        raise UsageError(f"no ranking {name!r}: +{'+'.join(added)}", hint="+plain may be added, once")
    found = _ranker(said, replace(base, **_WEIGHTS) if added else base)
    return replace(found, name=f"{found.name}+plain", plain=True) if added else found


def _ranker(name: str, base: Config) -> Ranker:
    kind = name.partition(":")[0]
    share, k = _SHARE("weight_ce", base.weight_ce), Number("k", base.rrf_k, 0, 10_000)
    numbers = {
        **dict.fromkeys(("weight", "corpus", "ce", "colbert", "product"), ()),
        "rrf": (share, k),
        "zscore": (share,),
        "cascade": (Number("head", base.cascade, 1, 1e6),),
        "mmr": (_SHARE("trade_off", 0.7),),
    }
    if kind not in numbers:
        raise UsageError(
            f"no ranking {name!r}",
            hint="weight, corpus, ce, colbert, rrf:.7:60, cascade:128, zscore:.7, product, mmr:.7, R0 to R6",
        )
    values = {"weight_ce": base.weight_ce, "k": base.rrf_k, **_numbers(name, numbers[kind])}
    said = [_written(values[number.field]) for number in numbers[kind]]
    while kind != "mmr" and said and said[-1] == _written(numbers[kind][len(said) - 1].default):
        said.pop()
    ce = values.pop("weight_ce")
    colbert = round(1.0 - ce, 9) if ce != base.weight_ce else base.weight_colbert
    scorers = {"weight": (), "corpus": (), "ce": (("ce", 1.0),), "colbert": (("colbert", 1.0),)}
    reads = scorers.get(kind, (("ce", ce), ("colbert", colbert)))
    does = "one" if kind in ("ce", "colbert") else kind
    return Ranker(":".join([kind, *said]), does, reads, **values)


def _paper(name: str, kind: str, *scorers: tuple[str, float]) -> Ranker:
    return Ranker(name, kind, scorers, plain=True)


_THREE = ((models.MXBAI_BASE, 1 / 3), (models.BGE_LARGE, 1 / 3), (models.COLBERT, 1 / 3))
"""The paper gives no weights."""
RANKERS: dict[str, Ranker] = {
    ranker.name: ranker
    for ranker in (
        _paper("R0", "weight"),
        _paper("R1", "one", (models.MINILM, 1.0)),
        _paper("R2", "one", (models.BGE_BASE, 1.0)),
        _paper("R3", "one", (models.BGE_LARGE, 1.0)),
        _paper("R4a", "rrf", (models.BGE_LARGE, 0.7), (models.COLBERT, 0.3)),
        _paper("R4a-eq", "rrf", (models.BGE_LARGE, 0.5), (models.COLBERT, 0.5)),
        _paper("R4b", "rrf", *_THREE),
        _paper("R4c", "zscore", *_THREE),
        _paper("R4c-product", "product", *_THREE),
        _paper("R5", "rrf", (models.MXBAI_LARGE, 0.7), (models.COLBERT, 0.3)),
        _paper("R6", "rrf", (models.MXBAI_LARGE_V2, 0.7), (models.COLBERT, 0.3)),
        _paper("mxbai-xsmall", "one", (models.MXBAI_XSMALL, 1.0)),
        _paper("mxbai-base", "one", (models.MXBAI_BASE, 1.0)),
        _paper("mxbai-large", "one", (models.MXBAI_LARGE, 1.0)),
        _paper("ColBERTv2", "one", (models.COLBERT_V2, 1.0)),
    )
}
"""The paper's rankings (tables 2 and 9) with the paper's models, whatever the profile."""


def cut(name: str) -> Cut:
    """The cut of that name."""
    base, *added = name.split("+")
    skips, parts = "skip" in added, "parts" in added
    shorter = [each for each in added if each not in ("skip", "parts")]
    if len(added) > len(set(added)) or len(shorter) > 1 or not set(shorter) <= set(COMPRESSED):
        hint = f"one of {', '.join(COMPRESSED)}, and skip and parts"
        raise UsageError(f"{name!r}: +{'+'.join(added)} cannot be added", hint=hint)
    if base.partition(":")[0] not in CUTS:
        hint = "B0, B1:2000, B2:.03:60:4000, A1v1:.2, tail:.2, A1v2:0, with +C1, +C2, +skip or +parts"
        raise UsageError(f"no cut {name!r}", hint=hint)
    kind, numbers = CUTS[base.partition(":")[0]]
    if shorter and kind in CONTROLS:
        raise UsageError(f"{name!r}: {shorter[0]} goes with B0, B1 and B2", hint=f"B1:2000+{shorter[0]}")
    if (skips or parts) and kind not in ("fixed", "adaptive"):
        raise UsageError(f"{name!r}: skip and parts go with B1 and B2", hint="B1:2000+skip")
    values = _numbers(base, numbers)
    whole = ":".join([base.partition(":")[0], *(_written(value) for value in values.values())])
    fill, compress = "skip" if skips else "stop", COMPRESSED[shorter[0]] if shorter else ()
    canonical = "+".join([whole, *shorter, *(each for each in ("skip", "parts") if each in added)])
    return Cut(canonical, kind, fill=fill, compress=compress, parts=parts, **values)


def split(names: str) -> list[str]:
    """The names of a comma-separated option."""
    return [name.strip() for name in names.split(",") if name.strip()]


_HINT = "such as the rankings rrf:.7:60 and cascade:128, and the cuts B1:2000 and B2:.03:60:4000"


def _numbers(name: str, wanted: Sequence[Number]) -> dict[str, Any]:
    """The numbers after a name's first colon, by field; missing ones are the defaults."""
    given = name.split(":")[1:]
    if len(given) > len(wanted):
        said = f"{name!r}: {':'.join(given[len(wanted) :])!r} is one number too many"
        raise UsageError(said, hint="such as B2:.03:60:4000")
    values: dict[str, Any] = {number.field: number.default for number in wanted}
    for number, text in zip(wanted, given):
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not number.least <= value <= number.most:
            said = f"{name!r}: {text!r} is not a number from {number.least:g} to {number.most:g}"
            raise UsageError(said, hint=_HINT)
        values[number.field] = type(number.default)(value)
    return values


def _written(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:g}"


def needs(rows: Sequence[Row]) -> Iterator[tuple[Retrieval, list[Ranker]]]:
    """Each retrieval of the rows with its rankers, each once."""
    wanted: dict[Retrieval, dict[Ranker, None]] = {}
    for row in rows:
        wanted.setdefault(row.retrieval, {})[row.ranker] = None
    for way, rankers in wanted.items():
        yield way, list(rankers)
