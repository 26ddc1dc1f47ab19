"""Which parser, cross-encoder and ColBERT a profile uses, how they load, and what they hash to."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from smartsearch.config import Config
from smartsearch.errors import ModelError
from smartsearch.models import manifest
from smartsearch.types import ModelInfo

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from smartsearch.pipeline import Tools
    from smartsearch.retrieve.semantic import Scorer
    from smartsearch.truncate import Tokenizer

ROLES = ("parser", "crossencoder", "colbert")
RANKER_ROLE = {"ce": "crossencoder", "colbert": "colbert"}
TOKENIZER = "wordpiece-30522 (bert-base-uncased)"
"""What tokens are counted with, whatever the profile, so that counts compare."""


@dataclass(frozen=True)
class ModelRef:
    """A model by name: `shipped:NAME`, a hub id with its pinned revision, a spaCy name, or a folder."""

    name: str
    revision: str = ""

    @property
    def shipped(self) -> Path | None:
        """The folder of a shipped model, else None."""
        if self.name.startswith("shipped:"):
            return manifest.SHIPPED / self.name.removeprefix("shipped:")
        return None

    @property
    def folder(self) -> Path | None:
        """The local folder this names, shipped or the user's own, else None."""
        if self.shipped:
            return self.shipped
        path = Path(self.name).expanduser()
        return path if path.is_dir() else None


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


def profile_of(config: Config) -> Profile:
    """The profile with the models the config overrides. Raises ModelError for an unknown name."""
    base = PROFILES.get(config.profile)
    if base is None:
        raise ModelError(
            f"no profile named {config.profile!r}",
            hint=f"one of {', '.join(PROFILES)}",
            kind="profile_unknown",
        )
    return Profile(
        base.name,
        base.description,
        ModelRef(config.parser) if config.parser else base.parser,
        ModelRef(config.crossencoder) if config.crossencoder else base.crossencoder,
        ModelRef(config.colbert) if config.colbert else base.colbert,
    )


