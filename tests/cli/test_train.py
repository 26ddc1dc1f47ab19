"""`train`: what it refuses at once, what a dry run shows, what it says of an outcome."""

from pathlib import Path

import pytest

from smartsearch.models import trained
from smartsearch.runtime import extras
from smartsearch.training import adapt
from smartsearch.training.adapt import Outcome
from tests.cli.conftest import Run

FIGURES = {"n": 40, "R@1": 0.5, "R@5": 0.8, "R@10": 0.9, "MRR": 0.6}
NONE = {**FIGURES, "n": 0}


@pytest.fixture
def talks(chats: Path) -> str:
    """A chat with a few hundred facts."""
    lines = []
    for n in range(700):
        day = f"{n // 28 % 12 + 1:02d}-{n % 28 + 1:02d}"
        lines.append(f"[{2001 + n // 336}-{day} 10:00] Mara: I bought lamp number {n} from a shop in Lyon.")
        lines.append(f"[{2001 + n // 336}-{day} 10:01] Ilya: Lamp {n} must be bright.")
    (chats / "talks.txt").write_text("\n".join(lines), encoding="utf-8")
    return "talks.txt"


@pytest.fixture
def outcome(chats: Path, monkeypatch: pytest.MonkeyPatch):
    """The adaptation gives what is put in here."""
    metrics = {
        name: {which: {"fused": found} for which, found in (("held_out", FIGURES), ("general", NONE))}
        for name in ("shipped", "adapted")
    }
    made: dict[str, Outcome] = {}

    def give(written: bool, reason: str = "") -> None:
        about = {"format": 1, "name": "mine", "metrics": metrics, "better_worse": (7, 3)}
        folder = chats / "profile"
        folder.mkdir()
        if written:
            (folder / "profile.json").write_text("{}")
        made["it"] = Outcome(folder, written, reason, about)

    monkeypatch.setattr(adapt, "adapt", lambda *asked: made["it"])
    monkeypatch.setattr(extras, "require", lambda extra, what: None)
    return give


def test_a_dry_run_shows_counts_and_questions_and_needs_no_training_package(run: Run, talks: str) -> None:
    ran = run("train", talks, "--dry-run", "--json")
    counts, questions = ran.record["counts"], ran.record["questions"]
    assert ran.code == 0
    assert counts["turns"] == 1400
    assert counts["trained"] > counts["held_out"] > 30
    assert {q["use"] for q in questions} == {"train", "measure"}
    assert all("lamp number" in q["turn"] for q in questions)
    assert ran.record["warnings"] == []
    assert "turns gave" in run("train", talks, "--dry-run").err


def test_too_little_is_an_error_that_says_what_is_needed(run: Run, outcome) -> None:
    error = run("train", "chat.txt", "--json").record["error"]
    assert error["kind"] == "too_little"
    assert "4 turns gave" in error["message"]
    assert run("train", "chat.txt").code == 2
    dry = run("train", "chat.txt", "--dry-run")
    assert (dry.code, "too little to train on" in dry.err) == (0, True)
    (warning,) = run("train", "chat.txt", "--dry-run", "--json").record["warnings"]
    assert warning.startswith("too little to train on: 4 turns gave")


def test_an_earlier_profile_is_refused_before_anything_is_read(run: Run, talks: str, chats: Path, outcome):
    outcome(True)
    trained.target("mine").mkdir(parents=True)
    (trained.target("mine") / "profile.json").write_text("{}")
    for more in ((), ("--json",)):
        ran = run("train", "nowhere.txt", *more)
        assert (ran.code, "the profile 'mine' is there already" in ran.err + ran.out) == (2, True)
    assert "another --name" in run("train", talks, "--name", "embedded").err, "our own"
    assert run("train", talks, "--name", "../x").code == 2
    assert run("train", talks, "--name", "other").code == 0
    assert run("train", talks, "--overwrite").code == 0
    assert run("train", talks, "--dry-run").code == 0


def test_a_missing_package_names_the_extra(run: Run, talks: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(extras.EXTRAS, "train", ("no_such_package",))
    error = run("train", talks, "--json").record["error"]
    assert error["message"] == "train needs packages that are not installed: no_such_package"
    assert (error["kind"], error["hint"]) == ("package", extras.command("train"))


def test_a_profile_that_is_written_is_named(run: Run, talks: str, outcome) -> None:
    outcome(True)
    ran = run("train", talks)
    assert ran.code == 0
    lines = [" ".join(line.split()) for line in ran.out.splitlines()]
    assert lines[0] == "questions rankers ranker n R@1 R@5 R@10 MRR"
    assert lines[1:] == [f"held_out {name} fused 40 0.5 0.8 0.9 0.6" for name in ("shipped", "adapted")]
    assert "7 of 40 held-out questions rank their turn higher than before, 3 lower" in ran.err
    assert "--profile mine" in ran.err
    assert "may be chance" in ran.err


def test_where_no_profile_comes_of_it_the_code_is_1_and_the_reason_is_said(run: Run, talks, outcome) -> None:
    outcome(False, "fused MRR is lower")
    ran = run("train", talks, "--json")
    assert ran.code == 1
    assert (ran.record["written"], ran.record["usable"]) == (False, False)
    assert ran.record["reason"] == "fused MRR is lower"
    assert ran.record["warnings"] == ["over only 40 held-out questions a difference may be chance"]
    assert "no profile was written: fused MRR is lower" in run("train", talks).err
