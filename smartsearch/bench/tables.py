"""Makes the tables of a result, for the terminal and a pipe.

A result is the record `session.signed` gives and a JSON file keeps; any number in it may be null.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from smartsearch import systems
from smartsearch.bench.failures import STAGES
from smartsearch.bench.measures import TOP
from smartsearch.bench.overlap import MEASURES

Json = Mapping[str, Any]

NONE = "-"
"""A missing figure."""
SIGNIFICANT = 0.05
"""A difference gets a star where its p-value, adjusted over all rows (Holm), is below."""
LOST = {"not retrieved": "not retrieved", "top_k": "top K", "tau": "tau", "budget": "budget"}
"""Headings of where a gold turn was lost, in the order of the pipeline."""


@dataclass(frozen=True)
class Table:
    """A titled table of text cells; the first column names the line. `caption` says how to read it."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""

    def only(self, columns: Sequence[str]) -> Table:
        """The table with only these columns."""
        places = [self.head.index(name) for name in columns]
        rows = tuple(tuple(row[i] for i in places) for row in self.rows)
        return Table(self.title, tuple(columns), rows, self.caption)


def share(value: float | None, places: int = 3) -> str:
    """A share as papers print it: `.864`, `1.000`, `-.012`."""
    if value is None:
        return NONE
    said = f"{round(value, places) + 0.0:.{places}f}"
    return said.replace("0.", ".", 1) if said.lstrip("-").startswith("0.") else said


def signed(value: float | None) -> str:
    """A difference of shares: `+.012`, `-.012`."""
    said = share(value)
    return said if value is None or said.startswith("-") else f"+{said}"


def percent(value: float | None) -> str:
    """A share in per cent: `87.8%`."""
    return NONE if value is None else f"{value * 100:.1f}%"


def points(value: float | None) -> str:
    """A difference of shares in points: `+1.8`."""
    return NONE if value is None else f"{value * 100:+.1f}"


def number(value: float | None, places: int = 0) -> str:
    """A number with thousands parted: `1,979`."""
    return NONE if value is None else f"{value:,.{places}f}"


def short(value: float | None) -> str:
    """A rank with as many digits as it needs: `1`, `10.8`."""
    return NONE if value is None else f"{value:,.1f}".removesuffix(".0")


def interval(recall: Json) -> str:
    """A recall's 95% interval: `[.851, .876]`."""
    low, high = recall.get("low"), recall.get("high")
    return NONE if low is None or high is None else f"[{share(low)}, {share(high)}]"


def micro(row: Json, measure: str) -> float | None:
    """The micro recall of a row, None if it was not measured."""
    value: float | None = row["recall"].get(measure, {}).get("micro")
    return value


def reference(result: Json) -> Json | None:
    """The row others are compared with; None without rows."""
    rows: Sequence[Json] = result["rows"]
    named = [row for row in rows if row["name"] == result.get("reference")]
    return next(iter([*named, *(row for row in rows if "against" not in row), *rows]), None)


def ranking(row: Json) -> str:
    """What ranked the row: `I3 cascade`, `bm25`; the name of its curve."""
    return " ".join(part for part in (row["retrieval"], row["rank"]) if part)


def gap(row: Json, measure: str = "kept") -> str:
    """How a row differs from the reference: `-.012*`, or `reference`."""
    if "against" not in row:
        return "reference"
    found = row["against"].get(measure, {})
    return signed(found.get("difference")) + star(found)


def star(against: Json) -> str:
    """A star where a difference is significant."""
    p = against.get("p_holm")
    return "*" if p is not None and p < SIGNIFICANT else ""


_FOUND = {"retrieved": "retrieved", "turn@5": "R@5", "turn@10": "R@10", f"turn@{TOP}": f"top {TOP}"}
"""Headings of the recalls before the cut."""
RANKED = ("row", "candidates", "first", *_FOUND.values())
CUT = ("row", "kept", "95%", "words", "tokens", "difference")


def _found(row: Json) -> tuple[str, ...]:
    """Mean and median rank of the first gold turn, the recalls of _FOUND, and what is kept."""
    first = f"{short(row['first']['mean'])} / {short(row['first']['median'])}"
    return (first, *(share(micro(row, name)) for name in (*_FOUND, "kept")))


