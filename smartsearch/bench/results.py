"""Sums an outcome up as one JSON-able dict: the record that is kept, tabulated and plotted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from smartsearch.bench.blocks import COST, GOLD, HITS
from smartsearch.bench.grid import Row
from smartsearch.bench.measures import LEVELS, SCREENS, TOP, Resampling, Table, holm, ranking_measures, recall
from smartsearch.bench.presets import ranking
from smartsearch.bench.run import BUDGETS, EQUAL, Made, Outcome
from smartsearch.bench.scoring import Floats

SCHEMA_VERSION = 2
"""In 1 speakers' names hopped in IF1 to IF3 and IP, A1v1 was what `tail` is, and the oracle counted edges."""
AT_DEPTH = {level: [f"{level}@{depth}" for depth in (1, 3, 5, 10)] for level in LEVELS}
AT_DEPTH["turn"] = [*AT_DEPTH["turn"], f"turn@{SCREENS}", f"turn@{TOP}"]
WORDS = (500, 1000, EQUAL)
"""Budgets at which systems are compared."""
LOST = ("not retrieved", "top_k", "tau", "budget")
AT_TOP = f"turn@{TOP}"
"""With `kept`, the recall in which every row is compared with the reference."""


def summary(outcome: Outcome) -> dict[str, Any]:
    """Rows, their recalls with intervals and categories, and each against the spec's reference row.

    Rows are in the order of the spec. Recall is over the questions
    with gold; `questions` of a row counts those.
    """
    gold = outcome.table("question")
    resampling = Resampling(len(outcome.ids))
    categories = np.array(outcome.categories)
    tables = {
        row.name: _joined(outcome, row.retrieval.name, row.ranker.name, row.name) for row in outcome.spec.rows
    }
    standard = {key: ranking_measures(ranked, outcome.gold) for key, ranked in outcome.ranked.items()}
    rows = []
    for row in outcome.spec.rows:
        table = tables[row.name]
        record: dict[str, Any] = {
            "name": row.name,
            "retrieval": row.retrieval.name,
            "rank": row.ranker.name,
            "cut": row.cut.name,
        }
        record |= _row(table, gold, resampling)
        of_ranking = standard.get((row.retrieval.name, row.ranker.name), {})
        record |= {name: _number(value) for name, value in of_ranking.items()}
        record["by_category"] = {
            str(name): _row(_some(table, categories == name), _some(gold, categories == name), None)
            for name in sorted(set(outcome.categories))
        }
        rows.append(record)
    reference = next(row for row in outcome.spec.rows if row.name == outcome.spec.reference)
    _compare(rows, tables, gold, reference, resampling)
    return {
        "rows": rows,
        "gold": {level: int(gold[level].sum()) for level in LEVELS},
        "questions": {
            "asked": len(outcome.ids),
            "with_gold": int(((gold["turn"] > 0) | (gold["session"] > 0)).sum()),
            "with_gold_turns": int((gold["turn"] > 0).sum()),
            "abstention": sum(outcome.abstention),
        },
        "passages_a_question": _mean(np.array(outcome.turns, dtype=np.float64)),
        "agreement": _agreement(gold),
        "curves": _curves(outcome, gold["turn"]),
        "compared": _compared(outcome, gold, resampling),
        "per_question": _per_question(outcome, tables[outcome.spec.reference], gold),
    }


def _joined(outcome: Outcome, retrieval: str, ranker: str, row: str) -> dict[str, Floats]:
    table = outcome.table("ranking", retrieval, ranker) | outcome.table("row", row)
    table["kept"] = table["fate kept"]
    return table


def _some(table: Table, where: Any) -> dict[str, Floats]:
    return {name: values[where] for name, values in table.items()}


