"""No regular expression of the package takes more than linear time, whatever text it meets."""

import ast
import importlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import NamedTuple

import pytest

import smartsearch
from tests.ambiguity import faults

ROOT = Path(smartsearch.__file__).parent
FLAGS_AT = {"compile": 1, "sub": 4, "subn": 4, "split": 3}  # and 2 for those that only look
AT_START = frozenset(("match", "fullmatch"))
EXCUSED = {
    **dict.fromkeys(
        (
            *("transcripts.formats.jsontext._COMMENT", "transcripts.formats.jsontext._LAST_COMMA"),
            "transcripts.formats.jsontext._BRACKET",
        ),
        "a quote is found in any case, up to the end of the text",
    ),
    "text.redact.keys._JWT": "two characters before it say that it begins where a word does",
    "text.redact.keys._PEM": "what has begun is found in any case, up to the end of the text",
    "training.questions.WHEN": "a statement's first 22 words",
    "training.questions.WHY": "a statement's first 22 words",
    "training.questions.TAIL": "a statement's first 22 words",
    "training.sources_written.PHOTO": "files of our own",
}
"""What looks as if it took quadratic time, and why it does not."""


MADE = {
    *("text/redact/named.py: pattern", "text/redact/named.py: name"),
    *("text/tagging/words.py: self._patterns[kind]", "text/tagging/words.py: tables['unusual']"),
    "transcripts/formats/heads.py: ''.join(written) + ('' if part.endswith('TEXT') else '\\\\s*')",
}
"""Patterns that a function is given: found in tables that it makes, spaCy's own, a head's marks, escaped."""


class Used(NamedTuple):
    """A pattern and how it is used: from any place on, or whole."""

    pattern: str
    flags: int
    search: bool
    whole: bool


def calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """Calls of the module `re`."""
    for node in walked(tree):
        called = node.func if isinstance(node, ast.Call) else None
        if (
            isinstance(called, ast.Attribute)
            and isinstance(called.value, ast.Name)
            and called.value.id == "re"
        ):
            yield called.attr, node


def written(module: ModuleType, tree: ast.AST) -> Iterator[tuple[str, Used]]:
    """Patterns that stand in a call of `re`, as far as they are made of what the module holds."""
    for method, call in calls(tree):
        if method in ("escape", "compile"):
            continue
        at = FLAGS_AT.get(method, 2)
        given = [k.value for k in call.keywords if k.arg == "flags"] or call.args[at : at + 1]
        try:
            pattern, *flags = (eval(ast.unparse(part), vars(module)) for part in (call.args[0], *given))
        except NameError:
            continue
        yield (
            f"line {call.lineno}",
            Used(pattern, int(sum(flags)), method not in AT_START, method == "fullmatch"),
        )


