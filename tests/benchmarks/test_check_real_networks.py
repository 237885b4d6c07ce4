"""The comparison with the textbook on a trained network: the row, and that a wrong score would be seen."""

import check_real_networks
import pytest

import affscore
from affscore.transport import affinity_score


def test_the_trained_network_of_the_package():
    row = check_real_networks.compare("mini:digitsnet", "digits", n=128, batch_size=50)
    expected = affscore.signature("mini:digitsnet", "digits", n=128, images=128, criteria=False)
    assert (row["activations"], row["compared"]) == (9, 9)
    assert row["width_max"] == expected.table["width"].max()
    assert (row["model"], row["weights"], row["dataset"]) == tuple(
        expected.table[["model", "weights", "dataset"]].iloc[0]
    )
    assert row["largest_difference"] < 1e-8


def test_the_samples_are_those_of_a_signature():
    network = affscore.load_model("mini:digitsnet")
    _, pairs = check_real_networks.pairs_of(network, "digits", 128, 50)
    scores = [affinity_score(pair.x, pair.y).value for pair in pairs]
    expected = affscore.signature(network, "digits", n=128, images=128, criteria=False)
    assert scores == pytest.approx(expected.scores.tolist(), abs=1e-6)


def test_a_wrong_score_is_seen(monkeypatch):
    monkeypatch.setattr(check_real_networks.textbook, "affinity_score", lambda x, y: 0.5)
    assert check_real_networks.compare("mini:digitsnet", "digits", n=64, batch_size=64)["largest_difference"] > 0.1
