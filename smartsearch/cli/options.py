"""The command-line options as records: each declared once, shared by commands, grouped in help by panel."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Literal, get_args, get_type_hints

import typer

from smartsearch.ask.batch import SINGLE, Question
from smartsearch.ask.library import Scope
from smartsearch.config import CHOICES, PRESETS, Config, build
from smartsearch.errors import InputError, UsageError
from smartsearch.output.show import View
from smartsearch.runtime.extras import needs

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
RANKS = ("ce,colbert", "ce", "colbert", "none")
FORMATS = ("text", "json", "jsonl", "md", "context", "html")
COLORS = ("auto", "always", "never")
PROGRESS = ("auto", "none")
ENGINES = ("local", "ray")
OUT_FORMATS = ("jsonl", "parquet")


def option(
    panel: str, help: str, *flags: str, default: Any = None, choices: tuple[str, ...] = (), **extra: Any
) -> Any:
    """A dataclass field that is one command-line option; `choices` limits what it takes."""
    declared = typer.Option(*flags, help=without_markup(help), rich_help_panel=panel, **extra)
    return dataclasses.field(default=default, metadata={"option": declared, "choices": choices})


def without_markup(help: str) -> str:
    """Help in which Rich finds no style: `smartsearch[hub]` is to be read as it stands."""
    return help.replace("[", "\\[")


def setting(name: str, panel: str, help: str, *flags: str, shown: str = "", **extra: Any) -> Any:
    """An option that sets the Config field `name`; unsaid is None, so that files and environment count."""
    default = getattr(Config(), name)
    extra.setdefault("choices", CHOICES.get(name, ()))
    if isinstance(default, int | float) and not extra["choices"]:
        extra.setdefault("metavar", "N")
    extra["show_default"] = shown or (default if isinstance(default, str) and default else f"{default:g}")
    return option(panel, help, *(flags or (f"--{name.replace('_', '-')}",)), **extra)


def switch(name: str, panel: str, help: str) -> Any:
    """A pair `--name/--no-name` for a Config field that is true or false."""
    dashed = name.replace("_", "-")
    shown = "on" if getattr(Config(), name) else "off"
    return option(panel, help, f"--{dashed}/--no-{dashed}", show_default=shown)


def _profiles() -> list[str]:
    """For a shell's completion."""
    from smartsearch.models import profiles

    return profiles.names()


def _formats() -> list[str]:
    """For a shell's completion."""
    from smartsearch.transcripts import FORMATS

    return [known.name for known in FORMATS]


def context(help: str, *flags: str) -> Any:
    """An option for turns of context; unsaid is None, so that a format can have its own."""
    return option(OUTPUT, help, *flags, min=0, metavar="N", show_default="0; html 1")


def color_option() -> Any:
    """`--color`: the same in every command that draws."""
    return option(OUTPUT, "Colour; NO_COLOR and CLICOLOR_FORCE count too.", default="auto", choices=COLORS)


def hyperlinks_option() -> Any:
    """`--hyperlinks`: the same in every command that prints places."""
    return option(OUTPUT, "Make places links to the files.", default="auto", choices=COLORS)


def pager_option() -> Any:
    """`--pager/--no-pager`: the same in every command whose output can be long."""
    said = "On a terminal, show what is longer than the screen in $SMARTSEARCH_PAGER, $PAGER or less."
    return option(OUTPUT, said, "--pager/--no-pager", default=True, show_default="on")


@dataclass(frozen=True)
class ModelOptions:
    """Which models run and how."""

    profile: str | None = setting(
        "profile",
        RANKING,
        f"Set of models, see `smartsearch models list`; paper {needs('hub')}.",
        autocompletion=_profiles,
    )
    parser: str | None = setting(
        "parser",
        RANKING,
        "A spaCy pipeline: name, or folder as ./PATH.",
        metavar="MODEL",
        shown="the profile's",
    )
    crossencoder: str | None = setting(
        "crossencoder",
        RANKING,
        f"A cross-encoder: folder as ./PATH, or hub id, which {needs('hub')}.",
        metavar="MODEL",
        shown="the profile's",
    )
    colbert: str | None = setting(
        "colbert",
        RANKING,
        f"A ColBERT model: folder as ./PATH, or hub id, which {needs('hub')}.",
        metavar="MODEL",
        shown="the profile's",
    )

    threads: int | None = setting("threads", RUN, "Threads the models use.", min=0, shown="all cores")
    offline: bool | None = switch("offline", RUN, "Never ask the model hub for anything.")

    def models(self) -> Config:
        """The Config of these options over environment and files. Raises ConfigError."""
        return build({field.name: getattr(self, field.name) for field in fields(ModelOptions)})


