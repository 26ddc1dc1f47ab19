"""A run's folder: a plan that says whose it is, parts while it runs, answers and a manifest when it is done.

Every file is there whole or not at all. A part holds the records of one task, as many as are done; it is
written again, whole, as more are. So a kill at any moment loses seconds of work and no record twice.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from smartsearch.ask.batch import differences
from smartsearch.ask.runs.faults import faults
from smartsearch.ask.runs.plan import Plan, Shard
from smartsearch.ask.runs.remote import storage
from smartsearch.ask.runs.storage import Local
from smartsearch.ask.runs.types import Answer, Input
from smartsearch.errors import InputError, UsageError, listed
from smartsearch.output import record
from smartsearch.runtime import extras
from smartsearch.runtime.private import taken

FLUSH_SECONDS = 5.0
"""Answers of an unfinished task are written this often: what a kill of the coordinator can lose."""
_MEMORY = "# memory "  # before a line of the list that is for `sha256sum` a comment
_CACHED = 1 << 28  # bytes of parts held while answers are put in order

Json = dict[str, Any]


class RunFolder:
    """The files of one shard in a folder or below a URI.

    `complete` are the tasks that are done. `count` is the number of lines that are done, in other tasks too,
    and `failed` how many of them failed.
    """

    def __init__(self, place: str, shard: Shard, *, parquet: bool = False) -> None:
        if parquet:
            extras.require("batch", "--out-format parquet")
        self.shard = shard
        self.place = place
        self._storage = storage(place)
        self.complete: set[int] = set()
        self.count = self.failed = 0
        self._open: dict[int, dict[int, bytes]] = {}
        self._dirty: set[int] = set()
        self._inputs: dict[Input, None] = {}
        self._memories: dict[str, str] = {}
        self._flushed = time.monotonic()
        self.plan_name = f"plan-{shard}.json"
        self.manifest_name = f"manifest-{shard}.json"
        self.inputs_name = f"inputs-{shard}.sha256"
        self.answers_name = f"answers-{shard}.{'parquet' if parquet else 'jsonl'}"
        self._parts = f"parts-{shard}"

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes of this machine from this shard. Raises UsageError where one is at work."""
        if not isinstance(self._storage, Local):
            yield  # another writer writes the same
            return
        name = Path(self._storage.place) / f".lock-{self.shard}"
        with faults(self.place):
            name.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # answers hold what was said
            lock = taken(name, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC)
        if lock is None:
            said = f"another process is at shard {self.shard.number}/{self.shard.of} in {self.place}"
            raise UsageError(said, hint="wait for it, or end it", kind="busy")
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                name.unlink()
            os.close(lock)

    @property
    def now(self) -> str:
        """The day that the run counts from, by the plan of any shard; empty before the first plan."""
        for name in self._plans():
            held = _object(self._storage.read(name), self._storage.where(name))
            return str(held.get("config", {}).get("now", ""))
        return ""

    def _plans(self) -> list[str]:
        return [name for name in self._storage.names("") if name.startswith("plan-")]

    def begin(self, identity: Json) -> None:
        """Make the folder this run's. Raises UsageError, naming what differs, for another run's folder."""
        others = self._plans()
        if self.plan_name in others:
            held = _object(self._storage.read(self.plan_name), self._storage.where(self.plan_name))
            differing = list(differences(held, identity))
            if differing:
                raise _other(listed(f"{self._storage.where()} holds another run:", *differing))
            return
        known = (self.manifest_name, self.inputs_name, self.answers_name)
        there = [*filter(self._storage.exists, known), *self._storage.names(self._parts)]
        if there:
            raise _other(f"{self._storage.where(there[0])} is there, and no plan says whose it is")
        of = f"-of-{self.shard.of:05d}.json"
        if any(not name.endswith(of) for name in others):
            said = f"{self._storage.where()} holds a run in another number of shards ({others[0]})"
            raise _other(said, "another --out, or --shard as it was")
        self._storage.write(self.plan_name, _indented(identity))

    @property
    def manifest(self) -> Json | None:
        """The manifest as it is now."""
        if not self._storage.exists(self.manifest_name):
            return None
        return _object(self._storage.read(self.manifest_name), self._storage.where(self.manifest_name))

    def is_complete(self, manifest: Json) -> bool:
        """Whether nothing is left to do. Raises UsageError where the answers are there in another format."""
        if manifest.get("state") != "complete":
            return False
        name = manifest["answers"]["file"]
        if name != self.answers_name and self._storage.exists(name):
            said = f"{self._storage.where()} is complete: its answers are in {name}"
            raise _other(said, f"--out-format {name.rpartition('.')[2]}, or another --out")
        return self._storage.exists(self.answers_name)

    def resume(self, plan: Plan, tasks: Iterable[int], *, retry_failed: bool = False) -> None:
        """Find what was done before. With `retry_failed` drop the records of failed lines, to redo them."""
        wanted = set(tasks)
        for name in self._storage.names(self._parts):
            stem, _, suffix = name.rpartition("/")[2].partition(".")
            if not stem.isdecimal() or int(stem) not in wanted:
                continue
            if suffix.endswith("sha256"):
                self._know(_listed(self._storage.read(name)))
            elif suffix == "jsonl":
                self._take_part(int(stem), plan, retry_failed)

    def done(self, task: int) -> Collection[int]:
        """The lines of a task that are done, where not all are."""
        return self._open.get(task, {}).keys()

    def _take_part(self, task: int, plan: Plan, retry_failed: bool) -> None:
        name = self._part(task)
        kept: dict[int, bytes] = {}
        lines = set(plan.lines(task))
        for raw in self._storage.read(name).splitlines():
            value = _object(raw, self._storage.where(name))
            if value.get("line") not in lines:
                said = f"{self._storage.where(name)} holds a line that is not of this task"
                raise _other(said, "remove that file; its questions are asked again")
            if not (retry_failed and "error" in value):
                kept[value["line"]] = raw
                self.failed += "error" in value
        self.count += len(kept)
        if len(kept) == len(lines):
            self.complete.add(task)
        else:
            self._open[task] = kept

    def put(self, task: int, answer: Answer) -> bool:
        """Note an answer; whether it was not there before.

        It is on disk within FLUSH_SECONDS, or when its task is closed. Raises UsageError where it was found
        in another memory of the same transcripts than one before it.
        """
        if task in self.complete or answer.line in self.done(task):
            return False
        if answer.memory:
            self._note(task, [answer.memory])
        self.count += 1
        self.failed += bool(answer.kind)
        self._open.setdefault(task, {})[answer.line] = answer.record
        self._dirty.add(task)
        if time.monotonic() - self._flushed >= FLUSH_SECONDS:
            self.flush()
        return True

    def close(self, task: int, inputs: Iterable[Input]) -> None:
        """Write a task whose answers are all there."""
        self._note(task, inputs)
        self._write(task)
        self._open.pop(task, None)
        self.complete.add(task)

    def _note(self, task: int, inputs: Iterable[Input]) -> None:
        """Write the new inputs, before any answer that rests on them."""
        fresh = [one for one in dict.fromkeys(inputs) if one not in self._inputs]
        for one in fresh:
            if one.memory and self._memories.get(one.path, one.sha256) != one.sha256:
                where = " ".join(one.path.split())
                said = (
                    f"what the system holds of {where} is not what earlier answers of this run were found in"
                )
                raise _other(said)
        if fresh:
            self._storage.write(f"{self._parts}/{task:08d}.{len(self._inputs)}.sha256", _list(fresh))
            self._know(fresh)

    def _know(self, inputs: Iterable[Input]) -> None:
        for one in inputs:
            self._inputs[one] = None
            if one.memory:
                self._memories[one.path] = one.sha256

    def flush(self) -> None:
        """Write the answers since the last flush."""
        for task in sorted(self._dirty):
            self._write(task)
        self._flushed = time.monotonic()

    def _write(self, task: int) -> None:
        records = self._open.get(task)
        if records is not None:
            whole = b"".join(records[line] + b"\n" for line in sorted(records))
            self._storage.write(self._part(task), whole)
        self._dirty.discard(task)

    def _part(self, task: int) -> str:
        return f"{self._parts}/{task:08d}.jsonl"

    @property
    def inputs(self) -> list[Input]:
        """The transcripts read so far, by path, then the memories that a system made of them."""
        return sorted(self._inputs, key=lambda one: (one.memory, one.path, one.sha256))

    @property
    def inputs_summary(self) -> Json:
        """How many transcripts were read, and the hash of their list."""
        listed = _list(self.inputs)
        return {
            "file": self.inputs_name,
            "files": len(self._inputs) - len(self._memories),
            "sha256": hashlib.sha256(listed).hexdigest(),
        }

    def records(self, plan: Plan, tasks: Iterable[int]) -> Iterator[bytes]:
        """Every record in the order of the questions file. Raises InputError where one is missing."""
        places = sorted((line, task) for task in tasks for line in plan.lines(task))
        held: OrderedDict[int, dict[int, bytes]] = OrderedDict()
        size = 0
        for line, task in places:
            if task not in held:
                held[task] = self._records(task)
                size += sum(map(len, held[task].values()))
                while size > _CACHED and len(held) > 1:
                    size -= sum(map(len, held.popitem(last=False)[1].values()))
            if line not in held[task]:
                raise InputError(
                    f"{self._storage.where(self._part(task))} has no record of line {line} any more",
                    hint="the same command again",
                    kind="run_damaged",
                )
            yield held[task][line]

    def _records(self, task: int) -> dict[int, bytes]:
        return {orjson.loads(raw)["line"]: raw for raw in self._storage.read(self._part(task)).splitlines()}

    def write_answers(self, records: Iterable[bytes]) -> None:
        """Write the answers, whole or not at all."""
        with self._storage.writing(self.answers_name) as file:
            if self.answers_name.endswith(".parquet"):
                from smartsearch.ask.runs import parquet

                parquet.write(records, file)
            else:
                for raw in records:
                    file.write(raw + b"\n")

    def write_inputs(self) -> None:
        """Write the list of transcripts, as `sha256sum -c` reads it."""
        self._storage.write(self.inputs_name, _list(self.inputs))

    def write_manifest(self, manifest: Json) -> None:
        """Write the manifest, which tells how far the run is."""
        self._storage.write(self.manifest_name, _indented(manifest))

    def drop_parts(self, manifest: Json) -> None:
        """Remove the parts of a complete run, unless lines failed: `resume` takes these up from there."""
        if not manifest["counts"]["failed"]:
            self._storage.remove_folder(self._parts)


