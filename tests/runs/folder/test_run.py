"""A run folder through the command: every line once, whatever happened before."""

import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

import pytest

from smartsearch.ask.runs import folder as run_folder
from smartsearch.ask.runs.plan import Plan, Shard, read
from smartsearch.ask.runs.records import comparable
from smartsearch.ask.runs.storage import Local
from smartsearch.ask.runs.types import TRIES, Input
from smartsearch.cli import runs as runs_cli
from smartsearch.errors import InputError, UsageError
from tests.cli.conftest import Run
from tests.contract import hold
from tests.runs.folder.conftest import Lines, manifest, records
from tests.waiting import HANG, until

ROOT = Path(__file__).parents[3]
COMMAND = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "  # for nohup
    "from smartsearch.cli import app as cli, runs; runs.LOADER = sys.argv[1]; "
    "sys.exit(cli.run(sys.argv[2:]))"
)


def command(loader: str, *arguments: str, **how: object) -> subprocess.Popen[str]:
    """The command in a process of its own, with a loader of tests/runs/folder/fakes.py."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, f"tests.runs.folder.fakes:{loader}", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        **how,  # type: ignore[call-overload]
    )


def untimed(lines: Lines) -> list[bytes]:
    return [comparable(line) for line in lines]


def answered(out: Path) -> list[str]:
    return [line["id"] for line in records(out)]


def test_a_run_says_what_batch_says_in_the_order_of_the_file(run: Run, asked: Lines, write, tmp_path: Path):
    questions = write(asked)
    ran = run("batch", questions, "--out", "out/", "--workers", "2", "--now", "2024-06-01")
    assert (ran.code, ran.out) == (0, "")
    assert "12 in, 12 out: 12 answered, 0 failed; out/" in ran.err
    alone = [json.loads(x) for x in run("batch", questions, "--now", "2024-06-01").out.splitlines()]
    for line, record in enumerate(alone, start=1):
        del record["threads"]
        record["line"] = line
    assert answered(Path("out")) == [line["id"] for line in asked]
    made = [json.loads(comparable(line)) for line in records(Path("out"))]
    assert made == [json.loads(comparable(line)) for line in alone]
    assert list(records(Path("out"))[0])[:3] == ["id", "line", "schema_version"]
    for record in records(Path("out")):
        hold(record, "batch")


def test_the_manifest_accounts_for_all(run: Run, asked: Lines, write):
    questions = write([*asked, {"id": "bad"}, {"id": "gone", "question": "x", "paths": ["nowhere.txt"]}])
    assert run("batch", questions, "--out", "out", "--workers", "1").code == 2
    told = manifest(Path("out"))
    assert told["state"] == "complete"
    assert told["counts"] == {
        "in": 14, "out": 14, "answered": 12, "with_hits": 12, "failed": 2,
        "failed_by_kind": {"input": 1, "path_not_found": 1}, "skipped_transcripts": 0,
    }  # fmt: skip
    failures = [("bad", 13, "input"), ("gone", 14, "path_not_found")]
    assert [(f["id"], f["line"], f["kind"]) for f in told["failures"]] == failures
    raw = Path(questions).read_bytes()
    assert told["questions"]["sha256"] == hashlib.sha256(raw).hexdigest()
    answers = Path("out") / told["answers"]["file"]
    assert told["answers"]["sha256"] == hashlib.sha256(answers.read_bytes()).hexdigest()
    assert told["sessions"][0]["engine"] == "local"
    listed = (Path("out") / told["inputs"]["file"]).read_text().splitlines()
    assert told["inputs"]["files"] == len(listed) == 4
    for line in listed:
        digest, _, path = line.partition("  ")
        assert digest == hashlib.sha256(Path(path).read_bytes()).hexdigest()
    assert sorted(path.name for path in Path("out").iterdir()) == [
        "answers-00001-of-00001.jsonl", "inputs-00001-of-00001.sha256",
        "manifest-00001-of-00001.json", "parts-00001-of-00001", "plan-00001-of-00001.json",
    ]  # fmt: skip


def test_shards_are_the_whole_and_do_not_know_each_other(run: Run, asked: Lines, write):
    questions = write(asked)
    for number in (3, 1, 2):
        assert run("batch", questions, "--out", "out", "--shard", f"{number}/3", "--workers", "1").code == 0
    parts = [records(Path("out"), f"0000{number}-of-00003") for number in (1, 2, 3)]
    assert [len(part) for part in parts] == [4, 4, 4]
    assert sorted(line["line"] for part in parts for line in part) == list(range(1, 13))
    run("batch", questions, "--out", "whole", "--workers", "1")
    by_line = {line["line"]: comparable(line) for part in parts for line in part}
    assert [by_line[n] for n in range(1, 13)] == untimed(records(Path("whole")))


def test_a_run_that_is_complete_is_not_done_again_and_another_does_not_overwrite_it(
    run: Run, asked: Lines, write
):
    questions = write(asked)
    run("batch", questions, "--out", "out", "--workers", "1")
    before = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    again = run("batch", questions, "--out", "out", "--workers", "1")
    assert (again.code, "complete already: 12 in, 12 out" in again.err) == (0, True)
    for how in ((), ("--overwrite",)):
        ran = run("batch", questions, "--out", "out", "--workers", "1", "-n", "1", *how)
        assert (ran.code, "try: another --out, or remove that folder" in ran.err) == (2, True)
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == before


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--alpha", "0.5"], "config.alpha was 0.01, is 0.5"),
        (["--conversation", "chat"], 'source.conversations was [], is ["chat"]'),
        (["--shard", "1/2"], "a run in another number of shards"),
    ],
)
def test_another_run_is_refused_and_what_differs_is_named(run: Run, asked: Lines, write, more, said):
    questions = write(asked)
    run("batch", questions, "--out", "out", "--workers", "1")
    ran = run("batch", questions, "--out", "out", *more)
    assert (ran.code, said in ran.err) == (2, True)
    write([*asked, {"id": "more", "question": "Where is Oscar?"}])
    assert "questions.lines was 12, is 13" in run("batch", questions, "--out", "out").err


def test_failures_can_be_tried_again(run: Run, asked: Lines, write, chats: Path):
    questions = write([*asked, {"id": "late", "question": "Where is Vera?", "paths": ["Vera.txt"]}])
    assert run("batch", questions, "--out", "out", "--workers", "1").code == 2
    (chats / "Vera.txt").write_text("[2024-05-09 10:00] Mara: Vera is at sea.\n")
    assert run("batch", questions, "--out", "out", "--workers", "1").code == 2
    before = records(Path("out"))
    retry = ("--retry-failed", "--out-format", "jsonl")
    ran = run("batch", questions, "--out", "out", "--workers", "1", *retry)
    assert (ran.code, "12 of 13 were done before" in ran.err) == (0, True)
    after = records(Path("out"))
    assert after[:12] == before[:12]
    assert after[12]["hits"][0]["text"] == "Vera is at sea."
    assert [s["done"] for s in manifest(Path("out"))["sessions"]] == [13, 1]


@pytest.mark.parametrize("killed", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_coordinator_goes_on_where_it_was(asked: Lines, write, run: Run, killed: signal.Signals):
    many = [line | {"id": f"{line['id']}/{n}", "question": f"{line['question']} ({n})"}
            for n in range(20) for line in asked]  # fmt: skip
    arguments = ("batch", write(many), "--out", "out", "--workers", "2", "--progress", "none")
    run(*arguments[:3], "whole", *arguments[4:])
    for parts in (8, 20):
        process = command("slow", *arguments)
        until(lambda n=parts: len(list(Path("out").glob("parts-*/*.jsonl"))) >= n, "parts are written")
        process.send_signal(killed)
        _, said = process.communicate(timeout=HANG)
        assert not list(Path("out").glob("answers-*"))
        if killed != signal.SIGKILL:
            assert process.returncode == 130
            assert "the same command goes on" in said
            assert manifest(Path("out"))["state"] == "stopped"
    last = command("tools", *arguments)
    _, said = last.communicate(timeout=HANG)
    assert last.returncode == 0
    assert "of 240 were done before" in said
    assert answered(Path("out")) == [line["id"] for line in many]
    assert untimed(records(Path("out"))) == untimed(records(Path("whole")))
    a, b = (manifest(Path(name))["answers"]["sha256_without_timing"] for name in ("out", "whole"))
    assert a == b


@pytest.mark.quick
def test_a_killed_worker_costs_nothing_but_time(asked: Lines, write):
    many = [line | {"id": f"{line['id']}/{n}"} for n in range(4) for line in asked]
    process = command("slow", "batch", write(many), "--out", "out", "--workers", "2", "--progress", "none")
    killed: set[int] = set()
    while process.poll() is None and len(killed) < TRIES - 1:  # as many as no question is blamed for
        for pid in _children(process.pid) - killed:
            if list(Path("out").glob("parts-*/*.jsonl")):
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
                break
        time.sleep(0.05)
    process.communicate(timeout=HANG)
    assert process.returncode == 0
    assert len(killed) == TRIES - 1
    assert answered(Path("out")) == [line["id"] for line in many]
    assert manifest(Path("out"))["sessions"][0]["worker_deaths"] == TRIES - 1


def _children(pid: int) -> set[int]:
    found = set()
    for task in Path(f"/proc/{pid}/task").iterdir():
        found |= {int(child) for child in (task / "children").read_text().split()}
    return found


def test_what_a_killed_process_left_goes(asked: Lines, write, run: Run):
    questions = write(asked)
    run("batch", questions, "--out", "out", "--workers", "1")
    whole = {path.name for path in Path("out").iterdir()}
    Path(f"out/.answers-00001-of-00001.jsonl.{'0' * 16}.tmp").write_text('{"id": ')
    Path("out/parts-00001-of-00001").mkdir()
    Path("out/parts-00001-of-00001/00000000.jsonl").write_text("")
    assert "complete already" in run("batch", questions, "--out", "out", "--workers", "1").err
    assert {path.name for path in Path("out").iterdir()} == whole


def test_a_folder_that_a_run_makes_is_its_user_s_alone(tmp_path: Path):
    """One that is there already is as its user wants it."""
    theirs, ours = tmp_path / "theirs", tmp_path / "above" / "ours"
    theirs.mkdir()
    theirs.chmod(0o755)  # whatever the umask is
    for place in (theirs, ours):
        with run_folder.RunFolder(str(place), Shard(1, 1)).alone():
            pass
    assert [place.stat().st_mode & 0o777 for place in (theirs, ours)] == [0o755, 0o700]


def test_another_process_at_the_same_shard_is_refused(tmp_path: Path):
    one, other = (run_folder.RunFolder(str(tmp_path), Shard()) for _ in range(2))
    with one.alone(), pytest.raises(UsageError, match="another process is at shard 1/1"), other.alone():
        pass


def test_a_damaged_part_is_named(asked: Lines, write, run: Run, chats: Path):
    process = command("slow", "batch", write(asked), "--out", "out", "--workers", "1", "--progress", "none")
    until(lambda: list(Path("out").glob("parts-*/*.jsonl")), "a part is written")
    process.kill()
    process.communicate()
    part = sorted(Path("out").glob("parts-*/*.jsonl"))[0]
    part.write_text("nonsense\n")
    ran = run("batch", write(asked), "--out", "out", "--workers", "1")
    assert (ran.code, part.name in ran.err, "remove that file" in ran.err) == (2, True, True)
    part.unlink()
    assert run("batch", write(asked), "--out", "out", "--workers", "1").code == 0
    assert answered(Path("out")) == [line["id"] for line in asked]


def test_records_that_vanish_before_the_end_are_missed(tmp_path: Path, asked: Lines, write):
    questions = Plan(read(Path(write(asked))))
    held = run_folder.RunFolder(str(tmp_path / "out"), Shard())
    Local(str(tmp_path / "out")).write("parts-00001-of-00001/00000000.jsonl", b"")
    with pytest.raises(InputError, match="has no record of line 1 any more"):
        list(held.records(questions, [0]))


def test_parquet_holds_the_same_records(asked: Lines, write, run: Run):
    pq = pytest.importorskip("pyarrow.parquet")

    questions = write(asked)
    run("batch", questions, "--out", "a", "--workers", "1")
    run("batch", questions, "--out", "b", "--workers", "1", "--out-format", "parquet")
    table = pq.read_table("b/answers-00001-of-00001.parquet")
    assert table.column("id").to_pylist() == [line["id"] for line in asked]
    kept = [json.loads(line) for line in table.column("record").to_pylist()]
    assert untimed(kept) == untimed(records(Path("a")))


def test_a_run_goes_on_the_next_day_and_counts_from_its_first(run: Run, asked: Lines, write, monkeypatch):
    class Today(date):
        @classmethod
        def today(cls):
            return cls(2199, 12, day)

    day = 30
    monkeypatch.setattr(runs_cli, "date", Today)
    arguments = ("batch", write(asked), "--out", "out", "--workers", "1", "--until", "today")
    assert run(*arguments, "--shard", "1/2").code == 0
    day = 31
    assert "complete already" in run(*arguments, "--shard", "1/2").err
    assert run(*arguments, "--shard", "2/2").code == 0
    first, second = (manifest(Path("out"), f"0000{n}-of-00002") for n in (1, 2))
    assert first["config"]["now"] == second["config"]["now"] == "2199-12-30"
    assert first["source"]["until"] == second["source"]["until"]


def test_a_record_says_how_long_reading_took_where_it_was_read(run: Run, asked: Lines, write, monkeypatch):
    monkeypatch.setattr(runs_cli, "LOADER", "tests.runs.folder.fakes:clocked")
    asked = [one for one in asked if one["paths"] == ["Oscar.txt"]]
    assert run("batch", write(asked), "--out", "out/", "--workers", "1").code == 0
    times = [record["timing_ms"] for record in records(Path("out"))]
    assert [time["read"] for time in times] == [time["total"] for time in times] == [3_600_000, 0, 0]


def test_a_run_folder_over_the_chats_is_refused_and_not_left_out_in_silence(run: Run, asked: Lines, write):
    questions = write([{"id": "all", "question": "Where is Oscar?"}, *asked])
    ran = run("batch", questions, "Oscar.txt", "--out", ".")
    assert (ran.code, "Oscar.txt lies where the command writes to" in ran.err) == (2, True)
    assert run("batch", questions, "--out", ".", "--workers", "1").code == 2
    assert {record["error"]["kind"] for record in records(Path())} == {"own"}


def test_names_that_are_no_text_are_written_as_far_as_they_are(run: Run, asked: Lines, write, chats: Path):
    name = os.fsdecode(b"q\xff.jsonl")
    Path(write(asked)).rename(name)
    assert run("batch", name, os.fsdecode(b"."), "--out", "out", "--workers", "1").code == 0
    folder = os.fsdecode(b"ch\xff")
    Path(folder).mkdir()
    (chats / "Oscar.txt").rename(Path(folder) / "Oscar.txt")
    questions = write([{"id": "all", "question": "Where is Oscar?"}])
    assert run("batch", questions, folder, "--out", "odd", "--workers", "1").code == 0
    assert records(Path("odd"))[0]["hits"][0]["path"] == "ch\ufffd/Oscar.txt"
    assert b"  ch\xff/Oscar.txt\n" in next(Path("odd").glob("inputs-*")).read_bytes()


def test_questions_that_change_while_they_are_asked_end_the_run(tmp_path: Path, asked: Lines, write):
    path = Path(write(asked))
    questions = Plan(read(path))
    assert questions.task(0).items
    path.write_text(path.read_text().replace("Mara", "Ilya"))
    with pytest.raises(InputError, match="has changed since the run began"):
        questions.task(0)


@pytest.mark.parametrize(
    ("room", "full", "out"),
    [(6_000, "parts-00001-of-00001/00000000.jsonl", None), (20_000, "answers-00001-of-00001.jsonl", 240)],
)
def test_a_full_disk_stops_the_run_and_room_lets_it_go_on(asked: Lines, write, room: int, full: str, out):
    """A limit on the size of a file stands in for the disk's (test_storage.py fills a real one)."""
    many = [line | {"id": f"{line['id']}/{n}"} for n in range(20) for line in asked]
    arguments = ("batch", write(many), "--out", "out", "--workers", "1", "--progress", "none")

    def little() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    stopped = command("tools", *arguments, preexec_fn=little)
    _, said = stopped.communicate(timeout=HANG)
    assert stopped.returncode == 2
    assert f"out/{full}: File too large" in said
    if out is not None:
        told = manifest(Path("out"))
        assert (told["state"], told["counts"]["out"]) == ("stopped", out)
    enough = command("tools", *arguments)
    enough.communicate(timeout=HANG)
    assert enough.returncode == 0
    assert answered(Path("out")) == [line["id"] for line in many]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--out", "a.jsonl", "--workers", "2"], "need one: --out is the file a.jsonl"),
        (["--shard", "1/2"], "need one: --out is not given"),
        (["--out", "out", "--shard", "3/2"], "--shard is '3/2'"),
        (["--out", "out", "--address", "auto"], "--address is Ray's"),
        (["--out", "/proc/self"], "/proc/self: "),
        (["--out", "locked"], "locked: Is a directory"),
        (["--out", "out"], "not on this machine"),
    ],
)
def test_what_every_question_would_meet_ends_the_run(asked, write, run, monkeypatch, arguments, said):
    monkeypatch.setattr(runs_cli, "LOADER", "tests.runs.folder.fakes:missing")
    Path("locked/.lock-00001-of-00001").mkdir(parents=True)
    ran = run("batch", write(asked), *arguments)
    assert ran.code == 2
    assert said in ran.err + ran.out


def test_questions_are_a_file_that_can_be_read_again(run: Run, asked: Lines, write, tmp_path: Path):
    assert "a run folder needs files" in run("batch", "-", "--out", "out").err
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cp", write(asked), pipe]):
        ran = run("batch", str(pipe), "--out", "out")
    assert (ran.code, "is no file that can be read again" in ran.err) == (2, True)


@pytest.mark.parametrize(
    "name", ["a.txt", "a\nb", "a\\nb\nc", "a\\b", "a\x85b\u2028c\rd\x1ce", " a ", "\\a", "\\n", "\udcff"]
)
def test_the_list_of_transcripts_is_read_as_it_was_written(name: str):
    one = Input(name, "0" * 64)
    assert list(run_folder._listed(run_folder._list([one]))) == [one]
