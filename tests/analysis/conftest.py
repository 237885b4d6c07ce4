import pytest

from affscore.analysis import evidence
from affscore.analysis.activation_numbers import activation_numbers


@pytest.fixture
def quick_activations(monkeypatch):
    """Scores of activation functions on so few points that they take no time, and are not those of the ledger."""
    quick = activation_numbers(points=40, channels=10, positions=2, draws=2, fewer=20)
    monkeypatch.setattr(evidence, "activation_numbers", lambda: quick)
    return quick