def _other(said: str, hint: str = "another --out, or remove that folder") -> UsageError:
    """The error of a folder that holds another run."""
    return UsageError(said, hint=hint, kind="other_run")


def _object(raw: bytes, where: str) -> Json:
    try:
        value = json.loads(raw)
        if not isinstance(value, dict):
            raise TypeError("it is no JSON object")
    except (ValueError, TypeError) as error:
        raise InputError(
            f"{where} is damaged: {error}", hint="remove that file and run again", kind="run_damaged"
        ) from error
    return value


def _indented(value: Json) -> bytes:
    return record.dumps(value, indent=True).encode() + b"\n"


def _list(inputs: Iterable[Input]) -> bytes:
    """Lines of `sha256sum`: a backslash goes before one with an escaped line break; a memory is a comment."""
    return "".join(
        f"{_MEMORY * one.memory}{chr(92) if name != one.path else ''}{one.sha256}  {name}\n"
        for one in inputs
        for name in [one.path.replace("\\", "\\\\").replace("\n", "\\n") if "\n" in one.path else one.path]
    ).encode("utf-8", "surrogateescape")


def _plain(escaped: str) -> str:
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], escaped)


def _listed(raw: bytes) -> Iterator[Input]:
    for line in raw.decode("utf-8", "surrogateescape").split("\n")[:-1]:
        entry = line.removeprefix(_MEMORY)
        digest, _, name = entry.removeprefix("\\").partition("  ")
        yield Input(_plain(name) if entry.startswith("\\") else name, digest, entry != line)
