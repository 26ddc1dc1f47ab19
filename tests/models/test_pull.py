"""`models pull ID` from a hub on localhost: sizes, revisions, what was begun, and what is refused."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from smartsearch.errors import ModelError, UsageError
from smartsearch.models import profiles, store
from smartsearch.models.store import ModelRef
from tests.models import hub_server
from tests.models.hub_server import Hub, serving
from tests.waiting import HANG, until

BIG = 40_000_000


def folder(path: Path, architecture: str, *, size: int = 2_500_000) -> Path:
    """A model with weights that nobody loads, and files that nobody fetches."""
    path.mkdir(parents=True)
    (path / "config.json").write_text(json.dumps({"architectures": [architecture]}))
    (path / "model.safetensors").write_bytes(os.urandom(1000) * (size // 1000))
    (path / "pytorch_model.bin").write_bytes(b"pickled" * 1000)
    return path


@pytest.fixture
def hub(tmp_path: Path):
    made = tmp_path / "made"
    models = {
        "acme/ranker": {
            "main": folder(made / "main", "BertForSequenceClassification"),
            "v1": folder(made / "v1", "BertForSequenceClassification", size=1_000_000),
        },
        "acme/colbert": {"main": folder(made / "colbert", "HF_ColBERT")},
        "acme/big": {"main": folder(made / "big", "HF_ColBERT", size=BIG)},
        "acme/writer": {"main": folder(made / "writer", "Qwen2ForCausalLM")},
        "acme/pickled": {"main": folder(made / "pickled", "BertForSequenceClassification")},
    }
    (made / "pickled" / "model.safetensors").unlink()
    with serving(Hub(models)) as served:
        yield served


def command(hub: Hub, tmp_path: Path, *arguments: str) -> tuple[list[str], dict[str, str]]:
    env = os.environ | {"HF_ENDPOINT": hub.address, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "0"}
    return [sys.executable, "-m", "smartsearch", *arguments], env


def run(hub: Hub, tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    line, env = command(hub, tmp_path, *arguments)
    return subprocess.run(line, env=env, capture_output=True, text=True, timeout=HANG)


@pytest.mark.torch
def test_a_ranker_is_pulled_by_its_id_and_only_once(hub: Hub, tmp_path: Path):
    ran = run(hub, tmp_path, "models", "pull", "acme/ranker", "--json")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    sha = hub_server.commit("main")
    assert f"acme/ranker at {sha}: 2 files, 2.5 MB" in ran.stderr
    (model,) = json.loads(ran.stdout)["models"]
    assert (model["role"], model["id"], model["revision"]) == ("crossencoder", "acme/ranker", sha)
    assert [name for name, _ in hub.asked] == ["config.json", "model.safetensors"]
    before = len(hub.asked)
    assert run(hub, tmp_path, "models", "pull", "acme/ranker").returncode == 0
    assert len(hub.asked) == before


@pytest.mark.torch
def test_a_revision_is_pulled_and_named_with_the_id(hub: Hub, tmp_path: Path):
    ran = run(hub, tmp_path, "models", "pull", "acme/ranker", "--revision", "v1", "--json")
    (model,) = json.loads(ran.stdout)["models"]
    assert (model["id"], model["revision"]) == ("acme/ranker@v1", hub_server.commit("v1"))
    (tmp_path / "chat.txt").write_text("Mara: the dog\n")
    for asked, said in (("acme/ranker@v1", "cannot be loaded"), ("acme/ranker", "is not on this machine")):
        ran = run(hub, tmp_path, "query", "dog", str(tmp_path / "chat.txt"), "--crossencoder", asked)
        assert said in ran.stderr
    assert "smartsearch models pull acme/ranker" in ran.stderr


@pytest.mark.torch
def test_a_killed_pull_is_gone_on_with(hub: Hub, tmp_path: Path):
    hub.stall_after = BIG // 2
    line, env = command(hub, tmp_path, "models", "pull", "acme/big")
    process = subprocess.Popen(line, env=env, stderr=subprocess.PIPE, text=True)
    try:
        assert hub.stalled.wait(HANG)
        kept = tmp_path / "hf" / "hub" / "models--acme--big" / "blobs"
        until(
            lambda: any(part.stat().st_size > BIG // 4 for part in kept.glob("*.incomplete")), "half is there"
        )
    finally:
        process.kill()
        process.communicate()
    missing = run(hub, tmp_path, "models", "path", "paper", "colbert")
    assert missing.returncode == 2
    hub.stall_after = 0
    assert run(hub, tmp_path, "models", "pull", "acme/big").returncode == 0
    starts = [start for name, start in hub.asked if name == "model.safetensors"]
    assert starts[0] == 0
    assert starts[-1] > BIG // 4


@pytest.mark.torch
@pytest.mark.parametrize(
    ("name", "kind", "said", "hint"),
    [
        ("acme/none", "model_unknown", "has no 'acme/none'", "cross-encoder/ettin-reranker-32m-v1"),
        ("private/x", "model_unknown", "has no 'private/x', or not for everybody", "HF_TOKEN"),
        ("acme/ranker@v9", "model_unknown", "has no acme/ranker at 'v9'", "--revision"),
        ("acme/..", "model_unknown", "has no 'acme/..'", "cross-encoder/ettin-reranker-32m-v1"),
        ("acme/writer", "model_unfit", "is a language model (Qwen2ForCausalLM)", "mxbai-rerank-large-v1"),
        ("acme/pickled", "model_unsafe", "has no .safetensors", "ID@REVISION"),
        ("ranker", "profile_unknown", "no profile named 'ranker'", "OWNER/NAME"),
    ],
)
def test_what_cannot_be_pulled_says_what_to_type(hub: Hub, tmp_path, name, kind, said, hint):
    ran = run(hub, tmp_path, "models", "pull", name, "--json")
    error = json.loads(ran.stdout)["error"]
    assert (ran.returncode, error["kind"], error["retryable"]) == (2, kind, False)
    assert said in error["message"]
    assert hint in error["hint"]
    assert "model.safetensors" not in [file for file, _ in hub.asked]


@pytest.mark.torch
def test_a_hub_that_is_away_is_worth_another_try(hub: Hub, tmp_path: Path):
    hub.address = "http://127.0.0.1:9"
    error = json.loads(run(hub, tmp_path, "models", "pull", "acme/ranker", "--json").stdout)["error"]
    assert (error["kind"], error["retryable"]) == ("model_fetch", True)


def test_a_name_as_it_is_typed():
    assert ModelRef.typed("acme/x@v1") == ModelRef("acme/x", "v1", given=True)
    assert ModelRef.typed("acme/x").asked == "acme/x"
    assert ModelRef.typed("acme/x@v1").asked == "acme/x@v1"
    assert ModelRef.typed("./a@b/c") == ModelRef("./a@b/c", given=True)
    assert [ModelRef.typed(name).on_hub for name in ("acme/x", "x", "./a/x", "~/a/x")] == [True, *[False] * 3]


def test_a_snapshot_is_known_by_its_commit_whatever_the_branch_was(tmp_path: Path):
    place = tmp_path / "models--acme--x" / "snapshots" / ("a" * 40)
    place.mkdir(parents=True)
    for ref in (ModelRef.typed("acme/x"), ModelRef.typed("acme/x@main")):
        assert store.info("colbert", ref, place).revision == "a" * 40
        assert "a" * 40 in store.fingerprint("colbert", ref, place)


def test_a_profile_has_no_revision_and_a_missing_model_says_what_to_type():
    with pytest.raises(UsageError, match="--revision is for a model"):
        profiles.pull("paper", print, "v1")
    error = profiles.missing("crossencoder", ModelRef.typed("acme/x@v1"))
    assert isinstance(error, ModelError)
    assert error.hint.startswith("smartsearch models pull acme/x@v1,")


@pytest.mark.torch
def test_the_papers_models_are_pulled_by_one_command_and_asked_by_another(hub: Hub, tmp_path, monkeypatch):
    """Tiny ones of their architectures, under their ids and revisions."""
    import spacy

    from tests.rank import hub_models

    made = {
        "crossencoder": hub_models.encoder(tmp_path / "ce", "DebertaV2", "ForSequenceClassification"),
        "colbert": hub_models.stanford(tmp_path / "cb"),
    }
    paper = profiles.PROFILES["paper"]
    hub.models |= {paper[role].name: {paper[role].revision: folder} for role, folder in made.items()}
    english = spacy.blank("en")
    english.add_pipe("morphologizer").add_label("POS=NOUN")
    english.add_pipe("entity_ruler")
    english.initialize()
    package = tmp_path / "packages" / paper["parser"].name
    package.mkdir(parents=True)
    english.to_disk(package / f"{package.name}-3.8.0")
    (package / "__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(package.parent), *sys.path]))
    chat = tmp_path / "chat.txt"
    chat.write_text("Mara: the dog came\nIlya: rain\nMara: a flute\n")
    asked = ("query", "--as", "paper", "dog", str(chat), "--json", "--no-cache")
    assert "smartsearch models pull paper" in run(hub, tmp_path, *asked).stdout
    ran = run(hub, tmp_path, "models", "pull", "paper")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    ran = run(hub, tmp_path, *asked)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    answer = json.loads(ran.stdout)
    used = {model["role"]: (model["id"], model["revision"]) for model in answer["models"]}
    assert {role: (paper[role].name, paper[role].revision) for role in made}.items() <= used.items()
    assert (answer["profile"], answer["candidates"], answer["warnings"]) == ("paper", 3, [])
    assert {"ce", "colbert", "rrf"} <= {name for name, score in answer["hits"][0]["scores"].items() if score}


@pytest.mark.torch
def test_a_language_model_is_pulled_for_qrranker(hub: Hub, tmp_path: Path):
    ran = run(hub, tmp_path, "qrranker", "pull", "acme/writer", "--json")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (row,) = json.loads(ran.stdout)["models"]
    assert (row["role"], row["id"]) == ("qrranker", "acme/writer")
    assert not list((tmp_path / "hf").rglob("*.bin"))
