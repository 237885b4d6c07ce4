"""The generators of random numbers: seeded for a measurement, and left as they were."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


def seed_generators(seed: int, device: torch.device) -> None:
    """Seed the generators of PyTorch on the CPU and on a device, of NumPy and of Python.

    Not by ``torch.manual_seed``, which seeds every GPU that there is, and those that are first used later, too.
    """
    torch.default_generator.manual_seed(seed)
    if device.type != "cpu":
        module = getattr(torch, device.type)  # torch.cuda, torch.xpu
        with module.device(device):
            module.manual_seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002  # what a network or a data set of somebody else draws from
    random.seed(seed)


@contextmanager
def random_states_kept(device: torch.device) -> Iterator[None]:
    """Within this random numbers may be drawn; afterwards the generators are as if none had been.

    >>> torch.default_generator.manual_seed(0).initial_seed(), torch.rand(1).item()
    (0, 0.49625658988952637)
    >>> with random_states_kept(torch.device("cpu")):
    ...     seed_generators(5, torch.device("cpu"))
    ...     _ = torch.rand(3), np.random.rand(), random.random()
    >>> torch.rand(1).item()
    0.7682217955589294
    """
    states = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        elsewhere = device.type != "cpu"
        with torch.random.fork_rng([device] if elsewhere else [], device_type=device.type if elsewhere else "cuda"):
            yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002
