"""Masks secrets in what is shown or sent: keys, passwords, card and account numbers. Pure: records in, out.

By pattern and check digit alone, so that a name, a date or an order number stays; what looks like nothing in
particular (a password said without the word, a phone number) stays too. The search itself sees all of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from smartsearch.nearby import Nearby
from smartsearch.types import Hit, HopTrace, Result, Term, Trace, Turn, fold

MARK = re.compile(r"\[redacted: ([a-z -]+)\]")
"""What stands in the place of a secret, with its kind."""
_IN_MARK = re.compile(r"\[redacted: [a-z -]*\Z")


def redacted(text: str) -> str:
    """`text` with each secret as `[redacted: kind]`; what is masked already stays as it is."""
    lowered = text.lower()
    for rule in RULES:
        if not rule.hints or _holds(lowered, rule.hints):
            text = _masked(text, rule.kind, rule.find)
    return text


def _holds(lowered: str, hints: tuple[str, ...]) -> bool:
    for hint in hints:  # noqa: SIM110 - `any` takes twice as long
        if hint in lowered:
            return True
    return False


def kinds(text: str) -> list[str]:
    """The kinds of secrets that `redacted` finds in `text`, each once."""
    return list(dict.fromkeys(MARK.findall(redacted(text))))


def redacted_turn(turn: Turn) -> Turn:
    """The turn with its text, caption, speaker and title masked; path, place and the source's ids stay.

    A line `password: x` in a chat may have been read as somebody called password: both are looked at as one.
    """
    start = f"{turn.speaker}: " if turn.speaker else ""
    whole = redacted(f"{start}{turn.text}")
    if whole.startswith(start):
        speaker, text = turn.speaker, whole[len(start) :]
    else:
        speaker, text = redacted(turn.speaker), redacted(turn.text)
    caption = redacted(turn.caption) if turn.caption else ""
    title = redacted(turn.title) if turn.title else ""
    if (text, speaker, caption, title) == (turn.text, turn.speaker, turn.caption, turn.title):
        return turn
    return replace(turn, text=text, speaker=speaker, caption=caption, title=title)


def redacted_result(answer: Result, around: Sequence[Nearby] = ()) -> tuple[Result, list[Nearby]]:
    """An answer and its context turns, masked wherever either is shown: turns, terms, hops, warnings.

    Hops search for words of other turns, a password among them: a term is shown only where the masked
    question or a masked turn holds it too.
    """
    hits = [(hit, redacted_turn(hit.turn)) for hit in answer.hits]
    dropped = tuple(replace(d, turn=redacted_turn(d.turn)) for d in answer.budget.dropped)
    hidden = [(hit, redacted_turn(hit.turn)) for hit in answer.budget.hidden]
    nearby = [
        Nearby(n.index, tuple(map(redacted_turn, n.before)), tuple(map(redacted_turn, n.after)))
        for n in around
    ]
    query = redacted(answer.query)
    seen = [turn for _, turn in hits] + [d.turn for d in dropped] + [turn for _, turn in hidden]
    seen += [turn for n in nearby for turn in (*n.before, *n.after)]
    shown = _terms_within("\n".join([query, *(turn.spoken for turn in seen)]))
    result = replace(
        answer,
        query=query,
        hits=tuple(_hit(hit, turn, shown) for hit, turn in hits),
        budget=replace(
            answer.budget, dropped=dropped, hidden=tuple(_hit(hit, turn, shown) for hit, turn in hidden)
        ),
        trace=_trace(answer.trace, shown),
        skipped=tuple(replace(s, reason=redacted(s.reason)) for s in answer.skipped),
        warnings=tuple(map(redacted, answer.warnings)),
    )
    return result, nearby


def _terms_within(text: str) -> Callable[[tuple[Term, ...]], tuple[Term, ...]]:
    """What masks those terms that `text` does not hold."""
    held = " ".join(fold(MARK.sub("\0", text)).split())

    def shown(terms: tuple[Term, ...]) -> tuple[Term, ...]:
        return tuple(replace(t, text=_held(t.text), source=_held(t.source)) for t in terms)

    def _held(word: str) -> str:
        return word if " ".join(fold(word).split()) in held else "[redacted: term]"

    return shown


def _hit(hit: Hit, turn: Turn, shown: Callable[[tuple[Term, ...]], tuple[Term, ...]]) -> Hit:
    return replace(hit, turn=turn, terms=shown(hit.terms), also=tuple(map(redacted_turn, hit.also)))


def _trace(trace: Trace, shown: Callable[[tuple[Term, ...]], tuple[Term, ...]]) -> Trace:
    hops = tuple(HopTrace(h.hop, h.kind, shown(h.terms), h.found, h.total) for h in trace.hops)
    return replace(
        trace,
        terms=shown(trace.terms),
        hops=hops,
        fallback=redacted(trace.fallback),
        degraded=tuple(map(redacted, trace.degraded)),
    )


Span = tuple[int, int]


@dataclass(frozen=True)
class Rule:
    """A kind of secret and where in a text it stands, first to last.

    `hints`: a text has at least one of them, in lower case, or the rule finds nothing; most texts have none.
    """

    kind: str
    find: Callable[[str], Iterator[Span]]
    hints: tuple[str, ...] = ()


def _masked(text: str, kind: str, find: Callable[[str], Iterator[Span]]) -> str:
    parts: list[str] = []
    at = 0
    for start, end in find(text):
        parts += [text[at:start], f"[redacted: {kind}]"]
        at = end
    return "".join([*parts, text[at:]]) if parts else text


def _group(pattern: str, flags: int = 0) -> Callable[[str], Iterator[Span]]:
    """Every place where `pattern` fits: its group `secret`, or all of it."""
    compiled = re.compile(pattern, flags)
    group = "secret" if "secret" in compiled.groupindex else 0
    return lambda text: (found.span(group) for found in compiled.finditer(text))


_PASSWORD = (
    r"pass(?:word|wort|wd|code|phrase)|pwd|kennwort|contrase[nñ]a|mot de passe|senha|wachtwoord|hasło"
    r"|пароль|密码|密碼|パスワード|비밀번호"
)
_KEYS_OF = (
    "api",
    "access",
    "secret",
    "private",
    "auth",
    "client",
    "account",
    "encryption",
    "signing",
    "shared",
)
# Looked back at from the k: a search for few first letters passes over most of a text.
_TOKEN = f"token|secret|k(?:{'|'.join(f'(?<={of}k)|(?<={of}[-_ ]k)' for of in _KEYS_OF)})ey"
_ASSIGNED = r"[0-9]?[\"'`\]*]{0,3}[^\S\n]*(?:=>|:=|={1,3}|[:：])[*_]{0,3}[^\S\n]*\n?[^\S\n]*"
_ABOUT = r"(?: (?:for|to|of|on|für|fürs|zum|vom|del|pour)\b[^\n:=]{1,40})?"
_IS = (
    rf"{_ABOUT}(?:[^\S\n]*:|[^\S\n]+(?:is|was|are|ist|war|es|est|è|era)(?:[^\S\n]+(?:now|still|just|jetzt|again))?)"
    r"[^\S\n]+"
)
_QUOTED = r"(?P<quote>[\"'`])(?P<quoted>(?:(?!(?P=quote))[^\\\n]|\\.)+)(?P=quote)"
_VALUE = rf"{_QUOTED}|(?P<bare>(?:\[redacted: [a-z -]+\]|\S)+)"
_LINE = rf"{_QUOTED}|(?P<bare>\S[^\n]*)"


_CODE = re.compile(
    r"[A-Za-z_]\w*(?:\.\w+)+[(\[]|[a-z]+(?:_[a-z]+)+\("  # data.get('x'), os.environ["X"], check_hash(x)
    r"|(?:return|raise|throw|if|for|self|print|pass|continue|break|None|True|False|null|undefined|str|string)"
    r"(?![A-Za-z0-9])[^A-Za-z0-9]*\Z"
)
"""What stands behind `password =` in a program and is no password."""


def _named(name: str, value: str, convincing: Callable[[str, bool], bool]) -> Callable[[str], Iterator[Span]]:
    """The value that stands behind a name: in quotes, or up to a blank. `convincing`(value, in quotes)."""
    names, values = re.compile(name), re.compile(value)

    def find(text: str) -> Iterator[Span]:
        at = 0
        for found in names.finditer(_lower(text)):
            if found.start() < at or _IN_MARK.search(text, max(0, found.start() - 20), found.start()):
                continue
            if MARK.match(text, found.end()):
                continue
            told = values.match(text, found.end())
            if told is None:
                continue
            group = "bare" if told["quoted"] is None else "quoted"
            if group == "bare" and _CODE.match(told[group]):
                continue
            if not MARK.match(told[group]) and convincing(MARK.sub("", told[group]), group == "quoted"):
                at = told.end()
                yield told.span(group)

    return find


def _lower(text: str) -> str:
    """`text` in lower case, each character in its place: a name is found several times faster in it."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(c if len(c.lower()) > 1 else c.lower() for c in text)


