"""Programs one talks to models through, and what agents print, each as a declaration of a few lines.

The shapes are those of the programs' sources on GitHub; we saw nobody's export.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from smartsearch.transcripts.formats.fields import mapping, objects, sequence, string
from smartsearch.transcripts.formats.form import TALK, Chat, Form
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.paths import at, path
from smartsearch.transcripts.source import Source

_ALL = TALK | {"system": "system", "tool": "tool"}


# Codex's `exec --json`: items of a thread, of which the completed ones hold all.
_EXEC = "agent_message assistant_message command_execution mcp_tool_call file_change web_search"
_exec_kind = path("item/type item/item_type")


def _exec_item(value: dict[str, Any], _: Any) -> dict[str, Any]:
    held = mapping(value, "item")
    what, own = _exec_kind(value, None), string(held, "id")
    if what in ("agent_message", "assistant_message"):
        return {"content": string(held, "text")}
    paths = ", ".join(string(one, "path") for one in objects(held, "changes"))
    given = held.get("arguments") or {"command": held.get("command") or held.get("query") or paths}
    name = {"command_execution": "shell", "file_change": "edit"}.get(what) or string(held, "tool") or what
    output = held.get("aggregated_output") or held.get("result") or held.get("error") or None
    return {"content": [{"type": "tool_use", "name": name, "input": given, "id": own, "output": output}]}


# OpenHands: a trajectory of actions, of the user and the agent, and observations of what came of them.
def _hands_kind(value: dict[str, Any], _: Any) -> str:
    if "observation" in value:
        return "observation"
    said = string(value, "action") in ("message", "finish", "think")
    return string(value, "source") if said else "call" if value.get("source") == "agent" else "*"


def _hands_message(value: dict[str, Any], _: Any) -> dict[str, Any]:
    args = mapping(value, "args")
    said = string(args, "content", "final_thought", "thought") or string(value, "message")
    own = string(value, "id", "cause")
    return {
        "content": string(value, "content") or said,
        "name": value.get("action"),
        "input": args,
        "id": own,
    }


# Zed's threads: `segments` with calls beside them, later `User` and `Agent` with parts called by their kinds.
def _zed_message(value: dict[str, Any], _: Any) -> dict[str, Any]:
    held = mapping(value, "User") or mapping(value, "Agent") or value
    found = list(sequence(value, "segments"))
    for part in objects(held, "content"):
        call = mapping(part, "ToolUse")
        text = string(part, "Text")
        found.append({"type": "tool_use", **call} if call else {"type": "text", "text": text})
    listed = held.get("tool_results")
    results = list(listed.values()) if isinstance(listed, dict) else objects(held, "tool_results")
    found += [{"type": "tool_use", **call} for call in objects(held, "tool_uses")]
    for one in (one for one in results if isinstance(one, dict)):
        told = mapping(one, "content").get("Text")
        found.append({"type": "tool_result", **one, **({"content": told} if told else {})})
    return {"content": found}


# Chatbox: sessions in one list, or each under a key of its own, `session:ID`.
def _chatbox(_: Source, item: Item) -> Iterator[Chat]:
    for key, one in mapping(item.value).items():
        for chat in item.elements(key) if isinstance(one, list) else [item.at(key)]:
            if key.startswith(("session:", "chat-sessions")) and objects(chat.value, "messages"):
                yield Chat(chat, list(chat.elements("messages")))


# Character.AI: turns with candidates, of which one was chosen.
def _chosen(value: dict[str, Any], _: Any) -> str:
    found = objects(value, "candidates")
    first = string(value, "primary_candidate_id")
    return next(
        (string(one, "raw_content") for one in found if string(one, "candidate_id") == first), ""
    ) or next((string(one, "raw_content") for one in found), "")


FORMS = {
    "vercel-ai": Form(
        claims=(
            "role=user|assistant|system|model parts[]/text",
            "role=user|assistant|system|model parts[]/functionCall",
            "messages[]/role+parts[] messages[]/parts[]/type",
            "contents[]/parts[]",
        ),
        inside="messages contents history",
        alone=True,
        name="id chatId",
        roles=_ALL | {"model": "assistant", "function": "user"},
        content="parts",
        time="createdAt metadata/createdAt",
    ),
    "codex-exec": Form(
        claims=("type=thread.started thread_id", "type=item.completed|item.started item{}"),
        head="type=thread.started",
        name="thread_id",
        kind=lambda v, _: _exec_kind(v, _) if v.get("type") == "item.completed" else "*",
        roles=dict.fromkeys(_EXEC.split(), "assistant") | {"*": ""},
        message=_exec_item,
        turn="item/id",
    ),
    "prompt-history": Form(
        claims=("session_id ts text", "display pastedContents timestamp"),
        text="text display",
        role=lambda _, __: "user",
        conversation="session_id sessionId",
        skip=lambda value, _: string(value, "display").startswith("/"),
    ),
    "openhands": Form(
        claims=("source=user|agent|environment action args{} id", "source observation content cause"),
        kind=_hands_kind,
        roles={"user": "user", "agent": "assistant", "call": "call", "observation": "tool", "*": ""},
        message=_hands_message,
        skip=lambda value, _: value.get("source") == "environment" and "observation" not in value,
    ),
    "swe-agent": Form(
        claims="trajectory[] history[]/role+content",
        inside="history",
        name="environment",
        roles=TALK | {"system": "", "tool": "tool"},
        skip=lambda value, _: value.get("is_demo") is True,
    ),
    "continue": Form(
        claims="sessionId history[]/message/role",
        inside="history",
        name="sessionId",
        kind="message/role",
        roles=TALK | {"tool": "tool", "thinking": "", "system": ""},
        message="message",
        time=lambda _, began: began,
        about=lambda _, item, __: item.value.get("dateCreated"),
    ),
    "zed": Form(
        claims=("messages[]/role+segments[]", "title messages[]/User", "title messages[]/Agent"),
        inside="messages",
        title="title summary",
        kind=lambda v, _: (
            string(v, "role") or ("user" if "User" in v else "assistant" if "Agent" in v else "")
        ),
        roles=TALK | {"User": "user", "Agent": "assistant", "system": ""},
        message=_zed_message,
        time=lambda _, began: began,
        about=lambda _, item, __: item.value.get("updated_at"),
        turn="id User/id",
    ),
    "big-agi": Form(
        claims=(
            "conversations[]/messages[]/role+fragments",
            "messages[]/role+fragments",
            "conversations[]/messages[]/sender+typing",
        ),
        chats="conversations",
        inside="messages",
        title="userTitle autoTitle",
        roles=_ALL,
        message=lambda value, _: {
            "content": string(value, "text")
            or "\n".join(string(mapping(one, "part"), "text") for one in objects(value, "fragments"))
        },
        time="created",
    ),
    "chatbox": Form(
        claims=lambda value: any(
            key.startswith(("session:", "chat-sessions")) for key in list(mapping(value))[:200]
        ),
        parted=_chatbox,
        inside="session",
        title="name threadName",
        roles=_ALL,
        message=lambda value, _: {"content": value.get("contentParts") or value.get("content")},
    ),
    "character-ai": Form(
        claims="turns[]/author+candidates[]",
        inside="turns",
        name="chat_id",
        text=_chosen,
        speaker="author/name",
        role=lambda value, _: "user" if at(value, "author/is_human") is True else "assistant",
        turn="turn_key/turn_id",
        sort=True,
    ),
}
