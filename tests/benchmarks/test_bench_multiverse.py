"""The benchmark of the multiverse: its contenders measure the same numbers, and its row says what was measured."""

import sys

import bench_multiverse
import measuring
import numpy as np
import pytest
from measuring import read

import affscore

OPTIONS = {"n": 32, "images": 32, "progress": False}


@pytest.mark.slow
def test_the_separate_signatures_are_those_of_the_multiverse():
    network = affscore.load_model("mini:digitsnet")
    found = affscore.multiverse(network, "digits", **OPTIONS)
    separate = bench_multiverse.signatures(network, "digits", **OPTIONS)
    exact = [choice for choice in found.choices if choice.coupling == "exact"]
    assert len(separate) == len(exact) == 6
    for choice, one in zip(exact, separate, strict=True):
        assert [one.metadata[name] for name in ("reduction", "order", "covariance")] == list(choice[:3])
        np.testing.assert_array_equal(one.scores, found.scores[choice])


@pytest.mark.slow
def test_a_row_of_the_file(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(measuring, "RESULTS", tmp_path)
    words = ["--models", "mini:digitsnet", "--n", "32", "--rounds", "1", "--device", "cpu"]
    monkeypatch.setattr(sys, "argv", ["bench_multiverse.py", *words])
    bench_multiverse.main()
    table = read(tmp_path / "multiverse.json")
    (row,) = table.to_dict("records")
    expected = {"model": "mini:digitsnet", "weights": "DEFAULT", "dataset": "digits", "n": 32, "device": "cpu",
                "activations": 9, "specifications": 12, "signatures": 6, "signature_runs": 2}  # fmt: skip
    assert {name: row[name] for name in expected} == expected
    assert row["ratio_multiverse"] > 0
    assert row["spread_separate_smallest"] == row["spread_separate_largest"] == row["ratio_separate"]
    assert capsys.readouterr().out.startswith("mini:digitsnet")
