"""Scores of batches against a reference: chance and bias, from numbers whose parts are known."""

import numpy as np
import pandas as pd
import pytest

from affscore import AffscoreError
from affscore.options import Specification
from companion.chapter_03.measurements import effects_of_size
from companion.studies import under

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
