"""Results out of a store, and what is measured because it is not there."""

import pytest

from affscore import AffscoreError
from affscore.survey import Store, load_or_measure

OPTIONS = {"n": 32, "images": 32, "criteria": False, "progress": False}
NAMES = ["mini:digitsnet@random", "mini:digitsnet"]


@pytest.mark.slow
def test_a_network_that_fails_is_told_and_the_others_are_kept(tmp_path):
    (tmp_path / "broken.py").write_text("from torch import nn\n\ndef make():\n    return nn.Linear(3, 2)\n")
    with pytest.raises(AffscoreError):
        load_or_measure([f"{tmp_path}/broken.py:make", *NAMES], "digits", tmp_path / "store", **OPTIONS)
    assert len(Store(tmp_path / "store").files()) == 2


def test_a_name_that_is_none_is_told_before_anything_is_measured(tmp_path):
    with pytest.raises(AffscoreError, match="digitsnet"):
        load_or_measure(["mini:digitsnet", "mini:digitnet"], "digits", tmp_path, **OPTIONS)
    assert Store(tmp_path).files() == []
