"""Remote transcripts on this disk: the reader's files, the user's names."""

import tempfile
from pathlib import Path

import pytest

pytest.importorskip("fsspec")
from smartsearch.ask.runs import staging as stagings
from smartsearch.ask.runs.faults import StorageError
from smartsearch.ask.runs.remote import Remote, storage
from smartsearch.ask.runs.staging import Staging
from smartsearch.errors import InputError
from smartsearch.transcripts.corpus import read
from smartsearch.types import Budget, Dropped, Hit, Result, Scores, Skipped, Trace

KEYS = b"Mara: where is the key?\nJon: under the pot\n"
BOAT = b"Jon: the boat leaves at nine\nMara: then we run\n"


@pytest.fixture(autouse=True)
def temporary_folder(tmp_path, monkeypatch):
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def place(tmp_path):
    return f"memory://{tmp_path.name}"


@pytest.fixture
def staging():
    return Staging()


def put(place: str, **files: bytes) -> None:
    for name, data in files.items():
        storage(place).write(name.replace("__", "/").replace("_", "."), data)


def test_a_folder_is_fetched_with_what_is_below(place, staging):
    put(f"{place}/chats", a_txt=KEYS, deep__b_txt=BOAT)
    *ours, local = staging.local(["chats/", "-", "./a.txt", f"{place}/chats"])
    assert ours == ["chats/", "-", "./a.txt"]
    assert Path(local).name == "chats"
    assert (Path(local) / "a.txt").read_bytes() == KEYS
    assert (Path(local) / "deep/b.txt").read_bytes() == BOAT
    put(f"{place}/chats", a_txt=BOAT)
    assert staging.local([f"{place}/chats", f"{place}/chats"]) == (local, local), "fetched once"
    assert (Path(local) / "a.txt").read_bytes() == KEYS


def test_results_name_the_uris(place, staging):
    put(f"{place}/chats", a_txt=KEYS, b_json=b"{")
    (local,) = staging.local([f"{place}/chats/"])
    corpus = read([local])
    key, pot = corpus.turns
    found = Result(
        "where is the key?",
        "en",
        (Hit(1, key, Scores(1.0), excerpt=pot),),
        Budget("score", 0, 0, 0, 0, 0, dropped=(Dropped(2, "tau", pot),), hidden=(Hit(3, pot, Scores(0.0)),)),
        Trace(),
        skipped=corpus.skipped,
        warnings=(f"{local}/a.txt: a word",),
    )
    told = staging.restored(found)
    uri = f"{place}/chats/a.txt"
    assert told.hits[0].turn.path == told.hits[0].shown.path == uri
    assert told.budget.dropped[0].turn.path == told.budget.hidden[0].turn.path == uri
    assert [skipped.path for skipped in told.skipped] == [f"{place}/chats/b.json"]
    assert told.warnings == (f"{uri}: a word",)
    assert tempfile.gettempdir() not in repr(told)
    assert told.hits[0].turn.text == key.text


def test_only_what_a_search_reads_is_fetched(place):
    put(place, a_txt=KEYS, b_json_gz=b"", film_mp4=b"0" * 100, c_zip=b"", _hidden__d_txt=BOAT, e_chat=BOAT)
    for globs, extra in (((), []), (("*.chat",), ["e.chat"])):
        staging = Staging(globs=globs)
        (local,) = staging.local([place])
        files = [path for path in Path(local).rglob("*") if path.is_file()]
        assert sorted(path.name for path in files) == ["a.txt", "b.json.gz", "c.zip", *extra]


def test_what_is_not_asked_for_goes_where_there_is_no_room(place):
    for name in "abc":
        put(f"{place}/{name}", x_txt=b"0" * 400)
    staging = Staging(limit=1000)
    a, b = staging.local([f"{place}/a", f"{place}/b"])
    (again, c) = staging.local([f"{place}/a", f"{place}/c"])
    assert again == a
    assert [Path(path).exists() for path in (a, b, c)] == [True, False, True]
    wanted = staging.local([f"{place}/{name}" for name in "abc"])  # all of them, whatever the limit
    assert all(Path(path).exists() for path in wanted)


