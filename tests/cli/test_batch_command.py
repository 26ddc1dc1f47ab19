"""`batch` in process: the same answers as `query`, in order, one record a line."""

import io
import json
import re
import signal
from pathlib import Path

import pytest

from smartsearch import transcripts
from smartsearch.models import loading
from smartsearch.runtime import extras
from smartsearch.systems.smartsearch import pipeline
from tests.cli.conftest import QUESTION, Run, check_golden
from tests.cli.fakes import fake_tools

QUESTIONS = [
    {"id": "q1", "question": QUESTION},
    {"id": 2, "question": "What did Ilya adopt?", "conversation": "chat"},
    {"id": "q3", "question": "support group", "paths": ["talk.json"]},
]


@pytest.fixture
def questions(chats: Path) -> Path:
    path = chats.parent / "questions.jsonl"
    path.write_text("".join(json.dumps(q) + "\n" for q in QUESTIONS), encoding="utf-8")
    return path


def untimed(text: str) -> str:
    return re.sub(r'"timing_ms":\{[^}]*\}', '"timing_ms":{}', text)


def test_batch_says_what_query_says_one_by_one(run: Run, questions: Path):
    lines = run("batch", str(questions), "-n3").out.splitlines()
    options = [[], ["--conversation", "chat"], ["talk.json"]]
    for asked, line, own in zip(QUESTIONS, lines, options, strict=True):
        alone = run("query", asked["question"], *own, "--json", "-n3").out.strip()
        front = re.match(r'{"id":("q\d"|2),', line)
        assert json.loads(front[1]) == asked["id"]
        assert untimed("{" + line.removeprefix(front[0])) == untimed(alone)


def test_batch_output(run: Run, questions: Path):
    with questions.open("a") as file:
        file.write('nonsense\n{"id": "q5", "question": "x", "conversation": "chart"}\n')
    ran = run("batch", str(questions), "-n1")
    assert (ran.code, "questions.jsonl: 2 of 5 questions failed" in ran.err) == (2, True)
    check_golden("batch.jsonl", ran.out)


def test_models_are_loaded_and_files_read_once(run: Run, questions: Path, monkeypatch: pytest.MonkeyPatch):
    loads: list[object] = []
    reads: list[object] = []

    def noted(read):
        return lambda paths, *more, **rest: reads.append(paths) or read(paths, *more, **rest)

    monkeypatch.setattr(loading, "load_tools", lambda config: loads.append(config) or fake_tools(config))
    for name in ("read", "read_large"):
        monkeypatch.setattr(transcripts, name, noted(getattr(transcripts, name)))
    assert run("batch", str(questions)).code == 0
    assert len(loads) == 1
    assert reads == [["."], ["talk.json"]]


def test_questions_or_transcripts_from_standard_input(
    run: Run, questions: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(questions.read_bytes())))
    assert [json.loads(line)["id"] for line in run("batch", "-").out.splitlines()] == ["q1", 2, "q3"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"Zoe: the support group\nMax: when?\n")))
    records = [json.loads(line) for line in run("batch", str(questions), "-").out.splitlines()]
    assert {hit["speaker"] for hit in records[0]["hits"]} == {"Zoe", "Max"}
    assert records[1]["error"]["kind"] == "unknown_conversation"


def answered(path: Path) -> list[object]:
    return [json.loads(line)["id"] for line in path.read_text().splitlines()]


CASES = {
    "no question": b"",
    "blank lines": b"\n \n",
    "none that can be answered": b'{"id": 1, "question": "x", "paths": ["nowhere"]}\n',
    "other questions": b'{"id": "new", "question": "dog"}\n',
    "questions that are answered there": None,
}


@pytest.mark.parametrize("asked", CASES.values(), ids=CASES)
@pytest.mark.parametrize("piped", [True, False])
def test_finished_answers_are_overwritten_by_no_run_unasked(
    run: Run, questions: Path, monkeypatch, asked: bytes | None, piped: bool
):
    out = Path("answers.jsonl")
    assert run("batch", str(questions), "--out", str(out)).code == 0
    before = out.read_bytes()
    if asked is not None:
        questions.write_bytes(asked)
    for how in ((), ("--overwrite",)):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(questions.read_bytes())))
        ran = run("batch", "-" if piped else str(questions), ".", "--out", str(out), *how)
        if not how:
            assert (ran.code, "answers.jsonl is there already" in ran.err) == (2, True)
            assert "another --out, or --overwrite" in ran.err
        if not how or b"dog" not in (asked if asked is not None else b"dog"):
            assert (ran.code, out.read_bytes()) == (2, before)
            assert not how or "answers.jsonl stays as it was" in ran.err
    if asked is None:
        assert (ran.code, answered(out)) == (0, ["q1", 2, "q3"])
    elif b"dog" in asked:
        assert (ran.code, answered(out)) == (0, ["new"])


