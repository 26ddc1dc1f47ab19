"""Loads the models of a profile: the parser here, the rankers in threads of their own, the tokenizer."""

from __future__ import annotations

import json
import os
from collections.abc import Container, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

from smartsearch.config import RANKERS, Config, is_path
from smartsearch.errors import CacheError, ModelError, SmartsearchError
from smartsearch.models import manifest, profiles, store, vetting
from smartsearch.models.profiles import SCORERS
from smartsearch.models.store import ModelRef
from smartsearch.runtime import extras

if TYPE_CHECKING:
    from smartsearch.models.tools import Tools
    from smartsearch.rank.fusion import Fusion
    from smartsearch.rank.scorer import Call, Late, Scorer
    from smartsearch.rank.static import Static
    from smartsearch.rank.truncate import Tokenizer

LEAST_ROOM, ROOM_A_CORE = 600 * 2**20, 32 * 2**20
"""Bytes of addresses that the shipped models and their libraries take, and more for each core's thread."""
_HINT = "a sentence-transformers CrossEncoder or a PyLate ColBERT, by hub id or folder"
TOKENIZER = "wordpiece-30522 (bert-base-uncased)"
"""What tokens are counted with, whatever the profile, so that counts compare."""


def load_tools(config: Config, *, cache: bool = True) -> Tools:
    """The tools of the config's profile. The rankers load in the background while the parser loads here.

    With `cache`, ColBERT's vectors are kept on disk as the config says. Nothing is fetched: a hub model must
    have been pulled before. Raises ModelError when the profile is unknown or a model it needs is missing,
    SmartsearchError (kind "package") when one needs an extra. Faulty weights of a ranker are told when it
    is first asked for scores.
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
    scorers = {name: ranker.scorer for name, ranker in rankers.items()}
    others = {name: RANKERS[name].loads for name in config.rank if RANKERS[name].loads}
    scorers |= {name: _other(loads, config) for name, loads in others.items()}
    wanted = _wanted(config, scorers)
    for name in wanted:
        if name in rankers:
            rankers[name].check()
    parser = profiles.located("parser", profile["parser"])
    for name in wanted:
        scorers[name].begin()
    if profile["parser"].given and is_path(profile["parser"].name):
        extras.require("spacy", f"the parser {parser}")
        vetting.check_parser(parser)
    nlp = parse.load(str(parser))
    infos = {"parser": store.info("parser", profile["parser"], parser)}
    for name, ranker in rankers.items():
        if ranker.folder is not None:
            infos[name] = store.info(ranker.role, ranker.ref, ranker.folder)

    def notes() -> list[str]:
        return [note for scorer in scorers.values() if (note := scorer.note())]

    fusion, sure = _fusion(config), _fitted(config, "confidence")
    static = _static() if config.first == "static" else None
    if static:
        infos["static"] = store.info("static", profiles.STATIC, manifest.STATIC.parent)
    return Tools(
        parse.Parser(nlp, is_word), scorers, tokenizer(), infos, fusion, notes, sure, is_word, static
    )


def _other(loads: str, config: Config) -> Scorer:
    """The scorer that the row of `RANKERS` loads, where it is no model of a profile."""
    module, _, name = loads.partition(":")
    scorer: Scorer = getattr(import_module(module), name)(config)
    return scorer


def _wanted(config: Config, there: Container[str]) -> list[str]:
    """The scorers that the config asks for. Raises ModelError where one is missing.

    If only the ColBERT is missing, the others answer.
    """
    wanted = [name for name in config.rank if name in there]
    lacking = [SCORERS.get(name, name) for name in config.rank if name not in there]
    if lacking and (not wanted or lacking != ["colbert"]):
        raise ModelError(f"profile {config.profile} has no {lacking[0]}", hint="another --rank or --profile")
    return wanted


def load_ready(config: Config) -> Tools:
    """As `load_tools`, but waits for the rankers: their loading is not a question's time."""
    tools = load_tools(config)
    for name in config.rank:
        if name in tools.scorers and (loading := tools.scorers[name].begin()):
            loading.result()
    return tools


def _check_room() -> None:
    """Raise ModelError if a limit on memory is too low for the models: C libraries would end the process."""
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
    """Numbers fitted to the shipped rankers, used for them and those adapted from them: `weights` of the
    learned fusion, `confidence`."""
    if not profiles.are_fused(config) or not manifest.FUSION.is_file():
        return {}
    return dict(json.loads(manifest.FUSION.read_text(encoding="utf-8")).get(name, {}))


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
        return Fusion(weights, SetEncoder(manifest.SET_ENCODER), _fitted(config, "guess"))
    except (OSError, EOFError, ValueError, KeyError, BadZipFile) as error:
        raise ModelError(
            f"the set encoder in {manifest.SET_ENCODER} is damaged: {error}",
            hint="install smartsearch-cli again",
            kind="model_damaged",
        ) from error


