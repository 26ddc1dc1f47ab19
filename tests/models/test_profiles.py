"""Profiles: which models, what is missing and how to get it, hashes, and a full load from folders."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from smartsearch.config import RANKERS, Config, build
from smartsearch.errors import ModelError, SmartsearchError
from smartsearch.models import loading, manifest, profiles, store
from smartsearch.output import record
from smartsearch.rank.cache.vector_store import usage
from smartsearch.rank.crossencoder import uncalibrated
from smartsearch.rank.scorer import Late, Scorer
from smartsearch.rank.text import SHOWN
from smartsearch.rank.windows import scored_windows
from smartsearch.runtime import ending, extras
from smartsearch.settings import Reads
from tests.conftest import haystack, search
from tests.rank import tiny


@pytest.fixture
def no_hub(tmp_path, monkeypatch):
    """An empty hub cache and no network; that its packages are there is taken for granted."""
    monkeypatch.setitem(extras.EXTRAS, "hub", ())
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


@pytest.fixture
def parsed(monkeypatch, nlp):
    """The parser of conftest in the place of the profile's."""
    monkeypatch.setattr("smartsearch.text.parse.load", lambda name: nlp)


def test_overrides_replace_one_model_of_a_profile():
    profile = profiles.profile_of(Config(crossencoder="some/model"))
    assert profile["crossencoder"].name == "some/model"
    assert profile["colbert"].name == "shipped:colbert"


def test_hub_models_are_pinned():
    for ref in (profiles.PROFILES["paper"]["crossencoder"], profiles.PROFILES["paper"]["colbert"]):
        assert len(ref.revision) == 40


def test_a_missing_hub_model_names_the_command_that_gets_it(no_hub):
    states = {s.role: s.state for s in profiles.status("paper")}
    assert states["crossencoder"] == states["colbert"] == "missing"
    with pytest.raises(ModelError) as caught:
        profiles.path("paper", "crossencoder")
    assert "smartsearch models pull paper" in caught.value.hint


def test_a_pull_without_the_hub_is_an_error_worth_retrying(no_hub, monkeypatch):
    monkeypatch.setattr(store, "_package", lambda name: Path("here"))
    with pytest.raises(ModelError) as caught:
        profiles.pull("paper", print)
    assert caught.value.retryable
    assert caught.value.kind == "model_fetch"


def test_a_profile_without_a_cross_encoder_cannot_rank_by_it(no_hub, monkeypatch):
    monkeypatch.setitem(profiles.PROFILES, "bare", {"parser": store.ModelRef("x")})
    with pytest.raises(ModelError, match="no crossencoder"):
        loading.load_tools(Config(profile="bare"))


def test_a_model_that_is_missing_is_an_error_at_once(no_hub):
    with pytest.raises(ModelError, match="nobody/nothing") as caught:
        loading.load_tools(Config(crossencoder="nobody/nothing"))
    assert caught.value.kind == "model_missing"
    with pytest.raises(ModelError, match="no_such_pipeline"):
        loading.load_tools(Config(parser="no_such_pipeline"))


@pytest.mark.parametrize("given", [{"profile": "paper"}, {"crossencoder": "a/b"}, {"colbert": "a/b"}])
def test_without_what_runs_them_a_model_of_the_hub_names_the_extra(given, monkeypatch):
    monkeypatch.setitem(extras.EXTRAS, "hub", ("no_such_package",))
    with pytest.raises(SmartsearchError, match="not installed: no_such_package") as caught:
        loading.load_tools(Config(**given))
    assert (caught.value.kind, caught.value.hint) == ("package", extras.command("hub"))


def test_what_could_not_run_is_not_pulled(monkeypatch):
    monkeypatch.setitem(extras.EXTRAS, "hub", ("no_such_package",))
    with pytest.raises(SmartsearchError, match="profile paper needs packages that are not installed"):
        profiles.pull("paper", print)


