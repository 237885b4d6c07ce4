"""Answers that no exercise expects: objects that raise or end the process when they are looked at, and odd numbers."""

import sys

import numpy as np
import torch
from torch import nn


class Refusing:
    """Whatever is asked of it, it raises."""

    def __getattr__(self, name):
        raise ValueError(name)


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


class LyingTuple(tuple):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        raise RuntimeError("nothing there")


class Network(nn.Module):
    """A network whose forward does this."""

    def __init__(self, does):
        super().__init__()
        self.does = does

    def forward(self, *inputs):
        return self.does(*inputs)


def recursion(*arguments):
    return recursion(*arguments)


def nested(depth):
    answer = [0.5]
    for _ in range(depth):
        answer = [answer]
    return answer


def itself():
    answer = [0.5, 0.5]
    answer[0] = answer
    return answer


rising = np.arange(1.0, 21.0)
cloud = np.random.default_rng(0).standard_normal((400, 2))

ANSWERS = {
    "10**400": 10**400,
    "5e-324": 5e-324,
    "masked pair": (np.ma.masked_array(rising, rising > 3), rising),
    "pair of 1e-320": (rising * 1e-320, rising * 1e-322),
    "clouds of 1e307": (cloud * 1e307, cloud * 1e306),
    "clouds of 1e-200": (cloud * 1e-200, cloud[::-1] * 1e-200),
    "many samples": (np.resize(cloud, (60_000, 2)), np.resize(cloud[::-1], (60_000, 2))),
    "meta tensor": torch.zeros(4, device="meta"),
    "refusing": Refusing(),
    "exiting": Exiting(),
    "endless": Endless(),
    "unspeakable": Unspeakable(),
    "lying tuple": LyingTuple((1, 2)),
    "itself": itself(),
    "recursion": recursion,
    "returns itself": lambda *arguments: itself(),
    "network that exits": Network(lambda *inputs: sys.exit(0)),
    "network that recurs": Network(recursion),
}
