"""The ways chats write a time, to ISO 8601: by itself, or as the stamp before a line. Knows no chat format.

`to_iso` reads a time by itself; month names are English. A `Stamp` is the numeric time that phones and
browsers of many countries write before a line: there the file decides at once which part is the day.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timezone
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH_NAMES = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    "|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_ABROAD = """
január januar janvier janv enero ene janeiro gennaio gen januari styczeń stycznia sty ocak oca января \
январь янв ledna tammikuu tammikuuta січня ιανουαρίου tammik januára ianuarie jaanuar gener януари / iano \
tamm leden ledn січ sij ιαν ינואר يناير जनवरी มกราคม sausio
február februar février févr fév febrero fevereiro fev febbraio februari luty lutego lut şubat şub февраля \
февраль фев února helmikuu helmikuuta лютого φεβρουαρίου helmik febr февр februára februarie veebruar \
febrer февруари / few helm únor лют velj φεβ פברואר فبراير फ़रवरी กุมภาพันธ์ vasari
március márc märz mär mars marzo março maart mrt marzec marca mart марта март мар března maaliskuu maret \
maaliskuuta березня μαρτίου maalisk martie märts març / maal březen бер ožuj μαρ מרץ مارس मार्च มีนาคม \
kovo mac
április ápr avril avr abril abr aprile kwietnia kwi nisan nis апреля апрель апр dubna huhtikuu huhtikuuta \
квітня απριλίου huhtik квіт apríla aprilie aprill април / huht dub кві trav απρ אפריל أبريل ابريل अप्रैल \
เมษายน baland
május máj mai mayo maio maggio mag mei maj maja mayıs мая май května toukokuu toukokuuta травня toukok \
mája maig / toukok květen трав svib μαΐ μάι מאי مايو मई พฤษภาคม geguž
június jún juni juin junio junho giugno giu czerwca cze haziran haz июня июнь июн června kesäkuu kesäkuuta \
червня ιουνίου kesäk черв júna iunie juuni juny юни / kesäk červen черв lipnj ιουν יוני يونيو जून มิถุนายน \
biržel iunie
július júl juli juillet juil julio julho luglio lug lipca lip temmuz tem июля июль июл července heinäkuu \
heinäkuuta липня ιουλίου heinäk júla iulie juuli juliol юли / heinäk лип srp ιουλ יולי يوليو जुलाई กรกฎาคม \
liep iulie
augusztus août aoû agosto ago augustus augusti sierpnia sie ağustos ağu августа август авг srpna elokuu \
agustus elokuuta серпня αυγούστου elok серп augusta agost ogos / elok srpen сер kolov αυγ אוגוסט أغسطس \
अगस्त สิงหาคม rugpj
szeptember septembre septiembre setembro set settembre września wrz eylül eyl сентября сентябрь сен сент \
září syyskuu syyskuuta вересня σεπτεμβρίου syysk septembra septembrie setembre септември / syysk вер ruj \
σεπ ספטמבר سبتمبر सितंबर กันยายน rugsėj szept
október oktober okt octobre octubre outubro out ottobre ott października paź ekim eki октября октябрь окт \
října lokakuu lokakuuta жовтня οκτωβρίου lokak жовт októbra octombrie oktoober октомври / lokak říjen жов \
οκτ אוקטובר أكتوبر अक्तूबर ตุลาคม spal
novembre noviembre novembro listopada lis kasım kas ноября ноябрь ноя listopadu marraskuu marraskuuta \
листопада νοεμβρίου marrask нояб novembra noiembrie ноември / marras лис stud νοε נובמבר نوفمبر नवंबर \
พฤศจิกายน lapkr noi
dezember dez décembre déc diciembre dic dezembro dicembre december grudnia gru aralık ara декабря декабрь \
дек prosince joulukuu desember joulukuuta грудня δεκεμβρίου jouluk груд decembra decembrie detsember \
desembre декември / dese jouluk prosin гру pros δεκ דצמבר ديسمبر दिसंबर ธันวาคม
"""
"""The months in other languages, a line each: words as dates in prose have them, German to Finnish, and
behind the stroke how words begin that only what is known to be a time may have."""
_LINES = [line.partition(" / ") for line in _ABROAD.strip().split("\n")]
_OF = {word: n for n, (words, _, _) in enumerate(_LINES, 1) for word in words.split()}
MONTHS_BEGIN = {stem: n for n, (_, _, stems) in enumerate(_LINES, 1) for stem in stems.split()}
MONTHS_BEGIN |= _OF | {month: n for n, month in enumerate(MONTHS, 1)}
ANY_MONTH = rf"(?:{'|'.join(sorted({word[:3] for word in (*_OF, *MONTHS)}))})[^\W\d_]{{0,9}}(?![^\W\d_])"
"""What begins as the name of a month; `month_of` says which, if any."""
_MONTH = rf"({ANY_MONTH})\.?"
_ENGLISH = re.compile(MONTH_NAMES)
_YEAR_FIRST = re.compile(r"(?<!\d)(\d{4})([-/.])\s?(\d{1,2})\2\s?(\d{1,2})(?!\d)")
_EASTERN = re.compile(r"(?<!\d)(\d{4})[年년]\s?(\d{1,2})[月월]\s?(\d{1,2})[日일]")
_EASTERN_CLOCK = re.compile(
    r"(?:(上午|下午|午前|午後|오전|오후)\s?)?(\d{1,2})[時时시:点點]\s?(\d{1,2})[分분:](?:\s?(\d{1,2})[秒초]?)?"
)
_NTH = r"(\d{1,2})(?:st|nd|rd|th|er|º|\.)?"
_DAY_MONTH = re.compile(
    rf"(?<!\d){_NTH}(?:\s+(?:of|de))?[\s/-]+{_MONTH},?(?:\s+de)?(?:[\s/-]+(\d{{4}})(?!\d)|[-/](\d\d)(?![\d:]))",
    re.I,
)
_MONTH_DAY = re.compile(rf"\b{_MONTH}[\s-]+{_NTH},?[\s-]+(\d{{4}})(?!\d)", re.I)
_YEAR_MONTH_DAY = re.compile(rf"(?<!\d)(\d{{4}})\.?\s+{_MONTH}\s+(\d{{1,2}})(?![\d:])\.?", re.I)
_LETTERS = re.compile(r"[^\W\d_]{3}")
_UNIX = re.compile(
    rf"\b{_MONTH}\s+(\d{{1,2}})\s(\d\d:\d\d(?::\d\d)?)(?:\s[A-Z]{{3,4}})?\s(\d{{4}})(?!\d)", re.I
)
_NUMERIC = re.compile(r"(?<!\d)(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})(?!\d)")
_CLOCK = re.compile(
    r"(?<![\d:])(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?(?![\d:])\s*([ap])?(?(4)\.?m\b\.?)"
    r"\s*(Z\b|(?:UTC|GMT)(?:[+-](?:1[0-4]|0?\d)(?::?[0-5]\d)?)?\b|[+-](?:[01]\d|2[0-3]):?[0-5]\d(?!\d))?",
    re.I,
)
_DOTTED = re.compile(
    r"(?P<before>(?:\d{4}|\bklo?\.?|\bore|\bum|\b[àa]|\bàs),? )"
    r"(?P<clock>\d{1,2}(?:\.[0-5]\d(?:\.[0-5]\d)?|\s?h\s?[0-5]\d\b))(?![\d.])",
    re.I,
)
_SPACED = re.compile(r"(?<!\d)(\d{1,2})\. (\d{1,2})\. (?=\d{4})")
_BETWEEN = re.compile(r"[\s,،.;()\[\]|–—-]+")
WEEKDAY = (
    r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?|(?:mo|diens|mitt|donners|frei|sams|sonn)(?:n?tag|woch)"
    r"|(?:lun|mar|mercre|jeu|vendre|same)(?:di)?|dim(?:anche)?|lunes|martes|mi[ée]rcoles|jueves|viernes|s[áa]bado|domingo"
    r"|(?:segunda|ter[çc]a|quarta|quinta|sexta)(?:-feira)?|(?:lune|marte|mercole|giove|vener)d[ìi]|sabato|domenica"
    r"|(?:maan|dins|woens|donder|vrij|zater|zon)dag|poniedzia[łl]ek|wtorek|[śs]roda|czwartek|pi[ąa]tek|sobota|niedziela|pazartesi|sal[ıi]|[çc]ar[şs]amba|per[şs]embe|cumartesi|cuma|pazar"
    r"|m[åa]ndag|tisdag|tirsdag|onsdag|torsdag|fredag|l[öø]rdag|s[öø]ndag|pond[ěe]l[íi]|[úu]ter[ýy]|st[řr]eda|[čc]tvrtek|p[áa]tek|ned[ěe]le"
    r"|maanantai|tiistai|keskiviikko|torstai|perjantai|lauantai|sunnuntai|senin|selasa|rabu|kamis|jumat|sabtu|minggu|понедельник|вторник|среда|четверг|пятница|суббота|воскресенье|понеділок|вівторок|середа|четвер|п['’]ятниця|субота|неділя"
    r"|пн|вт|ср|чт|пт|сб|вс|(?:星期|周|週|礼拜)[一二三四五六日天]|[月火水木金土日]曜日|[월화수목금토일]요일)"
)
"""The days of the week in some languages, in full or short."""
SHORT_DAY = (
    r"(?:gio|ven|mer|jeu|sam|jue|vie|mi[ée]|s[áa]b|seg|ter|qua|qui|sex|pon|wt|[śs]r|czw|niedz|pzt|[çc]ar|cum|cmt"
    r"|paz|m[åa]n|tis|tir|ons|tors?|fre|l[öø]r|s[öø]n|mo|di|mi|do|fr|sa|so|wo|vr|za|zo|ma|ti|ke|to|pe|la|su|po|út)"
)
"""The same so short that they are other words too: right before a date."""
_LED = re.compile(rf"\A{SHORT_DAY}[.,]{{0,2}} (?=\d)", re.I)
_FILLERS = (
    "on|at|t|[àa]|às|as|um|klo|kl|alle|ore|le|om|la|las|uhr|г|р|в|о|o|v|den|pukul|saat|feira"
    "|[月火水木金土日월화수목금토일]|(?:[bcejmp]|ce|we|ee)[sd]?t|eastern|central|mountain|pacific|time"
)
"""What stands between a date and a clock beside marks and the day of the week, and names of zones."""
_ISO = re.compile(
    r"(\d{4}-\d\d-\d\d)T([01]\d|2[0-3])(:[0-5]\d:[0-5]\d)(?:\.\d+)?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?", re.A
)
_OURS = re.compile(
    r"[1-9]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d"
    r"(?:[+-](?:[01]\d|2[0-3]):[0-5]\d)?",
    re.ASCII,
)
"""Times that are as `to_iso` writes them, for sure: most are."""
_FRACTION = re.compile(r":\d\d(\.\d{1,9})", re.ASCII)
_DIGITS = re.compile(r"\d{9,17}(?:\.\d+)?")
NAMED_DAY = re.compile(r"(?<!\d)((?:19|20)\d\d)([-_.]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])(?!\d)")
_TAKEN_OUT = re.compile(r"export|backup|dump|archive", re.I)


def to_iso(value: object, *, day_first: bool = True) -> str:
    """A time as ISO 8601: `2023-05-08T13:56:00`, a bare date where no clock is given, or "" if not parsed.

    Takes LoCoMo's "1:56 pm on 8 May, 2023", LongMemEval's "2023/05/20 (Sat) 02:21", ISO, "May 8, 2023 1:56
    PM", "08/05/2023, 13:56:01", with or without brackets, and epoch seconds, milli- or microseconds (number
    or digits). An offset that the source gives is kept, epochs are UTC (`+00:00`), fractions of a second
    are dropped. `8/5/23` is read by `day_first`, which a reader decides once a file with `is_day_first`; a
    part above 12 overrules it. Never raises.
    """
    if isinstance(value, str):
        if _OURS.fullmatch(value):
            return value
        return _text_to_iso(value.strip(), day_first) if len(value) <= 80 else ""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e18:
        return ""
    return _epoch_to_iso(float(value))


def instant(stamp: str) -> float | None:
    """Seconds since 1970, with their fraction, of a time that `to_iso` takes: to tell which is earlier.

    A time without an offset counts as UTC. None where it is no time.
    """
    iso = to_iso(stamp)
    if not iso:
        return None
    moment = datetime.fromisoformat(iso)
    fraction = _FRACTION.search(stamp)
    seconds = (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()
    return seconds + float(fraction[1]) if fraction else seconds


def is_day_first(stamps: Iterable[str]) -> bool:
    """Whether a file writes 8 May as 8/5: yes if a stamp forces it, no if one forces the other, else yes."""
    month_first = False
    for stamp in stamps:
        found = _NUMERIC.search(stamp)
        if found and int(found[1]) > 12:
            return True
        month_first = month_first or (found is not None and int(found[3]) > 12)
    return not month_first


def is_ambiguous(stamp: str) -> bool:
    """Whether `stamp` holds a date such as 8/5/23, which `is_day_first` has to decide about."""
    return not _OURS.fullmatch(stamp) and _NUMERIC.search(stamp) is not None


def clock(text: str, halves: Mapping[str, bool] | None = None) -> str:
    """A time of day alone, as `13:56:00`, or "" when `text` is anything else.

    `halves` are a file's own words for the halves of the day (`learnt_halves`).
    """
    time, rest = _take_clock(text.strip())
    if not time or _is_noise(rest):
        return time
    late = (halves or {}).get(_half_key(rest))
    if late is None or not 1 <= int(time[:2]) <= 12:
        return ""
    return f"{int(time[:2]) % 12 + 12 * late:02}{time[2:]}"


def find_date(text: str, *, day_first: bool = True) -> str:
    """The first date that stands anywhere in `text`, as `2023-05-08`, or ""."""
    return take_date(text, day_first)[0]


def day_of_name(name: str) -> str:
    """The one day in a file's name, `standup-2026-04-02` or `20260402_notes` or `2 April 2026`, or "".

    Not one of two days, nor the day of an export or a backup: nothing need have been said on it.
    """
    days = {calendar_day(int(year), int(month), int(day)) for year, _, month, day in NAMED_DAY.findall(name)}
    if not days:
        written = name.replace("_", " ")
        named = [found[0] for p in (_DAY_MONTH, _MONTH_DAY) for found in p.finditer(written)]
        days = {day for one in named if (day := find_date(one))}
    return days.pop() if len(days) == 1 and not _TAKEN_OUT.search(name) else ""


def _colons(found: re.Match[str]) -> str:
    """A clock with dots, or an `h`, behind a year or a word for the hour, with colons."""
    return found["before"] + re.sub(r"\.|\s?h\s?", ":", found["clock"], flags=re.I)


@lru_cache(maxsize=4096)
def _text_to_iso(text: str, day_first: bool) -> str:
    if _DIGITS.fullmatch(text):
        return _epoch_to_iso(float(text))
    if found := _ISO.fullmatch(text):  # what programs write, ten times as fast as the general way
        day = take_date(found[1], day_first)[0]
        return f"{day}T{found[2]}{found[3]}{_offset(found[4])}" if day else ""
    text = _LED.sub("", text) if text[:1].isalpha() else text
    text = _DOTTED.sub(_colons, text) if "." in text or "h" in text else text
    if _EASTERN.search(text):
        text = _EASTERN_CLOCK.sub(_western, text)
    day, rest = take_date(text, day_first)
    if not day:
        return ""
    time, rest = _take_clock(rest)
    if not _is_noise(rest):
        return ""
    return f"{day}T{time}" if time else day


def _told(rest: str) -> list[str]:
    """The words of what is left of a stamp without date and clock, but for those that tell nothing."""
    return [word for word in _BETWEEN.split(rest) if word and not _filler().fullmatch(word)]


def _is_noise(rest: str) -> bool:
    return not rest.strip(_AROUND) or not _told(rest)


@cache
def _filler() -> re.Pattern[str]:
    return re.compile(rf"{WEEKDAY}|{_FILLERS}", re.I)


def _western(found: re.Match[str]) -> str:
    """A clock with signs for hours and minutes, as others write it."""
    half = {"上": " AM", "下": " PM"}.get(found[1][0] if found[1] else "", "")
    late = half or ({"午前": " AM", "오전": " AM", "午後": " PM", "오후": " PM"}.get(found[1] or "", ""))
    return f"{int(found[2])}:{int(found[3]):02}:{int(found[4] or 0):02}{late}"


def take_date(text: str, day_first: bool) -> tuple[str, str]:
    """The first date in `text` and `text` without it, or "" and `text`."""
    text = _SPACED.sub(r"\1.\2.", text) if ". " in text else text
    worded = _LETTERS.search(text)  # no month has a shorter name
    if found := _YEAR_FIRST.search(text):
        year, month, day = int(found[1]), int(found[3]), int(found[4])
    elif found := _EASTERN.search(text):
        year, month, day = int(found[1]), int(found[2]), int(found[3])
    elif worded and (found := _of_month(_DAY_MONTH, 2, text)):
        year, month, day = int(found[3] or 2000 + int(found[4])), month_of(found[2]), int(found[1])
    elif worded and (found := _of_month(_YEAR_MONTH_DAY, 2, text)):
        year, month, day = int(found[1]), month_of(found[2]), int(found[3])
    elif worded and (found := _of_month(_UNIX, 1, text)):
        iso = calendar_day(int(found[4]), month_of(found[1]), int(found[2]))
        return (iso, f"{text[: found.start()]} {found[3]} {text[found.end() :]}") if iso else ("", text)
    elif worded and (found := _of_month(_MONTH_DAY, 1, text)):
        year, month, day = int(found[3]), month_of(found[1]), int(found[2])
    elif found := _NUMERIC.search(text):
        year, month, day = _ordered(int(found[1]), int(found[3]), int(found[4]), day_first)
    else:
        return "", text
    iso = calendar_day(year, month, day)
    return (iso, f"{text[: found.start()]} {text[found.end() :]}") if iso else ("", text)


def _of_month(pattern: re.Pattern[str], at: int, text: str) -> re.Match[str] | None:
    """The first match whose group `at` is a month."""
    return next((found for found in pattern.finditer(text) if month_of(found[at])), None)


def _ordered(first: int, second: int, year: int, day_first: bool) -> tuple[int, int, int]:
    """Year, month and day of a date whose year stands last; what is no month is the day."""
    year += 2000 if year < 100 else 0
    if (day_first and second <= 12) or first > 12:
        return year, second, first
    return year, first, second


def calendar_day(year: int, month: int, day: int) -> str:
    """The day as ISO 8601, "" where the calendar has none."""
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return ""


def _take_clock(text: str) -> tuple[str, str]:
    """The first time of day in `text`, with its offset if given, and `text` without it."""
    found = _CLOCK.search(text)
    if not found:
        return "", text
    hour, minute, second = int(found[1]), int(found[2]), int(found[3] or 0)
    if found[4]:
        if not 1 <= hour <= 12:
            return "", text
        hour = hour % 12 + (12 if found[4].lower() == "p" else 0)
    if hour > 23 or minute > 59 or second > 59:
        return "", text
    rest = f"{text[: found.start()]} {text[found.end() :]}"
    return f"{hour:02}:{minute:02}:{second:02}{_offset(found[5])}", rest


def _offset(written: str | None) -> str:
    if not written:
        return ""
    written = written.lstrip("UTCGMutcgm")
    if written[:1] not in ("+", "-"):
        return "+00:00"
    told = f"{written[1:].replace(':', '')}{'00' if len(written) < 4 else ''}"
    return f"{written[0]}{int(told[:-2]):02}:{int(told[-2:]):02}"  # any script's digits


def month_of(name: str) -> int:
    """The number of a month by its name, 0 for any other word."""
    lower = name.lower()
    return _OF.get(lower) or (MONTHS.index(lower[:3]) + 1 if _ENGLISH.fullmatch(lower) else 0)


def _epoch_to_iso(number: float) -> str:
    """Seconds, milli- or microseconds since 1970, told apart by size; "" for a number that is no time."""
    for below, unit in ((1e11, 1.0), (1e14, 1e3), (1e17, 1e6)):
        if 1e8 * unit <= number < below:
            return datetime.fromtimestamp(int(number / unit), timezone.utc).isoformat()
    return ""


# Before noon and after it, as CLDR's locales abbreviate them, without dots and spaces, case-folded.
_BEFORE = (
    *("am", "fm", "öö", "πμ", "sa", "vorm", "de", "ص", "صباحًا", "قظ", "午前", "上午", "早上", "凌晨", "清晨"),
    *("오전", "पूर्वाह्न", "ก่อนเที่ยง", "дп", "dop", "vm", "pg", "ap", "pd", "eparadites", "проб", "priešpiet"),
    *("priekšp", "prijepodne", "преподне", "претпл", "rn", "yb", "fh", "asub", "asubuhi", "үө", "tk", "կա"),
)
_AFTER = (
    *("pm", "em", "ös", "μμ", "ch", "nachm", "du", "م", "مساءً", "بظ", "午後", "下午", "晚上", "中午"),
    *("오후", "अपराह्न", "หลังเที่ยง", "пп", "odp", "nm", "ptg", "ip", "md", "epasdites", "слоб", "popiet"),
    *("pēcp", "poslijepodne", "поподне", "попл", "in", "yh", "eh", "alas", "alasiri", "үх", "tn", "կհ"),
)
_LATE = {**dict.fromkeys(_BEFORE, False), **dict.fromkeys(_AFTER, True)}
ABROAD_HALF = f"(?:{'|'.join(sorted((w for w in _LATE if not w.isascii()), key=len, reverse=True))})"
"""Halves of the day in other scripts and with accents, without dots."""
_LOOSE = re.compile(r"[\s.]+")
_UNKNOWN_HALF = r"(?!UTC|GMT)[^\W\d_][^\s\d\]]{0,14}(?:\s?[^\W\d_][^\s\d\]]{0,9}){0,2}?(?=\]|\s[-–]\s)"
"""What can only be a word for half a day: it stands between a clock and the mark that ends a stamp."""
_UNKNOWN_EARLY = r"[^\W\d_][^\s\d,:\]]{4,14}(?=\s)"
"""The same before a clock, where words of fewer letters stand for "at"."""


def is_late(before: str, after: str) -> bool | None:
    """Whether a clock between two texts is of after noon, by the words next to it; None where none tells.

    Before the clock only words of other scripts count: Latin ones mean other things there.
    """
    words = [*after.split()[:1], "".join(after.split()[:2])]
    words += [word for word in before.split()[-1:] if not word.isascii()]
    known = (_LATE.get(_LOOSE.sub("", word).strip(",").casefold()) for word in words)
    return next((late for late in known if late is not None), None)


# `p. m.` and its like may be spaced and dotted; all others stand as they are.
_HALF = r"(?:[apfeAPFE]\.?\s?[mM]\b\.?|{})".format(
    "|".join(sorted({re.escape(w) for w in _LATE if w[1:] != "m" or not w.isascii()}, key=len, reverse=True))
)
_DATE = (
    r"(?P<a>\d{1,4})(?P<mark>[-/.]|\. |年|년 )(?P<b>\d{1,2})(?:[-/.月]|\. |월 )"
    r"(?P<c>\d{1,4})(?:[日일]|\.(?!\d))?"
)
_STAMP_CLOCK = r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2}))?"
# Between date and clock: `, `, `،`, ` à `, ` klo `, ` a las `; some languages put the half of the day first.
STAMP = (
    rf"{_DATE}[,،]?\s(?:(?P<early>{_HALF}|{_UNKNOWN_EARLY})\s?|[^\W\d]{{1,4}}\s){{0,2}}"
    rf"{_STAMP_CLOCK}(?:\s?(?P<late>{_HALF}(?![^\W\d_])|{_UNKNOWN_HALF}))?"
)
"""A numeric date and a clock, for a pattern that is compiled with `re.I`. Bounded in every part."""
_GROUPS = ("a", "b", "c", "mark", "hour", "minute", "second", "late", "early")
_STAMP_DAY = re.compile(r"[\u200e\[]{0,4}(?P<day>\d{1,4}[-/.年]\S{0,12})")
MARKS = re.compile("[\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
"""Marks of writing direction, which phones strew into stamps and names. U+200E is left: it says something."""


class Stamp(NamedTuple):
    """The parts of a stamp as written; `late` is None on a clock of 24 hours, `seconds` if it has any.

    A tuple, for a file has one a line.
    """

    a: str
    b: str
    c: str
    mark: str
    hour: int
    minute: int
    second: int
    late: bool | None
    half: str
    seconds: bool

    @classmethod
    def of(cls, found: re.Match[str]) -> Stamp:
        """The stamp of a match of a pattern with `STAMP` in it."""
        a, b, c, mark, hour, minute, second, late, early = found.group(*_GROUPS)
        half = late or early or ""
        is_late = _LATE.get(_half_key(half)) if half else None
        return cls(a, b, c, mark, int(hour), int(minute), int(second or 0), is_late, half, second is not None)

    def iso(self, day_first: bool, halves: Mapping[str, bool] | None = None) -> str:
        """`2023-05-08T13:56:00`, or "" for a date of no calendar known here. Local time, no offset.

        The day alone where neither CLDR nor `halves` know the word for the half of it.
        """
        day, hour = _stamp_day(self.a, self.b, self.c, day_first), self.hour
        late = self.late
        if self.half and late is None and (late := (halves or {}).get(_half_key(self.half))) is None:
            return day
        if late is not None and 1 <= hour <= 12:
            hour = hour % 12 + 12 * late
        if not day or hour > 23 or self.minute > 59 or self.second > 59:
            return ""
        return f"{day}T{hour:02}:{self.minute:02}:{self.second:02}"

    @property
    def is_open(self) -> bool:
        """Whether it has a word for half of the day that is known in no locale."""
        return self.half != "" and self.late is None

    @property
    def numbers(self) -> Numbers | None:
        """What `Orders` asks of a date; None where the year stands first."""
        if len(self.a) > 2:
            return None
        return Numbers(
            self.mark, len(self.c), bool(self.half), self.half in ("AM", "PM"), self.a, self.b, self.c
        )


class Numbers(NamedTuple):
    """A date whose year stands last, as written, in its form: the mark, the year's digits, halves of
    the day."""

    mark: str
    digits: int
    halved: bool
    american: bool
    a: str
    b: str
    c: str
    weekday: int = -1

    @property
    def form(self) -> tuple[str, int, bool]:
        """What stamps that one program writes have in common."""
        return self.mark, self.digits, self.halved

    def day(self, day_first: bool) -> str:
        """The day as ISO, "" where there is none."""
        return _stamp_day(self.a, self.b, self.c, day_first)

    @property
    def forced(self) -> bool | None:
        """Whether the day stands first, by what no month can be or by the weekday; None if they do not
        tell."""
        if int(self.a) > 12 or int(self.b) > 12:
            return int(self.a) > 12
        if self.weekday < 0 or self.a == self.b:
            return None
        on = {first: day for first in (True, False) if (day := self.day(first))}
        fits = [first for first, day in on.items() if date.fromisoformat(day).weekday() == self.weekday]
        return fits[0] if len(fits) == 1 else None

    @classmethod
    def in_text(cls, text: str) -> Numbers | None:
        """Those of the first such date in a text, with its weekday's name where it has one."""
        found = _NUMERIC.search(text)
        if not found:
            return None
        half = _HALF_STANDS.search(text)
        named = _DAY_NAME.search(text)
        weekday = _WEEKDAYS.index(named[1].lower()) if named else -1
        capital = half is not None and half[0].isupper()
        return cls(found[2], len(found[4]), bool(half), capital, found[1], found[3], found[4], weekday)


