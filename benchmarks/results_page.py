"""Writes reports/results.md: our figures beside the SmartSearch paper's, from results of `smartsearch bench`.

    python benchmarks/results_page.py RESULT.json [RESULT2.json ...] > benchmarks/reports/results.md

A result needs no particular rows: where a table names one that was not run, its cell says so. Of several over
the same data the first makes the section. Of the later ones those of all questions tell what each retrieval
finds, and their cascades, which are what `query` does, stand beside the first's, which has the scores' order
alone; the paper's reading stands under it, and those with another parser beside the same rows of ours.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import oracle
import record_tables
from records import read
from report import HERE, render
from report import table as markdown

from smartsearch.bench import presets, tables, versus
from smartsearch.bench.measures import TOP
from smartsearch.bench.tables import NONE, Json, Table, micro, number, percent, share, short, signed

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PAPER = tomllib.loads((HERE / "paper.toml").read_text(encoding="utf-8"))
NOT_RUN = "not run"
FIXED = "B1:2000"
PAPERS_CUT = "B2:0.03:60:4000"
"""How `--as paper` cuts."""
CUTS = (
    *(f"B1:{words}" for words in (1000, 2000, 3000, 4000)),
    *(f"B2:{alpha}:60:4000" for alpha in ("0", "0.01", "0.03", "0.05", "0.1")),
)
EXPANSIONS = {
    "I0 rrf+plain": "grep, dense fallback; both rankers",
    "IF0 ce+plain": "grep alone; cross-encoder",
    "IF1 ce+plain": "with PRF",
    "IF2 ce+plain": "with entity hops",
    "IF3 ce+plain": "with both",
    "IP rrf+plain": "as the paper: both expansions, dense fallback; both rankers",
    "I3 rrf": "what `query` retrieves; both rankers",
}
UNRANKED = {"corpus": "unranked, corpus order", "weight": "unranked, by match weight"}
RANKED = {
    "ce": "cross-encoder",
    "rrf": "cross-encoder and ColBERT (rrf)",
    "cascade": "our default (cascade)",
}
CONTROLS = {
    "A1v1": ("I3 cascade A1v1:0.2:2000", "I3 cascade B1:2000"),
    "tail": ("I3 cascade tail:0.2:2000", "I3 cascade B1:2000"),
    "A1v2": ("I3 cascade A1v2:0:2000", "I3 cascade B1:2000"),
    "A2": ("IP+A2 cascade B1:2000", "IP cascade B1:2000"),
    "lemma": ("I3+lemma cascade B1:2000", "I3 cascade B1:2000"),
    "C1": ("I3 cascade B1:2000+C1", "I3 cascade B1:2000"),
    "C2": ("I3 cascade B1:2000+C2", "I3 cascade B1:2000"),
    "C1C2": ("I3 cascade B1:2000+C1C2", "I3 cascade B1:2000"),
    "MMR": ("I3 mmr:0.7 B1:2000", "I3 rrf B1:2000"),
}
"""Each negative control as a row, and the row without it."""
BOTH = "{} or {}, the first 62 of each: up to 124 turns"
CONTROL_HEAD = (
    "control",
    "row",
    "kept",
    "without it",
    "difference",
    "words",
    "without it",
    "the paper: points",
)
TITLES = {"locomo": "LoCoMo", "longmemeval": "LongMemEval", "beam": "BEAM", "folder": "Own chats"}
Lines = list[Sequence[str]]


def study(result: Json) -> str:
    """The paper's name of the dataset, empty where the paper has none of it."""
    data = result["dataset"]
    if data["format"] == "locomo":
        return "LoCoMo"
    small = data["format"] == "longmemeval" and data["name"].startswith("longmemeval_s")
    return "LongMemEval-S" if small else ""


