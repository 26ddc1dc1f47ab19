"""The one home of every default, with its unit and the paper section or decision that set it.

Precedence: command line > `SMARTSEARCH_*` environment > project file > user file > default. A project file
(`.smartsearch.toml`, which may come with somebody else's repository) can set numbers and modes but never name
a model, a profile or a path to load, nor start a process that stays, nor say what is masked or that the
network may be used. Each answer tells what such a file changes. Its errors are told and left out, so that
they cost no search.
"""

from __future__ import annotations

import dataclasses
import os
import re
import reprlib
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_origin, get_type_hints

from smartsearch.errors import ConfigError, UsageError
from smartsearch.runtime import xdg
from smartsearch.runtime.extras import needs
from smartsearch.settings import COUNT_OR_ALL, Part, Reads, cuts, finds, ranks, runs

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover - Python 3.10
    import tomli as tomllib

PROJECT_FILE = ".smartsearch.toml"
ENV_PREFIX = "SMARTSEARCH_"
OTHER_VARIABLES = ("DEBUG", "EDITOR_URL")
"""Words that may follow the prefix without being a setting, beside those that begin as `OTHER_PREFIXES`."""
OTHER_PREFIXES = ("LLM_", "READER_", "JUDGE_", "MEMORY_")


GUESTS: list[Any] = import_module("smartsearch.systems").settings()
"""The modules of the settings that systems declare (systems/__init__.py)."""
RANKERS = {  # paper 3.5
    "ce": Reads(0.7, head=True),
    "colbert": Reads(0.3),
}
for guest in GUESTS:
    RANKERS |= getattr(guest, "RANKERS", {})
"""The scorers that `rank` may name, also those of systems. The default is the paper's two."""
COMPRESSIONS = ("dates", "speakers")
BESIDE = ("date", "before")
"""What scorers may see beside a turn."""
LARGEST = 1e9
"""No setting is ever larger; refuses infinity too."""
CHATS = "chats"
"""The table of the user's file that names folders of chats; it is no setting."""
LARGEST_FILE = 2**16
"""Bytes of a settings file: all that can be set takes a twentieth of it."""
SHOWN, LONGEST, LISTED = 60, 120, 4
"""Characters of a value and of a fault, and faults of a file, told at most: a stranger wrote them."""


