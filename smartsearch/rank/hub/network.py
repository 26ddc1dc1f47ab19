"""The networks of hub models, run by torch as the library that saved each one runs it.

Not by sentence-transformers and PyLate themselves: no one installation of both reads all models of
docs/cli.md. Measured with the tiny models of tests/rank/hub_models.py: PyLate 1.2.0 fails on the residual of
an edge ColBERT, and sentence-transformers 4.0.2, which it pins, gives an ettin reranker, as any encoder
without a head, a random one: other scores at each load. PyLate 1.6.0 pins 5.3.0, and ettin needs 5.4.
What they do read, tests/rank/test_hub.py holds to their scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any

import numpy as np
import torch
import transformers
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.torch import load_file
from torch.nn import functional

from smartsearch.errors import SmartsearchError
from smartsearch.rank.hub.folder import HubFolder, Module, lengths

Layer = Callable[[Any], Any]
"""Vectors in, vectors out."""
BATCH = 32
"""Texts a run, as sentence-transformers has it."""
ENDLESS = 10**9
"""A length that a tokenizer names which knows none."""
LOCAL = {"local_files_only": True, "trust_remote_code": False}
WEIGHTS = "model.safetensors"
_LOADING = Lock()
"""Held while a model loads: transformers imports a type's code when it is first asked for, which fails in one
of two threads that ask at once."""
transformers.logging.set_verbosity_error()  # what matters of its warnings is an error here
transformers.logging.disable_progress_bar()


class PairNetwork:
    """A cross-encoder: `(question, n texts)` in, n logits out."""

    def __init__(self, model: HubFolder, threads: int) -> None:
        torch.set_num_threads(threads)
        modular = model.modular()
        self._head = _head(model.modules) if modular else None
        self._mean = modular and _pools_by_mean(model)
        kind = "AutoModel" if modular else "AutoModelForSequenceClassification"
        self._tokenizer, self._body = loaded(model, kind)
        outputs = 1 if modular else self._body.config.num_labels
        if outputs != 1:
            raise model.unfit(f"is a classifier with {outputs} outputs, not a reranker with one score")
        limits = (
            self._tokenizer.model_max_length,
            getattr(self._body.config, "max_position_embeddings", None),
            model.transformer.get("max_seq_length"),
        )
        limit = min(limit for limit in limits if limit)
        cut = {"truncation": "longest_first", "max_length": limit}
        self._cut = cut if limit < ENDLESS else {}
        self._lower = bool(model.transformer.get("do_lower_case"))

    def logits(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """The raw score of each text, shape (n,)."""
        scores = np.zeros(len(texts))
        for places in _batches(texts):
            pairs = [(question, texts[place]) for place in places]
            if self._lower:
                pairs = [(left.lower(), right.lower()) for left, right in pairs]
            inputs = self._tokenizer(pairs, padding=True, return_tensors="pt", **self._cut)
            with torch.inference_mode():
                scores[places] = self._scored(inputs)[:, 0].double().numpy()
        return scores

    def _scored(self, inputs: Any) -> Any:
        if self._head is None:
            return self._body(**inputs).logits
        hidden = self._body(**inputs).last_hidden_state
        seen = inputs["attention_mask"].unsqueeze(-1)
        pooled = (hidden * seen).sum(1) / seen.sum(1) if self._mean else hidden[:, 0]
        return _run(self._head, pooled)


class TokenNetwork:
    """A ColBERT: texts in, for each the vectors of its tokens out, of length 1."""

    def __init__(self, model: HubFolder, threads: int) -> None:
        torch.set_num_threads(threads)
        self._read = lengths(model)
        stanford = not any(module.kind == "Dense" for module in model.modules)
        self._head = _stanford_head(model) if stanford else _head(model.modules)
        self._tokenizer, self._body = loaded(model, "AutoModel")
        self._lower = bool(model.transformer.get("do_lower_case"))
        self._query = self._prefix(model, self._read.query_prefix)
        self._document = self._prefix(model, self._read.document_prefix)
        known = self._tokenizer
        fillers = (known.mask_token_id, known.eos_token_id, known.pad_token_id)
        self._filler = next(token for token in fillers if token is not None)
        skipped = known.convert_tokens_to_ids(list(self._read.skiplist_words))
        self._skipped = torch.tensor(skipped, dtype=torch.long)

    def _prefix(self, model: HubFolder, prefix: str) -> list[int]:
        """The token that says question or turn. Raises ModelError where it was never trained."""
        if not prefix:
            return []
        token = self._tokenizer.get_vocab().get(prefix)
        if token is None or token >= self._body.get_input_embeddings().num_embeddings:
            raise model.unfit(
                f"has no token {prefix!r}, which begins its texts: its vector would be random", "", "colbert"
            )
        return [token]

    def question(self, text: str) -> NDArray[np.float32]:
        """Vectors (tokens, dim), the question filled up with [MASK] where the model was trained so."""
        row = self._rows([text], self._query, self._read.query_length)[0]
        seen = [1] * len(row)
        if self._read.do_query_expansion:
            masks = self._read.query_length - len(row)
            row = row + [self._filler] * masks
            seen = seen + [int(self._read.attend_to_expansion_tokens)] * masks
        vectors: NDArray[np.float32] = self._vectors([row], [seen])[0].numpy()
        return vectors

    def turns(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Vectors (tokens, dim) of each text, without punctuation."""
        found: list[NDArray[np.float32]] = [np.zeros((0, 0), dtype=np.float32)] * len(texts)
        for places in _batches(texts):
            chosen = [texts[place] for place in places]
            rows = self._rows(chosen, self._document, self._read.document_length)
            vectors = self._vectors(rows, [[1] * len(row) for row in rows])
            for place, row, of_row in zip(places, rows, vectors, strict=True):
                kept = ~torch.isin(torch.tensor(row), self._skipped)
                found[place] = of_row[: len(row)][kept].numpy()
        return found

    def _rows(self, texts: Sequence[str], prefix: list[int], length: int) -> list[list[int]]:
        """Token ids of each text, the prefix behind the first."""
        stripped = [text.strip().lower() if self._lower else text.strip() for text in texts]
        rows = self._tokenizer(stripped, truncation=True, max_length=length - len(prefix))["input_ids"]
        return [[*row[:1], *prefix, *row[1:]] for row in rows]

    def _vectors(self, rows: Sequence[list[int]], seen: Sequence[list[int]]) -> Any:
        longest = max(map(len, rows))
        ids = torch.tensor([row + [self._filler] * (longest - len(row)) for row in rows])
        mask = torch.tensor([row + [0] * (longest - len(row)) for row in seen])
        with torch.inference_mode():
            hidden = self._body(input_ids=ids, attention_mask=mask).last_hidden_state
            return functional.normalize(_run(self._head, hidden), dim=-1)


