"""The one home of every default, with its unit and the paper section or decision that set it.

Precedence: command line > `SMARTSEARCH_*` environment > project file > user file > default.
A project file (`.smartsearch.toml`, which may come with somebody else's repository) can set numbers
and modes but never name a model, a profile or a path to load, nor start a process that stays, nor say
what is masked or that the network may be used.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from smartsearch.errors import ConfigError
from smartsearch.runtime import xdg

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover - Python 3.10
    import tomli as tomllib

PROJECT_FILE = ".smartsearch.toml"
ENV_PREFIX = "SMARTSEARCH_"
OTHER_VARIABLES = ("DEBUG", "PAGER", "EDITOR_URL")
"""What may follow the prefix beside a setting's name; and all that begins with a word of `OTHER_PREFIXES`."""
OTHER_PREFIXES = ("LLM_", "READER_", "JUDGE_")

CHOICES: dict[str, tuple[str, ...]] = {
    "truncate": ("none", "fixed", "adaptive"),
    "fill": ("stop", "skip", "cut"),
    "mode": ("or", "and"),
    "semantic": ("off", "fallback", "always"),
    "entity_source": ("top10", "all"),
    "order": ("rank", "time"),
    "fuse": ("learned", "rrf"),
    "daemon": ("auto", "always", "never"),
}
RANKERS = ("ce", "colbert")
COMPRESSIONS = ("dates", "speakers", "repeats")
LARGEST = 1e9
"""No setting is ever larger; refuses infinity too."""
MODELS = ("profile", "parser", "crossencoder", "colbert")
"""Keys that decide which code or weights are loaded."""
UNTRUSTED = (*MODELS, "cache", "cache_size", "daemon", "trusted_hosts", "offline", "redact")
"""Keys a project file may not set: those, what is kept in the user's cache, what starts a process that
stays, where turns may be sent, and whether secrets are masked (they are before turns are cut, so that no
budget shows one)."""
LARGEST_FILE = 2**16
"""Bytes of a settings file: all that can be set takes a twentieth of it."""


