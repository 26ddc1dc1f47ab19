"""Archives and packed files: read in place, within limits, broken ones reported and survived."""

from __future__ import annotations

import gzip
import io
import sys
import tarfile
import warnings
import zipfile
from pathlib import Path

import pytest

from smartsearch.errors import InputError
from smartsearch.transcripts import archive, read
from smartsearch.transcripts.files import Selection, find
from smartsearch.transcripts.large.indexing import build
from tests.transcripts.build import lines, put, said, zipped

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CHAT = "Maya: the spare key is at Tarik's\nJonas: thanks\n"
MESSAGES = lines({"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"})


def test_members_are_files_of_the_archive_in_order_of_names(tmp_path):
    path = zipped(
        tmp_path / "export.zip",
        {
            "b/talk.txt": CHAT,
            "a.jsonl": MESSAGES,
            "photo.jpg": b"\xff\xd8",
            ".hidden.txt": CHAT,
            "__MACOSX/a.jsonl": b"x",
        },
    )
    read_back = read([str(path)])
    assert [turn.path for turn in read_back.turns[::2]] == [f"{path}/a.jsonl", f"{path}/b/talk.txt"]
    assert said(read_back)[2:] == [("Maya", "the spare key is at Tarik's"), ("Jonas", "thanks")]
    assert (read_back.skipped, read_back.warnings) == ((), ())
    assert {turn.conversation for turn in read_back.turns} == {"a", "talk"}


def tarred(path: Path, mode: str, files: dict[str, str]) -> Path:
    with tarfile.open(path, mode) as made:
        for inner, content in files.items():
            info = tarfile.TarInfo(inner)
            info.size = len(content)
            made.addfile(info, io.BytesIO(content.encode()))
    return path


@pytest.mark.parametrize(("name", "mode"), [("x.tar", "w"), ("x.tar.gz", "w:gz"), ("x.TGZ", "w:gz")])
def test_a_tar_archive_is_a_folder_too(tmp_path, name, mode):
    path = tarred(tmp_path / name, mode, {"b/talk.txt": CHAT, "a.jsonl": MESSAGES, "../out.txt": CHAT})
    read_back = read([str(path)])
    assert [turn.path for turn in read_back.turns[::2]] == [f"{path}/a.jsonl", f"{path}/b/talk.txt"]
    assert [(entry.kind, entry.path) for entry in read_back.skipped] == [
        ("unsafe_name", f"{path}/../out.txt")
    ]
    assert len(read([f"{path}/b/talk.txt"]).turns) == 2


def test_a_tar_archive_is_bounded_and_a_damaged_one_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "TAR", 1000)
    tarred(tmp_path / "x.tar.gz", "w:gz", {"talk.txt": "x" * 2000})
    (tmp_path / "y.tgz").write_bytes(b"no archive")
    (tmp_path / "a.txt").write_text(CHAT)
    kinds = {Path(entry.path).name: entry.kind for entry in read([str(tmp_path)]).skipped}
    assert kinds == {"x.tar.gz": "too_large", "y.tgz": "damaged_archive"}


def test_members_whose_names_begin_with_a_dot_and_a_slash_are_read(tmp_path):
    path = zipped(
        tmp_path / "export.zip", {"./chat.txt": CHAT, "./b/./talk.txt": CHAT, "./.hidden.txt": CHAT}
    )
    read_back = read([str(path)])
    assert [turn.path for turn in read_back.turns[::2]] == [f"{path}/b/./talk.txt", f"{path}/chat.txt"]
    assert len(read([f"{path}/chat.txt"]).turns) == 2
    assert read_back.skipped == ()


def test_members_whose_folders_are_written_as_on_windows_are_in_folders(tmp_path):
    path = zipped(tmp_path / "export.zip", {"b\\talk.txt": CHAT, "b\\.hidden\\talk.txt": CHAT, "x.txt": CHAT})
    found = [f"{path}/b/talk.txt"]
    assert list(find([str(path)], Selection(globs=("b/*",)))) == list(find([f"{path}/b"])) == found
    assert len(read(found).turns) == 2


