"""What `status` tells: what is served and what is loaded. It reads no file, so that it answers at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import smartsearch
from smartsearch.config import Config
from smartsearch.output.record import dumps
from smartsearch.runtime.work import resident_bytes
from smartsearch.serve.mcp import brief
from smartsearch.serve.mcp.brief import Json, Reply

if TYPE_CHECKING:
    from smartsearch.serve.mcp.desk import Desk
    from smartsearch.serve.mcp.roots import Roots


def told(roots: Roots, config: Config, seconds: float, desk: Desk) -> Reply:
    """What is served, what is loaded, and the limits."""
    record: Json = {
        "version": smartsearch.__version__,
        "profile": config.profile,
        "models_state": desk.state.models,
        "models": list(desk.state.ran),
        "roots": [{"path": root} for root in roots.paths],
        **({"notes": list(roots.missing)} if roots.missing else {}),
        "warm": {
            "working": desk.busy,
            "waiting": desk.waiting,
            "served": desk.served,
            "rss_bytes": resident_bytes() + desk.state.rss_bytes,
        },
        "limits": {
            "seconds": seconds,
            "result_characters": brief.RESULT_CHARACTERS,
            "at_once": 1,
        },
    }
    return Reply(record, dumps(record, indent=True))
