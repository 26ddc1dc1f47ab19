"""What speech-to-text services and programs write as JSON: segments or words, placed in a recording.

Shapes as each documents its answers: OpenAI's Whisper and its API, faster-whisper, WhisperX, whisper.cpp, AWS
Transcribe, Deepgram, AssemblyAI, Rev, Azure, Google Cloud, ElevenLabs, Fireflies, Recall and Podcasting 2.0.
As in subtitles, what one speaker says is a turn up to the end of a sentence, or for a minute; `turn` holds
the place, `00:12:31`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from smartsearch.text.stamps import place
from smartsearch.text.stamps import seconds as spot
from smartsearch.text.times import to_iso
from smartsearch.transcripts.formats.fields import mapping, objects, string
from smartsearch.transcripts.formats.form import Chat, Form
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.paths import at, shaped, value_of
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

_LONGEST = 60.0  # seconds that a turn goes on for want of a sentence's end
_MARKS = ("", ".", "?", "!", "…", "。", "？", "！", "؟", "।")
_ENDED = re.compile(r"[.?!…。？！؟।]['\")\]”’»]{0,3}\s*$")


class Said(NamedTuple):
    """A segment or a word: where it stands, by whom, at which second, and when, where that is told.

    A `whole` one is a turn by itself.
    """

    item: Item
    text: str
    speaker: str
    start: float
    time: str = ""
    whole: bool = False


class _Heard(NamedTuple):
    """How a service writes what it heard: the shape of it, and where its segments or words stand.

    `inside` are the lists on the way, each in the elements of the one before; of alternatives the first is
    read. A speaker may be told of the elements around, a start that is not is that of the one before. There
    are `ticks` in a second. Where some of the words are `tagged` with a speaker the others are there twice.
    """

    shape: str
    inside: str
    ticks: float = 1
    tagged: bool = False

    def said(self, item: Item) -> Iterator[Said]:
        """The segments."""
        labels = _labels(item.value)
        found = [(item, _speaker(item.value, None))]
        for step in self.inside.split():
            found = [(one, who) for outer, above in found for one, who in _inside(outer, step, above)]
        tagged = [one for one in found if one[1]] if self.tagged else []
        begun = 0.0
        for one, who in tagged or found:
            value = one.value
            told = _start(value, None)
            begun = _ticked(value, begun) if told is None else seconds(told) / self.ticks
            who = labels.get(string(value, "start_time")) if who is None else who
            time = to_iso(_time(value, None)) if "start_timestamp" in value else ""
            yield Said(one, _heard(value), _named(who), begun, time)


_text = value_of("text transcript body punctuated_word word value content display")
_speaker = value_of("speaker speaker_label speaker_name speaker_id speakerLabel speakerTag participant/name")
_time = value_of("start_timestamp/absolute")
_start = value_of("start start_time startTime startOffset ts offset start_timestamp/relative start_timestamp")
_TICKS = {"offsets/from": 1e3, "offsetMilliseconds": 1e3, "offsetInTicks": 1e7}
"""Where a start is told in ticks, and how many are a second."""


def _ticked(value: Any, before: float) -> float:
    """The second of a start that is told in ticks, else of the one before."""
    told = ((seconds(found), ticks) for way, ticks in _TICKS.items() if (found := at(value, way)) is not None)
    return next((found / ticks for found, ticks in told), before)


def _heard(value: Any) -> str:
    """What was heard, itself or by the best guess at it."""
    if isinstance(found := _text(value, None), str):
        return found
    best = [*objects(value, "alternatives"), *objects(value, "nBest")]
    return _heard(best[0]) if best else ""


def _inside(outer: Item, step: str, above: Any) -> Iterator[tuple[Item, Any]]:
    """The objects in a list, of alternatives the first, each with its speaker, or the one around it."""
    for one in islice(outer.elements(*step.split("/")), 1 if step == "alternatives" else None):
        if isinstance(one.value, dict):
            own = _speaker(one.value, None)
            yield one, above if own is None else own


def _labels(value: object) -> dict[str, str]:
    """Amazon's speakers by the times of words, which may not tell them."""
    labelled = objects(mapping(value, "results", "speaker_labels"), "segments")
    words = (word for segment in labelled for word in objects(segment, "items"))
    return {string(word, "start_time"): string(word, "speaker_label") for word in words}


def seconds(value: object) -> float:
    """A number, or one in a text such as `1.200s`, `PT1M2.5S` or `00:01:02.5`."""
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str) and ":" in value:
        return float(spot(value) or 0)
    total, digits = 0.0, ""
    for letter in value if isinstance(value, str) else "":
        if letter.isdecimal() or letter == ".":
            digits += letter
        elif digits:
            total += float(digits) * {"H": 3600, "M": 60}.get(letter, 1) if digits.count(".") < 2 else 0
            digits = ""
    return total + (float(digits) if digits and digits.count(".") < 2 else 0)


