"""The Ray engine on a real cluster of this machine: what is killed in it, and what comes out of it."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("ray")

import ray

from smartsearch.ask.runs import ray_engine
from smartsearch.ask.runs.records import comparable
from smartsearch.ask.runs.supervise import Keeper
from smartsearch.ask.runs.types import Answer, Report, Setup, Task
from smartsearch.errors import ModelError
from tests.ray.conftest import STORE, tasks
from tests.waiting import until

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("cluster")]

ASKED = ["When did Mara join the support group?", "What is the dog called?", "the", "Who has a flatmate?"]


def run(given: list[Task], setup: Setup, workers: int = 0) -> Iterator[Report]:
    return ray_engine.run(
        range(len(given)), given.__getitem__, setup, address="auto", workers=workers, threads=1
    )


def answers(given: list[Task], reports: list[Report]) -> dict[int, Answer]:
    """The answers by line, after a look at what must hold of every run: in as out, nothing twice."""
    assert sorted(report.task for report in reports) == [task.number for task in given]
    for report in reports:
        lines = [item.line for item in given[report.task].items]
        assert [answer.line for answer in report.answers] == lines
        assert [json.loads(answer.record)["id"] for answer in report.answers] == [
            f"q{line}" for line in lines
        ]
    return {answer.line: answer for report in reports for answer in report.answers}


def seen(folder: Path) -> list[tuple[int, ...]]:
    """The processes that were asked something: raylet, actor and worker (fakes.py)."""
    return [tuple(map(int, note.name.split("-"))) for note in (folder / "seen").iterdir()]


def failures(found: dict[int, Answer]) -> dict[int, str]:
    return {line: answer.kind for line, answer in found.items() if answer.kind}


def test_the_records_are_those_of_a_worker_byte_for_byte(setup: Setup):
    given = tasks(ASKED * 4)
    found = answers(given, list(run(given, setup)))
    worker = Keeper(setup, 1)
    direct = {answer.line: answer for task in given for answer in worker.work(task).answers}
    worker.close()
    assert not failures(found)
    for line, answer in found.items():
        assert comparable(json.loads(answer.record)) == comparable(json.loads(direct[line].record))


def test_a_killed_actor_is_replaced_and_its_task_done_again(setup: Setup, folder: Path):
    given = tasks([*ASKED * 2, "Mortal Mara", *ASKED * 2])
    assert failures(answers(given, list(run(given, setup)))) == {}
    assert (folder / "Mortal").exists()


def test_a_question_that_kills_every_actor_fails_alone(setup: Setup):
    given = tasks([*ASKED, "Mara", "Deadly Mara", "Mara", *ASKED], size=3)
    reports = list(run(given, setup))
    found = answers(given, reports)
    assert failures(found) == {6: "worker_died"}
    record = json.loads(found[6].record)
    assert (record["id"], record["line"], record["error"]["kind"]) == ("q6", 6, "worker_died")
    assert next(report for report in reports if report.task == 1).deaths == 4  # once, and three tries more


def test_a_question_that_kills_its_worker_leaves_the_actor_alive(setup: Setup, folder: Path):
    given = tasks(["Mara", "Crash Mara", "Mara", "Mara"])
    found = answers(given, list(run(given, setup, workers=1)))
    assert failures(found) == {2: "worker_died"}
    assert len({actor for _, actor, _ in seen(folder)}) == 1


def test_a_killed_machine_loses_nothing(setup: Setup, folder: Path, cluster):
    third = cluster.add_node(num_cpus=1, object_store_memory=STORE)
    raylet = third.all_processes["raylet"][0].process.pid
    given = tasks(["Slow Mara"] * 120)
    running, reports = run(given, setup, workers=3), []
    for report in running:
        reports.append(report)
        if third is not None and worked_on(raylet, folder) and len(reports) >= 5:
            cluster.remove_node(third, allow_graceful=False)
            third = None
    assert third is None, "the machine did nothing before the run was over"
    assert failures(answers(given, reports)) == {}


def worked_on(raylet: int, folder: Path) -> bool:
    return raylet in {of for of, _, _ in seen(folder)}


def test_a_missing_model_ends_the_run_in_its_own_words(setup: Setup):
    given = tasks(ASKED)
    with pytest.raises(ModelError, match="the model Nowhere is not here") as raised:
        list(run(given, replace(setup, loader="tests.ray.fakes:missing")))
    assert raised.value.hint == "smartsearch models pull Nowhere"


def test_who_stops_early_leaves_nothing_running(setup: Setup, folder: Path):
    running = run(tasks(["Slow Mara"] * 200), setup, workers=2)
    next(running)
    workers = [worker for _, _, worker in seen(folder)]
    running.close()
    until(lambda: ray.available_resources().get("CPU") == 2.0, "actors are left")
    until(lambda: not any(alive(pid) for pid in workers), "workers are left")


def alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()