def _any(_value: str, _quoted: bool) -> bool:
    return True


def _mixed(value: str, quoted: bool) -> bool:
    """Whether `value` is no word of a sentence: four characters or more with a digit, or in quotes."""
    return len(value) >= 4 and (quoted or any(c.isdigit() for c in value))


def _keylike(value: str, _quoted: bool) -> bool:
    """Whether `value` could be a key: six characters or more with a digit, or very long."""
    return len(value) >= 16 or (len(value) >= 6 and any(c.isdigit() for c in value))


_KEYS = "|".join(
    [
        r"sk-(?=[A-Za-z0-9_-]{0,200}[0-9])[A-Za-z0-9_-]{16,}",  # OpenAI, Anthropic, OpenRouter
        r"[sr]k_(?:live|test)_[A-Za-z0-9]{10,}",  # Stripe
        r"gh[pousr]_[A-Za-z0-9]{20,}",
        r"github_pat_[A-Za-z0-9_]{20,}",
        r"gl(?:pat|dt|rt|ptt|ft|soat|cbt)-[A-Za-z0-9_.-]{16,}",
        r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])",
        r"AIza[A-Za-z0-9_-]{30,}",
        r"ya29\.[A-Za-z0-9_-]{20,}",
        r"xox[abeprs]-[A-Za-z0-9-]{10,}",
        r"xapp-[0-9]-[A-Za-z0-9-]{10,}",
        r"hf_[A-Za-z0-9]{20,}",
        r"(?:gsk|npm|dckr_pat|shpat|lin_api)_[A-Za-z0-9_-]{20,}",
        r"(?:xai|pplx|nvapi)-[A-Za-z0-9_-]{20,}",
        r"pypi-[A-Za-z0-9_-]{30,}",
        r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",  # SendGrid
        r"do[ops]_v1_[a-f0-9]{40,}",  # DigitalOcean
        r"[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}",  # Telegram bots
    ]
)
_KEY_HINTS = (
    *("sk-", "k_live_", "k_test_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-"),
    *(
        "glrt-",
        "glptt-",
        "glft-",
        "glsoat-",
        "glcbt-",
        "akia",
        "asia",
        "aiza",
        "ya29.",
        "xox",
        "xapp-",
        "hf_",
    ),
    *("gsk_", "npm_", "dckr_pat_", "shpat_", "lin_api_", "xai-", "pplx-", "nvapi-", "pypi-", "sg.", "_v1_"),
    ":aa",
)

