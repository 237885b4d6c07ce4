"""``affscore store``: look into a folder of results."""

from __future__ import annotations

import json
from pathlib import Path

import typer
from typer import Argument

from affscore.cli.words import say

store = typer.Typer(help="Look into a folder of results.", no_args_is_help=True)

_FOLDER = Argument(metavar="DIR", help="The folder of the results.")
_RESULT = Argument(metavar="NAME-or-KEY", help="The name of a file of the store, or the beginning of a key.")
_FILE = Argument(metavar="FILE", help="A file that ends in .csv or .parquet.")


@store.command()
def ls(folder: Path = _FOLDER) -> None:
    """List the results, and the jobs that are not finished."""
    from affscore.survey.tables import contents

    table, unreadable, unfinished = contents(folder)
    if not table.empty:
        typer.echo(table.to_string(index=False, float_format=lambda value: f"{value:.4f}"))
    typer.echo(f"{len(table)} {'result' if len(table) == 1 else 'results'}")
    say(unfinished)
    say((f"affscore: {problem}" for problem in unreadable), err=True)


@store.command()
def show(folder: Path = _FOLDER, name: str = _RESULT) -> None:
    """Show a result: how it was made, and a line for every activation, or specification."""
    from affscore.network.multiverse_result import load_result
    from affscore.network.notes import split_note
    from affscore.survey.tables import find

    result = load_result(find(folder, name))
    for key, value in result.metadata.items():
        if key == "notes":  # of each specification of a multiverse; those of all come at the end
            continue
        typer.echo(f"{key}: {value if isinstance(value, str) else json.dumps(value)}")
    summary = result.summary
    shown = [name for name in summary.columns if name != "flag" or summary["flag"].any()]
    typer.echo(summary[shown].to_string(float_format=lambda value: f"{value:.4f}", na_rep="-"))
    typer.echo(repr(result).splitlines()[0])
    say(": ".join(split_note(note)) for note in result.notes)


@store.command()
def export(folder: Path = _FOLDER, file: Path = _FILE) -> None:
    """Write the rows of all results to one file."""
    from affscore.survey.tables import export as write

    typer.echo(f"written to {write(folder, file)}", err=True)


@store.command()
def verify(folder: Path = _FOLDER) -> None:
    """Read every file and check its columns, values, batches and metadata; the exit status is 1 if one is wrong."""
    from affscore.survey.store import Store
    from affscore.survey.verify import verify as check

    found = check(folder)
    say((f"{name}: {problem}" for name, problems in found.items() for problem in problems), err=True)
    count = len(Store(folder).files())
    typer.echo(f"{count} {'file' if count == 1 else 'files'}, {len(found)} with problems")
    if found:
        raise typer.Exit(1)
