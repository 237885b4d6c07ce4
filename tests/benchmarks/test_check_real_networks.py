"""The comparison with the textbook on a trained network: the row, and that a wrong score would be seen."""

import check_real_networks
import pytest

import affscore
from affscore.transport import affinity_score


def test_the_row_of_the_trained_network_of_the_package_is_of_the_samples_of_a_signature(monkeypatch):
    network = affscore.load_model("mini:digitsnet")
    expected = affscore.signature(network, "digits", n=128, images=128, criteria=False)
    row = check_real_networks.compare("mini:digitsnet", "digits", n=128, batch_size=50)
    assert [row[name] for name in ("activations", "compared", "width_max")] == [9, 9, expected.table["width"].max()]
    assert (row["model"], row["weights"], row["dataset"]) == ("mini:digitsnet", "DEFAULT", "digits")
    assert row["largest_difference"] < 1e-8
    _, pairs = check_real_networks.pairs_of(network, "digits", 128, 50)
    assert [affinity_score(pair.x, pair.y).value for pair in pairs] == pytest.approx(expected.scores.tolist(), abs=1e-6)
    monkeypatch.setattr(check_real_networks.textbook, "affinity_score", lambda x, y: 0.5)
    assert check_real_networks.compare("mini:digitsnet", "digits", n=64, batch_size=64)["largest_difference"] > 0.1
