"""What a ranker is to a search: one record, whatever model stands behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from smartsearch.rank.cache.vectors import TokenVectors
from smartsearch.rank.text import Shown

Floats = NDArray[np.float64]
Call = Callable[[str, Sequence[str]], Floats]
"""A question and n texts in, n scores out, shape (n,), higher is better."""
Model = TypeVar("Model", bound=Call)


@dataclass(frozen=True)
class Scorer:
    """A ranker: `call` scores texts for a question, the rest is what a search asks of it.

    `before` says how many turns before a turn it was trained to see, `calibration` the scale and shift that
    made its output a chance. `vectors` gives those of texts and keeps them, if it has any. `note` tells what
    it had to do without, `notice` what a user should know before it reads so many texts. `begin` starts to
    load it. `of_turns` gives scores of turns that are kept, for which no text is read.
    """

    call: Call
    before: int = 1
    calibration: tuple[float, float] = (1.0, 0.0)
    vectors: Callable[[Sequence[str]], list[TokenVectors]] | None = None
    note: Callable[[], str] = lambda: ""
    notice: Callable[[int], str] = lambda _texts: ""
    begin: Callable[[], Future[Any] | None] = lambda: None
    of_turns: Callable[[str, Sequence[int], Shown, Set[int]], Floats] | None = None

    def __call__(self, question: str, texts: Sequence[str]) -> Floats:
        """The score of each text."""
        return self.call(question, texts)

    def once(self) -> Scorer:
        """The same, which reads no text twice for the question that it was last asked."""
        asked, known = "", dict[str, float]()

        def call(question: str, texts: Sequence[str]) -> Floats:
            nonlocal asked, known
            if question != asked:
                asked, known = question, {}
            new = [text for text in dict.fromkeys(texts) if text not in known]
            if new:
                known.update(zip(new, self.call(question, new).tolist(), strict=True))
            return np.array([known[text] for text in texts])

        return replace(self, call=call)

    def seeing(self, show: Shown) -> Shown:
        """`show` with as many turns before as it was trained with, if any are shown."""
        return replace(show, before=self.before) if show.before else show


class Late(Generic[Model]):
    """A model that loads in a thread of its own once begun."""

    def __init__(self, load: Callable[[], Model]) -> None:
        self._load = load
        self._future: Future[Model] | None = None

    def begin(self) -> Future[Model]:
        """Load it, if that has not begun; the future has the model."""
        if self._future is None:
            pool = ThreadPoolExecutor(1)
            self._future = pool.submit(self._load)
            pool.shutdown(wait=False)
        return self._future

    @property
    def there(self) -> Model | None:
        """The model, if it has loaded."""
        future = self._future
        return future.result() if future and future.done() and future.exception() is None else None

    def __call__(self, question: str, texts: Sequence[str]) -> Floats:
        """The score of each text, when the model is there."""
        return self.begin().result()(question, texts)
