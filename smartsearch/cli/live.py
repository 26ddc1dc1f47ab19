"""`smartsearch live`: questions one after another, hits as one types, the chat behind a hit with Enter.

Words and static vectors order the turns at each key; the whole search runs when the typing pauses, in the
warm process where there is one. What is drawn is made in output/live.py.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smartsearch.ask.library import Library
from smartsearch.ask.scope import Request, Scope
from smartsearch.cli import consent
from smartsearch.cli.groups import Paths
from smartsearch.cli.options import FilterOptions, QueryOptions
from smartsearch.config import Config
from smartsearch.errors import ExitCode, InputError, SmartsearchError, UsageError
from smartsearch.output import live as drawing
from smartsearch.output import masking, stream
from smartsearch.output.live import State
from smartsearch.output.plain import weakness, where
from smartsearch.transcripts.filters import Filters
from smartsearch.types import Hit, Query, Result, Scores, Term, Turn

if TYPE_CHECKING:
    from prompt_toolkit import Application
    from prompt_toolkit.formatted_text import AnyFormattedText

    from smartsearch.retrieve.grep import Haystack

PAUSE = 0.3
"""Seconds without a key after which the whole search runs."""
MOST = 50
"""Hits that are shown."""
FILES = 500
"""Files of the current folder up to which a bare `smartsearch` reads them."""

MANY = {known.name: isinstance(known.default, tuple) for known in fields(Filters)}
"""The filters by name, and whether each takes several values."""

LINE = re.compile(rf"^/|(?:^|\s)/(?:clear|speaker|{'|'.join(MANY).replace('_', '[-_]')})(?!\S)")
"""What a line such as `/since 7d` begins with, alone or behind the question."""

EXAMPLES = """Examples:

smartsearch live chats/

