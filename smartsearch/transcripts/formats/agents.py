"""Logs of coding agents, each as a declaration: where a record's message stands, and what the program put in.

Structures from the fixtures and notes of readers on GitHub, chiefly jazzyalex/agent-sessions and
kvsankar/agent-history; each names its own. Left out of all: thinking, the program's own reports and settings,
and what it says in the user's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Any

from smartsearch.transcripts.archive import plain_name
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.formats.agent_log import Called, Event, Place, Returned, no_object, without
from smartsearch.transcripts.formats.blocks import called, events_of, output
from smartsearch.transcripts.formats.branch import current, parent_of
from smartsearch.transcripts.formats.fields import kind, mapping, objects, sequence, string
from smartsearch.transcripts.formats.form import TALK, Chat, Form
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.neighbours import value_beside
from smartsearch.transcripts.formats.own_calls import NAME, is_own
from smartsearch.transcripts.formats.paths import at, shaped
from smartsearch.transcripts.source import Source


def _on_branch(source: Source, own: str, parent: str, aside: Sequence[str] = ()) -> Iterator[Item]:
    """The records of a log without the branches that were left; those without an id stand on none."""
    items = list(source.items())
    placed = {
        n: string(i.value, own)
        for n, i in enumerate(items)
        if string(i.value, "type", "subtype")
        and string(i.value, "type") != "session"
        and string(i.value, "subtype") not in aside
    }
    live = current((id_, parent_of(items[n].value, parent)) for n, id_ in placed.items() if id_)
    yield from (item for n, item in enumerate(items) if not placed.get(n) or placed[n] in live)


# Cursor's transcripts, without times: texts and calls in Anthropic's form; calls have no ids.
def _queries(text: str) -> str:
    """What the user typed: the queries in a text, or all of it where none is marked."""
    queries = [after.partition("</user_query>")[0] for after in text.split("<user_query>")[1:]]
    return "\n".join(query.strip() for query in queries) or text


# Cline, Roo Code and Kilo Code: mike4567/MRA04242026 (api_conversation_history.json). What a tool gave is a
# `tool_result`, or a text that begins with `[read_file for 'a.txt'] Result:`, or the text after such a one.
_RESULT = re.compile(r"\[(\w{1,60})(?: for (.{0,20000}?))?\] Result:\s*", re.S)
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


def _cline_claims(value: Any) -> bool:
    if string(value, "role") not in TALK:
        return False
    blocks = objects(value, "content")
    begun = any(string(block, "text").lstrip().startswith("<task>") for block in blocks)
    timed = isinstance(value.get("ts"), int) and bool(blocks)
    return (begun and value["role"] == "user") or (timed and all(string(block, "type") for block in blocks))


def _cline(item: Item, place: Place, _: Chat) -> Iterable[Event] | None:
    content = item.value.get("content")
    if item.value["role"] != "user" or not isinstance(content, str | list):
        return None
    return _cline_user([{"type": "text", "text": content}] if isinstance(content, str) else content, place)


def _cline_user(blocks: list[Any], place: Place) -> Iterator[Event]:
    """Outputs that stand in texts, then what is left: also the user's answers in such outputs."""
    left: list[Any] = []
    tool = ""
    for block in blocks:
        text = string(block, "text") if string(block, "type") == "text" else ""
        found = _RESULT.match(text)
        tool = _cline_tool(found[1], found[2] or "") if found else tool
        made = text[found.end() :] if found else text
        asked = tool.startswith(_ASKING) or made.startswith("The user ")
        if not (tool and text):
            left.append(block)
        elif asked and (answer := _inside(made)):
            left.append({"type": "text", "text": answer})
        else:
            yield Returned("", without(made, _ADDED), "", place, tool)
        tool = tool if found and not made.strip() else ""
    yield from events_of("user", {"content": left}, "content", place, "", _cline_typed)


def _cline_tool(name: str, argument: str) -> str:
    """The name of a tool, that of smartsearch where the call asked it, lest its output be read."""
    command = argument.strip("'\"")
    server = name == "use_mcp_tool" and NAME in command
    return NAME if server or is_own(name, {"command": command}) else name


