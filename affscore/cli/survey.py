"""``affscore survey``: many networks on many data sets, into a store."""

from __future__ import annotations

import itertools
import signal
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import typer
from typer import Option

from affscore.cli import options
from affscore.cli.words import command_line, say

_INTERRUPTED = 130


@options.measuring()
def survey(
    model: list[str] = Option([], metavar="MODEL[@WEIGHTS]", help=f"A network: {options.MODELS}. Repeat it."),
    models: list[str] = options.names("A,B", "Networks, separated by commas. May be repeated."),
    dataset: list[str] = Option(
        [], metavar="SPEC", help=f"A data set: {options.DATASETS}. Repeat it.  [default: digits]"
    ),
    datasets: list[str] = options.DATASETS_BY_COMMAS,
    store: Path = Option("results", metavar="DIR", help="The folder of the results."),
    jobs: int = Option(1, help="How many processes at once."),
    reduction: list[str] = options.several("reduction", "or several"),
    order: list[str] = options.several("order", "or both"),
    multiverse: list[str] = options.names(
        "R,...", "Measure multiverses of these reductions (mean,sample, say) instead."
    ),
    bias: str = options.BIAS,
    criteria: list[str] = options.CRITERIA,
    threads: int | None = Option(
        None, help="Threads of each process (default: cores divided by --jobs, OMP_NUM_THREADS at most)."
    ),
    scheduler: str | None = Option(None, metavar="ADDRESS", help="Use the workers of the dask scheduler there."),
    show: bool = Option(False, "--list", help="Only list the numbered jobs, and which are done."),
    job: int | None = Option(None, metavar="NUMBER", help="Do only the job with this number, in this process."),
    **chosen: Any,
) -> None:
    """Measure every network on every data set, and keep the results in a folder.

    Results that are there are not measured again; a job that was interrupted is done from its start. The exit status
    is 0 when the results of all jobs are there.
    """
    for one, other in itertools.product(reduction or ["mean"], order or ["activate-first"]):
        options.check([], [], {**chosen, "reduction": one, "order": other})

    from affscore.survey.job import named_options, plan
    from affscore.survey.survey import listing
    from affscore.survey.survey import survey as measure

    names = [*model, *models]
    specs = [*dataset, *datasets] or ["digits"]
    ways: dict[str, Any] = {"reductions": reduction or ["mean"], "orders": order or ["activate-first"]}
    chosen |= {"multiverse": tuple(multiverse), "bias": bias}
    chosen["criteria"] = options.chosen_criteria(criteria)
    if not names:
        raise typer.BadParameter("say which networks, with --models A,B or --model A --model B")
    if show:
        say(listing(plan(names, specs, named_options(chosen), **ways), store))
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the other processes end, too
    try:
        with nullcontext() if scheduler is None else _client(scheduler) as client:
            report = measure(
                names, specs, store, jobs, threads=threads, client=client, only=job, progress=True,
                command=command_line(), **ways, **chosen,
            )  # fmt: skip
    except KeyboardInterrupt:
        typer.echo("affscore: interrupted; the same command does the jobs that are not finished", err=True)
        raise typer.Exit(_INTERRUPTED) from None
    first, *failures = str(report).splitlines()
    typer.echo(first)
    say((f"affscore: {line}" for line in failures), err=True)
    if not report.complete:
        raise typer.Exit(1)


def _client(address: str) -> Any:
    """A client of the dask scheduler at an address."""
    from affscore.errors import guarded
    from affscore.models.naming import needs

    made = needs("distributed", "--scheduler", "cluster").Client
    advice = "start one with: dask scheduler"
    return guarded(lambda: made(address, timeout=10), f"there is no scheduler of dask at {address!r}", advice)
