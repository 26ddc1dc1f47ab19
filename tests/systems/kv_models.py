"""Tiny causal language models for the tests of the KV memory, their weights random."""

from __future__ import annotations

import json

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

SHAPE = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "intermediate_size": 48,
    "max_position_embeddings": 4096,
    "vocab_size": 260,
    "pad_token_id": 0,
    "eos_token_id": 1,
}


def network(kind="Llama", seed=0, **said):
    torch.manual_seed(seed)
    config = getattr(transformers, f"{kind}Config")(**SHAPE | said)
    return getattr(transformers, f"{kind}ForCausalLM")(config).eval()


def bert(seed=0, **said):
    """A BERT whose tokens see those before alone, as `recipe causal` makes one."""
    torch.manual_seed(seed)
    own = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "is_decoder": True}
    return transformers.BertLMHeadModel(transformers.BertConfig(**SHAPE | own | said)).eval()


def saved(folder, kind="Llama", seed=0, **said):
    """A folder as the hub has one; its tokenizer has a token a byte."""
    network(kind, seed, **said).save_pretrained(folder)
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    ids = {"<pad>": 0, "<end>": 1} | {one: n for n, one in enumerate(letters, start=2)}
    made = Tokenizer(models.BPE(ids, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    made.save(str(folder / "tokenizer.json"))
    about = {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "<pad>", "eos_token": "<end>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(about))
    return folder
