"""What chapter 17 concludes on networks that were pulled to a score, from the study that comes with the package."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from studies.steered import TARGETS

from affscore.analysis import mean_of
from affscore.analysis.steered import differences, outcomes, over_all
from affscore.network import resampled
from affscore.options import Specification
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


def sides(rows: pd.DataFrame, column: str, together: int = 2) -> dict[str, bool | None]:
    """Whether the mean difference of each target is above 0; None where it is open."""
    return {target: one.above(0, together) for target, one in over_all(rows, column).items()}


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


def test_accuracy_falls_where_the_score_is_pulled_up(ours: pd.DataFrame) -> None:
    assert sides(differences(ours, ["test_accuracy"]), "test_accuracy") == {"high": False, "low": None}


@pytest.mark.parametrize("network", ["vgg8", "resnet8"])
def test_the_pairing_lowers_its_own_score_more_than_the_exact_one(network: str, study: pd.DataFrame) -> None:
    rows = pd.concat([study, load_study("steered-targets")], ignore_index=True)
    of_one = rows[(rows["network"] == network) & (rows["task"] == "digits")]
    usual = under(of_one).iloc[0]
    alike = (of_one[["reduction", "order", "covariance"]] == usual[["reduction", "order", "covariance"]]).all(axis=1)
    means = of_one[alike].groupby(["target", "seed", "coupling"])["score"].mean().unstack("coupling")
    falls = {target: means.loc["free"] - means.loc[target] for target in ("paired", "low")}
    shares = {target: fall["exact"] / fall["paired"] for target, fall in falls.items()}
    assert mean_of(shares["low"] - shares["paired"]).above() is True


@pytest.mark.parametrize("network", ["vgg8", "resnet8"])
@pytest.mark.parametrize("target", ["as-vit", "as-resnet"])
def test_a_signature_can_be_a_target(network: str, target: str, study: pd.DataFrame) -> None:
    rows = under(pd.concat([study, load_study("steered-targets")], ignore_index=True))
    own = rows[(rows["network"] == network) & (rows["task"] == "digits")]
    scores = shipped_signature(TARGETS[target]).scores
    goal = resampled(scores, 7)
    by_seed = own.pivot_table("score", ["target", "seed"], "index")
    far = np.sqrt((by_seed - goal).pow(2).mean(axis=1))
    assert mean_of(far["free"] - far[target]).above() is True
