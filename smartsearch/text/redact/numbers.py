"""Secrets by their digits: card and account numbers by their check digits, codes by the words beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from smartsearch.text.redact.page import Page, Rule, Span

_GAP = r"[ .\-–—·\t/_]"
# A digit from which 13 and more go on, in groups or not: the first of a group of three or more, not a part of
# a word, a decimal number, a path or a +telephone number.
_CARD_START = re.compile(
    rf"[0-9](?<![A-Za-z0-9_+/#][0-9])(?<![0-9][.,][0-9])(?=[0-9]{{2}})(?=(?:{_GAP}{{0,3}}[0-9]){{12}})"
)
_GROUP = re.compile(rf"([0-9]{{3,20}})({_GAP}{{0,3}})")
_GOES_ON = re.compile(r"[A-Za-z0-9_]|[.,][0-9]")
CARD_GROUPS = 6
"""Most groups of digits of three or more that a card number is written in."""
_BRANDS = re.compile(
    r"4|5[0-8]|3[0-9]|6[0-9]|8[12]|220[0-4]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720"  # ISO/IEC 7812 ranges in use
)


def _cards(page: Page) -> Iterator[Span]:
    """Numbers of 13 to 19 digits that begin as cards do and pass the Luhn check."""
    at = 0
    for start in _CARD_START.finditer(page.text):
        end = _card_end(page.text, start.start()) if start.start() >= at else 0
        if end:
            yield start.start(), end
            at = end


def _card_end(text: str, start: int) -> int:
    """Where the card number that begins at `start` ends, as many groups as can be, or 0 if none does."""
    groups: list[re.Match[str]] = []
    at = start
    while len(groups) < CARD_GROUPS and (group := _GROUP.match(text, at)):
        groups.append(group)
        at = group.end() if len(groups[0][1]) == 4 else len(text)
    while groups:
        last = groups[-1].end(1)
        dotted = len(groups) > 1 and groups[0][2] == "."
        if not _goes_on(text, last, dotted=dotted) and _is_card([group[1] for group in groups]):
            return last
        groups.pop()
    return 0


def _goes_on(text: str, at: int, *, dotted: bool) -> bool:
    """Whether a word or a decimal number goes on at `at`; a dot between dotted groups does not count."""
    return bool(_GOES_ON.match(text, at)) and not (dotted and text[at] == ".")


def _is_card(groups: Sequence[str]) -> bool:
    # Written in groups a card begins with four digits, and no group is as long as a UUID's last.
    if len(groups) > 1 and (len(groups[0]) != 4 or max(map(len, groups)) > 7):
        return False
    digits = "".join(groups)
    return 13 <= len(digits) <= 19 and bool(_BRANDS.match(digits)) and _luhn(digits)


def _luhn(digits: str) -> bool:
    """Whether the check digit of a card number is right (ISO/IEC 7812-1, annex B)."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (1 + place % 2)
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


_IBAN_START = re.compile(  # its third character and what follows, for letters are many and digits few
    r"[0-9](?<=[A-Za-z]{2}[0-9])(?<![A-Za-z0-9][A-Za-z]{2}[0-9])[0-9][ .-]{0,2}[A-Za-z0-9]"
)
_IBANS = (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 "
    "EG29 ES24 FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 "
    "KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 "
    "PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 "
    "VG24 XK20"
)
_IBAN_LENGTHS = {country[:2]: int(country[2:]) for country in _IBANS.split()}
"""Characters of an IBAN by country (the SWIFT registry)."""


def _ibans(page: Page) -> Iterator[Span]:
    """Account numbers of a country's length whose check digits are right (ISO 13616: mod 97 is 1)."""
    at = 0
    while found := _IBAN_START.search(page.text, at):
        start = found.start() - 2
        end = _iban_end(page.text, start)
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
        elif text[at] not in " .-" or not text[at + 1 : at + 3].strip(" .-"):
            return 0
        at += 1
    if len(held) < length or not length or text[at : at + 1].isalnum():
        return 0
    number = "".join(str(int(c, 36)) for c in held[4:] + held[:4])
    return at if int(number) % 97 == 1 else 0


