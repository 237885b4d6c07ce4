"""``affscore compare``: several networks, or one on several data sets, side by side."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import typer
from typer import Argument, Option

from affscore.cli import options
from affscore.cli.words import command_line, say_notes, write
from affscore.models.paths import readable_file

_REPEAT = "Repeat it to compare data sets, or classes of one.  [default: digits]"


@options.measuring("units")
def compare(
    models: list[str] = Argument(
        metavar="A [B ...]", help=f"A network ({options.MODELS}) or a finished result (FILE.parquet)."
    ),
    dataset: list[str] = Option([], metavar="SPEC", help=f"{options.DATASETS}. {_REPEAT}"),
    datasets: list[str] = options.DATASETS_BY_COMMAS,
    name: list[str] = Option([], metavar="NAME", help="What to call a result. Repeat it, in their order."),
    store: Path | None = Option(None, metavar="DIR", help="Take results from this folder, and keep new ones there."),
    out: Path | None = options.output("Write the figure to this .png, .svg or .pdf file.", ".png", ".svg", ".pdf"),
    csv: Path | None = options.output("Write statistics and distances to this .csv file.", ".csv"),
    **chosen: Any,
) -> None:
    """Compare signatures: statistics, dynamic time warping distances, and all of them in one figure.

    Prints a row of statistics for each result, the matrix of the distances, and for each pair of networks that are
    measured now the difference of their mean scores with its interval. One result alone is described and drawn.
    The options say how what is not finished is measured; finished results are taken as they are.
    """
    data = [*dataset, *datasets] or ["digits"]
    finished = [model for model in models if model.endswith(".parquet") and readable_file(model)]
    options.check([model for model in models if model not in finished], data, chosen)

    from affscore.comparison.compare import compare as measure

    chosen["criteria"] = store is not None  # in a store: what a survey would measure, so that nothing is there twice
    if store is not None:
        chosen["command"] = command_line()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the result prints them
        found = measure(*models, data=data, names=name or None, store=store, **chosen)
    typer.echo(str(found))
    say_notes(found)
    write(found.save, out, csv)
