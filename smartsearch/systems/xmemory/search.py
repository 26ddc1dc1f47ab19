"""One question over a memory: themes, their semantics, the episodes behind them, and so to turns."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from smartsearch.config import Config
from smartsearch.errors import ModelError
from smartsearch.models.tools import Tools
from smartsearch.rank.text import shown
from smartsearch.rank.windows import turn_scores
from smartsearch.retrieve.grep import Haystack
from smartsearch.systems.base import Card, Clock, Memory, Plan, Progress, Ranked, asker
from smartsearch.systems.pieces import digest
from smartsearch.systems.xmemory import CARD, rule, select
from smartsearch.systems.xmemory.ingest import Author, Vectors, XMemory, embedded, ingest
from smartsearch.systems.xmemory.select import Gated, Matrix
from smartsearch.systems.xmemory.settings import constants, set_in
from smartsearch.systems.xmemory.store import Store
from smartsearch.types import Hit, Query, Scores, Trace, Turn, fold

if TYPE_CHECKING:
    from smartsearch.llm import Asker
    from smartsearch.systems.xmemory.roles import Reader, Writer

GATES = {
    "logprobs": "logprobs: mean token entropy of a draft",
    "samples": "samples: entropy of five drafts",
    "": "proxy: cross-encoder and words covered",
}
"""Whose uncertainty decides."""


@dataclass
class Judge:
    """Our cross-encoder as the reader that the gate asks; what it read of a question it remembers.

    Uncertainty is the mean of two shares: the chance that none of the turns answers, and the weight of the
    question's words that stand in none of them. It is a proxy for a reader's own, and the trace says so.
    """

    query: Query
    corpus: Haystack
    likeness: Callable[[Sequence[int]], Matrix]
    scores: dict[int, float] = field(default_factory=dict)

    def __call__(self, turns: Sequence[int]) -> float:
        """How unsure a reader of these turns is taken to be, in [0, 1]."""
        self.read(turns)
        unanswered = float(np.prod([1.0 - self.scores[turn] for turn in turns]))
        terms = self.query.terms
        weight = sum(term.weight for term in terms)
        if not weight:
            return unanswered
        texts = [fold(self.corpus.corpus.turns[turn].spoken) for turn in turns]
        missing = sum(t.weight for t in terms if not any(fold(t.text) in text for text in texts))
        return (unanswered + missing / weight) / 2

    def read(self, turns: Iterable[int]) -> None:
        """Score those that were not read."""
        fresh = [turn for turn in dict.fromkeys(turns) if turn not in self.scores]
        self.scores.update(zip(fresh, self.likeness(fresh).tolist(), strict=True))


@dataclass(frozen=True)
class System:
    """xMemory with SmartSearch's models: ColBERT embeds, the cross-encoder ranks what was found.

    With an `asker` its model writes the memory and is the reader whose uncertainty counts; without one it is
    by rule, and the cross-encoder is that reader.
    """

    card: Card
    tools: Tools
    vectors: Vectors
    fingerprint: str
    config: Config
    author: Author
    asker: Asker | None = None
    reader: Callable[[str, XMemory, Sequence[Turn], Config], Reader] | None = None

    def prepare(self, corpus: Haystack, folder: Path | None, progress: Progress) -> Memory:
        """The memory of all turns; with a `folder`, what it has is read, and what is new is written."""
        with Store.of(folder, self.fingerprint, alone=True) as store:
            themes, embed = store.themes(constants(self.config)), partial(embedded, self.vectors)
            return ingest(corpus.corpus.turns, self.author, store, themes, embed, progress)

    def plan(self, corpus: Haystack, folder: Path | None, config: Config) -> tuple[Plan, Plan]:
        """What `prepare` would send, and what a question would; where episodes will begin is guessed."""
        with Store.of(folder, self.fingerprint, alone=False) as store:
            return cast("Writer", self.author).plan(corpus.corpus.turns, store, config)

    def search(self, question: str, corpus: Haystack, memory: Memory, config: Config) -> Ranked:
        """The turns that themes, facts and episodes lead to, the likeliest first by the cross-encoder."""
        assert isinstance(memory, XMemory)
        clock, tools, chosen = Clock(), self.tools, constants(config)
        with clock("parse"):
            query = tools.parser.parse(question, config)

        def near(scorer: str, turns: Sequence[int]) -> Matrix:
            return turn_scores(query.text, corpus.corpus, turns, tools.scorers[scorer], shown(config))

        def fits(turns: Sequence[int]) -> bool:
            said = sum(corpus.corpus.turns[turn].words for turn in turns)
            return config.truncate == "none" or not config.word_budget or said <= config.word_budget

        judge = Judge(query, corpus, partial(near, "ce"))
        with clock("retrieve"):
            asked = embedded(self.vectors, [question])[0].astype(np.float64)
            among = corpus.indices if isinstance(corpus.indices, range) else frozenset(corpus.indices)
            own = memory.semantics.items()
            allowed = [one for one, place in own if select.found_among(place.turns, among)]
            themes, semantics = select.stage_one(asked, memory, allowed, chosen)
            known = select.turns_of(memory, semantics, among)
            closest = select.nearest_episodes(asked, memory, allowed, chosen.nearest)
            ranked = select.ranked_episodes(memory, semantics, among, partial(near, "colbert"), closest)
            choices = ranked[: chosen.episodes]
            reader = self.reader(query.text, memory, corpus.corpus.turns, config) if self.reader else None
            gated = reader.gated(themes, semantics, choices) if reader and chosen.gated else None
            if chosen.gated and not gated:
                gated = select.gate(known, choices, judge, constants=chosen, fits=fits)
            let_in = gated.admitted if gated else {choice.episode: True for choice in choices}
        with clock("rank"):
            read = {one.episode: one.messages if let_in.get(one.episode) else one.record for one in choices}
            turns = list(dict.fromkeys([*known, *(turn for one in let_in for turn in read[one])]))
            judge.read(turns)
            turns.sort(key=lambda turn: (-judge.scores[turn], turn))
        hits = [
            Hit(rank, corpus.corpus.turns[turn], Scores(more={"xmemory": judge.scores[turn]}), index=turn)
            for rank, turn in enumerate(turns, start=1)
        ]
        trace = Trace(
            candidates=len(turns),
            timing_ms=clock.spent,
            models=tuple(tools.models[name] for name in ("parser", "ce", "colbert") if name in tools.models),
            degraded=tuple(tools.notes()),
            own=told(memory, (len(themes), len(semantics), len(choices)), gated, config, reader),
        )
        return Ranked(
            hits,
            trace,
            config.profile,
            warnings=tuple(_replaced(memory, reader)),
            told=told_to(memory, (themes, semantics), let_in, among),
        )


def load(config: Config, load_tools: Callable[[Config], Tools]) -> System:
    """xMemory with the models of the config's profile. Raises ModelError where they do not do, LLMError."""
    tools, model = load_tools(config), asker(config)
    colbert = tools.scorers.get("colbert")
    vectors = colbert.vectors if colbert else None
    if vectors is None or "ce" not in tools.scorers:
        raise ModelError(
            f"xmemory needs a cross-encoder and a ColBERT that keeps vectors, unlike {config.profile}",
            hint="--profile embedded",
            kind="model_unfit",
        )
    author, reader = Author(tools.parser), None
    if model:
        from smartsearch.systems.xmemory.roles import Reader, Writer

        author, reader = Writer(tools.parser, model), partial(Reader, model)
    models = [(info.id, info.revision) for name, info in sorted(tools.models.items()) if name != "ce"]
    of = constants(config)
    left = [part for part in ("merge", "split") if not getattr(of, part)]
    settings = [models, of.cap, (left, of.attach, of.around, of.eps), 3, *author.identity(config)]
    fingerprint = digest(json.dumps(settings), 8)
    own = CARD.asking if model else CARD
    return System(own, tools, vectors, fingerprint, config, author, model, reader)


