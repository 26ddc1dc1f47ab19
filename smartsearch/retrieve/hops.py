"""The hops that widen grep: fuzzy words, entities of the best turns, feedback nouns (paper 3.4)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from smartsearch.config import Config
from smartsearch.retrieve.fields import Field, dates, speakers, titles
from smartsearch.retrieve.grep import Found, Haystack, by_match_weight, heaviest, merge
from smartsearch.text.literals import PHRASE
from smartsearch.text.parse import Parser
from smartsearch.transcripts.filters import unknown
from smartsearch.types import Candidate, HopTrace, Query, Term, bare, fold

Dense = Callable[[int], list[int]]
"""Finds so many turns by meaning, called only when needed; indices into the corpus, best first."""
Known = Callable[[str], bool]
"""Whether a word is one of the language."""

FORM = 0.9
"""What another form of a word weighs of it."""
LONG_WORD = 7
"""Letters of a word that may have two typing errors; a shorter one has but one."""
_INFLECTED = re.compile(r"(?<=\w\w\w)(?:ing|ed|es|s)$")
_ENDING = re.compile(r"(?<=\w\w\w)(?:ing|ed|es|s|e|er|ers)$")


@dataclass(frozen=True)
class Evidence:
    """What retrieval gathered: candidates by match weight, one trace entry a step, and what was left out.

    `counts` says how many turns contain each term, by its folded text; `unread` counts the turns that may
    hold one but were not read, as they are neither among the heaviest nor the likeliest. `notes` say what
    was not done, `warnings` are for the user.
    """

    candidates: tuple[Candidate, ...]
    hops: tuple[HopTrace, ...]
    notes: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    unread: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def mended(self) -> list[Term]:
        """What typing errors of the question stand for."""
        return [term for step in self.hops if step.kind == "fuzzy" for term in step.terms]


class Gathering:
    """The state of one question's retrieval: turns found, terms used, steps taken."""

    def __init__(self, haystack: Haystack, config: Config) -> None:
        self.haystack, self.config = haystack, config
        most = config.likely_turns if config.candidates else max(1, len(haystack))
        self.search = haystack.searching(most, config.typed)
        self.found: Found = {}
        self.total = 0
        self.known = set() if config.hop_speakers else set(haystack.speakers)
        self.steps: list[HopTrace] = []
        self.notes: list[str] = []
        self.warnings: list[str] = []

    def evidence(self) -> Evidence:
        """What was gathered."""
        merge(self.found, self.search.likeliest())
        counts = Counter(key for inside in self.found.values() for key in inside)
        return Evidence(
            tuple(by_match_weight(self.found, self.config.typed)),
            tuple(self.steps),
            tuple(self.notes),
            {**counts, **self.search.counts},
            self.search.unread(self.found),
            tuple(self.warnings),
        )

    def holds(self, term: Term) -> bool:
        """Whether a turn contains `term`; what the steps found already is not looked for again."""
        key = fold(term.text)
        if any(key in inside for inside in self.found.values()):
            return True
        return self.search.counts.get(key) != 0 and self.haystack.has(term.text)

    def names(self, word: str) -> bool:
        """Whether some turn writes `word`, which is folded, with a capital."""
        turns = self.haystack.corpus.turns
        held = self.haystack.turns_with(word, word_boundary=True)
        written = re.compile(rf"\b{re.escape(word.capitalize())}\b")
        return any(written.search(turns[i].spoken) for i in held)

    def step(self, kind: str, hop: int, terms: Sequence[Term], mode: str = "or") -> int:
        """Grep `terms`, add what they find, write the trace. Returns the number of new turns."""
        for term in terms:
            self.know(term.text)
        return self.add(
            kind, hop, terms, self.search(terms, mode=mode, word_boundary=self.config.word_boundary)
        )

    def add(self, kind: str, hop: int, terms: Iterable[Term], new: Found) -> int:
        """Add what a step found, write the trace. Returns the number of new turns, unread ones too."""
        merge(self.found, new)
        before, self.total = self.total, len(self.found) + self.search.unread(self.found)
        self.steps.append(HopTrace(hop, kind, tuple(terms), max(0, self.total - before), self.total))
        return self.total - before

    def account(self, fields: Sequence[Field], matched: Set[str]) -> None:
        """Say which of the fields no turn has. Raises InputError for a speaker who is nowhere."""
        for one in fields:
            if fold(one.term.text) in matched:
                continue
            if one.name and not self.haystack.has_speaker(one.name):
                raise unknown("speaker", one.name, self.haystack.names())
            if one.past and self.search.knows_all and self.haystack.has_times:
                self.warnings.append(
                    f"no turn lies in {one.term.source!r} ({one.term.text}); "
                    "--now sets the day that it counts from"
                )

    def know(self, text: str) -> None:
        """Mark a term, and its words, as used."""
        key = fold(text)
        self.known.update((key, *key.split()))

    def top_texts(self, count: int) -> list[str]:
        """What stands in the `count` best turns so far."""
        config = self.config
        turns = (self.haystack.corpus.turns[i] for i in heaviest(self.found, count, config.typed))
        texts = (turn.spoken if config.hop_speakers else turn.said for turn in turns)
        return [text[: config.hop_characters or None] for text in texts]

    def unknown(self, texts: Iterable[str], kind: str, weight: float, hop: int) -> list[Term]:
        """Make terms of the first few texts that were not used as terms yet."""
        fresh = [t for t in texts if fold(t) not in self.known and len(t) >= self.config.min_length_propn]
        return [Term(t, kind, weight, hop) for t in fresh[: self.config.hop_terms or None]]


