"""The JSON contract: what each reply holds, and the kinds of errors, once.

`smartsearch schema` prints it as JSON Schema and docs/json.md is made of it; the tests hold every reply to
it. Keys are only ever added within a schema version.
"""

import sys
import types
from dataclasses import is_dataclass
from typing import (
    Annotated,
    Any,
    Literal,
    TypedDict,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from smartsearch.output.record import SCHEMA_VERSION, Json
from smartsearch.types import Cost, Met, ModelInfo, Skipped

if sys.version_info >= (3, 11):
    from typing import NotRequired
else:  # pragma: no cover - Python 3.10; Typer brings it
    from typing_extensions import NotRequired

DIALECT = "https://json-schema.org/draft/2020-12/schema"

Version = Annotated[int, "the version of this contract: 1"]
Tool = Annotated[str, "the version of smartsearch"]
Path = Annotated[str, "the file, as it was named"]
Line = Annotated[int, "its first line, from 1; 0 where the format has no lines"]
Pointer = Annotated[str, "its RFC 6901 pointer where the format has no lines, else empty"]
Conversation = Annotated[str, "the source's own id of the conversation"]
Session = Annotated[str, "the source's own id of the session"]
TurnId = Annotated[str, "the source's own id of the turn"]
Speaker = Annotated[str, "who said it; empty where nobody knows"]
Time = Annotated[str, "ISO 8601, a date or a date and a time; empty where the source gives none"]
Text = Annotated[str, "the whole turn, as the source wrote it"]
Caption = Annotated[str, "what stands for a picture, a file or a tool's call"]
Excerpt = Annotated[str, "the part of a long turn that answers; `[...]` stands for the rest"]
Title = Annotated[str, "what people call the conversation"]
Left = Annotated[list[Skipped], "files, and parts of files, that could not be read"]
Warnings = Annotated[list[str], "what to tell the user"]
First = Annotated[str, "the time of the first turn"]
Last = Annotated[str, "the time of the last turn"]


class Versioned(TypedDict):
    """A reply that says who made it."""

    schema_version: Version
    tool_version: Tool


class Said(TypedDict):
    """What was said, by whom and when."""

    speaker: Speaker
    time: Time
    text: Text
    caption: NotRequired[Caption]


class Place(TypedDict):
    """Where a turn stands: `path:line`, or `path#pointer`."""

    path: Path
    line: Line
    pointer: Pointer
    conversation: Conversation
    session: Session
    turn: TurnId
    title: NotRequired[Title]


class Term(TypedDict):
    """A search term."""

    text: str
    kind: Annotated[
        str,
        "a part of speech, `ENT`, `TOKEN`, `PHRASE`, `CODE`, `NUMBER`, `COMPOUND`, `HOP`, `PRF`, `FUZZY`, "
        "`DATE`, `SPEAKER` or `CLUE`",
    ]
    weight: float
    hop: Annotated[int, "the step that took it up, from 1"]
    source: NotRequired[
        Annotated[str, "the question's own word behind a `FUZZY` or `DATE` term, or the clue"]
    ]


class Hop(TypedDict):
    """A step of retrieval."""

    hop: int
    kind: Annotated[
        str,
        "`grep`, `fuzzy`, `semantic`, `date`, `speaker`, `entity` or `prf`; other systems have their own",
    ]
    terms: list[str]
    found: Annotated[int, "turns that it added"]
    total: Annotated[int, "turns found so far"]


class Scores(TypedDict):
    """A turn's scores; null: that ranker did not see the turn. Others stand beside them by name."""

    match: Annotated[float, "the summed weights of its terms"]
    ce: Annotated[float | None, "the cross-encoder's, 0 to 1"]
    colbert: float | None
    rrf: float
    fused: Annotated[float | None, "what orders the hits, unless `rrf` does"]


class Nearby(Said):
    """A turn near a hit, in the same session of the same file."""

    line: Line
    pointer: Pointer
    turn: TurnId


class Reply(Nearby):
    """The turn that answers one that asks."""

    excerpt: NotRequired[Excerpt]


class Context(TypedDict):
    """The turns around a hit."""

    before: list[Nearby]
    after: list[Nearby]


class Why(TypedDict):
    """What found a turn."""

    terms: list[Term]
    hop: Annotated[int, "the step that found it; 0: by meaning alone"]


class Hit(Place, Said):
    """A turn that was found; a line of `--format jsonl`."""

    rank: Annotated[int, "from 1, the best"]
    excerpt: NotRequired[Excerpt]
    reply: NotRequired[
        Annotated[Reply, "what answers one of the first hits that asks, if it is no hit itself"]
    ]
    scores: Scores
    why: Why
    met: NotRequired[Annotated[list[Met], "with `--explain`: what stands in it for words of the question"]]
    context: NotRequired[Annotated[Context, "with `-A`, `-B` or `-C`"]]


class DroppedHit(Place):
    """A turn that the cut left out."""

    rank: int
    reason: Annotated[str, "`top_k`, `tau` or `budget`"]
    scores: Scores


class Drops(TypedDict):
    """How many turns each rule left out; other rules stand beside these by name."""

    top_k: int
    tau: int
    budget: int


class Budget(TypedDict):
    """How the ranked turns were cut. Ceilings are 0 where there is none."""

    truncate: Annotated[str, "`none`, `fixed` or `adaptive`"]
    words: Annotated[int, "a ceiling"]
    used_words: int
    tokens: Annotated[int, "a ceiling"]
    used_tokens: int
    tokenizer: Annotated[str, "what counts tokens"]
    alpha: float
    tau: Annotated[float, "`alpha` times the best cross-encoder score"]
    top_k: int
    fill: str
    limit: Annotated[int, "a ceiling: `-n`"]
    cut_text: Annotated[bool, "a turn longer than the budget is cut, in `text` too"]
    compress: NotRequired[list[str]]
    dropped: Drops


class Query(Versioned):
    """What `query --json` prints."""

    query: str
    filters: NotRequired[
        Annotated[dict[str, list[str]], "those that were given; since and until to the second"]
    ]
    system: str
    profile: str
    degraded: Annotated[list[str], "what was left out, and how to have it"]
    fallback: Annotated[str, "what the parser used where it found no noun, name or verb"]
    candidates: Annotated[int, "turns that retrieval found, before ranking and the cut"]
    estimates: NotRequired[
        Annotated[
            list[str], "over large collections: which of `candidates`, `budget`, `hops` are upper bounds"
        ]
    ]
    confidence: Annotated[
        float | None, "the chance that one of the first three hits answers; null: nothing tells"
    ]
    weak: Annotated[bool, "the confidence is too low to count on, or no turn has a name, code or number"]
    absent: Annotated[list[str], "words of the question that no turn has"]
    budget: Budget
    timing_ms: Annotated[dict[str, float], "by stage, and `total`; `load` is the wait for models alone"]
    models: Annotated[list[ModelInfo], "the models that ran"]
    cost: Annotated[Cost, "of a language model, with `--llm`"]
    ingest_cost: NotRequired[Annotated[Cost, "of one, for what was taken in before the question"]]
    trace: NotRequired[Annotated[dict[str, Any], "what another system tells of itself"]]
    threads: NotRequired[Annotated[int, "not in a run folder's records"]]
    terms: list[Term]
    hops: list[Hop]
    hidden: Annotated[int, "hits that `-n` leaves out: 20 are shown unless it says otherwise"]
    hits: Annotated[list[Hit], "best first"]
    dropped_hits: NotRequired[Annotated[list[DroppedHit], "with `--explain`"]]
    skipped: Left
    warnings: Warnings


class Kind(str):
    """A kind of error: one of `ERRORS`, or one that a later version has."""


class Fault(TypedDict):
    """What went wrong."""

    kind: Annotated[Kind, "a stable word: branch on it"]
    message: Annotated[str, "what was wrong, and where"]
    hint: Annotated[str, "what to try"]
    retryable: Annotated[bool, "the same call may succeed later"]


class Error(TypedDict):
    """What is printed on standard output when JSON was asked for and the exit code is 2."""

    error: Fault


class Answered(Query):
    """A line of `batch` that was answered: the record of `query`, and the line that it answers."""

    id: str | int
    line: NotRequired[Annotated[int, "in a run folder: its line, from 1"]]


class Failed(Error):
    """A line of `batch` that was not answered."""

    id: Annotated[str | int | None, "null where its line has none"]
    line: Annotated[int, "its line in the file of questions, from 1"]


class Numbered(Place):
    """A turn that the prompt holds."""

    n: Annotated[int, "the number by which it is cited"]


class Citation(Numbered, Said):
    """A turn that the model cited."""


class Usage(TypedDict):
    """Tokens that the model read and wrote."""

    prompt_tokens: int
    completion_tokens: int
    estimated: Annotated[bool, "counted here, for the server did not"]


class Sent(TypedDict):
    """What was sent to the model."""

    turns: int
    words: int
    files: int
    tokens: Annotated[int, "about, of the whole prompt"]


class Answer(Versioned):
    """What `answer --json` prints."""

    answer: Annotated[str, "empty where no model was asked"]
    finish: Annotated[str, "`stop`; `length`: cut at `--max-tokens`"]
    citations: list[Citation]
    unknown_citations: Annotated[list[int], "numbers it cited without a turn"]
    model: str
    endpoint: str
    usage: Annotated[Usage | None, "null where no model was asked"]
    sent: Sent
    result: Annotated[Query, "what `query --json` prints"]


class Prompt(Versioned):
    """What `answer --show-prompt --json` prints."""

    messages: Annotated[list[dict[str, str]], "each has `role` and `content`"]
    turns: list[Numbered]


class Opened(Place, Said):
    """A turn that `show` opened, or one near it."""

    asked: Annotated[bool, "it was asked for; else it stands near one that was"]


class Shown(TypedDict):
    """Turns that follow each other."""

    turns: list[Opened]


class Found(TypedDict):
    """What stands at a place that was asked for."""

    place: str
    excerpts: list[Shown]


class Missing(TypedDict):
    """A place without a turn."""

    place: str
    reason: str
    nearest: Annotated[Place | None, "the place of a turn nearby"]


class ListedSession(TypedDict):
    """A session of a conversation; `line` and `pointer` are its first turn's."""

    session: Session
    line: Line
    pointer: Pointer
    turns: int
    speakers: Annotated[list[str], "who says most comes first"]
    first: First
    last: Last


class ListedConversation(TypedDict):
    """A conversation of a file."""

    path: Path
    conversation: Conversation
    title: NotRequired[Title]
    turns: int
    speakers: Annotated[list[str], "who says most comes first"]
    first: First
    last: Last
    sessions: list[ListedSession]


class Show(Versioned):
    """What `show --json` prints."""

    places: list[Found]
    conversations: Annotated[list[ListedConversation], "of a path alone: what its files hold"]
    missing: list[Missing]
    skipped: Left
    warnings: Warnings


class Finding(TypedDict):
    """A fact about this machine."""

    area: str
    state: Literal["ok", "note", "warning", "failure"]
    said: str
    hint: Annotated[str, "what to do about it"]


class Doctor(TypedDict):
    """What `doctor --json` prints."""

    schema_version: Version
    state: Annotated[Literal["ok", "warning", "failure"], "the worst of the findings"]
    next: Annotated[str, "what to run or do now: of a failure, else of a warning, else a first question"]
    findings: list[Finding]


class Vectors(TypedDict):
    """The vectors that are kept, or that `cache clear` removed."""

    path: Annotated[str, "the folder of the cache"]
    models: int
    turns: int
    bytes: int
    limit: NotRequired[Annotated[int, "the bytes that it may take; not of `cache clear`"]]


class Indexed(TypedDict):
    """An index that was made or brought up to date."""

    path: Path
    new: Annotated[int, "files, as are the next three"]
    changed: int
    removed: int
    unchanged: int
    files: int
    turns: int
    bytes: int
    seconds: float


class HeldIndex(TypedDict):
    """An index that `--status` found, or that `--remove` deleted."""

    path: Path
    files: int
    turns: int
    bytes: int
    state: Annotated[str, "`ready`, `damaged` or `of another version`"]


class Model(TypedDict):
    """A model of a profile."""

    profile: str
    role: str
    id: str
    revision: str
    precision: str
    path: Annotated[str, "its folder"]
    bytes: int
    state: Annotated[str, "`ok`, `missing` or `damaged`"]


class Heads(TypedDict):
    """How well an order ranks held-out questions; `R@3` and others stand beside these."""

    order: Annotated[str, "`smartsearch`: our own search; `heads`: the heads that were found"]
    questions: int


class Format(TypedDict):
    """A format that is read."""

    name: str
    extensions: list[str]
    description: str
    how: Annotated[str, "how to get such files"]
    goes_with_others: Annotated[bool, "its files belong to those of another format"]


class DetectedFile(TypedDict):
    """What a file is taken for, and what it holds."""

    path: Path
    format: Annotated[str, "empty where no format recognises it"]
    goes_with_others: bool
    conversations: int
    turns: int
    speakers: list[str]
    first: First
    last: Last
    explained: Annotated[float | None, "the share of its text that the turns explain; null: not looked at"]
    unexplained: Annotated[str, "the first text that no turn explains, and where it stands"]
    head: Annotated[str, "how turns begin, as it was inferred: `[TIME] NAME: TEXT`; else empty"]
    skipped: Left
    warnings: Warnings


class Detected(TypedDict):
    """What `formats detect --json` prints."""

    schema_version: Version
    files: list[DetectedFile]
    total: Annotated[dict[str, int], "`files`, `failed` (nothing could be read), `conversations`, `turns`"]


class Chats(TypedDict):
    """An `@name` for chats."""

    name: str
    paths: list[str]
    there: Annotated[bool, "any of its paths exists"]
    files: int


class Server(TypedDict):
    """A warm process; null is what it does not tell."""

    pid: int | None
    state: Annotated[str, "`ready`, `loading`, `busy`, or `silent` where it does not answer"]
    profile: str | None
    version: str | None
    since: Annotated[str | None, "ISO 8601: when it started"]
    served: Annotated[int | None, "questions answered"]
    rss_bytes: Annotated[int | None, "memory that it takes"]


class Setting(TypedDict):
    """A setting."""

    name: str
    value: Any
    default: Any
    origin: Annotated[str, "where the value comes from; `default`: it was not set"]


class HeldMemory(TypedDict):
    """A memory that a system keeps; its statistics stand beside these by name."""

    system: str
    paths: list[str]
    bytes: int


class Part(TypedDict):
    """A part of a memory; other keys stand beside this one, as the system has them."""

    turn: Annotated[str, "the place of the turn that it is from; empty: of many"]


class Trained(TypedDict):
    """What `train --json` prints; the keys of `profile.json` stand beside these."""

    schema_version: Version
    profile: Annotated[str, "its name"]
    folder: str
    written: bool
    usable: Annotated[bool, "there is a profile of that name, this one or an earlier one"]
    reason: Annotated[str, "why it was not written"]
    warnings: Warnings


class Sample(TypedDict):
    """A question that was made of a turn."""

    use: Annotated[Literal["train", "measure"], "`measure`: it is held out from training"]
    question: str
    turn: str


class DryRun(Versioned):
    """What `train --dry-run --json` prints."""

    counts: Annotated[dict[str, int], "`turns`; questions to train on (`trained`) and `held_out`"]
    questions: Annotated[list[Sample], "some of both kinds"]
    warnings: Warnings


def _table(command: str, key: str, row: Any) -> Any:
    """The record of a command that prints a list of rows."""
    declare: Any = TypedDict
    made = declare(f"{key.title()}Table", {"schema_version": Version, key: list[row]})
    made.__doc__ = f"What `{command} --json` prints."
    return made


# `|` of two TypedDicts needs Python 3.11.
REPLIES: dict[str, Any] = {
    "query": Query,
    "hit": Hit,
    "batch": Union[Answered, Failed],  # noqa: UP007
    "answer": Answer,
    "prompt": Prompt,
    "show": Show,
    "doctor": Doctor,
    "cache": _table("cache status", "cache", Vectors),
    "index": _table("index", "index", Union[Indexed, HeldIndex]),  # noqa: UP007
    "models": _table("models list", "models", Model),
    "qrranker": _table("qrranker detect", "recall", Heads),
    "formats": _table("formats", "formats", Format),
    "detect": Detected,
    "places": _table("formats places", "places", Chats),
    "serve": _table("serve --status", "servers", Server),
    "config": _table("config show", "settings", Setting),
    "memory": Union[  # noqa: UP007
        _table("memory status", "memories", HeldMemory), _table("memory show", "memory", Part)
    ],
    "train": Union[Trained, DryRun],  # noqa: UP007
    "error": Error,
}
"""By the name that `smartsearch schema` takes: what a reply is."""
NAMES = (*REPLIES, "mcp")
"""All that `smartsearch schema` takes; `mcp` is made of the tools themselves."""

ERRORS = {
    "usage": "an option, or several together, make no sense: mend the command",
    "argument": "an agent's call has a wrong argument: mend the call",
    "config": "a setting in a file, the environment or an option cannot be used: mend it",
    "path_not_found": "no such file or folder: check the path",
    "no_folder": "the current folder was removed: change to another",
    "unknown_chats": "no chats of that `@name`: `smartsearch formats places` lists them",
    "own": "a transcript lies where the command writes: another `--out`",
    "nothing_read": "no file could be read: `skipped` and `formats detect` say why",
    "unknown_format": "`--input-format` names none: `smartsearch formats` lists them",
    "unknown_conversation": "no turn has that conversation: take one of the hint",
    "unknown_session": "no turn has that session: take one of the hint",
    "unknown_speaker": "no turn has that speaker: take one of the hint",
    "unknown_head": "`--fields` or a heading names no column: take one of the hint",
    "unknown_field": "`--fields` names a key that no record has: take one of the hint",
    "no_place": "a place is not written as one: `path:line` or `path#pointer`",
    "no_turn": "no turn stands at that place: search again",
    "unknown_id": "an agent's id is none of this server's: search again",
    "stale_id": "the file has changed since the agent's search: search again",
    "outside_roots": "an agent's path is outside what is served: name one inside",
    "not_served": "an agent's path is left out by the server's options: name another",
    "input": "a line or file of questions cannot be read: mend it",
    "dataset": "a data set of `bench` is not as it should be: see docs/benchmarks.md",
    "rival": "a file of `bench --system` is none: see docs/benchmarks.md",
    "questions_changed": "the file of questions changed during the run: start another run",
    "too_large": "a file or standard input is beyond a limit: split it",
    "too_little": "too few questions can be made of the transcripts to train on: give more",
    "context": "a prompt is longer than the model reads: a smaller budget or another model",
    "exists": "the output is there already, or is an input: another name, or `--overwrite`",
    "output": "a file, folder or standard output cannot be written: make room, or rights",
    "store": "kept replies or scores cannot be read or written: see the hint",
    "package": "a package of an extra is missing: the hint installs it",
    "profile_unknown": "no such profile: `smartsearch models list`",
    "model": "a model cannot be used, or the profile lacks it: see the hint",
    "model_missing": "a model is not here: `smartsearch models pull`",
    "model_damaged": "a model's files are not whole: pull or install again",
    "model_unfit": "a model is of another kind: take one that docs/cli.md names",
    "model_unsafe": "a model's folder holds what could run as code: do not use it",
    "model_heads": "nobody has found the model's heads that rank: `smartsearch qrranker detect`",
    "model_length": "a question or turn is longer than the model reads: a shorter one",
    "model_fetch": "the model hub cannot be reached: try again later",
    "model_unknown": "the model hub has no such model, or not for everybody: check its id",
    "memory": "the process may not have as much memory as is needed: a higher limit, fewer threads",
    "timeout": "`--timeout` ran out: a longer one, or fewer `--candidates`",
    "worker_died": "reading or answering ended its worker process: try again, leave that file out",
    "other_run": "a folder or file holds another run: another `--out`, or `--overwrite`",
    "run_damaged": "a run folder lacks or garbles a file: the hint names it",
    "busy": "another process is at it: wait, then try again",
    "disk_full": "storage is full: make room and run the same again",
    "unreachable": "storage or a cluster does not answer: try again",
    "denied": "storage says no: rights to list, read, write and delete there",
    "credentials": "the storage's credentials are missing, wrong or out of date: set them",
    "no_bucket": "there is no such bucket: check the name",
    "torn": "storage gave half a file: run the same again",
    "not_sent": "nothing was sent to a language model, for nobody agreed: `--yes`, or trust the host",
    "llm_missing": "no language model is set up: see docs/answer.md",
    "llm_unreachable": "its server cannot be reached: start it, or check the address",
    "llm_refused": "its server refuses the key: check SMARTSEARCH_LLM_KEY",
    "llm_not_found": "its server has no such model or address: check both",
    "llm_request": "its server cannot serve the request: see the hint",
    "llm_json": "the model never gave the JSON asked for: another model",
    "llm_offline": "no such reply is kept: unset SMARTSEARCH_LLM_OFFLINE",
    "llm_busy": "its server has too many requests: try again later",
    "llm_reply": "its reply is empty or no reply: try again, or another model",
    "llm_broken": "its reply broke off: try again",
    "llm_stopped": "it was stopped before it answered: try again",
    "cache": "the cache folder is not yours, or is nowhere: set XDG_CACHE_HOME",
    "index": "an index turned out to be damaged: ask again, it is left aside",
    "unsafe_folder": "the folder of the warm process's socket is not yours alone: see the hint",
    "error": "something else went wrong: see the message",
    "internal": "a bug: SMARTSEARCH_DEBUG=1 shows where; please report it",
}
"""The kinds of errors: what each means, and what to do. A later version may have more."""

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def schema(name: str) -> Json:
    """The JSON Schema (2020-12) of a reply of `REPLIES`."""
    shapes: Json = {}
    kind = REPLIES[name]
    made = _shape(kind, shapes)
    own = shapes.pop(kind.__name__) if is_record(kind) else made
    head = {"$schema": DIALECT, "title": f"smartsearch {name}, schema version {SCHEMA_VERSION}"}
    return head | own | ({"$defs": shapes} if shapes else {})


def is_record(kind: Any) -> bool:
    """Whether a type is a record of the contract, declared here or as a dataclass."""
    return isinstance(kind, type) and (is_dataclass(kind) or is_typeddict(kind))


def _shape(kind: Any, shapes: Json) -> Json:
    """The schema of a type; those of the records in it are added to `shapes` by name."""
    origin, inside = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _shape(inside[0], shapes) | {"description": inside[1]}
    if origin in (Union, types.UnionType):
        parts = [_shape(part, shapes) for part in inside]
        if all(part.keys() == {"type"} for part in parts):
            return {"type": [part["type"] for part in parts]}
        return {"anyOf": parts}
    if origin is Literal:
        return {"enum": list(inside)}
    if origin in (list, tuple):
        return {"type": "array", "items": _shape(inside[0], shapes)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _shape(inside[1], shapes)}
    if kind is Kind:
        known = [{"const": word, "description": told} for word, told in ERRORS.items()]
        return {"anyOf": [*known, {"type": "string"}]}
    if is_record(kind):
        if kind.__name__ not in shapes:
            shapes[kind.__name__] = {}  # keeps its place before those of its keys
            shapes[kind.__name__] = _record(kind, shapes)
        return {"$ref": f"#/$defs/{kind.__name__}"}
    return {} if kind is Any else {"type": _PLAIN[kind]}


def _record(kind: type, shapes: Json) -> Json:
    hints = get_type_hints(kind, include_extras=True)
    optional = {key for key, hint in hints.items() if get_origin(hint) is NotRequired}
    keys = {key: get_args(hint)[0] if key in optional else hint for key, hint in hints.items()}
    return {
        "type": "object",
        "description": (kind.__doc__ or "").split("\n")[0].partition(". ")[0],
        "properties": {key: _shape(hint, shapes) for key, hint in keys.items()},
        "required": [key for key in keys if key not in optional],
    }