def heard_by(value: Any) -> str:
    """Who is told to say what an object holds."""
    return _named(_speaker(value, None))


def _named(speaker: object) -> str:
    """A speaker's name, as they are told; one who is a number is `Speaker 1`."""
    name = speaker if isinstance(speaker, str) else string({"": speaker}, "")
    return f"Speaker {name}" if name.isdecimal() else name


_SHAPES = (
    _Heard("segments[]/start+end+text", "segments"),
    _Heard("transcription[]/offsets+text", "transcription"),
    _Heard("segments[]/startTime+body", "segments"),
    _Heard("results/audio_segments[]/transcript+start_time", "results/audio_segments"),
    _Heard("results/utterances[]/transcript+start", "results/utterances"),
    _Heard("utterances[]/text+start+end", "utterances", ticks=1000),
    _Heard("phrases[]/text+offsetMilliseconds", "phrases"),
    _Heard("sentences[]/text+speaker_name", "sentences"),
    _Heard("data/transcript/sentences[]/text", "data/transcript/sentences"),
    _Heard("results/items[]/alternatives+type", "results/items"),
    _Heard(
        "results/channels[]/alternatives[]/paragraphs/paragraphs[]/sentences",
        "results/channels alternatives paragraphs/paragraphs sentences",
    ),
    _Heard("results/channels[]/alternatives", "results/channels alternatives words"),
    _Heard("monologues[]/speaker+elements", "monologues elements"),
    _Heard("recognizedPhrases[]/nBest", "recognizedPhrases"),
    _Heard("results[]/alternatives[]/words[]/word", "results alternatives words", tagged=True),
    _Heard("results[]/alternatives[]/transcript", "results alternatives"),
    _Heard("language_code words[]/text+type", "words"),
    _Heard("audio_url words[]/text+start", "words", ticks=1000),
    _Heard("participant words[]/text+start_timestamp", "words"),
    _Heard("speaker words[]/text+start_timestamp", "words"),
)
_KNOWN = [(shaped(one.shape), one) for one in _SHAPES]


def _speech(source: Source, item: Item) -> Iterator[Chat]:
    heard = next((one for has, one in _KNOWN if has(item.value)), None)
    if heard:
        yield Chat(item, list(turns(heard.said(item))), source.stem)


def turns(said: Iterable[Said]) -> Iterator[Item]:
    """What one speaker says, up to the end of a sentence or for a minute; who is not told goes on."""
    texts: list[str] = []
    first = Said(Item(None, 0), "", "", 0)
    for one in said:
        if texts and not _goes_on(first, texts[-1], one):
            yield _turn(first, texts)
            texts = []
        if one.text.strip():
            first = one if not texts else first
            glued = not texts or texts[-1][-1:].isspace() or one.text[:1].isspace() or _is_piece(one)
            texts.append(one.text if glued else f" {one.text}")
        elif texts:
            texts.append(one.text)
    if texts:
        yield _turn(first, texts)


def _goes_on(first: Said, last: str, one: Said) -> bool:
    if one.whole or one.speaker not in (first.speaker, "") or not 0 <= one.start - first.start < _LONGEST:
        return False
    return _ENDED.search(last[-8:]) is None or one.text.strip() in _MARKS


def _is_piece(one: Said) -> bool:
    """Whether a text is joined to the one before as it stands: a mark, or where blanks are told apart."""
    value = mapping(one.item.value)
    return (
        not any(letter.isalnum() for letter in one.text)
        or {"type", "value"} <= value.keys()
        or ("type" in value and "text" in value)
    )


def _turn(first: Said, texts: list[str]) -> Item:
    at = place(int(first.start))
    said = {"text": "".join(texts), "speaker": first.speaker, "turn": at, "time": first.time}
    return first.item._replace(value=said)


def placed(source: Source, said: Iterable[Said], title: str) -> Iterator[Turn]:
    """The turns of a recording whose pieces stand on lines of a text."""
    for one in turns(said):
        told = one.value
        yield Turn(
            told["text"].strip(),
            told["speaker"],
            path=source.path,
            line=one.line,
            conversation=title,
            turn=told["turn"],
        )


FORMS = {
    "speech": Form(
        claims=tuple(one.shape for one in _SHAPES),
        parted=_speech,
        inside="segments",
        text="text",
        speaker="speaker",
        turn="turn",
    )
}