@dataclass(frozen=True)
class Core:
    """Everything a search depends on beside the question and the turns, but for systems' own settings."""

    system: str = finds(
        "smartsearch", "Which memory system answers.", "Ranking", metavar="NAME", trusted=True
    )

    llm: bool = runs(  # of no part: the fingerprint of a system that asks a model tells it apart
        False,
        "Let the system ask a language model, as its paper does: it gets your chats (docs/answer.md).",
        "Language model",
        trusted=True,
    )

    memory_llm: str = runs(
        "",
        "Let --llm ask another model than `answer` does, at SMARTSEARCH_MEMORY_BASE_URL if that is set.",
        "Language model",
        metavar="MODEL",
        shown="SMARTSEARCH_LLM_MODEL",
        trusted=True,
    )

    typed: bool = finds(  # docs/decisions/0016
        True,
        "What is typed counts: codes, numbers and quoted phrases are terms; tell how sure the answer is.",
        "Retrieval",
        rare=True,
    )

    # Parse (paper 3.3)
    weight_propn: float = finds(3.0)
    weight_noun: float = finds(2.0)
    weight_verb: float = finds(1.0)
    weight_entity: float = finds(1.0)  # added to a token inside a named entity
    min_length: int = finds(3)  # characters of a term
    min_length_propn: int = finds(2)  # characters of a proper noun

    # Retrieve (paper 3.3) and expand (paper 3.4)
    hops: int = finds(
        3, "Most steps from name to name; 1 is a plain grep.", "Retrieval", rare=True
    )  # paper table 1
    prf: bool = finds(
        True, "One more step over nouns that several of the best turns share.", "Retrieval", rare=True
    )
    mode: str = finds(
        "or",
        "A turn must contain any term (or), or every term of the question and no hops (and).",
        "Retrieval",
        choices=("or", "and"),
    )
    semantic: str = finds(
        "fallback",
        "Search by meaning: off, when words find too little, always.",
        "Retrieval",
        choices=("off", "fallback", "always"),
    )
    first: str = finds(
        "static",
        "What searches by meaning and chooses what ColBERT reads: static vectors; or match weight, where "
        "ColBERT searches, as in the paper.",
        "Retrieval",
        choices=("static", "match"),
        rare=True,
    )
    pool: int = finds(  # docs/decisions: few candidates
        200,
        "Fewer candidates are filled up with the nearest in meaning; 0 is the paper's way.",
        "Retrieval",
        rare=True,
    )
    word_boundary: bool = finds(False, "Match terms as whole words only.", "Retrieval", rare=True)
    entity_source: str = finds(
        "top10", "Turns whose names feed the next hop.", "Retrieval", choices=("top10", "all"), rare=True
    )
    fuzzy: bool = finds(True, "Match a term that hits nothing to the nearest words.", "Retrieval")
    dates: bool = finds(True, "Look for the question's dates among the turns' dates.", "Retrieval")
    hop_sources: int = finds(10)  # turns whose entities and nouns feed the next hop
    hop_terms: int = finds(10, "Most new terms of a hop; 0 for all.", "Retrieval", rare=True)
    hop_characters: int = finds(  # docs/decisions/0003
        2000, "Characters of a turn that hops look at; 0 for all.", "Retrieval", rare=True
    )
    hop_speakers: bool = finds(False, "Speakers' names are terms of hops too.", "Retrieval", rare=True)
    weight_hop: float = finds(2.5)
    prf_min_turns: int = finds(2)  # of the top `hop_sources` turns
    weight_prf: float = finds(0.5)
    fuzzy_cutoff: float = finds(80.0)  # rapidfuzz ratio, 0-100
    fuzzy_words: int = finds(3)  # nearest words taken for a term without a hit
    semantic_below: int = finds(5)  # candidates of hop 1 under which the fallback fires
    semantic_top: int = finds(50)  # turns the dense search adds
    likely_turns: int = finds(1024)  # turns that words find, where more hold one; all if `candidates` is 0
    weight_date: float = finds(2.0)  # of a date of the question in a turn's time, as of a noun
    weight_speaker: float = finds(4.0)  # of a preferred speaker's turns, as of a name in the question
    speaker: tuple[str, ...] = finds(
        (),
        "Prefer this speaker's turns: they rank twice as high, and no other is left out.",
        "Filters",
        metavar="NAME",
        shown="-",
    )
    now: str = finds(
        "",
        "The day that `last week` counts from, here and in the question: a date.",
        "Filters",
        metavar="DATE",
        shown="today",
    )

    # Rank (paper 3.5)
    lift: bool = ranks(
        True,
        "With `typed`: replies, what holds what was typed, and somebody's last or first message move up.",
        "Ranking",
        rare=True,
    )
    profile: str = ranks(
        "embedded",
        f"Set of models, see `smartsearch models list`; paper {needs('hub')}.",
        "Ranking",
        trusted=True,
        weights=True,
    )
    parser: str = ranks(
        "",
        "A spaCy pipeline: name, or folder as ./PATH.",
        "Ranking",
        metavar="MODEL",
        shown="the profile's",
        trusted=True,
        weights=True,
    )
    crossencoder: str = ranks(
        "",
        f"A cross-encoder: folder as ./PATH, or hub id, which {needs('hub')}.",
        "Ranking",
        metavar="MODEL",
        shown="the profile's",
        trusted=True,
        weights=True,
    )
    colbert: str = ranks(
        "",
        f"A ColBERT model: folder as ./PATH, or hub id, which {needs('hub')}.",
        "Ranking",
        metavar="MODEL",
        shown="the profile's",
        trusted=True,
        weights=True,
    )
    rank: tuple[str, ...] = ranks(
        ("ce", "colbert"),
        "Which rankers run: any of these, or none.",
        "Ranking",
        metavar=f"{','.join(RANKERS)}|none",
    )
    fast: bool = ranks(
        False, "Quick: words and static vectors, no network; ranked less well, as --rank none.", "Ranking"
    )
    fuse: str = ranks(  # learned where the profile has weights for it, else rrf
        "learned",
        "How the rankers' scores become one order: learned weights, or the paper's rrf.",
        "Ranking",
        choices=("learned", "rrf"),
        rare=True,
    )
    candidates: int = ranks(  # -1: the default cascade; 0: all
        -1,
        "Turns the cross-encoder reads: a number, or `all` as in the paper (slower).",
        "Retrieval",
        lowest=-1,
        metavar=COUNT_OR_ALL,
        shown="112 with both rankers, else all",
    )
    beside: tuple[str, ...] = ranks(  # docs/decisions/0004
        BESIDE,
        "What rankers see beside a turn: its date, the ends of the turns before.",
        "Ranking",
        choices=BESIDE,
        metavar="date,before|none",
        rare=True,
    )
    windows: bool = ranks(  # docs/decisions/0006
        True, "Of a long turn rankers read the likeliest part; off: its beginning.", "Ranking", rare=True
    )
    calibrate: bool = ranks(
        True,
        "The shipped cross-encoder's score is the chance to answer; off: the sigmoid of what it puts out.",
        "Ranking",
        rare=True,
    )
    weight_ce: float = ranks(RANKERS["ce"].weight)
    weight_colbert: float = ranks(RANKERS["colbert"].weight)
    rrf_k: int = ranks(60)
    speaker_rank: float = ranks(0.5)  # of its rank: where a preferred speaker's turn moves
    cascade: int = ranks(112)  # what `candidates` -1 means with both rankers
    colbert_turns: int = ranks(320)  # turns ColBERT reads unless `candidates` is 0 (docs/decisions/0002)
    wanted: int = ranks(0)  # hits that somebody will look at; 0: `limit`, or all

    # Truncate (paper 3.6)
    truncate: str = cuts(
        "adaptive",
        "How the ranked list is cut: not, by words, or by score.",
        "Budget",
        choices=("none", "fixed", "adaptive"),
    )
    budget: int = cuts(  # 0: 4,000 adaptive, 2,000 fixed
        0, "Most words in all.", "Budget", metavar="WORDS", shown="4000 adaptive, 2000 fixed"
    )
    tokens: int = cuts(
        0, "Most tokens in all, counted with the tokenizer the output names.", "Budget", shown="no ceiling"
    )
    alpha: float = cuts(  # docs/decisions/0004; the paper's presets have .03
        0.01, "adaptive: a turn stays if its score is at least this share of the best score.", "Budget"
    )
    min_score: float = cuts(
        0.0, "Leave out turns whose chance to answer, 0 to 1, is lower.", "Budget", metavar="CHANCE"
    )
    top_k: int = cuts(60, "adaptive: most turns looked at, by rank.", "Budget", lowest=1)
    fill: str = cuts(  # docs/decisions/0006; the paper's presets stop
        "skip",
        "At a turn that does not fit: stop, skip it, or cut it and stop.",
        "Budget",
        choices=("stop", "skip", "cut"),
    )
    whole: bool = cuts(  # docs/decisions/0006
        False, "Show and count long turns whole, not the parts of them that answer.", "Budget"
    )
    order: str = cuts(
        "rank", "Order of the turns that stay: by rank, or by time.", "Budget", choices=("rank", "time")
    )
    compress: tuple[str, ...] = cuts(
        (),
        "Say once what turns repeat, in --format context and in what the budget counts: dates, speakers "
        "(initials and a legend).",
        "Budget",
        choices=COMPRESSIONS,
        metavar="dates,speakers",
        shown="none",
    )
    limit: int = cuts(
        0,
        "Most turns shown, best first (0 for all).",
        "Output",
        "--limit",
        "-n",
        shown="a terminal 5, text and md 10, JSON 20; else all",
    )

    # Run
    redact: bool = cuts(
        False, "Mask keys, passwords, card and account numbers (docs/answer.md).", "Output", trusted=True
    )
    threads: int = runs(0, "Threads the models use.", "Run", shown="all cores")
    timeout: float = runs(
        0.0, "Give up on a question after this long.", "Run", metavar="SECONDS", shown="never"
    )
    offline: bool = runs(False, "Never ask the model hub for anything.", "Run", trusted=True)
    cache: bool = runs(
        True,
        "Keep ColBERT's vectors of turns (`smartsearch cache`), and use an index (`smartsearch index`).",
        "Run",
        trusted=True,
    )
    cache_size: int = runs(1024, trusted=True)  # MiB of vectors at most; 0 = none
    daemon: str = runs(
        "auto",
        "Ask the warm process of `smartsearch serve`: auto, if one runs, and at a terminal leave one behind; "
        "always, and start one first; never.",
        "Run",
        choices=("auto", "always", "never"),
        trusted=True,
    )
    trusted_hosts: tuple[str, ...] = runs((), trusted=True)  # `answer` sends there unasked

    # not a setting: notes for each answer on what a project's file sets, and on its faults
    notes: tuple[str, ...] = dataclasses.field(default=(), compare=False)

    def weight_of(self, ranker: str) -> float:
        """A scorer's weight in RRF: the setting `weight_NAME` where there is one, else its row's."""
        return float(getattr(self, f"weight_{ranker}", RANKERS[ranker].weight))

    @property
    def cache_bytes(self) -> int:
        """What the vectors on disk may take; 0 = none."""
        return self.cache_size * 2**20 if self.cache else 0

    @property
    def word_budget(self) -> int:
        """The ceiling in words: as given, else 4,000 adaptive and 2,000 fixed (paper table 5)."""
        return self.budget or (2000 if self.truncate == "fixed" else 4000)

    @property
    def cores(self) -> int:
        """Threads to use: as given, else the cores this process may run on."""
        if self.threads:
            return self.threads
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1


