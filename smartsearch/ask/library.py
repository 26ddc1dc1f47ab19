"""One question over some transcripts: read them, search them, time both. `query` and `batch` share it."""

from __future__ import annotations

import io
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from smartsearch.config import Config
from smartsearch.errors import InputError
from smartsearch.transcripts.filters import Filters, Sieve, facts
from smartsearch.transcripts.nearby import nearby
from smartsearch.types import Corpus, Nearby, Result

if TYPE_CHECKING:
    from smartsearch.models.tools import Tools
    from smartsearch.retrieve.grep import Haystack
    from smartsearch.transcripts import Parts, Watch

STDIN_BYTES = 1 << 30
"""As much as one file may hold (transcripts/files.py)."""
KEPT_CORPORA = 2
KEPT_HAYSTACKS = 8
"""How many of the last used transcripts stay in memory between the questions of a batch."""

UNPARSED_ABOVE = 24 * 2**20
"""Bytes of transcripts beyond which JSONL messages are scanned and not parsed: a second's parsing."""

V = TypeVar("V")


@dataclass(frozen=True)
class Scope:
    """What is searched: paths (`-` is standard input) and the filters over what they hold (filters.py).

    `indexed` says whether an index may stand in for files (transcripts/large/indexed.py).
    """

    paths: tuple[str, ...] = (".",)
    conversations: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    globs: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    input_format: str = "auto"
    indexed: bool = True
    only_speakers: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    own: tuple[str, ...] = ()  # real paths of the command's own files, which are no transcripts

    @property
    def filters(self) -> Filters:
        """The filters that work on turns."""
        return Filters(**{field.name: getattr(self, field.name) for field in fields(Filters)})

    @property
    def unfiltered(self) -> Scope:
        """The same files without them."""
        none: dict[str, Any] = {field.name: field.default for field in fields(Filters)}
        return replace(self, **none)


class Library:
    """Sources made ready for search, each read once while it is among the last used."""

    def __init__(
        self,
        stdin: BinaryIO | None = None,
        unparsed_above: int = UNPARSED_ABOVE,
        watch: Watch | None = None,
    ) -> None:
        self._stdin = stdin
        self._watch = watch
        self._unparsed_above = unparsed_above
        self._whole: set[Hashable] = set()
        self._piped: bytes | None = None
        self._corpora: OrderedDict[Hashable, Corpus | Parts] = OrderedDict()
        self._haystacks: OrderedDict[Hashable, Haystack] = OrderedDict()

    def haystack(self, source: Scope) -> Haystack:
        """The turns of `source`, ready for grep. Raises InputError when nothing can be read."""
        return _kept(self._haystacks, KEPT_HAYSTACKS, source, lambda: self._prepared(source))

    def _prepared(self, source: Scope) -> Haystack:
        from smartsearch.retrieve.grep import Haystack

        files = source.unfiltered
        whole = files in self._whole
        if whole and not isinstance(self._corpora.get(files, Corpus()), Corpus):
            del self._corpora[files]
        read = _kept(self._corpora, KEPT_CORPORA, files, lambda: self._read(files, whole=whole))
        if isinstance(read, Corpus):
            return Haystack(read, *_sifted(read, source.filters))
        from smartsearch.retrieve.large import LargeHaystack

        parts = [Haystack(part) if isinstance(part, Corpus) else part for part in read.parts]
        return LargeHaystack(parts, read.skipped, read.warnings, source.filters)

    def read_whole(self, source: Scope) -> None:
        """From now on parse every line of `source`."""
        self._whole.add(source.unfiltered)
        self._haystacks.pop(source, None)

    def _read(self, source: Scope, *, whole: bool) -> Corpus | Parts:
        """The transcripts, with lines unparsed where they are large and not wanted whole."""
        from smartsearch import transcripts

        paths, globs, excludes, own = list(source.paths), source.globs, source.excludes, source.own
        if not whole and "-" not in paths and source.input_format == "auto":
            above, indexed = self._unparsed_above, source.indexed
            return transcripts.read_large(
                paths,
                globs=globs,
                excludes=excludes,
                own=own,
                above=above,
                indexed=indexed,
                watch=self._watch,
            )
        stdin = self._standard_input() if "-" in paths else None
        return transcripts.read(
            paths,
            stdin=stdin,
            input_format=source.input_format,
            globs=globs,
            excludes=excludes,
            own=own,
            watch=self._watch,
        )

    def _standard_input(self) -> BinaryIO:
        if self._stdin is None:
            raise InputError(
                "- is not open for transcripts here", hint="give a file, or - as a PATH of the command"
            )
        if self._piped is None:
            self._piped = self._stdin.read(STDIN_BYTES + 1)
            if len(self._piped) > STDIN_BYTES:
                raise InputError(
                    "standard input is longer than 1 GiB", hint="give it as files", kind="too_large"
                )
        return io.BytesIO(self._piped)


