"""What the networks of chapter 16 learn, and how long and how fast."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

import torch
from torch import Tensor

from affscore import AffscoreError
from affscore.models import Preprocessing
from affscore.models.data.images import digits
from affscore.models.naming import user_path
from companion.studies.cifar import augmented, images_and_labels
from companion.studies.translation import numbers, wmt14
from companion.studies.ways import wrong_labels

Samples = tuple[Tensor, Tensor, Tensor, Tensor]
"""Images and labels to learn from, and those to test with."""

SMALL = Preprocessing(channels=1, size=16, resize=16, mean=(0.305,), std=(0.359,))
"""Grey images of 16 x 16 pixels."""

CIFAR = Preprocessing(size=32, resize=32, mean=(0.4914, 0.4822, 0.4465), std=(0.2470, 0.2435, 0.2616))
"""As examples/cifar_networks.py has it for ResNet-18 and ResNet-50."""

FEW = 120
"""Images of the task that has few: a tenth of all."""

WRONG = 0.4
"""Share of wrong labels of the task that has some."""

PAIRS = (2400, 1200)
"""Of digits to be added, to learn from and to test with."""

WMT14 = "AFFSCORE_WMT14"
"""The environment variable that names the folder of WMT14."""


@dataclass(frozen=True)
class Task:
    """Samples and a recipe.

    Attributes:
        samples: Loads them.
        half: After so many epochs ordinary training is done, and the rate begins again; there are twice as many in all.
        rate: The largest learning rate; it falls to 0 by a cosine, twice.
        slope_rate: That of the slopes, likewise.
        more: Other arguments of :func:`companion.slope_training.train`.
        device: Where it is trained.
    """

    samples: Callable[[], Samples]
    half: int = 10
    rate: float = 4e-3
    slope_rate: float = 2e-2
    more: dict[str, Any] = field(default_factory=lambda: {"weight_decay": 1e-2})
    device: str = "cpu"

    def annealed(self, largest: float, epoch: int) -> float:
        """The learning rate of an epoch.

        >>> task = TASKS["digits"]
        >>> [round(task.annealed(1.0, epoch), 2) for epoch in (0, 5, 9, 10)]
        [1.0, 0.5, 0.02, 1.0]
        """
        return largest * 0.5 * (1 + math.cos(math.pi * (epoch % self.half) / self.half))


@lru_cache
def _digits() -> Samples:
    (images, labels), (test_images, test_labels) = digits("train"), digits("test")
    prepared = (torch.stack([SMALL(image) for image in some]) for some in (images, test_images))
    return next(prepared), labels, next(prepared), test_labels


def _few() -> Samples:
    """A tenth of the digits, each ten times, so that an epoch has as many steps."""
    images, labels, *test = _digits()
    times = len(images) // FEW
    return images[:FEW].repeat(times, 1, 1, 1), labels[:FEW].repeat(times), *test  # type: ignore[return-value]


def _noise() -> Samples:
    images, labels, *test = _digits()
    return images, wrong_labels(labels, WRONG, 0), *test  # type: ignore[return-value]


def _pairs(name: Callable[[Tensor, Tensor], Tensor]) -> Samples:
    """Two digits side by side, with one label."""
    images, labels, test_images, test_labels = _digits()
    generator = torch.Generator().manual_seed(0)

    def pairs(images: Tensor, labels: Tensor, count: int) -> tuple[Tensor, Tensor]:
        left, right = torch.randint(len(images), (2, count), generator=generator)
        return torch.cat([images[left], images[right]], dim=3), name(labels[left], labels[right])

    return *pairs(images, labels, PAIRS[0]), *pairs(test_images, test_labels, PAIRS[1])


def last_digit_of_sum(left: Tensor, right: Tensor) -> Tensor:
    """The label of the task ``sum``.

    >>> last_digit_of_sum(torch.tensor([7]), torch.tensor([8])).item()
    5
    """
    return (left + right) % 10


def _cifar(name: str) -> Samples:
    return *images_and_labels(name, "train", CIFAR), *images_and_labels(name, "test", CIFAR)


def _moved(images: Tensor, generator: torch.Generator) -> Tensor:
    """Images moved by up to 4 pixels, and mirrored or not."""
    black = CIFAR(torch.zeros(3, CIFAR.size, CIFAR.size))[:, :1, :1]
    return augmented(images, black, 4, generator)


def _wmt14() -> Samples:
    if not (folder := os.environ.get(WMT14)):
        raise AffscoreError(f"set ${WMT14} to a folder with train.en, train.de, test.en and test.de of WMT14")
    return wmt14(user_path(folder))


TASKS = {
    "digits": Task(_digits),
    "few": Task(_few),
    "noise": Task(_noise),
    "larger": Task(partial(_pairs, torch.maximum)),
    "sum": Task(partial(_pairs, last_digit_of_sum), half=20),  # with ten epochs it is not learned
    "numbers": Task(partial(numbers, 2000, 1000), half=20, rate=3e-3),
    **{
        name: Task(
            partial(_cifar, name), 60, 1e-3, 5e-3,
            {"weight_decay": 0.05, "batch_size": 128, "change": _moved}, "auto",
        )
        for name in ("cifar10", "cifar100")
    },
    "wmt14": Task(_wmt14, 5, 5e-4, 5e-3, {"batch_size": 128}, "auto"),
}  # fmt: skip
"""By name. ``sum`` is the one that no affine function can do. The last three are said to be those of Mehmeti-Göpel and
Disselhoff; their recipes were not at hand, and these are usual ones, which we have not run: ours, not the paper's."""
