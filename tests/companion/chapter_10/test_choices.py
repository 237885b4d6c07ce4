import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from affscore import AffscoreError, multiverse
from affscore.options import DEFAULT, Specification
from companion.chapter_10 import effects_of_choices


def table(**columns):
    """Scores by the words in which a specification differs from the default."""
    found = {"": DEFAULT, "order": Specification(order="reduce-first"), "coupling": Specification(coupling="paired"),
             "two": Specification(order="reduce-first", coupling="paired")}  # fmt: skip
    return pd.DataFrame({found[name if name != "default" else ""]: values for name, values in columns.items()})


def test_one_choice_at_a_time():
    scores = table(default=[0.2, 0.5, 0.9], order=[0.3, 0.2, 0.8], coupling=[0.2, 0.5, 0.9], two=[0.0, 0.0, 0.0])
    found = effects_of_choices({"a": scores}).set_index("choice")
    assert list(found.index) == ["order", "coupling"]
    assert found.loc["order", "mean_change"] == pytest.approx(-0.1)
    assert found.loc["order", "largest_fall"] == pytest.approx(-0.3)
    assert found.loc["order", "largest_rise"] == pytest.approx(0.1)
    assert found.loc["order", "rank_correlation"] == pytest.approx(0.5)
    assert found.loc["coupling", "rank_correlation"] == 1
    assert found.loc["coupling", "largest_fall"] == found.loc["coupling", "largest_rise"] == 0


def test_missing_scores_and_scores_without_ranks():
    scores = table(default=[0.2, 0.5, 0.9, np.nan], order=[0.3, np.nan, 0.8, 0.1], coupling=[1.0, 1.0, 1.0, 1.0])
    found = effects_of_choices({"a": scores}).set_index("choice")
    assert found["activations"].to_dict() == {"order": 2, "coupling": 3}
    assert found["rank_correlation"].isna().all()
    assert found.loc["order", "mean_change"] == pytest.approx(0.0)


def test_a_measured_network():
    measured = multiverse("mini:alexnet", "digits", n=64, images=128)
    found = effects_of_choices({"a": measured.scores})
    assert list(zip(found["choice"], found["to"], strict=True)) == [
        ("coupling", "paired"), ("covariance", "empirical"), ("order", "reduce-first"), ("reduction", "sample"),
    ]  # fmt: skip
    default, other = measured.scores[DEFAULT], measured.scores[Specification(reduction="sample")]
    row = found.set_index("choice").loc["reduction"]
    assert row["mean_change"] == pytest.approx((other - default).mean())
    assert row["rank_correlation"] == pytest.approx(spearmanr(default, other).statistic)
    assert (found.set_index("choice").loc["coupling", "mean_change"]) <= 0


def test_without_the_default_there_is_nothing_to_compare_with():
    with pytest.raises(AffscoreError, match="lack the default specification"):
        effects_of_choices({"a": table(order=[0.3, 0.2])})
