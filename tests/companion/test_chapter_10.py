import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from affscore import AffscoreError, multiverse
from affscore.options import DEFAULT, Specification
from companion.chapter_10 import effects_of_choices

ORDER, COUPLING = Specification(order="reduce-first"), Specification(coupling="paired")


def effects(*scores):
    """Of one choice at a time, given the scores by default, in the other order, and paired."""
    two = Specification(order="reduce-first", coupling="paired")
    table = pd.DataFrame(dict(zip((DEFAULT, ORDER, COUPLING, two), [*scores, [0.0] * len(scores[0])], strict=True)))
    return effects_of_choices({"a": table}).set_index("choice")


def test_one_choice_at_a_time():
    found = effects([0.2, 0.5, 0.9], [0.3, 0.2, 0.8], [0.2, 0.5, 0.9])
    assert list(found.index) == ["order", "coupling"]
    columns = ["mean_change", "largest_fall", "largest_rise", "rank_correlation"]
    assert found.loc["order", columns].tolist() == pytest.approx([-0.1, -0.3, 0.1, 0.5])
    assert found.loc["coupling", columns].tolist() == pytest.approx([0, 0, 0, 1])


def test_missing_scores_and_scores_without_ranks():
    found = effects([0.2, 0.5, 0.9, np.nan], [0.3, np.nan, 0.8, 0.1], [1.0] * 4)
    assert found["activations"].to_dict() == {"order": 2, "coupling": 3}
    assert found["rank_correlation"].isna().all()
    assert found.loc["order", "mean_change"] == pytest.approx(0.0)
    with pytest.raises(AffscoreError, match="lack the default specification"):
        effects_of_choices({"a": pd.DataFrame({ORDER: [0.3, 0.2]})})


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
