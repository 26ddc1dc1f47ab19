"""One order at a time, given up when nobody waits for it; a worker that does not react is replaced."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping

import pytest

from smartsearch.errors import SearchTimeout, SmartsearchError
from smartsearch.runtime.worker import DIED
from smartsearch.serve.mcp import desk as module
from smartsearch.serve.mcp.desk import Desk
from smartsearch.serve.mcp.roots import Location
from smartsearch.serve.mcp.worker import Order, State, Told
from tests.waiting import HANG


class Hand:
    """A worker in a thread: `wait` lasts until it is interrupted, `hang` until it is killed."""

    def __init__(self, places: Mapping[str, Location]) -> None:
        self.places = dict(places)
        self.asked: list[str] = []
        self.at_once = 0
        self.ended = False
        self.interrupted, self.killed = threading.Event(), threading.Event()

    def ask(self, order: Order) -> Told:
        self.at_once += 1
        assert self.at_once == 1
        self.asked.append(order.what)
        told = self.told(order)
        self.at_once -= 1
        return told

    def told(self, order: Order) -> Told:
        if order.what == "wait":
            assert self.interrupted.wait(HANG)
            self.interrupted.clear()
        if order.what == "hang":
            assert self.killed.wait(HANG)
        if order.what == "die" or self.killed.is_set():
            raise SmartsearchError("the process ended", kind=DIED, retryable=True)
        if order.what == "raise":
            return Told(error=SmartsearchError("oh"))
        return Told(order.given, places={order.what: Location(order.what)}, state=State("ready"))

    def interrupt(self) -> None:
        self.interrupted.set()

    def kill(self) -> None:
        self.ended = True
        self.killed.set()

    def dismiss(self, seconds: float) -> None:
        self.kill()


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> list[Hand]:
    """The workers that were hired, in order."""
    monkeypatch.setattr(module, "GRACE", HANG)
    return []


@pytest.fixture
def impatient(hands: list[Hand], monkeypatch: pytest.MonkeyPatch) -> None:
    """One that hangs is replaced soon."""
    monkeypatch.setattr(module, "GRACE", 0.05)


def played(hands: list[Hand], play: Callable[[Desk], Awaitable[object]]) -> object:
    """What `play` returns while a desk runs."""

    def hire(places: Mapping[str, Location]) -> Hand:
        hands.append(Hand(places))
        return hands[-1]

    async def run() -> object:
        desk = Desk(hire)
        try:
            return await asyncio.wait_for(play(desk), HANG)
        finally:
            desk.close()

    return asyncio.run(run())


def order(what: str, given: object = None, seconds: float = 10.0) -> Order:
    return Order(what, given, seconds)


def test_orders_are_done_one_after_the_other_by_one_worker(hands: list[Hand]):
    async def play(desk: Desk) -> object:
        desk.prepare()
        told = await asyncio.gather(*(desk.do(order("search", n)) for n in range(5)))
        return told, desk.state.models, desk.served, desk.waiting

    assert played(hands, play) == ([0, 1, 2, 3, 4], "ready", 5, 0)
    assert [hand.asked for hand in hands] == [["load"] + ["search"] * 5]
    assert hands[0].ended


def test_beyond_its_time_an_order_is_interrupted_and_the_worker_goes_on(hands: list[Hand]):
    async def play(desk: Desk) -> object:
        with pytest.raises(SearchTimeout, match=r"no answer within 0\.1 s"):
            await desk.do(order("wait", seconds=0.1))
        return await desk.do(order("search", "next"))

    assert played(hands, play) == "next"
    assert hands[0].asked == ["load", "wait", "search"]


@pytest.mark.parametrize("what", ["hang", "die"])
def test_a_worker_that_hangs_or_dies_is_replaced_and_ids_live_on(hands: list[Hand], impatient: None, what):
    async def play(desk: Desk) -> object:
        await desk.do(order("search"))
        with pytest.raises(SmartsearchError) as caught:
            await desk.do(order(what, seconds=0.1))
        assert caught.value.retryable
        return await desk.do(order("expand", "next"))

    assert played(hands, play) == "next"
    assert [hand.asked for hand in hands] == [["load", "search", what], ["load", "expand"]]
    assert "search" in hands[1].places


def test_one_that_ended_while_nobody_asked_is_replaced_unseen(hands: list[Hand]):
    async def play(desk: Desk) -> object:
        await desk.do(order("search"))
        hands[0].kill()
        return await desk.do(order("search", "next"))

    assert played(hands, play) == "next"
    assert len(hands) == 2


def test_time_spent_waiting_in_line_does_not_count(hands: list[Hand]):
    async def play(desk: Desk) -> object:
        first = asyncio.create_task(desk.do(order("wait", seconds=0.5)))
        second = await desk.do(order("search", "second", seconds=0.4))
        with pytest.raises(SearchTimeout):
            await first
        return second

    assert played(hands, play) == "second"


def test_a_cancelled_request_is_interrupted_or_not_even_begun(hands: list[Hand]):
    async def play(desk: Desk) -> object:
        tasks = [asyncio.create_task(desk.do(order(what))) for what in ("wait", "second")]
        while not desk.busy:
            await asyncio.sleep(0.01)
        assert desk.waiting == 1
        for task in reversed(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await desk.do(order("third"))
        return desk.busy, desk.waiting

    assert played(hands, play) == (False, 0)
    assert hands[0].asked == ["load", "wait", "third"]


def test_too_many_in_line_are_told_so(hands: list[Hand], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "WAITING", 2)

    async def play(desk: Desk) -> list[object]:
        first = asyncio.create_task(desk.do(order("wait")))
        while not desk.busy:
            await asyncio.sleep(0.01)
        more = [asyncio.create_task(desk.do(order("search"))) for _ in range(3)]
        with pytest.raises(SmartsearchError) as caught:
            await more[2]
        assert (caught.value.kind, caught.value.retryable) == ("busy", True)
        first.cancel()
        return await asyncio.gather(*more[:2])

    assert played(hands, play) == [None, None]


def test_the_end_leaves_no_worker_behind(hands: list[Hand], impatient: None):
    async def play(desk: Desk) -> object:
        waiting = asyncio.create_task(desk.do(order("hang")))
        while not desk.busy:
            await asyncio.sleep(0.01)
        waiting.cancel()
        return "left"

    assert played(hands, play) == "left"
    assert all(hand.ended for hand in hands)
