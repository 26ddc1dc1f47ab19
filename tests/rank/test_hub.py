"""Models of the hub: what can rank only by chance is refused, all else scores as by its own library."""

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from smartsearch.errors import ModelError
from smartsearch.models import vetting
from smartsearch.rank.colbert import HubColbert
from smartsearch.rank.crossencoder import HubCrossEncoder
from smartsearch.rank.hub import folder as hub

DENSE = {"type": "pylate.models.Dense.Dense", "path": "1_Dense"}
POOLING = {"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"}
LOGITS = {"type": "sentence_transformers.cross_encoder.modules.logit_score.LogitScore"}
LOGITS |= {"path": "1_LogitScore"}


def described(path: Path, architecture: str, *modules: dict[str, str], out: int = 96) -> hub.HubFolder:
    """A folder whose JSON files say so; no weights."""
    path.mkdir(exist_ok=True)
    (path / "config.json").write_text(json.dumps({"architectures": [architecture]}))
    if modules:
        body = {"type": "sentence_transformers.models.Transformer", "path": ""}
        (path / "modules.json").write_text(json.dumps([body, *modules]))
        for module in modules:
            (path / module["path"]).mkdir(exist_ok=True)
            (path / module["path"] / "config.json").write_text(json.dumps({"out_features": out}))
    return hub.described(path, "acme/x")


@pytest.mark.parametrize(
    ("role", "architecture", "modules", "why", "instead"),
    [
        ("crossencoder", "BertModel", (), "no classification head (BertModel): its scores would be", "ettin"),
        ("crossencoder", "BertForMaskedLM", (), "no classification head", "ettin"),
        ("crossencoder", "Qwen2ForCausalLM", (), "is a language model (Qwen2ForCausalLM)", "mxbai-rerank"),
        ("crossencoder", "Qwen3Model", (LOGITS,), "is a language model", "ettin"),
        ("crossencoder", "BertModel", (POOLING,), "no classification head", "ettin"),
        ("crossencoder", "HF_ColBERT", (), "gives vectors", "--colbert acme/x"),
        ("crossencoder", "ModernBertModel", (DENSE,), "gives vectors", "--colbert acme/x"),
        ("colbert", "BertModel", (), "no projection behind its BertModel: its vectors", "edge-colbert"),
        ("colbert", "Qwen2ForCausalLM", (), "is a language model", "edge-colbert"),
        ("colbert", "BertModel", (POOLING, DENSE), "one vector a text", "edge-colbert"),
        ("colbert", "BertForSequenceClassification", (), "is a cross-encoder", "--crossencoder acme/x"),
    ],
)
def test_what_would_rank_by_chance_is_refused_by_name(tmp_path, role, architecture, modules, why, instead):
    model = described(tmp_path / "x", architecture, *modules)
    with pytest.raises(ModelError) as caught:
        hub.check(role, model)
    assert caught.value.message.startswith("acme/x ")
    assert why in caught.value.message
    assert instead in caught.value.hint
    assert caught.value.kind == "model_unfit"


def test_the_role_of_a_model_is_in_its_files(tmp_path):
    assert hub.role(described(tmp_path / "a", "BertForSequenceClassification")) == "crossencoder"
    assert hub.role(described(tmp_path / "b", "ModernBertModel", POOLING, DENSE, out=1)) == "crossencoder"
    assert hub.role(described(tmp_path / "c", "ModernBertModel", DENSE)) == "colbert"
    assert hub.role(described(tmp_path / "d", "HF_ColBERT")) == "colbert"
    with pytest.raises(ModelError, match="no classification head"):
        hub.role(described(tmp_path / "e", "BertModel"))


