"""Counts work, so that no test passes or fails by a clock.

`steps` counts the lines of Python that a call runs in its own thread, those of libraries included, and each
turn of a comprehension; what C functions do inside does not count. The number is the same each time, but
another in another version of Python: compare counts of one run, at n and at 4n.

`looking` counts what `steps` cannot see: the characters that methods of texts and patterns go through, slices
copy and `in` looks at, in a copy of a package whose calls are counted. What a pattern goes through before it
fails to match counts as one: that no pattern takes long there is for test_patterns.py.
"""

import ast
import importlib
import re
import sys
from collections.abc import Callable, Iterator, Sequence, Sized
from contextlib import contextmanager
from importlib.machinery import PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

FEW = 2_000
"""Steps that a growth may have beside what grows: imports, caches, the first call of something."""


def steps(call: Callable[..., object], *given: object) -> int:
    """The lines of Python that `call(*given)` runs."""
    count = 0

    def trace(_frame: object, event: str, _about: object) -> Callable:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call(*given)
    finally:
        sys.settrace(before)
    return count


class Looked:
    """How many characters were gone through so far."""

    def __init__(self) -> None:
        self.characters = 0

    def count(self, call: Callable[..., object], *given: object) -> int:
        """The lines of Python that `call(*given)` runs, and the characters that it goes through."""
        before = self.characters
        return steps(call, *given) + self.characters - before

    def _called(self, owner: Any, name: str, *given: Any, **named: Any) -> Any:
        """`owner.name(*given)`, counted if it goes through a text."""
        result = getattr(owner, name)(*given, **named)
        if isinstance(owner, re.Pattern):
            text = given[1] if name in ("sub", "subn") else given[0]
            at, end = _within(text, given[1:] if name in FIRST or name == "finditer" else ())
            if name == "finditer":
                return self._each(result, at, end)
            missed = end if name == "search" else at + 1
            self.characters += (result.end() if result else missed) - at if name in FIRST else end - at
        elif isinstance(owner, (str, bytes)):
            at, end = _within(owner, given[1:] if name in PLACES else ())
            if name in PLACES and result >= 0:
                at, end = (result, end) if name[0] == "r" else (at, result)
            self.characters += end - at
        return result

    def _each(self, found: Iterator[re.Match], at: int, end: int) -> Iterator[re.Match]:
        for one in found:
            self.characters += one.end() - at
            at = one.end()
            yield one
        self.characters += end - at

    def _part(self, owner: Any, part: slice) -> Any:
        """`owner[part]`, the copied characters counted."""
        result = owner[part]
        if isinstance(result, (str, bytes)):
            self.characters += len(result)
        return result

    def _holds(self, one: Any, owner: Any) -> bool:
        """`one in owner`, counted as `find`."""
        if isinstance(owner, (str, bytes)) and isinstance(one, (str, bytes)):
            return self._called(owner, "find", one) >= 0
        return one in owner


FIRST = ("search", "match", "fullmatch")
PLACES = ("find", "rfind", "index", "rindex")
WHOLE = (
    *("findall", "sub", "subn", "split", "rsplit", "splitlines", "partition", "rpartition", "count"),
    *("replace", "translate", "lower", "upper", "casefold", "strip", "lstrip", "rstrip", "join", "encode"),
)


def _within(text: Sized, places: Sequence[int | None]) -> tuple[int, int]:
    return slice(*(*places, None, None)[:2]).indices(len(text))[:2]


class _Counted(ast.NodeTransformer):
    """A module whose calls, slices and `in` go by way of `_looked`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        called = node.func
        if not isinstance(called, ast.Attribute) or called.attr not in (*FIRST, *PLACES, *WHOLE, "finditer"):
            return node
        return _by("_called", called.value, ast.Constant(called.attr), *node.args, named=node.keywords)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.slice, ast.Slice) or not isinstance(node.ctx, ast.Load):
            return node
        given = (node.slice.lower, node.slice.upper, node.slice.step)
        bounds = [part or ast.Constant(None) for part in given]
        return _by("_part", node.value, ast.Call(ast.Name("slice", ast.Load()), bounds, []))

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) > 1 or not isinstance(node.ops[0], (ast.In, ast.NotIn)):
            return node
        held = _by("_holds", node.left, node.comparators[0])
        return held if isinstance(node.ops[0], ast.In) else ast.UnaryOp(ast.Not(), held)


def _by(way: str, *given: ast.expr, named: Sequence[ast.keyword] = ()) -> ast.Call:
    looked = ast.Attribute(ast.Name("_looked", ast.Load()), way, ast.Load())
    return ast.Call(looked, list(given), list(named))


@contextmanager
def looking(package: str) -> Iterator[tuple[ModuleType, Looked]]:
    """A copy of a package whose work on texts is counted, and the count; what others hold stays as it is."""
    looked = Looked()

    def within(name: str) -> bool:
        return name == package or name.startswith(f"{package}.")

    class Loader(SourceFileLoader):
        def get_code(self, fullname: str) -> CodeType:
            tree = _Counted().visit(ast.parse(self.get_data(self.path)))
            return compile(ast.fix_missing_locations(tree), self.path, "exec")

        def exec_module(self, module: ModuleType) -> None:
            vars(module)["_looked"] = looked
            super().exec_module(module)

    class Finder(PathFinder):
        @classmethod
        def find_spec(cls, fullname, path=None, target=None):
            spec = super().find_spec(fullname, path, target) if within(fullname) else None
            if spec is not None:
                spec.loader = Loader(fullname, spec.origin)
            return spec

    importlib.import_module(package)
    kept = {name: sys.modules.pop(name) for name in list(sys.modules) if within(name)}
    sys.meta_path.insert(0, Finder)
    try:
        yield importlib.import_module(package), looked
    finally:
        sys.meta_path.remove(Finder)
        for name in [name for name in sys.modules if within(name)]:
            del sys.modules[name]
        sys.modules.update(kept)
        parent, _, last = package.rpartition(".")
        setattr(sys.modules[parent], last, kept[package])