def gather(
    query: Query,
    haystack: Haystack,
    parser: Parser,
    config: Config,
    dense: Dense | None = None,
    known: Known | None = None,
) -> Evidence:
    """All evidence for a question, before any ranking: `grepped`, then `hopped`."""
    return hopped(grepped(query, haystack, config), query, parser, dense, known)


def grepped(query: Query, haystack: Haystack, config: Config) -> Gathering:
    """The first step: the turns that contain the question's terms."""
    state = Gathering(haystack, config)
    state.step("grep", 1, query.terms, config.mode)
    return state


def hopped(
    state: Gathering, query: Query, parser: Parser, dense: Dense | None = None, known: Known | None = None
) -> Evidence:
    """What the further steps add: fuzzy, dense fallback, fields, hops, PRF, fill (docs/decisions/0007).

    `known` tells words of the language, which are no typing errors. In mode `and` grep alone decides:
    everything else would bring in turns that lack a term.
    """
    config = state.config
    if config.mode == "and":
        _beside(state, query, add=False)
        return state.evidence()
    if config.fuzzy:
        _fuzzy(state, query, known if config.typed else None)
    if dense is not None and (config.semantic == "always" or len(state.found) < config.semantic_below):
        near = dense(config.semantic_top)
        state.add("semantic", 1, (), {index: {} for index in near})
    _beside(state, query, add=True)
    last = _entity_hops(state, parser)
    if config.prf and state.found:
        _prf(state, parser, last + 1)
    if dense is not None and (config.first == "static" or "colbert" in config.rank):
        _fill(state, dense)
    return state.evidence()


def _beside(state: Gathering, query: Query, *, add: bool) -> None:
    """The fields that match: dates and titles of the question, preferred speakers (docs/decisions/0013).

    They find turns of their own only with `add`. Raises InputError for a speaker who is nowhere.
    """
    kinds = {
        "date": dates(query.text, state.config),
        "title": titles(query, state.haystack.titles, state.config),
        "speaker": speakers(state.config),
    }
    every = [one for fields in kinds.values() for one in fields]
    weak = {fold(one.term.text) for one in every if not (one.adds and add)}
    for kind, fields in kinds.items():
        if not fields:
            continue
        found = state.search.beside(fields)
        state.account(fields, {key for held in found.values() for key in held})
        found = {i: held for i, held in found.items() if i in state.found or held.keys() - weak}
        state.add(kind, 1, (field.term for field in fields), found)


def _fill(state: Gathering, dense: Dense) -> None:
    """Add the `pool` nearest turns by meaning; where ColBERT must read for it, fill up to `pool` only."""
    config = state.config
    lacking = config.pool if config.first == "static" else config.pool - len(state.found)
    if lacking > 0:
        near = [index for index in dense(config.pool) if index not in state.found][:lacking]
        if near:
            last = max((step.hop for step in state.steps), default=1)
            state.add("semantic", last, (), {index: {} for index in near})


def _fuzzy(state: Gathering, query: Query, known: Known | None) -> None:
    """Terms that hit nothing, matched to the nearest words of the corpus (misspelt, shortened, inflected)."""
    lost = [t for t in query.terms if " " not in t.text and t.kind != PHRASE and not state.holds(t)]
    words = state.haystack.words() if lost else None
    if lost and words is None:
        names = ", ".join(repr(term.text) for term in lost)
        state.notes.append(
            f"no turn contains {names}; in so many transcripts no similar words were looked for "
            "(search fewer files)"
        )
    terms = [near for term in lost for near in _nearest_words(state, term, words or {}, known)]
    if terms:
        state.step("fuzzy", 1, terms)


