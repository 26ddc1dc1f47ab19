"""A file imports only from files above it in the layout of docs/design.md."""

from __future__ import annotations

import ast
from pathlib import Path

import smartsearch

ROOT = Path(smartsearch.__file__).parent
LAYERS = (
    *("types", "errors", "lean", "nearby", "redact", "relative_dates", "places", "outline", "hits"),
    *("xdg", "private", "config", "ending", "filters", "transcripts", "when", "parse", "retrieve", "rank"),
    *("compress", "truncate", "pipeline", "models", "training", "llm", "strategies", "ask", "deadline"),
    *("batch", "bench", "output", "answering", "warm", "mcp", "doctor", "options", "runs"),
    *("config_cli", "doctor_cli", "models_cli", "cache_cli", "index_cli", "accuracy_cli", "bench_cli"),
    *("train_cli", "serve_cli", "mcp_cli", "formats_cli", "show_cli", "runs_cli", "search_cli"),
    *("answer_cli", "cli", "__main__"),
)


def layer(module: str) -> int:
    return LAYERS.index(module)


def imports(path: Path):
    """Layers of the package that a file imports, inside functions too; typing-only imports are free."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        id(node)
        for guard in ast.walk(tree)
        if isinstance(guard, ast.If) and "TYPE_CHECKING" in ast.dump(guard.test)
        for node in ast.walk(guard)
    }
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("smartsearch"):
            parts = node.module.split(".")
            yield from [parts[1]] if len(parts) > 1 else [a.name for a in node.names if a.name in LAYERS]
        elif isinstance(node, ast.Import):
            yield from [a.name.split(".")[1] for a in node.names if a.name.startswith("smartsearch.")]


def test_every_file_has_a_layer_and_imports_upwards_only():
    wrong = []
    for path in sorted(ROOT.rglob("*.py")):
        relative = path.relative_to(ROOT)
        name = relative.parts[0].removesuffix(".py")
        if name == "__init__":
            continue
        assert name in LAYERS, f"{relative} has no place in the layout"
        wrong += [f"{relative} imports {used}" for used in imports(path) if layer(used) > layer(name)]
    assert not wrong


def test_the_two_scorers_do_not_know_each_other():
    for one, other in (("crossencoder", "colbert"), ("colbert", "crossencoder")):
        assert f"rank.{other}" not in (ROOT / "rank" / f"{one}.py").read_text(encoding="utf-8")


def test_nothing_but_output_prints():
    for path in ROOT.rglob("*.py"):
        inside = path.relative_to(ROOT).parts[0].removesuffix(".py")
        if inside not in ("output", "training"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            calls = [
                n for n in ast.walk(tree) if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "print"
            ]
            assert not calls, path
