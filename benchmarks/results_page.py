"""Writes docs/results.md: our figures beside the SmartSearch paper's, from results of `smartsearch bench`.

    python benchmarks/results_page.py RESULT.json [RESULT2.json ...] > docs/results.md

A result needs no particular rows: where a table names one that was not run, its cell says so.
"""

from __future__ import annotations

import dataclasses
import json
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from smartsearch.bench import grid, live, paper, tables
from smartsearch.bench.grid import Cut, Ranker
from smartsearch.bench.measures import TOP
from smartsearch.bench.tables import NONE, Json, Table, micro, number, percent, share, short, signed
from smartsearch.config import Config
from smartsearch.errors import UsageError

NOT_RUN = "not run"
READINGS = ("micro", "macro", "any", "all")
FIXED = "B1:2000"

TITLES = {"locomo": "LoCoMo", "longmemeval": "LongMemEval", "beam": "BEAM", "folder": "Own chats"}

REPAIRED = (
    "The paper's 2,345 gold turns are the evidence strings that name a turn as they stand, each once a "
    "question; with the malformed ones repaired (`D8:6; D9:17` is two turns) there are 2,360, and those are "
    "counted here. "
)

HEAD = """# Results

<!-- Written by benchmarks/results_page.py, not by hand. -->

Measured, never tuned on. This page is made from the results it names, by

    {command}

and each result by the command in its receipt, with the models and the code of the commit it names
(what changed since, and by how much: [LOG.md](../benchmarks/LOG.md)). Recall is micro unless said otherwise:
gold turns found / gold turns. *macro* is the mean of a question's share, *any* the questions with some of
their gold, *all* those with all of it. *kept* is what is left after the cut.

The name of a row says retrieval, ranking and cut. `I3` is what `smartsearch query` retrieves, `I0` the same
without expansion, `IF0` to `IF3` without dense search (alone, with PRF, with entity hops, with both).
`cascade` is its ranking, in which the cross-encoder reads only what ColBERT ranks high; `rrf` is the paper's,
in which both read all. `B1:2000` is a budget of 2,000 words, `B2:.03:60:4000` the adaptive cut (alpha, K,
words), `B0` no cut.

The paper is SmartSearch, arXiv 2603.15599v1; what to know of a table of it stands under ours."""


def page(results: Sequence[Json], command: str) -> str:
    """The page in Markdown, one section a result."""
    lines = [HEAD.format(command=command)]
    for result in results:
        lines += ["", *section(result)]
    return "\n".join(lines) + "\n"


def section(result: Json) -> Iterator[str]:
    """Everything of one result: the paper's tables, then ours, then the receipt."""
    run = result["run"]
    unit = "" if run["unit"] == "turn" and run["context"] else f" ({_passage(run)})"
    data = result["dataset"]
    yield f"## {TITLES.get(data['format'], data['format'])}: {_plain(data['name'])}{unit}"
    yield ""
    asked = result["questions"]
    yield (
        f"{number(asked['asked'])} questions, {number(asked['with_gold'])} with gold: "
        f"{number(result['gold']['turn'])} turns."
    )
    every = result["dataset"].get("every", 1)
    if every > 1:
        yield f"A sample, every {every}th question: no figures to set beside those of all."
    yield from paper.notes(0) if study(result) == paper.LOCOMO else ()
    for part in (
        table_1,
        table_3,
        table_5,
        table_9,
        agreement,
        latency,
        categories,
        levels,
        controls,
        rivals,
    ):
        yield ""
        yield from part(result)
    for part in (losses, oracle, accuracy, receipt):
        yield ""
        yield from part(result)


def study(result: Json) -> str:
    """The paper's name of the dataset, empty where the paper has none of it."""
    data = result["dataset"]
    if data["format"] == "locomo":
        return paper.LOCOMO
    small = data["format"] == "longmemeval" and data["name"].startswith("longmemeval_s")
    return paper.LONGMEMEVAL if small else ""


