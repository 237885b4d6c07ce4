"""What is measured: every choice that a number of a signature depends on."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from affscore.errors import AffscoreError
from affscore.network.criteria import choose_criteria
from affscore.network.reduction import OrderName, ReductionName, check_order, check_reduction
from affscore.network.scoring import Choices
from affscore.transport.covariance import CovarianceName, check_name

__all__ = ["Options", "check_whole_number", "choose_options"]

COMMUTING = ("sample", "flatten")
"""Reductions that commute with an elementwise function: both orders are the same."""

MOST_IN_A_BATCH = 100_000
"""The coupling of n images needs n^2 distances: 80 GB at this n."""

MOST_IMAGES = 10**9


@dataclass(frozen=True)
class Options:
    """The choices of a signature, checked (see :func:`affscore.signature`).

    Attributes:
        n: Images in a batch of the statistic.
        images: How many images in all, or None for all there are.
        reduction: From a feature map to a vector.
        order: Of reduction and activation; "activate-first" where both are the same.
        covariance: "ledoit-wolf" or "empirical".
        criteria: Names of the criteria.
        seed: Fixes random weights, the choice and order of images, and positions.
        whole: Whether all images are scored together.
    """

    n: int
    images: int | None
    reduction: ReductionName
    order: OrderName
    covariance: CovarianceName
    criteria: tuple[str, ...]
    seed: int
    whole: bool

    @property
    def choices(self) -> Choices:
        """What is computed for every activation."""
        return Choices(self.covariance, self.criteria)

    def as_columns(self) -> dict[str, str]:
        """The choices that are columns of the table."""
        coupling = "paired" if self.whole else "exact"
        return {
            "reduction": self.reduction,
            "order": self.order,
            "covariance": self.covariance,
            "coupling": coupling,
        }


def choose_options(
    n: int = 512,
    images: int | None = None,
    reduction: ReductionName = "mean",
    order: OrderName = "activate-first",
    covariance: CovarianceName = "ledoit-wolf",
    criteria: bool | str | Collection[str] = True,
    seed: int = 0,
    whole: bool = False,
) -> Options:
    """Options that are possible; the arguments are those of :func:`affscore.signature`.

    Raises:
        AffscoreError: An unknown name, or a number out of range.

    >>> choose_options(n=64, reduction="sample", order="reduce-first").order
    'activate-first'
    """
    check_reduction(reduction)
    check_order(order)
    check_name(covariance)
    n, seed = check_whole_number("n", n, 2, MOST_IN_A_BATCH), check_whole_number("seed", seed, 0)
    if images is not None and (isinstance(images, bool) or images == 0):
        raise AffscoreError(f"images must be a whole number of at least 2, got {images!r}; omit it for all")
    images = None if images is None else check_whole_number("images", images, 2, MOST_IMAGES)
    if not isinstance(whole, bool):
        raise AffscoreError(f"whole must be True or False, got {whole!r}")
    if reduction in COMMUTING:
        order = "activate-first"
    return Options(n, images, reduction, order, covariance, choose_criteria(criteria), seed, whole)


def check_whole_number(name: str, value: Any, least: int, most: int = 2**63 - 1) -> int:
    """The value as an int, if it is a whole number from least to most.

    >>> check_whole_number("n", 64, 2)
    64
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise AffscoreError(f"{name} must be a whole number of at least {least}, got {value!r}")
    if int(value) > most:
        raise AffscoreError(f"{name} must be at most {most}, got {value}")
    return int(value)
