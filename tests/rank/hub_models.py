"""Tiny models in the hub's formats, each of the architecture and tokenizer kind of one that people use.

Their weights follow from their names alone, so that scores that other versions of the libraries gave can
stand in tests/rank/test_hub.py: REFERENCES there is what this file prints where those are installed.
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
import transformers
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

QUESTION = "When did Mara adopt a DOG?"
TEXTS = ("Mara: the dog came on Monday!", "rain", "", "garden " * 90, "Ilya's flute, ... (x)")
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused0]", "[unused1]", "[Q] ", "[D] ")
WORDS = ("mara", "ilya", "dog", "flute", "rain", "garden", "adopt", "##ed", "a", "the", "when", "did", "##s")
SHAPE = {"hidden_size": 32, "num_hidden_layers": 4, "num_attention_heads": 2, "intermediate_size": 48}


def written(folder: Path, name: str, said: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(said), encoding="utf-8")


def filled(network: torch.nn.Module) -> torch.nn.Module:
    """Each weight by its place among the names: the same in every version of every library."""
    for number, (name, weights) in enumerate(sorted(network.named_parameters())):
        steps = torch.arange(weights.numel(), dtype=torch.float64)
        values = (torch.sin(steps * 12.9898 + number) * 43758.5453).remainder(1) - 0.5
        scales = weights.dim() == 1 and name.endswith("weight")  # of a norm, which is about 1
        weights.data = (values + int(scales)).reshape(weights.shape).float()
    return network.eval()


def tokenizer(folder: Path, kind: str, longest: int, named: str = "PreTrainedTokenizerFast") -> int:
    """`tokenizer.json` of WordPiece, byte-level BPE or Unigram; how many tokens it knows."""
    letters = pre_tokenizers.ByteLevel.alphabet() if kind == "BPE" else "abcdefghijklmnopqrstuvwxyz?:!.,'()"
    words = [*WORDS, *sorted(letters), *(f"##{letter}" for letter in sorted(letters))]
    if kind == "Unigram":
        words += ["▁", *(f"▁{word}" for word in WORDS)]
    ids = {word: number for number, word in enumerate(dict.fromkeys((*SPECIAL, *words)))}
    model = {
        "WordPiece": lambda: models.WordPiece(ids, unk_token="[UNK]"),
        "BPE": lambda: models.BPE(ids, [], unk_token="[UNK]"),
        "Unigram": lambda: models.Unigram([(word, -float(len(word))) for word in ids], unk_id=1),
    }[kind]()
    made = Tokenizer(model)
    if kind != "BPE":
        made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = {
        "WordPiece": pre_tokenizers.BertPreTokenizer(),
        "BPE": pre_tokenizers.ByteLevel(add_prefix_space=False),
        "Unigram": pre_tokenizers.Metaspace(),
    }[kind]
    made.add_special_tokens(list(SPECIAL))
    second = 0 if kind == "BPE" else 1
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair=f"[CLS] $A [SEP] $B:{second} [SEP]:{second}",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    folder.mkdir(parents=True, exist_ok=True)
    made.save(str(folder / "tokenizer.json"))
    roles = ("pad", "unk", "cls", "sep", "mask")
    said = {f"{role}_token": f"[{role.upper()}]" for role in roles} | {"model_max_length": longest}
    inputs = ["input_ids", "attention_mask", *(["token_type_ids"] if second else [])]
    written(folder, "tokenizer_config.json", {**said, "tokenizer_class": named, "model_input_names": inputs})
    return len(ids)


def encoder(folder: Path, kind: str, task: str = "Model", longest: int = 64, **said: object) -> Path:
    """A BERT, ModernBERT or DeBERTa with its tokenizer. ModernBERT is as transformers 5 saves it."""
    pieces = {"Bert": "WordPiece", "ModernBert": "BPE", "DebertaV2": "Unigram"}[kind]
    plain = kind == "ModernBert" and task == "Model"
    size = tokenizer(folder, pieces, longest, "TokenizersBackend" if plain else "PreTrainedTokenizerFast")
    shape = (
        SHAPE | {"vocab_size": size, "max_position_embeddings": 96, "pad_token_id": 0, "num_labels": 1} | said
    )
    if kind == "ModernBert":
        shape |= {"local_attention": 8, "global_rope_theta": 70000.0, "local_rope_theta": 90000.0}
    config = getattr(transformers, f"{kind}Config")(**shape)
    filled(getattr(transformers, f"{kind}{task}")(config)).save_pretrained(folder)
    if plain:
        saved = json.loads((folder / "config.json").read_text())
        for old in ("global_rope_theta", "local_rope_theta", "global_attn_every_n_layers"):
            saved.pop(old, None)
        ropes = {"full_attention": 70000.0, "sliding_attention": 90000.0}
        saved["rope_parameters"] = {n: {"rope_theta": at, "rope_type": "default"} for n, at in ropes.items()}
        saved["layer_types"] = [f"{'sliding' if n % 3 else 'full'}_attention" for n in range(4)]
        written(folder, "config.json", saved | {"transformers_version": "5.23.0"})
    return folder


def module(folder: Path, number: int, kind: str, library: str, **said: object) -> dict[str, object]:
    """A module behind the encoder, with its weights; its line of `modules.json`."""
    place = folder / f"{number}_{kind}"
    written(place, "config.json", said)
    if kind == "Dense":
        layers = {"linear": torch.nn.Linear(said["in_features"], said["out_features"], bool(said["bias"]))}
        if said.get("use_residual"):
            layers["residual"] = torch.nn.Linear(said["in_features"], said["out_features"], False)
        save_file(filled(torch.nn.ModuleDict(layers)).state_dict(), place / "model.safetensors")
    elif kind == "LayerNorm":
        norm = torch.nn.ModuleDict({"norm": torch.nn.LayerNorm(said["dimension"])})
        save_file(filled(norm).state_dict(), place / "model.safetensors")
    return {"idx": number, "name": str(number), "path": place.name, "type": f"{library}.{kind}"}


NEW = "sentence_transformers.base.modules"
NEWER = "sentence_transformers.sentence_transformer.modules"


def ettin(folder: Path) -> Path:
    """As sentence-transformers 5.4 and later save ettin-reranker."""
    encoder(folder, "ModernBert", longest=48)
    identity, gelu = "torch.nn.modules.linear.Identity", "torch.nn.modules.activation.GELU"
    names = {"module_input_name": "sentence_embedding", "module_output_name": "sentence_embedding"}
    wide = {"in_features": 32, "out_features": 32, "bias": False, "activation_function": gelu, **names}
    last = names | {"in_features": 32, "out_features": 1, "bias": True, "activation_function": identity}
    pooling = {"embedding_dimension": 32, "pooling_mode": "cls", "include_prompt": True}
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": f"{NEW}.transformer.Transformer"},
        module(folder, 1, "Pooling", f"{NEWER}.pooling", **pooling),
        module(folder, 2, "Dense", f"{NEW}.dense", **wide),
        module(folder, 3, "LayerNorm", f"{NEWER}.layer_norm", dimension=32),
        module(folder, 4, "Dense", f"{NEW}.dense", **last | {"module_output_name": "scores"}),
    ]
    written(folder, "modules.json", modules)
    text = {"text": {"method": "forward", "method_output_name": "last_hidden_state"}}
    transformer = {"transformer_task": "feature-extraction", "modality_config": text}
    written(folder, "sentence_bert_config.json", transformer | {"module_output_name": "token_embeddings"})
    library = {"model_type": "CrossEncoder", "prompts": {}, "default_prompt_name": None}
    written(folder, "config_sentence_transformers.json", library)
    return folder


def edge(folder: Path, **settings: object) -> Path:
    """As PyLate 1.6 saves mxbai-edge-colbert: two projections, an activation, a residual."""
    encoder(folder, "ModernBert", longest=96)
    gelu, identity = "torch.nn.modules.activation.GELU", "torch.nn.modules.linear.Identity"
    wide = {"in_features": 32, "out_features": 64, "bias": False, "activation_function": gelu}
    narrow = {"in_features": 64, "out_features": 12, "bias": False, "activation_function": identity}
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        module(folder, 1, "Dense", "pylate.models.Dense", **wide, use_residual=True),
        module(folder, 2, "Dense", "pylate.models.Dense", **narrow, use_residual=False),
    ]
    written(folder, "modules.json", modules)
    written(folder, "sentence_bert_config.json", {"max_seq_length": 96, "do_lower_case": True})
    said = {"query_prefix": "[Q] ", "document_prefix": "[D] ", "query_length": 48, "document_length": 40}
    said |= {"attend_to_expansion_tokens": False, "do_query_expansion": False} | settings
    said |= {"similarity_fn_name": "MaxSim", "prompts": {}}
    written(folder, "config_sentence_transformers.json", said)
    return folder


def stanford(folder: Path, **metadata: object) -> Path:
    """As the ColBERT authors' code saves answerai-colbert-small: the projection among BERT's weights."""
    encoder(folder, "Bert", longest=96)
    bert = transformers.BertModel.from_pretrained(folder)
    projection = filled(torch.nn.ModuleDict({"linear": torch.nn.Linear(32, 12, bias=False)})).state_dict()
    weights = {f"bert.{name}": values.contiguous() for name, values in bert.state_dict().items()}
    save_file(weights | projection, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    written(folder, "config.json", config | {"architectures": ["HF_ColBERT"]})
    said = {"query_token_id": "[unused0]", "doc_token_id": "[unused1]", "query_maxlen": 16, "doc_maxlen": 24}
    written(folder, "artifact.metadata", said | metadata)
    return folder


def pylate_scores(folder: Path) -> list[float]:
    """PyLate's own: its vectors, and MaxSim of them."""
    from pylate import models as pylate_models
    from pylate.scores import colbert_scores

    model = pylate_models.ColBERT(str(folder), device="cpu")
    question = model.encode([QUESTION], is_query=True, show_progress_bar=False)
    turns = model.encode(list(TEXTS), is_query=False, show_progress_bar=False)
    return [float(colbert_scores(np.asarray(question), np.asarray([turn]))[0, 0]) for turn in turns]


def predicted(folder: Path) -> list[float]:
    """sentence-transformers' own logits."""
    from sentence_transformers import CrossEncoder

    model = CrossEncoder(str(folder), device="cpu")
    pairs = [(QUESTION, text) for text in TEXTS]
    found = model.predict(pairs, activation_fn=torch.nn.Identity(), show_progress_bar=False)
    return [float(score) for score in found]


if __name__ == "__main__":
    at = Path(sys.argv[1])
    wanted = {"do_query_expansion": True, "attend_to_expansion_tokens": True}
    said = (
        {"edge": pylate_scores(edge(at / "edge")), "filled": pylate_scores(edge(at / "filled", **wanted))}
        if "edge" in sys.argv
        else {"ettin": predicted(ettin(at / "ettin"))}
    )
    sys.stdout.write(json.dumps(said) + "\n")
