"""Tool calls in one line."""

from __future__ import annotations

from typing import Any

import pytest

from smartsearch.transcripts.formats.tool_calls import caption


@pytest.mark.parametrize(
    ("tool", "given", "expected"),
    [
        ("Bash", {"description": "State", "command": "git status"}, "[Bash: git status]"),
        ("Edit", {"old_string": "a", "file_path": "/b.py"}, "[Edit: /b.py]"),
        ("Grep", {"path": "/src", "pattern": "unit"}, "[Grep: unit]"),
        ("shell", {"command": ["bash", "-lc", "ls  -l\n"]}, "[shell: ls -l]"),
        ("shell", {"command": ["tail", "-1", "kiln.log"]}, "[shell: tail -1 kiln.log]"),
        ("ask", {"questions": [{"options": ["a"], "question": "Which one?"}]}, "[ask: Which one?]"),
        ("web.run", {"search_query": [{"q": "tide table"}]}, "[web.run: tide table]"),
        ("wait", {"seconds": 5}, "[wait: 5]"),
        ("wait", {"flag": True, "list": [], "none": None}, "[wait]"),
        ("apply_patch", "*** Begin Patch\n+a", "[apply_patch: *** Begin Patch +a]"),
        ("", None, "[tool]"),
    ],
)
def test_the_most_telling_argument_is_shown(tool: str, given: Any, expected: str) -> None:
    assert caption(tool, given) == expected


def test_arguments_nested_without_end_are_survived() -> None:
    deep: Any = "x"
    for _ in range(5000):
        deep = [deep]
    assert caption("t", deep) == "[t]"
