"""Secrets by their name: `password: x`, `"api_key": "x"`, `<password>x</password>`, "the password is x1".

A name is found, then what joins it to a value, then the value (values.py). Names are patterns of bounded length,
joints are matched behind a name alone, and of a value no more is looked at than its beginning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from smartsearch.redact.page import FILL, Page, Rule, Span
from smartsearch.redact.values import Value, Values

Judge = Callable[[str, bool], bool]
"""Whether a value, of which it is told the beginning and whether it is in quotes, can be a secret."""

JUDGED = 200
"""Characters of a value by which it is judged."""

# Names begin with few letters, for a search passes over what begins with others; what may not stand before a
# name is looked back at from its first letter.
_PASS = r"p(?:ass[-_ ]?(?:word|wort|wd|code|phrase|key)|asswrd|aswd|swd|wd|assord|arolă)"
_ELSEWHERE = (
    r"kennwort|zugangscode|contrase[nñ]a|mot[- _]de[- _]passe|senha|wachtwoord|has[lł]o|heslo|jelszó|lösenord"
    r"|adgangskode|salasana|şifre|w(?:lan|i-?fi)[-_ ]?(?:key|schlüssel|code|clave|clé)"
    r"|пароль|密码|密碼|口令|パスワード|비밀번호|암호|كلمة المرور|كلمة السر|סיסמה|סיסמא|mật khẩu|รหัสผ่าน"
)
PASSWORD = f"{_PASS}|{_ELSEWHERE}"
_WEAK = r"p(?:ass|s?w)(?![a-z])"  # words of other meanings too
_WEAKER = r"(?:mdp|clave)(?![a-z])"
_ENV = r"p(?<=[a-z0-9]_p)(?:ass|w)(?![a-z])"
_KEYS_OF = (
    *("api", "access", "secret", "private", "auth", "client", "account"),
    *("encryption", "signing", "shared", "master", "license", "licence"),
)
# Looked back at from the k: a search for few first letters passes over most of a text.
TOKEN = f"token|secret|k(?:{'|'.join(f'(?<={of}k)|(?<={of}[-_ ]k)' for of in _KEYS_OF)})ey"
PHRASE = r"passphrase|(?:seed|recovery|backup|secret|mnemonic) (?:phrase|words)|mnemonic"

_B = r"[^\S\n]*"  # blanks of a line
_SHUT = r"(?:[\\\"'`\]*”»’]|</?[a-z][a-z0-9]{0,10}>){0,6}"  # quotes and tags behind a name
_SAME_LINE = rf"[*_]{{0,3}}(?:</[a-z][a-z0-9]{{0,10}}>){{0,3}}{_B}(?:<[a-z][a-z0-9]{{0,10}}>){{0,3}}"
_NEXT_LINE = (  # of a YAML block, of a quotation; a program's comment is none
    rf"(?:[|>][-+]?(?={_B}\n))?{_B}(?:\n(?![^\S\n]{{0,40}}(?:\"\"\"|\'\'\')))?(?:>[^\S\n])?{_B}"
)
_ABOUT = r"(?: (?:for|to|of|on|für|fürs|zum|vom|del|de|du|da|pour)\b[^\n:=]{1,40})?"
_BE = (
    r"(?:(?:is|was|are|will be|ist|war|lautet|heißt|wäre|est|était|c'est|es|era|è|é|jest|är|er|это|:=?)"
    r"(?:[^\S\n]{1,4}(?:now|still|just|always|jetzt|immer|again|wieder|ahora|maintenant))?)"
)
ASSIGNED = rf"[0-9]{{0,2}}{_SHUT}{_B}(?:=>|:=|={{1,3}}|[:︰]|-{{1,2}}>|[→⇒➜➡])(?:{_SAME_LINE})?{_NEXT_LINE}"
NOTED = rf"[^\S\n]{{0,4}}[(\[][^()\[\]\n]{{0,40}}[)\]]{_B}(?:[:=]|-{{1,2}}>|→){_NEXT_LINE}"
TOLD = rf"{_ABOUT}(?:[^\S\n]{{1,4}}(?:is|was|ist|war|lautet|est|es|è|é|jest|är|er){_B}:|{_B}=){_B}\n?{_B}"
IS = rf"{_ABOUT}(?:{_B}:|[^\S\n]{{1,4}}{_BE}|['’]s)[^\S\n]+|{_B}(?:是|为|為|は|は、|는|은):?{_B}"
BESIDE = rf"{_SHUT}{_B}[-–—|][^\S\n]+|{_SHUT}\t[^\S\n]*"
BEHIND = rf"{_SHUT}[^\S\n]+(?=\\{{0,4}}[\"'`“„«‘])"
CHANGED = rf"{_ABOUT}[^\S\n]{{1,4}}(?:to|into|auf|à|en|a)[^\S\n]+"
# `"name": "password", "value": "x"`, `key="password" value="x"`: the name is itself a value.
PAIR = rf"\\?[\"']?{_B},?\s{{0,40}}\\?[\"']?(?:value|val|default|content|data)\\?[\"']?{_B}[:=]\s{{0,40}}"
# Behind `<password`, `<a name="password`, `<key>password`, `<td>Password`.
TAG = r"(?:[^\S\n]{1,4}[^<>\n]{0,200}|\\?[\"'][^<>\n]{0,200})?>\s{0,40}(?:<!\[cdata\[)?"
CELL = r":?[^\S\n]{0,4}</[a-z]{1,12}>\s{0,40}<[a-z][^<>\n]{0,100}>\s{0,40}"
PLIST = r"</key>\s{0,40}<(?:string|data)>\s{0,40}"

_CODE = re.compile(
    r"[A-Za-z_]\w{0,60}(?:\.\w{1,60}){1,6}[(\[]|[a-z]{1,40}(?:_[a-z]{1,40}){1,6}\("  # data.get('x'), check_hash(x)
    r"|(?:return|raise|throw|if|for|self|print|pass|continue|break|None|True|False|null|undefined|str|string"
    r"|bool|int|bytes|void)(?![A-Za-z0-9])[^A-Za-z0-9]{0,20}\Z"
    r"|(?:base|sha|md|utf|aes|argon|pbkdf|rsa)-?[0-9]{1,5}[^A-Za-z0-9]{0,20}\Z"
)
"""What stands behind `password =` in a program and is no password."""


def anything(_value: str, _quoted: bool) -> bool:
    """Whatever stands there."""
    return True


def mixed(value: str, quoted: bool) -> bool:
    """What is no word of a sentence: four characters or more with a digit or a sign inside, or in quotes."""
    return len(value) >= 4 and not _VARIABLE.match(value) and (quoted or _odd(value))


def lettered(value: str, quoted: bool) -> bool:
    """What is neither a word nor a number: five characters or more, letters and digits or signs among them."""
    return len(value) >= 5 and mixed(value, quoted) and _odd(value) and any(c.isalpha() for c in value)


def odd(value: str, quoted: bool) -> bool:
    """What is no name of a program's: in quotes, or with a digit or a sign."""
    return quoted or _odd(value)


