"""QRRanker on one page: our own search, its first turns in one context, their order by the heads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from smartsearch.config import Config
from smartsearch.models.tools import Tools
from smartsearch.rank.hub.heads import NAME, UNTRAINED
from smartsearch.rank.hub.listwise import Note
from smartsearch.rank.qrranker import QRRanker
from smartsearch.rank.text import shown, spoken_date
from smartsearch.rank.windows import scored_windows
from smartsearch.retrieve.grep import Haystack
from smartsearch.systems.base import Card, Clock, Empty, Memory, Progress, Ranked
from smartsearch.systems.pieces import digest, first_line, keys, spans
from smartsearch.systems.qrranker import CARD, causal
from smartsearch.systems.qrranker.settings import set_in
from smartsearch.systems.smartsearch import pipeline
from smartsearch.types import Hit, ModelInfo, Turn

SCORE = "qr"


@dataclass(frozen=True)
class System:
    """The method of the paper with a model and its heads, over what SmartSearch finds with `tools`."""

    card: Card
    tools: Tools
    ranker: QRRanker
    info: ModelInfo
    config: Config

    @property
    def notice(self) -> str:
        """How long a question takes, where that is long."""
        return self.ranker.notice(set_in(self.config).qr_candidates)

    @property
    def fingerprint(self) -> str:
        """Of its model and heads, and whether it has a memory."""
        return digest(repr((self.info, self.ranker.heads, set_in(self.config).qr_memory)), 8)

    def prepare(self, corpus: Haystack, folder: Path | None, progress: Progress) -> Memory:
        """Nothing: every question reads the transcripts. With `qr_memory` their episodes, not kept."""
        return Episodes(corpus.corpus.turns) if set_in(self.config).qr_memory else Empty()

    def search(self, question: str, corpus: Haystack, memory: Memory, config: Config) -> Ranked:
        """The first `qr_candidates` turns of our own search by the heads, the others behind."""
        ours, first, rest = first_turns(question, corpus, config, self.tools)
        clock = Clock(dict(ours.trace.timing_ms))
        with clock(SCORE):
            before = notes(memory, first) if isinstance(memory, Episodes) else []
            values = self.ranker.scores(question, texts(question, first, corpus, config), before)
        read = [
            replace(hit, scores=replace(hit.scores, more={**hit.scores.more, SCORE: float(value)}))
            for hit, value in zip(first, values, strict=True)
        ]
        ranked = sorted(read, key=lambda hit: -hit.scores.more[SCORE])
        heads = self.ranker.heads
        untrained = () if heads.trained else ("the heads of qrranker were found and not trained (QRHeads)",)
        trace = replace(
            ours.trace,
            timing_ms=clock.spent,
            models=(*ours.trace.models, self.info),
            degraded=(*ours.trace.degraded, *untrained),
            own={
                "fidelity": "approximate",
                "trained": heads.trained,
                "heads": len(heads.heads),
                "layers": max(heads.by_layer()) + 1,
                "found_on": heads.data,
                "read": len(read),
                "notes": len(before),
            },
        )
        return Ranked(
            [replace(hit, rank=rank) for rank, hit in enumerate((*ranked, *rest), start=1)],
            trace,
            config.profile,
            frozenset(hit.index for hit in ranked if hit.scores.more[SCORE] >= config.alpha),
            warnings=ours.warnings,
            name=NAME if heads.trained else UNTRAINED,
        )


def load(config: Config, tools: Callable[[Config], Tools]) -> System:
    """QRRanker with the config's model. Raises ModelError where it has none, or no heads of it."""
    loaded = tools(replace(config, rank=tuple(name for name in config.rank if name != SCORE)))
    ranker, info = causal.ranker(config, "--system qrranker")
    return System(CARD, loaded, ranker, info, config)


def first_turns(
    question: str, haystack: Haystack, config: Config, tools: Tools
) -> tuple[Ranked, Sequence[Hit], Sequence[Hit]]:
    """What our own search says, its first `qr_candidates` hits, and the others."""
    rankers = tuple(name for name in config.rank if name != SCORE)
    ours = pipeline.search(question, haystack, replace(config, rank=rankers), tools)
    most = set_in(config).qr_candidates
    return ours, ours.hits[:most], ours.hits[most:]


class Episodes:
    """The memory that the heads read before the turns: episodes by rule, called by their first lines."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.runs = spans(turns)
        self.fingerprint = digest(repr(keys(turns, self.runs)), 16)
        self.titles = []
        for first in (turns[run.start] for run in self.runs):
            date = spoken_date(first.time)
            self.titles.append(f"{date}: {first_line(first)}" if date else first_line(first))


def notes(memory: Episodes, hits: Sequence[Hit]) -> list[Note]:
    """What the episodes of the hits are about, in the chats' order, each with the hits that it covers."""
    found = []
    for title, run in zip(memory.titles, memory.runs, strict=True):
        covers = frozenset(place for place, hit in enumerate(hits) if hit.index in run)
        if covers:
            found.append(Note(title, covers))
    return found


def texts(question: str, hits: Sequence[Hit], haystack: Haystack, config: Config) -> list[str]:
    """What the model reads of each hit: a turn without those before, the likeliest part of a long one."""
    show = replace(shown(config), before=QRRanker.before)
    read = scored_windows(question, haystack.corpus, [hit.index for hit in hits], show)
    return [some[0] for some in read]
