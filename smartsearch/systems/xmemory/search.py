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
from smartsearch.systems.xmemory.constants import OURS, Constants
from smartsearch.systems.xmemory.ingest import Embed, XMemory
from smartsearch.systems.xmemory.select import Admitted, Choice, Gated, edges, gate, representatives
from smartsearch.systems.xmemory.settings import set_in, without
from smartsearch.types import Hit, Query, Scores, Trace, Turn, fold

if TYPE_CHECKING:
    from smartsearch.llm import Asker
    from smartsearch.systems.xmemory.reader import Reader

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
    constants: Constants,
    tools: Tools,
    embed: Embed,
    asker: Asker | None = None,
) -> Ranked:
    """The turns that the memory leads to, the likeliest first by the cross-encoder.

    With an `asker` its model is the reader whose uncertainty counts, else the cross-encoder is one.
    """
    clock, left = Clock(), without(config)
    with clock("parse"):
        query = tools.parser.parse(question, config)
    judge = Judge(query, corpus, tools.scorers["ce"], config)
    with clock("retrieve"):
        asked = embed([question])[0].astype(np.float64)
        among = corpus.indices if isinstance(corpus.indices, range) else frozenset(corpus.indices)
        allowed = [one for one in memory.order if _found(memory.semantics[one].turns, among)]
        themes, semantics = stage_one(asked, memory, allowed, constants, greedy="stage1" not in left)
        known = _turns(memory, semantics, among)
        near = partial(read, query.text, corpus, tools.scorers["colbert"], config)
        closest = nearest_episodes(asked, memory, allowed, constants.nearest)
        choices = ranked_episodes(memory, semantics, among, near, closest)[: constants.episodes]
        reader, gated = None, None
        if asker:
            from smartsearch.systems.xmemory.reader import Reader

            words = config.word_budget
            reader = Reader(query.text, memory, corpus.corpus.turns, asker, words, constants)
        if "stage2" in left:
            let_in = [Admitted(choice.episode, opened=True) for choice in choices]
        else:
            gated = reader.gated(themes, semantics, choices) if reader else None
            gated = gated or gate(known, choices, judge, constants=constants, fits=_fits(corpus, config))
            let_in = list(gated.admitted)
        turns = [*known, *_let_in(choices, let_in)]
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
    warnings, remembered = (
        tuple(_replaced(memory, reader)),
        told_to(memory, (themes, semantics), let_in, among),
    )
    return Ranked(hits, trace, config.profile, warnings=warnings, told=remembered)


def told_to(
    memory: XMemory,
    chosen: tuple[Sequence[int], Sequence[int]],
    let_in: Sequence[Admitted],
    among: Container[int],
) -> tuple[Turn, ...]:
    """What a reader is told before the messages: themes, facts, episodes, as turns of nobody.

    Nothing is told of a theme or an episode that has a turn which may not be found.
    """
    own = {one: memory.semantics[one].turns for one in memory.order}
    themes = [
        theme
        for theme in chosen[0]
        if all(turn in among for one in memory.themes.members[theme] for turn in own[one])
    ]
    facts = [one for one in chosen[1] if all(turn in among for turn in own[one])]
    whole = [one.episode for one in let_in if all(turn in among for turn in memory.runs[one.episode])]
    episodes = [memory.episodes[episode].record for episode in whole]
    return tuple(map(Turn, (*memory.coarse(themes, facts), *episodes)))


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
    asked: Vectors,
    memory: XMemory,
    allowed: Sequence[int],
    constants: Constants = OURS,
    *,
    greedy: bool = True,
) -> tuple[list[int], list[int]]:
    """Representative themes and semantics, by id, for a question's unit vector (dim,).

    The `allowed` semantics most like it come first; their themes are chosen, a theme as like it as the likest
    of these, and then among these the semantics. Without `greedy` both are the nearest.
    """
    if not allowed:
        return [], []
    rows = [memory.rows[one] for one in allowed]
    near = dict(zip(allowed, (memory.vectors[rows] @ asked).tolist(), strict=True))
    held: dict[int, list[int]] = {}
    for one in sorted(allowed, key=lambda one: -near[one])[: constants.pool]:
        held.setdefault(memory.themes.theme[one], []).append(one)
    pick = partial(_picked, greedy=greedy, constants=constants)
    places = {theme: place for place, theme in enumerate(memory.themes.ids)}
    likest = np.array([near[own[0]] for own in held.values()])
    chosen = pick([places[theme] for theme in held], memory.themes.centroids, likest, constants.themes)
    themes = [list(held)[n] for n in chosen]
    own = [one for theme in themes for one in held[theme]]
    likeness = np.array([near[one] for one in own])
    chosen = pick([memory.rows[one] for one in own], memory.vectors, likeness, constants.facts)
    return themes, [own[n] for n in chosen]


def nearest_episodes(asked: Vectors, memory: XMemory, allowed: Sequence[int], most: int) -> list[int]:
    """The episodes whose facts, on average, are most like the question."""
    if not most or not allowed:
        return []
    held: dict[int, list[int]] = {}
    for one in allowed:
        held.setdefault(memory.semantics[one].episode, []).append(memory.rows[one])
    near = {episode: float((memory.vectors[rows].mean(axis=0)) @ asked) for episode, rows in held.items()}
    return sorted(near, key=lambda episode: -near[episode])[:most]


def _picked(
    rows: Sequence[int],
    vectors: Vectors,
    likeness: Vectors,
    most: int,
    *,
    greedy: bool,
    constants: Constants,
) -> list[int]:
    """Places in `rows` of those chosen."""
    if greedy:
        how = {"alpha": constants.alpha, "enough": constants.covered}
        return representatives(edges(rows, vectors), scaled(likeness), most, **how)
    return list(map(int, np.argsort(-likeness, kind="stable")[:most]))


def ranked_episodes(
    memory: XMemory,
    semantics: Sequence[int],
    among: Container[int],
    likeness: Callable[[Sequence[int]], Vectors],
    closest: Sequence[int] = (),
) -> list[Choice[int]]:
    """The episodes of these semantics, and `closest`, by their likeness to the question and how many of these
    they have.

    An episode is as like it as the likest of its messages. Its record is the turns that its semantics quote.
    """
    support = Counter(dict.fromkeys(closest, 0))
    support.update(memory.semantics[one].episode for one in semantics)
    messages = {episode: _found(memory.runs[episode], among) for episode in support}
    turns = [turn for own in messages.values() for turn in own]
    like = dict(zip(turns, likeness(turns).tolist(), strict=True))
    likest = scaled(np.array([max(like[turn] for turn in messages[episode]) for episode in support]))
    worth = {
        episode: near + SUPPORT * count
        for (episode, count), near in zip(support.items(), likest.tolist(), strict=True)
    }
    best = sorted(support, key=lambda episode: (-worth[episode], episode))
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


def _let_in(choices: Sequence[Choice[int]], let_in: Sequence[Admitted]) -> list[int]:
    by_episode = {choice.episode: choice for choice in choices}
    turns: list[int] = []
    for one in let_in:
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
            "episodes_opened": sum(one.opened for one in gated.admitted),
            "uncertainty": [round(gated.before, 4), round(gated.after, 4)],
            "gate_asked": gated.asked,
        }
    return own
