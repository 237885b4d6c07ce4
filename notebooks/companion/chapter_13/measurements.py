"""Where the non-linearity of networks is: the blocks of each, by their kinds."""

from __future__ import annotations

from typing import Literal, TypeVar

import pandas as pd

Numbers = TypeVar("Numbers", float, pd.Series)

SummaryName = Literal["mean", "median", "sum"]

PARTS = ("activation", "normalisation", "attention", "pooling", "linear")
"""Kinds of blocks that do not contain each other, but for attention, which may contain parts of the other kinds."""


def unexplained(affine_fit: Numbers) -> Numbers:
    r"""The share of the variance of the output that no affine map of the input explains: :math:`u = 2 (1 - a)^2`.

    Args:
        affine_fit: The criterion a (:func:`affscore.network.affine_fit`), one number or a column.

    >>> unexplained(1.0), round(unexplained(1 - 0.5**0.5), 6)
    (0.0, 1.0)
    """
    return 2 * (1 - affine_fit) ** 2


def unexplained_by_kind(blocks: pd.DataFrame, by: list[str], summary: SummaryName = "mean") -> pd.DataFrame:
    """The unexplained share of the blocks of each kind, together.

    Args:
        blocks: A row for each block, with ``kind`` and ``affine_fit``. A block whose fit is missing does not count.
        by: The columns that say of which network, and under which choices.
        summary: Of the blocks of one kind: "mean", "median" or "sum".

    Returns:
        A row for each value of ``by``, a column for each kind; missing where there is no block.

    >>> blocks = pd.DataFrame({"model": "a", "kind": ["mlp", "mlp", "linear"], "affine_fit": [0.5, 0.0, 1.0]})
    >>> unexplained_by_kind(blocks, ["model"]).loc["a"].to_dict()
    {'linear': 0.0, 'mlp': 1.25}
    """
    found = blocks.assign(share=unexplained(blocks["affine_fit"])).dropna(subset="share")
    return found.pivot_table(index=by, columns="kind", values="share", aggfunc=summary)
