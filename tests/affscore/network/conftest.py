import pytest
import torch


@pytest.fixture(autouse=True)
def one_thread_and_the_same_weights():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def images():
    """Eight images of 3 x 8 x 8."""
    return torch.randn(8, 3, 8, 8, generator=torch.Generator().manual_seed(0))
