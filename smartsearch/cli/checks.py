"""Checks whether all that smartsearch needs is in order on this machine; each finding says what to do."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import smartsearch
from smartsearch import __version__
from smartsearch.config import (
    Config,
    build,
    project_faults,
    project_file,
    settings,
    unknown_variables,
    user_file,
)
from smartsearch.errors import CacheError, ConfigError, SmartsearchError
from smartsearch.runtime import extras

if TYPE_CHECKING:
    from packaging.requirements import Requirement

    from smartsearch.llm import Endpoint

State = Literal["ok", "note", "warning", "failure"]

LOW_DISK = 500 * 2**20
"""Bytes; below it caches and an index cannot grow much."""
SLOW_SEARCH = 5.0
"""Seconds for a question over three turns with the models loaded: a healthy machine takes a tenth of one."""
_SAID = (
    ("Maya", "The spare key is under the blue flower pot."),
    ("Jonas", "Dinner is at seven on Friday."),
    ("Maya", "I will bring a lemon cake."),
)
_ASKED = "Where is the spare key?"


@dataclass(frozen=True)
class Finding:
    """A fact: its area, how it stands, what was found, and what to do about it."""

    area: str
    state: State
    said: str
    hint: str = ""


def examine(*, search: bool = True, yes: bool = False) -> Iterator[Finding]:
    """Every finding, area by area; with `search` one question is asked with the configured models.

    With `yes` a language model on another machine is tried too.
    """
    yield from _install()
    config = Config()
    try:
        config = build()
    except ConfigError as error:
        yield Finding("settings", "failure", error.message, error.hint)
    else:
        yield from _settings()
    yield from _machine(config)
    yield from _models(config)
    if search:
        yield from _search(config)
    yield from _cache(config)
    yield from _indexes()
    yield from _warm(config)
    if any(os.environ.get(f"SMARTSEARCH_LLM_{name}") for name in ("BASE_URL", "MODEL", "KEY")):
        yield from _language_model(config, yes)
    yield from _terminal()


def _install() -> Iterator[Finding]:
    yield Finding("install", "ok", f"smartsearch {__version__} in {Path(smartsearch.__file__).parent}")
    python = ".".join(map(str, sys.version_info[:3]))
    yield Finding("install", "ok", f"Python {python} at {sys.executable}")
    for need in _requirements():
        hint = extras.installing(f"{need.name}{need.specifier}")
        try:
            found = version(need.name)
        except PackageNotFoundError:
            yield Finding("install", "failure", f"the package {need.name} is missing", hint)
            continue
        if not need.specifier.contains(found, prereleases=True):
            said = f"{need.name} {found} is not a version smartsearch is for"
            yield Finding("install", "warning", said, hint)
    yield Finding("install", "ok", _extras())


def _extras() -> str:
    """Which extras are installed, and how the others are."""
    absent = [extra for extra in extras.EXTRAS if extras.lacking(extra)]
    there = [extra for extra in extras.EXTRAS if extra not in absent]
    said = f"with the extras {', '.join(there)}" if there else "without extras"
    brought = f" ({extras.command(*absent)} brings them)"
    return f"{said}; not installed: {', '.join(absent)}{brought}" if absent else said


def _requirements() -> Iterator[Requirement]:
    """The packages a bare install needs here."""
    from packaging.requirements import Requirement

    with contextlib.suppress(PackageNotFoundError):  # run from a checkout that is not installed
        for line in requires(extras.DISTRIBUTION) or []:
            need = Requirement(line)
            if need.marker is None or need.marker.evaluate({"extra": ""}):
                yield need


def _settings() -> Iterator[Finding]:
    changed = [setting for setting in settings() if setting.origin != "default"]
    for path in (user_file(), project_file()):
        with contextlib.suppress(OSError):
            if path.is_file():
                yield Finding("settings", "ok", f"{path} is read")
    said = ", ".join(f"{s.name} = {s.value}" for s in changed)
    yield Finding("settings", "note" if changed else "ok", said or "all as they come")
    for fault in project_faults():
        yield Finding("settings", "warning", fault, "mend or remove it")
    for name, near in unknown_variables().items():
        hint = f"did you mean {near}?" if near else "`smartsearch config show` lists the settings"
        yield Finding("settings", "warning", f"{name} sets nothing", hint)


def _machine(config: Config) -> Iterator[Finding]:
    yield Finding("machine", "ok", f"{config.cores} threads")
    flags = _processor()
    if flags and not {"avx512_vnni", "avx_vnni"} & flags and "asimddp" not in flags:
        said = "the processor has no instructions for int8 sums (VNNI): ranking takes about twice as long"
        yield Finding("machine", "note", said, "--candidates 64 halves that, at some cost in what is found")


def _processor() -> set[str]:
    """What the processor can do, as Linux names it; empty where that is not known."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return set()
    lines = (line.partition(":") for line in text.splitlines())
    return next(
        (set(value.split()) for name, _, value in lines if name.strip() in ("flags", "Features")), set()
    )


