"""Which parser, cross-encoder and ColBERT a profile uses, and how they load."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from smartsearch.config import Config, is_path
from smartsearch.errors import CacheError, ModelError, SmartsearchError
from smartsearch.models import manifest, store, trained, vetting
from smartsearch.models.store import ModelRef

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from smartsearch.models.tools import Tools
    from smartsearch.rank.truncate import Tokenizer
    from smartsearch.retrieve.semantic import Scorer

ROLES = ("parser", "crossencoder", "colbert")
RANKER_ROLE = {"ce": "crossencoder", "colbert": "colbert"}
LEAST_ROOM, ROOM_A_CORE = 600 * 2**20, 32 * 2**20
"""Bytes of addresses that the shipped models and their libraries take, and more for each core's thread."""
TOKENIZER = "wordpiece-30522 (bert-base-uncased)"
"""What tokens are counted with, whatever the profile, so that counts compare."""


@dataclass(frozen=True)
class Profile:
    """The models of one way to run; None where the profile has no such ranker."""

    name: str
    description: str
    parser: ModelRef
    crossencoder: ModelRef | None
    colbert: ModelRef | None


@dataclass(frozen=True)
class ModelStatus:
    """A model of a profile as found on this machine; `state` is ok, missing or damaged."""

    profile: str
    role: str
    id: str
    revision: str
    precision: str
    path: str
    bytes: int
    state: str


_MXBAI = ModelRef("mixedbread-ai/mxbai-rerank-large-v1", "98f655841d5caf0b16eaff79c2b4ca109d920d17")
_ANSWERAI = ModelRef("answerdotai/answerai-colbert-small-v1", "be1703c55532145a844da800eea4c9a692d7e267")
_SPACY_SMALL = ModelRef("en_core_web_sm")

PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(
            "embedded",
            "the shipped models, int8 on the CPU; works offline right after install",
            ModelRef("shipped:en_smartsearch"),
            ModelRef("shipped:crossencoder"),
            ModelRef("shipped:colbert"),
        ),
        Profile("paper", "the paper's models, from the model hub", _SPACY_SMALL, _MXBAI, _ANSWERAI),
        Profile("paper-index-free", "the paper's index-free variant: one ranker", _SPACY_SMALL, _MXBAI, None),
    )
}


def names() -> list[str]:
    """Every profile there is: ours, then those that the user trained."""
    return [*PROFILES, *(name for name in trained.names() if name not in PROFILES)]


def _trained(name: str) -> Profile | None:
    """A profile that `smartsearch train` made, by name or path."""
    folder = trained.find(name)
    if folder is None:
        return None
    rankers = (ModelRef(str(folder / role), given=True) for role in ("crossencoder", "colbert"))
    return Profile(name, "adapted to the user's own chats", PROFILES["embedded"].parser, *rankers)


def profile_of(config: Config) -> Profile:
    """The profile with the models the config overrides. Raises ModelError for an unknown name."""
    base = PROFILES.get(config.profile) or _trained(config.profile)
    if base is None:
        raise ModelError(
            f"no profile named {config.profile!r}",
            hint=f"one of {', '.join(names())}, or the folder of one, as ./mine or /home/me/mine",
            kind="profile_unknown",
        )
    return Profile(
        base.name,
        base.description,
        ModelRef(config.parser, given=True) if config.parser else base.parser,
        ModelRef(config.crossencoder, given=True) if config.crossencoder else base.crossencoder,
        ModelRef(config.colbert, given=True) if config.colbert else base.colbert,
    )


def load(config: Config, *, cache: bool = False) -> Tools:
    """The tools of the config's profile. The rankers load in the background while the parser loads here.

    With `cache`, ColBERT's vectors are kept on disk as the config says. Nothing is fetched: a hub model must
    have been pulled before. Raises ModelError when the profile is unknown or a model it needs is missing; a
    damaged ranker is told when it is first asked for scores.
    """
    _check_room()
    from smartsearch.models.tools import Tools
    from smartsearch.text import parse

    if config.offline:
        os.environ["HF_HUB_OFFLINE"] = "1"
    profile = profile_of(config)
    rankers = {name: ref for name, role in RANKER_ROLE.items() if (ref := _ref(profile, role))}
    wanted = [name for name in config.rank if name in rankers]
    lacking = [RANKER_ROLE[name] for name in config.rank if name not in rankers]
    if lacking and (not wanted or "crossencoder" in lacking):
        raise ModelError(f"profile {profile.name} has no {lacking[0]}", hint="another --rank or --profile")
    parser = _located("parser", profile.parser)
    folders = {name: store.locate(RANKER_ROLE[name], ref) for name, ref in rankers.items()}
    for name in wanted:
        if folders[name] is None:
            raise _missing(RANKER_ROLE[name], rankers[name])
    limit = config.cache_bytes if cache else 0
    scorers = {
        name: _Deferred(_opener(name, ref, folders[name], config.cores, limit))
        for name, ref in rankers.items()
    }
    for name in wanted:
        scorers[name].begin()
    light = profile.parser.shipped is not None and all(
        folder is not None and store.is_export(folder) for folder in folders.values()
    )
    if profile.parser.given and is_path(profile.parser.name):
        vetting.check_parser(parser)
    nlp = parse.load(str(parser), needs_torch=not light)
    infos = {"parser": store.info("parser", profile.parser, parser)}
    for name, folder in folders.items():
        if folder is not None:
            infos[name] = store.info(RANKER_ROLE[name], rankers[name], folder)

    def notes() -> list[str]:
        return [note for scorer in scorers.values() if (note := scorer.note)]

    return Tools(parse.Parser(nlp), dict(scorers), tokenizer(), infos, _fusion(config), notes)


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


