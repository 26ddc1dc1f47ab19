"""The KV memory of a decoder: windows of tokens are read with a few memory tokens behind each, whose keys and
values are all that is kept (its paper, section 2.2).

A memory token has queries, keys and values by matrices of its own in each layer; the model itself is frozen.
"""

from __future__ import annotations

import copy
import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor, nn
from torch.nn import functional
from transformers import DynamicCache

from smartsearch.errors import InputError, ModelError
from smartsearch.runtime.outputs import Place

FORMAT = "smartsearch memory tokens 1"
ABOUT, WEIGHTS = "memorag.json", "memory_tokens.safetensors"
PARTS, BERT_PARTS = ("q_proj", "k_proj", "v_proj"), ("query", "key", "value")
ROPES = ("default", "linear", "llama3", "yarn")
"""Position angles that do not depend on how much was read."""


@dataclass(frozen=True)
class Trained:
    """What a folder of trained memory tokens is of: the model by name and digest, tokens of a window, tokens
    for each that is kept, the stages it went through and the data of these."""

    model: str
    digest: str
    window: int
    ratio: int
    stages: tuple[str, ...] = ()
    data: str = ""


@dataclass(frozen=True)
class KV:
    """Keys and values of memory tokens, a pair a layer, each (batch, heads, memory tokens, head size)."""

    layers: tuple[tuple[Tensor, Tensor], ...] = ()

    @property
    def length(self) -> int:
        """Memory tokens."""
        return int(self.layers[0][0].shape[2]) if self.layers else 0

    def first(self, length: int) -> KV:
        """The memory as it was when it had so many tokens: what came later changed nothing before it."""
        return KV(tuple((k[:, :, :length].clone(), v[:, :, :length].clone()) for k, v in self.layers))


class _Count:
    """How many tokens at the end of what is read now are memory tokens."""

    memory = 0


class _Split(nn.Module):  # type: ignore[misc]
    """A projection: the model's own for what is read, another for the memory tokens behind it."""

    def __init__(self, base: nn.Linear, count: _Count) -> None:
        super().__init__()
        self.base, self.own, self.count = base, copy.deepcopy(base).requires_grad_(True), count

    def forward(self, x: Tensor) -> Tensor:
        n = self.count.memory
        read: Tensor = self.base(x[:, :-n] if n else x)
        return torch.cat([read, self.own(x[:, -n:])], dim=1) if n else read


