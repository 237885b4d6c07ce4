"""The command ``affscore``."""

from __future__ import annotations

import re
import shlex
import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer

import affscore
from affscore.errors import AffscoreError

__all__ = ["app", "main"]

app = typer.Typer(
    name="affscore",
    help="Measure how non-linear a neural network is, layer by layer.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(show: bool) -> None:
    if show:
        typer.echo(f"affscore {affscore.__version__}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
def signature(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL[@WEIGHTS]",
            help="A torchvision name, timm:NAME, hf:NAME (or a folder, or a config.json), mini:NAME or "
            "path/to/file.py:factory; WEIGHTS is DEFAULT, random, the name of a torchvision weight, a tag of timm, "
            "or a file.",
        ),
    ],
    dataset: Annotated[
        str,
        typer.Option(
            metavar="SPEC",
            help="digits, random, cifar10, cifar100, fashion-mnist (or one class: cifar10:cat), imagenet:DIR, "
            "folder:DIR, text:FILE[@TOKENIZER] or tokens:FILE.",
        ),
    ] = "digits",
    n: Annotated[int, typer.Option(help="Images in a batch of the statistic.")] = 512,
    images: Annotated[int | None, typer.Option(help="How many images in all (default: all there are).")] = None,
    reduction: Annotated[str, typer.Option(help="mean, sum, flatten, sample or published.")] = "mean",
    order: Annotated[str, typer.Option(help="activate-first or reduce-first.")] = "activate-first",
    covariance: Annotated[str, typer.Option(help="ledoit-wolf or empirical.")] = "ledoit-wolf",
    criteria: Annotated[bool, typer.Option(help="Compute the criteria of tables 1 and 2, too.")] = True,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, ...")] = "auto",
    batch_size: Annotated[int, typer.Option(help="Images that go through the network at once.")] = 64,
    whole: Annotated[
        bool, typer.Option("--whole", help="Score all images together, under the paired coupling, not in batches.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Fixes random weights, and the choice of images.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Write the result to this Parquet file.")] = None,
) -> None:
    """The non-linearity signature of a network on a data set.

    Prints one line for every activation: where it is, what it is, its affinity score (1 is affine).
    """
    from affscore.network.signature import signature as measure
    from affscore.survey.store import check_destination, write_signature

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
        criteria=criteria,
        device=device,
        batch_size=batch_size,
        seed=seed,
        whole=whole,
    )
    shown = ["layer", "call", "activation", "kind", "depth", "width", "score", "score_std"]
    typer.echo(result.summary[shown].to_string(float_format=lambda value: f"{value:.4f}", na_rep="-"))
    typer.echo(repr(result))
    for note in result.notes:
        typer.echo(f"note: {note}", err=True)
    if out is not None:
        result.metadata["command"] = shlex.join(_without_folders(word) for word in ["affscore", *sys.argv[1:]])
        write_signature(result, out)
        typer.echo(f"written to {out}", err=True)


def _without_folders(word: str) -> str:
    """A word of the command with files by their base names: a folder of this machine means nothing elsewhere."""
    return re.sub(r"[^@:=,]*/", "", word.rstrip("/"))


def main() -> None:
    """Run the command; an error that the user can repair is one sentence and a non-zero exit."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # what is worth saying is in the notes
            app()
    except AffscoreError as error:
        typer.echo(f"affscore: {error}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