class Ranker:
    """A model of a profile that ranks; `scorer` is what a search knows of it.

    `limit` is what ColBERT's vectors on disk may take in bytes, 0 for none.
    """

    def __init__(self, name: str, ref: ModelRef, threads: int, limit: int) -> None:
        self.role, self.ref = SCORERS[name], ref
        self.folder = store.locate(self.role, ref)
        self._threads, self._limit = threads, limit
        self._config = store.exported(self.folder) if self.folder else {}

    @property
    def needs_torch(self) -> bool:
        """Whether the hub's libraries run it: they run all but shipped models and those trained here."""
        return not (self._config or (self.folder is None and (self.ref.shipped or is_path(self.ref.name))))

    def check(self) -> Path:
        """Its folder. Raises SmartsearchError where it, or what runs it, is not on this machine."""
        if self.needs_torch:
            extras.require("hub", f"the {self.role} {self.ref.name!r}")
        if self.folder is None:
            raise profiles.missing(self.role, self.ref)
        return self.folder

    @cached_property
    def scorer(self) -> Scorer:
        """The scorer, which loads when it is first asked or told to. Raises ModelError for a folder whose
        `config.json` is damaged."""
        from smartsearch.rank.onnx import Trained
        from smartsearch.rank.scorer import Late, Scorer

        try:
            told = Trained.of(self._config)
        except (TypeError, ValueError) as error:
            raise vetting.unfit(self.folder, self.role, error, _HINT) from error
        late: Late[Any] = Late(self._opened)
        known = Scorer(late, told.before, told.calibration, begin=late.begin)
        if self.role == "crossencoder" or not self._config:
            return known
        return replace(
            known,
            vectors=lambda texts: late.begin().result().turn_vectors(texts),
            note=lambda: late.there.note if late.there else "",
        )

    def _opened(self) -> Any:
        folder = self.check()
        try:
            return self._loaded(folder)
        except SmartsearchError:
            raise
        except Exception as error:  # each library has errors of its own
            raise vetting.unfit(folder, self.role, error, _HINT) from error

    def _loaded(self, folder: Path) -> Call:
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
def _shipped_tokenizer() -> Any:
    from smartsearch.rank.onnx import tokenizer_of

    path = manifest.SHIPPED / "crossencoder" / "tokenizer.json"
    if not path.is_file():
        raise ModelError(
            f"the shipped tokenizer is not in {path.parent}",
            hint="install smartsearch-cli again",
            kind="model_missing",
        )
    return tokenizer_of(path)


def is_word(text: str) -> bool:
    """Whether `text`, in lower case, is a word of the language: one piece to the shipped tokenizer."""
    return _counted(text) == 1


def tokenizer() -> Tokenizer:
    """The named tokenizer of budgets and reports; its file is read at the first count."""
    from smartsearch.rank.truncate import Tokenizer

    return Tokenizer(TOKENIZER, _counted)


def _counted(text: str) -> int:
    return len(_shipped_tokenizer().encode(text, add_special_tokens=False).ids)


@lru_cache(maxsize=1)
def _static() -> Static:
    """The shipped static vectors. Raises ModelError where their file is damaged or missing."""
    from smartsearch.rank.onnx import MAX_CHARACTERS
    from smartsearch.rank.static import Static

    def pieces(texts: Sequence[str]) -> list[list[int]]:
        """The pieces of each text; a word that stands in many texts is cut once."""
        rows = [text[:MAX_CHARACTERS].split() for text in texts]
        known: dict[str, list[int]] = {word: [] for row in rows for word in row}
        cut = _shipped_tokenizer().encode(list(known), is_pretokenized=True, add_special_tokens=False)
        of_word = list(known.values())
        for piece, number in zip(cut.ids, cut.word_ids, strict=True):
            of_word[number].append(piece)
        return [[piece for word in row for piece in known[word]] for row in rows]

    try:
        return Static(manifest.STATIC, pieces)
    except (OSError, EOFError, ValueError, KeyError, BadZipFile) as error:
        raise ModelError(
            f"the static vectors in {manifest.STATIC} are damaged: {error}",
            hint="install smartsearch-cli again",
            kind="model_damaged",
        ) from error
