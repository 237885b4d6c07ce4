"""Every number that the papers print, one by one, with where it stands and what it is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pandas as pd

from affscore.papers.reference import printed_text

__all__ = ["PAPER", "POSTER", "PrintedNumber", "printed_numbers"]

PAPER = "From Alexnet to Transformers"
POSTER = "Are All Linear Regions Created Equal?"

_CRITERIA = {"cka": "CKA", "norm": "norm", "sparsity": "sparsity", "entropy": "entropy", "r2": "R2"}


@dataclass(frozen=True)
class PrintedNumber:
    """A number as a paper prints it.

    Attributes:
        table: The table of :func:`affscore.papers.printed_table` that holds it.
        row: Its row there.
        column: Its column there.
        text: The number as it is printed.
        source: The paper, and where in it.
        item: What the number is of.
    """

    table: str
    row: str
    column: str
    text: str
    source: str
    item: str

    @property
    def value(self) -> float:
        """The number."""
        return float(self.text)

    @property
    def decimals(self) -> int:
        """How many digits behind the point are printed.

        >>> PrintedNumber("", "", "", "-0.90", "", "").decimals
        2
        """
        return len(self.text.partition(".")[2])


def printed_numbers() -> list[PrintedNumber]:
    """All printed numbers, table by table.

    >>> numbers = printed_numbers()
    >>> numbers[0].source, numbers[0].item, numbers[0].text
    ('From Alexnet to Transformers, figure 4', 'Pre-residual: R2 of max/median', '0.512')
    """
    return [number for table, words in _TABLES.items() for number in _of_table(table, words)]


def _of_table(table: str, words: Callable[[str, str, pd.Series], tuple[str, str] | None]) -> Iterator[PrintedNumber]:
    text = printed_text(table)
    for row, cells in text.iterrows():
        for column in text.columns:
            said = words(str(row), str(column), cells) if cells[column] else None
            if said is not None:
                yield PrintedNumber(table, str(row), str(column), str(cells[column]), *said)


def _figure_4(group: str, column: str, cells: pd.Series) -> tuple[str, str] | None:
    of = {"signature_r2": "best_signature_statistic", "common_r2": "best_common_characteristic"}.get(column)
    return (f"{PAPER}, figure 4", f"{group}: R2 of {cells[of]}") if of else None


def _figure_7(activation: str, column: str, cells: pd.Series) -> tuple[str, str]:
    place, what = {
        "reduced_mean": ("top left", "score of averaged, flattened or summed maps"),
        "reduced_std": ("top left", "standard deviation of that score"),
        "empirical": ("top right", "score with the sample covariance, d > n"),
        "shrinkage": ("bottom", "score with the shrunk covariance"),
    }[column]
    return f"{PAPER}, figure 7 ({place})", f"{activation}: {what}"


def _over_batches(model: str, column: str, cells: pd.Series) -> tuple[str, str]:
    return f"{PAPER}, figures 10 to 13", f"{model}: standard deviation of the scores over batches"


def _figure_15(dataset: str, column: str, cells: pd.Series) -> tuple[str, str]:
    what = {"mean": "mean", "std": "standard deviation"}[column]
    return f"{PAPER}, figure 15", f"{dataset}: {what} over networks of the distance to the signature on ImageNet"


def _in_text(number: str, column: str, cells: pd.Series) -> tuple[str, str] | None:
    return (f"{PAPER}, {cells['place']}", str(cells["item"])) if column == "published" else None


def _table_1(family: str, column: str, cells: pd.Series) -> tuple[str, str]:
    criterion, _, what = column.rpartition("_")
    of = {"mean": "mean", "std": "standard deviation"}[what]
    return f"{PAPER}, table 1", f"{family}: {of} of the correlation of score and {_CRITERIA[criterion]}"


def _table_2(model: str, column: str, cells: pd.Series) -> tuple[str, str]:
    return f"{PAPER}, table 2", f"{model}: correlation of score and {_CRITERIA[column]}"


def _average(criterion: str, column: str, cells: pd.Series) -> tuple[str, str]:
    of = {"mean": "mean", "std": "standard deviation"}[column]
    return f"{PAPER}, table 2", f"Average: {of} of the correlation of score and {_CRITERIA[criterion]}"


def _table_3(criterion: str, column: str, cells: pd.Series) -> tuple[str, str]:
    of = {"mean": "mean", "std": "standard deviation"}[column]
    return f"{PAPER}, table 3", f"{criterion.replace('_', ' ')}: {of} over checkpoints of ResNet-50"


def _poster(setting: str, column: str, cells: pd.Series) -> tuple[str, str]:
    network = re.sub("_std$", "", column).replace("_", ", ")
    of = "standard deviation of the rank correlation" if column.endswith("_std") else "rank correlation"
    return f"{POSTER} (poster)", f"{network}, {setting}: {of} of density and absolute deviation"


_TABLES: dict[str, Callable[[str, str, pd.Series], tuple[str, str] | None]] = {
    "figure4_r2": _figure_4,
    "figure7_activation_scores": _figure_7,
    "figures10_13_batch_std": _over_batches,
    "figure15_deviation": _figure_15,
    "numbers_in_text": _in_text,
    "table1_family_correlations": _table_1,
    "table2_correlations": _table_2,
    "table2_average": _average,
    "table3_resnet50_robustness": _table_3,
    "poster_density_vs_absolute_deviation": _poster,
}
