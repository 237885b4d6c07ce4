"""Is the affinity score redundant? Its correlation with the other criteria, network by network and family by family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.stats import norm, t

from affscore.analysis.checks import check_columns
from affscore.errors import AffscoreError

__all__ = [
    "CRITERIA_OF_TABLE_1",
    "correlation_table",
    "criterion_correlations",
    "criterion_values",
    "family_correlations",
    "fisher_interval",
    "sign_counts",
]

CRITERIA_OF_TABLE_1 = ("cka", "norm", "sparsity", "entropy", "r2")
"""The criteria of tables 1 and 2 of the paper, in their order."""

LEAST_ACTIVATIONS = 4
"""Fewer have no interval: the variance of Fisher's z is 1 / (n - 3)."""

_SAME = 1e-6  # a criterion that varies by less, relative to its size, varies by rounding


def criterion_values(summary: pd.DataFrame, criteria: Sequence[str] = CRITERIA_OF_TABLE_1) -> pd.DataFrame:
    """The score and the criteria of each activation; of one that is measured twice the change, after minus before.

    Args:
        summary: A row for each activation, as in :attr:`affscore.Signature.summary`.
        criteria: Which; one that was not measured is a column of missing values.

    Raises:
        AffscoreError: There is no score in the table.

    Source: tables 1 and 2. The paper does not say in which direction it takes the change; with this one, a ReLU
    that makes many zeros has a positive change of sparsity.

    >>> row = {"score": [0.5], "cka": [0.9], "sparsity_before": [0.0], "sparsity_after": [0.25]}
    >>> criterion_values(pd.DataFrame(row), ["cka", "sparsity", "nlc"]).to_numpy().tolist()
    [[0.5, 0.9, 0.25, nan]]
    """
    if not isinstance(summary, pd.DataFrame) or "score" not in summary:
        raise AffscoreError("expected a table with a column 'score', a row for each activation, as Signature.summary")
    columns = {"score": summary["score"]}
    for name in criteria:
        if {f"{name}_before", f"{name}_after"} <= set(summary):
            columns[name] = summary[f"{name}_after"] - summary[f"{name}_before"]
        else:
            columns[name] = summary.get(name, pd.Series(np.nan, index=summary.index))
    return pd.DataFrame(columns).astype(float)


def criterion_correlations(
    summaries: Mapping[str, pd.DataFrame], criteria: Sequence[str] = CRITERIA_OF_TABLE_1, level: float = 0.95
) -> pd.DataFrame:
    """Pearson's correlation of the score with each criterion over the activations of a network, with an interval.

    The interval is that of :func:`fisher_interval`. It takes the activations for independent draws. Those of one
    network are not, neighbours being alike, so the true uncertainty is larger.

    Args:
        summaries: For each network a row for each activation (:attr:`affscore.Signature.summary`).
        criteria: Which; see :func:`criterion_values`.
        level: Of the intervals, in (0, 1).

    Returns:
        A row for each network and criterion: ``model``, ``criterion``, ``activations`` (that have both numbers),
        ``correlation``, ``low``, ``high`` and ``note``: why a number is missing, or what was left out.

    Raises:
        AffscoreError: A level outside (0, 1), or no tables by name.

    Source: table 2, which has no intervals.

    >>> network = pd.DataFrame({"score": [0.5, 0.6, 0.7, 0.8, 0.9], "cka": [0.6, 0.7, 0.7, 0.9, 0.8]})
    >>> table = criterion_correlations({"a": network}, ["cka"])
    >>> table[["activations", "correlation", "low", "high"]].round(2).values.tolist()
    [[5.0, 0.83, -0.19, 0.99]]
    """
    if not 0 < level < 1:
        raise AffscoreError(f"level must be in (0, 1), got {level}")
    if not isinstance(summaries, Mapping):
        raise AffscoreError(f"expected a table for each network by its name, got {type(summaries).__name__}")
    rows = []
    for model, summary in summaries.items():
        values = criterion_values(summary, criteria)
        for name in criteria:
            rows.append({"model": model, "criterion": name, **_correlation(values["score"], values[name], level)})
    return pd.DataFrame(rows, columns=["model", "criterion", "activations", "correlation", "low", "high", "note"])


