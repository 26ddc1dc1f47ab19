"""Which lines of a text chat open a turn, and who speaks: line shapes and the rule for names. Keeps no state.

A line may open a turn in one of these styles:

| style | lines |
|---|---|
| `said` | `You said:`, `## Gemini said`, `###### **ChatGPT said:**`, in any dress; pages copied as they are |
| `##` (as many as there are) | `## Name`, `## 🤖 Name (time)`, `#### Name:`, the text in the lines below |
| `alone` | `**Name**`, `**Name** (time)`, `_**Name (time)**_`, `[NAME]`, `=== Name ===`, likewise |
| `bold` | `**Name:** text`, `**Name**: text`, `**Name** (time): text`, `[time] **Name**: text` |
| `- bold` | the same in a list |
| `stamped` | `[time] Name: text`, `time - Name: text`, `Name [time]: text`, in a list or not |
| `plain` | `Name: text`, `date Name: text`, `Name date: text` |

What stands before the colon is a speaker when it is no label (`Note:`, `Title:`; see `_LABELS`) and
- is a role (`User`, `Assistant`, `Claude 4`, ...), or
- opens at least two turns of the file, or
- looks like a name: one to three words, each beginning with a capital (or in a script without case).
Where nobody has a role, whoever is written as those are may speak once: under a heading of the same kind, as
`Speaker 3`, `@cleo`, `Cleo (Sales)`, with an emoji (`guests`); anybody where nearly all lines open turns.
Emoji may stand before any of them, but then the name has to open two turns; a role is named without them
and without the model in brackets behind it. Under a time stamp any name but a label will do, and a line
without one is a turn without a speaker (a system line). Headings and lines of their own are more often
titles than people, so there a name must be a role, or recur beside another that does. Some words for roles
are titles too (`Response`, `Model`): they count only where both sides have one (`Prompt`). Where a user and
an assistant speak by such names, nobody else does: what else looks like a speaker is part of an answer.
A web address or a time of day never is one: the colon must be followed by a space or the line's end.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, takewhile

from smartsearch.text.times import clock, to_iso

STYLES = ("said", "#", "##", "###", "####", "#####", "######", "alone", "bold", "- bold", "stamped", "plain")
"""Every style, the one that sets a line off most first."""
HEADINGS = frozenset({"said", "alone", *STYLES[1:7]})
"""The styles whose text stands in the lines below."""

_SURE = {
    "user": (
        *("user", "human", "you", "you said", "user prompt", "user message", "user question"),
        *("usuario", "usuário", "você", "utilisateur", "benutzer", "nutzer", "пользователь"),
        *("用户", "ユーザー"),
    ),
    "assistant": (
        *("assistant", "chatgpt", "gpt", "claude", "gemini", "copilot", "github copilot", "cursor", "codex"),
        *("claude code", "gemini cli", "chatgpt said", "claude said", "deepseek", "grok", "perplexity"),
        *("ai assistant", "virtual assistant", "ai agent", "assistant response", "assistant answer"),
        *("asistente", "assistente", "assistent", "ассистент"),
        "助手",
    ),
}
COPILOT = "GitHub Copilot"
_TITLES_TOO = {
    "user": ("me", "prompt", "question", "q"),
    "assistant": ("ai", "bot", "chatbot", "agent", "model", "response", "answer", "a"),
    "system": ("system",),
    "tool": ("tool",),
}
"""Words for roles that head other things as well."""
_TOGETHER = {
    "prompt": {"response", "answer", "ai", "model"},
    "question": {"answer", "response", "ai"},
    "q": {"a"},
    "me": set(_TITLES_TOO["assistant"]) - {"a"},
}
"""Which of them answer which, where neither side has a word that is surely a role's."""
_ROLE_OF = {word: role for roles in (_SURE, _TITLES_TOO) for role, words in roles.items() for word in words}
_IS_SURE = frozenset(word for words in _SURE.values() for word in words)
_MODEL = re.compile(
    r"(?:chatgpt|gpt|claude|gemini|deepseek|grok|llama|qwen)"
    r"(?:[\s-](?:v?\d[\w.]*|opus|sonnet|haiku|pro|flash|mini|turbo|thinking|code))+",
    re.I,
)
"""A model's name with its version."""
_LABELS = frozenset(
    """
    note|notes|nb|ps|p.s|pps|edit|update|updated|todo|to do|done|fixme|warning|caution|important|tip|tips|hint
    info|debug|error|warn|trace|fatal|example|examples|for example|e.g|i.e|eg|ie|summary|result|results|output
    input|usage|see|see also|source|sources|reference|references|ref|link|links|url|http|https|mailto|ftp|file
    files|path|title|subject|re|fwd|fw|from|to|cc|bcc|date|time|when|where|what|why|who|how|day|days
    participants|members|topic|topics|agenda|location|place|address|phone|tel|email|mail|author|authors|version
    license|step|steps|next steps|action items|ingredients|instructions|pros|cons|total|price|cost|status|type
    name|key|value|tags|tag|id|optional|required|default|description|details|overview|conclusion|introduction
    background|goal|goals|action|actions|next|caption|image|photo|in short|content|contents|request|body
    parameters|params|returns|arguments|args|raises|added|changed|deprecated|removed|fixed|security|features
    requirements|installation|purpose|explanation|solution|problem|expected|actual|severity|priority
    authordate|commitdate|merge|repo|branch|commit|project|stack|format|variables|grade|options|issue|issues
    user-agent|disallow|allow|sitemap
    effort|break|impact|risk|rationale|decision|decisions|context|scope|recommendation|command|commands|code
    名称|说明|參數|参数|返回|注意|备注|备考|示例|标题|作者|日期|时间|地点|主题|注|例|名前|説明|備考|日時|場所|件名
    present|apologies|absent|regrets|attending|in attendance
    delivered|sent|received|edited|style|dialogue|scripttype
    copyright|comment|comments|upstream-name|upstream-contact|run|check|requires|unsupported|reason
    first|second|third|firstly|secondly|finally|option|options|recorded|editing|episode|sponsor
    credits|nota|hinweis|achtung|anmerkung|remarque|attention|atención|atenção|attenzione|opmerking
    let op|uwaga|obs|dica|примечание|внимание|итог|passo|schritt|étape|paso|etapa|krok|stap|punto|punkt
    point|item|qty
    attendees|joined|posts|resolved|presenters|method|methods|discussion|objective|objectives|abstract
    """.replace("\n", "|")
    .replace("    ", "")
    .split("|")
)