def find(result: Json, retrieval: str, rank: str, cut: str) -> Json | None:
    """The row of these names, whatever way their numbers are written."""
    wanted = (_ranker(rank), _cut(cut))
    for row in result["rows"]:
        if row["retrieval"] == retrieval and (_ranker(row["rank"]), _cut(row["cut"])) == wanted:
            found: Json = row
            return found
    return None


def _cut(name: str) -> Cut:
    return replace(grid.cut(name), name="")


def _ranker(name: str) -> Ranker | str:
    """The ranker of a name; a rival is its name."""
    try:
        return replace(grid.ranker(name, Config()), name="")
    except UsageError:
        return name


def recall(row: Json | None, measure: str) -> str:
    """Micro recall of a row that may not have been run."""
    return NOT_RUN if row is None else share(micro(row, measure))


def readings(row: Json | None, measure: str) -> str:
    """The four readings of a recall: `.958 (macro .970, any .990, all .940)`."""
    if row is None:
        return NOT_RUN
    found = row["recall"].get(measure, {})
    rest = ", ".join(f"{name} {share(found.get(name))}" for name in READINGS[1:])
    return f"{share(found.get('micro'))} ({rest})"


def table_1(result: Json) -> Iterator[str]:
    """Oracle traces, candidates, and what an unranked list is worth."""
    yield "### Table 1: oracle traces and the unranked list"
    named = study(result)
    locomo = named == paper.LOCOMO
    printed = paper.SEARCH.get(named)
    traces = result.get("oracle")
    row = {rank: find(result, "I3", rank, "B0") for rank in ("corpus", "weight", "ce", "rrf", "cascade")}
    any_row = next((found for found in row.values() if found), None)
    grep = next((r for r in result["rows"] if r["retrieval"] == "IF0"), None)

    limited = result.get("oracle_limited")

    def traced(of: str, name: str) -> str:
        return " / ".join(percent(some[of].get(name, 0.0)) for some in (traces, limited) if some) or NOT_RUN

    both = f"oracle, an edge finding all / at most {limited['results']} turns: " if limited else "oracle: "
    lines = [
        ("questions with gold", number(paper.QUESTIONS), number(result["questions"]["with_gold"])),
        ("gold turns", number(paper.GOLD), number(result["gold"]["turn"])),
        (
            f"{both}questions solved",
            f"{number(paper.SOLVED)} ({percent(paper.SOLVED_SHARE)})",
            " / ".join(
                f"{number(some['solved'])} ({percent(some['solved_share'])})"
                for some in (traces, limited)
                if some
            )
            or NOT_RUN,
        ),
        *(
            (f"of these in {n} hop{'s' * (n != '1')}", percent(p), traced("hop_shares", n))
            for n, p in paper.HOPS.items()
        ),
        *((f"edges: {tool}", percent(p), traced("tool_shares", tool)) for tool, p in paper.TOOLS.items()),
    ]
    lines = [(label, theirs if locomo else NONE, ours) for label, theirs, ours in lines]
    lines += [
        (
            "passages a question",
            number(printed.passages) if printed else NONE,
            short(result["passages_a_question"]),
        ),
        (
            "candidates: grep of the question's terms (IF0)",
            number(printed.candidates) if printed else NONE,
            number(grep["candidates"]) if grep else NOT_RUN,
        ),
        ("candidates: our default (I3)", NONE, number(any_row["candidates"]) if any_row else NOT_RUN),
        ("retrieval recall (I3)", share(paper.RETRIEVED) if locomo else NONE, readings(any_row, "retrieved")),
        *(
            (
                f"mean rank of the first gold turn: {said}",
                number(theirs) if theirs else NONE,
                short(row[rank]["first"]["mean"]) if row[rank] else NOT_RUN,
            )
            for rank, said, theirs in (
                ("corpus", "unranked, corpus order", printed.first_unranked if printed else None),
                ("weight", "unranked, by match weight", None),
                ("ce", "cross-encoder", printed.first_ranked if printed else None),
                ("rrf", "cross-encoder and ColBERT (rrf)", None),
                ("cascade", "our default (cascade)", None),
            )
        ),
        *(
            (
                f"gold kept unranked, 2,000 words: {said}",
                share(paper.KEPT_UNRANKED) if locomo and rank == "corpus" else NONE,
                readings(find(result, "I3", rank, FIXED), "kept"),
            )
            for rank, said in (("corpus", "corpus order"), ("weight", "by match weight"))
        ),
    ]
    yield from _beside("", lines, named)
    yield from _notes(1, named)


