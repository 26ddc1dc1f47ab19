"""How unsure a model is, in numbers: entropy of its tokens' probabilities, or of what it says each time."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any


def token_entropy(logprobs: Any) -> float | None:
    """Mean entropy in nats of a reply's tokens, from the `logprobs` of a chat completion; None without any.

    What the listed tokens leave of the probability counts as one token more, so that it is a lower bound.
    """
    try:
        entropies = [
            _entropy([math.exp(top["logprob"]) for top in token["top_logprobs"]])
            for token in logprobs["content"]
            if token["top_logprobs"]
        ]
    except (LookupError, TypeError, OverflowError):
        return None
    return sum(entropies) / len(entropies) if entropies and all(map(math.isfinite, entropies)) else None


def answer_entropy(answers: Sequence[str]) -> float:
    """Entropy of which answers agree, but for case and punctuation: 0 where all do and 1 where none does."""
    counts = Counter(" ".join(re.findall(r"\w+", answer.casefold())) for answer in answers)
    shares = [count / len(answers) for count in counts.values()]
    return _entropy(shares) / math.log(len(answers)) if len(answers) > 1 else 0.0


def _entropy(shares: Sequence[float]) -> float:
    rest = max(0.0, 1.0 - sum(shares))
    return -sum(share * math.log(share) for share in (*shares, rest) if share > 0.0)
