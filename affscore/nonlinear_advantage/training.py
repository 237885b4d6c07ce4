"""Trains a network while its slopes are pulled to 1: from the start, from some epoch on, or after ordinary training."""

from __future__ import annotations

import copy
import hashlib
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm import tqdm

from affscore.errors import AffscoreError, guarded
from affscore.network.model_state import device_of
from affscore.network.randomness import random_states_kept, seed_generators
from affscore.network.reduction import check_word
from affscore.nonlinear_advantage.checkpoint import resumed, save
from affscore.nonlinear_advantage.example import left_as_it_was
from affscore.nonlinear_advantage.path_length import active_channels, average_path_length
from affscore.nonlinear_advantage.penalty import SNAP, SlopePenalty, freeze, hold_frozen, parameter_groups
from affscore.nonlinear_advantage.prelu import existing_slopes
from affscore.options import check_integer, is_number
from affscore.zoo.paths import check_destination

OptimizerName = Literal["adamw", "sgd"]
OfEpoch = float | Callable[[int], float]
Change = Callable[[Tensor, torch.Generator], Tensor]

IGNORED = -100
"""The label that PyTorch's cross entropy leaves out."""


@dataclass(frozen=True)
class _Plan:
    """What a training depends on beside its network, its samples and the numbers of each epoch."""

    start: int
    optimizer: OptimizerName
    momentum: float
    weight_decay: float
    reduction: str
    threshold: float
    batch_size: int
    seed: int


