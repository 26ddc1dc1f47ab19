"""Times in the words of many languages."""

from __future__ import annotations

import pytest

from smartsearch.text.longtimes import time_of

AFTERNOON = """
terça-feira, 6 de fevereiro de 2024 às 14:16:40 UTC
Dienstag, 6. Februar 2024 um 14:16:40 UTC
mardi 6 février 2024 à 14:16:40 UTC
martes, 6 de febrero de 2024, 2:16:40 p. m. UTC
martedì 6 febbraio 2024 alle ore 14:16:40 UTC
dinsdag 6 februari 2024 om 14:16:40 UTC
wtorek, 6 lutego 2024 14:16:40 UTC
tisdag 6 februari 2024 kl. 14:16:40 UTC
tirsdag den 6. februar 2024 kl. 14.16.40 UTC
tiistai 6. helmikuuta 2024 klo 14.16.40 UTC
вторник, 6 февраля 2024 г. в 14:16:40 UTC
вівторок, 6 лютого 2024 р. о 14:16:40 UTC
úterý 6. února 2024 v 14:16:40 UTC
2024. február 6., kedd 14:16:40 UTC
marți, 6 februarie 2024 la 14:16:40 UTC
Τρίτη 6 Φεβρουαρίου 2024 στις 2:16:40 μ.μ. UTC
6 Şubat 2024 Salı 14:16:40 UTC
Selasa, 6 Februari 2024 pukul 14.16.40 UTC
Thứ Ba, 6 tháng 2, 2024 lúc 14:16:40 UTC
2024年2月6日火曜日 14:16:40 UTC
2024年2月6日星期二 UTC 14:16:40
2024년 2월 6일 화요일 오후 2시 16분 40초 UTC
الثلاثاء، 6 فبراير 2024 في 2:16:40 م UTC
יום שלישי, 6 בפברואר 2024 בשעה 14:16:40 UTC
วันอังคารที่ 6 กุมภาพันธ์ 2567 เวลา 14:16:40 UTC
"""


def test_the_same_moment_in_many_languages() -> None:
    lines = AFTERNOON.strip().split("\n")
    assert {line: time_of(line) for line in lines} == dict.fromkeys(lines, "2024-02-06T14:16:40+00:00")


@pytest.mark.parametrize(
    ("written", "time"),
    [
        ("3. října 2023 v 9:05:01 GMT+2", "2023-10-03T09:05:01+02:00"),
        ("11 listopada 2024 14:16", "2024-11-11T14:16:00"),
        ("le 3 août 2023", "2023-08-03"),
        ("5. marts 2024 kl. 00.16", "2024-03-05T00:16:00"),
        ("6 Φεβρουαρίου 2024 12:16 π.μ.", "2024-02-06T00:16:00"),
        ("2 years ago", ""),
        ("vor 3 Tagen", ""),
        ("31 de fevereiro de 2024", ""),
        ("yesterday at 14:16", ""),
        (1707228000, "2024-02-06T14:00:00+00:00"),
        (None, ""),
    ],
)
def test_a_time_in_words(written: object, time: str) -> None:
    assert time_of(written) == time
