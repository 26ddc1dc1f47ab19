"""benchmarks/speed: made chats, processes and their figures, sections."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from smartsearch import transcripts

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "benchmarks" / "speed")]

import corpus  # noqa: E402
import measure  # noqa: E402
import records  # noqa: E402
import run  # noqa: E402
import sections  # noqa: E402


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_a_made_corpus_is_the_same_every_time_and_another_with_another_seed(tmp_path):
    """A change of the generator changes every figure of the cost curve: change the digest with it."""
    assert corpus.folder(tmp_path / "made", 100).sha256[:16] == "04b9fea90a1b9f10"
    one, two, other = (
        corpus.folder(tmp_path / name, 300, seed, per_file=40)
        for name, seed in (("one", 1), ("two", 1), ("other", 2))
    )
    assert one == two
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert one.sha256 != other.sha256


def test_a_made_corpus_is_in_three_formats_with_facts_and_real_sizes(tmp_path):
    made = corpus.folder(tmp_path / "made", 3000)
    assert 130 < made.bytes / made.turns < 170  # a million turns are about 150 MB
    read = transcripts.read([str(tmp_path / "made")])
    assert {Path(turn.path).suffix for turn in read.turns} == {".jsonl", ".txt", ".json"}
    assert all(turn.speaker and turn.time for turn in read.turns)
    said = [turn.text for turn in read.turns]
    assert [said.count(fact.said) for fact in corpus.FACTS] == [1] * len(corpus.FACTS)


def command(code: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code]


def test_a_process_is_charged_its_own_memory_and_not_ours():
    ballast = bytearray(120_000_000)
    ballast[::4096] = b"x" * len(ballast[::4096])
    small = measure.cost(command("pass"), os.environ)
    large = measure.cost(
        command("held = bytearray(150_000_000); held[::4096] = b'x' * len(held[::4096])"), os.environ
    )
    assert small.peak_mb < 60
    assert 150 < large.peak_mb < 260
    assert len(ballast) == 120_000_000


def test_a_process_that_fails_says_why():
    with pytest.raises(measure.Failed, match=r"exit code 3: the reason$"):
        measure.cost(command("import sys; print('the reason', file=sys.stderr); sys.exit(3)"), os.environ)
    assert measure.cost(command("raise SystemExit(1)"), os.environ, codes=(0, 1)).code == 1
    with pytest.raises(measure.Failed, match="no-such-program"):
        measure.cost(["no-such-program"], os.environ)
    with pytest.raises(measure.Failed, match="no JSON"):
        _ = measure.cost(command("print('no')"), os.environ).answer


def test_tasks_take_turns_and_one_that_fails_does_not_stop_the_others():
    ran = []

    def task(name, bad=99):
        def once(number):
            ran.append(name)
            if number == bad:
                raise measure.Failed("it broke")
            return f"{name}{number}"

        return once

    found, failed = measure.interleaved({"a": task("a"), "b": task("b", 1), "c": task("c")}, 3, warm=1)
    assert found == {"a": ["a0", "a1", "a2"], "c": ["c0", "c1", "c2"]}
    assert failed == {"b": "it broke"}
    assert "".join(ran) == "cab" + "abc" + "bca" + "ac"


def test_a_command_finds_no_settings_or_caches_of_the_user(tmp_path, monkeypatch):
    monkeypatch.setenv("SMARTSEARCH_BUDGET", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", "/mine")
    env = measure.environment(tmp_path, tmp_path, threads=3)
    assert "SMARTSEARCH_BUDGET" not in env
    assert env["XDG_CACHE_HOME"].startswith(str(tmp_path))
    assert env["SMARTSEARCH_THREADS"] == "3"


def timed(identity, *values, peak=100.0, **more):
    return measure.row(identity, identity, "smartsearch", values, [peak], **more)


def test_a_record_names_no_path_of_this_machine():
    said = {
        "command": "rg -f /home/me/out/terms /data/eval/locomo10.json",
        "rows": ["no /usr/lib/x.so here", "'/opt/v/bin/python': it broke", "3 MB/s, src/a/b.py, a/b", 2.5],
    }
    assert records.portable(said, {"/home/me/out": "OUT", "/data/eval": "DATA"}) == {
        "command": "rg -f OUT/terms DATA/locomo10.json",
        "rows": ["no x.so here", "'python': it broke", "3 MB/s, src/a/b.py, a/b", 2.5],
    }


def test_a_section_measured_again_replaces_the_old_one_only(tmp_path, monkeypatch):
    monkeypatch.setitem(sections.SECTIONS, "start", lambda bench: sections.Section([timed("help", 1.0)]))

    def absent(bench):
        raise measure.Failed("no locomo10.json")

    monkeypatch.setitem(sections.SECTIONS, "batch", absent)
    out = ["--out", str(tmp_path), "--data", str(tmp_path / "none"), "--quick"]
    assert run.main([*out, "--only", "start,batch"]) == 0
    before = records.read(tmp_path / "record.json", run.KIND)["sections"]
    assert before["batch"]["left_out"] == "no locomo10.json"
    assert before["start"]["receipt"]["machine"]["cores"] >= 1
    assert str(tmp_path) not in json.dumps(before)
    monkeypatch.setitem(sections.SECTIONS, "start", lambda bench: sections.Section([timed("help", 2.0)]))
    run.main([*out, "--only", "start"])
    after = records.read(tmp_path / "record.json", run.KIND)["sections"]
    assert after["start"]["rows"][0]["median"] == 2.0
    assert after["batch"] == before["batch"]
