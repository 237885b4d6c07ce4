"""The commands: ``affscore signature``, ``multiverse``, ``survey`` and ``compare``. PyTorch is loaded when one runs."""

from __future__ import annotations

import re
import shlex
import signal
import sys
import warnings
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import typer
from typer import Argument, Option

from affscore.cli import options


@options.measuring()
def signature(
    model: str = Argument(metavar="MODEL[@WEIGHTS]", help=f"MODEL is {options.MODELS}."),
    dataset: str = Option("digits", metavar="SPEC", help=f"{options.DATASETS}."),
    criteria: list[str] = options.CRITERIA,
    out: Path | None = options.output("the result, its table or a figure", ".parquet", ".csv", ".png", ".svg", ".pdf"),
    **chosen: Any,
) -> None:
    """The non-linearity signature of a network on a data set.

    Prints one line for every activation: where it is, what it is, its affinity score (1 is affine). With --units blocks
    also one for every norm, attention, residual block, ..., and beside its score the one of the least-squares fit.
    """
    from affscore.network.criteria import CRITERIA
    from affscore.network.result import brief
    from affscore.network.signature import signature as measure

    result = measure(model, dataset, criteria=options.chosen_criteria(criteria), **chosen)
    # the scores of blocks mislead without the affine fit
    shown = [CRITERIA[name] for name in result.metadata["criteria"] if criteria or name == "affine_fit"]
    asked = [column.name for one in shown for column in one.columns]
    typer.echo(brief(result.summary, asked).to_string(float_format=lambda value: f"{value:.4f}", na_rep="-"))
    result.metadata["command"] = _command_line()
    _deliver(result, repr(result).splitlines()[0], out)


@options.measuring("reduction", "order", "covariance", "units")
def multiverse(
    model: str = Argument(metavar="MODEL[@WEIGHTS]", help=f"MODEL is {options.MODELS}."),
    dataset: str = Option("digits", metavar="SPEC", help=f"{options.DATASETS}."),
    reductions: list[str] = options.names("R,...", "The reductions.", default=("mean", "sample")),
    bias: str = options.BIAS,
    out: Path | None = options.output("the result", ".parquet"),
    **chosen: Any,
) -> None:
    """The signature of a network under every specification: reduction, order, covariance, coupling.

    The network runs once. Prints one line for every specification: mean, spread and minimum of the scores, and how
    their ranks agree with those of the default.
    """
    from affscore.network.multiverse import multiverse as measure

    chosen["bias"] = bias
    result = measure(model, dataset, reductions=reductions, **chosen)
    typer.echo(result.summary.to_string(index=False, float_format=lambda value: f"{value:.4f}", na_rep="-"))
    result.metadata["command"] = _command_line()
    _deliver(result, repr(result).splitlines()[0], out)


@options.measuring()
def survey(
    models: list[str] = options.names("A,B", f"Networks, each {options.MODELS}.", "--models", "--model"),
    datasets: list[str] = options.SPECS,
    store: Path = Option("results", metavar="DIR", help="The folder of the results."),
    jobs: int = Option(1, help="How many processes at once."),
    reduction: list[str] = options.several("reduction", "or several"),
    order: list[str] = options.several("order", "or both"),
    multiverse: list[str] = options.names("R,...", "Measure multiverses of these reductions instead."),
    bias: str = options.BIAS,
    criteria: list[str] = options.CRITERIA,
    threads: int | None = Option(None, help="Threads of a process (default: cores / jobs, at most OMP_NUM_THREADS)."),
    scheduler: str | None = Option(None, metavar="ADDRESS", help="Use the workers of the dask scheduler there."),
    show: bool = Option(False, "--list", help="Only list the numbered jobs, and which are done."),
    job: int | None = Option(None, metavar="NUMBER", help="Do only the job with this number, in this process."),
    **chosen: Any,
) -> None:
    """Measure every network on every data set, and keep the results in a folder.

    Results that are there are not measured again; a job that was interrupted is done from its start. The exit status
    is 0 when the results of all jobs are there.
    """
    from affscore.network.signature import named_options
    from affscore.survey.job import plan
    from affscore.survey.survey import listing
    from affscore.survey.survey import survey as measure

    chosen |= {"multiverse": tuple(multiverse), "bias": bias, "criteria": options.chosen_criteria(criteria)}
    how: dict[str, Any] = {"reductions": reduction, "orders": order, "threads": threads, "only": job, "progress": True}
    if show:
        say(listing(plan(models, datasets, named_options(chosen), reduction, order), store))
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the other processes end, too
    try:
        with nullcontext() if scheduler is None else _client(scheduler) as client:
            report = measure(models, datasets, store, jobs, client=client, command=_command_line(), **how, **chosen)
    except KeyboardInterrupt:
        typer.echo("affscore: interrupted; the same command does the jobs that are not finished", err=True)
        raise typer.Exit(130) from None  # as a shell says it
    first, *failures = str(report).splitlines()
    typer.echo(first)
    say((f"affscore: {line}" for line in failures), err=True)
    if not report.complete:
        raise typer.Exit(1)


