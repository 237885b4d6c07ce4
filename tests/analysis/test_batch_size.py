"""Scores of batches against a reference: chance and bias, from numbers whose parts are known."""

import numpy as np
import pandas as pd
import pytest

from affscore import AffscoreError
from affscore.analysis import against_reference, effects_of_size
from affscore.options import Specification
from affscore.survey.studies import under

LIMIT = {("a", 0): 0.5, ("a", 1): 0.7, ("b", 0): 0.4}
CHOICES = (Specification(), Specification(coupling="paired"), Specification(bias="extrapolated"))


def study(bias=0.0, sizes=(64, 256), choices=CHOICES, chance=0.08, batches=4):
    """Scores that are too high by bias / n, and by none where they are extrapolated."""
    rows = [
        {"model": model, "index": index, "n": n, "batches": batches, **choice._asdict(),
         "score": limit + bias / n * (choice.bias == "none"), "score_std": chance / n**0.5, "mean_std": 0.01}
        for (model, index), limit in LIMIT.items() for n in sizes for choice in choices
    ]  # fmt: skip
    return pd.DataFrame(rows)


def reference(**changes):
    return study(sizes=(4096,), choices=CHOICES[:2], **changes)


def test_bias_and_chance_of_each_network_size_and_specification():
    found = against_reference(study(bias=1.28), reference())
    assert len(found) == 2 * 2 * 3
    raw, extrapolated = found[found["bias"] == "none"], found[found["bias"] != "none"]
    np.testing.assert_allclose(raw["change"], 1.28 / raw["n"])
    np.testing.assert_allclose(raw["rms"], 1.28 / raw["n"])
    assert (extrapolated["rms"] < 1e-12).all()
    np.testing.assert_allclose(found["chance"], 0.08 / found["n"] ** 0.5)


def test_a_bias_of_both_signs_shows_in_the_root_mean_square_alone():
    shifted = study(sizes=(64,)).assign(score=lambda rows: rows["score"] + np.where(rows["index"] == 0, 0.03, -0.03))
    found = against_reference(shifted, reference()).set_index("model")
    np.testing.assert_allclose(found.loc["a", "change"], 0.0, atol=1e-12)
    np.testing.assert_allclose(found.loc["b", "change"], 0.03)
    np.testing.assert_allclose(found["rms"], 0.03)


def test_what_the_reference_lacks_has_its_chance_and_no_bias():
    known = reference()
    found = against_reference(study(), known[known["model"] == "a"]).set_index("model")
    assert found.loc["b", ["change", "rms"]].isna().all(axis=None)
    assert found.loc["a", ["change", "rms"]].notna().all(axis=None)
    assert found["chance"].notna().all()
    exact = known[known["coupling"] == "exact"]
    paired = against_reference(study(), exact).set_index("coupling").loc["paired"]
    assert paired["change"].isna().all()


def test_one_batch_has_no_error():
    one = study(batches=1).assign(score_std=np.nan, mean_std=np.nan)
    found = against_reference(one, reference())
    assert found["chance"].isna().all(axis=None)
    assert found["change"].notna().all()


def test_a_reference_has_one_score_of_each_activation():
    with pytest.raises(AffscoreError, match="two scores"):
        against_reference(study(), study())
    exact, paired = (reference()[lambda rows, of=of: rows["coupling"] == of] for of in ("exact", "paired"))
    both = against_reference(study(), pd.concat([exact, paired.assign(n=8192)]))
    assert both["change"].notna().all()


def test_effects_of_the_size_and_of_the_images():
    found = effects_of_size(under(study(bias=1.28, sizes=(256, 64, 128))))
    assert found.index.tolist() == ["a", "b"]
    np.testing.assert_allclose(found["chance_of_few"], 0.01)
    np.testing.assert_allclose(found["chance_of_many"], 0.005)
    np.testing.assert_allclose(found["change"], 1.28 / 64 - 1.28 / 256)
    np.testing.assert_allclose(found["within"], [0.2 / 2**0.5, np.nan])


def test_sizes_of_one_batch_do_not_count():
    rows = pd.concat([under(study()), under(study(bias=100, sizes=(1024,), batches=1))])
    assert (effects_of_size(rows)["change"] < 1e-12).all()
    with pytest.raises(AffscoreError, match="two batch sizes"):
        effects_of_size(under(study(sizes=(64,))))
    with pytest.raises(AffscoreError, match="one specification"):
        effects_of_size(study())
