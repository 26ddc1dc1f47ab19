"""Writes docs/cli.md and docs/json.md from the commands themselves: `python docs/generate_cli.py`. A test keeps them equal."""

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
from smartsearch.output import contract
from smartsearch.transcripts import FORMATS

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
terminal. Marks that turn the direction of text are left out, and spelt out in file names. JSON escapes them all. Colour, links: [filters.md](filters.md).
Context turns (`-A`, `-B`, `-C`) have `-` for `:`, and `--` stands between groups, as in grep.

`--explain` says what every stage did. In a pipe, and with `--format md` and `context`, it adds lines that begin with `# `. On a terminal it
is the same facts without the `# `: terms, hops, scores, what each rule of the cut dropped, the time by stage, the models.

`--format html` prints one page, for `> answer.html` and a browser: the hits among the turns around them (one on each side unless `-A`, `-B` or
`-C` say otherwise), their terms marked by hop, their scores with a meter each;
and what `--explain` tells. It runs no script and loads nothing: its policy (CSP) forbids both.
Of a turn of more than 7,500 characters it shows the beginning and the surroundings of its terms. It holds what the transcripts say and
where they lie on your disk: think before you send it to somebody.

A closed pipe (`| head`) ends quietly with 0.

## JSON

What `--json` prints, errors and their kinds, exit codes: [json.md](json.md).

@FORMATS@
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


CONTRACT = """# What scripts can lean on

<!-- Written by docs/generate_cli.py from smartsearch/output/contract.py; a test compares it. -->

These are promises. Within a schema version keys are only added, so pass by keys, kinds and values that you do not know. `smartsearch schema REPLY`
prints the JSON Schema of a reply: @NAMES@
(what an agent's tools give). The tests hold every reply to it. `bench` prints a [record](benchmarks.md) with a version of its own. Two runs over the same files with the same models and threads give the same bytes but for `timing_ms`.

- **A line** in a pipe is `path:line:[date] speaker: text`, or `path#pointer:...` where the format has no lines (RFC 6901). Turns of context have `-` for `:`.
- **JSON** is one record, on one line in a pipe, indented on a terminal. `batch` prints a line a question, in their order.
- **An error**, where JSON was asked for, is one record on standard output; else it is words on standard error.
- **An answer can be weak**: `weak` is true and the exit code 0, with `--strict` 1.

## Exit codes

| code | meaning |
|---|---|
| 0 | found; for `show`: some of the places; for `formats detect`: some turn; for `batch`: every question was answered; for `train`: there is a profile of that name |
| 1 | nothing found; with `--strict` also a weak answer; for `show`: no turn at any place; for `formats detect`: no turn; for `serve --status` and `--stop`: none runs; for `index --remove`: there was none; for `train`: the shipped rankers are the better ones, and there is no profile |
| 2 | an error; for `formats detect`: nothing could be read; for `batch`: at least one line failed, its record says why; for `doctor`: something does not work |
| 130 | interrupted with Ctrl-C |

## Errors

`smartsearch doctor --json` says in `state` how this machine stands, and in `next` what to run.

| kind | what it means, and what to do |
|---|---|
@ERRORS@

@REPLIES@
"""


def contract_page() -> str:
    """The text of docs/json.md: a record that is told already is only named again."""
    told: set[str] = set()
    parts = []
    for name in contract.REPLIES:
        parts.append(f"## {name}\n")
        for title, said, rows in records(contract.schema(name)):
            if (title or name) not in told:
                told.add(title or name)
                parts += [f"### {title}\n"] if title else []
                parts.append(f"{said}\n\n| key | type | what |\n|---|---|---|")
                parts += [f"| `{key}` | {kind} | {what} |" for key, kind, what in rows]
                parts.append("")
    errors = "\n".join(f"| `{kind}` | {what} |" for kind, what in contract.ERRORS.items())
    names = ", ".join(f"`{name}`" for name in contract.NAMES)
    return (
        CONTRACT.replace("@NAMES@", names).replace("@ERRORS@", errors).replace("@REPLIES@", "\n".join(parts))
    )


def records(whole: contract.Json) -> Iterator[tuple[str, str, list[tuple[str, str, str]]]]:
    """Of a schema each record: its name, what it is, and its keys with their types and meanings."""
    own = {} if "anyOf" in whole else {"": whole}
    for title, one in {**own, **whole.get("$defs", {})}.items():
        rows = []
        for key, shape in one["properties"].items():
            often = "" if key in one["required"] else ", may be absent"
            rows.append((key, f"{type_of(shape)}{often}", shape.get("description", "").replace("|", "\\|")))
        yield title, one["description"], rows


def type_of(shape: contract.Json) -> str:
    """A type as a reader sees it; a record links to its table."""
    if "$ref" in shape:
        name = shape["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in shape:
        kinds = [part for part in shape["anyOf"] if "const" not in part]
        return " or ".join(map(type_of, kinds))
    if "enum" in shape:
        return " or ".join(f"`{one}`" for one in shape["enum"])
    if shape.get("type") == "array":
        return f"list of {type_of(shape['items'])}"
    kind = shape.get("type", "any")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def reference() -> str:
    """The text of docs/cli.md."""
    tail = (
        TAIL.replace("@FORMATS@\n", "\n".join(formats()))
        .replace("@HUB@\n", f"{HUB}\n")
        .replace("@RARE@\n", "\n".join(rare()))
    )
    return "\n".join([HEAD, *commands(application([], whole=True), "smartsearch"), tail])


def formats() -> Iterator[str]:
    """What is read, and how to get it, as a table."""
    yield "## Formats\n\nWhat is kept of each: [chat-exports.md](chat-exports.md).\n\n| format | what | how to get it |\n|---|---|---|"
    for one in FORMATS:
        yield " | ".join(
            ("", f"`{one.name}`", *(cell.replace("|", "\\|") for cell in (one.description, one.how)), "")
        ).strip()
    yield "\n"


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
    TARGET.with_name("json.md").write_text(contract_page(), encoding="utf-8")
