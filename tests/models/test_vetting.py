"""A model's folder is loaded only if nothing in it runs as code."""

import json
import pickle
from pathlib import Path

import pytest

from smartsearch.config import Config
from smartsearch.errors import ModelError
from smartsearch.models import loading, profiles, vetting
from smartsearch.runtime import extras
from tests.rank import tiny

EVIL = """
from pathlib import Path
Path({ran!r}).touch()
class Model: pass
"""


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    return tmp_path / "ran"


def described(folder: Path, name: str, said: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(said), encoding="utf-8")
    return folder


def planted(folder: Path, ran: Path) -> Path:
    """A folder whose modules are its own: sentence-transformers imports them."""
    described(folder, "modules.json", [{"idx": 0, "name": "0", "path": "", "type": "evil.Model"}])
    described(folder, "config_sentence_transformers.json", {})
    (folder / "evil.py").write_text(EVIL.format(ran=str(ran)), encoding="utf-8")
    return folder


@pytest.mark.parametrize(("role", "name"), [("colbert", "colbert"), ("crossencoder", "ce")])
def test_a_folder_runs_nothing_neither_asked_for_nor_named_as_a_hub_model(
    tmp_path: Path, ran: Path, monkeypatch, nlp, role: str, name: str
):
    monkeypatch.setattr("smartsearch.text.parse.load", lambda name: nlp)
    monkeypatch.setitem(extras.EXTRAS, "hub", ())  # told as where torch is
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    folder = planted(tmp_path / "acme" / "x", ran)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match="'acme/x' is not on this machine") as caught:
        loading.load_tools(Config(**{role: "acme/x"}))
    assert "./acme/x" in caught.value.hint
    tools = loading.load_tools(Config(rank=(name,), **{role: str(folder)}))
    with pytest.raises(ModelError, match=r"not loaded: modules.json names 'evil.Model'") as caught:
        tools.scorers[name]("q", ["t"])
    assert caught.value.kind == "model_unsafe"
    assert not ran.exists()


@pytest.mark.torch
def test_what_our_libraries_write_is_loaded(tmp_path: Path):
    vetting.check(tiny.colbert(tmp_path / "colbert"))
    vetting.check(tiny.cross_encoder(tmp_path / "ce"))


def module(kind: str, path: str = "1_Dense") -> list[dict[str, object]]:
    return [{"idx": 0, "name": "0", "path": path, "type": kind}]


@pytest.mark.parametrize(
    ("name", "said", "why"),
    [
        ("modules.json", module("os.system"), "names 'os.system'"),
        ("modules.json", module("sentence_transformers.models.Asym"), "Asym"),
        ("modules.json", module("pylate_evil.Dense"), "pylate_evil"),
        ("modules.json", module("pylate.models.Dense", "../elsewhere"), "out of the folder"),
        ("modules.json", module("pylate.models.Dense", "/elsewhere"), "out of the folder"),
        ("modules.json", {"type": "evil.Model"}, "names 'evil.Model'"),
        ("modules.json", ["evil.Model"], "modules.json names ''"),
        ("config.json", {"activation_function": "os.getpid"}, "names 'os.getpid'"),
        ("config.json", {"sentence_transformers": {"activation_fn": "torch.hub.list"}}, "torch.hub.list"),
        ("config.json", [{"sbert_ce_default_activation_function": "torch.utils.x.Y"}], "torch.utils.x.Y"),
        ("config.json", {"attn_implementation": "acme/kernel"}, "acme/kernel"),
        ("adapter_config.json", {}, "names another model"),
    ],
)
def test_what_a_folder_names_is_not_run(tmp_path: Path, name: str, said: object, why: str):
    with pytest.raises(ModelError, match=why):
        vetting.check(described(tmp_path / "model", name, said))


def test_a_module_s_own_settings_are_read_too(tmp_path: Path):
    folder = described(tmp_path / "model", "modules.json", module("pylate.models.Dense.Dense"))
    described(folder / "1_Dense", "config.json", {"activation_function": "torch.nn.modules.linear.Identity"})
    vetting.check(folder)
    described(folder / "1_Dense", "config.json", {"activation_function": "os.getpid"})
    with pytest.raises(ModelError, match=r"1_Dense/config.json names 'os.getpid'"):
        vetting.check(folder)


def test_pickled_weights_are_not_read(tmp_path: Path, ran: Path):
    class Evil:
        def __reduce__(self):
            return Path.touch, (ran,)

    folder = described(tmp_path / "model", "modules.json", module("pylate.models.Dense.Dense"))
    (described(folder / "1_Dense", "config.json", {}) / "pytorch_model.bin").write_bytes(pickle.dumps(Evil()))
    with pytest.raises(ModelError, match=r"1_Dense/pytorch_model.bin is pickled"):
        vetting.check(folder)
    (folder / "1_Dense" / vetting.WEIGHTS).touch()
    vetting.check(folder)  # the loaders take those instead
    assert not ran.exists()


def test_settings_that_cannot_be_read_are_refused(tmp_path: Path):
    folder = tmp_path / "model"
    folder.mkdir()
    for text in ("{", "[" * 100_000):
        (folder / "config.json").write_text(text)
        with pytest.raises(ModelError, match=r"config.json cannot be read"):
            vetting.check(folder)


PIPELINE = """
[nlp]
lang = "en"
pipeline = ["ner"]
{nlp}

[vars]
[vars.model]
@architectures = "spacy.TorchBiLSTMEncoder.v1"

[components]

[components.ner]
{part}
"""


@pytest.mark.parametrize(
    ("nlp_says", "part", "why"),
    [
        ("", 'factory = "llm"', "makes 'ner' of 'llm'"),
        ("", 'source = "./other"', "makes 'ner' of './other'"),
        ("", 'factory = "ner"\nsource = "./other"', "makes 'ner'"),
        ("", 'factory = "ner"\nmodel = ${vars.model}', "TorchBiLSTM"),
        ("", 'factory = "ner"\nmodel = {"@llm_models": "spacy.GPT-4.v3"}', "@llm_models"),
        ('before_creation = {"@callbacks": "evil"}', 'factory = "ner"', "@callbacks"),
        ("", "factory = 1", "of '1'"),
    ],
)
def test_a_pipeline_of_other_parts_than_spacy_s_is_refused(tmp_path, nlp_says: str, part: str, why: str):
    (tmp_path / "config.cfg").write_text(PIPELINE.format(nlp=nlp_says, part=part), encoding="utf-8")
    with pytest.raises(ModelError, match=why) as caught:
        loading.load_tools(Config(parser=str(tmp_path)))
    assert caught.value.kind == "model_unsafe"


def test_the_shipped_pipeline_and_spacy_s_own_pass(tmp_path: Path, nlp):
    vetting.check_parser(profiles.PROFILES["embedded"]["parser"].shipped)
    nlp.to_disk(tmp_path / "own")
    vetting.check_parser(tmp_path / "own")


def test_a_folder_that_is_no_pipeline_says_what_is_wanted(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("no pipeline")
    with pytest.raises(ModelError, match=r"no config.cfg that can be read") as caught:
        loading.load_tools(Config(parser=str(tmp_path)))
    assert caught.value.kind == "model_unfit"
