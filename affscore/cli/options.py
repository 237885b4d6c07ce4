"""The options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

N = Annotated[int, typer.Option(help="Images in a batch of the statistic.")]
Images = Annotated[int | None, typer.Option(help="How many images in all (default: all there are).")]
Covariance = Annotated[str, typer.Option(help="ledoit-wolf or empirical.")]
Criteria = Annotated[bool, typer.Option(help="Compute the criteria of tables 1 and 2, too.")]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, ...")]
BatchSize = Annotated[int, typer.Option(help="Images that go through the network at once.")]
Whole = Annotated[
    bool, typer.Option("--whole", help="Score all images together, under the paired coupling, not in batches.")
]
Seed = Annotated[int, typer.Option(help="Fixes random weights, and the choice of images.")]

REDUCTIONS = "mean, sum, flatten, sample or published"
ORDERS = "activate-first or reduce-first"
MODELS = (
    "a torchvision name, timm:NAME, hf:NAME (or a folder, or a config.json), mini:NAME or path/to/file.py:factory; "
    "WEIGHTS is DEFAULT, random, the name of a torchvision weight, a tag of timm, or a file"
)
DATASETS = (
    "digits, random, cifar10, cifar100, fashion-mnist (or one class: cifar10:cat), imagenet:DIR, folder:DIR, "
    "text:FILE[@TOKENIZER] or tokens:FILE"
)
