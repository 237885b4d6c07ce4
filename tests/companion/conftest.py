import pytest
from matplotlib import pyplot as plt

from companion.all_results import AllResults
from companion.ledger import Ledger


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def empty():
    """The ledger of somebody who has no results of networks."""
    return Ledger(AllResults([]))
