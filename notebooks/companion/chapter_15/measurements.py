"""What is measured of networks along paths: over segments, over seeds, over ways of training and over widths."""

from __future__ import annotations

import numpy as np
import pandas as pd

from companion.permutation import Trend, trend
from companion.statistics import Estimate, jackknife_error
from companion.studies import ONE_TRAINING, rates

FITTED = 0.99
"""From this share of fitted training labels on a network interpolates them."""

BLOCKS = 16
"""Images are left out one by one, or in so many groups where there are more."""


def rank_correlations(
    paths: pd.DataFrame, density: str = "crossings", deviation: str = "absolute_deviation"
) -> pd.DataFrame:
    """Spearman's correlation of the density with the absolute deviation over the segments of each training.

    Args:
        paths: A study of linear regions along paths, a row for each segment.
        density: The column of the one measure, of ``paths`` or of :func:`rates`.
        deviation: And of the other.

    Returns:
        A row for each training: ``network``, ``way``, ``seed``, ``correlation``.
    """
    table = paths if {density, deviation} <= set(paths) else rates(paths)
    groups = table.groupby(ONE_TRAINING, sort=False)[[density, deviation]]
    found = groups.apply(lambda rows: rows[density].corr(rows[deviation], method="spearman"))
    return found.rename("correlation").reset_index()


def mean_correlation(
    paths: pd.DataFrame, density: str = "crossings", deviation: str = "absolute_deviation"
) -> Estimate:
    """The mean of :func:`rank_correlations` over all trainings, with the error that seeds and images make.

    The error over seeds is that of the mean over architectures, each averaged over its ways of training, which share
    their seeds. That over images is the jackknife's: all networks are followed around the same images.

    As for :func:`rank_correlations`: paths, density, deviation.
    """
    found = rank_correlations(paths, density, deviation)
    by_seed = found.groupby(["network", "seed"])["correlation"].mean().groupby("network")
    counts = by_seed.count()
    of_seeds = by_seed.var() / counts  # missing for a single seed, which has no error
    images = np.array_split(paths["path"].unique(), min(BLOCKS, paths["path"].nunique()))
    without = [
        rank_correlations(paths[~paths["path"].isin(some)], density, deviation)["correlation"].mean()
        for some in (images if len(images) > 1 else ())
    ]
    error = np.hypot(np.sqrt(of_seeds.sum(skipna=False)) / len(counts), jackknife_error(np.array(without)))
    freedom = max(1, min(int((counts - 1).sum()), len(images) - 1))
    error = float(error) if np.isfinite(error) else np.inf
    return Estimate(float(by_seed.mean().mean()), error, freedom, (-1, 1), int(counts.sum()))


def trend_over(table: pd.DataFrame, over: str, x: str, y: str) -> Trend:
    """The rank correlation of two measures over the values of a column, both averaged over what else differs.

    Trainings of one width or one way are no independent evidence of a trend over widths or ways, so seeds are averaged.

    Args:
        table: A row for each training.
        over: The column, as ``width`` or ``way``.
        x: The one measure; may be ``over`` itself.
        y: The other.

    >>> table = pd.DataFrame({"width": [1, 2, 3, 4], "error": [4.0, 3.0, 2.0, 1.0]})
    >>> print(trend_over(table, "width", "width", "error"))
    -1.00 (p = 0.083)
    """
    means = table.groupby(over)[[name for name in (x, y) if name != over]].mean().reset_index()
    return trend(means[x], means[y])


def past_the_threshold(networks: pd.DataFrame) -> pd.DataFrame:
    """The networks of those widths at which the training labels are fitted.

    Args:
        networks: A row for each: ``network``, whose name ends with the width, and ``fitted``.

    Returns:
        These rows with the column ``width``; none where there are too few widths to see a trend.
    """
    table = networks.assign(width=networks["network"].str.rpartition("_")[2].astype(int))
    fitted = table.groupby("width")["fitted"].min()
    wide = table[table["width"].isin(fitted.index[fitted >= FITTED])]
    return wide if wide["width"].nunique() > 2 else wide.head(0)
