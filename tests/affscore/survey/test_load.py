"""Results out of a store, and what is measured because it is not there."""

import pytest

from affscore import AffscoreError, signature
from affscore.survey import Store, load_or_measure

OPTIONS = {"n": 32, "images": 32, "criteria": False, "progress": False}
NAMES = ["mini:digitsnet@random", "mini:digitsnet"]


@pytest.mark.slow
def test_they_are_those_of_a_signature_and_are_measured_once(tmp_path):
    first = load_or_measure(NAMES, "digits", tmp_path, **OPTIONS)
    assert list(first) == NAMES
    for name in NAMES:
        expected = signature(name, "digits", **OPTIONS)
        assert first[name].scores == pytest.approx(expected.scores, abs=1e-9)
    files = {path: path.stat().st_mtime_ns for path in Store(tmp_path).files()}
    again = load_or_measure(NAMES, "digits", tmp_path, jobs=2, **OPTIONS)
    assert {path: path.stat().st_mtime_ns for path in Store(tmp_path).files()} == files
    assert [again[name].metadata["created"] for name in NAMES] == [first[name].metadata["created"] for name in NAMES]


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