def table_3(result: Json) -> Iterator[str]:
    """Expansion: what each way of retrieval finds, and what is left at 2,000 words."""
    yield "### Table 3, retrieval side: expansion"
    named = study(result)
    ways = (
        ("I0", "rrf", "grep, dense fallback; both rankers"),
        ("IF0", "ce", "grep alone; cross-encoder"),
        ("IF1", "ce", "with PRF"),
        ("IF2", "ce", "with entity hops"),
        ("IF3", "ce", "with both"),
        ("I3", "rrf", "what `query` retrieves; both rankers"),
    )
    lines = []
    for way, rank, said in ways:
        row = find(result, way, rank, FIXED)
        printed = paper.EXPANSION.get(way)
        lines.append(
            (
                f"{way} {rank} {FIXED}: {said}",
                share(printed) if named == paper.LOCOMO else NONE,
                number(row["candidates"]) if row else NOT_RUN,
                recall(row, "retrieved"),
                readings(row, "kept"),
            )
        )
    head = ["row", "the paper: recall at the budget", "candidates", "retrieved", "kept"]
    yield from _table(*_without_paper(head, lines, named, (1,)))
    yield from _notes(3, named)


def table_5(result: Json) -> Iterator[str]:
    """The cuts: tokens and recall, a table a ranking."""
    yield "### Table 5: cuts"
    named = study(result)
    ours = ["words", "tokens", "kept, micro", "95%", "macro", "any", "all"]
    for way, rank in (("I3", "rrf"), ("I3", "cascade"), ("I0", "rrf"), ("I0", "cascade")):
        found = [find(result, way, rank, printed.cut) for printed in paper.CUTS]
        if not any(found):
            yield ""
            yield f"`{way} {rank}`: {NOT_RUN}."
            continue
        lines = []
        for printed, row in zip(paper.CUTS, found, strict=True):
            theirs = (number(printed.tokens.get(named)), share(printed.recall.get(named)))
            if row is None:
                lines.append((printed.cut, *theirs, *([NOT_RUN] * len(ours))))
                continue
            kept = row["recall"]["kept"]
            cells = (
                share(kept["micro"]),
                tables.interval(kept),
                *(share(kept[name]) for name in READINGS[1:]),
            )
            lines.append((printed.cut, *theirs, number(row["words"]), number(row["tokens"]), *cells))
        head = [f"{way} {rank}", "the paper: tokens", "the paper: recall", *ours]
        yield from _table(*_without_paper(head, lines, named, (1, 2)))
    yield ""
    yield f"Tokens here are those of `{_plain(result['run']['tokenizer'])}`; compare words."
    yield from _notes(5, named)


