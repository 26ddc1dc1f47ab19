"""Which attention heads of a model rank, in a file beside it: for that model alone, to its revision."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from smartsearch.errors import ModelError
from smartsearch.rank.hub.listwise import PAPER, PROMPTS

FORMAT = "smartsearch heads 1"
NAME, UNTRAINED = "qrranker", "qrranker-untrained"
"""What answers are called: the paper tells heads that were only found (QRHeads) from those trained."""
FILE = "heads.json"
"""Its name in a model's folder."""
_WRITTEN = re.compile(r"(\d+)-(\d+)")
"""A head as the paper writes it: layer-head, both from 0."""


@dataclass(frozen=True)
class Heads:
    """The heads (layer, head) that rank in a model, best first, and what they were found on.

    `layers` and `width` are how many layers and heads a layer the model has. `trained`: the model was
    trained to rank with them, and needs no calibration. `prompt` is that of `listwise.PROMPTS` under which
    they were found, and rank.
    """

    model: str
    revision: str
    data: str
    layers: int
    width: int
    heads: tuple[tuple[int, int], ...]
    trained: bool = False
    prompt: str = "ours"  # of files that do not say

    def by_layer(self) -> dict[int, tuple[int, ...]]:
        """The heads of each layer that has some."""
        layers = sorted({layer for layer, _ in self.heads})
        return {at: tuple(sorted(head for layer, head in self.heads if layer == at)) for at in layers}


def written(heads: Heads) -> bytes:
    """What the file of them holds."""
    named = [f"{layer}-{head}" for layer, head in heads.heads]
    return (json.dumps({"format": FORMAT, **asdict(heads), "heads": named}, indent=1) + "\n").encode()


def are_in(folder: Path) -> bool:
    """Whether a folder is that of a model with its heads."""
    return (folder / FILE).is_file()


def read(path: Path) -> Heads:
    """The heads in the file. Raises ModelError for any other file."""
    try:
        said = json.loads(path.read_bytes())
        if said.pop("format") != FORMAT:
            raise ValueError("another format")
        found = Heads(**{**said, "heads": _pairs(said["heads"])})
        if found.prompt not in PROMPTS:
            raise ValueError(f"no prompt {found.prompt!r}")
        if not found.heads or not all(
            layer < found.layers and head < found.width for layer, head in found.heads
        ):
            raise ValueError("heads that its model has not")
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ModelError(f"{path} is no file of heads: {error}", hint=DETECT, kind="model_heads") from error
    return found


DETECT = "`smartsearch qrranker detect` makes one"


def _pairs(written: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Heads as the paper writes them. Raises ValueError, TypeError."""
    found = [_WRITTEN.fullmatch(one) for one in written]
    if not all(found):
        raise ValueError(f"no head: {written!r:.80}")
    return tuple((int(one[1]), int(one[2])) for one in found if one)


TRAINED = "MindscapeRAG/QRRanker"
_QWEN = (
    "20-15 21-11 17-27 23-10 22-4 21-10 21-8 21-18 18-15 18-19 17-25 17-17 24-13 17-4 19-12 21-31"  # appendix
)
PUBLISHED = {
    "Qwen/Qwen3-4B-Instruct-2507": (36, 32, "1,000 questions of NarrativeQA (paper)", _QWEN),
    TRAINED: (
        *(25, 32),
        "MuSiQue and NarrativeQA (paper); HotpotQA, MuSiQue, LoCoMo and DetectiveQA (its card)",
        _QWEN,
    ),
    "meta-llama/Llama-3.2-3B-Instruct": (
        *(28, 24),
        "1,000 questions of MuSiQue (paper)",
        "12-1 13-9 13-23 12-16 8-8 13-16 12-6 13-22 12-2 15-22 12-3 15-18 12-10 14-2 21-20 9-23",
    ),
    "HuggingFaceTB/SmolLM2-135M-Instruct": (  # detected here, on its Q4_1 weights
        *(30, 9, "40 questions of conversations written for smartsearch"),
        "3-0 3-2 6-1 3-1 3-4 7-7 4-3 4-4 5-5 4-5 7-2 7-0 5-3 6-2 6-0 5-4",
    ),
}
"""Heads that come along, by id: layers and heads a layer of the model, what they were found on, and which."""


def published(model: str, revision: str, config: Mapping[str, Any]) -> Heads | None:
    """The heads that come along for a model of that id and shape; None for any other."""
    layers, width, data, named = PUBLISHED.get(model, (0, 0, "", ""))
    if (layers, width) != (config.get("num_hidden_layers"), config.get("num_attention_heads")):
        return None
    return Heads(model, revision, data, layers, width, _pairs(named.split()), model == TRAINED, PAPER)


def check(heads: Heads, path: Path | None, model: str, revision: str, layers: int, width: int) -> None:
    """That the heads are of this model. Raises ModelError (model_heads)."""
    where = path or "the list of heads"
    if heads.revision != revision:
        raise ModelError(
            f"{where} is of {heads.model} at {heads.revision}, not of {model} at {revision}: heads of one "
            "model say nothing of another's",
            hint=DETECT,
            kind="model_heads",
        )
    if (heads.layers, heads.width) != (layers, width):
        has = f"{layers} layers of {width} heads, not {heads.layers} of {heads.width}"
        raise ModelError(f"{where} does not fit: {model} has {has}", hint=DETECT, kind="model_heads")