@dataclass(frozen=True)
class Config:
    """Everything a search depends on beside the question and the turns."""

    # Parse (paper 3.1; seeds 1.5)
    weight_propn: float = 3.0
    weight_noun: float = 2.0
    weight_verb: float = 1.0
    weight_entity: float = 1.0  # added to a token inside a named entity
    min_length: int = 3  # characters of a term
    min_length_propn: int = 2  # characters of a proper noun

    # Retrieve (paper 3.2; seeds 1.5)
    mode: str = "or"
    word_boundary: bool = False
    hops: int = 3  # grep hops in all; the longest oracle trace has 3 (paper table 1)
    entity_source: str = "top10"
    hop_sources: int = 10  # turns whose entities and nouns feed the next hop
    hop_terms: int = 10  # new terms a hop may add
    weight_hop: float = 2.5
    prf: bool = True
    prf_min_turns: int = 2  # of the top `hop_sources` turns
    weight_prf: float = 0.5
    fuzzy: bool = True
    fuzzy_cutoff: float = 80.0  # rapidfuzz ratio, 0-100
    fuzzy_words: int = 3  # nearest words taken for a term without a hit
    semantic: str = "fallback"
    semantic_below: int = 5  # candidates of hop 1 under which the fallback fires
    semantic_top: int = 50  # turns the dense search adds
    semantic_max_turns: int = 5000  # beyond it the fallback is left out and said so (2.5 ms a turn)
    pool: int = 200  # candidates: fewer are filled up by meaning (docs/decisions/0007); 0 = the paper's way
    pool_max_turns: int = 1000  # in a larger haystack nothing is filled up
    dates: bool = True  # the question's dates are looked for in the turns' times (docs/decisions/0013)
    weight_date: float = 2.0  # of such a date, as of a noun
    now: str = ""  # ISO day that relative dates count from; empty = the clock's
    speaker: tuple[str, ...] = ()  # whose turns are preferred
    weight_speaker: float = 4.0  # of a preferred speaker's turns, as of a name in the question

    # Rank (paper 3.3)
    profile: str = "embedded"
    parser: str = ""  # overrides the profile's: a spaCy name or folder
    crossencoder: str = ""  # overrides the profile's: a hub id or folder
    colbert: str = ""  # overrides the profile's: a hub id or folder
    rank: tuple[str, ...] = RANKERS
    fuse: str = "learned"  # where the profile has weights for it, else rrf (docs/decisions/0008)
    weight_ce: float = 0.7
    weight_colbert: float = 0.3
    rrf_k: int = 60
    speaker_rank: float = 0.5  # of its rank: where a preferred speaker's turn moves (docs/decisions/0013)
    candidates: int = -1  # turns the cross-encoder sees: -1 = the default cascade, 0 = all
    cascade: int = 112  # what -1 means with both rankers (docs/decisions/0002)
    colbert_turns: int = 1024  # turns ColBERT sees unless `candidates` is 0

    # Truncate (paper 3.4)
    truncate: str = "adaptive"
    budget: int = 0  # words; 0 = 4,000 adaptive, 2,000 fixed
    tokens: int = 0  # tokens of the named tokenizer; 0 = no ceiling
    alpha: float = 0.03
    top_k: int = 60
    fill: str = "stop"
    order: str = "rank"
    limit: int = 0  # hits shown; 0 = all that survive the cut
    compress: tuple[str, ...] = ()  # of COMPRESSIONS (docs/decisions/0014)

    # Run
    redact: bool = False  # mask secrets in whatever is printed or sent (redact/)
    threads: int = 0  # 0 = the cores this process may use
    timeout: float = 0.0  # seconds; 0 = none
    offline: bool = False
    cache: bool = True  # ColBERT's vectors of turns on disk (docs/decisions/0009)
    cache_size: int = 1024  # MiB of them at most; 0 = none
    daemon: str = "auto"  # whether `query` asks the warm process (docs/serve.md)
    trusted_hosts: tuple[str, ...] = ()  # that `answer` may send turns to without asking (docs/answer.md)

    @property
    def cache_bytes(self) -> int:
        """What the vectors on disk may take; 0 = none."""
        return self.cache_size * 2**20 if self.cache else 0

    @property
    def word_budget(self) -> int:
        """The ceiling in words: as given, else 4,000 adaptive and 2,000 fixed (seeds 1.5)."""
        return self.budget or (2000 if self.truncate == "fixed" else 4000)

    @property
    def cores(self) -> int:
        """Threads to use: as given, else the cores this process may run on."""
        if self.threads:
            return self.threads
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1


PRESETS: dict[str, dict[str, Any]] = {
    "paper": {"candidates": 0, "pool": 0, "fuse": "rrf", "dates": False},
    "paper-locomo": {
        "candidates": 0,
        "pool": 0,
        "fuse": "rrf",
        "dates": False,
        "truncate": "fixed",
        "budget": 2000,
    },
    "index-free": {"rank": ("ce",), "semantic": "off", "dates": False},
}
"""Named bundles of options: the paper's own settings (seeds 1.2, 1.5)."""


def check(config: Config) -> Config:
    """Return `config` or raise ConfigError naming the first value that makes no sense."""
    for name, allowed in CHOICES.items():
        if getattr(config, name) not in allowed:
            raise ConfigError(f"{name} is {getattr(config, name)!r}", hint=f"one of {', '.join(allowed)}")
    if len(set(config.rank) & set(RANKERS)) < len(config.rank):
        raise ConfigError(f"rank is {','.join(config.rank)!r}", hint="ce,colbert, ce, colbert or none")
    if set(config.compress) - set(COMPRESSIONS):
        said = ",".join(config.compress)
        raise ConfigError(f"compress is {said!r}", hint=f"some of {','.join(COMPRESSIONS)}, or none")
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        lowest = -1 if field.name == "candidates" else 0
        if isinstance(value, int | float) and not lowest <= value < LARGEST:
            raise ConfigError(f"{field.name} is {value}", hint=f"a number from {lowest} up")
    if not 0.0 <= config.alpha < 1.0:
        raise ConfigError(f"alpha is {config.alpha}", hint="a share of the best score, 0 up to 1")
    if config.now and not _is_day(config.now):
        raise ConfigError(f"now is {config.now!r}", hint="an ISO date, such as 2023-05-08")
    if config.top_k < 1:
        raise ConfigError(f"top_k is {config.top_k}", hint="1 or more")
    return config