def table_9(result: Json) -> Iterator[str]:
    """Rankings: gold in the top 62 and median rank, the paper's rankers above ours."""
    yield f"### Table 9: rankings, gold in the top {TOP}"
    locomo = study(result) == paper.LOCOMO
    lines = []
    for theirs in paper.RERANKERS if locomo else ():
        found = (number(theirs.found), percent(theirs.share), str(theirs.median), number(theirs.milliseconds))
        lines.append((f"the paper: {theirs.name}, {theirs.millions}M", *found))
    if locomo:
        lines.append(("the paper: mxbai-large or ColBERTv2", NONE, percent(paper.UNION), NONE, NONE))
    timed = _timed_ranking(result)
    for row in _rankings(result):
        top = micro(row, f"turn@{TOP}")
        count = NONE if top is None else number(round(top * row["gold"]))
        spent = result["latency"]["stages"]["total"]["p50"] if tables.ranking(row) == timed else None
        ours = (count, percent(top), short(row["first"]["median"]), number(spent))
        lines.append((f"ours: {tables.ranking(row)}", *ours))
    union = (result.get("agreement") or {}).get(f"union@{TOP}", {}).get("micro")
    both = NOT_RUN if union is None else number(round(union * result["gold"]["turn"]))
    lines.append(
        ("ours: cross-encoder or ColBERT", both, NOT_RUN if union is None else percent(union), NONE, NONE)
    )
    yield from _table(["ranking", "gold found", "share", "median rank", "ms"], lines)
    yield ""
    yield (
        f"{REPAIRED if locomo else ''}Median rank: ours is of a question's first "
        "gold turn. Milliseconds: ours is the median of a whole warm query; only one ranking is timed."
    )
    yield from _notes(9, study(result))


def _timed_ranking(result: Json) -> str:
    """The ranking whose queries were timed: the default under the run's settings."""
    if not (result.get("latency") or {}).get("stages"):
        return ""
    known = {field.name for field in dataclasses.fields(Config)}
    settings: dict[str, Any] = result["run"].get("config") or {}
    row = live.default_row(Config(**{key: value for key, value in settings.items() if key in known}))
    return f"{row.retrieval.name} {row.ranker.name}"


def _rankings(result: Json) -> list[Json]:
    """A row of each ranking of the default retrieval and of each rival."""
    rows: dict[str, Json] = {}
    for row in result["rows"]:
        if row["retrieval"] in ("I3", ""):
            rows.setdefault(tables.ranking(row), row)
    return list(rows.values())


def agreement(result: Json) -> Iterator[str]:
    """Spearman's correlation of the scorers, and the gold in the top 62 of either."""
    table = tables.agreement(result)
    yield "### Agreement of cross-encoder and ColBERT"
    if study(result) == paper.LOCOMO:
        low, high = (share(bound, 2) for bound in paper.SPEARMAN)
        yield ""
        yield f"The paper: Spearman's rho from {low} to {high}; union {share(paper.UNION)}."
    yield from _shown(table)


def latency(result: Json) -> Iterator[str]:
    """Milliseconds by stage."""
    yield "### Latency"
    yield from _shown(tables.latency(result))


def categories(result: Json) -> Iterator[str]:
    """The reference row and the paper's ranking by category."""
    yield "### By category"
    rows = [tables.reference(result), find(result, "I3", "rrf", FIXED)]
    for row in {row["name"]: row for row in rows if row}.values():
        yield ""
        yield f"`{row['name']}`:"
        yield from _shown(tables.categories(row))


def levels(result: Json) -> Iterator[str]:
    """Recall by turn, chunk and session."""
    yield "### Turns, chunks, sessions"
    yield from _shown(tables.levels(_rankings(result)))


def controls(result: Json) -> Iterator[str]:
    """The negative controls, each beside the row it changes."""
    yield "### Negative controls"
    lines = []
    changed = [(name, row, base) for row in result["rows"] for name, base in _controls(result, row)]
    for wanted in ("A1v1", "A1v2", "A2", "lemma", "C1", "C2", "C1C2", "MMR"):
        points = paper.CONTROLS.get(wanted)
        theirs = f"{points:+.1f}" if points is not None else NONE
        own = [(row, base) for name, row, base in changed if name == wanted]
        for row, base in own:
            lines.append((wanted, row["name"], *_against(row, base), theirs))
        if not own:
            lines.append((wanted, NOT_RUN, *([NONE] * 5), theirs))
    head = ["control", "row", "kept", "without it", "difference", "words", "without it"]
    locomo = study(result) == paper.LOCOMO
    if locomo:
        head.append("the paper: points of accuracy")
    yield from _table(head, [line if locomo else line[:-1] for line in lines])
    yield ""
    yield (
        "A1v1: the tail that holds the last share of the summed cross-encoder scores goes; A1v2: a floor for "
        "the score; A2: dates of the question are searched; lemma: inflections are searched; C1: one date a "
        "session; C2: initials for speakers; MMR: near-duplicates are ranked down."
    )


