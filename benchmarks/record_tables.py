"""The tables of a record that its page and the report of results show, and no terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from smartsearch.bench.tables import Json, Table, micro, number, ranking, share

STANDARD = ("ndcg@10", "mrr@100", "map@100")


def levels(rows: Sequence[Json]) -> Table:
    """Recall at each depth by turn, chunk and session, and the standard measures; one line a ranking."""
    depths = (1, 3, 5, 10)
    turns, sessions = ([f"{level}@{depth}" for depth in depths] for level in ("turn", "session"))
    chunks = [f"chunk@{depth}" for depth in depths[1:]]
    lines = {
        ranking(row): (
            *(share(micro(row, name)) for name in turns),
            *(share(row["recall"].get(name, {}).get("macro")) for name in chunks),
            *(share(micro(row, name)) for name in sessions),
            *(share(row.get(name)) for name in STANDARD),
        )
        for row in rows
    }
    caption = (
        "Recall in the first 1, 3, 5 and 10: of gold turns, micro; of the chunks of at most 258 tokens that "
        "hold one, the mean over questions (QRRanker paper, table 2); of the sessions that hold one, micro. "
        "nDCG, MRR and MAP are of turns, as trec_eval has them."
    )
    head = ("ranking", *turns, *(f"{name} macro" for name in chunks), *sessions, *STANDARD)
    return Table("Turns, chunks, sessions", head, tuple((k, *v) for k, v in lines.items()), caption)


def receipt(result: Json) -> Table:
    """Data, code, models, machine and command of the record."""
    data = {key: result["dataset"][key] for key in ("name", "format", "path", "sha256")}
    told = {"data": data, "questions": result["questions"], "gold": result["gold"], **result["run"]}
    models = {f"model: {model['role']}": model for model in told.pop("models")}
    lines = tuple((name, _told(value)) for name, value in (told | models).items())
    return Table("Receipt", ("what", "value"), lines)


def _told(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {inner}" for name, inner in value.items()) or "none"
    return str(value)


def dropped(result: Json) -> Table | None:
    """What the reader left out of the data, by reason; None if nothing."""
    found = result["dataset"]["dropped"]
    lines = tuple((reason, number(len(what)), _some(what)) for reason, what in found.items())
    head = ("reason", "count", "which")
    return Table("Left out of the data", head, lines) if lines else None


def _some(named: Sequence[str], most: int = 12) -> str:
    more = f", and {len(named) - most:,} more" if len(named) > most else ""
    return ", ".join(named[:most]) + more
