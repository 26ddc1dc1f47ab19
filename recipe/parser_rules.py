"""Patterns for spaCy's entity ruler: dates, holidays and events, numbers; in any case unless said so.

A phrase is written as words and token kinds in capitals (`KINDS`); `?` marks what may be missing.
"""

from __future__ import annotations

from typing import Any

Pattern = dict[str, Any]


def words(text: str) -> list[str]:
    """The words of a list written as text."""
    return text.split()


MONTHS = words("january february march april may june july august september october november december")
SHORT_MONTHS = words("jan feb mar apr jun jul aug sep sept oct nov dec")
CLEAR_MONTHS = [m for m in MONTHS if m not in {"march", "april", "may", "june", "august"}]
VAGUE_MONTHS = [m for m in MONTHS if m not in CLEAR_MONTHS]
DAYS = words("monday tuesday wednesday thursday friday saturday sunday")
SEASONS = words("spring summer fall autumn winter")
SPANS = words("week weekend month year night day morning evening afternoon quarter semester decade century")
UNITS = words("minute hour day night week weekend month year decade")
COUNTS = words(
    "one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty "
    "fifty hundred thousand million billion dozen"
)
ORDINALS = words("first second third fourth fifth sixth seventh eighth ninth tenth")
EVENT_HEADS = words(
    "Marathon Festival Fest Parade Conference Summit Convention Expo Olympics Championship "
    "Championships Tournament Cup Games Awards Gala Fair Carnival Con Bowl Open Derby Regatta "
    "Triathlon Fundraiser Biennale Symposium Hackathon Retreat Party Concert Tour Rally Pride "
    "War Revolution Race Run Walk Workshop Exhibition"
)

HOLIDAYS = """
christmas; christmas eve; christmas day; xmas; thanksgiving; halloween; easter; new year 's eve; new
years eve; new year 's day; new years day; new year 's; lunar new year; chinese new year; valentine 's
day; valentines day; mother 's day; mothers day; father 's day; fathers day; labor day; memorial day;
independence day; fourth of july; 4th of july; veterans day; st. patrick 's day; st patrick 's day; st
patricks day; hanukkah; passover; rosh hashanah; yom kippur; kwanzaa; diwali; holi; ramadan; eid; eid al
- fitr; eid al - adha; good friday; mardi gras; boxing day; bastille day; cinco de mayo; day of the
dead; dia de los muertos; nowruz; songkran; earth day; black friday; cyber monday; juneteenth;
oktoberfest; carnival; super bowl; world cup; world series; olympics; olympic games; winter olympics;
summer olympics; paralympics; grammys; oscars; comic con; comic - con; coachella; glastonbury; burning
man; lollapalooza; woodstock; sxsw; wimbledon; us open; french open; australian open; tour de france;
march madness; stanley cup; champions league; pride month; pride week; pride parade; pride festival;
pride march; gay pride; lgbt pride; lgbtq pride; lgbtq+ pride parade; lgbtq pride parade; black history
month; world war i; world war ii; world war 1; world war 2; civil war; cold war; vietnam war; gulf war;
brexit; d - day; boston marathon; london marathon; new york marathon; new york city marathon; nyc
marathon; chicago marathon; berlin marathon; tokyo marathon; paris marathon; prom; homecoming
"""

