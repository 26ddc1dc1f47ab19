"""The rooms form layers: a file imports from its own room and those below, type-only imports included."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import smartsearch

ROOT = Path(smartsearch.__file__).parent
LAYERS = (
    *(
        *("errors", "types", "runtime", "settings", "config", "text", "transcripts", "retrieve", "rank"),
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


CITED = re.compile(
    r"(?<!its )(?<!QRRanker )(?<!xMemory )\b[Pp]aper(?:'s(?= table| appendix))?,? \(?"
    r"((?:section |tables? )?\d+(?:\.\d+)?|appendix [A-D])"
)
"""A place in SmartSearch's paper; that of another system is called `its paper`, or by name."""


def test_the_paper_is_cited_as_docs_paper_md_has_it():
    """One table knows its sections and where each is done; a file cites only those that name it."""
    checkout = ROOT.parent
    where: dict[str, list[str]] = {}
    for row in re.findall(
        r"^\| ([\dta][^|]*) \|[^|]*\| (`[^|]*) \|$", (checkout / "docs/paper.md").read_text(), re.M
    ):
        kind = ""
        for place in row[0].split(", "):
            kind = place.partition(" ")[0] + " " if " " in place else kind
            where.setdefault(kind + place.removeprefix(kind), []).extend(re.findall(r"`([^`]+)`", row[1]))
    for places in where.values():
        assert all((ROOT / file).exists() or (checkout / file).exists() for file in places)
    cited = 0
    for folder in ("smartsearch", "recipe"):
        for path in (checkout / folder).rglob("*.py"):
            inside = str(path.relative_to(ROOT if folder == "smartsearch" else checkout))
            for place in CITED.findall(path.read_text(encoding="utf-8")):
                cited += 1
                assert inside.startswith(tuple(where.get(place, ()))), f"{inside} cites {place}"
    assert cited > 20


def test_what_a_scorer_does_is_declared():
    """A scorer is a record: nothing is looked up by name. Settings of foreign models, in `hub/`, may be."""
    for path in [*(ROOT / "rank").glob("*.py"), *(ROOT / "models").glob("*.py")]:
        found = re.findall(
            r"\b(?:get|has)attr\((?!torch,|self\.network\.config,|(?:task\.)?config,|import_module).*",
            path.read_text(encoding="utf-8"),
        )
        assert not found, f"{path.name}: {found}"


GUESTS = sorted(path.name for path in (ROOT / "systems").iterdir() if (path / "settings.py").is_file())
VERBS = {"cli.qrranker": "qrranker", "training.listwise": "qrranker"}
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
