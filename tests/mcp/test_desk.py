"""One piece of work at a time, given up when nobody waits. The loop has a thread of its own, as in use."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Awaitable, Callable, Iterator

import pytest

from smartsearch.errors import SearchTimeout, SmartsearchError
from smartsearch.mcp import desk as module
from smartsearch.mcp.desk import Desk


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    before = signal.getsignal(module.INTERRUPT)
    yield
    signal.signal(module.INTERRUPT, before)


def played(play: Callable[[Desk], Awaitable[object]]) -> object:
    """What `play` returns, while this thread, the main one, works at the desk."""
    desk, came = Desk(), []

    def loop() -> None:
        try:
            came.append(asyncio.run(play(desk)))
        except BaseException as error:
            came.append(error)
        finally:
            desk.close()

    thread = threading.Thread(target=loop)
    thread.start()
    desk.run()
    thread.join()
    if isinstance(came[0], BaseException):
        raise came[0]
    return came[0]


def sleeping(seconds: float) -> None:
    """As a model between two calls of its own code: many short steps."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(0.01)


def test_work_is_done_in_the_main_thread_one_after_the_other():
    at_once: list[int] = []

    def work(number: int) -> tuple[int, bool]:
        at_once.append(1)
        assert len(at_once) == 1
        time.sleep(0.02)
        at_once.clear()
        return number, threading.current_thread() is threading.main_thread()

    async def play(desk: Desk) -> object:
        return await asyncio.gather(*(desk.do(lambda n=n: work(n), 5) for n in range(5)))

    assert played(play) == [(n, True) for n in range(5)]


def test_what_work_raises_is_raised():
    async def play(desk: Desk) -> object:
        with pytest.raises(ZeroDivisionError):
            await desk.do(lambda: 1 / 0, 5)
        with pytest.raises(TimeoutError, match="its own"):
            await desk.do(lambda: (_ for _ in ()).throw(TimeoutError("its own")), 5)
        return await desk.do(lambda: "goes on", 5)

    assert played(play) == "goes on"


def test_work_beyond_its_time_is_given_up_and_the_next_begins():
    async def play(desk: Desk) -> float:
        start = time.monotonic()
        with pytest.raises(SearchTimeout, match=r"no answer within 0\.2 s"):
            await desk.do(lambda: sleeping(30), 0.2)
        assert await desk.do(lambda: "next", 5) == "next"
        return time.monotonic() - start

    assert played(play) < 5


def test_time_spent_waiting_in_line_does_not_count():
    async def play(desk: Desk) -> object:
        first = asyncio.create_task(desk.do(lambda: sleeping(0.5), 5))
        await asyncio.sleep(0.05)
        second = await desk.do(lambda: "second", 0.3)
        await first
        return second

    assert played(play) == "second"


def test_a_cancelled_request_is_interrupted_or_not_even_begun():
    begun: list[str] = []

    async def play(desk: Desk) -> float:
        start = time.monotonic()
        tasks = [
            asyncio.create_task(desk.do(lambda: (begun.append("first"), sleeping(30)), 60)),
            asyncio.create_task(desk.do(lambda: begun.append("second"), 60)),
        ]
        await asyncio.sleep(0.2)
        assert (desk.busy, desk.waiting) == (True, 1)
        for task in reversed(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await desk.do(lambda: begun.append("third"), 5)
        assert (desk.busy, desk.waiting) == (False, 0)
        return time.monotonic() - start

    assert played(play) < 5
    assert begun == ["first", "third"]


def test_too_many_in_line_are_told_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "WAITING", 2)

    async def play(desk: Desk) -> list[object]:
        tasks = [asyncio.create_task(desk.do(lambda: sleeping(0.3), 5))]
        await asyncio.sleep(0.1)
        tasks += [asyncio.create_task(desk.do(lambda: None, 5)) for _ in range(3)]
        return await asyncio.gather(*tasks, return_exceptions=True)

    came = played(play)
    assert came[:3] == [None, None, None]
    assert isinstance(came[3], SmartsearchError)
    assert (came[3].kind, came[3].retryable) == ("busy", True)


def test_closing_ends_what_is_being_done():
    start = time.monotonic()

    async def play(desk: Desk) -> object:
        asyncio.get_running_loop().create_task(desk.do(lambda: sleeping(30), 60))
        await asyncio.sleep(0.2)
        return "left"

    assert played(play) == "left"
    assert time.monotonic() - start < 5


def test_interrupting_again_and_again_breaks_nothing():
    """Work that ends just as it is given up: the main thread must outlive every order of the two."""

    async def play(desk: Desk) -> int:
        late = 0
        for n in range(200):
            try:
                await desk.do(lambda: time.sleep(0.002), (n % 10) / 2000)
            except SearchTimeout:
                late += 1
        return late

    assert 0 < played(play) < 200
