"""What the author of an e-mail wrote: HTML to text, and quoted replies and signatures cut. Parses no mail."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from smartsearch.text.htmltext import text_of
from smartsearch.text.stamps import STAMP

_START = r"(?:On|Am|Le|El|Il|Em|Op|Den|På|Dnia|W dniu|Pada|Vào|În)"
_WROTE = (
    r"(?:wrote|schrieb|a écrit|écrit|escribió|ha scritto|escreveu|schreef|skrev|napisał|написал"
    r"|yazdı|menulis|пише|さんのメール|写道|寫道|님이 작성)"
)
_ATTRIBUTION = re.compile(rf"(?:{_START}\b.{{4,200}}|.{{4,200}}){_WROTE}.{{0,120}}[:：]$")
_BEGINS = re.compile(rf"{_START}\s.{{0,200}}\d")
_ORIGINAL = re.compile(
    r"[-_ ]{0,8}-{2,}\s?(?:Original Message|Original-Nachricht|Ursprüngliche Nachricht|Message d['’]origine"
    r"|Mensaje original|Mensagem original|Messaggio originale|Oorspronkelijk bericht)\s?-{2,}.{0,20}$",
    re.I,
)
_HEADER = re.compile(
    r"[*_]{0,2}(?:From|Von|De|Da|Van|Från|Fra|От|差出人|发件人|寄件者)[*_]{0,2}\s?[:：]\s*\S"
)
_SENT = re.compile(
    r"[*_]{0,2}(?:Sent|Date|Gesendet|Datum|Envoyé|Enviado|Enviada|Data|Inviato|Verzonden|Skickat|Sendt|Отправлено"
    r"|送信日時|发送时间|寄件日期|Fecha)[*_]{0,2}\s?[:：]\s*\S"
)
_DEVICE = re.compile(
    r"(?:Sent from my \S|Sent from Outlook|Get Outlook for|Von meinem \S.{0,30} gesendet|Gesendet von \S"
    r"|Envoyé de mon \S|Enviado desde mi \S|Enviado do meu \S|Inviato da(?:l mio)? \S"
    r"|Verstuurd vanaf mijn \S).{0,80}$"
)
_QUOTED = re.compile(r"(?:> ?){1,20}")
_STAMP = re.compile(STAMP, re.I)
_ADDRESS = re.compile(r"[<(\[]{0,2}(?P<at>[^\s<>()\[\]@,;]{1,64}@[^\s<>()\[\]@,;:]{1,120})[>)\]]{0,2}")
_WEEKDAY = re.compile(r"\s?[(（][^\W\d_]{1,3}[)）]|^[^\d:]{1,20}[:：]\s*[^\W\d]{2,9}\.?, ")
_TOP = 8  # lines in which the header of a forwarded mail begins
_RULE = re.compile(r"_{10,}$")
_RULED = re.compile(rf"{_HEADER.pattern}|_{{10,}}$")


_FORWARDED = re.compile(
    r"[->\s]{0,12}(?:Begin forwarded message|Forwarded message|Weitergeleitete Nachricht"
    r"|Anfang der weitergeleiteten (?:Nachricht|E-?Mail)|Message transf[ée]r[ée]|D[ée]but du"
    r" message (?:transf[ée]r[ée]|r[ée]exp[ée]di[ée])"
    r"|(?:Inicio del )?mensaje reenviado|(?:In[íi]cio da )?mensagem (?:encaminhada|reencaminhada)"
    r"|(?:Inizio )?(?:del )?messaggio inoltrato|(?:Begin )?doorgestuurd bericht|Vidarebefordrat"
    r" (?:meddelande|brev)"
    r"|Videresendt (?:melding|meddelelse|besked)|V[äa]litetty viesti|Przekazana wiadomo[śs][ćc]"
    r"|Přeposlaná zpráva"
    r"|Továbbított (?:üzenet|levél)|İletilen ileti|Yönlendirilmiş ileti|Пересылаемое сообщение"
    r"|Начало переадресованного"
    r"|Переслане повідомлення|転送されたメッセージ|転送メール|转发的邮件|转发邮件信息|轉寄的郵件|전달된"
    r" 메시지"
    r"|Forwarded by|Forwarded Message)\b.{0,60}$",
    re.I,
)


def own_words(text: str, forwards: bool = False) -> tuple[str, str]:
    """What the author of `text` wrote, without what it quotes and a signature, and what is forwarded below.

    A mail that by its subject `forwards` another holds it where a reply has its quotation.

    Cut are lines of `>` with the line that announces them (`On ... wrote:`, in some fifteen languages), all
    below the header of a message that Outlook repeats, and all below `-- `. Answers between quotations stay.
    """
    lines = [line.rstrip("\r") for line in text.split("\n")]
    begun = next((n for n, line in enumerate(lines) if _FORWARDED.match(line[:200])), len(lines))
    end = min(_end(lines), begun)
    if (
        forwards
        and end < begun
        and (_ORIGINAL.match(lines[end].strip()) or _RULED.match(lines[end].strip()[:200]))
    ):
        begun = end
    return _written(lines[:end]), "\n".join(line.rstrip() for line in lines[begun:]).strip()


def is_forwarded(line: str) -> bool:
    """Whether a line announces a mail that is forwarded."""
    return _FORWARDED.match(line[:200]) is not None


def forwarded(there: str) -> list[tuple[str, str, str]]:
    """The mails that stand forwarded below a mail's words, one in another: who wrote it, when, as its header
    has it, and its text. None where a header tells neither.
    """
    lines = there.split("\n")
    if lines[0][:1] == ">":
        lines = [re.sub("^> ?", "", line) for line in lines]
    marks = [n for n, line in enumerate(lines) if not n or _FORWARDED.match(line[:200])]
    mails = [_headed(lines[n:end]) for n, end in pairwise([*marks, len(lines)])]
    return [mail for mail in mails if mail] if all(mails) else []


def _headed(lines: list[str]) -> tuple[str, str, str] | None:
    top = range(min(len(lines), _TOP))
    sender = next((n for n in top if _HEADER.match(lines[n].strip())), None)
    sent = next((n for n in top if _SENT.match(lines[n].strip())), None)
    stamp = _STAMP.search(_WEEKDAY.sub("", lines[sent])) if sent is not None else None
    if sender is None or stamp is None:
        return None
    end = next((n for n in range(sender, len(lines)) if not lines[n].strip()), len(lines))
    name, address = person(re.split("[:：]", lines[sender], maxsplit=1)[1])
    return name or address, stamp[0], "\n".join(lines[end:]).strip()


def person(written: str) -> tuple[str, str]:
    """The name and the address in a field as mails show it; "" for what it does not tell."""
    written = written.replace("mailto:", "")
    address = _ADDRESS.search(written)
    return _ADDRESS.sub("", written).strip(" \t*_\"'<>[]"), address["at"] if address else ""


def quoted(lines: list[str]) -> Iterator[tuple[int, str, str]]:
    """The mails that the lines of a mail quote below its words: the line of each (0-based), who and when, and
    its text.

    None where words stand between quotations, which answer them there.
    """
    marked = [n for n, line in enumerate(lines) if line.startswith(">")]
    if marked and any(line.strip() for n, line in enumerate(lines) if n > marked[0] and line[:1] != ">"):
        return
    bare = [_QUOTED.sub("", line) for line in lines]
    said = [n for n, line in enumerate(bare) if line.rstrip()[-1:] in (":", "：") and _announces(bare, n)]
    for n, end in pairwise([*said, len(bare)]):
        last = _announced(bare, end) if end < len(bare) else end
        first = _announced(bare, n)
        told = " ".join(line.strip() for line in bare[first : n + 1])
        yield first, told, "\n".join(bare[n + 1 : last])


def announced(told: str) -> tuple[str, str, str]:
    """The name, the address and the time in the announcement of a quotation; "" for what it does not tell."""
    stamp, address = _STAMP.search(told), _ADDRESS.search(told)
    name = _STAMP.sub("", _ADDRESS.sub("", told), count=1)
    name = re.sub(rf"^{_START}\b|{_WROTE}", "", name).strip(" ,;:：")
    return name, address["at"] if address else "", stamp[0] if stamp else ""


def _written(lines: list[str]) -> str:
    """Lines without quotations and what announces them, and without a signature of a device."""
    kept: list[str] = []
    quoting = False
    for line in lines:
        if line.startswith(">"):
            if not quoting:
                _cut_attribution(kept)
            quoting = True
        elif not quoting or line.strip():
            if quoting:
                kept.append("")
            kept.append(line.rstrip())
            quoting = False
    while kept and (
        not kept[-1].strip() or _DEVICE.match(last := kept[-1].strip()[:200]) or _RULE.match(last)
    ):
        kept.pop()
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()


def _end(lines: list[str]) -> int:
    """The line at which the author's words end for good."""
    last_quoted = max((n for n, line in enumerate(lines) if line.startswith(">")), default=-1)
    for n, line in enumerate(lines):
        if line in ("-- ", "--") and n:
            return n
        bare = line.strip()
        if len(bare) > 400 or not bare:
            continue
        if _ORIGINAL.match(bare):
            return n
        if _HEADER.match(bare) and any(_SENT.match(below.strip()[:200]) for below in lines[n + 1 : n + 4]):
            return n - 1 if n and _RULE.match(lines[n - 1].strip()[:80]) else n
        if bare[-1] in ":：" and last_quoted < n and _announces(lines, n):
            return _announced(lines, n)
    return len(lines)


def _announces(lines: list[str], n: int) -> bool:
    """Whether a quotation is announced in line `n`, which may be the last of up to three."""
    joined = " ".join(line.strip()[:200] for line in lines[_announced(lines, n) : n + 1])
    return _BEGINS.match(joined) is not None and _ATTRIBUTION.match(joined) is not None


def _announced(lines: list[str], n: int) -> int:
    for first in (n, n - 1, n - 2):
        if first >= 0 and _BEGINS.match(lines[first].strip()[:200]):
            return first
    return n


def _cut_attribution(kept: list[str]) -> None:
    """Take the announcement of a quotation off the end of `kept`."""
    last = len(kept) - 1
    while last >= 0 and not kept[last].strip():
        last -= 1
    if last < 0 or len(kept[last]) > 400 or not kept[last].rstrip().endswith((":", "：")):
        return
    if _announces(kept, last):
        del kept[_announced(kept, last) :]
    elif _ATTRIBUTION.match(kept[last].strip()):
        del kept[last:]


def of_html(html: str) -> str:
    """The text of an HTML body; quotations (`blockquote`) as lines of `> `. Never raises, in linear time."""
    return text_of(html.replace("\x00", "").replace("\u200b", ""), mail=True)
