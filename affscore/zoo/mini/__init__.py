"""The mini zoo: small members of every family of the papers, trained on handwritten digits, and what they reach.

The networks themselves are in :mod:`affscore.zoo.mini.registry`, which imports torchvision; ``make zoo`` writes the
tables.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

__all__ = ["hard_task", "list_models"]

_FOLDER = Path(__file__).parents[1]


def list_models() -> pd.DataFrame:
    """The small networks of the package: a row for each, in the order of the years of their architectures.

    Returns:
        A table with the columns

        * ``name``: as in ``mini:NAME``; but for ``digitsnet`` that of the network of torchvision it stands for;
        * ``family`` and ``year`` of the architecture;
        * ``accuracy``: share of the 597 held-out digits that it names rightly, in percent, and its
          ``accuracy_standard_error``, sqrt(p (1 - p) / 597);
        * ``parameters``; ``flops``: multiply-adds of one image, in convolutions and matrix products;
        * ``depth``: the largest number of activations on a path from the input to one of them;
        * ``group``: its group in figure 4 of the paper; missing for those that are not in it.

    >>> models = list_models().set_index("name")
    >>> int(models.loc["resnet18", "depth"]), models.loc["vit_b_16", "group"], int(models.loc["alexnet", "year"])
    (17, 'ViTs', 2012)
    """
    return pd.read_csv(_FOLDER / "zoo.csv")


def hard_task() -> pd.DataFrame:
    """What the small networks reach on a task that does not saturate, with five seeds each.

    They are trained on 20 images of each digit, turned, scaled, moved and noisy, and tested on the 597 held-out
    images with distortions of the same kind, which are the same for all networks.

    Returns:
        A row for each network and seed; columns ``name``, ``seed``, ``accuracy`` (percent of the distorted held-out
        images), and ``mean``, ``std``, ``min``, ``median``, ``max``, ``max/mean``, ``max/median`` of the signature of
        that very network on the held-out images without distortions (n = 512, ``mean``, activate first).

    >>> table = hard_task()
    >>> table.groupby("name")["seed"].count().unique().tolist()
    [5]
    """
    rows = pd.read_parquet(_FOLDER / "hard_task").set_index("name")
    return rows.loc[list_models()["name"]].reset_index()
