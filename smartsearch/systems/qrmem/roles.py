"""What the paper asks a language model, asked of one, for one question: its graph, and what segments lack.

A step whose replies cannot be used is done as `rules.py` does it, and counted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil
from typing import Any

from smartsearch.llm import Asker, LLMError
from smartsearch.retrieve.grep import Haystack
from smartsearch.systems.base import Plan
from smartsearch.systems.pieces import Segments, packed
from smartsearch.systems.qrmem import graph, prompts, rules
from smartsearch.systems.qrmem.graph import Ends, EntityGraph, Fact, Sentence
from smartsearch.systems.qrmem.navigate import WINDOW, Ground, Stand, Step, Verdict, best, in_segments
from smartsearch.systems.qrmem.prompts import Data, Relation
from smartsearch.systems.qrmem.rules import Asked, sentences_of
from smartsearch.systems.roles import Calls, Role, T, foretold, quoted
from smartsearch.text.parse import words
from smartsearch.types import fold

NAME, SAID = 80, 400
"""Characters kept of an entity's name, and of a description, a question or a reason."""
NAMES = 150
"""Most names, those in most segments first, among which the model looks for two of one entity."""
MERGES = 3
"""Edges whose descriptions are merged, for each segment."""
MERGED = 3
"""Segments that are quoted where descriptions of one edge are merged; the paper merges two."""
TOGETHER = 12
"""Summaries of parts that are summed up at once."""

Place = tuple[str, str]
"""The file and the id of a conversation."""
REFLECTING = ("kn", "te", "no-update", "no-open-entities")
"""The ways in which it matters what segments lack."""


def windows(
    haystack: Haystack, memory: Segments, places: Collection[Place] | None = None
) -> dict[Place, list[list[str]]]:
    """The turns, of those that may be found, of each conversation as lines, by runs of segments that fit into
    the window. A conversation of one segment needs no background."""
    turns = haystack.corpus.turns
    parts: dict[Place, list[tuple[int, ...]]] = defaultdict(list)
    for inside in rules.scope((), haystack, memory, 0).values():
        parts[turns[inside[0]].path, turns[inside[0]].conversation].append(inside)
    made = {}
    for place, some in parts.items():
        if len(some) > 1 and (places is None or place in places):
            runs = packed([sum(memory.tokens[index] for index in part) for part in some], WINDOW)
            made[place] = [[turns[index].rendered for n in run for index in some[n]] for run in runs]
    return made


def _in_groups(texts: Sequence[str]) -> list[Sequence[str]]:
    return [texts[at : at + TOGETHER] for at in range(0, len(texts), TOGETHER)]


@dataclass
class Part:
    """A segment and what was found in it so far.

    `said` are its sentences with what each mentions, `opened` the entities that the model picked. `questions`
    are None and `by_rule` is set where a rule stands in: then sentences relate what they name.
    """

    segment: int
    lines: Sequence[str]
    background: str
    said: list[tuple[Sentence, tuple[str, ...]]]
    opened: list[str] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    questions: list[str] | None = field(default_factory=list)
    by_rule: bool = False

    @property
    def entities(self) -> list[str]:
        """All of them, each once."""
        every = (*(name for _, named in self.said for name in named), *self.opened)
        return list({graph.key(name): name for name in reversed(every)}.values())[::-1]

    def data(self, *names: str, **more: Any) -> Data:
        """What a request says of it: its lines, the summary of its conversation, and what `names` name."""
        told = {"entities": self.entities, "relations": [one.model_dump() for one in self.relations]}
        given = {name: told[name] for name in names}
        return {"background": self.background, "lines": self.lines, **given, **more}

    @property
    def asked(self) -> list[list[str]]:
        """Its questions as words; by rule those that its sentences answer."""
        if self.questions is None:
            return [graph.cloze(one) for one, _ in self.said]
        return [words(question) for question in self.questions]

    def ask(self, questions: Sequence[str] | None) -> None:
        """Take in questions, None for no usable ones."""
        short = (_short(question, SAID) for question in (questions or ())[: prompts.QUESTIONS])
        self.questions = None if questions is None else [one for one in short if one]

    def keep(self, numbers: Collection[int]) -> None:
        """Leave those of its questions alone that are new, or add the nouns of sentences with new ones."""
        if self.questions is not None:
            self.questions = [self.questions[number] for number in sorted(numbers)]
            return
        for number in numbers:
            sentence, named = self.said[number]
            self.said[number] = sentence, tuple(dict.fromkeys((*named, *sentence.nouns)))

    def add(self, entities: Sequence[str], relations: Sequence[Relation]) -> None:
        """Take in what a reply adds; what relates no two of its entities is left out."""
        opened = filter(None, (_short(name, NAME) for name in entities[: prompts.ENTITIES]))
        self.opened = list(dict.fromkeys((*self.opened, *opened)))
        called = {graph.key(name): name for name in self.entities}
        for relation in relations[: prompts.RELATIONS]:
            one, other = (called.get(graph.key(_short(end, NAME))) for end in (relation.one, relation.other))
            text = _short(relation.text, SAID)
            if one and other and one != other and text and self.said:
                self.relations.append(Relation(one=one, other=other, text=text))

    @property
    def facts(self) -> list[Fact]:
        """Its sentences with what they mention; and what the model says of two, by a sentence of both."""
        made = []
        unsaid = dict.fromkeys(self.opened)  # in other words than the segment's: what they name stands in it
        for sentence, named in self.said:
            held = fold(sentence.said)
            opened = [name for name in self.opened if graph.begins(fold(name), held)]
            every = tuple(dict.fromkeys((*named, *opened)))
            made.append(Fact(self.segment, sentence, every, relates=self.by_rule))
            unsaid = {name: None for name in unsaid if name not in opened}
        if unsaid and self.said:
            made.append(Fact(self.segment, self.said[0][0], tuple(unsaid), relates=False))
        for relation in self.relations:
            ends = (relation.one, relation.other)
            turn = max((one for one, _ in self.said), key=partial(_naming, ends)).turn
            sentence = Sentence("", relation.text, turn, ends, ())
            made.append(Fact(self.segment, sentence, ends, written=True))
        return made