_COUNTED_SO = frozenset(
    (
        *("nota", "note", "hinweis", "achtung", "anmerkung", "remarque", "attention", "atención", "atenção"),
        *("attenzione", "opmerking", "uwaga", "option", "step", "schritt", "étape", "passo", "paso", "punto"),
    )
)
"""Labels that have more words behind them, in small letters."""

_EMOJI = "\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_PICTURED = re.compile(rf"[{_EMOJI}][{_EMOJI}\ufe0f\u200d\s]*")
"""Emoji before a name, with what joins them."""
_WITHIN = r"[^:\[\]<>{}|\"“”*#`/\\=,;?!\t]"
_NICKED = rf"{_WITHIN}{{1,20}} [\"“][^:\"“”\t]{{1,20}}[\"”] {_WITHIN}{{1,30}}?"  # Tom "Sparky" Berg
_DEGREED = rf"{_WITHIN}{{2,34}}, [A-Z][A-Za-z.]{{1,6}}"
_WITH_FIRM = rf"{_WITHIN}{{1,24}} \| {_WITHIN}{{1,30}}?"
_MORE = rf"{_WITHIN}{{0,39}}?|{_NICKED}|{_WITH_FIRM}|{_DEGREED}"
_NAME = rf"(?P<name>(?:[+@~]?[^\W_]|[{_EMOJI}])(?:{_MORE})|_[\w]{{1,30}})"
_BRACKETED = re.compile(r"[\[(](?P<stamp>[^\])]{4,40})[\])]\s*(?:[-–—|:]\s+)?")
_DAY = r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{1,2}\.? [A-Za-z]{3,9}\.?,? \d{4}|[A-Za-z]{3,9}\.? \d{1,2},? \d{4}"
_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:\s?[apAP]\.?[mM]\b\.?)?(?:Z|[+-]\d{2}:?\d{2})?"
_BARE = re.compile(rf"(?P<stamp>(?:(?:{_DAY})(?:T|,?\s+(?:at )?))?{_TIME})(?:\s*[-–—|]\s+|\s+)(?=\S)")
_SURE_DAY = re.compile(r"\d{4}|\d\d\D\d\d\D\d\d")
_DATED = re.compile(rf"(?P<stamp>{_DAY})(?:\s*[-–—|,]\s+|\s+)(?=\S)")
_NAME_DAY = re.compile(rf"(?P<name>.{{1,40}}?)\s(?P<stamp>{_DAY})")
_PLAIN = re.compile(
    rf"{_NAME}(?:,?\s(?P<day>{_DAY}))?(?:\s?[\[(](?P<stamp>[^\])]{{1,40}})[\])])?\s?:(?:\s+(?P<text>\S.*)?)?$"
)
_BOLD = re.compile(
    r"(?P<mark>\*\*|__)(?P<inner>[^*]{1,80}?)(?P<in>:?)\s*(?P=mark)"
    r"(?:\s?[\[(](?P<stamp>[^\])]{4,40})[\])])?\s?(?P<out>:?)(?:\s+(?P<text>\S.*)?)?$"
)
_ASKED = re.compile(
    r"(?:\s{0,40}(?P<side>[QA])(?:[.:]|(?=\s{3}))|\s{4,40}(?P<name>[A-Z][A-Z.' -]{1,40}):)(?:\s+|$)"
)
"""Questions and answers of an examination, and who speaks beside: they are indented."""
_BULLET = re.compile(r"\s+(?:[-*+]\s+)?|[-*+]\s+")
_HEADING = re.compile(r"(?P<level>#{1,6})\s+(?P<inner>\S(?:.{0,78}[^\s#])?)[\s#]*$")
_NAME_TIME = re.compile(  # of a line of its own, 80 characters at most
    r"(?P<name>.{1,80}?)\s{0,80}(?:[\[(](?P<in>[^\])]{1,80})[\])]|(?:\s[-–—|]|,)\s{1,80}(?P<out>.{1,80}))$"
)
_SAID = re.compile(
    r"(?P<mark>[#*_\s]{0,12})(?P<name>You|ChatGPT|Gemini|Claude|Copilot|Grok|DeepSeek|Perplexity) said"
    r"[\s:*_]{0,6}(?P<text>(?<=\s)\S.*)?$"
)
_ALONE = re.compile(
    r"(?P<mark>_?\*\*|__|\[|([=~-])\2{1,9})\s{0,3}(?P<inner>[^\s*\[\]](?:[^*\[\]]{0,70}[^\s*\[\]=~:-])?)\s{0,3}"
    r"(?:\*\*_?|__|\]|[=~-]{2,10})(?P<stamp>\s{1,3}[\[(][^\])]{4,40}[\])])?\s*$"
)
BADGES = re.compile(
    r"\s{0,4}(?:\*[^*\n]{1,20}\* )?\((?:Member|Moderator|Verified|Owner|New member)\b[^:\n]{0,60}?\)\s(?=\S)"
)
"""What a live chat of YouTube tells of who speaks: `(Moderator, Member (1 year)) `."""
_PHONE = re.compile(r"\+\d[\d ()-]{6,18}")
_COUNTED = re.compile(r"([^\W\d_][^\d]{1,30}) \d{1,3}")
"""`Speaker 3`: people whose names are numbers."""
_WORDS = 6
_NUMBER = re.compile(r"(?:\d{1,4}[.)]|#\d{1,4})\s{1,8}|\s{1,8}#?\d{1,4}$")
_TELLING = re.compile(r" (?:said|says|wrote|asked|replied|answered)$", re.I)
_ASIDE = re.compile(r"\s{0,8}[\[(][^\])]{1,80}[\])]$")


