"""The command-line options as records: each declared once, shared by commands, grouped in help by panel."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, ClassVar, Literal, get_args, get_type_hints

import typer

from smartsearch.ask.scope import Written, input_format
from smartsearch.cli.groups import chats_argument
from smartsearch.config import FIELDS, MODELS, PRESETS, RANKERS, Config, assigned, build, coerced, settings
from smartsearch.errors import UsageError
from smartsearch.output.show import FORMATS, View
from smartsearch.runtime.extras import needs
from smartsearch.settings import COUNT_OR_ALL
from smartsearch.systems import SYSTEMS
from smartsearch.transcripts.filters import Filters

PANELS = DATA, GRID, LLM, BUDGET, RETRIEVAL, RANKING, FILTERS, OUTPUT, FOLDER, RUN = (
    "Data",
    "Grid",
    "Language model",
    "Budget",
    "Retrieval",
    "Ranking",
    "Filters",
    "Output",
    "Run folder",
    "Run",
)
COUNTS = tuple(name for name, field in FIELDS.items() if field.metadata["metavar"] == COUNT_OR_ALL)
"""The settings that take a number or `all`."""
COLORS = ("auto", "always", "never")
PROGRESS = ("auto", "none")
ENGINES = ("local", "ray")
OUT_FORMATS = ("jsonl", "parquet")
Question = Annotated[
    str, typer.Argument(metavar="QUESTION", help="What you want to know.", show_default=False)
]
Paths = Annotated[
    list[str] | None, chats_argument("Files, folders, @NAMES (`formats places`); - is standard input.")
]


def option(
    panel: str, help: str, *flags: str, default: Any = None, choices: tuple[str, ...] = (), **extra: Any
) -> Any:
    """A dataclass field that is one command-line option; `choices` limits what it takes."""
    declared = typer.Option(*flags, help=without_markup(help), rich_help_panel=panel, **extra)
    return dataclasses.field(default=default, metadata={"option": declared, "choices": choices})


def without_markup(help: str) -> str:
    """Help in which Rich finds no style: `smartsearch-cli[hub]` is to be read as it stands."""
    return help.replace("[", "\\[")


def repeatable(help: str) -> str:
    """The help of an option that may be given more than once."""
    first, dot, rest = help.partition(".")
    return f"{first} (repeatable){dot}{rest}"


def setting(name: str) -> Any:
    """The option of a Config field, as described there; None if not given: files and environment count."""
    about = FIELDS[name].metadata
    default: Any = FIELDS[name].default
    dashed = name.replace("_", "-")
    if isinstance(default, bool):
        shown = "on" if default else "off"
        return option(about["panel"], about["help"], f"--{dashed}/--no-{dashed}", show_default=shown)
    extra: dict[str, Any] = {
        "choices": about["choices"] if isinstance(default, str) else (),
        "metavar": about["metavar"] or None,
    }
    if isinstance(default, int | float) and about["lowest"] >= 0 and name not in COUNTS:
        extra["min"] = about["lowest"]
        extra["metavar"] = about["metavar"] or "N"
    if name in _COMPLETED:
        extra["autocompletion"] = _COMPLETED[name]
    said = (default,) if isinstance(default, str) else default
    shown = f"{default:g}" if isinstance(default, int | float) else ",".join(said)
    extra["show_default"] = False if about["shown"] == "-" else about["shown"] or shown
    help = repeatable(about["help"]) if name == "speaker" else about["help"]
    return option(about["panel"], help, *(about["flags"] or (f"--{dashed}",)), **extra)


def _profiles() -> list[str]:
    """For a shell's completion."""
    from smartsearch.models import profiles

    return profiles.names()


def _formats() -> list[str]:
    """For a shell's completion."""
    from smartsearch.transcripts import FORMATS

    return [known.name for known in FORMATS]


def context(help: str, *flags: str) -> Any:
    """An option for turns of context; None if not given, so that a format can have its own."""
    return option(OUTPUT, help, *flags, min=0, metavar="N", show_default="0; html and a terminal 1")


def color_option() -> Any:
    """`--color`: the same in every command that draws."""
    return option(OUTPUT, "Colour; NO_COLOR and CLICOLOR_FORCE count too.", default="auto", choices=COLORS)


def hyperlinks_option() -> Any:
    """`--hyperlinks`: the same in every command that prints places."""
    return option(OUTPUT, "Make places links to the files.", default="auto", choices=COLORS)


def input_format_option() -> Any:
    """`--input-format`: the same in every command that reads transcripts."""
    said = "Read every file as this, see `smartsearch formats`."
    return option(FILTERS, said, "--input-format", default="auto", metavar="NAME", autocompletion=_formats)


