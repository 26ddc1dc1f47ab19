"""Transcripts made ready for search, each read once while it is among the last used."""

from __future__ import annotations

import io
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from smartsearch.ask.scope import Scope
from smartsearch.errors import InputError
from smartsearch.transcripts.filters import Filters, Sieve, facts
from smartsearch.types import Corpus

if TYPE_CHECKING:
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


class Library:
    """Sources made ready for search, each read once while it is among the last used."""

    def __init__(
        self, stdin: BinaryIO | None = None, unparsed_above: int = UNPARSED_ABOVE, watch: Watch | None = None
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

    def reading(self, source: Scope, work: Callable[[], V]) -> tuple[V, str]:
        """What `work` makes of `source`, and the fault of an index or "".

        If a line needs others to be understood, or an index fails, `source` is read whole and `work` is
        repeated.
        """
        from smartsearch.transcripts.faults import IndexFault, NotByLine

        try:
            return work(), ""
        except NotByLine as error:
            self.read_whole(source)
            return work(), error.message if isinstance(error, IndexFault) else ""

    def read_whole(self, source: Scope) -> None:
        """From now on parse every line of `source`."""
        from smartsearch.retrieve.large import LargeHaystack

        self._whole.add(source.unfiltered)
        if isinstance(self._haystacks.get(source), LargeHaystack):
            del self._haystacks[source]

    def _read(self, source: Scope, *, whole: bool) -> Corpus | Parts:
        """The transcripts, with lines unparsed where they are large and not wanted whole."""
        from smartsearch import transcripts

        paths, chosen, watch = list(source.paths), source.selection, self._watch
        if not whole and "-" not in paths and source.input_format == "auto":
            above, indexed = self._unparsed_above, source.indexed
            return transcripts.read_large(paths, chosen, above=above, indexed=indexed, watch=watch)
        stdin = self._standard_input() if "-" in paths else None
        form = source.input_format
        return transcripts.read(paths, chosen, stdin=stdin, input_format=form, watch=watch)

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
    """Start `work` in a thread. What is returned waits for it, and gives its value or raises its error."""
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


def _kept(cache: OrderedDict[Hashable, V], size: int, key: Hashable, make: Callable[[], V]) -> V:
    """The cached value of `key`, made if need be; the least recently used goes first."""
    if key not in cache:
        cache[key] = make()
        if len(cache) > size:
            cache.popitem(last=False)
    cache.move_to_end(key)
    return cache[key]
