"""Trains a network while its slopes are pulled to 1: from the start, from some epoch on, or after ordinary training."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm import tqdm

from affscore.errors import AffscoreError
from affscore.nonlinear_advantage import (
    SlopePenalty,
    active_channels,
    average_path_length,
    freeze,
    parameter_groups,
    slopes,
)
from affscore.recorder.model_state import device_of, prepared, random_states_kept, seed_generators

OfEpoch = float | Callable[[int], float]
Change = Callable[[Tensor, torch.Generator], Tensor]


def train(
    model: nn.Module,
    images: Tensor,
    labels: Tensor,
    epochs: int,
    omega: float,
    start: int = 0,
    *,
    test: tuple[Tensor, Tensor],
    rate: OfEpoch = 1e-3,
    slope_rate: OfEpoch | None = None,
    weight_decay: float = 0.0,
    batch_size: int = 64,
    change: Change | None = None,
    seed: int = 0,
    progress: bool | None = None,
) -> pd.DataFrame:
    r"""Train a network to name samples by AdamW, while its slopes are pulled to 1 from some epoch on.

    .. math:: \mathcal L = \text{cross entropy} + \omega \sum_i |1 - \alpha_i|^{0.5}

    Slopes whose weight requires no gradient when this is called are not trained; freezing applies to them, too.

    Before ``start`` the slopes stay what they are (0: ReLU), and there is no penalty. From it on they are trained; the
    channels that are near 1 after an epoch are frozen (:func:`affscore.nonlinear_advantage.freeze`). Early
    regularisation is ``start=0``, late one the end of ordinary training; arms that are compared need the same
    ``epochs`` in all. The random numbers of an epoch depend on the seed and its number alone, so that such arms are
    the same until their penalty begins.

    Args:
        model: A network of :func:`affscore.nonlinear_advantage.to_prelu`, on its device, from tensors (N, ...) to
            logits (N, classes), or (N, classes, length).
        images: Samples (N, ...).
        labels: A tensor of integers (N,); or (N, length) for the outputs (N, classes, length) of sequences, -100 for
            what does not count.
        epochs: How many in all.
        omega: The weight of the penalty.
        start: The epoch from which on slopes are trained and penalised, from 0; ``epochs`` or more for never.
        test: Images and labels for the accuracy.
        rate: The learning rate, or a function of the epoch, from 0.
        slope_rate: That of the slopes, likewise; None for the same. With few steps it must be larger, since a slope has
            to get from 0 to 1.
        weight_decay: Of all parameters but the slopes.
        batch_size: Samples of a step; the last one of an epoch has those that are left.
        change: Changes the images of a step at random, given a generator: augmentation.
        seed: Fixes the order of the samples, and all else that is random.
        progress: Whether to show a bar of epochs; None for where there is a terminal.

    Returns:
        A row for each epoch: ``epoch``, ``omega`` (0 before ``start``), ``rate``, ``slope_rate``, ``loss`` (the mean
        cross entropy of its steps), ``accuracy`` (the share of samples all of whose labels are right: that of a
        greedy decoder, too), ``active`` (the share of the channels that are not linear) and
        ``napl`` (:func:`affscore.nonlinear_advantage.average_path_length`), the last three after freezing.

    Raises:
        AffscoreError: A network without slopes, or a loss that is not finite.

    Source: Mehmeti-Göpel and Disselhoff, "Nonlinear Advantage" (ICML 2023). Its epochs and rates were not at hand; that
    slopes wait for ``start`` is our reading.

    >>> from affscore.nonlinear_advantage import to_prelu
    >>> images, net = torch.randn(64, 3), to_prelu(nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2)))
    >>> samples = images, (images[:, 0] > 0).long()
    >>> record = train(net, *samples, epochs=3, omega=0.1, start=2, test=samples, progress=False)
    >>> record[["epoch", "omega", "active", "napl"]].values.tolist()
    [[0.0, 0.0, 1.0, 1.0], [1.0, 0.0, 1.0, 1.0], [2.0, 0.1, 1.0, 1.0]]
    """
    device, penalty = device_of(model), SlopePenalty(omega)
    stepping = torch.optim.AdamW(parameter_groups(model), lr=0.0, weight_decay=weight_decay)
    trained = [unit.weight for unit in slopes(model).values() if unit.weight.requires_grad]
    rows, mode = [], model.training
    try:
        with random_states_kept(device):
            for epoch in tqdm(range(epochs), unit="epoch", disable=None if progress is None else not progress):
                regular, total, generator = epoch >= start, 0.0, _generator(seed, epoch, device)
                both = rate, rate if slope_rate is None else slope_rate
                rates = [float(one(epoch) if callable(one) else one) for one in both]
                for group, value in zip(stepping.param_groups, rates, strict=True):
                    group["lr"] = value
                for weight in trained:
                    weight.requires_grad_(regular)
                model.train()
                for chosen in torch.randperm(len(images), generator=generator).split(batch_size):
                    some = images[chosen] if change is None else change(images[chosen], generator)
                    loss = F.cross_entropy(model(some.to(device)), labels[chosen].to(device, torch.long))
                    stepping.zero_grad()
                    (loss + penalty(model) if regular else loss).backward()
                    stepping.step()
                    total += float(loss.detach()) * len(chosen)
                if not math.isfinite(total):
                    raise AffscoreError(f"the loss is not finite in epoch {epoch}: choose a smaller rate or omega")
                if regular:
                    freeze(model)
                about = {"epoch": epoch, "omega": penalty.omega if regular else 0.0, "rate": rates[0]}
                state = _state(model, *test)
                rows.append({**about, "slope_rate": rates[1], "loss": total / len(images), **state})
    finally:
        model.train(mode)
        for weight in trained:
            weight.requires_grad_()
    return pd.DataFrame(rows)


def _generator(seed: int, epoch: int, device: torch.device) -> torch.Generator:
    """Where the random numbers of an epoch come from; those of dropout come from the generators of PyTorch."""
    own, of_network = (int(one) for one in np.random.SeedSequence([seed, epoch]).generate_state(2, np.uint32))
    seed_generators(of_network, device)
    return torch.Generator().manual_seed(own)


def _state(model: nn.Module, images: Tensor, labels: Tensor) -> dict[str, float]:
    """What the record says of the network as it is."""
    device = device_of(model)
    with prepared(model, device), random_states_kept(device), torch.no_grad():
        named = torch.cat([model(some.to(device)).argmax(dim=1).cpu() for some in images.split(512)])
    counts = active_channels(model)
    return {
        "accuracy": float(((named == labels) | (labels < 0)).reshape(len(labels), -1).all(dim=1).double().mean()),
        "active": counts["active"].sum() / counts["channels"].sum(),
        "napl": average_path_length(model, images[:2]),
    }
