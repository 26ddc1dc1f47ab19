"""What speech-to-text services and programs write as JSON: segments or words, placed in a recording.

Whisper, WhisperX, whisper.cpp and their API, AWS, Deepgram, AssemblyAI, Rev, Azure, Google, ElevenLabs,
Speechmatics, Gladia, Vosk, Fireflies, Recall and Podcasting 2.0 write lists of what was heard and from when
on, within other lists: they are found by their keys. Of several such lists that is read which tells speakers,
and segments rather than words. As in subtitles, what one speaker says is a turn up to the end of a sentence,
or for a minute; `turn` holds the place, `00:12:31`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from statistics import median
from typing import Any, NamedTuple

from smartsearch.text.stamps import place
from smartsearch.text.stamps import seconds as spot
from smartsearch.text.times import to_iso
from smartsearch.transcripts.formats.fields import mapping, objects, string
from smartsearch.transcripts.formats.form import Chat, Form
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.keys import keys_of, plain
from smartsearch.transcripts.formats.paths import at
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

_LONGEST = 60.0  # seconds that a turn goes on for want of a sentence's end
_MARKS = ("", ".", "?", "!", "…", "。", "？", "！", "؟", "।")
_ENDED = re.compile(r"[.?!…。？！؟।]['\")\]”’»]{0,3}\s*$")
_PLACE = re.compile(r"PT[\dHMS.]+|\d{1,9}(?:[.,]\d+)?s|(?:\d{1,3}:){1,2}\d\d(?:[.,]\d+)?")
_BEGINS = re.compile(r"0{1,2}:0{1,2}:?\d|0:0")
_NUMBER = re.compile(r"\d{1,18}(?:\.\d{1,9})?")
_SINCE = 1e9
"""A number from which on a start counts from 1970, not from the beginning of a recording."""
_LISTS = {
    *("segments", "transcription", "utterances", "phrases", "recognizedphrases", "sentences"),
    *("chunks", "data"),
    *("words", "elements", "items", "audiosegments", "speakers", "transcript", "monologues", "captions"),
    *("result", "results", "alternatives", "channels", "paragraphs", "response"),
}
"""Keys of lists of what was heard, and of what they stand in."""
_TEXTS = ("text", "transcript", "body", "punctuatedword", "word", "value", "content", "display", "sentence")
_STARTS = ("start", "starttime", "startoffset", "begin", "startms", "startns", "offsetmilliseconds", "offset")
_LATER = (
    *("beginoffsetmillis", "offsetinticks", "ts", "timestamp", "starttimestamp", "offsets"),
    *("time", "timecode"),
)
"""Names of starts that anything else may go by as well."""
_ENDS = ("end", "endtime", "endoffset", "stop", "endts")
_SPEAKERS = (
    *("speaker", "speakerlabel", "speakername", "speakerid", "speakertag", "participant", "participantrole"),
    *("channeltag", "channel"),
)
_TICKS = {"ms": 1e3, "millis": 1e3, "milliseconds": 1e3, "offsets": 1e3, "ns": 1e9, "ticks": 1e7}
"""How names of starts end that are told in so many ticks a second."""
_LONG, _LONG_WORD = 100.0, 5.0
"""Seconds that nobody speaks without a break, and that no word lasts: more of them are milliseconds."""
_SPANS = {"entity", "entity_group", "label", "lemma", "pos", "tag"}
"""What is told of a piece of a text, whose start is a place in that."""
_SEGMENT = (1.5, 60.0)
"""Words of a segment, on average: fewer are words, more a whole recording."""
_DEPTH, _LOOKED_AT, _SAMPLED = 9, 20, 200


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


class _Keys(NamedTuple):
    """The keys of an object, by what they say, in order of preference."""

    text: Sequence[str]
    start: Sequence[str]
    end: Sequence[str]
    speaker: Sequence[str]


@lru_cache(maxsize=256)
def _keys_of(*names: str) -> _Keys:
    found, usual_too = {plain(name): name for name in names}, keys_of(dict.fromkeys(names))
    usual = (_TEXTS, (*_STARTS, *_LATER), _ENDS, _SPEAKERS)
    texts, starts, ends, speakers = ([found[one] for one in of if one in found] for of in usual)
    return _Keys([*texts, *usual_too.text], starts, ends, [*speakers, *usual_too.speaker])


def _text(value: dict[str, Any]) -> str:
    """What was heard, itself or by the best guess at it."""
    for key in _keys_of(*value).text:
        if isinstance(found := value[key], str):
            return found
    best = objects(value, "alternatives") or objects(value, "nBest")
    return _text(best[0]) if best else ""


def _speaker(value: dict[str, Any]) -> Any:
    """Who is told to say what an object holds, or else the channel; None for nobody."""
    for key in _keys_of(*value).speaker:
        found = string(value[key], "name") if isinstance(value[key], dict) else value[key]
        if found not in (None, ""):
            return f"Channel {found}" if isinstance(found, int) and "channel" in key else found
    best = objects(value, "alternatives") if "alternatives" in value else []
    return _speaker(best[0]) if best else None


def started(value: dict[str, Any], far: bool = True) -> tuple[str, Any]:
    """The start of what was heard and its key, else that of its first word; None without either.

    Not `far` from the top of a file keys that may tell a time of day count only where they begin at nought.
    """
    for key in _keys_of(*value).start:
        found = value[key]
        if found.__class__ is float and far and found < _SINCE:
            return key, found
        if isinstance(found, dict):
            found = found.get("relative", found.get("from", _lasted(found)))
        elif isinstance(found, list):
            found = next(iter(found), None)
        sure = far or plain(key) in _STARTS
        if isinstance(found, str) and _PLACE.fullmatch(found) and (sure or _BEGINS.match(found)):
            return key, found
        if isinstance(found, str) and _NUMBER.fullmatch(found):
            found = (float if "." in found else int)(found)
        most = _SINCE if _ticks(key) == 1 else _SINCE**2
        if sure and isinstance(found, int | float) and found < most:
            return key, found
    words = objects(value, "words") or objects(value, "result") if "text" in value else []
    return started(words[0]) if words else ("", None)


def _lasted(value: dict[str, Any]) -> float | None:
    """Seconds and nanoseconds, as Google's libraries write a span of time."""
    parts = [value.get("seconds", 0), value.get("nanos", 0)]
    whole = value.keys() <= {"seconds", "nanos"} and all(str(one).isdecimal() for one in parts)
    return float(parts[0]) + float(parts[1]) / 1e9 if whole else None


