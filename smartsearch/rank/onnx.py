"""What both shipped rankers need of onnxruntime and tokenizers: a session, token ids, batches."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartsearch.errors import ModelError

BATCH_TOKENS = 2048
"""Padded tokens a batch: large enough to fill the cores, small enough to stay in their caches."""

FILES = ("model.onnx", "tokenizer.json", "config.json")
MAX_CHARACTERS = 4000
"""Characters of a text that are tokenised at all: several times what any shipped model reads."""

Ids = NDArray[np.int64]


class OnnxModel:
    """An encoder in a folder: its session, its tokenizer and its own `config.json`."""

    def __init__(self, folder: Path, threads: int) -> None:
        missing = [name for name in FILES if not (folder / name).is_file()]
        if missing:
            raise ModelError(
                f"{folder} has no {missing[0]}",
                hint="smartsearch models verify, or install smartsearch again",
                kind="model_missing",
            )
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            self.config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
            self._session = onnxruntime.InferenceSession(
                str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
            )
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:  # onnxruntime and tokenizers raise bare or private classes
            raise ModelError(
                f"the model in {folder} is damaged: {error}",
                hint="smartsearch models verify, or install smartsearch again",
                kind="model_damaged",
            ) from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.cls: int = self._tokenizer.token_to_id("[CLS]")
        self.sep: int = self._tokenizer.token_to_id("[SEP]")

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text without special tokens."""
        short = [text[:MAX_CHARACTERS] for text in texts]
        return [e.ids for e in self._tokenizer.encode_batch(short, add_special_tokens=False)]

    def count(self, text: str) -> int:
        """Tokens in a text, without special tokens."""
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def run(self, inputs: Mapping[str, Ids]) -> NDArray[np.float32]:
        """The model's first output for a batch of padded inputs."""
        output: NDArray[np.float32] = self._session.run(None, dict(inputs))[0]
        return output

    @staticmethod
    def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
        """Positions grouped by length, so that little is padding; at most BATCH_TOKENS a group."""
        batch: list[int] = []
        for i in sorted(range(len(lengths)), key=lambda i: lengths[i]):
            if batch and (len(batch) + 1) * lengths[i] > BATCH_TOKENS:
                yield batch
                batch = []
            batch.append(i)
        if batch:
            yield batch


def padded(rows: Sequence[Sequence[int]]) -> tuple[Ids, Ids]:
    """Rows as one int64 matrix padded with 0, and the mask of what is real."""
    width = max(len(row) for row in rows)
    ids = np.zeros((len(rows), width), dtype=np.int64)
    mask = np.zeros_like(ids)
    for n, row in enumerate(rows):
        ids[n, : len(row)] = row
        mask[n, : len(row)] = 1
    return ids, mask
