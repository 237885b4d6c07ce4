import pytest

from affscore.papers.all_results import AllResults
from affscore.papers.ledger import Ledger


@pytest.fixture(scope="session")
def shipped():
    """The ledger of what comes with the package; its rows and claims are computed once for all tests."""
    return Ledger(AllResults.gather())


@pytest.fixture(scope="session")
def empty():
    """The ledger of somebody who has no results of networks."""
    return Ledger(AllResults([]))
