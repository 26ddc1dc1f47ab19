"""Writes docs/cli.md from the commands themselves: `python docs/generate_cli.py`. A test keeps them equal."""

# ruff: noqa: E501 - tables

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import typer

from smartsearch.cli.app import application
from smartsearch.cli.options import PANELS
from smartsearch.config import FIELDS

TARGET = Path(__file__).parent / "cli.md"

HEAD = """# The command line

<!-- Written by docs/generate_cli.py from the commands; `make fix` does not touch it, a test compares it. -->

`smartsearch COMMAND --help` says the same in a terminal, of a command with many options only the most used; `--help-all` all. `smartsearch --version` prints the version;
`smartsearch --install-completion` teaches your shell to complete commands and options.
"""

TAIL = """## Streams and exit codes

Standard output carries data only. Warnings and progress go to standard error, progress only to a terminal. Both are UTF-8 whatever the locale. On a
terminal `query` prints the best five places for reading. In a pipe it prints one line a turn, ten unless `-n` says otherwise: `path:line:[date] speaker: text`, or `path#pointer:...` where the
format has no lines (an RFC 6901 pointer). Newlines inside a turn are written `\\n` and control characters `\\x1b`, so that no transcript can drive a
terminal. Marks that turn the direction of text are left out, and spelt out in file names. JSON escapes them all. Colour, pager, links and `show`: [terminal.md](terminal.md).
Context turns (`-A`, `-B`, `-C`) have `-` for `:`, and `--` stands between groups, as in grep.

`--explain` says what every stage did. In a pipe, and with `--format md` and `context`, it adds lines that begin with `# `. On a terminal it
is the same facts as tables: terms, hops, scores, what each rule of the cut dropped, the time by stage, the models.

`--format html` prints one page, for `> answer.html` and a browser: the hits among the turns around them (one on each side unless `-A`, `-B` or
`-C` say otherwise), their terms marked by hop, their scores with a meter each;
and what `--explain` tells, with `--system qrmem` the steps of its graph. It runs no script and loads nothing: its policy (CSP) forbids both.
Of a turn of more than 7,500 characters it shows the beginning and the surroundings of its terms. It holds what the transcripts say and
where they lie on your disk: think before you send it to somebody.

| code | meaning |
|---|---|
| 0 | found; for `show`: some of the places; for `formats detect`: some turn; for `batch`: every question was answered; for `train`: there is a profile of that name |
| 1 | nothing found; with `--strict` also a weak answer; for `show`: no turn at any place; for `formats detect`: no turn; for `serve --status` and `--stop`: none runs; for `train`: the shipped rankers are the better ones, and there is no profile |
| 2 | an error; for `formats detect`: nothing could be read; for `batch`: at least one line failed, its record says why |
| 130 | interrupted with Ctrl-C |

A closed pipe (`| head`) ends quietly with 0.

## JSON

`query --json` prints one record, on one line in a pipe and indented on a terminal. Within a schema version keys are only ever
added. Two runs over the same files with the same models and threads give the same bytes but for `timing_ms`.

```
{"schema_version": 1, "tool_version": "", "query": "", "system": "", "profile": "",
 "degraded": [],          what was left out, and how to have it
 "fallback": "",          what the parser used where it found no noun, name or verb
 "candidates": 0,         turns that retrieval found, before ranking and the cut
 "estimates": [""],       only over large collections where not all of those turns were read: which of `candidates`, `budget` (its
                          `dropped`) and `hops` count unread ones, of which a few may hold no term; bounds from above
 "confidence": 0,         the chance that one of the first three hits answers, 0 to 1; null: nothing tells, as with `--fast` or one ranker
 "weak": false,           the confidence is too low to count on, or a code, number, quoted phrase or name stands nowhere
 "absent": [""],          words of the question that no turn has
 "budget": {"truncate": "", "words": 0, "used_words": 0, "tokens": 0, "used_tokens": 0, "tokenizer": "",
            "alpha": 0, "tau": 0, "top_k": 0, "fill": "", "limit": 0, "cut_text": false,
            "dropped": {"top_k": 0, "tau": 0, "budget": 0}},
 "timing_ms": {"load": 0, "read": 0, "ingest": 0, "parse": 0, "retrieve": 0, "colbert": 0, "crossencoder": 0, "rank": 0,
               "truncate": 0, "total": 0},
 "models": [{"role": "", "id": "", "revision": "", "precision": ""}],
 "cost": {"model_calls": 0, "tokens_in": 0, "tokens_out": 0},      of a language model, where the system asks one (`--llm`); then
                          `ingest_cost` has the same of what was taken in before the question
 "threads": 0,
 "terms": [{"text": "", "kind": "", "weight": 0, "hop": 0}],      FUZZY and DATE terms also have their "source"
 "hops": [{"hop": 0, "kind": "", "terms": [""], "found": 0, "total": 0}],
 "hidden": 0,             hits that `-n` leaves out: 20 are shown unless it says otherwise
 "hits": [{"rank": 1, "path": "", "line": 0, "pointer": "", "conversation": "", "session": "", "turn": "",
           "speaker": "", "time": "", "text": "",
           "scores": {"match": 0, "ce": 0, "colbert": 0, "rrf": 0, "fused": 0, "list": 0},    null: that ranker did not see the turn; list: part of fused
           "why": {"terms": [], "hop": 0}}],
 "skipped": [{"path": "", "kind": "", "reason": ""}],
 "warnings": []}
```

- Where filters were given, `filters` follows `query`: those of `conversation`, `session`, `since`, `until`, `speaker`, `only_speaker` and
  `role` that were, each a list; `since` and `until` are the first and last second, with the offset of your clock.
- `kind` of a step is `grep`, `fuzzy`, `semantic`, `date`, `speaker`, `entity` or `prf`; `kind` of a term is a part of speech, `ENT`, `TOKEN`,
  `PHRASE`, `CODE`, `NUMBER` or `COMPOUND` (typed to be found as it stands), `HOP`, `PRF`, `FUZZY`, `DATE` (a date of the question, in a turn's time) or `SPEAKER` (`--speaker`).
- `words`, `tokens`, `limit` are ceilings, 0 where there is none; `tau` is `alpha` times the best cross-encoder score.
- `load` is the time spent waiting for the models after the transcripts were read; both happen at once.
- `text` is the whole turn. Of one longer than 120 words `excerpt` is the part that other formats show and the budget counts, `[...]` for what is
  left out (`--whole` shows and counts all); a turn that no budget has room for is cut, `text` too, and `cut_text` says so.
- One of the first three hits that asks has a `reply`, the turn that answers it, where that is no hit itself: with `line`, `pointer`, `turn`,
  `speaker`, `time`, `text` and, where it is long, `excerpt`.
- A hit with an image has a `caption`. With `-A`, `-B` or `-C` a hit has
  `"context": {"before": [...], "after": [...]}`, turns of the same session with `line`, `pointer`, `turn`, `speaker`,
  `time` and `text`. With `--explain` the record has `dropped_hits`: `rank`, `reason`, place and `scores` of each turn that was cut; and the
  first ten hits have `met`: `asked`, a word of the question, `said`, another of the turn that stands for it, and their `cosine`.
- `--format jsonl` prints each hit on a line of its own and nothing else.
- `batch` prints the same record with `"id"` and `"asked"` in front, or `{"id": ..., "asked": {...}, "line": 3, "error": {...}}`. `asked` has a hash of the line's
  question, paths and filters, and the `settings` that are not as by default: by it `--resume` knows whose answer it is.
- `cache status --json` prints `{"schema_version": 1, "cache": [{"path": "", "models": 0, "turns": 0, "bytes": 0,
  "limit": 0}]}`; `cache clear --json` the same for what was removed, without `limit`.
- `index --json` prints `{"schema_version": 1, "index": [{"path": "", "new": 0, "changed": 0, "removed": 0, "unchanged": 0, "files": 0,
  "turns": 0, "bytes": 0, "seconds": 0}]}`; `index --status --json` and `--remove` `path`, `files`, `turns`, `bytes` and `state`: `ready`,
  `damaged` or `of another version`. `--remove` exits with 1 where there was none.
- `models list --json` and `formats --json` print `{"schema_version": 1, "models": [...]}` and `{..., "formats": [...]}`.
- `show --json` prints `{"schema_version": 1, "tool_version": "", "places": [{"place": "", "excerpts": [{"turns": [...]}]}], "conversations": [],
  "missing": [{"place": "", "reason": "", "nearest": {}}], "skipped": [], "warnings": []}`; a turn has the keys of a hit from `path` to `text`, and
  `asked`, whether it was meant or is near; `nearest` is the place of a turn or null. For a path alone `conversations` has `{"path": "",
  "conversation": "", "turns": 0, "speakers": [""], "first": "", "last": "", "sessions": [{"session": "", "line": 0, "pointer": "", "turns": 0,
  "speakers": [""], "first": "", "last": ""}]}`; speakers stand in the order of how much they say, `line` and `pointer` are those of the first turn.
- `formats detect --json` prints `{"schema_version": 1, "files": [{"path": "", "format": "", "goes_with_others": false, "conversations": 0, "turns": 0,
  "speakers": [""], "first": "", "last": "", "head": "", "skipped": [{"path": "", "kind": "", "reason": ""}], "warnings": [""]}], "total": {"files": 0, "failed": 0,
  "conversations": 0, "turns": 0}}`.
- `serve --status --json` prints `{"schema_version": 1, "servers": [{"pid": 0, "state": "", "profile": "", "version": "", "since": "",
  "served": 0, "rss_bytes": 0}]}`; `state` is `ready`, `loading`, `busy` or, where it does not answer, `silent`.
- `train --json` prints `profile.json` with `folder`, `written`, `usable` (there is a profile of that name), `reason` and `warnings` in
  front. `train --dry-run --json` prints counts and some of the questions, half of them to train on (`train`) and half held out
  (`measure`), each with the turn it was made of: `{"schema_version": 1, "tool_version": "", "counts": {"turns": 0, "trained": 0,
  "held_out": 0}, "questions": [{"use": "", "question": "", "turn": ""}], "warnings": []}`.

Where JSON was asked for, an error is one record on standard output; else it is words on standard error.

```
{"error": {"kind": "", "message": "", "hint": "", "retryable": false}}
```

| kind | what it means |
|---|---|
| `usage` | an option, or a combination of options, that makes no sense |
| `config` | a setting in a file, the environment or an option that cannot be used |
| `path_not_found` | a file or folder that is not there |
| `nothing_read` | files were found and none of them could be read |
| `unknown_format` | `--input-format` names none |
| `unknown_conversation`, `unknown_session`, `unknown_speaker` | no turn has that id, title or name |
| `input` | a line or file of questions that cannot be read |
| `too_little` | too few questions can be made of the transcripts to train on them |
| `output` | a file, folder or standard output that cannot be written |
| `package` | a package of an extra is missing |
| `profile_unknown`, `model` | no such profile, or it lacks that model |
| `model_missing`, `model_damaged`, `model_unfit` | a model that is not here, not whole, or of another kind |
| `model_unsafe` | a model's folder names or holds what could run as code |
| `memory` | the process may not have as much memory as is needed (`ulimit -v`) |
| `model_fetch` | the model hub cannot be reached (retryable) |
| `model_unknown` | the model hub has no such model or revision, or not for everybody |
| `timeout` | `--timeout` ran out (retryable) |
| `worker_died` | in a run folder: reading or answering ended its worker process three times (retryable) |
| `other_run`, `run_damaged`, `busy` | a run folder that is another run's, that lacks or garbles a file, that another process is at |
| `disk_full`, `unreachable` | storage that is full or does not answer (retryable) |
| `denied`, `credentials`, `no_bucket`, `torn` | storage that says no, has no such bucket, or gave half a file |
| `not_sent` | nothing was sent to a language model, because nobody agreed |
| `llm_missing`, `llm_refused`, `llm_not_found`, `llm_request` | no language model is set up; its server refuses the key, has no such model, or cannot serve the request |
| `llm_json`, `llm_offline` | its model never gave the JSON asked for; no such reply is kept, and `SMARTSEARCH_LLM_OFFLINE` is set |
| `llm_busy`, `llm_reply`, `llm_broken`, `llm_stopped` | its server has too many requests, or its reply is empty, broken off or stopped (retryable) |
| `cache` | the cache folder, or an index in it, belongs to another user, cannot be written or emptied, or there is no place for one |
| `index` | an index turned out to be damaged in the middle of an answer; the next one does without |
| `unsafe_folder` | the folder for the socket of `serve` is not the user's alone |
| `internal` | a bug; `SMARTSEARCH_DEBUG=1` shows the traceback |

@HUB@
## Settings

These options of `query` can also be set: those of the panels Budget, Retrieval, Ranking and Run, `--llm`, but `--as` and `--progress`, and `--speaker` and
`--now`. They stand, with `_` for `-`, as `SMARTSEARCH_NAME` in the environment, in `.smartsearch.toml` of the current folder, or in
`~/.config/smartsearch/config.toml`, or as `--set NAME=VALUE`. The command line comes first, then `--as`, the environment, the folder's file, the user's file.

@RARE@
A folder's file may come with somebody else's repository. So it may not name a model or a profile, nor set the cache, `daemon`, `offline`,
`trusted_hosts`, `llm` or `redact`. Each answer names it and what it changes in `warnings`, on standard error too. What it may not set, or what is wrong
in it, is left out and named with its line; in your own file, the environment and the options that is an error.

## Cache

ColBERT's vectors of the turns that `query` and `batch` read are kept in `$XDG_CACHE_HOME/smartsearch`, else in `~/.cache/smartsearch`, for this
user only. Answers are the same without them. They hold no text, but whoever can read them can learn something of it. `SMARTSEARCH_CACHE_SIZE` (or
`cache_size` in your own configuration file) is their limit in MiB: 1024, 0 for none; the least used go first. [How and why](decisions/0009-vector-cache.md).

An index (`smartsearch index`) lies beside them and does hold the text: [serve.md](serve.md#the-index).
"""


