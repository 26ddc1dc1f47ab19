"""The shipped int8 files back to float folders that training can start from.

No float weights are shipped, so this is how a user's machine gets a starting point: each matrix times
its scales. What int8 rounded away stays lost (half a step of 1/127 of a channel's largest weight),
and training goes on from there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartsearch.training.quantise import INVERSE, SMOOTHED
from smartsearch.training.shipped import load_config

HEADS = 12
"""Of attention, where `config.json` does not say: of the first models."""
LAYER = re.compile(r"encoder\.layer\.(\d+)\.")
Weights = dict[str, NDArray[np.float32]]


def read(path: Path) -> Weights:
    """The float tensors of a file that `quantise` made, by their torch names."""
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(path).graph
    tensors = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    for node in graph.node:  # equal tensors are stored once, under one of their names
        if node.op_type == "Identity" and node.input[0] in tensors:
            tensors[node.output[0]] = tensors[node.input[0]]
    weights = _plain(tensors)
    readers = {name: node for node in graph.node for name in node.input}
    for node in graph.node:
        if node.op_type == "MatMulInteger":
            weights[_module(node, readers) + ".weight"] = _matrix(node, tensors)
    return weights


def _plain(tensors: dict[str, NDArray[Any]]) -> Weights:
    """Biases, norms and tables, which keep their torch names; a large table has a scale a row."""
    found: Weights = {}
    for name, tensor in tensors.items():
        if name.endswith(".int8"):
            whole = name.removesuffix(".int8")
            found[whole] = tensor.astype(np.float32) * tensors[f"{whole}.scale"].astype(np.float32)
        elif name.endswith((".weight", ".bias")) and tensor.dtype == np.float32:
            found[name] = tensor
    return found


def _module(node: Any, readers: Mapping[str, Any]) -> str:
    """The module of a matrix product: of the bias added to it, else of the node's own name.

    `/encoder/dense/MatMul_quant` is `encoder.dense`.
    """
    after = node
    for _ in range(3):  # a cast to float, the scales, the bias
        after = readers.get(after.output[0])
        if after is None:
            break
        for name in after.input:
            if name.endswith(".bias"):
                return str(name.removesuffix(".bias"))
    return ".".join(node.name.strip("/").split("/")[:-1])


def _matrix(node: Any, tensors: dict[str, NDArray[Any]]) -> NDArray[np.float32]:
    """A quantised matrix [in, out], a scale a column, as torch has it: [out, in]."""
    name = node.input[1]
    steps = tensors[name].astype(np.float32) - tensors[node.input[3]].astype(np.float32)
    scaled: NDArray[np.float32] = steps * tensors[name.removesuffix("_quantized") + "_scale"]
    inverse = tensors.get(node.input[0].removesuffix("_quantized").removesuffix(SMOOTHED) + INVERSE)
    if inverse is not None:
        scaled = scaled * inverse[:, None]
    return np.ascontiguousarray(scaled.T)


def _bert_config(weights: Weights, prefix: str, heads: int) -> Any:
    from transformers import BertConfig

    def shape(name: str) -> tuple[int, ...]:
        return weights[f"{prefix}{name}.weight"].shape

    layers = {int(found[1]) for name in weights if (found := LAYER.search(name))}
    vocabulary, hidden = shape("embeddings.word_embeddings")
    return BertConfig(
        vocab_size=vocabulary,
        hidden_size=hidden,
        num_hidden_layers=len(layers),
        num_attention_heads=heads,
        intermediate_size=shape("encoder.layer.0.intermediate.dense")[0],
        max_position_embeddings=shape("embeddings.position_embeddings")[0],
        type_vocab_size=shape("embeddings.token_type_embeddings")[0],
        num_labels=1,
    )


def _tokenizer(folder: Path, length: int) -> Any:
    from transformers import BertTokenizerFast

    return BertTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), model_max_length=length)


def _load(module: Any, weights: Weights, prefix: str) -> None:
    """Fill `module` with the tensors below `prefix`, every one of them."""
    import torch

    state = {
        name.removeprefix(prefix): torch.from_numpy(np.array(tensor))
        for name, tensor in weights.items()
        if name.startswith(prefix)
    }
    module.load_state_dict(state)


def restore_crossencoder(folder: Path, out: Path) -> None:
    """Write a CrossEncoder folder to `out` from the exported one in `folder`."""
    from transformers import BertForSequenceClassification

    weights, facts = read(folder / "model.onnx"), load_config(folder)
    model = BertForSequenceClassification(_bert_config(weights, "inner.bert.", facts.get("heads", HEADS)))
    _load(model, weights, "inner.")
    model.save_pretrained(out)
    _tokenizer(folder, int(facts["max_length"])).save_pretrained(out)


def restore_colbert(folder: Path, out: Path) -> None:
    """Write a PyLate folder to `out` from the exported ColBERT in `folder`."""
    from pylate import models
    from transformers import BertModel

    weights, facts = read(folder / "model.onnx"), load_config(folder)
    encoder = BertModel(_bert_config(weights, "encoder.", facts.get("heads", HEADS)), add_pooling_layer=False)
    _load(encoder, weights, "encoder.")
    tokenizer = _tokenizer(folder, int(facts["document_length"]))
    with TemporaryDirectory() as base:
        encoder.save_pretrained(base)
        tokenizer.save_pretrained(base)
        model = models.ColBERT(
            base,
            device="cpu",
            embedding_size=int(facts["dim"]),
            query_length=int(facts["query_length"]),
            document_length=int(facts["document_length"]),
            query_prefix=tokenizer.convert_ids_to_tokens(facts["query_prefix_id"]),
            document_prefix=tokenizer.convert_ids_to_tokens(facts["document_prefix_id"]),
            attend_to_expansion_tokens=bool(facts["attend_to_expansion_tokens"]),
            skiplist_words=tokenizer.convert_ids_to_tokens(facts["skiplist_ids"]),
        )
        _load(model[1].linear, weights, "dense.")
        model.save(str(out))


def restore(kind: str, folder: Path, out: Path) -> None:
    """Write to `out` what `--start` of the training of `kind` takes, from the exported ranker in `folder`."""
    (restore_crossencoder if kind == "crossencoder" else restore_colbert)(folder, out)