def enclosed(_value: str, quoted: bool) -> bool:
    """Whatever is in quotes."""
    return quoted


def keylike(value: str, _quoted: bool) -> bool:
    """What could be a key: six characters or more with a digit, or very long."""
    return len(value) >= 16 or (len(value) >= 6 and _digit(value))


def keyed(value: str, quoted: bool) -> bool:
    """What could be a key among words: with a digit in any case."""
    return keylike(value, quoted) and _digit(value)


def _digit(value: str) -> bool:
    return any(c.isdigit() for c in value)


def _odd(value: str) -> bool:
    return _digit(value) or bool(_SIGN.search(value))


_VARIABLE = re.compile(r"\$[A-Z_][A-Z0-9_]{0,60}\Z|\$?\{[^{}]{0,60}\}|%[sr]\Z|<[^<>]{1,60}>\Z")
"""What a program or a person puts a secret into, and is none."""
_SIGN = re.compile(r"[A-Za-z0-9][@#$%^&*!+=~?][A-Za-z0-9]")


@dataclass(frozen=True)
class Joint:
    """What may stand between a name and its value, which values then are believed, and how they are read."""

    pattern: re.Pattern[str]
    judge: Judge
    reading: Callable[[Values, int], Value | None] = Values.told


def joint(
    pattern: str, judge: Judge, reading: Callable[[Values, int], Value | None] = Values.told
) -> Joint:
    """A joint, its pattern compiled."""
    return Joint(re.compile(pattern), judge, reading)


Fits = Callable[[str, int, int], bool] | None


def named(name: str, *joints: Joint, fits: Fits = None) -> Callable[[Page], Iterator[Span]]:
    """The values behind a name; of the joints the first that leads to a value that is believed.

    Names and joints are looked for in lower case; what is no name for all that, `fits` tells.
    """
    names = re.compile(name)

    def find(page: Page) -> Iterator[Span]:
        values = [Values(page.text) for _ in joints]
        at = 0
        for found in names.finditer(page.low):
            if found.start() < at or not (fits is None or fits(page.text, *found.span())):
                continue
            for one, read in zip(joints, values, strict=True):
                joined = one.pattern.match(page.low, found.end())
                value = one.reading(read, joined.end()) if joined else None
                if value is None:
                    continue
                if page.text[value.start] == FILL:  # by another rule, or before
                    break
                if _believed(page.text, value, one.judge):
                    at = value.behind
                    yield value.start, value.end
                    break

    return find


