# ruff: noqa: NPY002  # what is global is what a measurement may disturb
"""Small trainings in which everything is random that can be, for the tests of the tracker."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from affscore.network.tracker import Tracker


class Moody(nn.Module):
    """Draws random numbers; in training mode it notes its passes in a buffer and attributes, and keeps a cache."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("passes", torch.zeros(()))
        self.seen, self.last, self.cache, self.sum = [], None, {}, torch.zeros(())

    def forward(self, x):
        if self.training:
            self.passes += 1
            self.sum += x.detach().mean()
            self.seen.append(len(x))
            self.last = x.detach().mean()
            self.cache.setdefault("scale", 1 + 0.01 * torch.rand(()))  # drawn once, at the first pass
        noise = 0.01 * torch.randn(()) + 0.01 * np.random.rand() + 0.01 * random.random()
        return self.cache.get("scale", 1.0) * x + noise


class Augmented(Dataset):
    """Images that are turned, shifted and scaled by numbers of Python, NumPy and PyTorch."""

    def __init__(self, count: int = 96) -> None:
        generator = torch.Generator().manual_seed(1)
        self.images = torch.randn(count, 1, 8, 8, generator=generator)
        self.labels = torch.randint(4, (count,), generator=generator)

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index):
        image = self.images[index].roll(random.randrange(3), dims=-1) * np.random.uniform(0.9, 1.1)
        return (image + 0.1 * torch.randn(1, 8, 8)).float(), self.labels[index]


def network(seed: int = 0) -> nn.Module:
    """A network with batch norm, dropout, and a moody module."""
    torch.manual_seed(seed)
    return nn.Sequential(
        nn.Conv2d(1, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(), nn.Dropout(0.2), Moody(),
        nn.Conv2d(6, 6, 3, padding=1), nn.BatchNorm2d(6, momentum=0.3), nn.GELU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(6, 8), nn.Dropout(0.5), nn.Tanh(), nn.Linear(8, 4),
    )  # fmt: skip


def seeded() -> None:
    """Every generator begins anew."""
    torch.manual_seed(7)
    np.random.seed(7)
    random.seed(7)


class Training:
    """A training with momentum; gradients of two batches are accumulated for a step."""

    def __init__(self, model: nn.Module | None = None, rate: float = 0.1) -> None:
        seeded()
        self.model = model or network()
        self.model.train()
        self.optimiser = torch.optim.SGD(self.model.parameters(), lr=rate, momentum=0.9)
        self.shuffle = torch.Generator().manual_seed(3)
        self.loader = DataLoader(Augmented(), batch_size=16, shuffle=True, generator=self.shuffle)
        self.steps = 0

    def run(self, steps: int, tracker: Tracker | None = None, between: bool = False) -> None:
        """Train; the tracker may also measure between the two halves of a step."""
        last = self.steps + steps
        while self.steps < last:
            for number, (images, labels) in enumerate(self.loader):
                nn.functional.cross_entropy(self.model(images), labels).backward()
                if number % 2 == 0:
                    if between and tracker is not None:
                        tracker.measure()
                    continue
                self.optimiser.step()
                self.optimiser.zero_grad()
                self.steps += 1
                if tracker is not None:
                    tracker.step()
                if self.steps == last:
                    return

    def everything(self) -> dict:
        """All that a training hangs on."""
        return {
            "model": self.model.state_dict(), "optimiser": self.optimiser.state_dict(), "steps": self.steps,
            "gradients": [weights.grad for weights in self.model.parameters()],
            "flags": [module.training for module in self.model.modules()],
            "needs": [weights.requires_grad for weights in self.model.parameters()],
            "modules": [_plain(module) for module in self.model.modules()],
            "shuffle": self.shuffle.get_state(), "torch": torch.get_rng_state(),
            "numpy": [str(part) for part in np.random.get_state()], "python": str(random.getstate()),
        }  # fmt: skip

    def save(self, path: Path, tracker: Tracker) -> None:
        """A checkpoint between two epochs."""
        state = {name: value for name, value in self.everything().items() if name not in ("modules", "needs")}
        moods = [vars(module) for module in self.model.modules() if isinstance(module, Moody)]
        state |= {"tracker": tracker.state_dict(), "cache": [mood["cache"] for mood in moods]}
        state["random"] = [random.getstate(), np.random.get_state()[1].tolist(), np.random.get_state()[2]]
        torch.save(state, path)

    def load(self, path: Path, tracker: Tracker) -> None:
        """Go on from a checkpoint."""
        state = torch.load(path, weights_only=True)
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        for mood, cache in zip((one for one in self.model if isinstance(one, Moody)), state["cache"], strict=True):
            mood.cache.update(cache)
        self.steps = state["steps"]
        tracker.load_state_dict(state["tracker"])
        self.shuffle.set_state(state["shuffle"])
        torch.set_rng_state(state["torch"])
        version, numbers, gauss = state["random"][0]
        random.setstate((version, tuple(numbers), gauss))
        np.random.set_state(("MT19937", np.array(state["random"][1], dtype=np.uint32), state["random"][2]))


def _plain(module: nn.Module) -> dict:
    """What a module holds beside its weights: names, and the values of what is no object of its own."""
    return {
        name: sorted(value) if isinstance(value, dict) else str(value)
        for name, value in vars(module).items()
        if isinstance(value, (dict, list, int, float, torch.Tensor, type(None)))
    }


def same(one, other) -> bool:
    """Whether two things are equal, tensors to the last bit."""
    if isinstance(one, torch.Tensor):
        return isinstance(other, torch.Tensor) and torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def probe() -> tuple[torch.Tensor, torch.Tensor]:
    """Samples and labels on which the network is measured."""
    generator = torch.Generator().manual_seed(2)
    return torch.randn(40, 1, 8, 8, generator=generator), torch.arange(40) % 4


def small():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 6), nn.Tanh(), nn.Linear(6, 3))


def samples(n=32):
    return torch.randn(n, 5, generator=torch.Generator().manual_seed(4))