class Hostile:
    """What a bucket may list and no disk can hold."""

    place = "s3://bucket/chats"

    def __init__(self, uri: str) -> None: ...

    def where(self, name: str = "") -> str:
        return f"s3://bucket/chats/{name}"

    def below(self) -> dict[str, int | None]:
        names = ("../../evil.txt", "a/../../../evil.txt", "/etc/evil.txt", "a//b.txt", "./c.txt")
        return dict.fromkeys((*names, "n" * 300 + ".txt", "x.txt", "x.txt/y.txt", "good.txt"), 4)

    def fetch(self, name: str, place: Path) -> int:
        assert name in ("good.txt", "x.txt/y.txt")
        return place.write_bytes(b"good")


def test_names_that_leave_the_folder_are_refused_and_reported(staging, monkeypatch, temporary_folder):
    monkeypatch.setattr(stagings, "Remote", Hostile)
    (local,) = staging.local(["s3://bucket/chats"])
    files = sorted(str(path.relative_to(local)) for path in Path(local).rglob("*") if path.is_file())
    assert files == ["good.txt", "x.txt/y.txt"]
    assert len([path for path in temporary_folder.rglob("*") if path.is_file()]) == 2
    told = staging.restored(Result("q", "en", (), Budget("", 0, 0, 0, 0, 0), Trace())).skipped
    assert {skipped.kind for skipped in told} == {"unsafe_name"}
    name, why = "s3://bucket/chats/../../evil.txt", "not fetched: its name leads out of the folder"
    assert Skipped(name, "unsafe_name", why) in told
    assert len(told) == 7


@pytest.mark.parametrize("uri", ["memory://a/..", "s3://bucket/chats/.."])
def test_a_uri_that_ends_in_dots_is_refused(uri, staging, monkeypatch):
    monkeypatch.setattr(stagings, "Remote", Hostile)
    with pytest.raises(InputError, match="its name leads out of the folder"):
        staging.local([uri])


def test_a_missing_place_and_a_copy_that_fails_half_way_leave_nothing(
    place, staging, monkeypatch, temporary_folder
):
    with pytest.raises(InputError, match="nowhere: no such file") as caught:
        staging.local([f"{place}/nowhere"])
    assert caught.value.kind == "path_not_found"
    put(place, a_txt=KEYS, b_txt=BOAT)
    whole = Remote.fetch

    def breaks(self, name, place):
        if name == "b.txt":
            raise InputError("the line went dead", kind="unreachable", retryable=True)
        return whole(self, name, place)

    monkeypatch.setattr(Remote, "fetch", breaks)
    with pytest.raises(InputError, match="the line went dead"):
        staging.local([place])
    assert [path for path in temporary_folder.rglob("*") if path.is_file()] == []
    monkeypatch.setattr(Remote, "fetch", whole)
    assert len(list(Path(staging.local([place])[0]).iterdir())) == 2


def test_a_file_that_comes_short_is_an_error_worth_another_try(place, staging, monkeypatch):
    put(place, a_txt=KEYS)
    monkeypatch.setattr(Remote, "below", lambda self: {"a.txt": len(KEYS) + 1})
    with pytest.raises(InputError, match="43 bytes came of 44") as caught:
        staging.local([place])
    assert caught.value.retryable


def test_a_full_disk_is_told_as_the_temporary_folder_s(place, staging, monkeypatch, tiny_disk):
    put(place, a_txt=b"x" * 400_000)
    monkeypatch.setattr(tempfile, "tempdir", str(tiny_disk))
    with pytest.raises(StorageError, match=r"\(TMPDIR\): no space left") as caught:
        staging.local([place])
    assert (caught.value.kind, list(tiny_disk.iterdir())) == ("disk_full", [])
