"""One question over some transcripts: the one way in for every command, and what each of them gets.

The transcripts are read and filtered, a system searches, what was said on the way is added, and secrets are
masked in what was found, before it is cut and marked; output/masking.py masks all else that leaves.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from smartsearch import systems
from smartsearch.ask import memories
from smartsearch.ask.library import Library
from smartsearch.ask.scope import Request, Scope
from smartsearch.config import Config, beyond_paper
from smartsearch.errors import SmartsearchError
from smartsearch.systems.base import quietly
from smartsearch.transcripts.nearby import nearby, runs
from smartsearch.types import Nearby, Result, Turn

if TYPE_CHECKING:
    from smartsearch.retrieve.grep import Haystack
    from smartsearch.systems.base import Asking, Plan, Progress, System

Agree = Callable[["Asking", "Haystack", Callable[[], "tuple[Plan, Plan]"]], None]
"""Called before a system sends anything to a language model, with what it will: may raise."""
NAMES = 3
"""Speakers that are named where filters leave out what they said."""
Opening = Callable[[], "System"]
"""Gives the system; called once the transcripts are read, while its models load."""


def silently(_system: Asking, _haystack: Haystack, _plans: Callable[[], tuple[Plan, Plan]]) -> None:
    """Do nothing: sending was agreed to before, or is not allowed."""


@dataclass(frozen=True)
class Found:
    """An answer, and the turns around each hit where such were asked for.

    `sources` are the unmasked turns of the hits, for uses that show nothing.
    `memory` is the fingerprint of what the system made of the transcripts; empty if it made nothing.
    """

    result: Result
    around: tuple[Nearby, ...] = ()
    sources: tuple[Turn, ...] = ()
    memory: str = ""


@dataclass(frozen=True)
class Door:
    """Answers in this process: a system, and the transcripts that it has read.

    `progress` hears of a memory that has to be made first, `agree` of what a language model will be sent.
    """

    opening: Opening
    library: Library
    progress: Progress = quietly
    agree: Agree = silently

    def find(self, asked: Request, notes: tuple[str, ...] = ()) -> Found:
        """What the config's system finds; `notes` are told with it.

        Raises SmartsearchError where nothing can be read, a name or a model is missing, or time is up.
        """
        if systems.card(asked.config.system).whole:
            self.library.read_whole(asked.scope)
        with _noted(asked.config):
            found, fault = self.library.reading(asked.scope, lambda: self._found(asked, notes))
        if fault:
            found = replace(found, result=replace(found.result, warnings=(fault, *found.result.warnings)))
        return found

    def _found(self, asked: Request, notes: tuple[str, ...]) -> Found:
        scope, config = asked.scope, asked.config
        start = time.perf_counter()
        haystack = self.library.haystack(scope)
        corpus = haystack.corpus
        read = time.perf_counter()
        system = self.opening()
        loaded = time.perf_counter()
        asking = cast("Asking", system) if config.llm else None
        if asking:
            self.agree(asking, haystack, lambda: memories.plans(asking, haystack, scope, config))
        so_far = asking.asker.spent if asking else None
        memory = memories.memory(system, haystack, scope, config, self.progress)
        ingest = (asking.asker.spent - so_far).cost if asking and so_far else None
        prepared = time.perf_counter()
        result = systems.answer(system, asked.question, haystack, memory, config)
        seconds = {"read": read - start, "load": loaded - read, "ingest": prepared - loaded}
        seconds["total"] = time.perf_counter() - start
        timing = result.trace.timing_ms | {stage: took * 1000.0 for stage, took in seconds.items()}
        degraded = (*result.trace.degraded, *notes)
        result = replace(
            result,
            trace=replace(result.trace, timing_ms=timing, ingest=ingest, degraded=degraded),
            skipped=corpus.skipped,
            warnings=(
                *config.notes,
                *_not_the_paper(config),
                *corpus.warnings,
                *haystack.warnings,
                *(_filtered_away(result, haystack, scope) if scope.filters.given else ()),
                *result.warnings,
            ),
            filters=scope.filters.given | ({"speaker": config.speaker} if config.speaker else {}),
        )
        sources = tuple(hit.turn for hit in result.hits)
        around = nearby(corpus, result.hits, asked.before, asked.after) if asked.before or asked.after else ()
        if config.redact:
            from smartsearch.text.redact import redacted_result

            shown = (*result.hits, *result.budget.hidden)
            said = runs(corpus, (hit.index for hit in shown if hit.index >= 0))
            result, around = redacted_result(result, around, said)
        explained = getattr(system, "explained", None) if asked.explain else None
        result = explained(result) if explained else result  # made of what is shown, so it holds no secret
        state = "-".join(filter(None, (system.fingerprint, memory.fingerprint)))
        return Found(result, tuple(around), sources, state)


@contextmanager
def _noted(config: Config) -> Iterator[None]:
    """Add what a project's file sets to an error of the block: that may be the cause."""
    try:
        yield
    except SmartsearchError as error:
        said = [note for note in config.notes if note not in error.hint]
        error.hint = "; ".join(filter(None, (error.hint, *said)))
        raise


def _filtered_away(result: Result, haystack: Haystack, scope: Scope) -> Iterator[str]:
    """Notes on words of the question that only turns left out by the filters say."""
    filters = ", ".join(f"--{name.replace('_', '-')}" for name in scope.filters.given)
    for term in result.trace.absent:
        if turns := haystack.left_out(term.text):
            names = list(dict.fromkeys(turn.speaker for turn in turns if turn.speaker))
            who = ", ".join([*names[:NAMES], *(["..."] if len(names) > NAMES else [])])
            said = f"{len(turns):,} turn{' says' if len(turns) == 1 else 's say'} {term.text!r}"
            yield f"{said}{f' ({who})' if who else ''}, left out by {filters}"


def _not_the_paper(config: Config) -> list[str]:
    """A note if the paper's models run with other settings than the paper's."""
    other = beyond_paper(config) if config.system == Config().system else []
    names = f"{', '.join(other[:4])}{', ...' if len(other) > 4 else ''}"
    said = f"the paper's models, not the paper: {names} differ; --as paper is the paper (docs/paper.md)"
    return [said] if other else []