vim $(smartsearch live chats/ --since 30d | cut -d: -f1)
"""


def live(
    paths: Paths = None,
    *,
    search: QueryOptions,
    filters: FilterOptions,
) -> int:
    """Ask one question after another: hits as you type, Enter opens one in its chat.

    `/since 7d`, `/speaker NAME` and the other filters are typed alone or behind the question, with Enter;
    `/clear` drops them. Ctrl-O opens the turn in $EDITOR. Esc leaves and prints the place of the chosen turn,
    Ctrl-C leaves without.
    """
    if not sys.stdin.isatty():
        raise UsageError("live needs a terminal", hint="smartsearch query QUESTION PATH")
    config = consent.ready(search.config(), asks=False)
    for note in config.notes:
        stream.warn(note)
    session = Session(filters, paths, replace(config, limit=MOST))
    with stream.status("reading", wanted=True):
        session.read()
    left = application(session).run()
    if isinstance(left, Turn):
        stream.write([where(left)])
        return ExitCode.FOUND
    return int(left)


def is_here() -> bool:
    """Whether the current folder is one of a few chats, where a bare `smartsearch` begins this."""
    from smartsearch.transcripts.corpus import read_one
    from smartsearch.transcripts.files import Selection, find

    files = [file for file in islice(find(["."], Selection()), FILES + 1) if isinstance(file, str)]
    few = 0 < len(files) <= FILES
    return few and any(
        known is not None and not known.notice and read.turns for read, known in map(read_one, files[:20])
    )


@dataclass
class Session:
    """What is searched, and how the next question is answered."""

    filters: FilterOptions
    paths: Sequence[str] | None
    config: Config
    library: Library = field(default_factory=Library)
    state: State = field(default_factory=State)
    said: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        from smartsearch.cli.search import loading

        self._opening = loading(self.config)
        self.said = dict(self.filters.written.filters)
        self._scope()

    def _scope(self) -> None:
        written = replace(self.filters.written, filters=self.said)
        self.scope: Scope = written.scope(self.paths, self.config)
        self.state.filters = self.scope.filters.given | (
            {"speaker": self.config.speaker} if self.config.speaker else {}
        )

    def read(self) -> Haystack:
        """The transcripts, read once while the filters stay. Raises SmartsearchError."""
        return self.library.haystack(self.scope)

    def matched(self, question: str) -> list[Hit]:
        """The best turns by the words typed so far and by static vectors; of equals the newest first."""
        from smartsearch.rank.cascade import Task, first
        from smartsearch.rank.meaning import dense_search
        from smartsearch.rank.static import WHOLE
        from smartsearch.retrieve.grep import by_match_weight
        from smartsearch.text.parse import stop_words

        haystack = self.read()
        said = dict.fromkeys(re.findall(r"\w\S*", question.lower()))
        terms = [Term(word, "TOKEN", 1.0) for word in [w for w in said if w not in stop_words()] or said]
        if not terms:
            return []
        search = haystack.searching(MOST)
        found = search(terms)
        counts = search.counts or Counter(key for inside in found.values() for key in inside)
        tools = getattr(self._opening(), "tools", None)
        static = tools.static if tools and len(haystack) <= WHOLE else None
        dense = dense_search(Query(question, tuple(terms)), haystack, self.config, {}, static)
        found |= {index: {} for index in (dense(MOST) if dense else ()) if index not in found}
        turns = haystack.corpus.turns
        newest = sorted(by_match_weight(found), key=lambda c: turns[c.index].time, reverse=True)
        newest.sort(key=lambda c: -c.weight)
        near = partial(static, question, haystack) if static else None
        task = Task(question, newest, haystack.corpus, {}, self.config, counts=counts, near=near)
        best = first(task)[0][:MOST]
        shown = self._shown([c.index for c in best])
        return [
            Hit(rank, turn, Scores(c.weight), c.terms, 1, c.index)
            for rank, (c, turn) in enumerate(zip(best, shown), start=1)
        ]

    def _shown(self, indices: Sequence[int]) -> Sequence[Turn]:
        """The turns at `indices` as they may be shown."""
        corpus = self.read().corpus
        turns = [corpus.turns[n] for n in indices]
        if not self.config.redact:
            return turns
        from smartsearch.text.redact import redacted_turns
        from smartsearch.transcripts.nearby import runs

        return tuple(redacted_turns(turns, runs(corpus, indices)))

    @property
    def chosen(self) -> Turn | None:
        """The turn of the chosen hit as it was read. Raises InputError where its file has changed."""
        hit = self.state.hit
        if hit is None:
            return None
        turns = self.read().corpus.turns
        turn = turns[hit.index] if hit.index < len(turns) else None
        same = turn is not None and (turn.line, turn.pointer) == (hit.turn.line, hit.turn.pointer)
        if turn is None or not same or not (self.config.redact or turn.path == hit.turn.path):
            raise InputError(f"{where(hit.turn)} is not as it was read", hint="leave and begin again")
        return turn

    def ranked(self, question: str) -> Result:
        """What `smartsearch query` finds. Raises SmartsearchError."""
        from smartsearch.ask.door import Door
        from smartsearch.cli.search import answered

        asked = Request(question, self.scope, self.config)
        return answered(asked, lambda _: Door(self._opening, self.library)).result

    def command(self, line: str) -> None:
        """Do what a line such as `/since 7d` says. Raises SmartsearchError."""
        name, *values = shlex.split(line[1:]) or [""]
        name = name.replace("-", "_")
        if name == "clear":
            self.said = {}
            self.config = replace(self.config, speaker=())
        elif name == "speaker" and values:
            self.config = replace(self.config, speaker=tuple(values))
        elif name in MANY and values:
            before = self.said
            self.said = {**self.said, name: tuple(values) if MANY[name] else " ".join(values)}
            try:
                self._scope()
                self.read()
            except SmartsearchError:
                self.said = before
                self._scope()
                raise
        else:
            known = ", ".join(f"/{known.replace('_', '-')} VALUE" for known in ("speaker", *MANY))
            raise UsageError(f"no such line: {line}", hint=f"{known}, /clear")
        self._scope()

    def open(self) -> None:
        """Open the chat of the chosen hit. Raises InputError where its file has changed."""
        hit = self.state.hit
        if hit is not None and self.chosen is not None:
            turns = self.read().corpus.turns
            first = last = hit.index
            while first > 0 and turns[first - 1].place == turns[hit.index].place:
                first -= 1
            while last + 1 < len(turns) and turns[last + 1].place == turns[hit.index].place:
                last += 1
            self.state.opened = self._shown(range(first, last + 1))
            self.state.asked, self.state.top = hit.index - first, None


def editor(turn: Turn) -> list[str]:
    """The command that opens a turn's file at its line. Raises UsageError where it is in no plain file."""
    path = Path(turn.path).resolve()
    if not path.is_file():
        raise UsageError(f"{turn.path} is no file that an editor can open", hint="unpack the archive")
    words = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    if Path(words[0]).name in ("code", "codium", "cursor", "subl"):
        return [*words, *(["-g"] if Path(words[0]).name != "subl" else []), f"{path}:{turn.line or 1}"]
    return [*words, *([f"+{turn.line}"] if turn.line else []), str(path)]


