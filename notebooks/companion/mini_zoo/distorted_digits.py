"""The hard task: few training images and strong distortions, five times over, so that accuracies differ."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from affscore import signature
from affscore.comparison import STATISTICS, signature_statistics
from companion.mini_zoo import MINI_NETWORKS
from companion.mini_zoo.training import Recipe, accuracy, fit, hard_recipe_of, layout, one_thread, prepared

SEEDS = range(5)
"""Each network is trained with each of them; a seed chooses the training images, too."""


EACH_DIGIT = 20
"""Training images of each digit."""


TEST_SEED = 2024
"""Of the distortions of the held-out images, which are the same for all networks."""


def describe(name: str) -> dict[str, Any]:
    """What a network's results on the hard task depend on, in the types that JSON knows."""
    return {
        "name": name,
        "recipe": {**asdict(hard_recipe_of(name)), "seed": list(SEEDS)},
        "layout": layout(MINI_NETWORKS[name].build()),
        "training_images": 10 * EACH_DIGIT,
        "distortions": {"degrees": DEGREES, "scale": SCALE, "move": MOVE, "noise": NOISE, "test_seed": TEST_SEED},
    }


def few_images(images: Tensor, labels: Tensor, seed: int) -> tuple[Tensor, Tensor]:
    """As many images of each digit, chosen at random."""
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(seed))
    chosen = torch.cat([order[labels[order] == digit][:EACH_DIGIT] for digit in range(10)])
    return images[chosen], labels[chosen]


def hard_test_images(images: Tensor) -> Tensor:
    """The held-out images, each distorted once and for all."""
    return distorted(images, torch.Generator().manual_seed(TEST_SEED))


def run(name: str, seed: int, recipe: Recipe | None = None) -> dict[str, Any]:
    """Train a network on the hard task and measure it.

    Args:
        name: Which network.
        seed: Chooses training images, random weights, order and distortions.
        recipe: How; None for the network's own.

    Returns:
        Name, seed, accuracy on the distorted held-out images in percent, and the statistics of the trained
        network's signature on the held-out images as they are (n = 512, ``mean``, activate first).
    """
    network = MINI_NETWORKS[name]
    images, labels = few_images(*prepared(network, "train"), seed)
    model = fit(network, images, labels, distorted, replace(recipe or hard_recipe_of(name), seed=seed))
    test_images, test_labels = prepared(network, "test")
    reached = accuracy(model, hard_test_images(test_images), test_labels)
    with one_thread():
        measured = signature(model, test_images, n=512, images=512, criteria=False, device="cpu", progress=False)
    statistics = signature_statistics({name: measured.scores}).to_dict("records")[0]
    return {
        "name": name,
        "seed": seed,
        "accuracy": 100 * reached,
        **{statistic: float(statistics[statistic]) for statistic in STATISTICS},
    }


SHIFT = 3
"""The training images are moved by up to this many pixels, so that the network learns shapes."""


def shifted(images: Tensor, generator: torch.Generator) -> Tensor:
    """Each image moved by a random number of pixels in both directions."""
    padded = F.pad(images, [SHIFT] * 4, value=float(images.min()))
    size = images.shape[-1]
    moves = torch.randint(0, 2 * SHIFT + 1, (len(images), 2), generator=generator).tolist()
    places = zip(padded, moves, strict=True)
    return torch.stack([image[:, top : top + size, left : left + size] for image, (top, left) in places])


DEGREES, SCALE, MOVE, NOISE = 20.0, 0.15, 0.1, 0.3
"""Of the hard task: largest angle, change of size, move (share of the side), standard deviation of the noise."""


def distorted(images: Tensor, generator: torch.Generator) -> Tensor:
    """Each image turned, scaled and moved at random, with noise on every pixel.

    The angle is uniform within 20 degrees to either side, the factor between 0.85 and 1.15, the move within 0.1 of
    the side in both directions; the noise is normal with 0.3 times the standard deviation of the data.

    Args:
        images: Prepared images (N, 1, H, W).
        generator: Where the random numbers come from.
    """
    many = len(images)
    angle, scale, right, down = (2 * torch.rand(many, 4, generator=generator) - 1).unbind(1)
    angle, scale = angle * math.radians(DEGREES), 1 / (1 + SCALE * scale)
    rows = [
        torch.stack([scale * angle.cos(), -scale * angle.sin(), 2 * MOVE * right], dim=1),
        torch.stack([scale * angle.sin(), scale * angle.cos(), 2 * MOVE * down], dim=1),
    ]
    grid = F.affine_grid(torch.stack(rows, dim=1), list(images.shape), align_corners=False)
    background = float(images.min())  # outside of the picture there is background, not grey
    moved = F.grid_sample(images - background, grid, align_corners=False) + background
    return moved + NOISE * torch.randn(images.shape, generator=generator)