_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAY_NAME = re.compile(rf"\b({'|'.join(_WEEKDAYS)})(?:s|nes|rs|ur)?(?:day)?\b", re.I)
_HALF_STANDS = re.compile(r"\d\s?[AaPp]\.?\s?[Mm]\b")


_SOON = 7  # days


def _days(one: str, other: str) -> int:
    """How many days lie between two, -1 where either is none."""
    return (date.fromisoformat(other) - date.fromisoformat(one)).days if one and other else -1


@dataclass
class Orders:
    """The order of day and month in each form of date that a file has: it may change where its writer did.

    In a form decides what no month can be, or the weekday; then what keeps time running on, for messages
    stand in order of time. Where those disagree, the nearest one above. A form of early days only has no such
    sign:
    the style of the United States (`5/8/23, 1:56 PM`) is month first there and every other is day first.
    """

    first: dict[tuple[str, int, bool], bool]
    changing: frozenset[tuple[str, int, bool]] = frozenset()

    def __post_init__(self) -> None:
        orders = set(self.first.values())
        self._all = orders.pop() if len(orders) == 1 and not self.changing else None

    def of_stamp(self, stamp: Stamp) -> bool:
        """The order of a stamp that was taken apart."""
        return self.day_first(stamp.numbers) if self._all is None else self._all

    @classmethod
    def of(cls, stamps: Iterable[str], after: str = "") -> Orders:
        """The orders of stamps as written, the first soon `after` a day that the file tells above them."""
        return cls.of_numbers(map(Numbers.in_text, stamps), after)

    @classmethod
    def of_numbers(cls, dates: Iterable[Numbers | None], after: str = "") -> Orders:
        """Those of dates in file order, one wherever the date changes."""
        forms: dict[tuple[str, int, bool], list[Numbers]] = {}
        for one in dates:
            if one:
                forms.setdefault(one.form, []).append(one)
        changing = set()
        first = {}
        for form, held in forms.items():
            told = [one.forced for one in held if one.forced is not None]
            if told:
                first[form] = told[0]
                if len(set(told)) > 1:
                    changing.add(form)
                continue
            near = [order for order in (True, False) if 0 <= _days(after, held[0].day(order)) <= _SOON]
            if len(near) == 1:
                first[form] = near[0]
                continue
            back = {order: _jumps([one.day(order) for one in held]) for order in (True, False)}
            padded = any(one.a[0] == "0" or one.b[0] == "0" for one in held)
            american = all(one.mark == "/" and one.american for one in held)
            first[form] = back[True] < back[False] if back[True] != back[False] else padded or not american
        return cls(first, frozenset(changing))

    def day_first(self, stamp: str | Numbers | None) -> bool:
        """The order of a stamp; asked for in file order."""
        one = Numbers.in_text(stamp) if isinstance(stamp, str) else stamp
        if one is None:
            return True
        if one.form in self.changing and (forced := one.forced) is not None:
            self.first[one.form] = forced
        return self.first.get(one.form, True)


