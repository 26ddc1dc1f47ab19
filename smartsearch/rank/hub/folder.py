"""What a folder of the model hub says it holds, and the refusal of one that could rank only by chance.

The libraries load any encoder as a ranker: what it lacks, a classification head or a projection, they fill
with random numbers, and say so in a log at most. No torch here: the folder's own files are enough.
"""

from __future__ import annotations

import json
import string
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from smartsearch.errors import ModelError

INSTEAD = {
    "crossencoder": "a cross-encoder, such as cross-encoder/ettin-reranker-32m-v1 or "
    "mixedbread-ai/mxbai-rerank-large-v1",
    "colbert": "a ColBERT, such as mixedbread-ai/mxbai-edge-colbert-v0-32m or "
    "answerdotai/answerai-colbert-small-v1",
}
"""What to use instead, by role."""
BEHIND = {
    "crossencoder": frozenset(("Pooling", "Dense", "LayerNorm", "Dropout")),
    "colbert": frozenset(("Dense", "Normalize", "Dropout")),
}
"""Modules that may stand behind the transformer, by role."""
STANFORD = "HF_ColBERT"
"""The architecture that the ColBERT authors' own code writes: the projection lies among the weights."""


@dataclass(frozen=True)
class Module:
    """A part of a model behind its transformer: its class without the library, and its own `config.json`."""

    kind: str
    folder: Path
    config: Mapping[str, Any]


@dataclass(frozen=True)
class HubFolder:
    """A model of the hub as its files describe it. `name` is what the user typed, for errors."""

    name: str
    path: Path
    body: Path
    config: Mapping[str, Any]
    transformer: Mapping[str, Any]
    tokenizer: Mapping[str, Any]
    library: Mapping[str, Any]
    modules: tuple[Module, ...]

    @property
    def architecture(self) -> str:
        """The class whose weights were saved, empty where `config.json` does not say."""
        named = self.config.get("architectures") or [""]
        return str(named[0])

    def modular(self) -> bool:
        """Whether the last module gives one score: how sentence-transformers 5.4 and later save some."""
        dense = [module for module in self.modules if module.kind == "Dense"]
        return bool(dense) and dense[-1] is self.modules[-1] and dense[-1].config.get("out_features") == 1

    def unfit(self, why: str, hint: str = "", role: str = "crossencoder") -> ModelError:
        """The error of a model that cannot do what it was given for."""
        return ModelError(f"{self.name} {why}", hint=hint or INSTEAD[role], kind="model_unfit")


def described(path: Path, name: str = "") -> HubFolder:
    """What the JSON files of a folder say; a file that is not there says nothing."""
    listed = _read(path / "modules.json", [])
    parts = [(str(one["type"]).rpartition(".")[2], path / str(one.get("path", ""))) for one in listed]
    body = parts[0][1] if parts else path
    modules = tuple(Module(kind, place, _read(place / "config.json", {})) for kind, place in parts[1:])
    return HubFolder(
        name=name or str(path),
        path=path,
        body=body,
        config=_read(body / "config.json", {}),
        transformer=_read(body / "sentence_bert_config.json", {}),
        tokenizer=_read(body / "tokenizer_config.json", {}),
        library=_read(path / "config_sentence_transformers.json", {}),
        modules=modules,
    )


def _read(path: Path, without: Any) -> Any:
    return json.loads(path.read_bytes()) if path.is_file() else without


def check(role: str, model: HubFolder) -> None:
    """That a model has been trained to do what the role asks for. Raises ModelError (model_unfit)."""
    if role == "qrranker":  # any causal language model; that it is one, its attention shows when it is loaded
        return
    kinds = [module.kind for module in model.modules]
    if "LogitScore" in kinds or model.architecture.endswith(("ForCausalLM", "LMHeadModel")):
        raise model.unfit(
            f"is a language model ({model.architecture}): its score is how likely it writes a word, which "
            "smartsearch does not read",
            "",
            role,
        )
    if model.library.get("default_prompt_name"):
        raise model.unfit("puts a prompt before each text, which smartsearch does not", "", role)
    if role == "colbert":
        _check_colbert(model, kinds)
    else:
        _check_crossencoder(model, kinds)
    if strange := sorted(set(kinds) - BEHIND[role]):
        raise model.unfit(f"has a module that smartsearch does not know: {strange[0]}", "", role)


def role(model: HubFolder) -> str:
    """What a model was trained for, crossencoder or colbert. Raises ModelError for one that is neither."""
    try:
        check("colbert", model)
    except ModelError:
        check("crossencoder", model)
        return "crossencoder"
    return "colbert"


def _check_crossencoder(model: HubFolder, kinds: list[str]) -> None:
    if model.modular():
        return
    if model.architecture == STANFORD or "Dense" in kinds:
        raise model.unfit(
            "gives vectors, not a score for a pair", f"--colbert {model.name}, if it is a ColBERT"
        )
    if model.architecture and not model.architecture.endswith("ForSequenceClassification"):
        raise model.unfit(f"has no classification head ({model.architecture}): its scores would be random")


def _check_colbert(model: HubFolder, kinds: list[str]) -> None:
    if model.modular() or model.architecture.endswith("ForSequenceClassification"):
        raise model.unfit("is a cross-encoder, not a ColBERT", f"--crossencoder {model.name}")
    if "Pooling" in kinds:
        raise model.unfit("gives one vector a text, not one a token", role="colbert")
    if "Dense" not in kinds and model.architecture != STANFORD:
        said = f"has no projection behind its {model.architecture or 'encoder'}: its vectors would be random"
        raise model.unfit(said, role="colbert")


@dataclass(frozen=True)
class Lengths:
    """How a ColBERT reads: PyLate's settings with its defaults. Lengths are in tokens, prefix included."""

    query_prefix: str = "[Q] "
    document_prefix: str = "[D] "
    query_length: int = 32
    document_length: int = 180
    do_query_expansion: bool = True
    attend_to_expansion_tokens: bool = False
    skiplist_words: tuple[str, ...] = tuple(string.punctuation)


_METADATA = {
    "query_token_id": "query_prefix",
    "doc_token_id": "document_prefix",
    "query_maxlen": "query_length",
    "doc_maxlen": "document_length",
    "attend_to_mask_tokens": "attend_to_expansion_tokens",
}
"""What the ColBERT authors' `artifact.metadata` calls them."""


def lengths(model: HubFolder) -> Lengths:
    """A ColBERT's prefixes and lengths, from the settings of PyLate or of the ColBERT authors' code."""
    if any(module.kind == "Dense" for module in model.modules):
        said = model.library
    else:
        metadata = _read(model.path / "artifact.metadata", {})
        said = {"query_token_id": "[unused0]", "doc_token_id": "[unused1]"} | metadata
        said = {ours: said.get(theirs) for theirs, ours in _METADATA.items()}
    known = {
        key: value for key, value in said.items() if key in Lengths.__annotations__ and value is not None
    }
    return Lengths(**known)