def load_cached(config: Config) -> Tools:
    """As `load`, with ColBERT's vectors kept on disk as the config says."""
    return load(config, cache=True)


def load_ready(config: Config) -> Tools:
    """As `load_cached`, when the rankers are there too: their loading is not a question's time."""
    tools = load_cached(config)
    for name in config.rank:
        if isinstance(scorer := tools.scorers.get(name), _Deferred):
            scorer.begin().result()
    return tools


def _fusion(config: Config) -> dict[str, float]:
    """The weights of the learned fusion: ours for the shipped rankers and for those adapted from them."""
    ours = config.profile == "embedded" or config.profile not in PROFILES
    if not ours or config.crossencoder or config.colbert or not manifest.FUSION.is_file():
        return {}
    return dict(json.loads(manifest.FUSION.read_text(encoding="utf-8"))["weights"])


def fingerprints(config: Config) -> dict[str, str]:
    """What the models of the config's profile are, to the byte, by `parser`, `ce` and `colbert`.

    For whoever keeps scores: a model that was trained again in its old place is another. Those that are
    not on this machine are left out.
    """
    profile = profile_of(config)
    named = {"parser": "parser", **RANKER_ROLE}
    refs = {name: (role, ref) for name, role in named.items() if (ref := _ref(profile, role))}
    return {
        name: store.fingerprint(role, ref, folder)
        for name, (role, ref) in refs.items()
        if (folder := store.locate(role, ref)) is not None
    }


def folders(config: Config) -> list[Path]:
    """Where the models of the config's profile lie, those that are on this machine."""
    refs = ((role, _ref(profile_of(config), role)) for role in ROLES)
    located = (store.locate(role, ref) for role, ref in refs if ref is not None)
    return [folder for folder in located if folder is not None]


def _located(role: str, ref: ModelRef) -> Path:
    folder = store.locate(role, ref)
    if folder is None:
        raise _missing(role, ref)
    return folder


def _missing(role: str, ref: ModelRef) -> ModelError:
    if ref.shipped:
        return ModelError(
            f"the shipped {role} is not in {ref.shipped}",
            hint="install smartsearch again",
            kind="model_missing",
        )
    if ref.given and not is_path(ref.name) and Path(ref.name).is_dir():
        raise ModelError(
            f"the {role} {ref.name!r} is not on this machine",
            hint=f"./{ref.name} if the folder is meant, or --profile embedded",
            kind="model_missing",
        )
    profiles = [p.name for p in PROFILES.values() if ref in (p.parser, p.crossencoder, p.colbert)]
    pull = (
        f"smartsearch models pull {profiles[0]}" if profiles else "give a folder, or the id of a pulled model"
    )
    return ModelError(
        f"the {role} {ref.name!r} is not on this machine",
        hint=f"{pull}, or --profile embedded",
        kind="model_missing",
    )


