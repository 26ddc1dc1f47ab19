"""The frozen records that travel between stages. No model, file or console lives here."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from functools import cached_property
from typing import Any

from smartsearch.errors import SmartsearchError

Identity = str | int
"""The id of a question in a batch."""

STAGES = (
    "load",
    "read",
    "ingest",
    "parse",
    "retrieve",
    "colbert",
    "crossencoder",
    "rank",
    "truncate",
    "total",
)
"""The stages that are timed, in the order they are shown; `ingest` is a system's memory being made."""


def fold(text: str) -> str:
    """`text` as matching sees it: Unicode case folding over the composed form."""
    return text.casefold() if text.isascii() else unicodedata.normalize("NFC", text).casefold()


def bare(text: str) -> str:
    """`text` folded and without accents, as it is typed on a keyboard that lacks them.

    Marks that make another letter, as those of Japanese and of Indian scripts do, stay.
    """
    if text.isascii():
        return text.casefold()
    marked = unicodedata.normalize("NFD", fold(text))
    return unicodedata.normalize("NFC", "".join(mark for mark in marked if not "\u0300" <= mark <= "\u036f"))


def paired(text: str) -> str:
    """`text` with U+FFFD for each half of a surrogate pair: half an emoji, which UTF-8 cannot hold."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@dataclass(frozen=True)
class Turn:
    """One turn of a conversation, as the source wrote it: the passage of the paper (paper 3).

    `time` is ISO 8601 ("2023-05-08T13:56:00", or a bare date) or empty when the source gives none.
    `line` is 1-based and 0 where the format has no lines; `pointer` (RFC 6901) is set instead.
    `conversation`, `session` and `turn` hold the source's own ids where it has them; `title` what people call
    the conversation where that is something else.
    """

    text: str
    speaker: str = ""
    time: str = ""
    caption: str = ""
    role: str = ""
    path: str = ""
    line: int = 0
    pointer: str = ""
    conversation: str = ""
    session: str = ""
    turn: str = ""
    title: str = ""

    @cached_property
    def said(self) -> str:
        """What was said, without the speaker: `text caption`. Hops take names and nouns from it."""
        return f"{self.text} {self.caption}" if self.caption else self.text

    @property
    def captioned(self) -> str:
        """What was said and in brackets what an image shows: `text (caption)`."""
        return f"{self.text} ({self.caption})" if self.caption else self.text

    @cached_property
    def spoken(self) -> str:
        """What was said and by whom: `speaker: text caption`. Grep looks at it."""
        return f"{self.speaker}: {self.said}" if self.speaker else self.said

    @cached_property
    def date(self) -> str:
        """The calendar day of `time`, `YYYY-MM-DD`, or empty."""
        return self.time[:10]

    @cached_property
    def rendered(self) -> str:
        """The line a reader gets and the budget counts: `[date] speaker: text (caption)`."""
        parts = (
            f"[{self.date}]" if self.time else "",
            f"{self.speaker}:" if self.speaker else "",
            self.text,
            f"({self.caption})" if self.caption else "",
        )
        return " ".join(filter(None, parts))

    @property
    def place(self) -> tuple[str, str, str]:
        """File, conversation and session: turns that share it belong together."""
        return (self.path, self.conversation, self.session)

    @cached_property
    def words(self) -> int:
        """Whitespace words of the rendered turn: the unit of the budget."""
        return len(self.rendered.split())


@dataclass(frozen=True)
class Skipped:
    """A file, or a record in one, that could not be read and was left out."""

    path: str
    kind: str
    reason: str


@dataclass(frozen=True)
class Corpus:
    """Everything that was read: turns in corpus order, what was skipped, and what to warn about."""

    turns: Sequence[Turn] = ()
    skipped: tuple[Skipped, ...] = ()
    warnings: tuple[str, ...] = ()

    @cached_property
    def previous(self) -> Sequence[int]:
        """For each turn the index of the turn before it in the same session, or -1."""
        before = []
        for i, turn in enumerate(self.turns):
            same = i > 0 and self.turns[i - 1].place == turn.place
            before.append(i - 1 if same else -1)
        return tuple(before)

    def following(self, index: int) -> int:
        """The index of the turn after it in the same session, or -1."""
        after = index + 1
        return after if 0 < after < len(self.turns) and self.previous[after] == index else -1


@dataclass(frozen=True)
class Term:
    """A weighted search term. `text` is the surface form, `kind` where it came from, `hop` 1-based.

    `kind` is a POS tag (PROPN, NOUN, VERB), `ENT` (multi-word or other entity), `TOKEN` (the
    fallback), `PHRASE`, `CODE`, `NUMBER` or `COMPOUND` (text/literals.py), `HOP` (entity found in a hop),
    `PRF`, `FUZZY`, `DATE` (a date of the question, in the turn's time), `SPEAKER` (a preferred one) or `CLUE`
    (MemoRAG's); `source` is the question's own word behind a FUZZY term or a DATE, or the clue.
    """

    text: str
    kind: str
    weight: float
    hop: int = 1
    source: str = ""


@dataclass(frozen=True)
class Query:
    """A parsed question: its terms in order of appearance and the fallback that fired, if any.

    `literal`: it is only a word, a name, codes or quoted phrases, to be found as it stands.
    """

    text: str
    terms: tuple[Term, ...]
    fallback: str = ""
    literal: bool = False


@dataclass(frozen=True)
class Candidate:
    """A turn that retrieval found: `index` into `Corpus.turns`, the terms in it, and its match weight.

    `hop` is the hop that found it; 0 when only the dense fallback did.
    """

    index: int
    terms: tuple[Term, ...]
    weight: float
    hop: int


GUESS = "guess"
"""The name, among a turn's scores, of a guess of the cross-encoder's, where it did not read the turn."""


@dataclass(frozen=True)
class Scores:
    """A turn's scores. `ce` is a sigmoid in (0, 1); None where the scorer did not see the turn.

    `fused` is the learned fusion's, None where a scorer did not see the turn or RRF decided. `more` holds
    other scores by name: those of other systems, of the first stage, and a guess of `ce`.
    """

    match: float = 0.0
    ce: float | None = None
    colbert: float | None = None
    rrf: float = 0.0
    fused: float | None = None
    more: dict[str, float] = field(default_factory=dict)

    @property
    def chance(self) -> float | None:
        """The cross-encoder's score, or what it was guessed to be."""
        return self.more.get(GUESS) if self.ce is None else self.ce


@dataclass(frozen=True)
class Met:
    """A word of the question, the other word that stands for it in a turn, and the cosine of the two."""

    asked: str
    said: str
    cosine: float


@dataclass(frozen=True)
class Hit:
    """A ranked turn with its scores and the terms and hop that explain why it is here.

    `index` is its place in `Corpus.turns`, `met` what stands in it for words of the question, where that was
    asked for. `excerpt` is the turn with the part alone that answers, where it is long (excerpts.py). `reply`
    is the turn that answers a turn that asks, unless it is shown as a hit of its own.
    """

    rank: int
    turn: Turn
    scores: Scores
    terms: tuple[Term, ...] = ()
    hop: int = 1
    index: int = -1
    met: tuple[Met, ...] = ()
    excerpt: Turn | None = None
    reply: Hit | None = None

    @property
    def shown(self) -> Turn:
        """What a reader gets, and the budget counts."""
        return self.excerpt or self.turn


@dataclass(frozen=True)
class HopTrace:
    """One retrieval step: its `kind`, new terms and new turns.

    The kinds are grep, fuzzy, semantic, date, speaker, entity and prf; of other systems their own.
    """

    hop: int
    kind: str
    terms: tuple[Term, ...]
    found: int
    total: int


@dataclass(frozen=True)
class Dropped:
    """A ranked turn that the cut left out, the reason (`top_k`, `tau`, `budget`) and its scores."""

    rank: int
    reason: str
    turn: Turn
    scores: Scores = Scores(0.0)


@dataclass(frozen=True)
class Budget:
    """How the ranked list was cut (paper 3.6): ceilings, what was used, what was dropped.

    `hidden` are the turns that survived the cut and that `limit` does not show; `unread` counts those that
    were found and not even read, and come last.
    """

    truncate: str
    words: int
    top_k: int
    alpha: float
    tau: float
    used_words: int
    used_tokens: int = 0
    tokenizer: str = ""
    dropped: tuple[Dropped, ...] = ()
    cut_text: bool = False
    hidden: tuple[Hit, ...] = ()
    unread: int = 0

    @property
    def drops(self) -> Counter[str]:
        """How many turns each rule left out."""
        drops = Counter(d.reason for d in self.dropped)
        if self.unread and self.truncate != "none":
            drops["top_k" if self.truncate == "adaptive" else "budget"] += self.unread
        return drops

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings for the user: a turn was cut, or the best one left out."""
        if self.cut_text:
            return ("a turn was cut to fit the budget",)
        if any(d.rank == 1 and d.reason == "budget" for d in self.dropped):
            return ("the best turn is longer than the budget and left out; --fill stop shows some of it",)
        return ()


@dataclass(frozen=True)
class ModelInfo:
    """A model that ran: `role` (parser, static, crossencoder, colbert), id, revision or hash, precision."""

    role: str
    id: str
    revision: str
    precision: str


@dataclass(frozen=True)
class Cost:
    """What an answer took of a language model: calls, tokens read and tokens written."""

    model_calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(frozen=True)
class Trace:
    """What every stage did, for `--explain` and JSON. Times are milliseconds, keyed by stage.

    Terms, hops, the fallback and `absent`, the question's terms that no turn has, are SmartSearch's; `own`
    holds what another system tells of itself. `ingest` is what its memory took of a language model before the
    question, where it asks one. `estimates` names the numbers that are bounds from above, for not every turn
    that they count was read.
    """

    terms: tuple[Term, ...] = ()
    hops: tuple[HopTrace, ...] = ()
    candidates: int = 0
    fallback: str = ""
    timing_ms: dict[str, float] = field(default_factory=dict)
    models: tuple[ModelInfo, ...] = ()
    degraded: tuple[str, ...] = ()
    cost: Cost = Cost()
    ingest: Cost | None = None
    own: dict[str, Any] = field(default_factory=dict)
    absent: tuple[Term, ...] = ()
    estimates: tuple[str, ...] = ()


@dataclass(frozen=True)
class Result:
    """The answer to one question: hits in rank order, the budget, the trace, what went wrong.

    `filters` has those that were given, by name; `system` names the one that answered. `confidence` is the
    chance that a hit answers, None where the system does not tell; `weak` that it is too low to count on.
    `told` is what the system's memory tells a reader before the hits, as turns without a speaker.
    """

    query: str
    profile: str
    hits: tuple[Hit, ...]
    budget: Budget
    trace: Trace
    threads: int = 0
    skipped: tuple[Skipped, ...] = ()
    warnings: tuple[str, ...] = ()
    filters: dict[str, tuple[str, ...]] = field(default_factory=dict)
    system: str = "smartsearch"
    confidence: float | None = None
    weak: bool = False
    told: tuple[Turn, ...] = ()


@dataclass(frozen=True)
class Nearby:
    """The turns around a hit in its session, as they were said; `index` is the hit's in the corpus."""

    index: int
    before: tuple[Turn, ...] = ()
    after: tuple[Turn, ...] = ()


@dataclass(frozen=True)
class Answered:
    """What became of one question of a batch: a result, or an error.

    `id` is None where its line has none, `line` is 1-based.
    """

    id: Identity | None
    line: int
    result: Result | None = None
    error: SmartsearchError | None = None


def changed(
    value: Any,
    turn: Callable[[Turn], Turn],
    term: Callable[[Term], Term] = lambda term: term,
    text: Callable[[str, str], str] | None = None,
    name: str = "",
) -> Any:
    """`value`, records and lists of any depth, with all the turns, terms and, if wanted, texts in it changed.

    `text` is told the `name` of the field or key under which a text stands too.
    """
    if isinstance(value, Turn):
        return turn(value)
    if isinstance(value, Term):
        return term(value)
    if isinstance(value, str):
        return text(value, name) if text else value
    if isinstance(value, tuple | list):
        items = [changed(item, turn, term, text, name) for item in value]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, dict):
        return {
            changed(key, turn, term, text): changed(item, turn, term, text, str(key))
            for key, item in value.items()
        }
    if not is_dataclass(value) or isinstance(value, type):
        return value
    held = {field: getattr(value, field) for field in value.__dataclass_fields__}
    new = {field: changed(old, turn, term, text, field) for field, old in held.items()}
    new = {field: item for field, item in new.items() if item is not held[field]}
    return replace(value, **new) if new else value
