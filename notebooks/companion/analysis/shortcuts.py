"""The scores of residual networks and their plain twins: of one group or two, and which activations these are."""

from __future__ import annotations

import pandas as pd

from affscore.errors import AffscoreError
from affscore.options import Specification, check_integer
from companion.analysis.bimodality import common_language_effect_size, mixture_test, unimodality_test

FIRST, SECOND = ("first",), ("second", "after-sum")
"""Kinds of the two activations of a block."""


def groups_of_scores(study: pd.DataFrame, resamples: int = 99) -> pd.DataFrame:
    """Are the scores of each network of one group, and are the groups the two activations of its blocks?

    Args:
        study: Networks with blocks of two activations (:mod:`companion.studies`).
        resamples: Of Silverman's test, 19 at least: with fewer no p-value is below 5 %.

    Returns:
        A row for each network and specification: ``network``, ``weights``, ``shortcuts`` (whether it has them),
        ``activations``, the five words of the specification; ``one Gaussian`` and ``one mode``, the p-values
        of :func:`companion.analysis.mixture_test` and :func:`companion.analysis.unimodality_test`; and ``separation``,
        how often the score of the second activation of a block, or of that after the sum, exceeds one of a first
        (:func:`companion.analysis.common_language_effect_size`).

    Raises:
        AffscoreError: Too few resamples, or a network without blocks of two activations.

    >>> from companion.studies import load_study, under
    >>> rows = under(load_study("shortcuts")).query("network == 'residual34' and seed == 1")
    >>> (found,) = groups_of_scores(rows).itertuples()
    >>> found.activations, found.separation > 0.9
    (33, True)
    """
    check_integer("resamples", resamples, 19)
    rows, words = [], list(Specification._fields)
    for (model, weights, *choice), table in study.groupby(["model", "weights", *words], sort=False):
        first, second = (table.loc[table["kind"].isin(kinds), "score"].dropna() for kinds in (FIRST, SECOND))
        if first.empty or second.empty:
            raise AffscoreError(f"expected a network with blocks of two activations, got {model}, which has none")
        scores = table["score"].dropna()
        rows.append({
            "network": str(model).rpartition(":")[2],
            "weights": weights,
            "shortcuts": bool((table["kind"] == "after-sum").any()),
            "activations": len(scores),
            **dict(zip(words, choice, strict=True)),
            "one Gaussian": mixture_test(scores).p_value,
            "one mode": unimodality_test(scores, resamples).p_value,
            "separation": common_language_effect_size(second, first),
        })  # fmt: skip
    return pd.DataFrame(rows)
