"""``affscore multiverse``: one network on one data set under every specification."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from typer import Argument, Option

from affscore.cli import options
from affscore.cli.words import deliver


@options.measuring("reduction", "order", "covariance", "units")
def multiverse(
    model: str = Argument(metavar="MODEL[@WEIGHTS]", help=f"MODEL is {options.MODELS}."),
    dataset: str = Option("digits", metavar="SPEC", help=f"{options.DATASETS}."),
    reductions: list[str] = options.names("R,...", "The reductions.", default=("mean", "sample")),
    bias: str = options.BIAS,
    out: Path | None = options.output("Write the result to this Parquet file.", ".parquet"),
    **chosen: Any,
) -> None:
    """The signature of a network under every specification: reduction, order, covariance, coupling.

    The network runs once. Prints one line for every specification: mean, spread and minimum of the scores, and how
    their ranks agree with those of the default.
    """
    chosen["bias"] = bias
    options.check([model], [dataset], {**chosen, "multiverse": tuple(reductions)})

    from affscore.network.multiverse import multiverse as measure

    result = measure(model, dataset, reductions=reductions, **chosen)
    typer.echo(result.summary.to_string(index=False, float_format=lambda value: f"{value:.4f}", na_rep="-"))
    deliver(result, out)
