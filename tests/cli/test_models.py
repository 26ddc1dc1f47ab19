import json

import pytest

from smartsearch.errors import ModelError
from smartsearch.models import profiles
from smartsearch.models.profiles import ModelStatus
from tests.cli.conftest import Run


def status(profile: str, role: str, state: str) -> ModelStatus:
    return ModelStatus(profile, role, f"{profile}-{role}", "abc123", "int8", "/models", 1234, state)


@pytest.fixture(autouse=True)
def two_profiles(monkeypatch: pytest.MonkeyPatch):
    found = {
        "embedded": [status("embedded", "parser", "ok")],
        "paper": [status("paper", "colbert", "missing")],
    }
    monkeypatch.setattr(profiles, "PROFILES", found)
    monkeypatch.setattr(profiles, "status", lambda profile, deep=False: found[profile])
    monkeypatch.setattr(profiles, "pull", lambda name, tell, revision: found[name])


def test_models_are_listed_as_columns_and_as_json(run: Run):
    lines = run("models", "list").out.splitlines()
    assert " ".join(lines[0].split()) == "profile role id revision precision path bytes state"
    assert " ".join(lines[1].split()) == "embedded parser embedded-parser abc123 int8 /models 1234 ok"
    record = run("models", "list", "paper", "--json").record
    assert record["schema_version"] == 1
    assert [m["state"] for m in record["models"]] == ["missing"]


def test_verify_minds_a_damaged_model_and_a_missing_one_of_a_named_profile(run: Run, monkeypatch):
    assert run("models", "verify").code == 0
    ran = run("models", "verify", "paper")
    assert (ran.code, "paper-colbert" in ran.out) == (2, True)
    assert "smartsearch models pull paper" in ran.err
    monkeypatch.setattr(profiles, "status", lambda name, deep: [status(name, "parser", "damaged")])
    ran = run("models", "verify", "--json")
    assert (ran.code, json.loads(ran.out)["error"]["kind"]) == (2, "model_damaged")


def test_pull_and_path(run: Run, monkeypatch: pytest.MonkeyPatch):
    assert "paper-colbert" in run("models", "pull", "paper").out
    monkeypatch.setattr(profiles, "path", lambda profile, role: f"/models/{profile}/{role}")
    assert run("models", "path", "embedded", "parser").out == "/models/embedded/parser\n"

    def unreachable(name: str, tell: object, revision: str):
        raise ModelError("no hub", kind="model_fetch", retryable=True)

    monkeypatch.setattr(profiles, "pull", unreachable)
    error = run("models", "pull", "paper", "--json").record["error"]
    assert (error["kind"], error["retryable"]) == ("model_fetch", True)