def train(
    model: nn.Module,
    images: Tensor,
    labels: Tensor,
    epochs: int,
    omega: OfEpoch,
    start: int = 0,
    *,
    test: tuple[Tensor, Tensor] | None = None,
    optimizer: OptimizerName = "adamw",
    rate: OfEpoch = 1e-3,
    slope_rate: OfEpoch | None = None,
    momentum: float = 0.9,
    weight_decay: float = 0.0,
    reduction: str = "sum",
    threshold: float = SNAP,
    batch_size: int = 64,
    change: Change | None = None,
    seed: int = 0,
    checkpoint: str | Path | None = None,
    progress: bool | None = None,
) -> pd.DataFrame:
    r"""Train a network to name samples, while its slopes are pulled to 1 from some epoch on.

    .. math:: \mathcal L = \text{cross entropy} + \omega \sum_i |1 - \alpha_i|^{0.5}

    Slopes whose weight requires no gradient when this is called are not trained; freezing applies to them, too.

    Before ``start`` the slopes stay what they are (0: ReLU), and there is no penalty. From it on they are trained; the
    channels that are near 1 after an epoch are frozen (:func:`affscore.nonlinear_advantage.freeze`). Early
    regularisation is ``start=0``, late one the end of ordinary training; arms that are compared need the same
    ``epochs`` in all.

    The random numbers of an epoch depend on the seed and its number alone: a training that goes on from a checkpoint
    ends, on the CPU, with the same weights as one that was never interrupted.

    Args:
        model: A network of :func:`affscore.nonlinear_advantage.to_prelu`; it is trained in place, where it is.
        images: Tensor (N, ...), as the network takes them; or other samples.
        labels: Tensor of integers (N,); or (N, length) for the outputs (N, classes, length) of sequences, -100 for what
            does not count.
        epochs: How many in all.
        omega: The weight of the penalty, or a function of the epoch, from 0.
        start: The epoch from which on slopes are trained and penalised, from 0; ``epochs`` or more for never.
        test: Images and labels for the accuracy; None for those of the training.
        optimizer: "adamw" or "sgd".
        rate: The learning rate, or a function of the epoch.
        slope_rate: That of the slopes, likewise; None for the same. With few steps it must be larger, since a slope has
            to get from 0 to 1.
        momentum: Of "sgd", in [0, 1).
        weight_decay: Of all parameters but the slopes.
        reduction: As in :class:`affscore.nonlinear_advantage.SlopePenalty`.
        threshold: As there.
        batch_size: Samples of a step; the last one of an epoch has those that are left.
        change: Changes the images of a step at random, given a generator, and keeps their shape: augmentation.
        seed: Fixes the order of the samples, and all else that is random.
        checkpoint: A .pt file, written after each epoch as a whole. If it is there, the training goes on from it, with
            its weights in place of the network's.
        progress: Whether to show a bar of epochs; None for where there is a terminal.

    Returns:
        A row for each epoch: ``epoch``, ``omega`` (0 before ``start``), ``rate``, ``slope_rate``, ``loss`` (the mean
        cross entropy of its steps), ``accuracy`` (the share of samples all of whose labels are right: that of a
        greedy decoder, too), ``active`` (the share of the channels that are not linear) and
        ``napl`` (:func:`affscore.nonlinear_advantage.average_path_length`), the last three after freezing.

    Raises:
        AffscoreError: Bad arguments, NaN or infinity in the images, a network without slopes, a last batch of one
            sample where the network takes none (batch normalisation), a network that returns more than a tensor in
            training, a loss that is not finite, or a checkpoint that is broken or of another training.

    Source: Mehmeti-Göpel and Disselhoff, "Nonlinear Advantage" (ICML 2023). Its epochs and rates were not at hand; that
    slopes wait for ``start`` is our reading.

    >>> from affscore.nonlinear_advantage import to_prelu
    >>> images, net = torch.randn(64, 3), to_prelu(nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2)))
    >>> record = train(net, images, (images[:, 0] > 0).long(), epochs=3, omega=0.1, start=2, progress=False)
    >>> record[["epoch", "omega", "active", "napl"]].values.tolist()
    [[0.0, 0.0, 1.0, 1.0], [1.0, 0.0, 1.0, 1.0], [2.0, 0.1, 1.0, 1.0]]
    """
    check_word("optimizer", optimizer, OptimizerName)
    epochs, start = check_integer("epochs", epochs, 1), check_integer("start", start, 0)
    seed, batch_size = check_integer("seed", seed, 0), check_integer("batch_size", batch_size, 1)
    momentum, weight_decay = _number("momentum", momentum), _number("weight_decay", weight_decay)
    if momentum >= 1:
        raise AffscoreError(f"momentum must be below 1, got {momentum}")
    if not (change is None or callable(change)):
        raise AffscoreError(f"change must be a function of images and a generator, got {change!r}")
    if test is not None and not (isinstance(test, (tuple, list)) and len(test) == 2):
        raise AffscoreError("test must be two tensors, images and labels; or None for those of the training")
    penalty = SlopePenalty(0.0, reduction, threshold)
    plan = _Plan(start, optimizer, momentum, weight_decay, reduction, penalty.threshold, batch_size, seed)
    tested = _checked_samples(*((images, labels) if test is None else test))
    images, labels = _checked_samples(images, labels)
    file = None if checkpoint is None else check_destination(checkpoint, (".pt",))

    units = list(existing_slopes(model).values())
    _check_outputs(model, images, labels)
    _check_outputs(model, *tested)
    if len(images) % batch_size == 1 or batch_size == 1:
        _check_single(model, images[:1])
    device, stepping = device_of(model), _optimizer(model, plan)
    identity = {**asdict(plan), "samples": _fingerprint(images, labels), "tested": _fingerprint(*tested)}

    def numbers_of(epoch: int) -> dict[str, float]:
        return {
            "omega": _number("omega", omega, epoch) if epoch >= start else 0.0,
            "rate": _number("rate", rate, epoch),
            "slope_rate": _number("slope_rate", rate if slope_rate is None else slope_rate, epoch),
        }

    rows = [] if file is None else resumed(file, identity, epochs, numbers_of, model, stepping)
    before = model.training, [unit.weight.requires_grad for unit in units]
    hidden = None if progress is None else not progress
    holding = hold_frozen(model, stepping)
    try:
        with random_states_kept(device), tqdm(total=epochs, unit="epoch", disable=hidden) as bar:
            bar.update(len(rows))
            for epoch in range(len(rows), epochs):
                regular, numbers = epoch >= start, numbers_of(epoch)
                penalty.omega = numbers["omega"]
                for group, name in zip(stepping.param_groups, ("rate", "slope_rate"), strict=True):
                    group["lr"] = numbers[name]
                for unit, needed in zip(units, before[1], strict=True):
                    unit.weight.requires_grad_(regular and needed)
                model.train()
                generator = _generator(seed, epoch, device)
                total = 0.0
                for chosen in torch.randperm(len(images), generator=generator).split(batch_size):
                    some = images[chosen] if change is None else _changed(images[chosen], change, generator)
                    outputs = model(some.to(device))
                    if not isinstance(outputs, Tensor):
                        raise AffscoreError(
                            f"in training the network returns {type(outputs).__name__}, and not a tensor as in "
                            "evaluation: take its auxiliary heads off (aux_logits=False in torchvision)"
                        )
                    loss = F.cross_entropy(outputs, labels[chosen].to(device))
                    stepping.zero_grad()
                    (loss + penalty(model) if regular else loss).backward()
                    stepping.step()
                    total += float(loss.detach()) * len(chosen)
                if not math.isfinite(total):
                    raise AffscoreError(f"the loss is not finite in epoch {epoch}: choose a smaller rate or omega")
                if regular:
                    freeze(model, threshold)
                rows.append({"epoch": epoch, **numbers, "loss": total / len(images), **_state(model, *tested)})
                if file is not None:
                    save(file, identity, rows, model, stepping)
                bar.set_postfix({name: f"{rows[-1][name]:.3g}" for name in ("loss", "accuracy", "active", "napl")})
                bar.update()
    finally:
        holding.remove()
        model.train(before[0])
        for unit, needed in zip(units, before[1], strict=True):
            unit.weight.requires_grad_(needed)
    return pd.DataFrame(rows)