def _inside(text: str) -> str:
    """What stands in the tags around an answer."""
    tags = ("feedback", "user_message", "answer")
    pieces = ((tag, piece) for tag in tags for piece in text.split(f"<{tag}>")[1:])
    return "\n".join(piece.partition(f"</{tag}>")[0].strip() for tag, piece in pieces)


def _cline_typed(text: str) -> str:
    """What the user typed of a text: what is in the tags for it, else all that the program did not add."""
    if text.lstrip().startswith(_NOTES):
        return ""
    said = without(text, _ADDED).replace("<task>", "").replace("</task>", "").strip()
    return _inside(said) or (said.partition("\n")[2].strip() if said.startswith(_ANNOUNCED) else said)


# Codex: kvsankar/agent-history (codex-cli-format.md), jnarowski/agentcmd (format-comparison.md). Each line is
# `{timestamp, type, payload}`, of which `event_msg` repeats for the screen what `response_item` holds. Before
# September 2025 the items stood bare on their lines, after one with `id`, `timestamp` and `instructions`.
_ENVELOPES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
_INJECTED = (
    *("<environment_context", "<user_instructions", "<turn_aborted", "<permissions", "<apps_instructions"),
    *("<app-context", "<collaboration_mode", "<skills_instructions", "<skill>", "<recommended_plugins"),
    *("<subagent_notification", "<user_shell_command", "<codex_internal_context", "# AGENTS.md instructions"),
    "These AGENTS.md instructions replace",
    "The previously provided AGENTS.md instructions",
)
"""How texts begin that the program says in the user's name."""
_REQUEST = "## My request for Codex:"
"""What stands between the state of an editor and what the user asked."""
_is_old_head = shaped("id timestamp instructions|git")


def _codex_claims(value: Any) -> bool:
    old = value == {"record_type": "state"} or ("type" not in mapping(value) and _is_old_head(value))
    return old or (string(value, "type") in _ENVELOPES and isinstance(value.get("payload"), dict))


def _codex(source: Source) -> Iterator[Item | FormatError]:
    """The lines that say something, those in an envelope with the place of what it holds."""
    for item in source.items():
        value = item.value
        if not isinstance(value, dict):
            yield no_object(item)
        elif value.get("type") in _ENVELOPES:
            payload = value.get("payload")
            if not isinstance(payload, dict):
                yield item.fault(f"`payload` is {kind(payload)}, not an object")
            elif value["type"] in ("response_item", "session_meta"):
                yield item._replace(pointer=f"{item.pointer}/payload")
        elif "record_type" not in value:
            yield item


def _held(value: dict[str, Any], _: Any = None) -> dict[str, Any]:
    """What an envelope holds, of a bare item itself."""
    held = value.get("payload") if value.get("type") in _ENVELOPES else None
    return held if isinstance(held, dict) else value


def _codex_kind(value: dict[str, Any], _: Any) -> str | None:
    held = _held(value)
    what = string(held, "type")
    if what == "message":
        return string(held, "role") or None
    return what or (
        "*" if (value is not held and value["type"] == "session_meta") or _is_old_head(value) else ""
    )


def _codex_head(_: Source, __: Item, messages: Sequence[Item]) -> dict[str, Any]:
    """What is said about the session, of either age."""
    heads = (one.value for one in messages if isinstance(one.value, dict))
    found = (v for v in heads if v.get("type") == "session_meta" or ("type" not in v and _is_old_head(v)))
    return _held(next(found, {}))


def _codex_typed(text: str) -> str:
    if text.lstrip().startswith(_INJECTED):
        return ""
    return text.partition(_REQUEST)[2].strip() if text.startswith("#") and _REQUEST in text else text


def _codex_folder(_: Any, head: Any) -> str:
    found = string(head, "cwd") or string(mapping(head, "git"), "repository_url")
    return found.rstrip("/\\").removesuffix(".git")


# Copilot CLI: jazzyalex/agent-sessions. A call is in the message that asks for it, else where it begins.
_FAMILIES = ("session", "user", "assistant", "tool", "system", "hook", "subagent", "abort", "skill")


def _copilot_claims(value: Any) -> bool:
    family, dot, _ = string(value, "type").partition(".")
    return bool(dot) and family in _FAMILIES and shaped("data timestamp")(value) and "type" in value


