"""The order of a search: the rankers', and what moves up for another reason than a score."""

from __future__ import annotations

from collections.abc import Mapping

from smartsearch.config import Config
from smartsearch.rank.cascade import Ranking, rank
from smartsearch.rank.fusion import Fusion
from smartsearch.rank.promote import promoted
from smartsearch.rank.replies import with_replies
from smartsearch.rank.timely import by_time
from smartsearch.rank.typed import typed_first
from smartsearch.retrieve.grep import Haystack
from smartsearch.retrieve.hops import Evidence
from smartsearch.retrieve.semantic import Scorer
from smartsearch.types import Query


def ranked(
    query: Query,
    evidence: Evidence,
    haystack: Haystack,
    config: Config,
    scorers: Mapping[str, Scorer],
    fusion: Fusion | None = None,
) -> Ranking:
    """All candidates of `evidence` as a search orders them; the benchmark's default row is this order too.

    With `config.lift` replies, what holds what was typed and somebody's last or first message move up, in any
    case the turns of preferred speakers.
    """
    corpus, lift = haystack.corpus, config.typed and config.lift
    following = haystack.following if lift and config.mode == "or" else None
    ranking = rank(
        query.text,
        evidence.candidates,
        corpus,
        scorers,
        config,
        fusion,
        evidence.counts,
        evidence.unread,
        following,
    )
    if lift:
        ranking = with_replies(ranking, corpus)
        ranking = typed_first(ranking, query, corpus, evidence.counts, evidence.mended)
        ranking = by_time(ranking, query, corpus)
    return promoted(ranking, corpus.turns, config.speaker, config.speaker_rank)
