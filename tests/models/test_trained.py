"""The user's own profiles: found by name and path, listed, checked, and put in place whole."""

import hashlib
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from smartsearch.config import Config
from smartsearch.errors import ModelError, UsageError
from smartsearch.models import loading, profiles, trained
from tests.conftest import haystack, search
from tests.rank import tiny


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "smartsearch" / "profiles"


def profile(folder: Path) -> Path:
    """A profile of two models whose arithmetic can be done by hand, with the hashes of their files."""
    for role in ("crossencoder", "colbert"):
        config = tiny.onnx_folder(folder / role, role) / "config.json"
        model = hashlib.sha256((folder / role / "model.onnx").read_bytes()).hexdigest()
        config.write_text(json.dumps({**json.loads(config.read_text()), "sha256": {"model.onnx": model}}))
    (folder / "profile.json").write_text("{}")
    return folder


def test_a_profile_is_found_by_name_and_by_path(home: Path, tmp_path: Path) -> None:
    profile(home / "mine")
    elsewhere = profile(tmp_path / "elsewhere")
    assert trained.find("mine") == home / "mine"
    assert trained.find(str(elsewhere)) == elsewhere
    assert profiles.names()[-1] == "mine"


@pytest.mark.parametrize("name", ["planted", "acme/mine"])
def test_a_name_is_no_path_unless_it_is_written_as_one(tmp_path: Path, monkeypatch, name: str) -> None:
    profile(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    assert trained.find(name) is None
    assert trained.find(f"./{name}") == trained.find(str(tmp_path / name)) == tmp_path / name


def test_half_a_profile_is_none(home: Path) -> None:
    (home / "half" / "crossencoder").mkdir(parents=True)
    assert trained.names() == []
    with pytest.raises(ModelError, match="no profile named 'half'") as caught:
        loading.load_tools(Config(profile="half"))
    assert (caught.value.kind, "embedded" in caught.value.hint) == ("profile_unknown", True)


def test_search_runs_with_it_and_says_what_ran(home: Path, monkeypatch: pytest.MonkeyPatch, nlp) -> None:
    monkeypatch.setattr("smartsearch.text.parse.load", lambda name: nlp)
    folder = profile(home / "mine")
    config = Config(profile="mine")
    tools = loading.load_tools(config)
    result = search("Where is the dog?", haystack("Mara: dog", "Ilya: rain"), config, tools)
    assert result.profile == "mine"
    model = hashlib.sha256((folder / "colbert" / "model.onnx").read_bytes()).hexdigest()
    ran = {m.role: m.revision for m in result.trace.models}
    assert ran["colbert"] == f"file-{model[:12]}"


def test_a_changed_file_and_a_missing_ranker_are_found(home: Path) -> None:
    folder = profile(home / "mine")
    assert {s.state for s in profiles.status("mine", deep=True)} == {"ok"}
    with (folder / "crossencoder" / "model.onnx").open("ab") as file:
        file.write(b"!")
    assert {s.role: s.state for s in profiles.status("mine", deep=True)}["crossencoder"] == "damaged"
    for path in (folder / "colbert").iterdir():
        path.unlink()
    (folder / "colbert").rmdir()
    assert {s.role: s.state for s in profiles.status("mine")}["colbert"] == "missing"
    with pytest.raises(ModelError, match="not on this machine"):
        profiles.pull("mine", print)


def test_a_finished_profile_takes_the_place_of_the_earlier_one(home: Path) -> None:
    profile(home / "mine")
    with trained.workshop() as work:
        (work / "new").mkdir()
        (work / "new" / "weights").write_text("new")
        trained.install(work / "new", trained.place("mine", overwrite=True), {"made": "today"})
    assert sorted(path.name for path in (home / "mine").iterdir()) == ["profile.json", "weights"]
    assert json.loads((home / "mine" / "profile.json").read_text()) == {"made": "today"}
    assert [path.name for path in home.iterdir()] == ["mine"]


def test_where_it_cannot_be_put_the_earlier_one_comes_back(home: Path, monkeypatch) -> None:
    profile(home / "mine")
    rename = Path.rename

    def fails(path: Path, target: Path) -> Path:
        if path.name == "new":
            raise KeyboardInterrupt
        return rename(path, target)

    with trained.workshop() as work:
        (work / "new").mkdir()
        monkeypatch.setattr(Path, "rename", fails)
        with pytest.raises(KeyboardInterrupt):
            trained.install(work / "new", trained.place("mine", overwrite=True), {})
    assert trained.find("mine") is not None
    assert (home / "mine" / "crossencoder" / "model.onnx").is_file()


def test_a_profile_that_is_there_stays_unless_it_is_given_up(home: Path) -> None:
    profile(home / "mine")
    with pytest.raises(UsageError, match="the profile 'mine' is there already") as caught:
        trained.place("mine")
    assert caught.value.hint == "another --name, or --overwrite"
    assert trained.place("other").path == home / "other"


def test_a_home_that_is_closed_to_this_user_has_no_profiles(home: Path, monkeypatch) -> None:
    def closed(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    profile(home / "mine")
    monkeypatch.setattr(Path, "is_file", closed)
    assert trained.find("mine") is None
    monkeypatch.setattr(Path, "iterdir", closed)
    assert trained.names() == []


KILLED = """
import os, signal
from pathlib import Path
from smartsearch.models import trained
rename = Path.rename
def dies(path, target):
    if path.name == "new":
        os.kill(os.getpid(), signal.SIGKILL)
    return rename(path, target)
Path.rename = dies
with trained.workshop() as work:
    (work / "new").mkdir()
    trained.install(work / "new", trained.place("mine", overwrite=True), {})
"""


@pytest.mark.parametrize("asked", ["find", "names", "install"])
def test_a_process_that_is_killed_between_the_two_loses_no_profile(home: Path, asked: str) -> None:
    profile(home / "mine")
    ran = subprocess.run([sys.executable, "-c", KILLED], cwd=Path(__file__).parents[2], check=False)
    assert ran.returncode == -signal.SIGKILL
    assert not (home / "mine").exists()
    if asked == "names":
        assert trained.names() == ["mine"]
    elif asked == "install":
        with trained.workshop() as work:
            (work / "new").mkdir()
            trained.install(work / "new", trained.place("mine", overwrite=True), {"made": "today"})
    assert trained.find("mine") == home / "mine"
    assert (home / "mine" / "crossencoder").is_dir() is (asked != "install")
    assert not list(home.glob(".mine*"))


@pytest.mark.parametrize("name", ["../mine", "", ".hidden", "a/b", "x" * 65])
def test_a_name_that_leads_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="no name for a profile"):
        trained.target(name)


def test_the_fusion_belongs_to_the_shipped_rankers_and_those_adapted_from_them():
    assert loading._fitted(Config(), "weights")
    assert loading._fitted(Config(profile="mine"), "weights") == loading._fitted(Config(), "weights")
    assert loading._fitted(Config(profile="paper"), "weights") == {}
    assert loading._fitted(Config(profile="mine", crossencoder="some/model"), "weights") == {}
    assert loading._fitted(Config(colbert="some/model"), "weights") == {}


@pytest.mark.parametrize("content", [b"", b"PK not a zip", b"\x93NUMPY"])
def test_a_damaged_set_encoder_is_told(tmp_path: Path, monkeypatch, content: bytes) -> None:
    file = tmp_path / "set_encoder.npz"
    file.write_bytes(content)
    monkeypatch.setattr(loading.manifest, "SET_ENCODER", file)
    with pytest.raises(ModelError, match=r"set encoder .* is damaged"):
        loading._fusion(Config())
    assert loading._fusion(Config(profile="paper")) is None