BEFORE, BEHIND = 120, 80
"""Characters before and behind a short number in which the words stand that make it a code."""

_DIGITS = "zero|oh|one|two|three|four|five|six|seven|eight|nine"
_NUMBER = re.compile(
    r"[0-9](?<![0-9a-z_.].)(?<![0-9][.,:/].)[0-9]{2}(?:[ -]?[0-9]{1,5})?(?![0-9a-z_]|[ .,:/-][0-9])"
)
_SAID = re.compile(rf"(?<![a-z])(?:{_DIGITS})(?:[ ,-]{{1,2}}(?:{_DIGITS})){{2,7}}(?![a-z])")
_QUOTE = r"[\"'`*“„«]{0,3}(?:[a-z]{1,2}-)?"
_BE = (
    r"(?:\s{0,4}[:=]|\s{1,4}(?:is|was|ist|war|lautet|est|es|è|to|auf):?(?=\s)|['’]s|\s?[是为は는은]:?)\s{0,4}"
)
_PIN_NAME = r"(?:(?:pin|puk|cvv2?|cvc2?)[12]?(?:[-_ ]?(?:code|nummer|number|zahl))?|geheimzahl|暗証番号)"
_PIN = re.compile(rf"(?<![a-z0-9_])(?:{_PIN_NAME}{_BE}{_QUOTE}|pin-?code\s)\Z")
_BARE_PIN = re.compile(r"(?<![A-Za-z0-9_])(?:PIN|PUK[12]?|CVV|CVC|cvv|cvc)\s{1,3}\Z")
_ONCE = (
    r"(?:verification|security|confirmation|authentication|authori[sz]ation|one[- ]time|single[- ]use"
    r"|log[- ]?in|sign[- ]?in|access|auth|2fa|mfa|two[- ]factor|reset|recovery|activation|sms|unlock"
    r"|emergency|backup|scratch)[- ](?:code|pin|passcode)"
    r"|(?:one[- ]time|temporary|single[- ]use)[- ](?:password|passcode)"
    r"|(?:alarm|door|gate|keypad|safe|garage|lock)[- ](?:code|combination)"
    r"|(?<![a-z])(?:totp|otp|tan|passcode|2fa|mfa)(?![a-z])"
    r"|(?:bestätigungs|sicherheits|verifizierungs|einmal|anmelde|zugangs|freischalt|aktivierungs)-?code"
    r"|code (?:de |d')(?:vérification|sécurité|confirmation|connexion|activation)"
    r"|código de (?:verificación|seguridad|confirmación|acceso|verificação|segurança|confirmação)"
    r"|codice di (?:verifica|sicurezza|conferma)|код подтверждения|验证码|驗證碼|認証コード|인증번호"
)
_NO_SECRET = (
    r"(?!zip|post|area|country|dress|error|source|promo|discount|colou?r|status|exit|product|qr|bar|coupon)"
)
_YOURS = (
    rf"(?<![a-z])(?:your|dein|ihr|votre|ton|tu|su)[^\S\n](?:{_NO_SECRET}[^\s0-9]{{1,20}}[^\S\n]){{0,4}}"
    r"(?:code|otp|passcode)"
)
_FOR = r"(?: (?:for|to|from|on|für|bei|pour|para|per)(?=\s)[^\n:=0-9]{1,40})?"
_CODE = re.compile(rf"(?:(?:{_ONCE}|{_YOURS}){_FOR}{_BE}|(?!confirm)(?:{_ONCE})[^\S\n]{{1,2}}){_QUOTE}\Z")
_CODE_BEHIND = re.compile(
    rf"\s{{1,2}}(?:is|ist|est|es)\s{{1,2}}(?:{_YOURS}|(?:the|my)\s(?:{_ONCE}))"
    r"|\s(?:to|as)\s(?:(?:your|the|a)\s)?(?:verify|confirm|log[- ]?in|sign[- ]?in|verification|authenticat)"
)
_CODE_HINTS = (
    *("2fa", "mfa", "code", "código", "codice", "otp", "tan", "код", "one-time p", "one time p"),
    *("temporary p", "combination", "to log"),
    *("to verify", "to confirm", "to sign", "as your", "验证码", "驗證碼", "認証", "인증"),
)
_PIN_HINTS = ("pin", "cvv", "cvc", "puk", "geheimzahl", "暗証番号")