def reference() -> str:
    """The text of docs/cli.md."""
    tail = TAIL.replace("@HUB@\n", f"{HUB}\n").replace("@RARE@\n", "\n".join(rare()))
    return "\n".join([HEAD, *commands(application([], whole=True), "smartsearch"), tail])


def rare() -> Iterator[str]:
    """The settings that are no options, as a table."""
    yield "What only few turn is no option. The paper's ablations are `--set` too: [paper.md](paper.md).\n"
    yield "| `--set` | default | what |\n|---|---|---|"
    for name, field in FIELDS.items():
        about = field.metadata
        if about["rare"]:
            value = "\\|".join(about["choices"]) or about["metavar"].replace("|", "\\|") or "N"
            value = "on\\|off" if isinstance(field.default, bool) else value
            plain = ",".join(field.default) if isinstance(field.default, tuple) else str(field.default)
            default = about["shown"] or {"True": "on", "False": "off"}.get(plain, plain)
            yield f"| `{name}={value}` | {default} | {about['help']} |"
    yield "\n"


HUB = """## Models of the hub

`--crossencoder` and `--colbert` take any model of these kinds by its id, once `smartsearch models pull ID` has fetched it, and of a revision
`ID@REVISION`. Torch runs it as the library that saved it does: tests hold each kind of this table to the scores of sentence-transformers and PyLate,
to 1e-5. Prefixes and lengths (in tokens) are read from the model's folder. What could rank only by chance is refused by name: language
models, encoders without a head or projection, weights or prefix tokens that the folder lacks.

| id | kind | reads | to know |
|---|---|---|---|
| `cross-encoder/ms-marco-MiniLM-*-v2`: L6 (23 M parameters), L12 (33 M) | cross-encoder, BERT, WordPiece | 512 | made for raw scores; smartsearch takes their sigmoid, which keeps the order |
| `cross-encoder/ettin-reranker-*-v1`: 17m, 32m, 68m, 150m | cross-encoder, ModernBERT, BPE | 7,999 | the head in modules of its own, settings of transformers 5: older libraries misread both |
| `mixedbread-ai/mxbai-rerank-*-v1`: xsmall (71 M), base (184 M), large (435 M) | cross-encoder, DeBERTa, Unigram | 512 | large is the paper's; -v2 are language models and refused |
| `answerdotai/answerai-colbert-*-v1`: small (33 M) | ColBERT, BERT, WordPiece | question 32 behind `[unused0]`, turn 300 behind `[unused1]` | the paper's; the projection lies among the encoder's weights |
| `mixedbread-ai/mxbai-edge-colbert-v0-*`: 17m, 32m | ColBERT, ModernBERT, BPE | question 48 behind `[Q] `, turn 512 behind `[D] ` | lower-cases; several projections; what PyLate 1.2 leaves out of such settings is obeyed |
"""