@dataclass(frozen=True)
class SearchOptions(ModelOptions):
    """What becomes the Config: the same for one question and for many."""

    truncate: str | None = setting(
        "truncate", BUDGET, "How the ranked list is cut: not, by words, or by score."
    )
    budget: int | None = setting(
        "budget", BUDGET, "Most words in all.", metavar="WORDS", min=0, shown="4000 adaptive, 2000 fixed"
    )
    tokens: int | None = setting(
        "tokens",
        BUDGET,
        "Most tokens in all, counted with the tokenizer the output names.",
        min=0,
        shown="no ceiling",
    )
    alpha: float | None = setting(
        "alpha", BUDGET, "adaptive: a turn stays if its score is at least this share of the best score."
    )
    top_k: int | None = setting("top_k", BUDGET, "adaptive: most turns looked at, by rank.", min=1)
    fill: str | None = setting(
        "fill", BUDGET, "At the first turn that does not fit: stop, skip it, or cut it."
    )
    order: str | None = setting("order", BUDGET, "Order of the turns that stay: by rank, or by time.")

    compress: str | None = setting(
        "compress",
        BUDGET,
        "Say once what turns repeat, in --format context and in what the budget counts: dates, speakers "
        "(initials and a legend), repeats (alike turns merged).",
        metavar="dates,speakers,repeats",
        shown="none",
    )

    hops: int | None = setting("hops", RETRIEVAL, "Most steps from name to name; 1 is a plain grep.", min=0)
    prf: bool | None = switch(
        "prf", RETRIEVAL, "One more step over nouns that several of the best turns share."
    )
    mode: str | None = setting(
        "mode",
        RETRIEVAL,
        "A turn must contain any term (or), or every term of the question and no hops (and).",
    )
    semantic: str | None = setting(
        "semantic", RETRIEVAL, "Search by meaning: off, when words find too little, always."
    )
    pool: int | None = setting(
        "pool", RETRIEVAL, "Fewer candidates are filled up with the nearest in meaning; 0 is the paper's way."
    )
    word_boundary: bool | None = switch("word_boundary", RETRIEVAL, "Match terms as whole words only.")
    entity_source: str | None = setting("entity_source", RETRIEVAL, "Turns whose names feed the next hop.")
    fuzzy: bool | None = switch("fuzzy", RETRIEVAL, "Match a term that hits nothing to the nearest words.")
    candidates: str | None = setting(
        "candidates",
        RETRIEVAL,
        "Turns the cross-encoder reads: a number, or `all` as in the paper (slower).",
        metavar="N|all",
        shown=f"{Config().cascade} with both rankers, else all",
    )

    rank: str | None = setting(
        "rank", RANKING, "Which rankers run.", choices=RANKS, shown=",".join(Config().rank)
    )
    fuse: str | None = setting(
        "fuse", RANKING, "How the rankers' scores become one order: learned weights, or the paper's rrf."
    )
    preset: str | None = option(
        RANKING,
        "A named bundle of options, the paper's own settings; models come from --profile.",
        "--preset",
        choices=tuple(PRESETS),
    )

    speaker: list[str] | None = option(  # noqa: RUF009 - a field
        FILTERS,
        "Prefer this speaker's turns: they rank twice as high, and no other is left out (repeatable).",
        "--speaker",
        metavar="NAME",
    )
    now: str | None = option(
        FILTERS,
        "The day that `last week` counts from, here and in the question: a date.",
        "--now",
        metavar="DATE",
        show_default="today",
    )
    dates: bool | None = switch("dates", RETRIEVAL, "Look for the question's dates among the turns' dates.")

    limit: int | None = setting(
        "limit", OUTPUT, "Most turns shown, best first.", "--limit", "-n", min=0, shown="all"
    )

    redact: bool | None = switch(
        "redact", OUTPUT, "Mask keys, passwords, card and account numbers (docs/answer.md)."
    )

    timeout: float | None = setting(
        "timeout", RUN, "Give up on a question after this long.", metavar="SECONDS", min=0, shown="never"
    )
    cache: bool | None = switch(
        "cache",
        RUN,
        "Keep ColBERT's vectors of turns (`smartsearch cache`), and use an index (`smartsearch index`).",
    )

    def config(self) -> Config:
        """The Config of these options over environment and files. Raises ConfigError or UsageError."""
        given = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "preset"}
        if self.rank is not None:
            given["rank"] = tuple(name for name in self.rank.split(",") if name != "none")
        if self.compress is not None:
            given["compress"] = tuple(name for name in self.compress.split(",") if name not in ("", "none"))
        if self.candidates is not None:
            given["candidates"] = _count_or_all(self.candidates)
        if self.speaker is not None:
            given["speaker"] = tuple(self.speaker)
        if self.now is not None:
            from smartsearch.text.when import day_of

            given["now"] = day_of(self.now)
        return build(given, preset=self.preset or "")


