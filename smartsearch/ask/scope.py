"""What is searched: which files, and which of their turns; as written, and as of a given day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from smartsearch.ask.batch import SINGLE, Question
from smartsearch.config import Config
from smartsearch.errors import InputError, UsageError
from smartsearch.transcripts.files import Selection
from smartsearch.transcripts.filters import NONE, Filters
from smartsearch.transcripts.named import resolved


@dataclass(frozen=True)
class Scope:
    """What is searched: paths (`-` is standard input) and the filters over what they hold.

    `indexed` says whether an index may stand in for files, `own` are real paths of the command's own files,
    which are no transcripts.
    """

    paths: tuple[str, ...] = (".",)
    filters: Filters = NONE
    globs: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    input_format: str = "auto"
    indexed: bool = True
    own: tuple[str, ...] = ()

    @property
    def selection(self) -> Selection:
        """Which files of its folders are meant."""
        return Selection(self.globs, self.excludes, self.own)

    @property
    def unfiltered(self) -> Scope:
        """The same files without a choice among their turns."""
        return replace(self, filters=NONE)


@dataclass(frozen=True)
class Request:
    """A question on its way through the doors, where it is searched, and by which settings.

    `before` and `after` are turns around each hit that are shown with it; `explain` shows the whole trace.
    """

    question: str
    scope: Scope
    config: Config
    before: int = 0
    after: int = 0
    explain: bool = False


@dataclass(frozen=True)
class Written:
    """The choice of files and turns as written, by name; `7d` is not yet counted from a day."""

    filters: Mapping[str, Any] = field(default_factory=dict)
    globs: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    input_format: str = "auto"

    def scope(self, paths: Sequence[str] | None, config: Config, own: tuple[str, ...] = ()) -> Scope:
        """What is searched under `paths`, by default the current folder, on the config's day.

        Raises UsageError, and InputError for an `@name` of no chats.
        """
        chosen = Filters.of(self.filters, config.now)
        files = resolved(paths or (".",))
        return Scope(files, chosen, self.globs, self.excludes, self.input_format, config.cache, own)

    def own(self, question: Question, scope: Scope, config: Config) -> tuple[Scope, Config]:
        """`scope` and `config` with a batch line's own filters.

        Raises InputError where those make no sense.
        """
        said = dict(question.filters)
        paths = resolved(question.paths) or scope.paths
        if not said:
            return replace(scope, paths=paths), config
        from smartsearch.text.dates import day_of

        speaker = said.pop("speaker", config.speaker)
        try:
            now = day_of(said.pop("now")[0]) if "now" in said else config.now
            given = {name: v[0] if name in SINGLE else v for name, v in said.items()}
            chosen = Filters.of({**self.filters, **given}, now)
        except UsageError as error:
            raise InputError(error.message, hint=error.hint, kind=error.kind) from error
        return replace(scope, paths=paths, filters=chosen), replace(config, now=now, speaker=speaker)


def input_format(name: str, fields: str | None, head: str | None = None) -> str:
    """What files are read as, by the options of these names. Raises UsageError where they disagree."""
    if fields is None and head is None:
        return name
    from smartsearch.transcripts.registry import FIELDS, HEAD, by_name

    if head is not None:
        if fields is not None or name not in ("auto", "chat"):
            other = "--fields" if fields is not None else f"--input-format {name}"
            raise UsageError(f"--head is for text chats, and {other} is not", hint="give one of them")
        by_name(f"{HEAD}{head}")
        return f"{HEAD}{head}"
    if name not in ("auto", "messages", "table"):
        raise UsageError(
            f"--fields names keys, and --input-format {name} has its own", hint="give one of them"
        )
    by_name(f"{FIELDS}{fields}")
    return f"{FIELDS}{fields}"
