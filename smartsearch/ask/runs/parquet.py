"""The JSON records of a run as Parquet: columns for the fields that users need most, and the whole record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, BinaryIO

ROWS = 1_000
"""Records in a row group, fewer where they are long: what is held in memory at once."""
BYTES = 1 << 26
"""Bytes of JSON that close a row group."""
_PLACE = ("path", "line", "pointer", "conversation", "session", "turn")
_SAID = ("speaker", "time", "text")
_SCORES = ("match", "ce", "colbert", "rrf", "fused")
_ERROR = ("kind", "message", "hint")


@cache
def schema() -> Any:
    """The `pyarrow.Schema` of the files; it grows at the end only (docs/cli.md, schema version 1).

    `record` is the JSON line, so the columns lose nothing: in it an id that is a number still is one.
    """
    import pyarrow as pa

    text, whole, real = pa.string(), pa.int64(), pa.float64()
    hit = pa.struct(
        [
            ("rank", whole),
            *((name, whole if name == "line" else text) for name in (*_PLACE, *_SAID)),
            *((name, real) for name in _SCORES),
        ]
    )
    error = pa.struct([*((name, text) for name in _ERROR), ("retryable", pa.bool_())])
    return pa.schema(
        [
            pa.field("id", text),
            pa.field("line", whole),
            pa.field("query", text),
            pa.field("profile", text),
            pa.field("candidates", whole),
            pa.field("used_words", whole),
            pa.field("used_tokens", whole),
            pa.field("total_ms", real),
            pa.field("hits", pa.list_(hit)),
            pa.field("error", error),
            pa.field("record", text, nullable=False),
        ]
    )


def write(records: Iterable[bytes], out: BinaryIO) -> None:
    """Write the records, a JSON object each, as one file in their order.

    The same records give the same bytes under one version of pyarrow. `out` stays open. Raises ValueError
    for a record that is not a JSON object, and what `out` raises.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetWriter(out, schema(), compression="zstd") as file:
        for rows in _groups(records):
            file.write_batch(pa.RecordBatch.from_pylist(rows, schema=schema()))


def _groups(records: Iterable[bytes]) -> Iterator[list[dict[str, Any]]]:
    rows: list[dict[str, Any]] = []
    held = 0
    for record in records:
        rows.append(row(record))
        held += len(record)
        if len(rows) >= ROWS or held >= BYTES:
            yield rows
            rows, held = [], 0
    if rows:
        yield rows


def row(raw: bytes) -> dict[str, Any]:
    """One record as a row; null where it does not say. Raises ValueError for anything but a JSON object."""
    import orjson

    record = orjson.loads(raw)
    if not isinstance(record, dict):
        raise ValueError("not a JSON object")  # noqa: TRY004 - bad data, as orjson's own error
    budget, identity = record.get("budget") or {}, record.get("id")
    hits = [hit | (hit.get("scores") or {}) for hit in record["hits"]] if "hits" in record else None
    return record | {  # the schema leaves out what is not a column
        "id": None if identity is None else str(identity),
        "used_words": budget.get("used_words"),
        "used_tokens": budget.get("used_tokens"),
        "total_ms": (record.get("timing_ms") or {}).get("total"),
        "hits": hits,
        "record": raw.rstrip(b"\r\n").decode(),
    }
