"""The names of secrets, what stands between them and a value, and the rules made of these.

`password: x`, `"api_key": "x"`, `<password>x</password>`, "the password is x1".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from smartsearch.text.redact.named import (
    anything,
    drawn,
    enclosed,
    joint,
    keyed,
    keylike,
    lettered,
    listed,
    listing,
    mixed,
    named,
    odd,
    strong,
    words,
)
from smartsearch.text.redact.page import FILL, Page, Rule, Span
from smartsearch.text.redact.values import Values

# Names begin with few letters, for a search passes over what begins with others; what may not stand before a
# name is looked back at from its first letter.
_PASS = (
    r"p(?<!nop)(?:ass[-_ ]?(?:w[o0]rd|wort|wd|code|phrase|key)|@ss(?:w[o0]rd|wd)"
    r"|as(?:swrd|wd|word|sord|sowrd)"
    r"|s?swd|wr?d|arolă)"
)
_ELSEWHERE = (
    r"kennwort|(?:zugangs|freischalt)code|(?:security|secret)[ -]answer"
    r"|contrase[nñ]a|mot[- _]de[- _]passe|senha|wachtwoord|has[lł]o|heslo|jelszó|lösenord"
    r"|adgangskode|salasana|şifre"
    r"|(?:w(?:lan|i-?fi|pa2?|ep|ireless)|network)[-_ ]?(?:key|schlüssel|code|clave|clé)|netzwerkschlüssel"
    r"|пароль|密码|密碼|口令|パスワード|비밀번호|비번|암호|كلمة المرور|كلمة السر|סיסמה|סיסמא|mật khẩu|รหัสผ่าน"
    r"|kata sandi|पासवर्ड|κωδικός(?: πρόσβασης)?"
)
PASSWORD = f"{_PASS}|{_ELSEWHERE}"
_WEAK = r"p(?:ass|s?w|/w|\.w\.)(?![a-z])"  # words of other meanings too
_WEAKER = r"(?:mdp|clave|contra|parola|community string|snmp[a-z -]{0,20}community)(?![a-z])"
_ENV = r"p(?<=[a-z0-9]_p)(?:ass|w)(?![a-z])"
_KEYS_OF = (
    *("api", "access", "secret", "private", "auth", "client", "account", "consumer"),
    *("encryption", "signing", "shared", "master", "license", "licence"),
)
# Looked back at from the k: a search for few first letters passes over most of a text.
TOKEN = f"token|secret|k(?:{'|'.join(f'(?<={of}k)|(?<={of}[-_ ]k)' for of in _KEYS_OF)})ey(?:_base)?"
# Names that are a key's only where the value looks drawn by lot.
OPENER = (
    r"(?:k(?<! k)(?<!pubk)(?<!public[-_]k)ey|auth|psk(?!e)|salt|jwt|hmac|csrf|xsrf|session"
    r"|s(?<![a-z].)id|li_at|\.sid|signature)(?:[-_]?(?:id|token|data))?"
)
SESSION = r"(?:php|j|asp\.net_)sess(?:ion)?id"
PHRASE = (
    r"passphrase|(?:seed|recovery|backup|secret|mnemonic|wallet)[ -](?:phrase|words)|mnemonic(?: phrase)?"
    r"|wiederherstellungsphrase"
)
_SEED = r"(?<![a-z])seed|(?:12|24|twelve|twenty-four) words"

QUOTES = "\"'`*_.,;:!?()[]“”„«»"
_B = r"[^\S\n]*"  # blanks of a line
_SHUT = r"(?:[\\\"'`\]*_”»’]|</?[a-z][a-z0-9]{0,10}>){0,6}"  # quotes and tags behind a name
_TAGS = r"(?:<[a-z][a-z0-9]{0,10}(?: [^<>\n]{0,200})?>){0,3}"
_SAME_LINE = rf"[*_]{{0,3}}(?:</[a-z][a-z0-9]{{0,10}}>){{0,3}}{_B}{_TAGS}"
_NEXT_LINE = (  # of a YAML block or list, of a quotation; a program's comment is none
    rf"(?:[|>][-+]?(?={_B}\n))?{_B}(?:\n(?![^\S\n]{{0,40}}(?:\"\"\"|\'\'\')))?(?:>[^\S\n])?{_B}"
    r"(?:[-*•][^\S\n]+)?"
)
_ABOUT = (
    r"(?:[^\S\n]?\([^()\n]{1,40}\)|,[^\n:=,]{1,40},"
    r"| (?:for|to|of|on|für|fürs|zum|vom|del|de|du|da|pour)\b[^\n:=]{1,40})?"
)
_BE = (
    r"(?:(?:is|was|are|(?:will|should|must|would|might|may) be|used to be|has been|remains"
    r"|ist|war|lautet|heißt|wäre|est|était|c'est|es|era|è|é|jest|är|er|это|:=?)"
    r"(?:[^\S\n]{1,4}(?:now|still|just|always|jetzt|immer|again|wieder|ahora|maintenant"
    r"|probably|maybe|perhaps|currently|simply|actually|definitely|likely))?)"
)
_SIGN = (
    r"=>|:=|={1,3}|[:︰]|-{1,2}>|[→⇒➜➡]"
    r"|&#(?:58|61|x3[ad]);|%3[ad]|\\u003[ad]"  # : and = as a page, an address, a program writes them
)
_TYPE = (  # of a program's variable
    rf"(?:(?::{_B})?(?:&(?:'static )?)?(?:optional\[)?(?:secret)?str(?:ing)?[\]?!]?"
    rf"(?: ?\| ?(?:none|null|undefined))?{_B}(?==))?"
)
_OPEN = (  # a list, a table, a tag or an object in which the value is the first
    r"(?:(?:[\[({]\s{0,40}){1,2}(?:\\{0,8}[\"'][\w .@-]{1,40}\\{0,8}[\"']\s{0,4}:\s{0,4})?(?=\\{0,8}[\"'])"
    r"|!(?:!str|!binary|vault)[^\S\n]{1,4}(?:\|[-+]?[^\S\n]{0,4}\n[^\S\n]{0,40})?|new(?= \w{1,40}\() )?"
)
ASSIGNED = (
    rf"[0-9]{{0,2}}{_SHUT}{_B}(?:[.…]{{1,40}}{_B}|{_TYPE})(?:{_SIGN})(?:{_SAME_LINE})?{_NEXT_LINE}{_OPEN}"
)
NOTED = rf"[^\S\n]{{0,4}}[(\[][^()\[\]\n]{{0,40}}[)\]]{_B}(?:[:=]|-{{1,2}}>|→){_NEXT_LINE}"
TOLD = (
    rf"{_ABOUT}(?:[^\S\n]{{1,4}}(?:is|was|ist|war|lautet|est|es|è|é|jest|är|er)(?: now| jetzt)?{_B}:|{_B}=)"
    rf"{_B}\n?{_B}"
)
IS = rf"{_ABOUT}(?:{_B}:|[^\S\n]{{1,4}}{_BE}|['’]s)[^\S\n]+|{_B}(?:是|为|為|は|は、|는|은):?{_B}"
BESIDE = (
    rf"s(?::|[^\S\n](?:are|were))[^\S\n]+(?![\[({{])|{_SHUT}\t[^\S\n]*"
    rf"|{_SHUT}{_B}(?:[^\w\s\"'`.,!?;()\[\]{{}}<=$%@#:]{{1,4}}[^\S\n]+|[|;,](?=\S))"
)
LISTED = (  # in a list, below a heading
    rf"s?{_SHUT}{_B}[:=]\s{{0,40}}(?:[\[({{]\s{{0,40}}){{1,2}}"
    rf"(?:\\?[\"'][\w .@-]{{1,40}}\\?[\"']\s{{0,4}}:\s{{0,4}})?"
    rf"|s?(?:{_SHUT}{_B}[:=]|{_ABOUT}(?: is| are)?:)?{_B}\n\s{{0,40}}(?:[-*•][^\S\n]+)?(?!\"\"\"|\'\'\')"
)
BARE = r"(?<!passwd)[^\S\n]+[(\[*_]{0,2}|[(\[]|(?=[「『])"
OTHER = r"[^\S\n]?[:=][^\S\n]?[^\s:/|]{1,60}[^\S\n]?[:/|][^\S\n]?(?!/)"  # `login: ann / x1`
BEHIND = rf"{_SHUT}[^\S\n]+(?=\\{{0,4}}[\"'`“„«‘])"
_SET = (
    r"(?:(?:(?:is|was|has been|got) )?(?:now )?(?:(?:re)?set|changed) )?(?:to|from|into|auf|à|en|a)[^\S\n]+"
)
CHANGED = rf"{_ABOUT}[^\S\n]{{1,4}}{_SET}"
GIVEN = r"[^\S\n]+(?:<<<[^\S\n]*)?[\"']?(?![-<>=:])"  # to a command: `set KEY x1`
LAST = r"[\"'],[^\S\n]{0,4}(?=[\"'][^\"'\n]{1,200}[\"']\))"  # of a call: `getenv("PASSWORD", "x1")`
DEFINED = r"[\"'],[^\S\n]{0,4}(?=[\"'])"
# `"name": "password", "value": "x"`, `key="password" value="x"`: the name is itself a value.
PAIR = rf"\\?[\"']?{_B},?\s{{0,40}}\\?[\"']?(?:value|val|default|content|data)\\?[\"']?{_B}[:=]\s{{0,40}}"
# Behind `<password`, `<a name="password`, `<key>password`, `<td>Password`.
TAG = r"(?:[^\S\n]{1,4}[^<>\n]{0,200}|\\?[\"'][^<>\n]{0,200})?>\s{0,40}(?:<!\[cdata\[)?"
CELL = r":?[^\S\n]{0,4}</[a-z]{1,12}>\s{0,40}<[a-z][^<>\n]{0,100}>\s{0,40}"
PLIST = r"</key>\s{0,40}<(?:string|data)>\s{0,40}"


def _word(text: str, start: int, end: int) -> bool:
    """Whether a name is a word, or the last of `dbPass`; PASS is a test's."""
    name, before = text[start:end], text[max(start - 1, 0) : start]
    return name != "PASS" and (not before.isalpha() or (before.islower() and name[0].isupper()))


