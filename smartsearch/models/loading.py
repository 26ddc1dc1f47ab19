"""The models of a profile, loaded: the parser here, the rankers in threads of their own, the tokenizer."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

from smartsearch.config import Config, is_path
from smartsearch.errors import CacheError, ModelError, SmartsearchError
from smartsearch.models import causal, manifest, profiles, store, vetting
from smartsearch.models.profiles import SCORERS
from smartsearch.models.store import ModelRef
from smartsearch.runtime import extras

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from smartsearch.models.tools import Tools
    from smartsearch.rank.fusion import Fusion
    from smartsearch.rank.sketches import Sketcher
    from smartsearch.rank.truncate import Tokenizer
    from smartsearch.retrieve.semantic import Scorer

LEAST_ROOM, ROOM_A_CORE = 600 * 2**20, 32 * 2**20
"""Bytes of addresses that the shipped models and their libraries take, and more for each core's thread."""
OTHERS: dict[str, Callable[[Config], Scorer]] = {"qr": lambda config: causal.ranker(config)[0]}
"""What loads each scorer of `RANKERS` that is no model of a profile; called when it is first named."""
TOKENIZER = "wordpiece-30522 (bert-base-uncased)"
"""What tokens are counted with, whatever the profile, so that counts compare."""


def load_tools(config: Config, *, cache: bool = True) -> Tools:
    """The tools of the config's profile. The rankers load in the background while the parser loads here.

    With `cache`, ColBERT's vectors are kept on disk as the config says. Nothing is fetched: a hub model must
    have been pulled before. Raises ModelError when the profile is unknown or a model it needs is missing,
    SmartsearchError (kind "package") when one needs an extra. What is wrong with the weights of a ranker is
    told when it is first asked for scores.
    """
    _check_room()
    from smartsearch.models.tools import Tools
    from smartsearch.text import parse

    if config.offline:
        os.environ["HF_HUB_OFFLINE"] = "1"
    profile = profiles.profile_of(config)
    limit = config.cache_bytes if cache else 0
    rankers = {
        name: Ranker(name, profile[role], config.cores, limit)
        for name, role in SCORERS.items()
        if role in profile
    }
    late = {**rankers, **{name: Late(partial(load, config)) for name, load in OTHERS.items()}}
    wanted = _wanted(config, late)
    parser = profiles.located("parser", profile["parser"])
    for scorer in wanted:
        scorer.begin()
    if profile["parser"].given and is_path(profile["parser"].name):
        vetting.check_parser(parser)
    scorers = [*rankers.values(), *wanted]
    torchless = all(isinstance(scorer, Ranker) and not scorer.needs_torch for scorer in scorers)
    light = profile["parser"].shipped is not None and torchless
    nlp = parse.load(str(parser), needs_torch=not light)
    infos = {"parser": store.info("parser", profile["parser"], parser)}
    for name, ranker in rankers.items():
        if ranker.folder is not None:
            infos[name] = store.info(ranker.role, ranker.ref, ranker.folder)

    def notes() -> list[str]:
        return [scorer.note for scorer in late.values() if scorer.note]

    fusion, sure = _fusion(config), _fitted(config, "confidence")
    return Tools(parse.Parser(nlp), dict(late), tokenizer(), infos, fusion, notes, sure, is_word)


def _wanted(config: Config, there: Mapping[str, Late]) -> list[Late]:
    """The scorers that the config asks for. Raises ModelError or SmartsearchError where one cannot load.

    Without a ColBERT alone the others answer.
    """
    wanted = [there[name] for name in config.rank if name in there]
    lacking = [SCORERS.get(name, name) for name in config.rank if name not in there]
    if lacking and (not wanted or lacking != ["colbert"]):
        raise ModelError(f"profile {config.profile} has no {lacking[0]}", hint="another --rank or --profile")
    for scorer in wanted:
        if isinstance(scorer, Ranker):
            scorer.check()
    return wanted


def load_ready(config: Config) -> Tools:
    """As `load_tools`, when the rankers are there too: their loading is not a question's time."""
    tools = load_tools(config)
    for name in config.rank:
        if isinstance(ranker := tools.scorers.get(name), Late):
            ranker.begin().result()
    return tools


def _check_room() -> None:
    """That a limit on memory leaves room for the models: libraries in C end the process where it does not.

    Raises ModelError.
    """
    try:
        import resource
    except ImportError:  # pragma: no cover - Windows
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    needed = LEAST_ROOM + (os.cpu_count() or 1) * ROOM_A_CORE
    if limit not in (resource.RLIM_INFINITY, -1) and limit < needed:
        raise ModelError(
            f"the limit on memory (ulimit -v) is {limit // 2**20:,} MiB; the models need {needed // 2**20:,}",
            hint=f"ulimit -v {needed // 1024}, or unlimited",
            kind="memory",
        )


def _fitted(config: Config, name: str) -> dict[str, float]:
    """What was fitted to the shipped rankers, for them and for those adapted from them: `weights` of the
    learned fusion, `confidence`."""
    if not profiles.are_fused(config) or not manifest.FUSION.is_file():
        return {}
    return dict(json.loads(manifest.FUSION.read_text(encoding="utf-8"))[name])