def _batches(texts: Sequence[str]) -> Iterator[list[int]]:
    """Places of texts of about the same length, BATCH at a time."""
    order = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
    for start in range(0, len(order), BATCH):
        yield order[start : start + BATCH]


@contextmanager
def enough(name: str, hint: str) -> Iterator[None]:
    """Torch's ways to say that memory is out, as an error a user can act on, of kind memory."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not isinstance(error, MemoryError | torch.OutOfMemoryError) and "memory" not in str(error):
            raise
        said = f"there is not enough memory to run {name}"
        raise SmartsearchError(said, hint=hint, kind="memory", retryable=True) from error


def loaded(model: HubFolder, kind: str, dtype: Any = torch.float32) -> tuple[Any, Any]:
    """Tokenizer, and network of a `kind` of transformers. Raises ModelError where a weight is not there."""
    with _LOADING:
        config = _configured(model)
        _turn_back(model, config)
        network, told = getattr(transformers, kind).from_pretrained(
            model.body, config=config, use_safetensors=True, output_loading_info=True, **LOCAL
        )
        tokenizer = _tokenizer(model)
    bare = kind == "AutoModel"  # which never runs the pooler, and many do not save one
    lacking = sorted(name for name in told["missing_keys"] if not (bare and "pooler" in name))
    if lacking:
        raise model.unfit(
            f"lacks {len(lacking)} of its weights ({lacking[0]}): its scores would be random",
            "a model that was trained to rank, whole; `smartsearch models pull` fetches one again",
        )
    return tokenizer, network.to(dtype).eval()


def _configured(model: HubFolder) -> Any:
    """Its configuration; a type of its own code, which never runs here, is the one its name begins with.

    So `qwen3_qr` is loaded as `qwen3`. Raises ModelError for one that begins with none."""
    named, known = str(model.config.get("model_type", "")), transformers.CONFIG_MAPPING
    if not named or named in known:
        return transformers.AutoConfig.from_pretrained(model.body, **LOCAL)
    base = max((one for one in known if named.startswith((f"{one}_", f"{one}-"))), key=len, default="")
    if not base:
        raise model.unfit(
            f"is of the type {named!r}, which the installed transformers does not know",
            "a model of a type that transformers has; code that a model brings is never run",
        )
    return known[base].from_dict({**model.config, "model_type": base})


def _tokenizer(model: HubFolder) -> Any:
    """Its tokenizer; a class that only transformers 5 knows, which wrote it, is there the plain fast one."""
    named = model.tokenizer.get("tokenizer_class")
    known = named != "TokenizersBackend" or hasattr(transformers, named)
    kind = transformers.AutoTokenizer if known else transformers.PreTrainedTokenizerFast
    return kind.from_pretrained(model.body, **LOCAL)


def _turn_back(model: HubFolder, config: Any) -> None:
    """Give a configuration that transformers 5 wrote the names that transformers 4 reads.

    Without them it takes its defaults: other angles for the positions, so other scores. Raises ModelError for
    an architecture whose names are not known here.
    """
    ropes = model.config.get("rope_parameters")
    if not ropes or int(transformers.__version__.split(".")[0]) >= 5:
        return
    every = getattr(config, "global_attn_every_n_layers", None)
    layers = [
        f"{'sliding' if every and n % every else 'full'}_attention" for n in range(config.num_hidden_layers)
    ]
    if every is None or model.config.get("layer_types", layers) != layers:
        raise model.unfit(
            f"was saved by transformers {model.config.get('transformers_version', 5)}, whose settings the "
            f"installed {transformers.__version__} would misread",
            "pip install 'transformers>=5'",
        )
    config.global_rope_theta = ropes["full_attention"]["rope_theta"]
    config.local_rope_theta = ropes["sliding_attention"]["rope_theta"]


def _head(modules: Sequence[Module]) -> list[Layer]:
    """What stands behind the transformer, with its weights."""
    return [_LAYERS[module.kind](module) for module in modules if module.kind in _LAYERS]


def _norm(module: Module) -> Layer:
    """`LayerNorm` of sentence-transformers."""
    weights = load_file(module.folder / WEIGHTS)
    weight, bias = weights["norm.weight"].float(), weights["norm.bias"].float()
    return lambda x: functional.layer_norm(x, x.shape[-1:], weight, bias)


def _dense(module: Module) -> Layer:
    """`Dense` of sentence-transformers and PyLate: linear, activation, and the input added, if it says so."""
    weights = {name: tensor.float() for name, tensor in load_file(module.folder / WEIGHTS).items()}
    named = str(module.config.get("activation_function", "torch.nn.Identity"))
    activation = getattr(torch.nn, named.rpartition(".")[2])()

    def run(x: Any) -> Any:
        out = activation(functional.linear(x, weights["linear.weight"], weights.get("linear.bias")))
        if not module.config.get("use_residual"):
            return out
        return out + (functional.linear(x, weights["residual.weight"]) if "residual.weight" in weights else x)

    return run


_LAYERS = {"Dense": _dense, "LayerNorm": _norm}


def _stanford_head(model: HubFolder) -> list[Layer]:
    """The projection that the ColBERT authors' code keeps among the transformer's weights."""
    with safe_open(model.path / WEIGHTS, framework="pt", device="cpu") as weights:
        matrix = weights.get_tensor("linear.weight").float()
    return [lambda x: functional.linear(x, matrix)]


def _run(layers: Sequence[Layer], x: Any) -> Any:
    for layer in layers:
        x = layer(x)
    return x


def _pools_by_mean(model: HubFolder) -> bool:
    """Whether a text is the mean of its tokens, else its first; there are two ways to say so."""
    pooling = next((module.config for module in model.modules if module.kind == "Pooling"), {})
    modes = [key for key, on in pooling.items() if key.startswith("pooling_mode_") and on]
    mode = pooling.get("pooling_mode") or "+".join(modes)
    if mode not in ("mean", "pooling_mode_mean_tokens", "cls", "pooling_mode_cls_token"):
        raise model.unfit(f"makes a vector of a text by {mode!r}, which smartsearch does not know")
    return "mean" in mode
