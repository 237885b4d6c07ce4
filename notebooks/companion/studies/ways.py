"""Ways of training one architecture on the digits: with labels, with false ones, and without.

Each way is a function that changes the weights of a network, whose last layer is ``head``. Where it needs no labels,
a linear layer on top of what it has learned is fitted to the labels in the end, so that every network names digits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from sklearn.linear_model import LogisticRegression
from torch import Tensor, nn

from affscore import load_model
from companion.mini_zoo.distorted_digits import distorted, shifted
from companion.mini_zoo.training import Loss, Recipe, naming_loss, optimise

FALSE_LABELS = 0.4
"""Share of the training images with a label drawn at random, under ``label-noise``."""

TEMPERATURE = 0.2
"""Of the contrastive loss."""

SOFTENED = 4.0
"""Temperature of the teacher's outputs."""

TEACHER = "mini:digitsnet"

Way = Callable[..., nn.Module]


def supervised(model: nn.Module, images: Tensor, labels: Tensor, recipe: Recipe, **more: Any) -> nn.Module:
    """With all labels, on images that are moved at random: the training of the mini zoo."""
    return optimise(model, len(images), naming_loss(model, images, labels, shifted), recipe, **more)


def label_noise(model: nn.Module, images: Tensor, labels: Tensor, recipe: Recipe) -> nn.Module:
    """The same with false labels: 40 % of the images have one that is drawn once and for all."""
    generator = torch.Generator().manual_seed(recipe.seed)
    false = torch.rand(len(labels), generator=generator) < FALSE_LABELS
    drawn = torch.randint(0, 10, (len(labels),), generator=generator)
    return supervised(model, images, torch.where(false, drawn, labels), recipe)


def unchanged(model: nn.Module, images: Tensor, labels: Tensor, recipe: Recipe) -> nn.Module:
    """With all labels, on images as they are."""
    return optimise(model, len(images), naming_loss(model, images, labels, lambda some, _: some), recipe)


def wrong_labels(labels: Tensor, share: float, seed: int, classes: int = 10) -> Tensor:
    """The labels, of which a share is wrong: each of these another one of the classes, all as likely.

    >>> labels = torch.arange(10).repeat(10)
    >>> int((wrong_labels(labels, 0.2, 0) != labels).sum())
    20
    """
    generator = torch.Generator().manual_seed(seed)
    chosen = torch.randperm(len(labels), generator=generator)[: round(share * len(labels))]
    changed = labels.clone()
    changed[chosen] = (labels[chosen] + torch.randint(1, classes, (len(chosen),), generator=generator)) % classes
    return changed


def noise(model: nn.Module, images: Tensor, labels: Tensor, recipe: Recipe, share: float) -> nn.Module:
    """With a share of wrong labels, on images as they are."""
    return unchanged(model, images, wrong_labels(labels, share, recipe.seed), recipe)


def rotation(model: nn.Module, images: Tensor, labels: Tensor, recipe: Recipe) -> nn.Module:
    """Without labels: by how many quarters of a turn was the image rotated? (Gidaris et al., 2018)."""
    model.head = nn.Linear(_width(model), 4)

    def loss_of(chosen: Tensor, generator: torch.Generator) -> Tensor:
        moved = shifted(images[chosen], generator)
        turned = torch.cat([torch.rot90(moved, turns, dims=(2, 3)) for turns in range(4)])
        return F.cross_entropy(model(turned), torch.arange(4).repeat_interleave(len(moved)))

    return _without_labels(model, images, labels, recipe, loss_of)


def contrastive(model: nn.Module, images: Tensor, labels: Tensor, recipe: Recipe) -> nn.Module:
    """Without labels: two distortions of one image shall be near each other (SimCLR, Chen et al., 2020)."""
    width = _width(model)
    model.head = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))

    def loss_of(chosen: Tensor, generator: torch.Generator) -> Tensor:
        views = torch.cat([distorted(images[chosen], generator) for _ in range(2)])
        points = F.normalize(model(views))
        alike = points @ points.T / TEMPERATURE
        alike = alike.masked_fill(torch.eye(len(alike), dtype=torch.bool), -torch.inf)
        return F.cross_entropy(alike, torch.arange(len(alike)).roll(len(chosen)))

    return _without_labels(model, images, labels, recipe, loss_of)


def distillation(model: nn.Module, images: Tensor, labels: Tensor, recipe: Recipe) -> nn.Module:
    """Without labels: the softened outputs of a trained network are to be matched (Hinton et al., 2015)."""
    teacher = load_model(TEACHER).eval()

    def loss_of(chosen: Tensor, generator: torch.Generator) -> Tensor:
        moved = shifted(images[chosen], generator)
        with torch.no_grad():
            wanted = F.log_softmax(teacher(moved) / SOFTENED, dim=1)
        given = F.log_softmax(model(moved) / SOFTENED, dim=1)
        return SOFTENED**2 * F.kl_div(given, wanted, log_target=True, reduction="batchmean")

    return optimise(model, len(images), loss_of, recipe)


def untrained(model: nn.Module, images: Tensor, labels: Tensor, recipe: Recipe) -> nn.Module:
    """Not at all."""
    return model.eval()


WAYS: dict[str, Way] = {
    "supervised": supervised,
    "label-noise": label_noise,
    "rotation": rotation,
    "contrastive": contrastive,
    "distillation": distillation,
}
"""Those of chapter 12, by the name that a table has in its column ``way``."""

NOISES = {f"noise-{share}": share for share in (0.2, 0.4, 0.6, 0.8, 1.0)}

REGION_WAYS: dict[str, Way] = {
    "vanilla": unchanged,
    "augmented": supervised,
    **{name: partial(noise, share=share) for name, share in NOISES.items()},
}
"""Those of chapter 15, as the poster calls them: without and with moved images, with a share of wrong labels."""

ALL_WAYS: dict[str, Way] = {**WAYS, **REGION_WAYS, "untrained": untrained}

SETTINGS: dict[str, dict[str, Any]] = {
    "label-noise": {"false_labels": FALSE_LABELS},
    "contrastive": {"temperature": TEMPERATURE},
    "distillation": {"temperature": SOFTENED, "teacher": TEACHER},
}
"""What else decides the result of a way."""


def _without_labels(model: nn.Module, images: Tensor, labels: Tensor, recipe: Recipe, loss_of: Loss) -> nn.Module:
    """Train, and put a layer that was fitted to the labels in the place of the last one."""
    width = _width(model)
    optimise(model, len(images), loss_of, recipe)
    model.head = nn.Identity()
    with torch.no_grad():
        features = model(images)
    fitted = LogisticRegression(max_iter=2000).fit(features.numpy(), labels.numpy())
    model.head = nn.Linear(width, len(fitted.classes_))
    with torch.no_grad():
        model.head.weight.copy_(torch.from_numpy(fitted.coef_))
        model.head.bias.copy_(torch.from_numpy(fitted.intercept_))
    return model


def _width(model: nn.Module) -> int:
    """How many numbers go into the last layer."""
    head = model.get_submodule("head")
    return next(module for module in head.modules() if isinstance(module, nn.Linear)).in_features
