"""The models and tools that a search loads before it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from smartsearch.rank.fusion import Fusion
from smartsearch.rank.scorer import Scorer
from smartsearch.rank.static import Static
from smartsearch.rank.truncate import Tokenizer
from smartsearch.text.parse import Parser
from smartsearch.types import ModelInfo


@dataclass(frozen=True)
class Tools:
    """What a search needs beside its input: the parser, the scorers by name, and how tokens count.

    `models` says what each is, by `parser` and the scorers' names; `fusion` is the learned
    fusion of these scorers, if there is one, and `confidence` those of how sure they are; `known`
    says whether a word is one of the language, `static` scores turns and
    encodes none, `notes` say what the tools had to do without.
    """

    parser: Parser
    scorers: Mapping[str, Scorer]
    tokenizer: Tokenizer
    models: Mapping[str, ModelInfo] = field(default_factory=dict)
    fusion: Fusion | None = None
    notes: Callable[[], Sequence[str]] = tuple
    confidence: Mapping[str, float] = field(default_factory=dict)
    known: Callable[[str], bool] | None = None
    static: Static | None = None
