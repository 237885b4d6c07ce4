"""What chapter 3 concludes from the studies of batch sizes and of seeds, where it could have come out otherwise."""

from __future__ import annotations

from itertools import product

import pandas as pd
import pytest

from affscore.analysis import effects_of_size
from affscore.options import Specification
from affscore.survey.studies import load_study, under

PAIRED = Specification(coupling="paired")


@pytest.fixture(scope="module")
def studies() -> dict[str, pd.DataFrame]:
    """The batches of several sizes, by their data."""
    tables = {"digits": load_study("batch-size"), "CIFAR-10": load_study("batch-size-cifar")}
    return {data: study[study["batches"] > 1] for data, study in tables.items()}


def scores(study: pd.DataFrame, specification: Specification = PAIRED) -> pd.DataFrame:
    """Of each activation at the smallest and at the largest n."""
    wide = under(study, specification).pivot_table(index=["model", "index"], columns="n", values="score")
    return wide.iloc[:, [0, -1]].set_axis(["few", "many"], axis=1)


def test_the_covariance_lowers_scores_with_n_and_the_coupling_raises_them(studies: dict[str, pd.DataFrame]) -> None:
    for study in studies.values():
        paired, exact = scores(study), scores(study, Specification())
        change = (paired["many"] - paired["few"]).groupby("model").mean()
        gap = (exact - paired).groupby("model").mean()
        assert (change < 0).all()
        assert (gap["many"] > gap["few"]).all()
        both = (exact["many"] - exact["few"]).groupby("model").mean()
        assert (both.abs() < change.abs()).sum() >= len(both) - 1


@pytest.mark.parametrize("covariance", ["ledoit-wolf", "empirical"])
def test_without_a_better_coupling_the_error_of_the_covariance_is_left(
    studies: dict[str, pd.DataFrame], covariance: str
) -> None:
    """With shrinkage, which has an error of its own, one network is an exception."""
    rises = []
    for study, way in product(studies.values(), (Specification(order="reduce-first"), Specification("sample"))):
        chosen = way._replace(covariance=covariance)
        exact, paired = scores(study, chosen), scores(study, chosen._replace(coupling="paired"))
        assert ((exact - paired).groupby("model").mean() < 0.01).all(axis=None)
        change = (exact["many"] - exact["few"]).groupby("model").mean()
        rises += change.index[change > 0].tolist()
    assert rises == (["mini:vgg16"] if covariance == "ledoit-wolf" else [])


def test_another_seed_moves_a_score_more_than_the_batch_size_does(studies: dict[str, pd.DataFrame]) -> None:
    seeds = under(load_study("seeds")).pivot_table(index="index", columns="seed", values="score")
    assert seeds.shape == (15, 9)
    effects = effects_of_size(under(studies["digits"]))
    assert seeds.var(axis=1).mean() ** 0.5 > effects["change"].max()
    assert seeds.std(axis=1).idxmax() == 0
