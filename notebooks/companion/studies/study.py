"""What is measured for one table: a study."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from companion.studies.slopes import Slopes
from companion.studies.trainings import Training

DRAWS = 49
"""Random subsets of a study of classes."""


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
        whole: Whether all images are measured as one batch, too, under the pairing alone: rows with n = images.
        images: How many images of each data set; None for all there are.
        halves: Whether the first data set is measured in batches of half the size, too: how far chance moves a score.
        slopes: Trainings that pull slopes to 1; their results are the table.
        norms: Of how many images of the first data set batch norms are given the statistics; each network is measured
            as it is, and with these.
        paths: Of how many images closed paths are followed through the linear regions of each network.
        subsets: A data set of which so many images are drawn at random, :data:`DRAWS` times, and measured likewise.
        blocks: Of how many images, each, the blocks of the networks are measured as one batch, under a mean over
            positions and with a sampled one; that is the table then.
        at: At which single positions of a text networks are measured, too.
        sentences: How many tokens the sentences have that networks of text read in the place of windows.
    """

    trainings: Sequence[Training] = ()
    slopes: Sequence[Slopes] = ()
    models: Sequence[str] = ()
    datasets: Sequence[str] = ("digits",)
    n: Sequence[int] = (512,)
    criteria: bool = False
    bias: str = "none"
    whole: bool = False
    images: int | None = None
    halves: bool = False
    norms: int = 0
    paths: int = 0
    subsets: str = ""
    blocks: Sequence[int] = ()
    at: Sequence[int] = ()
    sentences: int = 0

    @property
    def course(self) -> bool:
        """Whether its networks are measured while they train."""
        return any(training.every for training in self.trainings)

    @property
    def measurements(self) -> list[tuple[str, int, int]]:
        """Data set, size of a batch, and seed of the choice of images, of each measurement of every network.

        >>> Study(datasets=["digits:1"], n=[58], images=58, subsets="digits").measurements[:3]
        [('digits:1', 58, 0), ('digits', 58, 1), ('digits', 58, 2)]
        """
        found = [(name, n, 0) for name in self.datasets for n in self.n]
        found += [(self.datasets[0], n // 2, 0) for n in self.n if self.halves]
        return found + [(self.subsets, n, draw) for n in self.n for draw in range(1, DRAWS + 1) if self.subsets]

    @property
    def needs(self) -> set[str]:
        """The folders that the command must be given.

        >>> Study(models=["resnet18@{weights}/mine.pth"]).needs
        {'weights'}
        """
        return set(re.findall(r"{(\w+)}", " ".join([*self.models, *self.datasets, self.subsets])))

    @property
    def sample(self) -> dict[str, Any]:
        """Which images are taken, where that is not all of them."""
        draws = DRAWS if self.subsets else 0
        about = {
            "images": self.images,
            "halves": self.halves,
            "subsets": self.subsets,
            "draws": draws,
            "norms": self.norms,
            "paths": self.paths,
            "blocks": [*self.blocks],
            "at": list(self.at),
            "sentences": self.sentences,
        }
        return {name: value for name, value in about.items() if value}

    @property
    def corrections(self) -> dict[str, Any]:
        """What is measured for the dependence on n, where that is asked for."""
        return ({"bias": self.bias} if self.bias != "none" else {}) | ({"whole": True} if self.whole else {})

    def at_places(self, places: Mapping[str, str]) -> Study:
        """The same study with the folders in their places."""
        models, datasets = ([one.format(**places) for one in some] for some in (self.models, self.datasets))
        return replace(self, models=models, datasets=datasets, subsets=self.subsets.format(**places))
