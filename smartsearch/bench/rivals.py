"""Runs rival systems: of the registry by name, or a Python file of the user's.

A file of the user's defines `NAME` and `build(corpus)`, which
returns a function from a question to one score per turn, float, shape (turns,), higher better; all turns are
ranked by it, ties in corpus order. `qrmem:te` is a system in one of its ways.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from smartsearch import systems
from smartsearch.bench.store import corpus_digest, digest
from smartsearch.bench.types import BenchQuestion
from smartsearch.config import FIELDS, Config, check
from smartsearch.errors import ConfigError, InputError, SmartsearchError, UsageError
from smartsearch.llm import Spent
from smartsearch.models import minilm
from smartsearch.models.tools import Tools
from smartsearch.rank.bm25 import Scorer
from smartsearch.retrieve.grep import Haystack
from smartsearch.runtime import extras
from smartsearch.systems import baselines
from smartsearch.systems.base import Asking, Card, Memory, Plan, System, quietly
from smartsearch.systems.baselines import Plain
from smartsearch.types import Corpus


@dataclass(frozen=True)
class Rival:
    """A system whose name is known to be right; `open` loads it, given our settings and models.

    `asks`: it asks a language model.
    """

    name: str
    open: Callable[[Config, Tools], System]
    asks: bool = False


def available(*, installed: bool = False) -> list[str]:
    """The names of the plain searches, sorted: all, or the `installed` ones, which can run."""
    return [
        name
        for name, card in baselines.CARDS.items()
        if not (installed and any(map(extras.lacking, card.extras)))
    ]


def load(names: Sequence[str], *, llm: bool = False, config: Config | None = None) -> list[Rival]:
    """The rivals of these names in this order, each once; a name that ends in `.py` is a file of the user's.

    With `llm` those whose papers have a language model ask one. QRRanker is called so where the heads of the
    `config` were trained.

    Raises UsageError for a name or file there is not and for two rivals called the same, InputError for a
    file without a rival, SmartsearchError (kind "package") where a package is missing.
    """
    rivals = [
        _own(name) if name.endswith(".py") else _registered(name, llm, config or Config())
        for name in dict.fromkeys(names)
    ]
    if llm and not any(systems.card(name.partition(":")[0]).llm for name in names if name in systems.SYSTEMS):
        raise UsageError("--llm: no rival asks a language model", hint="--rival xmemory,qrmem")
    seen: set[str] = set()
    for rival in rivals:
        if rival.name in seen:
            raise UsageError(f"two rivals are called {rival.name!r}", hint="change NAME in your file")
        seen.add(rival.name)
    return rivals


@dataclass(frozen=True)
class Ingest:
    """The cost of making a memory: seconds, and use of a language model."""

    seconds: float
    spent: Spent


class Running:
    """A rival over one haystack: scores every turn, or those that it finds.

    `folder` is where systems may keep what was costly to make. `told` is what its memory tells a reader of
    the last question before the turns.
    """

    def __init__(self, system: System, haystack: Haystack, config: Config, folder: Path) -> None:
        self.system, self._haystack, self.told = system, haystack, list[str]()
        llm = system.card.needs == "llm"
        self._whole = replace(config, system=system.card.name, llm=llm, truncate="none", limit=0, whole=True)
        self._root = folder / "systems"
        kept = self._root / f"{system.card.name}{'-llm' if llm else ''}"
        self._folder = kept / corpus_digest(haystack.corpus)[:16] if system.card.keeps else None

    @property
    def memory(self) -> Memory:
        """The memory, made before the first question."""
        return self._made[0]

    @property
    def ingest(self) -> Ingest | None:
        """The cost of the memory, in this run or in those that made it; None if it was not noted."""
        return self._made[1]

    @property
    def bytes(self) -> int:
        """Bytes of the finished memory on disk."""
        files = self._folder.rglob("*") if self._folder else ()
        return sum(path.stat().st_size for path in files if path.is_file())

    @property
    def spent(self) -> Spent:
        """The system's use of a language model so far, over all haystacks."""
        return cast("Asking", self.system).asker.spent if self.system.card.needs == "llm" else Spent()

    @cached_property
    def _made(self) -> tuple[Memory, Ingest | None]:
        """The memory and its cost, noted as it grows, for later runs that find it made."""
        card, of = self.system.card, digest(self.system.fingerprint, self._code)
        keeps = card.keeps  # a new memory replaces the old one
        place = digest(card.name, card.needs, "" if keeps else of, corpus_digest(self._haystack.corpus))
        notes = self._root / f"{place}.json"
        known = taken = _noted(notes, of) if not self._folder or self._folder.exists() else None
        before, spent = known or Ingest(0.0, Spent()), self.spent
        if known is None:
            minilm.embedder().forget()  # else a rival's embeddings would be free for the next
        began = time.perf_counter()

        def note(_done: int, _of: int) -> None:
            nonlocal taken
            seconds = before.seconds + time.perf_counter() - began
            taken = Ingest(seconds, before.spent + (self.spent - spent))
            part = notes.with_suffix(".part")
            part.write_text(json.dumps({"of": of, **asdict(taken)}), "utf-8")
            part.replace(notes)

        (self._folder or self._root).mkdir(parents=True, exist_ok=True)
        memory = self.system.prepare(self._haystack, self._folder, note if keeps or not known else quietly)
        if taken is not known or not (keeps or known):
            note(1, 1)
        return memory, taken

    def plans(self) -> tuple[Plan, Plan]:
        """Estimates of what the memory and a question will send to a language model."""
        folder = self._folder if self._folder and self._folder.exists() else None
        return cast("Asking", self.system).plan(self._haystack, folder, self._whole)

    @cached_property
    def fingerprint(self) -> str:
        """Identifies this system, its code and its memory; the memory of a plain search does not count."""
        card = self.system.card
        memory = self.memory.fingerprint if card.paper or card.keeps else ""
        return digest(card.name, self.system.fingerprint, self._code, memory)

    @cached_property
    def _code(self) -> str:
        return _code(self.system)

    def __call__(self, question: BenchQuestion) -> NDArray[np.float64]:
        """A score for each turn, shape (turns,), NaN for turns that were not found.

        A plain search scores every turn, also those it would not show as an answer.
        """
        if isinstance(self.memory, baselines.Scored):
            return self.memory.score(question.text)
        config = replace(self._whole, now=question.day)
        ranked = self.system.search(question.text, self._haystack, self.memory, config)
        self.told = [turn.text for turn in ranked.told]
        scores = np.full(len(self._haystack.corpus.turns), np.nan)
        for hit in ranked.hits:
            scores[hit.index] = -hit.rank
        return scores


