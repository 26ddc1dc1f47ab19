"""QRRanker on one page: our own search, its first turns in one context, their order by the heads, the cut."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from smartsearch.config import Config
from smartsearch.models.tools import Tools
from smartsearch.rank.hub.heads import NAME, UNTRAINED
from smartsearch.rank.hub.listwise import Note
from smartsearch.rank.qrranker import QRRanker
from smartsearch.rank.text import shown, spoken_date
from smartsearch.rank.truncate import truncate
from smartsearch.rank.windows import scored_windows
from smartsearch.retrieve.grep import Haystack
from smartsearch.systems.base import Memory
from smartsearch.systems.smartsearch import pipeline
from smartsearch.systems.xmemory.ingest import XMemory
from smartsearch.types import Hit, ModelInfo, Result, paired

SCORE = "qr"


def search(
    question: str,
    haystack: Haystack,
    memory: Memory,
    config: Config,
    tools: Tools,
    ranker: QRRanker,
    info: ModelInfo,
) -> Result:
    """The first `qr_candidates` turns of our own search by the heads, the others behind, cut as ours are."""
    began, question = time.perf_counter(), paired(question)
    ours, first, rest = first_turns(question, haystack, config, tools)
    searched = time.perf_counter()
    before = notes(memory, first) if isinstance(memory, XMemory) else []
    values = ranker.scores(question, texts(question, first, haystack, config), before)
    read = [
        replace(hit, scores=replace(hit.scores, more={**hit.scores.more, SCORE: float(value)}))
        for hit, value in zip(first, values, strict=True)
    ]
    ranked = sorted(read, key=lambda hit: -hit.scores.more[SCORE])
    hits = [replace(hit, rank=rank) for rank, hit in enumerate((*ranked, *rest), start=1)]
    sure = {hit.index for hit in ranked if hit.scores.more[SCORE] >= config.alpha}
    scored = time.perf_counter()
    kept, budget = truncate(hits, config, tools.tokenizer, sure)
    if config.order == "time":
        kept = tuple(sorted(kept, key=lambda hit: (hit.turn.time, hit.index)))
    spent = {SCORE: scored - searched, "total": time.perf_counter() - began}
    heads = ranker.heads
    untrained = () if heads.trained else ("the heads of qrranker were found and not trained (QRHeads)",)
    trace = replace(
        ours.trace,
        timing_ms=ours.trace.timing_ms | {name: seconds * 1000.0 for name, seconds in spent.items()},
        models=(*ours.trace.models, info),
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
    return replace(
        ours,
        hits=kept,
        budget=budget,
        trace=trace,
        warnings=(*ours.warnings, *budget.warnings),
        system=NAME if heads.trained else UNTRAINED,
        confidence=None,
        weak=False,
    )


def first_turns(
    question: str, haystack: Haystack, config: Config, tools: Tools
) -> tuple[Result, tuple[Hit, ...], tuple[Hit, ...]]:
    """What our own search says, its first `qr_candidates` hits, and the others."""
    rankers = tuple(name for name in config.rank if name != SCORE)
    whole = replace(config, rank=rankers, truncate="none", limit=1, order="rank", compress=())
    ours = pipeline.search(question, haystack, whole, tools)
    found = (*ours.hits, *ours.budget.hidden)
    return ours, found[: config.qr_candidates], found[config.qr_candidates :]


def notes(memory: XMemory, hits: Sequence[Hit]) -> list[Note]:
    """What the episodes of the hits are about, in the chats' order, each with the hits that it covers."""
    found = []
    for episode, run in zip(memory.episodes, memory.runs, strict=True):
        covers = frozenset(place for place, hit in enumerate(hits) if hit.index in run)
        if covers:
            date = spoken_date(episode.time)
            found.append(Note(f"{date}: {episode.title}" if date else episode.title, covers))
    return found


def texts(question: str, hits: Sequence[Hit], haystack: Haystack, config: Config) -> list[str]:
    """What the model reads of each hit: a turn without those before, the likeliest part of a long one."""
    show = replace(shown(config), before=QRRanker.before)
    read = scored_windows(question, haystack.corpus, [hit.index for hit in hits], show)
    return [some[0] for some in read]
