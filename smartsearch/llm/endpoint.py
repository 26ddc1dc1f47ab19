"""Where a language model is: its address, name and key, all from the environment."""

from __future__ import annotations

import ipaddress
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit, urlunsplit

from smartsearch.llm.faults import LLMError

OPENAI = "https://api.openai.com/v1"
"""The base URL where none is set."""
_NETWORK_NAME = re.compile(r"[a-z][a-z0-9-]*(?:(?:\.[a-z0-9-]+)*\.(?:local|lan|internal|home\.arpa))?")
"""A name without a dot is in this network; a name that begins with a digit may be an address."""


@dataclass(frozen=True)
class Price:
    """USD per million tokens read (`input`) and written (`output`)."""

    input: float
    output: float

    def of(self, prompt_tokens: float, completion_tokens: float) -> float:
        """USD."""
        return (prompt_tokens * self.input + completion_tokens * self.output) / 1e6

    @classmethod
    def parsed(cls, text: str) -> Price:
        """The price that is written as `0.15/0.60`. Raises ValueError."""
        read, written = map(float, text.split("/"))
        if not 0 <= min(read, written) <= max(read, written) < math.inf:
            raise ValueError(text)
        return cls(read, written)


@dataclass(frozen=True)
class Endpoint:
    """Where a model is. `prefix` begins the names of the variables it came from, for error messages.

    `offline`: nothing is to be sent, kept replies are all there is (SMARTSEARCH_LLM_OFFLINE). `price` is
    SMARTSEARCH_LLM_PRICE, None where it is not told.
    """

    base_url: str
    model: str
    key: str = field(default="", repr=False)
    prefix: str = "SMARTSEARCH_LLM"
    offline: bool = False
    price: Price | None = None

    @property
    def url(self) -> str:
        """The base URL as it may be shown: without user, password and query."""
        parts = urlsplit(self.base_url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))

    @property
    def host(self) -> str:
        """The name or number of the machine it is on, in lower case; empty where the URL is no address."""
        try:
            parts = urlsplit(self.base_url)
            _ = parts.port  # raises where it is no number
        except ValueError:
            return ""
        return (parts.hostname or "") if parts.scheme in ("http", "https") else ""

    @property
    def place(self) -> str:
        """Where that machine is: "this machine", "your network", or empty for anywhere.

        The address decides as it is written: no name is looked up.
        """
        try:
            address = ipaddress.ip_address(self.host)
        except ValueError:
            if self.host == "localhost":
                return "this machine"
            return "your network" if _NETWORK_NAME.fullmatch(self.host) else ""
        address = getattr(address, "ipv4_mapped", None) or address
        if address.is_loopback or address.is_unspecified:
            return "this machine"
        return "" if address.is_global or address.is_multicast else "your network"

    def agreed(self, hosts: Sequence[str]) -> bool:
        """Whether sending needs no consent: offline, this machine, or a trusted one of `hosts`."""
        near = self.offline or self.place == "this machine"
        return near or self.host in {host.strip().lower() for host in hosts}

    def redacted(self, text: str) -> str:
        """`text` without the key."""
        return text.replace(self.key, "***") if self.key else text

    def short(self, text: str) -> str:
        """The start of `text` on one line. The key is removed first: half of it would not be found."""
        return " ".join(self.redacted(text).split())[:200]


def reader_endpoint(
    env: Mapping[str, str] | None = None, model: str = "", prefix: str = "SMARTSEARCH_LLM"
) -> Endpoint:
    """The model that answers: SMARTSEARCH_LLM_BASE_URL, _MODEL, _KEY and _PRICE; `model` overrides _MODEL.

    `prefix` begins these names. The URL falls back to OPENAI_BASE_URL, then OpenAI's own. OPENAI_API_KEY is
    used where that is the address, so that it is sent nowhere else. Raises LLMError "llm_missing", naming
    every variable.
    """
    env = os.environ if env is None else env
    openai_url = env.get("OPENAI_BASE_URL", "").strip() or OPENAI
    url = env.get(f"{prefix}_BASE_URL", "").strip() or openai_url
    key = env.get(f"{prefix}_KEY", "").strip()
    if not key and url.rstrip("/") in (openai_url.rstrip("/"), OPENAI):
        key = env.get("OPENAI_API_KEY", "").strip()
    model = model or env.get(f"{prefix}_MODEL", "").strip()
    offline = env.get("SMARTSEARCH_LLM_OFFLINE", "").strip() not in ("", "0")
    price = _price(f"{prefix}_PRICE", env)
    return _checked(Endpoint(url, model, key, prefix, offline, price), f"{prefix}_KEY (or OPENAI_API_KEY)")


def memory_endpoint(env: Mapping[str, str] | None = None, model: str = "") -> Endpoint:
    """The model that systems ask: `model` of the reader's server, or of SMARTSEARCH_MEMORY_BASE_URL with its
    own _MODEL, _KEY and _PRICE. Raises LLMError "llm_missing".
    """
    env = os.environ if env is None else env
    own = env.get("SMARTSEARCH_MEMORY_BASE_URL", "").strip()
    return reader_endpoint(env, model, "SMARTSEARCH_MEMORY" if own else "SMARTSEARCH_LLM")


def _price(name: str, env: Mapping[str, str]) -> Price | None:
    text = env.get(name, "")
    try:
        return Price.parsed(text) if text.strip() else None
    except ValueError:
        raise LLMError(
            f"{name} is {text!r}", hint="USD per million tokens, read/written: 0.15/0.60", kind="llm_missing"
        ) from None


def judge_endpoint(reader: Endpoint, env: Mapping[str, str] | None = None, model: str = "") -> Endpoint:
    """The model that judges: SMARTSEARCH_JUDGE_BASE_URL, _MODEL and _KEY, each the reader's where unset.

    The reader's key is not sent to another address. Raises LLMError "llm_missing".
    """
    env = os.environ if env is None else env
    prefix = "SMARTSEARCH_JUDGE"
    url = env.get(f"{prefix}_BASE_URL", "").strip() or reader.base_url
    key = env.get(f"{prefix}_KEY", "").strip()
    if not key and url.rstrip("/") == reader.base_url.rstrip("/"):
        key = reader.key
    model = model or env.get(f"{prefix}_MODEL", "").strip() or reader.model
    return _checked(Endpoint(url, model, key, prefix, reader.offline), f"{prefix}_KEY")


def _checked(endpoint: Endpoint, key_name: str) -> Endpoint:
    if not endpoint.host:
        raise LLMError(
            f"{endpoint.prefix}_BASE_URL is no http or https address: {endpoint.url}",
            hint="such as http://localhost:8000/v1",
            kind="llm_missing",
        )
    missing = [] if endpoint.model else [f"{endpoint.prefix}_MODEL"]
    if not endpoint.key and not endpoint.place:
        missing.append(key_name)
    if missing:
        raise LLMError(
            f"no language model at {endpoint.url}: {' and '.join(missing)} not set",
            hint=f"set {' and '.join(missing)}; a server on this machine or your network needs no key, "
            f"only {endpoint.prefix}_BASE_URL",
            kind="llm_missing",
        )
    if not all(" " < character <= "~" for character in endpoint.key):
        raise LLMError(
            f"{key_name} holds a blank or a character that no key has",
            hint="copy the key again, without quotes and line ends",
            kind="llm_missing",
        )
    return endpoint