def commands(group: typer.Typer, path: str) -> Iterator[str]:
    for info in group.registered_commands:
        name = info.name or info.callback.__name__
        yield from command(f"{path} {name}", info.callback, info.epilog or "")
    for sub in group.registered_groups:
        alone = sub.typer_instance.registered_callback
        if alone and any(p.annotation is not typer.Context for p in parameters(alone.callback)):
            yield from command(f"{path} {sub.name}", alone.callback, "")
        yield from commands(sub.typer_instance, f"{path} {sub.name}")


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    return list(inspect.signature(function, eval_str=True).parameters.values())


def command(path: str, function: Callable[..., Any], epilog: str) -> Iterator[str]:
    declared = [(p, *get_args(p.annotation)) for p in parameters(function) if get_args(p.annotation)]
    arguments = [d for d in declared if type(d[2]).__name__ == "ArgumentInfo"]
    options = [d for d in declared if d not in arguments]
    usage = " ".join([path, *(["[OPTIONS]"] if options else []), *map(placeholder, arguments)])
    yield f"## {path}\n\n```\n{usage}\n```\n\n{plain(inspect.cleandoc(function.__doc__ or ''))}\n"
    if epilog:
        examples = [line for line in epilog.splitlines() if line.startswith(("smartsearch", "cat"))]
        yield "```\n" + "\n".join(examples) + "\n```\n"
    if arguments:
        yield "| argument | default | meaning |\n|---|---|---|"
        yield from (f"| `{placeholder(d)}` | {default(d)} | {plain(d[2].help)} |" for d in arguments)
        yield ""
    for panel in (None, *PANELS):
        members = [d for d in options if d[2].rich_help_panel == panel]
        if members:
            yield f"**{panel or 'Options'}**\n\n| option | default | meaning |\n|---|---|---|"
            yield from (f"| {flags(d)} | {default(d)} | {plain(d[2].help)} |" for d in members)
            yield ""