@dataclass(frozen=True)
class Opening:
    """A line that may open a turn: its style, the stamp and the name as written, and the text after them.

    `pictured` is true for a heading with an emoji before the name.
    """

    style: str
    stamp: str
    name: str
    text: str
    pictured: bool = False


def opening(line: str) -> Opening | None:
    """What `line` opens if its name proves to be a speaker, or None for a line that can only continue."""
    if (found := _SAID.match(line)) and (not found["text"] or found["mark"].startswith("#####")):
        return Opening("said", "", found["name"], found["text"] or "")
    if heading := _HEADING.match(line):
        return _on_its_own(heading["level"], heading["inner"])
    if len(line) < 120 and (found := _ALONE.match(line)):
        alone = _on_its_own("alone", found["inner"] + (found["stamp"] or ""))
        if alone.name.strip("-=~ ") and alone.name[-1] != '"':
            return alone
    if asked := _ASKED.match(line):
        return Opening("plain", "", asked["side"] or asked["name"], line[asked.end() :])
    bullet = _BULLET.match(line)
    bare = line[bullet.end() :] if bullet else line
    stamp, rest = _leading_stamp(bare)
    if ":" not in rest:
        return Opening("stamped", stamp, "", rest) if stamp else None
    day, told = ("", rest) if stamp else _leading_day(rest)
    badges = BADGES.match(told) if stamp else None
    told = told[badges.end() :] if badges else told
    found = _BOLD.match(told)
    if found and (found["in"] or found["out"]):
        inner_stamp, name = _leading_stamp(found["inner"])
        inner_day, name = _day_beside(name)
        stamp = stamp or inner_stamp or (found["stamp"] if _is_time(found["stamp"]) else "")
        style = "- bold" if bullet else "bold"
        return Opening(style, stamp or inner_day or day, _named(name), found["text"] or "")
    if bullet and not stamp:
        return None  # `- Name: text` is a list, not a chat
    if (found := _PLAIN.match(told)) and len(found["name"].split()) <= _WORDS and "()" not in found["name"]:
        name, aside = found["name"].strip(), found["stamp"]
        if aside and not stamp and _is_time(aside):
            stamp = aside
        elif aside:
            name = told[: found.end("stamp") + 1].strip()
        if found["day"] and _is_day(found["day"]):
            day = day or found["day"]
        elif found["day"]:
            name = f"{name} {found['day']}"
        style = "stamped" if stamp else "plain"
        return Opening(style, stamp or day, _named(name), found["text"] or "")
    return Opening("stamped", stamp, "", rest) if stamp else None


