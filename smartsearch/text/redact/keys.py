"""Secrets by their own form: keys by their beginning, JWTs, private keys, headers, passwords in addresses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from smartsearch.text.redact.page import FILL, Page, Rule, Span

Find = Callable[[Page], Iterator[Span]]


def _group(pattern: str) -> Find:
    """Every place where `pattern` fits in lower case: its first group. What is masked already stays."""
    compiled = re.compile(pattern)

    def find(page: Page) -> Iterator[Span]:
        spans = (found.span(1) for found in compiled.finditer(page.low))
        return ((start, end) for start, end in spans if page.text[start] != FILL)

    return find


_CREDENTIALS = re.compile(r"://[^\s/:@]{0,200}:([^\s/]+)")


def _in_addresses(page: Page) -> Iterator[Span]:
    """The password of `scheme://user:password@host`: up to the last @ before a slash or a blank."""
    for found in _CREDENTIALS.finditer(page.text):
        start, end = found.start(1), page.text.rfind("@", *found.span(1))
        if (
            end > start
            and page.text[found.start() - 1 : found.start()].isalnum()
            and page.text[start] != FILL
        ):
            yield start, end


_PEM = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z0-9 ]{0,20}-----(?:.*?-----END [A-Z0-9 ]{0,60}-----|.*)", re.S
)

_ANY = "[A-Za-z0-9_-]"
_KEYS = {
    **{f"gh{kind}_": rf"gh{kind}_[A-Za-z0-9]{{20,}}" for kind in "pousr"},  # GitHub
    **{
        f"gl{kind}-": rf"gl{kind}-[A-Za-z0-9_.-]{{16,}}"
        for kind in ["pat", "dt", "rt", "ptt", "ft", "soat", "cbt"]
    },  # GitLab
    **{f"shp{kind}_": rf"shp{kind}_{_ANY}{{20,}}" for kind in ["at", "ss", "ca", "pa"]},  # Shopify
    "sk-": rf"sk-(?={_ANY}{{0,200}}[0-9]){_ANY}{{16,}}",  # OpenAI, Anthropic, OpenRouter
    "k_live_": r"[sr]k_live_[A-Za-z0-9]{10,}",  # Stripe
    "k_test_": r"[sr]k_test_[A-Za-z0-9]{10,}",
    "github_pat_": r"github_pat_[A-Za-z0-9_]{20,}",
    "akia": r"AKIA[A-Z0-9]{16}(?![A-Za-z0-9])",  # AWS
    "asia": r"ASIA[A-Z0-9]{16}(?![A-Za-z0-9])",
    "abia": r"ABIA[A-Z0-9]{16}(?![A-Za-z0-9])",
    "acca": r"ACCA[A-Z0-9]{16}(?![A-Za-z0-9])",
    "a3t": r"A3T[A-Z0-9]{17}(?![A-Za-z0-9])",
    "aiza": rf"AIza{_ANY}{{30,}}",  # Google
    "ya29.": rf"ya29\.{_ANY}{{20,}}",
    "xox": r"xox[abeprs]-[A-Za-z0-9-]{10,}",  # Slack
    "xapp-": r"xapp-[0-9]-[A-Za-z0-9-]{10,}",
    "hf_": r"hf_[A-Za-z0-9]{20,}",
    "gsk_": rf"gsk_{_ANY}{{20,}}",
    "npm_": rf"npm_{_ANY}{{20,}}",
    "pypi-": rf"pypi-{_ANY}{{30,}}",
    "dckr_pat_": rf"dckr_pat_{_ANY}{{20,}}",
    "lin_api_": rf"lin_api_{_ANY}{{20,}}",
    "xai-": rf"xai-{_ANY}{{20,}}",
    "pplx-": rf"pplx-{_ANY}{{20,}}",
    "nvapi-": rf"nvapi-{_ANY}{{20,}}",
    "sg.": rf"SG\.{_ANY}{{16,80}}\.{_ANY}{{16,}}",  # SendGrid
    "_v1_": r"do[ops]_v1_[a-f0-9]{40,}",  # DigitalOcean
    ":aa": rf"[0-9]{{8,10}}:AA{_ANY}{{30,}}",  # Telegram bots
    "age-secret-key-1": r"AGE-SECRET-KEY-1[A-Z0-9]{20,}",
    "atatt3": r"ATATT3[A-Za-z0-9_=-]{20,}",  # Atlassian
    "whsec_": rf"whsec_{_ANY}{{20,}}",
    "glsa_": rf"glsa_{_ANY}{{20,}}",  # Grafana
    "figd_": rf"figd_{_ANY}{{20,}}",
    "sbp_": rf"sbp_{_ANY}{{20,}}",
    "tskey-": rf"tskey-{_ANY}{{20,}}",
    "nrak-": r"NRAK-[A-Z0-9]{20,}",  # New Relic
}
"""Keys by what they begin with, or hold, in lower case."""
_PATTERNS = {hint: re.compile(pattern) for hint, pattern in _KEYS.items()}


def _keys(page: Page) -> Iterator[Span]:
    """Keys that are no part of a word, in order."""
    found = [
        match.span()
        for hint, pattern in _PATTERNS.items()
        if hint in page.low
        for match in pattern.finditer(page.text)
        if not page.text[max(match.start() - 1, 0) : match.start()].isalnum()
    ]
    at = 0
    for start, end in sorted(found):
        if start >= at:
            yield start, end
            at = end


RULES = (
    Rule("private key", lambda page: (found.span() for found in _PEM.finditer(page.text)), ("private key",)),
    Rule("password", _in_addresses, ("://",)),
)
"""Before what goes by a name: these hold other secrets."""

_HEADER = r"authorization[\\\"']{0,3}\s{0,4}[:=]\s{0,4}[\\\"']{0,3}"
_SCHEME = r"(?:bearer|basic|token|api-?key|digest|negotiate|ntlm|hawk|aws4-hmac-sha256)\s{1,4}"
_WORD = r"[^\s\"'\\]"

HEADERS = (
    Rule("token", _group(rf"{_HEADER}{_SCHEME}({_WORD}+)"), ("authorization",)),
    Rule("token", _group(rf"{_HEADER}(?=[^\s0-9]{{0,100}}[0-9])({_WORD}{{16,}})"), ("authorization",)),
    Rule(
        "token",
        _group(r"b(?<![a-z0-9].)earer\s{1,4}(?=[a-z._~+/-]{0,200}[0-9])([a-z0-9._~+/-][a-z0-9._~+/=-]{15,})"),
        ("bearer",),
    ),
    Rule(
        "token",
        _group(r"c(?<![a-z].)ookie[\"']?:[^\S\n]{0,4}[\"']?[a-z0-9_.-]{1,80}=([^\n\"']+)"),
        ("cookie",),
    ),
    Rule(
        "password",
        _group(
            r"(?:curl|wget)(?=[^\S\n])[^\n]{0,200}?[^\S\n]-{1,2}u(?:ser)?[ =]?"
            r"[\"']?[^\s:\"']{1,80}:([^\s\"']+)"
        ),
        ("curl", "wget"),
    ),
    Rule("password", _group(r"docker\s{1,4}login[^\n]{0,200}?[^\S\n]-p[^\S\n]?(\S+)"), ("docker",)),
    Rule(
        "password",
        _group(r"(?:mysql|mariadb)[^\n]{0,200}?[^\S\n]-p(?![0-9]{2,5}(?!\S))(\S\S\S+)"),
        ("mysql", "mariadb"),
    ),
    Rule("password", _group(r"sshpass[^\S\n]{1,4}-p[^\S\n]{0,4}(\S+)"), ("sshpass",)),
)
"""Headers and options that carry what opens something."""

_JWT = re.compile(rf"e(?<![A-Za-z0-9_-].)yJ{_ANY}{{8,4000}}\.eyJ{_ANY}{{8}}[A-Za-z0-9_.-]*")

KEYS = (
    Rule("token", lambda page: (found.span() for found in _JWT.finditer(page.text)), ("eyj",)),
    Rule("token", _group(r"hooks\.slack\.com/(?:services|workflows)/([a-z0-9_/]+)"), ("hooks.slack",)),
    Rule("token", _group(r"discord(?:app)?\.com/api/webhooks/([0-9]{1,24}/[a-z0-9_-]+)"), ("/webhooks/",)),
    Rule(
        "token",
        _group(r"[?&](?:x-amz-|x-goog-)?sig(?:nature)?=([a-z0-9%_+/-][a-z0-9%_+/=-]{15,})"),
        ("sig=", "signature="),
    ),
    Rule("api key", _keys, tuple(_KEYS)),
)
"""What looks like a key, wherever it stands."""
