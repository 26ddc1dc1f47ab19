"""What Gmail, Outlook and Apple Mail write above a mail that is forwarded or quoted, in many languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from smartsearch.transcripts.corpus import read_one

# From, Sent, To, Subject, Date; Apple's and Outlook's words; when as Outlook, Gmail and Apple tell it;
# how a reply announces what it quotes.
LANGUAGES = {
    "en": """From|Sent|To|Subject|Date|Begin forwarded message:|Original Message
        |Monday, February 5, 2024 6:02 PM|Mon, Feb 5, 2024 at 6:02 PM
        |February 5, 2024 at 6:02:10 PM GMT+1|On Mon, Feb 5, 2024 at 6:02 PM WHO wrote:""",
    "de": """Von|Gesendet|An|Betreff|Datum|Anfang der weitergeleiteten Nachricht:|Ursprüngliche Nachricht
        |Montag, 5. Februar 2024 18:02|Mo., 5. Feb. 2024 um 18:02 Uhr
        |5. Februar 2024 um 18:02:10 MEZ|Am Mo., 5. Feb. 2024 um 18:02 Uhr schrieb WHO:""",
    "fr": """De|Envoyé|À|Objet|Date|Début du message transféré :|Message d'origine
        |lundi 5 février 2024 18:02|lun. 5 févr. 2024 à 18:02|5 février 2024 à 18:02:10 UTC+1
        |Le lun. 5 févr. 2024 à 18:02, WHO a écrit :""",
    "es": """De|Enviado|Para|Asunto|Fecha|Inicio del mensaje reenviado:|Mensaje original
        |lunes, 5 de febrero de 2024 18:02|lun, 5 feb 2024 a las 18:02
        |5 de febrero de 2024, 18:02:10 CET|El lun, 5 feb 2024 a las 18:02, WHO escribió:""",
    "pt": """De|Enviada em|Para|Assunto|Data|Início da mensagem encaminhada:|Mensagem original
        |segunda-feira, 5 de fevereiro de 2024 18:02|seg., 5 de fev. de 2024 às 18:02
        |5 de fevereiro de 2024 18:02:10 GMT|Em seg., 5 de fev. de 2024 às 18:02, WHO escreveu:""",
    "it": """Da|Inviato|A|Oggetto|Data|Inizio messaggio inoltrato:|Messaggio originale
        |lunedì 5 febbraio 2024 18:02|lun 5 feb 2024 alle ore 18:02
        |5 febbraio 2024 alle ore 18:02:10 CET
        |Il giorno lun 5 feb 2024 alle ore 18:02 WHO ha scritto:""",
    "nl": """Van|Verzonden|Aan|Onderwerp|Datum|Begin doorgestuurd bericht:|Oorspronkelijk bericht
        |maandag 5 februari 2024 18:02|ma 5 feb 2024 om 18:02|5 februari 2024 om 18:02:10 CET
        |Op ma 5 feb 2024 om 18:02 schreef WHO:""",
    "sv": """Från|Skickat|Till|Ämne|Datum|Vidarebefordrat brev:|Ursprungligt meddelande
        |den 5 februari 2024 18:02|mån 5 feb. 2024 kl 18:02|5 februari 2024 18:02:10 CET
        |Den mån 5 feb. 2024 kl 18:02 skrev WHO:""",
    "da": """Fra|Sendt|Til|Emne|Dato|Videresendt besked:|Oprindelig meddelelse|5. februar 2024 18:02
        |man. 5. feb. 2024 kl. 18.02|5. februar 2024 kl. 18.02.10 CET
        |Den man. 5. feb. 2024 kl. 18.02 skrev WHO:""",
    "no": """Fra|Sendt|Til|Emne|Dato|Videresendt melding:|Opprinnelig melding
        |mandag 5. februar 2024 18:02|man. 5. feb. 2024 kl. 18:02|5. februar 2024 kl. 18:02:10 CET
        |man. 5. feb. 2024 kl. 18:02 skrev WHO:""",
    "pl": """Od|Wysłano|Do|Temat|Data|Początek przekazywanej wiadomości:|Wiadomość oryginalna
        |poniedziałek, 5 lutego 2024 18:02|pon., 5 lut 2024 o 18:02|5 lutego 2024 o 18:02:10 CET
        |pon., 5 lut 2024 o 18:02 WHO napisał(a):""",
    "cs": """Od|Odesláno|Komu|Předmět|Datum|Přeposlaná zpráva:|Původní zpráva|pondělí 5. února 2024 18:02
        |po 5. 2. 2024 v 18:02|5. února 2024 18:02:10 SEČ
        |po 5. 2. 2024 v 18:02 odesílatel WHO napsal:""",
    "fi": """Lähettäjä|Lähetetty|Vastaanottaja|Aihe|Päivämäärä|Välitetty viesti alkaa:
        |Alkuperäinen viesti|maanantai 5. helmikuuta 2024 18.02|ma 5. helmik. 2024 klo 18.02
        |5. helmikuuta 2024 klo 18.02.10 UTC+2|ma 5. helmik. 2024 klo 18.02 WHO kirjoitti:""",
    "tr": """Kimden|Gönderilme|Kime|Konu|Tarih|İletilen ileti:|Orijinal İleti
        |5 Şubat 2024 Pazartesi 18:02|5 Şub 2024 Pzt, 18:02|5 Şubat 2024 18:02:10 GMT+3
        |WHO, 5 Şub 2024 Pzt, 18:02 tarihinde şunu yazdı:""",
    "ru": """От|Отправлено|Кому|Тема|Дата|Начало переадресованного сообщения:|Исходное сообщение
        |5 февраля 2024 г. 18:02|пн, 5 февр. 2024 г. в 18:02|5 февраля 2024 г. в 18:02:10 GMT+3
        |пн, 5 февр. 2024 г. в 18:02, WHO:""",
    "ja": """差出人|送信日時|宛先|件名|日付|転送されたメッセージ:|元のメッセージ
        |2024年2月5日 18:02|2024年2月5日(月) 18:02
        |2024年2月5日 18:02:10 JST|2024年2月5日(月) 18:02 WHO:""",
    "zh": """发件人|发送时间|收件人|主题|日期|转发的邮件:|原始邮件|2024年2月5日 18:02
        |2024年2月5日周一 18:02|2024年2月5日 GMT+8 18:02:10
        |WHO 于2024年2月5日周一 18:02写道：""",
}
WHO, TEXT = "Suri Vale <suri@x.example>", "The goats fast.\nFor twelve hours."
QUOTED = "> " + TEXT.replace("\n", "\n> ")


def forwards(words: list[str]) -> dict[str, str]:
    """A mail as each program forwards it, and as a reply quotes it."""
    sender, sent, to, subject, date, apple, outlook, at_outlook, at_gmail, at_apple, quote = words
    head = f"{sender}: {WHO}\n{sent}: {at_outlook}\n{to}: Hedda <hedda@x.example>\n{subject}: goats"
    of_apple = f"{sender}: {WHO}\n{subject}: goats\n{date}: {at_apple}\n{to}: Hedda\n\n{TEXT}"
    return {
        "gmail": f"---------- Forwarded message ---------\n{sender}: {WHO}\nDate: {at_gmail}\n\n\n{TEXT}",
        "outlook": f"________________________________\n{head}\n\n{TEXT}",
        "bare": f"{head}\n\n{TEXT}",
        "original": f"-----{outlook}-----\n{head}\n\n{TEXT}",
        "apple": f"{apple}\n\n{of_apple}",
        "quoted": "> " + f"{apple}\n\n{of_apple}".replace("\n", "\n> "),
        "reply": f"{quote.replace('WHO', WHO)}\n\n{QUOTED}",
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_who_wrote_what_is_forwarded_or_quoted_and_when(language: str, tmp_path: Path) -> None:
    words = [word.strip() for word in LANGUAGES[language].split("|")]
    wrong = list[tuple[str, str]]()
    for program, below in forwards(words).items():
        reply = "Re" if program == "reply" else "Fwd"
        file = (
            f"From: Hedda <hedda@x.example>\nDate: Tue, 6 Feb 2024 09:10:00 +0100\nSubject: {reply}: goats\n"
        )
        pasted = f"{words[0]}: Hedda <hedda@x.example>\n{words[1]}: {words[7].replace('5', '6', 1)}\n"
        pasted += f"{words[3]}: {reply}: goats\n"
        for name, head in (("a.eml", file), ("a.txt", pasted)):
            (tmp_path / name).write_text(f"{head}\nsee below\n\n{below}\n", encoding="utf-8")
            turns = read_one(str(tmp_path / name))[0].turns
            said = [(one.speaker, one.time[:10]) for one in turns if "see below" in one.text]
            told = [(one.speaker, one.time[:16]) for one in turns if "twelve hours" in one.text]
            kept = [] if program == "reply" and name == "a.eml" else [("Suri Vale", "2024-02-05T18:02")]
            if (said, told) != ([("Hedda", "2024-02-06")], kept):
                wrong.append((program, name))
    assert not wrong
