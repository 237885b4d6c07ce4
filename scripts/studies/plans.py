"""Which networks each study trains and measures, on which data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from studies.trainings import Training
from studies.ways import WAYS

EXAMPLES = Path(__file__).parents[2] / "examples"
MATCHED = "examples/matched_networks.py"

DEPTHS = (14, 20, 32, 18, 34)
"""Of the matched networks: three of He et al.'s kind for CIFAR-10, two of their kind for ImageNet."""


@dataclass(frozen=True)
class Study:
    """What is measured for one table.

    Attributes:
        trainings: The networks that are trained for it.
        models: Others, with their weights; ``{weights}`` stands for a folder that the command is given.
        datasets: On which data, each; ``{images}`` stands for a folder likewise.
        n: Sizes of a batch, each.
        criteria: Whether the papers' criteria are measured, too, under the default specification.
    """

    trainings: Sequence[Training] = ()
    models: Sequence[str] = ()
    datasets: Sequence[str] = ("digits",)
    n: Sequence[int] = (512,)
    criteria: bool = False


STUDIES = {
    "seeds": Study([Training("mini:vgg16", "supervised", seed) for seed in range(1, 10)], criteria=True),
    "shortcuts": Study(
        [
            Training(f"{MATCHED}:{kind}{depth}", "supervised", seed)
            for depth in DEPTHS
            for seed in range(1, 4)
            for kind in ("residual", "plain")
        ]
    ),
    "other-training": Study(
        [Training("mini:resnet18", way, seed) for way in WAYS for seed in range(1, 4)], criteria=True
    ),
}
"""By the names of their tables (:func:`affscore.survey.studies.load_study`)."""