_NAME_AFTER = re.compile(_PASS)
_WORD = re.compile(r"\S+")
_COPULAS = ("is", "was", "as", "ist", "war", "als", "est", "es", "<-", "(the", "(my", "that's", "thats")
_DASHES = ("-", "–", "—")
BEFORE, BETWEEN = 120, 4
"""Characters before a name in which its value is looked for, and words: `x1 is my old wifi password`."""


def _before(page: Page) -> Iterator[Span]:
    """Values that stand in front of their name."""
    at = 0
    for name in _NAME_AFTER.finditer(page.low):
        first = max(at, name.start() - BEFORE)
        if page.low[max(name.start() - 1, 0) : name.start()].isspace():
            words = [w for w in _WORD.finditer(page.text[first : name.start()]) if w[0] not in _DASHES]
            words = words[-BETWEEN - 1 :]
            value = next((v for v, be in pairwise(words) if be[0].lower() in _COPULAS), None)
            told = value[0].strip(QUOTES) if value else ""
            if value and strong(told, False) and FILL not in told:
                start = first + value.start() + value[0].index(told)
                yield start, start + len(told)
        at = name.end()


_HEADING = re.compile(rf"[a-z_. -]{{0,20}}(?:{PASSWORD}|{TOKEN}|(?<![a-z])(?:pass|pw))")


