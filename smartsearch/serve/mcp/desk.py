"""One question at a time: orders wait in line for the worker, and are given up when nobody waits for them.

The worker is interrupted first, which keeps its models; one that is deep in native code is killed, and the
next order finds another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from smartsearch.errors import SearchTimeout, SmartsearchError
from smartsearch.serve.mcp.orders import Order, State, Told
from smartsearch.serve.mcp.roots import Place, Places

SECONDS = 50.0
"""What a call may take unless `timeout` is set: less than the minute after which clients give up."""
WAITING = 16
"""Requests that may wait; the next one is told that the server is busy."""
GRACE = 1.0
"""Seconds that a worker may take to leave what it is at, before it is killed."""
STARTING = 300.0
"""Seconds that a worker may take to load the models."""


class Hand(Protocol):
    """A worker as the desk needs it (process.py)."""

    @property
    def ended(self) -> bool:
        """Whether it is gone."""

    def ask(self, order: Order) -> Told:
        """What comes of an order; waits for it. Raises SmartsearchError where the worker ends."""

    def interrupt(self) -> None:
        """Have it leave what it is doing."""

    def kill(self) -> None:
        """End it at once."""

    def dismiss(self) -> None:
        """End it when it is done."""


Hire = Callable[[Mapping[str, Place]], Hand]


@dataclass
class _Job:
    order: Order
    began: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    answer: asyncio.Future[Any] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Desk:
    """Where orders are left for a worker, made by `hire` of the ids known so far, while `run` runs."""

    def __init__(self, hire: Hire) -> None:
        self._hire = hire
        self._hand: Hand | None = None
        self._jobs: asyncio.Queue[_Job] = asyncio.Queue()
        self._places = Places()
        self._seeing = asyncio.Lock()
        self.state = State()
        self.busy = False
        self.waiting = 0
        self.served = 0

    async def run(self) -> None:
        """Have the orders done, one after the other, until this is cancelled; then no worker is left."""
        try:
            while True:
                await self._work(await self._jobs.get())
        finally:
            hand, self._hand = self._hand, None
            if hand is not None:
                (hand.kill if self.busy else hand.dismiss)()

    def kill(self) -> None:
        """End the worker at once; from any thread."""
        hand = self._hand
        if hand is not None:
            hand.kill()

    def prepare(self) -> None:
        """Have a worker started and its models loaded; nobody waits for it."""
        job = _Job(Order("load"))
        job.left.set()
        self._jobs.put_nowait(job)

    async def do(self, order: Order) -> Any:
        """What comes of an order, done in its turn and given up after its seconds of work.

        Raises what the order raises, SearchTimeout, and SmartsearchError `busy` where too many wait. Where
        the caller is cancelled its place in the line is free again, and work that has begun is interrupted.
        """
        if self.waiting >= WAITING:
            raise SmartsearchError(
                f"{WAITING} requests wait already", hint="ask again later", kind="busy", retryable=True
            )
        job = _Job(order)
        self._jobs.put_nowait(job)
        self.waiting += 1
        try:
            try:
                await job.began.wait()
            finally:
                self.waiting -= 1
            await asyncio.wait([job.answer], timeout=order.seconds)
            if job.answer.done():
                return job.answer.result()
        finally:
            job.left.set()
        hint = "fewer `paths`, or a longer --timeout of the server"
        raise SearchTimeout(f"no answer within {order.seconds:g} s", hint=hint)

    async def look(self, order: Order) -> Any:
        """What comes of an order that waits in no line, in a process of its own. Raises as `do`."""
        async with self._seeing:
            hand = await asyncio.to_thread(self._hire, {})
            try:
                return _result(await self._asked(hand, order, seconds=order.seconds))
            finally:
                hand.kill()

    async def _work(self, job: _Job) -> None:
        """Do a job; whatever happens, the desk goes on."""
        try:
            if self._hand is None or self._hand.ended:
                await self._staffed()
            hand = self._hand
            if job.left.is_set() or hand is None:
                return
            self.busy = True
            job.began.set()
            told = await self._asked(hand, job.order, left=job.left)
            self._keep(told)
            self.served += 1
            if not job.left.is_set():
                job.answer.set_result(_result(told))
        except SmartsearchError as error:
            if job.began.is_set() and self._hand is None:
                self.prepare()
            job.began.set()
            self.served += 1
            if not job.left.is_set():
                job.answer.set_exception(error)
        finally:
            self.busy = False

    async def _staffed(self) -> None:
        """Start a worker and have it load the models. Raises SmartsearchError."""
        self._hand = await asyncio.to_thread(self._hire, self._places)
        self.state = State("loading")
        self._keep(await self._asked(self._hand, Order("load"), seconds=STARTING))

    async def _asked(
        self, hand: Hand, order: Order, *, left: asyncio.Event | None = None, seconds: float | None = None
    ) -> Told:
        """What the worker tells, which is interrupted or killed when nobody waits or its time is up.

        Raises SmartsearchError where the worker ends.
        """
        asked = asyncio.ensure_future(asyncio.to_thread(hand.ask, order))
        asked.add_done_callback(lambda done: done.cancelled() or done.exception())
        gone = asyncio.ensure_future((left or asyncio.Event()).wait())
        try:
            await asyncio.wait([asked, gone], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if not asked.done():
                hand.interrupt()
                await asyncio.wait([asked], timeout=GRACE)
            if not asked.done():
                hand.kill()
            return await asked
        except SmartsearchError as error:
            if hand is self._hand:
                self._hand, self.state = None, State(f"ended: {error.message}")
            raise
        except asyncio.CancelledError:
            hand.kill()  # a thread waits for it
            raise
        finally:
            gone.cancel()

    def _keep(self, told: Told) -> None:
        """Remember what a worker has told, for the one that may come after it."""
        self.state = told.state
        self._places.keep(told.places)


def _result(told: Told) -> Any:
    if told.error is not None:
        raise told.error
    return told.answer
