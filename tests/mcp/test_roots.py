"""What an agent may name, and what it is told that it may not."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartsearch.errors import InputError
from smartsearch.serve.mcp.roots import Location, Roots
from smartsearch.transcripts.files import Selection, find
from smartsearch.transcripts.opening import confined
from tests.transcripts.build import zipped


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`chats` is served, `secret.txt` lies beside it, and links lead out of it."""
    chats = tmp_path / "chats"
    (chats / "old").mkdir(parents=True)
    (chats / ".hidden").mkdir()
    for name in ("a.txt", "old/b.jsonl", ".hidden/c.txt", "d.png", "../secret.txt", "../chats2.txt"):
        (chats / name).write_text("Ann: hi\n")
    (chats / "out.txt").symlink_to(tmp_path / "secret.txt")
    (chats / "up").symlink_to(tmp_path)
    (chats / "in.txt").symlink_to(chats / "a.txt")
    zipped(chats / "export.zip", {"inner.txt": "Ann: hi\n"})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_names_are_relative_to_the_one_root_and_lead_back(home: Path):
    roots = Roots(["chats"])
    for name in (".", "a.txt", "old", "old/b.jsonl", "export.zip", "export.zip/inner.txt"):
        real = roots.resolve(name)
        assert real == str(home / "chats" / name) or name == "."
        assert roots.shown(real) == name


@pytest.mark.parametrize(
    "name", ["a.txt", "./a.txt", "old/../a.txt", "in.txt", "{home}/chats/a.txt", "up/chats/a.txt"]
)
def test_whatever_leads_to_a_served_file_is_that_file(home: Path, name: str):
    assert Roots(["chats"]).resolve(name.format(home=home)) == str(home / "chats" / "a.txt")


@pytest.mark.parametrize(
    "name",
    [
        "..",
        "../secret.txt",
        "../nowhere",
        "out.txt",
        "up",
        "up/secret.txt",
        "/",
        "/etc/passwd",
        "~/",
        "old/../../secret.txt",
        "export.zip/../../secret.txt",
        "a\0b",
        "{home}",
        "{home}/secret.txt",
        "{home}/chats2.txt",
    ],
)
def test_what_lies_elsewhere_is_refused_by_name(home: Path, name: str):
    with pytest.raises(InputError) as caught:
        Roots(["chats"]).resolve(name.format(home=home))
    assert caught.value.kind == "outside_roots"
    with pytest.raises(InputError, match="served"):
        Roots(["chats"]).place(f"{name.format(home=home)}:1")


@pytest.mark.parametrize(
    "name", [".hidden", ".hidden/c.txt", "d.png", "private.txt", "old/private.txt", "shut/a.txt"]
)
def test_what_a_search_leaves_out_cannot_be_named_either(home: Path, name: str):
    for file in ("private.txt", "old/private.txt"):
        (home / "chats" / file).write_text("Ann: hi\n")
    (home / "chats" / "shut").mkdir()
    (home / "chats" / "shut" / "a.txt").write_text("Ann: hi\n")
    with pytest.raises(InputError) as caught:
        Roots(["chats"], Selection(excludes=("priv*", "shut/"))).resolve(name)
    assert caught.value.kind == "not_served"


def test_a_root_is_served_whatever_it_is_called(home: Path):
    hidden = str(home / "chats" / ".hidden")
    assert Roots([hidden]).resolve("c.txt") == f"{hidden}/c.txt"
    picture = str(home / "chats" / "d.png")
    assert Roots([picture]).resolve("d.png") == picture
    assert Roots([picture]).shown(picture) == "d.png"
    with pytest.raises(InputError):
        Roots([picture]).resolve("a.txt")
    with pytest.raises(InputError) as caught:
        Roots(["chats", "chatz"])
    assert caught.value.kind == "path_not_found"


def test_several_roots_go_by_their_names_and_twins_by_their_paths(home: Path):
    roots = Roots(["chats/old", "secret.txt"])
    assert [roots.shown(path) for path in roots.paths] == ["old", "secret.txt"]
    assert roots.shown(roots.resolve("old/b.jsonl")) == "old/b.jsonl"
    assert roots.resolve("b.jsonl") == roots.resolve("old/b.jsonl")
    (home / "old").mkdir()
    twins = Roots(["chats/old", "old"])
    assert [twins.shown(path) for path in twins.paths] == [str(home / "chats" / "old"), str(home / "old")]


def test_links_that_lead_out_are_passed_by(home: Path):
    for name in ("far.zip", "notes.dat", "out2.txt"):
        (home / "chats" / name).symlink_to(home / name.replace("out2", "secret"))
    zipped(home / "far.zip", {"inner.txt": "Ann: hi\n"})
    (home / "notes.dat").write_text("Ann: hi\n")
    chats = str(home / "chats")
    for globs in ((), ("*.txt", "*.dat", "*.zip")):
        with confined([chats]):
            found = [path for path in find([chats], Selection(globs)) if isinstance(path, str)]
        assert not [path for path in found if not os.path.realpath(path).startswith(f"{chats}/")]
        assert f"{chats}/a.txt" in found


def test_a_place_is_a_line_or_a_pointer(home: Path):
    roots = Roots(["chats"])
    assert roots.place("a.txt:12") == Location(str(home / "chats/a.txt"), 12)
    assert roots.place("old/b.jsonl#/0/text") == Location(str(home / "chats/old/b.jsonl"), 0, "/0/text")
    for text in ("a.txt", "a.txt:", "a.txt:x", f"a.txt:{10**18}", "", ":", "#/", "old:1", "export.zip:1"):
        with pytest.raises(InputError) as caught:
            roots.place(text)
        assert caught.value.kind in ("no_place", "outside_roots")


def test_messages_show_paths_as_agents_see_them(home: Path):
    said = f"{home}/chats/a.txt: broken; {home}/chats is full; {home}/chats2.txt"
    assert Roots(["chats"]).shortened(said) == f"a.txt: broken; the root is full; {home}/chats2.txt"
    assert Roots(["chats", "secret.txt"]).shortened(said).startswith("chats/a.txt: broken; chats is full")
    assert Roots(["/"]).shortened("/a b/c") == "/a b/c"


NAMED = ["..", ".", "a.txt", "old", "up", "out.txt", "~", "", "\0", ":", "#/", "export.zip", "chats"]
PARTS = st.sampled_from(NAMED)


@given(st.lists(PARTS | st.text(max_size=4), max_size=6), st.booleans())
def test_no_name_leads_out(home: Path, parts: list[str], absolute: bool):
    name = "/".join([str(home), *parts] if absolute else parts)
    for resolve in (Roots(["chats"]).resolve, lambda n: Roots(["chats"]).place(n).path):
        try:
            real = resolve(name)
        except InputError:
            continue
        assert Path(real).resolve().is_relative_to(home / "chats")