class Compressor:
    """A causal language model of Hugging Face with memory tokens, which begin as copies of the model's own.

    `window` is in tokens, `ratio` how many of them one memory token stands for.
    """

    def __init__(self, model: Any, window: int, ratio: int, name: str = "the model") -> None:
        """Raises ModelError for a model without the needed shape."""
        shape = _shape(model, name)
        self.model, self.window, self.ratio, self.name = model, window, ratio, name
        self.digest = digest(model)
        model.requires_grad_(False)
        self._count = _Count()
        self._decoder, self._head, self._rotary = shape.decoder, shape.head, shape.rotary
        self._splits: dict[str, _Split] = {}
        for n, attention in enumerate(shape.attentions):
            for part in shape.parts:
                split = self._splits[f"{n}.{part}"] = _Split(getattr(attention, part), self._count)
                setattr(attention, part, split)
        self._embed = model.get_input_embeddings()
        self.token = nn.Parameter(self._embed.weight.detach().mean(dim=0)[None, None].clone())
        limits = (getattr(model.config, name, None) for name in ("max_position_embeddings", "sliding_window"))
        self.longest = min((limit for limit in limits if limit), default=10**9)

    def parameters(self) -> list[nn.Parameter]:
        """What training changes."""
        return [self.token, *(p for split in self._splits.values() for p in split.own.parameters())]

    @property
    def fingerprint(self) -> str:
        """What tells these memory tokens from others."""
        made = hashlib.blake2b(digest_size=12)
        for weights in self.parameters():
            made.update(weights.detach().float().cpu().numpy().tobytes())
        return made.hexdigest()

    def kept(self, tokens: int) -> int:
        """Memory tokens for so many."""
        return math.ceil(tokens / self.ratio)

    def read(self, ids: Tensor, memory: KV, *, kept: int) -> tuple[Tensor, KV]:
        """What the decoder makes of tokens (batch, n) behind a memory, (batch, n, size), and the memory with
        `kept` more tokens: of the tokens themselves nothing else remains in it.

        Raises InputError where the model cannot read so much at once.
        """
        hidden, layers = self._run(ids, memory, kept)
        m, n = memory.length, ids.shape[1]
        if not kept:
            return hidden, memory
        back = partial(_turned_back, *self._angles(n, hidden)) if self._rotary else torch.clone
        grown = [
            (
                torch.cat([k[:, :, :m], back(k[:, :, m + n :])], dim=2),
                torch.cat([v[:, :, :m], v[:, :, m + n :]], dim=2),
            )
            for k, v in layers
        ]
        return hidden[:, :n], KV(tuple(grown))

    def _run(self, ids: Tensor, memory: KV, kept: int) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
        m, new = memory.length, ids.shape[1] + kept
        if m + new > self.longest:
            raise InputError(
                f"{self.name} reads {self.longest:,} tokens; memory and window are {m + new:,}",
                hint="fewer files, or memory tokens that were trained for a higher ratio",
                kind="context",
            )
        embedded = self._embed(ids)
        if kept:
            embedded = torch.cat([embedded, self.token.expand(len(ids), kept, -1)], dim=1)
        cache = DynamicCache()
        for layer, (keys, values) in enumerate(memory.layers):
            cache.update(keys, values, layer)
        places = torch.arange(m, m + new, device=ids.device)[None]
        if not self._rotary:  # a place that is added is not taken off again: theirs is the one they will keep
            places[:, ids.shape[1] :] -= ids.shape[1]
        self._count.memory = kept
        try:
            done = self._decoder(
                inputs_embeds=embedded,
                past_key_values=cache if memory.layers else None,
                position_ids=places,
                use_cache=True,
            )
        finally:
            self._count.memory = 0
        return done.last_hidden_state, _pairs(done.past_key_values)

    def _angles(self, distance: int, like: Tensor) -> tuple[Tensor, Tensor]:
        rotary = self._decoder.rotary_emb
        cosine, sine = rotary(like, torch.tensor([[distance]], device=like.device))
        scale = float(getattr(rotary, "attention_scaling", 1.0))
        return cosine[:, None] / scale, sine[:, None] / scale

    def remember(self, ids: Sequence[int], memory: KV) -> KV:
        """The memory with these tokens in it, one window after the other. Raises InputError."""
        with torch.no_grad():
            for at in range(0, len(ids), self.window):
                window = torch.tensor([list(ids[at : at + self.window])], device=self.token.device)
                memory = self.read(window, memory, kept=self.kept(window.shape[1]))[1]
        return memory

    def likelihood(self, hidden: Tensor, ids: Tensor, first: int = 0) -> tuple[Tensor, int]:
        """Summed nats of the tokens (batch, n) behind the one at `first`, and how many they are."""
        told = ids[:, first + 1 :]
        logits = self._head(hidden[:, first:-1]).float()
        return functional.cross_entropy(logits.flatten(0, 1), told.flatten(), reduction="sum"), told.numel()

    def loss(self, ids: Tensor) -> Tensor:
        """Mean nats a token of (batch, n) in all windows but the first, each given the memory of those before
        and its own earlier tokens: what both stages of training lower."""
        memory, summed, count = KV(), torch.zeros((), device=ids.device), 0
        windows = ids.split(self.window, dim=1)
        for n, window in enumerate(windows):
            kept = self.kept(window.shape[1]) if n + 1 < len(windows) else 0
            hidden, memory = self.read(window, memory, kept=kept)
            if n:
                one, tokens = self.likelihood(hidden, window)
                summed, count = summed + one, count + tokens
        return summed / max(count, 1)

    def write(self, ids: Sequence[int], memory: KV, *, most: int, ends: Sequence[int] = ()) -> list[int]:
        """The likeliest tokens after a memory and a prompt, up to the first of `ends`. Raises InputError."""
        written: list[int] = []
        new = list(ids)
        with torch.no_grad():
            while len(written) < most:
                hidden, layers = self._run(torch.tensor([new], device=self.token.device), memory, 0)
                memory, new = KV(tuple(layers)), [int(self._head(hidden[:, -1]).argmax())]
                if new[0] in ends:
                    break
                written += new
        return written

    def save(self, place: Place, trained: Trained) -> None:
        """Write what was trained, and what it is of, to a new folder, whole or not at all.

        Raises UsageError where it cannot be written.
        """
        own = {
            f"{at}.{name}": p
            for at, split in self._splits.items()
            for name, p in split.own.named_parameters()
        }
        tensors = {name: p.detach().cpu().contiguous() for name, p in {**own, "token": self.token}.items()}
        with place.making() as part:
            (part / WEIGHTS).write_bytes(save(tensors))
            (part / ABOUT).write_text(json.dumps({"format": FORMAT, **asdict(trained)}, indent=1), "utf-8")

    def load(self, folder: Path) -> None:
        """Take what was trained. Raises ModelError where it is damaged, or another model's."""
        trained = about(folder)
        if trained.digest != self.digest:
            raise ModelError(
                f"the memory tokens in {folder} are of {trained.model}, and {self.name} has other weights",
                hint="the model that they were trained for",
                kind="model_unfit",
            )
        try:
            held = load_file(folder / WEIGHTS)
            self.token.data.copy_(held["token"])
            for at, split in self._splits.items():
                split.own.load_state_dict({name: held[f"{at}.{name}"] for name in split.own.state_dict()})
        except (OSError, SafetensorError, LookupError, RuntimeError) as error:
            said = str(error).splitlines()[0]
            raise ModelError(f"{folder / WEIGHTS} cannot be read: {said}", kind="model_missing") from error