def _leading_day(text: str) -> tuple[str, str]:
    """The date without a time that `text` begins with, and the rest; ("", text) when it begins with none."""
    found = _DATED.match(text) if text[:1].isalnum() else None
    return (found["stamp"], text[found.end() :]) if found and _is_day(found["stamp"]) else ("", text)


def _is_day(text: str) -> bool:
    """Whether a text is a date, and no version."""
    return _SURE_DAY.search(text) is not None and bool(to_iso(text))


def _day_beside(name: str) -> tuple[str, str]:
    """The date that stands before or after a name, and the name; ("", name) where none does."""
    day, rest = _leading_day(name)
    if day:
        return day, rest
    found = _NAME_DAY.fullmatch(name.strip())
    return (found["stamp"], found["name"].rstrip(" ,")) if found and _is_day(found["stamp"]) else ("", name)


def _leading_stamp(text: str) -> tuple[str, str]:
    """The time that `text` begins with, as written, and the rest; ("", text) when it begins with none."""
    found = _BRACKETED.match(text) if text[:1] in ("[", "(") else _BARE.match(text)
    if found and _is_time(found["stamp"]):
        return found["stamp"], text[found.end() :]
    return "", text


def _is_time(text: str | None) -> bool:
    return bool(text) and bool(clock(text or "") or to_iso(text))


def _on_its_own(style: str, inner: str) -> Opening:
    """A name that its text stands below of, with a time behind it, or a model and a time in brackets."""
    inner = inner.rstrip(": ")
    found = _NAME_TIME.match(inner)
    stamp = (found["in"] or found["out"]) if found else ""
    if found and not _is_time(stamp):
        stamp = stamp.partition(" ")[2]
    pictured = _PICTURED.match(inner) is not None
    if found and _is_time(stamp):
        return Opening(style, stamp, _named(found["name"]), "", pictured)
    return Opening(style, "", _named(inner), "", pictured)


def _named(written: str) -> str:
    """A name as written, a role without what may surround it: emoji, marks, a number, a model in brackets."""
    name = written.strip(" *_").removesuffix(":").strip(" *_")
    role_of = _TELLING.sub("", _ASIDE.sub("", _NUMBER.sub("", _bare(name))).strip(" *_:"))
    return role_of if role(role_of) else name


