"""One question over a memory: themes, their semantics, the episodes behind them, and so to turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from smartsearch.config import Config
from smartsearch.models.tools import Tools
from smartsearch.rank.text import shown
from smartsearch.rank.truncate import truncate
from smartsearch.rank.windows import best_windows, scored_windows
from smartsearch.retrieve.grep import Haystack
from smartsearch.retrieve.semantic import Scorer
from smartsearch.systems.xmemory.ingest import XMemory
from smartsearch.systems.xmemory.select import Choice, Gated, edges, gate, representatives
from smartsearch.types import Cost, Hit, Query, Result, Scores, Trace, fold, paired

CANDIDATES = 24
"""Themes that Stage I chooses among, the most alike."""
THEMES, SEMANTICS = 6, 20
"""How many it chooses."""
EPISODES = 20
"""Episodes that Stage II looks at, at most."""
SUPPORT = 0.1
"""What each chosen semantic of an episode adds to its likeness to the question."""

Embedding = Callable[[Sequence[str]], NDArray[np.float32]]


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
        windows = scored_windows(self.query.text, self.corpus.corpus, fresh, shown(self.config))
        self.scores.update(zip(fresh, best_windows(self.query.text, windows, self.scorer).tolist(), strict=True))


@dataclass(frozen=True)
class Chosen:
    """What Stage I chose: themes and semantics by id."""

    themes: tuple[int, ...]
    semantics: tuple[int, ...]


def search(
    question: str, corpus: Haystack, memory: XMemory, config: Config, tools: Tools, embed: Embedding
) -> Result:
    """The turns that the memory leads to, the likeliest first by the cross-encoder, cut as `config` says."""
    start, question = time.perf_counter(), paired(question)
    query = tools.parser.parse(question, config)
    parsed = time.perf_counter()
    asked = embed([question])[0].astype(np.float64)
    chosen = stage_one(asked, memory, found_in(memory, corpus), greedy="stage1" not in config.xmemory_without)
    judge = Judge(query, corpus, tools.scorers["ce"], config)
    known = _turns(memory, chosen.semantics, corpus)
    choices = ranked_episodes(asked, memory, chosen.semantics, corpus)
    if "stage2" in config.xmemory_without:
        gated, turns = None, [*known, *(turn for choice in choices for turn in choice.messages)]
    else:
        gated = gate(known, choices, judge, fits=_fits(corpus, config)) if known else None
        turns = [*known, *_let_in(choices, gated)]
    retrieved = time.perf_counter()
    turns = list(dict.fromkeys(turns))
    judge.read(turns)
    turns.sort(key=lambda turn: (-judge.scores[turn], turn))
    ranked = time.perf_counter()
    hits = [
        Hit(rank, corpus.corpus.turns[turn], Scores(more={"xmemory": judge.scores[turn]}), index=turn)
        for rank, turn in enumerate(turns, start=1)
    ]
    kept, budget = truncate(hits, config, tools.tokenizer)
    if config.order == "time":
        kept = tuple(sorted(kept, key=lambda hit: (hit.turn.time, hit.index)))
    ends = time.perf_counter()
    times = {
        "parse": parsed - start,
        "retrieve": retrieved - parsed,
        "rank": ranked - retrieved,
        "truncate": ends - ranked,
        "total": ends - start,
    }
    trace = Trace(
        candidates=len(turns),
        timing_ms={stage: seconds * 1000.0 for stage, seconds in times.items()},
        models=tuple(tools.models[name] for name in ("parser", "ce", "colbert") if name in tools.models),
        degraded=tuple(tools.notes()),
        cost=Cost(),
        own=told(memory, chosen, choices, gated, config),
    )
    warnings = ("a turn was cut to fit the budget",) if budget.cut_text else ()
    return Result(
        question, config.profile, kept, budget, trace, config.cores, warnings=warnings, system="xmemory-rule"
    )


def found_in(memory: XMemory, corpus: Haystack) -> list[int]:
    """The semantics that come from a turn which may be found, ascending."""
    if len(corpus) == len(corpus.corpus.turns):
        return memory.order
    allowed = set(corpus.indices)
    return [one for one in memory.order if allowed.intersection(memory.semantics[one].turns)]


def stage_one(
    asked: NDArray[np.float64], memory: XMemory, allowed: Sequence[int], *, greedy: bool = True
) -> Chosen:
    """Representative themes and semantics for a question's unit vector (dim,); without `greedy` the nearest.

    Only themes with an `allowed` semantic, and such semantics, are chosen.
    """
    if not allowed:
        return Chosen((), ())
    themes = memory.themes
    held: dict[int, list[int]] = {}
    for one in allowed:
        held.setdefault(themes.theme[one], []).append(one)
    ids = themes.ids
    centroids = themes.centroids(ids)
    likeness = centroids @ asked
    open_ids = [n for n, theme in enumerate(ids) if theme in held]
    best = sorted(open_ids, key=lambda n: -likeness[n])[:CANDIDATES]
    picked = _picked(best, centroids, likeness[best], THEMES, greedy=greedy)
    chosen = [ids[n] for n in picked]
    rows = [memory.rows[one] for theme in chosen for one in held[theme]]
    near = memory.vectors[rows] @ asked
    semantics = [memory.order[row] for row in _picked(rows, memory.vectors, near, SEMANTICS, greedy=greedy)]
    return Chosen(tuple(chosen), tuple(semantics))


def _picked(
    rows: Sequence[int], vectors: NDArray[np.float64], likeness: NDArray[np.float64], most: int, *, greedy: bool
) -> list[int]:
    if greedy:
        return [rows[n] for n in representatives(edges(rows, vectors), likeness, most)]
    return [rows[n] for n in np.argsort(-likeness, kind="stable")[:most]]


def ranked_episodes(
    asked: NDArray[np.float64], memory: XMemory, semantics: Sequence[int], corpus: Haystack
) -> list[Choice[int]]:
    """The episodes of these semantics by their likeness to the question and how many of these they have.

    An episode's likeness is that of its best semantic. Its record is the turns that its semantics quote.
    """
    support: dict[int, int] = {}
    for one in semantics:
        episode = memory.semantics[one].episode
        support[episode] = support.get(episode, 0) + 1
    own: dict[int, list[int]] = {episode: [] for episode in support}
    for one, place in memory.semantics.items():
        if place.episode in own:
            own[place.episode].append(one)
    worth = {
        episode: float(max(memory.vectors[memory.rows[one]] @ asked for one in own[episode])) + SUPPORT * count
        for episode, count in support.items()
    }
    allowed = corpus.indices if isinstance(corpus.indices, range) else set(corpus.indices)
    best = sorted(support, key=lambda episode: (-worth[episode], episode))[:EPISODES]
    return [
        Choice(
            episode,
            tuple(_turns(memory, own[episode], corpus)),
            tuple(turn for turn in memory.runs[episode] if turn in allowed),
        )
        for episode in best
    ]


def _turns(memory: XMemory, semantics: Iterable[int], corpus: Haystack) -> list[int]:
    """The turns that these semantics come from and that may be found, each once."""
    allowed = corpus.indices if isinstance(corpus.indices, range) else set(corpus.indices)
    named = dict.fromkeys(turn for one in semantics for turn in memory.semantics[one].turns)
    return [turn for turn in named if turn in allowed]


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
    memory: XMemory, chosen: Chosen, choices: Sequence[Choice[int]], gated: Gated | None, config: Config
) -> dict[str, object]:
    """What the system says of itself and of this question, for the trace."""
    own: dict[str, object] = {
        "fidelity": "rule",
        "embedder": "colbert, mean of a sketch",
        "gate": "proxy: cross-encoder and words covered" if gated else "none",
        **({"without": list(config.xmemory_without)} if config.xmemory_without else {}),
        **memory.statistics,
        "new_episodes": memory.new,
        "gone_episodes": memory.gone,
        "chosen_themes": len(chosen.themes),
        "chosen_semantics": len(chosen.semantics),
        "linked_episodes": len(choices),
    }
    if gated:
        own |= {
            "episodes_added": len(gated.admitted),
            "episodes_opened": sum(one.opened for one in gated.admitted),
            "uncertainty": [round(gated.before, 4), round(gated.after, 4)],
            "gate_asked": gated.asked,
        }
    return own