def plain(help: str) -> str:
    """Help as a reader sees it: a bracket is written with a backslash for Rich."""
    return help.replace("\\[", "[")


Declared = tuple[inspect.Parameter, Any, Any]


def placeholder(declared: Declared) -> str:
    parameter, kind, info = declared
    name = (info.metavar or parameter.name).upper()
    if parameter.default is inspect.Parameter.empty:
        return name
    return f"[{name}...]" if "list" in str(kind) else f"[{name}]"


def flags(declared: Declared) -> str:
    parameter, kind, info = declared
    given = [decl for decl in (info.default, *(info.param_decls or ())) if isinstance(decl, str)]
    first, *rest = given or [f"--{parameter.name.replace('_', '-')}"]
    names = ", ".join(f"`{flag}`" for flag in (*first.split("/"), *rest))
    takes = value(kind, info.metavar)
    return f"{names} {takes}".rstrip()


def value(kind: Any, metavar: str | None) -> str:
    """What an option takes: its choices, else its placeholder; nothing for a switch."""
    if get_origin(kind) is Literal:
        return " \\| ".join(get_args(kind))
    parts = [part for part in get_args(kind) if part is not type(None)]
    if get_origin(kind) in (Union, type(int | None)):
        return value(parts[0], metavar)
    if kind is bool:
        return ""
    return (metavar or {"Path": "FILE"}.get(kind.__name__, "NAME")).replace("|", "\\|")


def default(declared: Declared) -> str:
    parameter, _, info = declared
    if isinstance(info.show_default, str):
        return info.show_default
    if parameter.default is inspect.Parameter.empty:
        return "required"
    return "" if parameter.default in (None, False) else str(parameter.default)


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
