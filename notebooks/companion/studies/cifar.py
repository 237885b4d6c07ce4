"""Training on CIFAR as Gamba et al. do: stochastic gradient descent with two cuts of the rate, on a GPU or the CPU.

Source: the defaults of their published code; which settings the poster's networks had is not printed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from affscore.models import Preprocessing, card_of
from affscore.models.data.images import images_of
from affscore.models.preprocessing import Expected
from affscore.recorder.model_state import choose_device
from companion.mini_zoo.training import Recipe, one_thread
from companion.studies.trainings import Split, Training
from companion.studies.ways import NOISES, wrong_labels

CLASSES = {"cifar10": 10, "cifar100": 100}

SPLIT_SEED = 42
"""Of the choice of training images, the same in every training."""


@dataclass(frozen=True)
class PosterRecipe(Recipe):
    """Stochastic gradient descent whose rate is cut after a half and after three quarters of the epochs.

    Attributes:
        rate: The learning rate at first.
        momentum: Of the steps.
        cut: What the rate is multiplied by, each time.
        padding: How many pixels the images of ``augmented`` are moved at most; each second one is mirrored, too.
        images: How many of the training images are used.
    """

    epochs: int = 300
    rate: float = 0.1
    batch_size: int = 128
    weight_decay: float = 0.0
    momentum: float = 0.9
    cut: float = 0.2
    padding: int = 4
    images: int = 49_000


@dataclass(frozen=True)
class CifarTraining(Training):
    """A network of the poster that is trained once.

    Attributes:
        dataset: "cifar10" or "cifar100".
    """

    dataset: str = "cifar10"

    @property
    def recipe(self) -> PosterRecipe:
        """The same for all networks and ways."""
        return PosterRecipe(seed=self.seed)

    def describe(self) -> dict[str, Any]:
        """What its result depends on, in the types that JSON knows."""
        return {**super().describe(), "data": self.dataset, "split": SPLIT_SEED}

    def images(self, model: nn.Module, part: Split) -> tuple[Tensor, Tensor]:
        """The images of a part as the network expects them, those of training without the ones set apart, and classes.

        Raises:
            AffscoreError: The files are neither here nor can they be downloaded.
        """
        images, labels = images_and_labels(self.dataset, part, card_of(model).preprocessing)
        if part == "test":
            return images, labels
        chosen = torch.randperm(len(images), generator=torch.Generator().manual_seed(SPLIT_SEED))[: self.recipe.images]
        return images[chosen], labels[chosen]

    def given(self, labels: Tensor) -> Tensor:
        """The labels that the training images are given, wrong ones with them."""
        return wrong_labels(labels, NOISES.get(self.way, 0.0), self.seed, CLASSES[self.dataset])

    def fit(self, model: nn.Module, images: Tensor, labels: Tensor, after: Callable[[], Any] = int) -> nn.Module:
        """The network trained on these images, in evaluation mode, on a GPU where there is one."""
        recipe, device = self.recipe, choose_device("auto", model)
        expected = card_of(model).preprocessing
        assert isinstance(expected, Preprocessing)
        black = expected(torch.zeros(1, expected.size, expected.size))[:, :1, :1].to(device)
        model, images, labels = model.to(device).train(), images.to(device), self.given(labels).to(device)
        with one_thread():
            generator = torch.Generator().manual_seed(recipe.seed)  # on the CPU: the same numbers for every device
            optimizer = torch.optim.SGD(
                model.parameters(), lr=recipe.rate, momentum=recipe.momentum, weight_decay=recipe.weight_decay
            )
            cuts = [recipe.epochs // 2, 3 * recipe.epochs // 4]
            schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, cuts, recipe.cut)
            for _ in range(recipe.epochs):
                for chosen in torch.randperm(len(images), generator=generator).split(recipe.batch_size):
                    batch = images[chosen]
                    if self.way == "augmented":
                        batch = augmented(batch, black, recipe.padding, generator)
                    loss = F.cross_entropy(model(batch), labels[chosen])
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    after()
                schedule.step()
        return model.eval()


def images_and_labels(name: str, part: Split, expected: Expected) -> tuple[Tensor, Tensor]:
    """All images of the "train" or the "test" part, and the numbers of their classes.

    Args:
        name: "cifar10" or "cifar100".
        part: Which.
        expected: What a network expects of an image.

    Raises:
        AffscoreError: The files are neither here nor can they be downloaded.
    """
    data = images_of(name, part).prepared_for(expected)
    number = {label: place for place, label in enumerate(data.classes)}
    labels = torch.tensor([number[label] for label in data.labels or ()])
    return torch.stack([data[place] for place in range(len(data))]), labels


def augmented(images: Tensor, black: Tensor, padding: int, generator: torch.Generator) -> Tensor:
    """Each image moved by a random number of pixels in both directions, and mirrored or not, as likely.

    Args:
        images: As the network expects them, (N, C, H, W).
        black: What black pixels are for the network, (C, 1, 1); they come in at the border.
        padding: By how many pixels at most.
        generator: Of the CPU; where the random numbers come from.

    >>> image = torch.arange(1.0, 10.0).view(1, 1, 3, 3)
    >>> augmented(image, torch.zeros(1, 1, 1), 1, torch.Generator().manual_seed(0)).int()
    tensor([[[[5, 4, 0],
              [8, 7, 0],
              [0, 0, 0]]]], dtype=torch.int32)
    """
    count, height, width = len(images), *images.shape[2:]
    top, left = torch.randint(0, 2 * padding + 1, (2, count, 1), generator=generator)
    rows, columns = top + torch.arange(height), left + torch.arange(width)
    mirrored = torch.rand(count, 1, generator=generator) < 0.5
    columns = torch.where(mirrored, columns.flip(1), columns)
    padded = F.pad(images - black, (padding,) * 4) + black
    number = torch.arange(count)[:, None, None]
    return padded[number, :, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)