@lru_cache(maxsize=256)
def _ticks(key: str) -> float:
    return next((ticks for end, ticks in _TICKS.items() if plain(key).endswith(end)), 1)


def _named(speaker: object) -> str:
    """A speaker's name, as they are told; one who is a number is `Speaker 1`."""
    if speaker is None:
        return ""
    name = speaker if isinstance(speaker, str) else string({"": speaker}, "")
    return f"Speaker {name}" if name.isdecimal() else name


def _are_heard(values: Sequence[object], way: str) -> bool:
    """Whether each of a list has a text, and a start as far as it is no mark."""
    few = [one for one in values[:_LOOKED_AT] if isinstance(one, dict) and _SPANS.isdisjoint(one)]
    said = sum(bool(_keys_of(*one).text) or "alternatives" in one or "nBest" in one for one in few)
    if way.endswith("alternatives"):
        return any("transcript" in one and not objects(one, "words") for one in few)
    return 0 < said == len(values[:_LOOKED_AT]) <= 3 * sum(bool(started(one, way != "")[0]) for one in few)


def _lists(
    item: Item, only: str | None = None, who: Any = None, way: str = ""
) -> Iterator[tuple[str, list[Any]]]:
    """The lists of what was heard in a value, each with its way, keys alone: its pieces and who says them.

    `only` those of one way; else as much as it takes to choose a way.
    """
    value = item.value
    if isinstance(value, list):
        inside = list(_by_whom(item, who, way, whole=only is not None))
        if only == way or (only is None and _are_heard(value, way)):
            yield way, inside
        for one, own in inside if only != way else ():
            yield from _lists(one, only, own, way)
    elif isinstance(value, dict) and way.count("/") < _DEPTH:
        for key, held in value.items():
            on = f"{way}/{key}" if isinstance(held, list | dict) and plain(key) in _LISTS else ""
            if on and (only is None or f"{only}/".startswith(f"{on}/")):
                yield from _lists(item.at(key), only, who, on)


def _by_whom(item: Item, above: Any, way: str, *, whole: bool) -> Iterator[tuple[Item, Any]]:
    """The objects in a list, or the first and the last few, each with its speaker, or the one around it."""
    many, count = way.endswith("channels") and len(item.value) > 1, len(item.value)
    places = range(count) if whole or count <= _LOOKED_AT else (*range(_LOOKED_AT - 2), count - 2, count - 1)
    for n in places:
        one = Item(item.value[n], item.line, f"{item.pointer}/{n}")
        if isinstance(one.value, dict):
            own = _speaker(one.value)
            yield one, f"Channel {n}" if many else above if own is None else own
        if way.endswith("alternatives"):
            return


def _said(inside: Sequence[tuple[Item, Any]], labels: dict[str, str], ticks: float) -> Iterator[Said]:
    """The pieces of one list; a start that is not told is that of the one before."""
    begun = 0.0
    for one, who in inside:
        value = one.value
        key, told = started(value)
        begun = begun if told is None else seconds(told) / (ticks if ticks > 1 else _ticks(key))
        who = labels.get(string(value, "start_time")) if who is None else who
        time = to_iso(at(value, "start_timestamp/absolute")) if "start_timestamp" in value else ""
        yield Said(one, _text(value), _named(who), begun, time)


