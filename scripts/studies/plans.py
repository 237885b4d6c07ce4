"""Which networks each study trains and measures, on which data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from affscore.errors import AffscoreError
from studies.trainings import Training
from studies.ways import WAYS

EXAMPLES = Path(__file__).parents[2] / "examples"
MATCHED = "examples/matched_networks.py"

SEEDS = range(1, 10)
"""As many as figure 8 of the paper has."""

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
        bias: "extrapolated" adds scores that are corrected for the bias of a finite n.
        whole: Whether all images are measured as one batch, too, under the pairing; that has n = images.
    """

    trainings: Sequence[Training] = ()
    models: Sequence[str] = ()
    datasets: Sequence[str] = ("digits",)
    n: Sequence[int] = (512,)
    criteria: bool = False
    bias: str = "none"
    whole: bool = False

    def filled(self, **folders: Path | None) -> Study:
        """The same with the folders in the places of their names.

        Args:
            folders: By the names that stand in braces; None for one that was not given.

        Raises:
            AffscoreError: One is needed that was not given.

        >>> Study(models=["net.py:small@{weights}/small.pt"]).filled(weights=Path("here")).models
        ('net.py:small@here/small.pt',)
        """
        texts = " ".join((*self.models, *self.datasets))
        if lacking := [name for name, folder in folders.items() if folder is None and f"{{{name}}}" in texts]:
            raise AffscoreError(f"the study needs the folder of the {lacking[0]}: give --{lacking[0]} DIR")
        models, datasets = (tuple(text.format(**folders) for text in some) for some in (self.models, self.datasets))
        return replace(self, models=models, datasets=datasets)


STUDIES = {
    "seeds": Study([Training("mini:vgg16", "supervised", seed, every=19) for seed in SEEDS], criteria=True),
    "untrained": Study([Training("mini:vgg16", "untrained", seed) for seed in SEEDS]),
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