def fields_option() -> Any:
    """`--fields`: where `--input-format` is."""
    said = (
        "The keys, JSON pointers or columns of speaker, text and time, if they are not the usual ones: "
        "speaker=sender,text=/msg/body,time=ts; also conversation, session, turn, role."
    )
    return option(FILTERS, said, "--fields", metavar="NAME=KEY,...")


def head_option() -> Any:
    """`--head`: where `--input-format` is."""
    said = (
        "How turns begin in a text chat, where that is not found: 'TIME NAME: TEXT', '<NAME>"
        " TEXT'; with the text "
        "in the lines below 'NAME, [TIME] / TEXT'."
    )
    return option(FILTERS, said, "--head", metavar="HEAD")


_COMPLETED = {
    "profile": _profiles,
    "rank": lambda: [",".join(RANKERS), *RANKERS, "none"],
    "system": lambda: list(SYSTEMS),
}
_NUMBERS: dict[str, Any] = {"int": int, "float": float, "bool": bool}


class Settings:
    """Settings as typed, by name; `names` are those that a command takes."""

    names: ClassVar[tuple[str, ...]] = ()

    def __init__(self, **said: Any) -> None:
        self.said = said

    @classmethod
    def parameters(cls) -> Iterator[inspect.Parameter]:
        """One option a setting."""
        for name in cls.names:
            kind = _NUMBERS.get(str(FIELDS[name].type), str)
            if name == "speaker" or name in COUNTS:
                kind = list[str] if name == "speaker" else str
            yield _parameter(name, kind | None, setting(name))

    def sets(self, name: str) -> bool:
        """Whether the command line says what a setting is, or environment or file where `--as` does not."""
        if self.said.get(name) is not None or name in assigned(self.said.get("set") or ()):
            return True
        pinned = name in PRESETS.get(self.said.get("like") or "", {})
        return not pinned and any(one.name == name and one.origin != "default" for one in settings())

    def config(self) -> Config:
        """The Config: these settings override environment and files. Raises ConfigError or UsageError."""
        given = dict(self.said)
        rare = assigned(given.pop("set", None) or ())
        like = given.pop("like", None) or ""
        if given.get("rank") is not None:  # an empty one, and none beside another, are mistakes here
            given["rank"] = () if given["rank"] == "none" else tuple(given["rank"].split(","))
        if given.get("compress") is not None:
            given["compress"] = coerced("compress", given["compress"])
        for name in COUNTS:
            if given.get(name) is not None:
                given[name] = _count_or_all(name, given[name])
        if given.get("speaker") is not None:
            given["speaker"] = tuple(given["speaker"])
        if given.get("now") is not None:
            from smartsearch.text.dates import day_of

            given["now"] = day_of(given["now"])
        return build(given | rare, preset=like)


def _like(said: str) -> inspect.Parameter:
    """`--as`, in every command that searches."""
    return _parameter("like", str | None, option(RANKING, said, "--as", choices=tuple(PRESETS)))


class ModelOptions(Settings):
    """Which models run and how."""

    names = (*MODELS, "threads", "offline", "llm", "memory_llm")

    @classmethod
    def parameters(cls) -> Iterator[inspect.Parameter]:
        """One option a setting, and `--as`."""
        yield from super().parameters()
        yield _like(
            "The paper's models unless others are named, and its row as the reference (docs/paper.md)."
        )

    @property
    def like(self) -> str:
        """What `--as` says."""
        return self.said.get("like") or ""

    def config(self) -> Config:
        """The Config with the models of `--as`, its method left to the rows. Raises ConfigError."""
        models = {name: value for name, value in PRESETS.get(self.like, {}).items() if name in MODELS}
        said = {name: value for name, value in self.said.items() if name != "like" and value is not None}
        return build({**models, **said})


class QueryOptions(Settings):
    """The options that make the Config of one question."""

    names = tuple(
        name for name, field in FIELDS.items() if field.metadata["panel"] and not field.metadata["rare"]
    )

    @classmethod
    def parameters(cls) -> Iterator[inspect.Parameter]:
        """One option a setting, and `--as` for the paper's bundles of them."""
        yield from super().parameters()
        yield _like(
            "As the SmartSearch paper does it, method and models (docs/paper.md); other options go over it."
        )
        every = "Any setting, as NAME=VALUE (repeatable): hops=2, pool=0; `smartsearch config` lists them."
        yield _parameter("set", list[str] | None, option(RETRIEVAL, every, "--set", metavar="NAME=VALUE"))


class SearchOptions(QueryOptions):
    """The options that make the Config of many questions."""

    names = tuple(name for name in QueryOptions.names if name != "daemon")