def rows(result: Json) -> Table:
    """Every row: what was retrieved, how it was ranked, what the cut kept (columns RANKED, then CUT)."""
    lines = tuple(
        (
            row["name"],
            number(row["candidates"]),
            *_found(row),
            interval(row["recall"].get("kept", {})),
            number(row["words"]),
            number(row["tokens"]),
            gap(row),
        )
        for row in result["rows"]
    )
    base = reference(result)
    against = f" {ranking(base)} under the same cut, else {base['name']}" if base else ""
    paper = any(ranking(row) == "IP rrf+plain" for row in result["rows"])
    caption = ("`IP rrf+plain` is `--as paper` with the run's models. " if paper else "") + (
        "Recall is micro: gold turns found / gold turns. first: mean / median rank of the first gold turn "
        "retrieved; kept: after the cut, with its 95% bootstrap interval; difference: of kept "
        f"against{against}, * where Holm's p < .05; candidates, words, tokens: mean per question."
    )
    return Table("Rows", (*RANKED, *CUT[1:]), lines, caption)


PARTS = {
    "I0": "grep alone, and meaning where it finds too little",
    "I3": "the candidates of `query`: grep, hops, meaning",
    "IP": "the paper's candidates",
    "ID": "as I3, always with meaning",
    "IF": "the paper's candidates without meaning",
    "cascade": "the order of `query`: ColBERT first, the cross-encoder over its best, then what moves up",
    "ce": "the order of the cross-encoder",
    "colbert": "the order of ColBERT",
    "rrf": "both rankers fused by rank",
    "weight": "the order of matched words' weight",
    "B0": "no cut",
    "B1": "the first words of the list; the number says how many",
    "B2": "cut by score: alpha, most turns, most words; as `query` cuts",
    "+skip": "a turn that does not fit is left out, and the next are tried; without it the list ends there",
}
"""Explanations of the parts of a row's name, by their beginning; `+skip` by its end."""


def explained(result: Json) -> Iterator[str]:
    """A line of explanation for each part of the rows' names."""
    parts = dict.fromkeys(part for row in result["rows"] for part in row["name"].split())
    known = {name: said for name, said in PARTS.items() if any(part.startswith(name) for part in parts)}
    known |= {"+skip": PARTS["+skip"]} if any(part.endswith("+skip") for part in parts) else {}
    for name in dict.fromkeys(row["rank"] for row in result["rows"] if not row["retrieval"]):
        if name in systems.SYSTEMS:
            known[name] = systems.card(name).summary
    return (f"{name}: {said}" for name, said in known.items())


def verdict(result: Json) -> Iterator[str]:
    """The result in three lines: our recall, the best rival's, and the difference."""
    base = reference(result)
    rivals = [row for row in result["rows"] if not row["retrieval"]]
    if base is None or not base["retrieval"]:
        return
    best = max(rivals, key=lambda row: micro(row, "kept") or 0.0, default=None)
    cut = best["cut"] if best else base["cut"]
    same = [row for row in result["rows"] if ranking(row) == ranking(base) and row["cut"] == cut]
    ours = next(iter(same), base)
    yield f"smartsearch keeps {percent(micro(ours, 'kept'))} of the right turns ({ours['name']})"
    if best is None:
        yield "no rival was asked: --rival installed takes those that can run here"
        return
    many = len({row["rank"] for row in rivals})
    yield f"the best of {many} rivals {percent(micro(best, 'kept'))} ({best['name']})"
    found = best.get("against", {}).get("kept", {})
    p, low, high = (found.get(name) for name in ("p_holm", "low", "high"))
    gap = found.get("difference")
    if gap is None or low is None or high is None:
        yield "the difference was not tested"
        return
    sure = p is not None and p < SIGNIFICANT
    said = f"sure (Holm's p {p:.2g})" if sure else "not sure" + ("" if p is None else f" (Holm's p {p:.2g})")
    yield f"a difference of {points(-gap)} points [{points(-high)}, {points(-low)}], {said}"