def _row(table: Table, gold: Table, resampling: Resampling | None) -> dict[str, Any]:
    asked = (gold["turn"] > 0) | (gold["session"] > 0)
    first = table["first"][asked]
    found = first[~np.isnan(first)]
    recalls = _recalls(table, ("retrieved", *AT_DEPTH["turn"], "kept"), gold["turn"], resampling)
    for level in ("chunk", "session"):
        names = [*AT_DEPTH[level], *(["session kept"] if level == "session" else [])]
        recalls |= _recalls(table, names, gold[level], resampling)
    return {
        "questions": int(asked.sum()),
        "gold": int(gold["turn"].sum()),
        "candidates": _mean(table["candidates"][asked]),
        "first": {
            "mean": _mean(found),
            "median": float(np.median(found)) if len(found) else None,
            "found": len(found),
        },
        "recall": recalls,
        "words": _mean(table["words"][asked]),
        "tokens": _mean(table["tokens"][asked]),
        "passages": _mean(table["passages"][asked]),
        "lost": {name: int(table[f"fate {name}"].sum()) for name in LOST},
    }


def _recalls(
    table: Table, names: Sequence[str], total: Floats, resampling: Resampling | None
) -> dict[str, dict[str, float | None]]:
    """The readings of each recall, with a 95% interval of the micro one where there is a resampling."""
    found = {name: recall(table[name], total) for name in names}
    if resampling is not None:
        ends = resampling.interval(np.stack([table[name] for name in names], axis=1), total)
        for name, low, high in zip(names, *(end.tolist() for end in ends), strict=True):
            found[name] |= {"low": low, "high": high}
    return {name: {key: _number(value) for key, value in read.items()} for name, read in found.items()}


def _compare(
    rows: list[dict[str, Any]],
    tables: dict[str, dict[str, Floats]],
    gold: Table,
    reference: Row,
    resampling: Resampling,
) -> None:
    """Add to each row how it differs from the reference; p-values adjusted over all that are told (Holm).

    After the cut a row is compared with the reference's ranking under the row's own cut, where there is
    such a row; before it a ranking is compared once, whatever its cuts are.
    """
    own = f"{reference.retrieval.name} {reference.ranker.name}".strip()
    others = [row for row in rows if row["name"] != reference.name]
    kept: dict[str, str] = {}
    before: dict[str, str] = {}
    for row in others:
        name, same_cut = row["name"], f"{own} {row['cut']}"
        kept[name] = same_cut if same_cut in tables and same_cut != name else reference.name
        row["against"] = {"reference": kept[name]}
        if ranking(name) != own:
            before.setdefault(ranking(name), name)
    after = _differences(kept, "kept", tables, gold, resampling)
    first = _differences(dict.fromkeys(before.values(), reference.name), AT_TOP, tables, gold, resampling)
    for row in others:
        row["against"]["kept"] = after[row["name"]]
        if ranking(row["name"]) in before:
            row["against"][AT_TOP] = first[before[ranking(row["name"])]]


def _compared(outcome: Outcome, gold: Table, resampling: Resampling) -> dict[str, Any]:
    """By system: gold kept at equal words and its difference from the reference, blocks, memories."""
    rows = {ranking(row.name): row for row in outcome.spec.compared}
    curves = {name: outcome.table("curve", row.retrieval.name, row.ranker.name) for name, row in rows.items()}
    base = ranking(outcome.spec.reference)
    pairs = {name: base for name in rows if name != base and base in rows}
    gaps = {words: _differences(pairs, str(words), curves, gold, resampling) for words in WORDS}
    blocks = {name: outcome.table("blocks", row.name) for name, row in rows.items()}
    found: dict[str, Any] = {}
    for name, row in rows.items():
        recalls = _recalls(curves[name], [str(words) for words in WORDS], gold["turn"], resampling)
        made = outcome.ingests.get(row.ranker.name)
        found[name] = {
            "row": row.name,
            "kept": recalls,
            "against": {str(words): gaps[words].get(name, {}) for words in WORDS},
            "blocks": _blocks(blocks[name], blocks[pairs.get(name, name)]),
            "memory": _memory(made) if made else None,
        }
    return {"reference": base, "systems": found} if found else {}