def _unit(pieces: Sequence[dict[str, Any]], *, words: bool) -> float:
    """How many of what the starts count are a second: whole numbers far apart are milliseconds."""
    few = pieces[:_SAMPLED]
    told = [(started(one), next((one[key] for key in _keys_of(*one).end), None)) for one in few]
    starts = [(start, end) for (key, start), end in told if _ticks(key) == 1 and start is not None]
    if not starts or not all(isinstance(start, int) for start, _ in starts):
        return 1
    lengths = [end - start for start, end in starts if isinstance(end, int)]
    lengths = lengths or [later - one for (one, _), (later, _) in pairwise(starts)]
    return 1000 if lengths and median(lengths) > (_LONG_WORD if words else _LONG) else 1


def heard(rows: Sequence[Item]) -> Iterator[Said]:
    """What was heard, of the rows of a table."""
    ticks = _unit([row.value for row in rows], words=False)
    return _said([(row, _speaker(row.value)) for row in rows], {}, ticks)


def _chosen(value: Item) -> list[list[Said]]:
    """The lists that are read, those of one way, in the order of the file."""
    labels = _labels(value.value)
    ways: dict[str, list[list[tuple[Item, Any]]]] = {}
    for way, inside in _lists(value):
        ways.setdefault(way, []).append(inside)
    ranks = {way: _rank(list(chain(*lists)), labels) for way, lists in ways.items()}
    best = max(ranks, key=lambda way: ranks[way][:2], default=None)
    if best is None:
        return []
    lists = [inside for _, inside in _lists(value, best)]
    ticks = _unit([one.value for inside in lists for one, _ in inside], words=ranks[best][2] < _SEGMENT[0])
    said = [list(_said(inside, labels, ticks)) for inside in lists]
    return [list_ for list_ in said if any(one.speaker for one in list_)] or said


def _rank(pieces: Sequence[tuple[Item, Any]], labels: dict[str, str]) -> tuple[int, bool, float]:
    """How telling some pieces are: their speakers, up to two; whether they are segments; words of each."""
    said = [one for one in _said(pieces, labels, 1) if one.text.strip()]
    average = sum(len(one.text.split()) for one in said) / max(len(said), 1)
    speakers = {one.speaker for one in said} - {""}
    return (min(len(speakers), 2) if said else -1), _SEGMENT[0] < average <= _SEGMENT[1], average


def _labels(value: object) -> dict[str, str]:
    """Amazon's speakers by the times of words, which may not tell them."""
    labelled = objects(mapping(value, "results", "speaker_labels"), "segments")
    words = (word for segment in labelled for word in objects(segment, "items"))
    return {string(word, "start_time"): string(word, "speaker_label") for word in words}


def seconds(value: object) -> float:
    """A number, or one in a text such as `1.200s`, `0,5`, `PT1M2.5S` or `00:01:02.5`."""
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str) and ":" in value:
        return float(spot(value) or 0)
    total, digits = 0.0, ""
    for letter in value.replace(",", ".") if isinstance(value, str) else "":
        if letter.isdecimal() or letter == ".":
            digits += letter
        elif digits:
            total += float(digits) * {"H": 3600, "M": 60}.get(letter, 1) if digits.count(".") < 2 else 0
            digits = ""
    return total + (float(digits) if digits and digits.count(".") < 2 else 0)


def _documents(source: Source) -> Iterator[Item]:
    """The file as one value: a list of its lines where it has one on each."""
    if source.json.whole:
        yield from source.json.items
    elif source.json.items:
        yield Item([item.value for item in source.json.items], 0)


def detect(source: Source) -> bool:
    """Whether a file holds a list of what was heard."""
    return any(next(_lists(item), None) for item in _documents(source))


def _speech(source: Source, item: Item) -> Iterator[Chat]:
    chosen = _chosen(item)
    starts = [one.start for list_ in chosen for one in list_]
    ordered = all(one <= later for one, later in pairwise(starts))
    found = turns(chain(*chosen)) if ordered else chain(*map(turns, chosen))
    listed = list(found) if ordered else sorted(found, key=lambda one: one.value["start"])
    if not source.json.whole:  # a value a line
        lines = [one.line for one in source.json.items]
        steps = (one.pointer.split("/", 2)[1:] for one in listed)
        listed = [
            one._replace(line=lines[int(n)], pointer="".join(f"/{way}" for way in rest))
            for one, (n, *rest) in zip(listed, steps)
        ]
    yield Chat(item, listed, source.stem)


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
    said = {
        "text": "".join(texts),
        "speaker": first.speaker,
        "turn": at,
        "time": first.time,
        "start": first.start,
    }
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
        detect=detect,
        items=_documents,
        parted=_speech,
        inside="segments",
        text="text",
        speaker="speaker",
        turn="turn",
    )
}