def test_a_prompt_that_would_be_left_out_and_a_strange_module_are_refused(tmp_path):
    model = described(tmp_path / "x", "BertForSequenceClassification")
    with pytest.raises(ModelError, match="a prompt before each text"):
        hub.check("crossencoder", replace(model, library={"default_prompt_name": "query"}))
    normalise = {"type": "sentence_transformers.models.Normalize", "path": "1_Normalize"}
    model = described(tmp_path / "y", "BertModel", normalise, DENSE | {"path": "2"}, out=1)
    with pytest.raises(ModelError, match="does not know: Normalize"):
        hub.check("crossencoder", model)
    described(tmp_path / "z", "Qwen3ForCausalLM", LOGITS)
    vetting.check(tmp_path / "z")  # of a vetted kind: it is refused for the right reason


def test_lengths_have_pylate_s_defaults(tmp_path):
    model = described(tmp_path / "x", "BertModel", DENSE)
    assert hub.lengths(model) == hub.Lengths()
    said = {"query_length": None, "document_length": 300, "query_prefix": "", "prompts": {}}
    assert hub.lengths(replace(model, library=said)) == hub.Lengths(document_length=300, query_prefix="")
    stanford = described(tmp_path / "y", "HF_ColBERT")
    assert hub.lengths(stanford) == hub.Lengths(query_prefix="[unused0]", document_prefix="[unused1]")


# What `python -m tests.rank.hub_models FOLDER ettin` printed with sentence-transformers 6.2.0 and
# transformers 5.23.0, and `... edge` with PyLate 1.6.0 and transformers 5.3.0, which can read such models.
REFERENCES = {
    "ettin": [0.0401208, 0.7127361, 0.9052866, 0.143576, -0.9646584],
    "edge": [21.238121, 14.3343658, 7.9711103, 20.391283, 19.8528709],
    "filled": [33.2783203, 29.2577171, 11.1380558, 36.2769585, 30.8381996],
}


@pytest.fixture
def tiny():
    """Imported late, for it brings torch."""
    from tests.rank import hub_models

    return hub_models


@pytest.fixture
def crossed(tiny):
    return lambda path: HubCrossEncoder(path, 1).logits(tiny.QUESTION, tiny.TEXTS).tolist()


@pytest.fixture
def colberted(tiny):
    return lambda path: HubColbert(path, 1)(tiny.QUESTION, tiny.TEXTS).tolist()


def near(scores: list[float]) -> object:
    return pytest.approx(scores, abs=1e-5, rel=0)


@pytest.mark.torch
class TestAsItsOwnLibrary:
    @pytest.mark.parametrize("kind", ["Bert", "ModernBert", "DebertaV2"])
    @pytest.mark.parametrize("longest", [24, 90])
    def test_cross_encoders(self, tmp_path, tiny, crossed, kind, longest):
        path = tiny.encoder(tmp_path / "x", kind, "ForSequenceClassification", longest=longest)
        theirs = tiny.predicted(path)
        assert len({round(score, 3) for score in theirs}) > 3
        assert crossed(path) == near(theirs)

    @pytest.mark.parametrize(
        "metadata", [{}, {"attend_to_mask_tokens": True, "query_maxlen": 40, "doc_maxlen": 90}]
    )
    def test_colberts_of_the_stanford_kind(self, tmp_path, tiny, colberted, metadata):
        path = tiny.stanford(tmp_path / "x", **metadata)
        assert colberted(path) == near(tiny.pylate_scores(path))

    @pytest.mark.parametrize(
        "settings",
        [
            {},
            {"attend_to_expansion_tokens": True, "query_length": 20, "document_length": 30},
            {"skiplist_words": ["."], "query_prefix": "[unused0]", "document_prefix": "[unused1]"},
        ],
    )
    def test_colberts_of_pylate_s_kind(self, tmp_path, tiny, colberted, settings):
        path = tiny.encoder(tmp_path / "x", "Bert", longest=96)
        dense = tiny.module(
            *(path, 1, "Dense", "pylate.models.Dense"),
            **{"in_features": 32, "out_features": 12, "bias": False},
            activation_function="torch.nn.modules.linear.Identity",
        )
        body = {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}
        tiny.written(path, "modules.json", [body, dense])
        tiny.written(path, "sentence_bert_config.json", {"max_seq_length": 96, "do_lower_case": False})
        said = {"query_prefix": "[Q] ", "document_prefix": "[D] "} | settings
        tiny.written(path, "config_sentence_transformers.json", said)
        assert colberted(path) == near(tiny.pylate_scores(path))

    def test_models_that_the_installed_libraries_misread(self, tmp_path, tiny, crossed, colberted):
        assert crossed(tiny.ettin(tmp_path / "ettin")) == near(REFERENCES["ettin"])
        assert colberted(tiny.edge(tmp_path / "edge")) == near(REFERENCES["edge"])
        filled = tiny.edge(tmp_path / "filled", do_query_expansion=True, attend_to_expansion_tokens=True)
        assert colberted(filled) == near(REFERENCES["filled"])

    def test_each_kind_that_the_guide_names_is_among_these(self):
        tried = {("BERT", "WordPiece"), ("ModernBERT", "BPE"), ("DeBERTa", "Unigram")}
        guide = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
        assert set(re.findall(r"\| (?:cross-encoder|ColBERT), (\w+), (\w+) \|", guide)) == tried