def _columns(page: Page) -> Iterator[Span]:
    """Values below their name, in a table whose first line names them."""
    start, sign, width, columns = 0, "", 0, set[int]()
    for line in page.text.split("\n"):
        cells = line.split(sign) if columns else []
        if not cells or len(cells) != width:
            sign = next((one for one in "|\t;," if one in line), "")
            cells = line.lower().split(sign) if sign else []
            columns = {n for n, cell in enumerate(cells) if _HEADING.fullmatch(cell.strip(QUOTES + " \t\r"))}
            width = len(cells)
        else:
            at = start
            for n, cell in enumerate(cells):
                told = cell.strip(" \t\r\"'`")
                if n in columns and strong(told, False) and FILL not in told:
                    yield at + cell.index(told), at + cell.index(told) + len(told)
                at += len(cell) + 1
        start += len(line) + 1


_VALUES = (joint(ASSIGNED, anything), joint(PAIR, anything))
_PASS_HINTS = (
    *(f"pass{letter}" for letter in "w-_ cpkos"),
    *("p@ss", "pasw", "pswd", "pwd", "pwrd", "psswd", "parolă"),
)
_ELSEWHERE_HINTS = (
    *("kennwort", "zugangscode", "freischaltcode", "answer", "network", "netzwerk", "wpa", "wep", "wireless"),
    *("contrase", "de passe", "de-passe", "de_passe", "senha", "wachtwoord"),
    *("hasło", "haslo", "heslo", "jelszó", "lösenord", "adgangskode", "salasana", "şifre", "wlan", "wi-fi"),
    *("wifi", "пароль", "口令", "密码", "密碼", "パスワード", "비밀번호", "비번", "암호", "كلمة", "סיסמ"),
    *("mật khẩu", "รหัสผ่าน", "kata sandi", "पासवर्ड", "κωδικός"),
)
_TOKEN_HINTS = ("token", "secret", "key")
_BOTH = rf"(?:user(?:name)?|login|e-?mail|id|name)[^\S\n]?[/|&+,][^\S\n]?(?:{PASSWORD}|pass|pw)"
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
    joint(LISTED, strong),
    joint(BARE, strong),
    joint(LAST, strong),
    joint(PLIST, anything, Values.element),
    joint(CELL, lettered, Values.element),
)

