"""The options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

N = Annotated[int, typer.Option(help="Samples (images, windows of text) in a batch of the statistic.")]
Images = Annotated[int | None, typer.Option(help="How many samples in all (default: all there are).")]
Covariance = Annotated[str, typer.Option(help="ledoit-wolf or empirical.")]
Criteria = Annotated[bool, typer.Option(help="Compute the criteria of tables 1 and 2, too.")]
Criterion = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME,...",
        help="Compute these criteria instead (cka,r2,nlc, say), or all; an unknown name is answered with their list.",
    ),
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, ...")]
BatchSize = Annotated[int, typer.Option(help="Samples that go through the network at once.")]
Whole = Annotated[
    bool, typer.Option("--whole", help="Score all samples together, under the paired coupling, not in batches.")
]
Seed = Annotated[int, typer.Option(help="Fixes random weights, and the choice of samples.")]

REDUCTIONS = "mean, sum, flatten, sample or published"
ORDERS = "activate-first or reduce-first"
MODELS = (
    "a torchvision name, timm:NAME, hf:NAME (or a folder, or a config.json), mini:NAME or path/to/file.py:factory; "
    "WEIGHTS is DEFAULT, random, the name of a torchvision weight, a tag of timm, or a file"
)
DATASETS = (
    "digits, random, cifar10, cifar100, fashion-mnist (or one class: cifar10:cat), imagenet:DIR, folder:DIR, "
    "text:FILE[@TOKENIZER], tokens:FILE, ... (the message on an unknown name lists all)"
)


def chosen_criteria(some: bool, names: list[str] | None) -> bool | str:
    """What ``--criteria`` and ``--criterion`` say together, as :func:`affscore.signature` takes it.

    >>> chosen_criteria(True, None), chosen_criteria(True, ["cka,nlc", "r2"])
    (True, 'cka,nlc,r2')
    """
    if not names:
        return some
    if not some:
        raise typer.BadParameter("--no-criteria and --criterion contradict each other")
    return ",".join(split(names))


def split(values: list[str] | None) -> list[str]:
    """Names out of lists that are separated by commas.

    >>> split(["a,b", "c"])
    ['a', 'b', 'c']
    """
    return [name.strip() for value in values or [] for name in value.split(",") if name.strip()]
