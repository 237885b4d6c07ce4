"""``affscore survey``: many networks on many data sets, into a store."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated, Any

import typer

from affscore.cli import options
from affscore.cli.words import command_line

__all__ = ["survey"]

_INTERRUPTED = 130


def survey(
    model: Annotated[
        list[str] | None, typer.Option(metavar="MODEL[@WEIGHTS]", help=f"A network: {options.MODELS}. Repeat it.")
    ] = None,
    models: Annotated[
        list[str] | None, typer.Option(metavar="A,B", help="Networks, separated by commas. May be repeated.")
    ] = None,
    dataset: Annotated[
        list[str] | None,
        typer.Option(metavar="SPEC", help=f"A data set: {options.DATASETS}. Repeat it.  [default: digits]"),
    ] = None,
    datasets: Annotated[
        list[str] | None, typer.Option(metavar="S,T", help="Data sets, separated by commas. May be repeated.")
    ] = None,
    store: Annotated[Path, typer.Option(metavar="DIR", help="The folder of the results.")] = Path("results"),
    jobs: Annotated[int, typer.Option(help="How many processes at once.")] = 1,
    n: options.N = 512,
    images: options.Images = None,
    reduction: Annotated[
        list[str] | None,
        typer.Option("--reduction", "--reductions", metavar="R,...", help=f"{options.REDUCTIONS}, or several."),
    ] = None,
    order: Annotated[
        list[str] | None, typer.Option("--order", "--orders", metavar="O,...", help=f"{options.ORDERS}, or both.")
    ] = None,
    covariance: options.Covariance = "ledoit-wolf",
    criteria: options.Criteria = True,
    criterion: options.Criterion = None,
    device: options.Device = "auto",
    batch_size: options.BatchSize = 64,
    whole: options.Whole = False,
    seed: options.Seed = 0,
    threads: Annotated[
        int | None, typer.Option(help="Threads of each process (default: cores divided by --jobs).")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Use the workers of the dask scheduler there.")
    ] = None,
    show: Annotated[bool, typer.Option("--list", help="Only list the numbered jobs, and how far they are.")] = False,
    job: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="Do only the job with this number, in this process.")
    ] = None,
) -> None:
    """Measure every network on every data set, and keep the results in a folder.

    Results that are there are not measured again; a job that was interrupted goes on from its last finished
    batch. The exit status is 0 when the results of all jobs are there.
    """
    from affscore.survey.survey import survey as measure

    chosen: dict[str, Any] = {
        "models": [*(model or []), *options.split(models)],
        "datasets": [*(dataset or []), *options.split(datasets)] or ["digits"],
        "reductions": options.split(reduction) or ["mean"],
        "orders": options.split(order) or ["activate-first"],
        "n": n,
        "images": images,
        "covariance": covariance,
        "criteria": options.chosen_criteria(criteria, criterion),
        "seed": seed,
        "whole": whole,
    }
    if not chosen["models"]:
        raise typer.BadParameter("say which networks, with --models A,B or --model A --model B")
    if show:
        _list(store, chosen)
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the other processes end, too
    try:
        report = measure(
            **chosen,
            store=store,
            jobs=jobs,
            device=device,
            batch_size=batch_size,
            threads=threads,
            scheduler=scheduler,
            only=job,
            command=command_line(),
        )
    except KeyboardInterrupt:
        typer.echo("affscore: interrupted; the same command goes on from the last finished batches", err=True)
        raise typer.Exit(_INTERRUPTED) from None
    first, *failures = str(report).splitlines()
    typer.echo(first)
    for line in failures:
        typer.echo(f"affscore: {line}", err=True)
    if not report.complete:
        raise typer.Exit(1)


def _list(folder: Path, chosen: dict[str, Any]) -> None:
    from affscore.survey.plan import plan
    from affscore.survey.report import listing

    for line in listing(plan(**chosen), folder):
        typer.echo(line)