def test_members_that_cannot_be_told_apart_or_lead_out_of_the_archive_are_reported(tmp_path):
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as made, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, content in [
            ("a.txt", "Maya: one\n"),
            ("./a.txt", CHAT),
            ("../b.txt", CHAT),
            ("c/../d.txt", CHAT),
        ]:
            made.writestr(name, content)
    read_back = read([str(path)])
    assert said(read_back) == [("Maya", "the spare key is at Tarik's"), ("Jonas", "thanks")]
    assert [(skip.path.removeprefix(f"{path}/"), skip.kind) for skip in read_back.skipped] == [
        ("../b.txt", "unsafe_name"),
        ("a.txt", "same_name"),
        ("c/../d.txt", "unsafe_name"),
    ]


def test_a_member_or_a_folder_in_an_archive_can_be_named(tmp_path):
    path = zipped(tmp_path / "export.zip", {"b/talk.txt": CHAT, "a.jsonl": MESSAGES})
    for part, turns in (("b/talk.txt", 2), ("b", 2), ("b/", 2), ("", 4)):
        assert len(read([f"{path}/{part}"]).turns) == turns
    with pytest.raises(InputError, match="no such file in the archive"):
        read([f"{path}/b.jsonl"])


def test_archives_in_a_folder_are_opened_and_globs_choose_among_their_files(tmp_path):
    zipped(tmp_path / "one.zip", {"b/talk.txt": CHAT, "a.jsonl": MESSAGES, "old/x.txt": CHAT})
    put(tmp_path, "plain.txt", CHAT)
    every = [f"{tmp_path}/{n}" for n in ("one.zip/a.jsonl", "one.zip/b/talk.txt", "one.zip/old/x.txt")]
    assert list(find([str(tmp_path)], Selection())) == [*every, f"{tmp_path}/plain.txt"]
    assert list(find([str(tmp_path)], Selection(("*.jsonl",)))) == every[:1]
    assert list(find([str(tmp_path)], Selection((), ("old", "plain.txt")))) == every[:2]
    assert list(find([str(tmp_path)], Selection((), ("*.zip",)))) == [f"{tmp_path}/plain.txt"]


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress])
def test_packed_files_are_what_is_inside_all_their_parts(tmp_path, pack):
    end = "gz" if pack is gzip.compress else "zst"
    first, second = MESSAGES.encode().splitlines(keepends=True)
    put(tmp_path, f"chat.jsonl.{end}", pack(first) + pack(second))
    put(tmp_path, f"talk.txt.{end}", pack(CHAT.encode()))
    put(tmp_path, f"photo.jpg.{end}", pack(b"\xff\xd8"))
    read_back = read([str(tmp_path)])
    assert said(read_back)[0] == ("user", "hello")
    assert [(t.conversation, t.line) for t in read_back.turns] == [
        *(("chat", 1), ("chat", 2)),
        *(("talk", 1), ("talk", 2)),
    ]


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("broken.zip", b"PK\x03\x04nonsense", "damaged_archive"),
        ("broken.jsonl.gz", gzip.compress(MESSAGES.encode(), mtime=0)[:-9], "damaged_archive"),
        ("none.jsonl.gz", b"hello", "damaged_archive"),
        ("broken.jsonl.zst", b"hello", "damaged_archive"),
        ("bomb.txt.gz", gzip.compress(b"a" * (40 << 20), mtime=0), "too_large"),
        ("bomb.txt.zst", zstd.compress(b"a" * (40 << 20)), "too_large"),
    ],
)
def test_broken_and_exploding_files_are_reported_and_the_others_read(tmp_path, name, content, kind):
    put(tmp_path, name, content)
    put(tmp_path, "good.txt", CHAT)
    read_back = read([str(tmp_path)])
    assert [entry.kind for entry in read_back.skipped] == [kind]
    assert len(read_back.turns) == 2


