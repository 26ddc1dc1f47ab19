"""Checks that a folder with somebody's model holds weights and settings, and nothing that runs as code.

Loading a model of the hub's formats runs what its folder names: the classes of `modules.json`, functions by
their dotted names, pickled weights, a pipeline's factories. So the folder is read here before it is loaded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from smartsearch.errors import ModelError

WEIGHTS = "model.safetensors"
PICKLED = (".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt")
"""How files end whose weights are loaded by running what is in them."""
UNREAD = (*(f"*{suffix}" for suffix in PICKLED), "*.py", "*.h5", "*.msgpack", "*.onnx*", "*.ot", "*.gguf")
"""Files of a hub model that are not fetched, for they are never loaded."""
_MODULE = re.compile(
    r"(sentence_transformers|pylate)\.(\w+\.)*(Transformer|Pooling|Dense|Normalize|LayerNorm|Dropout|LogitScore)"
)
_HARMLESS = re.compile(r"[\w-]*|torch\.nn(\.modules\.\w+)?\.[A-Z]\w*")
"""Functions that are no name of a module, or that are torch's own layers."""
_FUNCTIONS = frozenset(
    (
        *("activation_fn", "activation_function", "sbert_ce_default_activation_function"),
        *("attn_implementation", "_attn_implementation"),
    )
)
"""Keys of a configuration whose value is imported and called."""
_FACTORIES = frozenset(
    (
        *("tok2vec", "tagger", "morphologizer", "parser", "ner", "senter", "sentencizer", "attribute_ruler"),
        *(
            "lemmatizer",
            "trainable_lemmatizer",
            "entity_ruler",
            "span_ruler",
            "textcat",
            "textcat_multilabel",
        ),
    )
)
_REGISTERED = re.compile(r"(?!.*(Torch|Tensor|MXNet))(spacy(-legacy)?\.)?[\w.]+")
"""Parts of spaCy's networks, but for those of torch and the like: their weights are pickled."""
_REGISTRIES = frozenset(("@architectures", "@layers", "@misc", "@scorers", "@tokenizers", "@vectors"))
CAUSAL = "a folder as the hub has it, with config.json, tokenizer.json and .safetensors; code is never run"
"""What to try where a causal language model cannot be loaded."""


def check(folder: Path) -> None:
    """Check that a ranker in the hub's formats can be loaded without running code of its folder.

    Raises ModelError naming the first thing that could run.
    """
    for place in _modules(folder):
        names = {path.name for path in place.iterdir()} if place.is_dir() else set()
        if "adapter_config.json" in names:
            raise _refused(folder, f"{_below(place, folder)}adapter_config.json names another model")
        pickled = sorted(name for name in names if name.endswith(PICKLED))
        if pickled and WEIGHTS not in names:
            raise _refused(folder, f"{_below(place, folder)}{pickled[0]} is pickled")
        for path in sorted(place.glob("*.json")):
            for key, said in _pairs(_json(path)):
                if key in _FUNCTIONS and not _HARMLESS.fullmatch(said):
                    raise _refused(folder, f"{_below(path.parent, folder)}{path.name} names {said[:100]!r}")


def _modules(folder: Path) -> Iterator[Path]:
    """The folder and those of its modules. Raises ModelError for one of a class that is not known."""
    yield folder
    if not (folder / "modules.json").is_file():
        return
    listed = _json(folder / "modules.json")
    for module in listed if isinstance(listed, list) else [listed]:
        kind, path = (str(module.get(key)) if isinstance(module, dict) else "" for key in ("type", "path"))
        if not _MODULE.fullmatch(kind):
            raise _refused(folder, f"modules.json names {kind[:100]!r}")
        if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
            raise _refused(folder, f"modules.json leads to {path[:100]!r}, out of the folder")
        yield folder / path


def check_parser(folder: Path) -> None:
    """Check that a spaCy pipeline has only spaCy's own parts. Raises ModelError naming the first other."""
    from confection import Config

    try:
        config = Config().from_disk(folder / "config.cfg")
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(
            f"{folder} cannot be loaded as a parser: it has no config.cfg that can be read",
            hint="the folder of a spaCy pipeline, the one with config.cfg",
            kind="model_unfit",
        ) from error
    language = str(config.get("nlp", {}).get("lang"))
    if not re.fullmatch(r"\w{2,16}", language):
        raise _refused(folder, f"config.cfg names the language {language[:100]!r}")
    for name, part in config.get("components", {}).items():
        made_of = part.get("factory", part.get("source")) if isinstance(part, dict) else part
        if made_of not in _FACTORIES or "source" in part:
            raise _refused(folder, f"config.cfg makes {name!r} of {str(made_of)[:100]!r}")
    for key, value in _pairs(config.get("nlp"), config.get("components")):
        if key.startswith("@") and not (key in _REGISTRIES and _REGISTERED.fullmatch(value)):
            raise _refused(folder, f"config.cfg names {key} {value[:100]!r}")


def _pairs(*left: Any) -> Iterator[tuple[str, str]]:
    """Every key with what it says, at any depth."""
    waiting = list(left)
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield from ((str(key), str(said)) for key, said in one.items() if said is not None)
        waiting += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise _refused(path.parent, f"{path.name} cannot be read") from error


def _below(place: Path, folder: Path) -> str:
    return "" if place == folder else f"{place.name}/"


def unfit(name: object, kind: str, error: Exception, hint: str = CAUSAL) -> ModelError:
    """The error of a model that its library cannot load as a `kind`."""
    said = str(error).strip().splitlines() or [type(error).__name__]
    return ModelError(f"{name} cannot be loaded as a {kind}: {said[0][:200]}", hint=hint, kind="model_unfit")


def _refused(folder: Path, why: str) -> ModelError:
    return ModelError(
        f"the model in {folder} is not loaded: {why}, which could run code",
        hint="a model whose weights are model.safetensors and whose parts are those of its library",
        kind="model_unsafe",
    )