KINDS: dict[str, Pattern] = {
    "DAY": {"LOWER": {"REGEX": r"^([1-9]|0[1-9]|[12]\d|3[01])(st|nd|rd|th)?$"}},
    "MONTH": {"LOWER": {"IN": MONTHS + SHORT_MONTHS + [m + "." for m in SHORT_MONTHS]}},
    "YEAR": {"TEXT": {"REGEX": r"^(19|20)\d\d$"}},
    "YEARS": {"TEXT": {"REGEX": r"^(19|20)\d0s$"}},
    "DATE": {"TEXT": {"REGEX": r"^(19|20)\d\d([/.]\d{1,2}){1,2}$|^\d{1,2}[-/.]\d{1,2}[-/.](19|20)?\d\d$"}},
    "TWO": {"TEXT": {"REGEX": r"^[0-3]\d$"}},
    "SEASON": {"LOWER": {"IN": SEASONS}},
    "WEEKDAY": {"LOWER": {"IN": DAYS + [d + "s" for d in DAYS]}},
    "CLEARMONTH": {"LOWER": {"IN": CLEAR_MONTHS}},
    "VAGUEMONTH": {"LOWER": {"IN": VAGUE_MONTHS}, "POS": "PROPN"},
    "NEAR": {"LOWER": {"IN": words("last next this past previous early late mid")}},
    "SPAN": {"LOWER": {"IN": [*MONTHS, *SEASONS, *SPANS, *DAYS]}},
    "PART": {"LOWER": {"IN": words("morning afternoon evening night")}},
    "COUNT": {"LOWER": {"IN": [*COUNTS, *words("a an few couple several many some")]}},
    "UNIT": {"LOWER": {"IN": UNITS + [u + "s" for u in UNITS]}},
    "LATER": {"LOWER": {"IN": words("ago later earlier before after")}},
    "RELATIVE": {"LOWER": {"IN": words("today yesterday tomorrow tonight")}},
    "TITLE": {"TEXT": {"REGEX": r"^[A-Z][\w'’&+.-]*$"}, "POS": {"IN": words("PROPN ADJ NOUN NUM")}},
    "HEAD": {"TEXT": {"IN": EVENT_HEADS}, "POS": "PROPN"},
    "NUMBER": {"LIKE_NUM": True, "LOWER": {"NOT_IN": [*ORDINALS, "one"]}},
    "CLOCK": {"TEXT": {"REGEX": r"^\d{1,2}:\d\d$"}},
    "NOON": {"LOWER": {"IN": words("am pm a.m. p.m. o'clock")}},
    "CURRENCY": {"LOWER": {"IN": words("dollars dollar bucks euros euro pounds cents yen usd eur")}},
    "SIGN": {"ORTH": {"IN": ["$", "€", "£"]}},
    "PERCENT": {"LOWER": {"IN": ["%", "percent"]}},
    "NTH": {"LOWER": {"REGEX": r"^\d+(st|nd|rd|th)$"}},
    "ORDINAL": {"LOWER": {"IN": ORDINALS}, "POS": "ADJ"},
}

DATES = """
DAY of? MONTH ,? YEAR; DAY of? MONTH; MONTH DAY ,? YEAR; MONTH DAY; MONTH ,? YEAR; MONTH of YEAR; YEAR -
TWO - TWO; DATE; YEAR; YEARS; SEASON of? YEAR; NEAR WEEKDAY PART; NEAR SPAN; early - MONTH; mid - MONTH;
late - MONTH; COUNT UNIT LATER; NUMBER UNIT LATER; a few UNIT LATER; a couple of? UNIT LATER; NEAR
NUMBER UNIT; WEEKDAY PART?; CLEARMONTH; RELATIVE; the day before yesterday; the day after tomorrow; the
other day; the other night; the other week
"""
EVENTS = (
    "TITLE HEAD; TITLE TITLE HEAD; TITLE TITLE TITLE HEAD; TITLE of TITLE HEAD; TITLE for the? TITLE HEAD"
)
NUMBERS = {
    "DATE": "VAGUEMONTH; NUMBER UNIT",
    "TIME": "NUMBER NOON; CLOCK NOON?",
    "MONEY": "SIGN NUMBER NUMBER?; NUMBER CURRENCY",
    "PERCENT": "NUMBER PERCENT",
    "CARDINAL": "NUMBER NUMBER?",
    "ORDINAL": "ORDINAL; NTH",
}


def token(piece: str) -> Pattern:
    """One token of a pattern: a kind or a word in any case."""
    kind = KINDS.get(piece.rstrip("?"), {"LOWER": piece.rstrip("?").lower()})
    return {**kind, "OP": "?"} if piece.endswith("?") else kind


def patterns(label: str, phrases: str) -> list[Pattern]:
    """Ruler patterns for phrases parted by semicolons."""
    return [{"label": label, "pattern": [token(w) for w in phrase.split()]} for phrase in phrases.split(";")]


def calendar() -> list[Pattern]:
    """Dates and events that are certain enough to go before the statistical entities.

    Events are well-known ones in any case, and capitalised words that end in Marathon, Festival, ...
    """
    return patterns("DATE", DATES) + patterns("EVENT", HOLIDAYS) + patterns("EVENT", EVENTS)


def numbers() -> list[Pattern]:
    """What may stand where the model found nothing: months that are also names or words, and numbers."""
    return [pattern for label, phrases in NUMBERS.items() for pattern in patterns(label, phrases)]
