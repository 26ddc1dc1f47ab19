"""`smartsearch doctor`: what is in order here, what is not, and what to do."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from smartsearch.cli.groups import AsJson
from smartsearch.errors import ExitCode
from smartsearch.output import record, stream
from smartsearch.output.plain import counted, one_line

FIRST = "smartsearch query QUESTION PATH"
"""What to run where all works."""
MARKS = {"ok": "ok", "note": "note", "warning": "WARN", "failure": "FAIL"}


def doctor(
    search: Annotated[bool, typer.Option("--search/--no-search", help="Ask the models one question.")] = True,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes", "-y", help="Try the language model though it is not on this machine; no chats."
        ),
    ] = False,
    json: AsJson = False,
) -> int:
    """Check install, settings, models, cache, indexes, warm process and terminal, and say what to do.

    Where SMARTSEARCH_LLM_BASE_URL is set, that server is asked what it can do, if it is on this machine.
    Exit code 0 when all works, warnings included, 2 when something does not. Nothing is changed.
    """
    from smartsearch.cli.checks import examine

    findings = []
    for finding in examine(search=search, yes=yes):
        findings.append(finding)
        if not json:
            stream.write([f"{MARKS[finding.state]:<4}  {finding.area:<8}  {one_line(finding.said)}"])
            if finding.hint and finding.state != "ok":
                stream.write([f"{'':<16}try: {one_line(finding.hint)}"])
    if json:
        worst = next((s for s in ("failure", "warning") if s in {one.state for one in findings}), "ok")
        hints = [one.hint for one in findings if one.state == worst and one.hint]
        stream.write_json(
            {
                "schema_version": record.SCHEMA_VERSION,
                "state": worst,
                "next": hints[0] if hints and worst != "ok" else FIRST,
                "findings": [dataclasses.asdict(finding) for finding in findings],
            }
        )
    else:
        states = [finding.state for finding in findings]
        found = [counted(states.count(word), word) for word in ("failure", "warning") if word in states]
        stream.write(["", ", ".join(found) or "all in order"])
    return ExitCode.ERROR if any(finding.state == "failure" for finding in findings) else ExitCode.FOUND
