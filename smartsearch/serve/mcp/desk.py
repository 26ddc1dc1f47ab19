"""One question at a time: orders wait in line for the worker, and are given up when nobody waits for them.

The worker is interrupted first, which keeps its models; one that is deep in native code is killed, and the
next order finds another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from smartsearch.errors import SearchTimeout, SmartsearchError
from smartsearch.runtime.worker import Worker
from smartsearch.serve.mcp.roots import Location, Locations
from smartsearch.serve.mcp.worker import Order, State, Told

SECONDS = 50.0
"""What a call may take unless `timeout` is set: less than the minute after which clients give up."""
WAITING = 16
"""Requests that may wait; the next one is told that the server is busy."""
GRACE = 1.0
"""Seconds that a worker may take to leave its order, before it is killed."""
GOODBYE = 1.0
"""Seconds that an idle worker may take to end."""
STARTING = 300.0
"""Seconds that a worker may take to load the models."""


Hire = Callable[[Mapping[str, Location]], Worker]


class Desk:
    """Where orders are left for a worker: the `first`, or one made by `hire` of the ids known so far."""

    def __init__(self, hire: Hire, first: Worker | None = None) -> None:
        self._hire, self._first = hire, first
        self._hand: Worker | None = None
        self._turn = asyncio.Lock()
        self._jobs: set[asyncio.Task[Any]] = set()
        self._places = Locations()
        self.state = State()
        self.busy = False
        self.waiting = 0
        self.served = 0

    def close(self) -> None:
        """Leave no worker behind: one with nothing to do may still write what is left to be written."""
        for job in self._jobs:
            job.cancel()
        hand, self._hand = self._hand, None
        if hand is not None:
            hand.kill() if self.busy else hand.dismiss(GOODBYE)

    def kill(self) -> None:
        """End the worker at once; from any thread."""
        hand = self._hand
        if hand is not None:
            hand.kill()

    def prepare(self) -> None:
        """Have a worker started and its models loaded; nobody waits for it."""
        left = asyncio.Event()
        left.set()
        self._begin(Order("load"), asyncio.Event(), left)

    async def do(self, order: Order) -> Any:
        """What comes of an order, done in its turn and given up after its seconds of work.

        Raises what the order raises, SearchTimeout, and SmartsearchError `busy` where too many wait. Where
        the caller is cancelled its place in the line is free again, and work that has begun is interrupted.
        """
        if self.waiting >= WAITING:
            raise SmartsearchError(
                f"{WAITING} requests wait already", hint="ask again later", kind="busy", retryable=True
            )
        began, left = asyncio.Event(), asyncio.Event()
        self.waiting += 1
        job = self._begin(order, began, left)
        try:
            try:
                await began.wait()
            finally:
                self.waiting -= 1
            await asyncio.wait([job], timeout=order.seconds)
            if job.done():
                return job.result()
        finally:
            left.set()
        hint = "fewer `paths`, or a longer --timeout of the server"
        raise SearchTimeout(f"no answer within {order.seconds:g} s", hint=hint)

    def _begin(self, order: Order, began: asyncio.Event, left: asyncio.Event) -> asyncio.Task[Any]:
        """A task that goes on when the caller is cancelled: until `left` is set and the worker is free."""
        job = asyncio.create_task(self._job(order, began, left))
        self._jobs.add(job)
        job.add_done_callback(self._jobs.discard)
        job.add_done_callback(lambda done: done.cancelled() or done.exception())
        return job

    async def _job(self, order: Order, began: asyncio.Event, left: asyncio.Event) -> Any:
        async with self._turn:
            try:
                if self._hand is None or self._hand.ended:
                    await self._staffed()
                if left.is_set() or self._hand is None:
                    return None
                self.busy = True
                began.set()
                told = await self._asked(self._hand, order, left)
                self._keep(told)
                return _result(told)
            except SmartsearchError:
                if began.is_set() and self._hand is None:
                    self.prepare()
                raise
            finally:
                self.busy = False
                self.served += began.is_set()
                began.set()

    async def _staffed(self) -> None:
        """Start a worker and have it load the models. Raises SmartsearchError."""
        hand, self._first = self._first, None
        if hand is None:
            hand = await asyncio.to_thread(self._hire, self._places)
        self._hand = hand
        self.state = State("loading")
        self._keep(await self._asked(hand, Order("load"), asyncio.Event(), STARTING))

    async def _asked(
        self, hand: Worker, order: Order, left: asyncio.Event, seconds: float | None = None
    ) -> Told:
        """What the worker tells, which is interrupted or killed when nobody waits or its time is up.

        Raises SmartsearchError where the worker ends.
        """
        asked = asyncio.ensure_future(asyncio.to_thread(hand.ask, order))
        asked.add_done_callback(lambda done: done.cancelled() or done.exception())
        gone = asyncio.ensure_future(left.wait())
        try:
            await asyncio.wait([asked, gone], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if not asked.done():
                hand.interrupt()
                await asyncio.wait([asked], timeout=GRACE)
            if not asked.done():
                hand.kill()
            told: Told = await asked
            return told
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
