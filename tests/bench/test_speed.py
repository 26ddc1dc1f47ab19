"""benchmarks/speed: made chats, processes and their figures, targets, sections."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from smartsearch import transcripts

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "benchmarks" / "speed")]

import corpus  # noqa: E402
import measure  # noqa: E402
import records  # noqa: E402
import run  # noqa: E402
import sections  # noqa: E402
import serve_memory  # noqa: E402
import spawn  # noqa: E402
import targets  # noqa: E402


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


@pytest.mark.parametrize("turns", [1, 13, 100, 1003])
def test_a_made_corpus_has_as_many_turns_as_asked_for(tmp_path, turns):
    made = corpus.folder(tmp_path / "made", turns, per_file=200)
    read = transcripts.read([str(tmp_path / "made")])
    assert (len(read.turns), read.skipped, made.turns) == (turns, (), turns)
    assert made.bytes == sum(map(len, files(tmp_path / "made").values()))
    assert made.files == len(files(tmp_path / "made"))


def test_a_made_corpus_is_in_three_formats_with_facts_and_real_sizes(tmp_path):
    made = corpus.folder(tmp_path / "made", 3000)
    assert 130 < made.bytes / made.turns < 170  # a million turns are about 150 MB
    read = transcripts.read([str(tmp_path / "made")])
    assert {Path(turn.path).suffix for turn in read.turns} == {".jsonl", ".txt", ".json"}
    assert all(turn.speaker and turn.time for turn in read.turns)
    said = [turn.text for turn in read.turns]
    assert [said.count(fact.said) for fact in corpus.FACTS] == [1] * len(corpus.FACTS)


def test_a_corpus_that_is_there_is_not_made_again_and_a_smaller_one_leaves_nothing_behind(tmp_path):
    place = tmp_path / "made"
    first = corpus.folder(place, 400, per_file=20)
    stamps = {path: path.stat().st_mtime_ns for path in place.rglob("*")}
    assert corpus.folder(place, 400, per_file=20) == first
    assert stamps == {path: path.stat().st_mtime_ns for path in place.rglob("*")}
    corpus.folder(place, 30, per_file=20)
    assert len(transcripts.read([str(place)]).turns) == 30


def test_a_long_chat_has_long_turns_and_about_the_tokens_asked_for(tmp_path):
    path = tmp_path / "long.jsonl"
    assert corpus.long_chat(path, 20_000) == corpus.long_chat(path, 20_000)
    turns = transcripts.read([str(path)]).turns
    said = sum(len(turn.text) for turn in turns)
    assert 20_000 <= said / corpus.CHARACTERS_PER_TOKEN < 22_000
    assert max(len(turn.text) for turn in turns) > 3000
    assert all(any(fact.said in turn.text for turn in turns) for fact in corpus.FACTS)


@pytest.mark.parametrize(("platform", "peak"), [("linux", 204.8), ("darwin", 0.2)])
def test_peak_memory_is_in_the_units_of_the_platform(platform, peak):
    usage = SimpleNamespace(ru_utime=1.5, ru_stime=0.25, ru_maxrss=200_000)
    assert spawn.figures(usage, platform) == {"user": 1.5, "system": 0.25, "peak_mb": peak}


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


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="/proc alone tells who has children")
def test_memory_of_children_counts():
    hold = (
        "import time; held = bytearray(80_000_000); held[::4096] = b'x' * len(held[::4096]); time.sleep(.6)"
    )
    both = (
        "import subprocess, sys\n"
        f"held = [subprocess.Popen([sys.executable, '-c', {hold!r}]) for _ in '12']\n"
        "print([one.wait() for one in held])"
    )
    assert measure.cost([sys.executable, "-c", both], os.environ).peak_mb > 160


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


def test_rounds_end_where_another_would_take_too_long():
    tasks = {"a": lambda number: time.sleep(0.05) or number}
    assert measure.interleaved(tasks, 100, seconds=0.0)[0] == {"a": [0]}
    assert 1 < len(measure.interleaved(tasks, 100, warm=1, seconds=0.5)[0]["a"]) < 10


def test_a_command_finds_no_settings_or_caches_of_the_user(tmp_path, monkeypatch):
    monkeypatch.setenv("SMARTSEARCH_BUDGET", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", "/mine")
    env = measure.environment(tmp_path, tmp_path, threads=3)
    assert "SMARTSEARCH_BUDGET" not in env
    assert env["XDG_CACHE_HOME"].startswith(str(tmp_path))
    assert env["SMARTSEARCH_THREADS"] == "3"


def test_heavy_packages_are_found_in_what_importtime_writes():
    said = (
        "import time: self [us] | cumulative | imported package\n"
        "import time:       142 |        142 |   numpy.linalg\n"
        "import time:        99 |        300 | spacy\n"
        "import time:        10 |         10 | torchless\nspacy | numpy | torch\n"
    )
    assert sections.heavy(said) == ["spacy", "numpy"]


def timed(identity, *values, peak=100.0, **more):
    return measure.row(identity, identity, "smartsearch", values, [peak], **more)


def test_a_target_may_be_about_the_tail_or_the_memory():
    slow = [0.4] * 18 + [0.9] * 2
    warm = [t for t in targets.TARGETS if t.row == "warm"]
    assert [targets.verdict(t, timed("warm", *slow))[0] for t in warm] == ["reached", "not reached"]
    (memory,) = [t for t in targets.TARGETS if t.figure == "peak_mb"]
    assert targets.verdict(memory, timed("x", 1.0, peak=1500.0)) == ("reached", 1500.0)
    assert targets.verdict(memory, timed("x", 1.0, peak=1500.1))[0] == "not reached"


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
    monkeypatch.setattr(sections.Bench, "features", frozenset())
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


def bench(tmp_path: Path, **settings) -> sections.Bench:
    usual = {"runs": 2, "questions": 2, "every": 1, "largest": 1000, "tokens": 1000, "threads": 1}
    return sections.Bench(tmp_path / "data", tmp_path / "work", tmp_path, **usual | settings)


def answered(*texts: str, found: int = 7) -> measure.Cost:
    record = {"hits": [{"text": text} for text in texts], "candidates": found, "degraded": []}
    return measure.Cost(0.5, 80.0, 0, json.dumps(record).encode())


def test_the_cost_curve_has_every_size_and_says_what_was_found(tmp_path, monkeypatch):
    monkeypatch.setattr(sections.Bench, "features", frozenset())
    by_question = {fact.question: fact.said for fact in corpus.FACTS}

    def query(self, question, path, env, *more, daemon="never"):
        return answered("else", by_question[question]) if "--rank" not in more else answered("else")

    monkeypatch.setattr(sections.Bench, "query", query)
    rows = {row["id"]: row for row in sections.size(bench(tmp_path)).rows}
    assert rows["turns-100-query"]["answered"] == rows["turns-1000-query"]["runs"] == 2
    assert rows["turns-1000-none"]["answered"] == 0
    assert rows["turns-1000-query"] | {"candidates": 7.0, "turns": 1000} == rows["turns-1000-query"]
    assert rows["turns-100-query-warm"]["left_out"] == sections.NO_CACHE
    assert rows["turns-100-index-build"]["left_out"] == sections.NO_INDEX


class FakeWorker:
    """Ours ranks turn 3 first; bm25 cannot be opened; whatever else ranks it out of sight."""

    def __init__(self, system, env, threads):
        self.system = system

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def __call__(self, method, **arguments):
        if self.system == "bm25":
            raise measure.Failed("no bm25s")
        if method == "ranked":
            return {"order": [3, 1, 2], "pairs": [(3, "c", True), (1, "a", True), (2, "b", False)]}
        if self.system == "crossencoder" and method == "ask":
            assert len(arguments["turns"]) == len(arguments["texts"])
            return {"ms": len(arguments["texts"]) * 100.0, "peak_mb": 9.0, "order": arguments["turns"]}
        return {"ms": 50.0, "peak_mb": 5.0, "order": [8]}


def test_rivals_answer_the_same_questions_and_one_that_cannot_is_left_out(tmp_path, monkeypatch):
    asked = tuple(
        sections.locomo.BenchQuestion(str(n), f"question {n}?", gold=frozenset({3, 2})) for n in range(3)
    )
    talk = sections.locomo.Conversation(tmp_path / "talk.json", "conv-1", 4, asked)
    monkeypatch.setattr(sections.Bench, "conversation", talk)
    monkeypatch.setattr(sections.Bench, "features", frozenset())
    monkeypatch.setattr(sections.Bench, "query", lambda *_, **__: answered("x"))
    monkeypatch.setattr(sections, "Worker", FakeWorker)
    monkeypatch.setattr(sections, "_float_crossencoder", lambda bench: tmp_path)
    monkeypatch.setattr(sections.shutil, "which", lambda program: None)
    rows = {row["id"]: row for row in sections.rivals(bench(tmp_path)).rows}
    assert rows["rival-ours"] | {"median": 0.05, "gold": 4, "found": 4, "runs": 2} == rows["rival-ours"]
    assert (rows["rival-crossencoder"]["median"], rows["rival-crossencoder-head"]["median"]) == (0.3, 0.2)
    assert (rows["rival-crossencoder"]["found"], rows["rival-crossencoder-head"]["found"]) == (4, 2)
    assert rows["rival-minilm"]["found"] == 0
    assert rows["rival-bm25"]["left_out"] == rows["rival-cold-bm25"]["left_out"] == "no bm25s"
    assert rows["rival-rg"]["left_out"] == sections.NO_RG
    few = {row["id"]: row for row in sections.rivals(bench(tmp_path, slow=1)).rows}["rival-crossencoder"]
    assert (few["runs"], few["gold"], few["ours_found"], few["ours"]) == (1, 2, 2, 0.05)


def test_turns_of_ripgrep_are_ordered_by_how_many_different_words_they_have():
    assert sections.by_words("3:Dog\n3:dog\n9:cat\n12:dog\n12:Cat\n") == [11, 2, 8]


def test_the_memory_of_a_server_is_told_at_several_points(tmp_path, monkeypatch):
    monkeypatch.setattr(serve_memory.client, "ask", lambda request, _: asked.append(request))
    monkeypatch.setattr(serve_memory.client, "status", lambda _: {"rss_bytes": 1e6 * len(asked)})
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    tmp_path.chmod(0o700)
    asked = []
    points = list(serve_memory.measure([str(ROOT / "docs/samples")], 6, 3, tmp_path / "grows.txt", 2))
    assert [(point["questions"], point["rss_mb"]) for point in points] == [(0, 1.0), (3, 4.0), (6, 7.0)]
    assert [bool(request.config.rank) for request in asked] == [True, False] * 3 + [True]
    said = "".join(json.dumps(point) + "\n" for point in points).encode()
    monkeypatch.setattr(sections, "cost", lambda *_: measure.Cost(1.0, 50.0, 0, said))
    rows = {row["id"]: row for row in sections.memory(bench(tmp_path, asked=6)).rows}
    assert rows["memory-growth-6"]["median"] == 1.75
    assert (rows["memory"]["runs"], rows["memory"]["most"]) == (2, 7.0)
