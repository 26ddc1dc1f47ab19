"""First names for training chats, and their consistent replacement in speakers, texts and questions."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

FIRST_NAMES = tuple(Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").split())
"""Typed by hand for this project; the order has no meaning."""


def pick_names(words: Sequence[str], rng: random.Random, taken: str = "") -> dict[str, str]:
    """A random first name for each word, all different and none a word of `taken`."""
    used = set(re.findall(r"\w+", taken))
    free = [name for name in rng.sample(FIRST_NAMES, len(FIRST_NAMES)) if name not in used]
    return dict(zip(words, free, strict=False))


def replace_names(text: str, mapping: Mapping[str, str]) -> str:
    """`text` with every whole word (or words) of `mapping` replaced, longest first, case kept."""
    if not mapping:
        return text
    keys = sorted(mapping, key=len, reverse=True)
    pattern = r"\b(" + "|".join(re.escape(key) for key in keys) + r")\b"
    return re.sub(pattern, lambda found: mapping[found.group(1)], text)