def as_now(record: Json) -> Json:
    """A record with its rows named as they are now (`SCHEMA_VERSION`); what it did not count is left out."""
    if record["schema_version"] > 1:
        return record
    text = json.dumps(record).replace("A1v1:", "tail:")
    record = json.loads(re.sub(r'(?<=["(])(IF[123]|IP(?:\+A2)?)(?=[ "])', r"\1+speakers", text))
    uncounted = {"tools": {}, "tool_shares": dict.fromkeys(oracle.TOOLS)}
    traced = {key: {**record[key], **uncounted} for key in ("oracle", "oracle_limited") if record.get(key)}
    return {**record, **traced}


def section(result: Json, *later: Json) -> dict[str, Any]:
    """What the template is given of one result: its tables as Markdown, or lines of their cells."""
    theirs: Mapping[str, Any] = PAPER.get(study(result), {})
    ours = [one for one in later if parser(one) == parser(result)]
    whole = [one for one in ours if one["dataset"]["every"] == 1]
    rows: dict[str, Json] = {row["name"]: row for row in result["rows"]}
    base = tables.reference(result)
    fixed = [rows[name] for rank in (*RANKED, "colbert", "weight") if (name := f"I3 {rank} {FIXED}") in rows]
    rivals = [row for row in result["rows"] if not row["retrieval"] and row["cut"] == FIXED]
    shown = {
        "latency": tables.latency(result),
        "agreement": tables.agreement(result),
        "levels": record_tables.levels(_rankings(result)),
        "losses": tables.losses([row for row in (base, *fixed, *rivals) if row]) if base else None,
        "failures": tables.failures(result),
        "stages": tables.stages(result),
        "oracle": oracle.table(result),
        "accuracy": tables.accuracy(result),
        "receipt": record_tables.receipt(result),
        "dropped": record_tables.dropped(result),
    }
    parted = {row["name"]: row for row in (base, rows.get(f"I3 rrf {FIXED}")) if row}
    return {
        "result": result,
        "title": TITLES.get(result["dataset"]["format"], result["dataset"]["format"]),
        "study": study(result),
        "theirs": theirs,
        "reference": base["name"] if base else "",
        "table_1": _beside(
            ["", "the paper", "ours"], list(table_1(result, rows, theirs)), bool(theirs), (1,)
        ),
        "table_3": _beside(
            ["row", "the paper: recall at the budget", "candidates", "retrieved", "kept"],
            list(table_3(rows, whole, theirs)),
            bool(theirs),
            (1,),
        ),
        "table_5": list(table_5(rows, theirs)),
        "table_9": markdown(
            ["ranking", "gold found", "share", "median rank", "ms"], list(table_9(result, theirs))
        ),
        "controls": _beside(CONTROL_HEAD, list(controls(rows, theirs)), "controls" in theirs, (7,)),
        "rivals": list(compared([*fixed, *rivals])),
        "lifted": list(lifted(rows, whole)),
        "later": whole,
        "reading": [(one, _shown(tables.rows(reading(one)))) for one in ours if _reads(one)],
        "parsers": list(parsers(later)),
        "systems": {found.title: _shown(found) for found in versus.compared(result)},
        "categories": {name: _shown(tables.categories(row)) for name, row in parted.items()},
        "shown": {name: _shown(found) for name, found in shown.items()},
    }


def readings(row: Json | None, measure: str) -> str:
    """The four readings of a recall: `.958 (macro .970, any .990, all .940)`."""
    if row is None:
        return NOT_RUN
    found = row["recall"].get(measure, {})
    rest = ", ".join(f"{name} {share(found.get(name))}" for name in tables.READ[1:])
    return f"{share(found.get('micro'))} ({rest})"


