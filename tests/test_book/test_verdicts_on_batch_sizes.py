"""What chapter 3 concludes from the studies of batch sizes and of seeds, where it could have come out otherwise."""

from __future__ import annotations

from itertools import product

import pandas as pd
import pytest

from affscore.analysis import against_reference, effects_of_size
from affscore.options import Specification
from affscore.survey.studies import load_study, under

PAIRED = Specification(coupling="paired")


@pytest.fixture(scope="module")
def studies() -> dict[str, pd.DataFrame]:
    """The batches of several sizes, by their data."""
    tables = {"digits": load_study("batch-size"), "CIFAR-10": load_study("batch-size-cifar")}
    return {data: study[study["batches"] > 1] for data, study in tables.items()}


@pytest.fixture(scope="module")
def found(studies: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Against the largest batches that there are."""
    digits, cifar, large = (load_study(f"batch-size{which}") for which in ("", "-cifar", "-large-cifar"))
    references = {
        "digits": digits[digits["n"] == digits["images"]],
        "CIFAR-10": pd.concat([cifar[cifar["n"] == cifar["images"]], large[large["coupling"] == "exact"]]),
    }
    tables = [against_reference(study, references[data]).assign(data=data) for data, study in studies.items()]
    return pd.concat(tables, ignore_index=True)


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


def test_small_batches_score_too_high_but_for_the_exact_coupling_of_means(found: pd.DataFrame) -> None:
    ends = found[(found["bias"] == "none") & (found["n"] == found.groupby("data")["n"].transform("min"))]
    bias = ends.groupby(["data", *Specification._fields])["change"].mean()
    exact_means = (bias.index.get_level_values("order") == "activate-first") & (
        bias.index.get_level_values("coupling") == "exact"
    )
    exact_means &= bias.index.get_level_values("reduction") == "mean"
    assert (bias[~exact_means] > 0.01).all()
    assert bias[exact_means].abs().mean() < bias[~exact_means].mean() / 2


def test_another_seed_moves_a_score_more_than_the_batch_size_does(studies: dict[str, pd.DataFrame]) -> None:
    seeds = under(load_study("seeds")).pivot_table(index="index", columns="seed", values="score")
    assert seeds.shape == (15, 9)
    effects = effects_of_size(under(studies["digits"]))
    assert seeds.var(axis=1).mean() ** 0.5 > effects["change"].max()
    assert seeds.std(axis=1).idxmax() == 0
