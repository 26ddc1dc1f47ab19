"""What the paper asks a language model, asked of one, for one question: its graph, and what segments lack.

A step whose replies cannot be used is done as `rules.py` does it, and counted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from smartsearch.llm import Asker, LLMError
from smartsearch.systems.qrmem import prompts
from smartsearch.systems.qrmem.graph import EntityGraph, Fact, graph, key
from smartsearch.systems.qrmem.navigate import Ground, Stand, Step, Verdict, best, in_segments, naming
from smartsearch.systems.qrmem.prompts import Data, Relation, quoted
from smartsearch.systems.qrmem.rules import Asked, sentences_of
from smartsearch.systems.qrmem.sentences import Sentence, accepted, begins, cloze, mentions
from smartsearch.systems.qrmem.summaries import summaries, windows
from smartsearch.systems.roles import Role, T
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
REFLECTING = ("kn", "te", "no-update", "no-open-entities")
"""The ways in which it matters what segments lack."""


@dataclass(frozen=True)
class Part:
    """A segment and what was found in it so far.

    `said` are its sentences with what each mentions, `opened` the entities that the model picked. `questions`
    are None and `by_rule` is set where a rule stands in: then sentences relate what they name.
    """

    segment: int
    lines: Sequence[str]
    background: str
    said: tuple[tuple[Sentence, tuple[str, ...]], ...]
    opened: tuple[str, ...] = ()
    relations: tuple[Relation, ...] = ()
    questions: tuple[str, ...] | None = ()
    by_rule: bool = False

    @property
    def entities(self) -> list[str]:
        """All of them, each once."""
        every = (*(name for _, named in self.said for name in named), *self.opened)
        return list({key(name): name for name in reversed(every)}.values())[::-1]

    def data(self, *names: str, **more: Any) -> Data:
        """What a request says of it: its lines, the summary of its conversation, and what `names` name."""
        told = {"entities": self.entities, "relations": [one.model_dump() for one in self.relations]}
        given = {name: told[name] for name in names}
        return {"background": self.background, "lines": self.lines, **given, **more}

    @property
    def asked(self) -> list[list[str]]:
        """Its questions as words; by rule those that its sentences answer."""
        if self.questions is None:
            return [cloze(one) for one, _ in self.said]
        return [words(question) for question in self.questions]

    def asking(self, questions: Sequence[str] | None) -> Part:
        """The part with these questions, None for no usable ones."""
        if questions is None:
            return replace(self, questions=None)
        short = (_short(question, SAID) for question in questions[: prompts.QUESTIONS])
        return replace(self, questions=tuple(filter(None, short)))

    def with_new(self, numbers: Collection[int]) -> Part:
        """The part with those of its questions alone that are new, or with the nouns of such sentences."""
        if self.questions is not None:
            return replace(self, questions=tuple(self.questions[number] for number in sorted(numbers)))
        said = (
            (one, tuple(dict.fromkeys((*named, *one.nouns))) if number in numbers else named)
            for number, (one, named) in enumerate(self.said)
        )
        return replace(self, said=tuple(said))

    def with_more(self, entities: Sequence[str], relations: Sequence[Relation]) -> Part:
        """The part with what a reply adds; what relates no two of its entities is left out."""
        opened = filter(None, (_short(name, NAME) for name in entities[: prompts.ENTITIES]))
        more = replace(self, opened=tuple(dict.fromkeys((*self.opened, *opened))))
        called = {key(name): name for name in more.entities}
        kept = []
        for relation in relations[: prompts.RELATIONS]:
            one, other = (called.get(key(_short(end, NAME)), "") for end in (relation.one, relation.other))
            text = _short(relation.text, SAID)
            if one and other and one != other and text and self.said:
                kept.append(Relation(one=one, other=other, text=text))
        return replace(more, relations=(*self.relations, *kept))

    @property
    def facts(self) -> list[Fact]:
        """Its sentences with what they mention; and what the model says of two, by a sentence of both."""
        made = []
        unsaid = dict.fromkeys(self.opened)  # in other words than the segment's: what they name stands in it
        for sentence, named in self.said:
            held = fold(sentence.said)
            opened = [name for name in self.opened if begins(fold(name), held)]
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
        self._parts: dict[int, Part] = {}
        self._unmerged = 0

    def related(self) -> EntityGraph:
        """The question's graph: an edge is a description of what relates two, or, by rule, a sentence."""
        question, way = {"question": self.asked.query.text}, self.asked.way
        parts = self._segments()
        if way != "no-open-entities":
            parts = self._over(
                prompts.OPEN,
                parts,
                lambda part: part.data(**question),
                lambda part, reply: part.with_more(reply, ()) if reply else part,
            )
        parts = self._over(
            prompts.RELATE,
            parts,
            lambda part: part.data("entities", **question) if len(part.entities) > 1 else None,
            lambda part, reply: replace(part, by_rule=True) if reply is None else part.with_more((), reply),
        )
        if way != "no-update":
            parts = self._updated(parts)
        self._parts = {part.segment: part for part in parts}
        return self._merged(self._same([fact for part in parts for fact in part.facts]))

    def ground(self, ground: Ground) -> Ground:
        """The same ground, judged by the model, which also writes the query that fetches (GES)."""
        return replace(
            ground,
            judge=partial(self._judged, ground.judge),
            elaborate=partial(self._elaborated, ground),
        )

    def proposed(self, stand: Stand) -> list[Step]:
        """The entities whose segments the model wants to be read next (TE); by rule the nearest one."""
        data = {"question": self.asked.query.text, "missing": stand.reason, "entities": list(stand.entities)}
        [reply] = self._asked(prompts.PROPOSE, [{**data, "pieces": self._pieces(stand.read)}])
        if reply is None:
            near = best(lead for lead in in_segments(stand) if stand.new(lead.entity))
            return [replace(lead, fell_back=True) for lead in near]
        wanted = stand.graph.meant(reply)
        leads = {lead.entity: lead for lead in naming(stand, range(len(stand.graph.facts)))}
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
        done = self.asker.each([partial(role.reply, self.asker, quoted(data)) for data in requests])
        replies = [None if isinstance(one, LLMError) else one for one in done]
        self.steps[role.name] += len(replies)
        self.by_rule += Counter({role.name: replies.count(None)})
        return replies

    def _over(
        self,
        role: Role[T],
        parts: Sequence[Part],
        request: Callable[[Part], Data | None],
        taken: Callable[[Part, T | None], Part],
    ) -> list[Part]:
        """The parts, each of them that has a request with its reply taken in."""
        requests = list(map(request, parts))
        replies = self._asked(role, [data for data in requests if data is not None])
        left = iter(replies)
        both = zip(parts, requests, strict=True)
        return [part if data is None else taken(part, next(left)) for part, data in both]

    def _segments(self) -> list[Part]:
        """The segments of the scope, with the names and the question's terms in their sentences."""
        asked = self.asked
        opens = asked.way != "no-open-entities"
        places = {asked.place(turns[0]) for turns in asked.scope.values()}
        background = summaries(self._asked, windows(asked.haystack, asked.memory, places))
        parts = []
        for segment, turns in asked.scope.items():
            every = (one for index in turns for one in sentences_of(asked, index))
            said = tuple((one, mentions(one, asked.query, asked=opens)) for one in every)
            told = background.get(asked.place(turns[0]), "")
            parts.append(Part(segment, self._lines(segment), told, said))
        return parts

    def _lines(self, segment: int) -> list[str]:
        turns = self.asked.haystack.corpus.turns
        return prompts.clipped([turns[index].rendered for index in self.asked.scope[segment]])

    def _pieces(self, segments: Iterable[int]) -> list[list[str]]:
        return [self._lines(segment) for segment in segments]

    def _updated(self, parts: Sequence[Part]) -> list[Part]:
        """The parts with what answers to new questions add; where none could be made, by rule: the nouns of
        sentences that answer a new one."""
        parts = self._over(
            prompts.ASK,
            parts,
            lambda part: part.data("entities", "relations"),
            lambda part, reply: part.asking(reply),
        )
        every = [(place, number) for place, part in enumerate(parts) for number in range(len(part.asked))]
        kept = defaultdict(set)
        for at in accepted(one for part in parts for one in part.asked):
            place, number = every[at]
            kept[place].add(number)
        return self._over(
            prompts.UPDATE,
            [part.with_new(kept[place]) for place, part in enumerate(parts)],
            lambda part: part.data("entities", questions=part.questions) if part.questions else None,
            lambda part, reply: part.with_more(reply.entities, reply.relations) if reply else part,
        )

    def _same(self, facts: Sequence[Fact]) -> EntityGraph:
        """The graph of the facts, in which names that the model says mean one entity are one."""
        made = graph(facts)
        names = sorted(made.entities, key=lambda name: -len(made.entities[name].segments))[:NAMES]
        if len(names) < 2:
            return made
        written = [fact for fact in facts if fact.written]
        said = {name: fact.sentence.said[:NAME] for fact in written for name in made.meant(fact.mentions)}
        [reply] = self._asked(prompts.SAME, [{"names": names, "said": said}])
        same: dict[str, str] = {}
        for group in reply or ():
            known = made.meant(group)
            if len(known) > 1:
                main = max(known, key=lambda name: (len(name.split()), len(made.entities[name].segments)))
                same |= {name: same.get(main, main) for name in known if name not in same}
        return graph(facts, same)

    def _merged(self, made: EntityGraph) -> EntityGraph:
        """The graph with one description for each edge that had several; its facts keep their segments.

        Of the edges with most descriptions MERGES for each segment; the others, `unmerged`, are united
        as they are.
        """
        several = {}
        for edge in made.edges:
            written = [place for place in edge.facts if made.facts[place].written]
            if len(written) > 1:
                several[edge.ends] = written
        chosen = dict(sorted(several.items(), key=lambda item: -len(item[1]))[: MERGES * len(self._parts)])
        self._unmerged = len(several) - len(chosen)
        replies = self._asked(prompts.MERGE, [self._merge(made, *one) for one in chosen.items()])
        facts = list(made.facts)
        for places, reply in zip(chosen.values(), replies, strict=True):
            said = _short(reply or "", SAID)
            for place in places if said else ():
                facts[place] = replace(facts[place], sentence=replace(facts[place].sentence, said=said))
        return replace(made, facts=tuple(facts))

    def _merge(self, made: EntityGraph, ends: tuple[str, str], places: Sequence[int]) -> Data:
        """Descriptions of one pair, with the first segments that they are of."""
        facts = [made.facts[place] for place in places]
        parts = [self._parts[segment] for segment in dict.fromkeys(fact.segment for fact in facts)]
        parts = parts[:MERGED]
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
        data = {"question": self.asked.query.text, "pieces": self._pieces(segments)}
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
    return sum(begins(fold(end), fold(sentence.text)) for end in ends)


def _short(text: str, most: int) -> str:
    return " ".join(text.split())[:most]