class _Deferred:
    """A scorer that loads in a thread of its own once begun, and answers when it is there."""

    def __init__(self, opener: Callable[[], Scorer]) -> None:
        self._opener = opener
        self._future: Future[Scorer] | None = None

    def begin(self) -> Future[Scorer]:
        if self._future is None:
            pool = ThreadPoolExecutor(1)
            self._future = pool.submit(self._opener)
            pool.shutdown(wait=False)
        return self._future

    @property
    def note(self) -> str:
        """What the scorer had to do without, if it is there."""
        there = self._future is not None and self._future.done() and self._future.exception() is None
        return getattr(self.begin().result(), "note", "") if there else ""

    def __call__(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        return self.begin().result()(question, texts)


def _opener(name: str, ref: ModelRef, folder: Path | None, threads: int, limit: int) -> Callable[[], Scorer]:
    """How a ranker loads; `limit` is what ColBERT's vectors on disk may take in bytes, 0 for none."""

    def opened() -> Scorer:
        role = RANKER_ROLE[name]
        if folder is None:
            raise _missing(role, ref)
        try:
            return _scorer(name, folder, threads, limit)
        except SmartsearchError:
            raise
        except Exception as error:  # each library has errors of its own
            said = str(error).strip().splitlines() or [type(error).__name__]
            raise ModelError(
                f"{folder} cannot be loaded as a {role}: {said[0][:200]}",
                hint="a sentence-transformers CrossEncoder or a PyLate ColBERT, by hub id or folder",
                kind="model_unfit",
            ) from error

    return opened


def _scorer(name: str, folder: Path, threads: int, limit: int) -> Scorer:
    """The ranker in a folder of our own format, or of the hub's where nothing in it runs as code."""
    from smartsearch.rank.colbert import HubColbert, OnnxColbert
    from smartsearch.rank.crossencoder import HubCrossEncoder, OnnxCrossEncoder

    if store.in_our_format(RANKER_ROLE[name], folder):
        if name == "ce":
            return OnnxCrossEncoder(folder, threads)
        return OnnxColbert(folder, threads, cache=_cache_home() if limit else None, limit=limit)
    vetting.check(folder)
    return HubCrossEncoder(str(folder), threads) if name == "ce" else HubColbert(str(folder), threads)


def _cache_home() -> Path | None:
    """Where ColBERT's vectors are kept, or None where there is no place for them."""
    from smartsearch.rank.cache.vector_folder import home

    try:
        return home()
    except CacheError:
        return None


def _ref(profile: Profile, role: str) -> ModelRef | None:
    ref: ModelRef | None = getattr(profile, role)
    return ref


@lru_cache(maxsize=1)
def _shipped_tokenizer() -> Callable[[str], int]:
    from tokenizers import Tokenizer

    path = manifest.SHIPPED / "crossencoder" / "tokenizer.json"
    if not path.is_file():
        raise ModelError(
            f"the shipped tokenizer is not in {path.parent}",
            hint="install smartsearch again",
            kind="model_missing",
        )
    wordpiece = Tokenizer.from_file(str(path))
    wordpiece.no_truncation()
    wordpiece.no_padding()
    return lambda text: len(wordpiece.encode(text, add_special_tokens=False).ids)


def tokenizer() -> Tokenizer:
    """The named tokenizer of budgets and reports; its file is read at the first count."""
    from smartsearch.rank.truncate import Tokenizer

    return Tokenizer(TOKENIZER, lambda text: _shipped_tokenizer()(text))


def status(profile: str, *, deep: bool = False) -> list[ModelStatus]:
    """The models of a profile as found here; `deep` hashes every file whose hash is known."""
    return [_status(profile, role, ref, deep) for role, ref in _refs(profile)]


def verify(profile: str) -> list[ModelStatus]:
    """As `status`, with the files hashed and compared with the manifest or their own `config.json`."""
    return status(profile, deep=True)


def path(profile: str, role: str) -> Path:
    """The folder of one model of a profile. Raises ModelError when it is not on this machine."""
    refs = dict(_refs(profile))
    if role not in refs:
        raise ModelError(f"profile {profile} has no {role!r}", hint=f"one of {', '.join(refs)}")
    return _located(role, refs[role])


def pull(profile: str) -> list[ModelStatus]:
    """Fetch the models of a profile that are not here. Raises ModelError when the hub is out of reach."""
    for role, ref in _refs(profile):
        if store.locate(role, ref) is None and not ref.shipped:
            if ref.given:
                raise _missing(role, ref)
            store.fetch(role, ref)
    return status(profile)


def _refs(profile: str) -> list[tuple[str, ModelRef]]:
    chosen = profile_of(Config(profile=profile))
    return [(role, ref) for role in ROLES if (ref := _ref(chosen, role))]


def _status(profile: str, role: str, ref: ModelRef, deep: bool) -> ModelStatus:
    folder = store.locate(role, ref)
    if folder is None:
        return ModelStatus(profile, role, ref.name, ref.revision, "", "", 0, "missing")
    info = store.info(role, ref, folder)
    whole = store.whole(folder, deep=deep) if ref.shipped else not deep or store.as_exported(folder)
    state = "ok" if whole else "damaged"
    return ModelStatus(
        profile, role, ref.name, info.revision, info.precision, str(folder), store.size(folder), state
    )
