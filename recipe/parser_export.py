"""Writes beside the shipped spaCy pipeline what `smartsearch/text/tagging` needs to run it without spaCy.

`python -m recipe parser_export` writes `exported.json` anew from the shipped folder: where each array of
numbers stands in spaCy's own files, the names of tags and moves, and spaCy's English (exceptions of its
tokenizer, norms, stop words, number words, expressions). The expressions are written twice: as they are, and
with classes of characters cut down to the usual ones, which compile in a sixth of the time.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smartsearch.text.parse import SHIPPED
from smartsearch.text.tagging.pipeline import TABLES

if TYPE_CHECKING:
    from spacy.language import Language

USUAL = ((0, 0xFF), (0x2000, 0x2BFF), (0xFE0F, 0xFE0F), (0x1F000, 0x1FAFF))
"""Latin-1, punctuation and symbols, emoji."""
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})")


def tables(nlp: Language, folder: Path) -> dict[str, Any]:
    """What `exported.json` holds for a pipeline and the folder it was saved in."""
    from spacy.lang.en.lex_attrs import _num_words, _ordinal_words
    from spacy.lang.norm_exceptions import BASE_NORMS
    from spacy.symbols import IDS

    tokenizer = nlp.tokenizer
    expressions = {
        "prefix": tokenizer.prefix_search.__self__.pattern,
        "suffix": tokenizer.suffix_search.__self__.pattern,
        "infix": tokenizer.infix_finditer.__self__.pattern,
        "url": tokenizer.url_match.__self__.pattern,
    }
    moves = nlp.get_pipe("ner").moves
    exceptions = {text: list(_pieces(rule)) for text, rule in sorted(tokenizer.rules.items())}
    return {
        "arrays": arrays(nlp, folder),
        "seeds": [node.attrs["seed"] for node in _nodes(nlp.get_pipe("tok2vec").model, "hashembed")],
        "tags": [label.removeprefix("POS=") for label in nlp.get_pipe("morphologizer").labels],
        "moves": [moves.get_class_name(i) for i in range(moves.n_moves)],
        "rules": ["calendar", "numbers"],
        "exceptions": exceptions,
        "torn": list(_torn(nlp, exceptions)),
        "norms": dict(BASE_NORMS),
        "stops": sorted(nlp.Defaults.stop_words),
        "numbers": sorted([*_num_words, *_ordinal_words]),
        "symbols": {text: number for text, number in sorted(IDS.items()) if text},
        "unusual": f"[^{''.join(_class(*between) for between in USUAL)}]",
        "patterns": {
            "usual": {name: usual(text) for name, text in expressions.items()},
            "any": expressions,
        },
    }


def _pieces(rule: Sequence[dict[int, str]]) -> Iterator[list[str]]:
    from spacy.attrs import NORM, ORTH

    for piece in rule:
        yield [piece[ORTH], *([piece[NORM]] if NORM in piece else [])]


def _torn(nlp: Language, exceptions: dict[str, list[list[str]]]) -> Iterator[list[str]]:
    """The exceptions that affixes or spaces tear apart, as the words that are left of them."""
    from spacy.tokenizer import Tokenizer

    own = nlp.tokenizer
    bare = Tokenizer(
        nlp.vocab,
        prefix_search=own.prefix_search,
        suffix_search=own.suffix_search,
        infix_finditer=own.infix_finditer,
        token_match=own.token_match,
        url_match=own.url_match,
    )
    for text, pieces in exceptions.items():
        if own.find_prefix(text) or own.find_infix(text) or own.find_suffix(text) or " " in text:
            words = [token.text for token in bare(text)]
            if pieces != [[word] for word in words]:
                yield words


def arrays(nlp: Language, folder: Path) -> dict[str, tuple[str, int, list[int]]]:
    """By name: the file, the byte where it begins, and the shape of an array of 32-bit floats."""
    tok2vec, tagger, ner = (nlp.get_pipe(name).model for name in ("tok2vec", "morphologizer", "ner"))
    embeds = _nodes(tok2vec, "hashembed")
    found = {f"embed{i}": ("tok2vec", node.get_param("E")) for i, node in enumerate(embeds)}
    layers = zip(_nodes(tok2vec, "maxout"), _nodes(tok2vec, "layernorm"), strict=True)
    for i, (maxout, norm) in enumerate(layers):
        name = f"layer{i}"
        found[f"{name}.W"] = "tok2vec", maxout.get_param("W")
        found[f"{name}.B"] = "tok2vec", maxout.get_param("b")
        found[f"{name}.G"] = "tok2vec", norm.get_param("G")
        found[f"{name}.b"] = "tok2vec", norm.get_param("b")
    softmax = tagger.get_ref("softmax")
    found |= {f"tag.{part}": ("morphologizer", softmax.get_param(part)) for part in "Wb"}
    (reduce,) = _nodes(ner.get_ref("tok2vec"), "linear")
    lower, upper = ner.get_ref("lower"), ner.get_ref("upper")
    for name, node in (("reduce", reduce), ("lower", lower), ("upper", upper)):
        found |= {f"ner.{name}.{part}": ("ner", node.get_param(part)) for part in "Wb"}
    found["ner.pad"] = "ner", lower.get_param("pad")
    return {name: _placed(folder, f"{pipe}/model", array) for name, (pipe, array) in found.items()}


def _nodes(model: Any, name: str) -> list[Any]:
    return [node for node in model.walk() if node.name == name]


def _placed(folder: Path, file: str, array: Any) -> tuple[str, int, list[int]]:
    """Where the array's bytes stand in a file; any place that has them will do."""
    data, wanted = (folder / file).read_bytes(), array.astype("<f4").tobytes()
    at = data.find(wanted)
    if at < 0:
        raise ValueError(f"{file} has no such array")
    return file, at, list(array.shape)


