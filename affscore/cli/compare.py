"""``affscore compare``: several networks, or one on several data sets, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from affscore.cli import options
from affscore.cli.words import command_line

__all__ = ["compare"]


@options.measuring("criteria")
def compare(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="A [B ...]",
            help=f"A network ({options.MODELS}), a finished result (FILE.parquet), or shipped:MODEL for one that "
            "comes with the package.",
        ),
    ],
    dataset: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SPEC",
            help=f"{options.DATASETS}. Repeat it to compare data sets, or classes of one.  [default: digits]",
        ),
    ] = None,
    datasets: options.Datasets = None,
    name: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="What to call a result. Repeat it, in their order.")
    ] = None,
    store: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Take results from this folder, and keep new ones there.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the figure to this .png, .svg or .pdf file.")
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write statistics and distances to this .csv file.")
    ] = None,
    **chosen: Any,
) -> None:
    """Compare signatures: statistics, dynamic time warping distances, and all of them in one figure.

    The options say how what is not finished is measured; finished results are taken as they are.
    """
    from affscore.experiments.comparison import compare as measure
    from affscore.network.files import check_destination

    if out is not None:
        check_destination(out, (".png", ".svg", ".pdf"))
    if csv is not None:
        check_destination(csv, (".csv",))
    chosen["criteria"] = store is not None  # in a store: what a survey would measure, so that nothing is there twice
    if store is not None:
        chosen["command"] = command_line()
    data = options.split(datasets)
    found = measure(*models, data=[*(dataset or []), *data] or ["digits"], names=name or None, store=store, **chosen)
    typer.echo(str(found))
    for file in (out, csv):
        if file is not None:
            found.save(file)
            typer.echo(f"written to {file}", err=True)