if TYPE_CHECKING:
    Config = Core
else:
    Config = dataclasses.make_dataclass(
        "Config",
        (),
        bases=(*(guest.Settings for guest in reversed(GUESTS)), Core),
        namespace={
            "__doc__": "Every setting: the core's, then those that systems declare.",
            "__module__": __name__,
        },
        frozen=True,
    )

FIELDS = {field.name: field for field in dataclasses.fields(Config) if field.metadata}
"""Every setting by its name."""
MODELS = tuple(name for name, field in FIELDS.items() if field.metadata["weights"])
"""Settings that decide which weights are loaded."""


def names(*parts: Part) -> tuple[str, ...]:
    """The settings that change these parts of a search."""
    return tuple(name for name, field in FIELDS.items() if field.metadata["part"] in parts)


_PAPER: dict[str, Any] = {
    # settings that the paper does not mention, before files and environment
    **{
        name: FIELDS[name].default
        for name in names("find", "rank", "cut")
        if not FIELDS[name].metadata["trusted"]
    },
    "system": "smartsearch",
    # parse (paper 3.3)
    **{"typed": False, "weight_propn": 3.0, "weight_noun": 2.0, "weight_verb": 1.0, "weight_entity": 1.0},
    # retrieve (paper 3.3) and expand (paper 3.4)
    **{"mode": "or", "word_boundary": False, "fuzzy": False, "dates": False, "pool": 0, "speaker": ()},
    **{"hops": 3, "entity_source": "all", "hop_terms": 0, "hop_characters": 0, "hop_speakers": False},
    **{"weight_hop": 2.5, "prf": True, "hop_sources": 10, "prf_min_turns": 2, "weight_prf": 0.5},
    **{"semantic": "fallback", "semantic_below": 5, "first": "match"},
    # rank (paper 3.5)
    **{"profile": "paper", "parser": "", "crossencoder": "", "colbert": "", "rank": ("ce", "colbert")},
    **{"candidates": 0, "beside": (), "windows": False, "calibrate": False, "lift": False},
    **{"fast": False, "fuse": "rrf", "weight_ce": 0.7, "weight_colbert": 0.3, "rrf_k": 60},
    # truncate (paper 3.6)
    **{"truncate": "adaptive", "alpha": 0.03, "top_k": 60, "budget": 4000, "tokens": 0},
    **{"fill": "stop", "whole": True, "order": "rank", "compress": (), "min_score": 0.0},
}
PRESETS: dict[str, dict[str, Any]] = {
    "paper": _PAPER,
    "paper-locomo": _PAPER | {"truncate": "fixed", "budget": 2000},
    "index-free": _PAPER | {"profile": "paper-index-free", "rank": ("ce",), "semantic": "off"},
}
"""What the paper does, whole: by its recommended cut, by the one it has on LoCoMo, and without any index.

Every setting that a project's file may set and that changes an answer is here, so that no file or variable
makes a hybrid of it.
"""
ASKED = ("now", "wanted", "limit")
"""Settings that say how one question is asked and shown, not by which method."""


