"""Families of architectures, and the year and the publication in which each appeared."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd

__all__ = ["Architecture", "architecture_of"]

TABLE = Path(__file__).parent / "architectures.csv"


@dataclass(frozen=True)
class Architecture:
    """Where an architecture comes from.

    Attributes:
        begins: How the names of its members begin.
        family: Its family, named as in the papers where they have it.
        year: The year in which it was first made public.
        publication: Authors, title and where to find it.
    """

    begins: str
    family: str
    year: int
    publication: str


@cache
def _architectures() -> tuple[Architecture, ...]:
    return tuple(Architecture(*row) for row in pd.read_csv(TABLE).itertuples(index=False))


def architecture_of(name: str) -> Architecture | None:
    """The architecture of a network of torchvision, by the longest beginning of its name; None if unknown.

    >>> architecture_of("swin_v2_t").year, architecture_of("resnet18").family, architecture_of("mynet")
    (2021, 'ResNets', None)
    """
    fitting = [architecture for architecture in _architectures() if name.startswith(architecture.begins)]
    return max(fitting, key=lambda architecture: len(architecture.begins), default=None)
