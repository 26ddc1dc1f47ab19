"""One question over a memory: themes, their semantics, the episodes behind them, and so to turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from smartsearch.config import Config
from smartsearch.models.tools import Tools
from smartsearch.rank.scorer import Scorer
from smartsearch.rank.text import shown
from smartsearch.rank.windows import turn_scores
from smartsearch.retrieve.grep import Haystack
from smartsearch.systems.base import Clock, Ranked
from smartsearch.systems.xmemory.ingest import Embed, XMemory
from smartsearch.systems.xmemory.select import Choice, Gated, edges, gate, representatives
from smartsearch.systems.xmemory.settings import set_in
from smartsearch.types import Hit, Query, Scores, Trace, fold

if TYPE_CHECKING:
    from smartsearch.llm import Asker
    from smartsearch.systems.xmemory.reader import Reader

CANDIDATES = 24
"""Themes that Stage I chooses among, the most alike."""
THEMES, SEMANTICS = 6, 20
"""How many it chooses."""
EPISODES = 20
"""Episodes that Stage II looks at, at most."""
SUPPORT = 0.1
"""What each chosen semantic of an episode adds to its likeness to the question."""
GATES = {
    "logprobs": "logprobs: mean token entropy of a draft",
    "samples": "samples: entropy of five drafts",
    "": "proxy: cross-encoder and words covered",
}
"""Whose uncertainty decides."""
FALLEN = {
    "boundaries": "windows of messages (where episodes begin)",
    "episodes": "records of episodes",
    "semantics": "facts",
    "names": "names of themes",
}
"""What the rule does where a language model cannot."""

Vectors = NDArray[np.float64]


@dataclass
class Judge:
    """Our cross-encoder as the reader that the gate asks; what it read of a question it remembers.

    Uncertainty is the mean of two shares: the chance that none of the turns answers, and the weight of the
    question's words that stand in none of them. It is a proxy for a reader's own, and the trace says so.
    """

    query: Query
    corpus: Haystack
    scorer: Scorer
    config: Config
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
        scores = read(self.query.text, self.corpus, self.scorer, self.config, fresh)
        self.scores.update(zip(fresh, scores.tolist(), strict=True))


def read(question: str, corpus: Haystack, scorer: Scorer, config: Config, turns: Sequence[int]) -> Vectors:
    """The score of each of these turns, as the pipeline reads them."""
    return turn_scores(question, corpus.corpus, turns, scorer, shown(config))


def search(
    question: str,
    corpus: Haystack,
    memory: XMemory,
    config: Config,
    tools: Tools,
    embed: Embed,
    asker: Asker | None = None,
) -> Ranked:
    """The turns that the memory leads to, the likeliest first by the cross-encoder.

    With an `asker` its model is the reader whose uncertainty counts, else the cross-encoder is one.
    """
    clock, without = Clock(), set_in(config).xmemory_without
    with clock("parse"):
        query = tools.parser.parse(question, config)
    judge = Judge(query, corpus, tools.scorers["ce"], config)
    with clock("retrieve"):
        asked = embed([question])[0].astype(np.float64)
        among = corpus.indices if isinstance(corpus.indices, range) else frozenset(corpus.indices)
        allowed = [one for one in memory.order if _found(memory.semantics[one].turns, among)]
        themes, semantics = stage_one(asked, memory, allowed, greedy="stage1" not in without)
        known = _turns(memory, semantics, among)
        near = partial(read, query.text, corpus, tools.scorers["colbert"], config)
        choices = ranked_episodes(memory, semantics, among, near)
        reader, gated = _reader(query.text, memory, corpus, config, asker), None
        if "stage2" in without:
            turns = [*known, *(turn for choice in choices for turn in choice.messages)]
        else:
            gated = reader.gated(semantics, choices) if reader else None
            gated = gated or gate(known, choices, judge, fits=_fits(corpus, config))
            turns = [*known, *_let_in(choices, gated)]
    with clock("rank"):
        turns = list(dict.fromkeys(turns))
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
    return Ranked(hits, trace, config.profile, warnings=tuple(_replaced(memory, reader)))


def _reader(
    question: str, memory: XMemory, corpus: Haystack, config: Config, asker: Asker | None
) -> Reader | None:
    if asker is None:
        return None
    from smartsearch.systems.xmemory.reader import Reader

    return Reader(question, memory, corpus.corpus.turns, asker, config.word_budget)


def _replaced(memory: XMemory, reader: Reader | None) -> list[str]:
    """That the rule did what the language model could not, where it did."""
    if reader is None:
        return []
    fallen = {kind: memory.statistics.get(f"{kind}_by_rule", 0) for kind in FALLEN}
    parts = [f"{count:g} {FALLEN[kind]}" for kind, count in fallen.items() if count]
    told = f"the model gave nothing usable for {', '.join(parts)}: the rule made them" if parts else ""
    doubt = f"the cross-encoder stood in for the model as the reader: {reader.fault}" if reader.fault else ""
    return [one for one in (told, doubt) if one]


def stage_one(
    asked: Vectors, memory: XMemory, allowed: Sequence[int], *, greedy: bool = True
) -> tuple[list[int], list[int]]:
    """Representative themes and semantics, by id, for a question's unit vector (dim,).

    A theme is as like the question as the likest of its `allowed` semantics, and nothing else is chosen.
    Without `greedy` both are the nearest.
    """
    if not allowed:
        return [], []
    held: dict[int, list[int]] = {}
    near = dict(
        zip(allowed, (memory.vectors[[memory.rows[one] for one in allowed]] @ asked).tolist(), strict=True)
    )
    for one in allowed:
        held.setdefault(memory.themes.theme[one], []).append(one)
    ids = memory.themes.ids
    places = {theme: place for place, theme in enumerate(ids)}
    likest = {theme: max(near[one] for one in own) for theme, own in held.items()}
    best = sorted(likest, key=lambda theme: (-likest[theme], theme))[:CANDIDATES]
    rows = [places[theme] for theme in best]
    likeness = np.array([likest[theme] for theme in best])
    picked = _picked(rows, memory.themes.centroids, likeness, THEMES, greedy=greedy)
    themes = [best[n] for n in picked]
    own = [one for theme in themes for one in held[theme]]
    rows = [memory.rows[one] for one in own]
    picked = _picked(rows, memory.vectors, np.array([near[one] for one in own]), SEMANTICS, greedy=greedy)
    return themes, [own[n] for n in picked]


def _picked(
    rows: Sequence[int], vectors: Vectors, likeness: Vectors, most: int, *, greedy: bool
) -> list[int]:
    """Places in `rows` of those chosen."""
    if greedy:
        return representatives(edges(rows, vectors), scaled(likeness), most)
    return list(map(int, np.argsort(-likeness, kind="stable")[:most]))


def ranked_episodes(
    memory: XMemory,
    semantics: Sequence[int],
    among: Container[int],
    likeness: Callable[[Sequence[int]], Vectors],
) -> list[Choice[int]]:
    """The episodes of these semantics by their likeness to the question and how many of these they have.

    An episode is as like it as the likest of its messages. Its record is the turns that its semantics quote.
    """
    support = Counter(memory.semantics[one].episode for one in semantics)
    messages = {episode: _found(memory.runs[episode], among) for episode in support}
    turns = [turn for own in messages.values() for turn in own]
    like = dict(zip(turns, likeness(turns).tolist(), strict=True))
    likest = scaled(np.array([max(like[turn] for turn in messages[episode]) for episode in support]))
    worth = {
        episode: near + SUPPORT * count
        for (episode, count), near in zip(support.items(), likest.tolist(), strict=True)
    }
    best = sorted(support, key=lambda episode: (-worth[episode], episode))[:EPISODES]
    return [
        Choice(episode, tuple(_turns(memory, memory.of_episode[episode], among)), tuple(messages[episode]))
        for episode in best
    ]


def scaled(values: Vectors) -> Vectors:
    """Values from 0 for the least to 1 for the most, as what is covered goes from 0 to 1."""
    spread = values - values.min(initial=np.inf)
    made: Vectors = spread / max(float(spread.max(initial=0.0)), 1e-9)
    return made


def _found(turns: Iterable[int], among: Container[int]) -> list[int]:
    """Those that may be found, each once."""
    return [turn for turn in dict.fromkeys(turns) if turn in among]


def _turns(memory: XMemory, semantics: Iterable[int], among: Container[int]) -> list[int]:
    """The turns that these semantics come from and that may be found."""
    return _found((turn for one in semantics for turn in memory.semantics[one].turns), among)


def _let_in(choices: Sequence[Choice[int]], gated: Gated | None) -> list[int]:
    by_episode = {choice.episode: choice for choice in choices}
    turns: list[int] = []
    for one in gated.admitted if gated else ():
        choice = by_episode[one.episode]
        turns += choice.messages if one.opened else choice.record
    return turns


def _fits(corpus: Haystack, config: Config) -> Callable[[Sequence[int]], bool]:
    words = corpus.corpus.turns
    most = 0 if config.truncate == "none" else config.word_budget
    return lambda turns: not most or sum(words[turn].words for turn in turns) <= most


def told(
    memory: XMemory, chosen: tuple[int, int, int], gated: Gated | None, config: Config, reader: Reader | None
) -> dict[str, object]:
    """What the system says of itself and of this question, for the trace; `chosen` counts each level."""
    by = GATES[reader.by if reader else ""] if gated else "none"
    without = set_in(config).xmemory_without
    own: dict[str, object] = {
        "fidelity": "approximate" if reader else "rule",
        **({"model": reader.asker.endpoint.model} if reader else {}),
        "embedder": "colbert, mean of its vectors",
        "gate": by,
        **({"without": list(without)} if without else {}),
        **memory.statistics,
        "new_episodes": memory.new,
        "gone_episodes": memory.gone,
        **dict(zip(("chosen_themes", "chosen_semantics", "linked_episodes"), chosen, strict=True)),
    }
    if gated:
        own |= {
            "episodes_added": len(gated.admitted),
            "episodes_opened": sum(one.opened for one in gated.admitted),
            "uncertainty": [round(gated.before, 4), round(gated.after, 4)],
            "gate_asked": gated.asked,
        }
    return own
