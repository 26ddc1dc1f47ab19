"""smartsearch: find the few turns in raw chat transcripts that answer a question."""

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smartsearch.ask.api import Result, Searcher, search

__all__ = ["Result", "Searcher", "__version__", "search"]
__version__ = "0.1.0"

SILENCE = {
    "ORT_DISABLE_TELEMETRY": "1",  # onnxruntime 1.29 and later: a device id in the cache, events over HTTPS
    "HF_HUB_DISABLE_TELEMETRY": "1",  # huggingface_hub: what is installed here, with each request
    "RAY_USAGE_STATS_ENABLED": "0",  # Ray: a report an hour of each cluster that is started
    "DO_NOT_TRACK": "1",  # what others have agreed on
}
"""What keeps the packages that we use from reporting home.

They read it when they are first imported, so it is set here, which every process of ours passes before.
Child processes inherit it. What the user has set does not change it: that nothing is sent is a promise.
"""

os.environ.update(SILENCE)


def __getattr__(name: str) -> object:
    """The Python API, imported when it is asked for: the command does without it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from smartsearch.ask import api

    return getattr(api, name)
