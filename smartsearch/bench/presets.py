"""Named grids: the rows of the paper's tables, its negative controls, the full cross product."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from smartsearch.bench import grid
from smartsearch.bench.grid import Row
from smartsearch.bench.rivals import available
from smartsearch.config import FIELDS, Config
from smartsearch.errors import UsageError

REFERENCE = "I3 cascade B2:0.01:60:4000+skip"
"""The row of `smartsearch query` with its defaults: others are compared with it."""
PAPER = "IP rrf+plain B2:0.03:60:4000"
REFERENCES = {"": REFERENCE, "paper": PAPER, "paper-locomo": "IP rrf+plain B1:2000"}
REFERENCES["index-free"] = "IF3 ce+plain B2:0.03:60:4000"
"""The row of `query` by its `--as`."""


def ranking(row: str) -> str:
    """The name of a row without its cut."""
    return row.rpartition(" ")[0]


@dataclass(frozen=True)
class Block:
    """A cross product of names."""

    retrievals: tuple[str, ...]
    rankers: tuple[str, ...]
    cuts: tuple[str, ...]


FIXED = ("B1:1000", "B1:2000", "B1:3000", "B1:4000")
ADAPTIVE = tuple(f"B2:{alpha}:60:4000" for alpha in ("0", "0.01", "0.03", "0.05", "0.1"))
SKIPPING = (REFERENCE.split()[2], "B1:2000+skip")
"""Cuts that skip a turn that does not fit, as `query` does; the paper's cuts stop there."""
SHOWN = SKIPPING[0] + "+parts"
"""The cut of `query` where long turns count as it shows them."""
RANKERS = ("weight", "corpus", "ce", "colbert", "rrf", "rrf:0.5", "cascade", "zscore", "product")
_PRUNING = ("A1v1:0.2", "tail:0.2", "A1v2:0")
_DEFAULT = Block(("I3",), ("cascade", "weight", "colbert"), (*SKIPPING, SHOWN, "B1:2000"))
_AS_PAPER = Block(("IP",), ("rrf+plain",), (ADAPTIVE[2], "B1:2000"))
_TABLES = (
    Block(
        ("I3",), ("cascade", "rrf", "ce", "colbert", "weight", "corpus"), ("B0", *FIXED, *ADAPTIVE)
    ),  # T1, T5, T9
    Block(("IP",), ("rrf+plain",), ("B0", *FIXED, *ADAPTIVE, *SKIPPING)),  # T1, T5
    Block(("I3",), ("rrf",), SKIPPING),  # T5, by the cut of `query`
    Block(("IF0", "IF1", "IF2", "IF3"), ("ce+plain",), ("B1:2000", ADAPTIVE[2])),  # T3
    Block(("IP+speakers",), ("rrf+plain",), ("B1:2000",)),  # T3, its other reading
    Block(("I0",), ("rrf+plain",), ("B1:2000", *FIXED, *ADAPTIVE)),  # T3, T5
    Block(("IP",), ("rrf:0.5+plain", "zscore+plain", "product+plain"), ("B1:2000",)),  # T8, with our models
)
_MODELS = (  # all but R6, a language model, which has no loader here: by name it is told so
    Block(("I0",), tuple(name for name in grid.RANKERS if name != "R6"), ("B1:2000",)),  # T4, T8, T9, T10
    Block(("I0", "I0+A2"), ("R1",), ("A1v2:-4",)),  # T8: the baseline and its threshold, A2
    Block(("I0",), ("R1",), (*_PRUNING, "B1:3000", "B1:4000", "B1:2000+C1C2")),  # T8
    Block(("I0",), ("R2",), ("B1:1000",)),  # T8
)
_CONTROLS = (
    Block(("IP", "IP+A2", "I3+lemma"), ("cascade",), ("B1:2000",)),
    Block(("I3",), ("mmr:0.7",), ("B1:2000",)),
    Block(("I3",), ("cascade",), ("B1:2000+C1", "B1:2000+C2", "B1:2000+C1C2", *_PRUNING)),
)
GRIDS: dict[str, tuple[Block, ...]] = {
    "default": (_DEFAULT, _AS_PAPER),
    "paper": (_DEFAULT, _AS_PAPER, *_TABLES),
    "models": (_AS_PAPER, *_MODELS),
    "index-free": (Block(("IF0", "IF1", "IF2", "IF3"), ("ce+plain", "weight"), (ADAPTIVE[2], "B1:2000")),),
    "controls": (_DEFAULT, _AS_PAPER, *_CONTROLS),
    "systems": (Block(("I3",), ("cascade",), (REFERENCE.split()[2], "B1:2000")),),
    "full": (
        _DEFAULT,
        _AS_PAPER,
        Block(("I3", "I0", "ID", "IF0", "IF1", "IF2", "IF3"), RANKERS, ("B0", *FIXED, *ADAPTIVE)),
        *_CONTROLS,
    ),
}


NAIVE = "B2:0:20:4000"
"""The first 20 turns: what the grid `systems` has of a plain search."""


def rivals(names: Sequence[str], config: Config) -> tuple[str, ...]:
    """The published systems that the grid `systems` brings, with their ablations and ways.

    MemoRAG is among them where the config asks a language model, QRRanker where it names one.
    """
    if "systems" not in names:
        return ()
    ways = [f"xmemory:{way}" for way in FIELDS["xmemory"].metadata["choices"][1:]]  # but for the whole
    asking = ["memorag:gist"] if config.llm else []
    heads = ["qrranker"] if getattr(config, "qr_model", "") else []
    return ("xmemory", *ways, "qrmem:te", "qrmem:ges", "qrmem:kn", *asking, *heads)


def naive(names: Sequence[str]) -> tuple[str, ...]:
    """The plain search that the grid `systems` has beside them: by meaning, else by words."""
    return ("minilm" if "minilm" in available(installed=True) else "bm25",) if "systems" in names else ()


def rows(
    names: Sequence[str], rivals: Sequence[str], base: Config, cuts: Sequence[str] = ()
) -> tuple[Row, ...]:
    """The rows of these grids, each once, and each rival under their cuts that need no score.

    The grid `systems` has the `cuts` that are asked for, if any, in the place of its own.
    """
    blocks = [block for name in names for block in _grid(name, cuts)]
    own = [row for block in blocks for row in grid.rows(block.retrievals, block.rankers, block.cuts, base)]
    every = dict.fromkeys(row.cut.name for row in own if not row.cut.compress)
    plain = grid.rival_rows(naive(names), [NAIVE])
    return tuple(dict.fromkeys([*own, *plain, *grid.rival_rows(rivals, list(every))]))


def _grid(name: str, cuts: Sequence[str]) -> tuple[Block, ...]:
    if name not in GRIDS:
        raise UsageError(f"no grid {name!r}", hint=f"one of {', '.join(GRIDS)}")
    asked = cuts if name == "systems" else ()
    return tuple(replace(block, cuts=tuple(asked or block.cuts)) for block in GRIDS[name])
