"""The rooms form layers: a file imports from its own room and those below, type-only imports included."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import smartsearch

ROOT = Path(smartsearch.__file__).parent
LAYERS = (
    *(
        "errors",
        "types",
        "runtime",
        "settings",
        "config",
        "text",
        "transcripts",
        "retrieve",
        "rank",
        "models",
    ),
    *("llm", "systems", "output", "ask", "training", "bench", "serve", "cli", "__main__"),
)
"""Rooms and files at the top of the package, the lowest first."""


IMPORT = re.compile(r"^ *(from smartsearch\S* import (?:\([^)]*\)|.*)|import smartsearch.*)", re.MULTILINE)


@cache
def imports(path: Path) -> list[list[str]]:
    """The modules of the package that a file names, inside functions too."""
    return list(named("\n".join(IMPORT.findall(path.read_text(encoding="utf-8")))))


def named(source: str) -> Iterator[list[str]]:
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "smartsearch":
            yield from (f"{node.module}.{alias.name}".split(".")[1:] for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (a.name.split(".")[1:] for a in node.names if a.name.startswith("smartsearch."))


def test_rooms_import_downwards_only():
    wrong = []
    for path in sorted(ROOT.rglob("*.py")):
        inside = path.relative_to(ROOT).with_suffix("").parts
        if inside == ("__init__",):
            continue
        assert inside[0] in LAYERS, f"{path} has no place in the layout"
        for used in imports(path):
            if used[0] in LAYERS and LAYERS.index(used[0]) > LAYERS.index(inside[0]):
                wrong.append(f"{'.'.join(inside)} imports {'.'.join(used)}")
    assert not wrong


def modules():
    """Every module by its dotted name without the package's."""
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def test_no_circle_of_files():
    known = dict(modules())
    graph = {}
    for name, path in known.items():
        named = [".".join(used) for used in imports(path)]
        graph[name] = {use if use in known else use.rpartition(".")[0] for use in named} & set(known) - {""}
    done: set[str] = set()

    def walk(name: str, above: tuple[str, ...]):
        assert name not in above, " -> ".join((*above[above.index(name) :], name))
        if name not in done:
            for used in sorted(graph[name]):
                walk(used, (*above, name))
            done.add(name)

    for name in sorted(graph):
        walk(name, ())


def test_the_two_scorers_do_not_know_each_other():
    for one, other in (("crossencoder", "colbert"), ("colbert", "crossencoder")):
        assert f"rank.{other}" not in (ROOT / "rank" / f"{one}.py").read_text(encoding="utf-8")


def test_nothing_but_output_prints():
    for path in ROOT.rglob("*.py"):
        inside = path.relative_to(ROOT).parts[0].removesuffix(".py")
        source = path.read_text(encoding="utf-8")
        if inside not in ("output", "training") and re.search(r"\bprint\(", source):
            calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
            assert not [call for call in calls if getattr(call.func, "id", "") == "print"], path


GUESTS = sorted(path.name for path in (ROOT / "systems").iterdir() if (path / "settings.py").is_file())
VERBS = {
    "cli.qrranker": "qrranker",
    "training.listwise": "qrranker",
    "cli.memorag": "memorag",
    "training.memorag": "memorag",
    "training.clue_data": "memorag",
}
"""Modules beside a system's folder that belong to it: its verb, and what that verb trains."""


def test_no_system_imports_another_and_nothing_else_imports_one():
    assert GUESTS
    wrong = []
    for name, path in modules():
        home = VERBS.get(name, name.split(".")[1] if name.startswith("systems.") else "")
        source = path.read_text(encoding="utf-8")
        dotted = [f"systems.{found}" for found in re.findall(r"smartsearch\.systems\.(\w+)", source)]
        for used in {*dotted, *(".".join(used[:2]) for used in imports(path))}:
            guest = used.removeprefix("systems.")
            if used.startswith("systems.") and guest in GUESTS and guest != home and name != "systems":
                wrong.append(f"{name} imports {used}")
    assert not wrong


def test_one_search_alone_cuts_and_orders_what_systems_find():
    """Behind the door: `systems.answer`."""
    for path in (ROOT / "systems").rglob("*.py"):
        if path != ROOT / "systems" / "__init__.py":
            source = path.read_text(encoding="utf-8")
            assert "rank.truncate import" not in source, path
            assert "config.order" not in source, path
