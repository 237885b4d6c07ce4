"""Section 4, accuracy and non-linearity: figure 4, and section 4.4 of the first version with its figure 9."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from affscore.comparison import STATISTICS, signature_statistics
from affscore.errors import AffscoreError
from companion.all_results import AllResults
from companion.chapter_07.measurements import explained_accuracy
from companion.chapter_07.selection import (
    best_fit_lead,
    best_fit_test,
    independent_best,
    independent_lead,
    independent_p_value,
)
from companion.characteristics import characteristics
from companion.claims import FIRST, PAPER, STUDY_ON_IMAGENET, Decision, Verdict, claim, reached
from companion.networks import (
    FIRST_PAPER_GROUPS,
    FIRST_PAPER_STATISTICS,
    accuracy_groups,
    study_groups,
    study_models,
    survey_command,
)
from companion.permutation import p_value_text
from companion.printed import COMPUTED, OurNumber, Row, compare, printed_numbers, printed_table
from companion.regression import LEAST_POINTS, fit, over_seeds, plain_r2
from companion.results import ANALOGUES, PRINTED, Array, Results, number_of
from companion.statistics import CHANCE, MissingResultsError, require

COMMON_CHARACTERISTICS = {"depth": "depth", "num_params": "parameters", "ops": "gflops"}
"""The names in the printed figure, and ours."""

PERMUTATIONS = 10_000

BEFORE, AFTER = ("Pre-residual", "Residual", "NAS-based"), ("ViTs", "Post-ViT")
"""The groups before and after transformers came."""

_FIT = "adjusted R2 of a fit in the logarithm"

_DEPTH = "the paper does not say how it counts depth; ours is the most activations on a path"

_COMMON = list(COMMON_CHARACTERISTICS.values())

_FOUND = ["statistic_r2", "common_r2", "p_value", "lead_p_value"]

_OF_SPREAD, _OF_LEVEL = ("std", "max/mean", "max/median"), ("min", "median")


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
    printed, rows = printed_table("figure4_r2"), {}
    for group, names in study_groups().items():
        column = COMMON_CHARACTERISTICS[str(printed.loc[group, "best_common_characteristic"])]
        known, aim = characteristics(names), float(printed["common_r2"][group])
        ours = fit(known[column], known["accuracy"], "logarithm").adjusted_r2
        rows[group] = column, len(known), aim, ours, ours - aim
    columns = ["characteristic", "points", "printed", "ours", "difference"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def rows(results: AllResults) -> Iterator[Row]:
    """The ten R2: those of common characteristics from public metadata, those of statistics from our signatures."""
    again, printed = common_characteristics_again(), printed_table("figure4_r2")
    for number in printed_numbers("figure4_r2"):
        group, names = number.row, study_groups()[number.row]
        if number.column == "common_r2":
            column, ours = str(again.loc[group, "characteristic"]), float(again["ours"][group])
            how, why = f"{_FIT}, with the accuracies of torchvision's default weights", _DEPTH * (column == "depth")
            our = OurNumber(ours, way=COMPUTED, how=how, why=why)
            yield compare(number, our, _of_small_networks(results, group, column))
        else:
            column = str(printed.loc[group, "best_signature_statistic"])
            small = _of_small_networks(results, group, column)
            yield compare(number, _explained_by(results, names, column), small, survey_command(names))


def _explained_by(results: AllResults, names: list[str], column: str) -> OurNumber | None:
    """The R2 of a statistic of these networks."""

    def fitted(values: Mapping[str, Array]) -> float:
        scores = signature_statistics({name: one[0][~np.isnan(one[0])] for name, one in values.items()})
        table = characteristics(names)[["accuracy"]].assign(group="").join(scores)
        return float(explained_accuracy(table, [column], kind="logarithm")["adjusted_r2"].iloc[0])

    how, why = f"{_FIT}, as for the common characteristics", "the paper does not say which fit"
    return number_of(results.as_printed.signatures, names, fitted, how=how, why=why)


def _of_small_networks(results: AllResults, group: str, column: str) -> tuple[float, str] | None:
    """The same R2 of the small networks of a group on the hard task."""
    small = results.trained_again
    members = accuracy_table(small).query("group == @group") if small.tables else pd.DataFrame()
    if column not in members or len(members) < LEAST_POINTS:
        return None
    found = explained_accuracy(members, [column], kind="logarithm").iloc[0]
    return float(found["adjusted_r2"]), f"{found['points']} networks mini: of that group on the hard task"


def accuracy_table(results: Results) -> pd.DataFrame:
    """Accuracy, statistics and common characteristics of the networks, with the groups of both papers.

    Of networks that were trained several times means; of the papers' own networks torchvision's accuracies. The column
    ``design`` is the family, of ViTs with the size of their patches: within it accuracies are permuted.

    Args:
        results: Of one kind.

    Raises:
        MissingResultsError: There are no accuracies.
    """
    if "trainings" in results.tables:
        zoo = results.tables["zoo"].set_index("name").rename(columns={"flops": "gflops"})  # a unit, which no fit sees
        table = over_seeds(results.tables["trainings"]).join(zoo[_COMMON])
    else:
        require(results.material != ANALOGUES and set(study_models("")) <= results.signatures.keys())
        scores = {name: results.scores(name) for name in results.signatures}
        table = characteristics(list(scores))[["accuracy", *_COMMON]].join(signature_statistics(scores))
    table = table.join(accuracy_groups(table.index).drop(columns="name"))
    patches = [name.rpartition("_")[2] if name.startswith("vit_") else "" for name in map(str, table.index)]
    return table.assign(design=table["family"] + patches)


def _goes_with(
    results: Results, column: str, candidates: Mapping[str, Sequence[str]], signs: Mapping[str, int] | None = None
) -> Verdict:
    """Whether accuracy goes with the best of some statistics in each group, when it is permuted within designs.

    Args:
        results: What there is.
        column: The column of the groups in :func:`accuracy_table`.
        candidates: The statistics of each group.
        signs: 1 for the groups in which accuracy must rise with it, -1 for those in which it must fall.
    """
    table, parts = accuracy_table(results), {}
    for group, some in candidates.items():
        members = table[table[column] == group]
        try:
            found = best_fit_test(members, some, strata="design", permutations=PERMUTATIONS)
        except AffscoreError as error:
            raise MissingResultsError from error
        r = np.corrcoef(members[found.best], members["accuracy"])[0, 1]
        part = reached(found, len(members))
        right = np.sign(r) == (signs or {}).get(group, np.sign(r))
        parts[f"{found.best} in {group}, r = {r:.2f}, R2"] = part._replace(right=right)
    return Verdict.all_of(parts, "Accuracy with", n=int(table[column].isin(list(candidates)).sum()))


@claim(f"{PAPER}, section 4 and figure 4", STUDY_ON_IMAGENET)
def signature_explains_accuracy(results: Results) -> Verdict:
    """What one reads off the signature often explains accuracy better than depth, size and operations do.

    Test: In more than half of the groups its best statistic has the larger R2, in fits in the logarithm, and permuting
    accuracies within designs reaches that R2 with p < 0.05, and, either way, that lead of seven statistics over three.
    It does not hold where it is behind by that test in more than half. Printed R2 are compared with independent
    statistics.
    """
    if results.material == PRINTED:
        found, networks = _printed_fits(results.table("figure4_r2")), len(study_models(""))
    else:
        table = accuracy_table(results)
        found, networks = _fits(table), int(table["group"].notna().sum())
    require(len(found))
    lead = found["statistic_r2"] - found["common_r2"]
    ahead = (lead > 0) & (found["p_value"] < CHANCE) & (found["lead_p_value"] < CHANCE / 2)
    behind = (lead < 0) & (found["lead_p_value"] > 1 - CHANCE / 2)
    sentence = (
        f"The best statistic of the signature has a larger R2 than the best of depth, parameters and operations in "
        f"{(lead > 0).sum()} of {len(found)} groups, in {ahead.sum()} beyond chance; it is behind by more than chance "
        f"in {behind.sum()}. ({len(found) // 2 + 1} would have been enough.)"
    )
    return Verdict(True if ahead.mean() > 0.5 else False if behind.mean() > 0.5 else None, sentence, networks)


def _printed_fits(printed: pd.DataFrame) -> pd.DataFrame:
    """The printed R2, which are adjusted ones, and what seven independent statistics would reach."""
    rows = {}
    for group, names in study_groups().items():
        size = len(names)
        ours, common = (plain_r2(float(printed[column][group]), size) for column in ("signature_r2", "common_r2"))
        chance = independent_p_value(ours, size, len(STATISTICS))
        rows[group] = ours, common, chance, independent_lead(ours - common, size, len(STATISTICS), len(_COMMON))
    return pd.DataFrame.from_dict(rows, orient="index", columns=_FOUND)


def _fits(table: pd.DataFrame) -> pd.DataFrame:
    """For each group the best R2 of a statistic and of a common characteristic, and chance beside both."""
    options: dict[str, Any] = {"kind": "logarithm", "strata": "design", "permutations": PERMUTATIONS}
    groups = table.groupby("group", sort=False)
    rows = {group: best_fit_lead(members, STATISTICS, _COMMON, **options) for group, members in groups}
    return pd.DataFrame.from_dict(rows, orient="index").reindex(columns=_FOUND).astype(float).dropna()


@claim(f"{PAPER}, section 4 (second finding) and figure 4", STUDY_ON_IMAGENET)
def spread_then_level(results: Results) -> Verdict:
    """Before transformers the better networks have the larger spread of scores; since then minimum or median goes with
    accuracy.

    Test: Accuracy rises with the standard deviation in each of the three earlier groups and goes with minimum or median
    in both later ones, by permuting accuracies within designs. In print, the best of seven statistics is one of spread
    or one of these, and beyond chance.
    """
    if results.material != PRINTED:
        candidates = dict.fromkeys(BEFORE, ("std",)) | dict.fromkeys(AFTER, _OF_LEVEL)
        return _goes_with(results, "group", candidates, dict.fromkeys(BEFORE, 1))
    printed = results.table("figure4_r2")
    best, p_values = printed["best_signature_statistic"], _printed_fits(printed)["p_value"]
    parts = {}
    for group, some in (dict.fromkeys(BEFORE, _OF_SPREAD) | dict.fromkeys(AFTER, _OF_LEVEL)).items():
        p, n = float(p_values[group]), len(study_groups()[group])
        seen = f"an R2, not adjusted, of {independent_best(n, len(STATISTICS), 1 - CHANCE):.2f} would have been seen"
        parts[f"{group} {best[group]}"] = Decision(f"({p_value_text(p)})", best[group] in some, p, n, seen)
    return Verdict.all_of(parts, "Best statistic and its chance among seven", n=len(study_models("")))


_FIRST = f"{FIRST}, section 4.4 and figure 9"

_WITH_EFFICIENT = f"{STUDY_ON_IMAGENET}, with SqueezeNets and ShuffleNets"


@claim(_FIRST, _WITH_EFFICIENT)
def statistic_predicts_accuracy(results: Results) -> Verdict:
    """A statistic of the signature is predictive of accuracy in each of three groups of networks.

    Test: In each group the best of five statistics explains accuracy beyond chance when accuracies are permuted within
    designs.
    """
    return _goes_with(results, "first_paper_group", dict.fromkeys(FIRST_PAPER_GROUPS, FIRST_PAPER_STATISTICS))


@claim(_FIRST, _WITH_EFFICIENT)
def efficient_networks_penalised(results: Results) -> Verdict:
    """Efficient networks are the less accurate, the larger their largest score.

    Test: The correlation of largest score and accuracy is negative, by permuting accuracies within designs.
    """
    return _goes_with(results, "first_paper_group", {"Efficient": ("max",)}, {"Efficient": -1})


@claim(_FIRST, "vision transformers of one size of patches, five of them")
def transformers_better_when_bent(results: Results) -> Verdict:
    """Vision transformers are the more accurate, the more non-linear they are.

    Test: The correlation of mean score and accuracy is negative, by permuting accuracies among those with patches of
    one size: the size alone explains most of what five networks can show.
    """
    group = "Vision transformers"
    return _goes_with(results, "first_paper_group", {group: ("mean",)}, {group: -1})