# Digits in groups of three or more, not a part of a word, a decimal number, a path or a +telephone number.
_DIGITS = re.compile(
    r"[0-9](?<![A-Za-z0-9_+/#][0-9])(?<![0-9][.,][0-9])"
    r"[0-9]{2,}(?:[ \u00a0-][0-9]{3,})*(?![A-Za-z0-9_])(?![.,][0-9])"
)
CARD_GROUPS = 6
"""Most groups of digits of three or more that a card number is written in."""
_BRANDS = re.compile(
    r"4|5[0-8]|3[0-9]|6[0-9]|8[12]|220[0-4]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720"  # ISO/IEC 7812 ranges in use
)


def _cards(text: str) -> Iterator[Span]:
    """Numbers of 13 to 19 digits that begin as cards do and pass the Luhn check."""
    for run in _DIGITS.finditer(text):
        if len(run[0]) < 13:
            continue
        groups = [(m.start() + run.start(), m[0]) for m in re.finditer("[0-9]+", run[0])]
        at = 0
        while at < len(groups):
            end = next(
                (e for e in range(at + CARD_GROUPS, at, -1) if _is_card([g for _, g in groups[at:e]])), at
            )
            if end > at:
                end = min(end, len(groups))
                yield groups[at][0], groups[end - 1][0] + len(groups[end - 1][1])
            at = max(end, at + 1)


def _is_card(groups: Sequence[str]) -> bool:
    # Written in groups a card begins with four digits, and no group is as long as a UUID's last.
    if len(groups) > 1 and (len(groups[0]) != 4 or max(map(len, groups)) > 7):
        return False
    digits = "".join(groups)
    return 13 <= len(digits) <= 19 and bool(_BRANDS.match(digits)) and _luhn(digits)


