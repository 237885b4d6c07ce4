"""How long and how fast each network of the mini zoo is trained."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Recipe:
    """AdamW with one cycle of the learning rate.

    Attributes:
        epochs: How often each training image is seen.
        rate: The largest learning rate.
        batch_size: Images of a step.
        weight_decay: As of AdamW.
        seed: Of the random weights, the order and the changes of the images.
        version: Goes up when the training changes in another way.
    """

    epochs: int = 20
    rate: float = 4e-3
    batch_size: int = 64
    weight_decay: float = 1e-2
    seed: int = 0
    version: int = 1


FAMILIES: dict[str, dict[str, Any]] = {
    "alexnet": {"epochs": 30}, "vgg": {"epochs": 30}, "googlenet": {"epochs": 12}, "inception": {"epochs": 12},
    "resnet18": {"epochs": 20}, "resnet": {"epochs": 15}, "squeezenet": {"epochs": 50}, "densenet": {"epochs": 15},
    "mnasnet": {"epochs": 25}, "mobilenet": {"epochs": 25}, "shufflenet": {"epochs": 30},
    "efficientnet": {"epochs": 20}, "vit": {"epochs": 50, "rate": 8e-3}, "swin": {"epochs": 20},
    "convnext": {"epochs": 20},
    "vgg8": {"epochs": 150, "weight_decay": 0.0}, "resnet8": {"epochs": 150, "weight_decay": 0.0},
}  # fmt: skip
"""What differs from the default, by the beginning of the names: as many epochs as each needs to learn the digits."""


HARD: dict[str, dict[str, Any]] = {
    "": {"rate": 8e-3}, "alexnet": {"rate": 4e-3}, "vgg": {"rate": 4e-3}, "squeezenet": {"rate": 4e-3},
    "googlenet": {"rate": 4e-3, "epochs": 20}, "inception": {"rate": 8e-3, "epochs": 20},
    "resnet": {"rate": 8e-3, "epochs": 20}, "densenet": {"rate": 8e-3, "epochs": 20},
    "mnasnet": {"rate": 8e-3, "epochs": 40}, "vit": {"rate": 2e-3, "epochs": 80}, "vit_h": {"rate": 2e-3, "epochs": 40},
}  # fmt: skip
"""What differs on the hard task, which has 10 steps of 20 images an epoch: few steps want a larger rate."""


def recipe_of(name: str) -> Recipe:
    """The recipe of a network: the longest beginning of its name that is in the table counts.

    >>> recipe_of("digitsnet").epochs, recipe_of("resnet18").epochs, recipe_of("resnet34").epochs
    (20, 20, 15)
    """
    return replace(Recipe(), **_of(name, FAMILIES))


def hard_recipe_of(name: str) -> Recipe:
    """The recipe of a network for the hard task.

    >>> hard_recipe_of("resnet34").epochs, hard_recipe_of("swin_t").epochs, hard_recipe_of("vit_b_16").rate
    (20, 20, 0.002)
    """
    return replace(recipe_of(name), batch_size=20, **_of(name, HARD))


def _of(name: str, table: dict[str, dict[str, Any]]) -> dict[str, Any]:
    begins = max((start for start in table if name.startswith(start)), key=len, default=None)
    return {} if begins is None else table[begins]
