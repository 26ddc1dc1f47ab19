"""The KV memory of transcripts: made session by session, kept in a file, and asked for clues."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import torch
import transformers
from json_repair import repair_json
from pydantic import ValidationError
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from smartsearch.config import anchored
from smartsearch.errors import ModelError
from smartsearch.models import store, vetting
from smartsearch.rank.hub.folder import described
from smartsearch.rank.hub.network import enough, loaded
from smartsearch.systems.base import Progress
from smartsearch.systems.kept import written_whole
from smartsearch.systems.memorag.clues import Built, Clues
from smartsearch.systems.memorag.kv import KV, Compressor, Trained, about
from smartsearch.systems.memorag.notes import DRAFT, Drafted
from smartsearch.systems.pieces import digest, keys
from smartsearch.types import Turn

enough_memory = partial(enough, hint="fewer files, a smaller model, or memory tokens of a higher ratio")
EVERY = 60.0
"""Seconds of work after which the memory so far is in the file."""


@dataclass(frozen=True)
class Decoder:
    """A model with its trained memory tokens, and its tokenizer."""

    compressor: Compressor
    tokenizer: Any
    trained: Trained

    def ids(self, text: str) -> list[int]:
        """The tokens of a text, without special ones."""
        found: list[int] = self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        return found

    @property
    def ends(self) -> list[int]:
        """What ends a reply."""
        known = (self.tokenizer.eos_token_id, self.tokenizer.sep_token_id, *self.ids("\n")[-1:])
        return [int(end) for end in known if end is not None][:1]


def opened(name: str, threads: int) -> tuple[Any, Any]:
    """Tokenizer and network of a causal language model: a folder, or of the hub if it is on this machine.

    No code that comes with it is run. Raises ModelError.
    """
    folder = store.locate("memory", store.ModelRef.typed(name))
    if folder is None:
        hint = f"a folder as ./PATH, or `hf download {name}`"
        raise ModelError(f"the model {name} is not on this machine", hint=hint, kind="model_missing")
    vetting.check(folder)
    torch.set_num_threads(threads)
    with enough_memory(name):
        try:
            tokenizer, network = loaded(described(folder, name), transformers.AutoModelForCausalLM)
        except (OSError, ValueError, LookupError, SafetensorError) as error:
            raise vetting.unfit(name, "causal language model", error) from error
        return tokenizer, network.to("cuda" if torch.cuda.is_available() else "cpu")


def decoder(name: str, threads: int) -> Decoder:
    """The model of a folder of trained memory tokens, with these. Raises ModelError."""
    folder = Path(anchored(name))
    trained = about(folder)
    tokenizer, network = opened(trained.model, threads)
    compressor = Compressor(network, trained.window, trained.ratio, trained.model)
    compressor.load(folder)
    compressor.token.data = compressor.token.data.to(network.device)
    return Decoder(compressor, tokenizer, trained)


def held(name: str, threads: int) -> Decoder:
    """The same, loaded once by a process that stays, until its files change. Raises ModelError."""
    stamps = sorted((str(path), path.stat().st_mtime_ns) for path in Path(anchored(name)).glob("memor*"))
    return _held(name, threads, tuple(stamps))


@lru_cache(maxsize=1)
def _held(name: str, threads: int, _stamps: tuple[tuple[str, int], ...]) -> Decoder:
    return decoder(name, threads)


def prompt(question: str) -> str:
    """What a clue-writing memory reads after what it remembers."""
    return f"\n\nQuestion: {' '.join(question.split())}\nClues: "


def target(clues: Clues) -> str:
    """What it is trained to write then."""
    return json.dumps({"kind": clues.kind, "items": clues.items, "draft": clues.draft}, ensure_ascii=False)


def told(text: str) -> Clues:
    """The clues that a memory wrote: JSON, mended where it must be, or else a clue a line."""
    with suppress(ValidationError):
        found = Drafted.model_validate(_tight(repair_json(text, return_objects=True)))
        return Clues(found.kind, tuple(found.items), found.draft, "kv")
    lines = tuple(line for line in text.splitlines() if any(map(str.isalnum, line)))
    return Clues("answers", lines, source="kv", fault="" if lines else "the memory wrote no clue")


def _tight(value: Any) -> Any:
    """JSON without blanks at the ends of its strings: a tokenizer of words, as BERT's, writes them there."""
    if isinstance(value, dict):
        return {_tight(key): _tight(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_tight(one) for one in value]
    return value.strip() if isinstance(value, str) else value


class Remembered:
    """What a decoder remembers of some transcripts: for each session the memory tokens there are after it."""

    fidelity = "approximate"

    def __init__(self, memory: KV, sessions: Sequence[tuple[str, int]], built: Built, by: Decoder) -> None:
        self.memory, self.sessions, self.built, self._by = memory, sessions, built, by
        stages = " and ".join(by.trained.stages) or "no stage"
        self.about = f"KV memory of {by.trained.model}, 1:{by.trained.ratio}, trained: {stages}"

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the sessions in their order; the model is the system's."""
        return digest(repr(self.sessions), 16)

    @property
    def statistics(self) -> dict[str, float]:
        """How much it holds."""
        return {"sessions": len(self.sessions), "memory_tokens": self.memory.length}

    def outline(self) -> list[dict[str, Any]]:
        """Each session; keys and values cannot be read."""
        ends = [0, *(end for _, end in self.sessions)]
        return [
            {"level": "session", "text": f"{end - start} memory tokens", "source": "kv", "turn": -1}
            for start, end in pairwise(ends)
        ]

    def clues(self, question: str) -> Clues:
        """What the decoder writes of its memory and the question; the transcripts are not read again."""
        ids = self._by.ids(prompt(question))
        with enough_memory(self._by.trained.model):
            found = self._by.compressor.write(ids, self.memory, most=DRAFT // 2, ends=self._by.ends)
        return told(self._by.tokenizer.decode(found))


def made(by: Decoder, turns: Sequence[Turn], path: Path | None, progress: Progress) -> Remembered:
    """The memory of `turns`: as much of the file's as its first sessions are still these, then the others.

    Raises InputError where there is more than the model reads, CacheError, SmartsearchError (memory).
    """
    runs = list(sessions(turns))
    names = keys(turns, runs)
    memory, held = _read(path)
    same = next((n for n, (one, (key, _)) in enumerate(zip(names, held, strict=False)) if one != key), None)
    same = min(len(names), len(held)) if same is None else same
    ends, gone = [end for _, end in held[:same]], len(held) - same
    memory = memory.first(ends[-1] if ends else 0) if gone else memory
    saved = time.monotonic()
    for n in range(same, len(runs)):
        progress(n - same, len(runs) - same)
        with enough_memory(by.trained.model):
            memory = by.compressor.remember(by.ids(written(turns, runs[n])), memory)
        ends.append(memory.length)
        if time.monotonic() - saved > EVERY:
            _write(path, memory, names, ends)
            saved = time.monotonic()
    if gone or same < len(runs):
        progress(len(runs) - same, len(runs) - same)
        _write(path, memory, names, ends)
    return Remembered(memory, list(zip(names, ends, strict=True)), Built(len(runs) - same, gone), by)


def sessions(turns: Sequence[Turn]) -> Iterator[range]:
    """The turns of each session in their order."""
    for _, run in groupby(range(len(turns)), key=lambda index: turns[index].place):
        own = list(run)
        yield range(own[0], own[-1] + 1)


def written(turns: Sequence[Turn], run: range) -> str:
    """The text of a session, as a memory reads it."""
    return "".join(f"{turns[index].rendered}\n" for index in run)


def _read(path: Path | None) -> tuple[KV, list[tuple[str, int]]]:
    """The memory of a file and its sessions; a damaged one has none: the transcripts have it all."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    with suppress(OSError, SafetensorError, LookupError, ValueError, TypeError):
        if path and path.is_file():
            with safe_open(path, framework="pt", device=device) as file:
                sessions = [(str(key), int(end)) for key, end in json.loads(file.metadata()["sessions"])]
                layers = range(len(list(file.keys())) // 2)
                memory = KV(tuple((file.get_tensor(f"k{n}"), file.get_tensor(f"v{n}")) for n in layers))
                whole = file.metadata()["digest"] == _digest(memory)
            if whole and memory.length == (sessions[-1][1] if sessions else 0):
                return memory, sessions
    return KV(), []


def _write(path: Path | None, memory: KV, names: Sequence[str], ends: Sequence[int]) -> None:
    if path is None:
        return
    tensors: dict[str, Any] = {}
    for n, (keys_of, values) in enumerate(memory.layers):
        tensors |= {f"k{n}": keys_of.contiguous(), f"v{n}": values.contiguous()}
    sessions = json.dumps(list(zip(names, ends, strict=False)))
    written_whole(path, save(tensors, {"sessions": sessions, "digest": _digest(memory)}))


def _digest(memory: KV) -> str:
    """Of all keys and values: a damaged number has the right shape."""
    made = hashlib.blake2b(digest_size=16)
    for tensor in (tensor for pair in memory.layers for tensor in pair):
        made.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    return made.hexdigest()