def correlation_table(
    summaries: Mapping[str, pd.DataFrame], criteria: Sequence[str] = CRITERIA_OF_TABLE_1
) -> pd.DataFrame:
    """The correlations of :func:`criterion_correlations` alone, as the paper prints them.

    Args:
        summaries: For each network a row for each activation.
        criteria: Which.

    Returns:
        A row for each network, a column for each criterion; missing where there is no correlation.

    Source: table 2.

    >>> network = pd.DataFrame({"score": [0.5, 0.6, 0.7, 0.8, 0.9], "cka": [0.6, 0.7, 0.7, 0.9, 0.8]})
    >>> correlation_table({"a": network}, ["cka", "norm"]).round(2).to_numpy().tolist()
    [[0.83, nan]]
    """
    found = criterion_correlations(summaries, criteria)
    table = found.set_index(["model", "criterion"])["correlation"].astype(float)
    ordered = table.unstack()  # noqa: PD010 - correlations that do not exist stay as empty cells
    return ordered.reindex(index=list(summaries), columns=list(criteria)).rename_axis(index=None, columns=None)


def fisher_interval(correlation: float, count: int, level: float = 0.95) -> tuple[float, float]:
    r"""The interval of a correlation by Fisher's transformation.

    .. math:: \tanh\Bigl(\operatorname{artanh} r \pm \frac{z}{\sqrt{n - 3}}\Bigr)

    Args:
        correlation: r, in [-1, 1].
        count: n >= 4, the number of pairs.
        level: In (0, 1).

    Returns:
        Both ends; r itself where it is -1 or 1.

    Raises:
        AffscoreError: A correlation or a level out of range, or fewer than four pairs.

    >>> [round(end, 3) for end in fisher_interval(0.5, 28)]
    [0.156, 0.736]
    """
    if not (-1 <= correlation <= 1 and count >= LEAST_ACTIVATIONS and 0 < level < 1):
        raise AffscoreError(
            f"expected a correlation in [-1, 1], at least {LEAST_ACTIVATIONS} pairs and a level in (0, 1), "
            f"got {correlation}, {count} and {level}"
        )
    if abs(correlation) == 1:
        return correlation, correlation
    half = norm.ppf((1 + level) / 2) / np.sqrt(count - 3)
    centre = np.arctanh(correlation)
    return float(np.tanh(centre - half)), float(np.tanh(centre + half))


def family_correlations(
    correlations: pd.DataFrame, families: Mapping[str, str], level: float = 0.95, average: str = "Average"
) -> pd.DataFrame:
    """Mean and standard deviation of the correlations of a family's networks, and the same over all networks.

    Args:
        correlations: What :func:`criterion_correlations` returns.
        families: The family of each model; models without one count in the average only.
        level: Of the interval of the mean.
        average: The name of the last rows, over all networks.

    Returns:
        A row for each family and criterion: ``family``, ``criterion``, ``networks`` (that have a correlation),
        ``mean``, ``std`` (n in the denominator, as in table 1), ``low`` and ``high`` (Student's interval of the mean
        over networks, cut at -1 and 1) and ``note``. The last three numbers are missing below two networks.

    Raises:
        AffscoreError: Another table.

    Source: table 1; its standard deviations are those of table 2 with n in the denominator.

    >>> rows = {"model": ["a", "b"], "criterion": ["cka"] * 2, "correlation": [0.5, 0.7]}
    >>> table = family_correlations(pd.DataFrame(rows), {"a": "F", "b": "F"})
    >>> table[["family", "networks", "mean", "std"]].round(2).values.tolist()
    [['F', 2, 0.6, 0.1], ['Average', 2, 0.6, 0.1]]
    """
    check_columns(correlations, ("model", "criterion", "correlation"))
    named = correlations.assign(family=correlations["model"].map(dict(families)))
    table = pd.concat([named.dropna(subset="family"), correlations.assign(family=average)])
    rows = [
        {"family": family, "criterion": criterion, **_mean(members["correlation"], level)}
        for (family, criterion), members in table.groupby(["family", "criterion"], sort=False)
    ]
    return pd.DataFrame(rows)