def beyond_paper(config: Config) -> list[str]:
    """The settings in which a config with the paper's models differs from the nearest preset."""
    own = [values for values in PRESETS.values() if values["profile"] == config.profile]
    found = (
        [name for name, value in values.items() if getattr(config, name) != value and name not in ASKED]
        for values in own
    )
    return min(found, key=len, default=[])


def check(config: Config) -> Config:
    """Return `config` or raise ConfigError naming the first value that makes no sense."""
    for name, field in FIELDS.items():
        value, allowed = getattr(config, name), field.metadata["choices"]
        if isinstance(value, str) and allowed and value not in allowed:
            raise ConfigError(f"{name} is {value!r}", hint=f"one of {', '.join(allowed)}")
        if isinstance(value, tuple) and allowed and set(value) - set(allowed):
            said = f"some of {','.join(allowed)}, or none"
            raise ConfigError(f"{name} is {','.join(value)!r}", hint=said)
    if len(set(config.rank) & set(RANKERS)) < len(config.rank):
        raise ConfigError(f"rank is {','.join(config.rank)!r}", hint=f"some of {','.join(RANKERS)}, or none")
    for name, field in FIELDS.items():
        value, lowest = getattr(config, name), field.metadata["lowest"]
        if isinstance(value, int | float) and not lowest <= value < LARGEST:
            raise ConfigError(f"{name} is {value}", hint=f"a number from {lowest} up")
    if not 0.0 <= config.alpha < 1.0:
        raise ConfigError(f"alpha is {config.alpha}", hint="a share of the best score, 0 up to 1")
    if config.min_score and "ce" not in config.rank:
        said = "min_score is a chance that only the cross-encoder tells, and it does not run"
        raise ConfigError(said, hint="leave out --min-score, or --fast and --rank")
    if config.min_score > 1.0:
        raise ConfigError(f"min_score is {config.min_score}", hint="a chance, 0 to 1")
    if config.now and not _is_day(config.now):
        raise ConfigError(f"now is {config.now!r}", hint="an ISO date, such as 2023-05-08")
    return config