def _short(page: Page) -> Iterator[Span]:
    """Numbers of three to eight digits, written or said."""
    return (number.span() for pattern in (_NUMBER, _SAID) for number in pattern.finditer(page.low))


def _pins(page: Page) -> Iterator[Span]:
    """Numbers of three to eight digits behind the word PIN, or what it is called on a card."""
    for start, end in sorted(_short(page)):
        first = max(0, start - BEFORE)
        if _PIN.search(page.low[first:start]) or _BARE_PIN.search(page.text[first:start]):
            yield start, end


def _codes(page: Page) -> Iterator[Span]:
    """Numbers of four to eight digits that are said to be a code for one time."""
    for start, end in sorted(_short(page)):
        before, behind = page.low[max(0, start - BEFORE) : start], page.low[end : end + BEHIND]
        if (
            end - start > 3
            and page.open(start)
            and (
                (_hinted(before) and _CODE.search(before)) or (_hinted(behind) and _CODE_BEHIND.match(behind))
            )
        ):
            yield start, end


def _hinted(text: str) -> bool:
    return any(hint in text for hint in _CODE_HINTS)


_KEPT = re.compile(
    r"(?:recovery|backup|scratch|emergency)[- _](?:code|key)s?(?:[- ][0-9]{1,2})?"
    r"(?:[^\S\n](?:is|are)(?=\s)|[\"'*]{0,3}[^\S\n]{0,4}[:=])?"
)
_ITEM = re.compile(
    r"(?:[\s,;:*•\"'\[(-]{1,8}|(?:[\s,;]{1,4}(?:and|und|or|[0-9]{1,2}[.)])){1,2}\s{1,4})"
    r"([a-z0-9]{4,64})((?:[- ][a-z0-9]{4,8}(?![a-z0-9])){0,12})(?![a-z0-9])"
)
CODES = 24
"""Most codes of a list that are looked for."""


def _lists(page: Page) -> Iterator[Span]:
    """The codes that are kept for the day when the telephone is lost: one, or a list of them."""
    at = 0
    for name in _KEPT.finditer(page.low):
        end = name.end()
        for _ in range(CODES if name.start() >= at else 0):
            item = _ITEM.match(page.low, end)
            if item is None:
                break
            groups = item[2].split(item[2][:1]) if item[2] else []
            same = next(
                (n for n, group in enumerate(groups[1:], 1) if len(group) != len(item[1])), len(groups)
            )
            last = item.end(1) + sum(len(group) + 1 for group in groups[1:same])
            if not any(c.isdigit() for c in page.text[item.start(1) : last]) or not page.open(item.start(1)):
                break
            yield item.start(1), last
            end = at = last


RULES = (
    Rule("recovery code", _lists, ("recovery", "backup", "scratch", "emergency")),
    Rule("pin", _pins, _PIN_HINTS),
    Rule("one-time code", _codes, _CODE_HINTS),
)
"""Short numbers by the words beside them."""

CHECKED = (Rule("card number", _cards), Rule("iban", _ibans))
"""Numbers that have check digits."""


def _split_cards(page: Page) -> Iterator[Span]:
    """Card numbers that go on in the next line."""
    line = Page(page.text.replace("\n", " "))
    return ((start, end) for start, end in _cards(line) if "\n" in page.text[start:end])


SPLIT = Rule("card number", _split_cards)
"""A number with a check digit that is told in two turns."""
