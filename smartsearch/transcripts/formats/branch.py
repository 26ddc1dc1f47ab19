"""The branch of a tree of messages that is current: edits and second answers leave others behind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple


class Node(NamedTuple):
    """A message of a tree: its id, its parent's, and its time (ISO)."""

    name: str
    parent: str
    time: str


def chain(parents: Mapping[str, str], leaf: str) -> list[str]:
    """The ids from the root to `leaf`, each the parent of the next; a circle is followed once."""
    found: dict[str, None] = {}
    at = leaf
    while at in parents and at not in found:
        found[at] = None
        at = parents[at]
    return list(found)[::-1]


def latest_leaf(parents: Mapping[str, str], times: Mapping[str, str]) -> str:
    """The leaf whose branch has the latest time (ISO) in it; the last one of several, "" of none at all."""
    inner = set(parents.values())
    leaves = [one for one in parents if one not in inner] or list(parents)[-1:]
    latest: dict[str, str] = {}
    for leaf in leaves:
        above: dict[str, None] = {}
        at = leaf
        while at in parents and at not in latest and at not in above:
            above[at] = None
            at = parents[at]
        for one in reversed(above):
            latest[one] = max(times.get(one, ""), latest.get(parents[one], ""))
    return max(reversed(leaves), key=lambda leaf: latest[leaf], default="")


def shown(nodes: Sequence[Node], leaf: str = "") -> Sequence[int]:
    """The indices of the branch to `leaf`, or the latest, or all where the nodes do not form one tree.

    They do not where an id is missing or there twice, or where two have no parent, unless they name the same.
    """
    numbers = {node.name: n for n, node in enumerate(nodes)}
    roots = {node.parent or node.name for node in nodes if node.parent not in numbers}
    if "" in numbers or len(numbers) < len(nodes) or len(roots) != 1:
        return range(len(nodes))
    parents = {node.name: node.parent for node in nodes}
    last = leaf if leaf in parents else latest_leaf(parents, {node.name: node.time for node in nodes})
    return [numbers[name] for name in chain(parents, last)]


def parent_of(record: Mapping[str, object], key: str) -> str:
    """The id of a record's parent under `key` as `current` takes it: "" for null, else one that is none."""
    found = record.get(key, 0)
    return "" if found is None else found if isinstance(found, str) and found else "?"


def current(records: Iterable[tuple[str, str]]) -> set[str]:
    """The ids on the branch of the last record of a log, in which each has an id and that of its parent.

    A parent that is not there stands for the record before, as its line may be broken; "" for none.
    """
    parents: dict[str, str] = {}
    before = ""
    for own, parent in records:
        if own not in parents:
            parents[own] = parent if not parent or parent in parents else before
        before = own
    return set(chain(parents, before))
