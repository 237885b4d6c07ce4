"""The command ``affscore``: its subcommands, and how they end."""

from __future__ import annotations

import sys
import warnings

import typer
from typer import Option

import affscore
from affscore.cli.commands import compare, multiverse, signature, survey
from affscore.errors import AffscoreError, AffscoreWarning

app = typer.Typer(name="affscore", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
for command in (signature, multiverse, survey, compare):
    app.command()(command)

# typer itself does not export it, and where it comes from depends on typer's version
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]


def _version(show: bool) -> None:
    if show:
        typer.echo(f"affscore {affscore.__version__}")
        raise typer.Exit


@app.callback()
def _top(show: bool = Option(False, "--version", callback=_version, is_eager=True, help="Show the version.")) -> None:
    """Measure how non-linear a neural network is, layer by layer."""


def main(app: typer.Typer = app, name: str = "affscore COMMAND") -> None:
    """Run the command; an error that the user can repair is one sentence and a non-zero exit."""
    try:
        with warnings.catch_warnings(action="ignore", category=UserWarning):  # of others
            warnings.simplefilter("always", AffscoreWarning)
            # when they are given, which may be before a long run
            warnings.showwarning = lambda message, *_: typer.echo(f"warning: {message}", err=True)
            code = app(standalone_mode=False)
    except AffscoreError as error:
        typer.echo(f"affscore: {error}", err=True)
        sys.exit(1)
    except _UsageError as error:
        text = error.format_message()  # type: ignore[attr-defined]  # of every usage error
        if type(error).__name__ == "NoArgsIsHelpError":
            typer.echo(text)
        else:
            sentence = " ".join(text.split()).rstrip(".")
            typer.echo(f"affscore: {sentence[:1].lower()}{sentence[1:]} ({name} --help shows the options)", err=True)
        sys.exit(2)
    sys.exit(code if isinstance(code, int) else 0)