class FilterOptions:
    """Which of the transcripts are searched, as typed."""

    def __init__(self, **said: Any) -> None:
        globs, excludes = (tuple(said.pop(name, None) or ()) for name in ("glob", "exclude"))
        read_as = input_format(
            said.pop("input_format", "auto"), said.pop("fields", None), said.pop("head", None)
        )
        self.written = Written(said, globs, excludes, read_as)

    @classmethod
    def parameters(cls) -> Iterator[inspect.Parameter]:
        """One option a filter, and those that choose files."""
        for field in dataclasses.fields(Filters):
            flag, help = f"--{field.name.replace('_', '-')}", field.metadata["help"]
            if field.default is False:
                yield _parameter(field.name, bool, option(FILTERS, help, flag, default=False))
                continue
            kind: Any = list[str] if isinstance(field.default, tuple) else str
            said = help if kind is str else repeatable(help)
            declared = option(FILTERS, said, flag, metavar=field.metadata["metavar"])
            yield _parameter(field.name, kind | None, declared)
        globs = ("glob", "Of folders only files whose path matches (repeatable).", "--glob", "-g")
        excludes = ("exclude", "Leave out files whose path matches (repeatable).", "--exclude")
        for name, said, *flags in (globs, excludes):
            yield _parameter(name, list[str] | None, option(FILTERS, said, *flags, metavar="GLOB"))
        yield _parameter("input_format", str, input_format_option())
        yield _parameter("fields", str | None, fields_option())
        yield _parameter("head", str | None, head_option())


@dataclass(frozen=True)
class FixedOptions:
    """Whether QUESTION is words to be found as they stand."""

    fixed_strings: bool = option(
        RETRIEVAL,
        "Find QUESTION as it stands; turns in the order of the files, without any model. A capital counts.",
        "--fixed-strings",
        "-F",
        default=False,
    )
    pattern: list[str] | None = option(  # noqa: RUF009
        RETRIEVAL, "As -F, in place of QUESTION (repeatable: any of them).", "-e", metavar="WORDS"
    )

    def __bool__(self) -> bool:
        """Whether one of them was typed."""
        return self.fixed_strings or bool(self.pattern)

    def config(self, config: Config) -> Config:
        """The config with the system that finds words as they stand, if they are to be."""
        return replace(config, system="fixed") if self else config

    def asked(self, question: str, paths: list[str]) -> tuple[str, list[str]]:
        """The question and the paths: with `-e` no question was typed before the paths."""
        if not self.pattern:
            return question, paths
        return "\n".join(self.pattern), [question, *paths] if question else paths


@dataclass(frozen=True)
class OutputOptions:
    """How one answer is shown."""

    format: str | None = option(
        OUTPUT, "What is printed; html is a page for a browser.", choices=tuple(FORMATS), show_default="text"
    )
    json: bool = option(OUTPUT, "The same as --format json.", "--json", default=False)
    files_with_matches: bool = option(
        OUTPUT, "Only paths of files with a hit, best first.", "--files-with-matches", "-l", default=False
    )
    after: int | None = context("Turns of context after each hit.", "--after-context", "-A")
    before: int | None = context("Turns of context before each hit.", "--before-context", "-B")
    around: int | None = context("Turns of context on both sides.", "--context", "-C")
    explain: bool = option(
        OUTPUT,
        "Also show terms, hops, scores, the cut, timing and models.",
        "--explain",
        default=False,
    )
    strict: bool = option(OUTPUT, "Exit with 1 where the answer is weak, too.", "--strict", default=False)
    color: str = color_option()
    hyperlinks: str = hyperlinks_option()

    def view(self, *, few: bool = False) -> View:
        """How the answer is to be shown; with `few` a terminal gets the best few.

        Raises UsageError where two options disagree.
        """
        if self.json and self.format not in (None, "json"):
            raise UsageError(f"--json and --format {self.format} disagree", hint="give one of them")
        chosen = "json" if self.json else self.format or "text"
        if self.files_with_matches and chosen != "text":
            raise UsageError(f"-l prints paths, not {chosen}", hint="leave out -l; hits carry their path")
        view = View(
            chosen,
            explain=self.explain,
            files=self.files_with_matches,
            color=self.color,
            hyperlinks=self.hyperlinks,
            asked=any(n is not None for n in (self.before, self.after, self.around)),
            few=few,
        )
        sides = [self.around if side is None else side for side in (self.before, self.after)]
        unsaid = int(chosen == "html" or view.screen)
        before, after = (unsaid if side is None else side for side in sides)
        return replace(view, before=before, after=after)


