"""benchmarks/speed: made chats, processes and their figures, targets, the page, orders of candidates."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from smartsearch import transcripts
from smartsearch.retrieve.grep import Haystack
from smartsearch.types import Candidate, Corpus, Term, Turn

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "speed"))

import corpus  # noqa: E402
import measure  # noqa: E402
import page  # noqa: E402
import rank_orders  # noqa: E402
import run  # noqa: E402
import sections  # noqa: E402
import serve_memory  # noqa: E402
import spawn  # noqa: E402
import targets  # noqa: E402


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_a_made_corpus_is_the_same_every_time_and_another_with_another_seed(tmp_path):
    one, two, other = (
        corpus.folder(tmp_path / name, 300, seed, per_file=40)
        for name, seed in (("one", 1), ("two", 1), ("other", 2))
    )
    assert one == two
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert one.sha256 != other.sha256


def test_a_made_corpus_is_what_was_made_when_this_was_written(tmp_path):
    """A change of the generator changes every figure of the cost curve: change this with it."""
    assert corpus.folder(tmp_path / "made", 100).sha256[:16] == "04b9fea90a1b9f10"


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


def test_words_are_as_frequent_as_in_real_text(tmp_path):
    """Zipf: few words make most of the text, and most words occur seldom."""
    corpus.folder(tmp_path / "made", 3000)
    words = re.findall(r"\w{3,}", " ".join(t.text for t in transcripts.read([str(tmp_path / "made")]).turns))
    counts = sorted((words.count(word) for word in set(words[:2000])), reverse=True)
    assert counts[0] > 20 * counts[len(counts) // 2]
    assert len(set(words)) > 3000


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


def test_questions_are_distinct_enough_and_begin_with_the_facts():
    asked = corpus.questions(41)
    assert asked[: len(corpus.FACTS)] == [fact.question for fact in corpus.FACTS]
    assert asked == corpus.questions(41)
    assert len(set(asked)) == 41


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


def test_a_process_is_timed_and_its_output_kept():
    done = measure.cost(command("import time; time.sleep(.2); print('{\"a\": 1}')"), os.environ)
    assert 0.2 < done.seconds < 10
    assert done.answer == {"a": 1}


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


def test_a_summary_has_the_median_and_the_95th_percentile():
    figures = measure.summary([*range(1, 101)])
    assert figures == {"runs": 100, "median": 50.5, "p95": 95.05, "least": 1, "most": 100}


def test_a_command_finds_no_settings_or_caches_of_the_user(tmp_path, monkeypatch):
    monkeypatch.setenv("SMARTSEARCH_BUDGET", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", "/mine")
    env = measure.environment(tmp_path, tmp_path, threads=3)
    assert "SMARTSEARCH_BUDGET" not in env
    assert env["XDG_CACHE_HOME"].startswith(str(tmp_path))
    assert env["SMARTSEARCH_THREADS"] == "3"


def test_a_command_runs_the_checkout_we_run_wherever_it_is_started(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((".", "/else")))
    assert measure.environment(tmp_path, tmp_path)["PYTHONPATH"] == os.pathsep.join((str(tmp_path), "/else"))


def test_instructions_are_those_of_the_processor(tmp_path):
    listed = tmp_path / "cpuinfo"
    listed.write_text("model name : X\nflags : fpu sse4_2 avx512_vnni avx2\nbugs : avx_vnni\n")
    assert measure.instructions(listed) == ["sse4_2", "avx2", "avx512_vnni"]
    assert measure.instructions(tmp_path / "none") == []


def test_heavy_packages_are_found_in_what_importtime_writes():
    said = (
        "import time: self [us] | cumulative | imported package\n"
        "import time:       142 |        142 |   numpy.linalg\n"
        "import time:        99 |        300 | spacy\n"
        "import time:        10 |         10 | torchless\nspacy | numpy | torch\n"
    )
    assert sections.heavy(said) == ["spacy", "numpy"]


RECEIPT = {
    "machine": {"cpu": "Test CPU", "cores": 2, "memory_gib": 4.0, "python": "3.11.0", "system": "Linux"},
    "threads": 2,
    "date": "2026-01-01T00:00:00+00:00",
    "commit": "0123456789abcdef",
    "dirty": False,
    "command": "python benchmarks/speed/run.py",
}


def section(*rows, **more):
    return {"receipt": RECEIPT, "rows": list(rows), "more": more, "busy": 0.0, "seconds": 1.0, "quick": False}


def record(**of):
    return {"kind": run.KIND, "version": 1, "sections": of}


def timed(identity, *values, peak=100.0, **more):
    return measure.row(identity, identity, "smartsearch", values, [peak], **more)


@pytest.mark.parametrize(
    ("row", "of", "values", "word"),
    [
        ("help", "start", [0.15], "reached"),
        ("help", "start", [0.1501], "not reached"),
        ("none", "conversation", [1.0], "reached"),
        ("cold", "conversation", [2.51], "not reached"),
        ("warm-cache", "conversation", [1.5], "reached"),
        ("batch", "batch", [3.0], "reached"),
        ("batch", "batch", [2.9], "not reached"),
        ("scan-share", "scan", [0.5], "reached"),
        ("scan-share", "scan", [0.4], "not reached"),
        ("daemon-overhead", "warm", [0.31], "not reached"),
        ("long", "long", [0.9], "reached"),
        ("turns-1000000-query", "size", [3.1], "not reached"),
    ],
)
def test_a_target_is_reached_or_not(row, of, values, word):
    (target,) = [t for t in targets.TARGETS if (t.section, t.row, t.figure) == (of, row, "median")]
    found = targets.row_of(record(**{of: section(timed(row, *values))}), of, row)
    assert targets.verdict(target, found) == (word, values[0])


def test_a_target_may_be_about_the_tail_or_the_memory():
    slow = [0.4] * 18 + [0.9] * 2
    warm = [t for t in targets.TARGETS if t.row == "warm"]
    assert [targets.verdict(t, timed("warm", *slow))[0] for t in warm] == ["reached", "not reached"]
    (memory,) = [t for t in targets.TARGETS if t.figure == "peak_mb"]
    assert targets.verdict(memory, timed("x", 1.0, peak=1500.0)) == ("reached", 1500.0)
    assert targets.verdict(memory, timed("x", 1.0, peak=1500.1))[0] == "not reached"


def test_what_was_not_measured_is_neither():
    target = targets.TARGETS[0]
    for found in (
        record(),
        record(start=section()),
        record(start=section(measure.left_out("help", "", "no"))),
    ):
        assert targets.verdict(target, targets.row_of(found, "start", "help")) == ("not measured", None)


def test_the_page_of_an_empty_record_says_that_nothing_was_measured():
    said = page.page(record(), "the command")
    assert said.count("not measured: this section was not run") == len(targets.TARGETS)
    assert "    the command" in said


def whole():
    stage = {name: {"median": 0.1} for name in (*page.STAGES[:-2], "rank", "truncate", "total")}
    outside = stage | {"outside": {"median": 0.5}}
    curve = [
        timed(
            f"turns-{n}-query",
            n / 1000,
            n / 500,
            peak=n / 10,
            turns=n,
            bytes=n * 150,
            answered=2,
            candidates=n / 2,
        )
        for n in (100, 1000)
    ]
    curve += [measure.left_out(f"turns-1000-index-{key}", "", "no index here") for key in ("build", "query")]
    return record(
        start=section(
            timed("python", 0.02), timed("help", 0.1), timed("help-heavy", 0, unit="packages", names=[])
        ),
        conversation=section(
            timed("python", 0.02),
            timed("import", 0.1),
            timed("cold", 2.0),
            measure.left_out("warm-cache", "warm cache", "no cache here"),
            stages={"cold": outside},
        ),
        warm=section(timed("warm", 0.4), stages={"warm": stage}),
        size=section(
            *curve, sizes={str(n): {"files": 3, "bytes": n * 150, "sha256": ""} for n in (100, 1000)}
        ),
        scan=section(
            measure.left_out("scan-rg", "ripgrep", "no ripgrep"),
            timed("scan-none", 0.5, megabytes=150.0),
            turns=1000,
            bytes=150_000,
            files=3,
            terms=["mara"],
        ),
        rivals=section(
            timed("rival-ours", 0.4, gold=10, found=9),
            timed("rival-bm25", 0.1, gold=10, found=7),
            timed("rival-slow", 6.0, gold=4, found=3, ours=0.3, ours_found=2),
            timed("rival-cold-ours", 2.0),
            conversation="conv-1",
            turns=600,
            questions=5,
            top=62,
        ),
        batch=section(timed("batch", 2.0, unit="questions/s", asked=193)),
        memory=section(
            timed("memory-growth-10000", 1.03, unit="times"),
            points=[
                {"questions": n, "rss_mb": held, "ms_full": 900.0, "ms_none": cheap}
                for n, held, cheap in ((0, 270.0, None), (100, 300.0, 20.0), (200, 310.0, 20.0))
            ],
            full_every=50,
        ),
    )


def test_the_page_shows_figures_ratios_and_what_is_missing():
    said = page.page(whole(), "make it")
    assert "| `--help` | 0.15 s or less | 0.100 s | reached | - | 0.67 | 1 |" in said
    assert "not measured: no cache here" in said
    assert "| 1,000 | 0.150 | 1.50 | 100 | 500 | 2 of 2 |" in said
    assert "exponent 1.00" in said
    assert "| rival-bm25 | 0.100 | 0.100 | 0.25 | 100 | 7 of 10 (70%) | 1 |" in said
    assert "| scan-none | 0.500 | 300 | - |" in said
    assert "| ripgrep | no ripgrep | - | - |" in said
    assert "| Python's start | 20 (3%) | - |" in said
    assert "| the rest: arguments, output, end | 400 (67%) | - |" in said
    assert "| 200 | 310 | 1.03 | 900 | 20.0 |" in said
    assert "| rival-slow | 6.00 | 6.00 | 20.00 | 100 | 3 of 4 (75%); ours 2 | 1 |" in said
    assert "3 questions/s or more | 2.00 questions/s | not reached" in said
    assert said.count("index here") == 1


def test_the_page_says_which_instructions_the_processor_has():
    made = whole()
    made["sections"]["warm"]["instructions"] = ["sse4_2", "avx2", "avx512f", "avx512_vnni"]
    assert "Test CPU (avx512f, for int8 avx512_vnni), 2 threads" in page.page(made, "")
    assert page.instructed(["sse4_2", "avx2"]).startswith("avx2, no VNNI")
    assert "reference machine with" not in page.page(made, "")
    made["sections"]["warm"]["instructions"] = ["sse4_2", "avx2"]
    assert "reference machine with `avx512_vnni`, which this one has not" in page.page(made, "")


def test_tables_of_the_page_are_whole():
    for block in re.findall(r"(?:^\|.*\n)+", page.page(whole(), "make it"), re.M):
        assert len({line.count("|") for line in block.splitlines()}) == 1, block


def test_the_page_doubts_a_busy_machine_a_quick_run_and_a_changed_checkout():
    made = whole()
    made["sections"]["warm"] |= {"busy": 0.4, "quick": True, "receipt": RECEIPT | {"dirty": True}}
    said = page.page(made, "")
    assert "one conversation, warm: others used 40% of the cores" in said
    assert "no figures to quote: one conversation, warm" in said
    assert "The checkout had changes beyond its commit: one conversation, warm." in said
    assert "others used 40%" not in page.page(whole(), "")


def test_the_plot_is_the_same_every_time_and_needs_two_sizes():
    drawn = page.plot(whole())
    assert drawn == page.plot(whole())
    assert drawn.count("<svg") == 1
    assert "peak memory, MB" in drawn
    assert page.plot(record()) is None


def test_growth_is_one_where_cost_is_linear():
    assert page.growth([(100, 5.0), (1000, 2.0), (10_000, 20.0)]) == pytest.approx(1.0)
    assert page.growth([(1000, 2.0), (10_000, 200.0)]) == pytest.approx(2.0)
    assert page.growth([(1000, 2.0)]) is None


def test_the_page_command_writes_both_files(tmp_path):
    run.write(tmp_path / "record.json", whole())
    assert page.main(["--record", str(tmp_path / "record.json"), "--out", str(tmp_path / "docs")]) == 0
    assert {path.name for path in (tmp_path / "docs").iterdir()} == {"performance.md", "performance.svg"}


def test_a_record_names_no_path_of_this_machine():
    said = {
        "command": "rg -f /home/me/out/terms /data/eval/locomo10.json",
        "rows": ["no /usr/lib/x.so here", "'/opt/v/bin/python': it broke", "3 MB/s, src/a/b.py, a/b", 2.5],
    }
    assert run.portable(said, {"/home/me/out": "OUT", "/data/eval": "DATA"}) == {
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
    before = run.read(tmp_path / "record.json")["sections"]
    assert before["batch"]["left_out"] == "no locomo10.json"
    assert before["start"]["receipt"]["machine"]["cores"] >= 1
    assert str(tmp_path) not in json.dumps(before)
    monkeypatch.setitem(sections.SECTIONS, "start", lambda bench: sections.Section([timed("help", 2.0)]))
    run.main([*out, "--only", "start"])
    after = run.read(tmp_path / "record.json")["sections"]
    assert after["start"]["rows"][0]["median"] == 2.0
    assert after["batch"] == before["batch"]


def test_a_file_that_is_no_record_is_refused(tmp_path):
    bad = tmp_path / "record.json"
    bad.write_text('{"kind": "smartsearch bench"}')
    with pytest.raises(SystemExit, match="no record"):
        run.read(bad)


def haystack(*texts: str) -> Haystack:
    return Haystack(Corpus(tuple(Turn(text, "Ann", session="s1") for text in texts)))


def candidate(index: int, *terms: tuple[str, float]) -> Candidate:
    made = tuple(Term(text, "NOUN", weight) for text, weight in terms)
    return Candidate(index, made, sum(weight for _, weight in terms), 1)


def test_orders_weigh_terms_rarity_and_neighbours():
    """`dog` stands in three of four turns, `comet` in one."""
    turns = haystack("a dog", "another dog", "the comet", "one more dog")
    dog, comet = ("dog", 2.0), ("comet", 1.5)
    found = [candidate(0, dog), candidate(1, dog), candidate(3, dog), candidate(2, comet)]
    assert rank_orders.by_weight(found, turns) == [0, 1, 3, 2]
    assert rank_orders.by_rarity(found, turns) == [2, 0, 1, 3]
    assert rank_orders.by_rarity_alone(found, turns) == [2, 0, 1, 3]
    # before .5, after .3: 0 has 2 + .6, 1 has 2 + 1 + .45, 2 has 1.5 + 1 + .6, 3 has 2 + .75
    assert rank_orders.by_neighbours(found, turns) == [1, 2, 3, 0]
    assert rank_orders.with_neighbours(found, [2, 2, 2, 1.5], turns) == pytest.approx([2.6, 3.45, 2.75, 3.1])


def test_neighbours_end_with_the_session():
    turns = (Turn("a", session="s1"), Turn("b", session="s2"))
    found = [candidate(0, ("a", 1.0)), candidate(1, ("b", 1.0))]
    assert rank_orders.with_neighbours(found, [1.0, 1.0], Haystack(Corpus(turns))) == [1.0, 1.0]


def test_gold_is_counted_within_each_cut():
    tally = rank_orders.Tally()
    tally.add(range(1000), frozenset({0, 127, 128, 900, 5000}), 1.0)
    assert [tally.within[cut] for cut in rank_orders.CUTS] == [2, 3, 3, 4, 4]


def test_the_table_of_orders_gives_shares_of_what_retrieval_found():
    result = {
        "turns": 10, "questions": 1, "gold": 5, "found": 4, "candidates": {"median": 9.0, "most": 9},
        "more_than": dict.fromkeys(rank_orders.CUTS, 0),
        "orders": {"match weight (now)": {"within": {128: 3, 256: 4}, "ms": 0.5}},
    }  # fmt: skip
    lines = list(rank_orders.table("made", result))
    assert re.split(r"\s{2,}", lines[2]) == [
        "match weight (now)",
        "75.0%",
        "100.0%",
        "0.0%",
        "0.0%",
        "0.0%",
        "0.5",
    ]


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


def test_the_warm_cache_of_the_cost_curve_holds_its_question(tmp_path, monkeypatch):
    monkeypatch.setattr(sections.Bench, "features", frozenset({"cache"}))
    homes: dict[str, str] = {}

    def query(self, question, path, env, *more, daemon="never"):
        home = Path(env["XDG_CACHE_HOME"]).parent
        if "--rank" not in more:
            known = home.is_dir() and homes.get(home.name) == question
            home.mkdir(parents=True, exist_ok=True)
            homes[home.name] = question
            return answered("warm" if known else "cold")
        return answered("none")

    monkeypatch.setattr(sections.Bench, "query", query)
    found = {}
    add = sections.Section.add
    monkeypatch.setattr(
        sections.Section, "add", lambda self, *rows: (found.update(rows[0]), add(self, *rows))
    )
    sections.size(bench(tmp_path, runs=3))
    said = {name: {cost.answer["hits"][0]["text"] for cost in costs} for name, costs in found.items()}
    assert said["turns-1000-query"] == {"cold"}
    assert said["turns-1000-query-warm"] == {"warm"}


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