def speakers(openings: Sequence[Opening], style: str) -> frozenset[str]:
    """The names that pass for speakers among the openings of one style."""
    counts = Counter(o.name for o in openings if o.style == style and o.name)
    for side, other in ("QA", "AQ"):
        asked = side == "Q" and sum(count > 1 for count in counts.values()) > 1
        if side in counts and other not in counts and not asked:
            del counts[side]  # of what can be chosen: `A. tins`
    if style == "stamped":
        return frozenset(
            name
            for name, count in counts.items()
            if not is_label(name) and (count > 1 or len(name.split()) <= 2 or may_be_name(name))
        )
    roles = {name for name in counts if role(name)}
    if not any(map(is_sure, roles)) and not both_sides(roles):
        roles = set()
    if both_sides(filter(is_sure, roles)):
        return frozenset(roles)
    if first := _first_beside(openings, style, roles):
        roles.add(first)
        if COPILOT in roles:  # VS Code's export, which has two speakers and labels of its own
            return frozenset(roles)
    if style not in HEADINGS:
        passed = {name for name, count in counts.items() if _passes(name, count)}
        ours = [here for here in openings if here.style == style and here.name in passed]
        return frozenset(roles | (passed - unlike(ours)))
    recurring = {name for name, n in counts.items() if n >= 2 and _may_recur(name, roles)}
    return frozenset(roles | (recurring if len(recurring | roles) >= 2 else set()))


def guests(openings: Sequence[Opening], style: str, known: Collection[str]) -> frozenset[str]:
    """Who speaks too seldom to be one of `speakers`, and is written as those are, who are people all."""
    if not known or any(map(role, known)):
        return frozenset()
    ours = [here for here in openings if here.style == style and here.name]
    shapes = set(map(_shape, known))
    initials = shapes == {"initials"}
    others = [here for here in ours if here.name not in known and (initials or not is_label(here.name))]
    shown = shapes - {"", "lower"}
    if style in HEADINGS:
        stamped = all(here.stamp for here in ours if here.name in known)
        told = [here for here in others if here.stamp or not stamped]
        return frozenset(here.name for here in told if may_be_name(here.name) or _shape(here.name) in shown)
    return frozenset(here.name for here in others if _shape(here.name) in shown)


def _shape(name: str) -> str:
    """How a name is written, where that tells it from other words before a colon; else ""."""
    if name[0] in "@+~":
        return name[0]
    if _PICTURED.match(name):
        return "emoji"
    if name.endswith(")"):
        return "()"
    if found := _COUNTED.fullmatch(name):
        return found[1]
    if name.isupper() and len(name) <= 4:
        return "initials"
    return "lower" if name.islower() and len(name.split()) == 1 else ""


def _first_beside(openings: Sequence[Opening], style: str, roles: Collection[str]) -> str:
    """Who opens a chat with the one assistant in it, by any name: theirs is the first opening; or ""."""
    if len(roles) != 1 or not all(role(name) == "assistant" for name in roles):
        return ""
    names = [o.name for o in openings if o.style == style][:2]
    alone = len(names) == 2 and names[1] in roles and not is_label(names[0]) and len(names[0].split()) <= 3
    return names[0] if alone and (style in HEADINGS or openings[0].name == names[0]) else ""


def unlike(ours: Sequence[Opening], *, dense: bool = False) -> set[str]:
    """Who opens one turn and not as those with several do: above them in no sentence, or in a list below one.

    Unless nearly all that is written opens turns (`dense`), whoever is not in capitals where those are, too.
    """
    counts = Counter(here.name for here in ours)
    often = [here for here in ours if counts[here.name] > 1]
    small = {name for name in counts if not name.partition(" (")[0].isupper()}
    initials = all(_shape(here.name) == "initials" for here in often)  # of names told in full once
    is_capital = len(counts) > len(small) + 1 and all(counts[name] == 1 for name in small)
    once = small if often and is_capital and not initials and not dense else set[str]()
    if often and 2 * sum(is_sentence(here.text) for here in often) >= len(often):
        above = takewhile(lambda here: counts[here.name] == 1, ours)
        once.update(here.name for here in above if here.text and not is_sentence(here.text))
    listed = set[str]()
    for one, here in pairwise(ours):
        if here.style == "plain" and counts[here.name] == 1 and (one.text[-1:] == ":" or one.name in listed):
            listed.add(here.name)
    return once | listed if len(listed) > 1 else once


def is_sentence(text: str) -> bool:
    """Whether a text ends as sentences do."""
    return text.rstrip("\"'”’»)")[-1:] in _SENTENCE_END


_SENTENCE_END = tuple(".!?…。！？؟।")