# droid: jazzyalex/agent-sessions. A session, or what `--output-format stream-json` prints: `message` with a
# `text`, `tool_call`, `tool_result`, and `completion` with the last answer, which mostly was said before.
_STREAMED = ("message", "tool_call", "tool_result", "completion")


def _droid_claims(value: Any) -> bool:
    what = string(value, "type")
    if what in _STREAMED and string(value, "session_id", "sessionId"):
        return bool({"text", "toolName", "toolId", "toolCallId", "finalText"} & value.keys())
    if what == "message":
        return shaped("id message/role+content")(value) and not _pi_claims(value)
    return what == "session_start" and "id" in value


def _droid(source: Source) -> Iterator[Item]:
    last = ""
    for item in source.items():
        value, what = item.value, string(item.value, "type")
        if what == "completion" or (what == "message" and "text" in value):
            text = value.get("finalText" if what == "completion" else "text")
            role = "assistant" if what == "completion" else value.get("role")
            item = item._replace(value=value | {"message": {"role": role, "content": text}})
            if what == "completion" and text == last:
                continue
            last = text if role == "assistant" else last
        elif what == "message" and at(value, "message/role") == "assistant":
            last = output(mapping(value, "message"))[0]
        yield item


# Gemini CLI: kvsankar/agent-history (gemini-cli-format.md). A `.json` is one object with `messages`. A
# `.jsonl` is played back: a line with `sessionId` and `projectHash`, then messages, of which a later one
# replaces that with the same id, `{"$set": {...}}` and `{"$rewindTo": id}`.


def _gemini(source: Source) -> Iterator[Item | FormatError]:
    """The messages as they stand at the end, with faults, behind what is said of the session."""
    kept: dict[str, Item | FormatError] = {}
    about: dict[str, Any] = {}
    for item in source.items():
        value = item.value
        if not isinstance(value, dict):
            kept[f"#{len(kept)} {item.line}"] = no_object(item)
        elif "$rewindTo" in value:
            to = string(value, "$rewindTo")
            if to not in kept:
                fault = item.fault("`$rewindTo` names a message that is not there")
                kept[f"#{len(kept)} {item.line}"] = fault
            while to in kept:
                kept.popitem()
        elif "$set" in value or "sessionId" in value:
            news, above = mapping(value, "$set") or value, ["$set"] if "$set" in value else []
            about.update((key, news[key]) for key in ("sessionId", "summary") if news.get(key))
            if "messages" in news:
                kept.clear()
                if not isinstance(news["messages"], list):
                    place = item._replace(pointer="/".join([item.pointer, *above, "messages"]))
                    kept["#"] = place.fault(f"`messages` is {kind(news['messages'])}, not a list")
                for message in item.elements(*above, "messages"):
                    kept[string(message.value, "id") or f"#{len(kept)}"] = message
        else:
            kept[string(value, "id") or f"#{len(kept)}"] = item
    yield Item(about | {"type": "info"}, 0)
    yield from kept.values()


def _gemini_said(item: Item, place: Place, _: Chat) -> Iterator[Event]:
    value, own = item.value, place.turn or item.pointer
    shown = {"content": value.get("displayContent") or value.get("content") or ""}
    yield from events_of("user" if value["type"] == "user" else "assistant", shown, "content", place, own)
    calls = [call for call in item.elements("toolCalls") if isinstance(call.value, dict)]
    made = [called(call.value, place, own) for call in calls]
    made = [one._replace(call=one.call or f"{place.turn}/{n}") for n, one in enumerate(made)]
    yield from made
    for call, one in zip(calls, made):
        told = (output(mapping(part, "functionResponse"))[0] for part in sequence(call.value, "result"))
        text = "\n".join(filter(None, told)) or string(call.value, "resultDisplay", "error")
        time = string(call.value, "timestamp") or place.time
        yield Returned(one.call, text, "", place._replace(item=call, time=time, turn=one.call))


# Kimi Code: jazzyalex/agent-sessions. `context.append_message` holds what the user said, `append_loop_event`
# what the model said and the calls it made. Each agent of a session has its file, `main` or one it started.
_MESSAGE, _EVENT = "context.append_message", "context.append_loop_event"


