"""Table 2: correlations of the score with other criteria, network by network, and their average."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from affscore.analysis.consistency import simultaneous_intervals, strength_counts
from affscore.analysis.redundancy import (
    CRITERIA_OF_TABLE_1,
    fisher_interval,
)
from affscore.papers.alexnet_to_transformers import FIRST, PAPER
from affscore.papers.claim import STUDY_ON_IMAGENET, Verdict, claim
from affscore.papers.comparison import OurNumber, Row, compare
from affscore.papers.estimate import every, mean_or_deviation
from affscore.papers.printed import PrintedNumber, printed_numbers, printed_table
from affscore.papers.protocol import few_images, survey_command
from affscore.papers.results import Results
from affscore.zoo.characteristics import characteristics

if TYPE_CHECKING:
    from affscore.papers.all_results import AllResults

__all__ = ["CRITERIA", "MEAN_AND_DEVIATION", "ROUNDED", "over_networks", "printed_correlations", "rows"]

STRONG = 0.5
LEAST_NETWORKS = 10

ROUNDED = 0.0101
"""Two numbers of two decimals that are computed from rounded ones may differ by so much."""

CRITERIA = {"cka": "CKA", "norm": "norm", "sparsity": "sparsity", "entropy": "entropy", "r2": "R2"}
MEAN_AND_DEVIATION = {"mean": "mean", "std": "standard deviation"}

_COLUMNS = {
    criterion: (f"{PAPER}, table 2", f"{{row}}: correlation of score and {name}")
    for criterion, name in CRITERIA.items()
}
_AVERAGE = {
    what: (f"{PAPER}, table 2", f"Average: {words} of the correlation of score and {{name}}")
    for what, words in MEAN_AND_DEVIATION.items()
}


def printed_correlations(level: float = 0.95) -> pd.DataFrame:
    """Table 2 in the form of :func:`affscore.analysis.criterion_correlations`, with Fisher's intervals.

    The paper has no intervals. The number of activations is what the recorder counts in torchvision's network of that
    name; what the paper counted is not printed.

    Args:
        level: Of the intervals, in (0, 1).

    >>> table = printed_correlations().set_index(["model", "criterion"])
    >>> table.loc[("resnet18", "cka"), ["activations", "correlation", "low", "high"]].astype(float).round(2).tolist()
    [17.0, 0.59, 0.15, 0.83]
    """
    printed = printed_table("table2_correlations")
    counts = characteristics(printed.index)["activations"].astype(int)
    rows = []
    for model, correlations in printed.iterrows():
        for criterion in CRITERIA_OF_TABLE_1:
            r, count = float(correlations[criterion]), int(counts[str(model)])
            low, high = fisher_interval(r, count, level)
            row = {"model": model, "criterion": criterion, "activations": count, "correlation": r}
            rows.append({**row, "low": low, "high": high, "note": ""})
    return pd.DataFrame(rows)


def rows(results: AllResults) -> Iterator[Row]:
    """The correlations of each network, and their averages."""
    for number in printed_numbers("table2_correlations", _COLUMNS):
        yield _of_network(results, number)
    for number in printed_numbers("table2_average", _AVERAGE, CRITERIA):
        names = [str(name) for name in printed_table("table2_correlations").index]
        yield over_networks(results, number, names, number.row, number.column)


def _of_network(results: AllResults, number: PrintedNumber) -> Row:
    name, criterion = number.row, number.column
    our = analogue = None
    ours, others, mini = (
        _measured(one, [name], criterion) for one in (results.as_printed, results.other_weights, results.mini)
    )
    if ours is not None:
        value, signatures = float(ours["correlation"].iloc[0]), {name: results.as_printed.signatures[name]}
        our = OurNumber(
            value,
            float(results.as_printed.correlation_errors[name][criterion]),
            undefined="" if np.isfinite(value) else str(ours["note"].iloc[0]),
            how="".join(few_images(signatures)),
        )
    if others is not None:
        about = results.other_weights.signatures[name].metadata
        what = f"{name} with {about['weights']} on {about['dataset']}, reduction {about['reduction']}"
        analogue = float(others["correlation"].iloc[0]), what
    elif mini is not None:
        analogue = float(mini["correlation"].iloc[0]), f"mini:{name} on digits"
    return compare(number, our, analogue, survey_command([name]))


def over_networks(results: AllResults, number: PrintedNumber, names: list[str], criterion: str, what: str) -> Row:
    """The row of a mean or standard deviation of the correlations of several networks.

    Args:
        results: All there are.
        number: As it is printed.
        names: The networks.
        criterion: With which the score is correlated.
        what: "mean" or "std".
    """
    our = analogue = None
    ours, mini = (_measured(one, names, criterion) for one in (results.as_printed, results.mini))
    if mini is not None:
        about = f"the {len(names)} networks mini: of the same names on digits"
        analogue = mean_or_deviation(mini["correlation"], what), about
    if ours is not None:
        signatures = {name: results.as_printed.signatures[name] for name in names}
        same = "a criterion is the same for all activations of a network"
        our = OurNumber(
            mean_or_deviation(ours["correlation"], what),
            # of a mean of k numbers; of their standard deviation it is a rough size
            float(np.linalg.norm(results.as_printed.correlation_errors.loc[criterion, names]) / len(names)),
            undefined="" if ours["correlation"].notna().all() else same,
            how="; ".join(few_images(signatures)),
            why="table 1 does not follow from table 2 either, and the papers do not list the networks behind it",
        )
    return compare(number, our, analogue, survey_command(names))


def _measured(results: Results, names: list[str], criterion: str) -> pd.DataFrame | None:
    """The correlations of these networks with a criterion; None where it was not measured for one of them."""
    table = results.criteria[results.criteria["criterion"] == criterion].set_index("model").reindex(names)
    return table if table["activations"].gt(0).all() else None


def _of_study(results: Results) -> pd.DataFrame | None:
    """The correlations of the study's networks, where there are enough of these."""
    if results.correlations is None and len(results.study) < LEAST_NETWORKS:
        return None
    table = results.criteria
    if results.correlations is None:
        table = table[table["model"].isin(results.study.index)]
    return table if table["model"].nunique() >= LEAST_NETWORKS else None


