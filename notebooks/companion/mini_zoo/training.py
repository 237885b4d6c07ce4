"""Training: one network, one task, one thread."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from affscore.errors import AffscoreError
from affscore.models.card import ModelCard, seeded
from affscore.models.data.images import digits
from affscore.recorder.model_state import device_of
from companion.mini_zoo import MiniNetwork

Change = Callable[[Tensor, torch.Generator], Tensor]


Loss = Callable[[Tensor, torch.Generator], Tensor]


AT_ONCE = 2048
"""So many images go through a network at once where it is only looked at: more than there are digits."""


def prepared(network: MiniNetwork | ModelCard, part: str) -> tuple[Tensor, Tensor]:
    """The digits as a network expects them, and which they are; ``part`` is "train" or "test"."""
    images, labels = digits("train" if part == "train" else "test")
    return torch.stack([network.preprocessing(image) for image in images]), labels


def fit(network: MiniNetwork, images: Tensor, labels: Tensor, change: Change, recipe: Recipe) -> nn.Module:
    """Train from scratch to name images.

    Args:
        network: Which network.
        images: Training images as the network expects them.
        labels: What they show.
        change: Changes the images of a step at random.
        recipe: How long and how fast.

    Returns:
        The network in evaluation mode. The same recipe on the same versions and processor gives the same weights.
    """
    with one_thread():
        model = seeded(network.build, recipe.seed)
    naming = naming_loss(model, images, labels, change)
    return optimise(model, len(images), naming, recipe)


def naming_loss(model: nn.Module, images: Tensor, labels: Tensor, change: Change) -> Loss:
    """The cross entropy of changed images."""
    return lambda chosen, generator: F.cross_entropy(model(change(images[chosen], generator)), labels[chosen])


def optimise(model: nn.Module, images: int, loss_of: Loss, recipe: Recipe, after: Callable[[], Any] = int) -> nn.Module:
    """Minimise a loss by AdamW with one cycle of the learning rate.

    Args:
        model: A network; its weights are changed.
        images: How many training images there are.
        loss_of: The loss, given the numbers of the images of a step and where random numbers come from.
        recipe: How long and how fast.
        after: Called after every step.

    Returns:
        The network in evaluation mode.
    """
    with one_thread():
        generator = torch.Generator().manual_seed(recipe.seed)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=recipe.weight_decay)
        steps = math.ceil(images / recipe.batch_size)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, recipe.rate, total_steps=recipe.epochs * steps)
        model.train()
        for _ in range(recipe.epochs):
            for chosen in torch.randperm(images, generator=generator).split(recipe.batch_size):
                loss = loss_of(chosen, generator)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()
                after()
        return model.eval()


def accuracy(model: nn.Module, images: Tensor, labels: Tensor) -> float:
    """Share of the images that the model names rightly."""
    model.eval()
    device = device_of(model)
    with one_thread(), torch.inference_mode():
        named = torch.cat([model(some.to(device)).argmax(dim=1).cpu() for some in images.split(AT_ONCE)])
        return float((named == labels).float().mean())


def standard_error(share: float, images: int) -> float:
    """Of a share of so many images: sqrt(p (1 - p) / N).

    >>> standard_error(0.5, 100)
    0.05
    """
    return math.sqrt(share * (1 - share) / images)


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread: the sums of another number of threads are rounded in another way."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


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


def layout(model: nn.Module) -> str:
    """A hash of the names and shapes of all weights: another for another architecture.

    >>> layout(nn.Linear(2, 3)) == layout(nn.Linear(2, 3)), layout(nn.Linear(2, 3)) == layout(nn.Linear(3, 3))
    (True, False)
    """
    shapes = sorted((name, list(value.shape)) for name, value in model.state_dict().items())
    return hashlib.sha256(json.dumps(shapes).encode()).hexdigest()[:16]


def half(model: nn.Module, name: str) -> dict[str, Tensor]:
    """The weights in 16 bits, without the counters of the batch normalisations, on which nothing depends.

    A variance below 6e-8 becomes 0, which the 1e-5 that is added to it makes good.

    Args:
        model: A trained network.
        name: Its name, for the message.

    Raises:
        AffscoreError: A weight that is no finite number of 16 bits.
    """
    state = {key: value for key, value in model.state_dict().items() if not key.endswith("num_batches_tracked")}
    weights = {key: (value.half() if value.is_floating_point() else value).contiguous() for key, value in state.items()}
    for key, value in weights.items():
        if not bool(value.isfinite().all()):
            largest = float(state[key].abs().max())
            raise AffscoreError(f"{key!r} of {name} must fit into 16 bits, got {largest}; train it with a smaller rate")
    return weights
