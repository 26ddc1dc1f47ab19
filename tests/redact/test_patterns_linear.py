"""No pattern of masking is ambiguous: tests/ambiguity.py tells it from the pattern alone, without a clock."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator

from smartsearch.text.redact import keys, named, names, numbers, page, repeats, together, values
from tests.ambiguity import faults

MODULES = (keys, named, names, numbers, page, repeats, together, values)
EXCUSED = (
    "BEGIN [A-Za-z0-9 ]{0,40}",  # goes to the end of the text, where no other begins
    "yJ[A-Za-z0-9_-]{8,4000}",  # bounded, and begins behind what is no part of one
)


def held(value: object, seen: set[int], *, joint: bool = False) -> Iterator[tuple[re.Pattern[str], bool]]:
    """The patterns that a value leads to, and whether each is only matched at a given place."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, re.Pattern):
        yield value, joint
    elif isinstance(value, dict):
        for one in value.values():
            yield from held(one, seen, joint=joint)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from held(one, seen, joint=joint)
    elif cells := getattr(value, "__closure__", None):
        for cell in cells:
            yield from held(cell.cell_contents, seen, joint=joint)
    elif type(value).__module__.startswith("smartsearch"):
        for one in gc.get_referents(value):
            yield from held(one, seen, joint=isinstance(value, named.Joint))


def test_no_pattern_of_masking_is_ambiguous():
    seen: set[int] = set()
    found = {}
    for module in MODULES:
        for name, value in vars(module).items():
            matched = module in (named, values) or name in ("_ITEM", "_REST")
            for pattern, joint in held(value, seen):
                said = faults(pattern.pattern, pattern.flags & ~re.UNICODE, search=not (joint or matched))
                found[pattern.pattern] = said
    assert len(found) > 250
    ambiguous = {p: said for p, said in found.items() if said and not any(one in p for one in EXCUSED)}
    assert not ambiguous
