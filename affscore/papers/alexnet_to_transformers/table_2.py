"""Table 2: correlations of the score with other criteria, network by network, and their average."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from affscore.analysis import CRITERIA_OF_TABLE_1, fisher_interval, simultaneous_intervals, strength_counts
from affscore.papers.alexnet_to_transformers import FIRST, PAPER
from affscore.papers.claim import STUDY_ON_IMAGENET, Verdict, claim
from affscore.papers.comparison import OurNumber, Row, compare
from affscore.papers.estimate import every, mean_or_deviation, require
from affscore.papers.printed import PrintedNumber, mean_and_deviation, printed_numbers, printed_table
from affscore.papers.protocol import few_images, survey_command
from affscore.papers.results import Results
from affscore.zoo.models import characteristics

if TYPE_CHECKING:
    from affscore.papers.all_results import AllResults

STRONG = 0.5
LEAST_NETWORKS = 10

ROUNDED = 0.0101
"""Two numbers of two decimals that are computed from rounded ones may differ by so much."""

CRITERIA = {"cka": "CKA", "norm": "norm", "sparsity": "sparsity", "entropy": "entropy", "r2": "R2"}

_SOURCE = f"{PAPER}, table 2"
_COLUMNS = {key: (_SOURCE, f"{{row}}: correlation of score and {name}") for key, name in CRITERIA.items()}
_AVERAGE = mean_and_deviation(_SOURCE, "Average: {what} of the correlation of score and {name}")


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
    rows = [
        (model, criterion, count, r, *fisher_interval(r, count, level), "")
        for (model, correlations), count in zip(printed.iterrows(), counts, strict=True)
        for criterion, r in correlations.items()
    ]
    return pd.DataFrame(rows, columns=["model", "criterion", "activations", "correlation", "low", "high", "note"])


def rows(results: AllResults) -> Iterator[Row]:
    """The correlations of each network, and their averages."""
    for number in printed_numbers("table2_correlations", _COLUMNS):
        name, analogue = number.row, None
        for kind, about in (
            (results.mini, "{model} on {dataset}"),
            (results.other_weights, "{model} with {weights} on {dataset}, reduction {reduction}"),
        ):
            if (found := _measured(kind, [name], number.column)) is not None:
                analogue = float(found["correlation"].iloc[0]), about.format(**kind.signatures[name].metadata)
        our = _our_number(results.as_printed, [name], number.column, "mean")
        yield compare(number, our, analogue, survey_command([name]))
    names = [str(name) for name in printed_table("table2_correlations").index]
    for number in printed_numbers("table2_average", _AVERAGE, CRITERIA):
        yield over_networks(results, number, names, number.row, number.column)


def over_networks(results: AllResults, number: PrintedNumber, names: list[str], criterion: str, what: str) -> Row:
    """The row of a mean or standard deviation of the correlations of several networks.

    Args:
        results: All there are.
        number: As it is printed.
        names: The networks.
        criterion: With which the score is correlated.
        what: "mean" or "std".
    """
    analogue, mini = None, _measured(results.mini, names, criterion)
    if mini is not None:
        about = f"the {len(names)} networks mini: of the same names on digits"
        analogue = mean_or_deviation(mini["correlation"], what), about
    why = "table 1 does not follow from table 2 either, and the papers do not list the networks behind it"
    our = _our_number(results.as_printed, names, criterion, what, why)
    return compare(number, our, analogue, survey_command(names))


def _our_number(results: Results, names: list[str], criterion: str, what: str, why: str = "") -> OurNumber | None:
    ours = _measured(results, names, criterion)
    if ours is None:
        return None
    return OurNumber(
        mean_or_deviation(ours["correlation"], what),
        # of a mean of k numbers; of their standard deviation it is a rough size
        float(np.linalg.norm(results.correlation_errors.loc[criterion, names]) / len(names)),
        undefined="; ".join(ours["note"][ours["correlation"].isna()].unique()),
        how="; ".join(few_images({name: results.signatures[name] for name in names})),
        why=why,
    )


def _measured(results: Results, names: list[str], criterion: str) -> pd.DataFrame | None:
    """The correlations of these networks with a criterion; None where it was not measured for one of them."""
    if not set(names) <= results.signatures.keys():
        return None
    table = results.criteria[results.criteria["criterion"] == criterion].set_index("model").loc[names]
    return table if table["activations"].gt(0).all() else None


def _of_study(results: Results) -> pd.DataFrame:
    """The correlations of the study's networks, where there are enough of these."""
    table = results.criteria
    if results.correlations is None:
        table = table[table["model"].isin(results.study.index)]
    require(table["model"].nunique() >= LEAST_NETWORKS)
    return table


@claim(34, f"{PAPER}, section 4, tables 1 and 2; {FIRST}, section 4.2", STUDY_ON_IMAGENET)
def no_criterion_says_the_same(results: Results) -> Verdict:
    """No other criterion correlates strongly and consistently with the score.

    Test: Every criterion has a network whose correlation, in its usual direction, is below 0.5 with its whole interval.
    It does not hold where a criterion is above with all of them. The intervals are Fisher's, hold together for all
    networks, and take activations for independent.
    """
    table = _of_study(results)
    counts = strength_counts(table, STRONG).reindex(list(CRITERIA_OF_TABLE_1))
    require(counts.notna().all(axis=None))
    consistent, refuted = counts["strong"] == counts["networks"], counts["weak"] > 0
    listed = ", ".join(f"{count:.0f} for {criterion}" for criterion, count in counts["weak"].items())
    found = (
        f"Networks whose correlation, in the usual direction of the criterion, is below {STRONG} with its whole "
        f"simultaneous interval: {listed}."
    )
    holds = False if consistent.any() else True if refuted.all() else None
    return Verdict(holds, found, table["model"].nunique())


@claim(35, f"{FIRST}, section 4.2", STUDY_ON_IMAGENET)
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
        f"The correlation of score and CKA is at least {least:.2f} in DenseNets (interval from {low:.2f}); {below} of "
        f"{len(others)} others have an interval below zero, the smallest correlation being "
        f"{others['correlation'].min():.2f}."
    )
    return Verdict(every([strong, against]), found, len(cka))


@claim(46, _SOURCE, "the printed numbers")
def average_of_table_2(results: Results) -> Verdict:
    """The last row of table 2 is the average of the rows above it.

    Test: Computed again the five averages agree up to rounding.
    """
    require(results.printed)
    rows, printed = results.printed["table2_correlations"], results.printed["table2_average"]["mean"]
    gaps = (rows.mean() - printed).abs()
    worst, apart = str(gaps.idxmax()), int((gaps > ROUNDED).sum())
    found = (
        f"{apart} of the five averages differ by more than rounding; most apart is {worst}: {printed[worst]:.2f} is "
        f"printed, the rows have {rows[worst].mean():.2f}."
    )
    return Verdict(apart == 0, found, len(rows))
