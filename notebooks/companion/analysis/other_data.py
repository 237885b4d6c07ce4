"""How far signatures on other data are from those on the data of reference, and how far chance alone takes them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from affscore.comparison.distances import signature_distance
from affscore.errors import AffscoreError
from companion.analysis.tables import check_columns, numbers_of

_NEEDED = ("model", "dataset", "n", "batches", "index", "score", "score_std")
_FOUND = ["model", "dataset", "euclidean", "dtw", "mean_change", "activations", "lost", "chance"]


def data_deviations(study: pd.DataFrame) -> pd.DataFrame:
    r"""How far the signature of each network on each data set is from that on the first one.

    Two signatures on the first data set differ, too, where each is of other images. With :math:`s_l` the standard
    deviation of the score of activation l over B batches of that data set, the distance that this chance makes is
    about

    .. math:: \sqrt{\textstyle\sum_l 2 s_l^2 / B}

    between two signatures of as many images in all: a score of twice the images varies by half as much.

    Args:
        study: Scores under one specification with the columns of :func:`companion.studies.study_of`. The data set
            of the first row is that of reference; a network that was not measured on it is left out. Where there are
            several n, distances are those of the largest; chance is that of the largest with two batches or more.

    Returns:
        A row for each network and other data set: ``model``, ``dataset``, ``euclidean`` and ``dtw``, the two distances,
        ``mean_change``, the mean change of the scores, ``activations``, how many of these there are, ``lost``, how many
        have no score on one of the two and are left out, and ``chance`` (missing where nothing was measured in two
        batches or more).

    Raises:
        AffscoreError: Another table, or one without other data.

    Source: figure 15; its caption says Euclidean distance, the text dynamic time warping. Chance is not in the papers.

    >>> rows = [("net", data, 64, 1, index, score) for data, scores in (("digits", [0.5, 0.5]), ("random", [0.8, 0.9]))
    ...         for index, score in enumerate(scores)]
    >>> columns = ["model", "dataset", "n", "batches", "index", "score"]
    >>> found = data_deviations(pd.DataFrame(rows, columns=columns).assign(score_std=float("nan")))
    >>> found[["dataset", "euclidean", "dtw", "mean_change"]].round(2).values.tolist()
    [['random', 0.5, 0.5, 0.35]]
    """
    check_columns(study, _NEEDED)
    reference, *others = study["dataset"].unique().tolist() or [None]
    if not others:
        raise AffscoreError("expected scores on a data set of reference and on another one at least")
    rows = []
    for model, own in study.groupby("model", sort=False):
        scores = _scores(own[own["n"] == own["n"].max()])
        if reference not in scores:
            continue
        chance = _chance(own[own["dataset"] == reference])
        for data in (data for data in others if data in scores):
            both = scores[[reference, data]].dropna()
            rows.append((model, data, *_apart(*both.to_numpy().T), len(both), len(scores) - len(both), chance))
    return pd.DataFrame(rows, columns=_FOUND)


def _scores(rows: pd.DataFrame) -> pd.DataFrame:
    """A row for each activation, a column for each data set."""
    scores = rows[["index", "dataset"]].assign(score=numbers_of(rows, ["score"])["score"])
    return scores.pivot(index="index", columns="dataset", values="score")  # noqa: PD010 - a value for each pair


def _apart(here: NDArray[np.float64], there: NDArray[np.float64]) -> tuple[float, float, float]:
    """Both distances, and the mean change."""
    if not len(here):
        return np.nan, np.nan, np.nan
    change = there - here
    return float(np.linalg.norm(change)), signature_distance(here, there), float(change.mean())


def _chance(rows: pd.DataFrame) -> float:
    several = rows[rows["batches"] > 1]
    several = several[several["n"] == several["n"].max()]
    if several.empty:
        return np.nan
    return float(np.sqrt((2 * several["score_std"].astype(float) ** 2 / several["batches"]).sum()))
