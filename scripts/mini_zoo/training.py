"""Training: one network, one task, one thread."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from affscore.models.card import ModelCard, seeded
from affscore.models.data.builtin import digits
from affscore.recorder.model_state import device_of
from companion.mini_zoo import MiniNetwork
from mini_zoo.recipes import Recipe

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