def test_a_folder_of_the_current_one_never_stands_in_for_a_profiles_model(no_hub, tmp_path, monkeypatch):
    planted = tmp_path / "mixedbread-ai" / "mxbai-rerank-large-v1"
    planted.mkdir(parents=True)
    (planted / "config.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    assert {s.role: s.state for s in profiles.status("paper")}["crossencoder"] == "missing"
    assert store.locate("crossencoder", store.ModelRef(str(planted), given=True)) == planted


@pytest.mark.torch
@pytest.mark.parametrize("torn", [False, True])
def test_a_folder_that_is_no_model_or_a_torn_one_is_told(tmp_path, parsed, torn):
    if torn:
        folder = tiny.cross_encoder(tmp_path / "ce")
        (folder / "model.safetensors").write_bytes(b"torn")
    else:
        (folder := tmp_path / "none").mkdir()
        (folder / "notes.txt").write_text("no model")
    tools = loading.load_tools(Config(crossencoder=str(folder), rank=("ce",)))
    with pytest.raises(ModelError, match="cannot be loaded as a crossencoder") as caught:
        tools.scorers["ce"]("q", ["t"])
    assert caught.value.kind == "model_unfit"


@pytest.mark.parametrize(
    ("role", "why"), [("crossencoder", "no classification head"), ("colbert", "no projection")]
)
def test_a_search_by_a_model_that_was_not_trained_to_rank_ends(tmp_path, monkeypatch, parsed, role, why):
    monkeypatch.setitem(extras.EXTRAS, "hub", ())  # told without torch too
    (tmp_path / "config.json").write_text('{"architectures": ["BertModel"]}')
    config = Config(**{role: str(tmp_path)})
    tools = loading.load_tools(config)
    with pytest.raises(ModelError, match=why) as caught:
        search("Where is the dog?", haystack("Mara: dog", "Ilya: rain"), config, tools)
    assert caught.value.message.startswith(str(tmp_path))


def test_a_limit_on_memory_that_is_too_low_is_told_before_anything_is_loaded(monkeypatch):
    monkeypatch.setattr("resource.getrlimit", lambda which: (600_000 * 1024, -1))
    with pytest.raises(ModelError, match=r"the limit on memory \(ulimit -v\) is 585 MiB") as caught:
        loading.load_tools(Config())
    assert (caught.value.kind, caught.value.hint[:10]) == ("memory", "ulimit -v ")


@pytest.mark.parametrize(("name", "role"), [("ce", "crossencoder"), ("colbert", "colbert")])
def test_a_loaded_ranker_tells_how_many_turns_before_it_sees_and_gets_them(tmp_path, parsed, name, role):
    ours = tiny.onnx_folder(tmp_path / name, role)
    config = json.loads((ours / "config.json").read_text())
    (ours / "config.json").write_text(json.dumps(config | {"before": 3}))
    scorer = loading.load_tools(Config(**{role: str(ours)})).scorers[name]
    corpus = haystack("Mara: rain", "Ilya: dog", "Mara: sun", "Ilya: tea").corpus
    read = scored_windows("dog", corpus, [3], scorer.seeing(SHOWN))
    assert read == [["Ilya: tea | Mara: sun | Ilya: dog | Mara: rain"]]


def test_a_loaded_ranker_tells_its_calibration(tmp_path, parsed):
    """What turns its scores back into the model's own: without it the paper's tau would be of a chance."""
    ours = tiny.onnx_folder(tmp_path / "ce", "crossencoder")
    asked = Config(crossencoder=str(ours), rank=("ce",))
    assert loading.load_tools(asked).scorers["ce"].calibration == (1.0, 0.0)
    config = json.loads((ours / "config.json").read_text())
    (ours / "config.json").write_text(json.dumps(config | {"calibration": [0.5, -2.0]}))
    ce = loading.load_tools(asked).scorers["ce"]
    own = 1 / (1 + np.exp([-2.0, 0.0]))
    assert uncalibrated(ce("dog", ["dog dog", "rain"]), ce.calibration) == pytest.approx(own)


@pytest.mark.torch
def test_folders_of_either_kind_load_as_rankers(tmp_path, parsed):
    ours = tiny.onnx_folder(tmp_path / "ce", "crossencoder")
    hub = tiny.colbert(tmp_path / "colbert")
    tools = loading.load_tools(Config(crossencoder=str(ours), colbert=str(hub)))
    assert tools.scorers["ce"]("q", ["dog"]).shape == (1,)
    assert tools.scorers["colbert"]("q", ["dog"]).shape == (1,)
    info = {m.role: (m.precision, m.revision[:6]) for m in tools.models.values()}
    assert info["crossencoder"] == ("int8", "files-")
    assert info["colbert"] == ("fp32", "files-")


def test_vectors_are_kept_on_disk_only_where_that_is_asked_for(tmp_path, monkeypatch, parsed):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    chosen = Config(colbert=str(tiny.onnx_folder(tmp_path / "colbert", "colbert")), rank=("colbert",))
    scores = []
    for config, cache, turns in (
        (chosen, False, 0),
        (replace(chosen, cache=False), True, 0),
        (replace(chosen, cache_size=0), True, 0),
        (chosen, True, 2),
        (chosen, True, 2),
    ):
        tools = loading.load_tools(config, cache=cache)
        scores.append(tools.scorers["colbert"]("q", ["dog", "rain"]).tolist())
        ending.finish()
        assert usage().turns == turns
        assert tools.notes() == []
    assert scores == scores[:1] * 5


def test_what_could_not_be_kept_is_in_the_answer(tmp_path, monkeypatch, parsed):
    monkeypatch.setattr("smartsearch.rank.cache.vector_store.FREE", 2**62)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    config = Config(colbert=str(tiny.onnx_folder(tmp_path / "colbert", "colbert")), rank=("colbert",))
    tools = loading.load_tools(config)
    result = search("Where is the dog?", haystack("Mara: dog", "Ilya: rain"), config, tools)
    assert [note for note in result.trace.degraded if "no room for ColBERT's vectors" in note]


def test_a_profile_without_colbert_searches_with_what_it_has(tmp_path, monkeypatch, parsed):
    ours = store.ModelRef(str(tiny.onnx_folder(tmp_path / "ce", "crossencoder")), given=True)
    parser = profiles.PROFILES["embedded"]["parser"]
    monkeypatch.setitem(profiles.PROFILES, "one", {"parser": parser, "crossencoder": ours})
    config = Config(profile="one", semantic="always", first="match")
    tools = loading.load_tools(config)
    result = search("Where is the dog?", haystack("Mara: dog", "Ilya: rain"), config, tools)
    assert [m.role for m in result.trace.models] == ["parser", "crossencoder"]
    assert result.hits[0].scores.ce is not None
    assert "no ColBERT" in result.trace.degraded[0]
    with pytest.raises(ModelError, match="no colbert"):
        loading.load_tools(Config(profile="one", rank=("colbert",)))


def test_the_other_ranker_is_refused(tmp_path, parsed):
    folder = tiny.onnx_folder(tmp_path / "colbert", "colbert")
    tools = loading.load_tools(Config(crossencoder=str(folder), rank=("ce",)))
    with pytest.raises(ModelError, match="holds a colbert"):
        tools.scorers["ce"]("q", ["t"])


def test_a_changed_byte_in_a_shipped_model_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(manifest, "SHIPPED", tmp_path)
    monkeypatch.setattr(manifest, "MANIFEST", tmp_path / "manifest.json")
    for name in manifest.FOLDERS:
        (tmp_path / name).mkdir()
        (tmp_path / name / "weights").write_bytes(b"12345")
    manifest.write()
    manifest.read.cache_clear()
    try:
        assert {s.state for s in profiles.status("embedded", deep=True)} == {"ok"}
        (tmp_path / "colbert" / "weights").write_bytes(b"12346")
        assert {s.role: s.state for s in profiles.status("embedded", deep=True)}["colbert"] == "damaged"
        assert {s.state for s in profiles.status("embedded")} == {"ok"}
        (tmp_path / "colbert" / "weights").unlink()
        assert {s.role: s.state for s in profiles.status("embedded")}["colbert"] == "missing"
    finally:
        manifest.read.cache_clear()


def test_a_third_scorer_is_a_row_and_its_loading(tmp_path, monkeypatch, parsed):
    """It loads when it is named, is fused by RRF with the two, and its score stands beside theirs."""
    folders = {role: str(tiny.onnx_folder(tmp_path / role, role)) for role in ("crossencoder", "colbert")}
    turns = haystack("Mara: dog", "Ilya: a dog in the rain", "Mara: the dog, the dog")
    loaded = []

    def load():
        loaded.append("third")
        return lambda question, texts: np.array([float(len(text)) for text in texts])

    def asked(**settings):
        config = build({"truncate": "none"} | settings | folders, env={}, folder=tmp_path, home=tmp_path)
        return search("Where is the dog?", turns, config, loading.load_tools(config))

    before = asked()
    monkeypatch.setitem(RANKERS, "third", Reads(weight=9.0, head=True))
    with pytest.raises(ModelError, match="no third"):
        asked(rank=("ce", "colbert", "third"))
    monkeypatch.setattr("tests.rank.tiny.third", lambda config: Scorer(Late(load)), raising=False)
    monkeypatch.setitem(RANKERS, "third", Reads(weight=9.0, head=True, loads="tests.rank.tiny:third"))
    plain = asked()
    assert [hit.scores for hit in plain.hits] == [hit.scores for hit in before.hits]
    assert not loaded
    for named in (("ce", "colbert", "third"), ("ce", "third"), ("third",), ("colbert", "third")):
        result = asked(rank=named)
        third = {hit.index: hit.scores.more["third"] for hit in result.hits}
        assert [hit.index for hit in result.hits] == sorted(third, key=third.__getitem__, reverse=True)
        first = result.hits[0].scores
        given = (first.ce is not None, first.colbert is not None, first.fused is not None)
        assert given == ("ce" in named, "colbert" in named, False)
        assert record.scores(first)["third"] == first.more["third"]
        assert "third" in result.trace.timing_ms
    assert len(loaded) == 4


def test_what_was_fitted_to_the_shipped_rankers_is_told_with_them(tmp_path: Path, monkeypatch):
    before = profiles.fingerprints(Config())["fusion"]
    other = tmp_path / "set_encoder.npz"
    other.write_bytes(b"trained again")
    monkeypatch.setattr(manifest, "SET_ENCODER", other)
    assert profiles.fingerprints(Config())["fusion"] != before
    assert "fusion" not in profiles.fingerprints(Config(crossencoder="./mine"))


def test_what_is_kept_knows_the_static_vectors_and_verify_hashes_them(tmp_path, monkeypatch):
    """Others choose other turns: scores kept before, and runs begun before, are of another model."""
    assert profiles.fingerprints(Config(first="match")).get("static") is None
    before = profiles.fingerprints(Config())["static"]
    assert [row.state for row in profiles.status("embedded", deep=True) if row.role == "static"] == ["ok"]
    folder = tmp_path / "static"
    shutil.copytree(manifest.STATIC.parent, folder)
    with (folder / manifest.STATIC.name).open("ab") as file:
        file.write(b"0")
    monkeypatch.setattr(manifest, "STATIC", folder / manifest.STATIC.name)
    assert profiles.fingerprints(Config())["static"] != before