def _passes(name: str, count: int) -> bool:
    if is_label(name) or (count < 2 and (_PICTURED.match(name) or _is_title(name))):
        return False  # `✅ Result: text` stands once in an answer
    recurs = count >= 2 and (len(name.split()) <= 2 or may_be_name(name))
    return looks_like_name(name) or recurs or bool(_PHONE.fullmatch(name))


def _is_title(name: str) -> bool:
    """Whether a role's word is another's as well, so that it tells nothing by itself; `Me` is nobody else."""
    return bool(role(name)) and not is_sure(name) and role(name) != "user"


def _may_recur(name: str, roles: Collection[str]) -> bool:
    """Whether what heads several texts may be a person's name; beside a role it needs no capital."""
    return may_be_name(name) or (bool(roles) and not is_label(name) and len(name.split()) == 1)


@lru_cache(maxsize=4096)
def role(name: str) -> str:
    """`user`, `assistant`, `system` or `tool` when the name is a word for one, else ""."""
    return _ROLE_OF.get(name.casefold(), "") or ("assistant" if _MODEL.fullmatch(name) else "")


def is_sure(name: str) -> bool:
    """Whether the name is a role's, and heads nothing else."""
    return name.casefold() in _IS_SURE or _MODEL.fullmatch(name) is not None


def both_sides(names: Iterable[str]) -> bool:
    """Whether a user and an assistant are among the names, by words that go together."""
    names = list(names)
    users = [name for name in names if role(name) == "user"]
    assistants = [name for name in names if role(name) == "assistant"]
    return any(
        is_sure(asks) or is_sure(answers) or answers.casefold() in _TOGETHER[asks.casefold()]
        for asks in users
        for answers in assistants
    )


_LABELLED = re.compile(r"\w (?:title|date|time|name|id|participants|attendees|link|number|url)$")
"""How labels of several words end."""


@lru_cache(maxsize=4096)
def is_label(name: str) -> bool:
    """Whether the word before a colon is one that people put there without speaking."""
    said = _bare(name).casefold().rstrip(".:")
    begun, _, rest = _bare(name).partition(" ")
    numbered = rest[:1].islower() and begun.casefold() in _COUNTED_SO  # `Nota importante`, `Option two`
    return said in _LABELS or numbered or (" " in said and _LABELLED.search(said) is not None)


def looks_like_name(name: str) -> bool:
    """Whether it is one to three words that begin with a capital, or a letter of a script without case."""
    words = [w for w in _ASIDE.sub("", _bare(name)).split() if not (w.islower() and is_particle(w))]
    return not is_label(name) and 1 <= len(words) <= 3 and all(_begins_like_name(word[0]) for word in words)


_PARTICLES = frozenset(
    (
        *("van", "von", "der", "den", "de", "del", "della", "di", "da", "do", "dos", "das", "du", "la", "le"),
        *(
            "los",
            "las",
            "el",
            "al",
            "bin",
            "binti",
            "ibn",
            "ben",
            "ter",
            "ten",
            "te",
            "op",
            "zu",
            "zur",
            "af",
        ),
        *("av", "of", "for", "the", "and", "und", "y", "e", "et", "i", "abu", "st", "t", "s"),
    )
)


def may_be_name(name: str) -> bool:
    """Whether what recurs as a name does may be one: capitals, particles (`van der`), numbers,
    asides."""
    words = _ASIDE.sub("", _bare(name)).split()
    while len(words) > 1 and words[0] in _PARTICLES:
        del words[0]
    if is_label(name) or not 1 <= len(words) <= 6 or not _may_begin(words[0]):
        return False
    lower = [w for w in words[1:] if not is_particle(w) and not _may_begin(w)]
    return not lower and not (len(words) > 1 and words[-1].casefold() in _PARTICLES)


def is_particle(word: str) -> bool:
    """Whether it is a word in small letters that names have: `van`, `de la`."""
    return word.casefold().strip("'’") in _PARTICLES


def _may_begin(word: str) -> bool:
    letter = word.lstrip("\"“'‘(#")[:1]
    if letter.isalpha():
        return _begins_like_name(letter)
    return (letter.isdigit() and not word.endswith(".")) or not any(map(str.isalnum, word))


def _bare(name: str) -> str:
    """A name without emoji before it, unless there is no more to it."""
    return _PICTURED.sub("", name) or name


def _begins_like_name(letter: str) -> bool:
    return letter.isalpha() and not letter.islower()