def told_to(
    memory: XMemory, chosen: tuple[Sequence[int], Sequence[int]], let_in: Iterable[int], among: Container[int]
) -> tuple[Turn, ...]:
    """What a reader is told before the messages: themes, facts, episodes, as turns of nobody. Nothing is told
    of a theme or an episode that has a turn which may not be found."""
    own = {one: place.turns for one, place in memory.semantics.items()}

    def whole(turns: Iterable[int]) -> bool:
        return all(turn in among for turn in turns)

    members = memory.themes.members
    themes = [theme for theme in chosen[0] if all(whole(own[one]) for one in members[theme])]
    facts = [one for one in chosen[1] if whole(own[one])]
    episodes = [memory.episodes[episode].record for episode in let_in if whole(memory.runs[episode])]
    return tuple(map(Turn, (*memory.coarse(themes, facts), *episodes)))


def _replaced(memory: XMemory, reader: Reader | None) -> list[str]:
    """That the rule did what the language model could not, where it did."""
    if reader is None:
        return []
    fallen = {kind: memory.statistics.get(f"{kind}_by_rule", 0) for kind in rule.FALLEN}
    parts = [f"{count:g} {rule.FALLEN[kind]}" for kind, count in fallen.items() if count]
    told = f"the model gave nothing usable for {', '.join(parts)}: the rule made them" if parts else ""
    doubt = f"the cross-encoder stood in for the model as the reader: {reader.fault}" if reader.fault else ""
    return [one for one in (told, doubt) if one]


def told(
    memory: XMemory, chosen: tuple[int, int, int], gated: Gated | None, config: Config, reader: Reader | None
) -> dict[str, object]:
    """What the system says of itself and of this question, for the trace; `chosen` counts each level."""
    by = GATES[reader.by if reader else ""] if gated else "none"
    way = set_in(config).xmemory
    own: dict[str, object] = {
        "fidelity": "approximate" if reader else "rule",
        **({"model": reader.asker.endpoint.model} if reader else {}),
        "embedder": "colbert, mean of its vectors",
        "gate": by,
        **({"way": way} if way != "full" else {}),
        **memory.statistics,
        "new_episodes": memory.new,
        "gone_episodes": memory.gone,
        **dict(zip(("chosen_themes", "chosen_semantics", "linked_episodes"), chosen, strict=True)),
    }
    if gated:
        own |= {
            "episodes_added": len(gated.admitted),
            "episodes_opened": sum(gated.admitted.values()),
            "uncertainty": [round(gated.before, 4), round(gated.after, 4)],
            "gate_asked": gated.asked,
        }
    return own