def build(
    given: Mapping[str, Any] | None = None,
    *,
    preset: str = "",
    env: Mapping[str, str] | None = None,
    folder: Path | None = None,
    home: Path | None = None,
) -> Config:
    """One Config from all sources; `given` holds what the command line said, None meaning unsaid.

    Raises ConfigError for an unknown key of a file, a value of the wrong type, or one out of range.
    """
    values: dict[str, Any] = {}
    for _, layer in _outer_layers(env, folder, home):
        values |= layer
    values |= _preset_values(preset)
    values |= {name: value for name, value in (given or {}).items() if value is not None}
    values |= {name: anchored(values[name]) for name in MODELS if name in values}
    return check(dataclasses.replace(Config(), **values))


def is_path(model: str) -> bool:
    """Whether a model is written as a path: `./x`, `../x`, `~/x` or from the root.

    `acme/x` is no path but an id of the model hub, whatever folders there are: the current one may be
    somebody else's.
    """
    return model in (".", "..") or model.startswith(("./", "../", "~", "/")) or Path(model).is_absolute()


def anchored(model: str) -> str:
    """A path as it reads from any folder, for processes that work elsewhere; other names as they are.

    Raises ConfigError where there is no folder to count from.
    """
    if not is_path(model):
        return model
    try:
        return str(Path(model).expanduser().absolute())
    except (OSError, RuntimeError) as error:
        raise ConfigError(f"{model} leads nowhere: {error}", hint="give the path from the root") from error


@dataclass(frozen=True)
class Setting:
    """One setting as it is before the command line has a say, and where that value came from."""

    name: str
    value: Any
    default: Any
    origin: str


def settings(
    *, env: Mapping[str, str] | None = None, folder: Path | None = None, home: Path | None = None
) -> list[Setting]:
    """Every setting in the order of `Config`: `origin` is `default`, a file, or an environment variable.

    Raises ConfigError as `build` does.
    """
    layers = _outer_layers(env, folder, home)
    config = build(env=env, folder=folder, home=home)
    origins = {name: _origin(name, where) for where, layer in layers for name in layer}
    return [
        Setting(f.name, getattr(config, f.name), getattr(Config(), f.name), origins.get(f.name, "default"))
        for f in dataclasses.fields(Config)
    ]


def _origin(name: str, where: str) -> str:
    return f"{ENV_PREFIX}{name.upper()}" if where == ENV_PREFIX else where


def _outer_layers(
    env: Mapping[str, str] | None, folder: Path | None, home: Path | None
) -> list[tuple[str, dict[str, Any]]]:
    """What files and environment set, by where it stands, in the order in which later ones win."""
    env = os.environ if env is None else env
    user, project = user_file(env, home), project_file(folder)
    return [
        (str(user), _file_values(user, trusted=True)),
        (str(project), _file_values(project, trusted=False)),
        (ENV_PREFIX, _env_values(env)),
    ]


def unknown_variables(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """Environment variables with our prefix that set nothing, by name, with the nearest name that would."""
    import difflib

    env = os.environ if env is None else env
    known = [field.name.upper() for field in dataclasses.fields(Config)]
    found = {}
    for key in sorted(env):
        name = key.removeprefix(ENV_PREFIX)
        if name == key or name in known or name in OTHER_VARIABLES or name.startswith(OTHER_PREFIXES):
            continue
        near = difflib.get_close_matches(name.upper(), known, n=1, cutoff=0.6)
        found[key] = f"{ENV_PREFIX}{near[0]}" if near else ""
    return found


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text[:10])
        datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return False
    return True


