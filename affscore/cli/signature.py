"""``affscore signature``: one network on one data set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from typer import Argument, Option

from affscore.cli import options
from affscore.cli.words import deliver


@options.measuring()
def signature(
    model: str = Argument(metavar="MODEL[@WEIGHTS]", help=f"MODEL is {options.MODELS}."),
    dataset: str = Option("digits", metavar="SPEC", help=f"{options.DATASETS}."),
    criteria: list[str] = options.CRITERIA,
    out: Path | None = options.output(
        "Write the result to this .parquet file, its table to a .csv file, or draw it (.png, .svg or .pdf).",
        ".parquet",
        ".csv",
        ".png",
        ".svg",
        ".pdf",
    ),
    **chosen: Any,
) -> None:
    """The non-linearity signature of a network on a data set.

    Prints one line for every activation: where it is, what it is, its affinity score (1 is affine). With --units blocks
    also one for every norm, attention, residual block, ..., and beside its score the one of the best affine map.
    """
    options.check([model], [dataset], chosen)

    from affscore.network.criteria import CRITERIA
    from affscore.network.result import brief
    from affscore.network.signature import signature as measure

    result = measure(model, dataset, criteria=options.chosen_criteria(criteria), **chosen)
    measured = result.metadata["criteria"]
    # the scores of blocks mislead without it
    shown = measured if criteria else [name for name in measured if name == "affine_fit"]
    asked = [column.name for name in shown for column in CRITERIA[name].columns]
    typer.echo(brief(result.summary, asked).to_string(float_format=lambda value: f"{value:.4f}", na_rep="-"))
    deliver(result, out)