def held(name: str, value: object, depth: int = 6) -> Iterator[tuple[str, re.Pattern]]:
    """Compiled patterns that can be reached from a value, each under the name that it is used by."""
    if isinstance(value, re.Pattern):
        yield name, value
    elif isinstance(value, FunctionType):
        cells = zip(value.__code__.co_freevars, value.__closure__ or (), strict=True)
        for inner, cell in cells if depth else ():
            yield from held(inner, cell.cell_contents, depth - 1)
    elif depth and isinstance(value, (dict, list, tuple)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from held(name, one, depth - 1)
    elif depth and type(value).__module__.startswith("smartsearch"):
        for key, one in vars(value).items() if hasattr(value, "__dict__") else ():
            yield from held(f".{key}", one, depth - 1)


@cache
def attributes() -> dict[str, set[str]]:
    """The methods of what is an attribute: `.pattern` has `match` of `joint.pattern.match(x)`."""
    used: dict[str, set[str]] = {}
    for node in (node for tree in trees().values() for node in walked(tree)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
            used.setdefault(f".{node.value.attr}", set()).add(node.attr)
    return used


def compiled(module: ModuleType, tree: ast.AST) -> Iterator[tuple[str, Used]]:
    """Patterns that the module holds; one that is only matched from a text's start begins nowhere else."""
    used = dict(attributes())
    for node in walked(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            used.setdefault(node.value.id, set()).add(node.attr)
    for key, value in vars(module).items():
        for name, found in held(key, value):
            methods = used.get(name, {"search"})
            text = found.pattern if isinstance(found.pattern, str) else found.pattern.decode("latin-1")
            search = not methods <= AT_START
            yield key, Used(text, found.flags & ~re.UNICODE, search, "fullmatch" in methods)


@cache
def walked(tree: ast.AST) -> list[ast.AST]:
    return list(ast.walk(tree))


@cache
def trees() -> dict[Path, ast.Module]:
    """Every file that uses `re`."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(ROOT.rglob("*.py"))}
    return {path: ast.parse(text) for path, text in texts.items() if "import re\n" in text}


@cache
def patterns() -> dict[str, tuple[Used, ...]]:
    """Every pattern of the package by its module and name."""
    found: dict[str, dict[Used, None]] = {}
    for path, tree in trees().items():
        name = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as missing:  # where there is no torch, nothing of such a module can run
            if missing.name != "torch":
                raise
            continue
        for key, used in (*written(module, tree), *compiled(module, tree)):
            found.setdefault(f"{name.removeprefix('smartsearch.')}.{key}", {})[used] = None
    return {name: tuple(used) for name, used in found.items()}


@pytest.mark.parametrize(
    ("pattern", "search", "linear"),
    [
        *((r"(a+)+$", False, False), (r"(?:ab|a|b)*x", False, False), (r"\s*\s*x", False, False)),
        *((r"#\s+.{1,80}?[\s#]*$", False, False), (r".*foo.*bar", False, False), (r"\s+$", True, False)),
        *((r"\s+$", False, True), (r"\s+", True, True), (r"\w+x", True, False)),
        *((r"(?<!\w)\w+x", True, True), (r"\b\w+x", True, True), (r"(?m)^ +x", True, True)),
        *((r"(?m)^\W+x", True, False), (r"<[^<>]+>", True, True), (r"<.+>", True, False)),
        *((r"(?:\n>[^\n]*)*\n\n", False, True), (r"a.*", True, True), (r"(['\"]).{1,9}\1", True, True)),
        (r"(?s)BEGIN.*?(?:END|\Z)", True, True),
    ],
)
def test_what_takes_more_than_linear_time_is_told(pattern: str, search: bool, linear: bool):
    assert (not faults(pattern, search=search)) is linear


def test_no_pattern_is_ambiguous():
    excused = {used.pattern for name in EXCUSED for used in patterns().get(name, ())}
    found = {
        f"{name} {used.pattern!r}": said
        for name, all_used in patterns().items()
        for used in all_used
        if used.pattern not in excused and (said := faults(*used[:2], search=used.search, whole=used.whole))
    }
    assert len(patterns()) > 150
    assert not found


def test_what_stands_behind_the_name_of_a_secret_does_not_reach_over_the_next_name():
    """A joint is matched behind each name: a text of names alone must not be looked through each time."""
    joints = {
        used.pattern
        for name, all_used in patterns().items()
        if name.startswith("text.redact.names.")
        for used in all_used
        if not used.search
    }
    assert len(joints) > 10
    assert {joint: said for joint in joints if (said := faults(f"password(?:{joint})"))} == {}


def test_only_known_patterns_are_made_in_a_call():
    """A pattern that only a call knows cannot be checked here: it is made of escaped words, or of a table."""
    made = set()
    for path, tree in trees().items():
        for function in walked(tree):
            own = {arg.arg for arg in function.args.args} if isinstance(function, ast.FunctionDef) else set()
            for method, call in calls(function) if own else ():
                names = {node.id for node in ast.walk(call.args[0]) if isinstance(node, ast.Name)}
                if method != "escape" and names & own and "re.escape" not in ast.unparse(call.args[0]):
                    made.add(f"{path.relative_to(ROOT)}: {ast.unparse(call.args[0])}")
    assert made == MADE