def categories(row: Json) -> Table:
    """One row by category of question, and all of them last."""
    lines = tuple(
        (name or "(none)", number(part["questions"]), number(part["gold"]), *_found(part))
        for name, part in {**row["by_category"], "all": row}.items()
    )
    head = ("category", "questions", "gold", "first", *_FOUND.values(), "kept")
    return Table(f"By category: {row['name']}", head, lines, "Questions with gold; micro recall of turns.")


def losses(rows: Sequence[Json]) -> Table:
    """Where each row lost its gold turns: counts and, for what is kept, the share."""
    lines = tuple(
        (
            row["name"],
            number(row["gold"]),
            *(number(row["lost"].get(reason)) for reason in LOST),
            number(row["gold"] - sum(row["lost"].get(reason) or 0 for reason in LOST)),
            percent(micro(row, "kept")),
        )
        for row in rows
    )
    caption = (
        "Gold turns by where they were lost: never a candidate, ranked below the top K of the cut, scored "
        "under its threshold tau, or ranked too low for its budget. Every gold turn is counted once."
    )
    return Table("Where gold was lost", ("row", "gold", *LOST.values(), "kept", "share"), lines, caption)


READ = ("micro", "macro", "any", "all")


def readings(row: Json) -> Table:
    """Every recall of a row, read four ways."""
    lines = tuple(
        (name, *(share(found.get(reading)) for reading in READ))
        for name, found in row["recall"].items()
        if any(found.get(reading) is not None for reading in READ)
    )
    caption = (
        "micro: gold found / gold; macro: mean of the questions' shares; any, all: questions with some, with "
        "all of it. kept: after the cut."
    )
    return Table(f"Four readings: {row['name']}", ("recall", *READ), lines, caption)


def agreement(result: Json) -> Table | None:
    """How far the two scorers agree; None if one of them did not run."""
    found = result.get("agreement") or {}
    if not found:
        return None
    spearman, union = found["spearman"], found[f"union@{TOP}"]
    either = f"gold in the top {TOP} of either"
    lines = (
        ("Spearman's rho a question: mean", share(spearman["mean"])),
        ("Spearman's rho: 5th, 50th, 95th percentile", _listed(spearman, ("p5", "median", "p95"))),
        (f"{either}: micro, macro, any, all", _listed(union, READ)),
    )
    caption = "Over the candidates that both the cross-encoder and ColBERT read."
    return Table("Agreement of the two scorers", ("measure", "value"), lines, caption)


def _listed(values: Json, names: Sequence[str]) -> str:
    return ", ".join(share(values[name]) for name in names)


def latency(result: Json) -> Table | None:
    """Milliseconds per stage and per rival over warm queries; None if none were timed."""
    found = result.get("latency")
    if not found or not found["stages"]:
        return None
    rivals = {f"total: {name}": spent for name, spent in found.get("rivals", {}).items()}
    timed = {**found["stages"], **rivals}
    lines = tuple((stage, number(spent["p50"], 1), number(spent["p95"], 1)) for stage, spent in timed.items())
    run, first = result["run"], found.get("first_ms")
    cold = f" The first question of a conversation: {number(first)} ms (median)." if first else ""
    caption = (
        f"{number(found['questions'])} warm queries, {number(found['candidates'])} candidates on average, "
        f"{run['threads']} threads, profile {run['profile']}.{cold}"
    )
    return Table("Latency by stage, milliseconds", ("stage", "p50", "p95"), lines, caption)


def failures(result: Json) -> Table | None:
    """Questions by failure class under either rule; None if they were not classified."""
    found = result.get("failures")
    if not found:
        return None
    both = [found[rule]["overall"] for rule in ("all", "any")]

    def line(said: str, counts: Sequence[int]) -> tuple[str, ...]:
        return (said, *map(number, counts))

    lines = [line("questions", [tally["questions"] for tally in both])]
    for part, before in (("kinds", ""), ("splits", "of reranker/budget: ")):
        names = dict.fromkeys(name for tally in both for name in tally[part])
        lines += [line(before + name, [tally[part].get(name, 0) for tally in both]) for name in names]
    lines.append(line("answer's words nowhere in the data", [tally["answer_absent"] for tally in both]))
    caption = (
        f"Of {found['reference']}: under all gold every gold turn has to be left after the cut, under any "
        "gold one of them. Errors of inference are told apart only with a judge."
    )
    return Table("Failure classes", ("class", "all gold", "any gold"), tuple(lines), caption)