def build(
    given: Mapping[str, Any] | None = None,
    *,
    preset: str = "",
    env: Mapping[str, str] | None = None,
    folder: Path | None = None,
    home: Path | None = None,
) -> Config:
    """One Config from all sources; `given` holds what the command line said, None for nothing.

    A `preset` goes over files and environment. Raises ConfigError for an unknown key of the user's file, a
    value of the wrong type, or one out of range, UsageError where `given` disagrees with itself; what is
    wrong in a project's file is left out, and a note of the config.
    """
    user, project, outer = _outer_layers(env, folder, home)
    said = {name: value for name, value in (given or {}).items() if value is not None}
    if said.get("fast") and said.get("rank"):
        both = f"--fast runs no ranker, and --rank names {written(said['rank'])}"
        raise UsageError(both, hint="give one of them")
    if preset and preset not in PRESETS:
        raise ConfigError(f"no preset named {preset!r}", hint=f"one of {', '.join(PRESETS)}")
    over = _over(outer.values, PRESETS.get(preset, {}), said)
    values = _over(user.values, project.values, over)
    values |= {name: anchored(values[name]) for name in MODELS if name in values}
    config = check(dataclasses.replace(Config(), **values))
    before = dataclasses.replace(Config(), **_over(user.values))
    sets = [
        f"{name} = {said if len(said) <= SHOWN else f'{said[:SHOWN]}...'}"
        for name in (*names("find", "rank", "cut"), "timeout")
        if name in project.values.keys() - over.keys() and getattr(config, name) != getattr(before, name)
        for said in [written(getattr(config, name))]
    ]
    told = [f"{project.where} sets {', '.join(sets)}"] if sets else []
    return dataclasses.replace(config, notes=(*told, *project.faults))


