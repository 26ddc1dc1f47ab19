"""Which parser, cross-encoder and ColBERT a profile uses, and which of them are on this machine."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from smartsearch.config import RANKERS, Config, is_path
from smartsearch.errors import ModelError, UsageError
from smartsearch.models import manifest, store, trained
from smartsearch.models.store import ModelRef
from smartsearch.rank.hub import folder as hub
from smartsearch.runtime import extras

Profile = dict[str, ModelRef]
"""The models of a profile by role: parser, crossencoder, colbert. A ranker may be missing."""
SCORERS = {"ce": "crossencoder", "colbert": "colbert"}
"""The role of each scorer."""


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
STATIC = ModelRef("shipped:static")
"""The first stage of every profile, where `first` is static."""

PROFILES: dict[str, Profile] = {
    "embedded": {
        "parser": ModelRef("shipped:en_smartsearch"),
        "crossencoder": ModelRef("shipped:crossencoder"),
        "colbert": ModelRef("shipped:colbert"),
        "static": STATIC,
    },
    "paper": {"parser": _SPACY_SMALL, "crossencoder": _MXBAI, "colbert": _ANSWERAI},
    "paper-index-free": {"parser": _SPACY_SMALL, "crossencoder": _MXBAI},
}
"""The shipped models, int8 on the CPU; those of the paper, from the model hub; and its variant with one."""


def names() -> list[str]:
    """The names of all profiles: ours, then the user's."""
    return [*PROFILES, *(name for name in trained.names() if name not in PROFILES)]


def _trained(name: str) -> Profile | None:
    """A profile that `smartsearch train` made, by name or path."""
    folder = trained.find(name)
    if folder is None:
        return None
    rankers = {role: ModelRef(str(folder / role), given=True) for role in SCORERS.values()}
    return {"parser": PROFILES["embedded"]["parser"], **rankers}


def profile_of(config: Config) -> Profile:
    """The profile with the models the config overrides. Raises ModelError for an unknown name."""
    base = PROFILES.get(config.profile) or _trained(config.profile)
    if base is None:
        raise ModelError(
            f"no profile named {config.profile!r}",
            hint=f"one of {', '.join(names())}, or the folder of one, as ./mine or /home/me/mine; "
            "a model of the hub is OWNER/NAME",
            kind="profile_unknown",
        )
    given = {"parser": config.parser, "crossencoder": config.crossencoder, "colbert": config.colbert}
    return base | {role: ModelRef.typed(name) for role, name in given.items() if name}


def fingerprints(config: Config) -> dict[str, str]:
    """What the models of the config's profile are, to the byte, by `parser` and the names of scorers.

    `fusion` is what was fitted to these rankers, `static` the vectors of the first stage.

    For caches of scores: a model that was trained again in its old place gets another fingerprint. Models
    that are not on this machine are left out.
    """
    models, roles = profile_of(config), {"parser": "parser", **SCORERS}
    for name, row in RANKERS.items():
        if row.model and (said := getattr(config, row.model)):
            models[row.role], roles[name] = ModelRef.typed(said), row.role
    found = {
        name: store.fingerprint(role, models[role], folder)
        for name, role in roles.items()
        if role in models and (folder := store.locate(role, models[role])) is not None
    }
    fitted = [manifest.FUSION, manifest.SET_ENCODER] if are_fused(config) else []
    told = [hashlib.sha256(path.read_bytes()).hexdigest() for path in fitted if path.is_file()]
    if config.first == "static":
        found["static"] = store.fingerprint("static", STATIC, manifest.STATIC.parent)
    return found | ({"fusion": f"fusion {' '.join(told)}"} if told else {})


def are_fused(config: Config) -> bool:
    """Whether the rankers are the shipped ones or adapted from them, to which the fusion was fitted."""
    ours = config.profile == "embedded" or config.profile not in PROFILES
    return ours and not config.crossencoder and not config.colbert


def folders(config: Config) -> list[Path]:
    """The folders of the profile's models that are on this machine."""
    located = (store.locate(role, ref) for role, ref in profile_of(config).items())
    return [folder for folder in located if folder is not None]


def located(role: str, ref: ModelRef) -> Path:
    """The folder of a model. Raises ModelError when it is not on this machine."""
    folder = store.locate(role, ref)
    if folder is None:
        raise missing(role, ref)
    return folder


def missing(role: str, ref: ModelRef) -> ModelError:
    """The error of a model that is not on this machine, with how to get it."""
    said = f"the {role} {ref.asked!r} is not on this machine"
    pulling = [name for name, profile in PROFILES.items() if ref in profile.values()]
    if ref.shipped:
        said, hint = f"the shipped {role} is not in {ref.shipped}", "install smartsearch-cli again"
    elif ref.given and not is_path(ref.name) and Path(ref.name).is_dir():
        hint = f"./{ref.name} if the folder is meant, or --profile embedded"
    elif role in (row.role for row in RANKERS.values() if row.role) and ref.on_hub:
        hint = f"smartsearch {role} pull {ref.asked}, or the folder of a model"
    elif pulling or (ref.on_hub and role != "parser"):
        hint = f"smartsearch models pull {(pulling or [ref.asked])[0]}, or --profile embedded"
    else:
        hint = "give a folder, or the id of a pulled model, or --profile embedded"
    return ModelError(said, hint=hint, kind="model_missing")


def status(profile: str, *, deep: bool = False) -> list[ModelStatus]:
    """The models of a profile as found here; `deep` hashes every file whose hash is known."""
    models = profile_of(Config(profile=profile))
    return [_status(profile, role, ref, deep) for role, ref in models.items()]


def path(profile: str, role: str) -> Path:
    """The folder of one model of a profile. Raises ModelError when it is not on this machine."""
    models = profile_of(Config(profile=profile))
    if role not in models:
        raise ModelError(f"profile {profile} has no {role!r}", hint=f"one of {', '.join(models)}")
    return located(role, models[role])


def pull(name: str, tell: Callable[[str], None], revision: str = "", role: str = "") -> list[ModelStatus]:
    """Fetch the models of a profile that are not here, or a ranker by its id. `tell` is told sizes before.

    `role` is what a model by its id is for; without one its files say so.

    Raises ModelError when the hub is out of reach, does not have the model or has one that cannot rank,
    SmartsearchError (kind "package") without what runs them.
    """
    ref = ModelRef.typed(name)
    if ref.on_hub:
        return [_pull_model(replace(ref, revision=revision or ref.revision), tell, role)]
    if revision:
        raise UsageError(
            "--revision is for a model, not a profile", hint="OWNER/NAME, a model's id on the hub"
        )
    models = profile_of(Config(profile=name))
    absent = {role: ref for role, ref in models.items() if not ref.shipped and not store.locate(role, ref)}
    for role, ref in absent.items():
        if ref.given:
            raise missing(role, ref)
        if role != "parser":
            extras.require("hub", f"profile {name}")
    for role, ref in absent.items():
        store.fetch(role, ref, tell)
    return status(name)


def _pull_model(ref: ModelRef, tell: Callable[[str], None], role: str) -> ModelStatus:
    """Fetch a ranker, or what has changed of it; which role it fits is found out from its files."""
    extras.require("hub", ref.name)
    store.fetch(role, ref, tell)
    folder = located("model", ref)
    role = role or hub.role(hub.described(folder))
    info = store.info(role, ref, folder)
    size = store.size(folder)
    return ModelStatus("", role, ref.asked, info.revision, info.precision, str(folder), size, "ok")


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