def table_1(result: Json, rows: Mapping[str, Json], theirs: Mapping[str, Any]) -> Iterator[Sequence[str]]:
    """Oracle traces, candidates, and what an unranked list is worth."""
    yield "questions with gold", number(theirs.get("questions")), number(result["questions"]["with_gold"])
    yield "gold turns", number(theirs.get("gold")), number(result["gold"]["turn"])
    traces = [found for found in (result.get("oracle"), result.get("oracle_limited")) if found]
    solved = [f"{number(found['solved'])} ({percent(found['solved_share'])})" for found in traces]
    printed = (
        f"{number(theirs['solved'])} ({percent(theirs['solved_share'])})" if "solved" in theirs else NONE
    )
    yield "oracle: questions solved", printed, " / ".join(solved) or NOT_RUN
    for of, names in (("hop", ("1", "2", "3")), ("tool", ("grep", "semantic", "and"))):
        for name in names:
            ours = [percent(found[f"{of}_shares"].get(name, 0.0)) for found in traces]
            said = f"of these in {name} hop{'s' * (name != '1')}" if of == "hop" else f"dearest tool: {name}"
            yield said, percent(theirs.get(f"{of}s", {}).get(name)), " / ".join(ours) or NOT_RUN
    default = next((row for name, row in rows.items() if name.startswith("I3 ")), None)
    grep = next((row for name, row in rows.items() if name.startswith("IF0 ")), None)
    candidates = [number(row["candidates"]) if row else NOT_RUN for row in (grep, default)]
    yield "passages a question", number(theirs.get("passages")), short(result["passages_a_question"])
    yield "candidates: grep of the question's terms (IF0)", number(theirs.get("candidates")), candidates[0]
    yield "candidates: our default (I3)", NONE, candidates[1]
    yield "retrieval recall (I3)", share(theirs.get("retrieved")), readings(default, "retrieved")
    for rank, said in (UNRANKED | RANKED).items():
        row = rows.get(f"I3 {rank} B0")
        ours = short(row["first"]["mean"]) if row else NOT_RUN
        yield f"mean rank of the first gold turn: {said}", number(theirs.get("first", {}).get(rank)), ours
    for rank, said in UNRANKED.items():
        printed = share(theirs.get("kept_unranked")) if rank == "corpus" else NONE
        yield f"gold kept in 2,000 words: {said}", printed, readings(rows.get(f"I3 {rank} {FIXED}"), "kept")


def table_3(
    rows: Mapping[str, Json], whole: Sequence[Json], theirs: Mapping[str, Any]
) -> Iterator[Sequence[str]]:
    """Expansion: what each way of retrieval finds, and what is left at 2,000 words.

    A row that `rows` lack is one of the results `whole`, and if they lack it too, what the way finds.
    """
    ways = {row["retrieval"]: row for one in whole for row in one["rows"]}
    rows = {row["name"]: row for one in whole for row in one["rows"]} | dict(rows)
    for name, said in EXPANSIONS.items():
        way, rank = name.split()
        row = rows.get(f"{name} {FIXED}")
        printed = share(theirs.get("expansion", {}).get(way))
        yield f"{name} {FIXED}: {said}", printed, *_reach(row or ways.get(way)), readings(row, "kept")
        if other := rows.get(f"{way}+speakers {rank} {FIXED}"):
            told = f"{other['name']}: speakers' names hop too"
            yield told, NONE, *_reach(other), readings(other, "kept")


def _reach(row: Json | None) -> tuple[str, str]:
    """Candidates a question, and the gold among them."""
    return (number(row["candidates"]), share(micro(row, "retrieved"))) if row else (NOT_RUN, NOT_RUN)


