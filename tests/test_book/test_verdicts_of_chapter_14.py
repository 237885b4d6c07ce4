"""What chapter 14 concludes on language models from the results that come with the package."""

import pandas as pd
import pytest

from affscore.analysis.language import (
    GATED,
    PLAIN,
    fall_in_training,
    gap_at_equal_loss,
    gap_of_gates,
    rise_over_blocks,
    signs,
    under_each,
)
from affscore.options import Specification
from affscore.survey.studies import load_study, under

pytestmark = pytest.mark.slow

WORDS = list(Specification._fields)


@pytest.fixture(scope="module")
def study() -> pd.DataFrame:
    return load_study("language")


@pytest.fixture(scope="module")
def trained(study: pd.DataFrame) -> pd.DataFrame:
    return study[study["way"] == "language"]


def test_the_networks_learn_more_than_pairs_of_characters(trained: pd.DataFrame) -> None:
    assert trained["bits"].max() < 3.0
    assert trained["by_pair"].min() > 3.5


@pytest.mark.parametrize("network", [PLAIN, GATED])
def test_training_bends_them_under_every_choice(network: str, study: pd.DataFrame) -> None:
    found = under_each(study, lambda rows: fall_in_training(rows, network))
    assert signs(found) == (12, 0, 0)


def test_gated_units_are_more_linear_under_some_choices_and_under_none_less(trained: pd.DataFrame) -> None:
    assert gap_of_gates(under(trained)).above() is True
    assert signs(under_each(trained, gap_of_gates)) == (8, 0, 4)
    for (covariance, order), some in trained.groupby(["covariance", "order"]):
        is_open = (covariance, order) == ("empirical", "activate-first")
        assert all((one.above() is None) == is_open for one in under_each(some, gap_of_gates))
    _, gap = gap_at_equal_loss(load_study("language-course"))
    assert gap.above() is True


def test_exact_and_paired_scores_agree_so_that_each_choice_counts_twice(study: pd.DataFrame) -> None:
    rest = [word for word in WORDS if word != "coupling"]
    scores = study.pivot_table("score", [*rest, "network", "way", "seed", "index"], "coupling")
    assert len(study.groupby(rest)) == 6
    assert len(scores.dropna()) * 2 == len(study)
    assert (scores["exact"] - scores["paired"]).abs().max() < 1e-3


def test_later_blocks_are_more_linear_under_some_choices(trained: pd.DataFrame) -> None:
    assert signs(under_each(trained, rise_over_blocks)) == (8, 0, 4)


def test_an_encoder_is_nearly_linear_at_its_first_token_alone() -> None:
    places = load_study("language-encoder-positions").pivot_table("score", "index", ["covariance", "position"])
    for _, some in places.T.groupby(level="covariance"):
        first = some.xs(0, level="position").iloc[0, :5]
        others = some.drop(index=0, level="position").iloc[:, :5]
        assert first.min() > 0.85
        assert others.max().max() < 0.8
    encoder = load_study("language-encoder")
    assert encoder[encoder["activation"] == "tanh"]["score"].min() > 0.99
