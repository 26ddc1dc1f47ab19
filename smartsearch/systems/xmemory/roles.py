"""A language model in the paper's roles: ends episodes, records them, takes out facts, names themes, reads.

Each reply stands for itself: where one cannot be used, the rule does that part, and it is marked as its own.
What it will be sent is told before: counted from the prompts, guessed where it decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, pairwise
from math import ceil

from smartsearch.config import Config
from smartsearch.llm import Asker, LLMError, rough_tokens
from smartsearch.llm.asking import SAMPLES
from smartsearch.systems import pieces
from smartsearch.systems.base import Plan, Progress
from smartsearch.systems.kept import Note
from smartsearch.systems.roles import foretold, identity, in_turn
from smartsearch.systems.xmemory import prompts, rule
from smartsearch.systems.xmemory.ingest import Author, XMemory
from smartsearch.systems.xmemory.prompts import BOUNDARY, FACTS, NAME, RECORD, Begin, Fact, Record
from smartsearch.systems.xmemory.rule import LONGEST_STATEMENT, Episode, Semantic
from smartsearch.systems.xmemory.select import Choice, Gated, gate
from smartsearch.systems.xmemory.settings import OURS, constants
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
STATED, MEMBERS = 5, 4.5
"""Facts of an episode, guessed, and of a theme (paper: 4.48 on LoCoMo)."""
TOLD, FACT = 250, 30
"""Tokens of a record, and of a fact, guessed."""
DRAFT, FRAME = 16, 150
"""Tokens of a draft, and of what is said around a question and what is known."""
TOKENS_OF_WORD = 1.5


@dataclass(frozen=True)
class Window:
    """Messages of one session, those from `start` to be placed, and those from `first` shown before them.
    `key` tells what it says from others, wherever it stands."""

    first: int
    start: int
    stop: int
    key: str


def windows(turns: Sequence[Turn]) -> list[Window]:
    """All messages, cut where sessions end and after every WINDOW of one. So what is said later changes no
    window but the last of its session."""
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

    def identity(self, config: Config) -> list[object]:
        """What tells what it makes from what the rule and other models make."""
        return [*identity(self.asker, prompts.ROLES), config.redact]

    def plan(self, turns: Sequence[Turn], store: Store, config: Config) -> tuple[Plan, Plan]:
        """Estimates of what making what `store` lacks sends, and a question; the rule guesses where episodes
        begin.

        The reader is asked at most about each episode and about its messages. It knows some facts at first,
        and in the end what the budget lets in.
        """
        seen, held = windows(turns), set(store.keys())
        fresh = unplaced(seen, store)
        found = store.notes("boundaries") | {key: by_rule(turns, window) for key, window in fresh.items()}
        episodes = runs(seen, found)
        told = dict(zip(pieces.keys(turns, episodes), episodes, strict=True))
        new = [turns[run.start : run.stop] for key, run in told.items() if key not in held]
        placing = [prompts.boundary(turns[w.first : w.stop], w.start - w.first) for w in fresh.values()]
        said = sum(rough_tokens(prompts.record(own)) for own in new)
        changed = STATED * (len(new) + len(held - told.keys()))  # all themes, or as facts come and go
        names = min(len(store.themed()) + ceil(STATED * len(new) / MEMBERS), len(unnamed(store)) + changed)
        making = foretold(
            [
                (BOUNDARY, len(placing), sum(map(rough_tokens, placing))),
                (RECORD, len(new), said),
                (FACTS, len(new), said + len(new) * TOLD),
                (NAME, names, names * ceil(MEMBERS * FACT)),
            ],
            f"{len(new)} episode{'s' * (len(new) != 1)}",
        )
        if not turns or not constants(config).gated:
            return making, Plan()
        drafts = SAMPLES if "logprobs" in self.asker.client.unsupported else 1
        calls = drafts * (1 + 2 * min(OURS.episodes, len(turns)))
        most = min(
            sum(rough_tokens(turn.rendered) for turn in turns), ceil(config.word_budget * TOKENS_OF_WORD)
        )
        return making, Plan(calls, calls * (FRAME + (OURS.facts * FACT + most) // 2), calls * DRAFT)

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
        said = {key.partition("-")[0]: turns for key, turns in told}
        records = self.asker.each([partial(self._record, turns) for turns in said.values()])
        contents = ["" if isinstance(record, LLMError) else record.content for record in records]
        facts = self.asker.each([partial(self._facts, *both) for both in zip(said.values(), contents)])
        made = dict(zip(said, zip(records, facts, strict=True), strict=True))
        return [self._episode(key, turns, *made[key.partition("-")[0]]) for key, turns in told]

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
            made = {key: instead(key) if isinstance(one, LLMError) else one for key, one in replies.items()}
            store.note(kind, made)

    def _begins(self, turns: Sequence[Turn], window: Window) -> Note:
        before, shown = window.start - window.first, turns[window.first : window.stop]
        numbers = range(before + 1, len(shown) + 1)

        def check(reply: Sequence[Begin]) -> str:
            wrong = [begin.message for begin in reply if begin.message not in numbers]
            return f"message {wrong[0]} is none of {numbers[0]} to {numbers[-1]}" if wrong else ""

        reply = BOUNDARY.reply(self.asker, prompts.boundary(shown, before), check=check)
        starts = {begin.message - numbers[0] for begin in reply}
        return Note(sorted(starts))

    def _record(self, turns: Sequence[Turn]) -> Record:
        check = partial(_record_fault, {turn.date for turn in turns})
        return RECORD.reply(self.asker, prompts.record(turns), check=check)

    def _facts(self, turns: Sequence[Turn], told: str) -> list[Fact]:
        check = partial(_facts_fault, len(turns))
        return FACTS.reply(self.asker, prompts.facts(turns, told), check=check)

    def _name(self, texts: Sequence[str]) -> Note:
        return Note(_line(NAME.reply(self.asker, prompts.lines(texts))))

    def _episode(
        self, key: str, turns: Sequence[Turn], record: Record | LLMError, facts: Sequence[Fact] | LLMError
    ) -> Episode:
        """The episode as the model tells it; what it does not tell is as it is by rule. Where nothing in it
        lasts, what was told of it is its only fact: each episode can be found."""
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


def _line(text: str) -> str:
    return " ".join(text.split())


def by_rule(turns: Sequence[Turn], window: Window) -> Note:
    """Where episodes begin by rule."""
    found = pieces.spans(turns[window.first : window.stop])
    before = window.start - window.first
    return Note([run.start - before for run in found if run.start >= before], "rule")


@dataclass
class Reader:
    """Reads the memory of `turns` for one question, as many words of it as the config has.

    Afterwards `by` names what its uncertainty was taken from.
    """

    asker: Asker
    question: str
    memory: XMemory
    turns: Sequence[Turn]
    config: Config
    by: str = ""
    fault: str = ""

    def gated(
        self, themes: Sequence[int], semantics: Sequence[int], choices: Sequence[Choice[int]]
    ) -> Gated | None:
        """The episodes that make it surer than these themes and facts alone do.

        None where there is nothing to ask, or the model gives no uncertainty; then `fault` says why. Raises
        LLMError where no request would be answered.
        """
        if not choices:
            return None
        known, offered = self.memory.coarse(themes, semantics), list(map(self._offered, choices))
        try:
            return gate(known, offered, self, constants=constants(self.config), fits=self._fits)
        except LLMError as error:
            if error.general:
                raise
            self.by, self.fault = "", error.message
            return None

    def __call__(self, read: Sequence[str]) -> float:
        """How unsure it is when it has read these. Raises LLMError."""
        doubt = self.asker.uncertainty(prompts.draft(self.question, read))
        if self.by not in ("", doubt.by):
            raise LLMError("the model gave log-probabilities for some drafts only", kind="llm_reply")
        self.by = doubt.by
        return doubt.value

    def _fits(self, read: Sequence[str]) -> bool:
        return sum(len(text.split()) for text in read) <= self.config.word_budget

    def _offered(self, choice: Choice[int]) -> Choice[str]:
        """The episode as it is read: its record, its messages."""
        messages = (self.turns[turn].rendered for turn in choice.messages)
        return Choice(choice.episode, (self.memory.episodes[choice.episode].record,), tuple(messages))