@pytest.mark.torch
class TestWhatTheFilesDoNotShow:
    def test_a_head_that_is_named_and_not_there(self, tmp_path, tiny):
        path = tiny.encoder(tmp_path / "x", "Bert")
        config = json.loads((path / "config.json").read_text())
        tiny.written(path, "config.json", config | {"architectures": ["BertForSequenceClassification"]})
        said = r"lacks 2 of its weights \(classifier.bias\): its scores"
        with pytest.raises(ModelError, match=said) as caught:
            HubCrossEncoder(path, 1, "acme/x")
        assert caught.value.message.startswith("acme/x ")

    def test_layers_that_are_not_there(self, tmp_path, tiny):
        path = tiny.stanford(tmp_path / "x")
        config = json.loads((path / "config.json").read_text())
        tiny.written(path, "config.json", config | {"num_hidden_layers": 5})
        with pytest.raises(ModelError, match="lacks 16 of its weights"):
            HubColbert(path, 1)

    def test_a_prefix_that_was_never_a_token(self, tmp_path, tiny):
        path = tiny.stanford(tmp_path / "x", query_token_id="[ASK]")
        with pytest.raises(ModelError, match=r"no token '\[ASK\]', which begins its texts"):
            HubColbert(path, 1)

    def test_settings_of_transformers_5_that_4_would_misread(self, tmp_path, tiny):
        import transformers

        if int(transformers.__version__.split(".")[0]) >= 5:
            pytest.skip("transformers 5 reads them itself")
        path = tiny.ettin(tmp_path / "x")
        config = json.loads((path / "config.json").read_text())
        tiny.written(path, "config.json", config | {"layer_types": ["full_attention"] * 4})
        with pytest.raises(ModelError, match=r"saved by transformers 5.23.0, whose settings"):
            HubCrossEncoder(path, 1)


@pytest.mark.torch
def test_two_models_load_one_after_the_other(tmp_path, monkeypatch):
    """transformers imports a type's code when it is first asked for, which two threads may not do at once."""
    import torch

    from smartsearch.rank.hub import network

    inside: list[str] = []
    most: list[int] = []

    class Slow:
        @classmethod
        def from_pretrained(cls, path, **_):
            inside.append(path)
            most.append(len(inside))
            time.sleep(0.05)
            inside.remove(path)
            return torch.nn.Identity(), {"missing_keys": []}

    monkeypatch.setattr(network.transformers, "AutoModel", Slow)
    for name in ("_configured", "_tokenizer"):
        monkeypatch.setattr(network, name, lambda _model: None)
    monkeypatch.setattr(network, "_turn_back", lambda _model, _config: None)
    models = [described(tmp_path / name, "BertModel") for name in "ab"]
    with ThreadPoolExecutor(2) as threads:
        assert len(list(threads.map(lambda model: network.loaded(model, "AutoModel"), models))) == 2
    assert most == [1, 1]