def sign_counts(correlations: pd.DataFrame) -> pd.DataFrame:
    """In how many networks each criterion goes with the score, and in how many against it.

    Args:
        correlations: What :func:`criterion_correlations` returns.

    Returns:
        A row for each criterion: ``networks`` with a correlation, ``positive`` and ``negative`` ones of which the
        interval leaves out zero, ``undecided`` ones, ``smallest`` and ``largest`` correlation.

    Raises:
        AffscoreError: Another table.

    >>> rows = {"criterion": ["cka"] * 3, "correlation": [0.9, -0.8, 0.1], "low": [0.5, -0.9, -0.3],
    ...         "high": [1.0, -0.1, 0.4]}
    >>> sign_counts(pd.DataFrame(rows)).loc["cka"].tolist()
    [3.0, 1.0, 1.0, 1.0, -0.8, 0.9]
    """
    check_columns(correlations, ("criterion", "correlation", "low", "high"))
    known = correlations.dropna(subset="correlation")
    positive, negative = known["low"] > 0, known["high"] < 0
    counted = known.assign(positive=positive, negative=negative, undecided=~positive & ~negative)
    groups = counted.groupby("criterion", sort=False)
    table = groups[["positive", "negative", "undecided"]].sum()
    table.insert(0, "networks", groups.size())
    return table.assign(smallest=groups["correlation"].min(), largest=groups["correlation"].max())


def _correlation(score: pd.Series, criterion: pd.Series, level: float) -> dict[str, object]:
    nothing = {"activations": 0, "correlation": np.nan, "low": np.nan, "high": np.nan}
    if criterion.isna().all():
        return {**nothing, "note": "the criterion was not measured, or is defined nowhere"}
    known = pd.DataFrame({"score": score, "criterion": criterion}).dropna()
    count, missing = len(known), len(score) - len(known)
    note = f"without {missing} of {len(score)} activations, where a number is missing" if missing else ""
    nothing["activations"] = count
    reason = ""
    if count < LEAST_ACTIVATIONS:
        reason = f"{count} activations are too few for a correlation with an interval; it takes {LEAST_ACTIVATIONS}"
    elif _constant(known["criterion"]):
        reason = f"the criterion is the same for all activations ({known['criterion'].iloc[0]:.4g})"
    elif _constant(known["score"]):
        reason = f"the score is the same for all activations ({known['score'].iloc[0]:.4g})"
    if reason:
        return {**nothing, "note": "; ".join(filter(None, (reason, note)))}
    r = float(np.corrcoef(known["score"], known["criterion"])[0, 1])
    low, high = fisher_interval(r, count, level)
    return {"activations": count, "correlation": r, "low": low, "high": high, "note": note}


def _constant(values: pd.Series) -> bool:
    return bool(np.ptp(values) <= _SAME * np.abs(values).max())


def _mean(values: pd.Series, level: float) -> dict[str, object]:
    known = values.dropna().to_numpy(dtype=float)
    count = len(known)
    if count == 0:
        nothing = dict.fromkeys(("mean", "std", "low", "high"), np.nan)
        return {"networks": 0, **nothing, "note": "no network of the family has a correlation"}
    row: dict[str, object] = {"networks": count, "mean": float(known.mean()), "std": float(known.std())}
    if count == 1:
        missing = dict.fromkeys(("std", "low", "high"), np.nan)
        return {**row, **missing, "note": "one network has no spread, and no interval of the mean"}
    half = t.ppf((1 + level) / 2, count - 1) * known.std(ddof=1) / np.sqrt(count)
    note = "" if count == len(values) else f"without {len(values) - count} of {len(values)} networks"
    low, high = (float(np.clip(known.mean() + sign * half, -1, 1)) for sign in (-1, 1))
    return {**row, "low": low, "high": high, "note": note}
