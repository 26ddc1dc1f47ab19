"""Turns a server's refusals into errors in the user's words; none shows the key."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any

from smartsearch.llm.endpoint import Endpoint
from smartsearch.llm.faults import LLMError


class Refusals:
    """Makes the errors of one endpoint. `kept`: replies are kept, so that the same command goes on."""

    def __init__(self, endpoint: Endpoint, *, kept: bool) -> None:
        self._endpoint, self._kept = endpoint, kept

    def error(self, what: str, *, hint: str = "", retryable: bool = True, **more: Any) -> LLMError:
        """The error of an endpoint that `what`: "gave no answer"."""
        kept = " What was answered is kept: the same command goes on from there" if self._kept else ""
        hint = hint or f"is the server up, and is {self._endpoint.prefix}_BASE_URL its address?{kept}"
        message = self._endpoint.redacted(f"{self._endpoint.url} {what}")
        return LLMError(message, hint=hint, retryable=retryable, **more)

    def refusal(self, error: Any) -> LLMError:
        """The error of an HTTP status other than 200 (openai.APIStatusError)."""
        status, prefix = error.status_code, self._endpoint.prefix
        said = self.said(error.body)
        if status == 401:  # the server's own words may show a part of the key
            return self._final("refused the key (401)", f"check {prefix}_KEY", "llm_refused")
        if status in (402, 403) or error.code == "insufficient_quota":
            hint = f"check the account behind {prefix}_KEY, its quota and which models it may use"
            return self._final(f"refused the request ({status}{said})", hint, "llm_refused")
        if status < 400:
            to = self._endpoint.short(error.response.headers.get("location", "elsewhere"))
            hint = f"if that is where the server is, set {prefix}_BASE_URL to it"
            return self._final(
                f"points to {to} ({status}), and nothing was sent there", hint, "llm_not_found"
            )
        if status == 404:
            hint = f"check {prefix}_BASE_URL (it often ends in /v1) and {prefix}_MODEL"
            what = f"has no such address or model {self._endpoint.model!r} (404{said})"
            return self._final(what, hint, "llm_not_found")
        after = _retry_after(error.response.headers)
        if status == 429:
            asked = f", asks to wait {after:g} seconds" if after is not None else ""
            hint = "fewer --jobs, or later; what was answered is kept" if self._kept else "later"
            what = f"has too many requests (429{asked}{said})"
            return self.error(what, hint=hint, kind="llm_busy", after=after)
        if status >= 500 or status in (408, 409, 425):
            return self.error(f"failed ({status}{said})", after=after)
        hint = "a shorter context, or another model"
        return self._final(f"cannot serve this request ({status}{said})", hint, "llm_request")

    def said(self, body: object) -> str:
        """`: ` and the server's own message, short, or nothing."""
        message = body.get("message") if isinstance(body, dict) else body
        return f": {self._endpoint.short(message)}" if isinstance(message, str) and message.strip() else ""

    def _final(self, what: str, hint: str, kind: str) -> LLMError:
        """An error that another try would meet again."""
        return self.error(what, hint=hint, retryable=False, kind=kind)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds from a `Retry-After` header, which holds seconds or an HTTP date."""
    value = headers.get("retry-after", "").strip()
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
    return max(0.0, (moment - datetime.now(timezone.utc)).total_seconds())
