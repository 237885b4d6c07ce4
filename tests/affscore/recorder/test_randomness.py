"""A measurement leaves the generators of random numbers as they were, and its own numbers depend on its seed alone."""

# ruff: noqa: NPY002  # the global generator is what may be disturbed
import random

import numpy as np
import torch
from torch import nn

from affscore import signature
from affscore.recorder.model_state import random_states_kept, seed_generators


class Noise(nn.Module):
    def forward(self, x):
        return torch.relu(x + 0.1 * torch.randn_like(x) + 0.1 * np.random.rand() + 0.1 * random.random())


class Drawn(torch.utils.data.Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, index):
        return torch.randn(4) + index * np.random.rand() + random.random()


def states():
    return torch.get_rng_state().tolist(), [str(part) for part in np.random.get_state()], random.getstate()


def test_a_signature_draws_from_none_of_them():
    before = states()
    measured = [signature(Noise(), data, criteria=False, seed=5).scores for data in (Drawn(), Drawn())]
    assert states() == before
    np.random.rand(), random.random(), torch.rand(1)
    measured.append(signature(Noise(), Drawn(), criteria=False, seed=5).scores)
    assert (measured[0] == measured[1]).all()
    assert (measured[0] == measured[2]).all()
    assert (signature(Noise(), Drawn(), criteria=False, seed=6).scores != measured[0]).all()


def test_after_an_error_too():
    before = states()
    try:
        with random_states_kept(torch.device("cpu")):
            seed_generators(2**63, torch.device("cpu"))
            raise KeyError
    except KeyError:
        pass
    assert states() == before
