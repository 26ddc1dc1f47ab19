"""A fixed sample written by hand (`sample.json`): questions, the text that answers each, texts that do not.

`export` keeps the fp32 scores of the sample in the config, so that a test can compare the int8 file
with them, and the same test asks that the right text comes first.
"""

from __future__ import annotations

import json
from pathlib import Path

SAMPLE: tuple[tuple[str, str, tuple[str, ...]], ...] = tuple(
    (row["question"], row["right"], tuple(row["wrong"]))
    for row in json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
)
