"""Tiny models made on the spot, in the hub's own folder formats and in ours."""

import json
from pathlib import Path

import numpy as np

from smartsearch.rank.cache.vectors import TokenVectors, quantised

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused0]", "[unused1]")
WORDS = ("mara", "ilya", "dog", "flute", "rain", "garden", "adopted", "a", "the", "when", "did")
VOCABULARY = [*SPECIAL, *WORDS, *":?.!,"]


def bert(folder: Path) -> Path:
    """An untrained two-layer BERT with its tokenizer, as the hub lays it out."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY))
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    torch.manual_seed(0)
    shape = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = BertConfig(vocab_size=len(VOCABULARY), max_position_embeddings=512, **shape)
    BertModel(config).save_pretrained(folder)
    return folder


def cross_encoder(folder: Path, outputs: int = 1) -> Path:
    """A sentence-transformers CrossEncoder folder."""
    from sentence_transformers import CrossEncoder

    base = bert(folder.with_name(folder.name + "-base"))
    CrossEncoder(str(base), num_labels=outputs).save_pretrained(str(folder))
    return folder


def colbert(folder: Path) -> Path:
    """A PyLate ColBERT folder."""
    from pylate.models import ColBERT

    base = bert(folder.with_name(folder.name + "-base"))
    made = ColBERT(str(base), embedding_size=8, query_length=8, document_length=32, device="cpu")
    made.save_pretrained(str(folder))
    return folder


def vectors(text: str) -> TokenVectors:
    """What a ColBERT might give for `text`: always the same, of 1 to 9 tokens; none for the empty text."""
    rng = np.random.default_rng(list(text.encode("utf-8", "surrogatepass")))
    return quantised(rng.normal(size=(int(rng.integers(1, 10)) if text else 0, 12)))


def onnx_folder(folder: Path, kind: str) -> Path:
    """A model of ours whose arithmetic can be done by hand.

    `crossencoder`: the logit is the number of tokens of the text (second segment) that are `dog`.
    `colbert`: each token's vector is the unit vector of its id.
    """
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    folder.mkdir(parents=True)
    tokenizer = Tokenizer(models.WordPiece({w: i for i, w in enumerate(VOCABULARY)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    size = len(VOCABULARY)
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if kind == "crossencoder" else [])]
    inputs = [helper.make_tensor_value_info(n, TensorProto.INT64, ["b", "t"]) for n in names]
    if kind == "crossencoder":
        is_dog = np.zeros((size,), dtype=np.float32)
        is_dog[VOCABULARY.index("dog")] = 1
        nodes = [
            helper.make_node("Gather", ["table", "input_ids"], ["hits"]),
            helper.make_node("Cast", ["token_type_ids"], ["second"], to=TensorProto.FLOAT),
            helper.make_node("Mul", ["hits", "second"], ["counted"]),
            helper.make_node("ReduceSum", ["counted", "axis"], ["logits"], keepdims=1),
        ]
        tensors = [numpy_helper.from_array(is_dog, "table"), numpy_helper.from_array(np.array([1]), "axis")]
        output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["b", 1])
        config = {"format": 1, "kind": kind, "precision": "int8", "max_length": 32}
    else:
        nodes = [helper.make_node("Gather", ["table", "input_ids"], ["vectors"])]
        tensors = [numpy_helper.from_array(np.eye(size, dtype=np.float32), "table")]
        output = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["b", "t", size])
        config = {
            **{"format": 1, "kind": kind, "precision": "int8", "query_length": 8, "document_length": 16},
            **{"query_prefix_id": 5, "document_prefix_id": 6, "mask_token_id": 4},
            "attend_to_expansion_tokens": False,
            "skiplist_ids": [VOCABULARY.index(c) for c in ":?.!,"],
        }
    graph = helper.make_graph(nodes, kind, inputs, [output], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, str(folder / "model.onnx"))
    (folder / "config.json").write_text(json.dumps(config))
    return folder