def _over(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of all layers, later ones over earlier: a layer that names rankers undoes `fast` below."""
    values: dict[str, Any] = {}
    for layer in layers:
        values |= {"fast": False} if layer.get("rank") else {}
        values |= layer
    return values | ({"rank": ()} if values.get("fast") else {})


def written(value: object) -> str:
    """A value as a settings file writes it, without quotes."""
    if isinstance(value, bool):
        return str(value).lower()
    return (",".join(map(str, value)) if isinstance(value, tuple) else str(value)) or "-"


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
    """One setting before the command line changes it, and the origin of its value."""

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
    config = build(env=env, folder=folder, home=home)
    origins = {name: one.origin(name) for one in _outer_layers(env, folder, home) for name in one.values}
    origins |= {"rank": origins["fast"]} if config.fast else {}
    return [
        Setting(name, getattr(config, name), field.default, origins.get(name, "default"))
        for name, field in FIELDS.items()
    ]


class _Layer(NamedTuple):
    """What one source sets, where that stands, and what is wrong in it."""

    where: str
    values: dict[str, Any]
    faults: tuple[str, ...] = ()

    def origin(self, name: str) -> str:
        return f"{ENV_PREFIX}{name.upper()}" if self.where == ENV_PREFIX else self.where


def project_faults(folder: Path | None = None) -> tuple[str, ...]:
    """What is wrong in the project's file, and so left out of it."""
    return _project_layer(project_file(folder)).faults


def _outer_layers(
    env: Mapping[str, str] | None, folder: Path | None, home: Path | None
) -> tuple[_Layer, _Layer, _Layer]:
    """What the user's file, the project's and the environment set: later ones win."""
    env = os.environ if env is None else env
    user = user_file(env, home)
    return (
        _Layer(str(user), _user_values(user)),
        _project_layer(project_file(folder)),
        _Layer(ENV_PREFIX, _env_values(env)),
    )


def unknown_variables(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """Environment variables with our prefix that set nothing, by name, with the nearest name that would."""
    import difflib

    env = os.environ if env is None else env
    known = [name.upper() for name in FIELDS]
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


def user_file(env: Mapping[str, str] | None = None, home: Path | None = None) -> Path:
    """Where this user's own settings are; it need not exist."""
    return xdg.folder("XDG_CONFIG_HOME", ".config", env, home) / "smartsearch" / "config.toml"


def project_file(folder: Path | None = None) -> Path:
    """Where the settings of a folder are, by default the current one's; it need not exist."""
    try:
        return (folder or Path.cwd()) / PROJECT_FILE
    except OSError:  # the current folder was removed: it has no settings
        return Path(PROJECT_FILE)


def chats(env: Mapping[str, str] | None = None, home: Path | None = None) -> dict[str, tuple[str, ...]]:
    """The user's own names for their chats, the table `[chats]` of their file: paths from the root or `~`.

    Raises ConfigError.
    """
    path = user_file(env, home)
    named = _table(path)[0].get(CHATS, {})
    if not isinstance(named, dict):
        raise ConfigError(f"{path}: {CHATS} is no table", hint='[chats], then family = "~/Chats/family"')
    found = {}
    for name, written in named.items():
        paths = tuple(written) if isinstance(written, list) else (written,)
        if not re.fullmatch(r"[\w-]+", name) or name == "all":
            raise ConfigError(
                f"{path}: {name!r} is no name for chats", hint="letters, digits, - and _; not all"
            )
        if not paths or not all(isinstance(p, str) and p.startswith(("~", "/", "\\")) for p in paths):
            hint = f'such as {name} = "~/Chats/{name}", or a list of such'
            raise ConfigError(f"{path}: {CHATS}.{name} is no path from the root or ~", hint=hint)
        found[name] = paths
    return found


def _user_values(path: Path) -> dict[str, Any]:
    table, lines = _table(path)
    return {
        name: coerced(name, raw, f"{path}{lines(name)}: ") for name, raw in table.items() if name != CHATS
    }


def _project_layer(path: Path) -> _Layer:
    """The settings of a file that may be a stranger's: what is wrong or not allowed is told and left out."""
    values: dict[str, Any] = {}
    faults = []
    try:
        if os.path.lexists(path) and not path.is_file():
            raise ConfigError(f"{path} is no file")
        table, lines = _table(path)
    except ConfigError as error:
        return _Layer(str(path), {}, (f"{error.message}; nothing of it is heeded",))
    except OSError:  # in a folder that this user may not read
        return _Layer(str(path), {})
    for name, raw in table.items():
        where = f"{path}{lines(name)}"
        try:
            if name == CHATS or (name in FIELDS and FIELDS[name].metadata["trusted"]):
                raise ConfigError(f"a project file may not set {name!r}")
            value = coerced(name, raw)
            check(dataclasses.replace(Config(), **{name: value}))
            values[name] = value
        except ConfigError as error:
            faults.append(f"{where}: {error.message[:LONGEST]}; left out")
    more = [f"{path}: and {len(faults) - LISTED:,} more left out"] if len(faults) > LISTED else []
    return _Layer(str(path), values, (*faults[:LISTED], *more))


def _table(path: Path) -> tuple[dict[str, Any], Callable[[str], str]]:
    """The values of a settings file, empty without a file, and `:LINE` of a name. Raises ConfigError."""
    try:
        text = _text(path)
        table = tomllib.loads(text)
    except RecursionError as error:
        raise ConfigError(f"{path}: nested too deeply", hint="mend or remove the file") from error
    except (OSError, ValueError) as error:  # no TOML, no UTF-8, a number of thousands of digits
        raise ConfigError(f"{path}: {error}", hint="mend or remove the file") from error
    begins: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        begins.setdefault(re.split(r"[\s=.\]\"']", line.lstrip(" \t[\"'"), maxsplit=1)[0], number)
    return table, lambda name: f":{begins[name]}" if name in begins else ""


def _text(path: Path) -> str:
    try:
        if not path.is_file():
            return ""
    except OSError:  # in a folder that this user may not read
        return ""
    with path.open("rb") as file:
        raw = file.read(LARGEST_FILE + 1)
    if len(raw) > LARGEST_FILE:
        raise ValueError(f"more than {LARGEST_FILE:,} bytes")
    return raw.decode("utf-8-sig")


def _env_values(env: Mapping[str, str]) -> dict[str, Any]:
    named = {key: key.removeprefix(ENV_PREFIX).lower() for key in env if key.startswith(ENV_PREFIX)}
    return {name: coerced(name, env[key], f"{key}: ") for key, name in named.items() if name in FIELDS}


def assigned(said: Iterable[str]) -> dict[str, Any]:
    """The settings of `--set NAME=VALUE`, by name. Raises UsageError or ConfigError."""
    values = {}
    for text in said:
        name, equals, raw = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or name not in FIELDS:
            from difflib import get_close_matches

            near = get_close_matches(name, FIELDS, n=1)
            hint = f"did you mean {near[0]}?" if near else "docs/cli.md#settings lists them: --set hops=2"
            raise UsageError(
                f"--set {text}: no setting named {name!r}" if equals else f"--set {text}: no value", hint=hint
            )
        values[name] = coerced(name, raw.strip(), f"--set {name}: ")
    return values


def coerced(name: str, raw: Any, where: str = "") -> Any:
    """`raw` as the type of the setting `name`. Raises ConfigError, which begins with `where` it stood."""
    if name not in FIELDS:
        said = reprlib.repr(name)
        raise ConfigError(f"{where}no setting named {said}", hint="see docs/cli.md for the settings")
    kind = get_type_hints(Config)[name]
    try:
        if get_origin(kind) is tuple:
            parts = raw.split(",") if isinstance(raw, str) else list(raw)
            item = get_args(kind)[0]
            return tuple(item(part) for part in parts if part not in ("", "none"))
        if kind is bool:
            return _truth(raw)
        if raw == "all" and FIELDS[name].metadata["metavar"] == COUNT_OR_ALL:
            return 0
        if _unlike(raw, kind):
            raise TypeError
        return kind(raw)
    except (TypeError, ValueError, OverflowError) as error:
        raise ConfigError(
            f"{where}{name} = {reprlib.repr(raw)} is not {kind.__name__}", hint="mend the value"
        ) from error


def _unlike(raw: Any, kind: type) -> bool:
    """Whether `raw` would silently become another value as a `kind`: 1.9 a 1, true a number."""
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
