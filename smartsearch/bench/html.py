"""A benchmark's results as one HTML page: no script, nothing from the network, light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from smartsearch.bench import tables
from smartsearch.bench.measures import TOP
from smartsearch.bench.plots import Plot, plots
from smartsearch.bench.tables import Json, Table


@dataclass(frozen=True)
class Section:
    """One result on the page; `open_tables` are in view at once, `more` unfold."""

    name: str
    key: str
    lead: str
    facts: tuple[tuple[str, str], ...]
    plots: tuple[Plot, ...]
    open_tables: tuple[Table, ...]
    more: tuple[Table, ...]
    notes: tuple[str, ...]
    command: str
    reference: str


def page(results: Sequence[Json]) -> str:
    """The page as a string, the same for the same results. Needs matplotlib and Jinja2."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("smartsearch.bench", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    sections = [_section(result, f"r{place}") for place, result in enumerate(results, start=1)]
    return environment.get_template("page.html.jinja").render(sections=sections)


def _section(result: Json, key: str) -> Section:
    base, asked = tables.reference(result), result["questions"]
    made = [tables.categories(base), tables.readings(base)] if base else []
    made += tables.details(result)
    more = [tables.losses(result["rows"]), tables.levels(result["rows"]), tables.dropped(result)]
    return Section(
        name=result["dataset"]["name"],
        key=key,
        lead=(
            f"{asked['asked']:,} questions, {asked['with_gold']:,} of them with gold: "
            f"{result['gold']['turn']:,} turns. "
            f"{tables.short(result['passages_a_question'])} passages to search a question."
        ),
        facts=tuple(_facts(base)) if base else (),
        plots=tuple(plots(result)),
        open_tables=(tables.rows(result), *made),
        more=tuple(table for table in (*more, tables.receipt(result)) if table is not None),
        notes=tuple(result["dataset"]["notes"]),
        command=result["run"]["command"],
        reference=base["name"] if base else "",
    )


def _facts(row: Json) -> list[tuple[str, str]]:
    """The reference row's figures that head the page."""
    top = f"turn@{TOP}"
    return [
        (tables.percent(tables.micro(row, "retrieved")), "of the gold turns are candidates"),
        (tables.percent(tables.micro(row, top)), f"are ranked in the top {TOP}"),
        (tables.percent(tables.micro(row, "kept")), "are left after the cut"),
        (tables.short(row["first"]["median"]), "median rank of the first gold turn"),
        (tables.number(row["words"]), "words of context a question"),
    ]
