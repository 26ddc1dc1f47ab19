"""`smartsearch memory`: what systems keep of transcripts, built ahead, listed, shown and removed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, cast

import typer

from smartsearch.cli.groups import AsJson, Paths, group
from smartsearch.config import FIELDS
from smartsearch.errors import ExitCode, UsageError
from smartsearch.output import show, stream
from smartsearch.output.plain import where
from smartsearch.systems import SYSTEMS, card

if TYPE_CHECKING:
    from smartsearch.ask.memories import Held
    from smartsearch.ask.scope import Scope
    from smartsearch.config import Config
    from smartsearch.retrieve.grep import Haystack
    from smartsearch.systems.base import Asking, Kept, Plan

FIRST = next((name for name in SYSTEMS if card(name).keeps), "")
"""The system that is meant where none is named."""
memory = group("Build, show or remove what a system keeps of your chats.")

Named = Annotated[
    str, typer.Option("--system", metavar="NAME", help="A system that keeps a memory.", show_default=FIRST)
]
Llm = Annotated[
    bool | None, typer.Option("--llm/--no-llm", help=FIELDS["llm"].metadata["help"], show_default="off")
]
Agreed = Annotated[
    bool, typer.Option("--yes", "-y", help="Send to a server that is not on this machine without asking.")
]


@memory.command()
def build(
    paths: Paths = None, system: Named = FIRST, llm: Llm = None, yes: Agreed = False, json: AsJson = False
) -> int:
    """Build the memory of PATH before any question; only new chats cost time.

    A build that was stopped goes on where it was. The memory is kept below ~/.cache/smartsearch.
    """
    config, scope = _asked(system, paths, llm=llm, yes=yes)
    _prepared(config, scope)
    from smartsearch.ask import memories

    _list(memories.of(system, scope), json)
    return ExitCode.FOUND


@memory.command()
def status(system: Named = "", json: AsJson = False) -> int:
    """List the memories: system, paths, what they hold, and their bytes.

    An unfinished one has only its bytes.
    """
    from smartsearch.ask import memories

    if system:
        _keeping(system)
    found = memories.held(system)
    if not (found or json):
        stream.talk("there is no memory; `smartsearch memory build PATH` makes one")
    _list(found, json)
    return ExitCode.FOUND


@memory.command(name="show")
def show_parts(
    paths: Paths = None, system: Named = FIRST, llm: Llm = None, yes: Agreed = False, json: AsJson = False
) -> int:
    """Print the parts of the memory of PATH, built first where it must be, and the turn that each is from."""
    haystack, made = _prepared(*_asked(system, paths, llm=llm, yes=yes))
    turns = haystack.corpus.turns
    rows = [{**row, "turn": where(turns[row["turn"]]) if row["turn"] >= 0 else ""} for row in made.outline()]
    show.table("memory", rows, as_json=json)
    return ExitCode.FOUND if rows else ExitCode.NOTHING


@memory.command()
def remove(paths: Paths = None, system: Named = FIRST, json: AsJson = False) -> int:
    """Delete the memories of PATH, with any --glob; the chats themselves are not touched."""
    from smartsearch.ask import memories

    _, scope = _asked(system, paths)
    gone = memories.of(system, scope)
    if not gone:
        stream.warn(f"{system} keeps no memory of {', '.join(scope.paths)}")
        return ExitCode.NOTHING
    for one in gone:
        memories.remove(one)
    if any(one.asked for one in gone):
        from smartsearch import llm

        stream.talk(f"the language model's replies stay in {llm.replies_folder()}; delete it to forget them")
    _list(gone, json)
    return ExitCode.FOUND


def _keeping(system: str) -> None:
    """Raise ConfigError for an unknown system, UsageError for one that keeps no memory."""
    from smartsearch import systems

    if not systems.card(system).keeps:
        keeping = ", ".join(name for name in systems.SYSTEMS if systems.card(name).keeps)
        raise UsageError(f"{system} keeps no memory", hint=f"one of {keeping}")


def _asked(
    system: str, paths: list[str] | None, *, llm: bool | None = False, yes: bool = False
) -> tuple[Config, Scope]:
    """The settings and files that are meant.

    Raises ConfigError, LLMError "llm_missing", and UsageError for a system without a memory, or no consent.
    """
    from smartsearch.ask.scope import Written
    from smartsearch.cli import consent
    from smartsearch.config import build as configured

    _keeping(system)
    config = consent.ready(configured({"system": system, "llm": llm}), yes=yes)
    if not config.cache_bytes:
        raise UsageError("the cache is off", hint="leave out SMARTSEARCH_CACHE=off")
    return config, Written().scope(paths, config)


def _prepared(config: Config, scope: Scope) -> tuple[Haystack, Kept]:
    """The transcripts and the memory of them, made as far as it is not there."""
    from smartsearch.ask.library import Library
    from smartsearch.ask.memories import memory as prepared
    from smartsearch.ask.memories import plans
    from smartsearch.cli.consent import agreeing
    from smartsearch.cli.search import loading
    from smartsearch.systems.base import Plan

    system, library = loading(config), Library()
    library.read_whole(scope)
    haystack = library.haystack(scope)
    opened = system()
    left: Callable[[], str] = str
    if config.llm:
        asking = cast("Asking", opened)
        making, _ = plans(asking, haystack, scope, config)
        agreeing(config)(asking, haystack, lambda: (making, Plan()))
        left = _left(asking, making)
    began = time.monotonic()
    with stream.counted(f"parts that {config.system} takes in") as tell:

        def progress(done: int, of: int) -> None:
            spent = time.monotonic() - began
            tell(done, of, f", {spent / done * (of - done):,.0f} s left{left()}" if done else "")

        made = prepared(opened, haystack, scope, config, progress)
    return haystack, cast("Kept", made)


def _left(asking: Asking, making: Plan) -> Callable[[], str]:
    """Gives the part of `making` that was not yet sent to the language model."""
    before = asking.asker.spent

    def left() -> str:
        took = asking.asker.spent - before
        tokens = making.prompt_tokens + making.completion_tokens - took.prompt_tokens - took.completion_tokens
        return f", about {max(making.calls - took.calls, 0):,} calls, {max(tokens, 0):,} tokens"

    return left


def _list(found: list[Held], as_json: bool) -> None:
    counted = dict.fromkeys(name for one in found for name in (*one.statistics, *one.asked))
    unknown = None if as_json else "-"
    rows: list[dict[str, object]] = [
        {
            "system": one.system,
            "paths": list(one.paths),
            **{name: {**one.statistics, **one.asked}.get(name, unknown) for name in counted},
            "bytes": one.bytes,
        }
        for one in found
    ]
    show.table("memories", rows, as_json=as_json)
