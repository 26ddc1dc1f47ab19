"""The rivals that run beside us, by name or from a Python file of the user's.

Such a file defines `NAME`, `build(corpus)` and, optionally, `DESCRIPTION`. `build` returns a function from a
question to one score a turn, float, shape (turns,), higher better; all turns are ranked by it, ties in corpus
order.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartsearch.bench.store import digest
from smartsearch.errors import InputError, SmartsearchError, UsageError
from smartsearch.runtime import extras
from smartsearch.systems import baselines
from smartsearch.systems.baselines import BASELINES, Scorer
from smartsearch.types import Corpus


@dataclass(frozen=True)
class Rival:
    """A rival ready to run. `build` checks what the rival's own returns; `version` changes with its code."""

    name: str
    description: str
    build: Callable[[Corpus], Scorer]
    version: str


def available() -> list[str]:
    """The names of the rivals that come with smartsearch, sorted."""
    return sorted(BASELINES)


def load(names: Sequence[str]) -> list[Rival]:
    """The rivals of these names in this order, each once; a name that ends in `.py` is a file of the user's.

    Raises UsageError for a name or file there is not and for two rivals called the same, InputError for
    a file that is no rival, SmartsearchError (kind "package") where a package is missing.
    """
    rivals = [_own(name) if name.endswith(".py") else _shipped(name) for name in dict.fromkeys(names)]
    seen: set[str] = set()
    for rival in rivals:
        if rival.name in seen:
            raise UsageError(f"two rivals are called {rival.name!r}", hint="change NAME in your file")
        seen.add(rival.name)
    return rivals


def _shipped(name: str) -> Rival:
    if name not in BASELINES:
        raise UsageError(
            f"there is no rival {name!r}",
            hint=f"one of {', '.join(available())}; or the path of your own file, ending in .py",
        )
    found = BASELINES[name]
    for extra in found.extras:
        extras.require(extra, f"the rival {name}")
    version = digest(name, inspect.getsource(baselines))
    return Rival(name, found.description, _checked(name, found.build), version)


def _own(name: str) -> Rival:
    path = Path(name)
    if not path.is_file():
        raise UsageError(f"there is no file {name}", hint="the path of a Python file, or a rival's name")
    module = _run(path, name)
    title, build = getattr(module, "NAME", None), getattr(module, "build", None)
    if not isinstance(title, str) or not title:
        raise InputError(f"{path} is no rival: it defines no NAME", hint='NAME = "mine"', kind="rival")
    if not callable(build):
        raise InputError(
            f"{path} is no rival: it defines no function build",
            hint="def build(corpus): returns a function from a question to one score a turn",
            kind="rival",
        )
    version = digest(path.read_text(encoding="utf-8"), inspect.getsource(baselines))
    return Rival(title, str(getattr(module, "DESCRIPTION", "")), _checked(title, build), version)


def _run(path: Path, name: str) -> ModuleType:
    """The module of a file, run anew at every call."""
    title = f"smartsearch_rival_{path.stem}"
    spec = importlib.util.spec_from_file_location(title, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path} cannot be loaded as Python", kind="rival")
    module = importlib.util.module_from_spec(spec)
    sys.modules[title] = module  # dataclasses look their module up by name
    with _named(name):
        spec.loader.exec_module(module)
    return module


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Whatever goes wrong in a rival's code is an error that names the rival."""
    try:
        yield
    except SmartsearchError:
        raise
    except ModuleNotFoundError as error:
        package = error.name or str(error)
        said = f"the rival {name} needs the package {package}"
        raise SmartsearchError(said, hint=extras.installing(package), kind="package") from error
    except Exception as error:
        raise InputError(
            f"the rival {name} failed: {type(error).__name__}: {error}",
            hint="leave it out, or mend its file",
            kind="rival",
        ) from error


def _checked(name: str, build: Callable[[Corpus], Callable[[str], Any]]) -> Callable[[Corpus], Scorer]:
    """`build` with every answer checked: one number a turn."""

    def checked(corpus: Corpus) -> Scorer:
        with _named(name):
            answer = build(corpus)

        def score(question: str) -> NDArray[np.float64]:
            with _named(name):
                scores = np.asarray(answer(question), dtype=np.float64)
            if scores.shape != (len(corpus.turns),):
                found = f"returned shape {scores.shape} for {len(corpus.turns)} turns"
                raise InputError(f"the rival {name} {found}", hint="one score a turn", kind="rival")
            if np.isnan(scores).any():
                raise InputError(
                    f"the rival {name} returned NaN for {question!r}",
                    hint="-inf puts a turn last",
                    kind="rival",
                )
            return scores

        return score

    return checked
