"""No test passes or fails by a clock: a busy or slow machine is no fault of the code.

No test reads one, so that none is compared, in a variable, in a helper or in another file. Who waits for
another process asks tests/waiting.py, whose limit ends a hang; what a clock was to show is counted instead
(tests/counting.py).
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.waiting import HANG

HERE = Path(__file__).parent
CLOCKS = {
    "time": ("time", "monotonic", "perf_counter", "process_time", "thread_time", "clock_gettime"),
    "timeit": ("timeit", "repeat", "default_timer", "Timer"),
    "resource": ("getrusage",),
    "os": ("times",),
    "datetime": ("now", "utcnow", "today"),
    "date": ("today",),
}
"""What reads a clock, by its module or class."""
SPELT = re.compile(r"\b(?:perf_counter|monotonic|process_time|time\.time)(?:_ns)?\(")
"""In the text of a program that a test starts."""
DATED = ("os.utime",)
"""What may be given the time of day: the age of a file."""

LIMITED = {"wait": 0, "join": 0, "result": 0, "wait_for": 1, "Barrier": 2}
"""What waits for others, and where its limit in seconds stands if it has no name."""
TIMED = ("run", "call", "check_call", "check_output", "communicate", *LIMITED)

READS = {clock for clocks in CLOCKS.values() for clock in clocks}
WORTH_A_LOOK = re.compile(
    rf"\.(?:{'|'.join(READS)})(?:_ns)?\b|\bfrom (?:time|timeit|resource|os) import|{SPELT.pattern}"
    rf"|timeout=\d|\b(?:wait|join|result)\(\d|\b(?:wait_for|Barrier)\("
)


def faults(source: str) -> Iterator[str]:
    """The lines of a test that read a clock, or that wait less than a minute for others."""
    nodes = list(ast.walk(ast.parse(source)))
    named = {  # names that were imported from a module, as they are used here
        one.asname or one.name: f"{node.module}.{one.name}"
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for one in node.names
    }
    named |= {
        one.asname: one.name
        for node in nodes
        if isinstance(node, ast.Import)
        for one in node.names
        if one.asname
    }
    dated = {
        part
        for node in nodes
        if isinstance(node, ast.Call) and ast.unparse(node.func) in DATED
        for part in ast.walk(node)
    }
    for node in nodes:
        if isinstance(node, ast.Name):
            whole = named.get(node.id, node.id)
        elif isinstance(node, ast.Attribute) and node.attr.removesuffix("_ns") in READS:
            first, *rest = ast.unparse(node).split(".")
            whole = ".".join([named.get(first, first), *rest])
        elif isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            limits = [word.value for word in node.keywords if word.arg == "timeout" and called in TIMED]
            limits += node.args[LIMITED[called] :][:1] if called in LIMITED else []
            for limit in (limit.value for limit in limits if isinstance(limit, ast.Constant)):
                if isinstance(limit, (int, float)) and limit < 60:
                    yield f"{node.lineno}: waits {limit} seconds and no longer"
            continue
        else:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and SPELT.search(node.value):
                yield f"{node.lineno}: a program that reads a clock"
            continue
        of, _, clock = whole.rpartition(".")
        if clock.removesuffix("_ns") in CLOCKS.get(of.rpartition(".")[2], ()) and node not in dated:
            yield f"{node.lineno}: reads a clock, {ast.unparse(node)}"


def test_no_test_reads_a_clock_or_waits_less_than_a_minute():
    assert HANG >= 60
    found = {}
    for path in sorted(HERE.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        known = path.name in ("waiting.py", Path(__file__).name)
        if not known and WORTH_A_LOOK.search(source) and (said := list(faults(source))):
            found[str(path.relative_to(HERE))] = said
    assert not found


BAD = (
    "import time\nassert time.perf_counter() < 1",
    "import time\nbegan = time.monotonic()\nwork()\ntook = time.monotonic() - began\nassert took < 2",
    "import time as t\ndef spent():\n    return t.process_time_ns()\nassert spent() - spent() > -5",
    "from time import perf_counter as now\ntimes = []\ntimes.append(now())\nassert max(times) < 9",
    "import timeit\nassert timeit.timeit('f()', number=9) < 1",
    "from timeit import default_timer\nassert default_timer() < 1",
    "import resource\nassert resource.getrusage(resource.RUSAGE_SELF).ru_utime < 1",
    "import os\nassert os.times().user < 1",
    "import datetime\nassert (datetime.datetime.now() - began).seconds < 1",
    "from datetime import datetime\nassert (datetime.now() - began).seconds < 1",
    "from datetime import date\nassert date.today() == day",
    "clock = __import__('time')\nprogram = 'import time; print(time.perf_counter())'",
    "sort(key=lambda: 0)\nimport time\nclocks = [time.monotonic]\nassert clocks[0]() < 1",
    *("process.wait(10)", "assert process.wait(timeout=0.5) == 0", "subprocess.run(['x'], timeout=30)"),
    *("threading.Barrier(2, timeout=5)", "asyncio.wait_for(play(), 20)"),
    "from concurrent.futures import wait\nwait(jobs, timeout=3)",
)
GOOD = (
    *("import time\ntime.sleep(0.02)", "import os, time\nos.utime(path, (0, time.time() - 90))"),
    "monkeypatch.setattr(limits.time, 'monotonic', lambda: now)",
    *("SimpleNamespace(perf_counter=lambda: 1.0)", "process.wait(timeout=HANG)", "process.wait()"),
    *("asyncio.wait_for(play(), HANG)", "','.join(words)", "Client(endpoint, timeout=0.2)"),
    *("from datetime import date\nassert told == date(2024, 5, 1)", "assert record.time < record.date"),
)


def test_what_reads_a_clock_or_waits_shortly_is_found_and_nothing_else():
    assert [source for source in BAD if not list(faults(source))] == []
    assert [source for source in GOOD if list(faults(source))] == []
