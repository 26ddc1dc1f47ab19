"""Holds what a command prints to the contract: every key that is there is declared, and of its type."""

import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from smartsearch.cli.schema import tools
from smartsearch.output import contract

OPEN = ("Scores", "Drops", "Heads", "HeldMemory", "Part", "Trained")
"""Records that may have more keys, by name."""
TOLD_BY = {
    **{"error": "error", "rank": "hit", "answer": "answer", "messages": "prompt", "conversations": "show"},
    **{"findings": "doctor", "hits": "query", "usable": "train", "counts": "train", "files": "detect"},
    **{"servers": "serve", "settings": "config", "memories": "memory", "recall": "qrranker"},
    **{name: name for name in ("cache", "index", "models", "formats", "places", "memory")},
}
"""Replies by a key that only they have, or that those below lack."""


@cache
def validator(name: str) -> Draft202012Validator:
    """The schema of a reply in which no key is allowed that it does not name."""
    whole = tools() if name == "mcp" else contract.schema(name)
    for title, one in {"": whole, **whole.get("$defs", {})}.items():
        if "properties" in one and title not in OPEN:
            one["additionalProperties"] = False
    Draft202012Validator.check_schema(whole)
    return Draft202012Validator(whole)


def reply_of(record: dict[str, Any]) -> str:
    """Whose reply a record is, by its keys; empty for one that the contract does not name."""
    if "id" in record:
        return "batch"
    return next((name for key, name in TOLD_BY.items() if key in record), "")


def hold(record: dict[str, Any], name: str = "") -> None:
    """Fail where a record is not as the contract says, or is of a command that the contract does not name."""
    name = name or reply_of(record)
    assert name or "$schema" in record or record.get("kind") == "smartsearch bench", sorted(record)
    if name:
        for fault in validator(name).iter_errors(record):
            raise AssertionError(f"{name}: {fault.json_path}: {fault.message[:300]}")


def hold_lines(out: str) -> None:
    """The same for all that a command printed, where it is JSON."""
    if out.startswith("{"):
        try:
            records = [json.loads(out)]
        except ValueError:
            try:
                records = list(map(json.loads, out.splitlines()))
            except ValueError:
                return
        for record in records:
            hold(record)