@claim(34, f"{PAPER}, section 4, tables 1 and 2; {FIRST}, section 4.2", STUDY_ON_IMAGENET)
def no_criterion_says_the_same(results: Results) -> Verdict | None:
    """No other criterion correlates strongly and consistently with the score.

    Test: Every criterion has a network whose correlation, in its usual direction, is below 0.5 with its whole interval.
    It does not hold where a criterion is above with all of them. The intervals are Fisher's, hold together for all
    networks, and take activations for independent.
    """
    table = _of_study(results)
    if table is None:
        return None
    counts = strength_counts(table, STRONG).reindex(list(CRITERIA_OF_TABLE_1))
    if counts.isna().any(axis=None):
        return None
    consistent, refuted = counts["strong"] == counts["networks"], counts["weak"] > 0
    holds = False if consistent.any() else True if refuted.all() else None
    listed = ", ".join(f"{count:.0f} for {criterion}" for criterion, count in counts["weak"].items())
    found = (
        f"Networks whose correlation, in the usual direction of the criterion, is below {STRONG} with its whole "
        f"simultaneous interval: {listed}."
    )
    return Verdict(holds, found, table["model"].nunique())


@claim(35, f"{FIRST}, section 4.2", STUDY_ON_IMAGENET)
def cka_fits_densenets_only(results: Results) -> Verdict | None:
    """CKA agrees with the score in some architectures, above all DenseNets, and disagrees in others.

    Test: The correlation is above 0.5 in every DenseNet and negative in some other network, by the same intervals.
    """
    table = _of_study(results)
    if table is None:
        return None
    cka = simultaneous_intervals(table[table["criterion"] == "cka"])
    dense = cka["model"].str.startswith("densenet").astype(bool)
    if not dense.any() or dense.all():
        return None
    inside, others = cka[dense], cka[~dense]
    strong = True if (inside["low"] > STRONG).all() else False if (inside["high"] < STRONG).any() else None
    against = True if (others["high"] < 0).any() else False if (others["low"] > 0).all() else None
    found = (
        f"The correlation of score and CKA is at least {inside['correlation'].min():.2f} in DenseNets (interval from "
        f"{inside['low'].min():.2f}); {int((others['high'] < 0).sum())} of {len(others)} others have an interval below "
        f"zero, the smallest correlation being {others['correlation'].min():.2f}."
    )
    return Verdict(every([strong, against]), found, len(cka))


@claim(46, f"{PAPER}, table 2", "the printed numbers")
def average_of_table_2(results: Results) -> Verdict | None:
    """The last row of table 2 is the average of the rows above it.

    Test: Computed again the five averages agree up to rounding.
    """
    if not results.printed:
        return None
    rows = results.printed["table2_correlations"]
    again, printed = rows.mean(), results.printed["table2_average"]["mean"]
    gaps = (again - printed).abs()
    worst, apart = str(gaps.idxmax()), int((gaps > ROUNDED).sum())
    found = (
        f"{apart} of the five averages differ by more than rounding; most apart is {worst}: {printed[worst]:.2f} is "
        f"printed, the rows have {again[worst]:.2f}."
    )
    return Verdict(apart == 0, found, len(rows))
