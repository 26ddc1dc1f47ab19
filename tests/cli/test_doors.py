"""Every verb and every door: with masking on, no planted secret comes out, whatever it stood in."""

import json
import re
from pathlib import Path

import pytest

from smartsearch.cli.app import COMMANDS
from smartsearch.output import masking, reply
from tests.cli.conftest import Run

TEXT, SPEAKER, PATH, TITLE = "Blau42Xy9z", "Kiln97Zy3z", "Gruen86Xy9z", "Moos51Xy3z"
QUESTION, OPTION, ERROR = "Kiln60Yy6z", "Moos77Zy4z", "Blau65Xy8z"
PLANTED = (TEXT, SPEAKER, PATH, TITLE, QUESTION, OPTION, ERROR)
FOLDER = f"token={PATH}"
CHAT = f"{FOLDER}/chat.jsonl"
ASKED = f"support group password: {QUESTION}"
WRONG = f"password={ERROR}"
TURNS = [
    ("Mara", f"the wifi password is {TEXT}, for the support group"),
    ("Ilya", f"support group: x{TEXT}y and https://x.test/?q={TEXT}"),
    (f"token={SPEAKER}", "who is in the support group?"),
    ("Ilya", f"{SPEAKER} and {TITLE} are in the support group"),
]
LINES = {
    "query": [
        *([ASKED, FOLDER, *options.split()] for options in ("", "--explain -C1", "--json --explain -C2")),
        *([ASKED, FOLDER, "--format", form] for form in ("jsonl", "md", "context", "html")),
        [ASKED, FOLDER, "--format", "context", "-C2"],
        [ASKED, FOLDER, "--format", "html", "--explain"],
        [ASKED, FOLDER, "--explain", "-n1", "--compress", "dates,speakers"],
        [ASKED, FOLDER, "--color", "always", "--hyperlinks", "always"],
        [ASKED, FOLDER, "--files"],
        [ASKED, FOLDER, "--only-speaker", f"secret={OPTION}"],
        [ASKED, FOLDER, "--since", WRONG],
        [ASKED, WRONG],
        [ASKED, WRONG, "--json"],
        [ASKED, FOLDER, f"--{WRONG}"],
        [ASKED, FOLDER, "--top-k", WRONG],
        [TEXT, FOLDER, "--mode", "and"],
        *([ASKED, FOLDER, "--system", system, "--json"] for system in ("grep", "bm25")),
        [ASKED, FOLDER, "--system", WRONG],
    ],
    "show": [
        *([f"{CHAT}:{line}", *more] for line in (1, 2, 4) for more in ([], ["--json"], ["-C0"])),
        [CHAT, "--all", "--format", "md"],
        [f"{CHAT}:2", "--format", "context"],
        [FOLDER],
        [f"{CHAT}:99"],
        [f"{CHAT}@{WRONG}"],
        [WRONG],
    ],
    "answer": [[ASKED, FOLDER, "--show-prompt", *more] for more in ([], ["--json"])] + [[ASKED, WRONG]],
    "live": [[FOLDER], [WRONG, f"--{WRONG}"]],
    "batch": [
        ["q.jsonl", FOLDER],
        ["q.jsonl", FOLDER, "--out", "out.jsonl"],
        ["q.txt", FOLDER],
        [WRONG, FOLDER],
        ["q.jsonl", FOLDER, "--out", f"{WRONG}/x/out.jsonl"],
    ],
    "serve": [[f"--{WRONG}"], ["--status"]],
    "mcp": [[WRONG], [f"--{WRONG}"]],
    "setup": [[WRONG], ["--agent", WRONG], ["--print", WRONG]],
    "bench": [[WRONG], [FOLDER, f"--{WRONG}"]],
    "train": [[WRONG], ["--name", WRONG, FOLDER]],
    "formats": [["detect", FOLDER], ["detect", FOLDER, "--json"], ["detect", WRONG], ["places"], ["--json"]],
    "models": [["pull", WRONG], ["path", WRONG], []],
    "index": [[FOLDER], ["--show", FOLDER], [WRONG], ["--remove", FOLDER]],
    "cache": [["show"], [WRONG], ["fill", WRONG]],
    "memory": [
        *(["show", FOLDER, *more] for more in ([], ["--json"])),
        *([name, FOLDER] for name in ("build", "remove")),
        ["status"],
        ["show", WRONG],
        ["show", FOLDER, "--system", WRONG],
    ],
    "qrranker": [[WRONG], ["fetch", WRONG]],
    "config": [[], ["show", WRONG], ["--json"], [WRONG]],
    "doctor": [[WRONG], ["--no-search", "--json"]],
    "schema": [[WRONG], ["error"]],
}
CASES = [(verb, *line) for verb, lines in LINES.items() for line in lines]