def _noted(notes: Path, of: str) -> Ingest | None:
    """The noted cost of a memory; None without a note, or with one of another memory."""
    held = json.loads(notes.read_text("utf-8")) if notes.exists() else {}
    return Ingest(held["seconds"], Spent(**held["spent"])) if held.get("of") == of else None


def _registered(name: str, llm: bool, base: Config) -> Rival:
    """A registered system; `NAME:WAY` is the system NAME whose setting of the same name is WAY."""
    system, colon, way = name.partition(":")
    own: dict[str, Any] = {system: way} if colon else {}
    try:
        card = systems.card(system)
        if not own.keys() <= FIELDS.keys():
            raise ConfigError(f"{system} runs in one way", hint=f"{system}, without a colon")
        check(replace(Config(), **own))
    except ConfigError as error:
        raise UsageError(
            f"there is no rival {name!r}", hint=f"{error.hint}; or the path of your own file, ending in .py"
        ) from error
    for extra in card.extras:
        extras.require(extra, f"the rival {name}")
    own |= {"system": system, "llm": llm and card.llm}
    shown = systems.shown(replace(base, **own))
    return Rival(
        f"{shown}{colon}{way}",
        lambda config, tools: systems.load(replace(config, **own), lambda _: tools),
        bool(own["llm"]),
    )


def _checked(name: str, build: Callable[[Corpus], Callable[[str], Any]]) -> Callable[[Corpus], Scorer]:
    """`build` whose scorer checks that each answer has one number per turn."""

    def built(corpus: Corpus) -> Scorer:
        turns = len(corpus.turns)
        with _named(name):
            answer = build(corpus)

        def score(question: str) -> NDArray[np.float64]:
            with _named(name):
                scores = np.asarray(answer(question), dtype=np.float64)
            if scores.shape != (turns,):
                found = f"returned shape {scores.shape} for {turns} turns"
                raise InputError(f"the rival {name} {found}", hint="one score per turn", kind="rival")
            if np.isnan(scores).any():
                said = f"the rival {name} returned NaN for {question!r}"
                raise InputError(said, hint="-inf puts a turn last", kind="rival")
            return scores

        return score

    return built


def _code(system: System) -> str:
    """The source of a system: its file, or all files of its folder."""
    name = type(system).__module__
    package = name if hasattr(sys.modules[name], "__path__") else name.rpartition(".")[0]
    if package not in systems.SYSTEMS.values():
        return inspect.getsource(sys.modules[name])
    files = sorted(path for folder in sys.modules[package].__path__ for path in Path(folder).glob("*.py"))
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def _own(name: str) -> Rival:
    path = Path(name)
    if not path.is_file():
        raise UsageError(f"there is no file {name}", hint="the path of a Python file, or a rival's name")
    module = _run(path, name)
    title, build = getattr(module, "NAME", None), getattr(module, "build", None)
    if not isinstance(title, str) or not title:
        raise InputError(f"{path} is no rival: it defines no NAME", hint='NAME = "mine"', kind="rival")
    if not callable(build):
        hint = "def build(corpus): returns a function from a question to one score per turn"
        raise InputError(f"{path} is no rival: it defines no function build", hint=hint, kind="rival")
    text = path.read_text(encoding="utf-8")
    own = Plain(Card(title, str(path)), _checked(title, build), digest(text))
    return Rival(title, lambda _config, _tools: own)


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
    """Turn any error in a rival's code into one that names the rival."""
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
