"""A language model in the paper's roles: it ends episodes, records them, takes facts out, and names themes.

Each reply stands for itself: where one cannot be used, the rule does that part, and it is marked as its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, pairwise

from smartsearch.llm import Asker, LLMError
from smartsearch.systems import pieces
from smartsearch.systems.base import Progress
from smartsearch.systems.kept import Note
from smartsearch.systems.roles import in_turn
from smartsearch.systems.xmemory import prompts, rule
from smartsearch.systems.xmemory.ingest import Author
from smartsearch.systems.xmemory.prompts import BOUNDARY, FACTS, NAME, RECORD, Begin, Fact, Record
from smartsearch.systems.xmemory.rule import LONGEST_STATEMENT, Episode, Semantic
from smartsearch.systems.xmemory.store import Store
from smartsearch.types import Turn

WINDOW = 24
"""Messages that are looked at together for where episodes begin."""
BEFORE = 4
"""Messages before them that are shown too."""
LONGEST = 15
"""Messages of an episode at most (paper: usually up to 10 or 15)."""
AT_ONCE = 32
"""Replies that are waited for before they are kept."""
MOST_FACTS = 30
"""Of an episode."""


@dataclass(frozen=True)
class Window:
    """Messages of one session, those from `start` to be placed, and those from `first` shown before them.

    `key` tells what it says from others, wherever it stands.
    """

    first: int
    start: int
    stop: int
    key: str


def windows(turns: Sequence[Turn]) -> list[Window]:
    """All messages, cut where sessions end and after every WINDOW of one.

    So what is said later changes no window but the last of its session.
    """
    found = []
    for _, places in groupby(range(len(turns)), lambda n: turns[n].place):
        session = list(places)
        for start in range(session[0], session[-1] + 1, WINDOW):
            first, stop = max(session[0], start - BEFORE), min(start + WINDOW, session[-1] + 1)
            key = f"{start - first}-{pieces.key_of(turns[first:stop])}"
            found.append(Window(first, start, stop, key))
    return found


def unplaced(found: Sequence[Window], store: Store) -> dict[str, Window]:
    """The windows about which `store` knows nothing, by key; one message alone raises no question."""
    held = store.notes("boundaries")
    return {one.key: one for one in found if one.key not in held and one.stop - one.first > 1}


def runs(found: Sequence[Window], notes: Mapping[str, Note]) -> list[range]:
    """The episodes: one begins with each session, where one was found to, and where it would be too long."""
    starts: list[int] = []
    stop = 0
    for window in found:
        own, stop = notes[window.key].value if window.key in notes else (), window.stop
        for n in range(window.start, stop):
            if n == window.first or n - window.start in own or n - starts[-1] >= LONGEST:
                starts.append(n)
    return [range(*ends) for ends in pairwise([*starts, stop])]


def unnamed(store: Store) -> dict[str, list[str]]:
    """The facts of themes that had others when they were named, or no name, by the key of these facts."""
    held = store.notes("names")
    themes = {named(texts): texts for texts in store.themed().values()}
    return {key: texts for key, texts in themes.items() if key not in held}


def named(texts: Sequence[str]) -> str:
    """What tells these facts from others."""
    return pieces.digest("\n".join(texts))


@dataclass(frozen=True)
class Writer(Author):
    """The model that writes the memory, where it can."""

    asker: Asker

    def spans(self, turns: Sequence[Turn], store: Store, progress: Progress) -> list[range]:
        """The episodes as runs of turns; windows that `store` lacks are asked about, those gone forgotten."""
        found = windows(turns)
        lacking = unplaced(found, store)
        store.forget("boundaries", store.notes("boundaries").keys() - {window.key for window in found})
        jobs = {key: partial(self._begins, turns, window) for key, window in lacking.items()}
        self._noted("boundaries", jobs, lambda key: by_rule(turns, lacking[key]), store, progress)
        return runs(found, store.notes("boundaries"))

    def episodes(self, told: Sequence[tuple[str, Sequence[Turn]]]) -> list[Episode]:
        """The episodes of these keys and messages; those that say the same are asked about once."""
        said = {_said(key): turns for key, turns in told}
        records = self.asker.each([partial(self._record, turns) for turns in said.values()])
        contents = ["" if isinstance(record, LLMError) else record.content for record in records]
        facts = self.asker.each(
            [partial(self._facts, *both) for both in zip(said.values(), contents, strict=True)]
        )
        made = dict(zip(said, zip(records, facts, strict=True), strict=True))
        return [self._episode(key, turns, *made[_said(key)]) for key, turns in told]

    def names(self, store: Store, progress: Progress) -> dict[int, Note]:
        """What the themes are called; only those that changed since are named anew."""
        lacking, keys = unnamed(store), {theme: named(texts) for theme, texts in store.themed().items()}
        store.forget("names", store.notes("names").keys() - keys.values())
        jobs = {key: partial(self._name, texts) for key, texts in lacking.items()}
        by_rule = rule.names({named(texts): texts for texts in store.themed().values()})
        self._noted("names", jobs, lambda key: Note(by_rule[key], "rule"), store, progress)
        notes = store.notes("names")
        return {theme: notes[key] for theme, key in keys.items()}

    def statistics(self, store: Store) -> dict[str, float]:
        """What fell back to the rule."""
        made = {kind: [note.source for note in store.notes(kind).values()] for kind in rule.FALLEN}
        made["semantics"] = [fact.source for episode, _ in store.episodes() for fact in episode.semantics]
        return {f"{kind}_by_rule": sources.count("rule") for kind, sources in made.items()}

    def _noted(
        self,
        kind: str,
        jobs: Mapping[str, Callable[[], Note]],
        instead: Callable[[str], Note],
        store: Store,
        progress: Progress,
    ) -> None:
        """Note what the jobs give, as it comes; where one gives nothing usable, what there is `instead`."""
        for replies in in_turn(self.asker, jobs, AT_ONCE, progress):
            store.note(
                kind,
                {key: instead(key) if isinstance(one, LLMError) else one for key, one in replies.items()},
            )

    def _begins(self, turns: Sequence[Turn], window: Window) -> Note:
        before, shown = window.start - window.first, turns[window.first : window.stop]
        numbers = range(before + 1, len(shown) + 1)

        def check(reply: Sequence[Begin]) -> str:
            wrong = [begin.message for begin in reply if begin.message not in numbers]
            return f"message {wrong[0]} is none of {numbers[0]} to {numbers[-1]}" if wrong else ""

        reply = BOUNDARY.reply(self.asker, prompts.boundary(shown, before), check=check)
        starts = {begin.message - numbers[0] for begin in reply}
        return Note(sorted(starts), "llm")

    def _record(self, turns: Sequence[Turn]) -> Record:
        check = partial(_record_fault, {turn.date for turn in turns})
        return RECORD.reply(self.asker, prompts.record(turns), check=check)

    def _facts(self, turns: Sequence[Turn], told: str) -> list[Fact]:
        check = partial(_facts_fault, len(turns))
        return FACTS.reply(self.asker, prompts.facts(turns, told), check=check)

    def _name(self, texts: Sequence[str]) -> Note:
        return Note(_line(NAME.reply(self.asker, prompts.lines(texts))), "llm")

    def _episode(
        self, key: str, turns: Sequence[Turn], record: Record | LLMError, facts: Sequence[Fact] | LLMError
    ) -> Episode:
        """The episode as the model tells it; what it does not tell is as it is by rule.

        Where nothing in it lasts, what was told of it is its only fact: each episode can be found.
        """
        made = Episode(key, len(turns), "", "", ())
        if isinstance(record, LLMError) or isinstance(facts, LLMError):
            made = rule.episode(key, turns, self.parser)
        if not isinstance(record, LLMError):
            title, content = _line(record.title), _line(record.content)
            made = replace(made, title=title, content=content, time=record.time, source="llm")
        if isinstance(facts, LLMError):
            return made
        own = [Semantic(_line(f.text), tuple(sorted({n - 1 for n in f.messages})), "llm") for f in facts]
        if not own and made.content:
            own = [Semantic(made.content, tuple(range(len(turns))), "llm")]
        return replace(made, semantics=tuple(own) or made.semantics)


def _record_fault(days: Set[str], record: Record) -> str:
    """What is wrong with the record of messages of these days."""
    if not (record.title.strip() and record.content.strip()):
        return "title and content are to be told"
    if record.time[:10] not in days:
        return f"time {record.time!r} is that of no message"
    return ""


def _facts_fault(messages: int, facts: Sequence[Fact]) -> str:
    """What is wrong with the facts of an episode of so many messages: above all those that come from none."""
    for n, fact in enumerate(facts, start=1):
        if not 0 < len(fact.text.strip()) <= LONGEST_STATEMENT:
            return f"fact {n} has no text, or more than {LONGEST_STATEMENT} characters"
        if not fact.messages or any(not 0 < message <= messages for message in fact.messages):
            return f"fact {n} comes from messages {fact.messages}; the episode has 1 to {messages}"
    return "" if len(facts) <= MOST_FACTS else f"more than {MOST_FACTS} facts"


def _said(key: str) -> str:
    """The part of an episode's key that others have that say the same."""
    return key.partition("-")[0]


def _line(text: str) -> str:
    return " ".join(text.split())


def by_rule(turns: Sequence[Turn], window: Window) -> Note:
    """Where episodes begin by rule."""
    found = pieces.spans(turns[window.first : window.stop])
    before = window.start - window.first
    return Note([run.start - before for run in found if run.start >= before], "rule")