def _models(config: Config) -> Iterator[Finding]:
    from smartsearch.models import profiles

    try:
        rows = profiles.status(config.profile, deep=True)
    except SmartsearchError as error:
        yield Finding("models", "failure", error.message, error.hint)
        return
    for row in rows:
        known = f"{row.role} {row.id} {row.precision}".rstrip()
        if row.state == "ok":
            yield Finding("models", "ok", f"{known}, {row.bytes / 1e6:,.1f} MB, its files are whole")
        else:
            hint = "install smartsearch-cli again" if row.id.startswith("shipped:") else ""
            hint = hint or f"smartsearch models pull {config.profile}"
            yield Finding("models", "failure", f"the {known} is {row.state}", hint)


def _search(config: Config) -> Iterator[Finding]:
    """One question over three turns, with the models as configured."""
    from smartsearch.models import loading
    from smartsearch.retrieve.grep import Haystack
    from smartsearch.systems.smartsearch.pipeline import search
    from smartsearch.types import Corpus, Turn

    start = time.perf_counter()
    try:
        tools = loading.load_tools(config, cache=False)
        haystack = Haystack(Corpus(tuple(Turn(text, speaker) for speaker, text in _SAID)))
        first = search(_ASKED, haystack, config, tools)
        loaded = time.perf_counter()
        again = search(_ASKED, haystack, config, tools)
        took = time.perf_counter() - loaded
    except SmartsearchError as error:
        yield Finding("search", "failure", error.message, error.hint)
        return
    except Exception as error:
        yield Finding("search", "failure", f"{type(error).__name__}: {error}", "please report it")
        return
    said = f"a question over three turns: {loaded - start:.1f} s with loading, {took:.2f} s after"
    if not first.hits or first.hits[0].turn.text != _SAID[0][1] or first.hits != again.hits:
        yield Finding(
            "search", "failure", f"{said}; not the answer it should be", "smartsearch models verify"
        )
    elif took > SLOW_SEARCH:
        yield Finding("search", "warning", said, "is the machine busy? --threads N, --rank colbert")
    else:
        yield Finding("search", "ok", said)


def _cache(config: Config) -> Iterator[Finding]:
    from smartsearch.rank.cache import vector_store

    try:
        home, held = vector_store.home(), vector_store.usage()
    except CacheError as error:
        yield Finding("cache", "warning", f"{error.message}; searches go without", error.hint)
        return
    if not config.cache_bytes:
        yield Finding("cache", "note", "off: every turn's vectors are made anew", "cache = true, cache_size")
        return
    said = f"{home}: {held.turns:,} turns, {held.bytes / 1e6:,.1f} of {config.cache_bytes / 1e6:,.0f} MB"
    yield Finding("cache", "ok", said)
    nearest = next(folder for folder in (home, *home.parents) if folder.is_dir())
    if not os.access(nearest, os.W_OK | os.X_OK):
        hint = "make it writable, or set XDG_CACHE_HOME to a folder of yours"
        yield Finding("cache", "warning", f"{nearest} cannot be written to; nothing is kept", hint)
    elif (free := shutil.disk_usage(nearest).free) < LOW_DISK:
        hint = "make room, or `smartsearch cache clear`"
        yield Finding("cache", "warning", f"{free / 1e6:,.0f} MB are free below {nearest}", hint)


def _indexes() -> Iterator[Finding]:
    from smartsearch.transcripts.large import indexing

    try:
        held = indexing.held()
    except (CacheError, OSError) as error:
        yield Finding("index", "warning", f"indexes cannot be read: {error}")
        return
    for one in held:
        said = f"{one.path}: {one.files:,} files, {one.turns:,} turns, {one.bytes / 1e6:,.1f} MB, {one.state}"
        if not Path(one.path).exists():
            yield Finding(
                "index",
                "warning",
                f"{said}; the transcripts are gone",
                f"smartsearch index --remove {one.path}",
            )
        elif one.state != "ready":
            yield Finding("index", "warning", said, f"smartsearch index {one.path}")
        else:
            yield Finding("index", "ok", said)
    if not held:
        yield Finding("index", "ok", "none, and none is needed below some 100 MB of transcripts")
    if not _has_trigrams():
        said = f"SQLite {sqlite3.sqlite_version} has no trigrams: `smartsearch index` cannot work"
        yield Finding("index", "note", said, "SQLite 3.34 or later")


def _has_trigrams() -> bool:
    database = sqlite3.connect(":memory:")
    try:
        database.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='trigram')")
    except sqlite3.OperationalError:
        return False
    finally:
        database.close()
    return True