def _fusion(config: Config) -> Fusion | None:
    """The learned fusion of the shipped rankers and those adapted from them, with the encoder of lists.

    Raises ModelError where the encoder's file is damaged.
    """
    from smartsearch.rank.fusion import Fusion
    from smartsearch.rank.set_encoder import SetEncoder

    weights = _fitted(config, "weights")
    if not weights:
        return None
    try:
        return Fusion(weights, SetEncoder(manifest.SET_ENCODER))
    except (OSError, EOFError, ValueError, KeyError, BadZipFile) as error:
        raise ModelError(
            f"the set encoder in {manifest.SET_ENCODER} is damaged: {error}",
            hint="install smartsearch-cli again",
            kind="model_damaged",
        ) from error


class Late:
    """A scorer that `load` gives, in a thread of its own once begun; it answers when it is there."""

    def __init__(self, load: Callable[[], Scorer]) -> None:
        self._load = load
        self._future: Future[Scorer] | None = None

    def begin(self) -> Future[Scorer]:
        """Load it, if that has not begun; the future has the scorer."""
        if self._future is None:
            pool = ThreadPoolExecutor(1)
            self._future = pool.submit(self._load)
            pool.shutdown(wait=False)
        return self._future

    @property
    def note(self) -> str:
        """What the scorer had to do without, if it is there."""
        there = self._future is not None and self._future.done() and self._future.exception() is None
        return getattr(self.begin().result(), "note", "") if there else ""

    @property
    def before(self) -> int:
        """How many turns before a turn it was trained to see (rank/text.py)."""
        return int(getattr(self.begin().result(), "before", 1))

    def notice(self, texts: int) -> str:
        """What the scorer tells before it reads so many texts, if anything."""
        told = getattr(self.begin().result(), "notice", None)
        return str(told(texts)) if told else ""

    def __call__(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """The score of each text."""
        return self.begin().result()(question, texts)


class Ranker(Late):
    """A scorer of a profile.

    `limit` is what ColBERT's vectors on disk may take in bytes, 0 for none.
    """

    def __init__(self, name: str, ref: ModelRef, threads: int, limit: int) -> None:
        super().__init__(self._opened)
        self.role, self.ref = SCORERS[name], ref
        self.folder = store.locate(self.role, ref)
        self._threads, self._limit = threads, limit

    @property
    def needs_torch(self) -> bool:
        """Whether the libraries of the hub run it: all but the shipped and those that were trained here."""
        if self.folder is None:
            return not (self.ref.shipped or is_path(self.ref.name))
        return not store.is_export(self.folder)

    def check(self) -> Path:
        """Its folder. Raises SmartsearchError where it, or what runs it, is not on this machine."""
        if self.needs_torch:
            extras.require("hub", f"the {self.role} {self.ref.name!r}")
        if self.folder is None:
            raise profiles.missing(self.role, self.ref)
        return self.folder

    @property
    def sketcher(self) -> Sketcher | None:
        """What makes sketches of texts (rank/sketches.py), where the scorer does."""
        return getattr(self.begin().result(), "sketcher", None)

    @property
    def calibration(self) -> tuple[float, float]:
        """Scale and shift that made its output a chance; (1, 0) without these, as of any model of the hub."""
        return (1.0, 0.0) if self.needs_torch else getattr(self.begin().result(), "calibration", (1.0, 0.0))

    def _opened(self) -> Scorer:
        folder = self.check()
        try:
            return self._scorer(folder)
        except SmartsearchError:
            raise
        except Exception as error:  # each library has errors of its own
            hint = "a sentence-transformers CrossEncoder or a PyLate ColBERT, by hub id or folder"
            raise vetting.unfit(folder, self.role, error, hint) from error

    def _scorer(self, folder: Path) -> Scorer:
        """The ranker in a folder of our own format, or of the hub's where nothing in it runs as code."""
        from smartsearch.rank.colbert import HubColbert, OnnxColbert
        from smartsearch.rank.crossencoder import HubCrossEncoder, OnnxCrossEncoder

        crosses = self.role == "crossencoder"
        if not store.in_our_format(self.role, folder):
            vetting.check(folder)
            return (HubCrossEncoder if crosses else HubColbert)(folder, self._threads, self.ref.name)
        if crosses:
            return OnnxCrossEncoder(folder, self._threads)
        cache = _cache_home() if self._limit else None
        return OnnxColbert(folder, self._threads, cache=cache, limit=self._limit)


def _cache_home() -> Path | None:
    """Where ColBERT's vectors are kept, or None where there is no place for them."""
    from smartsearch.rank.cache.vector_store import home

    try:
        return home()
    except CacheError:
        return None


@lru_cache(maxsize=1)
def _shipped_tokenizer() -> Callable[[str], int]:
    from tokenizers import Tokenizer

    path = manifest.SHIPPED / "crossencoder" / "tokenizer.json"
    if not path.is_file():
        raise ModelError(
            f"the shipped tokenizer is not in {path.parent}",
            hint="install smartsearch-cli again",
            kind="model_missing",
        )
    wordpiece = Tokenizer.from_file(str(path))
    wordpiece.no_truncation()
    wordpiece.no_padding()
    return lambda text: len(wordpiece.encode(text, add_special_tokens=False).ids)


def is_word(text: str) -> bool:
    """Whether `text`, in lower case, is a word of the language: one piece to the shipped tokenizer."""
    return _shipped_tokenizer()(text) == 1


def tokenizer() -> Tokenizer:
    """The named tokenizer of budgets and reports; its file is read at the first count."""
    from smartsearch.rank.truncate import Tokenizer

    return Tokenizer(TOKENIZER, lambda text: _shipped_tokenizer()(text))
