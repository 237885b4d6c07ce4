"""The poster: the density of linear regions, a measure that this version does not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from affscore.papers.comparison import OurNumber, Row, compare
from affscore.papers.linear_regions import PAPER
from affscore.papers.printed import printed_numbers

if TYPE_CHECKING:
    from affscore.papers.all_results import AllResults

_COLUMNS = {
    f"{network}{end}": (
        f"{PAPER} (poster)",
        f"{network.replace('_', ', ')}, {{row}}: {what} of density and absolute deviation",
    )
    for network in ("cifar10_vgg8", "cifar10_resnet18", "cifar100_vgg8")
    for end, what in (("", "rank correlation"), ("_std", "standard deviation of the rank correlation"))
}


def rows(results: AllResults) -> Iterator[Row]:
    """The numbers of the poster, of which none is ours: its networks were trained for it and are not published."""
    for number in printed_numbers("poster_density_vs_absolute_deviation", _COLUMNS):
        command = "# none: this version of affscore does not measure linear regions"
        yield compare(number, OurNumber(no_measure="linear regions"), command=command)
