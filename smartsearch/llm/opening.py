"""Opens the language model that systems ask, by config and environment, and the file of its replies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from smartsearch.errors import CacheError
from smartsearch.llm.asking import Asker
from smartsearch.llm.client import Client
from smartsearch.llm.endpoint import memory_endpoint
from smartsearch.llm.replies import ReplyCache
from smartsearch.runtime import private

if TYPE_CHECKING:
    from smartsearch.config import Config


PATIENCE = 600.0
"""Seconds for a whole reply, which on a CPU waits for others asked at the same time."""
RETRIES = 2
"""Tries after the first."""


def asker(config: Config) -> Asker:
    """What a system asks its language model through; nothing is sent yet, and elsewhere only where agreed.

    Replies are kept in the user's data folder, `$XDG_DATA_HOME/smartsearch/llm/replies`, for this user only,
    unless the cache is off. Raises LLMError "llm_missing".
    """
    endpoint = memory_endpoint(model=config.memory_llm)
    client = Client(endpoint, _kept(config), timeout=PATIENCE, retries=RETRIES)
    made = Asker(client, mask=_masked if config.redact else str)
    made.allowed = endpoint.agreed(config.trusted_hosts)
    return made


def replies_folder() -> Path:
    """The folder of kept replies; it need not exist. Raises CacheError where none can be."""
    return private.home("llm", "XDG_DATA_HOME", ".local/share") / "replies"


def _kept(config: Config) -> ReplyCache | None:
    if not config.cache:
        return None
    try:
        folder = replies_folder()
        private.make(folder)
    except (CacheError, OSError):
        return None
    return ReplyCache(folder / "replies.sqlite")


def _masked(text: str) -> str:
    from smartsearch.text.redact import redacted

    return redacted(text)
