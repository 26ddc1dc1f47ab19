"""Tiny causal language models in the hub's format, their weights random, each with a tokenizer."""

import json
from pathlib import Path

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

SHAPE = {
    **{"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2},
    **{"intermediate_size": 48, "max_position_embeddings": 512, "vocab_size": 320, "pad_token_id": 0},
}
KINDS = ("Llama", "Mistral", "Qwen2", "Qwen3", "Olmo2")
"""Qwen3 came with transformers 4.51; OLMo 2 has norms on queries and keys too."""


def there(kind: str) -> bool:
    return hasattr(transformers, f"{kind}Config")


def network(kind: str, seed: int = 0, sharp: float = 12.0, **said: object) -> torch.nn.Module:
    """A base model of an architecture, its attention sharp enough that heads differ."""
    torch.manual_seed(seed)
    config = getattr(transformers, f"{kind}Config")(**SHAPE | said)
    made = getattr(transformers, f"{kind}Model")(config).eval()
    for name, weights in made.named_parameters():
        if weights.dim() == 2 and ("q_proj" in name or "k_proj" in name):
            weights.data *= sharp
    return made


def bytelevel() -> Tokenizer:
    """A token a byte, as GPT-2, Qwen and Llama 3 have them."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE({"<pad>": 0} | {one: n for n, one in enumerate(letters, start=1)}, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    return made


def bytefallback() -> Tokenizer:
    """A token a letter, bytes for unknown letters, a mark for blanks: as Llama 2 and Mistral have them."""
    words = ["<pad>", "<unk>", *(f"<0x{n:02X}>" for n in range(256)), "▁", *"abcdefghijklmnopqrstuvwxyz"]
    ids = {word: n for n, word in enumerate(words)}
    made = Tokenizer(models.BPE(ids, [], byte_fallback=True, unk_token="<unk>"))
    made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    made.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    return made


def saved(folder: Path, kind: str = "Qwen2", made: Tokenizer | None = None, **said: object) -> Path:
    """A folder as the hub has one."""
    network(kind, **said).save_pretrained(folder)
    (made or bytelevel()).save(str(folder / "tokenizer.json"))
    about = {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "<pad>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(about))
    return folder