def stages(result: Json) -> Table | None:
    """Gold turns of the reference row by the stage that lost them and by category; None if unknown."""
    found = result.get("failures")
    if not found:
        return None
    parts = {**found["all"]["by_category"], "all": found["all"]["overall"]}
    wanted = dict.fromkeys(name for tally in parts.values() for name in tally["gold"])
    names = [name for name in STAGES if name in wanted]
    lines = tuple(
        (
            category or "(none)",
            number(sum(tally["gold"].values())),
            *(number(tally["gold"].get(name, 0)) for name in names),
        )
        for category, tally in parts.items()
    )
    caption = (
        f"Gold turns of {found['reference']} by the stage that lost them. cascade: dropped, and never read "
        "by the cross-encoder."
    )
    return Table("Gold turns by category", ("category", "gold", *names), lines, caption)


def accuracy(result: Json) -> Table | None:
    """Answers judged by a language model, by category; None without one."""
    found = result.get("accuracy")
    if not found:
        return None
    counts = ("questions", "correct", "wrong", "unjudged", "failed")
    parts = {**found["by_category"], "all": found["overall"]}
    parts |= {
        name.replace("_", " "): found[name] for name in ("abstention", "with_abstention") if name in found
    }
    lines = tuple(
        (
            name or "(none)",
            *(number(tally[count]) for count in counts),
            percent(tally["accuracy"]),
            *_overlap(tally),
        )
        for name, tally in parts.items()
    )
    spent = "; ".join(
        f"{role} {number(usage['prompt_tokens'])} tokens in, {number(usage['completion_tokens'])} out"
        for role, usage in found["usage"].items()
    )
    cost = f"; ${found['cost']['total']:.2f}" if found["cost"] else ""
    stopped = f" Stopped early: {found['stopped']['message']}." if found["stopped"] else ""
    caption = (
        f"Protocol {found['protocol']}, reader {', '.join(found['reader'])}, judge "
        f"{', '.join(found['judge'])}. Accuracy is of the judged; F1 to contains are of the answers' words, "
        f"whatever the judge says. {spent}{cost}.{stopped}"
    )
    head = ("category", *counts, "accuracy", *MEASURES.values())
    return Table("Accuracy with a language model", head, lines, caption)


def _overlap(part: Json) -> tuple[str, ...]:
    return tuple(share((part.get("overlap") or {}).get(name)) for name in MEASURES)


def proxy(result: Json) -> Table | None:
    """Gold found beside answers judged, by row (paper table 10); None where one row alone was answered."""
    answered = result.get("answered") or {}
    rows = {row["name"]: row for row in result["rows"] if row["name"] in answered}
    base = result["reference"]
    if len(rows) < 2 or base not in rows:
        return None
    values = {
        name: (micro(row, f"turn@{TOP}"), micro(row, "kept"), answered[name]["overall"]["accuracy"])
        for name, row in rows.items()
    }
    lines = []
    for name, found in values.items():
        gaps = [
            None if one is None or other is None else one - other for one, other in zip(found, values[base])
        ]
        told = (points(gap) for gap in gaps) if name != base else ("reference", "", "")
        words = _overlap(answered[name]["overall"])
        lines.append((name, *(percent(value) for value in found), *words, *told))
    gains = (f"top {TOP}: gain", "kept: gain", "accuracy: gain")
    head = ("row", f"top {TOP}", "kept", "accuracy", *MEASURES.values(), *gains)
    caption = (
        "Gold turns found, micro, and answers judged right; gains in points over the reference. Found gold "
        "foretells answers among rankers of one kind, not among ways of fusion (paper, appendix)."
    )
    return Table("Offline against live", head, tuple(lines), caption)


def details(result: Json) -> Iterator[Table]:
    """The tables of the record's other parts, if it has them."""
    for make in (stages, failures, agreement, latency, accuracy, proxy):
        table = make(result)
        if table is not None:
            yield table
