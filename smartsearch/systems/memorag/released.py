"""A memory model that brings code of its own, as the released ones do: run only where that is pinned.

Of that code it needs what the authors' own program calls: `memory.reset`, `memory.export` and `generate`.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from smartsearch.config import Config, anchored, is_path
from smartsearch.errors import ModelError
from smartsearch.systems.base import Progress
from smartsearch.systems.memorag.clues import Built, Clues
from smartsearch.systems.memorag.records import written_whole
from smartsearch.systems.xmemory.rule import keys
from smartsearch.types import Turn

WRITTEN = 128
"""Tokens of a reply, as the authors have it."""
_SPANS = """Recall the passages of the text that help to answer this question, and write each on a line.
Question: {question}"""
_QUERIES = """Ask more precise questions, each on a line, whose answers in the text lead to that of this one.
Question: {question}"""


@dataclass(frozen=True)
class Released:
    """A model with its own memory, and its tokenizer; `code` is the commit or digest of its code."""

    model: Any
    tokenizer: Any
    name: str
    code: str

    def _inputs(self, said: str) -> Any:
        message = [{"role": "user", "content": said}]
        text = self.tokenizer.apply_chat_template(message, tokenize=False, add_generation_prompt=True)
        found = self.tokenizer(text, add_special_tokens=False, return_tensors="pt", verbose=False)
        return {name: found[name].to(self.model.device) for name in ("input_ids", "attention_mask")}

    def read(self, text: str) -> Any:
        """What its memory holds of a text."""
        self.model.memory.reset()
        with torch.inference_mode():
            self.model(**self._inputs(text))
        return self.model.memory.export()

    def write(self, said: str, held: Any) -> list[str]:
        """The lines that it writes with that in its memory."""
        self.model.memory.reset(**held)
        inputs = self._inputs(said)
        with torch.inference_mode():
            ids = self.model.generate(**inputs, max_new_tokens=WRITTEN, do_sample=False)
        text = self.tokenizer.decode(ids[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True)
        return [line for line in text.splitlines() if any(map(str.isalnum, line))]


def opened(config: Config) -> Released:
    """The model that the config names, its code trusted as pinned. Raises ModelError."""
    name, code = anchored(config.memorag_model), config.memorag_code
    pinned: dict[str, Any] = {"local_files_only": config.offline, "trust_remote_code": True}
    if is_path(config.memorag_model):
        there = digest(Path(name))
        if code != there:
            hint = f"read its *.py and *.json; --set memorag_code={there} trusts them"
            raise ModelError(
                f"the code in {name} is not that of --set memorag_code", hint=hint, kind="model_unsafe"
            )
    elif not re.fullmatch("[0-9a-f]{40}", code):
        hint = "the whole commit of the model's repository whose code you have read"
        raise ModelError(f"--set memorag_code={code} is no commit", hint=hint, kind="model_unsafe")
    else:
        pinned |= {"revision": code}
    pinned |= {"code_revision": code}  # of any repository that a configuration may name beside this one
    return _opened(name, code, config.memorag_ratio, tuple(pinned.items()))


@lru_cache(maxsize=1)
def _opened(name: str, code: str, ratio: int, pinned: tuple[tuple[str, Any], ...]) -> Released:
    """The same, loaded once by a process that stays."""
    gpu = torch.cuda.is_available()
    kind = torch.bfloat16 if gpu else torch.float32
    try:
        tokenizer = AutoTokenizer.from_pretrained(name, **dict(pinned))
        model = AutoModelForCausalLM.from_pretrained(
            name, torch_dtype=kind, use_safetensors=True, beacon_ratio=[ratio], **dict(pinned)
        )
    except (OSError, ValueError, TypeError, ImportError) as error:
        said = str(error).splitlines()[0]
        raise ModelError(f"{name} cannot be loaded as a memory: {said}", kind="model_unfit") from error
    if not callable(getattr(getattr(model, "memory", None), "export", None)):
        raise ModelError(
            f"{name} has no memory of its own", hint="leave out --set memorag_code", kind="model_unfit"
        )
    return Released(model.eval().to("cuda" if gpu else "cpu"), tokenizer, name, code)


def digest(folder: Path) -> str:
    """Of all code in a folder and of what names it, 40 hexadecimal figures as of a commit."""
    made = hashlib.blake2b(digest_size=20)
    for path in sorted((*folder.rglob("*.py"), *folder.rglob("*.json"))):
        made.update(f"{path.relative_to(folder)} {len(path.read_bytes())}\n".encode() + path.read_bytes())
    return made.hexdigest()


class Recalled:
    """What such a model holds of some transcripts; all is read again where any of it is another."""

    fidelity = "approximate"

    def __init__(self, held: Any, key: str, built: Built, by: Released) -> None:
        self.held, self.fingerprint, self.built, self._by = held, key, built, by
        self.about = f"{by.name} with its own code, {by.code[:12]}"
        self.statistics: dict[str, float] = {"texts": 1}

    def outline(self) -> list[dict[str, Any]]:
        """Nothing of it can be read."""
        return []

    def clues(self, question: str) -> Clues:
        """Spans that the model recalls, and its surrogate queries."""
        said = [self._by.write(task.format(question=question), self.held) for task in (_SPANS, _QUERIES)]
        lines = tuple(line for both in zip(*said, strict=False) for line in both) or tuple(said[0] + said[1])
        return Clues("answers", lines, source="kv", fault="" if lines else "the memory wrote no clue")


def made(by: Released, turns: Sequence[Turn], path: Path | None, progress: Progress) -> Recalled:
    """The memory of `turns`, from the file at `path` if that is of these. Raises CacheError."""
    [key] = keys(turns, [range(len(turns))])
    with suppress(
        OSError, RuntimeError, pickle.UnpicklingError, EOFError, LookupError, TypeError, ValueError
    ):
        if (
            path
            and (found := torch.load(path, weights_only=True, map_location=by.model.device))["key"] == key
        ):
            return Recalled(found["held"], key, Built(), by)
    progress(0, 1)
    held = by.read("\n".join(turn.rendered for turn in turns))
    progress(1, 1)
    if path:
        content = io.BytesIO()
        torch.save({"key": key, "held": held}, content)
        written_whole(path, content.getvalue())
    return Recalled(held, key, Built(1), by)
