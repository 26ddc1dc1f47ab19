"""Prompts as language models are given them: ChatML, and the marks of Llama, Gemma, Phi and Mistral.

    <|im_start|>user               <start_of_turn>user         <|user|>          [INST] text [/INST] answer
    text<|im_end|>                 text<end_of_turn>           text<|end|>

    ### Human: text                <｜User｜>text                USER: text ASSISTANT: answer</s>

A mark ends the turn before it and names the next one's role. Marks of a text's begin and end are left out.
A terminal in which `ollama run` was typed is read too: `>>> ` stands before what the user asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.speakers import role
from smartsearch.transcripts.source import Source

_ROLE = r"(?:system|user|human|assistant|model|bot|tool|function|observation)"
_MARK = re.compile(
    rf"<\|im_start\|>(?P<chatml>{_ROLE})[^\S\n]*\n?|<\|start_header_id\|>(?P<llama>{_ROLE})<\|end_header_id\|>"
    rf"|<start_of_turn>(?P<gemma>{_ROLE})|<[|｜](?P<phi>{_ROLE})[|｜]>"
    rf"|(?:^|(?<=[\s>]))(?:### |GPT4 Correct )(?P<labelled>{_ROLE}):"
    r"|(?P<asked>\[INST\])|(?P<answered>\[/INST\])|(?P<system><<SYS>>)|(?P<after><</SYS>>)",
    re.I,
)
_LABEL = re.compile(r"(?:^|(?<=[\s>]))(?P<labelled>USER|ASSISTANT):")
"""Vicuna's, which is a mark only where `</s>` ends an answer."""
_ENDS = re.compile(
    r"<\|(?:im_end|eot_id|end|endoftext|begin_of_text|end_of_text|end_of_turn)\|>|<(?:end_of_turn|bos|eos)>|</?s>"
    r"|<｜(?:begin|end)▁of▁sentence｜>"
)
_STARTED = re.compile(r"(?:^|[$%#>❯] ?)ollama run \S", re.M)
_TYPED = re.compile(r"^>>> (?:/.*|(?P<asked>.*(?:\n\.\.\. .*)*))$", re.M)
"""What is typed there: a command (`/bye`), or a question, perhaps of several lines."""
_OPENING = 200  # characters in which a terminal's command stands
_LOOKED = 20_000  # characters in which both sides have spoken
_ROLES = {"asked": "user", "answered": "assistant", "system": "system", "after": "user"}


def detect(source: Source) -> bool:
    """Whether the file begins with a mark, and marks of both sides follow."""
    text = _marked(source.text[:_LOOKED])
    if not ("<" in text or "[INST]" in text or text.startswith("### ")):
        return False
    mark = _mark(text)
    if mark is _MARK and not mark.match(_ENDS.sub("", text[:200]).lstrip()):
        return False
    return {"user", "assistant"} <= {_role(found) for found in mark.finditer(text)}


def _marked(text: str) -> str:
    """A text with marks for what stands in place of them on a terminal, line by line."""
    if not _STARTED.search(text, 0, _OPENING):
        return text
    above, mark, rest = _TYPED.sub(_asked, text).partition("<|user|>")
    return "\n" * above.count("\n") + mark + rest if mark else text


def _asked(typed: re.Match[str]) -> str:
    """The marks around a question, without what a terminal shows of its lines; "" for a command."""
    said = (typed["asked"] or "").replace("\n... ", "\n").replace('"""', "")
    return f"<|user|>{said}<|assistant|>" if said else ""


def _mark(text: str) -> re.Pattern[str]:
    """What begins a turn in this text."""
    return _LABEL if "</s>" in text and _LABEL.search(text) else _MARK


def _role(found: re.Match[str]) -> str:
    kind = found.lastgroup or ""
    told = found[kind].lower()
    return _ROLES.get(kind) or ("assistant" if told == "model" else role(told) or told)


def read(source: Source) -> Iterator[Record]:
    """Turns in file order."""
    text = _marked("\n".join(source.lines))
    marks = list(_mark(text[:_LOOKED]).finditer(text))
    ends = [found.start() for found in marks[1:]] + [len(text)]
    line = counted = 0
    for found, end in zip(marks, ends):
        told = _ENDS.sub("", text[found.end() : end])
        begin = found.end() + len(text[found.end() : end]) - len(text[found.end() : end].lstrip())
        line += text.count("\n", counted, begin)
        counted = begin
        if told.strip():
            who = _role(found)
            yield turn(
                source.path,
                Item(None, line + 1),
                told.strip(),
                who,
                "",
                conversation=source.stem,
                role=role(who),
            )