def _nearest_words(
    state: Gathering, term: Term, words: Mapping[str, None], known: Known | None
) -> list[Term]:
    """The words of the corpus that `term` may stand for; of a word of the language only other forms of it."""
    word, config = fold(term.text), state.config
    if len(word) < config.min_length:
        return []
    is_word = known is not None and _is_word(word, known)
    near = {} if is_word else _alike(word, words, config, known)
    if known is not None:
        near |= {other: FORM for other in words if other[:3] == word[:3] and stem(other) == stem(word)}
        near.update(dict.fromkeys(_accented(word, words), FORM))
    if not is_word or term.text != word:  # a name, as its capital says
        short = _short_forms(word, term, words)
        near.update((s, FORM) for s in short if known is None or not known(s) or state.names(s))
    best = sorted(near, key=lambda w: (-near[w], w))[: config.fuzzy_words]
    return [Term(w, "FUZZY", term.weight * near[w], source=term.text) for w in best]


def _is_word(word: str, known: Known) -> bool:
    """Whether it is a word of the language, or a plural, past or participle of one."""
    base = _INFLECTED.sub("", word)
    return known(word) or (base != word and any(map(known, (base, f"{base}e", stem(word), f"{base[:-1]}y"))))


def _alike(word: str, words: Mapping[str, None], config: Config, known: Known | None) -> dict[str, float]:
    """The words nearest by spelling, with how near they are.

    With `known` only those that a typing error can have come from.
    """
    from rapidfuzz import fuzz, process
    from rapidfuzz.distance import OSA

    limit = config.fuzzy_words if known is None else None
    close = process.extract(
        word, tuple(words), scorer=fuzz.ratio, score_cutoff=config.fuzzy_cutoff, limit=limit
    )
    near = {str(match): score / 100.0 for match, score, _ in close}
    if known is None:
        return near
    errors = {other: OSA.distance(word, other) for other in near if _mistyped(word, other, known)}
    most = 2 if len(word) >= LONG_WORD else 1
    fewest = min((count for count in errors.values() if count <= most), default=-1)
    stems = {stem(other) for other, count in errors.items() if count == fewest}
    return {other: near[other] for other in errors if stem(other) in stems}


def _mistyped(word: str, other: str, known: Known) -> bool:
    """Whether `word` can be `other` mistyped.

    Not if `other` is `word` without two letters or more at one end (`kind` for `kindle`, `just` for
    `unjust`), nor if it is a word of the language that begins with another letter (`could` for `mould`).
    """
    if len(word) - len(other) > 1 and (word.startswith(other) or word.endswith(other)):
        return False
    return word[0] == other[0] or word[:2] == other[1::-1] or not known(other)


def _accented(word: str, words: Mapping[str, None]) -> list[str]:
    """The words that are the same but for their accents: `señor` for `senor`, or the other way round."""
    plain = bare(word)
    return [other for other in words if other == plain or (not other.isascii() and bare(other) == plain)]


def is_form(term: Term) -> bool:
    """Whether it is another form of the question's own word: `employs` for `employed`."""
    return term.kind == "FUZZY" and stem(bare(term.source)) == stem(bare(term.text))


def stem(word: str) -> str:
    """`word` without what inflects it: `employed`, `employs`, `employing` and `employ` have one."""
    left = _ENDING.sub("", word)
    left = left[:-1] if len(left) > 3 and left[-1] == left[-2] else left
    return left[:-1] + "i" if left.endswith("y") else left


def _short_forms(word: str, term: Term, words: Mapping[str, None]) -> list[str]:
    """Corpus words a name is shortened to: `Mel` for `Melanie`. Proper nouns only."""
    if term.kind not in ("PROPN", "ENT"):
        return []
    return [word[:n] for n in range(len(word) - 1, 2, -1) if word[:n] in words][:1]


def _entity_hops(state: Gathering, parser: Parser) -> int:
    """Grep the new names of the best turns, at most `hops` in all; returns the last hop's number."""
    config = state.config
    for hop in range(2, config.hops + 1):
        count = len(state.found) if config.entity_source == "all" else config.hop_sources
        names = parser.entities(state.top_texts(count))
        terms = state.unknown(names, "HOP", config.weight_hop, hop)
        if not terms or not state.step("entity", hop, terms):
            return hop if terms else hop - 1
    return max(config.hops, 1)


def _prf(state: Gathering, parser: Parser, hop: int) -> None:
    """Pseudo-relevance feedback: nouns that several of the best turns share, one more grep."""
    config = state.config
    nouns = parser.nouns(state.top_texts(config.hop_sources))
    shared = [noun for noun, turns in nouns if turns >= config.prf_min_turns]
    terms = state.unknown(shared, "PRF", config.weight_prf, hop)
    if terms:
        state.step("prf", hop, terms)
