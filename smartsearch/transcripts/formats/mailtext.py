"""What the author of an e-mail wrote: HTML to text, and quoted replies and signatures cut. Parses no mail."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import dropwhile, pairwise

from smartsearch.text.htmltext import text_of
from smartsearch.text.stamps import STAMP, Timeline
from smartsearch.text.times import Orders, to_iso

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
FIELDS = {
    "From": "Von|De|Da|Van|Från|Fra|Od|Lähettäjä|Kimden|Feladó|От|Від|差出人|发件人|寄件者|보낸 사람",
    "Sent": "Gesendet|Datum|Envoyé|Date|Enviad[oa](?: el| em)?|Data|Fecha|Inviato|Verzonden|Skickat|Sendt"
    "|Dato|Wysłano|Odesláno|Lähetetty|Päivämäärä|Päiväys|Gönderilme|Gönderildi|Tarih|Küldve|Elküldve|Dátum"
    "|Отправлено|Надіслано|Дата|送信日時|日付|日時|发送时间|日期|寄件日期|보낸 날짜|날짜",
    "To": "An|À|A|Para|Aan|Till|Til|Do|Komu|Vastaanottaja|Kime|Címzett|Cc|Кому|宛先|收件人|받는 사람",
    "Subject": "Betreff|Objet|Asunto|Assunto|Oggetto|Onderwerp|Ämne|Emne|Temat|Předmět|Aihe|Konu|Tárgy|Тема"
    "|件名|主题|主旨|제목",
}
"""The fields of a mail in other languages, as Gmail, Outlook and Apple Mail show them."""
_HEADER = re.compile(rf"[*_]{{0,2}}(?:From|{FIELDS['From']})[*_]{{0,2}}\s?[:：]\s*\S")
_SENT = re.compile(rf"[*_]{{0,2}}(?:Sent|{FIELDS['Sent']})[*_]{{0,2}}\s?[:：]\s*\S")
_DEVICE = re.compile(
    r"(?:Sent from my \S|Sent from Outlook|Get Outlook for|Von meinem \S.{0,30} gesendet|Gesendet von \S"
    r"|Envoyé de mon \S|Enviado desde mi \S|Enviado do meu \S|Inviato da(?:l mio)? \S"
    r"|Verstuurd vanaf mijn \S).{0,80}$"
)
_QUOTED = re.compile(r"^(?:> ?){0,20}")
_STAMP = re.compile(STAMP, re.I)
_ADDRESS = re.compile(r"[<(\[]{0,2}(?P<at>[^\s<>()\[\]@,;]{1,64}@[^\s<>()\[\]@,;:]{1,120})[>)\]]{0,2}")
_WEEKDAY = re.compile(r"\s?[(（][^\W\d_]{1,3}[)）]|(?<=\d{4}) [^\W\d_]{3},(?= \d)| GMT[+-]\d{1,2}(?= \d)")
_FIELD = re.compile(r"[*_]{0,2}[^\s\n:：][^\n:：]{0,20}[*_]{0,2}\s?[:：]")
_NO_NAMES = ("Uhr", "AM", "PM", "CET", "CEST", "UTC", "GMT")
_TOP = 8  # lines in which the header of a forwarded mail begins
_RULE = re.compile(r"^_{10,100}$|^-{3,8} ?[^\W\d_][^\n-]{2,40}-{3,8}$")
_RULED = re.compile(rf"{_HEADER.pattern}|{_RULE.pattern}")


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
    if forwards:
        begun = min(begun, next((n for n in range(len(lines)) if _is_header(lines, n, ">")), begun))
    end = min(_end(lines), begun)
    if (
        forwards
        and end < begun
        and (_ORIGINAL.match(lines[end].strip()) or _RULED.match(lines[end].strip()[:200]))
    ):
        begun = end
    return _written(lines[:end]), "\n".join(line.rstrip() for line in lines[begun:]).strip()


def _is_header(lines: list[str], n: int, mark: str = "") -> bool:
    """Whether the header of a mail begins in line `n`, behind a `mark`: who sent it and soon when."""
    if mark != lines[n][: len(mark)] or not _HEADER.match(lines[n].strip("> ")[:200]):
        return False
    return any(_SENT.match(below.strip("> ")[:200]) for below in lines[n + 1 : n + 4])


def is_forwarded(line: str) -> bool:
    """Whether a line announces a mail that is forwarded."""
    return _FORWARDED.match(line[:200]) is not None


def forwarded(there: str) -> list[tuple[str, str, str]]:
    """The mails that stand forwarded below a mail's words, one in another: who wrote it, when by its header
    (ISO 8601), and its text. None where a header tells neither.
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
    time = time_told(re.split("[:：]", lines[sent], maxsplit=1)[1]) if sent is not None else ""
    if sender is None or not time:
        return None
    end = max(sender, sent or 0) + 1
    while end < len(lines) and (_FIELD.match(lines[end]) or lines[end][:1] in (" ", "\t")):
        end += 1
    last = next((n for n in range(end, len(lines)) if lines[n] in ("-- ", "--")), len(lines))  # a signature
    if any(line.startswith(">") for line in lines[last:]):
        last = len(lines)  # not the end
    name, address = person(re.split("[:：]", lines[sender], maxsplit=1)[1])
    return name or address, time, "\n".join(lines[end:last]).strip()


def time_told(written: str) -> str:
    """The time that a field or an announcement tells, in any of their languages, as ISO 8601; or ""."""
    bare = re.sub(_WROTE, " ", _WEEKDAY.sub("", written))
    time, stamp = to_iso(bare), _STAMP.search(bare)
    return time if "T" in time or not stamp else Timeline(Orders.of([stamp[0]]), {}).at(stamp[0])


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
    said = [n for n, line in enumerate(bare) if line.rstrip()[-1:] in (":", "：") and _quotes(lines, bare, n)]
    for n, end in pairwise([*said, len(bare)]):
        last = _announced(bare, end) if end < len(bare) else end
        first = _announced(bare, n)
        told = " ".join(line.strip() for line in bare[first : n + 1])
        yield first, told, "\n".join(bare[n + 1 : last])


def _quotes(lines: list[str], bare: list[str], n: int) -> bool:
    """Whether line `n` announces what is quoted below it, in words or by an address above deeper marks."""
    if _announces(bare, n):
        return True
    told = " ".join(bare[_announced(bare, n) : n + 1])
    below = next((line for line in lines[n + 1 :] if line.strip("> ")), "")
    depths = [_QUOTED.match(line) for line in (lines[n], below)]
    above, deeper = (found[0].count(">") if found else 0 for found in depths)
    return above < deeper and bool(_ADDRESS.search(told) or _STAMP.search(told))


def announced(told: str) -> tuple[str, str, str]:
    """The name, the address and the time (ISO 8601) in what announces a quotation, or "" each."""
    told, time = _WEEKDAY.sub(" ", told), time_told(told)
    address = _ADDRESS.search(told)
    if address:  # the name stands before it, behind the time and the words of telling
        before = re.split(r"[\d,:;：]", told[: address.start()])[-1].split()
        told = " ".join(dropwhile(lambda word: word.islower() or word in _NO_NAMES, before))
    name = _STAMP.sub("", told, count=1)
    name = re.sub(rf"^{_START}\b|{_WROTE}", "", name).strip(" ,;:：")
    return name, address["at"] if address else "", time


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
        not kept[-1].strip() or _DEVICE.match(last := kept[-1].strip()[:200]) or set(last) == {"_"}
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
        if _is_header(lines, n):
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
