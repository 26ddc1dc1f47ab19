"""Causal language models on this machine whose attention heads rank: found, vetted, with their heads."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from smartsearch.config import Config, is_path
from smartsearch.errors import ModelError, SmartsearchError
from smartsearch.models import profiles, store, vetting
from smartsearch.models.store import ModelRef
from smartsearch.rank.hub import heads
from smartsearch.rank.hub.folder import described
from smartsearch.rank.scorer import Late, Scorer
from smartsearch.runtime import extras
from smartsearch.systems.qrranker.settings import set_in
from smartsearch.types import ModelInfo

if TYPE_CHECKING:
    from smartsearch.rank.qrranker import QRRanker, Reader

ROLE = "qrranker"
_HASHED = ("*.safetensors", "config.json", "tokenizer.json")
"""What a model is: other files in its folder, such as its heads, may change."""


def opened(config: Config, what: str = "--system qrranker") -> tuple[Reader, ModelInfo]:
    """The model that the config names, and what it is.

    Nothing is fetched, and code that a model brings is never run. Raises ModelError, and SmartsearchError
    (kind "package") where the extra is not installed.
    """
    extras.require("qr", what)
    if not set_in(config).qr_model:
        raise ModelError(
            f"{what} needs a causal language model",
            hint="--set qr_model=./FOLDER or OWNER/NAME (docs/systems.md)",
            kind="model_missing",
        )
    ref = ModelRef.typed(set_in(config).qr_model)
    folder = store.locate(ROLE, ref)
    if folder is None:
        raise profiles.missing(ROLE, ref)
    vetting.check(folder)
    from smartsearch.rank.qrranker import Reader

    try:
        reader = Reader(folder, ref.asked, config.cores, set_in(config).qr_dtype)
    except SmartsearchError:
        raise
    except Exception as error:  # each library has errors of its own
        raise vetting.unfit(folder, "causal language model", error) from error
    return reader, ModelInfo(ROLE, ref.asked, revision(folder), reader.precision)


def scorer(config: Config) -> Scorer:
    """The scorer of the config's model and heads, which loads when it is first asked or told to."""
    late = Late(lambda: ranker(config)[0])
    return Scorer(
        late,
        before=0,  # the texts stand beside each other: none shows the turns before
        notice=lambda texts: late.begin().result().notice(texts),
        begin=late.begin,
    )


def ranker(config: Config, what: str = "--rank qr") -> tuple[QRRanker, ModelInfo]:
    """The scorer of the config's model and heads: those of the file it names, of the one in the model's
    folder, or of the paper for the paper's own models.

    Raises as `opened` does, and ModelError (model_heads) for missing heads and for those of another model.
    """
    reader, info = opened(config, what)
    from smartsearch.rank.qrranker import QRRanker  # after `opened`, which says what is not installed

    folder = store.locate(ROLE, ModelRef.typed(set_in(config).qr_model))
    assert folder is not None
    path = _file(config, folder)
    name = info.id.partition("@")[0]
    found = heads.read(path) if path else heads.published(name, info.revision, described(folder).config)
    if found is None:
        raise ModelError(
            f"nobody has found the heads of {info.id} that rank", hint=heads.DETECT, kind="model_heads"
        )
    heads.check(found, path, info.id, info.revision, reader.layers, reader.width)
    reader.prompt = found.prompt
    return QRRanker(reader, found), info


def trained(config: Config) -> bool:
    """Whether the heads that the config names say that they were trained, for which no model is loaded.

    Raises ModelError for a file without heads.
    """
    if not set_in(config).qr_model:
        return False
    ref = ModelRef.typed(set_in(config).qr_model)
    folder = store.locate(ROLE, ref)
    path = _file(config, folder) if folder else None
    return heads.read(path).trained if path else ref.asked.partition("@")[0] == heads.TRAINED


def _file(config: Config, folder: Path) -> Path | None:
    """The file of heads that is read, if any. Raises ModelError where a name is no path."""
    if named := set_in(config).qr_heads:
        if not is_path(named):
            raise ModelError(f"{named!r} is no path", hint=f"--set qr_heads=./{named}")
        return Path(named)
    beside = folder / heads.FILE
    return beside if beside.is_file() else None


def revision(folder: Path) -> str:
    """The hub's commit, or a hash of weights, configuration and tokenizer: what heads are found for."""
    if commit := store.commit(folder):
        return commit
    digest = hashlib.sha256()
    for path in sorted(path for pattern in _HASHED for path in folder.glob(pattern)):
        with path.open("rb") as file:
            digest.update(path.name.encode())
            while part := file.read(2**20):
                digest.update(part)
    return f"bytes-{digest.hexdigest()[:16]}"