@dataclass(frozen=True)
class RunOptions:
    """How a batch fills a run folder (docs/batch.md)."""

    shard: str = option(
        FOLDER,
        "Only part i of N equal parts, for other processes or machines to do the rest.",
        default="1/1",
        metavar="i/N",
    )
    engine: str = option(
        FOLDER,
        f"Worker processes of this machine, or Ray, which {needs('ray')}.",
        default="local",
        choices=ENGINES,
    )
    workers: int = option(
        FOLDER,
        "Worker processes, each with its own models; they share the cores.",
        default=0,
        min=0,
        metavar="N",
        show_default="as cores and memory allow",
    )
    address: str = option(
        FOLDER,
        "ray: the cluster; auto for the one this machine is in, or HOST:PORT of that.",
        default="",
        metavar="ADDRESS",
        show_default="a Ray of its own on this machine",
    )
    out_format: str = option(
        FOLDER,
        f"What the answers are written as; parquet {needs('batch')}.",
        default="jsonl",
        choices=OUT_FORMATS,
    )
    retry_failed: bool = option(FOLDER, "Ask again what failed before.", "--retry-failed", default=False)
    stall: float = option(
        FOLDER,
        "A worker that is at one file or question for this long is replaced, if --timeout says nothing.",
        default=600.0,
        min=1,
        metavar="SECONDS",
    )


@dataclass(frozen=True)
class ProgressOptions:
    """Whether a terminal is told how far the work is."""

    progress: str = option(
        RUN,
        "Progress on standard error, on a terminal; of a run folder every 30 s elsewhere.",
        default="auto",
        choices=PROGRESS,
    )


@dataclass(frozen=True)
class TalkOptions(ProgressOptions):
    """What standard error is told beside errors."""

    quiet: bool = option(RUN, "Errors alone on standard error, no notes.", "--quiet", "-q", default=False)


Overwrite = Annotated[
    bool,
    typer.Option(
        "--overwrite",
        help="Replace what is there, once what is written beside it is whole.",
        rich_help_panel=OUTPUT,
    ),
]
"""`--overwrite`: the same in every command that writes where a user says."""


USED = (
    *("limit", "around", "json", "format", "files_with_matches", "explain", "strict", "fast"),
    *("fixed_strings", "quiet", "since", "until", "speaker", "only_speaker", "conversation", "glob"),
    *("out", "overwrite", "workers", "model", "show_prompt"),
)
"""The options that `--help` lists of a command that has many; `--help-all` lists them all."""


def takes_records(command: Callable[..., int], *, short: bool = False) -> Callable[..., int]:
    """`command` as Typer should see it: each parameter that is a record, spread into its options.

    With `short` its help lists only what is used most, a line each.
    """
    parameters = inspect.signature(command, eval_str=True).parameters
    hints = {name: p.annotation for name, p in parameters.items()}  # get_type_hints of 3.10 wraps them
    records = {name: spread for name in parameters if (spread := _spread(hints[name])) is not None}
    plain = [p.replace(annotation=hints[p.name]) for p in parameters.values() if p.name not in records]
    options = [p for record in records.values() for p in record]
    options.sort(key=lambda p: PANELS.index(get_args(p.annotation)[1].rich_help_panel))
    if short:
        plain = [_briefly(p) for p in plain]
        options = sorted(map(_briefly, options), key=lambda p: (*USED, p.name).index(p.name))

    def collected(**values: Any) -> int:
        for name, record in records.items():
            values[name] = hints[name](**{p.name: values.pop(p.name) for p in record})
        return command(**values)

    collected.__name__, collected.__doc__ = command.__name__, command.__doc__
    collected.__module__ = command.__module__
    collected.__annotations__ = {p.name: p.annotation for p in (*plain, *options)}
    collected.__signature__ = inspect.Signature([*plain, *options])  # type: ignore[attr-defined]
    return collected


def _briefly(parameter: inspect.Parameter) -> inspect.Parameter:
    """The same without its default and, where it is seldom used, without its help."""
    if not get_args(parameter.annotation):
        return parameter
    kind, declared = get_args(parameter.annotation)
    declared = copy.copy(declared)
    option = type(declared).__name__ == "OptionInfo"
    declared.hidden = option and parameter.name not in USED
    declared.show_default, declared.min = False, None
    if option:
        declared.help = re.split(r"[.;] | \(repeatable|\.?$", declared.help.replace("\\[", "["))[0] + "."
    return parameter.replace(annotation=Annotated[kind, declared])


def _spread(record: Any) -> list[inspect.Parameter] | None:
    """The options of a record: those it gives, else its fields; None for any other type."""
    if hasattr(record, "parameters"):
        return list(record.parameters())
    if not dataclasses.is_dataclass(record):
        return None
    kinds = get_type_hints(record)
    return [_parameter(field.name, kinds[field.name], field) for field in fields(record)]


def _parameter(name: str, kind: Any, field: Any) -> inspect.Parameter:
    """A parameter of a command that is the option which `field`, made by `option`, declares."""
    choices = field.metadata["choices"]
    if choices:
        kind = Literal[choices] if field.default is not None else Literal[choices] | None
    annotation = Annotated[kind, field.metadata["option"]]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=annotation
    )


def _count_or_all(name: str, text: str) -> int:
    if text == "all":
        return 0
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise UsageError(f"--{name.replace('_', '-')} is {text!r}", hint="a number from 1 up, or all")
