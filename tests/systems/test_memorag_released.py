"""Memory models with code of their own: run where it is pinned and as it was, else refused."""

from __future__ import annotations

import json
import sys

import pytest

from smartsearch.config import Config
from smartsearch.errors import ModelError
from smartsearch.models import loading
from smartsearch.systems.memorag import released
from tests.systems import kv_models, xmemory

CODE = """
import pathlib
import torch
from transformers import LlamaConfig, LlamaForCausalLM


class MemoryConfig(LlamaConfig):
    model_type = "memory_llama"

    def __init__(self, beacon_ratio=None, **said):
        self.beacon_ratio = beacon_ratio
        super().__init__(**said)


class Memory:
    def __init__(self, ratio):
        self.ratio, self.seen = ratio, None

    def reset(self, seen=None, ratio=None):
        self.seen = seen

    def export(self):
        return {"seen": self.seen, "ratio": self.ratio}


class MemoryLlama(LlamaForCausalLM):
    config_class = MemoryConfig

    def __init__(self, config):
        super().__init__(config)
        self.memory = Memory(config.beacon_ratio)

    def forward(self, input_ids, **said):
        self.memory.seen = input_ids
        (pathlib.Path(self.config._name_or_path) / "ran").open("a").write("x")

    def generate(self, input_ids, **said):
        assert self.memory.ratio == [8]
        return torch.cat([input_ids, self.memory.seen[:, 10:22]], dim=1)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    place = kv_models.saved(tmp_path / "released")
    (place / "memory_llama.py").write_text(CODE)
    said = json.loads((place / "config.json").read_text())
    said |= {"model_type": "memory_llama", "architectures": ["MemoryLlama"]}
    said["auto_map"] = {
        "AutoConfig": "memory_llama.MemoryConfig",
        "AutoModelForCausalLM": "memory_llama.MemoryLlama",
    }
    (place / "config.json").write_text(json.dumps(said))
    about = json.loads((place / "tokenizer_config.json").read_text())
    about["chat_template"] = "{% for m in messages %}{{ m.content }}{% endfor %}"
    (place / "tokenizer_config.json").write_text(json.dumps(about))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    monkeypatch.setattr(loading, "load_tools", xmemory.tools)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return place


def ask(run, folder, *more):
    kv = ("--system", "memorag", "--set", "memorag=kv", "--set", f"memorag_model={folder}")
    return run("query", "Who is here?", "chat.txt", *kv, "--json", *more)


def test_its_code_is_run_where_it_is_pinned_and_its_memory_is_made_once(run, chats, folder):
    pinned = ("--set", f"memorag_code={released.digest(folder)}")
    first = ask(run, folder, *pinned).record
    assert (first["trace"]["new_pieces"], first["trace"]["drafted"]) == (1, 1)
    assert {t["source"] for t in first["terms"] if t["kind"] == "CLUE"} <= {"8] Mara: I w"}
    assert str(folder) in first["trace"]["about"]
    assert ask(run, folder, *pinned).record["trace"]["new_pieces"] == 0
    assert (folder / "ran").read_text() == "x"
    with (chats / "chat.txt").open("a") as file:
        file.write("[2024-06-01 10:00] Mara: I painted the kennel.\n")
    assert ask(run, folder, *pinned).record["trace"]["new_pieces"] == 1


def test_no_code_is_run_that_was_not_pinned(run, folder):
    pinned = released.digest(folder)
    assert ask(run, folder).code == 2
    with (folder / "memory_llama.py").open("a") as file:
        file.write("\n")
    changed = ask(run, folder, "--set", f"memorag_code={pinned}")
    assert (changed.code, changed.record["error"]["kind"]) == (2, "model_unsafe")
    assert released.digest(folder) in changed.record["error"]["hint"]
    assert not (folder / "ran").exists()
    with pytest.raises(ModelError, match="main is no commit"):
        released.opened(Config(memorag_model="TommyChien/memorag-qwen2-7b-inst", memorag_code="main"))


def test_code_of_another_repository_is_not_run(run, folder):
    config = json.loads((folder / "config.json").read_text())
    config["auto_map"] = {name: f"someone/else--{where}" for name, where in config["auto_map"].items()}
    (folder / "config.json").write_text(json.dumps(config))
    assert ask(run, folder, "--set", f"memorag_code={released.digest(folder)}", "--offline").code == 2
    assert not (folder / "ran").exists()


def test_a_model_without_a_memory_of_its_own_is_refused(run, folder):
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "llama", "architectures": ["LlamaForCausalLM"]}
    del config["auto_map"]
    (folder / "config.json").write_text(json.dumps(config))
    ran = ask(run, folder, "--set", f"memorag_code={released.digest(folder)}")
    assert (ran.code, ran.record["error"]["kind"]) == (2, "model_unfit")