def _kimi(source: Source, _: Item, __: Sequence[Item]) -> tuple[str, str]:
    """The session's folder, and that of an agent which the main one started."""
    folders = PurePath(plain_name(source.path)).parts[:-1]
    if len(folders) < 3 or folders[-2] != "agents":
        return source.stem, ""
    return folders[-3], "" if folders[-1] == "main" else folders[-1]


def _kimi_kind(value: dict[str, Any], _: Any) -> str | None:
    what = string(value, "type")
    if what == _MESSAGE:
        spoken = mapping(value, "message")
        by_user = string(spoken, "role") != "user" or at(spoken, "origin/kind") in (None, "", "user")
        return (string(spoken, "role") or None) if by_user else "*"
    return string(mapping(value, "event"), "type") if what == _EVENT else what


def _kimi_message(value: dict[str, Any], _: Any) -> Any:
    event = value.get("event") if value["type"] == _EVENT else value.get("message")
    part = mapping(event, "part")
    return {"content": [part]} if part else event


# pi and OpenClaw: jazzyalex/agent-sessions, arcreflex/agent-transcripts (test/fixtures/pi-coding-agent).
_pi_typed = ("toolResult", "bashExecution")


def _pi_claims(value: Any) -> bool:
    if string(value, "type") != "message":
        return shaped("type=session id timestamp cwd")(value)
    message = mapping(value, "message")
    calls = any(string(block, "type") == "toolCall" for block in sequence(message, "content"))
    return message.get("role") in _pi_typed or calls or isinstance(message.get("timestamp"), int)


def _pi_kind(value: dict[str, Any], _: Any) -> str | None:
    role = string(mapping(value, "message"), "role")
    if value.get("type") != "message":
        return "*" if isinstance(value.get("type"), str) else ""
    aside = role.endswith("Summary") or role in ("custom", "system")
    return "*" if aside else role if role in (*TALK, *_pi_typed) else None


def _pi_ran(item: Item, place: Place, _: Chat) -> Iterable[Event] | None:
    """A command that the user ran, and what it gave."""
    message = mapping(item.value, "message")
    if message.get("role") != "bashExecution":
        return None
    own = place.turn or f"{item.line}{item.pointer}"
    call = Called("bash", {"command": message.get("command")}, own, place, own)
    return call, Returned(own, string(message, "output"), "", place)


# Qwen Code: jazzyalex/agent-sessions. The envelope is Claude Code's, `parts` are in Gemini's form.
_QWEN_ADDED = ("qwen:user-prompt-submit-context", "system-reminder")


def _qwen_message(value: dict[str, Any], _: Any) -> Any:
    shown = string(mapping(value, "systemPayload"), "displayText")
    return {"parts": [shown]} if shown and value["type"] == "user" else value.get("message")


# Claude Code: kvsankar/agent-history (claude-code-format.md), Huntehhh/claude-code-chat
# (claude-cli-jsonl-format.md). A message typed while the assistant works may stand in an `attachment` alone.
_OTHERS = frozenset({"systemPayload", "toolCallResult", "role", "toolName", "finalText", "tools"})
"""Keys of records of Qwen Code and droid, which have a `type` and a `sessionId` too."""
_META = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")
_REMINDER = "system-reminder"
_WRAPPERS = (
    *(_REMINDER, "command-name", "command-message", "command-args", "command-contents", "bash-input"),
    *("bash-stdout", "bash-stderr", "local-command-stdout", "local-command-stderr", "local-command-caveat"),
    *("task-notification", "user-prompt-submit-hook", "ide_opened_file", "ide_selection", "ide_diagnostics"),
)
_CLAUDE_NOTES = (
    "[Request interrupted by user",
    "This session is being continued from a previous conversation",
    "Caveat: The messages below were generated by the user while running local commands",
)
"""How texts begin that the program wrote in the user's name."""


def _claude_claims(value: Any) -> bool:
    what = string(value, "type")
    if not what or _OTHERS & value.keys() or "parts" in mapping(value, "message"):
        return False
    if what in TALK:
        known = {"sessionId", "session_id", "parentUuid"} & value.keys()
        return isinstance(value.get("message"), dict) and bool(known)
    if what == "summary":
        return "leafUuid" in value
    return what == "file-history-snapshot" or isinstance(value.get("sessionId"), str)


