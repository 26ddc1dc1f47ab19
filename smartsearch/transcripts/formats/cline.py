"""Tasks of Cline and its kin (Roo Code, Kilo Code): `tasks/*/api_conversation_history.json`.

Structure from mike4567/MRA04242026 (api_conversation_history.json). A list of messages with `role`, `content`
in Anthropic's form and, in all but the oldest, `ts`. What a tool gave back is a `tool_result`, or a text that
begins with `[read_file for 'a.txt'] Result:`, with the output in it or in the text after it.

Left out: thinking, and what the program adds to the user's texts: the state of the editor, attached files,
reminders. The same talk in `ui_messages.json` beside it is passed over (export_extras.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats.agent_blocks import of_assistant, of_user
from smartsearch.transcripts.formats.agent_log import Event, Place, Returned, no_object, turns, without
from smartsearch.transcripts.formats.fields import kind, objects, string
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.own_calls import NAME, is_own
from smartsearch.transcripts.source import Source

_RESULT = re.compile(r"\[(\w{1,60})(?: for (.{0,20000}?))?\] Result:\s*", re.S)
_SAID = ("feedback", "user_message", "answer")
_ASKING = ("ask", "attempt", "plan")
"""How the names of tools begin whose output the user types."""
_ADDED = ("environment_details", "file_content", "system-reminder")
_NOTES = (
    *("# task_progress", "Files attached by the user:", "# TODO LIST", "[TASK RESUMPTION]"),
    *("(The user did not provide a new message", "[ERROR] You did not use a tool"),
)
"""How texts begin that the program adds."""


_ANNOUNCED = ("New message to respond to with plan_mode_respond tool", "The user has provided feedback on")
"""How the line begins that announces what the user typed meanwhile."""


def claims(value: object) -> bool:
    """Whether a value is a message of a task."""
    if not isinstance(value, dict) or value.get("role") not in ("user", "assistant"):
        return False
    blocks = objects(value, "content")
    if value["role"] == "user" and any(
        string(block, "text").lstrip().startswith("<task>") for block in blocks
    ):
        return True
    timed = isinstance(value.get("ts"), int)
    return timed and bool(blocks) and all(string(block, "type") for block in blocks)


def read(source: Source) -> Iterator[Record]:
    """Turns in file order: texts, with the tool calls made beside them, and results as role `tool`."""
    conversation = source.folder or source.stem
    yield from turns(source.path, "", (event for i in source.items() for event in _events(i, conversation)))


def _events(item: Item, conversation: str) -> Iterator[Event]:
    value = item.value
    if not isinstance(value, dict):
        yield no_object(item)
        return
    role, content = value.get("role"), value.get("content")
    place = Place(item, value.get("ts"), conversation)
    if role not in ("user", "assistant"):
        yield item.fault("a message of no known `role`")
    elif not isinstance(content, str | list):
        yield item.fault(f"`content` is {kind(content)}, not text or blocks")
    elif role == "assistant":
        yield from of_assistant(content, f"{item.line}{item.pointer}", place)
    else:
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        yield from _of_user(blocks, place)


def _of_user(blocks: list[Any], place: Place) -> Iterator[Event]:
    """Outputs that stand in texts, then what is left: also the user's answers in such outputs."""
    left: list[Any] = []
    tool = ""
    for block in blocks:
        text = string(block, "text") if string(block, "type") == "text" else ""
        found = _RESULT.match(text)
        tool = _tool(found[1], found[2] or "") if found else tool
        output = text[found.end() :] if found else text
        if not (tool and text):
            left.append(block)
        elif answer := _answer(tool, output):
            left.append({"type": "text", "text": answer})
        else:
            yield Returned("", without(output, _ADDED), "", place, tool)
        tool = tool if found and not output.strip() else ""
    yield from of_user([_own(block) for block in left], place, str)


def _own(block: Any) -> Any:
    """A block with what the user typed of its text."""
    text = string(block, "text")
    return {**block, "text": _typed(text)} if text and string(block, "type") == "text" else block


def _tool(name: str, argument: str) -> str:
    """The name of a tool, that of smartsearch where the call asked it, lest its output be read."""
    command = argument.strip("'\"")
    server = name == "use_mcp_tool" and NAME in command
    return NAME if server or is_own(name, {"command": command}) else name


def _answer(tool: str, output: str) -> str:
    """The user's own words in an output: an answer, or what they said to the work."""
    return _inside(output) if tool.startswith(_ASKING) or output.startswith("The user ") else ""


def _inside(text: str) -> str:
    """What stands in the tags around an answer."""
    pieces = ((tag, piece) for tag in _SAID for piece in text.split(f"<{tag}>")[1:])
    return "\n".join(piece.partition(f"</{tag}>")[0].strip() for tag, piece in pieces)


def _typed(text: str) -> str:
    """What the user typed of a text: what is in the tags for it, else all that the program did not add."""
    if text.lstrip().startswith(_NOTES):
        return ""
    said = without(text, _ADDED)
    said = said.replace("<task>", "").replace("</task>", "").strip()
    return _inside(said) or (said.partition("\n")[2].strip() if said.startswith(_ANNOUNCED) else said)