def _controls(result: Json, row: Json) -> Iterator[tuple[str, Json | None]]:
    """The one control of a row, if it has one, and the row without it."""
    way, *added = row["retrieval"].split("+")
    cut, ranker = grid.cut(row["cut"]), _ranker(row["rank"])
    plain = row["cut"].partition("+")[0]
    found = [*added, *([cut.rendering] if cut.rendering else [])]
    if cut.kind in ("cumulative", "floor"):
        found.append({"cumulative": "A1v1", "floor": "A1v2"}[cut.kind])
        plain = f"B1:{cut.words}"
    rank = row["rank"]
    if isinstance(ranker, Ranker) and ranker.kind == "mmr":
        found.append("MMR")
        rank = "rrf"
    if len(found) == 1:
        yield found[0], find(result, way, rank, plain)


def _against(row: Json, base: Json | None) -> tuple[str, ...]:
    kept = micro(row, "kept")
    said = f"{share(kept)} {tables.interval(row['recall'].get('kept', {}))}"
    if base is None:
        return said, NOT_RUN, NONE, number(row["words"]), NOT_RUN
    before = micro(base, "kept")
    gap = None if kept is None or before is None else kept - before
    return said, share(before), signed(gap), number(row["words"]), number(base["words"])


def rivals(result: Json) -> Iterator[str]:
    """Other searches in the same run, at the same budget."""
    yield "### Rivals"
    ours = [find(result, "I3", rank, FIXED) for rank in ("cascade", "rrf")]
    theirs = [row for row in result["rows"] if not row["retrieval"] and _cut(row["cut"]) == _cut(FIXED)]
    base = tables.reference(result)
    lines = [
        (
            row["name"],
            f"{short(row['first']['mean'])} / {short(row['first']['median'])}",
            *(recall(row, name) for name in ("turn@1", "turn@5", "turn@10", f"turn@{TOP}")),
            tables.gap(row, f"turn@{TOP}"),
            f"{recall(row, 'kept')} {tables.interval(row['recall'].get('kept', {}))}",
            number(row["words"]),
        )
        for row in (*(row for row in ours if row), *theirs)
    ]
    if not theirs:
        lines.append(("rivals at 2,000 words", NOT_RUN, *([NONE] * 7)))
    head = ["row", "first, mean / median", "R@1", "R@5", "R@10", f"top {TOP}", "difference", "kept", "words"]
    yield from _table(head, lines)
    if base:
        yield ""
        yield f"difference: of the top {TOP}, against `{base['name']}`; * where Holm's p < .05."


def losses(result: Json) -> Iterator[str]:
    """Where the gold was lost: the failure classes that need no language model."""
    yield "### Where the gold was lost"
    base = tables.reference(result)
    if base is None:
        yield from _shown(None)
        return
    retrieved, top = micro(base, "retrieved"), micro(base, f"turn@{TOP}")
    if retrieved is not None and top is not None:
        gold = base["gold"]
        missed, low = gold - round(retrieved * gold), round(retrieved * gold) - round(top * gold)
        yield ""
        yield (
            f"Of {number(gold)} gold turns, `{base['name']}` does not retrieve {number(missed)} and ranks "
            f"{number(low)} ({percent(low / gold if gold else None)}) below {TOP}."
        )
    wanted = [find(result, "I3", rank, FIXED) for rank in ("cascade", "rrf", "ce", "colbert", "weight")]
    rivals = [row for row in result["rows"] if not row["retrieval"] and _cut(row["cut"]) == _cut(FIXED)]
    rows = {row["name"]: row for row in (base, *wanted, *rivals) if row}
    yield from _shown(tables.losses(list(rows.values())))
    for title, table in (
        ("Failure classes, a question each", tables.failures(result)),
        ("How far the gold turns of each category came", tables.stages(result)),
    ):
        yield ""
        yield f"{title}:"
        yield from _shown(table)