def application(session: Session, **terminal: Any) -> Application[Turn | int]:
    """The program on the screen; it returns the turn whose place is to be printed, or an exit code."""
    from prompt_toolkit import Application
    from prompt_toolkit.buffer import Buffer
    from prompt_toolkit.filters import Condition
    from prompt_toolkit.layout import HSplit, Layout, Window
    from prompt_toolkit.layout.controls import BufferControl, FormattedTextControl
    from prompt_toolkit.layout.processors import BeforeInput
    from prompt_toolkit.output import create_output
    from prompt_toolkit.styles import Style

    state = session.state
    asked = Buffer(multiline=False, read_only=Condition(lambda: bool(state.opened)))

    def columns() -> tuple[int, int]:
        size = app.output.get_size()
        return size.columns, max(size.rows - 2, 1)

    def drawn_body() -> AnyFormattedText:
        return [*drawing.body(state, *columns())]

    def drawn_foot() -> AnyFormattedText:
        return [*drawing.foot(state, columns()[0])]

    question = Window(BufferControl(asked, input_processors=[BeforeInput("> ", "class:asked")]), height=1)
    layout = Layout(
        HSplit(
            [
                question,
                Window(FormattedTextControl(drawn_body)),
                Window(FormattedTextControl(drawn_foot), height=1),
            ]
        ),
        focused_element=question,
    )
    terminal.setdefault("output", create_output(always_prefer_tty=True))
    app: Application[Turn | int] = Application(
        layout,
        key_bindings=_keys(session, asked, _told(session)),
        style=Style.from_dict(drawing.STYLES),
        full_screen=True,
        **terminal,
    )
    asked.on_text_changed += lambda _: _typed(session, asked, app)
    return app


def _told(session: Session) -> Callable[[Callable[[], Any]], bool]:
    """A function that runs a step and shows its error, if any, on the last line."""

    def told(step: Callable[[], Any]) -> bool:
        try:
            step()
        except SmartsearchError as error:
            said = f"{error.message} ({error.hint})" if error.hint else error.message
            session.state.message = masking.shown(said)
            return False
        return True

    return told


def _parted(text: str) -> tuple[str, str]:
    """The question that was typed, and a line such as `/since 7d` behind it."""
    text = text.strip()
    at = found.start() if (found := LINE.search(text)) else len(text)
    return text[:at], text[at:].strip()


def _typed(session: Session, asked: Any, app: Any) -> None:
    """Order by words and static vectors at once; search when no key follows for a moment."""
    question, line = _parted(asked.text)
    if line:
        return
    _told(session)(lambda: session.state.found(session.matched(question), "found" if question else ""))

    async def later() -> None:
        await asyncio.sleep(PAUSE)
        if not question or _parted(asked.text)[0] != question:
            return
        try:
            found = await asyncio.get_running_loop().run_in_executor(None, session.ranked, question)
        except SmartsearchError as error:
            session.state.message = masking.shown(error.message)
        else:
            if _parted(asked.text)[0] == question:
                weak = weakness(found) if found.weak and found.hits else ""
                session.state.found(found.hits, "ranked", masking.shown(weak))
        app.invalidate()

    app.create_background_task(later())


def _keys(session: Session, asked: Any, told: Callable[[Callable[[], Any]], bool]) -> Any:
    from prompt_toolkit.application import run_in_terminal
    from prompt_toolkit.key_binding import KeyBindings

    keys, state = KeyBindings(), session.state

    for name, by in {"up": -1, "down": 1, "pageup": -10, "pagedown": 10}.items():
        keys.add(name)(lambda _, by=by: state.move(by))

    @keys.add("enter")
    def _enter(event: Any) -> None:
        question, line = _parted(asked.text)
        if line:
            if told(lambda: session.command(line)):
                state.message, asked.text = "", question
            event.app.invalidate()
        else:
            told(session.open)

    @keys.add("c-o")
    def _edit(_: Any) -> None:
        if state.hit is None:
            return

        def edit() -> None:
            try:
                subprocess.run(editor(session.chosen or Turn("")), check=False)
            except OSError as error:
                raise UsageError(
                    f"the editor does not start: {error.strerror}", hint="set $EDITOR"
                ) from error

        run_in_terminal(lambda: told(edit))

    @keys.add("escape", eager=True)
    @keys.add("c-d")
    def _leave(event: Any) -> None:
        if not state.close():
            event.app.exit(state.hit.turn if state.hit else ExitCode.NOTHING)

    @keys.add("c-c")
    def _stop(event: Any) -> None:
        event.app.exit(ExitCode.INTERRUPTED)

    return keys