@dataclass(frozen=True)
class QueryOptions(SearchOptions):
    """What becomes the Config of one question."""

    daemon: str | None = setting(
        "daemon",
        RUN,
        "Ask the warm process of `smartsearch serve`: auto, if one runs; always, and start one; never.",
    )


@dataclass(frozen=True)
class FilterOptions:
    """Which of the transcripts are searched."""

    conversation: list[str] | None = option(  # noqa: RUF009 - a field
        FILTERS, "Only this conversation, by id or title (repeatable).", "--conversation", metavar="ID"
    )
    session: list[str] | None = option(  # noqa: RUF009 - a field
        FILTERS, "Only this session, by id or title (repeatable).", "--session", metavar="ID"
    )
    since: str | None = option(
        FILTERS,
        "Only turns from this time on: 2023-05-08, 2023-05, 7d, 2w, yesterday, last week, may 2023, "
        "2023-05-08T13:00+02:00. Turns without a time are left out; those without an offset are taken as "
        "your own clock's.",
        "--since",
        metavar="WHEN",
    )
    until: str | None = option(
        FILTERS, "Only turns up to the end of this day, month or time.", "--until", metavar="WHEN"
    )
    only_speaker: list[str] | None = option(  # noqa: RUF009 - a field
        FILTERS,
        "Only this speaker's turns, by name or one word of it (repeatable). --speaker loses fewer answers.",
        "--only-speaker",
        metavar="NAME",
    )
    role: list[str] | None = option(  # noqa: RUF009 - a field
        FILTERS,
        "Only turns of this role: user, assistant, system or tool (repeatable).",
        "--role",
        metavar="ROLE",
    )
    glob: list[str] | None = option(  # noqa: RUF009 - a field
        FILTERS, "Only files whose path matches (repeatable).", "--glob", "-g", metavar="GLOB"
    )
    exclude: list[str] | None = option(  # noqa: RUF009 - a field
        FILTERS, "Leave out files whose path matches (repeatable).", "--exclude", metavar="GLOB"
    )
    input_format: str = option(
        FILTERS,
        "Read every file as this, see `smartsearch formats`.",
        "--input-format",
        default="auto",
        metavar="NAME",
        autocompletion=_formats,
    )

    def source(self, paths: Sequence[str] | None, now: str = "") -> Scope:
        """The source of these filters over `paths`, by default the current folder, on the day `now`.

        Raises UsageError.
        """
        since, until = _bounds(self.since, self.until, now)
        return Scope(
            tuple(paths or (".",)),
            tuple(self.conversation or ()),
            tuple(self.session or ()),
            tuple(self.glob or ()),
            tuple(self.exclude or ()),
            self.input_format,
            only_speakers=tuple(self.only_speaker or ()),
            roles=_roles(self.role or ()),
            since=since,
            until=until,
        )

    def own(self, question: Question, source: Scope, config: Config) -> tuple[Scope, Config]:
        """`source` and `config` with what a line of a batch says for itself.

        Raises InputError where that makes no sense.
        """
        said = question.filters
        if not said:
            return replace(source, paths=question.paths or source.paths), config
        from smartsearch.text.when import day_of

        given: dict[str, Any] = {
            name: values[0] if name in SINGLE else list(values)
            for name, values in said.items()
            if name not in ("now", "speaker")
        }
        try:
            now = day_of(said["now"][0]) if "now" in said else config.now
            scope = replace(self, **given).source(question.paths or source.paths, now)
        except UsageError as error:
            raise InputError(error.message, hint=error.hint, kind=error.kind) from error
        how = replace(config, now=now, speaker=said.get("speaker", config.speaker))
        return replace(scope, indexed=source.indexed, own=source.own), how


def _bounds(since: str | None, until: str | None, now: str) -> tuple[str, str]:
    if since is None and until is None:
        return "", ""
    from smartsearch.text import when

    return when.bounds(since, until, when.today(now))


def _roles(given: Sequence[str]) -> tuple[str, ...]:
    if not given:
        return ()
    from smartsearch.transcripts.filters import roles

    return roles(given)