def _jumps(days: list[str]) -> int:
    return sum(later < earlier for earlier, later in pairwise(filter(None, days)))


def changes(lines: Iterable[str], stamp: Callable[[str], Stamp | None]) -> Iterator[Stamp]:
    """A stamp wherever the date changes: enough to tell the order, and few beside the lines."""
    last = ""
    for line in lines:
        if not line or line[0] in " \t" or line[0].isalpha():
            continue
        found = _STAMP_DAY.match(line if line.isascii() else MARKS.sub("", line[:40]))
        if found and found["day"] != last and (here := stamp(line)):
            last = found["day"]
            yield here


def _half_key(written: str) -> str:
    """A word for half a day as it is looked up."""
    return _LOOSE.sub("", written.strip(_AROUND)).casefold()


def halves(told: Iterable[tuple[str, str, int]]) -> dict[str, bool]:
    """Which words are the later half of a day, of (word, day, minutes since the hour 0) in file order.

    Of two unknown words the later one mostly follows the other on a day. One alone tells nothing.
    """
    after, last, words = Counter[tuple[str, str]](), ("", ""), dict[str, bool | None]()
    for word, day, minutes in told:
        key = _half_key(word)
        if not key or not 60 <= minutes < 780:
            continue
        words[key] = _LATE.get(key)
        if last[1] == day and last[0] != key:
            after[last[0], key] += 1
        last = key, day
    unknown = [key for key, late in words.items() if late is None]
    known = {key: late for key, late in words.items() if late is not None}
    if len(words) == 2 and len(unknown) == 1:
        known[unknown[0]] = not next(iter(known.values()))
    elif len(words) == 2 and unknown:
        first, second = unknown
        if after[first, second] != after[second, first]:
            known |= {first: after[first, second] < after[second, first]}
            known[second] = not known[first]
    return known


def learnt_halves(stamps: Iterable[str]) -> dict[str, bool]:
    """As `halves`, of stamps as written."""
    told = []
    for stamp in stamps:
        if not _HALVED.search(stamp):
            continue
        day, rest = take_date(stamp, True)
        time, rest = _take_clock(rest)
        word = " ".join(_told(rest)) if time else ""
        if word:
            told.append((word, day, int(time[:2]) * 60 + int(time[3:5])))
    return halves(told)


_AROUND = " ,،.;()[]|–—-\u202f\xa0"
_HALVED = re.compile(r"\d[\s\u202f,،.]{0,3}[^\W\d_]")


@lru_cache(maxsize=1 << 14)
def _stamp_day(a: str, b: str, c: str, day_first: bool) -> str:
    """The date as ISO; any script's digits. Buddhist years (Thailand) are turned into common ones."""
    first, second, third = int(a), int(b), int(c)
    year, month, day = (first, second, third) if len(a) == 4 else _ordered(first, second, third, day_first)
    year -= 543 if 2400 <= year < 2700 else 0
    return calendar_day(year, month, day) if year >= 1970 else ""
