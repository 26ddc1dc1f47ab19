"""ColBERT: question and turn encoded apart, token by token, scored by late interaction (paper 3.5).

MaxSim sums over the question's tokens the best cosine with any token of the turn. Two ways to run
one, as for the cross-encoder: the shipped ONNX file, or any PyLate model of the hub by torch.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from smartsearch.rank.cache.vector_store import VectorStore
from smartsearch.rank.cache.vectors import STEPS, TokenVectors, maxsim, quantised, unquantised
from smartsearch.rank.hub.folder import check, described
from smartsearch.rank.onnx import FILES, MAX_CHARACTERS, OnnxModel, Trained
from smartsearch.runtime import reading

CACHE_BYTES = 256 * 2**20
"""Token vectors of turns kept in memory, for the next questions over the same turns."""
PART = 128
"""Texts encoded at a time where they go to disk: a search that is stopped keeps those that are done."""
SAMPLE = "[8 May 2023, 13:56] Mara: Ilya's flatmate adopted a dog, didn't he? It cost 12.50 euros! (Ilya: no)"
"""Any text will do: its vectors show whether a processor or an onnxruntime computes as the last one did."""


class VectorCache:
    """The token vectors of texts seen last, up to a size in bytes; behind them files on disk, if given."""

    def __init__(self, limit: int = CACHE_BYTES, files: VectorStore | None = None) -> None:
        self._limit = limit
        self._files = files
        self._bytes = 0
        self._held: OrderedDict[str, TokenVectors] = OrderedDict()
        self._lock = threading.Lock()

    def fetch(
        self, texts: Sequence[str], encode: Callable[[list[str]], list[TokenVectors]]
    ) -> list[TokenVectors]:
        """Vectors of each text, in order; only texts not held are encoded, each once."""
        with self._lock:
            found = {text: self._held[text] for text in texts if text in self._held}
        fresh = [text for text in dict.fromkeys(texts) if text not in found]
        if self._files is None:
            found.update(zip(fresh, encode(fresh), strict=True))
        else:
            found.update(self._through(self._files, fresh, encode))
        with self._lock:
            for text in found:
                self._keep(text, found[text])
        return [found[text] for text in texts]

    @staticmethod
    def _through(
        files: VectorStore, texts: list[str], encode: Callable[[list[str]], list[TokenVectors]]
    ) -> dict[str, TokenVectors]:
        """Vectors of each text from disk, or encoded and put there."""
        found = files.get(texts) if texts else {}
        fresh = [text for text in texts if text not in found]
        for start in range(0, len(fresh), PART):
            reading.tell(start, len(fresh))
            part = fresh[start : start + PART]
            encoded = dict(zip(part, encode(part), strict=True))
            files.put(encoded)
            found.update(encoded)
        return found

    def _keep(self, text: str, vectors: TokenVectors) -> None:
        """Hold `text` as seen last, and forget the oldest beyond the limit."""
        if text not in self._held:
            self._bytes += vectors.nbytes
        self._held[text] = vectors
        self._held.move_to_end(text)
        while self._bytes > self._limit and len(self._held) > 1:
            _, oldest = self._held.popitem(last=False)
            self._bytes -= oldest.nbytes


class OnnxColbert:
    """A ColBERT from a folder with `model.onnx`, `tokenizer.json` and `config.json`.

    With `cache`, a folder, vectors of turns are kept there between processes, up to `limit` bytes.
    `before` says how many turns before a turn it was trained to see.
    """

    def __init__(
        self, folder: Path, threads: int, file: str = FILES[0], *, cache: Path | None = None, limit: int = 0
    ) -> None:
        self._model = OnnxModel(folder, threads, file)
        config = self._model.config
        self.before = Trained.of(config).before
        self._skip = np.asarray(config["skiplist_ids"], dtype=np.int64)
        identity = self._identity(folder, file) if cache else ""
        self._files = VectorStore(cache, identity, limit) if cache else None
        self._cache = VectorCache(files=self._files)
        self._asked: tuple[str | None, NDArray[np.float32]] = None, np.zeros((0, 0), np.float32)

    @property
    def note(self) -> str:
        """Why vectors are not kept on disk, where the user can do something about it."""
        return self._files.note if self._files else ""

    def __call__(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """MaxSim of `question` with each of `texts` in their order, shape (n,)."""
        return maxsim(self.question_vectors(question), self.turn_vectors(texts))

    def question_vectors(self, question: str) -> NDArray[np.float32]:
        """Vectors (query_length, dim), the question padded with [MASK] as ColBERT does.

        Those of the last question are held: it is compared with turns several times.
        """
        asked, vectors = self._asked
        if asked != question:
            vectors = self._model.run([self.question_input(question)])[0]
            self._asked = question, vectors
        return vectors

    def question_input(self, question: str) -> dict[str, list[int]]:
        """What the model is given for a question."""
        config = self._model.config
        length = int(config["query_length"])
        body = self._model.tokens([question])[0][: length - 3]
        row = [self._model.cls, int(config["query_prefix_id"]), *body, self._model.sep]
        masks = [int(config["mask_token_id"])] * (length - len(row))
        seen = 1 if config["attend_to_expansion_tokens"] else 0
        attention = [1] * len(row) + [seen] * len(masks)
        return {"input_ids": row + masks, "attention_mask": attention}

    def turn_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Vectors of each text, punctuation left out; texts seen before cost nothing."""
        return self._cache.fetch(texts, self._encoded)

    def inputs(self, texts: Sequence[str]) -> list[dict[str, list[int]]]:
        """What the model is given for each text."""
        config = self._model.config
        room = int(config["document_length"]) - 3
        start = [self._model.cls, int(config["document_prefix_id"])]
        rows = [[*start, *ids[:room], self._model.sep] for ids in self._model.tokens(texts)]
        return [{"input_ids": row, "attention_mask": [1] * len(row)} for row in rows]

    def _identity(self, folder: Path, file: str) -> str:
        """A hash of all that decides a turn's vectors: files, how they are read, vectors of SAMPLE."""
        config = self._model.config
        known = config.get("sha256") or {}
        names = [name for name in (file, FILES[1]) if name not in known]
        files = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}
        identity = hashlib.blake2b(digest_size=16)
        identity.update(json.dumps([config, files, file, MAX_CHARACTERS, STEPS], sort_keys=True).encode())
        identity.update(self._model.run(self.inputs([SAMPLE]))[0].tobytes())
        return identity.hexdigest()

    def _encoded(self, texts: Sequence[str]) -> list[TokenVectors]:
        inputs = self.inputs(texts)
        return [
            quantised(vectors[~np.isin(row["input_ids"], self._skip)])
            for row, vectors in zip(inputs, self._model.run(inputs), strict=True)
        ]


class HubColbert:
    """Any ColBERT in the hub's formats, from its folder, its vectors exact; `name` is for errors.

    They stay in memory: texts share a run there, so that a vector depends on what it was encoded with.
    """

    def __init__(self, folder: Path, threads: int, name: str = "") -> None:
        model = described(folder, name)
        check("colbert", model)
        from smartsearch.rank.hub.network import TokenNetwork

        self._network = TokenNetwork(model, threads)
        self._cache = VectorCache()

    def __call__(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """MaxSim of `question` with each of `texts` in their order, shape (n,)."""
        vectors = self._network.question(question)
        return maxsim(vectors, self._cache.fetch(texts, self._encoded), unquantised)

    def _encoded(self, texts: Sequence[str]) -> list[TokenVectors]:
        return [unquantised(vectors) for vectors in self._network.turns(texts)]
