"""The branch of a tree of messages that is current: edits and second answers leave others behind."""

from __future__ import annotations

from collections.abc import Mapping


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


def current(parents: Mapping[str, str], times: Mapping[str, str], leaf: str = "") -> list[str]:
    """The ids of the current branch, from its root to `leaf`, or to the latest leaf where that is none."""
    return chain(parents, leaf if leaf in parents else latest_leaf(parents, times))
