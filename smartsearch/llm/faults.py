"""What goes wrong with a language model's server, in the user's words."""

from __future__ import annotations

from smartsearch.errors import SmartsearchError

_GENERAL = ("llm_missing", "llm_refused", "llm_not_found", "llm_stopped", "llm_offline")


class LLMError(SmartsearchError):
    """A language model that is not set up, not there, or gives no usable reply.

    `kind`: llm_missing (a setting), llm_unreachable, llm_busy (429), llm_refused (key, quota),
    llm_not_found (address or model), llm_request (this request only), llm_reply (not the protocol),
    llm_broken (a reply that ended in the middle), llm_stopped (the caller's `stop` was set), llm_json (not of
    the shape asked for), llm_offline (the reply is not kept). `after`: seconds the server asked to wait;
    `silent`: it said nothing within the time limit; `absent`: no server listens at its address.
    """

    kind = "llm_unreachable"

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        kind: str = "",
        retryable: bool = False,
        after: float | None = None,
        silent: bool = False,
        absent: bool = False,
    ) -> None:
        super().__init__(message, hint=hint, kind=kind, retryable=retryable)
        self.after = after
        self.silent = silent
        self.absent = absent

    @property
    def general(self) -> bool:
        """Whether every other request would meet it too."""
        return self.absent or self.kind in _GENERAL
