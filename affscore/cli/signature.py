"""``affscore signature``: one network on one data set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from affscore.cli import options
from affscore.cli.words import command_line

__all__ = ["signature"]


def signature(
    model: Annotated[str, typer.Argument(metavar="MODEL[@WEIGHTS]", help=f"MODEL is {options.MODELS}.")],
    dataset: Annotated[str, typer.Option(metavar="SPEC", help=f"{options.DATASETS}.")] = "digits",
    n: options.N = 512,
    images: options.Images = None,
    reduction: Annotated[str, typer.Option(help=f"{options.REDUCTIONS}.")] = "mean",
    order: Annotated[str, typer.Option(help=f"{options.ORDERS}.")] = "activate-first",
    covariance: options.Covariance = "ledoit-wolf",
    criteria: options.Criteria = True,
    criterion: options.Criterion = None,
    device: options.Device = "auto",
    batch_size: options.BatchSize = 64,
    whole: options.Whole = False,
    seed: options.Seed = 0,
    out: Annotated[Path | None, typer.Option(help="Write the result to this Parquet file.")] = None,
) -> None:
    """The non-linearity signature of a network on a data set.

    Prints one line for every activation: where it is, what it is, its affinity score (1 is affine).
    """
    from affscore.network.criteria import CRITERIA
    from affscore.network.files import check_destination
    from affscore.network.signature import signature as measure
    from affscore.network.table import brief

    if out is not None:
        check_destination(out)
    result = measure(
        model,
        dataset,
        n=n,
        images=images,
        reduction=reduction,  # type: ignore[arg-type]  # checked by the function
        order=order,  # type: ignore[arg-type]
        covariance=covariance,  # type: ignore[arg-type]
        criteria=options.chosen_criteria(criteria, criterion),
        device=device,
        batch_size=batch_size,
        seed=seed,
        whole=whole,
    )
    chosen = result.metadata["criteria"] if criterion else []
    asked = [column.name for name in chosen for column in CRITERIA[name].columns]
    typer.echo(brief(result.summary, asked).to_string(float_format=lambda value: f"{value:.4f}", na_rep="-"))
    about, *notes = repr(result).splitlines()
    typer.echo(about)
    for note in notes:
        typer.echo(note, err=True)
    if out is not None:
        result.metadata["command"] = command_line()
        result.save(out)
        typer.echo(f"written to {out}", err=True)
