"""A network's signature under every defensible choice at once, from one forward pass."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from torch import nn

from affscore.network.inputs import Forward
from affscore.network.measurement import Measurement
from affscore.network.multiverse_result import Multiverse
from affscore.network.note import give_warnings
from affscore.network.notes import on_input
from affscore.network.reduction import ReductionName
from affscore.options import MASK, BiasName, Execution, Options, check_reductions

REDUCTIONS: tuple[ReductionName, ...] = ("mean", "sample")
"""The reductions of a multiverse, if no others are asked for."""


def multiverse(
    model: nn.Module | str,
    data: Any,
    n: int = 512,
    images: int | None = None,
    device: str = "auto",
    batch_size: int = 64,
    seed: int = 0,
    progress: bool | None = None,
    reductions: str | Sequence[str] = REDUCTIONS,
    bias: BiasName = "none",
    activations: Collection[Any] | Mapping[str, Any] | None = None,
    forward: Forward | None = None,
    data_name: str | None = None,
    positions: int = 4,
    size: int | None = None,
    mask: str | None = MASK,
) -> Multiverse:
    """The signature of a network under every combination of reduction, order, covariance and coupling.

    The network runs once. Each score is that of a separate :func:`affscore.signature` call, to the last bit on the
    CPU. ``sample``, ``positions`` and ``flatten`` have one order, "activate-first": both are the same there.

    Args:
        model: As in :func:`affscore.signature`.
        data: As there.
        n: As there.
        images: As there.
        device: As there.
        batch_size: As there.
        seed: As there.
        progress: As there.
        reductions: Which reductions: "mean" and "sample", unless others are named.
        bias: "extrapolated" adds, for each specification, scores that are corrected for the bias of a finite n
            (:mod:`affscore.transport.extrapolation`).
        activations: As there.
        forward: As there.
        data_name: As there.
        positions: As there, for the reduction "positions".
        size: As there.
        mask: As there.

    Returns:
        The multiverse: ``.table``, a row for each activation and specification, and ``.summary``, a row for each
        specification. An activation that cannot be applied to reduced vectors has no scores for "reduce-first", and a
        note says so.

    Raises:
        AffscoreError: As :func:`affscore.signature`; no reduction.

    Source: definition 3.1, the published code and appendix E, which differ; multiverse analysis after Steegen et
    al. (2016), specification curves after Simonsohn et al. (2020).

    >>> found = multiverse("mini:digitsnet", "digits", n=64, images=64)
    >>> found.summary.loc[0, ["reduction", "order", "covariance", "coupling"]].tolist()
    ['mean', 'activate-first', 'ledoit-wolf', 'exact']
    >>> from affscore import signature
    >>> alone = signature("mini:digitsnet", "digits", n=64, images=64, criteria=False)
    >>> bool((found.scores.iloc[:, 0] == alone.scores).all())
    True
    """
    options = Options(
        n=n, images=images, seed=seed, positions=positions, multiverse=check_reductions(reductions), bias=bias,
        size=size, mask=mask,
    )  # fmt: skip
    how = Execution(device, batch_size, progress)
    measurement = Measurement(model, data, options, how, activations, forward, data_name)
    give_warnings(early := on_input(measurement.stream, measurement.network), stacklevel=2)
    result = Multiverse.of(measurement.signatures(), measurement.options)
    give_warnings([note for note in result.notes if note not in early], stacklevel=2)
    return result
