"""What speech-to-text services and programs write as JSON: segments or words, placed in a recording.

Shapes as each documents its answers: OpenAI's Whisper and its API, faster-whisper, WhisperX, whisper.cpp, AWS
Transcribe, Deepgram, AssemblyAI, Rev, Azure, Google Cloud, ElevenLabs, Fireflies, Recall and Podcasting 2.0.
As in subtitles, what one speaker says is a turn up to the end of a sentence, or for a minute; `turn` holds
the place, `00:12:31`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from smartsearch.text.times import to_iso
from smartsearch.transcripts.formats.fields import mapping, objects, string
from smartsearch.transcripts.formats.form import Chat, Form
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.paths import at, path, shaped, value_of
from smartsearch.transcripts.source import Source

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


class _Listed(NamedTuple):
    """Segments in a list: the shape of the whole, the path to the list, and those in each; ticks a second."""

    shape: str
    inside: str
    text: str
    speaker: str
    start: str
    ticks: float = 1

    def said(self, item: Item) -> Iterator[Said]:
        """The segments."""
        text, speaker, start = path(self.text), value_of(self.speaker), value_of(self.start)
        for one in item.elements(*self.inside.split("/")):
            if isinstance(one.value, dict):
                begun = _seconds(start(one.value, None)) / self.ticks
                yield Said(one, text(one.value, None), _named(speaker(one.value, None)), begun)


def _seconds(value: object) -> float:
    """A number, or one in a text such as `1.200s` or `PT1M2.5S`."""
    if isinstance(value, int | float):
        return float(value)
    total, digits = 0.0, ""
    for letter in value if isinstance(value, str) else "":
        if letter.isdecimal() or letter == ".":
            digits += letter
        elif digits:
            total += float(digits) * {"H": 3600, "M": 60}.get(letter, 1) if digits.count(".") < 2 else 0
            digits = ""
    return total + (float(digits) if digits and digits.count(".") < 2 else 0)


def _named(speaker: object) -> str:
    """A speaker's name, as they are told; one who is a number is `Speaker 1`."""
    name = speaker if isinstance(speaker, str) else string({"": speaker}, "")
    return f"Speaker {name}" if name.isdecimal() else name


def _amazon(item: Item) -> Iterator[Said]:
    """Words and marks, with speakers by their times where the words do not tell them."""
    labelled = objects(mapping(item.value, "results", "speaker_labels"), "segments")
    words = (word for segment in labelled for word in objects(segment, "items"))
    speakers = {string(word, "start_time"): string(word, "speaker_label") for word in words}
    last = Said(item, "", "", 0)
    for one in item.elements("results", "items"):
        said = next((string(found, "content") for found in objects(one.value, "alternatives")), "")
        if string(one.value, "type") == "punctuation":
            yield last._replace(item=one, text=said)
        else:
            begun = string(one.value, "start_time")
            who = string(one.value, "speaker_label") or speakers.get(begun, "")
            last = Said(one, f" {said}", who, _seconds(begun))
            yield last


def _deepgram(item: Item) -> Iterator[Said]:
    """Paragraphs of sentences, or words, of each channel."""
    for channel in item.elements("results", "channels"):
        for best in list(channel.elements("alternatives"))[:1]:
            sentences = [
                (sentence, at(paragraph.value, "speaker"))
                for paragraph in best.elements("paragraphs", "paragraphs")
                for sentence in paragraph.elements("sentences")
            ]
            for one, who in sentences or (
                (word, at(word.value, "speaker")) for word in best.elements("words")
            ):
                text = string(one.value, "text", "punctuated_word", "word")
                yield Said(one, f" {text}", _named(who), _seconds(at(one.value, "start")))


def _rev(item: Item) -> Iterator[Said]:
    for one in item.elements("monologues"):
        begun = 0.0
        for element in one.elements("elements"):
            begun = _seconds(at(element.value, "ts")) or begun
            yield Said(element, string_of(element.value, "value"), _named(at(one.value, "speaker")), begun)


def string_of(value: object, key: str) -> str:
    """The text under a key, a blank one too."""
    found = at(value, key)
    return found if isinstance(found, str) else ""


def _azure(item: Item) -> Iterator[Said]:
    for one in item.elements("recognizedPhrases"):
        said = next((string(found, "display") for found in objects(one.value, "nBest")), "")
        begun = _seconds(at(one.value, "offset")) or _seconds(at(one.value, "offsetInTicks")) / 1e7
        yield Said(one, said, _named(at(one.value, "speaker")), begun)