def _blocks(table: Table, base: Table) -> dict[str, Any]:
    """Shares of the blocks by answer words and gold turns in them, of answers covered, and its mean cost.

    The costs are the system's and the reference's, over the questions that both cover.
    """
    total, wanted = max(1.0, table["blocks"].sum()), table["wanted"].sum()
    covered, known = (np.isfinite(one[COST[0]]) for one in (table, base))
    shares = {name: _number(table[name].sum() / total) for name in (*HITS, *GOLD)}
    means = {name: [_mean(one[name][covered & known]) for one in (table, base)] for name in COST}
    return {**shares, "covered": _number(covered.sum() / wanted) if wanted else None, **means}


def _memory(made: Sequence[Made]) -> dict[str, Any]:
    """The cost of a system's memories, one per haystack: medians, and mean sizes."""
    seconds = [one.ingest.seconds for one in made if one.ingest]
    sizes: Mapping[str, float] = made[0].statistics
    return {
        "fidelity": made[0].card.fidelity if made[0].card.paper else "baseline",
        "seconds": _number(float(np.median(seconds))) if len(seconds) == len(made) else None,
        "bytes": int(np.median([one.bytes for one in made])),
        "sizes": {name: _mean(np.array([one.statistics[name] for one in made])) for name in sizes},
    }


def _differences(
    pairs: dict[str, str],
    measure: str,
    tables: dict[str, dict[str, Floats]],
    gold: Table,
    resampling: Resampling,
) -> dict[str, dict[str, float | None]]:
    """How each row of `pairs` differs from the row it is paired with, by name."""
    if not pairs:
        return {}
    gaps = [tables[name][measure] - tables[other][measure] for name, other in pairs.items()]
    found = resampling.differences(np.stack(gaps, axis=1), gold["turn"])
    adjusted = holm([p for *_, p in found])
    keys = ("difference", "low", "high", "p", "p_holm")
    return {
        name: {key: _number(value) for key, value in zip(keys, (*one, p_holm), strict=True)}
        for name, one, p_holm in zip(pairs, found, adjusted, strict=True)
    }


def _agreement(gold: Table) -> dict[str, Any]:
    """Spearman's correlation over questions, and gold in the top 62 of either scorer."""
    values = gold["spearman"][~np.isnan(gold["spearman"])]
    if not len(values):
        return {}
    low, middle, high = np.percentile(values, (5, 50, 95))
    return {
        "spearman": {
            "mean": _mean(values),
            "p5": _number(low),
            "median": _number(middle),
            "p95": _number(high),
        },
        **_recalls(gold, (f"union@{TOP}",), gold["turn"], None),
    }


def _curves(outcome: Outcome, total: Floats) -> list[dict[str, Any]]:
    """For each ranking the recall over fixed budgets, and how the ranks of first gold turns are spread."""
    curves = []
    for key in outcome.columns:
        if key[0] != "curve":
            continue
        table = outcome.table(*key)
        first = outcome.table("ranking", *key[1:])["first"]
        ranks = first[~np.isnan(first)]
        shares = {
            str(depth): _number(float((ranks <= depth).sum()) / max(1, len(ranks)))
            for depth in (1, 2, 3, 5, 10, 20, 50, 100)
        }
        curves.append(
            {
                "ranking": " ".join(part for part in key[1:] if part),
                "budgets": list(BUDGETS),
                "recall": [_number(table[str(words)].sum() / max(1.0, total.sum())) for words in BUDGETS],
                "first_within": shares if len(ranks) else {},
            }
        )
    return curves


def _per_question(outcome: Outcome, table: Table, gold: Table) -> dict[str, list[Any]]:
    """The reference row question by question, by column."""
    columns = {
        name: table[name] for name in ("candidates", "retrieved", "first", f"turn@{TOP}", "kept", "words")
    }
    return {
        "id": outcome.ids,
        "category": outcome.categories,
        "gold": [int(count) for count in gold["turn"]],
        **{name: [None if np.isnan(v) else int(v) for v in values] for name, values in columns.items()},
    }


def _mean(values: Floats) -> float | None:
    return _number(values.mean()) if len(values) else None


def _number(value: float) -> float | None:
    """A number as JSON has it: rounded to 5 places, None for NaN."""
    return None if np.isnan(value) else round(float(value), 5)