def oracle(result: Json) -> Iterator[str]:
    """All figures of the oracle traces."""
    yield "### Oracle traces"
    yield from _shown(tables.oracle(result))


def accuracy(result: Json) -> Iterator[str]:
    """Accuracy with a language model."""
    yield "### Accuracy with a language model"
    yield from _shown(tables.accuracy(result))


def receipt(result: Json) -> Iterator[str]:
    """What the figures depend on, and the command that made them."""
    yield "### Receipt"
    yield ""
    yield "    " + " ".join(result["run"]["command"].split())
    yield from _shown(tables.receipt(result))
    left_out = tables.dropped(result)
    if left_out:
        yield from _shown(left_out)
    notes = result["dataset"]["notes"]
    if notes:
        yield ""
        yield from (f"- {_plain(note)}" for note in notes)


def _passage(run: Json) -> str:
    return f"passage: {_plain(run['unit'])}{'' if run['context'] else ', scored without its context'}"


def _beside(title: str, lines: Sequence[Sequence[str]], named: str) -> Iterator[str]:
    yield from _table(*_without_paper([title, "the paper", "ours"], lines, named, (1,)))


def _without_paper(
    head: Sequence[str], lines: Sequence[Sequence[str]], named: str, columns: Sequence[int]
) -> tuple[list[str], list[list[str]]]:
    """Head and lines, less the paper's columns where the paper has nothing on this data."""
    stay = [i for i in range(len(head)) if named or i not in columns]
    return [head[i] for i in stay], [[line[i] for i in stay] for line in lines]


def _notes(table: int, named: str) -> Iterator[str]:
    notes = paper.notes(table) if named else []
    if notes:
        yield ""
        yield from (f"- {note}" for note in notes)


def _shown(table: Table | None) -> Iterator[str]:
    if table is None:
        yield ""
        yield f"{NOT_RUN[0].upper()}{NOT_RUN[1:]}."
        return
    yield from _table(table.head, table.rows, in_words=table.in_words)
    if table.caption:
        yield ""
        yield _plain(table.caption)


def _table(head: Sequence[str], lines: Sequence[Sequence[str]], *, in_words: bool = False) -> Iterator[str]:
    yield ""
    yield f"| {' | '.join(map(_plain, head))} |"
    yield f"|---|{('---|' if in_words else '---:|') * (len(head) - 1)}"
    yield from (f"| {' | '.join(map(_plain, line))} |" for line in lines)


def _plain(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    text = " ".join(text.split())
    for mark in "\\|*[]<":
        text = text.replace(mark, "\\" + mark)
    return text


def _read(path: Path) -> Json:
    try:
        result: Json = json.loads(path.read_text(encoding="utf-8"))
        known = result["kind"] == "smartsearch bench"
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"{path} cannot be read as a result: {type(error).__name__} {error}")
    if not known:
        sys.exit(f"{path} is no result of `smartsearch bench`")
    return result


def main() -> None:
    paths = sys.argv[1:]
    if not paths:
        sys.exit("python benchmarks/results_page.py RESULT.json [RESULT2.json ...] > docs/results.md")
    results = [_read(Path(path)) for path in paths]
    command = shlex.join(["python", "benchmarks/results_page.py", *paths]) + " > docs/results.md"
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.stdout.write(page(results, command))


if __name__ == "__main__":
    main()