def table_5(rows: Mapping[str, Json], theirs: Mapping[str, Any]) -> Iterator[str]:
    """The cuts: tokens and recall, a table a ranking that was run, and what the cap and alpha leave."""
    ours = ["words", "tokens", "kept, micro", "95%", "macro", "any", "all"]
    for ranking in ("IP rrf+plain", "IP+speakers rrf+plain", "I0 rrf+plain", "I3 rrf", "I3 cascade"):
        lines: Lines = []
        run = {cut: rows.get(f"{ranking} {cut}") for cut in (*CUTS, *presets.SKIPPING)}
        if not any(run[cut] for cut in CUTS[1:]):
            continue
        for cut, row in run.items():
            if row is None and cut in presets.SKIPPING:
                continue
            tokens, recall = theirs.get("cuts", {}).get(cut, (None, None))
            cells = [NOT_RUN] * len(ours)
            if row:
                kept = row["recall"]["kept"]
                cells = [number(row["words"]), number(row["tokens"]), share(kept["micro"])]
                cells += [tables.interval(kept), *(share(kept[name]) for name in tables.READ[1:])]
            lines.append((cut, number(tokens), share(recall), *cells))
        head = [ranking, "the paper: tokens", "the paper: recall", *ours]
        yield _beside(head, lines, "cuts" in theirs, (1, 2))
        steps = [row for cut in ("B1:4000", "B2:0:60:4000", "B2:0.03:60:4000") if (row := run[cut])]
        if len(steps) == 3:
            whole, capped, cut_off = (number(row["words"]) for row in steps)
            yield f"`{ranking}`: of {whole} words the cap of 60 turns leaves {capped}, alpha .03 {cut_off}."


def table_9(result: Json, theirs: Mapping[str, Any]) -> Iterator[Sequence[str]]:
    """Rankings: gold in the top 62 and median rank, the paper's rankers above ours."""
    for name, (found, part, rank, spent) in theirs.get("rankings", {}).items():
        yield f"the paper: {name}", number(found), percent(part), number(rank), number(spent)
    if "union" in theirs:
        yield (
            f"the paper: {BOTH.format('mxbai-large', 'ColBERTv2')}",
            NONE,
            percent(theirs["union"]),
            NONE,
            NONE,
        )
    for row in _rankings(result):
        top = micro(row, f"turn@{TOP}")
        count = number(None if top is None else round(top * row["gold"]))
        yield f"ours: {tables.ranking(row)}", count, percent(top), short(row["first"]["median"]), NONE
    union = (result.get("agreement") or {}).get(f"union@{TOP}", {}).get("micro")
    both = number(None if union is None else round(union * result["gold"]["turn"]))
    yield f"ours: {BOTH.format('cross-encoder', 'ColBERT')}", both, percent(union), NONE, NONE


def _rankings(result: Json) -> list[Json]:
    """A row of each ranking of the default retrieval and of each rival."""
    rows: dict[str, Json] = {}
    for row in result["rows"]:
        if row["retrieval"] in ("I3", ""):
            rows.setdefault(tables.ranking(row), row)
    return list(rows.values())


def controls(rows: Mapping[str, Json], theirs: Mapping[str, Any]) -> Iterator[Sequence[str]]:
    """The negative controls, each beside the row it changes."""
    for name, (changed, plain) in CONTROLS.items():
        if changed not in rows and name == "A2":
            changed, plain = "IP+A2+speakers cascade B1:2000", "IP+speakers cascade B1:2000"
        points = theirs.get("controls", {}).get(name)
        printed = NONE if points is None else f"{points:+.1f}"
        row, base = rows.get(changed), rows.get(plain)
        if row is None or base is None:
            yield name, changed, NOT_RUN, *([NONE] * 4), printed
            continue
        kept, before = micro(row, "kept"), micro(base, "kept")
        gap = None if kept is None or before is None else kept - before
        said = f"{share(kept)} {tables.interval(row['recall']['kept'])}"
        words = (number(row["words"]), number(base["words"]))
        yield name, changed, said, share(before), signed(gap), *words, printed


def compared(rows: Sequence[Json]) -> Iterator[Sequence[str]]:
    """Rows of one budget side by side."""
    for row in rows:
        yield (
            row["name"],
            f"{short(row['first']['mean'])} / {short(row['first']['median'])}",
            *(share(micro(row, name)) for name in ("turn@1", "turn@5", "turn@10", f"turn@{TOP}")),
            tables.gap(row, f"turn@{TOP}"),
            f"{share(micro(row, 'kept'))} {tables.interval(row['recall']['kept'])}",
            number(row["words"]),
        )


def _reads(result: Json) -> bool:
    """Whether the paper's rankers read what the paper's retrieval finds in it."""
    return any(tables.ranking(row) in EXPANSIONS for row in result["rows"])


