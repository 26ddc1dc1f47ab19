"""Compares systems at equal words, as tables: gold kept, density of evidence, cost.

Made of `compared` in the record (`results.summary`), which is empty where SmartSearch ran alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from smartsearch.bench import tables
from smartsearch.bench.blocks import GOLD, HITS
from smartsearch.bench.presets import REFERENCES
from smartsearch.bench.presets import ranking as ranked
from smartsearch.bench.tables import Json, Table, micro, number, percent, ranking, share

PAPERS = frozenset(ranked(row) for like, row in REFERENCES.items() if like)
"""Rankings of the paper: those of `--as`."""
Systems = dict[str, tuple[Json, Json]]
"""A system's part of `compared` and its row, by ranking."""


def compared(result: Json) -> Iterator[Table]:
    """The tables, if there is something to compare."""
    found = result.get("compared")
    if found:
        rows = {row["name"]: row for row in result["rows"]}
        systems = {name: (one, rows[one["row"]]) for name, one in found["systems"].items()}
        yield at_equal_words(result, found["reference"], systems)
        yield evidence(systems)
        if len(result.get("answered") or {}) > 1:
            yield answers(result, systems)
        if len(next(iter(rows.values()))["by_category"]) > 1:
            yield by_category(systems)


def at_equal_words(result: Json, base: str, systems: Systems) -> Table:
    """Gold kept at equal words, and what its memory and a question cost."""
    words = tuple(next(one for one, _ in systems.values())["kept"])
    last = words[-1]
    lines = []
    for name, (one, row) in systems.items():
        kept = (share(one["kept"][n]["micro"]) + tables.star(one["against"][n]) for n in words)
        gap = one["against"][last]
        differs = f"{tables.signed(gap['difference'])} {tables.interval(gap)}" if gap else tables.NONE
        memory = one["memory"] or {"fidelity": fidelity(result, name), "seconds": 0.0, "bytes": 0}
        lines.append(
            (
                *(named(row), memory["fidelity"], *kept, "reference" if name == base else differs),
                *(share(micro(row, "turn@5")), number(row["tokens"]), number(memory["seconds"], 1)),
                *(number(memory["bytes"] / 1e6, 1), _seconds(result, name), *asked(result, name)),
            )
        )
    cut = next(row for _, row in systems.values())["cut"]
    caption = (
        "Gold kept, micro, at this many words, * where it differs from the reference (Holm's p < .05); "
        f"at {last} the difference with its 95% bootstrap interval. tokens: of a context after {cut}. ingest "
        "s, MB: a conversation's memory, median. query s: warm, median. calls, LLM tokens: of a language "
        "model for all memories / all questions. faithful: as its paper; approximate: with other models or "
        "steps; rule: without its paper's language model; baseline: of no paper."
    )
    head = ("system", "fidelity", *words, f"at {last}", "R@5", "tokens", "ingest s", "MB", "query s")
    return Table("Systems at equal words", (*head, "calls", "LLM tokens"), tuple(lines), caption)


def evidence(systems: Systems) -> Table:
    """How dense evidence is in each system's context, and how soon it covers the answer."""
    lines = []
    for one, row in systems.values():
        found, memory = one["blocks"], one["memory"] or {"sizes": {}}
        shares = (percent(found.get(key)) for key in (*HITS, *GOLD, "covered"))
        cost = (
            " / ".join(map(tables.short, found["cover blocks"])),
            " / ".join(map(number, found["cover tokens"])),
        )
        lines.append((named(row), *shares, *cost, percent(memory["sizes"].get("reassigned"))))
    head = ("system", "1 word", "2", "more", "1 gold", "2 gold", "more gold", "covered", "blocks", "tokens")
    caption = (
        "A block is what is kept of a chunk of at most 258 tokens. 1 word, 2, more: blocks with that many "
        "distinct content words of the answer (xMemory's evidence density), of questions with two gold turns "
        "or more; 1 gold to more gold: the same by gold turns, our own measure. covered: answers whose "
        "content words, of those that anybody says, are all in the context. blocks, tokens: read until they "
        "are, mean, and the reference's over the same questions. reassigned: facts that a later insertion "
        "took to another theme."
    )
    return Table("Evidence", (*head, "reassigned"), tuple(lines), caption)


def answers(result: Json, systems: Systems) -> Table:
    """What their papers print of a reader's answers, of its tokens, and of the chunks that are found."""
    lines = []
    for name, (one, row) in systems.items():
        read = result["answered"].get(row["name"])
        if read is None:
            continue
        overlap, used = read["overall"]["overlap"], read["usage"]["reader"]
        own = result["run"].get("asked", {}).get(name, {"query": {}})["query"]
        each = [_tokens(used) / max(1, used["calls"]), _tokens(own) / max(1, result["questions"]["asked"])]
        chunks = (row["recall"][f"chunk@{depth}"]["macro"] for depth in (3, 5, 10))
        told = (overlap[measure] for measure in ("f1", "bleu1", "rouge_l"))
        dense = (percent(one["blocks"].get(key)) for key in (*HITS, "covered"))
        lines.append(
            (named(row), *map(share, told), *map(number, (sum(each), each[1])), *map(share, chunks), *dense)
        )
    reader = ", ".join(result["accuracy"]["reader"])
    caption = (
        f"Answers of {reader} from what each row leaves, by their words. tokens: of a question, read and "
        "written; asked: of these the system's own. chunk R@3 to R@10: macro. 1 word to "
        "covered: as under Evidence."
    )
    head = ("F1", "BLEU-1", "ROUGE-L", "tokens", "asked", "chunk R@3", "R@5", "R@10", "1 word", "2", "more")
    return Table("Answers", ("system", *head, "covered"), tuple(lines), caption)


def _tokens(spent: Json) -> float:
    return float(spent.get("prompt_tokens", 0) + spent.get("completion_tokens", 0))


def by_category(systems: Systems) -> Table:
    """What each system keeps, by category of question."""
    names = list(next(row for _, row in systems.values())["by_category"])
    lines = tuple(
        (named(row), *(share(micro(row["by_category"][one], "kept")) for one in names))
        for _, row in systems.values()
    )
    return Table("Gold kept by category", ("system", *(name or "(none)" for name in names)), lines)


def fidelity(result: Json, name: str) -> str:
    """Whether our ranking is the paper's: faithful only with the paper's method and models."""
    return "faithful" if name in PAPERS and result["run"].get("profile") == "paper" else "approximate"


def named(row: Json) -> str:
    """The name of a row's system."""
    return f"smartsearch ({ranking(row)})" if row["retrieval"] else ranking(row)


def _seconds(result: Json, name: str) -> str:
    """The median of a system's warm queries, or NONE."""
    timed = result.get("latency") or {"rivals": {}, "stages": {}, "ranking": ""}
    spent = {**timed["rivals"], timed["ranking"]: timed["stages"].get("total")}.get(name)
    return number(spent["p50"] / 1000, 2) if spent else tables.NONE


def asked(result: Json, name: str) -> tuple[str, str]:
    """Calls and tokens of a language model, for the memories and for the questions."""
    spent = result["run"].get("asked", {}).get(name)
    if not spent:
        return "0", "0"
    both = [spent["ingest"], spent["query"]]
    tokens = (number(_tokens(part)) for part in both)
    return " / ".join(number(part["calls"]) for part in both), " / ".join(tokens)
