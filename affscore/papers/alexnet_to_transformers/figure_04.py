"""Figure 4: what explains accuracy, the statistics of the signature or depth, size and operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from affscore.analysis import (
    FITS,
    LEAST_POINTS,
    STATISTICS,
    best_fit_lead,
    explained_accuracy,
    fit,
    independent_lead,
    independent_p_value,
    p_value_text,
    plain_r2,
    signature_statistics,
)
from affscore.papers.accuracy import PERMUTATIONS, accuracy_goes_with, accuracy_table
from affscore.papers.alexnet_to_transformers import PAPER
from affscore.papers.claim import STUDY_ON_IMAGENET, Verdict, claim
from affscore.papers.comparison import COMPUTED, OurNumber, Row, compare
from affscore.papers.estimate import CHANCE, if_significant, not_significant, require
from affscore.papers.groups import group_of_each, study_groups
from affscore.papers.jackknife import error_over_batches
from affscore.papers.printed import printed_numbers, printed_table
from affscore.papers.protocol import few_images, survey_command
from affscore.papers.results import Results
from affscore.zoo.models import characteristics
from affscore.zoo.sources.torchvision_networks import with_version

if TYPE_CHECKING:
    from affscore.papers.all_results import AllResults

COMMON_CHARACTERISTICS = {"depth": "depth", "num_params": "parameters", "ops": "gflops"}
"""The names in the printed figure, and ours."""

VERSIONS = ("DEFAULT", "IMAGENET1K_V1", "IMAGENET1K_SWAG_E2E_V1", "IMAGENET1K_SWAG_LINEAR_V1")
"""Weights that torchvision states accuracies for; a network without one of them keeps its default."""

BEFORE, AFTER = ("Pre-residual", "Residual", "NAS-based"), ("ViTs", "Post-ViT")
"""The groups before and after transformers came."""

_COLUMNS = {
    "signature_r2": (f"{PAPER}, figure 4", "{row}: R2 of {best_signature_statistic}"),
    "common_r2": (f"{PAPER}, figure 4", "{row}: R2 of {best_common_characteristic}"),
}
_FIT = "adjusted R2 of a fit in the logarithm"
_COMMON = list(COMMON_CHARACTERISTICS.values())
_FOUND = ["statistic_r2", "common_r2", "p_value", "lead_p_value"]
_OF_SPREAD, _OF_LEVEL = ("std", "max/mean", "max/median"), ("min", "median")


def common_characteristic_fits() -> pd.DataFrame:
    """Every R2 that could stand behind the five common characteristics of figure 4.

    The paper says neither which fit nor which weights it used. Accuracies, parameters and operations are those of
    torchvision's metadata; depth is counted by the recorder, as torchvision does not state it.

    Returns:
        A row for each group, choice of weights and fit: ``group``, ``characteristic`` (the one that the paper prints
        for this group), ``weights``, ``fit``, ``points``, ``r2``, ``adjusted_r2``, ``printed``, ``difference`` (r2 -
        printed) and ``adjusted_difference``. Choices of weights that are the same for a whole group stand once, under
        the first of their names: ``DEFAULT``, then ``IMAGENET1K_V1`` and so on; a network that has no weights of a
        name keeps its default.

    >>> table = common_characteristic_fits().set_index(["group", "weights", "fit"])
    >>> table.loc[("ViTs", "DEFAULT", "logarithm"), ["r2", "adjusted_r2", "printed"]].astype(float).round(3).tolist()
    [0.882, 0.842, 0.842]
    """
    printed = printed_table("figure4_r2")
    rows = []
    for group, names in study_groups().items():
        column = COMMON_CHARACTERISTICS[str(printed.loc[group, "best_common_characteristic"])]
        choices: dict[tuple[str, ...], str] = {}
        for version in VERSIONS:
            choices.setdefault(tuple(with_version(name, version) for name in names), version)
        for (models, version), kind in product(choices.items(), FITS):
            table = characteristics(models)
            found, aim = fit(table[column], table["accuracy"], kind), float(printed["common_r2"][group])
            about = (group, column, version, kind, found.points, found.r2, found.adjusted_r2)
            rows.append((*about, aim, found.r2 - aim, found.adjusted_r2 - aim))
    columns = "group characteristic weights fit points r2 adjusted_r2 printed difference adjusted_difference".split()
    return pd.DataFrame(rows, columns=columns)


def common_characteristics_again() -> pd.DataFrame:
    """The five common characteristics of figure 4, by the one definition that gives the printed numbers.

    That is the adjusted R2 of a fit in the logarithm of the characteristic, with torchvision's default weights: it
    agrees with the printed number to 0.001 for the three characteristics of its metadata. With depth as the
    recorder counts it, the other two do not agree: the paper does not say how it counts depth.

    Returns:
        A row for each group, by its name: ``characteristic``, ``points``, ``printed``, ``ours`` and ``difference``
        (ours - printed).

    Source: figure 4.

    >>> common_characteristics_again().loc["Residual", ["printed", "ours"]].astype(float).round(3).tolist()
    [0.666, 0.666]
    """
    chosen = common_characteristic_fits().query("weights == 'DEFAULT' and fit == 'logarithm'").set_index("group")
    renamed = chosen[["characteristic", "points", "printed", "adjusted_r2", "adjusted_difference"]]
    return renamed.rename(columns={"adjusted_r2": "ours", "adjusted_difference": "difference"})


def rows(results: AllResults) -> Iterator[Row]:
    """The ten R2: those of common characteristics from public metadata, those of statistics from our signatures."""
    again, printed = common_characteristics_again(), printed_table("figure4_r2")
    repeated = results.hard_task is not None and results.zoo is not None
    small = accuracy_table(results.trained_again) if repeated else pd.DataFrame()
    how = f"{_FIT}, with the accuracies of torchvision's default weights"
    depth = "the paper does not say how it counts depth; ours is the most activations on a path"
    for number in printed_numbers("figure4_r2", _COLUMNS):
        group, command, our = number.row, "", None
        if number.column == "common_r2":
            column, ours = str(again.loc[group, "characteristic"]), float(again["ours"][group])
            our = OurNumber(ours, way=COMPUTED, how=how, why=depth if column == "depth" else "")
        else:
            column = str(printed.loc[group, "best_signature_statistic"])
            our = _explained_by(results.as_printed, study_groups()[group], column)
            command = survey_command(study_groups()[group])
        yield compare(number, our, _of_small_networks(small, group, column), command)


def _explained_by(results: Results, names: Sequence[str], statistic: str) -> OurNumber | None:
    """The R2 of a statistic of these networks."""
    if not set(names) <= results.signatures.keys():
        return None
    signatures = {name: results.signatures[name] for name in names}
    accuracy = characteristics(names)[["accuracy"]].assign(group="")

    def fitted(scores: Mapping[str, NDArray[np.float64]]) -> pd.Series:
        statistics = signature_statistics({name: values[~np.isnan(values)] for name, values in scores.items()})
        return explained_accuracy(accuracy.join(statistics), [statistic], kind="logarithm").iloc[0]

    found = fitted({name: one.scores for name, one in signatures.items()})
    return OurNumber(
        float(found["adjusted_r2"]),
        error=error_over_batches(lambda scores: float(fitted(scores)["adjusted_r2"]), signatures),
        undefined="" if np.isfinite(found["adjusted_r2"]) else str(found["note"]),
        how="; ".join([f"{_FIT}, as for the common characteristics", *few_images(signatures)]),
        why="the paper does not say which fit",
    )


def _of_small_networks(small: pd.DataFrame, group: str, column: str) -> tuple[float, str] | None:
    """The same R2 of the small networks of a group on the hard task."""
    members = small[small["group"] == group] if column in small else small.iloc[:0]
    if len(members) < LEAST_POINTS:
        return None
    found = explained_accuracy(members, [column], kind="logarithm").iloc[0]
    return float(found["adjusted_r2"]), f"{found['points']} networks mini: of that group on the hard task"


@claim(39, f"{PAPER}, section 4 and figure 4", STUDY_ON_IMAGENET)
def signature_explains_accuracy(results: Results) -> Verdict:
    """What one reads off the signature often explains accuracy better than depth, size and operations do.

    Test: In more than half of the groups its best statistic has the larger R2, in fits in the logarithm, and permuting
    accuracies within families reaches that R2 with p < 0.05, and so it does that lead of seven statistics over three.
    It does not hold where it is behind by that test in more than half. Printed R2 are compared with independent
    statistics.
    """
    if results.printed:
        found, networks = _printed_fits(results.printed["figure4_r2"]), len(group_of_each())
    else:
        table = accuracy_table(results)
        found, networks = _fits(table), int(table["group"].notna().sum())
    require(len(found))
    lead = found["statistic_r2"] - found["common_r2"]
    ahead = (lead > 0) & (found["p_value"] < CHANCE) & (found["lead_p_value"] < CHANCE)
    behind = (lead < 0) & (found["lead_p_value"] > 1 - CHANCE)
    sentence = (
        f"The best statistic of the signature has a larger R2 than the best of depth, parameters and operations in "
        f"{(lead > 0).sum()} of {len(found)} groups, in {ahead.sum()} beyond chance; it is behind by more than chance "
        f"in {behind.sum()}."
    )
    holds = True if ahead.mean() > 0.5 else False if behind.mean() > 0.5 else None
    return Verdict.of_parts({f"neither is so in more than half of {len(found)} groups": holds}, sentence, networks)


def _printed_fits(printed: pd.DataFrame) -> pd.DataFrame:
    """The printed R2, which are adjusted ones, and what seven independent statistics would reach."""
    rows = {}
    for group, names in study_groups().items():
        size = len(names)
        ours, common = (plain_r2(float(printed[column][group]), size) for column in _COLUMNS)
        chance = independent_p_value(ours, size, len(STATISTICS))
        rows[group] = ours, common, chance, independent_lead(ours - common, size, len(STATISTICS), len(_COMMON))
    return pd.DataFrame.from_dict(rows, orient="index", columns=_FOUND)


def _fits(table: pd.DataFrame) -> pd.DataFrame:
    """For each group the best R2 of a statistic and of a common characteristic, and chance beside both."""
    options: dict[str, Any] = {"kind": "logarithm", "strata": "family", "permutations": PERMUTATIONS}
    groups = table.groupby("group", sort=False)
    rows = {group: best_fit_lead(members, STATISTICS, _COMMON, **options) for group, members in groups}
    return pd.DataFrame.from_dict(rows, orient="index").reindex(columns=_FOUND).astype(float).dropna()


@claim(40, f"{PAPER}, section 4 (second finding) and figure 4", STUDY_ON_IMAGENET)
def spread_then_level(results: Results) -> Verdict:
    """Before transformers the better networks have the larger spread of scores; since then minimum or median goes with
    accuracy.

    Test: Accuracy rises with the standard deviation in each of the three earlier groups and goes with minimum or median
    in both later ones, by permuting accuracies within families. In print, the best of seven statistics is one of spread
    or one of these, and beyond chance.
    """
    if not results.printed:
        candidates = dict.fromkeys(BEFORE, ("std",)) | dict.fromkeys(AFTER, _OF_LEVEL)
        return accuracy_goes_with(results, "group", candidates, dict.fromkeys(BEFORE, 1))
    printed = results.printed["figure4_r2"]
    best, p_values = printed["best_signature_statistic"], _printed_fits(printed)["p_value"]
    expected = dict.fromkeys(BEFORE, _OF_SPREAD) | dict.fromkeys(AFTER, _OF_LEVEL)
    parts = {
        not_significant(p_values[group], group): if_significant(p_values[group], best[group] in some)
        for group, some in expected.items()
    }
    listed = ", ".join(f"{group} {best[group]} ({p_value_text(p_values[group])})" for group in expected)
    found = f"Best statistic and its chance among seven: {listed}."
    return Verdict.of_parts(parts, found, len(group_of_each()))
