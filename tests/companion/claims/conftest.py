import pytest

from companion.all_results import AllResults
from companion.ledger import Ledger


@pytest.fixture(scope="session")
def empty():
    """The ledger of somebody who has no results of networks."""
    return Ledger(AllResults([]))
