"""Families of architectures, and the year and the publication in which each appeared."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

TABLE = Path(__file__).parent / "architectures.csv"


@cache
def _architectures() -> list[Any]:
    return list(pd.read_csv(TABLE).itertuples(index=False, name="Architecture"))


def architecture_of(name: str) -> Any:
    """The architecture of a network of torchvision, by the longest beginning of its name; None if unknown.

    Its attributes are ``begins`` (how the names of its members begin), ``family`` (named as in the papers where they
    have it), ``year`` (in which it was first made public), and ``publication`` (authors, title and where to find it).

    >>> architecture_of("swin_v2_t").year, architecture_of("resnet18").family, architecture_of("mynet")
    (2021, 'ResNets', None)
    """
    fitting = [architecture for architecture in _architectures() if name.startswith(architecture.begins)]
    return max(fitting, key=lambda architecture: len(architecture.begins), default=None)