@pytest.fixture
def planted(chats: Path) -> Path:
    (chats / FOLDER).mkdir()
    turns = [
        {"speaker": who, "text": text, "conversation_id": f"password: {TITLE}", "time": f"2024-05-0{n}"}
        for n, (who, text) in enumerate(TURNS, 1)
    ]
    (chats / CHAT).write_text("".join(json.dumps(turn) + "\n" for turn in turns), encoding="utf-8")
    questions = [
        {"id": "a", "question": ASKED},
        {"id": "b", "question": ASKED, "paths": [WRONG]},
        {"id": "c", "question": ASKED, "since": WRONG},
        {"id": "d"},
    ]
    (chats / "q.jsonl").write_text("".join(json.dumps(q) + "\n" for q in questions), encoding="utf-8")
    (chats / "q.txt").write_text(f"{ASKED}\n", encoding="utf-8")
    return chats


def told(run: Run, case: tuple[str, ...], folder: Path) -> str:
    ran = run(*case)
    out = folder / "out.jsonl"
    written = out.read_text(encoding="utf-8") if out.is_file() else ""
    return re.sub(r"\x1b\[[0-9;]*m", "", ran.out + ran.err + written)


def test_every_verb_is_tried():
    assert LINES.keys() == COMMANDS.keys()


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case)[:60])
def test_nothing_planted_comes_out(run: Run, planted: Path, monkeypatch, case):
    monkeypatch.setenv("SMARTSEARCH_REDACT", "1")
    shown = told(run, case, planted)
    assert shown
    assert not [secret for secret in PLANTED if secret.lower() in shown.lower()]


def test_without_it_all_of_that_is_shown_and_the_masks_are_gone_again(run: Run, planted: Path):
    lines = [[ASKED, FOLDER, "--json"], [ASKED, WRONG], [ASKED, FOLDER, "--only-speaker", f"secret={OPTION}"]]
    shown = "".join(told(run, ("query", *line), planted) for line in lines)
    assert [secret for secret in PLANTED if secret not in shown] == []
    masked = told(run, ("query", *lines[0], "--redact"), planted)
    assert "[redacted: " in masked
    assert told(run, ("query", *lines[1]), planted) in shown


def test_what_is_masked_in_a_screen_can_still_be_opened(run: Run, planted: Path, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    shown = run("query", ASKED, FOLDER, "--redact", "-n1").out
    assert PATH not in shown
    opened = run("show", "1", "--redact")
    assert opened.code == 0
    assert PATH not in opened.out + opened.err


def test_a_reply_in_pieces_is_masked_line_by_line(capsys):
    with masking.during(True), reply.live("", wanted=False, silent=False) as say:
        for piece in ("the pass", "word: Bl", "au42Xy9z\nand", " more"):
            say(piece)
    assert capsys.readouterr().out == "the password: [redacted: password]\nand more\n"


def test_an_error_where_the_settings_cannot_be_read_is_masked(run: Run, planted: Path, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "smartsearch").mkdir()
    (tmp_path / "smartsearch" / "config.toml").write_text(f'hops = "{WRONG}"\n', encoding="utf-8")
    ran = run("query", ASKED, FOLDER)
    assert ran.code == 2
    assert ERROR not in ran.out + ran.err


@pytest.mark.process
def test_a_run_folder_keeps_masked_records_and_goes_on_by_its_ids(run: Run, planted: Path, monkeypatch):
    monkeypatch.setenv("SMARTSEARCH_REDACT", "1")
    ran = run("batch", "q.jsonl", FOLDER, "--out", "run/", "--workers", "1")
    records = "".join(file.read_text() for file in Path("run").rglob("*.jsonl"))
    assert '"id":"a"' in records
    assert not [secret for secret in PLANTED if secret in records + ran.out + ran.err]
