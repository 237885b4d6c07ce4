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


@options.measuring()
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
    datasets: options.Datasets = None,
    store: Annotated[Path, typer.Option(metavar="DIR", help="The folder of the results.")] = Path("results"),
    jobs: Annotated[int, typer.Option(help="How many processes at once.")] = 1,
    reduction: Annotated[
        list[str] | None,
        typer.Option(
            "--reduction", "--reductions", metavar="R,...", help="mean, sum, flatten, sample or published, or several."
        ),
    ] = None,
    order: Annotated[
        list[str] | None,
        typer.Option("--order", "--orders", metavar="O,...", help=f"{options.help_of('order')}, or both."),
    ] = None,
    criterion: options.Criterion = None,
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
    **chosen: Any,
) -> None:
    """Measure every network on every data set, and keep the results in a folder.

    Results that are there are not measured again; a job that was interrupted goes on from its last finished
    batch. The exit status is 0 when the results of all jobs are there.
    """
    from affscore.options import options_of
    from affscore.survey.plan import plan
    from affscore.survey.report import listing
    from affscore.survey.survey import survey as measure

    names = [*(model or []), *options.split(models)]
    specs = [*(dataset or []), *options.split(datasets)] or ["digits"]
    ways: dict[str, Any] = {
        "reductions": options.split(reduction) or ["mean"],
        "orders": options.split(order) or ["activate-first"],
    }
    chosen["criteria"] = options.chosen_criteria(chosen["criteria"], criterion)
    if not names:
        raise typer.BadParameter("say which networks, with --models A,B or --model A --model B")
    if show:
        for line in listing(plan(names, specs, options_of(chosen)[0], **ways), store):
            typer.echo(line)
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the other processes end, too
    try:
        report = measure(
            names, specs, store, jobs, threads=threads, scheduler=scheduler, only=job, command=command_line(),
            **ways, **chosen,
        )  # fmt: skip
    except KeyboardInterrupt:
        typer.echo("affscore: interrupted; the same command goes on from the last finished batches", err=True)
        raise typer.Exit(_INTERRUPTED) from None
    first, *failures = str(report).splitlines()
    typer.echo(first)
    for line in failures:
        typer.echo(f"affscore: {line}", err=True)
    if not report.complete:
        raise typer.Exit(1)