def _warm(config: Config) -> Iterator[Finding]:
    from smartsearch.serve.warm import client, place

    if not place.supported():
        yield Finding("server", "note", "this system has no Unix sockets: every question loads the models")
        return
    try:
        spot = place.place(config)
    except SmartsearchError as error:
        yield Finding("server", "warning", f"{error.message}; no warm process can be used", error.hint)
        return
    holder = place.holder(spot.lock)
    if holder is None:
        stale = spot.socket.exists()
        said = "none runs" + (", a dead one left its socket, which is no harm" if stale else "")
        hint = (
            "a question at a terminal leaves one behind" if config.daemon == "auto" else "`smartsearch serve`"
        )
        yield Finding("server", "ok", said, f"{hint}, which keeps the models loaded for the next questions")
        return
    told = client.status(spot.socket)
    if told is None:
        said = f"pid {holder.get('pid')} runs and does not answer"
        yield Finding("server", "warning", said, "smartsearch serve --stop")
    else:
        held = f", {told['rss_bytes'] / 1e6:.0f} MB" if "rss_bytes" in told else ""
        said = f"pid {holder.get('pid')} is {told.get('state')}{held}, {spot.socket}"
        yield Finding("server", "ok", said, "smartsearch serve --stop")


PROBED = 30.0
"""Seconds that a language model has for a word: one that has to be loaded first takes some."""


def _language_model(config: Config, yes: bool) -> Iterator[Finding]:
    """What the servers that answer and that systems ask can do; they are sent no chats."""
    from smartsearch import llm

    try:
        every = dict.fromkeys((llm.reader_endpoint(), llm.memory_endpoint(model=config.memory_llm)))
    except llm.LLMError as error:
        yield Finding("llm", "failure", error.message, error.hint)
        return
    for endpoint in every:
        yield from _server(endpoint, config, yes)


def _server(endpoint: Endpoint, config: Config, yes: bool) -> Iterator[Finding]:
    from smartsearch import llm

    try:
        if endpoint.offline:
            yield Finding(
                "llm", "note", "kept replies alone, nothing is sent", "unset SMARTSEARCH_LLM_OFFLINE"
            )
            return
        if not (yes or endpoint.agreed(config.trusted_hosts)):
            said = f"{endpoint.url} is not on this machine, and was not tried"
            yield Finding("llm", "note", said, "doctor --yes tries it")
            return
        with contextlib.closing(llm.Client(endpoint, timeout=PROBED, retries=0)) as client:
            found = llm.probe(client)
    except llm.LLMError as error:
        yield Finding("llm", "failure", error.message, error.hint)
        return
    context = f", reads {found.context:,} tokens" if found.context else ""
    yield Finding("llm", "ok", f"{endpoint.url} answers as {found.answers_as}{context}")
    if found.models and endpoint.model not in found.models:
        said = f"{endpoint.model} is not among its models: {', '.join(found.models[:5])}"
        yield Finding("llm", "note", said, f"{endpoint.prefix}_MODEL")
    if found.thinks:
        said = "it says nothing in 64 tokens: a model that thinks first is slow and seldom does for --llm"
        yield Finding("llm", "warning", said, "turn its thinking off, or another model")
        return
    yield _capability(found.schema, "JSON by schema", "JSON is asked for in words, and repaired")
    yield _capability(found.logprobs, "log-probabilities", "doubt is measured by five replies instead of one")


def _capability(there: bool, what: str, without: str) -> Finding:
    return (
        Finding("llm", "ok", f"it gives {what}") if there else Finding("llm", "note", f"no {what}: {without}")
    )


def _terminal() -> Iterator[Finding]:
    env = os.environ
    for name, stream in (("standard output", sys.__stdout__), ("standard input", sys.__stdin__)):
        kind = "a terminal" if stream is not None and stream.isatty() else "no terminal"
        yield Finding("terminal", "ok", f"{name} is {kind}")
    size = shutil.get_terminal_size()
    term = env.get("TERM") or "not set"
    yield Finding("terminal", "ok", f"TERM {term}, {size.columns} columns, {size.lines} lines")
    encoding = sys.getfilesystemencoding()
    if encoding.lower().replace("-", "") != "utf8":
        said = f"the locale's encoding is {encoding}: names of files outside it cannot be typed"
        yield Finding("terminal", "warning", said, "export LC_ALL=C.UTF-8")
    told = [f"{name}={env[name]}" for name in ("NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE") if env.get(name)]
    if told:
        yield Finding("terminal", "note", f"colour is set by {', '.join(told)}")
    if not os.access(tempfile.gettempdir(), os.W_OK):
        yield Finding("terminal", "warning", f"{tempfile.gettempdir()} cannot be written to", "set TMPDIR")
