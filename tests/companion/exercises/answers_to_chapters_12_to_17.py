"""Right answers to exercises of notebooks 12 to 17, wrong ones with a word of their hint, and what hints never tell."""

import numpy as np
import torch
from torch import nn

RIGHT, WRONG, SECRETS = {}, {}, {}


# Chapter 12

RNG = np.random.default_rng(13)
BELOW, ABOVE = -1 - RNG.exponential(size=(256, 1)), RNG.exponential(size=(256, 1))
CLOUD = RNG.standard_normal((256, 1))


RIGHT |= {"12.1": [(BELOW, ABOVE), (ABOVE, BELOW), [torch.tensor(BELOW), torch.tensor(ABOVE)]]}
WRONG |= {
    "12.1": [
        ((CLOUD, ABOVE), "On which inputs"), ((ABOVE, ABOVE + 1), "too straight"), ((BELOW, BELOW - 1), "too straight"),
        ((BELOW[:9], ABOVE[:9]), "64 to 512"), ((np.ones((64, 2)), np.ones((64, 2))), "the same"),
    ],
}  # fmt: skip
SECRETS |= {"12.1": ["exponential"]}


# Chapter 13

DIAGONAL = np.diag(np.linspace(1, 3, 16))
ROTATION = np.linalg.qr(np.random.default_rng(1).standard_normal((16, 16)))[0]
TURN = DIAGONAL @ ROTATION
POSITIVE = ROTATION @ DIAGONAL @ ROTATION.T

RIGHT |= {
    "13.1": [(DIAGONAL, TURN), [torch.tensor(POSITIVE), torch.tensor(ROTATION @ DIAGONAL)]],
    "13.2": [(0.635, 0.293), [1 - np.sqrt((1 - 0.25 / (0.5 - 0.5 / np.pi)) / 2), 1 - np.sqrt(0.5)]],
}
WRONG |= {
    "13.1": [
        ((TURN, DIAGONAL), "optimal transport maps"), ((DIAGONAL, DIAGONAL), "what can a matrix do"),
        ((np.eye(16), ROTATION), "nearly all the same"), ((DIAGONAL, 2 * TURN), "not the same"),
        ((np.diag(np.arange(16.0)), TURN), "forgets a direction"),
    ],
    "13.2": [
        ((0.621, 0.293), "optimal transport map"), ((0.734, 0.293), "squared correlation"),
        ((0.5, 0.293), "variance of"),
        ((0.635, 0.0), "the mean still is"), ((0.635, 0.621), "even function"),
    ],
}  # fmt: skip
SECRETS |= {"13.1": ["rotation", "symmetric"], "13.2": [0.635, 0.293, "0.63", "0.29"]}


# Chapter 14


def of_text(features, mask):
    real = mask.bool()[:, :, None]
    return torch.where(real, features, 0).sum(dim=1) / real.sum(dim=1)


def one_by_one(features, mask):
    return torch.stack([row[kept == 1].mean(dim=0) for row, kept in zip(features, mask, strict=True)])


def by_a_product(features, mask):
    return (features * mask[:, :, None]).sum(dim=1) / mask.sum(dim=1)[:, None]


RIGHT |= {"14.1": [of_text, one_by_one]}
WRONG |= {
    "14.1": [
        (lambda features, mask: features.mean(dim=1), "Padding counts still"),
        (lambda features, mask: (features * mask[:, :, None]).mean(dim=1), "how many tokens"),
        (by_a_product, "NaN"),
        (lambda features, mask: features.sum(dim=1) / mask.sum(dim=1)[:, None], "whose mask is 1"),
        (lambda features, mask: of_text(features, mask).numpy(), "Expected a tensor"),
        (lambda features, mask: features, "Expected the shape"),
    ],
}  # fmt: skip
SECRETS |= {"14.1": ["torch.where", "dim=1"]}


# Chapter 15


def hinges(places, heights):
    """The sum of max(t - place, 0), each times a height."""
    network = nn.Sequential(nn.Linear(1, len(places)), nn.ReLU(), nn.Linear(len(places), 1, bias=False)).double()
    with torch.no_grad():
        network[0].weight.fill_(1)
        network[0].bias.copy_(-torch.as_tensor(places))
        network[2].weight.copy_(torch.as_tensor(heights)[None])
    return network


TENT = hinges([0.0, 0.5], [1.0, -2.0])
SAW = hinges(np.arange(0, 24) / 24, np.append(1.0, np.resize([-2.0, 2.0], 23)))
DOUBLE = hinges([0.0, 0.5], [2.0, -4.0])

RIGHT |= {
    "15.1": [lambda a: a * (1 - a) / 2, lambda a: (a - a**2) / 2],
    "15.2": [(SAW, TENT), [SAW, TENT], (hinges(np.arange(11) / 11, [1.0] + 10 * [1e-4]), hinges([0.9], [10.0]))],
}
WRONG |= {
    "15.1": [
        (lambda a: -a * (1 - a) / 2, "its sign"), (lambda a: a * (1 - a), "largest distance"),
        (lambda a: a * (1 - a) * (3 + 2 * a) / 2, "published code"), (lambda a: (1 - a) ** 2 / 2, "below the function"),
        (lambda a: (1 - a) / 2, "below the chord"), (lambda a: a * (1 - a) / 4, "half too much"),
        (lambda a: 0.0, "Draw the function"),
        (lambda a: None, "returns nothing"),
    ],
    "15.2": [
        ((TENT, SAW), "name first"), ((TENT, TENT), "neither"), ((SAW, DOUBLE), "too easy"),
        ((SAW, hinges([-1.0], [1.0])), "does not bend"), ((nn.Linear(1, 2), TENT), "one output"),
        ((nn.Sequential(nn.Linear(1, 1), nn.Tanh()), TENT), "tanh"), ((nn.Linear(2, 1), TENT), "fails on a sample"),
        ((nn.ReLU, TENT), "the class ReLU"), ((hinges([2.0], [1.0]), TENT), "constant"),
    ],
}  # fmt: skip
SECRETS |= {"15.1": ["a (1", "a * (1"], "15.2": ["saw"]}


# Chapter 16

RIGHT |= {
    "16.1": [(7 / 8, 41 / 34), [0.88, 1.21], np.array([0.875, 1.206])],
}  # fmt: skip
WRONG |= {
    "16.1": [
        ((41 / 34, 7 / 8), "name first"), ((1.25, 1.25), "the long way"), ((1.5, 33 / 17), "slope is 1 is linear"),
        ((0.75, 0.5 + 0.5 * 16 / 17), "still bends"), ((0.84375, 0.5 + 0.6875 * 16 / 17), "as a whole"),
        ((0.625, 1.25 * 16 / 17), "before it"), ((0.875, 1.2494), "kernel"), ((0.875, 1.1), "How many paths lead"),
        ((0.875, 0.3), "NAPL is right"), ((0.9, 1.206), "APL is right"), ((0, 0), "Note for each channel"),
    ],
}  # fmt: skip
SECRETS |= {"16.1": [7 / 8, 41 / 34]}


# Chapter 17

RIGHT |= {"17.1": [0, 0.0, torch.tensor(0.0), 1e-9]}
WRONG |= {
    # of a variance that is taken for constant; of the correlation; negative ones
    "17.1": [(0.591, "variance of y"), (0.289, "variance of y"), (-0.5, "Multiply all of y")],
}  # fmt: skip
SECRETS |= {"17.1": [0]}
