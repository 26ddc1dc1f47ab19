"""Treebank and entity files to tagged sentences: reading, cleaning, augmenting. Knows nothing of spaCy.

Every reader takes a path and returns `Sentence` records with the labels PERSON, ORG and LOC; what does not
map to these is dropped. Formats: CoNLL-U (UD), IOB2 with ids (UNER), two-column CoNLL (WNUT17, BTC) and the
IO scheme of WikiGold. The sources and their licences are in the model card.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

LABELS = {
    "PER": "PERSON",
    "person": "PERSON",
    "ORG": "ORG",
    "corporation": "ORG",
    "group": "ORG",
    "LOC": "LOC",
    "location": "LOC",
}
CLITICS = frozenset(
    {"n't", "n’t", "'s", "’s", "'m", "’m", "'re", "’re", "'ve", "’ve", "'ll", "’ll", "'d", "’d"}
)
CLOSERS = frozenset(".,!?:;)]}%…") | {"...", "..", "!!", "!!!", "??"}
OPENERS = frozenset("([{$@#")
FINAL = frozenset({".", "?", "!", "...", "!!", "??", "!!!"})


@dataclass(frozen=True)
class Sentence:
    """Words, whether a space follows each, UD coarse tags (empty: unknown) and IOB2 entity tags."""

    words: tuple[str, ...]
    spaces: tuple[bool, ...]
    tags: tuple[str, ...]
    ents: tuple[str, ...]

    @property
    def text(self) -> str:
        """The sentence as typed."""
        return "".join(w + " " * s for w, s in zip(self.words, self.spaces, strict=True)).rstrip()

    @property
    def asks(self) -> bool:
        """True for a question."""
        return "?" in self.words[-2:]


def clean(tag: str) -> str:
    """One entity tag with its label mapped to ours; `O` for other types and stray tags (`B-O`, `B-OTH`)."""
    prefix, _, kind = tag.split(",")[0].partition("-")
    label = LABELS.get(kind)
    return f"{prefix}-{label}" if label and prefix in {"B", "I"} else "O"


def to_iob2(tags: Sequence[str]) -> tuple[str, ...]:
    """Make every entity start with `B-`: an `I-` that continues nothing (IO scheme) becomes one."""
    fixed: list[str] = []
    for tag in tags:
        kind = tag[2:]
        orphan = tag.startswith("I-") and (not fixed or fixed[-1][2:] != kind)
        fixed.append(f"B-{kind}" if orphan else tag)
    return tuple(fixed)


def spacing(words: Sequence[str]) -> tuple[bool, ...]:
    """Guess where the writer put spaces, for files that keep only the words."""
    glued = {i for i, w in enumerate(words) if i and (w in CLOSERS or w.lower() in CLITICS)}
    for i, word in enumerate(words):
        if word in OPENERS:
            glued.add(i + 1)
        elif word in {"'", "’"} and i and f"'{next(iter(words[i + 1 :]), '')}".lower() in {*CLITICS, "'t"}:
            glued.update({i, i + 1})
    return tuple(i + 1 not in glued for i in range(len(words)))


def blocks(path: Path) -> Iterator[list[str]]:
    """The lines of each sentence; sentences are parted by lines that are empty or hold white space only."""
    rows: list[str] = []
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        if line.strip():
            rows.append(line)
        elif rows:
            yield rows
            rows = []
    if rows:
        yield rows


def read_columns(path: Path) -> list[Sentence]:
    """WNUT17, BTC, WikiGold: `word tag` a line. A handle (`@` and a name) is `O`, as WNUT17 has it."""
    sentences = []
    for rows in blocks(path):
        pairs = [r.split() for r in rows if len(r.split()) == 2 and not r.startswith("-DOCSTART-")]
        words = [word for word, _ in pairs]
        handles = {i + 1 for i, word in enumerate(words) if word == "@"}
        tags = ["O" if w[0] == "@" or i in handles else clean(t) for i, (w, t) in enumerate(pairs)]
        if words:
            sentences.append(Sentence(tuple(words), spacing(words), (), to_iob2(tags)))
    return sentences


def read_uner(path: Path) -> dict[str, tuple[str, ...]]:
    """Entity tags by UD sentence id."""
    layers = {}
    for rows in blocks(path):
        ids = [r.partition("=")[2].strip() for r in rows if r.startswith("# sent_id")]
        tags = [clean(r.split("\t")[2]) for r in rows if not r.startswith("# ")]
        if ids:
            layers[ids[0]] = to_iob2(tags)
    return layers


def read_conllu(path: Path, entities: dict[str, tuple[str, ...]]) -> list[Sentence]:
    """UD words with coarse tags and raw spacing, joined with the entity layer by sentence id."""
    sentences = []
    for rows in blocks(path):
        name = next((r.partition("=")[2].strip() for r in rows if r.startswith("# sent_id")), "")
        words, spaces, tags = ud_words([r.split("\t") for r in rows if not r.startswith("# ")])
        ents = entities.get(name, ())
        if len(ents) == len(words):
            sentences.append(Sentence(words, spaces, tags, ents))
    return sentences


def ud_words(rows: list[list[str]]) -> tuple[tuple[str, ...], tuple[bool, ...], tuple[str, ...]]:
    """Words, spaces and tags of one CoNLL-U sentence; a multiword token's parts are written together.

    Where the parts do not spell the token (rare), they are kept as words of their own.
    """
    words, spaces, tags = [], [], []
    inside, last, space = 0, 0, True
    for row in rows:
        if "." in row[0]:
            continue
        if "-" in row[0]:
            inside, last = 1, int(row[0].split("-")[1])
            space = "SpaceAfter=No" not in row[9]
            continue
        words.append(row[1])
        tags.append("" if row[3] == "_" else row[3])
        if inside and int(row[0]) <= last:
            spaces.append(space if int(row[0]) == last else False)
            inside = int(int(row[0]) < last)
        else:
            spaces.append("SpaceAfter=No" not in row[9])
    return tuple(words), tuple(spaces), tuple(tags)


def lowered(sentence: Sentence) -> Sentence:
    """The same sentence in lower case; words, tags and entity positions stay where they are."""
    return replace(sentence, words=tuple(w.lower() for w in sentence.words))


def unpunctuated(sentence: Sentence) -> Sentence:
    """The same sentence without its final punctuation, as people type questions."""
    end = len(sentence.words)
    while end > 1 and sentence.words[end - 1] in FINAL:
        end -= 1
    return Sentence(sentence.words[:end], sentence.spaces[:end], sentence.tags[:end], sentence.ents[:end])


def renamed(sentence: Sentence, first_name: Callable[[], str]) -> Sentence:
    """The same sentence with the first token of each PERSON replaced by a drawn first name, in its case."""
    words = list(sentence.words)
    for i, tag in enumerate(sentence.ents):
        if tag == "B-PERSON" and words[i].isalpha():
            name = first_name()
            words[i] = name.capitalize() if words[i][0].isupper() else name.lower()
    return replace(sentence, words=tuple(words))


def casual(sentence: Sentence, rng: random.Random) -> Sentence:
    """Lower case, and half the time no final punctuation."""
    low = lowered(sentence)
    return unpunctuated(low) if rng.random() < 0.5 else low


def augment(
    sentences: Iterable[Sentence], first_name: Callable[[], str], rng: random.Random
) -> list[Sentence]:
    """Each sentence as it is, and about as many again lower-cased, unpunctuated or with other people in it.

    Questions get every variant, because the treebank has few and users type little else.
    """
    out = []
    for s in sentences:
        out.append(s)
        people = "B-PERSON" in s.ents
        if people:
            out.append(renamed(s, first_name))
        if s.asks:
            out += [unpunctuated(s), casual(s, rng), unpunctuated(lowered(s))]
        elif rng.random() < 0.45:
            out.append(casual(renamed(s, first_name) if people else s, rng))
        if people and rng.random() < 0.5:
            out.append(casual(renamed(s, first_name), rng))
    return out


def held_out(sentences: Sequence[Sentence], every: int = 10) -> tuple[list[Sentence], list[Sentence]]:
    """Split off each `every`-th run of 20 sentences for testing: (rest, held out)."""
    rest: list[Sentence] = []
    out: list[Sentence] = []
    for i, s in enumerate(sentences):
        (out if (i // 20) % every == every - 1 else rest).append(s)
    return rest, out