def in_background(work: Callable[[], V]) -> Callable[[], V]:
    """Begin `work` in a thread; the call waits for it, and returns or raises what came of it."""
    future: Future[V] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future.result


def filtered(corpus: Corpus, source: Scope) -> Corpus:
    """The turns that pass the filters, and no other. Raises InputError for a name that no turn has."""
    kept, warnings = _sifted(corpus, source.filters)
    if kept is None:
        return corpus
    return replace(corpus, turns=tuple(corpus.turns[i] for i in kept), warnings=(*corpus.warnings, *warnings))


def _sifted(corpus: Corpus, filters: Filters) -> tuple[list[int] | None, tuple[str, ...]]:
    """The turns that pass, None for all, and what there is to say of it."""
    if not filters.given:
        return None, ()
    sieve = Sieve(filters)
    kept = [index for index, turn in enumerate(corpus.turns) if sieve(facts(turn))]
    return kept, sieve.warnings()


def ask(question: str, source: Scope, config: Config, tools: Callable[[], Tools], library: Library) -> Result:
    """The answer of `search`, with what reading said and how long loading, reading and all of it took.

    `tools` is called after the transcripts are read, so that models can load meanwhile.
    """
    return ask_around(question, source, config, tools, library)[0]


def ask_around(
    question: str,
    source: Scope,
    config: Config,
    tools: Callable[[], Tools],
    library: Library,
    before: int = 0,
    after: int = 0,
) -> tuple[Result, Sequence[Nearby]]:
    """As `ask`, with up to so many turns around each hit; without any where none are wanted."""
    from smartsearch.transcripts.faults import IndexFault, NotByLine

    try:
        return _ask(question, source, config, tools, library, before, after)
    except NotByLine as error:
        library.read_whole(source)
        result, around = _ask(question, source, config, tools, library, before, after)
        said = (error.message,) if isinstance(error, IndexFault) else ()
        return replace(result, warnings=(*said, *result.warnings)), around


def _ask(
    question: str,
    source: Scope,
    config: Config,
    tools: Callable[[], Tools],
    library: Library,
    before: int,
    after: int,
) -> tuple[Result, Sequence[Nearby]]:
    start = time.perf_counter()
    haystack = library.haystack(source)
    read = time.perf_counter()
    ready = tools()
    loaded = time.perf_counter()
    from smartsearch.systems.smartsearch.pipeline import search

    result = search(question, haystack, config, ready)
    spent = {"load": loaded - read, "read": read - start, "total": time.perf_counter() - start}
    timing = result.trace.timing_ms | {stage: seconds * 1000.0 for stage, seconds in spent.items()}
    corpus = haystack.corpus
    around = nearby(corpus, result.hits, before, after) if before or after else ()
    whole = replace(
        result,
        trace=replace(result.trace, timing_ms=timing),
        skipped=corpus.skipped,
        warnings=(*corpus.warnings, *haystack.warnings, *result.warnings),
        filters=_given(source, config),
    )
    return whole, around


def _given(source: Scope, config: Config) -> dict[str, tuple[str, ...]]:
    """The filters that were given, and the speakers preferred, by the names of the options."""
    given = {
        "conversation": source.conversations,
        "session": source.sessions,
        "since": (source.since,) if source.since else (),
        "until": (source.until,) if source.until else (),
        "speaker": config.speaker,
        "only_speaker": source.only_speakers,
        "role": source.roles,
    }
    return {name: values for name, values in given.items() if values}


def _kept(cache: OrderedDict[Hashable, V], size: int, key: Hashable, make: Callable[[], V]) -> V:
    """The cached value of `key`, made if need be; the least recently used goes first."""
    if key not in cache:
        cache[key] = make()
        if len(cache) > size:
            cache.popitem(last=False)
    cache.move_to_end(key)
    return cache[key]
