"""`smartsearch qrranker`: a language model fetched, and its heads that rank found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from smartsearch.cli.groups import AsJson, group
from smartsearch.cli.options import Overwrite
from smartsearch.errors import ExitCode, UsageError
from smartsearch.output import show, stream
from smartsearch.runtime import outputs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from smartsearch.config import Config
    from smartsearch.rank.qrranker import Reader
    from smartsearch.training.listwise import Sample

qrranker = group("Fetch a language model for --system qrranker, and find its heads.")

WHAT = "`smartsearch qrranker`"
Data = Annotated[
    str | None,
    typer.Argument(
        metavar="DATA",
        help="Questions with gold turns, as `bench` takes them.",
        show_default="conversations written for smartsearch",
    ),
]
Model = Annotated[
    str,
    typer.Option("--qr-model", metavar="MODEL", help="A folder as ./PATH, or a hub id.", show_default=False),
]
Limit = Annotated[
    int,
    typer.Option(
        min=1, metavar="N", help="Most questions to learn from, and to measure on; the paper has 1,000."
    ),
]
Candidates = Annotated[
    int, typer.Option("--qr-candidates", min=2, metavar="N", help="How many of our first turns a list has.")
]
Prompt = Annotated[
    Literal["paper", "ours"],
    typer.Option(
        help="What the model reads around the turns: the paper's words and its chat template, or ours."
    ),
]
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="Of the questions that are drawn.")]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads the models use.", show_default="all cores")]


@qrranker.command()
def pull(
    name: Annotated[str, typer.Argument(help="The id of a causal language model.", show_default=False)],
    revision: Annotated[str, typer.Option(help="A branch, tag or commit.", show_default="main")] = "",
    json: AsJson = False,
) -> int:
    """Fetch a causal language model from the model hub: its weights, never code that it brings.

    Its size is told before. MindscapeRAG/QRRanker, the paper's own, lists LoCoMo among its training
    data.
    """
    from smartsearch.models import profiles
    from smartsearch.models.store import ModelRef

    if not ModelRef.typed(name).on_hub:
        raise UsageError(f"{name!r} is no id of the model hub", hint="OWNER/NAME")
    show.table("models", profiles.pull(name, stream.talk, revision, "qrranker"), as_json=json)
    return ExitCode.FOUND


@dataclass(frozen=True)
class Task:
    """Questions to learn from and to measure on, and the name of the data they are of."""

    data: str
    learned: list[Sample]
    measured: list[Sample]

    def recall(self, name: str, order: Callable[[Sample], Sequence[int]]) -> dict[str, object]:
        """The row of an order: R@3, 5 and 10 over the questions held out."""
        from smartsearch.training import listwise

        return {"order": name, "questions": len(self.measured), **listwise.recall(self.measured, order)}


def task(data: str | None, config: Config, reader: Reader, limit: int, seed: int) -> Task:
    """The questions of the data, each with the list that our own search gives the model."""
    from smartsearch.models import loading
    from smartsearch.training import listwise

    if data is None:
        named, asked = "conversations written for smartsearch", list(listwise.written())
    else:
        from smartsearch.bench.datasets import open_dataset

        dataset = open_dataset(data)
        groups = [(g.corpus, [(q.text, q.gold) for q in g.questions]) for g in dataset.groups()]
        named, asked = f"{dataset.name} {dataset.sha256[:12]}", list(listwise.apart(groups))
    tools = loading.load_tools(config)
    with stream.progress(None, wanted=True, title="lists") as step:
        return Task(named, *listwise.samples(asked, config, tools, reader, limit, seed, step))


@qrranker.command()
def detect(
    data: Data = None,
    *,
    qr_model: Model,
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE", help="The file of heads.")
    ] = "heads.json",
    heads: Annotated[int, typer.Option(min=1, metavar="N", help="How many heads.")] = 16,
    prompt: Prompt = "paper",
    limit: Limit = 300,
    qr_candidates: Candidates = 50,
    seed: Seed = 13,
    threads: Threads = None,
    overwrite: Overwrite = False,
    json: AsJson = False,
) -> int:
    """Find the heads of a model that look from a question to the turns that answer it.

    What is printed is measured on questions held out: how many of the right turns come first in the order of
    our own search, and by these heads. It needs `pip install 'smartsearch-cli[qr]'`.
    """
    place = outputs.Place(Path(out), overwrite=overwrite, inputs=[data] if data else [])
    from smartsearch.config import build
    from smartsearch.rank.hub.heads import Heads, written
    from smartsearch.systems.qrranker import causal

    config = build({"qr_model": qr_model, "qr_candidates": qr_candidates, "threads": threads})
    reader, info = causal.opened(config, WHAT)
    reader.prompt = prompt
    from smartsearch.rank.qrranker import QRRanker
    from smartsearch.training import listwise

    asked = task(data, config, reader, limit, seed)
    with stream.progress(len(asked.learned), wanted=True) as step:
        scores = listwise.detect(reader, asked.learned, heads, step)
    found = Heads(
        *(info.id, info.revision, asked.data, reader.layers, reader.width, tuple(scores)), prompt=prompt
    )
    place.put(written(found))
    rows = [
        asked.recall("smartsearch", listwise.as_found),
        asked.recall("heads", listwise.by_heads(QRRanker(reader, found))),
    ]
    show.table("recall", rows, as_json=json)
    best = ", ".join(f"{layer}-{head} ({score:.3f})" for (layer, head), score in list(scores.items())[:4])
    stream.talk(f"wrote {out}, {len(scores)} heads found on {len(asked.learned)} questions: {best}, ...")
    return ExitCode.FOUND