@options.measuring("units")
def compare(
    models: list[str] = Argument(metavar="A [B ...]", help=f"A network ({options.MODELS}) or a result (FILE.parquet)."),
    datasets: list[str] = options.SPECS,
    name: list[str] = Option([], metavar="NAME", help="What to call a result. Repeat it, in their order."),
    store: Path | None = Option(None, metavar="DIR", help="Take results from this folder, and keep new ones there."),
    out: Path | None = options.output("the figure", ".png", ".svg", ".pdf"),
    csv: Path | None = options.output("statistics and distances", ".csv"),
    **chosen: Any,
) -> None:
    """Compare signatures: statistics, dynamic time warping distances, and all of them in one figure.

    Prints a row of statistics for each result, the matrix of the distances, and for each pair of networks that are
    measured now the difference of their mean scores with its interval. One result alone is described and drawn.
    The options say how what is not finished is measured; finished results are taken as they are.
    """
    from affscore.comparison.compare import compare as measure

    # in a store: what a survey would measure, so that nothing is there twice
    chosen |= {"criteria": False} if store is None else {"criteria": True, "command": _command_line()}
    with warnings.catch_warnings(action="ignore"):  # the result prints them
        found = measure(*models, data=datasets, names=name or None, store=store, **chosen)
    _deliver(found, str(found), out, csv)


def _client(address: str) -> Any:
    """A client of the dask scheduler at an address."""
    from affscore.errors import guarded
    from affscore.models.naming import needs

    made = needs("distributed", "--scheduler", "cluster").Client
    advice = "start one with: dask scheduler"
    return guarded(lambda: made(address, timeout=10), f"there is no scheduler of dask at {address!r}", advice)


def without_folders(word: str) -> str:
    """A word of the command with files by their base names: a folder of this machine means nothing elsewhere.

    >>> without_folders("/home/me/net.py:make@/home/me/w.pth")
    'net.py:make@w.pth'
    """
    return re.sub(r"[^@:=,]*/", "", word.rstrip("/"))


def _command_line() -> str:
    """The command that runs, with files by their base names."""
    return shlex.join(without_folders(word) for word in ["affscore", *sys.argv[1:]])


def say(lines: Iterable[str], err: bool = False) -> None:
    """Print lines, to the error stream where they are no result."""
    for line in lines:
        typer.echo(line, err=err)


def _deliver(result: Any, shown: str, *files: Path | None) -> None:
    """Print and write a result. Its warnings are printed when they are given; here are its other notes."""
    from affscore.network.notes import Note

    typer.echo(shown)
    say((f"note: {note}" for note in result.notes if Note.of(note).kind == "note"), err=True)
    write(result.save, *files)


def write(save: Callable[[Path], object], *files: Path | None) -> None:
    """Write the files that were asked for, and say so."""
    for file in filter(None, files):
        save(file)
        typer.echo(f"written to {file}", err=True)