def _google(item: Item) -> Iterator[Said]:
    """Words, where they have speakers those of the last result, which has all; else the best transcripts."""
    results = [best for one in item.elements("results") for best in list(one.elements("alternatives"))[:1]]
    words = [word for best in results for word in best.elements("words")]
    tagged = [word for word in words if at(word.value, "speakerTag") or at(word.value, "speakerLabel")]
    for one in tagged or words:
        who = at(one.value, "speakerLabel") or at(one.value, "speakerTag")
        begun = at(one.value, "startTime") or at(one.value, "startOffset")
        yield Said(one, f" {string(one.value, 'word')}", _named(who), _seconds(begun))
    for best in () if words else results:
        yield Said(best, string(best.value, "transcript"), "", 0)


def _recall(item: Item) -> Iterator[Said]:
    who = string(mapping(item.value, "participant"), "name") or string(item.value, "speaker")
    for one in item.elements("words"):
        begun = at(one.value, "start_timestamp")
        told = begun if isinstance(begun, dict) else {"relative": begun}
        time = to_iso(told.get("absolute"))
        yield Said(one, f" {string(one.value, 'text')}", who, _seconds(told.get("relative")), time)


_SHAPES: tuple[tuple[str, Callable[[Item], Iterator[Said]]], ...] = (
    *(
        (listed.shape, listed.said)
        for listed in (
            _Listed("segments[]/start+end+text", "segments", "text", "speaker", "start"),
            _Listed("transcription[]/offsets+text", "transcription", "text", "speaker", "offsets/from", 1000),
            _Listed("segments[]/startTime+body", "segments", "body", "speaker", "startTime"),
            _Listed(
                "results/audio_segments[]/transcript+start_time",
                "results/audio_segments",
                "transcript",
                "speaker_label",
                "start_time",
            ),
            _Listed(
                "results/utterances[]/transcript+start",
                "results/utterances",
                "transcript",
                "speaker",
                "start",
            ),
            _Listed("utterances[]/text+start+end", "utterances", "text", "speaker", "start", 1000),
            _Listed(
                "phrases[]/text+offsetMilliseconds", "phrases", "text", "speaker", "offsetMilliseconds", 1000
            ),
            _Listed(
                "sentences[]/text+speaker_name", "sentences", "text", "speaker_name speaker_id", "start_time"
            ),
            _Listed(
                "data/transcript/sentences[]/text",
                "data/transcript/sentences",
                "text",
                "speaker_name speaker_id",
                "start_time",
            ),
        )
    ),
    ("results/items[]/alternatives+type", _amazon),
    ("results/channels[]/alternatives", _deepgram),
    ("monologues[]/speaker+elements", _rev),
    ("recognizedPhrases[]/nBest", _azure),
    ("results[]/alternatives[]/transcript", _google),
    ("language_code words[]/text+type", lambda item: _words(item, "speaker_id", 1)),
    ("audio_url words[]/text+start", lambda item: _words(item, "speaker", 1000)),
    ("participant words[]/text+start_timestamp", _recall),
    ("speaker words[]/text+start_timestamp", _recall),
)


def _words(item: Item, speaker: str, ticks: float) -> Iterator[Said]:
    """Words of ElevenLabs, blanks among them, and of AssemblyAI."""
    for one in item.elements("words"):
        blank = "" if "type" in mapping(one.value) else " "
        begun = _seconds(at(one.value, "start")) / ticks
        yield Said(one, blank + string_of(one.value, "text"), _named(at(one.value, speaker)), begun)


_KNOWN = [(shaped(shape), said) for shape, said in _SHAPES]


def _speech(source: Source, item: Item) -> Iterator[Chat]:
    said = next((said for has, said in _KNOWN if has(item.value)), None)
    if said:
        yield Chat(item, list(turns(said(item))), source.stem)


def turns(said: Iterator[Said]) -> Iterator[Item]:
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
    hours, rest = divmod(int(first.start), 3600)
    place = f"{hours:02}:{rest // 60:02}:{rest % 60:02}"
    said = {"text": "".join(texts), "speaker": first.speaker, "turn": place, "time": first.time}
    return first.item._replace(value=said)


FORMS = {
    "speech": Form(
        claims=tuple(shape for shape, _ in _SHAPES),
        parted=_speech,
        inside="segments",
        text="text",
        speaker="speaker",
        time="time",
        turn="turn",
    )
}