FOREIGN = {
    "notes": b"my notes\nof May\n",
    "notes without an end": b"my notes",
    "records of something else": b'{"id":"q1","text":"mine"}\n',
    "one that begins as JSON": b'{"id": "q1"',
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("link", [True, False])
def test_what_is_no_output_of_a_batch_is_neither_overwritten_nor_cut(run, questions, tmp_path, content, link):
    real = out = tmp_path / "notes.txt"
    real.write_bytes(content)
    if link:
        (out := tmp_path / "link.jsonl").symlink_to(real)
    for how, said in (((), "is there already"), (("--overwrite",), "holds something else than answers")):
        ran = run("batch", str(questions), "--out", str(out), *how)
        assert (ran.code, real.read_bytes()) == (2, content)
        assert f"{out} {said}" in ran.err
    assert out.is_symlink() is link


def test_standard_output_is_no_file(run: Run, questions: Path):
    whole = untimed(run("batch", str(questions)).out)
    for out in ("-", "/dev/stdout"):
        for how in ((), ("--overwrite",)) if out != "-" else ((),):
            assert untimed(run("batch", str(questions), "--out", out, *how).out) == whole
    assert run("batch", str(questions), "--out", "/dev/null").code == 0
    assert not Path("-").exists()


@pytest.mark.parametrize(
    "more", [(), pytest.param(("--out", "run", "--workers", "1"), marks=pytest.mark.process)]
)
def test_lines_of_text_are_questions_told_in_one_line(run: Run, questions: Path, more: tuple[str, ...]):
    questions.write_text(f"{QUESTION}\n\nWhat did Ilya adopt?\n")
    ran = run("batch", str(questions), *more)
    assert (ran.code, ran.err.count("questions.jsonl: lines of text: each is a question")) == (0, 1)
    out = ran.out or Path("run/answers-00001-of-00001.jsonl").read_text()
    assert [json.loads(line)["id"] for line in out.splitlines()] == [1, 3]


@pytest.mark.parametrize("how", [(), ("--overwrite",)])
def test_ctrl_c_says_what_is_done_and_how_to_go_on(run: Run, questions: Path, monkeypatch, how):
    def search(question: str, *rest: object):
        if question == "support group":
            raise KeyboardInterrupt
        return whole(question, *rest)

    whole, out = pipeline.search, Path("answers.jsonl")
    if how:
        run("batch", str(questions), "--out", str(out))
    before = out.read_text() if how else ""
    monkeypatch.setattr(pipeline, "search", search)
    ran = run("batch", str(questions), "--out", str(out), *how)
    kept = "answers.jsonl stays as it was" if how else "they are in answers.jsonl"
    assert f"2 of 3 done; {kept}; with --out FOLDER the same command goes on" in ran.err
    assert ran.code == 130
    assert answered(out) == (["q1", 2, "q3"] if how else ["q1", 2])
    assert not how or out.read_text() == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_an_output_file_on_a_full_disk_is_told_as_one(run: Run, questions: Path, tmp_path: Path):
    (out := tmp_path / "answers.jsonl").symlink_to("/dev/full")
    ran = run("batch", str(questions), "--out", str(out))
    told = f"smartsearch: {out} cannot be written: No space left on device\n  try: room on that disk\n"
    assert (ran.code, ran.err) == (2, told)


def test_a_question_that_takes_too_long_fails_alone(run: Run, questions: Path, monkeypatch):
    def slow(question: str, *rest: object):
        if question != "support group":
            signal.raise_signal(signal.SIGALRM)
        return search(question, *rest)

    search = pipeline.search
    monkeypatch.setattr(pipeline, "search", slow)
    ran = run("batch", str(questions), "--timeout", "600")
    records = [json.loads(line) for line in ran.out.splitlines()]
    assert ran.code == 2
    assert [r["error"]["kind"] for r in records[:2]] == ["timeout", "timeout"]
    assert records[2]["hits"]


@pytest.mark.parametrize(
    "given",
    [
        ("s3://b/questions.jsonl", "--out", "run"),
        ("questions.jsonl", "s3://b/chats", "--out", "run"),
        ("questions.jsonl", "--out", "s3://b/run"),
        ("questions.jsonl", "--out", "run", "--out-format", "parquet"),
    ],
)
def test_what_needs_an_extra_says_so_before_anything_is_asked(run: Run, chats: Path, monkeypatch, given):
    monkeypatch.setitem(extras.EXTRAS, "batch", ("no_such_package",))
    (chats / "questions.jsonl").write_text('{"id": "1", "question": "Who moved?"}\n')
    ran = run("batch", *given)
    assert (ran.code, f"try: {extras.command('batch')}" in ran.err) == (2, True)
    assert not (chats / "run").exists()


def test_a_folder_that_is_not_there_is_an_error_though_no_line_uses_it(run: Run, chats: Path):
    (chats / "q.jsonl").write_text(json.dumps({"question": "dog", "paths": ["chat.txt"]}) + "\n")
    ran = run("batch", "q.jsonl", "nowhere")
    assert ran.code == 2
    assert "no such file or folder: nowhere" in ran.out
    for out in ("answers.jsonl", "run/"):
        assert run("batch", "q.jsonl", "nowhere", "--out", out).code == 2
        assert not (chats / out).exists()
    assert run("batch", "nowhere.jsonl").record["error"]["kind"] == "input"
    assert run("batch", "q.jsonl", "--overwrite").record["error"]["kind"] == "usage"


def test_a_warning_names_the_question_it_is_of_and_none_where_it_is_of_the_files(run: Run, chats: Path):
    (chats / "list.txt").write_text("bread\n\nmilk\n")
    lines = [{"id": name, "question": f"the dog of {name}"} for name in ("Oskar", "Oscer")]
    (chats / "q.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    said = run("batch", "q.jsonl", "chat.txt", "list.txt").err.splitlines()
    assert "smartsearch: warning: Oskar: no turn contains 'Oskar'; searched for oscar" in said
    assert "smartsearch: warning: Oscer: no turn contains 'Oscer'; searched for oscar" in said
    assert [line for line in said if "prose" in line and ("Oskar:" in line or "Oscer:" in line)] == []
    assert any("prose" in line for line in said)
