"""Secrets by their own form: keys by their beginning, JWTs, private keys, headers, passwords in addresses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from smartsearch.text.redact.page import Page, Rule, Span

Find = Callable[[Page], Iterator[Span]]


def _group(*patterns: str, cased: bool = False) -> Find:
    """Every place where one of `patterns` fits, in lower case unless `cased`: its first group.

    What is masked already stays.
    """
    compiled = [re.compile(pattern) for pattern in patterns]

    def find(page: Page) -> Iterator[Span]:
        text = page.text if cased else page.low
        return _apart(
            found.span(1) for one in compiled for found in one.finditer(text) if page.open(found.start(1))
        )

    return find


def _apart(spans: Iterable[Span]) -> Iterator[Span]:
    """Spans in order, without those that begin in another."""
    at = 0
    for start, end in sorted(spans):
        if start >= at:
            yield start, end
            at = end


_CREDENTIALS = re.compile(r"://[^\s/:@]{0,200}:([^\s/]+)")


def _in_addresses(page: Page) -> Iterator[Span]:
    """The password of `scheme://user:password@host`: up to the last @ before a slash or a blank."""
    for found in _CREDENTIALS.finditer(page.text):
        start, end = found.start(1), page.text.rfind("@", *found.span(1))
        if end > start and page.text[found.start() - 1 : found.start()].isalnum() and page.open(start):
            yield start, end


_PEM_NAME = r"[A-Za-z0-9 ]{0,40}(?:PRIVATE KEY|Static key)[A-Za-z0-9 ]{0,20}"
_PEM = re.compile(
    rf"-{{4,5}} ?BEGIN {_PEM_NAME} ?-{{4,5}}(?:.*?-{{4,5}} ?END [A-Za-z0-9 ]{{0,60}} ?-{{4,5}}|.*)", re.S
)
_BODY = r"(?:\n[ \t>|]{0,8}(?:[A-Za-z0-9+/=]{16,}|[A-Za-z-]{1,30}: [^\n]{1,80})?(?![^\n]))"
_PUTTY = re.compile(rf"(?i:private-lines):[^\S\n]{{0,4}}[0-9]{{1,4}}({_BODY}+)")
_OPENED = re.compile(
    rf"-{{4,5}} ?BEGIN {_PEM_NAME} ?-{{4,5}}({_BODY}+(?:\n[A-Za-z0-9+/=]{{1,76}}(?=\n-{{4}}))?)"
)


def _in_pages(*patterns: re.Pattern[str]) -> Find:
    """What `patterns` find, as it is written: their last group, if they have one."""
    return lambda page: _apart(
        found.span(found.re.groups) for one in patterns for found in one.finditer(page.text)
    )


_ANY = "[A-Za-z0-9_-]"
_ALNUM = "[A-Za-z0-9]"
_HEX = "[a-f0-9]"
_END = "(?![A-Za-z0-9])"


def _begun(alphabet: str, least: int, beginnings: str) -> dict[str, str]:
    """By hint, patterns of keys with these beginnings, then at least `least` characters of an alphabet."""
    return {b.lower(): f"{re.escape(b)}{alphabet}{{{least},}}" for b in beginnings.split()}


_KEYS = {
    **_begun(_ALNUM, 10, "sk_live_ sk_test_ rk_live_ rk_test_ rzp_live_ rzp_test_"),  # Stripe, Razorpay
    **_begun("[A-Za-z0-9-]", 10, "xoxa- xoxb- xoxe- xoxp- xoxr- xoxs- xoxe.xoxp- xoxe.xoxb- xwfp-"),  # Slack
    **_begun(_ALNUM, 20, "ghp_ gho_ ghu_ ghs_ ghr_ hf_"),  # GitHub, Hugging Face
    **_begun(_ALNUM, 12, "LTAI4 LTAI5"),  # Alibaba
    **_begun(
        "[A-Za-z0-9_.-]", 16, "glpat- gldt- glrt- glptt- glft- glsoat- glcbt- glagent- gloas-"
    ),  # GitLab
    **_begun("[A-Za-z0-9_=-]", 20, "ATATT3 ATCTT3 ATBB"),  # Atlassian
    **_begun("[A-Za-z0-9+/_%=-]", 20, "FwoGZXIvYXdz IQoJb3JpZ2lu ABSKQmVkcm9ja"),  # AWS
    **_begun(_HEX, 30, "dapi key- pul- rubygems_ sqp_ squ_ sqa_ sntryu_ e2b_ shippo_live_ shippo_test_"),
    **_begun(_HEX, 40, "dop_v1_ doo_v1_ dos_v1_ dor_v1_"),  # DigitalOcean
    **_begun("[A-Z0-9]", 20, "AGE-SECRET-KEY-1 NRAK-"),  # age, New Relic
    **_begun(
        _ANY,
        20,
        "shpat_ shpss_ shpca_ shppa_ github_pat_ gsk_ npm_ dckr_pat_ dckr_oat_ lin_api_ lin_oauth_ xai- "
        "pplx- nvapi- whsec_ glsa_ glc_ figd_ sbp_ sb_secret_ tskey- GOCSPX- ya29. hvs. hvb. hvr. PMAK- "
        "fm2_ fo1_ tvly- pcsk_ phx_ phs_ nfp_ sntrys_ sgp_ bkua_ CCIPAT_ "
        "pscale_tkn_ pscale_pw_ pscale_oauth_ napi_ vcp_ sq0atp- sq0csp- HRKU- FLWSECK- FLWSECK_TEST- "
        "duffel_live_ duffel_test_ lsv2_pt_ lsv2_sk_ NRII- NRAA- xkeysib- xsmtpsib- mfa. ops_eyJ api_org_ "
        "CLOJARS_ secret-token: amzn.mws. amzn1.oa2-cs.v1. waka_ sl.u. ntn_",
    ),
    **_begun(_ANY, 30, "AIza pypi- 1//0 EAAG EAAC EAAB EAAA IGQV AQVN y0_ jina_ EZAK EZTK AKCp"),
    **_begun("[A-Za-z0-9%+/=_-]", 30, "cmVmdGtu eyJrIjoi AAAAAAAAAAAAAAAAAAAAA Atzr| Atza| "),
    **_begun("[A-Za-z0-9_.-]", 40, "dp.pt. dp.ct. dp.st. dp.scim. dp.audit."),  # Doppler
    **_begun(_ALNUM, 24, "AKID"),  # Tencent
    **{f"a{of}".lower(): rf"A{of}[A-Z0-9]{{16}}{_END}" for of in ("KIA", "SIA", "BIA", "CCA")},  # AWS
    "xapp-": r"xapp-[0-9]-[A-Za-z0-9-]{10,}",
    "a3t": rf"A3T[A-Z0-9]{{17}}{_END}",
    "sg.": rf"SG\.{_ANY}{{16,80}}\.{_ANY}{{16,}}",  # SendGrid
    ":aa": rf"[0-9]{{8,10}}:AA{_ANY}{{30,}}",  # Telegram bots
    "a3-": r"A3-[A-Z0-9]{6}(?:-[A-Z0-9]{5,6}){4,5}",  # 1Password
    "v1.0-": rf"v1\.0-{_HEX}{{24}}-{_HEX}{{80,}}",  # Cloudflare
    "atlasv1.": rf"{_ALNUM}{{14}}\.atlasv1\.{_ANY}{{40,}}",  # Terraform
    "q~": r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{30,}",  # Microsoft
    "sk.eyj": rf"[ps]k\.eyJ{_ANY}{{20,}}\.{_ANY}{{16,}}",  # Mapbox
    "access_token$": rf"access_token\$[a-z]{{4,12}}\$[a-z0-9]{{16}}\${_HEX}{{32}}",  # PayPal
    "t1.": rf"t1\.{_ANY}{{30,}}\.{_ANY}{{60,}}",  # Yandex
    "-us": rf"{_HEX}{{32}}-us[0-9]{{1,2}}{_END}",  # Mailchimp
    "xprv": r"[xyz]prv[1-9A-HJ-NP-Za-km-z]{100,}",
    "nsec1": r"nsec1[a-z0-9]{50,}",
}
_WEAK = {
    **_begun(_ALNUM, 16, "r8_ fw_ csk- fc- rnd_ up_"),
    **_begun(_ALNUM, 40, "secret_ sk_ oy2"),
    **_begun(_ALNUM, 32, "cio"),
    **_begun(rf"{_ALNUM}{{6,12}}_{_ALNUM}", 16, "re_"),
    **_begun(_ANY, 16, "sk-"),  # OpenAI, Anthropic, OpenRouter
}
"""Keys by what they begin with, or hold, in lower case; those of `_WEAK` have a digit."""

_PATTERNS = {hint: re.compile(pattern) for hint, pattern in (_KEYS | _WEAK).items()}


def _keys(page: Page) -> Iterator[Span]:
    """Keys that are no part of a word, in order."""
    return _apart(
        match.span()
        for hint, pattern in _PATTERNS.items()
        if hint in page.low
        for match in pattern.finditer(page.text)
        if not page.text[max(match.start() - 1, 0) : match.start()].isalnum()
        and (hint not in _WEAK or any(c.isdigit() for c in match[0]))
    )


RULES = (
    Rule("private key", _in_pages(_PEM), ("private key", "static key")),
    Rule("private key", _in_pages(_PUTTY), ("private-lines",)),
    Rule("token", _group(r"://([a-z0-9_-]{20,})(?::x-oauth-basic)?@"), ("://",)),
    Rule("password", _in_addresses, ("://",)),
    Rule("password", _group(r"wifi:(?:[^\s;:]{0,80}:[^;\n]{0,80};){0,6}p:\"?([^;\"\n]+)"), ("wifi:",)),
    Rule("password", _group(r"thin:[^\s/@:]{1,80}/([^\s@]{1,200})@"), ("thin:",)),
    Rule("token", _group(r"(?:vmess|vless|trojan|ssr?)://([a-z0-9+/=_-]{16,})"), ("://",)),
)
"""Rules that come before those by name: these hold other secrets."""

OPENED = Rule("private key", _in_pages(_OPENED, _PUTTY), ("private key", "private-lines"))
"""The lines of a private key without its end, even if another text follows."""

_HEADER = r"authorization[\\\"']{0,3}\s{0,4}[:=]\s{0,4}[\\\"']{0,3}"
_SCHEME = r"(?:bearer|basic|token|api-?key|digest|negotiate|ntlm|hawk|aws4-hmac-sha256)\s{1,4}"
_WORD = r"[^\s\"'\\]"
_Q = r"[\"']?([^\s\"'|;]+)"


def _option(commands: str, option: str) -> str:
    """What stands behind an option of commands, on the same line."""
    return rf"(?:{commands})(?=[^\S\n])[^\n]{{0,200}}?[^\S\n]{option}{_Q}"


HEADERS = (
    Rule("token", _group(rf"{_HEADER}{_SCHEME}({_WORD}+)"), ("authorization",)),
    Rule(
        "token",
        _group(rf"{_HEADER}(?:[a-z][a-z0-9-]{{1,20}}\s{{1,4}})?(?=[^\s0-9]{{0,100}}[0-9])({_WORD}{{16,}})"),
        ("authorization",),
    ),
    Rule(
        "token",
        _group(
            r"(?:response|signature|v[01]|sha(?:1|256|512))=\\?[\"']?(?=[^\s0-9]{0,100}[0-9])([a-z0-9%+/=_-]{24,})"
        ),
        ("authorization", "signature"),
    ),
    Rule(
        "token",
        _group(
            r"b(?<![a-z0-9].)earer[\s:]{1,4}(?=[a-z._~+/-]{0,200}[0-9])([a-z0-9._~+/-][a-z0-9._~+/=-]{15,})"
        ),
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
            r"(?:curl|wget)(?=[^\S\n])[^\n]{0,200}?[^\S\n]-{1,2}(?:proxy-)?u(?:ser)?[ =]?"
            r"[\"']?[^\s:\"']{1,80}:([^\s\"']+)",
            _option("https?|xh", r"-a[^\S\n]{1,4}[\"']?[^\s:\"']{1,80}:"),
            _option("lftp", r"-u[^\S\n]{1,4}[\"']?[^\s,\"']{1,80},"),
            _option("smbclient|smbget|rpcclient|winexe", r"-(?:u|-user)[^\S\n=]{0,4}[\"']?[^\s%\"']{1,80}%"),
        ),
        ("curl", "wget", " -a ", "lftp", "smb", "rpcclient", "winexe"),
    ),
    Rule(
        "password",
        _group(
            _option("[Uu]nzip|zip|sqlcmd|bcp|mosquitto_[ps]ub|ipmitool", r"-P[^\S\n]{0,4}"),
            _option(
                "docker[^\\S\n]{1,4}login|az[^\\S\n]{1,4}login|mongo[a-z]{0,8}|rdesktop", r"-p[^\S\n]{1,4}"
            ),
            _option("redis-cli", r"-a[^\S\n]{1,4}"),
            _option("ldap[a-z]{3,9}|security", r"-w[^\S\n]{1,4}"),
            _option("plink|pscp|psftp|putty|kitty", r"-pw[^\S\n]{1,4}"),
            _option("ssh-keygen", r"-N[^\S\n]{1,4}"),
            _option("ssh-keygen", r"-P[^\S\n]{1,4}"),
            _option("openssl", r"-k[^\S\n]{1,4}"),
            _option("openssl", r"-pass(?:in|out)?[^\S\n]{1,4}pass:"),
            _option("7z[ar]?|(?:un)?rar", r"-h?p"),
            _option("keytool|jarsigner", r"-(?:src|dest)?(?:store|key)pass[^\S\n]{1,4}"),
            _option("[xw]freerdp|cmdkey|mstsc", r"/p(?:ass(?:word)?)?:"),
            _option(
                "htpasswd",
                r"-[a-zA-Z]{0,6}b[a-zA-Z]{0,6}[^\S\n]{1,4}\S{1,200}[^\S\n]{1,4}\S{1,80}[^\S\n]{1,4}",
            ),
            rf"sshpass[^\S\n]{{1,4}}-p[^\S\n]{{0,4}}{_Q}",
            rf"SSHPASS={_Q}",
            cased=True,
        ),
        (
            *("zip", "sqlcmd", "bcp", "mosquitto", "ipmitool", "login", "mongo", "rdesktop", "redis-cli"),
            *(
                "ldap",
                "security",
                "plink",
                "pscp",
                "psftp",
                "putty",
                "kitty",
                "openssl",
                "7z",
                "rar ",
                "keytool",
            ),
            *("jarsigner", "freerdp", "cmdkey", "mstsc", "htpasswd", "sshpass", "ssh-keygen"),
        ),
    ),
    Rule(
        "password",
        _group(r"(?:mysql|mariadb)[^\n]{0,200}?[^\S\n]-p(?![0-9]{2,5}(?!\S))(\S\S\S+)"),
        ("mysql", "mariadb"),
    ),
    Rule(
        "password",
        _group(
            r"(?:echo|printf)[^\S\n]{1,4}[\"']?([^\s\"'|]+)[\"']?[^\S\n]{0,4}\|[^\S\n]{0,4}(?:sudo[^\S\n]{1,4}-s"
            r"|[^\n|]{0,60}--(?:password-stdin|stdin)|passwd|cryptsetup)",
            r"(?:echo|printf)[^\S\n]{1,4}[\"']?[^\s:\"'|]{1,80}:([^\s\"'|]+)[\"']?[^\S\n]{0,4}"
            r"\|[^\S\n]{0,4}(?:sudo )?chpasswd",
            rf"chpasswd[^\S\n]{{0,4}}<<<[^\S\n]{{0,4}}[\"']?[^\s:\"']{{1,80}}:{_Q}",
            rf"net[^\S\n]{{1,4}}user[^\S\n]{{1,4}}[^\s/]{{1,40}}[^\S\n]{{1,4}}(?!/){_Q}",
            r"net[^\S\n]{1,4}use[^\S\n][^\n]{0,100}?[^\S\n]([^\s\\/*:]{1,80})[^\S\n]{1,4}/user:",
            r"sqlplus[^\S\n]{1,4}[^\s/]{1,80}/([^\s@]+)",
            r"vault[^\S\n]{1,4}(?:login|token[^\S\n]{1,4}lookup)[^\S\n]{1,4}([a-z0-9._-]{20,})",
            rf"(?:wpa_passphrase|-setairportnetwork[^\S\n]{{1,4}}\S{{1,20}})[^\S\n]{{1,4}}\S{{1,40}}[^\S\n]{{1,4}}{_Q}",
            rf"wifi-sec\.psk[^\S\n]{{1,4}}{_Q}",
            rf"(?:requirepass|masterauth|bindpw|rootpw)[^\S\n]{{1,4}}{_Q}",
            r"(?:basicauth|passwordauthentication|(?<![a-z])auth ?= ?)"
            r"\([\"'][^\"'\n]{1,80}[\"'], {0,4}[\"']([^\"'\n]+)",
            r"convertto-securestring[^\S\n]{1,4}(?:-string[^\S\n]{1,4})?[\"']([^\"'\n]+)",
            r"assword:?[\"'][^\n]{0,20}?send[^\S\n]{1,4}\"([^\"\\\n]+)",
        ),
        (
            *("echo", "printf", "chpasswd", "net use", "sqlplus", "vault", "passphrase", "airport"),
            *("wifi-sec", "requirepass", "masterauth", "bindpw", "rootpw", "securestring", "send", "auth"),
        ),
    ),
)
"""Headers and options that carry what opens something."""

_JWT = re.compile(rf"e(?<![A-Za-z0-9_-].)yJ{_ANY}{{8,4000}}\.eyJ{_ANY}{{8}}[A-Za-z0-9_.-]*")
_HASHED = re.compile(
    r"\$(?:[1567y]|2[abxy]?|apr1|argon2[id]{1,2}|scrypt)\$[A-Za-z0-9./$=,+-]{20,}|\{S?(?:SHA|MD5|CRYPT)[0-9]{0,3}\}[A-Za-z0-9+/=$.]{20,}"
)
_DRAWN = re.compile(
    r"(?<![A-Za-z0-9_-])(?:[0-9]{6}(?:-[0-9]{6}){7}|(?=[A-Z-]{0,30}[0-9])[A-Z0-9]{4}(?:-[A-Z0-9]{4}){5}"
    r"|(?=[A-Z-]{0,30}[0-9])[A-Z0-9]{5}(?:-[A-Z0-9]{5}){3,4})(?![A-Za-z0-9_-])"
)
_SHAPED = re.compile(  # keys of Bitcoin and Stellar, tokens of Discord
    rf"(?<![A-Za-z0-9])(?:[5KL][1-9A-HJ-NP-Za-km-z]{{50,51}}{_END}|S[A-Z2-7]{{55}}{_END}"
    rf"|[MNO][A-Za-z0-9]{{23,27}}\.{_ANY}{{6}}\.{_ANY}{{27,}})"
)

_BEGUN = (Rule("token", _in_pages(_JWT), ("eyj",)), Rule("api key", _keys, tuple(_PATTERNS)))
KEYS = (
    *_BEGUN,
    Rule(
        "token",
        _group(
            r"hooks\.slack\.com/(?:services|workflows|triggers)/([a-z0-9_/]+)",
            r"discord(?:app)?\.com/api/webhooks/([0-9]{1,24}/[a-z0-9_-]+)",
            r"telegram\.org/bot([0-9]{6,12}:[a-z0-9_-]{20,})",
            r"otpauth-migration://offline\?data=(\S+)",
            r"/(?:reset|reset-password|password-reset|magic-?link|magic|verify|confirm|activate|invite|invitation)/"
            r"(?=[a-z_-]{0,60}[0-9])([a-z0-9_-]{20,})",
        ),
        ("://",),
    ),
    Rule(
        "token",
        _group(
            r"[?&;#](?:x-amz-|x-goog-)?(?:sig(?:nature)?|hmac|ticket|jwt|auth|key|code|t)="
            r"(?=[^\s0-9&]{0,100}[0-9])([a-z0-9%_+/.~-][a-z0-9%_+/=.~-]{15,})"
        ),
        ("sig=", "signature=", "hmac=", "ticket=", "jwt=", "auth=", "key=", "code=", "?t=", "&t="),
    ),
    Rule("api key", _in_pages(_SHAPED)),
    Rule("password", _in_pages(_HASHED), ("$", "{sha", "{ssha", "{md5", "{smd5", "{crypt")),
    Rule("recovery code", _in_pages(_DRAWN)),
    Rule(
        "password",  # of a list of accounts
        _group(
            r"@[A-Za-z0-9-]{1,63}\.[A-Za-z0-9.-]{1,63}[^\S\n]?[:/|;,][^\S\n]?(?=\S{0,40}[a-z])(?=\S{0,40}[A-Z])(?=\S{0,40}[0-9])"
            r"([^\s/:|;,]{8,40})(?!\S)",
            cased=True,
        ),
        ("@",),
    ),
    Rule(
        "token",
        _group(r"[\"'](?:d|k|p|q|dp|dq|qi)[\"']\s{0,4}:\s{0,4}[\"']([a-z0-9_-]{40,})"),
        ('"kty"', "'kty'"),
    ),
)
"""Anything that looks like a key, wherever it stands."""

BROKEN = (*HEADERS[:4], *_BEGUN)
"""Secrets long enough to go on over the end of a line."""
