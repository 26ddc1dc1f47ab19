"""`smartsearch memorag`: trains the memory tokens of a decoder (memorag=kv), and makes data for that."""

from __future__ import annotations

import json as encoding
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from smartsearch.cli.options import Overwrite
from smartsearch.errors import ExitCode, InputError, UsageError
from smartsearch.output import show, stream
from smartsearch.runtime import outputs

if TYPE_CHECKING:
    from smartsearch.llm import Asker
    from smartsearch.systems.memorag.remembered import Decoder

memorag = typer.Typer(help="Train the memory of `--system memorag --set memorag=kv`, and make data for that.")

Out = Annotated[str, typer.Option("--out", help="What is written.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]


@memorag.callback(invoke_without_command=True)
def start(context: typer.Context) -> None:
    """Print the help where no command is given."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@memorag.command()
def train(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH", help="Chats; with --clues a file of samples.")
    ],
    out: Out,
    model: Annotated[str, typer.Option("--model", help="A causal model: ./FOLDER, or hub id.")] = "",
    begin: Annotated[str, typer.Option("--from", help="Go on from this folder's memory tokens.")] = "",
    clues: Annotated[bool, typer.Option("--clues", help="Stage 2: to write clues, on samples.")] = False,
    window: Annotated[int, typer.Option(min=2, help="Tokens of a window.")] = 512,
    ratio: Annotated[int, typer.Option(min=2, max=16, help="Tokens for each that is kept.")] = 8,
    length: Annotated[int, typer.Option(min=8, help="Tokens of a piece.")] = 2048,
    steps: Annotated[int, typer.Option(min=1, help="Pieces to train on.")] = 500,
    rate: Annotated[float, typer.Option(min=0.0, help="AdamW's rate.")] = 1e-4,
    seed: Annotated[int, typer.Option(help="Of the order.")] = 13,
    threads: Annotated[int, typer.Option(min=0, help="CPU threads; 0 for all cores.")] = 0,
    overwrite: Overwrite = False,
    json: AsJson = False,
) -> int:
    """Train memory tokens on chats, then with --clues --from FOLDER on samples; the model stays as it is.

    Printed are nats a token on held-out pieces: without memory, and with memory tokens before and after. It
    needs `pip install 'smartsearch-cli[hub]'`.
    """
    from smartsearch.config import build
    from smartsearch.runtime import extras

    extras.require("hub", "memorag train")
    if bool(model) == bool(begin) or (clues and not begin):
        raise UsageError("--model or --from is needed, one of them", hint="--clues goes with --from FOLDER")
    from smartsearch.systems.memorag import kv
    from smartsearch.training import memorag as training

    place = outputs.Place(Path(out), overwrite=overwrite, ours=kv.is_ours, inputs=[*paths, begin or model])

    decoder = _decoder(model, begin, window, ratio, build({"threads": threads or None}).cores)
    plan = training.Plan(steps, length, rate, seed)
    with stream.progress(steps, wanted=True, title="memory tokens") as step:
        if clues:
            found = [one for path in paths for one in training.samples(Path(path))]
            measured = training.clue_train(decoder, found, plan, step)
        else:
            measured = training.pretrain(decoder, list(_sessions(paths)), plan, step)
    told, stage = decoder.trained, "clues" if clues else "pretrain"
    data = "; ".join(filter(None, (told.data, f"{stage}: {', '.join(paths)}, {steps} steps")))
    decoder.compressor.save(place, replace(told, stages=(*told.stages, stage), data=data))
    kept = {"ratio": decoder.trained.ratio, "window": decoder.trained.window}
    figures = {"stage": stage, **kept, **asdict(measured)}
    show.table("memory_tokens", [figures], as_json=json)
    return ExitCode.FOUND


def _decoder(model: str, begin: str, window: int, ratio: int, threads: int) -> Decoder:
    from smartsearch.config import anchored
    from smartsearch.systems.memorag import remembered
    from smartsearch.systems.memorag.kv import Compressor, Trained

    if begin:
        return remembered.decoder(begin, threads)
    name = anchored(model)
    tokenizer, network = remembered.opened(name, threads)
    compressor = Compressor(network, window, ratio, name)
    compressor.token.data = compressor.token.data.to(network.device)
    return remembered.Decoder(compressor, tokenizer, Trained(name, compressor.digest, window, ratio))


def _sessions(paths: list[str]) -> Iterator[str]:
    """The text of each session of the chats, as the memory reads it."""
    from smartsearch import transcripts
    from smartsearch.systems.memorag.remembered import sessions, written

    corpus = transcripts.read(paths)
    for skipped in corpus.skipped:
        stream.warn(f"left out: {skipped.path}: {skipped.reason}")
    yield from (written(corpus.turns, run) for run in sessions(corpus.turns))


@memorag.command()
def data(
    questions: Annotated[
        str, typer.Argument(metavar="DATA", help="A folder with questions.jsonl, as for `bench`.")
    ],
    out: Out,
    llm: Annotated[bool, typer.Option("--llm", help="Let a language model write the clues.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Send without asking.")] = False,
    overwrite: Overwrite = False,
    json: AsJson = False,
) -> int:
    """Make samples of clues from questions whose answers and turns are known (docs/benchmarks.md).

    By rule a clue is what was said in those turns. Items whose words find none of them are left out, and
    questions without an item. Benchmarks' own data is not taken.
    """
    from smartsearch.bench.datasets import open_dataset

    place = outputs.Place(Path(out), overwrite=overwrite, inputs=[questions])
    dataset = open_dataset(questions, format="folder")
    asker = _asker(yes=yes) if llm else None
    lines = list(_samples(dataset, asker))
    if not lines:
        raise InputError(f"{questions} gave no sample", hint="questions with an answer and gold turns")
    place.put("".join(f"{encoding.dumps(line)}\n" for line in lines).encode())
    show.table("samples", [{"questions": dataset.questions, "samples": len(lines)}], as_json=json)
    return ExitCode.FOUND


def _asker(*, yes: bool) -> Asker:
    from smartsearch import llm
    from smartsearch.cli import consent
    from smartsearch.config import build

    return llm.asker(consent.agreed_to(build({"llm": True}), yes=yes, asks=False))


def _samples(dataset: Any, asker: Asker | None) -> Iterator[dict[str, Any]]:
    from smartsearch.config import build
    from smartsearch.models.loading import load_tools
    from smartsearch.retrieve.grep import Haystack
    from smartsearch.training.clue_data import Asked, by_rule, sample, written

    config = build()
    parser = load_tools(config).parser
    for group in dataset.groups():
        haystack = Haystack(group.corpus)
        asked = [Asked(one.text, one.answer, tuple(sorted(one.gold))) for one in group.questions if one.gold]
        clues = written(asked, haystack, asker) if asker else [by_rule(one, haystack) for one in asked]
        for one, drafted in zip(asked, clues, strict=True):
            if line := sample(one, drafted, haystack, parser, config):
                yield line