def _luhn(digits: str) -> bool:
    """The check digit of card numbers (ISO/IEC 7812-1, annex B)."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (1 + place % 2)
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


_IBAN_START = re.compile(  # its third character and what follows, for letters are many and digits few
    r"[0-9](?<=[A-Za-z]{2}[0-9])(?<![A-Za-z0-9][A-Za-z]{2}[0-9])[0-9][ \u00a0-]?[A-Za-z0-9]"
)
_IBAN_LENGTHS = {
    code: length
    for length, codes in {
        15: "NO",
        16: "BE",
        18: "DK FI FO GL NL",
        19: "MK SI",
        20: "AT BA EE KZ LT LU XK",
        21: "CH HR LI LV",
        22: "BG BH CR DE GB GE IE ME RS VA",
        23: "AE GI IL IQ TL",
        24: "AD CZ ES MD PK RO SA SE SK TN VG",
        25: "LY PT ST",
        26: "IS TR",
        27: "FR GR IT MC MR SM",
        28: "AL AZ BY CY DO GT HU LB PL SV",
        29: "BR EG PS QA UA",
        30: "JO KW MU",
        31: "MT SC",
        32: "LC",
    }.items()
    for code in codes.split()
}
"""Characters of an IBAN by country (the SWIFT registry)."""


def _ibans(text: str) -> Iterator[Span]:
    """Account numbers of a country's length whose check digits are right (ISO 13616: mod 97 is 1)."""
    at = 0
    while found := _IBAN_START.search(text, at):
        start = found.start() - 2
        end = _iban_end(text, start)
        if end:
            yield start, end
        at = end or found.start() + 1


def _iban_end(text: str, start: int) -> int:
    """Where the IBAN that begins at `start` ends, or 0 if none does."""
    length = _IBAN_LENGTHS.get(text[start : start + 2].upper(), 0)
    held = ""
    at = start
    while at < len(text) and len(held) < length:
        if text[at].isascii() and text[at].isalnum():
            held += text[at].upper()
        elif text[at] not in " \u00a0-" or not text[at + 1 : at + 2].isalnum():
            return 0
        at += 1
    if len(held) < length or not length or text[at : at + 1].isalnum():
        return 0
    number = "".join(str(int(c, 36)) for c in held[4:] + held[:4])
    return at if int(number) % 97 == 1 else 0


_PASSWORD_HINTS = (
    *("pass", "pwd", "kennwort", "contrase", "senha", "wachtwoord", "hasło", "пароль"),
    *("密码", "密碼", "パスワード", "비밀번호"),
)
_TOKEN_HINTS = ("token", "secret", "key")

RULES = (
    Rule(
        "private key",
        _group(
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z0-9 ]{0,20}-----"
            r".*?(?:-----END [A-Z0-9 ]{0,60}-----|\Z)",
            re.S,
        ),
        ("private key",),
    ),
    Rule("password", _group(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]*:(?P<secret>[^\s/]+)@", re.I), ("://",)),
    Rule(
        "passphrase",
        _named(rf"(?:passphrase|(?:seed|recovery) phrase|mnemonic){_ASSIGNED}", _LINE, _any),
        ("phrase", "mnemonic"),
    ),
    Rule("password", _named(rf"(?:{_PASSWORD}){_ASSIGNED}", _VALUE, _any), _PASSWORD_HINTS),
    Rule("password", _named(rf"(?:{_PASSWORD}){_IS}", _VALUE, _mixed), _PASSWORD_HINTS),
    Rule("password", _named(rf"--[a-z-]{{0,20}}(?:{_PASSWORD})[ =]", _VALUE, _any), ("--",)),
    Rule(
        "token",
        _group(r"authorization[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token)\s+(?P<secret>[^\s\"'\[]+)", re.I),
        ("authorization",),
    ),
    Rule(
        "token",
        _group(r"\bbearer\s+(?P<secret>(?=[A-Za-z._~+/-]*[0-9])[A-Za-z0-9._~+/=-]{16,})", re.I),
        ("bearer",),
    ),
    Rule("token", _named(rf"(?:{_TOKEN}){_ASSIGNED}", _VALUE, _keylike), _TOKEN_HINTS),
    Rule("token", _named(rf"(?:{_TOKEN})=(?=\S{{4}})", _VALUE, _any), _TOKEN_HINTS),
    Rule("token", _named(rf"--[a-z-]{{0,20}}(?:{_TOKEN})[ =]", _VALUE, _keylike), ("--",)),
    Rule(
        "pin",
        _group(
            r"(?<!\[redacted: )\b(?:pin|cvv|cvc)(?:\s*[:=]|\s+(?:is|ist))\s*(?P<secret>[0-9]{3,8})\b", re.I
        ),
        ("pin", "cvv", "cvc"),
    ),
    Rule(
        "token",
        _group(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
        ("eyj",),
    ),
    Rule("api key", _group(rf"(?<![A-Za-z0-9])(?:{_KEYS})"), _KEY_HINTS),
    Rule("card number", _cards),
    Rule("iban", _ibans),
)
"""In this order: a value by its name first, whole, before a part of it could look like a key."""