def _preset_values(preset: str) -> dict[str, Any]:
    if preset and preset not in PRESETS:
        raise ConfigError(f"no preset named {preset!r}", hint=f"one of {', '.join(PRESETS)}")
    return dict(PRESETS.get(preset, {}))


def user_file(env: Mapping[str, str] | None = None, home: Path | None = None) -> Path:
    """Where this user's own settings are; it need not exist."""
    return xdg.folder("XDG_CONFIG_HOME", ".config", env, home) / "smartsearch" / "config.toml"


def project_file(folder: Path | None = None) -> Path:
    """Where the settings of a folder are, by default the current one's; it need not exist."""
    try:
        return (folder or Path.cwd()) / PROJECT_FILE
    except OSError:  # the current folder was removed: it has no settings
        return Path(PROJECT_FILE)


def _file_values(path: Path, *, trusted: bool) -> dict[str, Any]:
    try:
        if not path.is_file():
            return {}
    except OSError:  # in a folder that this user may not even look into
        return {}
    try:
        table = _table(path)
    except RecursionError as error:
        raise ConfigError(f"{path}: nested too deeply", hint="mend or remove the file") from error
    except (OSError, ValueError) as error:  # no TOML, no UTF-8, a number of thousands of digits
        raise ConfigError(f"{path}: {error}", hint="mend or remove the file") from error
    for name in table:
        if not trusted and name in UNTRUSTED:
            raise ConfigError(
                f"{path}: a project file may not set {name!r}",
                hint="set it in the user file, the environment or on the command line",
            )
    return {name: _coerce(name, value, str(path)) for name, value in table.items()}


def _table(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        raw = file.read(LARGEST_FILE + 1)
    if len(raw) > LARGEST_FILE:
        raise ValueError(f"more than {LARGEST_FILE:,} bytes")
    return tomllib.loads(raw.decode())


def _env_values(env: Mapping[str, str]) -> dict[str, Any]:
    known = {field.name for field in dataclasses.fields(Config)}
    values = {}
    for key, raw in env.items():
        name = key.removeprefix(ENV_PREFIX).lower()
        if key.startswith(ENV_PREFIX) and name in known:
            values[name] = _coerce(name, raw, key)
    return values


def _coerce(name: str, raw: Any, where: str) -> Any:
    """`raw` as the type of the field `name`; ConfigError names `where` it stood."""
    hints = get_type_hints(Config)
    if name not in hints:
        raise ConfigError(f"{where}: no setting named {name!r}", hint="see docs/cli.md for the settings")
    kind = hints[name]
    try:
        if get_origin(kind) is tuple:
            parts = raw.split(",") if isinstance(raw, str) else list(raw)
            item = get_args(kind)[0]
            return tuple(item(part) for part in parts if part not in ("", "none"))
        if kind is bool:
            return _truth(raw)
        if name == "candidates" and raw == "all":
            return 0
        if _unlike(raw, kind):
            raise TypeError
        return kind(raw)
    except (TypeError, ValueError, OverflowError) as error:
        raise ConfigError(
            f"{where}: {name} = {raw!r} is not {kind.__name__}", hint="mend the value"
        ) from error


def _unlike(raw: Any, kind: type) -> bool:
    """Whether `raw` of a file would become a `kind` that nobody wrote: 1.9 an 1, true a number."""
    if kind is str:
        return isinstance(raw, bool | list | dict)
    return isinstance(raw, bool) or (kind is int and isinstance(raw, float) and not raw.is_integer())


def _truth(raw: Any) -> bool:
    if isinstance(raw, bool):
        return raw
    word = str(raw).strip().lower()
    if word in ("1", "true", "yes", "on"):
        return True
    if word in ("0", "false", "no", "off", ""):
        return False
    raise ValueError(raw)
