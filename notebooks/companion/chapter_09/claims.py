"""Section 4, uniqueness of the score, and appendix G: tables 1 and 2, correlations with other criteria."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from companion.all_results import AllResults
from companion.chapter_09.measurements import STRONG, simultaneous_intervals, strength_counts
from companion.claims import FIRST, PAPER, STUDY_ON_IMAGENET, Verdict, claim
from companion.networks import study_models, survey_command, table_1_families
from companion.printed import PrintedNumber, Row, compare, printed_numbers, printed_table
from companion.regression import CRITERIA_OF_TABLE_1, criterion_correlations
from companion.results import Array, Results, analogue_of, number_of
from companion.statistics import mean_or_deviation, require

LEAST_NETWORKS = 10

ROUNDED = 0.0101
"""Two numbers of two decimals that are computed from rounded ones may differ by so much."""


def rows(results: AllResults) -> Iterator[Row]:
    """Table 1, whose last row is over all that the study has, then table 2, network by network, and its averages."""
    families = table_1_families(study_models(""))
    for number in printed_numbers("table1_family_correlations"):
        names = [name for name, family in families.items() if number.row in (family, "Average")]
        criterion, _, what = number.column.rpartition("_")
        yield _row(results, number, names, criterion, what)
    for number in printed_numbers("table2_correlations"):
        yield _row(results, number, [number.row], number.column, "mean")
    names = [str(name) for name in printed_table("table2_correlations").index]
    for number in printed_numbers("table2_average"):
        yield _row(results, number, names, number.row, number.column)


def _row(results: AllResults, number: PrintedNumber, names: list[str], criterion: str, what: str) -> Row:
    """A correlation of the score of a network with a criterion; of several their mean or standard deviation."""

    def statistic(values: Mapping[str, Array]) -> float:
        return mean_or_deviation([pd.Series(values[name][0]).corr(pd.Series(values[name][1])) for name in names], what)

    if len(names) == 1:
        why, with_weights = "", "{model} with {weights} on {dataset}, reduction {reduction}"
        others = analogue_of(results.other_weights.signatures, names, statistic, with_weights, criterion)
        small = analogue_of(results.mini.signatures, names, statistic, "{model} on {dataset}", criterion)
        analogue = others or small
    else:
        why = "table 1 does not follow from table 2 either, and the papers do not list the networks behind it"
        about = f"the {len(names)} networks mini: of the same names on digits"
        analogue = analogue_of(results.mini.signatures, names, statistic, about, criterion)
    ours = number_of(results.as_printed.signatures, names, statistic, criterion, why=why)
    return compare(number, ours, analogue, survey_command(names))


def _of_study(results: Results) -> pd.DataFrame:
    """The correlations of the study's networks, where there are enough of these."""
    table = results.tables.get("correlations")
    if table is None:
        require(results.signatures)
        table = criterion_correlations({str(name): results.summaries[str(name)] for name in results.study.index})
    require(table["model"].nunique() >= LEAST_NETWORKS)
    return table


@claim(f"{PAPER}, section 4, tables 1 and 2; {FIRST}, section 4.2", STUDY_ON_IMAGENET)
def no_criterion_says_the_same(results: Results) -> Verdict:
    """No other criterion correlates strongly and consistently with the score.

    Test: Every criterion has a network whose correlation, in its usual direction, is below 0.5 with its whole interval.
    It does not hold where a criterion is above with all of them. The intervals are Fisher's, hold together for all
    networks, and take activations for independent.
    """
    table = _of_study(results)
    counts = strength_counts(table).reindex(list(CRITERIA_OF_TABLE_1))
    require(counts.notna().all(axis=None))
    consistent, refuted = counts["strong"] == counts["networks"], counts["weak"] > 0
    listed = ", ".join(f"{count:.0f} for {criterion}" for criterion, count in counts["weak"].items())
    found = (
        f"Networks whose correlation, in the usual direction of the criterion, is below {STRONG} with its whole "
        f"simultaneous interval: {listed}. (One for each criterion would have been enough.)"
    )
    holds = False if consistent.any() else True if refuted.all() else None
    return Verdict(holds, found, table["model"].nunique())


@claim(f"{FIRST}, section 4.2", STUDY_ON_IMAGENET)
def cka_fits_densenets_only(results: Results) -> Verdict:
    """CKA agrees with the score in some architectures, above all DenseNets, and disagrees in others.

    Test: The correlation is above 0.5 in every DenseNet and negative in some other network, by the same intervals.
    """
    table = _of_study(results)
    cka = simultaneous_intervals(table[table["criterion"] == "cka"])
    dense = cka["model"].str.startswith("densenet").astype(bool)
    require(dense.any() and not dense.all())
    inside, others = cka[dense], cka[~dense]
    strong = True if (inside["low"] > STRONG).all() else False if (inside["high"] < STRONG).any() else None
    below = int((others["high"] < 0).sum())
    against = True if below else False if (others["low"] > 0).all() else None
    least, low = inside[["correlation", "low"]].min()
    found = (
        f"Smallest correlation of score and CKA: {least:.2f} in DenseNets (interval from {low:.2f}), "
        f"{others['correlation'].min():.2f} in {len(others)} others, {below} of them with an interval below zero. (All "
        f"DenseNets above {STRONG} and one other below zero would be enough.)"
    )
    holds = False if False in (strong, against) else None if None in (strong, against) else True
    return Verdict(holds, found, len(cka))


@claim(f"{PAPER}, table 1", "the printed numbers")
def table_1_sums_up_table_2(results: Results) -> Verdict:
    """Table 1 has the means and standard deviations of the rows of table 2, family by family.

    Test: Computed again from table 2 they agree up to rounding (MNASNets have no rows there and are left out).
    """
    rows, printed = results.table("table2_correlations"), results.table("table1_family_correlations")
    families = rows.groupby(pd.Series(table_1_families(rows.index)))
    again = families.mean().add_suffix("_mean").join(families.std(ddof=0).add_suffix("_std"))
    gaps = (again - printed).abs().dropna()
    apart = int((gaps > ROUNDED).to_numpy().sum())
    found = f"Of {gaps.size} numbers of table 1, computed again from table 2, {apart} differ by more than rounding."
    return Verdict(apart == 0, found, gaps.size, "numbers")


@claim(f"{PAPER}, table 2", "the printed numbers")
def average_of_table_2(results: Results) -> Verdict:
    """The last row of table 2 is the average of the rows above it.

    Test: Computed again the five averages agree up to rounding.
    """
    rows, printed = results.table("table2_correlations"), results.table("table2_average")["mean"]
    gaps = (rows.mean() - printed).abs()
    worst, apart = str(gaps.idxmax()), int((gaps > ROUNDED).sum())
    found = (
        f"{apart} of the five averages differ by more than rounding; most apart is {worst}: {printed[worst]:.2f} is "
        f"printed, the rows have {rows[worst].mean():.2f}."
    )
    return Verdict(apart == 0, found, len(gaps), "numbers")
