"""Answers that no exercise expects: objects that raise or end the process when they are looked at, and odd numbers."""

import sys

import numpy as np
import torch
from torch import nn


class Exiting:
    def __float__(self):
        sys.exit(0)

    def __len__(self):
        sys.exit(1)

    def __array__(self, *args, **kwargs):
        raise SystemExit

    def __call__(self, *args):
        sys.exit(2)


class Endless:
    """A sequence without an end."""

    def __len__(self):
        return 2

    def __getitem__(self, index):
        return 0.5


class Odd(BaseException):
    def __str__(self):
        sys.exit(0)


class Unspeakable:
    def __float__(self):
        raise Odd

    __array__ = __len__ = __float__


class Network(nn.Module):
    def forward(self, *inputs):
        sys.exit(0)


def recursion(*arguments):
    return recursion(*arguments)


def itself():
    answer = [0.5, 0.5]
    answer[0] = answer
    return answer


rising = np.arange(1.0, 21.0)
cloud = np.random.default_rng(0).standard_normal((400, 2))

ANSWERS = {
    "10**400": 10**400,
    "masked pair": (np.ma.masked_array(rising, rising > 3), rising),
    "clouds of 1e307": (cloud * 1e307, cloud * 1e306),
    "many samples": (np.resize(cloud, (60_000, 2)), np.resize(cloud[::-1], (60_000, 2))),
    "meta tensor": torch.zeros(4, device="meta"),
    "exiting": Exiting(),
    "endless": Endless(),
    "unspeakable": Unspeakable(),
    "itself": itself(),
    "recursion": recursion,
    "network that exits": Network(),
}