def test_a_damaged_an_encrypted_an_exploding_and_a_nested_member_do_not_hide_the_good_one(tmp_path):
    inner = zipped(tmp_path.with_name("inner.zip"), {"x.txt": CHAT})
    path = zipped(
        tmp_path / "mixed.zip",
        {
            "a-damaged.txt": CHAT * 50,
            "b-bomb.txt": b"a" * (40 << 20),
            "c-nested.zip": inner.read_bytes(),
            "d-secret.txt": CHAT,
            "e-good.txt": CHAT,
        },
    )
    data = bytearray(path.read_bytes())
    at = data.find(b"a-damaged.txt") + len("a-damaged.txt")
    data[at + 4 : at + 12] = b"\xff" * 8
    with zipfile.ZipFile(path) as made:
        header = made.getinfo("d-secret.txt").header_offset
    data[header + 6] |= 1
    central = data.rfind(b"d-secret.txt") - 46
    data[central + 8] |= 1
    path.write_bytes(data)
    read_back = read([str(path)])
    kinds = {Path(entry.path).name: entry.kind for entry in read_back.skipped}
    assert kinds == {
        "a-damaged.txt": "damaged_archive",
        "b-bomb.txt": "too_large",
        "c-nested.zip": "nested_archive",
        "d-secret.txt": "encrypted",
    }
    assert [turn.path for turn in read_back.turns] == [f"{path}/e-good.txt"] * 2


def test_a_damaged_lzma_member_does_not_hide_the_good_one(tmp_path):
    path = tmp_path / "packed.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as made:
        made.writestr("a.txt", CHAT * 50)
        made.writestr("b.txt", CHAT)
    data = bytearray(path.read_bytes())
    at = data.find(b"a.txt") + len("a.txt") + 9  # behind the packer's own header
    data[at : at + 16] = b"\xff" * 16
    path.write_bytes(data)
    read_back = read([str(path)])
    assert [(entry.path, entry.kind) for entry in read_back.skipped] == [(f"{path}/a.txt", "damaged_archive")]
    assert len(read_back.turns) == 2


def test_names_that_only_look_like_archives_are_no_trouble(tmp_path):
    put(tmp_path, "week.zip/talk.txt", CHAT)
    assert len(read([str(tmp_path)]).turns) == 2
    assert archive.split(f"{tmp_path}/week.zip/talk.txt") is None
    assert archive.file_of(f"{tmp_path}/week.zip/talk.txt") == f"{tmp_path}/week.zip/talk.txt"


def test_an_index_knows_the_members_of_an_archive_and_when_it_changes(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("smartsearch.transcripts.large.indexing.SETTLED", 0.0)
    folder = tmp_path / "chats"
    zipped(folder / "export.zip", {"a.txt": CHAT, "b.txt": CHAT})
    assert (build(str(folder)).new, build(str(folder)).unchanged) == (2, 2)
    zipped(folder / "export.zip", {"a.txt": CHAT, "b.txt": CHAT + "Maya: bye\n"})
    built = build(str(folder))
    assert (built.changed, built.turns) == (2, 5)


@pytest.mark.parametrize(
    ("archive", "name"),
    [
        ("WhatsApp Chat - Maya Reis.zip", "Maya Reis"),
        ("WhatsApp Chat - Maya Reis (2).zip", "Maya Reis"),
        ("WhatsApp-Chat mit Boot: Team.zip", "Boot: Team"),
        ("export.zip", "export"),
    ],
)
def test_in_an_archive_the_archive_names_the_chat(tmp_path: Path, archive: str, name: str) -> None:
    said = {"_chat.txt": "[08.05.23, 14:00:00] Maya: hi\n", "00000012-PHOTO.jpg": b"\x00"}
    path = zipped(tmp_path / archive, said)
    (turn,) = read([str(path)]).turns
    assert (turn.conversation, turn.path) == (name, f"{path}/_chat.txt")