def usual(expression: str) -> str:
    """The same expression for texts of usual characters alone: others are left out of its classes."""
    made = ""
    at = 0
    while at < len(expression):
        if expression[at] == "\\":
            made += expression[at : at + 2]
            at += 2
        elif expression[at] == "[":
            end = at + 1
            while expression[end] != "]":
                end += 2 if expression[end] == "\\" else 1
            made += _cut(expression[at + 1 : end])
            at = end + 1
        else:
            made += expression[at]
            at += 1
    return made


def _cut(inside: str) -> str:
    """A class with its usual characters alone."""
    if inside.startswith("^"):
        return f"[{inside}]"
    atoms = re.findall(rf"{_ESCAPE.pattern}|\\.|.", inside, re.DOTALL)
    kept = ""
    at = 0
    while at < len(atoms):
        if atoms[at][0] == "\\" and atoms[at][1] not in "uU":  # \w, \d, \-
            kept += atoms[at]
            at += 1
            continue
        ranged = at + 2 < len(atoms) and atoms[at + 1] == "-"
        first, last = _code(atoms[at]), _code(atoms[at + 2] if ranged else atoms[at])
        for low, high in USUAL:
            if max(first, low) <= min(last, high):
                kept += _class(max(first, low), min(last, high))
        at += 3 if ranged else 1
    return f"[{kept}]" if kept else "(?!)"


def _code(atom: str) -> int:
    return int(atom[2:], 16) if len(atom) > 1 else ord(atom)


def _class(first: int, last: int) -> str:
    ends = [rf"\U{code:08X}" if code > 0xFF else re.escape(chr(code)) for code in (first, last)]
    return ends[0] if first == last else "-".join(ends)


def write(nlp: Language, folder: Path) -> None:
    """Write the tables of a pipeline into the folder where it was saved."""
    text = json.dumps(tables(nlp, folder), ensure_ascii=False, separators=(",", ":"))
    (folder / TABLES).write_text(text + "\n", encoding="utf-8")


def main(argv: Sequence[str]) -> int:
    """Write the tables of the shipped pipeline; returns the exit code."""
    import spacy

    if argv:
        print(__doc__, file=sys.stderr)
        return 0 if argv[0] in ("-h", "--help") else 2
    write(spacy.load(SHIPPED), SHIPPED)
    return 0
