"""What both shipped rankers need of onnxruntime and tokenizers: token ids, and one run a text.

Texts go through one at a time, as many side by side as there are threads. Dynamic int8 takes its
scales from whatever shares a run: alone, a text gets the same scores whatever it is searched with,
on any number of threads, and nothing is spent on padding (docs/decisions/0005).
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartsearch.errors import ModelError
from smartsearch.runtime.lean import unsaid

FILES = ("model.onnx", "tokenizer.json", "config.json")
MAX_CHARACTERS = 4000
"""Characters of a text that are tokenised at all: several times what any shipped model reads."""

ERRORS = 3
"""What onnxruntime may say by itself: its 2 are warnings."""
SLOW = "SkipLayerNormFusion"
"""A rewrite of onnxruntime's (1.31) that takes six times what its parts take: a tenth of a run."""


@dataclass(frozen=True)
class Trained:
    """What training tells of a ranker: how many turns before a turn it sees, and the scale and shift that
    make its output a chance."""

    before: int = 1
    calibration: tuple[float, float] = (1.0, 0.0)

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> Trained:
        """As the ranker's own `config.json` has it."""
        scale, shift = config.get("calibration", cls.calibration)
        return cls(int(config.get("before", cls.before)), (float(scale), float(shift)))


def _library() -> Any:
    """onnxruntime, with its warnings of this machine's devices silenced."""
    with unsaid(b"onnxruntime"):
        import onnxruntime
    onnxruntime.set_default_logger_severity(ERRORS)
    return onnxruntime


_READING = Lock()
_READ: dict[bytes, tuple[dict[str, Any], Any]] = {}
"""By the vocabulary of its file, what else the file says, and the tokenizer that was made of both."""


def tokenizer_of(file: Path) -> Any:
    """The tokenizer that a `tokenizer.json` describes; it neither cuts nor pads nor adds tokens.

    Files of one vocabulary share it: reading it takes 20 ms, in which Python runs no other thread. Raises
    OSError, and whatever the library raises for a damaged file.
    """
    from tokenizers import AddedToken, Tokenizer

    whole = file.read_bytes()
    rest, _, vocabulary = whole.partition(b'"model":')
    if not vocabulary:  # it is written otherwise, or is none
        return _whole(whole)
    facts = json.loads(rest.rstrip(b", \r\n") + b"}")
    with _READING:
        if vocabulary not in _READ:
            _READ[vocabulary] = facts, _whole(whole)
        first, like = _READ[vocabulary]
    if any(facts.get(name) != first.get(name) for name in ("normalizer", "pre_tokenizer")):
        return _whole(whole)
    made = Tokenizer(like.model)
    made.normalizer, made.pre_tokenizer = like.normalizer, like.pre_tokenizer
    for token in facts["added_tokens"]:
        given = AddedToken(**{name: value for name, value in token.items() if name != "id"})
        (made.add_special_tokens if token["special"] else made.add_tokens)([given])
    right = all(made.token_to_id(token["content"]) == token["id"] for token in facts["added_tokens"])
    return made if right else _whole(whole)


def _whole(text: bytes) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_buffer(text)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _trim() -> None:
    """Have the C library give back what was freed, 9 MB a session in 2 ms. Not every C library can."""
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


class OnnxModel:
    """An encoder in a folder: its session, its tokenizer and its own `config.json`."""

    def __init__(self, folder: Path, threads: int, file: str = FILES[0]) -> None:
        missing = [name for name in (file, *FILES[1:]) if not (folder / name).is_file()]
        if missing:
            raise ModelError(
                f"{folder} has no {missing[0]}",
                hint="smartsearch models verify, or install smartsearch-cli again",
                kind="model_missing",
            )
        self._threads = threads
        onnxruntime = _library()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = ERRORS
        try:
            self.config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
            self._session = onnxruntime.InferenceSession(
                str(folder / file), options, providers=["CPUExecutionProvider"], disabled_optimizers=[SLOW]
            )
            _trim()
            self._tokenizer = tokenizer_of(folder / "tokenizer.json")
        except Exception as error:  # onnxruntime and tokenizers raise bare or private classes
            raise ModelError(
                f"the model in {folder} is damaged: {error}",
                hint="smartsearch models verify, or install smartsearch-cli again",
                kind="model_damaged",
            ) from error
        self.cls: int = self._tokenizer.token_to_id("[CLS]")
        self.sep: int = self._tokenizer.token_to_id("[SEP]")

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text without special tokens."""
        short = [text[:MAX_CHARACTERS] for text in texts]
        return [e.ids for e in self._tokenizer.encode_batch(short, add_special_tokens=False)]

    def run(self, inputs: Sequence[Mapping[str, Sequence[int]]]) -> list[NDArray[np.float32]]:
        """The first output of each input, in order, without the axis of the batch."""
        if len(inputs) < 2 or self._threads == 1:
            return [self._one(row) for row in inputs]
        with ThreadPoolExecutor(self._threads) as pool:
            return list(pool.map(self._one, inputs))

    def _one(self, row: Mapping[str, Sequence[int]]) -> NDArray[np.float32]:
        tensors = {name: np.asarray([values], dtype=np.int64) for name, values in row.items()}
        output: NDArray[np.float32] = self._session.run(None, tensors)[0]
        first: NDArray[np.float32] = output[0]
        return first