class Roles:
    """The model in its roles for one question. `steps` counts what it was asked, by role, `by_rule` those of
    them that it did not do."""

    def __init__(self, asker: Asker, asked: Asked) -> None:
        self.asker, self.asked = asker, asked
        self.steps, self.by_rule = Counter[str](), Counter[str]()
        self._parts: list[Part] = []
        self._unmerged = 0

    def related(self) -> EntityGraph:
        """The question's graph: an edge is a description of what relates two, or, by rule, a sentence."""
        question, way = {"question": self.asked.query.text}, self.asked.way
        self._parts = self._segments()
        if way != "no-open-entities":
            for part, opened in self._over(prompts.OPEN, lambda part: part.data(**question)):
                part.add(opened or (), ())

        def pairs(part: Part) -> Data | None:
            return part.data("entities", **question) if len(part.entities) > 1 else None

        for part, relations in self._over(prompts.RELATE, pairs):
            part.by_rule = relations is None
            part.add((), relations or ())
        if way != "no-update":
            self._update()
        return self._merged(self._same([fact for part in self._parts for fact in part.facts]))

    def ground(self, ground: Ground) -> Ground:
        """The same ground, judged by the model, which also writes the query that fetches (GES)."""
        return replace(
            ground, judge=partial(self._judged, ground.judge), elaborate=partial(self._elaborated, ground)
        )

    def proposed(self, stand: Stand) -> list[Step]:
        """The entities whose segments the model wants to be read next (TE); by rule the nearest one."""
        data = {"question": self.asked.query.text, "missing": stand.reason, "entities": list(stand.entities)}
        [reply] = self._asked(prompts.PROPOSE, [{**data, "pieces": list(map(self._lines, stand.read))}])
        if reply is None:
            near = best(lead for lead in in_segments(stand) if stand.new(lead.entity))
            return [replace(lead, fell_back=True) for lead in near]
        wanted = stand.graph.meant(reply)
        leads = {lead.entity: lead for lead in in_segments(stand, anywhere=True)}
        return [leads[name] for name in wanted if name in leads]

    @property
    def failed(self) -> bool:
        """Whether every step fell back to rule."""
        return self.by_rule.total() == self.steps.total() > 0

    @property
    def own(self) -> dict[str, int]:
        """What the trace tells of it: steps by role, asked of the model and then done by rule."""
        asked = {f"asked_{role}": count for role, count in self.steps.items()}
        failed = {f"rule_{role}": count for role, count in self.by_rule.items()}
        total = {"asked": self.steps.total(), "rule": self.by_rule.total(), "unmerged": self._unmerged}
        return total | asked | failed

    @property
    def warnings(self) -> list[str]:
        """That steps fell back to rule, if so."""
        which = ", ".join(f"{role} {count:,}" for role, count in self.by_rule.items())
        said = f"{self.by_rule.total():,} of {self.steps.total():,} steps by rule, for want of usable replies"
        return [f"{said}: {which}"] if self.by_rule else []

    def _asked(self, role: Role[T], requests: Sequence[Data]) -> list[T | None]:
        """The replies, None where none could be used. Raises LLMError that any request would meet."""
        done = self.asker.each([partial(role.reply, self.asker, quoted(data, 0)) for data in requests])
        replies = [None if isinstance(one, LLMError) else one for one in done]
        self.steps[role.name] += len(replies)
        self.by_rule += Counter({role.name: replies.count(None)})
        return replies

    def _over(self, role: Role[T], request: Callable[[Part], Data | None]) -> Iterable[tuple[Part, T | None]]:
        """The parts that have a request, each with its reply."""
        asked = [(part, data) for part in self._parts if (data := request(part))]
        replies = self._asked(role, [data for _, data in asked])
        return zip([part for part, _ in asked], replies, strict=True)

    def _segments(self) -> list[Part]:
        """The segments of the scope, with the names and the question's terms in their sentences."""
        asked = self.asked
        opens = asked.way != "no-open-entities"
        places = {asked.place(turns[0]) for turns in asked.scope.values()}
        background = self._summed(windows(asked.haystack, asked.memory, places))
        parts = []
        for segment, turns in asked.scope.items():
            every = (one for index in turns for one in sentences_of(asked, index))
            said = [(one, graph.mentions(one, asked.query, asked=opens)) for one in every]
            told = background.get(asked.place(turns[0]), "")
            parts.append(Part(segment, self._lines(segment), told, said))
        return parts

    def _summed(self, lines: Mapping[Place, Sequence[Sequence[str]]]) -> dict[Place, str]:
        """A summary of each conversation that replies came for: of its runs of lines, then of summaries."""
        done: dict[Place, str] = {}
        name, level = "lines", {place: [*runs] for place, runs in lines.items()}
        while level:
            jobs = [(place, run) for place, runs in level.items() for run in runs]
            replies = self._asked(prompts.SUMMARY, [{name: prompts.clipped(run)} for _, run in jobs])
            told: dict[Place, list[str]] = defaultdict(list)
            for (place, _), reply in zip(jobs, replies, strict=True):
                told[place] += [reply] if reply else []
            done |= {place: texts[0] for place, texts in told.items() if len(texts) == 1}
            left = {place: texts for place, texts in told.items() if len(texts) > 1}
            name, level = "parts", {place: _in_groups(texts) for place, texts in left.items()}
        return done

    def _lines(self, segment: int) -> list[str]:
        turns = self.asked.haystack.corpus.turns
        return prompts.clipped([turns[index].rendered for index in self.asked.scope[segment]])

    def _update(self) -> None:
        """Add what answers to new questions add; where none could be made, the nouns of sentences that answer
        one."""
        for part, reply in self._over(prompts.ASK, lambda part: part.data("entities", "relations")):
            part.ask(reply)
        every = [(part, number, one) for part in self._parts for number, one in enumerate(part.asked)]
        new = graph.accepted(one for _, _, one in every)
        for part in self._parts:
            part.keep([number for at, (of, number, _) in enumerate(every) if of is part and at in new])

        def answering(part: Part) -> Data | None:
            return part.data("entities", questions=part.questions) if part.questions else None

        for part, found in self._over(prompts.UPDATE, answering):
            if found:
                part.add(found.entities, found.relations)

    def _same(self, facts: Sequence[Fact]) -> EntityGraph:
        """The graph of the facts, in which names that the model says mean one entity are one."""
        made = graph.graph(facts)
        names = sorted(made.entities, key=lambda name: -len(made.entities[name]))[:NAMES]
        if len(names) < 2:
            return made
        written = [fact for fact in facts if fact.written]
        said = {name: fact.sentence.said[:NAME] for fact in written for name in made.meant(fact.mentions)}
        [reply] = self._asked(prompts.SAME, [{"names": names, "said": said}])
        same: dict[str, str] = {}
        for group in reply or ():
            known = made.meant(group)
            if len(known) > 1:
                main = max(known, key=lambda name: (len(name.split()), len(made.entities[name])))
                same |= {name: same.get(main, main) for name in known if name not in same}
        return graph.graph(facts, same)

    def _merged(self, made: EntityGraph) -> EntityGraph:
        """The graph with one description for each edge that had several; its facts keep their segments.

        Of the edges with most descriptions MERGES for each segment; the others, `unmerged`, are united
        as they are.
        """
        written = {ends: [n for n in facts if made.facts[n].written] for ends, facts in made.edges.items()}
        several = {ends: places for ends, places in written.items() if len(places) > 1}
        chosen = dict(sorted(several.items(), key=lambda item: -len(item[1]))[: MERGES * len(self._parts)])
        self._unmerged = len(several) - len(chosen)
        replies = self._asked(prompts.MERGE, [self._merge(made, *one) for one in chosen.items()])
        facts = list(made.facts)
        for places, reply in zip(chosen.values(), replies, strict=True):
            said = _short(reply or "", SAID)
            for place in places if said else ():
                facts[place] = replace(facts[place], sentence=replace(facts[place].sentence, said=said))
        return replace(made, facts=tuple(facts))

    def _merge(self, made: EntityGraph, ends: Ends, places: Sequence[int]) -> Data:
        """Descriptions of one pair, with the first segments that they are of."""
        facts = [made.facts[place] for place in places]
        known = {part.segment: part for part in self._parts}
        parts = [known[segment] for segment in dict.fromkeys(fact.segment for fact in facts)][:MERGED]
        return {
            "question": self.asked.query.text,
            "background": list(dict.fromkeys(filter(None, (part.background for part in parts)))),
            "questions": [one for part in parts for one in part.questions or ()],
            "one": ends[0],
            "other": ends[1],
            "descriptions": [fact.sentence.said for fact in facts],
            "pieces": [part.lines for part in parts],
        }

    def _judged(self, otherwise: Callable[[Sequence[int]], Verdict], segments: Sequence[int]) -> Verdict:
        data = {"question": self.asked.query.text, "pieces": list(map(self._lines, segments))}
        reflects = self.asked.way in REFLECTING
        role: Role[Any] = prompts.JUDGE if reflects else prompts.JUDGE_ALONE
        [reply] = self._asked(role, [data])
        if reply is None:
            return replace(otherwise(segments), fell_back=True)
        return Verdict(reply.answerable, _short(getattr(reply, "missing", ""), SAID), answer=reply.answer)

    def _elaborated(
        self, ground: Ground, question: str, entities: Sequence[str], facts: Sequence[int]
    ) -> str:
        said = [ground.graph.facts[place].sentence.text for place in facts]
        data = {"question": question, "entities": list(entities), "relations": said}
        [reply] = self._asked(prompts.ELABORATE, [data])
        return _short(reply, SAID) if reply else ground.elaborate(question, entities, facts)


