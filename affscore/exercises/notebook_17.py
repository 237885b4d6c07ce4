"""The exercises of notebook 17, *Nonlinear advantage*."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from affscore.exercises.answers import NotAnAnswerError, as_function, as_numbers, close, matching, numbers_of, present
from affscore.exercises.registry import Hints, exercise, right
from affscore.network.model_state import unwrapped
from affscore.nonlinear_advantage import active_channels, average_path_length, slopes, to_prelu
from affscore.nonlinear_advantage.example import left_as_it_was
from affscore.nonlinear_advantage.penalty import SNAP
from affscore.zoo.data.digits import digits
from affscore.zoo.models import card_of, load_model

FIRST, SECOND = (0.0, 0.0, 1.0, 1.0), (0.0, 0.0, 0.25, 1.0)
"""The slopes of exercise 17.1, of the channels before the residual connection and inside it."""

TO_TWO_DECIMALS = 0.006
"""By how much numbers may differ in exercises 17.1 and 17.3."""

STACKS = (((1.0,), (1.0,)), ((0.5, 0.25), (1.0, 0.75)), ((0.0, 1.0, 0.5), (0.25, 0.0, 0.875)))
"""The shares of exercise 17.2, inside the blocks and after the additions: eighths, for networks of 8 channels."""

NETWORK = "mini:resnet18"
"""The network of exercise 17.4."""

MOST_ACTIVE, LEAST_ACCURACY = 0.2, 0.975
"""The share of its channels that may be non-linear, and that of the test digits that must be classified correctly."""

IMAGES = (64, 1, 8, 8)
"""What the network of exercise 17.5 is fed."""

BENT = 1e-3
"""How far it must be from affine, as a fraction of the range of its outputs."""


class Block(nn.Module):
    """A residual block: two layers, a ReLU between them, and a skip connection."""

    def __init__(self, inner: nn.Module, outer: nn.Module) -> None:
        super().__init__()
        self.inner, self.outer = inner, outer

    def forward(self, x: Tensor) -> Tensor:
        """Features of features of the same shape."""
        return x + self.outer(torch.relu(self.inner(x)))


def _sloped(network: nn.Module, of_units: Sequence[Sequence[float]]) -> nn.Module:
    """A network with these slopes."""
    made = to_prelu(network)
    for unit, given in zip(slopes(made).values(), of_units, strict=True):
        unit.weight.data = torch.tensor(given)
    return made


@exercise("17.1", lambda answer: as_numbers(answer, "a pair (NAPL, APL)"))
def two_path_lengths(*given: float) -> Hints:
    """17.1: (NAPL, APL) of a residual block behind a layer of four channels, half of them linear."""
    width = len(FIRST)
    a, b, c = (nn.Conv2d(channels, width, 3, padding=1) for channels in (1, width, width))
    plain = nn.Sequential(a, nn.ReLU(), Block(b, c), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 1))
    network, image = _sloped(plain, (FIRST, SECOND)), torch.zeros(1, 1, 8, 8)
    napl, apl = (average_path_length(network, image, normalized) for normalized in (True, False))
    before, inside = (sum(slope != 1 for slope in of_unit) / width for of_unit in (FIRST, SECOND))
    zeros, by_size = sum(slope == 0 for slope in SECOND) / width, sum(1 - slope for slope in SECOND) / width
    napl_is_right, apl_is_right = (
        close(one, value, TO_TWO_DECIMALS) for one, value in zip(given, (napl, apl), strict=True)
    )
    hints = (
        ((napl, apl), right("The skip is one half of NAPL, and one path of 17 of APL: APL hardly notices it.")),
        ((apl, napl), "Both numbers are there. Which of the two did you name first?"),
        ((before + inside,) * 2, "That is the long way only. What does the skip add to the addition?"),
        (_lengths(1, 1), "A channel whose slope is 1 is linear, and does not count."),
        (_lengths(before, zeros), "A slope of 0.25 still bends. Which slope alone makes a channel linear?"),
        (_lengths(before, by_size), "A unit counts as a whole or not at all, whatever its slope below 1."),
        (_lengths(0, before + inside), "The skip begins at h. What has a path met before it?"),
        (_lengths(before, inside, (9 * width) ** 2), "One edge joins two channels, whatever the size of the kernel."),
        (_lengths(before, inside, width), "NAPL is right. How many paths lead from h through B and C to a channel?"),
        (napl_is_right, "NAPL is right. For APL count the paths from h to a channel of y, on the skip and the branch."),
        (apl_is_right, "APL is right. For NAPL the skip is as probable as the whole branch."),
        (True, "Note for each channel of h how many units its paths have met. Then follow skip and branch to y."),
    )
    return matching(given, hints, TO_TWO_DECIMALS)


def _lengths(before: float, inside: float, paths: int = 16) -> tuple[float, float]:
    """(NAPL, APL) where so many units are met before and inside, and so many paths lead through the branch."""
    skip, branch = before, before + inside
    return (skip + branch) / 2, (skip + paths * branch) / (1 + paths)


def _length_of_stack(inside: Sequence[float], after: Sequence[float]) -> float:
    """NAPL of a network of residual blocks with these shares of non-linear channels, as the library measures it."""
    width = 8
    blocks: list[nn.Module] = []
    for _ in inside:
        blocks += [Block(nn.Linear(width, width), nn.Linear(width, width)), nn.ReLU()]
    network = nn.Sequential(nn.Linear(1, width), *blocks, nn.Linear(width, 1))
    shares = [share for pair in zip(inside, after, strict=True) for share in pair]
    of_units = [[float(channel >= width * share) for channel in range(width)] for share in shares]
    return average_path_length(_sloped(network, of_units), torch.zeros(1, 1))


def _skips_are_empty(inside: Sequence[float], after: Sequence[float]) -> float:
    """The same, as if a path along a skip had met nothing before."""
    length = 0.0
    for one, other in zip(inside, after, strict=True):
        length = (length + one) / 2 + other
    return length


@exercise("17.2", as_function, "a function napl(inside, after)")
def length_of_residual_blocks(function: Callable[..., Any]) -> Hints:
    """17.2: NAPL of a stack of blocks relu(x + F(x)) from the shares of non-linear channels in F and after the sums."""
    half = "Half of the probability goes through F, and all of it through the units after the addition"
    answers = (
        (_length_of_stack, right(f"{half}: making one of those linear shortens the network twice as much.")),
        (lambda b, a: sum(b) + sum(a), "That is the network without its skips. Which of its units does a skip avoid?"),
        (lambda b, a: (sum(b) + sum(a)) / 2, "Halved too much: which units does the skip not avoid?"),
        (lambda b, a: sum(b) + sum(a) / 2, "It is the other way round: which of the two units does the skip avoid?"),
        (lambda b, a: sum(a), "That is the path along the skips. What do the other paths meet?"),
        (lambda b, a: sum(b) / 2, "Right for the units inside. Which others does a path meet?"),
        (_skips_are_empty, "A skip leads back to all that lies before its block: what has a path met there?"),
        (lambda b, a: (sum(b) / 2 + sum(a)) / len(b), "That is the mean over blocks. How do blocks in a row combine?"),
        (True, "How many units does a path meet in one block on average, if it takes the skip every second time?"),
    )
    return matching(numbers_of(function, STACKS), answers, 1e-6, STACKS)


@exercise("17.3", lambda answer: as_numbers(answer, "a pair (omega, slope)"))
def where_the_slope_jumps(*given: float) -> Hints:
    """17.3: from which omega on slope^2 / 2 + omega |1 - slope|^0.5 is least at 1, and where just before."""
    omega, slope = _jump(0.5)
    only = 4 / 27**0.5  # the largest 2 slope (1 - slope)^0.5: beyond it the derivative is nowhere zero
    hints = (
        ((omega, slope), right("No slope ends in between: it stays below the jump, or is exactly 1.")),
        ((slope, omega), "Both numbers are there. Which of the two did you name first?"),
        ((2 * omega, slope), "The loss has a factor of one half."),
        (close(given[0], only, TO_TWO_DECIMALS), _ONLY),
        (_jump(1), "That is so with the power 1: the slope grows steadily with omega, and there is no jump."),
        ((omega, 1.0), "Omega is right. That is the slope after the jump. And before?"),
        (close(given[0], omega, TO_TWO_DECIMALS), "Omega is right. Where is the other minimum of the sum there?"),
        (close(given[1], slope, TO_TWO_DECIMALS), "The slope is right. At which omega does it cost as much as 1?"),
        (close(given[0], 0.5, TO_TWO_DECIMALS), "There the slopes 0 and 1 cost the same. Is no slope between cheaper?"),
        (True, "Draw the sum over slopes from 0 to 1 for several omega. When is its lowest point at 1?"),
    )
    return matching(given, hints, TO_TWO_DECIMALS)


_ONLY = "From there on 1 is the only minimum, which gradient descent from 0 needs. From where on is it the global one?"


def _jump(power: float) -> tuple[float, float]:
    """From which omega on slope^2 / 2 + omega (1 - slope)^power is least at 1, and the slope of the last other minimum.

    1 is the least where omega is at least (1 - slope^2) / 2 / (1 - slope)^power for every slope: the largest is asked.
    """
    slope = power / (2 - power)
    return (1 - slope) ** (1 - power) * (1 + slope) / 2, slope


def _as_network(answer: Any) -> nn.Module:
    """A network."""
    present(answer, "a network, a torch.nn.Module")
    if isinstance(answer, type) and issubclass(answer, nn.Module):
        raise NotAnAnswerError("Expected a network, got the class: call it once, Network().")
    if not isinstance(answer, nn.Module):
        raise NotAnAnswerError(f"Expected a network, a torch.nn.Module, got {type(answer).__name__}.")
    return unwrapped(answer)


@exercise("17.4", _as_network)
def few_units(answer: nn.Module) -> Hints:
    """17.4: mini:resnet18 with slopes, at most a fifth of its channels non-linear, at an accuracy of 97.5 %."""
    yield not slopes(answer), f"It has no slopes. {_BEGIN}"
    original = load_model(NETWORK)
    network = to_prelu(original)  # only numbers are taken from the answer, so that none of its code runs
    try:
        network.load_state_dict(answer.state_dict())
    except (Exception, SystemExit) as reason:  # whatever a student's network raises
        raise NotAnAnswerError(f"Its layers are not those of {NETWORK}. {_BEGIN}") from reason
    counts = active_channels(network)[["active", "channels"]].sum()
    share, accuracy = counts["active"] / counts["channels"], _accuracy(network, card_of(original).preprocessing)
    got = f"{counts['active']} of {counts['channels']} channels are non-linear, with an accuracy of {accuracy:.2%}"
    few, good = share <= MOST_ACTIVE, accuracy >= LEAST_ACCURACY
    yield few and good, right(f"{got}: trained weights make up for most of the units.")
    all_slopes = torch.cat([unit.slope for unit in slopes(network).values()])
    near = int((((all_slopes - 1).abs() < SNAP) & (all_slopes != 1)).sum())
    yield good and near, f"{got}; {near} slopes are near 1, but not 1. What makes them exactly 1, for good?"
    yield good, f"{got}. What pulls more slopes to 1, or faster?"
    yield not counts["active"], f"{got}: an affine map of the pixels. What would a few units add?"
    yield few, f"{got}. The weights were trained for other slopes than these. How could they adapt, or adapt longer?"
    yield True, f"{got}. Pull the slopes to 1 while the network is trained, and then let it recover."


_BEGIN = f'Begin with to_prelu(affscore.load_model("{NETWORK}")).'


def _accuracy(network: nn.Module, prepare: Any) -> float:
    """The share of the test digits that a network classifies correctly."""
    images, labels = digits("test")
    with left_as_it_was(network):
        classes = network(torch.stack([prepare(image) for image in images])).argmax(dim=1)
    return float((classes == labels).double().mean())


@exercise("17.5", _as_network)
def linear_channels_and_not_affine(answer: nn.Module) -> Hints:
    """17.5: a network for images (N, 1, 8, 8) that is not affine although every channel of its ReLUs is linear."""
    images = torch.randn(IMAGES, generator=torch.Generator().manual_seed(17))
    network = to_prelu(answer, images).cpu()
    units = slopes(network).values()
    yield not units, "It calls no ReLU (and no GELU), so there is no channel to be made linear."
    for unit in units:
        unit.weight.data.fill_(1.0)
    length = average_path_length(network, images)
    yield length > 0, f"NAPL is {length:.3g} with all slopes at 1: some activation is neither ReLU nor GELU."
    with left_as_it_was(network):
        middle, *ends = (network(one) for one in ((images + images.flip(0)) / 2, images.clone(), images.flip(0)))
        again = network(images)
    yield not isinstance(again, Tensor), f"It returns {type(again).__name__}, not a tensor."
    yield not bool(torch.isfinite(torch.cat([middle, *ends])).all()), "Its outputs are not all finite."
    yield not torch.equal(again, ends[0]), "It returns different outputs for the same images."
    spread = float(again.max() - again.min())
    yield spread == 0, "Its output is constant, and a constant is affine."
    off = float((middle - (ends[0] + ends[1]) / 2).abs().max()) / spread
    yield off < BENT, "NAPL is 0, and the network is affine. What in a network bends, but is no activation?"
    yield True, right(f"NAPL is 0, and between two images the output is up to {off:.0%} of its range off the line.")
