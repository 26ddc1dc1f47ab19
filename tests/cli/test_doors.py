"""Every verb and every door: with masking on, no planted secret comes out, whatever it stood in."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from smartsearch.cli import app as cli
from smartsearch.cli.app import COMMANDS
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
    "memorag": [[WRONG], ["train", WRONG]],
    "config": [[], ["show", WRONG], ["--json"], [WRONG]],
    "doctor": [[WRONG], ["--no-search", "--json"]],
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
