"""Tables 1 and 2: correlations of the score with other criteria."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property

import numpy as np
import pandas as pd

from affscore.analysis import cell, correlation_table, criterion_correlations, criterion_values
from affscore.network.result import Signature
from affscore.papers.evidence import Evidence
from affscore.papers.groups import table_1_families
from affscore.papers.ledger.commands import survey_command
from affscore.papers.ledger.finding import Finding
from affscore.papers.ledger.printed import PrintedNumber
from affscore.papers.networks import study_models
from affscore.papers.reference import printed_table

__all__ = ["Correlations", "how_measured", "mean_or_deviation", "members_of_table_1"]


@cache
def members_of_table_1() -> dict[str, list[str]]:
    """The networks behind each row of table 1; the last one is over all that the study has.

    >>> members = members_of_table_1()
    >>> members["VGGs"], len(members["Average"])
    (['vgg11', 'vgg13', 'vgg16', 'vgg19'], 36)
    """
    families = table_1_families(study_models(""))
    return {
        str(row): [name for name, family in families.items() if row in (family, "Average")]
        for row in printed_table("table1_family_correlations").index
    }


def how_measured(signature: Signature) -> str:
    """What of a measurement is not as in the paper, in words; nothing where all is.

    Args:
        signature: A signature of one of the papers' networks.
    """
    images = int(signature.metadata.get("images", 0))
    return f"on {images} of the 50,000 images" if images < 49_000 else ""


class Correlations:
    """Findings for tables 1 and 2.

    Args:
        evidence: What there is.
    """

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence

    def __call__(self, number: PrintedNumber) -> Finding:
        """What there is beside a number of these tables."""
        if number.table == "table2_correlations":
            return self._of_network(number.row, number.column)
        if number.table == "table2_average":
            names = [str(name) for name in printed_table("table2_correlations").index]
            return self._of_family(names, number.row, number.column)
        criterion, _, what = number.column.rpartition("_")
        return self._of_family(members_of_table_1()[number.row], criterion, what)

    @cached_property
    def _ours(self) -> pd.DataFrame:
        return _correlations(self.evidence.as_printed)

    @cached_property
    def _errors(self) -> pd.DataFrame:
        found = {name: _error_over_batches(one) for name, one in self.evidence.as_printed.items()}
        return pd.DataFrame.from_dict(found, orient="index")

    @cached_property
    def _mini(self) -> pd.DataFrame:
        return _correlations(self.evidence.mini)

    @cached_property
    def _others(self) -> pd.DataFrame:
        return _correlations(self.evidence.other_weights)

    def _of_network(self, name: str, criterion: str) -> Finding:
        analogue, of = self._analogue(name, criterion)
        if name not in self.evidence.as_printed:
            return Finding(analogue=analogue, analogue_of=of, command=survey_command([name]))
        values = criterion_values(self.evidence.as_printed[name].summary)[criterion]
        if values.isna().all():  # not measured
            return Finding(analogue=analogue, analogue_of=of, command=survey_command([name]))
        ours = cell(self._ours, name, criterion)
        undefined = "" if np.isfinite(ours) else self._why_missing(name, criterion)
        return Finding(
            ours=ours,
            error=cell(self._errors, name, criterion),
            undefined=undefined,
            how=how_measured(self.evidence.as_printed[name]),
            analogue=analogue,
            analogue_of=of,
            command=survey_command([name]),
        )

    def _why_missing(self, name: str, criterion: str) -> str:
        found = criterion_correlations({name: self.evidence.as_printed[name].summary}, [criterion])
        return str(found["note"].iloc[0])

    def _analogue(self, name: str, criterion: str) -> tuple[float | None, str]:
        if name in self._others.index:
            about = self.evidence.other_weights[name].metadata
            what = f"{name} with {about['weights']} on {about['dataset']}, reduction {about['reduction']}"
            return cell(self._others, name, criterion), what
        if name in self._mini.index:
            return cell(self._mini, name, criterion), f"mini:{name} on digits"
        return None, ""

    def _of_family(self, names: Sequence[str], criterion: str, what: str) -> Finding:
        analogue, of = None, ""
        if set(names) <= set(self._mini.index):
            analogue = mean_or_deviation(self._mini.loc[list(names), criterion], what)
            of = f"the {len(names)} networks mini: of the same names on digits"
        command = survey_command(names)
        if not set(names) <= self.evidence.as_printed.keys():
            return Finding(analogue=analogue, analogue_of=of, command=command)
        measured = (criterion_values(self.evidence.as_printed[name].summary)[criterion] for name in names)
        if any(values.isna().all() for values in measured):
            return Finding(analogue=analogue, analogue_of=of, command=command)
        values, errors = self._ours.loc[list(names), criterion], self._errors.loc[list(names), criterion]
        peculiar = sorted({how for name in names if (how := how_measured(self.evidence.as_printed[name]))})
        return Finding(
            ours=mean_or_deviation(values, what),
            # of a mean of k numbers; of their standard deviation it is a rough size
            error=float(np.sqrt(np.square(errors).sum()) / len(names)),
            undefined="" if values.notna().all() else "a criterion is the same for all activations of a network",
            how="; ".join(peculiar),
            why="table 1 does not follow from table 2 either, and the papers do not list the networks behind it",
            analogue=analogue,
            analogue_of=of,
            command=command,
        )


def mean_or_deviation(values: pd.Series, what: str) -> float:
    """What a table of means and standard deviations (n in the denominator) prints of these values.

    Args:
        values: Of one quantity, a value for each network.
        what: "mean" or "std".

    >>> mean_or_deviation(pd.Series([1.0, 3.0]), "mean"), mean_or_deviation(pd.Series([1.0, 3.0]), "std")
    (2.0, 1.0)
    """
    return float(values.mean() if what == "mean" else values.std(ddof=0))


def _correlations(signatures: Mapping[str, Signature]) -> pd.DataFrame:
    """A row for each network, a column for each criterion."""
    return correlation_table({name: one.summary for name, one in signatures.items()})


def _error_over_batches(signature: Signature) -> pd.Series:
    """Standard error of each correlation, from how batches differ in it; unbounded where only one batch has it."""
    batches = {str(number): rows for number, rows in signature.table.groupby("batch")}
    found = criterion_correlations(batches).groupby("criterion")["correlation"]
    return (found.std() / found.count() ** 0.5).fillna(np.inf)
