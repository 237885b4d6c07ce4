"""What chapter 18 concludes on networks that were pulled to a score, from the study that comes with the package."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from studies.steered import TARGETS

from affscore.options import Specification
from affscore.papers.alexnet_to_transformers.appendix_b import differences, outcomes, over_all
from affscore.papers.estimate import mean_of
from affscore.papers.linear_regions.networks import with_scores
from affscore.survey.shipped import shipped_signature
from affscore.survey.studies import load_study, under

pytestmark = pytest.mark.slow

WORDS = list(Specification._fields)


@pytest.fixture(scope="module")
def study() -> pd.DataFrame:
    return load_study("steered")


@pytest.fixture(scope="module")
def ours(study: pd.DataFrame) -> pd.DataFrame:
    return under(study)


@pytest.fixture(scope="module")
def regions(ours: pd.DataFrame) -> pd.DataFrame:
    """Differences of logarithms of what is counted and measured along paths."""
    table = with_scores(ours, load_study("steered-paths"))
    table[["task", "target"]] = table["way"].str.split("-", n=1, expand=True)
    columns = ["crossings", "absolute_deviation", "relative_deviation"]
    table[columns] = np.log(table[columns])
    return differences(table, columns)


def sides(rows: pd.DataFrame, column: str) -> dict[str, bool | None]:
    """Whether the mean difference of each target is above 0; None where it is open."""
    return {target: one.above(0, together=2) for target, one in over_all(rows, column).items()}


def test_there_are_five_seeds_of_each(ours: pd.DataFrame) -> None:
    trainings = outcomes(ours).groupby(["network", "task", "target"])["seed"].nunique()
    assert (trainings == 5).all()
    assert len(trainings) == 2 * 2 * 3


def test_scores_follow_their_targets(study: pd.DataFrame) -> None:
    found = [sides(differences(rows, ["mean_score"]), "mean_score") for _, rows in study.groupby(WORDS)]
    assert len(found) == 12
    assert sum(one["high"] is True for one in found) == 12
    assert sum(one["low"] is False for one in found) == 10
    assert sum(one["low"] is True for one in found) == 0


@pytest.mark.parametrize(
    ("column", "high", "low"),
    [
        ("test_accuracy", False, None),
        ("accuracy_noise_0.5", None, None),
        ("transfer", None, None),
        ("calibration_error", None, None),
    ],
)
def test_what_is_decided_of_a_network(column: str, high: bool | None, low: bool | None, ours: pd.DataFrame) -> None:
    assert sides(differences(ours, [column]), column) == {"high": high, "low": low}


@pytest.mark.parametrize(
    ("column", "low"), [("crossings", None), ("absolute_deviation", None), ("relative_deviation", True)]
)
def test_what_is_decided_of_linear_regions(column: str, low: bool | None, regions: pd.DataFrame) -> None:
    assert sides(regions, column) == {"high": None, "low": low}


def test_the_cost_of_linear_channels_is_open(ours: pd.DataFrame) -> None:
    found = differences(ours, ["test_accuracy", "accuracy_kept_0.75"])
    found["lost"] = found["test_accuracy"] - found["accuracy_kept_0.75"]
    assert sides(found, "lost") == {"high": None, "low": None}


@pytest.mark.parametrize("network", ["vgg8", "resnet8"])
def test_the_pairing_lowers_its_own_score_more_than_the_exact_one(network: str, study: pd.DataFrame) -> None:
    rows = pd.concat([study, load_study("steered-targets")], ignore_index=True)
    of_one = rows[(rows["network"] == network) & (rows["task"] == "digits")]
    usual = under(of_one).iloc[0]
    alike = (of_one[["reduction", "order", "covariance"]] == usual[["reduction", "order", "covariance"]]).all(axis=1)
    means = of_one[alike].groupby(["target", "seed", "coupling"])["score"].mean().unstack("coupling")
    falls = {target: (means.loc["free"] - means.loc[target]).mean() for target in ("paired", "low")}
    shares = {target: fall["exact"] / fall["paired"] for target, fall in falls.items()}
    assert shares["paired"] < 0.5 < shares["low"]


@pytest.mark.parametrize("network", ["vgg8", "resnet8"])
@pytest.mark.parametrize("target", ["as-vit", "as-resnet"])
def test_a_signature_can_be_a_target(network: str, target: str, study: pd.DataFrame) -> None:
    rows = under(pd.concat([study, load_study("steered-targets")], ignore_index=True))
    own = rows[(rows["network"] == network) & (rows["task"] == "digits")]
    scores = shipped_signature(TARGETS[target]).scores
    goal = np.interp(np.linspace(0, 1, 7), np.linspace(0, 1, len(scores)), scores)
    by_seed = own.pivot_table("score", ["target", "seed"], "index")
    far = np.sqrt((by_seed - goal).pow(2).mean(axis=1))
    assert mean_of(far["free"] - far[target]).above() is True
