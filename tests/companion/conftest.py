import pytest
from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")