def _once(source: Source) -> Iterator[Item]:
    """Records without those that a resumed session repeats; one that cannot be read stands for none."""
    seen: set[str] = set()
    for item in source.items():
        uuid = string(item.value, "uuid")
        if not uuid or uuid not in seen:
            content = mapping(item.value, "message").get("content")
            if isinstance(content, str | list) or string(item.value, "type") not in TALK:
                seen.add(uuid)
            yield item


def _claude_skip(value: dict[str, Any], _: Any) -> bool:
    queued = mapping(value, "attachment")
    typed = queued.get("type") == "queued_command" and queued.get("commandMode", "prompt") == "prompt"
    meta = any(value.get(mark) is True for mark in _META)
    synthetic = at(value, "message/model") == "<synthetic>" and value.get("type") == "assistant"
    return meta or synthetic or (value.get("type") == "attachment" and not typed)


def _claude_message(value: dict[str, Any], _: Any) -> Any:
    queued = mapping(value, "attachment")
    return {"content": queued.get("prompt")} if value["type"] == "attachment" else value.get("message")


def _claude_typed(text: str) -> str:
    """What the user typed: without the blocks around it, a slash command as `/name arguments`."""
    if text.startswith(_CLAUDE_NOTES):
        return ""
    if "</" not in text:
        return text
    arguments = _between(text, "command-args").strip()
    command = f"{_between(text, 'command-name').strip()} {arguments}" if arguments else ""
    return "\n".join(said for said in (command, without(text, _WRAPPERS)) if said)


def _between(text: str, tag: str) -> str:
    inside, found, _ = text.partition(f"<{tag}>")[2].partition(f"</{tag}>")
    return inside if found else ""


