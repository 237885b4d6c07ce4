"""Random networks on a square: the images that they compute, how complex these are, and the scores of their layers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import torch
from numpy.typing import ArrayLike, NDArray
from scipy.fft import dctn
from torch import Tensor, nn

from affscore.errors import AffscoreError
from affscore.experiments.activations import ACTIVATIONS, Activation
from affscore.experiments.estimation import COVARIANCES
from affscore.experiments.parallel import run_all
from affscore.transport import affinity_score
from affscore.transport.covariance import CovarianceName

Image = NDArray[np.float64]

FUNCTIONS: Mapping[str, Activation] = MappingProxyType({**ACTIVATIONS, "sign": torch.sign})
"""What may stand between the layers of a :class:`RandomMLP`: the nine activations, and the limit of a steep Tanh."""

FLAT = 1e-12
"""An image that varies by less, relative to its largest value, is constant."""


class Elementwise(nn.Module):
    """A function of each entry, as a layer."""

    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        """The function of each entry."""
        return self.function(x)


class RandomMLP(NamedTuple):
    r"""A random network from the plane to the line.

    Its layers are :math:`x \mapsto \sigma(W x + b)`, the last one without :math:`\sigma`, with independent normal draws

    .. math:: W_{ij} = \frac{s}{\sqrt{k}} (g_{ij} + m), \qquad b_i = t\, g_i,

    where k is the number of inputs of the layer. Networks of one seed and width share their draws g, whatever the other
    numbers are, and those of a shallow one are the first layers of a deeper one.

    Attributes:
        activation: :math:`\sigma`, a name from :data:`FUNCTIONS`.
        scale: s > 0, the size of the weights.
        shift: m, the mean of the weights in units of their standard deviation.
        bias: t >= 0, the standard deviation of the biases; 0 for none.
        width: Units of a hidden layer.
        depth: Number of hidden layers.
        seed: Seed of the draws, >= 0.

    >>> RandomMLP("tanh", scale=4.0, width=3, depth=1).network()
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=False)
      (1): Elementwise()
      (2): Linear(in_features=3, out_features=1, bias=False)
    )
    """

    activation: str = "relu"
    scale: float = 1.0
    shift: float = 0.0
    bias: float = 0.0
    width: int = 32
    depth: int = 6
    seed: int = 0

    def network(self) -> nn.Sequential:
        """The network, in double precision.

        Raises:
            AffscoreError: An unknown activation, or a number out of range.
        """
        if self.activation not in FUNCTIONS:
            raise AffscoreError(f"there is no activation {self.activation!r}; known are {', '.join(FUNCTIONS)}")
        if not (self.scale > 0 and self.bias >= 0 and np.isfinite([self.scale, self.bias, self.shift]).all()):
            raise AffscoreError(f"scale must be positive, bias at least 0 and shift finite, got {self}")
        if self.width < 1 or self.depth < 1 or self.seed < 0:
            raise AffscoreError(f"width and depth must be at least 1, and seed at least 0, got {self}")
        sizes = [2, *[self.width] * self.depth, 1]
        layers: list[nn.Module] = []
        for number, (inputs, outputs) in enumerate(pairwise(sizes)):
            rng = np.random.default_rng([self.seed, number])
            draws, offsets = rng.standard_normal((outputs, inputs)), rng.standard_normal(outputs)
            linear = nn.utils.skip_init(nn.Linear, inputs, outputs, bias=self.bias > 0, dtype=torch.float64)
            with torch.no_grad():
                linear.weight.copy_(torch.from_numpy(self.scale / inputs**0.5 * (draws + self.shift)))
                if self.bias > 0:
                    linear.bias.copy_(torch.from_numpy(self.bias * offsets))
            layers += [linear, Elementwise(FUNCTIONS[self.activation])]
        return nn.Sequential(*layers[:-1]).requires_grad_(False)


def square(resolution: int = 64) -> Tensor:
    r"""The centres of the pixels of :math:`[-1, 1]^2`, row by row from top left.

    Args:
        resolution: Pixels of a side.

    Returns:
        Tensor (resolution^2, 2), float64.

    >>> square(2).tolist()
    [[-0.5, 0.5], [0.5, 0.5], [-0.5, -0.5], [0.5, -0.5]]
    """
    if resolution < 2:
        raise AffscoreError(f"an image needs at least 2 pixels a side, got {resolution}")
    centres = (2 * torch.arange(resolution, dtype=torch.float64) + 1) / resolution - 1
    return torch.cartesian_prod(centres.flip(0), centres).flip(1)


def output_image(network: nn.Module, resolution: int = 64) -> Image:
    """What a network computes on the square.

    Args:
        network: From (n, 2) to (n, 1), in double precision.
        resolution: Pixels of a side.

    Returns:
        Array (resolution, resolution), the first row at the top.

    Raises:
        AffscoreError: A network with another output.

    >>> output_image(nn.Identity().double(), 4)
    Traceback (most recent call last):
    affscore.errors.AffscoreError: the network must give one number for each pixel, (16, 1), got (16, 2)
    """
    x = square(resolution)
    with torch.no_grad():
        y = network(x)
    if tuple(y.shape) != (len(x), 1):
        raise AffscoreError(f"the network must give one number for each pixel, ({len(x)}, 1), got {tuple(y.shape)}")
    return y.double().reshape(resolution, resolution).numpy()


def mean_frequency(image: ArrayLike) -> float:
    r"""How complex an image is: the mean frequency of its variance, in cycles per side.

    .. math:: \frac{\sum_{k \ne 0} |c_k|^2 \, \lVert k \rVert / 2}{\sum_{k \ne 0} |c_k|^2}

    with the coefficients :math:`c_k` of the discrete cosine transform. It continues an image by its mirror images. The
    Fourier transform would continue it periodically: the jump at the border would count as a high frequency, and a
    plane would be the more complex the finer its pixels are.

    Args:
        image: Array (height, width), finite.

    Returns:
        A number >= 0.5; 0 for a constant image. That of a plane is
        :math:`\tfrac12 \sum k^{-3} / \sum k^{-4}` over odd k, 0.518.

    Raises:
        AffscoreError: No image, or NaN or infinity in it.

    Source: ours; Teney et al. (2024) characterise such images by their Fourier decomposition, too.

    >>> x = (np.arange(64) + 0.5) / 64
    >>> [round(mean_frequency(np.tile(wave, (64, 1))), 3) for wave in (x, np.cos(6 * np.pi * x), 0 * x)]
    [0.518, 3.0, 0.0]
    """
    values = np.asarray(image, dtype=np.float64)
    if values.ndim != 2 or min(values.shape) < 2:
        raise AffscoreError(f"expected an image (height, width) of at least 2 x 2 pixels, got the shape {values.shape}")
    if not np.isfinite(values).all():
        raise AffscoreError("the image holds NaN or infinity; are the weights of the network that large?")
    if np.ptp(values) <= FLAT * np.abs(values).max():
        return 0.0
    values = values - values.mean()
    power = dctn(values / np.abs(values).max(), norm="ortho") ** 2
    power[0, 0] = 0.0
    frequency = np.hypot(*np.ogrid[: values.shape[0], : values.shape[1]]) / 2
    return float((power * frequency).sum() / power.sum())


def mlp_scores(
    mlps: Iterable[RandomMLP],
    *,
    points: int = 128,
    resolution: int = 64,
    covariances: Sequence[CovarianceName] = COVARIANCES,
    seed: int = 0,
    n_jobs: int = 1,
    progress: bool = False,
) -> pd.DataFrame:
    """Score the layers of random networks on the pixels of the square, and measure their images.

    Args:
        mlps: The networks.
        points: How many pixels a score compares, the same ones for all networks.
        resolution: Pixels of a side.
        covariances: "ledoit-wolf" and "empirical", or one of them.
        seed: Of the choice of pixels.
        n_jobs: Processes; -1 for one per core.
        progress: Whether to show a bar.

    Returns:
        A row for each network, hidden layer and covariance: the numbers of :class:`RandomMLP`, layer (from 1),
        covariance, score and paired (:class:`affscore.AffinityScore`), constant and degenerate (its flags
        ``constant_output`` and ``degenerate_input``), and frequency (:func:`mean_frequency` of the network's image).

    Raises:
        AffscoreError: No network or covariance, more points than pixels, or numbers of a network out of range.

    >>> table = mlp_scores([RandomMLP(scale=s, width=16, depth=2) for s in (1.0, 4.0)], points=64)
    >>> len(table), set(table.groupby(["layer", "covariance"])["score"].nunique())  # ReLU does not notice the scale
    (8, {1})
    """
    tasks = [(mlp,) for mlp in mlps]
    if not tasks or not len(covariances):
        raise AffscoreError(
            f"expected at least one network and one covariance, got {len(tasks)} and {len(covariances)}"
        )
    x = square(resolution)
    if not 2 <= points <= len(x):
        raise AffscoreError(f"expected 2 to {len(x)} points, the pixels of the image, got {points}")
    chosen = x[torch.from_numpy(np.random.default_rng(seed).permutation(len(x))[:points])]

    def rows(mlp: RandomMLP) -> list[dict[str, Any]]:
        network = mlp.network()
        frequency = mean_frequency(output_image(network, resolution))
        found = []
        for layer, (before, after) in enumerate(_pairs(network, chosen), start=1):
            for covariance in covariances:
                score = affinity_score(before, after, covariance)
                flags = {"constant": score.constant_output, "degenerate": score.degenerate_input}
                own = {"layer": layer, "covariance": covariance, "score": score.value, "paired": score.paired, **flags}
                found.append({**mlp._asdict(), **own, "frequency": frequency})
        return found

    return run_all(rows, tasks, n_jobs, progress)


def mean_scores(
    table: pd.DataFrame, covariance: CovarianceName = "ledoit-wolf", coupling: Literal["exact", "paired"] = "exact"
) -> pd.DataFrame:
    """One row for each network of :func:`mlp_scores`.

    Args:
        table: What that returns.
        covariance: Whose scores.
        coupling: "exact" for the score, "paired" for that under the pairing.

    Returns:
        A row for each network: the numbers of :class:`RandomMLP`, mean and spread (standard deviation, n in the
        denominator) of the scores of its hidden layers, total (the sum of 1 - score) and frequency.

    Raises:
        AffscoreError: Scores that are not in the table.

    >>> table = mlp_scores([RandomMLP(width=16, depth=1)], points=64)
    >>> float(mean_scores(table)["spread"].iloc[0])
    0.0
    """
    rows = table[table["covariance"] == covariance]
    column = {"exact": "score", "paired": "paired"}.get(coupling)
    if rows.empty or column is None:
        raise AffscoreError(f"there are no scores of the covariance {covariance!r} and the coupling {coupling!r}")
    networks = rows.groupby(list(RandomMLP._fields), sort=False)
    mean = networks[column].mean()
    summary = {
        "mean": mean,
        "spread": networks[column].std(ddof=0),
        "total": networks[column].size() - networks[column].sum(),
        "frequency": networks["frequency"].first(),
    }
    return pd.DataFrame(summary).reset_index()


def _pairs(network: nn.Sequential, x: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """Input and output of each activation."""
    for layer in network:
        y = layer(x)
        if isinstance(layer, Elementwise):
            yield x, y
        x = y
