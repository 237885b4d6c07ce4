r"""A signature without images: what the scores would be if each layer returned independent Gaussian noise.

A channel whose input is Gaussian has a score that depends on its mean over its deviation alone, and a batch norm has
both in its weights, bias and scale. So :func:`noise_network` is the same network with noise for layers. Its sums,
norms and activations run as ever: what a shortcut adds is not Gaussian, and is followed as it is.

The table that comes with the companion is made by ``python -m companion.predicted MODEL@FILE ... --data SPEC``.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
import typer
from numpy.typing import ArrayLike
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from affscore import load_data, load_model, signature
from affscore.errors import AffscoreError
from affscore.models import card_of
from affscore.options import ReductionName, Specification
from affscore.recorder import ActivationCall, Listener, recording
from affscore.survey import stored_multiverses
from affscore.transport.covariances import CovarianceName
from affscore.transport.diagonal import diagonal_affinity
from companion.shipped import MULTIVERSES
from companion.studies import load_study, under

FILE = Path(__file__).parent / "data" / "predicted.parquet"

LAYERS = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)

NODES = torch.linspace(-8, 8, 4001, dtype=torch.float64)
"""Of the quadrature: so many that the bend of a ReLU between two of them costs less than 1e-5."""


def gaussian_affinity(function: Callable[[Tensor], Tensor], means: ArrayLike, deviations: ArrayLike) -> float:
    r"""The score of an elementwise function on independent Gaussian channels.

    .. math:: 1 - \sqrt{\sum_k v_k (1 - c_k) / \sum_k v_k}

    with the variance :math:`v_k` of the output of channel k and the correlation :math:`c_k` of its input and output,
    both integrals over a normal distribution. It is exact for a non-decreasing function and infinitely many samples.

    Args:
        function: As ``torch.relu``.
        means: Of the channels, (d,).
        deviations: Likewise, not negative, one at least positive; a batch norm's are the sizes of its weights.

    Returns:
        A number in [0, 1]; 1 where no output varies.

    Raises:
        AffscoreError: Shapes that differ, numbers that are not finite, or no positive deviation.

    Source: exercise 11.2 for a single channel.

    >>> round(gaussian_affinity(torch.relu, [0.0], [1.0]), 3)  # 1 - sqrt(1 - 1 / sqrt(2 (1 - 1 / pi)))
    0.621
    """
    m, s = (torch.as_tensor(np.asarray(one, dtype=float)) for one in (means, deviations))
    if m.shape != s.shape or m.ndim != 1 or not bool(torch.isfinite(m + s).all() & (s >= 0).all() & s.any()):
        raise AffscoreError(
            "expected means and deviations (d,), finite, and deviations of at least 0 with one above; "
            f"got shapes {tuple(m.shape)} and {tuple(s.shape)}"
        )
    weights = (-NODES.square() / 2).exp()
    root = (weights / weights.sum()).sqrt()  # samples of equal weight: c and v are those of the weighted ones
    x = m[:, None] + s[:, None] * NODES
    y = function(x.clone())
    of_x, of_y = ((one - (one * root.square()).sum(1, keepdim=True)) * root for one in (x, y))
    v, covariance = of_y.square().sum(1), (of_x * of_y).sum(1)
    size = of_x.square().sum(1).sqrt() * v.sqrt()
    lost = torch.where(size > 1e-12, v - v * covariance / size.clamp_min(1e-12), 0.0)
    return 1.0 - float((lost.sum() / v.sum().clamp_min(1e-300)).clamp(0.0, 1.0)) ** 0.5


def noise_network(network: nn.Module, norms: bool = True) -> nn.Module:
    r"""A copy of a network whose layers return Gaussian noise with the mean and variance that they would have.

    .. math:: Z_k \sim N\Bigl(b_k + \sum_j w_{kj} \mu_j,\; \sum_j w_{kj}^2 \sigma_j^2\Bigr)

    Here :math:`\mu_j` and :math:`\sigma_j^2` are the mean and variance of channel j of its input, over a batch and all
    positions. Channels and positions are independent. Applied layer after layer it is the recursion of mean-field
    theory; a batch norm leaves nothing of it but its own bias and weight.

    Args:
        network: With layers of :data:`LAYERS`, channels on the second axis.
        norms: Whether batch norms normalise, as in training; else as the network has them, such as not at all before
            training.

    Source: Poole et al. (2016) and Schoenholz et al. (2017) for the recursion, here with the weights that there are.
    """
    network = copy.deepcopy(network).eval()
    for module in network.modules():
        if isinstance(module, LAYERS):
            module.register_forward_hook(_noise)
        elif isinstance(module, _BatchNorm) and norms:
            module.train()
    return network


def _noise(layer: Any, given: tuple[Tensor, ...], output: Tensor) -> Tensor:
    """Noise in place of the output of a layer."""
    if isinstance(layer, nn.Linear) and output.ndim > 2:
        raise AffscoreError("a linear layer has its channels on the last axis; only networks of images are predicted")
    features = given[0].transpose(0, 1).flatten(1)
    weight = layer.weight.flatten(2) if layer.weight.ndim > 2 else layer.weight[..., None]
    through = partial(F.conv1d, groups=getattr(layer, "groups", 1))
    mean = through(features.mean(1)[None, :, None], weight.sum(2, keepdim=True), layer.bias).flatten()
    variance = through(features.var(1, correction=0)[None, :, None], weight.square().sum(2, keepdim=True)).flatten()
    zero, one = torch.zeros_like(mean), torch.ones_like(mean)
    return F.batch_norm(output.clone().normal_(), zero, one, variance.sqrt(), mean, eps=0.0)


class _Clouds(Listener):
    """Hands the input and output of each activation, a row for each position, to a function."""

    def __init__(self, take: Callable[[ActivationCall, Tensor, Tensor, Any], dict[str, Any]]) -> None:
        self.take, self.rows = take, dict[int, dict[str, Any]]()
        self._given: dict[int, tuple[Tensor, Any]] = {}

    def before(self, call: ActivationCall, x: Tensor, apply: Callable[[Tensor], Tensor]) -> None:
        self._given[id(call)] = x.clone(), apply

    def forget(self, call: ActivationCall) -> None:
        self._given.pop(id(call), None)
        self.rows.pop(id(call), None)

    def after(self, call: ActivationCall, y: Tensor) -> None:
        x, apply = self._given.pop(id(call))
        x, y = (one.movedim(call.channel_axis, -1).flatten(0, -2).double() for one in (x, y))
        self.rows[id(call)] = {"layer": call.layer, "call": call.call, **self.take(call, x, y, apply)}


def _each(network: nn.Module, images: Tensor, take: Callable[..., dict[str, Any]]) -> pd.DataFrame:
    with recording(network, listener := _Clouds(take)) as recorder, torch.no_grad():
        recorder.start(images)
        network(images)
    return pd.DataFrame(listener.rows.values())


def predicted_scores(
    network: nn.Module, shape: tuple[int, ...] = (3, 32, 32), images: int = 32, norms: bool = True, seed: int = 0
) -> pd.DataFrame:
    """The diagonal scores of a network at one position, predicted from its weights alone.

    Args:
        network: As for :func:`noise_network`.
        shape: Of an image; of noise, too. Only how many positions there are matters.
        images: How many: positions times images are samples.
        norms: As for :func:`noise_network`.
        seed: Of the noise.

    Returns:
        A row for each activation: ``layer``, ``call``, ``predicted``.

    >>> network = nn.Sequential(nn.Conv2d(3, 64, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU())
    >>> predicted_scores(network)["predicted"].round(2).tolist()
    [0.62]
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        noise = torch.randn(images, *shape)
        return _each(
            noise_network(network, norms), noise, lambda _, x, y, __: {"predicted": float(diagonal_affinity(x, y))}
        )


def measured_beside(model: str, data: str, images: int = 512) -> pd.DataFrame:
    """Predicted and measured scores of a network, and what lies between them.

    Args:
        model: MODEL@FILE.
        data: SPEC.
        images: How many, as one batch.

    Returns:
        A row for each activation: ``predicted``; ``gaussian``, from the means and deviations that the channels have on
        a part of the images; ``diagonal``, the diagonal score, and ``score``, the affinity score, both at one
        position; ``score_of_means``, that of means over positions.
    """
    network = load_model(model)
    preprocessing: Any = card_of(network).preprocessing
    loaded = load_data(data, preprocessing)
    chosen = torch.randperm(len(loaded), generator=torch.Generator().manual_seed(0))[:images]
    found: Any = [loaded[int(place)] for place in chosen]
    pictures = torch.stack([one[0] if isinstance(one, tuple) else one for one in found])
    found = predicted_scores(network, tuple(pictures.shape[1:]))
    take: Any = lambda _, x, __, apply: {"gaussian": gaussian_affinity(apply, x.mean(0), x.std(0))}  # noqa: E731
    found = found.merge(_each(network, pictures[:64], take), on=["layer", "call"])
    options: dict[str, Any] = {"n": images, "progress": False}
    position = signature(network, pictures, reduction="sample", criteria=["diagonal"], **options).summary
    means = signature(network, pictures, criteria=False, **options).summary
    scores = position.reset_index()[["index", "layer", "call", "kind", "activation", "diagonal", "score"]].assign(
        score_of_means=means["score"]
    )
    return found.merge(scores, on=["layer", "call"]).assign(model=Path(model.partition("@")[0]).name)


UNTRAINED = tuple(
    f"examples/cifar_networks.py:{kind}{depth}" for kind in ("plainnet", "resnet") for depth in (20, 32, 44, 56)
)
VGGS = {"mini:vgg16": (1, 32, 32), "vgg11": (3, 64, 64), "vgg13": (3, 64, 64)}


WAYS: dict[str, tuple[ReductionName, CovarianceName]] = {
    "score": ("sample", "ledoit-wolf"),
    "score_unshrunk": ("sample", "empirical"),
    "score_of_means": ("mean", "ledoit-wolf"),
}
"""Reduction and covariance of the measured scores; unshrunk ones are there before training alone."""


def of_untrained() -> pd.DataFrame:
    """Predictions for networks before training, beside measured scores that come with the companion."""
    tables = []
    for model in UNTRAINED:
        for norms, stage in ((True, "untrained"), (False, "norms off")):
            table = predicted_scores(load_model(model, 0), norms=norms)
            tables.append(table.assign(model=Path(model).name, stage=stage))
    for model, shape in VGGS.items():
        table = predicted_scores(load_model(f"{model}@random", 0), shape, 256)
        tables.append(table.assign(model=model, stage="norms off"))
    study = load_study("untrained-cifar")
    measured = [study.assign(stage=study["weights"].eq("as built").map({True: "norms off", False: "untrained"}))]
    for one in stored_multiverses(MULTIVERSES):
        if one.metadata["weights"] == "random" and one.metadata["model"] in VGGS:
            measured.append(one.table.assign(model=one.metadata["model"], stage="norms off"))
    rows, found = pd.concat(measured, ignore_index=True), pd.concat(tables, ignore_index=True)
    keys = ["model", "stage", "layer", "call"]
    for name, (reduction, covariance) in WAYS.items():
        scores = under(rows, Specification(reduction=reduction, covariance=covariance))
        words = ["index", "kind", "activation"] if name == "score" else []
        found = found.merge(scores[[*keys, *words, "score"]].rename(columns={"score": name}), on=keys, validate="1:1")
    return found


@cache
def predicted_beside_measured() -> pd.DataFrame:
    """The table that comes with the companion, as of :func:`measured_beside`, with ``model`` and ``stage``.

    >>> predicted_beside_measured().groupby("stage")["model"].nunique().to_dict()
    {'norms off': 11, 'trained': 32, 'untrained': 8}
    """
    return pd.read_parquet(FILE)


def main(models: list[str], data: Annotated[str, typer.Option()], out: Annotated[Path, typer.Option()] = FILE) -> None:
    """Add these networks to the table; untrained ones come with it."""
    known = pd.read_parquet(out) if out.is_file() else of_untrained()
    for model in models:
        table = measured_beside(model, data).assign(stage="trained")
        others = known[(known["model"] != table["model"].iloc[0]) | (known["stage"] != "trained")]
        known = pd.concat([others, table], ignore_index=True)
        known.round(5).to_parquet(out, index=False)


if __name__ == "__main__":
    typer.run(main)