_WEAK_JOINTS = (joint(ASSIGNED, lettered), joint(IS, lettered))

RULES = (
    Rule(
        "passphrase",
        named(
            PHRASE,
            joint(ASSIGNED, anything, Values.phrase),
            joint(rf"{IS}|\s+", words, Values.phrase),
            joint(r"[^\S\n]*\n", listing, Values.phrase),
        ),
        ("phrase", "mnemonic", "d words", "y words", "p words", "t words"),
    ),
    Rule("passphrase", named(_SEED, joint(rf"{IS}|{ASSIGNED}", words, Values.phrase)), ("seed", " words")),
    Rule("password", named(rf"{_START}|{_ATTRIBUTE}", joint(TAG, anything, Values.element)), ("</",)),
    Rule("password", named(_BOTH, joint(ASSIGNED, anything, Values.line)), ("pass", "pw")),
    Rule("password", named(_PASS, *_JOINTS), _PASS_HINTS),
    Rule("password", named(_ELSEWHERE, *_JOINTS), _ELSEWHERE_HINTS),
    Rule(
        "password",
        named(_ENV, joint(r"=(?=\S{4})", anything), joint(ASSIGNED, odd), joint(PAIR, odd)),
        ("_pass", "_pw"),
    ),
    Rule("password", named(_WEAK, *_WEAK_JOINTS, fits=_word), ("pass", "pw", "psw", "p/w", "p.w.")),
    Rule(
        "password", named(r"wi-?fi(?![a-z])", joint(ASSIGNED, strong), joint(IS, strong)), ("wifi", "wi-fi")
    ),
    Rule(
        "password",
        named(
            r"p(?<![a-z]p)wd?(?![a-z])|user(?:name)?[^\S\n][^\s:]{1,40}[^\S\n]pass|creds:[^\S\n][a-z0-9@._-]{1,40}(?![^\s:/])"
            r"|u(?<![a-z]u)(?:ser)?:[^\S\n]?[^\s:]{1,40}[^\S\n]p(?:w|ass)?:",
            joint(r"[^\S\n]+", strong),
        ),
        ("pw", "pass", "creds", "u: ", "user:"),
    ),
    Rule(
        "password",
        named(_WEAKER, *_WEAK_JOINTS, joint(r"[^\S\n]+", strong), fits=_word),
        ("mdp", "clave", "contra", "parola", "communit"),
    ),
    Rule(
        "password",
        named(r"login|cred(?:ential)?s|zugangsdaten", joint(OTHER, lettered)),
        ("login", "cred", "zugangsdaten"),
    ),
    Rule("password", _before, _PASS_HINTS),
    Rule("password", _columns, (*_PASS_HINTS, *_ELSEWHERE_HINTS, *_TOKEN_HINTS)),
    Rule(
        "password",
        named(
            r"(?:user|role|grant|account)[^\n;]{1,120}(?:identified[^\n;]{0,60}? by|password(?: by)?)",
            joint(BEHIND, enclosed),
        ),
        ("identified", "role", "user"),
    ),
    Rule(
        "password",
        named(rf"--[a-z-]{{0,20}}(?:{PASSWORD}|pass)", joint(r"[\s=]|[\"'],[^\S\n]{0,4}(?=[\"'])", anything)),
        ("--",),
    ),
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
            joint(LISTED, listed),
            joint(PLIST, keylike, Values.element),
            joint(GIVEN, drawn),
        ),
        _TOKEN_HINTS,
    ),
    Rule(
        "token",
        named(OPENER, joint(ASSIGNED, drawn), joint(PAIR, drawn), joint(DEFINED, drawn), joint(GIVEN, drawn)),
        ("key", "auth", "psk", "salt", "jwt", "hmac", "csrf", "xsrf", "sid", "session", "li_at", "signature"),
    ),
    Rule("token", named(SESSION, joint(ASSIGNED, keylike)), ("sess",)),
    Rule("password", named(r"psk", joint(ASSIGNED, mixed), joint(IS, mixed)), ("psk",)),
    Rule("password", named(r"secret", joint(r"[^\S\n][057][^\S\n]", strong)), ("secret",)),
    Rule("token", named(rf"--[a-z-]{{0,20}}(?:{TOKEN})", joint("[ =]", keylike)), ("--",)),
)
"""Tokens and keys by their name."""

_LATELY = r"(?:,?[^\S\n](?:again|now|then|please|pls|here|there|nochmal|bitte)){0,2}"
_REPLY = (
    r"(?:(?:sure|yes|yeah|yep|ok|okay|of course|here(?: you go| it is)?) ?[,.:!–—-]{0,3}[^\S\n]{1,4}){0,2}"
    r"(?:it(?:['’]?s| is)(?: now| still)?:?[^\S\n])?"
)
_ASKED = rf"{_ABOUT}{_LATELY}[^\S\n]?[?:.!]{{0,3}}{_B}\n{_B}{_REPLY}"
CARRIED = (
    Rule(
        "passphrase",
        named(PHRASE, joint(rf"{ASSIGNED}|{IS}|\s+", listing, Values.phrase)),
        ("phrase", "mnemonic", "d words", "y words", "p words", "t words"),
    ),
    Rule("password", named(PASSWORD, joint(_ASKED, strong, Values.line)), (*_PASS_HINTS, *_ELSEWHERE_HINTS)),
    Rule("token", named(TOKEN, joint(_ASKED, drawn, Values.line)), _TOKEN_HINTS),
)
"""What is asked for in one turn and told in the next, and phrases that are told in several."""
