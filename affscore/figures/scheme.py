"""Figure 1: from the activations of a network to a list of scores, and how each score is made."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure, SubFigure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import ConnectionPatch
from numpy.typing import NDArray

from affscore.errors import AffscoreError
from affscore.figures.style import FIT, INPUT, OUTPUT, PAGE_WIDTH, house_style
from affscore.transport import AffinityScore, affine_map, affinity_score, covariance, optimal_coupling
from affscore.transport.covariance import CovarianceName
from affscore.transport.samples import Samples, as_samples

__all__ = ["scheme"]

Cloud = NDArray[np.float64]

_ARROW = {
    "arrowstyle": "-|>",
    "linewidth": 1.8,
    "mutation_scale": 7,
    "color": "black",
    "shrinkA": 0,
    "shrinkB": 0,
}


def scheme(
    activations: Sequence[tuple[Samples, Samples]],
    shown: int = 0,
    *,
    names: Sequence[str] | None = None,
    covariance_name: CovarianceName = "ledoit-wolf",
) -> Figure:
    """Draw how the non-linearity of a network is measured, from the data of a network of width two.

    Above, one small panel for each activation with its input (grey dots), its output (red triangles) and
    its score; below, the steps to one of these scores: input and output, the affine image T(X) of the
    input (green squares), the optimal coupling of T(X) with the output (a line for each pair), and the
    size of the output that the cost is divided by (arrows: one standard deviation along each principal
    axis of its covariance).

    Args:
        activations: For each activation its input and its output, arrays or tensors (n, 2).
        shown: Index of the activation that the lower panels explain.
        names: A name for each activation; "ReLU 1", "ReLU 2", ... by default.
        covariance_name: "ledoit-wolf" or "empirical".

    Returns:
        The figure, as wide as a page.

    Raises:
        AffscoreError: No activation, clouds that are not (n, 2), a number of names that differs from that of
            the activations, an index that does not exist, or bad samples.

    Source: figure 1.

    >>> x = np.random.default_rng(0).standard_normal((30, 2))
    >>> figure = scheme([(x, np.maximum(x, 0)), (x, np.tanh(x))], shown=1, names=["ReLU", "Tanh"])
    >>> [axes.get_title() for axes in figure.axes if axes.get_title().startswith("3")]
    ['3. Optimal coupling']
    >>> plt.close(figure)
    """
    clouds = [_clouds(x, y) for x, y in activations]
    names = [f"ReLU {k}" for k in range(1, len(clouds) + 1)] if names is None else list(names)
    if not clouds or len(names) != len(clouds):
        raise AffscoreError(
            f"expected at least one activation and one name for each, got {len(clouds)} activations "
            f"and {len(names)} names"
        )
    if not 0 <= shown < len(clouds):
        raise AffscoreError(f"shown must be an index from 0 to {len(clouds) - 1}, got {shown}")
    scores = [affinity_score(x, y, covariance_name) for x, y in clouds]

    with house_style():
        figure = plt.figure(figsize=(PAGE_WIDTH, 5.2), layout=ConstrainedLayoutEngine(h_pad=0.07, wspace=0.08))
        halves: Any = figure.subfigures(2, 1, height_ratios=[1.0, 1.4], hspace=0.04)
        above, below = halves
        _draw_network(above, clouds, names, scores, shown)
        _draw_steps(below, *clouds[shown], names[shown], scores[shown])
    return figure


def _clouds(x: Samples, y: Samples) -> tuple[Cloud, Cloud]:
    points = [as_samples(cloud, name)[0].cpu().numpy() for cloud, name in ((x, "x"), (y, "y"))]
    if any(cloud.shape[1] != 2 for cloud in points):
        raise AffscoreError(f"a plane figure needs clouds of shape (n, 2), got {points[0].shape} and {points[1].shape}")
    return points[0], points[1]


def _draw_network(
    figure: SubFigure,
    clouds: Sequence[tuple[Cloud, Cloud]],
    names: Sequence[str],
    scores: Sequence[AffinityScore],
    shown: int,
) -> None:
    """One small panel for each activation, arrows between them, and the list of scores above."""
    small: list[Axes] = list(np.ravel(figure.subplots(1, len(clouds), squeeze=False)))
    listed = ",  ".join(f"{score.value:.2f}" for score in scores)
    figure.suptitle(f"network  $\\longrightarrow$  signature = [ {listed} ]", fontsize=10.5)
    for k, (axes, (x, y), name, score) in enumerate(zip(small, clouds, names, scores, strict=True)):
        _scatter(axes, x, INPUT, "o")
        _scatter(axes, y, OUTPUT, "^")
        axes.set_title(f"{name}\n$\\rho$ = {score.value:.2f}")
        axes.set(xticks=[], yticks=[], aspect="equal", adjustable="datalim")
        axes.margins(0.12)
        for spine in axes.spines.values():
            spine.set(visible=True, linewidth=1.8 if k == shown else 0.7)
    for left, right in pairwise(small):
        figure.add_artist(
            ConnectionPatch(
                (1.02, 0.5), (-0.02, 0.5), "axes fraction", "axes fraction",
                axesA=left, axesB=right, arrowstyle="-|>", mutation_scale=9, color="black",
            )
        )  # fmt: skip


def _draw_steps(figure: SubFigure, x: Cloud, y: Cloud, name: str, score: AffinityScore) -> None:
    """The four steps from the two clouds of one activation to its score."""
    transported = affine_map(x, y, score.covariance)(x)
    partner = y[optimal_coupling(transported, as_samples(y)[0]).assignment.numpy()]
    image = transported.numpy()
    spread = covariance(y, score.covariance).numpy()
    size = float(np.sqrt(2 * np.trace(spread)))

    panels: list[Axes] = list(figure.subplots(1, 4, sharex=True, sharey=True))
    first, second, third, fourth = panels
    _scatter(first, x, INPUT, "o", "input $X$")
    _scatter(first, y, OUTPUT, "^", "output $Y$")
    first.set_title("1. Input and output")
    _scatter(second, x, INPUT, "o", alpha=0.25)
    second.add_collection(LineCollection(list(np.stack([x, image], axis=1)), colors=INPUT, linewidths=0.5, alpha=0.5))
    _scatter(second, image, FIT, "s", "affine fit $T(X)$")
    second.set_title("2. Best affine fit")
    third.add_collection(
        LineCollection(
            list(np.stack([image, partner], axis=1)), colors="black", linewidths=0.6, label="optimal coupling"
        )
    )
    _scatter(third, image, FIT, "s")
    _scatter(third, y, OUTPUT, "^")
    third.set_title("3. Optimal coupling")
    third.set_xlabel(f"$W_2(TX, Y)$ = {score.w2:.2f}")
    _scatter(fourth, y, OUTPUT, "^")
    values, vectors = np.linalg.eigh(spread)
    for value, direction in zip(values, vectors.T, strict=True):
        tip = y.mean(axis=0) + np.sqrt(max(value, 0.0)) * direction
        fourth.annotate("", tip, y.mean(axis=0), arrowprops=_ARROW)
    fourth.set_title("4. Size of the output")
    fourth.set_xlabel(rf"$\sqrt{{2\,\mathrm{{tr}}\,\Sigma_Y}}$ = {size:.2f}")
    corners = np.concatenate([x, y, image])
    middle, half = np.ptp(corners, axis=0) / 2 + corners.min(axis=0), 0.55 * np.ptp(corners, axis=0).max()
    first.set(xlim=middle[0] + half * np.array([-1, 1]), ylim=middle[1] + half * np.array([-1, 1]))
    for axes in panels:
        axes.set_aspect("equal")
        axes.tick_params(length=2)
    figure.suptitle(
        rf"{name}:  $\rho$ = 1 $-$ $W_2(TX, Y)$ / $\sqrt{{2\,\mathrm{{tr}}\,\Sigma_Y}}$"
        rf" = 1 $-$ {score.w2:.2f} / {size:.2f} = {score.value:.2f}",
        fontsize=10.5,
    )
    figure.legend(loc="outside lower center", ncols=5, markerscale=1.3)


def _scatter(axes: Axes, cloud: Cloud, colour: str, marker: str, label: str = "", alpha: float = 0.8) -> None:
    axes.scatter(
        cloud[:, 0], cloud[:, 1], s=9, marker=marker, label=label or "_", alpha=alpha,
        facecolors="none" if marker == "s" else colour, edgecolors=colour, linewidths=0.7,
    )  # fmt: skip