@dataclass(frozen=True)
class OutputOptions:
    """How one answer is shown."""

    format: str | None = option(
        OUTPUT,
        "What is printed; html is one page with pictures, for a browser.",
        "--format",
        choices=FORMATS,
        show_default="text",
    )
    json: bool = option(OUTPUT, "The same as --format json.", "--json", default=False)
    files_with_matches: bool = option(
        OUTPUT, "Only the paths of files with a hit, best first.", "--files-with-matches", "-l", default=False
    )
    after: int | None = context("Turns of context after each hit.", "--after-context", "-A")
    before: int | None = context("Turns of context before each hit.", "--before-context", "-B")
    around: int | None = context("Turns of context on both sides.", "--context", "-C")
    explain: bool = option(
        OUTPUT,
        "Also show terms, hops, scores, the cut, timing and models: a picture on a terminal.",
        "--explain",
        default=False,
    )
    color: str = color_option()
    hyperlinks: str = hyperlinks_option()
    pager: bool = pager_option()

    def view(self) -> View:
        """How the answer is to be shown. Raises UsageError where two options disagree."""
        if self.json and self.format not in (None, "json"):
            raise UsageError(f"--json and --format {self.format} disagree", hint="give one of them")
        chosen = "json" if self.json else self.format or "text"
        if self.files_with_matches and chosen != "text":
            raise UsageError(f"-l prints paths, not {chosen}", hint="leave out -l; hits carry their path")
        return View(
            chosen,
            self._context(self.before, chosen),
            self._context(self.after, chosen),
            self.explain,
            self.files_with_matches,
            self.color,
            self.hyperlinks,
            self.pager,
        )

    def _context(self, side: int | None, chosen: str) -> int:
        """Turns on one side: as given for it, else for both, else what the format has by itself."""
        given = self.around if side is None else side
        return int(chosen == "html") if given is None else given


@dataclass(frozen=True)
class RunOptions:
    """How a batch fills a run folder (docs/batch.md)."""

    shard: str = option(
        FOLDER,
        "Only part i of N equal parts, for other processes or machines to do the rest.",
        "--shard",
        default="1/1",
        metavar="i/N",
    )
    engine: str = option(
        FOLDER,
        f"Worker processes of this machine, or Ray, which {needs('ray')}.",
        "--engine",
        default="local",
        choices=ENGINES,
    )
    workers: int = option(
        FOLDER,
        "Worker processes, each with its own models; they share the cores.",
        "--workers",
        default=0,
        min=0,
        metavar="N",
        show_default="as cores and memory allow",
    )
    address: str = option(
        FOLDER,
        "ray: the cluster; auto for the one this machine is in, or HOST:PORT of that.",
        "--address",
        default="",
        metavar="ADDRESS",
        show_default="a Ray of its own on this machine",
    )
    out_format: str = option(
        FOLDER,
        f"What the answers are written as; parquet {needs('batch')}.",
        "--out-format",
        default="jsonl",
        choices=OUT_FORMATS,
    )
    retry_failed: bool = option(FOLDER, "Ask again what failed before.", "--retry-failed", default=False)
    stall: float = option(
        FOLDER,
        "A worker that is at one file or question for this long is replaced, if --timeout says nothing.",
        "--stall",
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


def takes_records(command: Callable[..., int]) -> Callable[..., int]:
    """`command` as Typer should see it: each parameter that is a record, spread into one option a field."""
    hints = get_type_hints(command, include_extras=True)
    parameters = inspect.signature(command).parameters
    records = {name: hints[name] for name in parameters if dataclasses.is_dataclass(hints[name])}
    plain = [p.replace(annotation=hints[p.name]) for p in parameters.values() if p.name not in records]
    spread = [p for record in records.values() for p in _parameters(record)]
    spread.sort(key=lambda p: PANELS.index(get_args(p.annotation)[1].rich_help_panel))

    def collected(**values: Any) -> int:
        for name, record in records.items():
            values[name] = record(**{field.name: values.pop(field.name) for field in fields(record)})
        return command(**values)

    collected.__name__, collected.__module__ = command.__name__, command.__module__
    collected.__doc__ = without_markup(command.__doc__ or "")
    collected.__annotations__ = {p.name: p.annotation for p in (*plain, *spread)}
    collected.__signature__ = inspect.Signature([*plain, *spread])  # type: ignore[attr-defined]
    return collected


def _parameters(record: type) -> Iterator[inspect.Parameter]:
    kinds = get_type_hints(record)
    for field in fields(record):
        kind: Any = kinds[field.name]
        choices = field.metadata["choices"]
        if choices:
            kind = Literal[choices] if field.default is not None else Literal[choices] | None
        annotation = Annotated[kind, field.metadata["option"]]
        yield inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=annotation
        )


def _count_or_all(text: str) -> int:
    if text == "all":
        return 0
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise UsageError(f"--candidates is {text!r}", hint="a number from 1 up, or all")