def _naming(ends: Sequence[str], sentence: Sentence) -> int:
    """How many of two entities a sentence, or who says it, is about."""
    return sum(graph.begins(fold(end), fold(sentence.text)) for end in ends)


def _short(text: str, most: int) -> str:
    return " ".join(text.split())[:most]


def plan(haystack: Haystack, memory: Segments, scope: int, way: str, trials: int) -> Plan:
    """What a question, which decides where it reads, sends at most: of the largest segments."""
    every = rules.scope((), haystack, memory, 0).values()
    sizes = (min(sum(memory.tokens[index] for index in turns), 2 * WINDOW) for turns in every)
    chosen = sorted(sizes, reverse=True)[: scope or None]
    judged = min(WINDOW, sum(chosen))
    count, read = len(chosen), sum(chosen) + len(chosen) * prompts.SUMMARY.tokens
    runs = sorted(map(len, windows(haystack, memory).values()), reverse=True)[:count]
    opens = way != "no-open-entities"
    updates = way != "no-update"
    judges = 1 if way in ("ges", "no-navigation") else trials + 1
    rows: list[Calls] = [
        (prompts.SUMMARY, sum(runs), sum(runs) * WINDOW),
        (prompts.SUMMARY, sum(map(_above, runs)), sum(map(_above, runs)) * TOGETHER * prompts.SUMMARY.tokens),
        (prompts.OPEN, count * opens, read),
        (prompts.RELATE, count, read + count * prompts.OPEN.tokens),
        (prompts.ASK, count * updates, read + count * (prompts.OPEN.tokens + prompts.RELATE.tokens)),
        (prompts.UPDATE, count * updates, read + count * (prompts.OPEN.tokens + prompts.ASK.tokens)),
        (prompts.SAME, 1, min(NAMES, count * 2 * prompts.ENTITIES) * 30),
        (prompts.MERGE, MERGES * count, MERGES * MERGED * read + count * prompts.RELATE.tokens),
        (prompts.JUDGE, judges, judges * judged),
        (prompts.PROPOSE, trials * (way == "te"), trials * judged),
        (prompts.ELABORATE, int(way == "ges"), prompts.RELATE.tokens),
    ]
    return foretold(rows, f"{count} segment{'s' * (count != 1)}") if count else Plan()


def _above(runs: int) -> int:
    """The summaries of summaries of so many."""
    more = ceil(runs / TOGETHER) if runs > 1 else 0
    return more + _above(more) if more else 0
