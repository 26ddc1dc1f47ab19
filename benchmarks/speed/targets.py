"""The targets of issue 5: which figure of the record each is about, and whether it is reached."""

from __future__ import annotations

from dataclasses import dataclass

from measure import Json

MILLION = 1_000_000
REACHED, MISSED, UNKNOWN = "reached", "not reached", "not measured"


@dataclass(frozen=True)
class Target:
    """A bound for one figure of a row: at most `bound`, or at least where `least`. `unit` is the row's."""

    what: str
    section: str
    row: str
    figure: str
    bound: float
    unit: str
    least: bool = False

    @property
    def said(self) -> str:
        """The bound in words."""
        if not self.bound:
            return "none"
        return f"{self.bound:,g} {self.unit} or {'more' if self.least else 'less'}"


def _start(name: str, option: str) -> list[Target]:
    return [
        Target(f"`{option}`", "start", name, "median", 0.15, "s"),
        Target(f"`{option}`: heavy packages imported", "start", f"{name}-heavy", "most", 0, "packages"),
    ]


TARGETS: tuple[Target, ...] = (
    *_start("help", "--help"),
    *_start("version", "--version"),
    *_start("formats", "formats"),
    Target("`--rank none`, one LoCoMo conversation, cold", "conversation", "none", "median", 1.0, "s"),
    Target("`query`, same, cold process, cold cache", "conversation", "cold", "median", 2.5, "s"),
    Target("`query`, same, cold process, warm cache", "conversation", "warm-cache", "median", 1.5, "s"),
    Target("same, warm process, median", "warm", "warm", "median", 0.45, "s"),
    Target("same, warm process, p95", "warm", "warm", "p95", 0.65, "s"),
    Target("same, cold shell and server: overhead", "warm", "daemon-overhead", "median", 0.3, "s"),
    Target("`batch`, LoCoMo's questions", "batch", "batch", "median", 3.0, "questions/s", least=True),
    Target("chat of BEAM-500K's size, warm, new questions", "long", "long", "median", 1.0, "s"),
    Target("same, questions asked before", "long", "long-again", "median", 1.0, "s"),
    Target("a million turns: first answer", "size", f"turns-{MILLION}-query", "median", 3.0, "s"),
    Target("a million turns: peak memory", "size", f"turns-{MILLION}-query", "peak_mb", 1500, "MB"),
    Target(
        "a server's memory after 10,000 questions, of that after 1,000",
        "memory",
        "memory-growth-10000",
        "median",
        1.1,
        "times",
    ),
    Target("raw scan against ripgrep", "scan", "scan-share", "median", 0.5, "times", least=True),
)


def row_of(record: Json, section: str, identity: str) -> Json:
    """A row of the record; one that is not there says so as rows that were left out do."""
    found: Json = record["sections"].get(section, {"left_out": "this section was not run"})
    for row in found.get("rows", ()):
        if row["id"] == identity:
            return dict(row)
    return {"id": identity, "left_out": found.get("left_out") or "not part of this run"}


def verdict(target: Target, row: Json) -> tuple[str, float | None]:
    """`reached`, `not reached` or `not measured`, and the figure that decides."""
    value = None if "left_out" in row else row.get(target.figure)
    if value is None:
        return UNKNOWN, None
    good = value >= target.bound if target.least else value <= target.bound
    return (REACHED if good else MISSED), float(value)