def load(config: Config) -> Tools:
    """The tools of the config's profile. The rankers load in the background while the parser loads here.

    Nothing is fetched: a hub model must have been pulled before. Raises ModelError when the profile
    is unknown or the parser is missing; a ranker's error is raised when it is first asked for scores.
    """
    from smartsearch import parse
    from smartsearch.pipeline import Tools

    if config.offline:
        os.environ["HF_HUB_OFFLINE"] = "1"
    profile = profile_of(config)
    refs = {name: ref for name, role in RANKER_ROLE.items() if (ref := _ref(profile, role))}
    absent = [name for name in config.rank if name not in refs and name != "colbert"]
    if absent:
        raise ModelError(
            f"profile {profile.name} has no {RANKER_ROLE[absent[0]]}", hint="--rank or --profile"
        )
    scorers = {name: _Deferred(_opener(name, ref, config)) for name, ref in refs.items()}
    for name in config.rank:
        if name in scorers:
            scorers[name].begin()
    light = all(ref.shipped for ref in (profile.parser, *refs.values()))
    nlp = parse.load(str(profile.parser.folder or profile.parser.name), needs_torch=not light)
    used = [profile.parser, *(refs[name] for name in config.rank if name in refs)]
    roles = ["parser", *(RANKER_ROLE[name] for name in config.rank if name in refs)]
    infos = tuple(_info(role, ref) for role, ref in zip(roles, used, strict=True))
    return Tools(parse.Parser(nlp), dict(scorers), tokenizer(), infos)


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

    def __call__(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        return self.begin().result()(question, texts)


def _opener(name: str, ref: ModelRef, config: Config) -> Callable[[], Scorer]:
    role = RANKER_ROLE[name]

    def opened() -> Scorer:
        from smartsearch.rank.colbert import HubColbert, OnnxColbert
        from smartsearch.rank.crossencoder import HubCrossEncoder, OnnxCrossEncoder

        if ref.folder and (ref.folder / "model.onnx").is_file() and (ref.folder / "config.json").is_file():
            onnx = OnnxCrossEncoder if name == "ce" else OnnxColbert
            return onnx(ref.folder, config.cores)
        if ref.shipped:
            raise ModelError(
                f"the shipped {role} is not in {ref.shipped}",
                hint="install smartsearch again",
                kind="model_missing",
            )
        hub = HubCrossEncoder if name == "ce" else HubColbert
        try:
            return hub(str(ref.folder or ref.name), ref.revision or None)
        except (OSError, ValueError, ImportError) as error:
            raise _missing(role, ref, error) from error

    return opened


def _missing(role: str, ref: ModelRef, error: Exception) -> ModelError:
    profiles = [p.name for p in PROFILES.values() if ref in (p.parser, p.crossencoder, p.colbert)]
    pull = (
        f"smartsearch models pull {profiles[0]}" if profiles else f"download {ref.name} and give its folder"
    )
    first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return ModelError(
        f"the {role} {ref.name!r} is not on this machine ({first[:200]})",
        hint=f"{pull}, or use --profile embedded",
        kind="model_missing",
    )


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
    from smartsearch.truncate import Tokenizer

    return Tokenizer(TOKENIZER, lambda text: _shipped_tokenizer()(text))


def _info(role: str, ref: ModelRef) -> ModelInfo:
    precision = "fp32"
    if role != "parser" and ref.folder and (ref.folder / "model.onnx").is_file():
        precision = "int8"
    return ModelInfo(role, ref.name, _revision(ref), precision)


def _revision(ref: ModelRef) -> str:
    """The pinned revision, the shipped hash, or for a local folder a hash of its file names and sizes."""
    if ref.shipped:
        return manifest.revision(ref.shipped.name)
    if ref.folder:
        files = sorted(
            (str(p.relative_to(ref.folder)), p.stat().st_size) for p in ref.folder.rglob("*") if p.is_file()
        )
        return "files-" + hashlib.sha256(repr(files).encode()).hexdigest()[:12]
    return ref.revision


def status(profile: str) -> list[ModelStatus]:
    """The models of a profile as found here, without hashing the shipped files."""
    return [_status(profile, role, ref, deep=False) for role, ref in _refs(profile)]


def verify(profile: str) -> list[ModelStatus]:
    """As `status`, with every shipped file hashed and compared with the manifest."""
    return [_status(profile, role, ref, deep=True) for role, ref in _refs(profile)]


def path(profile: str, role: str) -> Path:
    """The folder of one model of a profile. Raises ModelError when it is not on this machine."""
    for found, ref in _refs(profile):
        if found == role:
            folder = _local_folder(role, ref)
            if folder is None:
                raise _missing(role, ref, FileNotFoundError("no local copy"))
            return folder
    raise ModelError(
        f"profile {profile} has no {role}", hint=f"one of {', '.join(r for r, _ in _refs(profile))}"
    )


def pull(profile: str) -> list[ModelStatus]:
    """Fetch the models of a profile from the model hub; shipped and local ones are left alone.

    Raises ModelError (retryable) when the hub cannot be reached.
    """
    from huggingface_hub import snapshot_download

    for role, ref in _refs(profile):
        if _local_folder(role, ref) is not None:
            continue
        if role == "parser":
            _pull_spacy(ref)
            continue
        try:
            snapshot_download(ref.name, revision=ref.revision or None)
        except Exception as error:  # huggingface_hub, requests and httpx each raise their own
            raise ModelError(
                f"{ref.name} cannot be fetched: {str(error).splitlines()[0][:200]}",
                hint="check the connection, or copy the model here and give its folder",
                kind="model_fetch",
                retryable=True,
            ) from error
    return status(profile)


def _pull_spacy(ref: ModelRef) -> None:
    from spacy.cli.download import download

    try:
        download(ref.name)
    except (SystemExit, OSError) as error:
        raise ModelError(
            f"the spaCy pipeline {ref.name} cannot be fetched",
            hint=f"pip install a wheel of {ref.name}, or give --parser a folder",
            kind="model_fetch",
            retryable=True,
        ) from error


def _refs(profile: str) -> list[tuple[str, ModelRef]]:
    chosen = profile_of(Config(profile=profile))
    return [(role, ref) for role in ROLES if (ref := _ref(chosen, role))]


def _local_folder(role: str, ref: ModelRef) -> Path | None:
    if ref.folder:
        return ref.folder if ref.folder.is_dir() and any(ref.folder.iterdir()) else None
    if role == "parser":
        from importlib.util import find_spec

        spec = find_spec(ref.name)
        return Path(spec.origin).parent if spec and spec.origin else None
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        return Path(snapshot_download(ref.name, revision=ref.revision or None, local_files_only=True))
    except (LocalEntryNotFoundError, OSError):
        return None


def _status(profile: str, role: str, ref: ModelRef, *, deep: bool) -> ModelStatus:
    folder = _local_folder(role, ref)
    if folder is None:
        return ModelStatus(profile, role, ref.name, ref.revision, "", "", 0, "missing")
    size = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
    info = _info(role, ref)
    state = "damaged" if ref.shipped and not _whole(ref.shipped, deep=deep) else "ok"
    return ModelStatus(profile, role, ref.name, info.revision, info.precision, str(folder), size, state)


def _whole(folder: Path, *, deep: bool) -> bool:
    """Whether a shipped folder holds the files of the manifest, and with `deep` their very bytes."""
    listed = manifest.read().get(folder.name, {})
    if not listed:
        return False
    if not deep:
        return all((folder / name).is_file() for name in listed)
    found = manifest.hashes(folder)
    return all(found.get(name) == digest for name, digest in listed.items())