FORMS = {
    "amp": Form(
        # noamsto/houston (docs/AMP_AGENT_SUPPORT.md), jonathan-kellerai/cross_agent_session_resumer (amp.rs)
        claims=lambda value: (
            string(value, "id").startswith("T-") and shaped("messages[] created|env|agentMode")(value)
        ),
        inside="messages",
        about=lambda _, item, __: item.value.get("created"),
        roles=TALK | {"info": ""},
        time=lambda value, began: at(value, "meta/sentAt") or began,
        turn="messageId",
    ),
    "claude-code": Form(
        claims=_claude_claims,
        items=_once,
        about=lambda _, __, messages: {string(one.value, "uuid") for one in messages},
        title=(
            "customTitle",
            "aiTitle",
            lambda v, here: string(v, "summary") if string(v, "leafUuid") in here else "",
        ),
        cwd="cwd",
        kind="type",
        roles=TALK | {"attachment": "user", "*": ""},
        message=_claude_message,
        conversation="sessionId session_id",
        session="agentId parent_tool_use_id",
        turn="uuid",
        joins="message/id",
        skip=_claude_skip,
        typed=_claude_typed,
        result=lambda text: without(text, [_REMINDER]),
    ),
    "cline": Form(
        claims=_cline_claims,
        about=lambda source, _, __: source.folder,
        name=lambda _, folder: folder,
        roles=TALK,
        events=_cline,
    ),
    "codex": Form(
        claims=_codex_claims,
        items=_codex,
        about=_codex_head,
        name=lambda _, head: string(head, "id"),
        cwd=_codex_folder,
        kind=_codex_kind,
        roles=TALK
        | dict.fromkeys(("function_call", "custom_tool_call", "local_shell_call", "web_search_call"), "call")
        | dict.fromkeys(("function_call_output", "custom_tool_call_output"), "tool")
        | {"developer": "", "system": "", "*": ""},
        message=_held,
        time=lambda value, head: value.get("timestamp", head.get("timestamp")),
        turn=lambda value, _: string(_held(value), "id", "call_id"),
        typed=_codex_typed,
    ),
    "copilot-cli": Form(
        claims=_copilot_claims,
        head="type=session.start",
        about=lambda _, __, messages: {
            string(call, "toolCallId")
            for one in messages
            for call in objects(mapping(one.value, "data"), "toolRequests")
        },
        name="data/sessionId",
        title="data/title",
        cwd="data/context/cwd",
        kind="type",
        roles={
            "user.message": "user",
            "assistant.message": "assistant",
            "tool.execution_start": "call",
            "tool.execution_complete": "tool",
            "*": "",
        },
        message="data",
        session="data/parentToolCallId data/agentId",
        joins="data/messageId",
        skip=lambda v, asked: (
            v.get("type") == "tool.execution_start" and string(mapping(v, "data"), "toolCallId") in asked
        ),
    ),
    "cursor": Form(
        claims=lambda value: shaped("role=user|assistant message/content[]")(value) and "type" not in value,
        roles=TALK,
        message="message",
        skip=lambda value, _: value.get("role") is None and isinstance(value.get("type"), str),
        typed=_queries,
    ),
    "droid": Form(
        claims=_droid_claims,
        items=_droid,
        head="type=session_start",
        title="sessionTitle title",
        cwd="cwd",
        kind=lambda v, _: string(mapping(v, "message"), "role") if "message" in v else string(v, "type"),
        roles=TALK | {"tool_call": "call", "tool_result": "tool", "*": ""},
        message=lambda value, _: value.get("message", value),
        conversation="session_id sessionId",
        turn="id toolCallId",
        typed=lambda text: without(text, [_REMINDER]),
        result=lambda text: without(text, [_REMINDER]),
    ),
    "gemini-cli": Form(
        claims=("type=gemini id timestamp content", "sessionId projectHash"),
        items=_gemini,
        head="type=info sessionId",
        name="sessionId",
        title="summary",
        kind="type",
        roles={"user": "user", "gemini": "assistant", "info": "", "warning": "", "error": ""},
        events=_gemini_said,
    ),
    "grok-cli": Form(
        claims=(
            "type=user content prompt_index|synthetic_reason",
            "type=assistant content model_id",
            "type=backend_tool_call kind{}",
        ),
        # jazzyalex/agent-sessions; the `summary.json` beside knows id, title and when the session began
        about=lambda source, _, __: {"folder": source.folder} | mapping(value_beside(source, "summary.json")),
        name=lambda _, about: string(mapping(about, "info"), "id") or about["folder"],
        title=lambda _, about: string(about, "generated_title", "session_summary"),
        cwd=lambda _, about: string(mapping(about, "info"), "cwd"),
        kind="type",
        roles=TALK | {"tool_result": "tool", "backend_tool_call": "call", "system": "", "reasoning": ""},
        message=lambda value, _: value["kind"] if value["type"] == "backend_tool_call" else value,
        time=lambda _, about: about.get("created_at"),
        turn="id tool_call_id",
        skip=lambda value, _: "synthetic_reason" in value,
    ),
    "kimi-code": Form(
        claims=("type=metadata protocol_version", f"type={_MESSAGE}|{_EVENT}"),
        about=_kimi,
        name=lambda _, names: names[0],
        kind=_kimi_kind,
        roles=TALK
        | {"tool": "tool", "content.part": "assistant", "tool.call": "call", "tool.result": "tool", "*": ""},
        message=_kimi_message,
        session=lambda _, names: names[1],
        turn="event/uuid event/toolCallId",
        joins="event/stepUuid",
    ),
    "pi": Form(
        claims=_pi_claims,
        items=lambda source: _on_branch(source, "id", "parentId"),
        head="type=session",
        title=lambda value, _: string(value, "name") if value.get("type") == "session_info" else "",
        cwd="cwd",
        kind=_pi_kind,
        roles=TALK | {"toolResult": "tool", "bashExecution": "tool", "*": ""},
        message="message",
        time="timestamp message/timestamp",
        events=_pi_ran,
    ),
    "qwen-code": Form(
        claims=(
            "type=user|assistant|tool_result|system parentUuid message/parts",
            "type=user|assistant|tool_result|system parentUuid systemPayload",
        ),
        items=lambda source: _on_branch(
            source, "uuid", "parentUuid", ("session_artifact_event", "session_artifact_snapshot")
        ),
        title="systemPayload/customTitle",
        cwd="cwd",
        kind="type",
        roles=TALK | {"tool_result": "assistant", "system": ""},
        message=_qwen_message,
        content="parts",
        conversation="sessionId",
        turn="uuid",
        skip=lambda v, _: v.get("subtype") in ("goal_runtime", "cron", "notification"),
        typed=lambda text: without(text, _QWEN_ADDED),
    ),
}
