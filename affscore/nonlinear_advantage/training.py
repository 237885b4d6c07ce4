"""Trains a network while its slopes are pulled to 1: from the start, from some epoch on, or after ordinary training."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm import tqdm

from affscore.errors import AffscoreError, guarded
from affscore.nonlinear_advantage.example import left_as_it_was
from affscore.nonlinear_advantage.path_length import active_channels, average_path_length
from affscore.nonlinear_advantage.penalty import SlopePenalty, freeze, hold_frozen, parameter_groups
from affscore.nonlinear_advantage.prelu import existing_slopes
from affscore.options import check_integer, is_number
from affscore.recorder.model_state import device_of, random_states_kept, seed_generators

OfEpoch = float | Callable[[int], float]
Change = Callable[[Tensor, torch.Generator], Tensor]

IGNORED = -100
"""The label that PyTorch's cross entropy leaves out."""


def train(
    model: nn.Module,
    images: Tensor,
    labels: Tensor,
    epochs: int,
    omega: float,
    start: int = 0,
    *,
    test: tuple[Tensor, Tensor] | None = None,
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
    the same until their penalty begins. For another optimiser or another loss write the loop, with
    :class:`affscore.nonlinear_advantage.SlopePenalty`.

    Args:
        model: A network of :func:`affscore.nonlinear_advantage.to_prelu`; it is trained in place, where it is.
        images: Tensor (N, ...), as the network takes them; or other samples.
        labels: Tensor of integers (N,); or (N, length) for the outputs (N, classes, length) of sequences, -100 for what
            does not count.
        epochs: How many in all.
        omega: The weight of the penalty.
        start: The epoch from which on slopes are trained and penalised, from 0; ``epochs`` or more for never.
        test: Images and labels for the accuracy; None for those of the training.
        rate: The learning rate, or a function of the epoch, from 0.
        slope_rate: That of the slopes, likewise; None for the same. With few steps it must be larger, since a slope has
            to get from 0 to 1.
        weight_decay: Of all parameters but the slopes.
        batch_size: Samples of a step; the last one of an epoch has those that are left.
        change: Changes the images of a step at random, given a generator, and keeps their shape: augmentation.
        seed: Fixes the order of the samples, and all else that is random.
        progress: Whether to show a bar of epochs; None for where there is a terminal.

    Returns:
        A row for each epoch: ``epoch``, ``omega`` (0 before ``start``), ``rate``, ``slope_rate``, ``loss`` (the mean
        cross entropy of its steps), ``accuracy`` (the share of samples all of whose labels are right: that of a
        greedy decoder, too), ``active`` (the share of the channels that are not linear) and
        ``napl`` (:func:`affscore.nonlinear_advantage.average_path_length`), the last three after freezing.

    Raises:
        AffscoreError: Bad arguments, NaN or infinity in the images, a network without slopes, a step that fails (as
            batch normalisation does on a single sample), or a loss that is not finite.

    Source: Mehmeti-Göpel and Disselhoff, "Nonlinear Advantage" (ICML 2023). Its epochs and rates were not at hand; that
    slopes wait for ``start`` is our reading.

    >>> from affscore.nonlinear_advantage import to_prelu
    >>> images, net = torch.randn(64, 3), to_prelu(nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2)))
    >>> record = train(net, images, (images[:, 0] > 0).long(), epochs=3, omega=0.1, start=2, progress=False)
    >>> record[["epoch", "omega", "active", "napl"]].values.tolist()
    [[0.0, 0.0, 1.0, 1.0], [1.0, 0.0, 1.0, 1.0], [2.0, 0.1, 1.0, 1.0]]
    """
    epochs, start = check_integer("epochs", epochs, 1), check_integer("start", start, 0)
    seed, batch_size = check_integer("seed", seed, 0), check_integer("batch_size", batch_size, 1)
    penalty, units = SlopePenalty(omega), list(existing_slopes(model).values())
    if test is not None and not (isinstance(test, (tuple, list)) and len(test) == 2):
        raise AffscoreError("test must be two tensors, images and labels; or None for those of the training")
    tested = _checked(model, *((images, labels) if test is None else test))
    images, labels = tested if test is None else _checked(model, images, labels)
    device = device_of(model)
    decay = _number("weight_decay", weight_decay)
    stepping = torch.optim.AdamW(parameter_groups(model), lr=0.0, weight_decay=decay)

    def loss_of(chosen: Tensor, generator: torch.Generator) -> Tensor:
        def forward() -> Tensor:
            some = images[chosen] if change is None else change(images[chosen], generator)
            return F.cross_entropy(model(some.to(device)), labels[chosen].to(device))

        advice = "in training the network must return one tensor, as in evaluation, for as many samples"
        return guarded(forward, f"a step on {len(chosen)} samples fails", advice)

    rows, mode, trained = [], model.training, [unit.weight.requires_grad for unit in units]
    holding = hold_frozen(model, stepping)
    try:
        with random_states_kept(device):
            for epoch in tqdm(range(epochs), unit="epoch", disable=None if progress is None else not progress):
                regular = epoch >= start
                rates = (
                    _number("rate", rate, epoch),
                    _number("slope_rate", rate if slope_rate is None else slope_rate, epoch),
                )
                for group, value in zip(stepping.param_groups, rates, strict=True):
                    group["lr"] = value
                for unit, needed in zip(units, trained, strict=True):
                    unit.weight.requires_grad_(regular and needed)
                model.train()
                generator, total = _generator(seed, epoch, device), 0.0
                for chosen in torch.randperm(len(images), generator=generator).split(batch_size):
                    loss = loss_of(chosen, generator)
                    stepping.zero_grad()
                    (loss + penalty(model) if regular else loss).backward()
                    stepping.step()
                    total += float(loss.detach()) * len(chosen)
                if not math.isfinite(total):
                    raise AffscoreError(f"the loss is not finite in epoch {epoch}: choose a smaller rate or omega")
                if regular:
                    freeze(model)
                about = {"epoch": epoch, "omega": penalty.omega if regular else 0.0, "rate": rates[0]}
                state = _state(model, *tested)
                rows.append({**about, "slope_rate": rates[1], "loss": total / len(images), **state})
    finally:
        holding.remove()
        model.train(mode)
        for unit, needed in zip(units, trained, strict=True):
            unit.weight.requires_grad_(needed)
    return pd.DataFrame(rows)


def _generator(seed: int, epoch: int, device: torch.device) -> torch.Generator:
    """Where the random numbers of an epoch come from; those of dropout come from the generators of PyTorch."""
    own, of_network = (int(one) for one in np.random.SeedSequence([seed, epoch]).generate_state(2, np.uint32))
    seed_generators(of_network, device)
    return torch.Generator().manual_seed(own)


def _state(model: nn.Module, images: Tensor, labels: Tensor) -> dict[str, float]:
    """What the record says of the network as it is."""
    with left_as_it_was(model):
        named = torch.cat([model(some.to(device_of(model))).argmax(dim=1).cpu() for some in images.split(512)])
    counts = active_channels(model)
    return {
        "accuracy": float(((named == labels) | (labels < 0)).reshape(len(labels), -1).all(dim=1).double().mean()),
        "active": counts["active"].sum() / counts["channels"].sum(),
        "napl": average_path_length(model, images[:2]),
    }


def _number(name: str, value: OfEpoch, epoch: int = 0) -> float:
    """A number of at least 0, or that of an epoch."""
    found = value(epoch) if callable(value) else value
    if not is_number(found) or not 0 <= found < math.inf:
        where = f" in epoch {epoch}" if callable(value) else ""
        raise AffscoreError(f"{name} must be a number of at least 0, got {found!r}{where}")
    return float(found)


def _checked(model: nn.Module, images: Any, labels: Any) -> tuple[Tensor, Tensor]:
    """Images and labels, on the CPU.

    Raises:
        AffscoreError: They are no tensors, do not belong together, hold NaN or infinity, or do not fit what the network
            returns.
    """
    if not isinstance(images, Tensor) or not isinstance(labels, Tensor):
        kinds = f"{type(images).__name__} and {type(labels).__name__}"
        raise AffscoreError(f"images and labels must be tensors (N, ...) and (N,), got {kinds}")
    if labels.is_floating_point() or not labels.ndim or labels.shape[:1] != images.shape[:1] or not len(labels):
        shapes = f"{tuple(images.shape)} and {labels.dtype} {tuple(labels.shape)}"
        raise AffscoreError(f"there must be integer labels for each image, got {shapes}")
    if not bool(torch.isfinite(images).all()):
        wrong = int((~torch.isfinite(images)).reshape(len(images), -1).any(dim=1).sum())
        raise AffscoreError(f"{wrong} of {len(images)} images hold NaN or infinity; leave them out or repair them")
    images, labels = images.detach().cpu(), labels.detach().cpu().long()
    with left_as_it_was(model):
        given = guarded(lambda: model(images[:2].to(device_of(model))), "the network does not take these images")
    classes = given.shape[1] if isinstance(given, Tensor) and given.ndim > 1 else 0
    if not classes or (len(given), *given.shape[2:]) != labels[:2].shape:
        found = tuple(given.shape) if isinstance(given, Tensor) else type(given).__name__
        raise AffscoreError(
            "the network must return a tensor (N, classes) for labels (N,), or (N, classes, length) for (N, length); "
            f"it returned {found} for labels {tuple(labels[:2].shape)}"
        )
    counts = labels != IGNORED
    if bool((counts & ((labels < 0) | (labels >= classes))).any() or not counts.reshape(len(labels), -1).any(1).all()):
        raise AffscoreError(
            f"labels must be from 0 to {classes - 1}, as the network has {classes} outputs, or {IGNORED} for what does "
            f"not count, and one of each sample must count; they go from {int(labels.min())} to {int(labels.max())}"
        )
    return images, labels
