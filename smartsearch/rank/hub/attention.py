"""What chosen attention heads of a causal language model see, read as torch's attention is called.

Whatever a model does to its queries and keys (rotary positions, norms, shared key heads) is done by then, so
this holds for every architecture that calls `scaled_dot_product_attention` once a layer. Weights are made for
the rows asked for alone, never tokens by tokens: memory grows with the length of the context.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import transformers
from torch.nn.functional import scaled_dot_product_attention
from torch.overrides import TorchFunctionMode

from smartsearch.errors import ModelError

_ARGUMENTS = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
"""The order in which torch's attention takes them."""


class _Enough(Exception):
    """The last layer that anybody asked for has attended."""


class _Watch(TorchFunctionMode):  # type: ignore[misc]
    """Takes the rows `at` of the wanted heads of each layer, and ends the run at the layer `last`."""

    def __init__(
        self, wanted: Mapping[int, Sequence[int]], at: range, last: int, keep: Callable[[Any], Any]
    ) -> None:
        super().__init__()
        self.wanted, self.at, self.last, self.keep = wanted, at, last, keep
        self.layers, self.heads = 0, 0
        self.rows: dict[int, Any] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = kwargs or {}
        if func is not scaled_dot_product_attention:
            return func(*args, **given)
        call = dict(zip(_ARGUMENTS, args)) | given
        layer, self.layers, self.heads = self.layers, self.layers + 1, call["query"].shape[1]
        if layer in self.wanted:
            self.rows[layer] = self.keep(_weights(call, self.wanted[layer], self.at))
        if layer == self.last:
            raise _Enough
        return func(*args, **given)


def _weights(call: Mapping[str, Any], heads: Sequence[int], at: range) -> Any:
    """The softmax over all keys of the chosen heads at the rows `at`: (heads, rows, keys), float32."""
    query, key, mask = call["query"], call["key"], call.get("attn_mask")
    group = query.shape[1] // key.shape[1]
    asking = query[0, list(heads), at.start : at.stop].float()
    asked = key[0, [head // group for head in heads]].float()
    scale = call.get("scale") or query.shape[-1] ** -0.5
    logits = asking @ asked.transpose(1, 2) * scale
    if mask is not None:
        seen = mask[0, [head % mask.shape[1] for head in heads], at.start : at.stop]
        logits = logits.masked_fill(~seen, -torch.inf) if seen.dtype == torch.bool else logits + seen.float()
    elif call.get("is_causal"):
        keys = torch.arange(asked.shape[1], device=logits.device)
        rows = torch.arange(at.start, at.stop, device=logits.device)
        logits = logits.masked_fill(keys > rows[:, None], -torch.inf)
    return logits.softmax(-1)


def rows(
    network: Any,
    ids: Sequence[int],
    at: range,
    wanted: Mapping[int, Sequence[int]],
    keep: Callable[[Any], Any] = lambda weights: weights,
    cache: Any = None,
) -> dict[int, Any]:
    """What the heads `wanted` (by layer, from 0) see from the tokens at `at` of the context `ids`.

    By layer what `keep` makes of the weights (heads, rows, tokens), float32. The run ends in the last wanted
    layer: those behind it would change nothing. With gradients where torch has them on. `cache` is what
    `begun` kept of the first tokens, all before `at`; it is as it was afterwards.
    """
    before = 0 if cache is None else cache.get_seq_length()
    watch = _Watch(wanted, range(at.start - before, at.stop - before), max(wanted), keep)
    _run(network, ids, watch, cache)
    if cache is not None:
        cache.crop(before)
    return watch.rows


def begun(network: Any, ids: Sequence[int], last: int) -> Any:
    """The keys and values of the context's first tokens in the layers up to `last`; None where the network
    keeps them in a way of its own."""
    if not getattr(network, "_supports_cache_class", True):
        return None
    cache = transformers.DynamicCache()
    _run(network, ids, _Watch({}, range(0), last, lambda weights: weights), cache)
    return cache


def mass(weights: Any, spans: Sequence[tuple[int, int]]) -> Any:
    """What each head sends to each span of tokens, mean over the rows: (heads, spans).

    `weights` are (heads, rows, tokens). The paper's score of a chunk (section 3): a sum over its tokens, a
    mean over the question's.
    """
    tokens = torch.arange(weights.shape[-1], device=weights.device)[:, None]
    ends = torch.tensor(spans, device=weights.device).reshape(-1, 2)
    inside = (tokens >= ends[:, 0]) & (tokens < ends[:, 1])
    return weights.mean(1) @ inside.to(weights.dtype)


def check(network: Any, name: str) -> tuple[int, int]:
    """How many layers and heads a network has, once it has shown that its attention can be read.

    Raises ModelError (model_unfit): other attention than torch's, layers without, or tokens that see later
    ones.
    """
    layers = int(network.config.num_hidden_layers)
    watch = _Watch({0: (0,)}, range(2), layers, lambda weights: weights)
    with torch.no_grad():
        _run(network, [1, 2, 3], watch)
    if watch.layers != layers:
        said = f"{watch.layers} of its {layers} layers use torch's attention, in which heads are read"
        raise _unfit(name, said)
    if watch.rows[0][0, 0, 1:].any() or watch.rows[0][0, 1, 2:].any():
        raise _unfit(name, "its tokens see later ones: it is no causal language model")
    return layers, watch.heads


def _run(network: Any, ids: Sequence[int], watch: _Watch, cache: Any = None) -> None:
    """One run. Without the mask of ones some versions of transformers look for several texts in the one, by a
    mask of tokens by tokens."""
    given = torch.tensor([list(ids)], device=next(network.parameters()).device)
    new = given[:, cache.get_seq_length() :] if cache is not None else given
    more = {"past_key_values": cache} if cache is not None else {}
    try:
        with watch:
            network(input_ids=new, attention_mask=torch.ones_like(given), use_cache=cache is not None, **more)
    except _Enough:
        return


def _unfit(name: str, why: str) -> ModelError:
    hint = "a causal language model such as Qwen3, Qwen2, Llama or Mistral"
    return ModelError(f"{name} cannot rank by its attention heads: {why}", hint=hint, kind="model_unfit")