def _optimizer(model: nn.Module, plan: _Plan) -> torch.optim.Optimizer:
    groups = parameter_groups(model)
    if plan.optimizer == "sgd":
        return torch.optim.SGD(groups, lr=0.0, momentum=plan.momentum, weight_decay=plan.weight_decay)
    return torch.optim.AdamW(groups, lr=0.0, weight_decay=plan.weight_decay)


def _generator(seed: int, epoch: int, device: torch.device) -> torch.Generator:
    """Where the random numbers of an epoch come from; those of dropout come from the generators of PyTorch."""
    own, of_network = (int(one) for one in np.random.SeedSequence([seed, epoch]).generate_state(2, np.uint32))
    seed_generators(of_network, device)
    return torch.Generator().manual_seed(own)


def _changed(images: Tensor, change: Change, generator: torch.Generator) -> Tensor:
    """The images of a step, augmented.

    Raises:
        AffscoreError: The function fails, or returns something else than as many images of the same shape.
    """
    given = guarded(lambda: change(images.clone(), generator), "the function change(images, generator) fails")
    if not isinstance(given, Tensor) or given.shape != images.shape:
        found = tuple(given.shape) if isinstance(given, Tensor) else type(given).__name__
        raise AffscoreError(
            f"change must return images of the shape {tuple(images.shape)} that it was given, got {found}"
        )
    return given


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


def _number(name: str, value: Any, epoch: int | None = None) -> float:
    """A number of at least 0, or that of an epoch."""
    found = value(epoch) if epoch is not None and callable(value) else value
    if not is_number(found) or not 0 <= found < math.inf:
        where = f" in epoch {epoch}" if callable(value) else ""
        raise AffscoreError(f"{name} must be a number of at least 0, got {found!r}{where}")
    return float(found)


def _checked_samples(images: Any, labels: Any) -> tuple[Tensor, Tensor]:
    """Images and labels, on the CPU.

    Raises:
        AffscoreError: They are no tensors, do not belong together, or hold NaN or infinity.
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
    return images.detach().cpu(), labels.detach().cpu().long()


def _check_outputs(model: nn.Module, images: Tensor, labels: Tensor) -> None:
    """Look whether the labels fit what the network returns."""
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


def _check_single(model: nn.Module, image: Tensor) -> None:
    """Look whether the network takes a batch of one sample in training, which batch normalisation may not."""
    with random_states_kept(device_of(model)), torch.no_grad():
        alone = copy.deepcopy(model).train()
        guarded(
            lambda: alone(image.to(device_of(model))),
            "the last batch of an epoch holds a single sample, which the network does not take in training",
            "choose another batch_size, or leave a sample out",
        )


def _fingerprint(images: Tensor, labels: Tensor) -> str:
    digest = hashlib.sha256()
    for one in (images, labels):
        digest.update(one.contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()[:16]