def _believed(text: str, value: Value, judge: Judge) -> bool:
    """Whether a value can be a secret, and is no program."""
    if not value.quoted and _CODE.match(text, value.start, value.end):
        return False
    told = text[value.start : min(value.end, value.start + JUDGED)].replace(FILL, "")
    return bool(told) and judge(told, value.quoted)


def _word(text: str, start: int, end: int) -> bool:
    """Whether a name is a word, or the last of `dbPass`; PASS is a test's."""
    name, before = text[start:end], text[max(start - 1, 0) : start]
    return name != "PASS" and (not before.isalpha() or (before.islower() and name[0].isupper()))


_VALUES = (joint(ASSIGNED, anything), joint(PAIR, anything))
_PASS_HINTS = ("passw", "pass-", "pass_", "pass ", "passc", "passp", "passk", "passo", "paswd", "pswd", "pwd", "parolă")
_ELSEWHERE_HINTS = (
    *("kennwort", "zugangscode", "contrase", "de passe", "de-passe", "de_passe", "senha", "wachtwoord", "hasło"),
    *("haslo", "heslo", "jelszó", "lösenord", "adgangskode", "salasana", "şifre", "wlan", "wi-fi", "wifi", "пароль"),
    *("口令", "密码", "密碼", "パスワード", "비밀번호", "암호", "كلمة", "סיסמ", "mật khẩu", "รหัสผ่าน"),
)
_TOKEN_HINTS = ("token", "secret", "key")
_START = rf"<[\w:.-]{{0,40}}(?<!/)(?:{PASSWORD}|{TOKEN})"
_ATTRIBUTE = rf"(?:name|key|id)=\\?[\"'][\w:.-]{{0,40}}(?:{PASSWORD}|{TOKEN})"

_JOINTS = (
    *_VALUES,
    joint(NOTED, anything),
    joint(TOLD, anything),
    joint(IS, mixed),
    joint(BEHIND, mixed),
    joint(BESIDE, lettered),
    joint(CHANGED, lettered),
    joint(PLIST, anything, Values.element),
    joint(CELL, lettered, Values.element),
)

_WEAK_JOINTS = (joint(ASSIGNED, lettered), joint(IS, lettered))

RULES = (
    Rule(
        "passphrase",
        named(PHRASE, joint(ASSIGNED, anything, Values.line)),
        ("phrase", "mnemonic", "d words", "y words", "p words", "t words"),
    ),
    Rule("password", named(rf"{_START}|{_ATTRIBUTE}", joint(TAG, anything, Values.element)), ("</",)),
    Rule("password", named(_PASS, *_JOINTS), _PASS_HINTS),
    Rule("password", named(_ELSEWHERE, *_JOINTS), _ELSEWHERE_HINTS),
    Rule(
        "password",
        named(_ENV, joint(r"=(?=\S{4})", anything), joint(ASSIGNED, odd), joint(PAIR, odd)),
        ("_pass", "_pw"),
    ),
    Rule("password", named(_WEAK, *_WEAK_JOINTS, fits=_word), ("pass", "pw", "psw")),
    Rule("password", named(_WEAKER, *_WEAK_JOINTS, fits=_word), ("mdp", "clave")),
    Rule(
        "password",
        named(
            r"(?:user|role|grant|account)[^\n;]{1,120}(?:identified[^\n;]{0,60}? by|password)",
            joint(BEHIND, enclosed),
        ),
        ("identified", "role", "user"),
    ),
    Rule("password", named(rf"--[a-z-]{{0,20}}(?:{PASSWORD}|pass)", joint("[ =]", anything)), ("--",)),
)
"""Passwords by their name."""

TOKENS = (
    Rule(
        "token",
        named(
            TOKEN,
            joint(ASSIGNED, keylike),
            joint(r"=(?=\S{4})", anything),
            joint(PAIR, keylike),
            joint(NOTED, keyed),
            joint(IS, keyed),
            joint(BEHIND, keyed),
            joint(BESIDE, keyed),
            joint(PLIST, keylike, Values.element),
        ),
        _TOKEN_HINTS,
    ),
    Rule("token", named(rf"--[a-z-]{{0,20}}(?:{TOKEN})", joint("[ =]", keylike)), ("--",)),
)
"""Tokens and keys by their name."""
