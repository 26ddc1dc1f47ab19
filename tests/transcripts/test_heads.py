"""Heads of turns in many ways, each with names of many kinds: nobody's words are anybody else's."""

from __future__ import annotations

from pathlib import Path

import pytest

from smartsearch.transcripts.corpus import read_one

SAID = (
    *("the ferry bell sounds hoarse today", "oil the hinge with two drops"),
    *("hinge was bent, found another", "hang it above the stove meanwhile"),
    *("the tuner comes to the hall on friday", "row nine has the torn seat"),
    *("I will sew the cloth for it", "count the brass numbers first"),
)
WHO = (0, 1, 0, 1, 2, 0, 2, 1)
NAMES = (
    *("Ole Berg", "Ole van der Berg", "Ole J. Berg, Psy.D", "Ole Berg (Host)", "Ole & Maya"),
    *("Speaker 2", "OLE BERG", "Dr. Ole Berg", "奥勒", "Оле Берг", "Ole Berg | Boats", "Ole/Tomas"),
    *("Berg, Ole", "Ole #2", "ole@boats.example", "+44 7700 900123", "Ole Berg 🚜", "B.O.", "ole_b"),
)
TIMES = ("26/02/2024, 09:1{}", "Feb 26, 2024 9:1{} AM", "09:1{}")
PLAIN = (
    *(
        "{n}: {t}",
        "**{n}:** {t}\n",
        "{n}:\n{t}\n",
        "### {n}\n\n{t}\n",
        "[{n}]: {t}",
        "<{n}> {t}",
        "{n} - {t}",
    ),
    *("({n}) {t}", "【{n}】{t}", "{n}：{t}", "{n}\t{t}", "{n}\n{t}\n"),
)
TIMED = (
    *(
        "[{T}] {n}: {t}",
        "{T} {n}: {t}",
        "{T} - {n}: {t}",
        "{n} [{T}]: {t}",
        "{n} ({T}): {t}",
        "{T}, {n}: {t}",
    ),
    *(
        "{n} {T}\n{t}\n",
        "{T} {n}\n{t}\n",
        "{n}, {T}\n{t}\n",
        "{T} <{n}> {t}",
        "{T}< {n}> {t}",
        "{T}\t{n}\t{t}",
    ),
    *(
        "{n} • {T}\n{t}\n",
        "{n}\n{T}\n{t}\n",
        "{T}\n{n}\n{t}\n",
        "**{n}** ({T}): {t}\n",
        "### {n} — {T}\n\n{t}\n",
    ),
    *("{T} | {n} | {t}", "{n} wrote on {T}:\n{t}\n", "[{T}] {n}\n{t}\n", "{T} {n} - {t}"),
)


@pytest.mark.parametrize("head", [*PLAIN, *TIMED])
def test_who_said_what_is_read_or_a_warning_given(tmp_path: Path, head: str) -> None:
    """Where a name looks like no name, without a time, the file may be prose, which is told."""
    path, wrong = tmp_path / "boats.txt", list[tuple[str, str]]()
    for name in NAMES if "|" not in head else filter(lambda one: "|" not in one, NAMES):
        people = ("Maya Reis", name, "Tomas Ek")
        for time in TIMES if "{T}" in head else ("",):
            turns = enumerate(zip(WHO, SAID, strict=True))
            lines = (head.format(n=people[who], t=said, T=time.format(n)) for n, (who, said) in turns)
            path.write_text("\n".join(lines), encoding="utf-8")
            found, known = read_one(str(path))
            read = [(plain(turn.speaker), turn.text) for turn in found.turns]
            told = known is not None and known.name == "prose" and bool(found.warnings)
            if read != [(plain(people[who]), said) for who, said in zip(WHO, SAID)] and not told:
                wrong.append((name, time))
    assert not wrong


def plain(name: str) -> str:
    """A name as it may be shown: without what stands behind it in brackets, and marks."""
    return "".join(filter(str.isalnum, name.partition(" (")[0]))


CUES = (
    *(
        "{n}: {t}",
        "[{n}] {t}",
        "[{n}]: {t}",
        "({n}) {t}",
        "({n}): {t}",
        "<v {n}>{t}",
        "{n} - {t}",
        "{n} – {t}",
    ),
    *(
        ">> {n}: {t}",
        "- {n}: {t}",
        "{n}:\n{t}",
        "[{n}]\n{t}",
        "<b>{n}</b>: {t}",
        "<i>{n}:</i> {t}",
        "{n}：{t}",
    ),
    *("【{n}】{t}", "【{n}】：{t}", "「{n}」{t}", "{{{n}}} {t}", "{n} | {t}", "**{n}:** {t}"),
)
SPEAKERS = (
    *("Maya", "van der Berg", "Ludwig van Dam", "SPEAKER_00", "Speaker 1", "O'Hara", "MAYA", "Okafor & Lind"),
    *(
        "佐藤 恵美",
        "Łucja W.",
        "Anna-Lena",
        "Иван Петров",
        "علي",
        "Guest #2",
        "Interviewer",
        "JB",
        "de la Cruz",
    ),
)


@pytest.mark.parametrize("form", CUES)
def test_every_way_to_name_who_speaks_takes_every_name(form: str, tmp_path: Path) -> None:
    texts = ["is the lamp lit?", "Since noon, I think.", "I can see it and the boat.", "Good: then we go."]
    texts += ["At 10:30 we leave [laughs].", "Wait for me", "No, the other one.", "Fine by me!"]
    wrong = list[str]()
    for name in SPEAKERS:
        other = "JONAS BERG" if name.isupper() else "Jonas Berg"
        who = [(name, other)[int(n)] for n in "01011001"]
        cues = [
            f"{n}\n00:00:{4 * n:02},000 --> 00:00:{4 * n + 3:02},500\n{form.format(n=one, t=text)}\n"
            for n, (one, text) in enumerate(zip(who, texts), 1)
        ]
        path = tmp_path / "talk.srt"
        path.write_text("\n".join(cues), encoding="utf-8")
        turns = read_one(str(path))[0].turns
        found = [next((one.speaker for one in turns if text[:12] in one.text), None) for text in texts]
        wrong += [name] if found != who else []
    assert not wrong