def reading(result: Json) -> Json:
    """A result with its rows of EXPANSIONS alone, of speakers' names or dates too, and the reference's."""
    ways = {name.replace(" ", f"{added} ", 1) for name in EXPANSIONS for added in ("", "+speakers", "+A2")}
    ways.add(presets.ranking(presets.REFERENCE))
    cuts = (FIXED, presets.REFERENCE.split()[2], PAPERS_CUT)
    kept = [row for row in result["rows"] if tables.ranking(row) in ways and row["cut"] in cuts]
    return result | {"rows": kept}


def parser(result: Json) -> str:
    """The parser of a record, by its id."""
    return next(model["id"] for model in result["run"]["models"] if model["role"] == "parser")


def parsers(results: Sequence[Json]) -> Iterator[Sequence[str]]:
    """Rows of records with another parser, each below the shipped one's over the same questions."""
    shipped = [one for one in results if parser(one).startswith("shipped:")]
    for other in (one for one in results if one not in shipped):
        same = [one for one in shipped if one["dataset"] == other["dataset"]]
        ours = {row["name"]: row for one in same for row in one["rows"]}
        asked = number(other["questions"]["asked"])
        for row in other["rows"]:
            for by, one in (("ours", ours[row["name"]]), ("the paper's", row)):
                recalls = (share(micro(one, measure)) for measure in ("retrieved", f"turn@{TOP}", "kept"))
                yield one["name"], by, asked, number(one["candidates"]), *recalls


def lifted(rows: Mapping[str, Json], later: Sequence[Json]) -> Iterator[Sequence[str]]:
    """The cascades of later results as `query` orders them, each below the order of its scores alone."""
    measures = ("turn@1", "turn@5", "turn@10", f"turn@{TOP}", "kept")
    for row in (row for result in later for row in result["rows"] if row["name"] in rows):
        for said, one in (("scores alone", rows[row["name"]]), ("as `query` orders", row)):
            if one["rank"] == "cascade":
                recalls = (one["recall"][measure] for measure in measures)
                cells = [f"{share(recall['micro'])} / {share(recall['macro'])}" for recall in recalls]
                yield f"{one['name']}, {said}", *cells, number(one["words"])


def _beside(head: Sequence[str], lines: Lines, printed: bool, columns: Sequence[int]) -> str:
    """A table, less the paper's `columns` where the paper has nothing on this data."""
    stay = [place for place in range(len(head)) if printed or place not in columns]
    return markdown([head[place] for place in stay], [[line[place] for place in stay] for line in lines])


def _shown(found: Table | None) -> str:
    """A table with its caption below; that it was not run where there is none."""
    if found is None:
        return "Not run."
    left = range(len(found.head)) if found.head[0] in ("what", "reason") else ()
    drawn = markdown(found.head, found.rows, left)
    return f"{drawn}\n\n{found.caption}" if found.caption else drawn


def elsewhere() -> Iterator[Sequence[str]]:
    """What the papers of other systems report, each line with why ours is not to be compared with it."""
    for one in PAPER["elsewhere"]:
        yield from ((*figure, f"not comparable: {one['with']}") for figure in one["figures"])


def page(results: Sequence[Json], command: str) -> str:
    """The report in Markdown, one section a result, and the papers' figures where systems are compared."""
    by_data: dict[str, list[Json]] = {}
    for result in results:
        by_data.setdefault(result["dataset"]["sha256"], []).append(result)
    sections = [section(*some) for some in by_data.values()]
    others = list(elsewhere()) if any(one["systems"] for one in sections) else []
    return render("results", sections=sections, elsewhere=others, command=command)


def main() -> None:
    paths = sys.argv[1:]
    if not paths:
        sys.exit(__doc__)
    command = shlex.join(["python", "benchmarks/results_page.py", *paths])
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.stdout.write(page([as_now(read(Path(path), "smartsearch bench")) for path in paths], command))


if __name__ == "__main__":
    main()