def is_ours(folder: Path) -> bool:
    """Whether a folder holds trained memory tokens."""
    return (folder / ABOUT).is_file()


def about(folder: Path) -> Trained:
    """Read what a folder of trained memory tokens is for. Raises ModelError for any other folder."""
    try:
        said = json.loads((folder / ABOUT).read_bytes())
        if said["format"] != FORMAT:
            raise ValueError("another format")
        found = {field.name: said[field.name] for field in fields(Trained)}
        return Trained(**{**found, "stages": tuple(found["stages"])})
    except (OSError, ValueError, LookupError, TypeError) as error:
        hint = "a folder that the checkout's `python -m recipe memorag` wrote"
        raise ModelError(f"{folder} has no trained memory tokens", hint=hint, kind="model_missing") from error


def digest(model: Any) -> str:
    """What tells a model's weights from others: names and shapes of all, and the first numbers of each."""
    made = hashlib.blake2b(digest_size=12)
    for name, weights in sorted(model.state_dict().items()):
        made.update(f"{name} {tuple(weights.shape)}".encode())
        made.update(weights.flatten()[:64].float().cpu().numpy().tobytes())
    return made.hexdigest()


@dataclass(frozen=True)
class _Shape:
    """Where a model has what memory tokens need: its decoder, the attention of each layer, the projections of
    one, the head for words; whether positions are rotary, or a table that is added to the words."""

    decoder: Any
    attentions: Sequence[Any]
    parts: tuple[str, ...]
    head: Any
    rotary: bool = True


def _shape(model: Any, name: str) -> _Shape:
    """Raises ModelError for a model that is neither of the shape of Llama nor a BERT made causal."""
    config, bert = model.config, getattr(model, "bert", None)
    if bert is not None and config.is_decoder:
        attentions = [layer.attention.self for layer in bert.encoder.layer]
        return _Shape(bert, attentions, BERT_PARTS, model.cls, rotary=False)
    decoder = getattr(model, "model", None)
    attentions = [getattr(layer, "self_attn", None) for layer in getattr(decoder, "layers", ())]
    parts = [getattr(attention, part, None) for attention in attentions for part in PARTS]
    size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    angles = getattr(getattr(decoder, "rotary_emb", None), "inv_freq", ())
    scaling = getattr(config, "rope_scaling", None) or {}
    lacks = ""
    if not parts or not all(isinstance(part, nn.Linear) for part in parts):
        lacks = "projections q_proj, k_proj and v_proj in each layer"
    elif 2 * len(angles) != size or scaling.get("rope_type", scaling.get("type", "default")) not in ROPES:
        lacks = "rotary positions of the plain kind"
    if lacks:
        hint = "a model of the shape of Llama, Mistral, Qwen2 or Qwen3, or a BERT made causal"
        raise ModelError(f"{name} has no {lacks}", hint=hint, kind="model_unfit")
    return _Shape(decoder, attentions, PARTS, model.get_output_embeddings())


def _turned_back(cosine: Tensor, sine: Tensor, keys: Tensor) -> Tensor:
    """Keys with rotary positions, as they would be so much earlier."""
    one, other = keys.chunk(2, dim=-1)
    return keys * cosine.to(keys.dtype) - torch.cat([-other, one], dim=-1) * sine.to(keys.dtype)


def _pairs(cache: Any) -> list[tuple[Tensor, Tensor]]:
    """The keys and values of each layer, as transformers 4 and 5 hold them."""
    if isinstance(cache, tuple):
        return [(layer[0], layer[1]) for layer in cache]
    if hasattr(cache, "layers"):
        return [(layer.keys, layer.values) for layer in cache.layers]
    return list(zip(cache.key_cache, cache.value_cache, strict=True))
